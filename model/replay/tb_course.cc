// SPDX-License-Identifier: Apache-2.0
#include "replay/tb_course.h"

#include <numeric>

namespace smk {

TbCourse::TbCourse(const MachineConfig& machine, Residents& residents, Kinds& one_sm)
    : residents_(residents),
      limits_(machine.sm.limits),
      sms_(machine.sms),
      alone_speeds_(machine, residents.kinds, one_sm),
      sm_speeds_(machine, residents.kinds, alone_speeds_),
      spread_(machine.sm.limits, machine.sms) {}

std::size_t TbCourse::HeldOf(std::size_t kind) {
  LaunchKind launch = residents_.kinds[kind].launch;
  if (alone_speeds_.Holds(launch)) return kind;
  launch.tbs = alone_speeds_.MostOf(kind) * sms_;
  launch.whole = false;
  return residents_.kinds.Of(launch);
}

// Those of its TBs that come later have the mean of the others' parts.
void TbCourse::Begin(KernelId id) {
  const std::size_t number = residents_.slots[Index(id)].kind;
  const LaunchKind& launch = residents_.kinds[number].launch;
  const auto [parts, is_new] = parts_.emplace(number, std::vector<double>());
  if (is_new) {
    std::vector<double>& all = parts->second;
    all = alone_speeds_.PartsOf(HeldOf(number));
    const double sum = std::accumulate(all.begin(), all.end(), 0.0);
    if (!all.empty()) all.resize(launch.tbs, sum / static_cast<double>(all.size()));
  }
  spread_.Launch(id, launch.spec(), launch.tbs, parts->second);
  speeds_.clear();
}

bool TbCourse::Advance(Cycle next) {
  const bool changes = spread_.Advance(next - residents_.now);
  for (unsigned k = 0; k < kNumKernels; ++k) {
    Slot& slot = residents_.slots[k];
    if (!slot.busy) continue;
    const double done = spread_.Done(static_cast<KernelId>(k));
    slot.work = slot.all * done / residents_.KindOf(slot).launch.tbs;
    slot.left = slot.all - slot.work;
  }
  return changes;
}

// Followed TB by TB at this speed, the launch alone takes as long as it does.
std::optional<double> TbCourse::FeedingOf(std::size_t number) {
  const Kinds::Kind& kind = residents_.kinds[number];
  if (!Feeds(kind.launch)) return std::nullopt;
  const auto [place, is_new] = feeding_.emplace(number, 0.0);
  if (is_new) place->second = CyclesInStep(number) / kind.alone.Cycles(kind.launch.tbs);
  return place->second;
}

double TbCourse::CyclesInStep(std::size_t number) {
  const LaunchKind& launch = residents_.kinds[number].launch;
  const std::size_t held = HeldOf(number);
  const KernelId slot{0};
  TbSpread spread(limits_, sms_);
  spread.Launch(slot, launch.spec(), launch.tbs, parts_.at(number));
  std::vector<unsigned> tbs(sms_);
  double cycles = 0;
  while (!spread.Ended(slot)) {
    spread.Place({});
    for (unsigned sm = 0; sm < sms_; ++sm) tbs[sm] = spread.On(sm).now[0];
    const double delivered = alone_speeds_.DeliveredTo(held, tbs);
    for (unsigned sm = 0; sm < sms_; ++sm) {
      if (tbs[sm] == 0) continue;
      const double mean = delivered / alone_speeds_.OwnTimeOf(held, tbs[sm]);
      spread.SetSpeeds(sm, {{{mean, &alone_speeds_.ByAge(held, tbs[sm])}}});
    }
    const Cycle next = spread.NextEnd();
    spread.Advance(next);
    cycles += static_cast<double>(next);
  }
  return cycles;
}

TbCourse::SlotSpeeds TbCourse::SpeedsOn(const TbSpread::State& state) {
  std::vector<KernelId> there;
  for (unsigned k = 0; k < kNumKernels; ++k) {
    if (state.now[k] != 0) there.push_back(static_cast<KernelId>(k));
  }
  std::sort(there.begin(), there.end(), [&](KernelId a, KernelId b) {
    return residents_.places.RankOf(a) < residents_.places.RankOf(b);
  });
  std::vector<SmSpeeds::Member> members;
  for (const KernelId id : there) {
    const Slot& slot = residents_.slots[Index(id)];
    members.push_back({HeldOf(slot.kind), state.now[Index(id)], state.most[Index(id)], slot.number,
                       FeedingOf(slot.kind)});
  }
  const std::vector<SmSpeeds::Speed> found = sm_speeds_.Of(members, state.in_step, residents_.now);
  SlotSpeeds speeds{};
  for (std::size_t i = 0; i < there.size(); ++i) {
    const Slot& slot = residents_.slots[Index(there[i])];
    const unsigned tbs = state.now[Index(there[i])];
    SlotSpeed& speed = speeds[Index(there[i])];
    speed = {found[i], &alone_speeds_.ByAge(members[i].kind, tbs)};
    speed.of_all.parts *= residents_.KindOf(slot).launch.tbs / slot.all;
  }
  return speeds;
}

// What each SM can do by itself, and what all have of that together.
void TbCourse::SetSpeeds() {
  std::vector<const SlotSpeeds*> on(spread_.sms());
  std::array<double, kNumKernels> demand{}, delivered{};
  for (unsigned sm = 0; sm < spread_.sms(); ++sm) {
    const auto [speeds, is_new] = speeds_.emplace(spread_.On(sm), SlotSpeeds{});
    if (is_new) speeds->second = SpeedsOn(spread_.On(sm));
    on[sm] = &speeds->second;
    for (unsigned k = 0; k < kNumKernels; ++k) demand[k] += speeds->second[k].of_all.demand;
  }
  for (unsigned k = 0; k < kNumKernels; ++k) {
    if (demand[k] <= 0) continue;
    delivered[k] = alone_speeds_.Delivered(HeldOf(residents_.slots[k].kind), demand[k]);
  }
  for (unsigned sm = 0; sm < spread_.sms(); ++sm) {
    TbSpread::Speeds speeds{};
    for (unsigned k = 0; k < kNumKernels; ++k) {
      const SlotSpeed& speed = (*on[sm])[k];
      speeds[k] = {speed.of_all.parts * delivered[k], speed.by_age};
    }
    spread_.SetSpeeds(sm, speeds);
  }
}

void TbCourse::Refresh() {
  std::array<std::uint64_t, kNumKernels> ranks{};
  for (unsigned k = 0; k < kNumKernels; ++k) {
    ranks[k] = residents_.places.RankOf(static_cast<KernelId>(k));
  }
  spread_.Place(ranks);
  SetSpeeds();
  for (unsigned k = 0; k < kNumKernels; ++k) {
    Slot& slot = residents_.slots[k];
    if (!slot.busy) continue;
    const double tbs = residents_.KindOf(slot).launch.tbs;
    slot.placed = true;
    slot.rate = slot.all * spread_.RateOf(static_cast<KernelId>(k)) / tbs;
  }
}

Cycle TbCourse::NextEvent() const {
  const Cycle end = spread_.NextEnd();
  return end == kNever ? kNever : residents_.now + end;
}

}  // namespace smk
