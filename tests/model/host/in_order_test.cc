// SPDX-License-Identifier: Apache-2.0
// in_order: which job is in which kernel slot, and when.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "model/micro.h"

namespace smk {
namespace {

// A kernel of so many TBs, each of a known number of instructions.
MicroKernel Work(const std::string& name, unsigned tbs, unsigned instructions = 20) {
  MicroKernel kernel;
  kernel.name = name;
  kernel.tbs = tbs;
  for (unsigned n = 1; n < instructions; ++n) kernel.Op(OpClass::kAlu, 1, {1});
  return kernel;
}

class HostInOrder : public testing::Test {
 protected:
  HostInOrder() {
    run.request.machine.launch_latency = 100;
    run.request.record_tbs = true;
  }
  // Jobs arrive in these cycles, the rest in cycle 0.
  RunResult Run(const std::vector<MicroKernel>& kernels, const std::vector<Cycle>& arrivals = {}) {
    run.arrivals = arrivals;
    return run.Run(kernels);
  }
  static std::vector<LaunchRecord> Of(const RunResult& result, unsigned job) {
    std::vector<LaunchRecord> all;
    for (const LaunchRecord& l : result.launches) {
      if (Index(l.job) == job) all.push_back(l);
    }
    return all;
  }

  MicroRun run;
};

TEST_F(HostInOrder, JobIIsInSlotIWhateverComesFirst) {
  const RunResult result =
      Run({Work("a", 3), Work("b", 5), Work("c", 2), Work("d", 4)}, {300, 200, 0, 100});
  ASSERT_GT(result.launches.size(), 20u);
  for (const LaunchRecord& l : result.launches) EXPECT_EQ(Index(l.slot), Index(l.job));
  for (unsigned job = 0; job < 4; ++job) {
    EXPECT_EQ(result.jobs[job].start, result.jobs[job].arrival);
    EXPECT_GT(result.kernels[job].program_runs, 3u);
  }
}

TEST_F(HostInOrder, NextLaunchComesExactlyTheLatencyAfterTheEnd) {
  for (const unsigned latency : {0u, 1u, 100u}) {
    run.request.machine.launch_latency = latency;
    const std::vector<LaunchRecord> launches = Of(Run({Work("a", 3)}), 0);
    ASSERT_GT(launches.size(), 3u);
    for (std::size_t i = 1; i < launches.size(); ++i) {
      EXPECT_EQ(launches[i].start, launches[i - 1].end + std::max(latency, 1u));
    }
  }
}

TEST_F(HostInOrder, OneLaunchPerCycleTheLowestJobFirst) {
  const RunResult result = Run({Work("a", 1), Work("b", 1), Work("c", 1)}, {7, 7, 7});
  for (unsigned job = 0; job < 3; ++job) EXPECT_EQ(result.jobs[job].start, 7u + job);
}

TEST_F(HostInOrder, FifthJobWaitsForTheFirstSlotThatIsFree) {
  run.repeat = false;
  const RunResult result = Run({Work("a", 30, 200), Work("b", 20, 200), Work("c", 1, 20),
                                Work("d", 40, 200), Work("e", 2, 20)});
  ASSERT_EQ(result.launches.size(), 5u) << "each once";
  const LaunchRecord first_done = Of(result, 2)[0], fifth = Of(result, 4)[0];
  for (unsigned job : {0u, 1u, 3u}) EXPECT_LT(first_done.end, Of(result, job)[0].end);
  EXPECT_EQ(Index(fifth.slot), 2u);
  EXPECT_EQ(fifth.start, first_done.end + 100) << "the slot takes as long as for the same job";
  EXPECT_EQ(result.jobs[4].start, fifth.start);
  EXPECT_EQ(result.jobs[4].finish, fifth.end);
  EXPECT_EQ(result.jobs[4].turnaround(), fifth.end);
}

TEST_F(HostInOrder, WhoWaitsLongestGetsTheSlot) {
  run.repeat = false;
  // The last four arrive in another order than they stand in.
  const RunResult result = Run({Work("a", 8), Work("b", 8), Work("c", 8), Work("d", 8),
                                Work("e", 8), Work("f", 8), Work("g", 8), Work("h", 8)},
                               {0, 0, 0, 0, 30, 10, 40, 20});
  std::vector<unsigned> order;
  for (const LaunchRecord& l : result.launches) order.push_back(Index(l.job));
  EXPECT_EQ(order, (std::vector<unsigned>{0, 1, 2, 3, 5, 7, 4, 6}));
}

TEST_F(HostInOrder, JobsThatRepeatTakeTurns) {
  std::vector<MicroKernel> kernels;
  for (unsigned i = 0; i < 7; ++i) kernels.push_back(Work("k" + std::to_string(i), 4));
  const RunResult result = Run(kernels);
  std::uint64_t least = ~0u, most = 0;
  for (const KernelStats& k : result.kernels) {
    least = std::min(least, k.program_runs);
    most = std::max(most, k.program_runs);
  }
  EXPECT_GT(least, 5u);
  EXPECT_LE(most - least, 1u) << "equal jobs get equally often a slot";
}

TEST_F(HostInOrder, SlotHoldsOneLaunchAtATime) {
  std::vector<MicroKernel> kernels;
  for (unsigned i = 0; i < 9; ++i) kernels.push_back(Work("k", 2 + i));
  const RunResult result = Run(kernels);
  std::array<Cycle, kNumKernels> free{};
  for (const LaunchRecord& l : result.launches) {
    EXPECT_GE(l.start, free[Index(l.slot)]);
    free[Index(l.slot)] = l.end;
  }
}

// What a slot counted for one job is not taken for another's.
TEST_F(HostInOrder, StatisticsAreOfTheJobNotOfTheSlot) {
  run.repeat = false;
  run.request.cycles = 60000;
  std::vector<MicroKernel> kernels;
  for (unsigned i = 0; i < 11; ++i) {
    MicroKernel kernel = Work("k" + std::to_string(i), 1 + i, 10 + 3 * i);
    kernel.Load(2, {}, MicroKernel::kNewLine);
    kernels.push_back(kernel);
  }
  const RunResult result = Run(kernels);
  std::uint64_t all = 0;
  for (unsigned i = 0; i < 11; ++i) {
    const KernelStats& k = result.kernels[i];
    // One warp per TB; a load and the exit besides.
    EXPECT_EQ(k.warp_instructions, (1 + i) * (10 + 3 * i + 1)) << i;
    EXPECT_EQ(k.tbs_completed, 1 + i) << i;
    EXPECT_EQ(k.l1_accesses, 1 + i) << i;
    EXPECT_EQ(k.launches_completed, 1u) << i;
    EXPECT_EQ(k.program_runs, 1u) << i;
    EXPECT_EQ(k.stalls[0], k.warp_instructions) << i;
    all += k.warp_instructions;
  }
  EXPECT_EQ(all, result.warp_instructions);
}

TEST_F(HostInOrder, JobThatNeverStartsHasNoTimes) {
  run.repeat = false;
  run.request.cycles = 3000;
  const MicroKernel endless = Work("long", 1000, 400);
  const RunResult result = Run({endless, endless, endless, endless, Work("late", 1)});
  EXPECT_EQ(result.jobs[4].start, kNever);
  EXPECT_FALSE(result.jobs[4].turnaround());
  EXPECT_EQ(result.kernels[4].warp_instructions, 0u);
  EXPECT_EQ(result.kernels[4].cycles_present, 3000u);
  EXPECT_EQ(result.jobs[0].start, 0u);
  EXPECT_FALSE(result.jobs[0].turnaround());
}

// The same draws and addresses as alone, whatever slot it is in.
TEST_F(HostInOrder, JobDoesTheSameWorkInAnySlot) {
  run.repeat = false;
  run.request.cycles = 40000;
  const auto addresses = [&](const std::vector<MicroKernel>& kernels) {
    run.memory.calls.clear();
    Run(kernels);
    std::vector<std::uint64_t> all;
    for (const FixedMemory::Call& call : run.memory.calls) {
      all.push_back(call.address & ((std::uint64_t{1} << 36) - 1));
    }
    std::sort(all.begin(), all.end());
    return all;
  };
  MicroKernel loads = Work("loads", 1);
  loads.threads = 192;  // each warp has a line of its own
  loads.Load(2, {}, MicroKernel::kNewLine);
  const std::vector<std::uint64_t> alone = addresses({loads});
  EXPECT_EQ(alone.size(), 6u);
  EXPECT_EQ(addresses({Work("a", 3), Work("b", 4), Work("c", 5), Work("d", 9), loads}), alone);
}

TEST_F(HostInOrder, TwentyJobsHaveMemoryOfTheirOwn) {
  run.repeat = false;
  run.request.cycles = 60000;
  MicroKernel loads = Work("loads", 1);
  loads.threads = 64;
  loads.Load(2, {}, MicroKernel::kNewLine);
  Run(std::vector<MicroKernel>(20, loads));
  std::set<std::uint64_t> lines;
  for (const FixedMemory::Call& call : run.memory.calls) lines.insert(call.address);
  EXPECT_EQ(lines.size(), 40u);
  EXPECT_LT(*lines.rbegin(), std::uint64_t{1} << 45);
}

}  // namespace
}  // namespace smk
