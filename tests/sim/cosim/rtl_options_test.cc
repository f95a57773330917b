// SPDX-License-Identifier: Apache-2.0
// Which machines the RTL is built for, and the window of cycles that a waveform records.
#include <gmock/gmock.h>

#include "cosim/configurations.h"
#include "cosim/machine_rtl.h"
#include "cosim/rtl_control.h"
#include "sim/refusal.h"
#include "sim/scratch.h"
#include "waves/fst_file.h"
#include "waves/gtkw.h"

namespace smk {
namespace {

using sim::Refusal;
using testing::HasSubstr;

PolicyConfig TwoPerSm() {
  PolicyConfig policy;
  policy.kernels_per_sm = 2;
  return policy;
}

class RtlOptionsTest : public sim::ScratchTest {
 protected:
  // Runs for some cycles; every output is quiet, as no kernel is launched.
  void Run(const RtlOptions& options, Cycle cycles) const {
    const auto plane = MakeRtlControl(Small(), TwoPerSm(), options);
    HostOutputs host;
    for (Cycle now = 0; now < cycles; ++now) {
      plane->BeginCycle(now, {}, &host);
      plane->EndCycle(now);
    }
  }
  RtlOptions Wave(Cycle from, Cycle to) const {
    RtlOptions options;
    options.wave = {Path("x.fst"), from, to};
    return options;
  }
};

TEST_F(RtlOptionsTest, MachinesWithoutRtlAreRefusedWithThoseThatHaveIt) {
  EXPECT_EQ(FindRtl(Small()), &SmallRtl());
  EXPECT_EQ(Refusal([] { MakeRtlControl(Small(), TwoPerSm()); }), "accepted");
  const std::vector<void (*)(ControlConfig*)> changes = {
      [](ControlConfig* c) { c->num_sms = 3; }, [](ControlConfig* c) { c->preempted_depth = 16; },
      [](ControlConfig* c) { c->limits.registers = 64; },
      [](ControlConfig* c) { c->limits.tbs = 2; }};
  for (const auto& change : changes) {
    ControlConfig config = Small();
    change(&config);
    EXPECT_EQ(FindRtl(config), nullptr);
    const std::string said = Refusal([&] { MakeRtlControl(config, TwoPerSm()); });
    EXPECT_THAT(said, HasSubstr("control: the RTL is built for the SMs of gtx980; "));
    EXPECT_THAT(said, HasSubstr("--control reference"));
  }
}

TEST_F(RtlOptionsTest, AWaveformHasTheCyclesThatWereAskedFor) {
  Run(Wave(5, 9), 20);
  const FstFile fst(Path("x.fst"));
  EXPECT_FALSE(fst.signals().empty());
  EXPECT_EQ(fst.start(), 5 * kWaveCycle);
  EXPECT_EQ(fst.end(), 8 * kWaveCycle + kWaveCycle / 2) << "the last half of cycle 8";
}

TEST_F(RtlOptionsTest, ARunThatEndsEarlyLeavesAReadableFile) {
  Run(Wave(0, 1000), 4);
  EXPECT_EQ(FstFile(Path("x.fst")).end(), 3 * kWaveCycle + kWaveCycle / 2);
}

TEST_F(RtlOptionsTest, AWaveformThatCannotBeWrittenIsNamed) {
  RtlOptions options = Wave(0, 10);
  options.wave.path = Path("no/x.fst");
  EXPECT_EQ(Refusal([&] { MakeRtlControl(Small(), TwoPerSm(), options); }),
            Path("no/x.fst") + ": cannot write the waveform");
}

TEST_F(RtlOptionsTest, WithoutAPathNothingIsWritten) {
  RtlOptions options;
  options.evaluate_all = true;
  Run(options, 3);
  EXPECT_TRUE(Names().empty());
}

}  // namespace
}  // namespace smk
