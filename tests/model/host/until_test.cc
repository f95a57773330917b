// SPDX-License-Identifier: Apache-2.0
// What ends a run, and what is said of its end.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/error.h"
#include "control/reference_control.h"
#include "model/micro.h"
#include "model/slicing_scheduler.h"

namespace smk {
namespace {

MicroKernel LongWork(const std::string& name, unsigned tbs, unsigned instructions,
                     unsigned threads = 32) {
  MicroKernel kernel;
  kernel.name = name;
  kernel.tbs = tbs;
  kernel.threads = threads;
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
  const RunResult result = run.Run({LongWork("a", 9, 100), LongWork("b", 3, 40)});
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
  const std::vector<MicroKernel> kernels = {LongWork("a", 9, 100), LongWork("b", 3, 40)};
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
  const RunResult result =
      run.Run({LongWork("a", 3, 50), LongWork("b", 3, 60), LongWork("c", 3, 70),
               LongWork("d", 3, 80), LongWork("e", 3, 90), LongWork("f", 3, 30)});
  EXPECT_FALSE(result.cut_short);
  EXPECT_EQ(result.cycles, result.jobs[5].end + 1);
  EXPECT_GT(result.jobs[5].end, 9000u);
  for (const JobStats& job : result.jobs) EXPECT_LE(job.end, result.cycles);
  CheckAccounts(result);
}

TEST_F(HostUntil, CyclesCutShortWhatHasNotEnded) {
  const std::vector<MicroKernel> kernels = {LongWork("a", 9, 100), LongWork("b", 3, 40)};
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
  const RunResult result =
      run.Run({LongWork("a", 7, 50), LongWork("b", 3, 60), LongWork("c", 1, 70),
               LongWork("d", 9, 80), LongWork("e", 4, 90), LongWork("f", 2, 30)});
  for (unsigned job = 0; job < 6; ++job) {
    EXPECT_EQ(result.kernels[job].last_tb_end, LastTb(result, job)) << job;
    EXPECT_LE(result.kernels[job].last_tb_end, result.jobs[job].end) << job;
  }
  run.request.cycles = 30;
  const RunResult short_run = run.Run({LongWork("a", 7, 50)});
  EXPECT_EQ(short_run.kernels[0].last_tb_end, 0u) << "none has ended";
}

TEST_F(HostUntil, AJobThatRepeatsHasNoEnd) {
  run.request.until = RunUntil::kCycles;
  run.repeat = true;
  const RunResult result = run.Run({LongWork("a", 7, 50)});
  EXPECT_GT(result.kernels[0].program_runs, 1u);
  EXPECT_EQ(result.jobs[0].end, kNever);
  EXPECT_EQ(result.kernels[0].cycles_present, run.request.cycles);
  EXPECT_FALSE(result.cut_short);
}

// Runs until equal work: a job that has done its work gives its place to the others.
class HostWork : public testing::Test {
 protected:
  HostWork() {
    run.request.machine.launch_latency = 100;
    run.request.record_tbs = true;
    run.request.cycles = 500000;
  }
  // Under the control plane of the project, so that TBs are preempted, too.
  RunResult Run(const std::vector<MicroKernel>& kernels, std::vector<WorkTarget> work,
                PreemptMode preempt = PreemptMode::kSwitch, bool spatial = false,
                std::unique_ptr<HostScheduler> scheduler = nullptr) {
    run.request.until = RunUntil::kWork;
    run.request.jobs.clear();
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      run.request.jobs.push_back({kernels[i].Build(), i < arrivals.size() ? arrivals[i] : 0});
      run.request.jobs.back().work = work[i];
    }
    run.request.policy.dispatch = spatial ? DispatchMode::kSpatial : DispatchMode::kOnDemand;
    run.request.policy.preempt = preempt;
    const auto control = MakeReferenceControl(run.Control(), run.request.policy);
    Host host(run.request, std::move(scheduler));
    Gpu gpu(run.request, *control, run.memory, host);
    gpu.Advance(run.request.cycles);
    RunResult result = gpu.Finish();
    host.Finish(&result);
    for (const SmStats& sm : result.sms) {
      EXPECT_EQ(
          std::accumulate(sm.scheduler_cycles.begin(), sm.scheduler_cycles.end(), std::uint64_t{0}),
          result.cycles * run.request.machine.sm.schedulers);
    }
    return result;
  }
  // At most one cycle of all schedulers more than asked for.
  void ExpectWork(const RunResult& result, unsigned job, std::uint64_t work) const {
    const std::uint64_t most = run.request.machine.sms * run.request.machine.sm.schedulers;
    EXPECT_GE(result.kernels[job].warp_instructions, work) << job;
    EXPECT_LT(result.kernels[job].warp_instructions, work + most) << job;
    EXPECT_NE(result.jobs[job].end, kNever) << job;
    EXPECT_EQ(result.kernels[job].cycles_present, result.jobs[job].end - result.jobs[job].arrival);
  }

  MicroRun run;
  std::vector<Cycle> arrivals;
};

TEST_F(HostWork, EndsWhenTheLastJobHasDoneItsWork) {
  const RunResult result =
      Run({LongWork("a", 40, 100, 128), LongWork("b", 40, 100, 128)}, {{3000}, {9000}});
  EXPECT_FALSE(result.cut_short);
  ExpectWork(result, 0, 3000);
  ExpectWork(result, 1, 9000);
  EXPECT_LT(result.jobs[0].end, result.jobs[1].end);
  EXPECT_EQ(result.cycles, result.jobs[1].end);
}

TEST_F(HostWork, WorkOfManyExecutionsIsCountedThroughThem) {
  const RunResult result = Run({LongWork("a", 3, 50, 64)}, {{5000}});
  ExpectWork(result, 0, 5000);
  EXPECT_EQ(result.kernels[0].program_runs, 5000 / (3 * 2 * 50)) << "a part of the last";
}

// What is left of a grid ends without an instruction; its slot and its room go to a job that waits.
TEST_F(HostWork, ReleasesWhatItHolds) {
  const MicroKernel large = LongWork("large", 400, 200, 512);
  std::vector<MicroKernel> kernels = {large, large, large, large, LongWork("waits", 40, 100, 128)};
  const std::vector<WorkTarget> some = {{4000}, {400000}, {400000}, {400000}, {3000}};
  const RunResult result = Run(kernels, some);
  ExpectWork(result, 0, 4000);
  ExpectWork(result, 4, 3000);
  EXPECT_GT(result.jobs[4].start, result.jobs[0].end) << "it had to wait for the slot";
  EXPECT_LT(result.jobs[4].end, result.jobs[1].end);
  EXPECT_EQ(Index(result.jobs[4].slot), 0u);
  std::map<char, unsigned> outcomes;
  for (const TbRecord& tb : result.tbs) outcomes[tb.outcome] += Index(tb.job) == 0 ? 1 : 0;
  EXPECT_GT(outcomes['E'], 0u);
  EXPECT_LE(outcomes['C'], 4000u / (16 * 200) + 1);
  EXPECT_EQ(outcomes['C'], result.kernels[0].tbs_completed) << "TBs that were ended do not count";
}

// The number of TBs to launch keeps what has to be ended small, and is no limit.
TEST_F(HostWork, LaunchesFewTbsThatAreNotNeeded) {
  const std::vector<MicroKernel> kernels = {LongWork("a", 5000, 20, 32),
                                            LongWork("b", 5000, 20, 32)};
  const auto launched = [](const RunResult& result, unsigned job) {
    std::uint64_t tbs = 0;
    for (const LaunchRecord& l : result.launches) tbs += Index(l.job) == job ? l.tb_count : 0;
    return tbs;
  };
  const RunResult all = Run(kernels, {{2000, 0}, {60000, 0}});
  EXPECT_EQ(launched(all, 0), 5000u);
  const RunResult few = Run(kernels, {{2000, 150}, {60000, 3100}});
  EXPECT_EQ(launched(few, 0), 150u);
  EXPECT_EQ(few.jobs[0].end, all.jobs[0].end) << "nothing is different until then";
  const RunResult too_few = Run(kernels, {{2000, 30}, {60000, 900}});
  ExpectWork(too_few, 1, 60000);
  EXPECT_GT(too_few.jobs[1].slices_completed, 10u) << "the rest comes in parts";
}

// Stopped TBs are saved before they can be ended, and come back for it.
TEST_F(HostWork, HoldsUnderPreemption) {
  const MicroKernel first = LongWork("first", 300, 4000, 256),
                    second = LongWork("second", 300, 100, 256);
  for (const PreemptMode mode : {PreemptMode::kSwitch, PreemptMode::kDrain}) {
    for (const bool spatial : {false, true}) {
      run.request.machine.sms = 2;
      unsigned saved = 0;
      // Whatever moment of a preemption it is.
      for (std::uint64_t work = 20000; work < 30000; work += 197) {
        arrivals = {0, 3000};
        const RunResult result = Run({first, second}, {{work}, {40000}}, mode, spatial);
        ExpectWork(result, 0, work);
        ExpectWork(result, 1, 40000);
        saved += static_cast<unsigned>(result.kernels[0].preemptions);
      }
      EXPECT_EQ(saved > 0, mode == PreemptMode::kSwitch || !spatial) << saved;
    }
  }
}

TEST_F(HostWork, SlicesEndWithTheirJob) {
  const RunResult result = Run({LongWork("a", 400, 50, 64), LongWork("b", 400, 50, 64)},
                               {{3000}, {9000}}, PreemptMode::kSwitch, false,
                               std::make_unique<SlicingScheduler>(std::vector<std::uint32_t>{7}));
  ExpectWork(result, 0, 3000);
  ExpectWork(result, 1, 9000);
  for (const LaunchRecord& launch : result.launches) {
    const JobStats& job = result.jobs[Index(launch.job)];
    EXPECT_LE(launch.start, job.end + 1) << "none begins after the end";
  }
}

TEST_F(HostWork, IsCutShortByTheCycles) {
  run.request.cycles = 1000;
  const RunResult result = Run({LongWork("a", 40, 100, 128)}, {{std::uint64_t{1} << 40}});
  EXPECT_TRUE(result.cut_short);
  EXPECT_EQ(result.cycles, 1000u);
  EXPECT_EQ(result.jobs[0].end, kNever);
}

TEST_F(HostWork, EachJobHasSome) {
  EXPECT_THROW(Run({LongWork("a", 3, 50, 64)}, {{0}}), InputError);
}

}  // namespace
}  // namespace smk
