// SPDX-License-Identifier: Apache-2.0
// Statistics of a part of a run.
#include <gtest/gtest.h>

#include <numeric>

#include "control/reference_control.h"
#include "machine/statistics.h"
#include "model/micro.h"

namespace smk {
namespace {

class RunMeasure : public testing::Test {
 protected:
  // Two kernels that share two SMs, the second from cycle 3000 on; TBs are preempted.
  static RunResult Run(Cycle from, Cycle to, bool repeat = true) {
    MicroKernel first, second;
    first.name = "first";
    second.name = "second";
    for (MicroKernel* kernel : {&first, &second}) {
      kernel->threads = 256;
      kernel->tbs = 10;
      kernel->Load(1, {}, MicroKernel::kNewLine);
      for (int n = 0; n < 500; ++n) kernel->Op(OpClass::kAlu, 1, {1});
      kernel->Store({1});
    }
    MicroRun run;
    run.request.machine.sms = 2;
    run.request.measure_from = from;
    run.request.measure_to = to;
    run.request.policy.dispatch = DispatchMode::kSpatial;
    run.request.jobs.push_back({first.Build(), 0, repeat});
    run.request.jobs.push_back({second.Build(), 3000, repeat});
    run.request.record_tbs = true;
    const auto control = MakeReferenceControl(run.Control(), run.request.policy);
    Host host(run.request);
    Gpu gpu(run.request, *control, run.memory, host);
    gpu.Advance(run.request.cycles);
    RunResult result = gpu.Finish();
    host.Finish(&result);
    return result;
  }
};

// However a run is cut, the parts add up to the whole, counter by counter.
TEST_F(RunMeasure, PartsAddUpToTheWhole) {
  const RunResult all = Run(0, kNever);
  EXPECT_EQ(all.measured_cycles(), all.cycles);
  EXPECT_GT(all.kernels[0].preemptions, 0u);
  EXPECT_GT(all.kernels[0].launches_completed, 0u);
  for (const Cycle cut : {Cycle{1}, Cycle{2999}, Cycle{3040}, Cycle{7777}, all.cycles - 1}) {
    const RunResult before = Run(0, cut), after = Run(cut, kNever);
    EXPECT_EQ(before.measured_cycles(), cut);
    EXPECT_EQ(after.measured_from, cut);
    EXPECT_EQ(after.measured_cycles(), all.cycles - cut);
    EXPECT_EQ(before.cycles, all.cycles) << "the run itself is not cut";
    for (std::size_t job = 0; job < 2; ++job) {
      for (const KernelCounter& c : KernelCounters()) {
        EXPECT_EQ(before.kernels[job].*c.value + after.kernels[job].*c.value,
                  all.kernels[job].*c.value)
            << c.name << " of " << job << " at " << cut;
      }
      for (unsigned r = 0; r < kNumStalls; ++r) {
        EXPECT_EQ(before.kernels[job].stalls[r] + after.kernels[job].stalls[r],
                  all.kernels[job].stalls[r]);
      }
      EXPECT_EQ(before.jobs[job].kernels_completed, all.jobs[job].kernels_completed);
      EXPECT_EQ(after.jobs[job].executions, all.jobs[job].executions);
      EXPECT_EQ(before.kernels[job].last_tb_end, all.kernels[job].last_tb_end);
      EXPECT_EQ(after.kernels[job].last_tb_end, all.kernels[job].last_tb_end);
    }
    EXPECT_EQ(before.warp_instructions + after.warp_instructions, all.warp_instructions);
    for (std::size_t sm = 0; sm < 2; ++sm) {
      for (const SmCounter& c : SmCounters()) {
        for (std::size_t job = 0; job < 2; ++job) {
          EXPECT_EQ((before.sms[sm].*c.value)[job] + (after.sms[sm].*c.value)[job],
                    (all.sms[sm].*c.value)[job])
              << c.name << " at " << cut;
        }
      }
      for (unsigned r = 0; r < kNumStalls; ++r) {
        EXPECT_EQ(before.sms[sm].scheduler_cycles[r] + after.sms[sm].scheduler_cycles[r],
                  all.sms[sm].scheduler_cycles[r]);
      }
      for (unsigned r = 0; r < kNumSimStalls; ++r) {
        EXPECT_EQ(before.sms[sm].sim_stalls[r] + after.sms[sm].sim_stalls[r],
                  all.sms[sm].sim_stalls[r]);
      }
    }
    EXPECT_EQ(before.tbs.size(), all.tbs.size()) << "what is recorded is of the whole run";
  }
}

TEST_F(RunMeasure, APartHasItsOwnCycles) {
  const RunResult part = Run(1000, 4000);
  EXPECT_EQ(part.kernels[0].cycles_present, 3000u);
  EXPECT_EQ(part.kernels[1].cycles_present, 1000u) << "from its arrival";
  for (const SmStats& sm : part.sms) {
    EXPECT_EQ(
        std::accumulate(sm.scheduler_cycles.begin(), sm.scheduler_cycles.end(), std::uint64_t{0}),
        3000u * 4);
  }
}

// One line at a time on its way: a load waits for the one before it, far longer than a part is.
TEST_F(RunMeasure, AWaitAtTheLsuIsOfTheCyclesItTakes) {
  constexpr Cycle kPart = 20;
  const auto busy = [](Cycle from, Cycle to) {
    MicroRun run;
    run.sm().l1.mshrs = 1;
    run.request.cycles = 3000;
    run.request.measure_from = from;
    run.request.measure_to = to;
    MicroKernel kernel;
    kernel.threads = 256;
    for (int n = 0; n < 40; ++n) kernel.Load(1, {}, MicroKernel::kNewLine);
    return run.Run({kernel}).kernels[0].lsu_busy;
  };
  std::uint64_t sum = 0;
  for (Cycle from = 1000; from < 1600; from += kPart) {
    const std::uint64_t part = busy(from, from + kPart);
    EXPECT_LE(part, kPart) << from;
    sum += part;
  }
  EXPECT_EQ(sum, busy(1000, 1600));
  EXPECT_GT(sum, 500u);
}

TEST_F(RunMeasure, NothingIsThereAfterTheEnd) {
  const RunResult late = Run(19900, kNever, false);
  ASSERT_LT(late.jobs[0].end, 19900u);
  EXPECT_EQ(late.kernels[0].cycles_present, 0u);
  EXPECT_EQ(late.kernels[0].warp_instructions, 0u);
  const RunResult never = Run(1'000'000, kNever, false);
  EXPECT_EQ(never.measured_cycles(), 0u);
  EXPECT_EQ(never.warp_instructions, 0u);
}

}  // namespace
}  // namespace smk
