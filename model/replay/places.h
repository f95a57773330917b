// SPDX-License-Identifier: Apache-2.0
// Who has a place on the SMs: the kernel slots as the control plane's kernel table keeps them.
//
// Order       By launch. A kernel slot keeps its rank when its next launch comes before its place
//             is given away, and its TBs need the same: control/driver/kernel_table.h [D7].
// Places      With the left-over policy a launch has the places that older ones leave over; with
//             the others every launch has some. Where partitions are kept until a kernel is done,
//             and for some ticks after, nobody gets the places of those that drain or linger.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/resources.h"
#include "control/messages.h"

namespace smk {

class Places {
 public:
  Places(const ResourceVector& limits, unsigned sms, const PolicyConfig& policy)
      : limits_(limits), sms_(sms), policy_(policy) {}

  // A launch into the slot, of so many TBs.
  void Launch(KernelId slot, const ResourceVector& need, std::uint32_t tbs, Cycle now);
  void Done(KernelId slot, Cycle now);

  // The slots of `slots` whose launches have places when only these launches are there: first
  // those of `holders`, whose last TBs are on the SMs, on the places that they had; then the
  // oldest. In the order of a set: with the left-over policy as they came. In a plan the lowest
  // slot has the first place of kernels that need the same, and of all that do not fit together.
  std::vector<KernelId> With(KernelMask slots, KernelMask holders) const;
  // Takes down what places they have now, when these launches are there.
  void Settle(KernelMask slots, KernelMask holders);
  // Slots whose launches are done, and whose places nobody else can have.
  KernelMask Lingering(Cycle now) const;
  // When the next of these gives its place away; kNever without one.
  Cycle NextExpiry(Cycle now) const;
  std::uint64_t RankOf(KernelId slot) const { return slots_[Index(slot)].rank; }
  // Places that a TB leaves are given to others, too.
  bool Shared() const;

 private:
  struct Slot {
    bool member = false;
    bool active = false;
    std::uint64_t rank = 0;
    Cycle expiry = 0;  // when it is done
    ResourceVector need{};
    std::uint32_t tbs = 0;
    unsigned had = 0;  // places on an SM, when it last had any
  };
  // A slot and its places on an SM, in the order of With().
  using Placed = std::pair<KernelId, unsigned>;
  void InOrderOfSet(std::vector<Placed>* placed) const;
  std::vector<Placed> PlacesWith(KernelMask slots, KernelMask holders) const;
  // The cycle in which the place of a kernel that is done now is given away.
  Cycle ExpiryOf(Cycle now) const;

  const ResourceVector limits_;
  const unsigned sms_;
  const PolicyConfig policy_;
  std::array<Slot, kNumKernels> slots_{};
  std::uint64_t next_rank_ = 0;
};

}  // namespace smk
