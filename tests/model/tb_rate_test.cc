// SPDX-License-Identifier: Apache-2.0
// How fast TBs come: one per cycle where room is a question of the SM alone (tb_stream).
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "control/reference_control.h"
#include "host/simulation.h"
#include "machine/control_config.h"
#include "model/micro.h"

namespace smk {
namespace {

RunResult RunTbs(unsigned tbs, DispatchMode mode, bool stream = true) {
  MicroKernel kernel;
  kernel.name = "short";
  kernel.threads = 16;
  kernel.tbs = tbs;
  for (int i = 0; i < 10; ++i) kernel.Op(OpClass::kAlu, 1, {1});
  RunRequest request;
  request.until = RunUntil::kDone;
  request.cycles = 100'000;
  request.policy.dispatch = mode;
  request.policy.stream = stream;
  request.record_tbs = true;
  request.jobs.push_back({kernel.Build(), Cycle{0}, false});
  return RunSimulation(request,
                       MakeReferenceControl(ControlConfigOf(request.machine), request.policy));
}

Cycle LastStart(const RunResult& result) {
  Cycle last = 0;
  for (const TbRecord& tb : result.tbs) last = std::max(last, tb.start);
  return last;
}

TEST(TbRate, AWaveIsOutAfterACyclePerTbAndThirty) {
  for (const DispatchMode mode : {DispatchMode::kLeftover, DispatchMode::kSpatial}) {
    for (const unsigned tbs : {16u, 64u, 192u}) {
      const RunResult result = RunTbs(tbs, mode);
      ASSERT_EQ(result.tbs.size(), tbs);
      EXPECT_LE(LastStart(result), tbs + 30) << tbs;
    }
  }
}

TEST(TbRate, ShortTbsComeOnePerCycle) {
  EXPECT_LE(LastStart(RunTbs(4096, DispatchMode::kLeftover)), 4096u + 150);
  EXPECT_GT(LastStart(RunTbs(4096, DispatchMode::kLeftover, false)), 4 * 4096u)
      << "one decision at a time";
}

}  // namespace
}  // namespace smk
