// SPDX-License-Identifier: Apache-2.0
// A driver that decides slowly beside TBs that are gone before its next decision [D23].
#include <gtest/gtest.h>

#include "control/reference_control.h"
#include "host/simulation.h"
#include "machine/control_config.h"
#include "workload/workload_file.h"

namespace smk {
namespace {

TEST(SlowDecisions, LeaveNobodyOutBesideShortTbs) {
  constexpr Cycle kCycles = 20'000;
  for (const std::uint8_t scale : {1, 8, 32, 64}) {
    for (const bool short_first : {true, false}) {
      SCOPED_TRACE(testing::Message() << "scale " << int{scale} << " short first " << short_first);
      RunRequest request;
      request.cycles = kCycles;
      request.policy.dispatch = DispatchMode::kOnDemand;
      request.policy.latency_scale = scale;
      request.jobs.push_back(
          {FindWorkload(short_first ? "short_tbs" : "cutcp", SMK_SOURCE_DIR), Cycle{0}, true});
      request.jobs.push_back(
          {FindWorkload(short_first ? "cutcp" : "short_tbs", SMK_SOURCE_DIR), Cycle{0}, true});
      const RunResult result = RunSimulation(
          request, MakeReferenceControl(ControlConfigOf(request.machine), request.policy));
      const unsigned first = short_first ? 0 : 1;
      // A decision takes 4 cycles times the scale: a TB of either kernel for each two of them.
      EXPECT_GE(result.kernels[first].tbs_completed, kCycles / (4u * scale) / 2);
      // A TB of cutcp takes longer than the run; alone it issues 0.6 instructions per cycle.
      EXPECT_GE(result.kernels[1 - first].warp_instructions, kCycles / 2);
    }
  }
}

}  // namespace
}  // namespace smk
