// SPDX-License-Identifier: Apache-2.0
// The replay device under random jobs, slices and rates; and what its checks find.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "base/error.h"
#include "host/host.h"
#include "host/in_order.h"
#include "model/replay/rig.h"
#include "model/slicing_scheduler.h"

namespace smk {
namespace {

using testing::HasSubstr;

// Any set has rates: alone 0.01 to 0.1, and together each its part.
class AnyRates : public RateSource {
 public:
  explicit AnyRates(unsigned seed) : seed_(seed) {}
  AloneRate Alone(const LaunchKind& launch) override {
    std::mt19937 random(seed_ + launch.tbs);
    AloneRate alone{0.01 + 0.09 * Unit(&random)};
    alone.places = std::min(launch.tbs, 40u);
    if (launch.tbs <= 40) return alone;
    alone.drain_tbs = 1 + 30 * Unit(&random);
    alone.drain_cycles = alone.drain_tbs / alone.rate * (1 + Unit(&random));
    // A short drain is seen by no sample.
    alone.drain_places = random() % 4 == 0 ? 0 : 1 + 39 * Unit(&random);
    return alone;
  }
  SetRates Together(const std::vector<LaunchKind>& set) override {
    SetRates rates;
    for (const LaunchKind& launch : set) rates.mean.push_back(Alone(launch).Part(set.size()));
    return rates;
  }
  RateSource& OnOneSm() override { return one_sm_; }

 private:
  static double Unit(std::mt19937* random) {
    return static_cast<double>((*random)()) / 4294967296.0;
  }
  const unsigned seed_;
  EvenPart one_sm_{*this, 10};
};

class ReplayProperties : public testing::TestWithParam<unsigned> {
 protected:
  // Jobs of several kernels with arrivals and copies.
  void AddJobs(std::mt19937* random) {
    for (unsigned i = 0; i < 12; ++i) {
      Job& job = rig.Add("k" + std::to_string((*random)() % 5), 1 + (*random)() % 200,
                         1 + (*random)() % 16, 1 + (*random)() % 3);
      job.arrival = (*random)() % 20'000;
      if ((*random)() % 2 == 0) job.copy_in = (*random)() % 5000;
      if ((*random)() % 2 == 0) job.copy_out = (*random)() % 5000;
    }
  }
  RunResult Run(const std::vector<std::uint32_t>& slices) {
    AnyRates rates(GetParam());
    rig.request.record_tbs = true;
    return RunReplaySimulation(
        rig.request, rates,
        slices.empty() ? MakeInOrder() : std::make_unique<SlicingScheduler>(slices));
  }
  ReplayRig rig;
};

TEST_P(ReplayProperties, EveryTbIsInOneLaunchAndTheOrderIsThatOfTime) {
  std::mt19937 random(GetParam());
  AddJobs(&random);
  const DispatchMode modes[] = {DispatchMode::kLeftover, DispatchMode::kEven,
                                DispatchMode::kOnDemand};
  rig.request.policy.dispatch = modes[GetParam() % 3];
  std::vector<std::uint32_t> slices;
  for (unsigned i = random() % 4; i > 0; --i) slices.push_back(1 + random() % 70);
  const RunResult result = Run(slices);
  ASSERT_FALSE(result.cut_short);
  for (std::size_t i = 0; i < result.jobs.size(); ++i) {
    const Workload& workload = *rig.request.jobs[i].workload;
    const std::uint32_t tbs = workload.kernels[0].tb_count();
    std::uint32_t next = 0;
    std::uint64_t sum = 0;
    Cycle last = 0;
    for (const LaunchRecord& launch : result.launches) {
      if (Index(launch.job) != i) continue;
      EXPECT_EQ(launch.first_tb, next);
      next = (next + launch.tb_count) % tbs;
      sum += launch.tb_count;
      EXPECT_LT(launch.start, launch.end);
      EXPECT_GE(launch.start, result.jobs[i].ready);
      last = std::max(last, launch.end);
    }
    EXPECT_EQ(sum, tbs * workload.launches.size());
    EXPECT_EQ(result.kernels[i].tbs_completed, sum);
    EXPECT_EQ(result.kernels[i].last_tb_end, last);
    EXPECT_GE(result.jobs[i].finish, last);
  }
  for (std::size_t i = 1; i < result.launches.size(); ++i) {
    EXPECT_LT(result.launches[i - 1].start, result.launches[i].start) << "one launch in a cycle";
  }
}

TEST_P(ReplayProperties, TheSameRunIsTheSame) {
  std::mt19937 random(GetParam());
  AddJobs(&random);
  const RunResult first = Run({30, 7}), again = Run({30, 7});
  EXPECT_EQ(first.cycles, again.cycles);
  ASSERT_EQ(first.launches.size(), again.launches.size());
  for (std::size_t i = 0; i < first.launches.size(); ++i) {
    EXPECT_EQ(first.launches[i].start, again.launches[i].start);
    EXPECT_EQ(first.launches[i].end, again.launches[i].end);
  }
}

// One after the other, kernels take what they take alone, and the latency between them.
TEST_P(ReplayProperties, SequentialTimesAddUp) {
  std::mt19937 random(GetParam());
  AnyRates rates(GetParam());
  double sum = 0;
  constexpr unsigned kJobs = 10;
  for (unsigned i = 0; i < kJobs; ++i) {
    const Job& job = rig.Add("k", 1 + random() % 300);
    const std::uint32_t tbs = job.workload->kernels[0].tb_count();
    sum += rates.Alone({job.workload, 0, tbs, true}).Cycles(tbs);
  }
  const RunResult result = RunReplaySimulation(rig.request, rates, MakeSequential());
  EXPECT_NEAR(static_cast<double>(result.cycles), sum + (kJobs - 1) * ReplayRig::kLatency,
              2 * kJobs)
      << "the end of a launch, and of its feeding, is a whole cycle";
}

INSTANTIATE_TEST_SUITE_P(Seeds, ReplayProperties, testing::Range(0u, 20u));

// A host that tells the device of other TBs than its own.
class WrongHost : public HostPort {
 public:
  WrongHost(const RunRequest& request, std::unique_ptr<HostScheduler> scheduler)
      : host_(request, std::move(scheduler)) {}
  Cycle NextEvent() const override { return host_.NextEvent(); }
  void Drive(Cycle now, HostInputs* in) override {
    host_.Drive(now, in);
    if (in->launch_valid && in->launch.first_tb != 0) --in->launch.first_tb;
  }
  void Observe(Cycle now, const HostInputs& in, const HostOutputs& out) override {
    host_.Observe(now, in, out);
  }
  const LaunchTable& launches() const override { return host_.launches(); }
  void OnWorkDone(JobId job, Cycle end) override { host_.OnWorkDone(job, end); }
  bool Finished() const override { return host_.Finished(); }

 private:
  Host host_;
};

class ReplayChecksTest : public testing::Test, protected ReplayRig {
 protected:
  std::string Failure(const std::function<void()>& run) {
    try {
      run();
    } catch (const CheckFailure& failure) {
      return failure.what();
    }
    return "held";
  }
};

TEST_F(ReplayChecksTest, FindATbThatIsLaunchedTwice) {
  Add("a", 40);
  rates.alone["a"] = {0.04, 0, 0, 40};
  const auto run = [&](std::uint32_t size) {
    WrongHost host(request, std::make_unique<SlicingScheduler>(std::vector<std::uint32_t>{size}));
    RunReplay(request, rates, host);
  };
  EXPECT_EQ(Failure([&] { run(40); }), "held");
  EXPECT_THAT(Failure([&] { run(20); }), HasSubstr("from 19 on are launched, and the next of 40"));
}

TEST_F(ReplayChecksTest, FindRatesThatCannotBe) {
  Add("a", 20);
  Add("b", 20);
  rates.alone["a"] = rates.alone["b"] = {0.04, 0, 0, 20};
  const auto with = [&](const std::vector<double>& together) {
    rates.together["a+b"].clear();
    for (const double rate : together) rates.together["a+b"].push_back({rate, 20});
    return Failure([&] { Execute(); });
  };
  EXPECT_EQ(with({0.02, 0.02}), "held");
  EXPECT_EQ(with({0.02, 0}), "held");
  EXPECT_THAT(with({0.02}), HasSubstr("expected a rate of at least 0 for each of 2 launches"));
  EXPECT_THAT(with({0.02, -0.02}), HasSubstr("a rate of at least 0"));
  EXPECT_THAT(with({0.02, std::nan("")}), HasSubstr("a rate of at least 0"));
  EXPECT_THAT(with({0.02, std::numeric_limits<double>::infinity()}), HasSubstr("at least 0"));
  EXPECT_THAT(with({0, 0}), HasSubstr("launches are there, and none of them goes on"));
}

}  // namespace
}  // namespace smk
