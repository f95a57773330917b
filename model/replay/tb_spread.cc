// SPDX-License-Identifier: Apache-2.0
#include "replay/tb_spread.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "control/sm/tb_gap.h"

namespace smk {

void TbSpread::Launch(KernelId slot, const KernelSpec& kernel, std::uint32_t tbs,
                      std::vector<double> parts) {
  slots_[Index(slot)] = {&kernel, tbs, 0, 0, std::move(parts)};
}

void TbSpread::Clear() {
  for (Sm& sm : sms_) sm = {};
  slots_ = {};
}

bool TbSpread::InStep(const Sm& sm) {
  return std::all_of(sm.tbs.begin(), sm.tbs.end(),
                     [&](const Tb& tb) { return tb.start == sm.tbs.front().start; });
}

bool TbSpread::LiesIn(const Lying& at) const {
  const ResourceVector& need = NeedOf(at.slot);
  return at.registers + need.registers <= limits_.registers &&
         at.shared_memory + need.shared_memory <= limits_.shared_memory;
}

// From the bottom of both memories behind every TB that is in the way, until none is.
bool TbSpread::FindGap(const Sm& sm, Lying* at) const {
  const ResourceVector& need = NeedOf(at->slot);
  at->registers = at->shared_memory = 0;
  for (bool moved = true; moved && LiesIn(*at);) {
    moved = false;
    const auto pass = [&](unsigned* begin, unsigned amount, unsigned other, unsigned its) {
      if (!MemorySpan{*begin, *begin + amount}.Meets({other, other + its})) return;
      *begin = other + its;
      moved = true;
    };
    for (const Tb& other : sm.tbs) {
      const ResourceVector& its = NeedOf(other.lies.slot);
      pass(&at->registers, need.registers, other.lies.registers, its.registers);
      pass(&at->shared_memory, need.shared_memory, other.lies.shared_memory, its.shared_memory);
    }
  }
  return LiesIn(*at);
}

bool TbSpread::FindPlace(Sm* sm, Lying* at) const {
  const auto kept = std::find_if(sm->kept.begin(), sm->kept.end(),
                                 [&](const Lying& place) { return place.slot == at->slot; });
  if (kept != sm->kept.end()) {
    *at = *kept;
    sm->kept.erase(kept);
    return true;
  }
  const ResourceVector& need = NeedOf(at->slot);
  at->registers = BehindAll(need.registers, sm->registers);
  at->shared_memory = BehindAll(need.shared_memory, sm->shared_memory);
  if (!LiesIn(*at)) {
    if (!FindGap(*sm, at)) return false;
    sm->kept.clear();
  }
  sm->registers = std::max(sm->registers, at->registers + need.registers);
  sm->shared_memory = std::max(sm->shared_memory, at->shared_memory + need.shared_memory);
  return true;
}

void TbSpread::Begin(Sm* sm, Tb tb) {
  if (!FindPlace(sm, &tb.lies)) {
    sm->waits = tb;
    return;
  }
  sm->waits.reset();
  tb.start = now_;
  sm->tbs.push_back(tb);
  State& on = sm->state;
  std::uint16_t &now = on.now[tb.lies.slot], &most = on.most[tb.lies.slot];
  ++now;
  most = now == 1 ? now : std::max(most, now);
  on.in_step = InStep(*sm);
}

unsigned TbSpread::NextSm(unsigned slot) const {
  for (unsigned i = 1; i <= sms(); ++i) {
    const unsigned sm = (last_ + i) % sms();
    if (!sms_[sm].waits && FitsIn(sms_[sm].taken + NeedOf(slot), limits_)) return sm;
  }
  return sms();
}

void TbSpread::Place(const std::array<std::uint64_t, kNumKernels>& ranks) {
  while (true) {
    unsigned best = kNumKernels, sm = sms();
    for (unsigned k = 0; k < kNumKernels; ++k) {
      if (slots_[k].sent == slots_[k].tbs) continue;
      if (best != kNumKernels && ranks[best] < ranks[k]) continue;
      const unsigned next = NextSm(k);
      if (next == sms()) continue;
      best = k;
      sm = next;
    }
    if (best == kNumKernels) return;
    Slot& slot = slots_[best];
    Tb tb;
    tb.lies.slot = best;
    if (slot.sent < slot.parts.size()) tb.part = tb.left = slot.parts[slot.sent];
    ++slot.sent;
    last_ = sm;
    sms_[sm].taken += NeedOf(best);
    Begin(&sms_[sm], tb);
  }
}

void TbSpread::SetSpeeds(unsigned sm, const Speeds& speeds) {
  std::array<std::size_t, kNumKernels> older{};
  for (Tb& tb : sms_[sm].tbs) {
    const Speed& speed = speeds[tb.lies.slot];
    tb.speed = speed.mean;
    if (speed.by_age != nullptr) tb.speed *= (*speed.by_age)[older[tb.lies.slot]++];
  }
}

Cycle TbSpread::NextEnd() const {
  double next = -1;
  for (const Sm& sm : sms_) {
    for (const Tb& tb : sm.tbs) {
      if (tb.speed > 0 && (next < 0 || tb.left < next * tb.speed)) next = tb.left / tb.speed;
    }
  }
  return next < 0 ? kNever : static_cast<Cycle>(std::max(1.0, std::floor(next + 0.5)));
}

void TbSpread::Leave(Sm* sm) {
  for (std::size_t i = 0; i < sm->tbs.size();) {
    const Tb& tb = sm->tbs[i];
    if (tb.left > tb.speed / 2) {
      ++i;
      continue;
    }
    ++slots_[tb.lies.slot].ended;
    --sm->state.now[tb.lies.slot];
    sm->taken -= NeedOf(tb.lies.slot);
    sm->kept.push_back(tb.lies);
    sm->tbs.erase(sm->tbs.begin() + static_cast<std::ptrdiff_t>(i));
  }
  sm->kept.erase(std::remove_if(sm->kept.begin(), sm->kept.end(),
                                [&](const Lying& place) { return sm->state.now[place.slot] == 0; }),
                 sm->kept.end());
  sm->state.in_step = InStep(*sm);
  if (sm->tbs.empty()) sm->registers = sm->shared_memory = 0;
  if (sm->waits) Begin(sm, *sm->waits);
}

bool TbSpread::Advance(Cycle cycles) {
  bool any = false;
  now_ += cycles;
  for (Sm& sm : sms_) {
    bool leaves = false;
    for (Tb& tb : sm.tbs) {
      tb.left -= tb.speed * static_cast<double>(cycles);
      leaves = leaves || (tb.speed > 0 && tb.left <= tb.speed / 2);
    }
    if (leaves) Leave(&sm);
    any = any || leaves;
  }
  return any;
}

double TbSpread::Done(KernelId id) const {
  double done = slots_[Index(id)].ended;
  for (const Sm& sm : sms_) {
    for (const Tb& tb : sm.tbs) {
      if (tb.lies.slot == Index(id)) done += 1 - tb.left / tb.part;
    }
  }
  return done;
}

double TbSpread::RateOf(KernelId id) const {
  double rate = 0;
  for (const Sm& sm : sms_) {
    for (const Tb& tb : sm.tbs) {
      if (tb.lies.slot == Index(id)) rate += tb.speed / tb.part;
    }
  }
  return rate;
}

bool TbSpread::Ended(KernelId id) const { return slots_[Index(id)].ended == slots_[Index(id)].tbs; }

}  // namespace smk
