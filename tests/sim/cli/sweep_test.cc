// SPDX-License-Identifier: Apache-2.0
// smk sweep as a user calls it: results, resuming, exports, and what can be wrong with a database.
#include <future>
#include <random>
#include <set>

#include "base/database.h"
#include "sim/command.h"
#include "sweep/damage.h"
#include "sweep/store.h"

namespace smk {
namespace {

using nlohmann::ordered_json;

constexpr char kSpec[] =
    "name = 'tiny'\nkernels = ['lbm', 'sgemm', 'cutcp']\nworkloads = 'all-pairs'\n"
    "policies = ['spatial', 'smk-pw']\nmachines = 'mini'\ncycles = 5000\n";
constexpr std::size_t kRuns = 9;

class Sweep : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    Write("s.toml", kSpec);
  }
  Outcome Passes(const std::string& arguments) const {
    Outcome outcome = Smk("sweep " + arguments);
    EXPECT_EQ(outcome.status, 0) << arguments << '\n' << outcome.out << outcome.err;
    EXPECT_EQ(outcome.LastLine(), "PASS") << arguments;
    return outcome;
  }
  ordered_json Exported(const std::string& arguments) const {
    return ordered_json::parse(Smk("sweep --export json " + arguments).out);
  }
  // What must be the same however a sweep was made.
  ordered_json Fixed(const std::string& database) const {
    ordered_json runs = Exported("--out " + database)["runs"];
    for (ordered_json& run : runs) {
      for (const char* key : {"wall_seconds", "finished", "host", "attempts", "rows_sha256"})
        run.erase(key);
    }
    return runs;
  }
  std::string Text(const std::string& database, const std::string& sql) const {
    return sim::Database(Path(database), sim::Database::Mode::kRead).Text(sql);
  }
  void Refuses(const std::string& arguments, const std::string& part) const {
    const Outcome outcome = Smk("sweep " + arguments);
    EXPECT_EQ(outcome.status, 2) << arguments << '\n' << outcome.out << outcome.err;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_EQ(outcome.err.rfind("smk: ", 0), 0u) << arguments << '\n' << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << arguments << '\n' << outcome.err;
  }
};

// What equal work is comes from the isolated runs: from the database, or made again where it is
// not.
TEST_F(Sweep, RunsUntilEqualWork) {
  Write("w.toml",
        "workloads = 'lbm+sgemm'\npolicies = ['spatial', 'smk-pw']\ncycles = '4k'\n"
        "until = ['cycles', 'work']\n");
  ASSERT_EQ(Smk("sweep w.toml --out w.db --quiet").status, 0);
  const std::string list = Smk("sweep w.toml --out w.db --list").out;
  EXPECT_NE(list.find("6 runs, 2 of them isolated"), std::string::npos) << list;
  std::string ids;
  std::istringstream lines(list);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("run.until=work") != std::string::npos) ids += line.substr(0, 16) + "\n";
  }
  EXPECT_EQ(std::count(ids.begin(), ids.end(), '\n'), 2);
  Write("ids", ids);
  ASSERT_EQ(Smk("sweep w.toml --out alone.db --runs ids --quiet").status, 0);
  const Outcome merged = Smk("sweep --merge alone.db --out w.db");
  EXPECT_EQ(merged.status, 0) << "the same results: " << merged.out;
  const auto stats = Stats("lbm+sgemm --policy spatial --cycles 4k --until work");
  const std::string csv = Smk("sweep --out w.db --export csv").out;
  EXPECT_NE(csv.find("--set run.until=work"), std::string::npos);
  EXPECT_NE(csv.find(stats["kernels"][0]["ipc"].dump()), std::string::npos) << csv;
}

TEST_F(Sweep, HasTheNumbersOfCompare) {
  Passes("s.toml");
  ASSERT_EQ(Smk("compare lbm+sgemm --policies spatial,smk-pw --machine mini --cycles 5000 "
                "--out c")
                .status,
            0);
  const ordered_json compared = Json("c/compare.json");
  std::size_t found = 0;
  const ordered_json exported = Exported("--out tiny.db");
  for (const ordered_json& run : exported["runs"]) {
    for (const ordered_json& policy : compared["policies"]) {
      if (run["workload"] != "lbm+sgemm" || run["policy"] != policy["policy"]) continue;
      ++found;
      for (const char* key : {"stp", "antt", "fairness"}) {
        EXPECT_DOUBLE_EQ(run[key], policy[key]) << key;
      }
      EXPECT_EQ(
          run["preemptions"][0]["count"].get<int>() + run["preemptions"][1]["count"].get<int>(),
          policy["preemptions"]["count"].get<int>());
    }
  }
  EXPECT_EQ(found, 2u);
}

TEST_F(Sweep, EachRunsCommandRepeatsIt) {
  Write("one.toml",
        "workloads = 'lbm+sgemm'\npolicies = 'spatial'\npreempt = 'flush'\nmachines = 'mini'\n"
        "cycles = '6k'\nseeds = 3\narrive = 'sgemm@2k'\nrepeat = false\n[set]\n"
        "sm.l1.bytes = 32768\npolicy.epoch_length = 700\nrun.grid_divisor = 4\n");
  Passes("one.toml");
  const ordered_json run = Exported("--out one.db")["runs"].back();
  const std::string command = run["command"];
  ASSERT_EQ(command.rfind("smk run ", 0), 0u) << command;
  const ordered_json stats = Stats(command.substr(8));
  EXPECT_EQ(stats["stp"], run["stp"]) << command;
  for (std::size_t slot = 0; slot < 2; ++slot) {
    for (const char* key : {"warp_instructions", "tbs_completed", "l2_hits", "normalized_ipc"}) {
      EXPECT_EQ(stats["kernels"][slot][key], run["kernels"][slot][key]) << key << command;
    }
  }
}

TEST_F(Sweep, IsTheSameWithAnyNumberOfJobsAndShards) {
  EXPECT_EQ(Passes("s.toml --jobs 1 --out a.db").err, "") << "silent in a pipe";
  Passes("s.toml --jobs 3 --out b.db");
  EXPECT_EQ(Fixed("a.db"), Fixed("b.db"));
  for (const char* part : {"1", "2", "3"}) {
    Passes(std::string("s.toml --one-writer --shard ") + part + "/3 --out part" + part + ".db");
  }
  Passes("--merge part1.db part2.db part3.db --out c.db");
  EXPECT_EQ(Fixed("a.db"), Fixed("c.db"));
  EXPECT_EQ(Fixed("c.db").size(), kRuns);
}

TEST_F(Sweep, ContinuesWhatIsThere) {
  Passes("s.toml --shard 1/2");
  EXPECT_NE(Smk("sweep s.toml --list").out.find("done"), std::string::npos);
  const Outcome rest = Passes("s.toml");
  EXPECT_NE(rest.out.find("9 runs: 4 made"), std::string::npos) << rest.out;
  EXPECT_NE(Passes("s.toml").out.find("9 runs: 0 made"), std::string::npos);
  EXPECT_EQ(Passes("s.toml --quiet").out, "PASS\n");
}

TEST_F(Sweep, ShowsProgressAndTheTimeLeftOnATerminal) {
  if (std::system("command -v script >/dev/null") != 0) GTEST_SKIP() << "no program 'script'";
  const std::string command = "cd '" + folder.string() +
                              "' && script -qec \"'" SMK_BINARY
                              "' sweep s.toml --jobs 1\" /dev/null >terminal </dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const std::string terminal = Read("terminal");
  EXPECT_NE(terminal.find("0 of 9 runs"), std::string::npos) << terminal;
  EXPECT_NE(terminal.find("8 of 9 runs, "), std::string::npos) << terminal;
  EXPECT_NE(terminal.find(" runs/h, "), std::string::npos) << terminal;
  EXPECT_NE(terminal.find(" s left"), std::string::npos) << terminal;
}

TEST_F(Sweep, MakesListedRunsOnly) {
  const std::string list = Smk("sweep s.toml --list").out;
  std::istringstream lines(list);
  std::string second;
  for (int line = 0; line < 5; ++line) std::getline(lines, second);
  second.resize(16);
  Write("runs.txt", second + "\n");
  Passes("s.toml --runs runs.txt");
  EXPECT_EQ(Text("tiny.db", "SELECT group_concat(run) FROM runs"), second);
}

TEST_F(Sweep, SampleQueriesOfTheDocumentationRun) {
  Write("s.toml",
        "name = 'tiny'\nmachines = 'mini'\ncycles = 2000\n[[experiment]]\nname = 'pairs'\n"
        "workloads = 'cutcp+stencil'\npolicies = ['spatial', 'smk', 'smk-pw']\n");
  Passes("s.toml");
  std::ifstream in(std::string(SMK_SOURCE_DIR) + "/../docs/results.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  const std::string opens = "```sql\n";
  std::size_t queries = 0, with_rows = 0;
  sim::Database database(Path("tiny.db"), sim::Database::Mode::kRead);
  for (std::size_t at = page.find(opens); at != std::string::npos; at = page.find(opens, at)) {
    at += opens.size();
    const std::size_t end = page.find("```", at);
    ASSERT_NE(end, std::string::npos);
    for (std::size_t next; (next = page.find(';', at)) < end; at = next + 1, ++queries) {
      sim::Statement query(database, page.substr(at, next - at));
      with_rows += query.Step() ? 1 : 0;
    }
  }
  EXPECT_EQ(queries, 10u);
  EXPECT_EQ(with_rows, 6u) << "those about the pairs, and about kernels alone";
}

TEST_F(Sweep, EveryColumnIsDocumented) {
  Passes("s.toml --shard 1/9");
  std::ifstream in(std::string(SMK_SOURCE_DIR) + "/../docs/results.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  const std::string part = page.substr(page.find("## The database of a sweep"));
  sim::Database database(Path("tiny.db"), sim::Database::Mode::kRead);
  sim::Statement columns(database,
                         "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c "
                         "WHERE m.type IN ('table', 'view') AND c.name NOT IN (SELECT name FROM "
                         "pragma_table_info('settings') WHERE name <> 'run')");
  std::size_t count = 0;
  for (; columns.Step(); ++count) {
    for (const int i : {0, 1}) {
      EXPECT_NE(part.find("`" + columns.Text(i) + "`"), std::string::npos) << columns.Text(i);
    }
  }
  EXPECT_GT(count, 100u);
}

TEST_F(Sweep, TwoAtOnceShareTheWork) {
  Write("s.toml", std::string(kSpec) + "seeds = [1, 2, 3, 4]\n");
  const std::string sweep = "'" SMK_BINARY "' sweep s.toml --jobs 1 ";
  const std::string both = "cd '" + folder.string() + "' && { " + sweep + ">first 2>first.err & " +
                           sweep + ">second 2>second.err && wait $!; }";
  ASSERT_EQ(std::system(both.c_str()), 0) << Read("first.err") << Read("second.err");
  const auto made = [](const std::string& text) {
    return std::stoul(text.substr(text.find("runs: ") + 6));
  };
  EXPECT_EQ(made(Read("first")) + made(Read("second")), 4 * kRuns) << "none lost, none twice";
  EXPECT_EQ(Text("tiny.db", "SELECT COUNT(*) FROM runs WHERE status = 'done'"),
            std::to_string(4 * kRuns));
  EXPECT_EQ(Text("tiny.db", "SELECT COUNT(*) FROM claims"), "0");
  Passes("s.toml --out alone.db");
  EXPECT_EQ(Fixed("tiny.db"), Fixed("alone.db"));
}

// Each finds a file that the others are just making: nobody may take it for somebody else's, or
// give up because it is locked.
TEST_F(Sweep, ManyMakeOneDatabaseAtOnce) {
  constexpr int kRounds = 20;
  constexpr int kOpeners = 8;
  for (int round = 0; round < kRounds; ++round) {
    const std::string path = Path("new" + std::to_string(round) + ".db");
    std::vector<std::future<std::string>> openers;
    openers.reserve(kOpeners);
    for (int i = 0; i < kOpeners; ++i) {
      openers.push_back(std::async(std::launch::async, [&path]() -> std::string {
        try {
          sim::SweepStore store(path, {.create = true});
          return "";
        } catch (const std::exception& error) {
          return error.what();
        }
      }));
    }
    for (std::future<std::string>& opener : openers)
      EXPECT_EQ(opener.get(), "") << "round " << round;
  }
}

TEST_F(Sweep, ExportsRowsWithUnits) {
  Passes("s.toml");
  Write("half.toml", "name = 'half'\nworkloads = 'lbm'\nmachines = 'mini'\ncycles = 5000\n");
  Passes("half.toml --out tiny.db");
  const std::string csv = Smk("sweep --export csv --out tiny.db").out;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), static_cast<long>(kRuns + 2));
  std::istringstream in(csv);
  std::string line;
  std::set<long> columns;
  while (std::getline(in, line)) {
    bool quoted = false;  // a comma in quotes parts nothing
    columns.insert(std::count_if(line.begin(), line.end(), [&](char c) {
      quoted ^= c == '"';
      return c == ',' && !quoted;
    }));
  }
  EXPECT_EQ(columns.size(), 1u) << "every row has every column";
  EXPECT_EQ(Exported("half.toml --out tiny.db")["runs"].size(), 2u) << "only its own";
  const ordered_json run = Exported("--out tiny.db")["runs"].back();
  EXPECT_EQ(run["sms"].size(), 2 * 2u);
  EXPECT_EQ(run["stalls"].size(), 2u);
  std::uint64_t ours = 0, simulators = 0;
  for (const auto& [name, value] : run["stalls"][0].items()) {
    if (name == "sm") continue;
    const auto cycles = value.get<std::uint64_t>();
    const bool simulators_own = name.rfind("sim_", 0) == 0;
    if (!simulators_own) ours += cycles;
    if (simulators_own || name == "issued") simulators += cycles;
  }
  EXPECT_EQ(ours, 5000 * 4u) << "every cycle of every scheduler has one reason";
  EXPECT_EQ(simulators, 5000 * 4u) << "by the simulator's rule, too";
}

TEST_F(Sweep, KnowsResultsOfAnotherBuild) {
  Passes("s.toml");
  {
    sim::Database database(Path("tiny.db"), sim::Database::Mode::kWrite);
    database.Run("UPDATE runs SET executable_sha256 = 'x' WHERE mix = 'C'");
    for (const std::string& run : sim::DamagedRuns(&database)) {
      sim::Statement(database, "UPDATE runs SET rows_sha256 = ? WHERE run = ?")
          .With(sim::RowHash(&database).Of(run), run)
          .Run();
    }
  }
  EXPECT_NE(Passes("s.toml").err.find("note: 2 results"), std::string::npos);
}

TEST_F(Sweep, RefusesWhatCannotBe) {
  Refuses("", "no specification");
  Refuses("missing.toml", "missing.toml");
  Refuses("s.toml --jobs 0", "--jobs");
  Refuses("s.toml --experiment other", "no 'other'");
  Refuses("s.toml --export xml", "csv or json");
  Refuses("s.toml --export csv", "no such database");
  Refuses("--export csv", "--out");
  Refuses("s.toml --list --export csv", "one of");
  Refuses("--merge a.db", "--out");
  Refuses("--merge missing.db --out b.db", "missing.db: no such database");
  EXPECT_FALSE(Exists("b.db"));
  Passes("s.toml");
  Refuses("--merge tiny.db missing.db --out b.db", "missing.db: no such database");
  EXPECT_FALSE(Exists("b.db")) << "all or nothing";
  Refuses("s.toml --merge a.db --out b.db", "no SPEC");
  Refuses("s.toml --slurm --list", "one of");
  Refuses("s.toml --wait", "need --slurm");
  Refuses("s.toml --slurm --tasks 0", "--tasks");
  Refuses("s.toml --slurm --tasks 5%2%3", "N%RUNNING");
  Refuses("s.toml --runs missing.txt", "missing.txt");
  Write("runs.txt", "0123456789abcdef\n");
  Refuses("s.toml --runs runs.txt", "runs.txt:1: expected the id of a run");
}

TEST_F(Sweep, RefusesADatabaseThatIsNotItsOwn) {
  Passes("s.toml");
  {
    sim::Database newer(Path("tiny.db"), sim::Database::Mode::kWrite);
    newer.Run("PRAGMA user_version = 9");
  }
  const std::string newer = Read("tiny.db");
  for (const char* arguments : {"s.toml", "s.toml --list", "--export csv --out tiny.db",
                                "--merge tiny.db --out other.db"}) {
    Refuses(arguments, "schema is version 9");
  }
  EXPECT_EQ(Read("tiny.db"), newer) << "not touched";
  Write("text.db", "This is a text, and long enough to have a header of SQLite's size.\n" +
                       std::string(200, '.'));
  Refuses("s.toml --out text.db", "not a database");
  sim::Database(Path("theirs.db"), sim::Database::Mode::kCreate).Run("CREATE TABLE t (x)");
  Refuses("s.toml --out theirs.db", "expected a database of smk sweep");
  Refuses("s.toml --out /proc/nowhere.db", "/proc/nowhere.db");
  std::filesystem::create_directory(Path("folder"));
  Refuses("s.toml --out folder", "folder");
}

TEST_F(Sweep, NeedsNoFile) {
  const std::string words = "lbm --machine mini --cycles 5k --set policy.epoch_length=1000,4000 ";
  Passes(words + "--policies smk,smk-pw");
  const std::string list = Smk("sweep " + words + "--policies smk,smk-pw --list").out;
  EXPECT_EQ(list.rfind("5 runs, 1 of them isolated", 0), 0u) << list;
  sim::Database database(Path("lbm-policy.epoch_length.db"), sim::Database::Mode::kRead);
  sim::Statement rows(database,
                      "SELECT \"policy.epoch_length\", COUNT(*) FROM results WHERE policy <> "
                      "'isolated' GROUP BY 1");
  for (const int epoch : {1000, 4000}) {
    ASSERT_TRUE(rows.Step());
    EXPECT_EQ(rows.Number(0), epoch);
    EXPECT_EQ(rows.Number(1), 2);
  }
  EXPECT_FALSE(rows.Step());
  Refuses(words + "--policies smc", "--policies: ");
  Refuses(words + "--slurm", "write a specification");
}

// A disk that changes one bit: nobody shows another number for it, and a sweep makes it good.
TEST_F(Sweep, NoFlippedBitChangesANumber) {
  Passes("s.toml");
  const std::string good = Read("tiny.db");
  const std::string csv = Smk("sweep --export csv --out tiny.db").out;
  std::mt19937_64 random(7);
  std::size_t refused = 0, renewed = 0, named = 0;
  for (int i = 0; i < 100; ++i) {
    const std::size_t bit = random() % (8 * good.size());
    SCOPED_TRACE("bit " + std::to_string(bit));
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    Write("bad.db", bad);
    const Outcome exported = Smk("sweep --export csv --out bad.db");
    EXPECT_TRUE(exported.status == 2 || exported.out == csv) << exported.status << exported.err;
    if (exported.status == 0) continue;
    ++refused;
    EXPECT_EQ(exported.out, "");
    EXPECT_EQ(std::count(exported.err.begin(), exported.err.end(), '\n'), 1) << exported.err;
    EXPECT_EQ(Smk("report bad.db --out page.html").status, 2);
    EXPECT_EQ(Smk("sweep --merge bad.db --out other.db").status, 2);
    const Outcome again = Smk("sweep s.toml --out bad.db");
    if (again.status == 2) continue;  // no run, but the file
    ++renewed;
    named += again.err.find("is damaged and is made again") != std::string::npos ? 1 : 0;
    EXPECT_EQ(again.status, 0) << again.out << again.err;
    EXPECT_TRUE(Fixed("bad.db") == Fixed("tiny.db"))
        << nlohmann::ordered_json::diff(Fixed("tiny.db"), Fixed("bad.db"));
    std::filesystem::remove(Path("bad.db-wal"));
    std::filesystem::remove(Path("bad.db-shm"));
  }
  EXPECT_GT(named, 3u);
  EXPECT_GT(refused, 10u);
  EXPECT_GT(renewed, 5u);
}

// Runs a script in a name space where a file system can be mounted on `disk`.
class SweepDisk : public Sweep {
 protected:
  void SetUp() override {
    Sweep::SetUp();
    if (!CanMount()) GTEST_SKIP() << "cannot mount a small file system here";
  }
};

TEST_F(SweepDisk, FullDiskCorruptsNothing) {
  // Room for the tables and a few runs; then the disk grows and the sweep goes on.
  ASSERT_EQ(InNamespace("mount -t tmpfs -o size=220k none disk\nstatus=0\n"
                        "'" SMK_BINARY "' sweep s.toml --jobs 1 --out disk/a.db >out 2>err || "
                        "status=$?\n"
                        "cp disk/a.db* .\necho $status >status\n"
                        "mount -o remount,size=4m disk\n"
                        "'" SMK_BINARY "' sweep s.toml --out disk/a.db >out2 2>err2\n"
                        "cp disk/a.db full.db"),
            0)
      << Read("out") << Read("err");
  EXPECT_EQ(Read("status"), "1\n") << Read("out");
  EXPECT_EQ(Read("err"), "");
  EXPECT_EQ(Read("out").rfind("FAIL: disk/a.db: ", 0), 0u) << Read("out");
  EXPECT_EQ(Text("full.db", "PRAGMA integrity_check"), "ok");
  Passes("s.toml --out plain.db");
  EXPECT_EQ(Fixed("full.db"), Fixed("plain.db"));
}

TEST_F(SweepDisk, ReadOnlyFolderCanBeRead) {
  Passes("s.toml --out disk.db");
  ASSERT_EQ(Smk("run sgemm --cycles 2k --out one").status, 0);
  ASSERT_EQ(InNamespace("mount -t tmpfs none disk\ncp disk.db 'disk/a %?#.db'\ncp -r one disk\n"
                        "mount -o remount,ro disk\nexport db='disk/a %?#.db'\n"
                        "'" SMK_BINARY "' sweep --export csv --out \"$db\" >csv 2>err\n"
                        "'" SMK_BINARY "' sweep s.toml --list --out \"$db\" >list 2>>err\n"
                        "'" SMK_BINARY "' report \"$db\" --out db.html 2>>err\n"
                        "'" SMK_BINARY "' sweep --merge \"$db\" --out merged.db >out 2>>err\n"
                        "'" SMK_BINARY "' report disk/one --out one.html 2>>err\n"),
            0)
      << Read("err");
  EXPECT_EQ(Read("err"), "");
  EXPECT_EQ(Read("csv"), Smk("sweep --export csv --out disk.db").out);
  EXPECT_EQ(Read("list"), Smk("sweep s.toml --list --out disk.db").out);
  EXPECT_TRUE(Exists("db.html") && Exists("one.html"));
  EXPECT_TRUE(Fixed("merged.db") == Fixed("disk.db"));
}

// What a killed sweep has not yet put into the file is not left out in silence.
TEST_F(SweepDisk, ReadOnlyFolderWithResultsBesideTheDatabase) {
  Passes("s.toml --out disk.db");
  ASSERT_EQ(InNamespace("mount -t tmpfs none disk\ncp disk.db disk/a.db\necho x >disk/a.db-wal\n"
                        "mount -o remount,ro disk\nstatus=0\n"
                        "'" SMK_BINARY "' sweep --export csv --out disk/a.db >csv 2>err || "
                        "status=$?\ntest $status = 2"),
            0);
  EXPECT_EQ(Read("csv"), "");
  EXPECT_NE(Read("err").find("results are still in disk/a.db-wal"), std::string::npos)
      << Read("err");
}

TEST_F(SweepDisk, ReadOnlyFolderIsRefused) {
  Passes("s.toml --out disk.db");
  ASSERT_EQ(InNamespace("mount -t tmpfs none disk\ncp disk.db disk/old.db\n"
                        "mount -o remount,ro disk\nfor db in new old; do\n"
                        "status=0\n'" SMK_BINARY "' sweep s.toml --out disk/$db.db >>out 2>>err || "
                        "status=$?\ntest $status = 2\ndone"),
            0)
      << Read("out") << Read("err");
  EXPECT_EQ(Read("out"), "");
  const std::string err = Read("err");
  EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 2) << err;
  EXPECT_NE(err.find("smk: disk/new.db: unable to open"), std::string::npos) << err;
  EXPECT_NE(err.find("smk: disk/old.db: unable to open"), std::string::npos) << err;
}

}  // namespace
}  // namespace smk
