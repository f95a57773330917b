// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies into shared memory: DEPBAR waits for groups of them, and nothing else does.
#include <gmock/gmock.h>

#include "control/reference_control.h"
#include "host/simulation.h"
#include "machine/control_config.h"
#include "trace/async_groups.h"
#include "trace/rig.h"

namespace smk {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint8_t kFirst = kFirstAsyncRegister;

TEST(AsyncGroups, WaitsForAllButTheLast) {
  AsyncGroups groups;
  EXPECT_THAT(groups.Wait(0), IsEmpty()) << "no copy at all";
  for (unsigned group = 0; group < 3; ++group) {
    EXPECT_EQ(groups.Copy(), kFirst + group);
    EXPECT_EQ(groups.Copy(), kFirst + group) << "copies of a group share its register";
    groups.Close();
  }
  EXPECT_THAT(groups.Wait(3), IsEmpty());
  EXPECT_THAT(groups.Wait(2), ElementsAre(kFirst));
  EXPECT_THAT(groups.Wait(2), IsEmpty()) << "it is done";
  EXPECT_EQ(groups.Copy(), kFirst + 3);
  EXPECT_THAT(groups.Wait(0), ElementsAre(kFirst + 2, kFirst + 1)) << "not what is no group yet";
  groups.Close();
  EXPECT_THAT(groups.Wait(0), ElementsAre(kFirst + 3));
  EXPECT_EQ(groups.Copy(), kFirst) << "all are done: they begin again";
}

TEST(AsyncGroups, GroupsFarApartShareARegister) {
  AsyncGroups groups;
  for (unsigned group = 0; group < 2 * kAsyncRegisters; ++group) {
    EXPECT_EQ(groups.Copy(), kFirst + group % kAsyncRegisters);
    groups.Close();
  }
  EXPECT_EQ(groups.Wait(kAsyncRegisters).size(), kAsyncRegisters);
  EXPECT_THAT(groups.Wait(0), IsEmpty()) << "these have been waited for, too";
}

// Runs on machines whose memory is asked in different ways.
class TraceAsync : public TraceFolder, public testing::WithParamInterface<const char*> {
 protected:
  // Cycles of one TB of one warp that executes `body` some times.
  Cycle CyclesOf(const std::vector<std::string>& body) {
    std::vector<std::string> lines;
    unsigned pc = 0, address = 0;
    const auto add = [&](const std::string& text) {
      char start[16];
      std::snprintf(start, sizeof start, "%04x ", pc);
      lines.push_back(start + text);
      pc += 16;
    };
    for (unsigned trip = 0; trip < 8; ++trip) {
      for (std::string text : body) {
        const std::size_t at = text.find("ADDR");
        if (at != std::string::npos) {
          text.replace(at, 4, "0x7f3000" + std::to_string(100000 + 4096 * address++));
        }
        add("ffffffff " + text);
      }
    }
    add("ffffffff 0 EXIT 0 0 0");
    const TraceSet set = LoadText(TraceText::OneWarp(lines, "80"));
    RunRequest request;
    request.machine =
        MachineConfig::Load(std::string(SMK_SOURCE_DIR) + "/machines/" + GetParam() + ".toml");
    request.policy.dispatch = DispatchMode::kLeftover;
    request.record_tbs = true;
    request.cycles = 40000;
    request.jobs = {{set.streams[0], 0, true}};
    const RunResult result = RunSimulation(
        request, MakeReferenceControl(ControlConfigOf(request.machine), request.policy));
    EXPECT_FALSE(result.tbs.empty());
    return result.tbs.empty() ? 0 : result.tbs[0].end - result.tbs[0].start;
  }
};

constexpr const char* kCopy = "0 LDGSTS.E.BYPASS.128 2 R1 R2 16 1 ADDR 16 0";
constexpr const char* kClose = "0 LDGDEPBAR 0 0 0";
constexpr const char* kWait = "0 DEPBAR.LE 0 0 0";
constexpr const char* kBarrier = "0 BAR.SYNC 0 0 0";
constexpr const char* kRead = "1 R5 LDS.U.128 1 R1 16 1 0x0 16 0";
constexpr const char* kUse = "1 R6 FADD 1 R5 0 0";

// Nearly what a load and a store into shared memory take; without DEPBAR nothing waits.
TEST_P(TraceAsync, ACopyTakesWhatItsLoadTakes) {
  const Cycle copied = CyclesOf({kCopy, kClose, kWait, kBarrier, kRead, kUse});
  const Cycle stored = CyclesOf({"1 R4 LDG.E.128 1 R2 16 1 ADDR 16 0",
                                 "0 STS.128 2 R1 R4 16 1 0x0 16 0", kBarrier, kRead, kUse});
  const Cycle unawaited = CyclesOf({kCopy, kClose, kBarrier, kRead, kUse});
  EXPECT_GT(copied * 10, stored * 9);
  EXPECT_LT(copied * 10, stored * 11);
  EXPECT_LT(unawaited * 2, stored);
}

// Copies of one group are on their way at the same time.
TEST_P(TraceAsync, CopiesOverlap) {
  const Cycle one = CyclesOf({kCopy, kClose, kWait});
  const Cycle four = CyclesOf({kCopy, kCopy, kCopy, kCopy, kClose, kWait});
  EXPECT_GT(four, one);
  EXPECT_LT(four * 10, one * 18);
}

// With a group that may be left, each trip waits for the group of the one before.
TEST_P(TraceAsync, AGroupMayBeLeft) {
  const Cycle all = CyclesOf({kCopy, kClose, kWait, kUse});
  const Cycle but_one = CyclesOf({kCopy, kClose, "0 DEPBAR.LE 0 0 1", kUse});
  EXPECT_LT(but_one * 10, all * 7);
  EXPECT_GT(but_one * 10, all * 3);
}

// DEPBAR is as it is on GPUs that have no such copies.
TEST_P(TraceAsync, WithoutCopiesDepbarIsAnAlu) {
  const char* const load = "1 R4 LDG.E 1 R2 4 1 ADDR 4 0";
  EXPECT_EQ(CyclesOf({load, kWait}), CyclesOf({load, "0 NOP 0 0 0"}));
}

constexpr const char* kLoad = "1 R4 LDG.E 1 R2 4 1 ADDR 4 0";
constexpr const char* kMembar = "0 MEMBAR.SC.GPU 0 0 0";
constexpr const char* kOther = "1 R6 FADD 1 R7 0 0";  // needs nothing of the above

TEST_P(TraceAsync, AMemoryBarrierWaitsForLoads) {
  const Cycle used = CyclesOf({kLoad, "1 R5 FADD 1 R4 0 0", "1 R6 FADD 1 R5 0 0"});
  const Cycle barred = CyclesOf({kLoad, kMembar, kOther});
  EXPECT_GT(barred * 10, used * 9);
  EXPECT_LT(barred * 10, used * 11);
}

// Loads follow each other else; their registers are written once per trip.
TEST_P(TraceAsync, LoadsOverlapWithoutAMemoryBarrier) {
  const char* const other = "1 R8 LDG.E 1 R2 4 1 ADDR 4 0";
  const Cycle barred = CyclesOf({kLoad, kMembar, other, kMembar});
  EXPECT_LT(CyclesOf({kLoad, other}) * 17, barred * 10);
}

TEST_P(TraceAsync, AMemoryBarrierDoesNotWaitForCopiesOrStores) {
  EXPECT_EQ(CyclesOf({kCopy, kMembar, kOther}), CyclesOf({kCopy, "0 NOP 0 0 0", kOther}));
  const char* const store = "0 STG.E 2 R2 R4 4 1 ADDR 4 0";
  EXPECT_EQ(CyclesOf({store, kMembar, kOther}), CyclesOf({store, "0 NOP 0 0 0", kOther}));
}

INSTANTIATE_TEST_SUITE_P(Machines, TraceAsync,
                         testing::Values("gtx980", "gtx980-accelsim", "gtx980-gpgpusim", "v100"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace smk
