// SPDX-License-Identifier: Apache-2.0
// TBs that begin in waves of one per SM, as those of a simulator that gives each SM a TB per cycle.
#include "machine/tb_waves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "control/reference_control.h"
#include "host/simulation.h"
#include "machine/control_config.h"
#include "model/micro.h"

namespace smk {
namespace {

TEST(TbWaves, EachWaitsForTheLastOfItsWave) {
  TbWaves waves(4);
  const KernelId kernel{1};
  waves.BeginLaunch(kernel, 100, 10);
  EXPECT_EQ(waves.Wait(kernel, TbId{100}, 50), 3u);
  EXPECT_EQ(waves.Wait(kernel, TbId{101}, 51), 2u);
  EXPECT_EQ(waves.Wait(kernel, TbId{103}, 53), 0u);
  EXPECT_EQ(waves.Wait(kernel, TbId{104}, 54), 3u) << "the second wave";
  EXPECT_EQ(waves.Wait(kernel, TbId{108}, 58), 1u) << "the last has two";
  EXPECT_EQ(waves.Wait(kernel, TbId{109}, 59), 0u);
}

TEST(TbWaves, ATbThatIsLateBeginsAtOnce) {
  TbWaves waves(4);
  const KernelId kernel{0};
  waves.BeginLaunch(kernel, 0, 8);
  EXPECT_EQ(waves.Wait(kernel, TbId{0}, 10), 3u);
  EXPECT_EQ(waves.Wait(kernel, TbId{1}, 14), 0u);
  EXPECT_EQ(waves.Wait(kernel, TbId{4}, 500), 0u);
}

TEST(TbWaves, ANewLaunchCountsFromItsOwnFirst) {
  TbWaves waves(4);
  const KernelId kernel{0};
  waves.BeginLaunch(kernel, 0, 8);
  EXPECT_EQ(waves.Wait(kernel, TbId{0}, 10), 3u);
  waves.BeginLaunch(kernel, 8, 2);
  EXPECT_EQ(waves.Wait(kernel, TbId{8}, 900), 1u);
}

// In which cycles the TBs of each wave of 16 end.
std::vector<std::vector<Cycle>> EndsByWave(const char* tb_starts) {
  MicroKernel kernel;
  kernel.name = "short";
  kernel.tbs = 32;
  for (int i = 0; i < 10; ++i) kernel.Op(OpClass::kAlu, 1, {1});
  RunRequest request;
  request.until = RunUntil::kDone;
  request.cycles = 10'000;
  request.policy.dispatch = DispatchMode::kLeftover;
  request.machine.tb_starts = tb_starts;
  request.record_tbs = true;
  request.jobs.push_back({kernel.Build(), Cycle{0}, false});
  const RunResult result = RunSimulation(
      request, MakeReferenceControl(ControlConfigOf(request.machine), request.policy));
  std::vector<std::vector<Cycle>> ends(2);
  for (const TbRecord& tb : result.tbs) ends.at(Index(tb.tb) / 16).push_back(tb.end);
  return ends;
}

TEST(TbWaves, AllSmsBeginInTheSameCycle) {
  for (const std::vector<Cycle>& wave : EndsByWave("waves")) {
    ASSERT_EQ(wave.size(), 16u);
    EXPECT_EQ(*std::min_element(wave.begin(), wave.end()),
              *std::max_element(wave.begin(), wave.end()));
  }
}

TEST(TbWaves, AloneTheyBeginACycleApart) {
  for (std::vector<Cycle> wave : EndsByWave("alone")) {
    ASSERT_EQ(wave.size(), 16u);
    std::sort(wave.begin(), wave.end());
    for (std::size_t i = 0; i < wave.size(); ++i) EXPECT_EQ(wave[i], wave[0] + i);
  }
}

}  // namespace
}  // namespace smk
