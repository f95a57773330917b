// SPDX-License-Identifier: Apache-2.0
#include "replay/resident_set.h"

#include <algorithm>
#include <utility>

#include "workload/tb_lengths.h"

namespace smk {

ResidentSet::ResidentSet(const RunRequest& request, RateSource& rates, ReplayChecks& checks)
    : checks_(checks),
      residents_{Kinds(rates, checks),
                 Places(request.machine.sm.limits, request.machine.sms, request.policy)},
      one_sm_(rates.OnOneSm(), checks),
      set_course_(residents_),
      tb_course_(request.machine, residents_, one_sm_),
      course_(&set_course_),
      ordered_(request.policy.dispatch == DispatchMode::kLeftover) {}

double ResidentSet::WorkOf(const Kinds::Kind& kind, std::uint32_t first_tb) {
  const auto [place, is_new] = lengths_.emplace(&kind.launch.spec(), std::vector<double>());
  std::vector<double>& before = place->second;
  if (is_new) {
    for (const std::uint64_t length : TbLengths(kind.launch.spec())) {
      if (before.empty()) before.push_back(0);
      before.push_back(before.back() + static_cast<double>(length));
    }
  }
  const double tbs = kind.launch.tbs, unit = kind.alone.unit_tbs;
  if (before.empty() || unit <= 0) return tbs;
  const double own = before.at(first_tb + kind.launch.tbs) - before.at(first_tb);
  return own / (before.at(static_cast<std::size_t>(unit)) / unit);
}

Course& ResidentSet::CourseWith(KernelId id, const LaunchKind& kind) {
  const std::optional<Lone> lone = std::exchange(lone_, std::nullopt);
  if (!ordered_ || !TbCourse::Follows(kind)) return set_course_;
  if (residents_.Busy() == 0) {
    if (!tb_course_.Feeds(kind)) return tb_course_;
    lone_ = Lone{id, residents_.now};
    return set_course_;
  }
  if (lone) Follow(*lone);
  return *course_;
}

void ResidentSet::Follow(const Lone& lone) {
  const Cycle now = residents_.now;
  residents_.now = lone.begin;
  tb_course_.Begin(lone.slot);
  while (residents_.now < now) {
    tb_course_.Refresh();
    const Cycle next = std::min(now, tb_course_.NextEvent());
    tb_course_.Advance(next);
    residents_.now = next;
  }
  course_ = &tb_course_;
}

void ResidentSet::Launch(KernelId id, JobId job, const LaunchKind& kind, std::uint32_t first_tb,
                         Cycle now) {
  Refresh();
  residents_.now = now;
  Course& course = CourseWith(id, kind);
  if (course_ == &tb_course_ && &course != course_) {
    for (unsigned k = 0; k < kNumKernels; ++k) {
      if (residents_.slots[k].busy) set_course_.TakeOver(static_cast<KernelId>(k));
    }
    tb_course_.Clear();
  }
  course_ = &course;
  Slot& slot = residents_.slots[Index(id)];
  slot = {};
  slot.busy = true;
  slot.job = job;
  slot.kind = residents_.kinds.Of(kind);
  slot.left = slot.all = WorkOf(residents_.KindOf(slot), first_tb);
  slot.number = launches_++;
  residents_.places.Launch(id, kind.spec().need, kind.tbs, now);
  course_->Begin(id);
  changed_ = true;
}

void ResidentSet::Refresh() {
  if (!changed_) return;
  changed_ = false;
  course_->Refresh();
}

void ResidentSet::Advance(Cycle now) {
  Refresh();
  const Places& places = residents_.places;
  const KernelMask lingering = places.Lingering(residents_.now);
  changed_ = course_->Advance(now) || places.Lingering(now) != lingering;
  residents_.now = now;
}

KernelMask ResidentSet::Done() const {
  KernelMask mask = 0;
  for (unsigned k = 0; k < kNumKernels; ++k) {
    if (residents_.slots[k].busy && course_->Done(static_cast<KernelId>(k))) {
      mask |= static_cast<KernelMask>(1u << k);
    }
  }
  return mask;
}

ResidentSet::Ended ResidentSet::Take(KernelId id, Cycle now) {
  Slot& slot = residents_.slots[Index(id)];
  const Kinds::Kind& kind = residents_.KindOf(slot);
  checks_.Done(slot.job, slot.all, slot.work, slot.rate, now);
  slot.busy = false;
  lone_.reset();
  residents_.places.Done(id, now);
  changed_ = true;
  return {slot.job, kind.launch.tbs, slot.all, &kind.alone};
}

Cycle ResidentSet::NextEvent() {
  Refresh();
  return std::min(residents_.places.NextExpiry(residents_.now), course_->NextEvent());
}

bool ResidentSet::Progresses() {
  Refresh();
  return std::any_of(residents_.slots.begin(), residents_.slots.end(),
                     [](const Slot& slot) { return slot.busy && slot.rate > 0; });
}

std::uint32_t ResidentSet::TbsDone(KernelId id) const {
  const Slot& slot = SlotOf(id);
  if (!slot.busy) return 0;
  const double part = std::clamp(slot.work / slot.all, 0.0, 1.0);
  return static_cast<std::uint32_t>(part * residents_.KindOf(slot).launch.tbs);
}

double ResidentSet::WorkDone(KernelId id) const {
  const Slot& slot = SlotOf(id);
  return slot.busy ? slot.work : 0;
}

}  // namespace smk
