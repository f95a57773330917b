// SPDX-License-Identifier: Apache-2.0
// SlicerProfiler with SMs and a planner that answer, for its directed tests.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/oracle.h"
#include "control/driver/slicer_profiler.h"

namespace smk {

inline constexpr ResourceVector kProfilerLimits{256, 384, 64, 32};
inline constexpr ResourceVector kEighthOfAnSm{32, 0, 1, 1};

// What was given or sampled: SM, kernel, TBs.
struct ProfilerRecord {
  unsigned cycle, sm, kernel, tbs, performance;
};

// A profiler with kernels of these needs, SMs that answer with counts(sm, kernel, tbs), and a
// planner that answers at once.
class ProfilerBench {
 public:
  ProfilerBench(const std::vector<ResourceVector>& needs, unsigned sms)
      : profiler_({kProfilerLimits, sms}),
        kernels_(oracle::Table(needs, kProfilerLimits)),
        held_(sms) {
    in.warmup = 20;
    in.settle = 10;
    in.window = 200;
    in.kernel_table = &kernels_;
    counts = [](unsigned, unsigned, unsigned) { return std::pair<unsigned, unsigned>{400, 0}; };
  }
  void Start(KernelMask mask) {
    cycle = 0;
    gives.clear();
    samples.clear();
    in.start = true;
    in.kernels = mask;
    Cycle();
    in.start = false;
  }
  void Cycle() {
    const SlicerProfiler::State& s = state();
    std::tie(in.issued, in.stalled) = counts(s.sm, held_[s.sm].kernel, held_[s.sm].tbs);
    in.planned = s.plan;
    windows += s.window() && !was_window_ ? 1 : 0;
    was_window_ = s.window();
    profiler_.Tick(in);
    ++cycle;
    if (s.give_valid) {
      held_[s.give_sm] = {cycle, s.give_sm, s.give_kernel, s.give_tbs, 0};
      gives.push_back(held_[s.give_sm]);
    }
    if (s.sample_valid) {
      samples.push_back({cycle, 0, s.sample_kernel, s.sample_tbs, s.sample_performance});
    }
  }
  // Until `done`, or 100,000 cycles later.
  unsigned Until(const std::function<bool()>& done) {
    const unsigned end = cycle + 100'000;
    while (!done() && cycle < end) Cycle();
    EXPECT_TRUE(done());
    return cycle;
  }
  unsigned UntilSharing() {
    return Until([this] { return state().watches; });
  }
  // "kernel:TBs" of the SMs, in the order given.
  std::string Given() const {
    std::string text;
    for (const ProfilerRecord& g : gives) {
      text += (text.empty() ? "" : " ") + std::to_string(g.kernel) + ":" + std::to_string(g.tbs);
    }
    return text;
  }
  const SlicerProfiler::State& state() const { return profiler_.state(); }

  SlicerProfiler::Inputs in;
  std::function<std::pair<unsigned, unsigned>(unsigned, unsigned, unsigned)> counts;
  unsigned cycle = 0, windows = 0;
  std::vector<ProfilerRecord> gives, samples;

 private:
  SlicerProfiler profiler_;
  KernelTable::State kernels_;
  std::vector<ProfilerRecord> held_;
  bool was_window_ = false;
};

}  // namespace smk
