// SPDX-License-Identifier: Apache-2.0
#include "replay/sm_speeds.h"

#include <algorithm>
#include <numeric>

namespace smk {
namespace {

// Places among the members, the launch that was taken first at the front.
SetRates::Ages AgesOf(const std::vector<SmSpeeds::Member>& members) {
  SetRates::Ages ages(members.size());
  std::iota(ages.begin(), ages.end(), std::size_t{0});
  std::sort(ages.begin(), ages.end(),
            [&](std::size_t a, std::size_t b) { return members[a].number < members[b].number; });
  return ages;
}

}  // namespace

bool SmSpeeds::AlikeFit(const std::vector<Member>& members) const {
  std::vector<LaunchKind> set;
  set.reserve(members.size());
  for (const Member& member : members) set.push_back(kinds_[member.kind].launch);
  return EvenSharesFit(set, limits_, sms_);
}

std::vector<SmSpeeds::Speed> SmSpeeds::Together(const std::vector<Member>& members, Cycle now) {
  Kinds::Set set;
  for (const Member& member : members) set.push_back(member.kind);
  const std::vector<SetRate>& rates = kinds_.Together(set, now).Of(AgesOf(members));
  std::vector<Speed> speeds;
  for (std::size_t i = 0; i < members.size(); ++i) {
    double others = 0;
    for (std::size_t j = 0; j < members.size(); ++j) {
      const double part = static_cast<double>(members[j].most) / alone_.EvenOf(set[j]);
      if (j != i) others += std::min(1.0, part) / static_cast<double>(members.size() - 1);
    }
    const double part = rates[i].rate / kinds_[set[i]].alone.rate;
    const double time = alone_.OwnTimeOf(set[i], members[i].tbs);
    const double parts = members[i].feeding.value_or(1) * (1 - others * (1 - part)) / time;
    speeds.push_back({parts, members[i].tbs / time});
  }
  return speeds;
}

std::vector<SmSpeeds::Speed> SmSpeeds::OutOfStep(const std::vector<Member>& members, Cycle now) {
  const SetRates::Ages order = AgesOf(members);
  unsigned left = 0;
  for (const Member& member : members) left += member.tbs;
  const unsigned tbs = left;
  const std::size_t youngest = members[order.back()].kind;
  auto [speed, priority] = alone_.OverlapOf(youngest, now);
  for (const Member& member : members) speed = member.feeding.value_or(speed);
  double rest = tbs * speed / alone_.OwnTimeOf(youngest, tbs);
  std::vector<Speed> speeds(members.size());
  for (const std::size_t i : order) {
    const auto& [kind, its, most, number, feeding] = members[i];
    double parts = rest / left;
    if (its != left) {
      const double first = std::min(1 / alone_.OwnTimeOf(kind, its), rest / its);
      parts += priority * (first - parts);
    }
    speeds[i] = {parts, tbs / alone_.OwnTimeOf(kind, tbs)};
    rest -= parts * its;
    left -= its;
  }
  return speeds;
}

std::vector<unsigned> SmSpeeds::CutShares(const std::vector<Member>& members) const {
  std::vector<unsigned> shares(members.size());
  ResourceVector taken{};
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const ResourceVector& need = SpecOf(members[i]).need;
      if (shares[i] == alone_.EvenOf(members[i].kind) || !FitsIn(taken + need, limits_)) continue;
      taken += need;
      ++shares[i];
      more = true;
    }
  }
  return shares;
}

std::vector<SmSpeeds::Speed> SmSpeeds::Crowded(const std::vector<Member>& members, Cycle now) {
  const std::vector<unsigned> shares = CutShares(members);
  Kinds::Set set;
  for (std::size_t i = 0; i < members.size(); ++i) {
    LaunchKind launch = kinds_[members[i].kind].launch;
    launch.tbs = shares[i] * sms_;
    launch.whole = false;
    set.push_back(kinds_.Of(launch));
  }
  const std::vector<SetRate>& rates = kinds_.Together(set, now).Of(AgesOf(members));
  std::vector<Speed> speeds;
  for (std::size_t i = 0; i < members.size(); ++i) {
    double others = 0;  // by what they had
    for (std::size_t j = 0; j < members.size(); ++j) {
      if (j != i) others += static_cast<double>(members[j].tbs) / shares[j];
    }
    others /= static_cast<double>(members.size() - 1);
    const double loses = std::max(0.0, kinds_[set[i]].alone.rate / rates[i].rate - 1) * others;
    const double time = alone_.OwnTimeOf(members[i].kind, members[i].tbs);
    speeds.push_back({members[i].feeding.value_or(1) / (1 + loses) / time, members[i].tbs / time});
  }
  return speeds;
}

std::vector<SmSpeeds::Speed> SmSpeeds::Of(const std::vector<Member>& members, bool in_step,
                                          Cycle now) {
  if (members.empty()) return {};
  const bool fit = AlikeFit(members);
  const bool one_kernel = std::all_of(members.begin(), members.end(), [&](const Member& member) {
    return &SpecOf(member) == &SpecOf(members[0]);
  });
  if (members.size() == 1 && members[0].feeding) {
    const double time = alone_.OwnTimeOf(members[0].kind, members[0].tbs);
    return {{*members[0].feeding / time, members[0].tbs / time}};
  }
  // Launches that were measured together are out of step there.
  if (!in_step && one_kernel && (!fit || members.size() == 1)) return OutOfStep(members, now);
  return fit ? Together(members, now) : Crowded(members, now);
}

}  // namespace smk
