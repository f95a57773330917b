// SPDX-License-Identifier: Apache-2.0
// Room that nobody takes: a TB must not wait for long while an SM could host it.
#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "chip/plane_sm.h"

namespace smk::plane {

// Looks only where every kernel may run on every SM, and where the driver is not so slow that short
// TBs of other kernels keep it busy.
class Room {
 public:
  Room(const Scenario& scenario, unsigned sm) : scenario_(scenario), sm_(sm) {}

  // In every cycle. `parts` are the TB counts in force, null without partitions.
  void Check(const FakeSm& sm, const std::array<std::uint8_t, kMaxKernels>* parts, Ledger* ledger,
             Cycle now) {
    const bool all_everywhere = scenario_.policy.kernels_per_sm >= scenario_.config.num_kernels &&
                                !scenario_.policy.quota_enable &&
                                scenario_.policy.latency_scale == 1 &&
                                scenario_.policy.dispatch != DispatchMode::kSpatial &&
                                scenario_.policy.dispatch != DispatchMode::kSlicer &&
                                scenario_.policy.dispatch != DispatchMode::kToken;
    if (!all_everywhere) return;
    // While a TB waits there for a gap, nobody else comes.
    const bool moving = sm.stopped() != 0 || sm.place_waits() || Preempting(sm);
    for (unsigned k = 0; k < scenario_.programs.size(); ++k) {
      const Current& c = ledger->at(k);
      const bool wants = c.active && c.away != 0 && !moving && !MayBeHeld(k, ledger);
      if (!wants || !HasRoom(sm, parts, k, c.launch->descriptor.need)) since_[k] = now;
      Require(now - since_[k] <= Patience(), plane::Check::kRoom, [&] {
        return "kernel " + std::to_string(k) + " could run on SM " + std::to_string(sm_) +
               " since " + std::to_string(since_[k]);
      });
    }
  }

 private:
  // Twice the time to fill the whole GPU: one decision at a time, and an SM takes its next TB when
  // all warps of the one before are placed, and the driver knows it.
  Cycle Patience() const {
    const ControlConfig& c = scenario_.config;
    const unsigned way = c.link_stages + c.link_spread;
    return 200 + 2 * c.num_sms * (c.limits.tbs * (10 + 2 * way) + c.limits.threads);
  }

  // On demand, an SM is kept free of decisions until the victims have left: one may have to be
  // loaded before, or wait for a buffer.
  bool Preempting(const FakeSm& sm) const {
    if (scenario_.policy.dispatch == DispatchMode::kLeftover) return false;
    return scenario_.config.preempted_depth < 512 ||
           std::any_of(sm.tbs().begin(), sm.tbs().end(),
                       [](const FakeSm::Tb& tb) { return tb.valid && !tb.active && tb.restore; });
  }

  // Under strict left-over the other one that waits may be the older.
  bool MayBeHeld(unsigned kernel, Ledger* ledger) const {
    if (!scenario_.policy.leftover_strict) return false;
    if (scenario_.policy.dispatch != DispatchMode::kLeftover) return false;
    for (unsigned k = 0; k < scenario_.programs.size(); ++k) {
      const Current& c = ledger->at(k);
      if (k != kernel && c.active && c.away != 0) return true;
    }
    return false;
  }

  bool HasRoom(const FakeSm& sm, const std::array<std::uint8_t, kMaxKernels>* parts, unsigned k,
               const ResourceVector& need) const {
    if (parts == nullptr) return FitsIn(sm.taken() + need, scenario_.config.limits);
    return sm.resident(k) < (*parts)[k];
  }

  const Scenario& scenario_;
  unsigned sm_;
  std::array<Cycle, kMaxKernels> since_{};
};

}  // namespace smk::plane
