// SPDX-License-Identifier: Apache-2.0
// Every flag does something, and what it says.
#include <set>

#include "sim/command.h"

namespace smk {
namespace {

class Flags : public CommandTest {};

// The flags that the tests below are about; help that offers another one fails.
const std::set<std::string> kTested = {
    "--help",     "--preempt",       "--control",    "--cycles",     "--machine",  "--set",
    "--arrive",   "--client",        "--seed",       "--config",     "--out",      "--force",
    "--timeline", "--timeline-step", "--jobs",       "--no-cache",   "--policies", "--policy",
    "--quiet",    "--no-repeat",     "--list",       "--experiment", "--shard",    "--retry-failed",
    "--export",   "--merge",         "--one-writer", "--runs",       "--slurm",    "--wait",
    "--until",    "--warm-up",       "--measure",    "--tasks",      "--sbatch",   "--strict",
    "--verify",   "--wave",          "--title",      "--json",       "--gates"};

TEST_F(Flags, HelpOffersOnlyWhatIsTested) {
  std::set<std::string> offered;
  for (const char* command : {"run", "compare", "sweep", "report"}) {
    const std::string help = Smk(std::string("help ") + command).out;
    EXPECT_EQ(help, Smk(std::string(command) + " --help").out);
    for (std::size_t at = 0; (at = help.find("--", at)) != std::string::npos;) {
      const std::size_t end = help.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", at);
      offered.insert(help.substr(at, end - at));
      at = end;
    }
  }
  EXPECT_EQ(offered, kTested);
}

TEST_F(Flags, WaveWritesTheRtlAndAViewOfIt) {
  const Outcome outcome =
      Smk("run sgemm --policy smk-p --control rtl --cycles 400 --wave 100:200 --out w");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(Exists("w/wave.fst"));
  EXPECT_FALSE(Exists("w/wave.fst.part"));
  const std::string view = Read("w/wave.gtkw");
  EXPECT_NE(view.find("u_driver"), std::string::npos);
  EXPECT_NE(view.find("gen_sm[0].gen_scheduler[0].u_quota_scheduler"), std::string::npos);
  EXPECT_EQ(view.find("not in the waves: top.gen_sm"), std::string::npos) << view.substr(0, 2000);
}

TEST_F(Flags, ControlsGiveTheSameResults) {
  const std::vector<std::string> controls = {"reference", "rtl", "compiled", "lockstep",
                                             "lockstep-compiled"};
  for (const std::string& control : controls) {
    const Outcome outcome =
        Smk("run sgemm+lbm --policy smk --cycles 3000 --control " + control + " --out " + control);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
  }
  for (const char* file : {"/kernels.csv", "/tbs.csv", "/decisions.csv"}) {
    for (const std::string& control : controls) {
      EXPECT_EQ(Read(std::string("reference") + file), Read(control + file)) << control;
    }
  }
  for (const char* control : {"lockstep", "lockstep-compiled"}) {
    EXPECT_GT(Json(std::string(control) + "/stats.json")["lockstep"]["events"], 100000);
  }
}

TEST_F(Flags, HelpAndVersionGoToStdout) {
  for (const char* arguments : {"help", "--help", "help run", "run --help", "--version"}) {
    const Outcome outcome = Smk(arguments);
    EXPECT_EQ(outcome.status, 0) << arguments;
    EXPECT_NE(outcome.out, "") << arguments;
    EXPECT_EQ(outcome.err, "") << arguments;
  }
  const std::string help = Smk("help").out;
  for (const char* word : {"run", "compare", "sweep", "report", "timeline", "trace", "validate",
                           "synth", "list", "doctor"}) {
    EXPECT_NE(help.find(word), std::string::npos) << word;
  }
}

TEST_F(Flags, PoliciesDiffer) {
  // Plans that are made and in force before the run ends.
  const std::string early =
      " --preempt switch --set policy.slicer_warmup=500 --set policy.slicer_settle=500 "
      "--set policy.slicer_window=500 --set policy.slicer_sustain=0 --set "
      "policy.slicer_loss=262143";
  std::set<std::string> seen;
  for (const std::string& policy :
       {std::string("isolated"), std::string("leftover"), std::string("even"),
        std::string("spatial"), std::string("smk"), std::string("smk-p"), std::string("smk-pw"),
        std::string("smk-pw2"), "warped-slicer" + early, "warped-slicer+w" + early,
        std::string("table:3,2,2")}) {
    auto stats = Fixed("lbm+sgemm+sad --cycles 30k --policy " + policy);
    stats.erase("policy");
    EXPECT_TRUE(seen.insert(stats.dump()).second) << policy;
  }
}

TEST_F(Flags, PreemptModesDiffer) {
  std::set<std::string> seen;
  for (const char* mode : {"switch", "drain", "flush", "chimera"}) {
    seen.insert(Fixed(std::string("lbm+sgemm --cycles 30k --policy spatial --arrive sgemm@5k "
                                  "--preempt ") +
                      mode)
                    .dump());
  }
  EXPECT_EQ(seen.size(), 4u);
  for (const char* mode : {"switch", "drain"}) {
    seen.insert(
        Fixed(std::string("lbm+sgemm --cycles 60k --policy warped-slicer --preempt ") + mode)
            .dump());
  }
  EXPECT_EQ(seen.size(), 6u);
}

// Once the mean of lbm's TBs is known some may end, as long as the limit gives them the time.
TEST_F(Flags, ChimeraKeepsItsLimitInTheRtl) {
  std::vector<int> flushes;
  for (const char* limit : {"0", "2000", "18240"}) {
    const auto stats =
        Fixed(std::string("lbm+sgemm --cycles 70k --policy spatial --arrive sgemm@50k "
                          "--preempt chimera --control lockstep "
                          "--set policy.chimera_limit=") +
              limit);
    flushes.push_back(stats["preemptions"]["flushes"]);
  }
  EXPECT_GT(flushes[0], flushes[1]);
  EXPECT_GT(flushes[1], flushes[2]);
}

TEST_F(Flags, RoomIsGuardedInTheRtl) {
  const std::string run = "lbm+mri-q --cycles 20k --policy smk --control lockstep";
  EXPECT_NE(Fixed(run), Fixed(run + " --set policy.preempt_guard=true"));
}

// The first kernel has TBs left all the time; its neighbour begins with the room that it leaves, or
// not at all.
TEST_F(Flags, StrictLeftoverHoldsTheSecondKernelBackInTheRtl) {
  const std::string run = "sgemm+spmv --cycles 6k --policy leftover --control lockstep";
  const auto strict = Fixed(run + " --set policy.leftover_strict=true");
  EXPECT_GT(Fixed(run)["kernels"][1]["warp_instructions"], 0);
  EXPECT_EQ(strict["kernels"][1]["warp_instructions"], 0);
}

TEST_F(Flags, CyclesAndSeedAndMachine) {
  const auto base = Fixed("spmv --cycles 20k --policy isolated");
  EXPECT_EQ(base["cycles"], 20000);
  EXPECT_EQ(base, Fixed("spmv --cycles 20000 --seed 1 --machine gtx980 --control reference "
                        "--policy isolated"))
      << "these are the defaults";
  auto other = Fixed("spmv --cycles 20k --seed 2 --policy isolated");
  EXPECT_EQ(other["seed"], 2);
  other["seed"] = 1;
  EXPECT_NE(base, other);
  EXPECT_EQ(Fixed("spmv --cycles 20k --machine fermi --policy isolated")["machine"], "fermi");
}

TEST_F(Flags, EachSettingChangesTheRun) {
  const auto base = Fixed("lbm+sgemm --cycles 40k");
  for (const char* set :
       {"sms=8", "sm.l1.bytes=49152", "policy.epoch_length=1000", "policy.kernels_per_sm=1",
        "policy.latency_scale=50", "policy.warp_policy=lrr"}) {
    EXPECT_NE(base, Fixed(std::string("lbm+sgemm --cycles 40k --set ") + set)) << set;
  }
  const std::string late = "lbm+sgemm --cycles 40k --policy smk-p --arrive sgemm@10k";
  const auto preempted = Fixed(late);
  EXPECT_NE(preempted["preemptions"]["count"], 0);
  for (const char* set : {"run.ideal_preemption=true", "control.preempted_depth=1"}) {
    EXPECT_NE(preempted, Fixed(late + " --set " + set)) << set;
  }
  WriteTiny("tiny.toml");
  const std::string ends = "lbm+tiny.toml --cycles 40k --no-repeat --set policy.epoch_length=1000";
  EXPECT_NE(Fixed(ends + " --set policy.linger_ticks=0"),
            Fixed(ends + " --set policy.linger_ticks=1000"));
  EXPECT_EQ(Fixed(ends + " --set run.grid_divisor=16")["kernels"][1]["tbs_completed"], 64 / 16);
}

TEST_F(Flags, ArrivalsAreCountedFromTheArrival) {
  const auto stats = Fixed("sgemm+sgemm --cycles 30k --arrive sgemm#2@10k");
  EXPECT_EQ(stats["kernels"][0]["cycles_present"], 30000);
  EXPECT_EQ(stats["kernels"][1]["cycles_present"], 20000);
  EXPECT_EQ(stats["kernels"][1]["arrival"], 10000);
  EXPECT_NE(Smk("run sgemm+sgemm --cycles 30k --arrive sgemm#2@10k").out.find("arrives"),
            std::string::npos);
}

TEST_F(Flags, NoRepeatEndsThePrograms) {
  WriteTiny("tiny.toml");
  const auto repeated = Fixed("tiny.toml --cycles 40k");
  const auto once = Fixed("tiny.toml --cycles 40k --no-repeat");
  EXPECT_EQ(once["kernels"][0]["program_runs"], 1);
  EXPECT_EQ(once["kernels"][0]["tbs_completed"], 64);
  EXPECT_GT(repeated["kernels"][0]["program_runs"], 1);
}

TEST_F(Flags, UntilDoneEndsWithThePrograms) {
  WriteTiny("tiny.toml");
  WriteTiny("other.toml");
  const std::string both = "tiny.toml+other.toml --policy smk-pw --until done";
  const auto done = Fixed(both);
  EXPECT_EQ(done["until"], "done");
  EXPECT_EQ(done["cut_short"], false);
  EXPECT_LT(done["cycles"], 2000000) << "the default of --cycles";
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& job = done["jobs"][i];
    EXPECT_EQ(job["executions"], 1);
    EXPECT_EQ(job["end"], job["finish"]);
    EXPECT_LE(job["last_tb_end"], job["end"]);
    EXPECT_EQ(done["kernels"][i]["cycles_present"], job["end"]);
    last = std::max<std::uint64_t>(last, job["end"]);
  }
  EXPECT_EQ(done["cycles"], last + 1);
  Write("c.toml", Read("stats/config.toml"));
  EXPECT_EQ(Fixed("--config c.toml"), done);
  // The control planes hear nothing of it.
  auto lockstep = Fixed(both + " --control lockstep");
  EXPECT_GT(lockstep["lockstep"]["events"], 1000);
  lockstep.erase("lockstep");
  lockstep["control"] = "reference";
  EXPECT_EQ(lockstep, done);
  const Outcome summary = Smk("run " + both);
  EXPECT_NE(summary.out.find(std::to_string(last + 1) + " cycles until all programs had ended"),
            std::string::npos)
      << summary.out;
  const Outcome cut = Smk("run " + both + " --cycles 500");
  EXPECT_EQ(cut.status, 0);
  EXPECT_NE(cut.out.find("500 cycles (CUT SHORT by --cycles)"), std::string::npos) << cut.out;
  EXPECT_EQ(Smk("run tiny.toml --until end").err,
            "smk: --until: expected cycles or done or work, got 'end'\n");
}

// However long the run could be, the same trace has the same IPC.
TEST_F(Flags, UntilDoneCountsOnlyCyclesWithWork) {
  WriteTiny("tiny.toml");
  const auto base = Fixed("tiny.toml --until done --cycles 100k")["kernels"][0];
  EXPECT_EQ(Fixed("tiny.toml --until done --cycles 1M")["kernels"][0], base);
  EXPECT_EQ(Fixed("tiny.toml --no-repeat --cycles 200k")["kernels"][0]["ipc"], base["ipc"]);
  EXPECT_EQ(Fixed("tiny.toml --until done --policy isolated")["kernels"][0]["normalized_ipc"], 1);
}

// Each kernel does what it does alone in --cycles; the control planes see only TBs that end.
TEST_F(Flags, UntilWorkIsEqualWork) {
  const std::string work =
      "lbm+sgemm --cycles 6k --until work --policy spatial --arrive sgemm@2000";
  const auto stats = Fixed(work);
  EXPECT_EQ(stats["until"], "work");
  EXPECT_GT(stats["preemptions"]["count"], 0);
  std::uint64_t last = 0;
  for (const char* name : {"lbm", "sgemm"}) {
    const std::size_t i = name == std::string("lbm") ? 0 : 1;
    const auto alone = Fixed(std::string(name) + " --cycles 6k --policy isolated");
    const std::uint64_t target = alone["kernels"][0]["warp_instructions"];
    const auto& kernel = stats["kernels"][i];
    EXPECT_GE(kernel["warp_instructions"], target);
    EXPECT_LT(kernel["warp_instructions"], target + 16 * 4);
    const std::uint64_t end = stats["jobs"][i]["end"];
    EXPECT_EQ(kernel["cycles_present"], end - (i == 1 ? 2000 : 0));
    EXPECT_NEAR(kernel["normalized_ipc"], 6000.0 / double(kernel["cycles_present"]), 0.01);
    last = std::max(last, end);
  }
  EXPECT_EQ(stats["cycles"], last);
  EXPECT_GT(last, 6000u);
  auto lockstep = Fixed(work + " --control lockstep");
  lockstep.erase("lockstep");
  lockstep["control"] = "reference";
  EXPECT_EQ(lockstep, stats);
  EXPECT_EQ(Smk("compare lbm+sgemm --cycles 6k --until work --policies smk,spatial").status, 0);
  EXPECT_NE(Smk("run " + work).out.find("until each had done its work"), std::string::npos);
}

// A small program that is executed once has long ended; alone it does so sooner.
TEST_F(Flags, AProgramThatEndsInTheWindowIsTold) {
  WriteTiny("tiny.toml");
  const std::string run = "lbm+tiny.toml --cycles 60k --no-repeat --warm-up 1k --policy even";
  const Outcome outcome = Smk("run " + run + " --out o");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto stats = Json("o/stats.json");
  const std::string end = stats["jobs"][1]["end"].dump();
  EXPECT_NE(outcome.err.find("smk: note: even: measured from 1000 to the end; what had ended "
                             "before, and is not in all of it: tiny (at " +
                             end + "), tiny alone (at "),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_EQ(stats["kernels"][1]["ended_in_window"], true);
  EXPECT_EQ(stats["kernels"][0]["ended_in_window"], false);
  EXPECT_NE(Read("o/kernels.csv").find("ended_in_window"), std::string::npos);
  EXPECT_NE(Smk("compare " + run.substr(0, run.find(" --policy")) + " --policies isolated,even")
                .err.find("smk: note: isolated: measured from 1000 to the end; what had ended "
                          "before, and is not in all of it: tiny alone (at "),
            std::string::npos);
  // Without a window, and where nothing ends, there is nothing to be told.
  EXPECT_EQ(Smk("run lbm+tiny.toml --cycles 60k --no-repeat --policy even").err, "");
  EXPECT_EQ(Smk("run lbm+tiny.toml --cycles 60k --warm-up 1k --policy even").err, "");
  EXPECT_EQ(Smk("run tiny.toml --cycles 1M --until done --warm-up 10 --policy even").err, "");
  EXPECT_NE(Smk("run tiny.toml --cycles 1M --until done --measure 900k --policy even")
                .err.find("measured from 0 to 900000"),
            std::string::npos);
}

TEST_F(Flags, MeasuresAPartOfTheRun) {
  const auto all = Fixed("lbm+sgemm --cycles 30k");
  EXPECT_EQ(all["measured_from"], 0);
  EXPECT_EQ(all["measured_to"], 30000);
  const auto first = Fixed("lbm+sgemm --cycles 30k --measure 10k");
  const auto rest = Fixed("lbm+sgemm --cycles 30k --warm-up 10k");
  EXPECT_EQ(first["measured_to"], 10000);
  EXPECT_EQ(rest["measured_from"], 10000);
  for (std::size_t i = 0; i < 2; ++i) {
    for (const char* counter : {"warp_instructions", "l2_hits", "dram_read_bytes"}) {
      const auto value = [&](const auto& stats) {
        return stats["kernels"][i][counter].template get<std::uint64_t>();
      };
      EXPECT_EQ(value(first) + value(rest), value(all)) << counter;
    }
    EXPECT_EQ(rest["kernels"][i]["cycles_present"], 20000);
  }
  EXPECT_NE(rest["kernels"][0]["ipc_isolated"], all["kernels"][0]["ipc_isolated"])
      << "the isolated runs are measured in the same cycles";
  EXPECT_NE(
      Smk("run lbm --cycles 30k --warm-up 1k --measure 2k").out.find("measured from 1000 to 3000"),
      std::string::npos);
  for (const char* wrong : {"--warm-up 30k", "--warm-up 20k --measure 11k", "--measure 31k",
                            "--warm-up 1k --until work"}) {
    const Outcome outcome = Smk(std::string("run lbm --cycles 30k ") + wrong);
    EXPECT_EQ(outcome.status, 2) << wrong;
    EXPECT_NE(outcome.err.find("run.warm_up, run.measure"), std::string::npos) << outcome.err;
  }
}

TEST_F(Flags, QuietPrintsTheLastLineOnly) {
  const Outcome outcome = Smk("run sgemm --cycles 10k --quiet");
  EXPECT_EQ(outcome.out, "PASS\n");
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(Smk("compare sgemm --cycles 10k --quiet --policies smk,even").out, "PASS\n");
}

TEST_F(Flags, JsonIsTheOnlyThingOnStdout) {
  const std::string work = " lbm+sgemm --cycles 10k --out out --force --json ";
  const Outcome run = Smk("run" + work);
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.out, Read("out/stats.json"));
  EXPECT_EQ(Smk("run lbm --cycles 10k --json --quiet").out[0], '{') << "not quiet about that";
  const Outcome compare = Smk("compare" + work + "--policies smk,even");
  EXPECT_EQ(compare.status, 0) << compare.err;
  EXPECT_EQ(compare.out, Read("out/compare.json"));
  const Outcome refused = Smk("run lbm --cycles 0 --json");
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.out, "");
}

TEST_F(Flags, NoCacheNeitherReadsNorWrites) {
  const auto cached = [&] { return Json("stats/stats.json")["wall"]["isolated_from_cache"][0]; };
  Stats("sgemm --cycles 10k --no-cache");
  EXPECT_FALSE(Exists("cache"));
  Stats("sgemm --cycles 10k");
  EXPECT_TRUE(Exists("cache"));
  EXPECT_EQ(cached(), false);
  Stats("sgemm --cycles 10k");
  EXPECT_EQ(cached(), true);
  Stats("sgemm --cycles 10k --no-cache");
  EXPECT_EQ(cached(), false);
}

TEST_F(Flags, ForceWritesBesideOtherThings) {
  std::filesystem::create_directory(Path("other"));
  Write("other/thesis.tex", "precious");
  EXPECT_EQ(Smk("run sgemm --cycles 10k --out other").status, 2);
  EXPECT_EQ(Smk("run sgemm --cycles 10k --out other --force").status, 0);
  EXPECT_TRUE(Exists("other/stats.json"));
  EXPECT_EQ(Read("other/thesis.tex"), "precious");
}

TEST_F(Flags, TimelineItsWindowAndItsStep) {
  EXPECT_EQ(Smk("run lbm --cycles 30k --out a --timeline").status, 0);
  EXPECT_EQ(Smk("run lbm --cycles 30k --out b --timeline 10k:12k").status, 0);
  EXPECT_EQ(Smk("run lbm --cycles 30k --out c --timeline --timeline-step 3k").status, 0);
  EXPECT_LT(Read("b/timeline.json.gz").size(), Read("a/timeline.json.gz").size());
  EXPECT_LT(Read("c/timeline.json.gz").size(), Read("a/timeline.json.gz").size());
  EXPECT_EQ(Smk("run lbm --cycles 30k --out a").status, 0);
  EXPECT_FALSE(Exists("a/timeline.json.gz")) << "left over from the run before";
}

TEST_F(Flags, ConfigRepeatsARun) {
  const std::string arguments =
      "lbm+sgemm --cycles 30k --seed 7 --policy spatial --preempt flush --arrive sgemm@5k "
      "--client lbm@alice --machine fermi --no-repeat --set sms=8 --set policy.epoch_length=2000 "
      "--set policy.warp_policy=lrr --set control.preempted_depth=64 "
      "--set run.grid_divisor=4";
  const auto first = Fixed(arguments);
  const std::string config = Read("stats/config.toml");
  Write("c.toml", config);
  EXPECT_EQ(first, Fixed("--config c.toml"));
  EXPECT_EQ(Read("stats/config.toml"), config);
  EXPECT_EQ(Fixed("--config c.toml --seed 8")["seed"], 8) << "the command line goes first";
  EXPECT_EQ(Fixed("--config c.toml --policy even")["policy"], "even");
  EXPECT_EQ(Fixed("--config c.toml --machine mini")["machine"], "mini");
  EXPECT_EQ(Smk("compare --config c.toml --policies even,smk-pw2").status, 0);
}

// A file beside the one who calls is named as a whole.
TEST_F(Flags, ConfigRepeatsARunFromAnotherFolder) {
  WriteTiny("tiny.toml");
  const auto first = Fixed("tiny.toml --cycles 2k");
  std::filesystem::create_directory(Path("elsewhere"));
  std::filesystem::copy_file(Path("stats/config.toml"), Path("elsewhere/c.toml"));
  std::filesystem::rename(Path("tiny.toml"), Path("elsewhere/tiny.toml"));
  EXPECT_EQ(Smk("run --config elsewhere/c.toml").status, 2) << "not the one beside it";
  std::filesystem::rename(Path("elsewhere/tiny.toml"), Path("tiny.toml"));
  EXPECT_NE(Read("elsewhere/c.toml").find(Path("tiny.toml")), std::string::npos);
  EXPECT_EQ(first, Fixed("--config elsewhere/c.toml"));
}

TEST_F(Flags, CompareIsTheSameWithAnyNumberOfJobs) {
  const auto compare = [&](const std::string& jobs) {
    const Outcome outcome =
        Smk("compare lbm+sgemm --cycles 20k --policies isolated,even,table:3,2 "
            "--no-cache --out out --force --jobs " +
            jobs);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.LastLine(), "PASS");
    return Read("out/compare.csv");
  };
  const std::string one = compare("1");
  EXPECT_EQ(one, compare("3"));
  EXPECT_EQ(std::count(one.begin(), one.end(), '\n'), 4);
  for (const char* policy : {"isolated", "even", "table-3-2"}) {
    EXPECT_TRUE(Exists(std::string("out/") + policy + "/stats.json")) << policy;
  }
  auto alone = Fixed("lbm+sgemm --cycles 20k --policy even");
  auto compared = Json("out/even/stats.json");
  compared.erase("wall");
  EXPECT_EQ(alone, compared);
}

}  // namespace
}  // namespace smk
