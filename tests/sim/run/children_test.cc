// SPDX-License-Identifier: Apache-2.0
// Simulations in child processes: results, every way to fail, what is left behind.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <iostream>
#include <thread>

#include "run/child_pool.h"
#include "run/tasks.h"
#include "sim/refusal.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

RunResult Numbered(std::uint64_t n) {
  RunResult result;
  result.cycles = n;
  return result;
}

RunResult ForEver() {
  while (true) pause();
}

// The end of one child that does this.
template <typename Run>
FinishedChild EndOf(const Run& run, bool keep_messages = true) {
  ChildPool pool(keep_messages);
  pool.Start(5, run);
  EXPECT_EQ(pool.running(), 1u);
  std::optional<FinishedChild> child = pool.Next(-1);
  EXPECT_EQ(pool.running(), 0u);
  EXPECT_EQ(child->index, 5u);
  return std::move(*child);
}

TEST(Children, AResultComesBackWhole) {
  const FinishedChild child = EndOf([] {
    RunResult result = Numbered(7);
    result.tbs.resize(100'000);  // more than a pipe holds
    result.tbs.back().end = 99;
    return result;
  });
  EXPECT_EQ(child.end, ChildEnd::kResult);
  EXPECT_EQ(child.result.cycles, 7u);
  ASSERT_EQ(child.result.tbs.size(), 100'000u);
  EXPECT_EQ(child.result.tbs.back().end, 99u);
  EXPECT_EQ(child.reason, "");
}

TEST(Children, ErrorsComeBackAsWhatTheyWere) {
  const FinishedChild input =
      EndOf([]() -> RunResult { throw InputError("w.toml:3: grid: expected 1 to 3 numbers"); });
  EXPECT_EQ(input.end, ChildEnd::kInputError);
  EXPECT_EQ(input.reason, "w.toml:3: grid: expected 1 to 3 numbers");
  const FinishedChild check = EndOf([]() -> RunResult { throw CheckFailure("cycle 7: no"); });
  EXPECT_EQ(check.end, ChildEnd::kCheckFailure);
  EXPECT_EQ(check.reason, "cycle 7: no");
  const FinishedChild other = EndOf([]() -> RunResult { throw std::runtime_error("disk"); });
  EXPECT_EQ(other.end, ChildEnd::kError);
  EXPECT_EQ(other.reason, "disk");
}

TEST(Children, ACrashIsAFailedCheckAndAKillIsNot) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE}) {
    const FinishedChild child = EndOf([signal]() -> RunResult {
      std::signal(signal, SIG_DFL);  // the sanitizers have a say of their own
      raise(signal);
      return {};
    });
    EXPECT_EQ(child.end, ChildEnd::kCheckFailure) << signal;
    EXPECT_THAT(child.reason,
                HasSubstr("the simulation was ended by signal " + std::to_string(signal) + " ("));
  }
  for (const int signal : {SIGKILL, SIGTERM, SIGINT, SIGHUP}) {
    EXPECT_EQ(EndOf([signal]() -> RunResult {
                std::signal(signal, SIG_DFL);
                raise(signal);
                return {};
              }).end,
              ChildEnd::kKilled)
        << signal;
  }
}

TEST(Children, WhoLeavesWithoutAWordHasFailed) {
  for (const int status : {0, 1, 3}) {
    const FinishedChild child = EndOf([status]() -> RunResult { _exit(status); });
    EXPECT_EQ(child.end, ChildEnd::kCheckFailure) << status;
    EXPECT_EQ(child.reason, "the simulation ended without a result");
  }
}

TEST(Children, WhatAChildSaysIsKeptWhenAskedFor) {
  const auto speaks = [] {
    std::cerr << "%Error: assertion failed\n" << std::string(10'000, '!');
    return Numbered(1);
  };
  const FinishedChild kept = EndOf(speaks);
  EXPECT_EQ(kept.messages, "%Error: assertion failed\n" + std::string(10'000, '!'));
  testing::internal::CaptureStderr();
  const FinishedChild passed = EndOf(speaks, false);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("%Error: assertion failed\n"));
  EXPECT_EQ(passed.messages, "");
}

TEST(Children, WaitingMayEndBeforeAnyChild) {
  ChildPool pool(true);
  pool.Start(0, ForEver);
  EXPECT_FALSE(pool.Next(0).has_value());
  EXPECT_FALSE(pool.Next(20).has_value());
  EXPECT_EQ(pool.running(), 1u);
}

TEST(Children, TheyDieWithTheirPool) {
  const auto start = std::chrono::steady_clock::now();
  {
    ChildPool pool(false);
    for (std::size_t i = 0; i < 4; ++i) pool.Start(i, ForEver);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "no child is left";
  EXPECT_EQ(errno, ECHILD);
}

TEST(Children, TheFirstToEndComesFirst) {
  ChildPool pool(true);
  pool.Start(0, ForEver);
  pool.Start(1, [] { return Numbered(1); });
  const std::optional<FinishedChild> first = pool.Next(-1);
  EXPECT_EQ(first->index, 1u);
  EXPECT_EQ(pool.running(), 1u);
}

TEST(TaskLists, ResultsComeInTheOrderOfTheTasks) {
  std::vector<Task> tasks;
  for (unsigned i = 0; i < 9; ++i) {
    tasks.push_back({"t", [i] {
                       usleep(1000 * (9 - i));
                       return Numbered(i);
                     }});
  }
  for (const unsigned jobs : {1u, 3u, 20u}) {
    std::vector<std::size_t> seen;
    const std::vector<RunResult> results =
        RunTasks(tasks, jobs, [&](std::size_t done) { seen.push_back(done); });
    ASSERT_EQ(results.size(), 9u);
    for (unsigned i = 0; i < 9; ++i) EXPECT_EQ(results[i].cycles, i);
    EXPECT_THAT(seen, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9));
  }
}

TEST(TaskLists, NothingToDoIsDone) {
  EXPECT_TRUE(RunTasks({}, 4, {}).empty());
  EXPECT_EQ(RunTasks({{"t", [] { return Numbered(3); }}}, 1, {})[0].cycles, 3u);
}

TEST(TaskLists, NeverMoreThanJobsAtATime) {
  const auto now = [] {
    return static_cast<Cycle>(std::chrono::steady_clock::now().time_since_epoch().count());
  };
  const Task task = {"t", [&] {
                       RunResult result;
                       result.cycles = now();  // begin and end of the task
                       usleep(50000);
                       result.checks = now();
                       return result;
                     }};
  const auto one = RunTasks({task, task, task}, 1, nullptr);
  EXPECT_LE(one[0].checks, one[1].cycles);
  EXPECT_LE(one[1].checks, one[2].cycles);
  const auto two = RunTasks({task, task, task}, 2, nullptr);
  EXPECT_LT(two[1].cycles, two[0].checks) << "the first two at the same time";
  EXPECT_GE(two[2].cycles, std::min(two[0].checks, two[1].checks));
}

TEST(TaskLists, TheFirstFailureEndsTheOthersAndNamesItsTask) {
  const auto failing = [](auto what) {
    return std::vector<Task>{{"slow", ForEver},
                             {"lbm alone", [what]() -> RunResult { throw what; }}};
  };
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(Refusal([&] { RunTasks(failing(InputError("lbm: no")), 2, {}); }), "lbm: no")
      << "an InputError says all by itself";
  try {
    RunTasks(failing(CheckFailure("cycle 7")), 2, {});
    FAIL();
  } catch (const CheckFailure& failure) {
    EXPECT_STREQ(failure.what(), "lbm alone: cycle 7");
  }
  try {
    RunTasks(failing(std::runtime_error("disk")), 2, {});
    FAIL();
  } catch (const CheckFailure&) {
    FAIL() << "it is no failed check";
  } catch (const std::runtime_error& failure) {
    EXPECT_STREQ(failure.what(), "lbm alone: disk");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST(TaskLists, AKilledChildIsAFailedCheck) {
  try {
    RunTasks({{"lbm",
               [] {
                 raise(SIGKILL);
                 return RunResult{};
               }}},
             1, {});
    FAIL();
  } catch (const CheckFailure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("lbm: the simulation was ended by signal 9"));
  }
}

}  // namespace
}  // namespace smk::sim
