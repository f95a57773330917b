// SPDX-License-Identifier: Apache-2.0
// A driver whose kernels come and end only when a test says so. What it commands, SMs do at once.
#pragma once

#include "driver/traffic.h"

namespace smk {

template <typename Pair>
class Ordered {
 public:
  explicit Ordered(DispatchMode mode) : Ordered(PolicyOf(mode)) {}
  explicit Ordered(const PolicyConfig& policy) : traffic_(Pair::Config(), policy, Rates(), 1) {}
  ~Ordered() {
    const auto& lockstep = bench().driver().lockstep();
    EXPECT_TRUE(lockstep.ok()) << lockstep.mismatch();
  }
  DriverBenchOf<Pair>& bench() { return traffic_.bench(); }
  const Driver& model() { return bench().driver().model(); }

  // What a TB needs of which an SM holds so many.
  static ResourceVector PartOfSm(unsigned tbs) {
    const ResourceVector l = Pair::Config().limits;
    const auto part = [&](unsigned limit) { return static_cast<std::uint16_t>(limit / tbs); };
    return {part(l.registers), part(l.shared_memory), part(l.threads), 1};
  }
  // Until it has its place on all SMs.
  void Launch(unsigned k, const ResourceVector& need, unsigned tbs) {
    bench().Launch(k, need, tbs);
    Run(8 * tbs + 100 * Pair::kSms);
  }
  // From now on so many of the victims asked for are not found.
  void SpareVictims(unsigned victims) { traffic_.rates().spare_victims = victims; }
  // All TBs of a kernel finish, and its place is given away.
  void Finish(unsigned k) {
    for (unsigned i = 0; i < Pair::kSms; ++i) {
      const auto& tbs = bench().sm(i).tbs;
      for (unsigned n = 0; n < tbs.size();) {
        if (tbs[n].kernel == k) {
          bench().Finish(i, n);
        } else {
          ++n;
        }
      }
    }
    Run(60);
    GiveAway();
  }
  // All TBs finish, and their kernels' places are given away.
  void FinishAll() {
    traffic_.rates().finish = 1;
    for (int i = 0; i < 10'000 && model().kernel_table().active() != 0; ++i) Run(1);
    EXPECT_EQ(model().kernel_table().active(), 0);
    traffic_.rates().finish = 0;
    GiveAway();
  }

 private:
  static PolicyConfig PolicyOf(DispatchMode mode) {
    PolicyConfig policy;
    policy.dispatch = mode;
    policy.linger_ticks = 0;
    return policy;
  }
  static DriverRates Rates() {
    DriverRates rates;
    rates.tick = rates.launch = rates.finish = rates.busy = 0;
    rates.free = rates.settle = rates.leave = 1;
    return rates;
  }
  void GiveAway() {
    HostInputs tick;
    tick.tick = true;
    bench().Cycle(tick);
    Run(60);
  }
  void Run(unsigned cycles) {
    while (cycles-- != 0) traffic_.Cycle();
  }
  DriverTraffic<Pair> traffic_;
};

}  // namespace smk
