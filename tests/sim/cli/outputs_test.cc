// SPDX-License-Identifier: Apache-2.0
// What a run writes: complete, equal for equal runs, documented, and never all zero.
#include <map>
#include <set>

#include "base/sha256.h"
#include "sim/command.h"

namespace smk {
namespace {

using nlohmann::ordered_json;

class Outputs : public CommandTest {};

// Calls `leaf` with the dotted name of each number; elements of arrays share the name "[]".
template <typename Leaf>
void Walk(const ordered_json& json, const std::string& name, const Leaf& leaf) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      std::string inner = name;
      if (!inner.empty()) inner += '.';
      inner += key;
      Walk(value, inner, leaf);
    }
  } else if (json.is_array()) {
    for (const auto& value : json) Walk(value, name + "[]", leaf);
  } else {
    leaf(name, json);
  }
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> Cells(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line + ",");
  for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
  return cells;
}

TEST_F(Outputs, PassIsTheLastLine) {
  const Outcome run = Smk("run sgemm+lbm --cycles 20k --out out --timeline");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.LastLine(), "PASS");
  EXPECT_EQ(run.err, "") << "quiet in a pipe";
  EXPECT_EQ(run.out.find('\033'), std::string::npos) << "no colours in a pipe";
  EXPECT_NE(run.out.find("STP"), std::string::npos);
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(Path("out"))) {
    files.insert(entry.path().filename());
  }
  EXPECT_EQ(files,
            (std::set<std::string>{"config.toml", "decisions.csv", "jobs.csv", "kernels.csv",
                                   "launches.csv", "manifest.json", "samples.csv", "stalls.csv",
                                   "stats.json", "tbs.csv", "timeline.json.gz"}));
}

// Samples add up to the instructions of the run, with a timeline and without; epochs are the steps
// without one, and nothing that is simulated changes.
TEST_F(Outputs, SamplesAddUpToTheRun) {
  const std::string run =
      "run lbm+sgemm --cycles 10500 --set policy.epoch_length=1000 --quiet --no-cache --out ";
  EXPECT_EQ(Smk(run + "plain").status, 0);
  EXPECT_EQ(Smk(run + "drawn --timeline --timeline-step 500").status, 0);
  for (const auto& [name, step] : {std::pair<const char*, int>{"plain", 1000}, {"drawn", 500}}) {
    std::map<std::string, std::uint64_t> sum;
    std::uint64_t rows = 0;
    for (const std::string& line : Lines(Read(std::string(name) + "/samples.csv"))) {
      const auto cells = Cells(line);
      if (cells[0] == "cycle") continue;
      ++rows;
      EXPECT_EQ(std::stoi(cells[1]), step) << line;
      EXPECT_EQ(std::stoi(cells[0]) % step, 0) << line;
      sum[cells[3]] += std::stoull(cells[5]);
    }
    const ordered_json stats = Json(std::string(name) + "/stats.json");
    EXPECT_EQ(rows, 16u * 2 * (10500 / step));
    for (const auto& kernel : stats["kernels"]) {
      const double issued = kernel["warp_instructions"];
      const double sampled = static_cast<double>(sum[kernel["slot"].dump()]);
      EXPECT_LE(sampled, issued);
      EXPECT_GE(sampled, step == 500 ? issued : 0.9 * issued) << "all but the last half epoch";
    }
  }
  EXPECT_EQ(Json("plain/stats.json")["kernels"], Json("drawn/stats.json")["kernels"]);
}

// However much --cycles allows, a stream that has ended has at least half of the steps, and with a
// step of its own at most 4000: nothing of what was issued is lost.
TEST_F(Outputs, SamplesAreOfTheRunNotOfItsLimit) {
  WriteTiny("tiny.toml");
  Write("s.toml", "machine = \"mini\"\n[[job]]\nworkload = \"./tiny.toml\"\ncount = 20\n");
  for (const char* more : {"--cycles 1G --timeline", "--cycles 50M --timeline",
                           "--cycles 1G --timeline --timeline-step 2"}) {
    ASSERT_EQ(Smk(std::string("serve s.toml --force --out o --quiet ") + more).status, 0) << more;
    const ordered_json stats = Json("o/stats.json");
    std::set<std::string> cycles;
    std::uint64_t issued = 0, last = 0;
    for (const std::string& line : Lines(Read("o/samples.csv"))) {
      const auto cells = Cells(line);
      if (cells[0] == "cycle") continue;
      cycles.insert(cells[0]);
      issued += std::stoull(cells[5]);
      last = std::max<std::uint64_t>(last, std::stoull(cells[0]));
    }
    const std::uint64_t run = stats["cycles"];
    ASSERT_GT(run, 60'000u) << "steps of 100 do not do";
    EXPECT_GE(cycles.size(), 500u) << more;
    EXPECT_LE(cycles.size(), 2000u + 100) << more;
    EXPECT_GE(last, run - run / 500) << "the last whole step";
    EXPECT_LE(issued, stats["warp_instructions"]) << more;
    EXPECT_GE(static_cast<double>(issued), 0.99 * stats["warp_instructions"].get<double>()) << more;
  }
}

TEST_F(Outputs, EqualRunsDifferInWallOnly) {
  const std::string arguments =
      "run lbm+spmv --cycles 20k --policy smk --timeline --no-cache --out ";
  EXPECT_EQ(Smk(arguments + "a").status, 0);
  EXPECT_EQ(Smk(arguments + "b --jobs 1").status, 0);
  for (const char* name : {"config.toml", "kernels.csv", "tbs.csv", "decisions.csv", "samples.csv",
                           "timeline.json.gz"}) {
    EXPECT_EQ(Read(std::string("a/") + name), Read(std::string("b/") + name)) << name;
  }
  ordered_json a = Json("a/stats.json"), b = Json("b/stats.json");
  EXPECT_TRUE(a.contains("wall"));
  a.erase("wall");
  b.erase("wall");
  EXPECT_EQ(a.dump(), b.dump());
}

// All of 80 SMs at one narrow port.
constexpr char kNarrow[] =
    "lbm --cycles 100k --policy leftover --machine v100 --set memory.xbar_bytes_per_cycle=8 "
    "--set memory.controllers=1 --set memory.l2_slices_per_controller=1";

TEST_F(Outputs, EachStatisticIsSomewhereNotZero) {
  WriteTiny("tiny.toml");
  std::map<std::string, bool> nonzero;
  for (const char* arguments :
       {"sgemm+lbm --cycles 40k --policy smk", "histo+tiny.toml --cycles 40k --policy smk-p",
        "lbm+sgemm --cycles 40k --policy spatial --preempt flush --arrive sgemm@10k",
        "sgemm+lbm --cycles 40k --arrive lbm@10k --set policy.epoch_length=1000",
        "tiny.toml --cycles 30k --policy isolated --no-repeat", "hot --cycles 20k",
        "sgemm --cycles 2k --until done --warm-up 100", "histo+sad --cycles 40k --policy smk",
        kNarrow}) {
    Walk(Stats(arguments), "", [&](const std::string& name, const ordered_json& value) {
      const bool there = !value.is_null() && value != 0 && value != "" && value != false;
      nonzero[name] = nonzero[name] || there;
    });
  }
  nonzero.erase("wall.isolated_from_cache[]");
  EXPECT_GT(nonzero.size(), 60u);
  for (const auto& [name, there] : nonzero) EXPECT_TRUE(there) << name << " is zero in all runs";
}

TEST_F(Outputs, EachNameIsInTheDocuments) {
  std::ifstream in(std::string(SMK_SOURCE_DIR) + "/../docs/results.md");
  std::ostringstream text;
  text << in.rdbuf();
  const std::string page = text.str();
  const auto documented = [&](const std::string& name, const std::string& where) {
    EXPECT_NE(page.find("`" + name + "`"), std::string::npos) << name << " of " << where;
  };
  ASSERT_EQ(Smk("run sgemm+lbm --cycles 10k --out out").status, 0);
  for (const char* file : {"stats.json", "manifest.json"}) {
    Walk(Json(std::string("out/") + file), "", [&](std::string name, const ordered_json&) {
      while (name.size() > 2 && name.substr(name.size() - 2) == "[]") name.resize(name.size() - 2);
      documented(name.substr(name.rfind('.') + 1), file);
    });
  }
  for (const char* file : {"kernels.csv", "stalls.csv", "jobs.csv", "launches.csv", "tbs.csv",
                           "decisions.csv", "samples.csv"}) {
    for (const std::string& column : Cells(Lines(Read(std::string("out/") + file))[0])) {
      if (column.rfind("stall_", 0) == 0 || column.rfind("share_", 0) == 0) continue;
      documented(column, file);
    }
  }
}

TEST_F(Outputs, TablesAgreeWithTheStatistics) {
  const ordered_json stats = Stats("lbm+sgemm --cycles 40k --policy smk-p --arrive sgemm@10k");
  const auto kernels = Lines(Read("stats/kernels.csv"));
  ASSERT_EQ(kernels.size(), 3u);
  const auto columns = Cells(kernels[0]);
  for (std::size_t k = 0; k < 2; ++k) {
    const auto cells = Cells(kernels[k + 1]);
    ASSERT_EQ(cells.size(), columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const bool stall = columns[i].rfind("stall_", 0) == 0;
      const ordered_json& want = stall ? stats["kernels"][k]["stalls"][columns[i].substr(6)]
                                       : stats["kernels"][k][columns[i]];
      if (want.is_number_float()) {
        EXPECT_EQ(std::stod(cells[i]), want.get<double>()) << columns[i];
      } else {
        EXPECT_EQ(cells[i], want.is_string() ? want.get<std::string>() : want.dump()) << columns[i];
      }
    }
  }
  std::map<std::string, unsigned> outcomes;
  const auto tbs = Lines(Read("stats/tbs.csv"));
  for (std::size_t i = 1; i < tbs.size(); ++i) ++outcomes[Cells(tbs[i])[9]];
  EXPECT_EQ(outcomes["completed"], stats["kernels"][0]["tbs_completed"].get<unsigned>() +
                                       stats["kernels"][1]["tbs_completed"].get<unsigned>());
  EXPECT_EQ(outcomes["saved"], stats["preemptions"]["count"].get<unsigned>());
  EXPECT_GT(outcomes["saved"], 0u);
}

// More programs than kernel slots: the rest waits, everything that is said of them is of the job.
TEST_F(Outputs, JobsWaitForAKernelSlot) {
  WriteTiny("tiny.toml");
  std::string kernels = "tiny.toml";
  for (unsigned i = 1; i < 6; ++i) kernels += "+tiny.toml";
  const Outcome shown = Smk("run " + kernels + " --cycles 60k --no-repeat --policy smk");
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_NE(shown.out.find("turnaround"), std::string::npos);
  const ordered_json stats = Stats(kernels +
                                   " --cycles 60k --no-repeat --policy smk --timeline "
                                   "--client tiny#1@x --client tiny#6@x");
  ASSERT_EQ(stats["jobs"].size(), 6u);
  ASSERT_EQ(stats["kernels"].size(), 6u);
  std::uint64_t first_end = ~std::uint64_t{0};
  for (unsigned i = 0; i < 6; ++i) {
    const ordered_json& job = stats["jobs"][i];
    EXPECT_EQ(job["executions"], 1);
    EXPECT_EQ(job["tbs_completed"], 64);
    EXPECT_EQ(job["turnaround"],
              job["finish"].get<std::uint64_t>() - job["arrival"].get<unsigned>());
    if (i < 4) {
      EXPECT_EQ(job["kernel_slot"], i);
      first_end = std::min(first_end, job["finish"].get<std::uint64_t>());
    } else {
      EXPECT_GE(job["start"].get<std::uint64_t>(), first_end);
    }
  }
  // The shared clients and those that have the name of their program.
  ASSERT_EQ(stats["clients"].size(), 2u);
  EXPECT_EQ(stats["clients"][0]["name"], "x");
  EXPECT_EQ(stats["clients"][0]["jobs"], 2);
  EXPECT_EQ(stats["clients"][1]["tbs_completed"], 4 * 64);
  EXPECT_EQ(Lines(Read("stats/jobs.csv")).size(), 7u);
  EXPECT_EQ(Lines(Read("stats/launches.csv")).size(), 7u);
  std::map<std::string, unsigned> completed;
  for (const std::string& line : Lines(Read("stats/tbs.csv"))) {
    if (Cells(line)[9] == "completed") ++completed[Cells(line)[0]];
  }
  ASSERT_EQ(completed.size(), 6u);
  for (const auto& job : completed) EXPECT_EQ(job.second, 64u) << "kernel " << job.first;
  EXPECT_EQ(Smk("report stats").status, 0);
  Stats(kernels + " --cycles 60k --policy isolated");
  EXPECT_EQ(Smk("report stats").status, 0);
}

TEST_F(Outputs, DecisionsHaveReasons) {
  Stats("lbm+sgemm --cycles 40k --policy smk --arrive sgemm@10k");
  std::map<std::string, unsigned> reasons;
  const auto decisions = Lines(Read("stats/decisions.csv"));
  std::uint64_t last = 0;
  for (std::size_t i = 1; i < decisions.size(); ++i) {
    const auto cells = Cells(decisions[i]);
    ASSERT_EQ(cells.size(), 10u) << decisions[i];
    EXPECT_EQ(cells[9], std::to_string(i - 1));
    EXPECT_GE(std::stoull(cells[0]), last);
    last = std::stoull(cells[0]);
    ++reasons[cells[1]];
    EXPECT_EQ(cells[1].find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), std::string::npos);
    EXPECT_EQ(cells[4].empty(), cells[1].rfind("dispatch-", 0) != 0) << decisions[i];
    EXPECT_EQ(cells[5].empty(), cells[1] != "preempt") << decisions[i];
  }
  EXPECT_GT(reasons["dispatch-new"], 0u);
  EXPECT_GT(reasons["preempt"], 0u);
}

TEST_F(Outputs, ManifestSaysWhatProducedIt) {
  ASSERT_EQ(Smk("run sgemm --cycles 10k --seed 5 --out out").status, 0);
  const ordered_json manifest = Json("out/manifest.json");
  EXPECT_EQ(manifest["status"], "PASS");
  EXPECT_EQ(manifest["seed"], 5);
  EXPECT_NE(manifest["command_line"].get<std::string>().find("run sgemm --cycles 10k --seed 5"),
            std::string::npos);
  ASSERT_EQ(manifest["inputs"].size(), 2u);
  for (const auto& input : manifest["inputs"]) {
    EXPECT_EQ(input["sha256"].get<std::string>().size(), 64u) << input.dump();
  }
}

TEST_F(Outputs, AFileThatIsNotAsItWasIsNoResult) {
  ASSERT_EQ(Smk("run sgemm --cycles 10k --out out").status, 0);
  ASSERT_EQ(Smk("compare sgemm --cycles 10k --policies smk --out both").status, 0);
  const ordered_json manifest = Json("out/manifest.json");
  ASSERT_EQ(manifest["outputs"].size(), 9u);
  for (const auto& output : manifest["outputs"]) {
    const std::string name = output["path"];
    EXPECT_EQ(output["sha256"], sim::HashFile(Path("out/" + name))) << name;
  }
  ASSERT_EQ(Smk("report out").status, 0);
  ASSERT_EQ(Smk("report both").status, 0);
  const std::string numbers[] = {"out/stats.json",    "out/config.toml",    "out/tbs.csv",
                                 "out/decisions.csv", "out/samples.csv",    "both/compare.json",
                                 "both/smk/tbs.csv",  "both/smk/stats.json"};
  for (const std::string& name : numbers) {
    const std::string good = Read(name);
    std::string bad = good;
    bad[bad.find_last_of("0123456789")] ^= 1;
    Write(name, bad);
    const Outcome outcome = Smk("report " + name.substr(0, name.find('/')));
    EXPECT_EQ(outcome.status, 2) << name;
    EXPECT_NE(outcome.err.find(name + ": is damaged"), std::string::npos) << outcome.err;
    Write(name, good);
  }
  EXPECT_EQ(Smk("report out").status, 0);
}

TEST_F(Outputs, ListsAreComplete) {
  const auto kernels = ordered_json::parse(Smk("list kernels --json").out);
  EXPECT_GE(kernels.size(), 10u);
  for (const auto& kernel : kernels) {
    const std::string name = kernel["name"];
    EXPECT_NE(Smk("list kernels").out.find(name), std::string::npos);
    EXPECT_GT(kernel["kernels"].size(), 0u) << name;
  }
  EXPECT_EQ(ordered_json::parse(Smk("list policies --json").out).size(), 12u);
  EXPECT_GE(ordered_json::parse(Smk("list machines --json").out).size(), 2u);
  const auto fermi = ordered_json::parse(Smk("list kernels --json --machine fermi").out);
  EXPECT_NE(fermi, kernels) << "occupancy is that of the machine";
  EXPECT_EQ(Smk("doctor").status, 0);
  EXPECT_EQ(Smk("doctor", "SMK_DATA_DIR=" + Path("none")).status, 1);
}

}  // namespace
}  // namespace smk
