// SPDX-License-Identifier: Apache-2.0
// Accel-Sim traces as a user meets them.
#include "sim/command.h"
#include "trace/rig.h"

namespace smk {
namespace {

namespace fs = std::filesystem;

class TraceCommand : public CommandTest {
 protected:
  // A folder with one kernel per stream given.
  void WriteTrace(const std::string& name, const std::vector<std::string>& streams = {"0"},
                  TraceText text = {}) const {
    fs::create_directories(Path(name));
    std::string list = "MemcpyHtoD,0x00007f3000000000,512\n";
    for (std::size_t i = 0; i < streams.size(); ++i) {
      text.Set("cuda stream id", streams[i]);
      const std::string file = "kernel-" + std::to_string(i + 1) + ".traceg";
      Write(fs::path(name) / file, text.Text());
      list.append(file).append("\n");
    }
    Write(name + "/kernelslist.g", list);
  }
  // Many TBs, each with a loop of loads and stores.
  static TraceText Longer() {
    TraceText text;
    text.Set("grid dim", "(64,1,1)");
    text.tbs = 64;
    for (auto& warp : text.warps) {
      const std::vector<std::string> body(warp.begin() + 1, warp.end() - 1);
      for (int i = 0; i < 10; ++i) warp.insert(warp.begin() + 1, body.begin(), body.end());
    }
    return text;
  }
  // Compact forms in the cache.
  std::size_t CacheFiles() const {
    std::error_code none;
    std::size_t files = 0;
    for (const auto& entry : fs::directory_iterator(Path("cache/traces"), none)) {
      files += entry.path().extension() == ".smktrace" ? 1 : 0;
    }
    return files;
  }
  void Refuses(const std::string& arguments, const std::string& part) const {
    const Outcome outcome = Smk(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments << '\n' << outcome.out << outcome.err;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_EQ(outcome.err.rfind("smk: ", 0), 0u) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << arguments << '\n' << outcome.err;
    EXPECT_EQ(CacheFiles(), 0u) << arguments;
  }
};

TEST_F(TraceCommand, InfoShowsWhatATraceHolds) {
  WriteTrace("t");
  const Outcome table = Smk("trace info t");
  EXPECT_EQ(table.status, 0) << table.err;
  for (const char* part :
       {"_Z4testPf", "2x1x1", "40x1x1", "load_global", "1 kernels in 1 streams"}) {
    EXPECT_NE(table.out.find(part), std::string::npos) << part << '\n' << table.out;
  }
  const auto j = nlohmann::json::parse(Smk("trace info t --json").out);
  const auto& kernel = j["kernels"][0];
  EXPECT_EQ(kernel["registers_per_thread"], 16);
  EXPECT_EQ(kernel["shared_memory"], 256);
  EXPECT_EQ(kernel["warp_instructions"], 30);
  EXPECT_EQ(kernel["thread_instructions"], 536);
  EXPECT_EQ(kernel["by_class"]["load_global"], 6);
  EXPECT_EQ(kernel["accesses"], 8);
  EXPECT_DOUBLE_EQ(kernel["lines_per_access"], 1.5);
  EXPECT_EQ(kernel["footprint_bytes"], 6 * 128);
  EXPECT_NE(Smk("trace info trace:t").out.find("which was there"), std::string::npos);
}

TEST_F(TraceCommand, RunsUnderEveryPolicyBesideAProgram) {
  WriteTrace("t", {"0"}, Longer());
  WriteTiny("tiny.toml");
  const Outcome outcome = Smk("compare trace:t+tiny.toml --cycles 20k --no-cache");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.LastLine(), "PASS");
  for (const char* policy : {"spatial --preempt switch", "table:2,2"}) {
    const auto stats = Stats(std::string("trace:t+tiny.toml --cycles 20k --policy ") + policy);
    EXPECT_GT(stats["kernels"][0]["tbs_completed"], 0) << policy;
    EXPECT_GT(stats["kernels"][1]["tbs_completed"], 0) << policy;
  }
}

// Traces are looked for beside the specification, as other files are.
TEST_F(TraceCommand, SweepsTakeTraces) {
  fs::create_directories(Path("sub"));
  WriteTrace("sub/t", {"0"}, Longer());
  WriteTiny("sub/tiny.toml");
  Write("sub/s.toml",
        "workloads = 'trace:t+tiny.toml'\npolicies = ['spatial', 'smk-pw']\ncycles = '10k'\n");
  const Outcome outcome = Smk("sweep sub/s.toml --out s.db --quiet");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  const std::string csv = Smk("sweep --out s.db --export csv").out;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 2 + 2) << "two alone, two together";
  EXPECT_NE(csv.find("t+tiny,"), std::string::npos) << csv;
  EXPECT_NE(csv.find("smk run trace:" + Path("sub/t") + "+"), std::string::npos) << csv;
  Write("sub/s.toml", "workloads = 'trace:nothing+tiny.toml'\ncycles = '10k'\n");
  const Outcome missing = Smk("sweep sub/s.toml --list");
  EXPECT_EQ(missing.status, 2);
  EXPECT_EQ(missing.err.rfind("smk: sub/s.toml:1: workloads: ", 0), 0u) << missing.err;
}

TEST_F(TraceCommand, IsExecutedAgainAsProgramsAre) {
  WriteTrace("t");
  EXPECT_GT(Stats("trace:t --cycles 200k --until cycles")["kernels"][0]["program_runs"], 1);
  EXPECT_GT(Stats("trace:t+sgemm --cycles 200k")["kernels"][0]["program_runs"], 1);
  const auto once = Stats("trace:t --cycles 200k");
  EXPECT_EQ(once["until"], "done") << "as usual when all kernels are traces";
  EXPECT_LT(once["cycles"], 10000);
  EXPECT_EQ(Json("stats/manifest.json")["inputs"][1]["content_hash"].get<std::string>().size(),
            16u);
  EXPECT_EQ(once["kernels"][0]["program_runs"], 1);
  EXPECT_EQ(once["kernels"][0]["warp_instructions"], 30);
  EXPECT_EQ(Stats("trace:t+trace:t --cycles 20k")["kernels"].size(), 2u);
}

TEST_F(TraceCommand, StreamsAreKernelsAndTheConfigurationRepeatsThem) {
  WriteTrace("t", {"7", "9", "7"}, Longer());
  const auto both = Fixed("trace:t --cycles 30k --policy smk --arrive t:2@500");
  ASSERT_EQ(both["kernels"].size(), 2u);
  EXPECT_EQ(both["kernels"][0]["name"], "t:1");
  EXPECT_EQ(both["kernels"][1]["arrival"], 500);
  Stats("trace:t --cycles 30k --policy smk --arrive t:2@500");
  fs::copy_file(Path("stats/config.toml"), Path("c.toml"));
  auto again = Fixed("--config c.toml");
  EXPECT_EQ(again, both);
  EXPECT_EQ(Stats("trace:t:2 --cycles 20k")["kernels"][0]["name"], "t:2");
  WriteTrace("five", {"1", "2", "3", "4", "5"});
  EXPECT_EQ(Stats("trace:five --cycles 20k")["kernels"].size(), 5u) << "more than kernel slots";
  EXPECT_NE(Smk("run trace:t:3 --cycles 20k").err.find("only 2 streams"), std::string::npos);
}

TEST_F(TraceCommand, NamesMayHoldPlusSigns) {
  WriteTrace("a+b", {"0"}, Longer());
  WriteTiny("tiny.toml");
  const auto stats = Fixed("trace:a++b+tiny.toml --cycles 20k");
  EXPECT_EQ(stats["kernels"][0]["name"], "a+b");
  EXPECT_EQ(stats["kernels"].size(), 2u);
  Write("c.toml", Read("stats/config.toml"));
  EXPECT_EQ(Fixed("--config c.toml"), stats);
  Write("s.toml", "workloads = 'trace:a++b+tiny.toml'\npolicies = 'smk'\ncycles = '10k'\n");
  EXPECT_EQ(Smk("sweep s.toml --out s.db --quiet").status, 0);
  EXPECT_NE(Smk("sweep --out s.db --export csv").out.find("trace:" + Path("a++b") + "+"),
            std::string::npos)
      << "the command of the run";
  Write("expected.csv", "trace,accelsim_cycles\na+b,1000\n");
  EXPECT_EQ(Smk("validate .").status, 0);
}

TEST_F(TraceCommand, VerifyReadsWhatIsKnown) {
  WriteTrace("t");
  usleep(150'000);
  EXPECT_EQ(Smk("run trace:t --quiet").status, 0);
  const auto hash = [&](const std::string& options) {
    Stats("trace:t " + options);
    return Json("stats/manifest.json")["inputs"][1]["content_hash"];
  };
  const auto first = hash("");
  EXPECT_EQ(hash("--verify"), first);
  EXPECT_EQ(Smk("trace info t --verify").status, 0);
  std::size_t hints = 0;
  for (const auto& entry : fs::directory_iterator(Path("cache/traces"))) {
    hints += entry.path().extension() == ".stamp" ? 1 : 0;
  }
  EXPECT_EQ(hints, 1u);
}

TEST_F(TraceCommand, ExportRefusesWhatRunCannotRead) {
  TestFile file;
  file.name = "name = \"k\\n-nregs = 999\"";
  file.launches = "launches = [\"k\\n-nregs = 999\"]";
  Write("bad.toml", file.Text());
  const Outcome outcome = Smk("trace export bad.toml --out bad");
  EXPECT_EQ(outcome.status, 2) << outcome.out << outcome.err;
  EXPECT_NE(outcome.err.find("without control characters"), std::string::npos) << outcome.err;
  EXPECT_FALSE(Exists("bad/kernelslist.g"));
  EXPECT_FALSE(Exists("bad/kernel-1.traceg"));
}

TEST_F(TraceCommand, UnknownOpcodesGiveOneLine) {
  WriteTrace("t", {"0"},
             TraceText::OneWarp({"0008 ffffffff 1 R0 FROB 0 0 0", "0010 ffffffff 0 EXIT 0 0 0"}));
  Refuses("run trace:t --cycles 20k --strict", "kernel-1.traceg:23: FROB: expected an opcode");
  const Outcome outcome = Smk("run trace:t --cycles 20k");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.err.find("1 warp instructions of 1 unknown opcodes (FROB) are run as alu"),
            std::string::npos);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

TEST_F(TraceCommand, BadTracesAreRefused) {
  Refuses("run trace:missing --cycles 20k", "missing: expected a folder with a kernelslist.g");
  Refuses("run trace: --cycles 20k", "trace:FOLDER");
  Refuses("trace info missing", "missing: expected a folder");
  Refuses("trace", "subcommand");
  TraceText text;
  text.Set("nregs", "21955");
  WriteTrace("t", {"0"}, text);
  Refuses("run trace:t --cycles 20k",
          "t/kernel-1.traceg:6: nregs: expected a number from 1 to 255");
  Refuses("trace info t", "t/kernel-1.traceg:6: nregs");
  text = {};
  text.Set("shmem", "200000");
  WriteTrace("t", {"0"}, text);
  const Outcome outcome = Smk("run trace:t --cycles 20k");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("larger than an SM"), std::string::npos) << outcome.err;
}

TEST_F(TraceCommand, ADamagedCacheIsRemoved) {
  WriteTrace("t");
  EXPECT_EQ(Smk("run trace:t --cycles 2k").status, 0);
  for (const auto& entry : fs::directory_iterator(Path("cache/traces"))) {
    fs::resize_file(entry.path(), fs::file_size(entry.path()) - 8);
  }
  Refuses("run trace:t --cycles 2k", "trace cache: expected a whole file");
  EXPECT_EQ(Smk("run trace:t --cycles 2k").status, 0);
}

TEST_F(TraceCommand, ExportWritesWhatInfoReads) {
  const Outcome outcome = Smk("trace export histo --tbs 2 --max-instructions 300 --out h");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.LastLine(), "PASS");
  const auto j = nlohmann::json::parse(Smk("trace info h --strict --json").out);
  EXPECT_EQ(j["kernels"].size(), 4u) << "each kernel once";
  for (const auto& kernel : j["kernels"]) {
    EXPECT_EQ(kernel["binary_version"], 61);
    EXPECT_EQ(kernel["tbs"], 2);
  }
  EXPECT_EQ(j["kernels"][0]["kernel"], "histo_prescan_kernel");
  EXPECT_NE(Smk("trace export histo --tbs 2 --out h").err.find("--force"), std::string::npos);
  EXPECT_EQ(Smk("trace export spmv --launches 2 --tbs 1 --out h --force").status, 0);
  EXPECT_EQ(Smk("trace export spmv --tbs 1").status, 2);
  EXPECT_EQ(Smk("trace export spmv --tbs 0 --out g").status, 2);
  EXPECT_EQ(Smk("trace export nothing --tbs 1 --out g").status, 2);
  EXPECT_EQ(Smk("trace export spmv --tbs 1 --out /proc/nowhere").status, 2);
}

}  // namespace
}  // namespace smk
