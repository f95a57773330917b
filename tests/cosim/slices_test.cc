// SPDX-License-Identifier: Apache-2.0
// Kernels launched in slices on the RTL beside the reference: each TB is executed exactly once,
// with the same addresses as in one launch.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "control/reference_control.h"
#include "cosim/lockstep_control.h"
#include "cosim/rtl_control.h"
#include "model/micro.h"
#include "model/slicing_scheduler.h"

namespace smk {
namespace {

MicroKernel Loads(const std::string& name, unsigned tbs, unsigned threads) {
  MicroKernel kernel;
  kernel.name = name;
  kernel.threads = threads;
  kernel.registers = 40;
  kernel.tbs = tbs;
  kernel.Loop(4);
  kernel.Load(1, {}, MicroKernel::kNewLine);
  kernel.Op(OpClass::kAlu, 2, {1});
  kernel.Op(OpClass::kBarrier);
  kernel.End();
  kernel.Store({2});
  return kernel;
}

class SlicesInLockstep : public testing::TestWithParam<DispatchMode> {
 protected:
  struct Did {
    std::vector<std::uint64_t> lines;
    std::set<std::pair<unsigned, unsigned>> tbs;  // of each job, completed
    std::size_t launches = 0;
    std::uint64_t preemptions = 0;
  };

  Did Run(std::unique_ptr<HostScheduler> scheduler) {
    MicroRun run;
    run.repeat = false;
    run.request.machine.sms = 16;
    run.request.machine.sm.l1.bytes = 0;
    run.request.cycles = 60000;
    run.request.record_tbs = true;
    run.arrivals = {0, 900};
    PolicyConfig policy;
    policy.dispatch = GetParam();
    policy.epoch_length = 1000;
    run.request.policy = policy;
    const ControlConfig config = run.Control();
    LockstepCounts counts;
    const auto control = MakeLockstepControl(config, MakeReferenceControl(config, policy),
                                             MakeRtlControl(config, policy), &counts);
    const RunResult result =
        run.Run({Loads("a", 240, 256), Loads("b", 170, 128)}, control.get(), std::move(scheduler));
    EXPECT_GT(counts.events, 100'000u);
    Did did;
    did.launches = result.launches.size();
    for (const LaunchRecord& l : result.launches) EXPECT_NE(l.end, kNever);
    for (const KernelStats& kernel : result.kernels) did.preemptions += kernel.preemptions;
    for (const FixedMemory::Call& call : run.memory.calls) {
      const bool context =
          call.access == MemoryAccess::kContextLoad || call.access == MemoryAccess::kContextStore;
      if (!context) did.lines.push_back(call.address);
    }
    std::sort(did.lines.begin(), did.lines.end());
    for (const TbRecord& tb : result.tbs) {
      if (tb.outcome != 'C') continue;
      EXPECT_TRUE(did.tbs.emplace(Index(tb.job), Index(tb.tb)).second)
          << "job " << Index(tb.job) << " TB " << Index(tb.tb) << " twice";
    }
    return did;
  }
};

TEST_P(SlicesInLockstep, DoWhatTheWholeKernelsDo) {
  const Did whole = Run(nullptr);
  EXPECT_EQ(whole.launches, 2u);
  EXPECT_EQ(whole.tbs.size(), 240u + 170);
  for (const std::vector<std::uint32_t>& sizes :
       {std::vector<std::uint32_t>{120, 170, 120}, {16, 40, 7}}) {
    const Did sliced = Run(std::make_unique<SlicingScheduler>(sizes));
    EXPECT_GE(sliced.launches, 3u);
    EXPECT_EQ(sliced.tbs, whole.tbs);
    EXPECT_EQ(sliced.lines, whole.lines);
  }
}

std::string NameOf(const testing::TestParamInfo<DispatchMode>& info) {
  constexpr const char* kNames[] = {"leftover", "even", "spatial", "on_demand", "partitioned"};
  return kNames[static_cast<unsigned>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Modes, SlicesInLockstep,
                         testing::Values(DispatchMode::kLeftover, DispatchMode::kEven,
                                         DispatchMode::kSpatial, DispatchMode::kOnDemand,
                                         DispatchMode::kPartitioned),
                         NameOf);

}  // namespace
}  // namespace smk
