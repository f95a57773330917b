// SPDX-License-Identifier: Apache-2.0
// Runs until equal work: a job that has done its work gives its place to the others.
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

MicroKernel Work(const std::string& name, unsigned tbs, unsigned instructions, unsigned threads) {
  MicroKernel kernel;
  kernel.name = name;
  kernel.tbs = tbs;
  kernel.threads = threads;
  for (unsigned n = 1; n < instructions; ++n) kernel.Op(OpClass::kAlu, 1, {1});
  return kernel;
}

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
      Run({Work("a", 40, 100, 128), Work("b", 40, 100, 128)}, {{3000}, {9000}});
  EXPECT_FALSE(result.cut_short);
  ExpectWork(result, 0, 3000);
  ExpectWork(result, 1, 9000);
  EXPECT_LT(result.jobs[0].end, result.jobs[1].end);
  EXPECT_EQ(result.cycles, result.jobs[1].end);
}

TEST_F(HostWork, WorkOfManyExecutionsIsCountedThroughThem) {
  const RunResult result = Run({Work("a", 3, 50, 64)}, {{5000}});
  ExpectWork(result, 0, 5000);
  EXPECT_EQ(result.kernels[0].program_runs, 5000 / (3 * 2 * 50)) << "a part of the last";
}

// What is left of a grid ends without an instruction; its slot and its room go to a job that waits.
TEST_F(HostWork, ReleasesWhatItHolds) {
  const MicroKernel large = Work("large", 400, 200, 512);
  std::vector<MicroKernel> kernels = {large, large, large, large, Work("waits", 40, 100, 128)};
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
  const std::vector<MicroKernel> kernels = {Work("a", 5000, 20, 32), Work("b", 5000, 20, 32)};
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
  const MicroKernel first = Work("first", 300, 4000, 256), second = Work("second", 300, 100, 256);
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
  const RunResult result =
      Run({Work("a", 400, 50, 64), Work("b", 400, 50, 64)}, {{3000}, {9000}}, PreemptMode::kSwitch,
          false, std::make_unique<SlicingScheduler>(std::vector<std::uint32_t>{7}));
  ExpectWork(result, 0, 3000);
  ExpectWork(result, 1, 9000);
  for (const LaunchRecord& launch : result.launches) {
    const JobStats& job = result.jobs[Index(launch.job)];
    EXPECT_LE(launch.start, job.end + 1) << "none begins after the end";
  }
}

TEST_F(HostWork, IsCutShortByTheCycles) {
  run.request.cycles = 1000;
  const RunResult result = Run({Work("a", 40, 100, 128)}, {{std::uint64_t{1} << 40}});
  EXPECT_TRUE(result.cut_short);
  EXPECT_EQ(result.cycles, 1000u);
  EXPECT_EQ(result.jobs[0].end, kNever);
}

TEST_F(HostWork, EachJobHasSome) { EXPECT_THROW(Run({Work("a", 3, 50, 64)}, {{0}}), InputError); }

}  // namespace
}  // namespace smk
