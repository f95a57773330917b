// SPDX-License-Identifier: Apache-2.0
// Random samples, and plans for kernels that come and go.
#pragma once

#include <algorithm>
#include <utility>

#include "common/lockstep.h"
#include "control/driver/waterfill_planner.h"

namespace smk {

// Plans in a row for kernels that come and go; some are begun anew, and some get other samples,
// needs or orders while they are made. In some phases the kernels of a plan just fit together, or
// just do not.
template <typename AnyBench>
class WaterfillTraffic {
 public:
  WaterfillTraffic(AnyBench* bench, std::uint64_t seed) : bench_(*bench), dice_(seed) {}

  WaterfillPlanner::Inputs Next(unsigned cycle) {
    if (cycle % 4096 == 0) ChangePhase();
    const bool busy = bench_.state().busy();
    if (!busy || dice_.Percent(relaunch_)) ChangeKernel();
    WaterfillPlanner::Inputs in = in_;
    Sample(&in);
    // Sometimes just what the last plan loses, or a little more or less.
    const WaterfillPlanner::State& last = bench_.state();
    if (!busy && dice_.Percent(10)) {
      const int loses = __builtin_popcount(last.kernels) * (WaterfillPlanner::kBest - last.lowest);
      const int near = static_cast<int>(dice_.Below(1u << dice_.Below(8)));
      in_.loss_limit =
          static_cast<std::uint32_t>(std::max(0, dice_.Percent(50) ? loses - near : loses + near));
    }
    in.loss_limit = in_.loss_limit;
    in.start = busy ? dice_.Below(1000) < restart_ : dice_.Percent(20);
    in.kernels = static_cast<KernelMask>(1 + dice_.Below(15));
    in.sm = static_cast<SmId>(dice_.Below(AnyBench::Package::NumSms));
    if (in.start && dice_.Percent(tight_)) FillUp(in.kernels);
    return in;
  }

 private:
  void ChangePhase() {
    part_ = dice_.Percent(20) ? 32 : 1 + dice_.Below(12);
    tight_ = dice_.Percent(50) ? 0 : 60;
    restart_ = dice_.Percent(70) ? 0 : dice_.Below(20);
    relaunch_ = dice_.Percent(70) ? 0 : dice_.Below(3);
    write_ = dice_.Percent(70) ? 2 : 30;
    rises_ = dice_.Percent(70);
    most_ = 1u << (2 + dice_.Below(15));
    in_.loss_limit = dice_.Percent(60) ? WaterfillPlanner::kLossLimit : dice_.Below(1u << 18);
  }
  // More TBs are often better, and often as good; the other samples are any.
  void Sample(WaterfillPlanner::Inputs* in) {
    const bool busy = bench_.state().busy();
    in->sample_valid = dice_.Percent(busy ? write_ : 60);
    in->sample_kernel = static_cast<std::uint8_t>(dice_.Below(kNumKernels));
    in->sample_tbs = static_cast<std::uint8_t>(1 + dice_.Below(AnyBench::kLimits.tbs));
    const unsigned below =
        rises_ ? std::max(1u, most_ * in->sample_tbs / AnyBench::kLimits.tbs) : most_;
    in->sample_performance =
        static_cast<std::uint16_t>(dice_.Percent(3) ? 0xffff : dice_.Below(below));
  }
  // A kernel's need, up to a part of the SM, and the order of arrival.
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
    if (dice_.Percent(1)) return static_cast<std::uint16_t>(limit + 1);
    return static_cast<std::uint16_t>(dice_.Below(std::max(1u, limit / part_) + 1));
  }

  AnyBench& bench_;
  Dice dice_;
  WaterfillPlanner::Inputs in_;
  unsigned part_ = 1, tight_ = 0, restart_ = 0, relaunch_ = 0, write_ = 2, most_ = 4;
  bool rises_ = true;
};

}  // namespace smk
