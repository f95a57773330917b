// SPDX-License-Identifier: Apache-2.0
// What ends a run, and what is said of its end.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "model/micro.h"

namespace smk {
namespace {

MicroKernel Work(const std::string& name, unsigned tbs, unsigned instructions) {
  MicroKernel kernel;
  kernel.name = name;
  kernel.tbs = tbs;
  for (unsigned n = 1; n < instructions; ++n) kernel.Op(OpClass::kAlu, 1, {1});
  return kernel;
}

class HostUntil : public testing::Test {
 protected:
  HostUntil() {
    run.repeat = false;
    run.request.machine.launch_latency = 100;
    run.request.record_tbs = true;
    run.request.until = RunUntil::kDone;
  }
  // The laws that hold however long a run was.
  void CheckAccounts(const RunResult& result) const {
    for (const SmStats& sm : result.sms) {
      EXPECT_EQ(
          std::accumulate(sm.scheduler_cycles.begin(), sm.scheduler_cycles.end(), std::uint64_t{0}),
          result.cycles * run.request.machine.sm.schedulers);
    }
  }
  static Cycle LastTb(const RunResult& result, unsigned job) {
    Cycle last = 0;
    for (const TbRecord& tb : result.tbs) {
      if (Index(tb.job) == job && tb.outcome == 'C') last = std::max(last, tb.end);
    }
    return last;
  }

  MicroRun run;
};

TEST_F(HostUntil, DoneEndsInTheCycleInWhichTheLastProgramEnds) {
  const RunResult result = run.Run({Work("a", 9, 100), Work("b", 3, 40)});
  EXPECT_FALSE(result.cut_short);
  EXPECT_GT(result.jobs[0].end, result.jobs[1].end);
  EXPECT_EQ(result.cycles, result.jobs[0].end + 1);
  CheckAccounts(result);
  for (unsigned job = 0; job < 2; ++job) {
    EXPECT_EQ(result.kernels[job].program_runs, 1u);
    EXPECT_EQ(result.jobs[job].end, result.jobs[job].finish);
    EXPECT_EQ(result.kernels[job].cycles_present, result.jobs[job].end);
  }
}

TEST_F(HostUntil, DoneChangesNothingBeforeTheEnd) {
  const std::vector<MicroKernel> kernels = {Work("a", 9, 100), Work("b", 3, 40)};
  const RunResult done = run.Run(kernels);
  run.request.until = RunUntil::kCycles;
  const RunResult all = run.Run(kernels);
  EXPECT_EQ(all.cycles, run.request.cycles);
  for (unsigned job = 0; job < 2; ++job) {
    EXPECT_EQ(done.jobs[job].end, all.jobs[job].end);
    EXPECT_EQ(done.kernels[job].warp_instructions, all.kernels[job].warp_instructions);
    EXPECT_EQ(done.kernels[job].cycles_present, all.kernels[job].cycles_present)
        << "cycles without work do not count, whatever comes after them";
  }
  EXPECT_EQ(done.tbs.size(), all.tbs.size());
}

TEST_F(HostUntil, DoneWaitsForLateJobsAndForThoseWithoutASlot) {
  run.arrivals = {0, 0, 0, 0, 0, 9000};
  const RunResult result = run.Run({Work("a", 3, 50), Work("b", 3, 60), Work("c", 3, 70),
                                    Work("d", 3, 80), Work("e", 3, 90), Work("f", 3, 30)});
  EXPECT_FALSE(result.cut_short);
  EXPECT_EQ(result.cycles, result.jobs[5].end + 1);
  EXPECT_GT(result.jobs[5].end, 9000u);
  for (const JobStats& job : result.jobs) EXPECT_LE(job.end, result.cycles);
  CheckAccounts(result);
}

TEST_F(HostUntil, CyclesCutShortWhatHasNotEnded) {
  const std::vector<MicroKernel> kernels = {Work("a", 9, 100), Work("b", 3, 40)};
  const Cycle whole = run.Run(kernels).cycles;
  run.request.cycles = whole;
  EXPECT_FALSE(run.Run(kernels).cut_short);
  run.request.cycles = whole - 1;
  const RunResult cut = run.Run(kernels);
  EXPECT_TRUE(cut.cut_short);
  EXPECT_EQ(cut.cycles, whole - 1);
  EXPECT_EQ(cut.jobs[0].end, kNever);
  EXPECT_NE(cut.jobs[1].end, kNever);
  EXPECT_EQ(cut.kernels[0].cycles_present, whole - 1);
  CheckAccounts(cut);
}

// Slots pass from job to job; the end of a job's last TB is its own.
TEST_F(HostUntil, LastTbIsThatOfTheRecords) {
  const RunResult result = run.Run({Work("a", 7, 50), Work("b", 3, 60), Work("c", 1, 70),
                                    Work("d", 9, 80), Work("e", 4, 90), Work("f", 2, 30)});
  for (unsigned job = 0; job < 6; ++job) {
    EXPECT_EQ(result.kernels[job].last_tb_end, LastTb(result, job)) << job;
    EXPECT_LE(result.kernels[job].last_tb_end, result.jobs[job].end) << job;
  }
  run.request.cycles = 30;
  const RunResult short_run = run.Run({Work("a", 7, 50)});
  EXPECT_EQ(short_run.kernels[0].last_tb_end, 0u) << "none has ended";
}

TEST_F(HostUntil, AJobThatRepeatsHasNoEnd) {
  run.request.until = RunUntil::kCycles;
  run.repeat = true;
  const RunResult result = run.Run({Work("a", 7, 50)});
  EXPECT_GT(result.kernels[0].program_runs, 1u);
  EXPECT_EQ(result.jobs[0].end, kNever);
  EXPECT_EQ(result.kernels[0].cycles_present, run.request.cycles);
  EXPECT_FALSE(result.cut_short);
}

}  // namespace
}  // namespace smk
