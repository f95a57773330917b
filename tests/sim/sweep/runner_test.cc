// SPDX-License-Identifier: Apache-2.0
// What a sweep does with runs that fail, crash, are killed, or are in work elsewhere.
#include "sweep/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "base/error.h"
#include "sim/fake.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {
using testing::HasSubstr;

class SweepRunner : public ScratchTest {
 protected:
  void SetUp() override {
    ScratchTest::SetUp();
    backend.run = [this](const RunRequest& request, ControlKind, const ControlConfig&) {
      if (request.jobs.size() == 2) trouble(request);
      return FakeResult(request);
    };
  }
  // a alone, b alone and both together under each policy.
  SweepPlan Plan(const std::vector<SpecText>& policies = {{"smk", 1}}) const {
    SweepSpec spec;
    spec.name = "test";
    SpecExperiment experiment;
    experiment.name = "all";
    experiment.workloads = {{"a+b", 1}};
    experiment.policies = policies;
    experiment.cycles = {{"16000", 1}};
    spec.experiments = {experiment};
    return ExpandSweep(spec, backend);
  }
  SweepSummary Run(const SweepPlan& plan, bool retry = false, const std::string& name = "db") {
    SweepStore store(Path(name), {true, false});
    store.SetMembers(plan);
    std::vector<std::size_t> runs;
    for (std::size_t i = 0; i < plan.runs.size(); ++i) runs.push_back(i);
    return RunSweep(plan, runs, backend, &store, {2, retry, true});
  }
  std::string Text(const std::string& sql, const std::string& name = "db") const {
    Database database(Path(name), Database::Mode::kRead);
    return database.Text(sql);
  }
  // How often `trouble` was called, in any process.
  std::size_t Calls() const { return Exists("calls") ? Read("calls").size() : 0; }
  void CountCall() const {
    std::FILE* file = std::fopen(Path("calls").c_str(), "a");
    std::fputc('x', file);
    std::fclose(file);
  }

  Backend backend = FakeBackend();
  // Called in the child that simulates a+b.
  std::function<void(const RunRequest&)> trouble = [](const RunRequest&) {};
};

TEST_F(SweepRunner, StoresMeasuresAgainstIsolatedRuns) {
  const SweepSummary summary = Run(Plan());
  EXPECT_EQ(summary.runs, 3u);
  EXPECT_EQ(summary.made, 3u);
  EXPECT_EQ(Text("SELECT printf('%.3f %.3f %.3f', stp, antt, fairness) FROM results WHERE "
                 "kernels = 2"),
            "1.000 2.000 1.000");
  EXPECT_EQ(Text("SELECT group_concat(DISTINCT experiment || ':' || sweep) FROM members"),
            "all:test");
}

TEST_F(SweepRunner, MakesNoRunTwice) {
  trouble = [this](const RunRequest&) { CountCall(); };
  const SweepPlan plan = Plan({{"smk", 1}, {"even", 1}});
  EXPECT_EQ(Run(plan).made, 4u);
  const SweepSummary again = Run(plan);
  EXPECT_EQ(again.made, 0u);
  EXPECT_EQ(again.before, 4u);
  EXPECT_EQ(Calls(), 2u);
}

TEST_F(SweepRunner, RecordsWhyARunFailedAndWhatItSaid) {
  trouble = [](const RunRequest&) {
    std::fprintf(stderr, "about to fail\n");
    throw CheckFailure("cycle 7: a TB was lost");
  };
  const SweepSummary summary = Run(Plan());
  EXPECT_EQ(summary.made, 2u);
  EXPECT_EQ(summary.failed, 1u);
  EXPECT_THAT(summary.first_failure, HasSubstr("a TB was lost"));
  EXPECT_EQ(Text("SELECT error FROM runs WHERE status = 'failed'"), "cycle 7: a TB was lost");
  EXPECT_EQ(Text("SELECT stderr FROM runs WHERE status = 'failed'"), "about to fail\n");
  EXPECT_EQ(Text("SELECT COUNT(*) FROM results WHERE stp IS NULL"), "1");
}

// SQLite goes on writing into the file that it has open.
TEST_F(SweepRunner, SaysThatItsDatabaseWasRemovedOrReplaced) {
  const auto said = [this](const std::string& name) -> std::string {
    try {
      Run(Plan(), false, name);
    } catch (const DatabaseError& error) {
      return error.what();
    }
    return "";
  };
  const std::string gone = ": was removed or replaced while the sweep ran";
  trouble = [this](const RunRequest&) { std::remove(Path("one.db").c_str()); };
  EXPECT_EQ(said("one.db"), Path("one.db") + gone);
  trouble = [this](const RunRequest&) {
    std::remove(Path("two.db").c_str());
    Write("two.db", "another");
  };
  EXPECT_EQ(said("two.db"), Path("two.db") + gone);
  EXPECT_EQ(Read("two.db"), "another");
}

TEST_F(SweepRunner, RetriesFailedRunsOnlyWhenAsked) {
  trouble = [this](const RunRequest&) {
    CountCall();
    if (Calls() == 1) throw std::runtime_error("no luck");
  };
  EXPECT_EQ(Run(Plan()).failed, 1u);
  EXPECT_EQ(Run(Plan()).failed, 1u);
  EXPECT_EQ(Calls(), 1u);
  const SweepSummary retried = Run(Plan(), true);
  EXPECT_EQ(retried.failed, 0u);
  EXPECT_EQ(retried.made, 1u);
  EXPECT_EQ(Calls(), 2u);
  EXPECT_EQ(Text("SELECT status || attempts || error FROM runs WHERE policy = 'smk'"), "done2");
}

TEST_F(SweepRunner, ACrashIsAFailureWithItsSignal) {
  trouble = [](const RunRequest&) {
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
  };
  EXPECT_EQ(Run(Plan()).failed, 1u);
  EXPECT_THAT(Text("SELECT error FROM runs WHERE status = 'failed'"), HasSubstr("signal 11"));
  trouble = [](const RunRequest&) { _exit(3); };
  EXPECT_EQ(Run(Plan(), true).failed, 1u);
  EXPECT_THAT(Text("SELECT error FROM runs WHERE status = 'failed'"),
              HasSubstr("without a result"));
}

TEST_F(SweepRunner, AKilledRunIsMadeAgainAtMostTwice) {
  trouble = [this](const RunRequest&) {
    CountCall();
    if (Calls() < 3) kill(getpid(), SIGKILL);
  };
  EXPECT_EQ(Run(Plan()).failed, 0u);
  EXPECT_EQ(Calls(), 3u);
  trouble = [](const RunRequest&) { kill(getpid(), SIGKILL); };
  EXPECT_EQ(Run(Plan(), false, "other").failed, 1u);
  EXPECT_THAT(Text("SELECT error FROM runs WHERE status = 'failed'", "other"),
              HasSubstr("signal 9"));
}

TEST_F(SweepRunner, ClaimsHoldAsLongAsTheirProcess) {
  const SweepPlan plan = Plan();
  SweepStore store(Path("db"), {true, false});
  const std::string run = plan.runs[0].id;
  // Another process takes the run and says so; then it dies.
  int ready[2], done[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(done), 0);
  const pid_t other = fork();
  if (other == 0) {
    SweepStore theirs(Path("db"), {});
    const char granted = theirs.TryClaim(run, false) == Claim::kGranted ? 'g' : '-';
    char c = 0;
    if (write(ready[1], &granted, 1) == 1 && read(done[0], &c, 1) == 1) _exit(0);
    _exit(1);
  }
  char c = 0;
  ASSERT_EQ(read(ready[0], &c, 1), 1);
  EXPECT_EQ(c, 'g');
  EXPECT_EQ(store.TryClaim(run, false), Claim::kTaken);
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  EXPECT_EQ(store.TryClaim(run, false), Claim::kGranted);
  EXPECT_EQ(store.TryClaim(run, false), Claim::kGranted) << "ours already";
}

TEST_F(SweepRunner, MergeLosesNothingAndDoublesNothing) {
  const SweepPlan smk = Plan(), even = Plan({{"even", 1}});
  Run(smk, false, "one");
  trouble = [](const RunRequest&) { throw CheckFailure("bad luck"); };
  Run(smk, false, "two");
  Run(even, false, "two");
  SweepStore store(Path("all"), {true, false});
  SweepStore::Merged merged = store.Merge(Path("two"));
  EXPECT_EQ(merged.done, 2u);
  EXPECT_EQ(merged.failed, 2u);
  merged = store.Merge(Path("one"));
  EXPECT_EQ(merged.done, 1u) << "the failed run's result";
  EXPECT_EQ(merged.failed, 0u);
  EXPECT_TRUE(merged.conflicts.empty());
  merged = store.Merge(Path("two"));
  EXPECT_EQ(merged.done + merged.failed, 0u);
  for (const char* table : {"runs", "kernels", "sms", "stalls", "preemptions"}) {
    const std::string rows = std::string("SELECT COUNT(*) FROM ") + table + " WHERE run IN (" +
                             "SELECT run FROM runs WHERE status = 'done')";
    EXPECT_EQ(Text(rows, "all"), Text(rows, "one")) << table;
  }
  EXPECT_EQ(Text("SELECT group_concat(status) FROM (SELECT status FROM runs ORDER BY 1)", "all"),
            "done,done,done,failed");
}

TEST_F(SweepRunner, MergeSaysWhenResultsDiffer) {
  Run(Plan(), false, "one");
  backend.run = [](const RunRequest& request, ControlKind, const ControlConfig&) {
    return FakeResult(request, 16);
  };
  Run(Plan(), false, "two");
  SweepStore store(Path("one"), {});
  EXPECT_EQ(store.Merge(Path("two")).conflicts.size(), 3u);
  EXPECT_EQ(Text("SELECT SUM(warp_instructions) FROM runs WHERE mix = 'C'", "one"),
            std::to_string(2 * 16000 * 8))
      << "the first stays";
}

}  // namespace
}  // namespace smk::sim
