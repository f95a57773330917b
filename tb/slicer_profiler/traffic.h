// SPDX-License-Identifier: Apache-2.0
// Kernels that come and go, counts that stay the same for some time, and a planner that answers.
#pragma once

#include <algorithm>

#include "common/lockstep.h"
#include "control/driver/slicer_profiler.h"

namespace smk {

template <typename AnyBench>
class ProfilerTraffic {
 public:
  ProfilerTraffic(AnyBench* bench, std::uint64_t seed) : bench_(*bench), dice_(seed) {}

  SlicerProfiler::Inputs Next(unsigned cycle) {
    const SlicerProfiler::State& state = bench_.state();
    if (cycle % 4096 == 0) ChangePhase();
    SlicerProfiler::Inputs in = in_;
    in.start = state.step == SlicerProfiler::Step::kIdle ? dice_.Percent(20)
                                                         : dice_.Below(4000) < restart_;
    in.stop = dice_.Below(4000) < restart_;
    in.kernels = static_cast<KernelMask>(1 + dice_.Below(15));
    if (dice_.Below(60) < 1 + unsettled_) settled_ = unsettled_ == 0 || dice_.Percent(50);
    in.settled = settled_;
    if (dice_.Below(800) == 0)
      able_ = static_cast<KernelMask>(dice_.Percent(50) ? 15 : dice_.Below(16));
    in.able = able_;
    if (in.start && dice_.Percent(50)) ChangeKernel();
    // Times are constant during a profile.
    if (in.start) ChangeTimes();
    Counts(&in);
    in.planned = state.step == SlicerProfiler::Step::kPlan && dice_.Percent(10);
    return in;
  }

 private:
  void ChangePhase() {
    part_ = dice_.Percent(20) ? 32 : 1 + dice_.Below(12);
    restart_ = dice_.Percent(60) ? 0 : 1 + dice_.Below(10);
    unsettled_ = dice_.Percent(50) ? 0 : 1 + dice_.Below(30);
    noise_ = dice_.Percent(50) ? 0 : 1u << dice_.Below(16);
  }
  void ChangeTimes() {
    in_.warmup = Time();
    in_.settle = Time();
    in_.delay = Time();
    in_.window = static_cast<std::uint16_t>(1 + (dice_.Percent(3) ? dice_.Below(9'000) : Time()));
    in_.change = static_cast<std::uint8_t>(dice_.Below(8));
    in_.sustain = static_cast<std::uint8_t>(dice_.Below(dice_.Percent(30) ? 16 : 4));
  }
  std::uint16_t Time() { return static_cast<std::uint16_t>(dice_.Below(1u << dice_.Below(7))); }
  // A window of the SM: its cycles times the schedulers hold both. Any; or alike for some time.
  void Counts(SlicerProfiler::Inputs* in) {
    const unsigned cycles = in_.window * AnyBench::Package::NumSchedulers;
    if (noise_ == 0 || dice_.Below(3000) == 0) level_ = dice_.Below(cycles + 1);
    const unsigned near = dice_.Below(std::max(1u, cycles * noise_ >> 16));
    in->issued = static_cast<std::uint16_t>(std::min(cycles, level_ + near));
    in->stalled = static_cast<std::uint16_t>(
        dice_.Percent(10) ? cycles - in->issued : dice_.Below(cycles - in->issued + 1));
  }
  void ChangeKernel() {
    const ResourceVector& limits = AnyBench::kLimits;
    bench_.kernels.slot[dice_.Below(kNumKernels)].need = {
        Amount(limits.registers), Amount(limits.shared_memory),
        std::max<std::uint16_t>(1, Amount(limits.threads)), 1};
  }
  std::uint16_t Amount(unsigned limit) {
    if (dice_.Percent(20)) return 0;
    if (dice_.Percent(5)) return static_cast<std::uint16_t>(limit + 1);
    return static_cast<std::uint16_t>(dice_.Below(std::max(1u, limit / part_) + 1));
  }

  AnyBench& bench_;
  Dice dice_;
  SlicerProfiler::Inputs in_;
  unsigned part_ = 1, restart_ = 0, unsettled_ = 0, noise_ = 0, level_ = 0;
  bool settled_ = true;
  KernelMask able_ = 15;
};

}  // namespace smk
