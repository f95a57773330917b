// SPDX-License-Identifier: Apache-2.0
// From a stream's file to its jobs.
#include "serve/stream.h"

#include <gmock/gmock.h>

#include <cmath>

#include "serve/serve.h"
#include "sim/fake.h"
#include "sim/refusal.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Stream : public ScratchTest {
 protected:
  Serving Prepare(const std::string& text, const Options& options = {},
                  const std::string& scheduler = "") {
    return PrepareServing(Write("s.toml", text), options, scheduler, true, backend);
  }
  std::string Refused(const std::string& text, const Options& options = {},
                      const std::string& scheduler = "") {
    return Refusal([&] { Prepare(text, options, scheduler); });
  }
  Backend backend = FakeBackend();
};

TEST_F(Stream, JobsAreInTheOrderOfTheirArrivals) {
  const Serving s = Prepare(
      "[[job]]\nworkload = \"a\"\narrival = 50\ncount = 2\n[[job]]\nworkload = \"b\"\n"
      "[[client]]\nname = \"c\"\nworkload = \"a\"\narrival = 50\n");
  ASSERT_EQ(s.experiment.workloads.size(), 4u);
  EXPECT_THAT(s.experiment.arrivals, ElementsAre(0, 50, 50, 50));
  EXPECT_THAT(s.experiment.clients, ElementsAre("", "", "", "c"));
  EXPECT_THAT(s.experiment.names, ElementsAre("b", "a", "a", "a"));
  EXPECT_EQ(s.experiment.workload_name(), "s");
  EXPECT_EQ(s.experiment.run_config.until, RunUntil::kDone);
  EXPECT_FALSE(s.experiment.repeat);
  EXPECT_EQ(s.policy.name, "leftover");
  EXPECT_EQ(s.scheduler.text, "in-order");
  EXPECT_EQ(s.experiment.cycles, 1'000'000'000u);
}

TEST_F(Stream, TheCommandLineGoesBeforeTheFile) {
  Options options;
  options.policy = "smk";
  options.seed = "9";
  options.sets = {"memory.xbar_latency=5"};
  const Serving s = Prepare(
      "policy = \"even\"\nseed = 3\ncycles = 5000\nscheduler = \"in-order\"\n"
      "[set]\nmemory.xbar_latency = 8\nmemory.l2_bytes_per_cycle = 32\n"
      "[[job]]\nworkload = \"a\"\n",
      options, "sequential");
  EXPECT_EQ(s.policy.name, "smk");
  EXPECT_EQ(s.scheduler.text, "sequential");
  EXPECT_EQ(s.experiment.seed, 9u);
  EXPECT_EQ(s.experiment.cycles, 5000u);
  EXPECT_THAT(s.options.sets, ElementsAre("memory.l2_bytes_per_cycle=32", "memory.xbar_latency=5"));
}

// A job is the first TBs of the first launches; what is whole stays as it is.
TEST_F(Stream, JobsCanBePartsOfAWorkload) {
  auto whole = std::make_shared<Workload>(*FakeWorkload("a"));
  KernelSpec second = whole->kernels[0];
  second.name = "small";
  second.grid_x = 5;
  second.grid_y = 2;
  whole->kernels.push_back(second);
  whole->launches = {0, 1, 1};
  const auto half = Reduced(whole, {0.5, {}, {}});
  EXPECT_EQ(half->kernels[0].tb_count(), 50u);
  EXPECT_EQ(half->kernels[1].tb_count(), 5u);
  EXPECT_EQ(half->kernels[1].grid_x, 5u) << "the places of TBs in the grid stay";
  EXPECT_EQ(half->launches.size(), 3u);
  EXPECT_NE(half->content_hash, whole->content_hash);
  const auto few = Reduced(whole, {{}, 7, 2});
  EXPECT_EQ(few->kernels[0].tb_count(), 7u);
  EXPECT_EQ(few->kernels[1].tb_count(), 7u);
  EXPECT_EQ(few->launches.size(), 2u);
  EXPECT_NE(few->content_hash, half->content_hash);
  EXPECT_EQ(Reduced(whole, {1e-9, {}, {}})->kernels[0].tb_count(), 1u) << "one at least";
  EXPECT_EQ(Reduced(whole, {}), whole);
  EXPECT_EQ(Reduced(whole, {1.0, {}, 3}), whole);
  EXPECT_EQ(Reduced(whole, {{}, 100, 9}), whole);
}

TEST_F(Stream, CopiesOfAWorkloadShrinkWithItsTbs) {
  auto whole = std::make_shared<Workload>(*FakeWorkload("a"));
  whole->input_bytes = 1000;
  whole->output_bytes = 500;
  JobSize size;
  EXPECT_EQ(CopiesOf(*whole, *whole, size), (JobCopies{0, 0}));
  size.copy_in = kOfWorkload;
  size.copy_out = 7;
  size.scale = 0.25;
  EXPECT_EQ(CopiesOf(*whole, *Reduced(whole, size), size), (JobCopies{250, 7}));
  size.copy_out = kOfWorkload;
  size.scale.reset();
  size.tbs = 1;
  EXPECT_EQ(CopiesOf(*whole, *Reduced(whole, size), size), (JobCopies{10, 5}));
}

// run.grid_divisor, after the job's own size.
TEST_F(Stream, CopiesOfAWorkloadShrinkWithItsGrids) {
  backend.find_workload = [](const std::string& name) {
    auto workload = std::make_shared<Workload>(*FakeWorkload(name));
    for (KernelSpec& kernel : workload->kernels) kernel.grid_x = 64, kernel.grid_y = 1;
    workload->input_bytes = workload->output_bytes = 6400;
    return workload;
  };
  Options options;
  options.sets = {"run.grid_divisor=16"};
  const Serving serving = Prepare(
      "[[job]]\nworkload = \"a\"\nscale = 0.5\ncopy_in = \"workload\"\ncopy_out = 640\n", options);
  ASSERT_EQ(serving.experiment.copies.size(), 1u);
  EXPECT_EQ(serving.experiment.workloads[0]->kernels[0].tb_count(), 4u);
  EXPECT_EQ(serving.experiment.copies[0].in, 400u);
  EXPECT_EQ(serving.experiment.copies[0].out, 640u) << "asked for";
}

TEST_F(Stream, RefusesCopiesThatMemoryCannotHold) {
  backend.find_workload = [](const std::string& name) {
    auto workload = std::make_shared<Workload>(*FakeWorkload(name));
    workload->input_bytes = std::uint64_t{6} << 30;
    return workload;
  };
  EXPECT_THAT(Refused("[[job]]\nworkload = \"a\"\ncopy_in = \"workload\"\n"),
              HasSubstr("s.toml:1: job: copy_in, copy_out: expected at most the 4096 MB"));
  EXPECT_EQ(Refused("[[job]]\nworkload = \"a\"\ncopy_in = \"4G\"\n"), "accepted");
  EXPECT_THAT(Refused("[[job]]\nworkload = \"a\"\ncopy_in = \"4G\"\ncopy_out = 1\n"),
              HasSubstr("expected at most the 4096 MB"));
}

// Gaps of an exponential distribution: their mean is the mean gap, and a part of 1/e is longer.
TEST_F(Stream, PoissonArrivalsHaveTheirRate) {
  constexpr std::size_t kCount = 20000;
  constexpr double kGap = 1000;
  const std::vector<Cycle> at = PoissonArrivals(1, "a", kCount, 500, kGap);
  ASSERT_EQ(at.size(), kCount);
  EXPECT_GE(at.front(), 500u);
  std::size_t longer = 0;
  for (std::size_t i = 1; i < kCount; ++i) {
    ASSERT_GE(at[i], at[i - 1]);
    longer += static_cast<double>(at[i] - at[i - 1]) > kGap ? 1 : 0;
  }
  // Five standard errors each.
  const double mean = static_cast<double>(at.back() - 500) / kCount;
  EXPECT_NEAR(mean, kGap, 5 * kGap / std::sqrt(double{kCount}));
  const double part = static_cast<double>(longer) / kCount;
  EXPECT_NEAR(part, std::exp(-1), 5 * std::sqrt(0.37 * 0.63 / kCount));
  EXPECT_EQ(PoissonArrivals(1, "a", kCount, 500, kGap), at);
  EXPECT_NE(PoissonArrivals(2, "a", kCount, 500, kGap), at);
  EXPECT_NE(PoissonArrivals(1, "b", kCount, 500, kGap), at);
  EXPECT_EQ(PoissonArrivals(1, "a", 3, 500, kGap)[2], at[2]) << "fewer jobs come as they did";
}

TEST_F(Stream, RateIsPerSecondOfTheMachine) {
  const Serving s =
      Prepare("[[client]]\nname = \"c\"\nworkload = \"a\"\nrate = 1e6\ncount = 500\n");
  const double gap = MachineConfig{}.core_clock_mhz;  // cycles of a microsecond
  EXPECT_NEAR(static_cast<double>(s.experiment.arrivals.back()) / 500, gap, gap / 4);
}

// The file that is written makes the same jobs, whoever drew their arrivals.
TEST_F(Stream, ItsFileMakesItAgain) {
  Options options;
  options.seed = "5";
  options.sets = {"memory.xbar_latency=5", "policy.epoch_end=tick"};
  const Serving first = Prepare(
      "name = \"n\"\nscale = 0.25\npolicy = \"smk\"\n[[client]]\nname = \"c\"\nworkload = \"a\"\n"
      "rate = 2e6\ncount = 20\n[[job]]\nworkload = \"b\"\nlaunches = 1\ntbs = 3\n",
      options);
  const Serving again =
      Prepare(StreamToml(first.spec, first.options, first.scheduler.text, false, first.jobs));
  EXPECT_FALSE(again.experiment.stream.overlap_copies);
  EXPECT_EQ(again.experiment.arrivals, first.experiment.arrivals);
  EXPECT_EQ(again.experiment.clients, first.experiment.clients);
  EXPECT_EQ(again.experiment.names, first.experiment.names);
  EXPECT_EQ(again.experiment.seed, 5u);
  EXPECT_EQ(again.experiment.machine_toml, first.experiment.machine_toml);
  EXPECT_EQ(again.policy.name, "smk");
  EXPECT_EQ(again.policy.config.epoch_end, EpochEnd::kTick);
  for (std::size_t i = 0; i < first.experiment.workloads.size(); ++i) {
    EXPECT_EQ(again.experiment.workloads[i]->content_hash,
              first.experiment.workloads[i]->content_hash);
  }
}

TEST_F(Stream, RefusesWhatCannotBeRun) {
  const std::string job = "[[job]]\nworkload = \"a\"\n";
  EXPECT_THAT(Refused(job, {}, "kernlet"), HasSubstr("--scheduler: expected one of sequential"));
  EXPECT_THAT(Refused("scheduler = \"x\"\n" + job),
              HasSubstr("s.toml:1: scheduler: expected one of"));
  EXPECT_THAT(Refused("policy = \"x\"\n" + job), HasSubstr("unknown policy"));
  EXPECT_THAT(Refused("policy = \"isolated\"\n" + job),
              HasSubstr("s.toml:1: policy isolated: runs"));
  EXPECT_THAT(Refused("control = \"x\"\n" + job), HasSubstr("s.toml:1: control: expected"));
  EXPECT_THAT(Refused("cycles = 100\n" + job + "arrival = 100\n"),
              HasSubstr("s.toml:2: job: a job arrives at cycle 100, and the run has only 100"));
  EXPECT_EQ(Refused("cycles = \"3G\"\n" + job),
            Path("s.toml") + ":1: cycles: expected a whole number from 1 to 2000000000, got '3G'");
  EXPECT_EQ(Refused("cycles = \"3G\"\ndevice = \"replay\"\n" + job), "accepted");
  EXPECT_THAT(Refused(job + "count = 1025\n"), HasSubstr("at most 1024 jobs in a stream"));
  EXPECT_THAT(Refused(job + "count = 4000000000\n"), HasSubstr("at most 1024 jobs in a stream"));
  EXPECT_THAT(Refused("[set]\nrun.until = \"work\"\n" + job),
              HasSubstr("s.toml:2: set.run.until=work: a stream"));
  backend.find_workload = [](const std::string& name) { return FakeWorkload(name, 4096); };
  EXPECT_THAT(Refused(job), HasSubstr("a TB is larger than an SM of"));
}

}  // namespace
}  // namespace smk::sim
