// SPDX-License-Identifier: Apache-2.0
// Partitions as seen from outside: given the TB counts in force, the places of an SM's TBs must fit
// one layout, kernel after kernel, in which a TB's place follows from its slot. As Warped-Slicer
// the last of them may live at the end of the SM.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "chip/plane_sm.h"

namespace smk::plane {

class Layout {
 public:
  Layout(const Scenario& scenario, unsigned sm) : scenario_(scenario), sm_(sm) {}

  // The TB counts in force for this SM, in every cycle.
  // New ones are known to the driver a cycle before they are sent.
  void Observe(const std::array<std::uint8_t, kMaxKernels>& counts) {
    if (counts != counts_) planned_after_ = decided_;
    counts_ = counts;
  }

  // A decision for this SM: a plan is made for the needs of now.
  void Decide(DecisionReason reason, Ledger* ledger) {
    if (reason == DecisionReason::kDispatchNew || reason == DecisionReason::kDispatchRestored ||
        reason == DecisionReason::kDispatchRestarted) {
      ++decided_;
    }
    if (reason != DecisionReason::kRepartition) return;
    planned_after_ = decided_;
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      if (ledger->at(k).launch != nullptr) needs_[k] = ledger->at(k).launch->descriptor.need;
    }
  }

  // After FakeSm::End of every cycle: the first TB dispatched after the plan says that the plan is
  // in force.
  void Check(const FakeSm& sm, const SmOutputs& out, Cycle now) {
    if (out.warp_start.valid && out.warp_start.warp_in_tb == 0) ++started_;
    if (started_ <= planned_after_ || out.tb_activate == 0) return;
    std::vector<unsigned> order;  // of those with TBs
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      if (counts_[k] != 0) order.push_back(k);
    }
    do {
      if (Fits(sm, order, false)) return;
      if (scenario_.policy.dispatch == DispatchMode::kSlicer && Fits(sm, order, true)) return;
    } while (std::next_permutation(order.begin(), order.end()));
    std::string text = "on SM " + std::to_string(sm_) + " at " + std::to_string(now) + ":";
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      text += " kernel " + std::to_string(k) + " " + std::to_string(counts_[k]) + " TBs of " +
              std::to_string(needs_[k].threads) + " warps;";
    }
    for (unsigned slot = 0; slot < kMaxTbSlots; ++slot) {
      const FakeSm::Tb& tb = sm.tbs()[slot];
      if (!tb.valid) continue;
      text += " slot " + std::to_string(slot) + ": kernel " + std::to_string(tb.kernel) +
              " warps from " + std::to_string(tb.warps.front()) + " registers from " +
              std::to_string(tb.base.registers) + " shared memory from " +
              std::to_string(tb.base.shared_memory);
    }
    throw Failure(plane::Check::kAlignment, text);
  }

 private:
  bool Fits(const FakeSm& sm, const std::vector<unsigned>& order, bool last_at_end) const {
    std::array<ResourceVector, kMaxKernels> base{};
    ResourceVector next;
    for (const unsigned k : order) {
      base[k] = next;
      for (unsigned i = 0; i < counts_[k]; ++i) next += needs_[k];
    }
    if (!FitsIn(next, scenario_.config.limits)) return false;
    if (last_at_end && !order.empty()) {
      const ResourceVector taken = next - base[order.back()];
      base[order.back()] = scenario_.config.limits - taken;
    }
    for (unsigned slot = 0; slot < kMaxTbSlots; ++slot) {
      if (sm.tbs()[slot].valid && !InPlace(sm.tbs()[slot], slot, base)) return false;
    }
    return true;
  }

  // Registers and shared memory follow the slot as well.
  bool InPlace(const FakeSm::Tb& tb, unsigned slot,
               const std::array<ResourceVector, kMaxKernels>& base) const {
    const unsigned k = tb.kernel;
    if (slot < base[k].tbs || slot >= base[k].tbs + counts_[k]) return false;
    const unsigned before = slot - base[k].tbs;
    if (tb.base.registers != base[k].registers + before * needs_[k].registers ||
        tb.base.shared_memory != base[k].shared_memory + before * needs_[k].shared_memory) {
      return false;
    }
    const unsigned first = base[k].threads + before * needs_[k].threads;
    for (unsigned w = 0; w < tb.warps.size(); ++w) {
      if (tb.warps[w] != first + w) return false;
    }
    return true;
  }

  const Scenario& scenario_;
  unsigned sm_;
  std::array<std::uint8_t, kMaxKernels> counts_{};
  std::array<ResourceVector, kMaxKernels> needs_{};
  unsigned decided_ = 0, started_ = 0;  // dispatches
  unsigned planned_after_ = 0;          // of them
};

}  // namespace smk::plane
