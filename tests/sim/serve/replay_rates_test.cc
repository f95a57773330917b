// SPDX-License-Identifier: Apache-2.0
// Rates by a cycle model that is made up: what is asked of it, and what is kept.
#include "serve/replay_rates.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "config/machine_config.h"
#include "serve/alone_cycles.h"
#include "serve/devices.h"
#include "sim/fake.h"
#include "sim/refusal.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {

using testing::HasSubstr;

constexpr Cycle kTbCycles = 10;  // of a TB alone; TBs end one by one
constexpr unsigned kTbInstructions = 100;
constexpr Cycle kStep = 250;

// Every kernel has one TB on the GPU at a time, which takes longer when there are others.
RunResult OneByOne(const RunRequest& request) {
  RunResult result;
  result.from_rates = true;  // nothing is told of the SMs
  const Cycle each = kTbCycles * request.jobs.size();
  Cycle end = 0;
  for (unsigned i = 0; i < request.jobs.size(); ++i) {
    const Workload& workload = *request.jobs[i].workload;
    const std::uint32_t tbs = workload.kernels[workload.launches[0]].tb_count();
    result.launches.push_back(
        {0, tbs * each, static_cast<JobId>(i), static_cast<KernelId>(i), 0, 1, 0, tbs});
    for (std::uint32_t tb = 0; tb < tbs; ++tb) {
      TbRecord record;
      record.start = tb * each;
      record.end = record.start + each;
      record.job = static_cast<JobId>(i);
      record.launch = 1;
      record.tb = static_cast<TbId>(tb);
      if (record.start < request.cycles) result.tbs.push_back(record);
    }
    end = std::max(end, tbs * each);
    result.kernels.emplace_back();
    result.kernels[i].warp_instructions = std::uint64_t{tbs} * kTbInstructions;
    result.warp_instructions += result.kernels[i].warp_instructions;
    result.jobs.emplace_back();
  }
  result.cut_short = request.until == RunUntil::kDone && end > request.cycles;
  const bool whole = request.until == RunUntil::kCycles || result.cut_short;
  result.cycles = whole ? request.cycles : end;
  for (Cycle at = 0; at <= result.cycles;
       at += std::min(kStep, std::max<Cycle>(1, result.cycles - at))) {
    EpochSample sample;
    sample.cycle = at;
    const Cycle since = at == 0 ? 0 : at - result.epochs.back().cycle;
    for (unsigned i = 0; i < request.jobs.size(); ++i) {
      sample.warp_instructions[i] = since * kTbInstructions / each;
      sample.resident_tbs[i] = 1;
    }
    result.epochs.push_back(sample);
  }
  return result;
}

class ReplayRatesTest : public ScratchTest {
 protected:
  ReplayRatesTest() {
    backend.run = [this](const RunRequest& request, ControlKind, const ControlConfig&) {
      Write("run" + std::to_string(getpid()), "");  // a child's memory is its own
      return OneByOne(request);
    };
    Options options;
    options.kernels = "a";
    experiment = Resolve(options, backend);
    // 16 TBs of the fake workload on the GPU.
    experiment.machine.sms = 1;
  }
  ReplayDevice Device(MeasureLimits limits = {}, bool cache = true) const {
    return ReplayDevice(backend, experiment, limits, {1, true, cache ? Path("cache") : ""});
  }
  // Runs of the model since the last call.
  std::size_t Runs() {
    std::size_t runs = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder())) {
      if (entry.path().filename().string().rfind("run", 0) != 0) continue;
      ++runs;
      std::filesystem::remove(entry.path());
    }
    return runs;
  }
  Backend backend = FakeBackend();
  Experiment experiment;
  std::shared_ptr<const Workload> a = FakeWorkload("a"), b = FakeWorkload("b");
};

TEST_F(ReplayRatesTest, AloneCyclesAreThoseOfTheModel) {
  ReplayDevice device = Device();
  EXPECT_EQ(AloneCycles(&device, a, 0), 100 * kTbCycles);
  EXPECT_EQ(AloneCycles(&device, a, 0, 37), 37 * kTbCycles);
  EXPECT_EQ(AloneCycles(&device, a, 0, 5), 5 * kTbCycles) << "all TBs are placed at once";
  EXPECT_EQ(Runs(), 3u);
  EXPECT_EQ(AloneCycles(&device, a, 0), 100 * kTbCycles);
  EXPECT_EQ(Runs(), 0u) << "known";
  EXPECT_THAT(Refusal([&] { AloneCycles(&device, a, 1); }),
              HasSubstr("a: expected one of its 1 launches, got 1"));
  EXPECT_THAT(Refusal([&] { AloneCycles(&device, a, 0, 101); }),
              HasSubstr("a: expected at most the 100 TBs of a_kernel, got 101"));
}

// 100 TBs are 1000 cycles: 500 are looked at, and the end of 2 waves of 16 and the same rest of 4.
TEST_F(ReplayRatesTest, ALongLaunchIsMeasuredInTwoParts) {
  ReplayDevice device = Device({500, 100});
  EXPECT_EQ(AloneCycles(&device, a, 0), 100 * kTbCycles);
  EXPECT_EQ(Runs(), 2u);
  const AloneRate alone = device.UnderAlone().Alone({a, 0, 100, true});
  EXPECT_DOUBLE_EQ(alone.drain_tbs, 1);
  EXPECT_DOUBLE_EQ(alone.drain_cycles, kTbCycles);
  EXPECT_DOUBLE_EQ(alone.rate, 1.0 / kTbCycles);
  EXPECT_DOUBLE_EQ(alone.instructions, kTbInstructions);
}

// 37 TBs are 2 waves of 16 and a rest of 5, which is no shorter: this run says all.
TEST_F(ReplayRatesTest, ALaunchOfTwoWavesIsMeasuredToItsEnd) {
  backend.run = [this](const RunRequest& request, ControlKind, const ControlConfig&) {
    Write("run" + std::to_string(getpid()), "");
    RunResult result = OneByOne(request);
    // Slow at the beginning, as far as the limit allows to see.
    for (EpochSample& sample : result.epochs) {
      if (result.cut_short) sample.warp_instructions[0] /= 2;
    }
    return result;
  };
  ReplayDevice device = Device({100, 0});
  EXPECT_EQ(AloneCycles(&device, a, 0, 37), 37 * kTbCycles);
  EXPECT_EQ(Runs(), 2u);
  EXPECT_DOUBLE_EQ(device.UnderAlone().Alone({a, 0, 37, true}).rate, 1.0 / kTbCycles);
}

TEST_F(ReplayRatesTest, OnOneSmThereAreRatesOfTheirOwn) {
  experiment.machine.sms = 2;
  backend.run = [&](const RunRequest& request, ControlKind, const ControlConfig& control) {
    Write(fmt::format("run{}-{}", request.machine.sms, control.num_sms), "");
    return OneByOne(request);
  };
  ReplayDevice device = Device();
  EXPECT_GT(device.UnderAlone().OnOneSm().Alone({a, 0, 5, true}).rate, 0);
  EXPECT_TRUE(Exists("run1-1"));
  EXPECT_FALSE(Exists("run2-2"));
  device.UnderAlone().Alone({a, 0, 5, true});
  EXPECT_TRUE(Exists("run2-2")) << "another entry of the cache";
}

TEST_F(ReplayRatesTest, SetsAreKeptUnderAllThatDecidesThem) {
  const std::vector<LaunchKind> set = {{a, 0, 100, true}, {b, 0, 100, true}};
  PolicyConfig policy = InEffectAlone(experiment).policy;
  {
    ReplayDevice device = Device();
    const std::vector<SetRate> rates = device.Under(policy).Together(set).mean;
    ASSERT_EQ(rates.size(), 2u);
    EXPECT_DOUBLE_EQ(rates[0].rate, 1.0 / (2 * kTbCycles));
    EXPECT_DOUBLE_EQ(rates[0].places, 1);
    EXPECT_EQ(Runs(), 3u) << "each alone, and both";
    EXPECT_THAT(device.Csv(), HasSubstr("leftover,1,a+b,b,b_kernel,100,1,,0.05,1,,,\n"));
  }
  const auto measured = [&](ReplayDevice device, const PolicyConfig& p,
                            const std::vector<LaunchKind>& of) {
    device.Under(p).Together(of);
    return Runs();
  };
  EXPECT_EQ(measured(Device(), policy, set), 0u) << "another device finds them";
  EXPECT_EQ(measured(Device({}, false), policy, set), 3u) << "without a cache it does not";
  EXPECT_EQ(measured(Device({200'000, 20'000}), policy, set), 3u);
  EXPECT_EQ(measured(Device(), policy, {set[1], set[0]}), 1u) << "the order counts";
  EXPECT_EQ(measured(Device(), policy, {set[0], {b, 0, 99, true}}), 2u) << "so do TBs";
  policy.dispatch = DispatchMode::kEven;
  EXPECT_EQ(measured(Device(), policy, set), 3u) << "and the policy";
  experiment.seed = 7;
  EXPECT_EQ(measured(Device(), policy, set), 3u) << "and the seed";
  experiment.machine.launch_latency += 1;
  experiment.machine_toml = ToToml(experiment.machine);
  EXPECT_EQ(measured(Device(), policy, set), 3u) << "and the machine";
}

TEST_F(ReplayRatesTest, WhatEndsNeverIsRefused) {
  backend.run = [](const RunRequest& request, ControlKind, const ControlConfig&) {
    RunResult result = OneByOne(request);
    result.cut_short = true;
    result.cycles = request.cycles;
    return result;
  };
  ReplayDevice device = Device();
  EXPECT_THAT(Refusal([&] { AloneCycles(&device, a, 0, 5); }),
              HasSubstr("5 TBs of a alone do not end within 100000000 cycles"));
}

// A launch whose first loads are not back yet when the run is cut short.
TEST_F(ReplayRatesTest, WhatIssuesNothingIsRefused) {
  backend.run = [](const RunRequest& request, ControlKind, const ControlConfig&) {
    RunResult result = OneByOne(request);
    if (!result.cut_short) return result;
    for (EpochSample& sample : result.epochs) sample.warp_instructions = {};
    return result;
  };
  ReplayDevice device = Device({500, 100});
  EXPECT_THAT(Refusal([&] { AloneCycles(&device, a, 0); }),
              HasSubstr("a issues nothing in the 500 cycles of --rate-cycles"));
}

TEST(ReplayDevices, OptionsGoBeforeTheSpecification) {
  StreamSpec spec;
  const SchedulerChoice scheduler = ParseScheduler("in-order");
  EXPECT_EQ(ChooseDevice({}, spec, {}, scheduler).kind, DeviceKind::kCycle);
  spec.device = "replay";
  spec.rate_cycles = "50000";
  const DeviceChoice choice = ChooseDevice({}, spec, {}, scheduler);
  EXPECT_EQ(choice.kind, DeviceKind::kReplay);
  EXPECT_EQ(choice.limits.cycles, 50'000u);
  EXPECT_EQ(choice.limits.warm_up, 20'000u);
  EXPECT_EQ(ChooseDevice({"", "1M", "5k"}, spec, {}, scheduler).limits.cycles, 1'000'000u);
  EXPECT_EQ(ChooseDevice({"", "1M", "5k"}, spec, {}, scheduler).limits.warm_up, 5000u);
  EXPECT_EQ(ChooseDevice({"cycle", "", ""}, spec, {}, scheduler).kind, DeviceKind::kCycle);
  EXPECT_THAT(Refusal([&] {
                ChooseDevice({"cycle", "1M", ""}, spec, {}, scheduler);
              }),
              HasSubstr("need --device replay"));
}

}  // namespace
}  // namespace smk::sim
