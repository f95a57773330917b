// SPDX-License-Identifier: Apache-2.0
// Samples of runs of any length: how many are kept, and that nothing is lost.
#include "machine/sample_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smk {
namespace {

using testing::ElementsAre;

constexpr std::size_t kSms = 2;

EpochSample SampleOf(Cycle cycle, unsigned sm, std::uint64_t issued, unsigned job) {
  EpochSample sample;
  sample.cycle = cycle;
  sample.sm = static_cast<SmId>(sm);
  sample.job.fill(kNoJob);
  sample.job[0] = static_cast<JobId>(job);
  sample.warp_instructions[0] = issued;
  sample.resident_tbs[0] = static_cast<std::uint8_t>(cycle % 7);
  return sample;
}

// SM 1 issues twice as much as SM 0.
void AddAll(SampleLog* log, Cycle cycle, std::uint64_t issued, unsigned job = 0) {
  for (unsigned sm = 0; sm < kSms; ++sm) log->Add(SampleOf(cycle, sm, issued * (sm + 1), job));
}

// Samples until so many cycles are over, with an instruction in each.
void Advance(Cycle cycles, SampleLog* log, Cycle before = 0, unsigned job = 0) {
  while (log->NextEnd() <= cycles) {
    const Cycle now = log->NextEnd();
    if (!log->EndsStep(now)) continue;
    AddAll(log, now, now - before, job);
    before = now;
  }
}

std::vector<EpochSample> RunOf(Cycle cycles, std::size_t most) {
  SampleLog log(kSms, 1, most);
  Advance(cycles, &log);
  return log.Take();
}

std::size_t StepsOf(Cycle cycles, std::size_t most) {
  return RunOf(cycles, most).size() / kSms - 1;
}

TEST(SampleLog, ARunOfAnyLengthHasBetweenHalfOfTheStepsAndAll) {
  for (Cycle cycles = 8; cycles < 3000; ++cycles) {
    EXPECT_GE(StepsOf(cycles, 8), 4u) << cycles;
    EXPECT_LE(StepsOf(cycles, 8), 8u) << cycles;
  }
  EXPECT_EQ(StepsOf(5, 8), 5u) << "no shorter steps than the first";
  EXPECT_EQ(StepsOf(8, 8), 8u);
  EXPECT_EQ(StepsOf(9, 8), 4u);
  EXPECT_EQ(StepsOf(1024, 8), 8u);
  EXPECT_EQ(StepsOf(3000, 0), 3000u) << "no limit";
}

TEST(SampleLog, WhatIsAddedUpIsExact) {
  for (const Cycle cycles : {8u, 9u, 100u, 1000u, 1024u}) {
    const std::vector<EpochSample> samples = RunOf(cycles, 8);
    std::array<Cycle, kSms> before{};
    for (const EpochSample& sample : samples) {
      const std::size_t sm = Index(sample.sm);
      EXPECT_EQ(sample.warp_instructions[0], (sample.cycle - before[sm]) * (sm + 1)) << cycles;
      EXPECT_EQ(sample.resident_tbs[0], sample.cycle % 7) << "of its end";
      before[sm] = sample.cycle;
    }
  }
}

// Job 0 has the slot up to cycle 5, job 1 up to 6, and job 2 from there on. However long steps
// become, each keeps what it issued.
TEST(SampleLog, EachJobInASlotKeepsItsOwn) {
  SampleLog log(kSms, 2, 4);
  Advance(4, &log);
  AddAll(&log, 5, 1);
  ASSERT_TRUE(log.EndsStep(6));
  AddAll(&log, 6, 1, 1);
  AddAll(&log, 6, 0, 1);
  Advance(64, &log, 6, 2);
  std::array<std::uint64_t, 3> issued{};
  std::vector<Cycle> cycles;
  for (const EpochSample& sample : log.Take()) {
    if (Index(sample.sm) != 0) continue;
    issued.at(Index(sample.job[0])) += sample.warp_instructions[0];
    cycles.push_back(sample.cycle);
  }
  EXPECT_THAT(issued, ElementsAre(5, 1, 58));
  EXPECT_THAT(cycles, ElementsAre(0, 5, 6, 16, 32, 48, 64));
}

}  // namespace
}  // namespace smk
