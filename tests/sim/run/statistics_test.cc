// SPDX-License-Identifier: Apache-2.0
// Every counter is in the lists, and every list reaches what reads it.
#include "run/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/numbers.h"
#include "machine/statistics.h"
#include "run/result_io.h"
#include "sim/fake.h"

namespace smk::sim {
namespace {

// A result in which every counter has a value of its own, from `first` on.
RunResult Counted(std::uint64_t first) {
  RunResult result;
  result.kernels.resize(1);
  result.jobs.resize(1);
  result.kernels[0].name = "a";
  result.sms.resize(2);
  result.partitions.resize(2);
  for (const RunCounter& counter : RunCounters()) result.*counter.value = first++;
  for (const KernelCounter& counter : KernelCounters()) result.kernels[0].*counter.value = first++;
  for (std::uint64_t& cycles : result.kernels[0].stalls) cycles = first++;
  for (SmStats& sm : result.sms) {
    for (const SmCounter& counter : SmCounters()) sm.*counter.value = {first++};
    for (std::uint64_t& cycles : sm.scheduler_cycles) cycles = first++;
    for (std::uint64_t& cycles : sm.sim_stalls) cycles = first++;
  }
  return result;
}

// A member that the list does not name would be lost in files and databases.
TEST(Statistics, CountersAreAllInTheLists) {
  struct KernelMembers {
    std::string name;
    std::array<std::uint64_t, kNumStalls> stalls;
    Cycle last_tb_end;
  };
  EXPECT_EQ(sizeof(KernelStats),
            sizeof(KernelMembers) + KernelCounters().size() * sizeof(std::uint64_t));
  EXPECT_EQ(sizeof(SmStats), (kNumStalls + kNumSimStalls) * sizeof(std::uint64_t) +
                                 SmCounters().size() * sizeof(std::vector<std::uint64_t>));
  const RunResult result = Counted(1);
  std::set<std::uint64_t> values;
  for (const KernelCounter& counter : KernelCounters()) {
    EXPECT_TRUE(values.insert(result.kernels[0].*counter.value).second) << counter.name;
  }
}

TEST(Statistics, NamesAreUniqueAndSayWhatTheyMean) {
  for (const StatisticTable& table : StatisticTables()) {
    std::set<std::string> names;
    for (const Statistic& statistic : table.statistics) {
      EXPECT_TRUE(names.insert(statistic.name).second) << statistic.name;
      EXPECT_NE(statistic.meaning, "") << statistic.name;
    }
  }
}

TEST(Statistics, CountersSurviveBeingKept) {
  const RunResult result = Counted(100);
  const RunResult back = FromJson(ToJson(result));
  for (const RunCounter& c : RunCounters()) EXPECT_EQ(back.*c.value, result.*c.value) << c.name;
  for (const KernelCounter& c : KernelCounters()) {
    EXPECT_EQ(back.kernels[0].*c.value, result.kernels[0].*c.value) << c.name;
  }
  for (const SmCounter& c : SmCounters()) {
    EXPECT_EQ(back.sms[1].*c.value, result.sms[1].*c.value) << c.name;
  }
  EXPECT_EQ(back.sms[1].sim_stalls, result.sms[1].sim_stalls);
}

TEST(Statistics, BaselineRunsAreAddedUp) {
  const RunResult all = MergeBaseline({Counted(100), Counted(1000)});
  ASSERT_EQ(all.kernels.size(), 2u);
  for (const RunCounter& c : RunCounters()) {
    EXPECT_EQ(all.*c.value, Counted(100).*c.value + Counted(1000).*c.value) << c.name;
  }
  for (const SmCounter& c : SmCounters()) {
    EXPECT_EQ((all.sms[1].*c.value)[0], (Counted(100).sms[1].*c.value)[0]) << c.name;
    EXPECT_EQ((all.sms[1].*c.value)[1], (Counted(1000).sms[1].*c.value)[0]) << c.name;
  }
  for (unsigned i = 0; i < kNumSimStalls; ++i) {
    EXPECT_EQ(all.sms[1].sim_stalls[i],
              Counted(100).sms[1].sim_stalls[i] + Counted(1000).sms[1].sim_stalls[i])
        << kSimStalls[i].name;
  }
}

TEST(Statistics, AddCountersAddsThemAll) {
  KernelStats sum = Counted(100).kernels[0];
  AddCounters(Counted(1000).kernels[0], &sum);
  for (const KernelCounter& c : KernelCounters()) {
    EXPECT_EQ(sum.*c.value, Counted(100).kernels[0].*c.value + Counted(1000).kernels[0].*c.value)
        << c.name;
  }
}

// What a kernel slot counted since its job began; what is known of the job alone is not counted
// there.
TEST(Statistics, AddSinceAddsWhatSlotsCount) {
  KernelStats sum;
  AddSince(Counted(100).kernels[0], Counted(1000).kernels[0], &sum);
  for (const KernelCounter& c : KernelCounters()) {
    EXPECT_EQ(sum.*c.value, c.of_job ? 0u : 900u) << c.name;
  }
  for (const std::uint64_t cycles : sum.stalls) EXPECT_EQ(cycles, 900u);
}

// stats.json and kernels.csv of a run.
class WrittenStatistics : public testing::Test {
 protected:
  void SetUp() override {
    Options options;
    options.kernels = "a";
    experiment = Resolve(options, FakeBackend());
    results.experiment = &experiment;
    results.result = Counted(100);
    results.metrics = ComputeMetrics(results.result, {1.0});
  }
  Experiment experiment;
  Results results;
};

TEST_F(WrittenStatistics, HoldEveryCounter) {
  const nlohmann::ordered_json j = StatsJson(results);
  for (const KernelCounter& c : KernelCounters()) {
    EXPECT_EQ(j["kernels"][0][c.name], results.result.kernels[0].*c.value) << c.name;
  }
  for (const SmCounter& c : SmCounters()) {
    EXPECT_EQ(j["sms"][1][c.name][0], (results.result.sms[1].*c.value)[0]) << c.name;
  }
  EXPECT_EQ(j["dram"]["row_hits"], results.result.dram_row_hits);
  EXPECT_EQ(j["checks"], results.result.checks);
  EXPECT_FALSE(j.contains("lockstep")) << "one control plane";
}

TEST_F(WrittenStatistics, AreTheSameInCsv) {
  const nlohmann::ordered_json kernel = StatsJson(results)["kernels"][0];
  const std::vector<std::string> lines = Split(KernelsCsv(results), '\n');
  ASSERT_EQ(lines.size(), 3u);
  const std::vector<std::string> heads = Split(lines[0], ','), cells = Split(lines[1], ',');
  ASSERT_EQ(heads.size(), cells.size());
  for (const KernelCounter& c : KernelCounters()) {
    const auto at = std::find(heads.begin(), heads.end(), c.name);
    ASSERT_NE(at, heads.end()) << c.name;
    EXPECT_EQ(cells[static_cast<std::size_t>(at - heads.begin())], kernel[c.name].dump()) << c.name;
  }
  EXPECT_EQ(heads.size(), kernel.size() - 1 + kernel["stalls"].size());
}

}  // namespace
}  // namespace smk::sim
