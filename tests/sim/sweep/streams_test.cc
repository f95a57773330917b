// SPDX-License-Identifier: Apache-2.0
// Streams of jobs in a sweep: what is run, under which ids, the tables, and what is refused.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>

#include "base/database.h"
#include "report/data.h"
#include "sim/fake.h"
#include "sim/refusal.h"
#include "sim/scratch.h"
#include "sweep/damage.h"
#include "sweep/plan.h"
#include "sweep/schema.h"
#include "sweep/store.h"

namespace smk::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kStream[] =
    "name = 'two'\nmachine = 'c2050'\nlaunches = 1\n[[job]]\nworkload = 'sgemm'\ntbs = 14\n"
    "[[job]]\nworkload = 'lbm'\narrival = 500\ntbs = 28\n[[job]]\nworkload = 'sgemm'\ntbs = 14\n";

class SweepStreams : public ScratchTest {
 protected:
  void SetUp() override {
    ScratchTest::SetUp();
    Write("two.toml", kStream);
  }

  SweepPlan Plan(const std::string& spec) const {
    return ExpandSweep(LoadSweepSpec(Write("s.toml", spec)), backend);
  }
  static std::vector<std::string> Runs(const SweepPlan& plan) {
    std::vector<std::string> runs;
    for (const SweepRun& run : plan.runs) {
      runs.push_back(run.is_isolated()
                         ? run.workload + " alone"
                         : fmt::format("{} {} {} {} {}", run.workload, run.stream->scheduler,
                                       run.stream->device, run.policy, *run.options.machine));
    }
    return runs;
  }
  std::string Said(const std::string& spec) const {
    const std::string said = Refusal([&] { Plan(spec); });
    EXPECT_THAT(said, StartsWith(Path("s.toml") + ":"));
    return said.substr(std::min(said.size(), Path("s.toml").size() + 1));
  }

  Backend backend = RememberingBackend(MakeBackend());
};

TEST_F(SweepStreams, AreTheProductOfSchedulersDevicesAndPolicies) {
  const SweepPlan plan = Plan(
      "streams = 'two.toml'\nschedulers = ['sequential', 'in-order']\n"
      "devices = ['cycle', 'replay']\npolicies = ['leftover', 'smk-p']\n");
  EXPECT_THAT(
      Runs(plan),
      ElementsAre("sgemm alone", "lbm alone", "two sequential cycle leftover c2050",
                  "two sequential cycle smk-p c2050", "sgemm alone", "lbm alone",
                  "two sequential replay leftover c2050", "two sequential replay smk-p c2050",
                  "two in-order cycle leftover c2050", "two in-order cycle smk-p c2050",
                  "two in-order replay leftover c2050", "two in-order replay smk-p c2050"))
      << "a job alone is replayed where the stream is";
  std::set<std::string> ids;
  for (const SweepRun& run : plan.runs) ids.insert(run.id);
  EXPECT_EQ(ids.size(), plan.runs.size());
  const SweepRun& run = plan.runs[2];
  EXPECT_THAT(run.isolated, ElementsAre(plan.runs[0].id, plan.runs[0].id, plan.runs[1].id));
  EXPECT_EQ(run.group, "C+M");
  EXPECT_THAT(run.settings, ElementsAre());
  EXPECT_EQ(RunCommandLine(run),
            "smk serve " + Path("two.toml") +
                " --scheduler sequential --device cycle --policy leftover --machine c2050 "
                "--control reference --cycles 1000000000 --seed 1");
}

TEST_F(SweepStreams, WhatIsNotSaidIsAsTheFileSays) {
  const SweepPlan plan = Plan("streams = 'two.toml'\n");
  EXPECT_THAT(Runs(plan),
              ElementsAre("sgemm alone", "lbm alone", "two in-order cycle leftover c2050"));
  Write("two.toml", std::string("scheduler = 'kernelet'\npolicy = 'even'\n") + kStream);
  EXPECT_THAT(Runs(Plan("streams = 'two.toml'\n")).back(), "two kernelet cycle even c2050");
  EXPECT_THAT(
      Runs(Plan("streams = 'two.toml'\nmachines = 'gtx980'\nschedulers = 'in-order'\n")).back(),
      "two in-order cycle even gtx980");
}

TEST_F(SweepStreams, IdsDependOnEveryJob) {
  const auto id = [&](const std::string& stream, const std::string& spec = "") {
    Write("two.toml", stream);
    return Plan("streams = 'two.toml'\n" + spec).runs.back().id;
  };
  const std::string usual = id(kStream);
  EXPECT_EQ(id(std::string("# other words\n") + kStream), usual);
  std::set<std::string> ids = {usual};
  const auto differs = [&](const std::string& other) {
    EXPECT_TRUE(ids.insert(other).second) << other;
  };
  const std::string text = kStream;
  differs(id(text + "copy_in = '4K'\n"));
  differs(id(text + "copy_out = '4K'\n"));
  differs(id(text + "client = 'mine'\n"));
  differs(id(text + "arrival = 7\n"));
  differs(id("overlap = false\n" + text));
  differs(id("scheduler = 'sequential'\n" + text));
  differs(id("policy = 'even'\n" + text));
  differs(id("seed = 2\n" + text));
  differs(id("device = 'replay'\n" + text));
  differs(id("device = 'replay'\nrate_cycles = 200000\n" + text));
  differs(id("set.host.copy_latency = 99\n" + text));
  differs(id(text, "[set]\nhost.copy_latency = [98]\n"));
}

TEST_F(SweepStreams, RefusesWhatMeansNothing) {
  EXPECT_THAT(Said("schedulers = 'in-order'\nworkloads = 'sgemm'\n"),
              StartsWith("1: schedulers: is of streams"));
  EXPECT_THAT(Said("workloads = 'sgemm'\nstreams = 'two.toml'\n"),
              StartsWith("1: workloads: expected workloads or streams, got both"));
  for (const char* key : {"kernels = 'sgemm'", "groups = 'C+M'", "until = 'work'", "count = 3",
                          "arrive = 'sgemm@5'", "repeat = false"}) {
    EXPECT_THAT(Said(std::string("streams = 'two.toml'\n") + key + "\n"),
                HasSubstr("is of workloads; expected none beside streams"))
        << key;
  }
  EXPECT_THAT(Said("streams = 'two.toml'\nschedulers = ['in-order', 'in-odrer']\n"),
              StartsWith("2: schedulers: "));
  EXPECT_THAT(Said("streams = 'two.toml'\n\ndevices = 'gpu'\n"), StartsWith("3: devices: "));
  EXPECT_THAT(Said("streams = 'two.toml'\npolicies = 'isolated'\n"), StartsWith("2: policies: "));
  EXPECT_THAT(Said("streams = 'gone.toml'\n"), StartsWith("1: streams: "));
  EXPECT_THAT(Said("streams = 'two.toml'\nschedulers = 'gemini'\n"), StartsWith("2: schedulers: "));
  EXPECT_THAT(Said("streams = 'two.toml'\nschedulers = 'kernel-merge'\ndevices = 'replay'\n"),
              StartsWith("3: devices: "));
  Write("scripts.toml", "[[client]]\nname = 'a'\n[[client.step]]\nhost_ms = 1\n");
  EXPECT_THAT(Said("streams = 'scripts.toml'\n"), HasSubstr("has clients with scripts"));
}

// A result as the cycle model would give it: jobs of 100, 200 and 300 cycles, a copy of 10.
RunResult ResultOf(const LoadedRun& loaded) {
  RunResult result;
  result.cycles = loaded.request.cycles;
  for (std::size_t i = 0; i < loaded.request.jobs.size(); ++i) {
    JobStats job;
    job.client = loaded.request.jobs[i].client;
    job.arrival = loaded.request.jobs[i].arrival;
    job.ready = job.start = job.arrival + 10;
    job.finish = job.arrival + 100 * (i + 1);
    result.jobs.push_back(job);
    KernelStats kernel;
    kernel.name = loaded.request.jobs[i].workload->name;
    kernel.cycles_present = job.finish - job.arrival;
    kernel.warp_instructions = 1000 + 500 * loaded.request.jobs.size();
    result.kernels.push_back(kernel);
  }
  result.copies = {1, 4096, 0, 10, 0, 5};
  return result;
}

TEST_F(SweepStreams, HaveTablesOfJobsAndTheirSums) {
  const SweepPlan plan = Plan("streams = 'two.toml'\n");
  {
    SweepStore store(Path("x.db"), {true, false});
    store.SetMembers(plan);
    for (const SweepRun& run : plan.runs) {
      const LoadedRun loaded = LoadRun(run, backend);
      store.StoreResult(run, loaded, ResultOf(loaded), "");
    }
  }
  Database database(Path("x.db"), Database::Mode::kWrite);
  EXPECT_EQ(database.Number("SELECT COUNT(*) FROM streams"), 1);
  EXPECT_EQ(database.Number("SELECT COUNT(*) FROM jobs"), 5) << "three, and two alone";
  EXPECT_EQ(database.Number("SELECT makespan FROM stream_results"), 800) << "from 0 to 500 + 300";
  Statement sums(database,
                 "SELECT jobs, finished, throughput, mean_turnaround, copy_overlap, scheduler FROM "
                 "stream_results");
  ASSERT_TRUE(sums.Step());
  EXPECT_EQ(sums.Number(0), 3);
  EXPECT_EQ(sums.Number(1), 3);
  EXPECT_DOUBLE_EQ(sums.Real(2), 3e6 / 800);
  EXPECT_DOUBLE_EQ(sums.Real(3), 200);
  EXPECT_DOUBLE_EQ(sums.Real(4), 0.5);
  EXPECT_EQ(sums.Text(5), "in-order");
  // Times are compared, and not instructions: 100 alone against 100, 200 and 300.
  Statement normalized(database,
                       "SELECT normalized_ipc FROM kernel_results WHERE run IN (SELECT run FROM "
                       "streams) ORDER BY slot");
  for (const double expected : {1.0, 0.5, 1.0 / 3}) {
    ASSERT_TRUE(normalized.Step());
    EXPECT_DOUBLE_EQ(normalized.Real(0), expected);
  }
}

TEST_F(SweepStreams, EveryCellOfTheirTablesIsSealed) {
  const SweepPlan plan = Plan("streams = 'two.toml'\n");
  SweepStore store(Path("x.db"), {true, false});
  const SweepRun& run = plan.runs.back();
  const LoadedRun loaded = LoadRun(run, backend);
  store.StoreResult(run, loaded, ResultOf(loaded), "");
  Database& database = store.database();
  EXPECT_THAT(DamagedRuns(&database), ElementsAre());
  std::size_t cells = 0;
  for (const char* table : {"streams", "jobs"}) {
    std::vector<std::string> columns;
    Statement names(database, fmt::format("SELECT name FROM pragma_table_info('{}')", table));
    while (names.Step()) columns.push_back(names.Text(0));
    for (const std::string& column : columns) {
      if (column == "run" || column == "slot") continue;
      ++cells;
      Transaction undone(database);
      database.Run(
          fmt::format("UPDATE {0} SET {1} = CASE WHEN typeof({1}) = 'text' THEN {1} || '.' "
                      "ELSE IFNULL({1}, 0) + 1 END",
                      table, column));
      EXPECT_THAT(DamagedRuns(&database), ElementsAre(run.id)) << table << "." << column;
    }
  }
  EXPECT_EQ(cells, 14u);
}

TEST_F(SweepStreams, AJobThatDidNotEndLeavesTheMakespanOpen) {
  const SweepPlan plan = Plan("streams = 'two.toml'\n");
  SweepStore store(Path("x.db"), {true, false});
  const SweepRun& run = plan.runs.back();
  const LoadedRun loaded = LoadRun(run, backend);
  RunResult result = ResultOf(loaded);
  result.jobs[1].finish = kNever;
  store.StoreResult(run, loaded, result, "");
  Statement row(store.database(), "SELECT makespan, throughput, finished FROM stream_results");
  ASSERT_TRUE(row.Step());
  EXPECT_TRUE(row.IsNull(0));
  EXPECT_TRUE(row.IsNull(1));
  EXPECT_EQ(row.Number(2), 2);
}

}  // namespace
}  // namespace smk::sim
