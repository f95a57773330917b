// SPDX-License-Identifier: Apache-2.0
#include "replay/places.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace smk {

// Linger counts the ticks after the one in which the kernel ends; then one more takes the place.
Cycle Places::ExpiryOf(Cycle now) const {
  const Cycle epoch = policy_.epoch_length;
  return (now / epoch + 1 + policy_.linger_ticks) * epoch;
}

void Places::Launch(KernelId id, const ResourceVector& need, std::uint32_t tbs, Cycle now) {
  Slot& slot = slots_[Index(id)];
  const bool same = slot.member && slot.need == need && (slot.active || now <= slot.expiry);
  if (!same) slot.rank = next_rank_++;
  slot.member = slot.active = true;
  slot.need = need;
  slot.tbs = tbs;
  slot.had = 0;
}

void Places::Done(KernelId id, Cycle now) {
  Slot& slot = slots_[Index(id)];
  slot.active = false;
  slot.expiry = ExpiryOf(now);
}

bool Places::Shared() const {
  return policy_.dispatch == DispatchMode::kLeftover || policy_.dispatch == DispatchMode::kOnDemand;
}

KernelMask Places::Lingering(Cycle now) const {
  KernelMask mask = 0;
  for (unsigned k = 0; k < kNumKernels && !Shared(); ++k) {
    const Slot& slot = slots_[k];
    if (slot.member && !slot.active && now < slot.expiry) mask |= static_cast<KernelMask>(1u << k);
  }
  return mask;
}

Cycle Places::NextExpiry(Cycle now) const {
  Cycle next = kNever;
  const KernelMask lingering = Lingering(now);
  for (unsigned k = 0; k < kNumKernels; ++k) {
    if ((lingering >> k & 1) != 0) next = std::min(next, slots_[k].expiry);
  }
  return next;
}

void Places::InOrderOfSet(std::vector<Placed>* placed) const {
  ResourceVector one_each{};
  for (const auto& [id, tbs] : *placed) one_each += slots_[Index(id)].need;
  const bool by_age = policy_.dispatch == DispatchMode::kLeftover;
  const bool by_need = !by_age && FitsIn(one_each, limits_);
  const auto key = [&](const Placed& of) {
    const Slot& slot = slots_[Index(of.first)];
    const ResourceVector need = by_need ? slot.need : ResourceVector{};
    return std::make_tuple(by_age ? slot.rank : 0, need.registers, need.shared_memory, need.threads,
                           of.first);
  };
  std::sort(placed->begin(), placed->end(),
            [&](const Placed& a, const Placed& b) { return key(a) < key(b); });
}

std::vector<Places::Placed> Places::PlacesWith(KernelMask slots, KernelMask holders) const {
  std::vector<KernelId> order;
  const auto holds = [&](KernelId id) {
    return (holders >> Index(id) & 1) != 0 && slots_[Index(id)].had != 0;
  };
  for (unsigned k = 0; k < kNumKernels; ++k) {
    if ((slots >> k & 1) != 0) order.push_back(static_cast<KernelId>(k));
  }
  std::sort(order.begin(), order.end(), [&](KernelId a, KernelId b) {
    return std::make_pair(!holds(a), slots_[Index(a)].rank) <
           std::make_pair(!holds(b), slots_[Index(b)].rank);
  });
  ResourceVector left = limits_;
  std::vector<Placed> placed;
  for (const KernelId id : order) {
    const Slot& slot = slots_[Index(id)];
    unsigned tbs = std::min((slot.tbs + sms_ - 1) / sms_, MaxTbs(slot.need, left));
    if (holds(id)) tbs = std::min(tbs, slot.had);
    if (tbs == 0 && policy_.dispatch == DispatchMode::kLeftover) continue;
    for (unsigned i = 0; i < tbs; ++i) left -= slot.need;
    placed.emplace_back(id, tbs);
  }
  InOrderOfSet(&placed);
  return placed;
}

std::vector<KernelId> Places::With(KernelMask slots, KernelMask holders) const {
  std::vector<KernelId> with;
  for (const auto& [id, tbs] : PlacesWith(slots, holders)) with.push_back(id);
  return with;
}

void Places::Settle(KernelMask slots, KernelMask holders) {
  for (const auto& [id, tbs] : PlacesWith(slots, holders)) {
    if (tbs != 0) slots_[Index(id)].had = tbs;
  }
}

}  // namespace smk
