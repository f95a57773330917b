// SPDX-License-Identifier: Apache-2.0
// Random plans for kernels that come and go.
#pragma once

#include <algorithm>
#include <utility>

#include "common/lockstep.h"
#include "control/driver/partition_planner.h"

namespace smk {

// Plans in a row for kernels that come and go, some begun anew, in modes that change. In some
// phases the kernels of a plan just fit together, or just do not.
template <typename AnyBench>
class PlannerTraffic {
 public:
  PlannerTraffic(AnyBench* bench, std::uint64_t seed) : bench_(*bench), dice_(seed) {}

  PartitionPlanner::Inputs Next(unsigned cycle) {
    if (cycle % 256 == 0) ChangePhase();
    if (!bench_.state().busy || dice_.Percent(relaunch_)) ChangeKernel();
    PartitionPlanner::Inputs in = in_;
    in.start = dice_.Percent(bench_.state().busy ? restart_ : 50);
    in.kernels = static_cast<KernelMask>(1 + dice_.Below(15));
    in.sm = static_cast<SmId>(dice_.Below(AnyBench::Package::NumSms));
    in.apart = static_cast<std::uint8_t>(1 + dice_.Below(kNumKernels));
    if (in.start && dice_.Percent(tight_)) FillUp(in.kernels);
    return in;
  }

 private:
  void ChangePhase() {
    const DispatchMode modes[] = {DispatchMode::kPartitioned, DispatchMode::kPartitioned,
                                  DispatchMode::kEven, DispatchMode::kTable};
    in_.mode = modes[dice_.Below(4)];
    in_.last_at_end = dice_.Percent(50);
    for (auto& count : in_.table) {
      count = static_cast<std::uint8_t>(dice_.Below(AnyBench::kLimits.tbs + 1u));
    }
    part_ = dice_.Percent(20) ? 32 : 1 + dice_.Below(12);
    tight_ = dice_.Percent(50) ? 0 : 60;
    restart_ = dice_.Percent(50) ? 0 : dice_.Below(20);
    relaunch_ = dice_.Percent(50) ? 0 : dice_.Below(30);
  }
  // A kernel's need, up to a part of the SM, and the order of arrival, which need not be dense.
  void ChangeKernel() {
    const unsigned k = dice_.Below(kNumKernels);
    const ResourceVector& limits = AnyBench::kLimits;
    if (dice_.Percent(20)) {
      bench_.Launch(k, bench_.kernels.slot[dice_.Below(kNumKernels)].need);
    } else {
      bench_.Launch(k, {Amount(limits.registers), Amount(limits.shared_memory),
                        std::max<std::uint16_t>(1, Amount(limits.threads)), 1});
    }
    auto& slot = bench_.kernels.slot;
    std::swap(slot[k].order, slot[dice_.Below(kNumKernels)].order);
    if (dice_.Percent(5)) slot[k].order = static_cast<std::uint8_t>(dice_.Below(kNumKernels));
  }
  // One kernel's need of one resource changes, so that all need about the whole SM.
  void FillUp(KernelMask kernels) {
    unsigned k = dice_.Below(kNumKernels);
    while ((kernels >> k & 1) == 0) k = (k + 1) % kNumKernels;
    std::uint16_t ResourceVector::*const resources[] = {
        &ResourceVector::registers, &ResourceVector::shared_memory, &ResourceVector::threads};
    std::uint16_t ResourceVector::*const resource = resources[dice_.Below(3)];
    const int limit = AnyBench::kLimits.*resource, near = 1 << dice_.Below(7);
    int need = limit + static_cast<int>(dice_.Below(2 * near + 1)) - near;
    for (unsigned j = 0; j < kNumKernels; ++j) {
      if (j != k && (kernels >> j & 1) != 0) need -= bench_.kernels.slot[j].need.*resource;
    }
    ResourceVector needs = bench_.kernels.slot[k].need;
    needs.*resource = static_cast<std::uint16_t>(std::clamp(need, 1, limit));
    bench_.Launch(k, needs);
  }
  std::uint16_t Amount(unsigned limit) {
    if (dice_.Percent(20)) return 0;
    return static_cast<std::uint16_t>(dice_.Below(std::max(1u, limit / part_) + 1));
  }

  AnyBench& bench_;
  Dice dice_;
  PartitionPlanner::Inputs in_;
  unsigned part_ = 1, tight_ = 0, restart_ = 0, relaunch_ = 0;
};

}  // namespace smk
