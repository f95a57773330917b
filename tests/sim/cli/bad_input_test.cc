// SPDX-License-Identifier: Apache-2.0
// Bad input is refused with one line on stderr, nothing on stdout, and exit status 2.
#include <sys/stat.h>

#include "sim/command.h"

namespace smk {
namespace {

class BadInput : public CommandTest {
 protected:
  // `part` must be in the message.
  void Refuses(const std::string& arguments, const std::string& part,
               const std::string& environment = "") const {
    const Outcome outcome = Smk(arguments, environment);
    EXPECT_EQ(outcome.status, 2) << arguments << '\n' << outcome.out << outcome.err;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_EQ(outcome.err.rfind("smk: ", 0), 0u) << arguments << '\n' << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << arguments << '\n' << outcome.err;
  }
  // A workload file in which `change` was made.
  template <typename Change>
  void RefusesWorkload(const Change& change, const std::string& part) const {
    TestFile file;
    change(&file);
    Write("w.toml", file.Text());
    Refuses("run w.toml --cycles 20k", part);
  }
};

TEST_F(BadInput, Usage) {
  Refuses("", "no command");
  Refuses("frobnicate", "frobnicate");
  Refuses("run", "no kernels");
  Refuses("run sgemm --colour red", "--colour");
  Refuses("run sgemm lbm", "lbm");
  Refuses("run sgemm --cycles", "--cycles");
  Refuses("run sgemm --cycles 1 --cycles 2", "--cycles");
  Refuses("help frobnicate", "frobnicate");
  Refuses("list", "what");
  Refuses("list kernel", "did you mean 'kernels'");
}

TEST_F(BadInput, TyposAreToldWithTheNearestName) {
  Refuses("swep s.toml", "no command 'swep'; did you mean 'sweep'?; see smk help");
  Refuses("trace inf t", "trace: no command 'inf'; did you mean 'info'?");
  Refuses("run sgemm --cycle 5 --polcy smk", "run: no option '--cycle'; did you mean '--cycles'?");
  Refuses("run sgemm --polcy=smk", "run: no option '--polcy'; did you mean '--policy'?");
  Refuses("run sgemm lbm sad", "run: expected no more words, got 'lbm'");
  Refuses("compare sgemm+lbm --policies smk,evn", "--policies: unknown policy 'evn'");
  Refuses("compare sgemm+lbm --policies table:1", "--policies table:1: expected 2 counts");
}

TEST_F(BadInput, AnEmptyFileIsOneThatCanBeRead) {
  Write("empty", "");
  Write("empty.toml", "");
  for (const char* arguments : {"run sgemm --machine empty.toml", "run empty.toml",
                                "run --config empty", "sweep empty.toml", "validate ."}) {
    if (std::string(arguments) == "validate .") Write("expected.csv", "");
    const Outcome outcome = Smk(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments << outcome.err;
    EXPECT_EQ(outcome.err.find("cannot be read"), std::string::npos) << outcome.err;
  }
}

TEST_F(BadInput, AKeyHasOneRange) {
  const auto range = [&](const std::string& value) {
    const std::string said = Smk("run sgemm --set sm.lsu_queue=" + value).err;
    const std::size_t from = said.find(" from ");
    EXPECT_NE(from, std::string::npos) << said;
    return said.substr(from, said.find_first_of(",;", from) - from);
  };
  EXPECT_EQ(range("0"), range("1000000"));
}

TEST_F(BadInput, AMissingDataFolderIsNoEmptyList) {
  for (const char* what : {"machines", "kernels"}) {
    const std::string list = std::string("list ") + what;
    Refuses(list, "/none: no such folder", "SMK_DATA_DIR=" + Path("none"));
    const std::string folder = list == "list kernels" ? "/workloads: " : "/machines: ";
    Refuses(list, folder, "SMK_DATA_DIR=" + Path(""));
  }
}

TEST_F(BadInput, Kernels) {
  Refuses("run sgem --cycles 20k", "sgem");
  Refuses("run sgemm+ --cycles 20k", "KERNEL+KERNEL");
  Refuses("run + --cycles 20k", "KERNEL+KERNEL");
  Refuses("run '' --cycles 20k", "KERNEL+KERNEL");
  std::string many = "sgemm";
  for (unsigned i = 0; i < 1024; ++i) many += "+sgemm";
  Refuses("run " + many + " --cycles 20k", "at most 1024 in a run");
  Refuses("run sgemm+lbm+spmv+sad+cutcp --policy table:1,1,1,1,1 --cycles 20k", "at most 4");
  Refuses("run missing.toml --cycles 20k", "missing.toml");
  Refuses("run . --cycles 20k", ".");
}

TEST_F(BadInput, Policies) {
  Refuses("run sgemm+lbm --policy smkpw", "did you mean 'smk-pw'");
  Refuses("run sgemm+lbm --policy ''", "unknown policy");
  Refuses("run sgemm+lbm --policy table:1", "expected 2 counts");
  Refuses("run sgemm+lbm --policy table:1,2,3", "expected 2 counts");
  Refuses("run sgemm+lbm --policy table:0,2", "count 1");
  Refuses("run sgemm+lbm --policy table:1,-2", "count 2");
  Refuses("run sgemm+lbm --policy table:1,x", "count 2");
  Refuses("run sgemm+lbm --policy table:11,9", "do not fit");
  Refuses("run sgemm+lbm --policy spatial --preempt kill", "switch or drain or flush or chimera");
  Refuses("run sgemm+lbm --policy smk --preempt drain", "only the policies spatial");
  Refuses("compare sgemm+lbm --policies smk,smk", "twice");
  Refuses("compare sgemm+lbm --policies smk,,even", "unknown policy");
  Refuses("compare sgemm+lbm --policies smk --preempt drain", "only the policies spatial");
}

TEST_F(BadInput, Controls) {
  Refuses("run sgemm --control fpga", "expected reference");
  // An RTL configuration has a fixed number of SMs, schedulers and resources.
  Refuses("run sgemm --control rtl --cycles 100 --set sms=8", "there is no RTL for 8 SMs");
}

TEST_F(BadInput, Waves) {
  const std::string out = " --out " + Path("wave");
  Refuses("run sgemm --control rtl --wave", "--wave: needs --out DIR");
  Refuses("run sgemm" + out + " --wave", "needs --control rtl or lockstep");
  Refuses("run sgemm --control rtl" + out + " --wave 5", "expected FROM:TO in cycles");
  Refuses("run sgemm --control rtl" + out + " --wave 9:5", "--wave");
  Refuses("run sgemm+lbm --policy isolated --control rtl" + out + " --wave",
          "one kernel at a time");
}

TEST_F(BadInput, Numbers) {
  for (const char* cycles : {"0", "-1", "2MM", "many", "1e99", "1.5", "''", "0x100"}) {
    Refuses(std::string("run sgemm --cycles ") + cycles, "--cycles");
  }
  Refuses("run sgemm --cycles 20k --seed -1", "--seed");
  Refuses("run sgemm --cycles 20k --seed x", "--seed");
  Refuses("run sgemm --cycles 20k --jobs 0", "--jobs");
}

TEST_F(BadInput, Machines) {
  Refuses("run sgemm --machine gtx9800", "gtx9800");
  Refuses("run sgemm --machine missing.toml", "missing.toml");
  Write("empty.toml", "");
  Refuses("run sgemm --machine empty.toml", "empty.toml");
  Write("broken.toml", "name = = 3\n");
  Refuses("run sgemm --machine broken.toml", "broken.toml:1");
  Refuses("list kernels --machine gtx9800", "gtx9800");
  Refuses("run sgemm", "/none: no such folder", "SMK_DATA_DIR=" + Path("none"));
}

TEST_F(BadInput, Settings) {
  Refuses("run sgemm --set policy.epoch_lenght=3", "the nearest is 'policy.epoch_length'");
  Refuses("run sgemm --set l1.bytes=1024", "the nearest is 'sm.l1.bytes'");
  Refuses("run sgemm --set sms", "key=value");
  Refuses("run sgemm --set =3", "key=value");
  for (const char* set : {"sms=0",
                          "sms=-4",
                          "sms=1e9",
                          "sms=133",
                          "sms=nan",
                          "sms=inf",
                          "sms=2.5",
                          "sms=two",
                          "core_clock_mhz=nan",
                          "core_clock_mhz=0",
                          "sm.limits.tbs=33",
                          "sm.limits.registers=1",
                          "sm.schedulers=5",
                          "memory.controllers=0",
                          "sm.l1.bytes=7",
                          "sm.texture.bytes=1024",
                          "memory.sector_bytes=64",
                          "memory.l2.bytes=2048 --set memory.controllers=1",
                          "policy.epoch_length=0",
                          "policy.epoch_length=65536",
                          "policy.kernels_per_sm=5",
                          "policy.latency_scale=0",
                          "policy.linger_ticks=-1",
                          "policy.warp_policy=fifo",
                          "control.preempted_depth=0",
                          "run.ideal_preemption=maybe",
                          "run.grid_divisor=0"}) {
    const std::string text = set;
    Refuses("run sgemm --cycles 20k --set " + text, text.substr(0, text.find('=')));
  }
}

TEST_F(BadInput, Arrivals) {
  Refuses("run sgemm+lbm --arrive cutcp@100", "not in the run");
  Refuses("run sgemm+sgemm --arrive sgemm@100", "2 times");
  Refuses("run sgemm+lbm --arrive lbm", "KERNEL@CYCLE");
  Refuses("run sgemm+lbm --arrive lbm@soon", "--arrive");
  Refuses("run sgemm+lbm --arrive lbm@-1", "--arrive");
  Refuses("run sgemm+lbm --cycles 20k --arrive lbm@20k", "from 0 to 19999");
  Refuses("run sgemm+lbm --arrive lbm@1 --arrive lbm@2", "twice");
  Refuses("run sgemm+lbm --client lbm", "KERNEL@CLIENT");
  Refuses("run sgemm+lbm --client lbm@", "KERNEL@CLIENT");
  Refuses("run sgemm+lbm --client cutcp@me", "not in the run");
  Refuses("run sgemm+lbm --client lbm@a --client lbm@b", "twice");
  Refuses("run sgemm+lbm --set memory.model=hbm", "one of gddr, fixed");
  Refuses("run sgemm+lbm --policy isolated --arrive lbm@1", "isolated");
}

TEST_F(BadInput, Workloads) {
  RefusesWorkload([](TestFile* f) { f->threads = "threads = = 3"; }, "w.toml:7");
  RefusesWorkload([](TestFile* f) { f->type += "\ncolour = 3"; }, "w.toml:3: colour");
  RefusesWorkload([](TestFile* f) { f->threads = "threads = 0"; }, "w.toml:7: kernel.threads");
  RefusesWorkload([](TestFile* f) { f->grid = "grid = [-4]"; }, "w.toml:10: kernel.grid");
  RefusesWorkload([](TestFile* f) { f->program = "loop i 0 {\nalu a =\n}"; }, "w.toml:13");
  RefusesWorkload([](TestFile* f) { f->program = "loop i 4 {\n}"; }, "w.toml:13");
  RefusesWorkload([](TestFile* f) { f->launches = "launches = [\"other\"]"; }, "w.toml:3: other");
}

// What never ends, or never begins, is refused before it is read.
TEST_F(BadInput, WhatIsNoFile) {
  ASSERT_EQ(mkfifo(Path("pipe.toml").c_str(), 0600), 0);
  const std::string limited = ": expected a file of at most 1024 MB, got a device or a pipe";
  for (const std::string file : {"pipe.toml", "/dev/zero"}) {
    Refuses("run --config " + file, file + limited);
    Refuses("run sgemm --machine " + file, limited);
    Refuses("sweep " + file + " --list", file + limited);
    Refuses("report " + file, file + ": expected a file, got a device or a pipe");
    Refuses("sweep --export csv --out " + file, file + ": expected a file, got");
  }
  Refuses("run pipe.toml", "pipe.toml" + limited);
  std::filesystem::create_directory(Path("t"));
  ASSERT_EQ(mkfifo(Path("t/kernelslist.g").c_str(), 0600), 0);
  Refuses("run trace:t", "t/kernelslist.g" + limited);
  Write("large.toml", "");
  std::filesystem::resize_file(Path("large.toml"), std::uintmax_t{3} << 30);
  Refuses("run --config large.toml", "expected a file of at most 1024 MB, got one of 3072 MB");
}

// What could not stand in a manifest, a table or a configuration is refused before anything runs.
TEST_F(BadInput, Names) {
  const std::string latin = "$(printf 'b\\344')";
  Refuses("run sgemm --out " + latin, "word 4 of the command: expected UTF-8");
  Refuses("run sgemm --client \"sgemm@$(printf 'a\\tb')\"", "got 'sgemm@a\\x09b'");
  std::filesystem::create_directory(Path("b\xe4"));
  Write("w.toml", TestFile().Text());
  Write("b\xe4/w.toml", TestFile().Text());
  const std::string inside = "env -C " + latin;
  Refuses("run w.toml --cycles 2k", "path of a file: expected UTF-8", inside);
  const Outcome above = Smk("run ../w.toml --cycles 2k --out ../out", inside);
  EXPECT_EQ(above.status, 0) << above.out << above.err;
  EXPECT_EQ(Smk("run --config out/config.toml").status, 0);
  std::ifstream in(std::string(SMK_SOURCE_DIR) + "/machines/mini.toml");
  std::string machine{std::istreambuf_iterator<char>(in), {}};
  const std::size_t name = machine.find("name = \"mini\"");
  ASSERT_NE(name, std::string::npos);
  Write("m.toml", machine.substr(0, name) + "name = \"a\\nb\"" + machine.substr(name + 13));
  Refuses("run sgemm --machine m.toml --cycles 2k", "m.toml: name: expected UTF-8");
  Write("m.toml", machine.substr(0, name) + R"(name = "a\"b\\,[x]")" + machine.substr(name + 13));
  Stats("sgemm --machine m.toml --cycles 2k");
  EXPECT_EQ(Fixed("--config stats/config.toml")["machine"], "a\"b\\,[x]");
  RefusesWorkload(
      [](TestFile* f) {
        f->name = R"(name = "a\u0007b")";
        f->launches = R"(launches = ["a\u0007b"])";
      },
      "w.toml: name of a kernel: expected UTF-8 without control characters");
  Write("s.toml", "name = \"a\\nb\"\nworkloads = 'sgemm'\n");
  Refuses("sweep s.toml --list", "s.toml:1: name: expected UTF-8");
}

TEST_F(BadInput, ThreadBlockLargerThanAnSm) {
  TestFile file;
  file.shared_memory = "shared_memory = 65536";
  Write("w.toml", file.Text());
  EXPECT_EQ(Smk("run w.toml --cycles 2k").status, 0) << "96 KB are there";
  Refuses("run w.toml --cycles 2k --set sm.limits.shared_memory=49152", "larger than an SM");
}

TEST_F(BadInput, OutputFolders) {
  Write("file", "");
  Refuses("run sgemm --cycles 20k --out file", "not a folder");
  Refuses("run sgemm --cycles 20k --out file/below", "--out");
  Refuses("run sgemm --cycles 20k --out /proc/nowhere", "--out");
  std::filesystem::create_directory(Path("other"));
  Write("other/thesis.tex", "");
  Refuses("run sgemm --cycles 20k --out other", "thesis.tex");
  Refuses("compare sgemm --cycles 20k --out other", "thesis.tex");
  Refuses("run sgemm --cycles 20k --timeline", "--out");
  Refuses("run sgemm --cycles 20k --force", "--out");
  Refuses("run sgemm --cycles 20k --out a --timeline-step 100", "--timeline");
  Refuses("run sgemm --cycles 20k --out a --timeline 5", "FROM:TO");
  Refuses("run sgemm --cycles 20k --out a --timeline 9:9", "--timeline");
  Refuses("run sgemm --cycles 20k --out a --timeline 20k:30k", "--timeline");
  Refuses("run sgemm --cycles 20k --out a --timeline --timeline-step 0", "--timeline-step");
  Refuses("run sgemm+lbm --cycles 20k --out a --timeline --policy isolated", "isolated");
}

TEST_F(BadInput, Configurations) {
  Refuses("run --config missing.toml", "missing.toml");
  Write("c.toml", "[run\n");
  Refuses("run --config c.toml", "c.toml:1");
  Write("c.toml", "[run]\ncylces = 5\n");
  Refuses("run --config c.toml", "c.toml:2: run.cylces: unknown key; the nearest is 'run.cycles'");
  Write("c.toml", "[run]\nkernels = [\"sgemm\"]\n[colours]\n");
  Refuses("run --config c.toml", "c.toml:3: colours");
  Write("c.toml", "[run]\nkernels = \"sgemm\"\n");
  Refuses("run --config c.toml", "run.kernels");
  Write("c.toml", "[run]\nkernels = [\"sgemm\"]\n[machine]\nsmss = 3\n");
  Refuses("run --config c.toml", "c.toml:4: machine.smss: unknown key");
}

// A value of a configuration is refused where it stands, one of the command line as an option.
TEST_F(BadInput, ConfigurationsSayWhereAValueStands) {
  const std::string run = "[run]\nkernels = [\"sgemm\"]\n";
  const std::vector<std::vector<std::string>> cases = {
      {run + "policy = \"smkk\"\n", "c.toml:3: run.policy: unknown policy 'smkk'", "--policy smkw",
       "--policy: unknown policy 'smkw'"},
      {run + "cycles = 0\n", "c.toml:3: run.cycles: expected", "--cycles x", "--cycles: expected"},
      {run + "machine = \"x\"\n", "c.toml:3: run.machine: expected one of", "--machine y",
       "smk: machine: expected one of"},
      {run + "warm_up = -1\n", "c.toml:3: run.warm_up: expected", "--set run.warm_up=x",
       "--set run.warm_up: expected"},
      {run + "[policy]\nepoch_length = 0\n", "c.toml:4: policy.epoch_length: expected",
       "--set policy.epoch_length=x", "--set policy.epoch_length: expected"},
      {run + "[control]\nlink_seed = \"\"\n", "c.toml:4: control.link_seed: expected a value",
       "--set control.link_seed=", "--set control.link_seed: expected a value"},
      {run + "[machine.sm]\nschedulers = 9\n", "c.toml:4: machine.sm.schedulers: expected",
       "--set sm.schedulers=x", "--set sm.schedulers: expected"},
      {"[run]\nkernels = [\"lbm\",\n \"x\"]\n", "c.toml:2: run.kernels: x: expected", "sgemm+y",
       "smk: y: expected"},
  };
  for (const auto& c : cases) {
    Write("c.toml", c[0]);
    Refuses("run --config c.toml", c[1]);
    Refuses("run --config c.toml " + c[2], c[3]);
  }
}

}  // namespace
}  // namespace smk
