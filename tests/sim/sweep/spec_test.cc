// SPDX-License-Identifier: Apache-2.0
// What a specification of a sweep means, and what is said of one that means nothing.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <set>

#include "base/error.h"
#include "sim/command.h"
#include "sweep/mixes.h"
#include "sweep/slurm.h"

namespace smk {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class SweepSpec : public CommandTest {
 protected:
  // The lines of --list that show runs.
  std::vector<std::string> Runs(const std::string& spec, const std::string& options = "") const {
    Write("s.toml", spec);
    const Outcome outcome = Smk("sweep s.toml --list " + options);
    EXPECT_EQ(outcome.status, 0) << spec << '\n' << outcome.err;
    std::vector<std::string> lines;
    std::istringstream in(outcome.out);
    std::string line;
    for (int before = 0; before < 3; ++before) std::getline(in, line);  // how many, and the header
    while (std::getline(in, line)) lines.push_back(line);
    return lines;
  }
  static std::string FirstLine(const Outcome& outcome) {
    return outcome.out.substr(0, outcome.out.find('\n'));
  }
  static std::size_t Count(const std::vector<std::string>& lines, const std::string& part) {
    return static_cast<std::size_t>(std::count_if(
        lines.begin(), lines.end(),
        [&](const std::string& line) { return line.find(part) != std::string::npos; }));
  }
  // The specification is refused with one line that begins with its file and `line`.
  void Refuses(const std::string& spec, const std::string& line, const std::string& part) const {
    Write("s.toml", spec);
    const Outcome outcome = Smk("sweep s.toml --list");
    EXPECT_EQ(outcome.status, 2) << spec << '\n' << outcome.out << outcome.err;
    EXPECT_EQ(outcome.out, "") << spec;
    EXPECT_EQ(outcome.err.rfind("smk: s.toml:" + line + ": ", 0), 0u) << spec << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << spec << '\n' << outcome.err;
  }
};

TEST_F(SweepSpec, IsTheProductOfItsLists) {
  const auto runs = Runs(
      "workloads = ['cutcp+lbm', 'sgemm']\npolicies = ['spatial', 'smk']\nseeds = [1, 2]\n"
      "preempt = ['switch', 'drain']\nmachines = ['gtx980', 'fermi']\ncycles = '10k'\n"
      "[set]\npolicy.epoch_length = [500, 1000]\n'sm.l1.bytes' = 32768\n");
  // 2 workloads, 3 ways (spatial twice), 2 seeds, 2 machines, 2 epochs, 3 isolated runs.
  EXPECT_EQ(Count(runs, " isolated"), 3 * 2 * 2u);
  EXPECT_EQ(Count(runs, "policy.epoch_length=500"), 2 * 3 * 2 * 2u);
  EXPECT_EQ(Count(runs, "spatial drain"), 2 * 2 * 2 * 2u);
  EXPECT_EQ(Count(runs, "sm.l1.bytes=32768"), runs.size());
  EXPECT_EQ(runs.size(), 12 + 48u);
}

TEST_F(SweepSpec, TakesEachRunOnceAndIsolatedRunsAlong) {
  const std::string text =
      "cycles = '5k'\n[[experiment]]\nname = 'a'\nworkloads = ['lbm+sad', 'lbm+sad']\n"
      "[[experiment]]\nname = 'b'\nworkloads = 'lbm+sad'\n[experiment.set]\n"
      "policy.epoch_length = [10000, 20000]\npolicy.latency_scale = 1\n";
  const auto runs = Runs(text);
  EXPECT_EQ(runs.size(), 4u) << "lbm, sad, and lbm+sad with two epochs: 10000 is the default";
  EXPECT_EQ(Runs(text, "--experiment a").size(), 3u);
  EXPECT_EQ(Runs(text, "--experiment a --experiment b"), runs);
  EXPECT_EQ(Runs("workloads = 'lbm+sad'\ncycles = 5000\npolicies = 'isolated'\n").size(), 2u);
}

TEST_F(SweepSpec, IdsAreStableAndDependOnEveryInput) {
  const auto id = [&](const std::string& spec) {
    return Runs(spec + "\nworkloads = 'lbm+sad'\ncycles = 5000\n").back().substr(0, 16);
  };
  const std::string plain = id("");
  EXPECT_EQ(plain, id("policies = 'smk-pw'\nseeds = 1\nmachines = 'gtx980'"));
  std::set<std::string> ids = {plain};
  for (const char* change :
       {"seeds = 2", "policies = 'smk-p'", "machines = 'fermi'", "repeat = false",
        "arrive = 'sad@100'", "set = { policy.epoch_length = 500 }", "set = { 'sms' = 8 }",
        "set = { run.ideal_preemption = true }", "set = { run.grid_divisor = 2 }",
        "set = { control.preempted_depth = 64 }", "set = { policy.warp_policy = 'lrr' }"}) {
    EXPECT_TRUE(ids.insert(id(change)).second) << change;
  }
}

TEST_F(SweepSpec, FindsFilesBesideItself) {
  std::filesystem::create_directory(Path("sub"));
  WriteTiny("sub/tiny.toml");
  Write("sub/s.toml", "workloads = 'tiny.toml'\ncycles = 1000\n");
  EXPECT_EQ(Smk("sweep sub/s.toml --list").status, 0);
}

TEST_F(SweepSpec, ShardsCoverEveryRunOnce) {
  const std::string text = "workloads = 'all-pairs'\ncycles = 1000\n";
  std::multiset<std::string> all, parts;
  for (const std::string& line : Runs(text)) all.insert(line.substr(0, 16));
  for (int part = 1; part <= 7; ++part) {
    for (const std::string& line : Runs(text, "--shard " + std::to_string(part) + "/7")) {
      parts.insert(line.substr(0, 16));
    }
  }
  EXPECT_EQ(all, parts);
  EXPECT_EQ(all.size(), 55u);
  for (const char* shard : {"0/3", "4/3", "1", "1/0", "a/b", "1/2/3"}) {
    EXPECT_EQ(Smk("sweep s.toml --list --shard " + std::string(shard)).status, 2) << shard;
  }
}

TEST_F(SweepSpec, RefusesWhatMeansNothing) {
  const std::string pair = "workloads = 'sgemm+lbm'\n";
  Refuses("colour = 3\n", "1", "unknown key");
  Refuses("x = = 3\n", "1", "expected TOML");
  Refuses("policies = 'smk'\n", "1", "workloads: expected");
  Refuses("\n[[experiment]]\nname = 'a'\n", "2", "experiment.workloads: expected");
  Refuses(pair + "[[experiment]]\n", "2", "experiment.name");
  Refuses(pair + "[[experiment]]\nname = 'a'\n[[experiment]]\nname = 'a'\n", "4", "no other has");
  Refuses(pair + "[[experiment]]\nname = 'a'\nsize = 3\n", "4", "experiment.size: unknown key");
  Refuses(pair + "experiment = 3\n", "2", "[[experiment]]");
  Refuses("workloads = ['sgemm',\n'lmb']\n", "2", "lmb");
  Refuses("workloads = 'a+b+c+d+e'\n", "1", "workloads");
  Refuses(pair + "policies = ['smk',\n'smkpw']\n", "3", "did you mean 'smk-pw'");
  Refuses(pair + "policies = 'table:1'\n", "2", "expected 2 counts");
  Refuses(pair + "machines = 'gtx9800'\n", "2", "gtx9800");
  Refuses(pair + "control = 'fpga'\n", "2",
          "expected reference, rtl, compiled, chip, lockstep or lockstep-compiled, got 'fpga'");
  Refuses(pair + "preempt = 'kill'\npolicies = 'spatial'\n", "2",
          "switch or drain or flush or chimera");
  Refuses(pair + "cycles = '2Q'\n", "2", "cycles: expected a whole number");
  Refuses(pair + "cycles = 0\n", "2", "cycles: expected a whole number");
  Refuses(pair + "seeds = -1\n", "2", "seeds");
  Refuses(pair + "arrive = 'sad@5'\n", "2", "not in the run");
  Refuses(pair + "repeat = 'yes'\n", "2", "true or false");
  Refuses(pair + "[set]\nsms = 133\n", "3", "set.sms: expected");
  Refuses(pair + "[set]\nl1.bytes = 99\n", "3", "the nearest is 'sm.l1.bytes'");
  Refuses(pair + "set = 3\n", "2", "set: expected a table");
  Refuses("workloads = 'random-pairs'\n", "1", "count: expected");
  Refuses("workloads = 'random-pairs'\ncount = 46\n", "2", "at most 45");
  Refuses("workloads = 'all-pairs'\ncount = 3\n", "2", "count: expected random-pairs");
  Refuses("workloads = 'sgemm'\nkernels = ['nope']\n", "2", "kernels: expected all-pairs");
  Refuses("workloads = 'random-pairs'\ncount = 0\n", "2", "from 1 on");
}

TEST_F(SweepSpec, RefusesAnEmptyProduct) {
  Refuses("workloads = []\n", "1", "at least one value");
  Refuses("workloads = 'sgemm+lbm'\npolicies = []\n", "2", "at least one value");
  Refuses("workloads = 'sgemm+lbm'\n[set]\nsms = []\n", "3", "at least one value");
  Refuses("workloads = 'sgemm+lbm'\ngroups = 'M+M'\n", "2", "nothing is left");
  Refuses("workloads = 'all-pairs'\nkernels = 'sgemm'\n", "1", "more kernels");
}

TEST_F(SweepSpec, PreemptThatNoPolicyUsesIsRefusedAsByRun) {
  Refuses("workloads = 'sgemm+lbm'\npolicies = 'smk'\npreempt = 'drain'\n", "3",
          "preempt: only the policies spatial, warped-slicer, warped-slicer+w, tokens use it");
  const std::string two =
      "preempt = 'drain'\n[[experiment]]\nname = 'a'\nworkloads = 'sgemm+lbm'\npolicies = 'smk'\n"
      "[[experiment]]\nname = 'b'\nworkloads = 'sgemm+lbm'\npolicies = ";
  EXPECT_EQ(Count(Runs(two + "'spatial'\n"), "spatial drain"), 1u) << "one of them uses it";
  Refuses(two + "'smk'\n", "1",
          "preempt: only the policies spatial, warped-slicer, warped-slicer+w, tokens use it");
}

TEST_F(SweepSpec, TooManyRunsAreRefusedAtOnce) {
  std::string numbers;
  for (int i = 1; i <= 1000; ++i) numbers += (i == 1 ? "" : ",") + std::to_string(i);
  Refuses("\nworkloads = 'sgemm'\nseeds = [" + numbers + "]\n[set]\nrun.warm_up = [" + numbers +
              "]\npolicy.linger_ticks = [" + numbers + "]\n",
          "2", "workloads: expected at most 1000000 runs, got 1000000000");
  std::string kernels;
  for (int i = 0; i < 200; ++i) kernels += (i == 0 ? "'k" : ",'k") + std::to_string(i) + "'";
  Refuses("workloads = 'random-quadruples'\ncount = 4\nkernels = [" + kernels + "]\n", "1",
          "kernels: expected kernels of at most 1000000 sets, got 64684950");
}

// Measured is the time of the processor, so that others on the machine do not matter.
// Host time is compared with host time: what is quadratic takes sixteen times as long for four
// times as many runs.
TEST_F(SweepSpec, ALongSweepIsListedInProportionToItsRuns) {
  const auto list = [this](int seeds) {
    std::string values = "1";
    for (int i = 2; i <= seeds; ++i) values += "," + std::to_string(i);
    Write("s.toml", "workloads = 'sgemm'\npolicies = 'smk'\nseeds = [" + values + "]\n");
    rusage before{}, after{};
    getrusage(RUSAGE_CHILDREN, &before);
    const Outcome outcome = Smk("sweep s.toml --list");
    getrusage(RUSAGE_CHILDREN, &after);
    EXPECT_EQ(FirstLine(outcome), fmt::format("{} runs, {} of them isolated", 2 * seeds, seeds));
    return after.ru_utime.tv_sec - before.ru_utime.tv_sec +
           1e-6 * static_cast<double>(after.ru_utime.tv_usec - before.ru_utime.tv_usec);
  };
  const double quarter = list(12'500);
  EXPECT_LT(list(50'000), 8 * quarter);
}

TEST_F(SweepSpec, ShippedSpecificationsAreThePapers) {
  const std::string folder = std::string(SMK_SOURCE_DIR) + "/sweeps/";
  const auto count = [&](const std::string& experiment) {
    const Outcome outcome =
        Smk("sweep " + folder + "smk_paper.toml --list --experiment " + experiment);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return FirstLine(outcome);
  };
  EXPECT_EQ(count("pairs"), "560 runs, 20 of them isolated");
  EXPECT_EQ(count("three-kernels"), "356 runs, 20 of them isolated");
  EXPECT_EQ(count("four-kernels"), "440 runs, 20 of them isolated");
  EXPECT_EQ(count("cache-mix"), "16 runs, 8 of them isolated");
  EXPECT_EQ(FirstLine(Smk("sweep " + folder + "reduced.toml --list")),
            "24 runs, 8 of them isolated");
  EXPECT_EQ(FirstLine(Smk("sweep " + folder + "smoke.toml --list")), "16 runs, 4 of them isolated");
  EXPECT_EQ(FirstLine(Smk("sweep " + folder + "slicer_alone.toml --list")),
            "84 runs, 84 of them isolated");
}

// Without preemption as in the paper, or by saving TBs.
TEST_F(SweepSpec, WarpedSlicersPairsAreSpecified) {
  const auto list = [&](const std::string& experiment) {
    Outcome outcome = Smk(std::string("sweep ") + SMK_SOURCE_DIR +
                          "/sweeps/warped_slicer.toml --list --experiment " + experiment);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome;
  };
  for (const char* experiment : {"pairs", "short"}) {
    const Outcome outcome = list(experiment);
    EXPECT_EQ(FirstLine(outcome), "130 runs, 10 of them isolated");
    EXPECT_THAT(outcome.out, HasSubstr("warped-slicer drain"));
    EXPECT_THAT(outcome.out, HasSubstr("run.until=work"));
  }
  const Outcome switched = list("short-switch");
  EXPECT_EQ(FirstLine(switched), "70 runs, 10 of them isolated");
  EXPECT_THAT(switched.out, HasSubstr("warped-slicer+w switch"));
  EXPECT_THAT(switched.out, Not(HasSubstr(" drain")));
  EXPECT_EQ(FirstLine(list("short-smk")), "70 runs, 10 of them isolated");
  EXPECT_EQ(FirstLine(list("three")), "68 runs, 8 of them isolated");
  EXPECT_EQ(FirstLine(list("three-others")), "132 runs, 8 of them isolated");
  EXPECT_EQ(FirstLine(list("window")), "70 runs, 10 of them isolated");
  EXPECT_EQ(FirstLine(list("delay")), "100 runs, 10 of them isolated");
  EXPECT_EQ(FirstLine(list("larger-sm")), "130 runs, 10 of them isolated");
}

TEST(SweepSlurm, ReadsSizesAndSlurmsConfiguration) {
  EXPECT_EQ(sim::ParseTasks("12").tasks, 12u);
  EXPECT_EQ(sim::ParseTasks("12").running, 0u);
  EXPECT_EQ(sim::ParseTasks("1k%3").tasks, 1000u);
  EXPECT_EQ(sim::ParseTasks("1k%3").running, 3u);
  for (const char* text : {"", "0", "5%", "5%0", "%5", "many"}) {
    EXPECT_THROW(sim::ParseTasks(text), InputError) << text;
  }
  const std::string config = "MaxArrayTasks = 7\nMaxArraySize            = 1001\nMaxJobs = x\n";
  EXPECT_EQ(sim::ConfigNumber(config, "MaxArraySize", 5), 1001u);
  EXPECT_EQ(sim::ConfigNumber(config, "MaxJobs", 5), 5u);
  EXPECT_EQ(sim::ConfigNumber("", "MaxArraySize", 5), 5u);
}

TEST(SweepMixes, RandomOnesCoverEachMixOfTypesAndFollowTheSeed) {
  std::vector<sim::MixKernel> kernels;
  kernels.reserve(10);
  for (int i = 0; i < 10; ++i) kernels.push_back({std::to_string(i), i < 4 ? 'C' : 'M'});
  EXPECT_EQ(sim::AllMixes(10, 2).size(), 45u);
  EXPECT_EQ(sim::AllMixes(10, 4).size(), 210u);
  EXPECT_TRUE(sim::AllMixes(2, 3).empty());
  for (const unsigned size : {3u, 4u}) {
    const auto mixes = sim::RandomMixes(kernels, size, size + 1, 5);
    std::set<std::string> groups;
    for (const auto& mix : mixes) {
      std::string letters;
      for (const std::size_t kernel : mix) letters += kernels[kernel].letter;
      groups.insert(sim::MixGroup(letters));
    }
    EXPECT_EQ(groups.size(), size + 1) << "as many mixes of two types as chosen";
    EXPECT_EQ(mixes, sim::RandomMixes(kernels, size, size + 1, 5));
    EXPECT_NE(mixes, sim::RandomMixes(kernels, size, size + 1, 6));
  }
  const auto some = sim::RandomMixes(kernels, 3, 56, 1);
  EXPECT_EQ(std::set(some.begin(), some.end()).size(), 56u);
}

}  // namespace
}  // namespace smk
