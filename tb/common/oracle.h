// SPDX-License-Identifier: Apache-2.0
// What the tests of the driver's blocks compare with: shares and plans computed from the
// definitions in the paper, from scratch every time, without the code under test.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "control/control_plane.h"
#include "control/driver/kernel_table.h"
#include "test_options.h"

namespace smk::oracle {

// A share in units of 1 / (product of the four limits): exact, and no LCM.
using Share = std::uint64_t;

inline Share Whole(const ResourceVector& limits) {
  return Share{limits.registers} * limits.shared_memory * limits.threads * limits.tbs;
}

// max of taken / limit over the four resources (SMK Sec. 5.2).
inline Share DominantShare(const ResourceVector& taken, const ResourceVector& limits) {
  const Share whole = Whole(limits);
  return std::max({taken.registers * (whole / limits.registers),
                   taken.shared_memory * (whole / limits.shared_memory),
                   taken.threads * (whole / limits.threads), taken.tbs * (whole / limits.tbs)});
}

inline bool Fits(const ResourceVector& part, const ResourceVector& whole) {
  return part.registers <= whole.registers && part.shared_memory <= whole.shared_memory &&
         part.threads <= whole.threads && part.tbs <= whole.tbs;
}

inline ResourceVector Times(const ResourceVector& v, unsigned n) {
  ResourceVector sum;
  for (unsigned i = 0; i < n; ++i) sum += v;
  return sum;
}

// One kernel of a plan.
struct Planned {
  unsigned kernel = 0;  // slot
  ResourceVector need{};
  unsigned tbs = 0;
};

// SMK Fig. 6, word for word; ties as in deviations [D3] and [D4]. `cap(planned)` says whether the
// kernel may have one more TB (even split and tables); the kernels are in order of their slots.
template <typename Cap>
void Plan(std::vector<Planned>* kernels, const ResourceVector& limits, unsigned sm, Cap cap) {
  ResourceVector one_of_each;
  for (const Planned& p : *kernels) one_of_each += p.need;
  const std::size_t first = Fits(one_of_each, limits) ? 0 : sm % kernels->size();
  std::rotate(kernels->begin(), kernels->begin() + static_cast<std::ptrdiff_t>(first),
              kernels->end());
  for (;;) {
    ResourceVector taken;
    for (const Planned& p : *kernels) taken += Times(p.need, p.tbs);
    Planned* best = nullptr;
    for (Planned& p : *kernels) {
      if (!Fits(taken + p.need, limits) || !cap(p)) continue;
      if (best == nullptr) best = &p;
      const Share mine = p.tbs * DominantShare(p.need, limits);
      const Share other = best->tbs * DominantShare(best->need, limits);
      if (mine < other || (mine == other && p.tbs > best->tbs)) best = &p;
    }
    if (best == nullptr) break;
    ++best->tbs;
  }
  std::sort(kernels->begin(), kernels->end(),
            [](const Planned& a, const Planned& b) { return a.kernel < b.kernel; });
}

// The plan of a dispatch mode with partitions.
inline void PlanFor(const PolicyConfig& policy, std::vector<Planned>* kernels,
                    const ResourceVector& limits, unsigned sm) {
  const unsigned n = static_cast<unsigned>(kernels->size());
  Plan(kernels, limits, sm, [&](const Planned& p) {
    if (policy.dispatch == DispatchMode::kTable) return p.tbs < policy.table[p.kernel];
    if (policy.dispatch != DispatchMode::kEven) return true;
    return p.tbs == 0 || Fits(Times(Times(p.need, p.tbs + 1), n), limits);
  });
}

// A TB that fits an SM, small enough that several do.
inline ResourceVector RandomNeed(std::mt19937* random, const ResourceVector& limits) {
  const auto upto = [&](unsigned most) {
    return static_cast<std::uint16_t>(std::uniform_int_distribution<unsigned>(0, most)(*random));
  };
  ResourceVector need;
  need.registers = upto(limits.registers / 3);
  need.shared_memory = upto(limits.shared_memory / 3);
  need.threads = static_cast<std::uint16_t>(1 + upto(limits.threads / 4));
  need.tbs = 1;
  return need;
}

// The seed of a random test: printed when it fails, and given with --seed=N.
inline unsigned Seed() { return static_cast<unsigned>(GetTestOptions().seed); }

inline unsigned Pick(std::mt19937* random, unsigned below) {
  return std::uniform_int_distribution<unsigned>(0, below - 1)(*random);
}

// The registers of a kernel table with these kernels, launched in order of their slots.
inline KernelTable::State Table(const std::vector<ResourceVector>& needs,
                                const ResourceVector& limits) {
  KernelTable::State state;
  for (unsigned k = 0; k < needs.size(); ++k) {
    KernelTable::Slot& slot = state.slot[k];
    slot.active = slot.member = true;
    slot.order = static_cast<std::uint8_t>(k);
    slot.need = needs[k];
    slot.share = ShareWeights::Of(limits).Dominant(needs[k]);
  }
  return state;
}

}  // namespace smk::oracle
