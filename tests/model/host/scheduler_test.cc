// SPDX-License-Identifier: Apache-2.0
// The contract of a host scheduler: slices, wake-ups, and what ends a run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "base/error.h"
#include "control/reference_control.h"
#include "model/micro.h"
#include "model/slicing_scheduler.h"

namespace smk {
namespace {

using testing::HasSubstr;

MicroKernel Loads(const std::string& name, unsigned tbs) {
  MicroKernel kernel;
  kernel.name = name;
  kernel.threads = 96;
  kernel.tbs = tbs;
  kernel.Loop(3);
  kernel.Load(1, {}, MicroKernel::kNewLine);
  kernel.Op(OpClass::kAlu, 2, {1});
  kernel.End();
  kernel.Store({2});
  return kernel;
}

// What a run did: the lines it touched, and how often each TB of each job completed.
struct Did {
  std::vector<std::uint64_t> lines;
  std::map<std::pair<unsigned, unsigned>, unsigned> completed;
  RunResult result;
};

class Slices : public testing::Test {
 protected:
  Slices() {
    run.repeat = false;
    run.request.machine.sms = 2;
    run.request.cycles = 200000;
    run.request.record_tbs = true;
    // Every access of a warp goes to memory, whoever ran before.
    run.request.machine.sm.l1.bytes = 0;
  }
  Did Run(const std::vector<MicroKernel>& kernels, DispatchMode mode,
          std::unique_ptr<HostScheduler> scheduler) {
    PolicyConfig policy;
    policy.dispatch = mode;
    run.request.policy = policy;
    run.memory.calls.clear();
    const auto control = MakeReferenceControl(run.Control(), policy);
    Did did;
    did.result = run.Run(kernels, control.get(), std::move(scheduler));
    for (const FixedMemory::Call& call : run.memory.calls) {
      const bool context =
          call.access == MemoryAccess::kContextLoad || call.access == MemoryAccess::kContextStore;
      if (!context) did.lines.push_back(call.address);
    }
    std::sort(did.lines.begin(), did.lines.end());
    for (const TbRecord& tb : did.result.tbs) {
      if (tb.outcome == 'C') ++did.completed[{Index(tb.job), Index(tb.tb)}];
    }
    return did;
  }

  MicroRun run;
};

// Each TB once, and the same lines as in one launch.
TEST_F(Slices, ExecuteWhatTheWholeKernelsWould) {
  const std::vector<MicroKernel> kernels = {Loads("a", 61), Loads("b", 40), Loads("c", 1)};
  for (const DispatchMode mode :
       {DispatchMode::kLeftover, DispatchMode::kOnDemand, DispatchMode::kPartitioned}) {
    const Did whole = Run(kernels, mode, nullptr);
    ASSERT_EQ(whole.completed.size(), 61u + 40 + 1);
    ASSERT_EQ(whole.result.launches.size(), 3u);
    for (const std::vector<std::uint32_t>& sizes :
         {std::vector<std::uint32_t>{31}, {1, 7, 30, 2}, {60}, {1}}) {
      const Did sliced = Run(kernels, mode, std::make_unique<SlicingScheduler>(sizes));
      EXPECT_GT(sliced.result.launches.size(), 3u);
      EXPECT_EQ(sliced.completed, whole.completed);
      for (const auto& tb : sliced.completed) EXPECT_EQ(tb.second, 1u);
      EXPECT_EQ(sliced.lines, whole.lines);
      for (unsigned i = 0; i < kernels.size(); ++i) {
        const KernelStats& s = sliced.result.kernels[i];
        EXPECT_EQ(s.warp_instructions, whole.result.kernels[i].warp_instructions);
        EXPECT_EQ(s.launches_completed, 1u) << "one kernel, in how many slices ever";
        EXPECT_EQ(s.program_runs, 1u);
        EXPECT_EQ(sliced.result.jobs[i].slices_begun, sliced.result.jobs[i].slices_completed);
      }
    }
  }
}

TEST_F(Slices, OfOneKernelRunAtTheSameTime) {
  const Did did = Run({Loads("a", 400)}, DispatchMode::kEven,
                      std::make_unique<SlicingScheduler>(std::vector<std::uint32_t>{100}));
  ASSERT_EQ(did.result.launches.size(), 4u);
  Cycle first_end = kNever;
  std::set<KernelId> slots;
  for (const LaunchRecord& l : did.result.launches) {
    first_end = std::min(first_end, l.end);
    slots.insert(l.slot);
    EXPECT_EQ(l.tb_count, 100u);
  }
  EXPECT_EQ(slots.size(), 4u);
  for (const LaunchRecord& l : did.result.launches) EXPECT_LT(l.start, first_end);
}

TEST_F(Slices, AreConsecutive) {
  const Did did = Run({Loads("a", 50)}, DispatchMode::kLeftover,
                      std::make_unique<SlicingScheduler>(std::vector<std::uint32_t>{3, 9}));
  std::uint32_t next = 0;
  for (const LaunchRecord& l : did.result.launches) {
    EXPECT_EQ(l.first_tb, next);
    next += l.tb_count;
  }
  EXPECT_EQ(next, 50u);
}

// Time-based wake-ups: not in the cycle before, and in that cycle.
TEST_F(Slices, ComeExactlyWhenTheSchedulerWakes) {
  const Did did = Run({Loads("a", 6)}, DispatchMode::kLeftover,
                      std::make_unique<SlicingScheduler>(std::vector<std::uint32_t>{1}, 3000));
  ASSERT_EQ(did.result.launches.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(did.result.launches[i].start, i * 3000);
}

// Keeps the machine awake: the wake-ups are of the host, not of whoever happens to be awake.
class SleeplessControl : public SimpleControl {
 public:
  using SimpleControl::SimpleControl;
  SmMask awake_sms() const override { return SmMask::First(kMaxSms); }
  bool driver_awake() const override { return true; }
};

TEST_F(Slices, AreTheSameWhenTheMachineNeverSleeps) {
  const auto starts = [&](ControlPlane* control) {
    std::vector<std::tuple<Cycle, Cycle, KernelId>> all;
    const RunResult result =
        run.Run({Loads("a", 9), Loads("b", 5)}, control,
                std::make_unique<SlicingScheduler>(std::vector<std::uint32_t>{2, 1}, 700));
    for (const LaunchRecord& l : result.launches) all.emplace_back(l.start, l.end, l.slot);
    return all;
  };
  SimpleControl sleepy(run.Control());
  SleeplessControl sleepless(run.Control());
  EXPECT_EQ(starts(&sleepy), starts(&sleepless));
}

// Chooses what a test says, once.
class BadScheduler : public HostScheduler {
 public:
  explicit BadScheduler(LaunchChoice choice) : choice_(choice) {}
  const char* name() const override { return "bad"; }
  void Start(const HostView&) override {}
  void OnReady(JobId, const HostView&) override {}
  void OnDone(const LaunchDone&, const HostView&) override {}
  std::optional<LaunchChoice> Choose(const HostView&) override { return choice_; }
  Cycle NextEvent() const override { return kNever; }

 private:
  LaunchChoice choice_;
};

TEST_F(Slices, ChoiceThatCannotBeEndsTheRun) {
  const auto message = [&](LaunchChoice choice) -> std::string {
    try {
      run.Run({Loads("a", 9), Loads("b", 5)}, nullptr, std::make_unique<BadScheduler>(choice));
    } catch (const CheckFailure& failure) {
      return failure.what();
    }
    return "no failure";
  };
  EXPECT_THAT(message({JobId{2}, KernelId{0}, 1}),
              HasSubstr("cycle 0: host scheduler bad launches job 2, which does not exist"));
  EXPECT_THAT(message({JobId{0}, KernelId{4}, 1}), HasSubstr("kernel slot 4, which is not free"));
  EXPECT_THAT(message({JobId{0}, KernelId{0}, 0}), HasSubstr("0 TBs of job 0, which has 9 left"));
  EXPECT_THAT(message({JobId{1}, KernelId{0}, 6}), HasSubstr("6 TBs of job 1, which has 5 left"));
  // The second time: the slot is busy, or the job has nothing left.
  EXPECT_THAT(message({JobId{0}, KernelId{3}, 4}), HasSubstr("cycle 1: host scheduler bad"));
  EXPECT_THAT(message({JobId{0}, KernelId{3}, 9}), HasSubstr("job 0, which is not ready"));
}

TEST_F(Slices, JobThatHasNotArrivedIsNotReady) {
  run.arrivals = {0, 500};
  try {
    run.Run({Loads("a", 9), Loads("b", 5)}, nullptr,
            std::make_unique<BadScheduler>(LaunchChoice{JobId{1}, KernelId{0}, 5}));
    FAIL() << "launched before it arrived";
  } catch (const CheckFailure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("job 1, which is not ready"));
  }
}

// Hands out TBs below the slice.
class OutsideControl : public SimpleControl {
 public:
  using SimpleControl::SimpleControl;
  void BeginCycle(Cycle now, const HostInputs& in, HostOutputs* out) override {
    HostInputs other = in;
    if (other.launch.first_tb != 0) --other.launch.first_tb;
    SimpleControl::BeginCycle(now, other, out);
  }
};

TEST_F(Slices, TbOfAnotherSliceFails) {
  OutsideControl control(run.Control());
  try {
    run.Run({Loads("a", 9)}, &control,
            std::make_unique<SlicingScheduler>(std::vector<std::uint32_t>{5}));
    FAIL() << "the wrong TB went unnoticed";
  } catch (const CheckFailure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("TB 4 starts but is not of a running launch"));
  }
}

}  // namespace
}  // namespace smk
