// SPDX-License-Identifier: Apache-2.0
// Kernelet as a host scheduler: pairs of slices until a kernel comes or ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "base/error.h"
#include "control/reference_control.h"
#include "host/kernelet/scheduler.h"
#include "model/micro.h"
#include "test_options.h"

namespace smk {
namespace {

using testing::HasSubstr;

constexpr unsigned kHostSms = 2;

// Kernels that were "profiled": some compute, some wait for memory.
class KerneletHost : public testing::Test {
 protected:
  KerneletHost() {
    run.repeat = false;
    run.request.machine.sms = kHostSms;
    run.request.until = RunUntil::kDone;
    run.request.cycles = 3'000'000;
    run.request.record_tbs = true;
    plan.machine.sms = kHostSms;
    plan.machine.limits = run.request.machine.sm.limits;
    plan.machine.schedulers = 4;
    plan.machine.memory.coalesced = plan.machine.memory.uncoalesced = {1, 200};
  }
  static MicroKernel Kernel(const std::string& name, unsigned tbs, unsigned loads) {
    MicroKernel kernel;
    kernel.name = name;
    kernel.threads = 256;
    kernel.tbs = tbs;
    kernel.Loop(4);
    for (unsigned i = 0; i < loads; ++i) kernel.Load(1, {1}, MicroKernel::kNewLine);
    kernel.Op(OpClass::kAlu, 2, {1});
    kernel.Op(OpClass::kAlu, 2, {2});
    kernel.End();
    return kernel;
  }
  // The job executes a workload whose kernel has this profile.
  void Add(const MicroKernel& kernel, Cycle arrival, double memory_ratio, unsigned least = 1) {
    workloads.push_back(kernel.Build());
    const KernelSpec& spec = workloads.back()->kernels[0];
    KerneletKernel profile;
    profile.name = spec.name;
    profile.need = spec.need;
    profile.instructions = 100;
    profile.memory_ratio = memory_ratio;
    profile.pur = 1 - memory_ratio;
    profile.mur = memory_ratio;
    profile.least_tbs = least;
    plan.places[&spec] = plan.kernels.size();
    plan.kernels.push_back(profile);
    arrivals.push_back(arrival);
  }
  RunResult Run(std::unique_ptr<HostScheduler> scheduler) {
    run.request.jobs.clear();
    for (std::size_t i = 0; i < workloads.size(); ++i) {
      run.request.jobs.push_back({workloads[i], arrivals[i], false});
    }
    PolicyConfig policy;
    policy.dispatch = DispatchMode::kLeftover;
    run.request.policy = policy;
    const auto control = MakeReferenceControl(run.Control(), policy);
    Host host(run.request, std::move(scheduler));
    Gpu gpu(run.request, *control, run.memory, host);
    gpu.Advance(run.request.cycles);
    RunResult result = gpu.Finish();
    host.Finish(&result);
    EXPECT_FALSE(result.cut_short);
    return result;
  }
  static void ExpectEachTbOnce(const RunResult& result,
                               const std::vector<std::shared_ptr<const Workload>>& workloads) {
    std::map<std::pair<unsigned, unsigned>, unsigned> completed;
    for (const TbRecord& tb : result.tbs) {
      if (tb.outcome == 'C') ++completed[{Index(tb.job), Index(tb.tb)}];
    }
    std::size_t all = 0;
    for (std::size_t i = 0; i < workloads.size(); ++i) {
      const std::uint32_t tbs = workloads[i]->kernels[0].tb_count();
      all += tbs;
      for (std::uint32_t tb = 0; tb < tbs; ++tb) {
        EXPECT_EQ((completed[{static_cast<unsigned>(i), tb}]), 1u) << i << ' ' << tb;
      }
    }
    EXPECT_EQ(completed.size(), all);
  }
  // Jobs whose slices were on the GPU in a cycle, two at most.
  static std::size_t JobsAt(const RunResult& result, Cycle cycle) {
    std::map<JobId, int> jobs;
    int slices = 0;
    for (const LaunchRecord& l : result.launches) {
      if (l.start > cycle || cycle >= l.end) continue;
      ++jobs[l.job];
      ++slices;
    }
    EXPECT_LE(slices, 2);
    return jobs.size();
  }

  MicroRun run;
  KerneletPlan plan;
  std::vector<std::shared_ptr<const Workload>> workloads;
  std::vector<Cycle> arrivals;
};

TEST_F(KerneletHost, ExecutesSlicesOfTwoKernelsAtATime) {
  Add(Kernel("compute", 64, 0), 0, 0.0);
  Add(Kernel("memory", 64, 4), 0, 0.6);
  Add(Kernel("compute2", 64, 0), 0, 0.05);
  CoScheduleFinder finder(plan.machine, plan.kernels);
  const CoSchedule first = finder.Find({0, 1, 2});
  ASSERT_TRUE(first.second);
  const RunResult result = Run(MakeKernelet(plan));
  ExpectEachTbOnce(result, workloads);
  for (const LaunchRecord& l : result.launches) EXPECT_LE(JobsAt(result, l.start), 2u);
  // The first two launches are those of the pair, of its sizes.
  ASSERT_GE(result.launches.size(), 2u);
  for (int i : {0, 1}) {
    const LaunchRecord& l = result.launches[i];
    const std::size_t job = i == 0 ? first.first : *first.second;
    EXPECT_EQ(Index(l.job), job);
    EXPECT_EQ(l.tb_count, first.size[i]);
    EXPECT_EQ(l.tb_count % kHostSms, 0u) << "whole multiples of the SMs";
  }
}

// Slices are consecutive, and the last has what is left.
TEST_F(KerneletHost, SlicesAreConsecutive) {
  Add(Kernel("a", 45, 0), 0, 0.0);
  Add(Kernel("b", 37, 4), 0, 0.6);
  const RunResult result = Run(MakeKernelet(plan));
  std::map<JobId, std::uint32_t> next;
  for (const LaunchRecord& l : result.launches) {
    EXPECT_EQ(l.first_tb, next[l.job]);
    next[l.job] += l.tb_count;
  }
  EXPECT_EQ(next[JobId{0}], 45u);
  EXPECT_EQ(next[JobId{1}], 37u);
}

// A kernel alone is sliced, so that one that arrives need not wait for its end.
TEST_F(KerneletHost, ChoosesAnewWhenAKernelArrives) {
  constexpr Cycle kLater = 2000;
  Add(Kernel("a", 600, 0), 0, 0.0);
  Add(Kernel("b", 64, 4), kLater, 0.6);
  const RunResult result = Run(MakeKernelet(plan));
  ExpectEachTbOnce(result, workloads);
  EXPECT_LT(result.jobs[1].start, result.jobs[0].finish);
  // The slices of a are smaller from then on.
  std::uint32_t alone = 0, shared = ~0u;
  for (const LaunchRecord& l : result.launches) {
    if (l.job != JobId{0}) continue;
    if (l.start < kLater) alone = std::max(alone, l.tb_count);
    if (l.start > result.jobs[1].start && l.start < result.jobs[1].finish) {
      shared = std::min(shared, l.tb_count);
    }
  }
  EXPECT_LT(shared, alone);
}

// A kernel without a partner begins its next slice before the one before it has ended, and pays no
// more for being sliced than its smallest slice was measured to cost. With a partner each has one
// slice at a time.
TEST_F(KerneletHost, AKernelAloneHasBothSlots) {
  Add(Kernel("a", 600, 2), 0, 0.3);
  const RunResult sliced = Run(MakeKernelet(plan));
  std::size_t early = 0;
  for (std::size_t i = 1; i < sliced.launches.size(); ++i) {
    if (sliced.launches[i].start < sliced.launches[i - 1].end) ++early;
  }
  ASSERT_GT(sliced.launches.size(), 3u);
  EXPECT_EQ(early, sliced.launches.size() - 1);
  const auto cycles = [](const RunResult& r) { return r.jobs[0].finish - r.jobs[0].start; };
  const double whole = static_cast<double>(cycles(Run(MakeSliced(600))));
  EXPECT_LT(static_cast<double>(cycles(sliced)), 1.02 * whole);

  Add(Kernel("b", 600, 0), 0, 0.0);
  const RunResult pair = Run(MakeKernelet(plan));
  std::map<JobId, Cycle> end;
  const Cycle both = std::min(pair.jobs[0].finish, pair.jobs[1].finish);
  for (const LaunchRecord& l : pair.launches) {
    if (l.start >= both) continue;
    EXPECT_GE(l.start, end[l.job]);
    end[l.job] = l.end;
  }
}

// Whatever was profiled and whenever jobs come: each TB once, and two kernels at most.
TEST_F(KerneletHost, ExecutesEachTbOnceWhateverItChooses) {
  std::mt19937 random(GetTestOptions().seed);
  SCOPED_TRACE("--seed=" + std::to_string(GetTestOptions().seed));
  for (int round = 0; round < 12; ++round) {
    workloads.clear();
    arrivals.clear();
    plan.kernels.clear();
    plan.places.clear();
    plan.random_seed.reset();
    const unsigned jobs = 1 + random() % 6;
    for (unsigned i = 0; i < jobs; ++i) {
      Add(Kernel("k" + std::to_string(i), 1 + random() % 90, random() % 4), random() % 9000,
          static_cast<double>(random() % 90) / 100, 1 + random() % 4);
    }
    plan.params.sizes = random() % 2 == 0 ? SliceSizes::kFilling : SliceSizes::kAll;
    if (random() % 3 == 0) plan.params.least_profit = 0.2;
    if (random() % 3 == 0) plan.random_seed = random();
    const RunResult result = Run(MakeKernelet(plan));
    ExpectEachTbOnce(result, workloads);
    for (const LaunchRecord& l : result.launches) EXPECT_LE(JobsAt(result, l.start), 2u);
  }
}

TEST_F(KerneletHost, SlicedAloneUsesEverySlot) {
  Add(Kernel("a", 50, 1), 0, 0.3);
  const RunResult result = Run(MakeSliced(8));
  ExpectEachTbOnce(result, workloads);
  ASSERT_EQ(result.launches.size(), 7u);
  std::map<KernelId, Cycle> free;
  for (std::size_t i = 0; i < result.launches.size(); ++i) {
    const LaunchRecord& l = result.launches[i];
    EXPECT_EQ(l.tb_count, i == 6 ? 2u : 8u);
    EXPECT_EQ(l.first_tb, 8 * i);
    EXPECT_GE(l.start, free[l.slot]) << "a slot pauses between two launches";
    free[l.slot] = l.end + run.request.machine.launch_latency;
  }
  EXPECT_EQ(free.size(), kNumKernels);
}

// What OPT measures: each of the two in its slot, in its own size, again and again.
TEST_F(KerneletHost, SlicedPairsKeepTheirSlotsAndSizes) {
  Add(Kernel("a", 30, 0), 0, 0.0);
  Add(Kernel("b", 20, 3), 0, 0.6);
  const RunResult result = Run(MakeSlicedPair(8, 6));
  ExpectEachTbOnce(result, workloads);
  for (const LaunchRecord& l : result.launches) {
    EXPECT_EQ(Index(l.slot), Index(l.job));
    EXPECT_EQ(l.tb_count, std::min(Index(l.job) == 0 ? 8u : 6u,
                                   workloads[Index(l.job)]->kernels[0].tb_count() - l.first_tb));
  }
  EXPECT_THROW(MakeSlicedPair(0, 1), InputError);
  EXPECT_THROW(MakeSlicedPair(1, 0), InputError);
}

// Draws differ with the seed, and are the same again.
TEST_F(KerneletHost, DrawsItsPairsBySeed) {
  for (int i = 0; i < 4; ++i) Add(Kernel("k" + std::to_string(i), 60, i), 0, 0.2 * i);
  std::vector<std::string> runs;
  for (const std::uint64_t seed : {1, 2, 1}) {
    plan.random_seed = seed;
    const RunResult result = Run(MakeKernelet(plan));
    ExpectEachTbOnce(result, workloads);
    std::string launches;
    for (const LaunchRecord& l : result.launches) {
      launches += std::to_string(Index(l.job)) + ':' + std::to_string(l.tb_count) + ' ';
    }
    runs.push_back(launches);
  }
  EXPECT_NE(runs[0], runs[1]);
  EXPECT_EQ(runs[0], runs[2]);
}

TEST_F(KerneletHost, RefusesWhatWasNotProfiled) {
  Add(Kernel("a", 5, 1), 0, 0.3);
  plan.places.clear();
  try {
    Run(MakeKernelet(plan));
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("kernel a was not profiled"));
  }
  EXPECT_THROW(MakeSliced(0), InputError);
}

}  // namespace
}  // namespace smk
