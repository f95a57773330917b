// SPDX-License-Identifier: Apache-2.0
// The load-store unit by itself, against memory of a fixed latency.
#include <gtest/gtest.h>

#include <vector>

#include "machine/lsu.h"
#include "model/fixed_memory.h"

namespace smk {
namespace {

class LsuTiming : public testing::Test {
 protected:
  LsuTiming() {
    config.shared = {24, 1};
    config.lsu = {0, 1};
    config.lsu_queue = 4;
    config.l1.bytes = 16 * 1024;
    config.l1.ways = 4;
    config.l1.mshrs = 8;
    config.l1.mshr_merges = 3;
    config.l1.latency = 30;
  }
  Lsu Make() { return Lsu(SmId{0}, config, memory); }

  static Lsu::Request Shared(unsigned passes) {
    Lsu::Request request;
    request.passes = static_cast<std::uint8_t>(passes);
    return request;
  }
  // Issues a global access to consecutive lines.
  static void Global(Lsu* lsu, OpClass op, std::uint64_t first, unsigned lines, Cycle now,
                     std::uint8_t dst = 0) {
    Lsu::Request request;
    request.op = op;
    request.dst = dst;
    request.passes = static_cast<std::uint8_t>(lines);
    for (unsigned i = 0; i < lines; ++i) lsu->lines()[i] = (first + i) * kLineBytes;
    lsu->IssueGlobal(request, now);
  }
  // Runs until the LSU has nothing to do; gives all completions in order.
  static std::vector<Cycle> Run(Lsu* lsu) {
    std::vector<Cycle> done;
    const auto take = [&] {
      for (const auto& r : lsu->resolved()) done.push_back(r.done);
      lsu->ClearResolved();
    };
    take();
    while (lsu->next_pass() != kNever) {
      lsu->Tick(lsu->next_pass());
      take();
    }
    return done;
  }

  SmConfig config;
  FixedMemory memory;
};

TEST_F(LsuTiming, SharedResultComesAfterLatencyPlusPasses) {
  Lsu lsu = Make();
  EXPECT_EQ(lsu.IssueKnownShared(1, 100), 124u);
  EXPECT_EQ(lsu.IssueKnownShared(32, 200), 200u + 31 + 24);
}

TEST_F(LsuTiming, PassesOfSeveralInstructionsFollowEachOther) {
  Lsu lsu = Make();
  EXPECT_EQ(lsu.IssueKnownShared(3, 10), 10u + 2 + 24);
  EXPECT_EQ(lsu.IssueKnownShared(1, 10), 13u + 24);
  EXPECT_EQ(lsu.IssueKnownShared(1, 10), 14u + 24);
  EXPECT_EQ(lsu.IssueKnownShared(1, 20), 20u + 24);
}

TEST_F(LsuTiming, QueueIsFullUntilAnInstructionHasAllItsPasses) {
  Lsu lsu = Make();
  for (int i = 0; i < 4; ++i) lsu.IssueKnownShared(2, 0);
  EXPECT_TRUE(lsu.Full(1));
  EXPECT_FALSE(lsu.Full(2));
  lsu.IssueKnownShared(2, 2);
  EXPECT_TRUE(lsu.Full(3));
  EXPECT_FALSE(lsu.Full(4));
}

TEST_F(LsuTiming, MissThenHitHasTheConfiguredLatencies) {
  Lsu lsu = Make();
  Global(&lsu, OpClass::kLoadGlobal, 1, 1, 0);
  EXPECT_EQ(Run(&lsu), std::vector<Cycle>{300});
  Global(&lsu, OpClass::kLoadGlobal, 1, 1, 299);  // still in flight
  EXPECT_EQ(Run(&lsu), std::vector<Cycle>{299 + 30});
  Global(&lsu, OpClass::kLoadGlobal, 1, 1, 400);
  EXPECT_EQ(Run(&lsu), std::vector<Cycle>{430});
  EXPECT_EQ(memory.calls.size(), 1u);
  EXPECT_EQ(lsu.stats().l1_accesses[0], 3u);
  EXPECT_EQ(lsu.stats().l1_hits[0], 2u);
}

TEST_F(LsuTiming, SendsOneLinePerCycle) {
  config.l1.mshrs = 64;
  Lsu lsu = Make();
  Global(&lsu, OpClass::kLoadGlobal, 0, 32, 50);
  EXPECT_EQ(Run(&lsu), std::vector<Cycle>{50 + 31 + 300});
  ASSERT_EQ(memory.calls.size(), 32u);
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(memory.calls[i].at, 50u + i);
}

TEST_F(LsuTiming, FullMshrsStopTheUnitUntilTheFirstMissReturns) {
  Lsu lsu = Make();
  Global(&lsu, OpClass::kLoadGlobal, 0, 9, 0);
  EXPECT_EQ(Run(&lsu), std::vector<Cycle>{300 + 300});
  EXPECT_EQ(memory.calls[7].at, 7u);
  EXPECT_EQ(memory.calls[8].at, 300u);
}

TEST_F(LsuTiming, SharedInstructionWaitsBehindAStalledMiss) {
  Lsu lsu = Make();
  Global(&lsu, OpClass::kLoadGlobal, 0, 9, 0);
  EXPECT_FALSE(lsu.AllKnown());
  lsu.IssueShared(Shared(2));
  EXPECT_EQ(Run(&lsu), (std::vector<Cycle>{600, 301 + 1 + 24}));
}

TEST_F(LsuTiming, LineInFlightServesOnlySoManyAccesses) {
  Lsu lsu = Make();
  for (unsigned i = 0; i < 4; ++i) Global(&lsu, OpClass::kLoadGlobal, 5, 1, i);
  // Three with the fill; the fourth is asked again when the line is there.
  EXPECT_EQ(Run(&lsu), (std::vector<Cycle>{300, 300, 300, 330}));
  EXPECT_EQ(memory.calls.size(), 1u);
}

TEST_F(LsuTiming, StoresArePostedUpToTheStoreBuffer) {
  Lsu lsu = Make();
  for (unsigned i = 0; i < 3; ++i) {
    Global(&lsu, OpClass::kStoreGlobal, 32 * i, 32, 32 * i, kNoRegister);
    Run(&lsu);
  }
  ASSERT_EQ(memory.calls.size(), 96u);
  EXPECT_EQ(memory.calls[Lsu::kStoreBuffer - 1].at, Lsu::kStoreBuffer - 1);
  EXPECT_EQ(memory.calls[Lsu::kStoreBuffer].at, 300u);
}

TEST_F(LsuTiming, StoredLineLeavesL1) {
  Lsu lsu = Make();
  Global(&lsu, OpClass::kLoadGlobal, 1, 1, 0);
  Global(&lsu, OpClass::kStoreGlobal, 1, 1, 400, kNoRegister);
  Global(&lsu, OpClass::kLoadGlobal, 1, 1, 800);
  Run(&lsu);
  EXPECT_EQ(memory.calls.size(), 3u);
}

TEST_F(LsuTiming, AtomicsGoToMemoryEveryTime) {
  Lsu lsu = Make();
  Global(&lsu, OpClass::kAtomicGlobal, 1, 1, 0);
  Global(&lsu, OpClass::kAtomicGlobal, 1, 1, 1);
  EXPECT_EQ(Run(&lsu), (std::vector<Cycle>{300, 301}));
  ASSERT_EQ(memory.calls.size(), 2u);
  EXPECT_EQ(memory.calls[1].access, MemoryAccess::kAtomic);
}

}  // namespace
}  // namespace smk
