// SPDX-License-Identifier: Apache-2.0
// The logs of a run as the page draws them: against counting by hand, and with damage.
#include <gmock/gmock.h>

#include <cmath>

#include "report/data.h"
#include "sim/refusal.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kTbs[] = "kernel,name,launch,tb,sm,tb_slot,start_cycle,end_cycle,restored,outcome\n";
constexpr char kDecisions[] = "cycle,reason,kernel,sm,tb,victim,victim_tbs,share_0,share_1\n";
constexpr char kSamples[] = "cycle,length,sm,kernel,warp_instructions,resident_tbs,quota\n";

// The header with another name for one of its columns.
std::string Without(const std::string& header, const std::string& name) {
  const std::string all = "," + header;
  const std::size_t at = all.find_first_of(",\n", all.find("," + name) + 1);
  return all.substr(1, at - 1) + "_" + all.substr(at);
}
std::string NoColumn(const std::string& path, const std::string& name) {
  return path + ":1: no column '" + name + "'";
}

class ReportLogs : public ScratchTest {
 protected:
  ordered_json Residency(const std::string& rows, const RunShape& shape) const {
    return ReadResidency(Write("tbs.csv", kTbs + rows), shape);
  }
  ordered_json Preemptions(const std::string& rows, const RunShape& shape = {1000, 2, 2}) const {
    return ReadPreemptions(Write("tbs.csv", kTbs + rows), shape);
  }
  ordered_json Decisions(const std::string& rows, const RunShape& shape = {1000, 2, 2}) const {
    return ReadDecisions(Write("d.csv", kDecisions + rows), shape);
  }
  ordered_json Samples(const std::string& rows) const {
    return ReadSamples(Write("s.csv", kSamples + rows), {1000, 2, 2});
  }
};

TEST_F(ReportLogs, AShortRunHasAStepForEachCycle) {
  const ordered_json j = Residency("0,a,1,0,0,0,1,3,0,completed\n", {4, 1, 1});
  EXPECT_EQ(j["step"], 1);
  EXPECT_EQ(j["steps"], 4);
  EXPECT_EQ(j["hundredths"], ordered_json({0, 100, 100, 0}));
}

TEST_F(ReportLogs, ALongRunHasAtMostTwoHundredSteps) {
  for (const std::uint64_t cycles : {199u, 200u, 201u, 399u, 400u, 401u, 2'000'000u, 2'000'001u}) {
    const ordered_json j = Residency("", {cycles, 1, 1});
    const std::uint64_t step = j["step"], steps = j["steps"];
    EXPECT_LE(steps, kReportSteps) << cycles;
    EXPECT_GE(step * steps, cycles) << "all of it";
    EXPECT_LT(step * (steps - 1), cycles) << "and no step behind it";
    EXPECT_EQ(j["hundredths"].size(), steps);
  }
}

TEST_F(ReportLogs, TheLastStepIsAMeanOfItsOwnCycles) {
  // 401 cycles: steps of 3, the last of 2.
  const ordered_json j = Residency("0,a,1,0,0,0,400,401,0,running\n", {401, 1, 1});
  EXPECT_EQ(j["step"], 3);
  EXPECT_EQ(j["hundredths"].back(), 50);
}

TEST_F(ReportLogs, WhatStaysLongerThanTheRunCountsToItsEnd) {
  const ordered_json j = Residency("0,a,1,0,0,0,2,9999,0,running\n", {4, 1, 1});
  EXPECT_EQ(j["hundredths"], ordered_json({0, 0, 100, 100}));
}

TEST_F(ReportLogs, ResidencyEqualsCountingCycleByCycle) {
  Chance chance;
  for (int round = 0; round < 20; ++round) {
    const RunShape shape{1 + chance.Below(900), 1 + chance.Below(3), 1 + chance.Below(3)};
    std::vector<std::vector<unsigned>> resident(shape.sms * shape.kernels,
                                                std::vector<unsigned>(shape.cycles));
    std::string rows;
    for (std::uint64_t n = chance.Below(40); n > 0; --n) {
      const std::uint64_t kernel = chance.Below(shape.kernels), sm = chance.Below(shape.sms);
      const std::uint64_t start = chance.Below(shape.cycles), end = start + chance.Below(300);
      for (std::uint64_t c = start; c < std::min(end, shape.cycles); ++c) {
        ++resident[sm * shape.kernels + kernel][c];
      }
      rows += std::to_string(kernel) + ",a,1,0," + std::to_string(sm) + ",0," +
              std::to_string(start) + "," + std::to_string(end) + ",0,completed\n";
    }
    const ordered_json j = Residency(rows, shape);
    const std::uint64_t step = j["step"], steps = j["steps"];
    std::size_t at = 0;
    for (const std::vector<unsigned>& cycles : resident) {
      for (std::uint64_t i = 0; i < steps; ++i, ++at) {
        const std::uint64_t end = std::min((i + 1) * step, shape.cycles);
        double sum = 0;
        for (std::uint64_t c = i * step; c < end; ++c) sum += cycles[c];
        ASSERT_EQ(j["hundredths"][at], std::lround(100 * sum / static_cast<double>(end - i * step)))
            << "round " << round;
      }
    }
    EXPECT_EQ(j["hundredths"].size(), at);
  }
}

TEST_F(ReportLogs, NoPreemptionsAreAnEmptyLog) {
  const ordered_json j =
      Preemptions("0,a,1,7,0,0,0,10,0,completed\n0,a,1,8,0,0,10,1000,0,running\n");
  EXPECT_EQ(j["total"], 0);
  EXPECT_EQ(j["back"].size(), 0u);
}

TEST_F(ReportLogs, ATbComesBackToItsOwnLaunchOnly) {
  const ordered_json j = Preemptions(
      "0,a,1,7,0,0,0,10,0,saved\n"
      "1,b,1,7,0,0,20,30,0,completed\n"
      "0,a,2,7,0,0,40,50,0,completed\n"
      "0,a,1,7,1,0,60,70,1,completed\n");
  EXPECT_EQ(j["total"], 1);
  EXPECT_EQ(j["back"], ordered_json({60}));
  EXPECT_EQ(j["back_sm"], ordered_json({1}));
}

TEST_F(ReportLogs, ATbMayLeaveManyTimes) {
  const ordered_json j = Preemptions(
      "0,a,1,7,0,3,0,10,0,saved\n0,a,1,7,1,4,10,20,1,flushed\n0,a,1,7,0,5,25,30,0,saved\n");
  EXPECT_EQ(j["slot"], ordered_json({3, 4, 5}));
  EXPECT_EQ(j["flushed"], ordered_json({0, 1, 0}));
  EXPECT_EQ(j["back"], ordered_json({10, 25, nullptr}));
}

TEST_F(ReportLogs, OfAVeryLongLogTheFirstRowsAreKeptAndAllAreCounted) {
  std::string rows;
  const std::size_t many = kReportLogRows + 5;
  for (std::size_t i = 0; i < many; ++i) {
    rows += "0,a,1," + std::to_string(i) + ",0,0,0," + std::to_string(i) + ",0,saved\n";
  }
  rows += "0,a,1,0,1,0,500000,500001,1,completed\n";
  rows += "0,a,1," + std::to_string(many - 1) + ",1,0,600000,600001,1,completed\n";
  const ordered_json j = Preemptions(rows, {1'000'000, 1, 2});
  EXPECT_EQ(j["total"], many);
  EXPECT_EQ(j["end"].size(), kReportLogRows);
  EXPECT_EQ(j["back"][0], 500000);
  EXPECT_TRUE(j["back"].back().is_null()) << "the row that came back was left out";
}

TEST_F(ReportLogs, RefusalsOfOneKindInARowAreOne) {
  const ordered_json j = Decisions(
      "1,no-room,0,0,,,,5,6\n"
      "3,no-room,0,1,,,,7,8\n"      // the same again
      "4,no-room,1,1,,,,7,8\n"      // another kernel
      "5,no-room,0,1,,,,7,8\n"      // interrupted
      "6,preempt,0,1,,1,2,7,8\n"    // does something
      "7,preempt,0,1,,1,2,7,8\n");  // and again
  EXPECT_EQ(j["log"]["cycle"], ordered_json({1, 4, 5, 6, 7}));
  EXPECT_EQ(j["log"]["last"], ordered_json({3, 4, 5, 6, 7}));
  EXPECT_EQ(j["log"]["times"], ordered_json({2, 1, 1, 1, 1}));
  EXPECT_EQ(j["log"]["victim"], ordered_json({nullptr, nullptr, nullptr, 1, 1}));
  EXPECT_EQ(j["log"]["victim_tbs"], ordered_json({nullptr, nullptr, nullptr, 2, 2}));
  EXPECT_EQ(j["log"]["shares"][0], ordered_json({5, 6})) << "of the first of them";
  EXPECT_EQ(j["log"]["total"], 5);
}

TEST_F(ReportLogs, DecisionsAreCountedByReasonKernelAndStep) {
  const ordered_json j =
      Decisions("0,a,0,0,1,,,0,0\n9,a,1,0,1,,,0,0\n10,b,1,0,1,,,0,0\n", {20, 2, 1});
  EXPECT_EQ(j["reasons"], ordered_json({"a", "b"}));
  EXPECT_EQ(j["steps"], 20);
  EXPECT_EQ(j["counts"][0][0], 1);
  EXPECT_EQ(j["counts"][0][20 + 9], 1);
  EXPECT_EQ(j["counts"][1][20 + 10], 1);
}

TEST_F(ReportLogs, ADecisionAfterTheEndOfTheRunIsRefused) {
  EXPECT_EQ(Decisions("19,a,0,0,1,,,0,0\n", {20, 2, 1})["counts"][0][19], 1);
  for (const std::uint64_t cycles : {0u, 19u}) {
    EXPECT_EQ(Refusal([&] {
                Decisions("19,a,0,0,1,,,0,0\n", {cycles, 2, 1});
              }),
              Path("d.csv") + ":2: cycle: expected a number below " + std::to_string(cycles) +
                  ", got 19");
  }
}

TEST_F(ReportLogs, EachKernelNeedsItsShare) {
  EXPECT_EQ(Refusal([&] {
              ReadDecisions(Write("d.csv", kDecisions), {10, 3, 1});
            }),
            Path("d.csv") + ":1: no column 'share_2'");
}

TEST_F(ReportLogs, SamplesAreColumns) {
  const ordered_json j = Samples("100,100,0,1,50,2,600\n200,100,1,0,60,3,700\n");
  EXPECT_EQ(j["cycle"], ordered_json({100, 200}));
  EXPECT_EQ(j["kernel"], ordered_json({1, 0}));
  EXPECT_EQ(j["quota"], ordered_json({600, 700}));
  EXPECT_EQ(j.size(), 7u);
  EXPECT_EQ(Samples("")["cycle"].size(), 0u);
}

TEST_F(ReportLogs, NumbersOutOfRangeAreToldByColumn) {
  EXPECT_THAT(Refusal([&] { Samples("1,1,2,0,0,0,0\n"); }),
              HasSubstr("s.csv:2: sm: expected a number below 2, got 2"));
  EXPECT_THAT(Refusal([&] { Samples("1,1,0,7,0,0,0\n"); }),
              HasSubstr("s.csv:2: kernel: expected a number below 2, got 7"));
  EXPECT_THAT(Refusal([&] { Samples("1,1,0,0,x,0,0\n"); }),
              HasSubstr("s.csv:2: warp_instructions: expected a whole number, got 'x'"));
  EXPECT_THAT(Refusal([&] { Preemptions("2,a,1,7,0,0,0,10,0,saved\n"); }),
              HasSubstr("tbs.csv:2: kernel: expected a number below 2, got 2"));
  EXPECT_THAT(Refusal([&] { Decisions("1,a,9,0,,,,0,0\n"); }),
              HasSubstr("d.csv:2: kernel: expected a number below 2, got 9"));
  EXPECT_THAT(Refusal([&] { Decisions("1,a,0,2,,,,0,0\n"); }),
              HasSubstr("d.csv:2: sm: expected a number below 2, got 2"));
}

TEST_F(ReportLogs, EveryColumnIsNeeded) {
  for (const char* name :
       {"kernel", "launch", "tb", "sm", "tb_slot", "start_cycle", "end_cycle", "outcome"}) {
    const std::string path = Write("t.csv", Without(kTbs, name));
    EXPECT_EQ(Refusal([&] { ReadResidency(path, {10, 1, 1}); }), NoColumn(path, name));
  }
  for (const char* name : {"cycle", "reason", "kernel", "sm", "tb", "victim", "victim_tbs"}) {
    const std::string path = Write("d.csv", Without(kDecisions, name));
    EXPECT_EQ(Refusal([&] { ReadDecisions(path, {10, 1, 1}); }), NoColumn(path, name));
  }
  for (const char* name :
       {"cycle", "length", "sm", "kernel", "warp_instructions", "resident_tbs", "quota"}) {
    const std::string path = Write("s.csv", Without(kSamples, name));
    EXPECT_EQ(Refusal([&] { ReadSamples(path, {10, 1, 1}); }), NoColumn(path, name));
  }
}

TEST_F(ReportLogs, DamageIsAnInputErrorNeverAnotherOne) {
  Chance chance;
  std::string good = kTbs;
  good += "0,a,1,7,0,0,0,10,0,saved\n1,b,1,7,1,0,20,30,0,completed\n0,a,1,7,1,0,60,70,1,flushed\n";
  for (int round = 0; round < 300; ++round) {
    std::string text = good;
    for (std::uint64_t edits = 1 + chance.Below(3); edits > 0; --edits) {
      text[chance.Below(text.size())] = ",\"\n0179-a"[chance.Below(9)];
    }
    const std::string path = Write("t.csv", text);
    const std::string said = Refusal([&] {
      ReadResidency(path, {100, 2, 2});
      ReadPreemptions(path, {100, 2, 2});
    });
    EXPECT_THAT(said, testing::AnyOf("accepted", StartsWith(path)));
  }
}

}  // namespace
}  // namespace smk::sim
