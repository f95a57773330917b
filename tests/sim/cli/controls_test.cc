// SPDX-License-Identifier: Apache-2.0
// Every machine with every control plane: it runs, or the refusal names the machine and those that
// have RTL.
#include <set>

#include "sim/command.h"

namespace smk {
namespace {

class Controls : public CommandTest {};

TEST_F(Controls, EveryMachineRunsOrIsRefusedByName) {
  std::set<std::string> without;
  for (const auto& machine : nlohmann::json::parse(Smk("list machines --json").out)) {
    const std::string name = machine["name"];
    const std::string run = "run sgemm --cycles 300 --no-cache --machine " + name + " --control ";
    EXPECT_EQ(Smk(run + "reference").status, 0) << name;
    for (const std::string control : {"rtl", "lockstep"}) {
      const Outcome outcome = Smk(run + control);
      if (outcome.status == 0) continue;
      without.insert(name);
      EXPECT_EQ(outcome.status, 2) << name << outcome.out << outcome.err;
      EXPECT_EQ(outcome.err.rfind("smk: --control " + control + ": there is no RTL for ", 0), 0u);
      EXPECT_NE(outcome.err.find(" of the machine " + name + " with "), std::string::npos);
      EXPECT_NE(outcome.err.find("with the program for unchanged gtx980, fermi, v100; make"),
                std::string::npos);
    }
  }
  EXPECT_EQ(without, (std::set<std::string>{"c2050", "gtx460", "gtx680", "h100", "mini"}));
}

// TBs are saved while instructions of theirs wait in the operand collectors.
TEST_F(Controls, CollectorsAndPreemptionsAreTheSameOnTheRtl) {
  for (const std::string policy : {"smk", "smk-pw"}) {
    const Outcome run =
        Smk("run sgemm+lbm --machine gtx980-accelsim --control lockstep --cycles 40k --no-cache "
            "--force --out out --policy " +
            policy);
    EXPECT_EQ(run.status, 0) << run.out << run.err;
    const auto stats = Json("out/stats.json");
    EXPECT_GT(stats["lockstep"]["events"], 1'000'000) << policy;
    EXPECT_TRUE(policy != "smk" || stats["preemptions"] > 0);
  }
}

// Schedulers and profile counters as compiled gates: everything that is written is the same.
TEST_F(Controls, CompiledGatesWriteWhatTheRtlWrites) {
  for (const std::string policy : {"smk", "smk-pw", "spatial", "warped-slicer+w", "tokens"}) {
    SCOPED_TRACE(policy);
    for (const std::string control : {"rtl", "compiled"}) {
      const Outcome run = Smk("run cutcp+stencil --cycles 20k --no-cache --force --policy " +
                              policy + " --control " + control + " --out " + control);
      ASSERT_EQ(run.status, 0) << run.err;
    }
    for (const std::string file : {"/kernels.csv", "/tbs.csv", "/decisions.csv"}) {
      EXPECT_EQ(Read("rtl" + file), Read("compiled" + file)) << file;
    }
    auto rtl = Json("rtl/stats.json"), compiled = Json("compiled/stats.json");
    EXPECT_EQ(compiled["control"], "compiled");
    for (auto* stats : {&rtl, &compiled}) {
      stats->erase("wall");
      stats->erase("control");
    }
    EXPECT_EQ(rtl.dump(), compiled.dump());
  }
}

// Where a scheduler can issue when an issue register has become free in the same cycle.
TEST_F(Controls, CompiledGatesWriteWhatTheReferenceWritesWithCollectors) {
  for (const std::string run : {"cutcp+stencil --policy smk --machine gtx980-accelsim",
                                "mri-q+lbm --policy spatial --machine gtx980-accelsim",
                                "hot+blk --policy smk-pw --set sm.collectors=1",
                                "cutcp+histo --policy smk --set sm.collectors=4"}) {
    SCOPED_TRACE(run);
    for (const std::string control : {"reference", "compiled"}) {
      const Outcome done = Smk("run " + run + " --cycles 15k --no-cache --force --control " +
                               control + " --out " + control);
      ASSERT_EQ(done.status, 0) << done.err;
    }
    for (const std::string file : {"/kernels.csv", "/stalls.csv", "/tbs.csv", "/samples.csv"}) {
      EXPECT_EQ(Read("reference" + file), Read("compiled" + file)) << file;
    }
  }
}

TEST_F(Controls, CompiledGatesThatAreNotBuiltAreRefused) {
  const auto said = [&](const std::string& arguments) {
    const Outcome outcome = Smk("run sgemm --cycles 300 --no-cache " + arguments);
    EXPECT_EQ(outcome.status, 2) << arguments << outcome.out;
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
    return outcome.err;
  };
  EXPECT_EQ(said("--control compiled --set sms=8")
                .rfind("smk: --control compiled: there are no "
                       "compiled gates for 8 SMs of the machine "
                       "gtx980 with ",
                       0),
            0u);
  EXPECT_NE(said("--control lockstep-compiled --machine mini")
                .find("make them with smk rtl build mini --compiled, and the same --set"),
            std::string::npos);
  EXPECT_EQ(said("--control compiled --machine gtx980-accelsim --set sm.units.sp=2"),
            "smk: --control compiled: the machine gtx980-accelsim has operand collectors and pipes "
            "that schedulers share (sm.units), and its SMs cannot be scheduled at once; use "
            "--control rtl\n");
  EXPECT_EQ(said("--control compiled --out out --wave"),
            "smk: --wave: compiled gates have no waveforms; needs --control rtl or lockstep\n");
  EXPECT_EQ(said("--control compiled --gates quota_scheduler"),
            "smk: --gates: blocks of the RTL; needs --control rtl or lockstep, not compiled\n");
  for (const char* machine : {"fermi", "v100", "gtx980-accelsim"}) {
    // Quotas are spent on all SMs.
    EXPECT_EQ(Smk(std::string("run sgemm+lbm --policy smk-pw --set policy.epoch_length=500 "
                              "--cycles 4500 --no-cache --control lockstep-compiled --machine ") +
                  machine)
                  .status,
              0)
        << machine;
  }
}

TEST_F(Controls, AMachineThatIsSetOtherwiseHasNone) {
  const Outcome outcome = Smk("run sgemm --cycles 300 --control rtl --set sms=8");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("no RTL for 8 SMs of the machine gtx980"), std::string::npos)
      << outcome.err;
  Write("s.toml", "workloads = 'sgemm'\nmachines = 'mini'\ncontrol = 'rtl'\n");
  EXPECT_EQ(Smk("sweep s.toml --list").err.rfind("smk: s.toml:3: control: there is no RTL", 0), 0u);
}

// The RTL has a configuration `small` of its own, for tests: no machine has its name.
TEST_F(Controls, NoMachineHasTheNameOfTheSmallRtl) {
  EXPECT_NE(Smk("run sgemm --machine small").err.find("expected one of"), std::string::npos);
}

}  // namespace
}  // namespace smk
