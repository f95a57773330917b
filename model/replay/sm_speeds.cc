// SPDX-License-Identifier: Apache-2.0
#include "replay/sm_speeds.h"

#include <algorithm>
#include <numeric>

namespace smk {
namespace {

using Member = SmSpeeds::Member;

}  // namespace

bool SmSpeeds::Holds(const LaunchKind& launch) const {
  return launch.tbs <= sms_ * MaxTbs(launch.spec().need, limits_);
}

unsigned SmSpeeds::EvenOf(std::size_t kind) const {
  return (kinds_[kind].launch.tbs + sms_ - 1) / sms_;
}

unsigned SmSpeeds::MostOf(std::size_t kind) const {
  KernelSpec spec = kinds_[kind].launch.spec();
  spec.tb_limit = 0;
  return std::min(MaxTbs(spec.need, limits_), std::max(1u, spec.tb_count() / sms_));
}

double SmSpeeds::TimeOf(std::size_t kind, unsigned tbs) {
  const auto& [launch, alone] = kinds_[kind];
  const double own = launch.tbs / alone.rate;
  const unsigned even = EvenOf(kind), least = launch.tbs / sms_;
  if (tbs == even || tbs == least) return own;
  const unsigned other = tbs < even ? 1 : MostOf(kind);
  if (other == even) return own * tbs / even;
  LaunchKind alike = launch;
  alike.tbs = other * sms_;
  alike.whole = false;
  const double time = alike.tbs / kinds_[kinds_.Of(alike)].alone.rate;
  const double way = (static_cast<double>(tbs) - even) / (static_cast<double>(other) - even);
  return own + (time - own) * way;
}

std::vector<double> SmSpeeds::PartsOf(std::size_t kind) {
  const std::vector<double>& ends = kinds_[kind].alone.tb_ends;
  std::vector<double> parts(ends.size());
  const double own = TimeOf(kind, EvenOf(kind));
  std::vector<std::size_t> tbs;
  for (std::size_t sm = 0; sm < sms_; ++sm) {
    tbs.clear();
    for (std::size_t i = sm; i < ends.size(); i += sms_) tbs.push_back(i);
    std::stable_sort(tbs.begin(), tbs.end(),
                     [&](std::size_t a, std::size_t b) { return ends[a] < ends[b]; });
    double part = 0, before = 0;
    for (std::size_t i = 0; i < tbs.size(); ++i) {
      const auto left = static_cast<unsigned>(tbs.size() - i);
      part += (ends[tbs[i]] - before) * own / TimeOf(kind, left);
      before = ends[tbs[i]];
      parts[tbs[i]] = part;
    }
  }
  return parts;
}

// How much faster a launch that feeds is than one that the GPU just holds; 1: the kernel never
// does.
double SmSpeeds::OutOfStep(std::size_t kind) {
  LaunchKind whole = kinds_[kind].launch;
  whole.tbs = whole.spec().tb_count();
  whole.whole = true;
  if (Holds(whole)) return 1;
  const unsigned most = MostOf(kind);
  return TimeOf(kind, most) * kinds_[kinds_.Of(whole)].alone.rate / (most * sms_);
}

bool SmSpeeds::AlikeFit(const std::vector<Member>& members) const {
  ResourceVector even{};
  for (const Member& member : members) {
    for (unsigned i = 0; i < EvenOf(member.kind); ++i) {
      even += kinds_[member.kind].launch.spec().need;
      if (!FitsIn(even, limits_)) return false;
    }
  }
  return true;
}

std::vector<double> SmSpeeds::Together(const std::vector<Member>& members, Cycle now) {
  Kinds::Set set;
  for (const Member& member : members) set.push_back(member.kind);
  SetRates::Ages ages(members.size());
  std::iota(ages.begin(), ages.end(), std::size_t{0});
  std::sort(ages.begin(), ages.end(),
            [&](std::size_t a, std::size_t b) { return members[a].number < members[b].number; });
  const std::vector<SetRate>& rates = kinds_.Together(set, now).Of(ages);
  std::vector<double> speeds;
  for (std::size_t i = 0; i < members.size(); ++i) {
    double others = 0;
    for (std::size_t j = 0; j < members.size(); ++j) {
      const double part = static_cast<double>(members[j].most) / EvenOf(set[j]);
      if (j != i) others += std::min(1.0, part) / static_cast<double>(members.size() - 1);
    }
    const double part = rates[i].rate / kinds_[set[i]].alone.rate;
    speeds.push_back((1 - others * (1 - part)) / TimeOf(set[i], members[i].tbs));
  }
  return speeds;
}

std::vector<double> SmSpeeds::Otherwise(const std::vector<Member>& members) {
  std::vector<double> speeds;
  double sum = 0;
  for (const Member& member : members) {
    unsigned same = 0;  // TBs of its kernel
    for (const Member& other : members) {
      if (&kinds_[other.kind].launch.spec() == &kinds_[member.kind].launch.spec())
        same += other.tbs;
    }
    speeds.push_back(1 / TimeOf(member.kind, same));
    const unsigned most = MostOf(member.kind);
    sum += member.tbs * speeds.back() / (most / TimeOf(member.kind, most));
  }
  for (double& speed : speeds) speed /= std::max(1.0, sum);
  return speeds;
}

std::vector<double> SmSpeeds::Of(const std::vector<Member>& members, bool in_step, Cycle now) {
  if (members.empty()) return {};
  const bool fit = AlikeFit(members);
  std::vector<double> speeds = fit ? Together(members, now) : Otherwise(members);
  const bool one_kernel = std::all_of(members.begin(), members.end(), [&](const Member& member) {
    return &kinds_[member.kind].launch.spec() == &kinds_[members[0].kind].launch.spec();
  });
  // Launches that were measured together are out of step there.
  if (in_step || !one_kernel || (fit && members.size() > 1)) return speeds;
  for (std::size_t i = 0; i < members.size(); ++i) speeds[i] *= OutOfStep(members[i].kind);
  return speeds;
}

}  // namespace smk
