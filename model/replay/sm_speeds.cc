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
    speeds.push_back({(1 - others * (1 - part)) / time, members[i].tbs / time});
  }
  return speeds;
}

std::vector<SmSpeeds::Speed> SmSpeeds::OutOfStep(const std::vector<Member>& members, Cycle now) {
  const SetRates::Ages order = AgesOf(members);
  unsigned left = 0;
  for (const Member& member : members) left += member.tbs;
  const unsigned tbs = left;
  const std::size_t youngest = members[order.back()].kind;
  const auto [speed, priority] = alone_.OverlapOf(youngest, now);
  double rest = tbs * speed / alone_.OwnTimeOf(youngest, tbs);
  std::vector<Speed> speeds(members.size());
  for (const std::size_t i : order) {
    const auto& [kind, its, most, number] = members[i];
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

std::vector<SmSpeeds::Speed> SmSpeeds::Otherwise(const std::vector<Member>& members) {
  std::vector<Speed> speeds;
  double sum = 0;
  for (const Member& member : members) {
    unsigned same = 0;  // TBs of its kernel
    for (const Member& other : members) {
      if (&SpecOf(other) == &SpecOf(member)) same += other.tbs;
    }
    const double time = alone_.OwnTimeOf(member.kind, same);
    const unsigned most = alone_.MostOf(member.kind);
    speeds.push_back({1 / time, same / time});
    sum += member.tbs / time / (most / alone_.OwnTimeOf(member.kind, most));
  }
  for (Speed& speed : speeds) speed.parts /= std::max(1.0, sum);
  return speeds;
}

std::vector<SmSpeeds::Speed> SmSpeeds::Of(const std::vector<Member>& members, bool in_step,
                                          Cycle now) {
  if (members.empty()) return {};
  const bool fit = AlikeFit(members);
  const bool one_kernel = std::all_of(members.begin(), members.end(), [&](const Member& member) {
    return &SpecOf(member) == &SpecOf(members[0]);
  });
  // Launches that were measured together are out of step there.
  if (!in_step && one_kernel && (!fit || members.size() == 1)) return OutOfStep(members, now);
  return fit ? Together(members, now) : Otherwise(members);
}

}  // namespace smk
