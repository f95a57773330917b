// SPDX-License-Identifier: Apache-2.0
// The load-store unit by itself, against memory of a fixed latency.
#include "machine/sm/lsu.h"

#include <gtest/gtest.h>

#include <vector>

#include "machine/sm/decoded_code.h"
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
  Lsu Make() { return Lsu(SmId{0}, config, sector_bytes, memory); }

  // An instruction of memory on the chip as an SM of this configuration executes it.
  Step Decoded(OpClass op, unsigned passes) const {
    Instruction instruction;
    instruction.op = op;
    instruction.conflicts = static_cast<std::uint8_t>(passes);
    return Decode(instruction, SmShape(config));
  }
  Cycle Known(Lsu* lsu, OpClass op, unsigned passes, KernelId kernel, Cycle now) const {
    const Step step = Decoded(op, passes);
    return lsu->IssueKnown(step.initiation, step.latency, kernel, now);
  }
  Lsu::Request Request(OpClass op, unsigned passes) const {
    const Step step = Decoded(op, passes);
    Lsu::Request request;
    request.op = op;
    request.cycles = step.initiation;
    request.latency = step.latency;
    return request;
  }
  // Issues a global access to consecutive lines.
  static void Global(Lsu* lsu, OpClass op, std::uint64_t first, unsigned lines, Cycle now,
                     std::uint8_t place = 1) {
    Lsu::Request request;
    request.op = op;
    request.place = place;
    request.passes = static_cast<std::uint8_t>(lines);
    for (unsigned i = 0; i < lines; ++i) lsu->lines()[i] = (first + i) * kLineBytes;
    std::fill_n(lsu->sectors(), lines, kAllSectors);
    lsu->NextRequest() = request;
    lsu->IssueGlobal(now);
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
  unsigned sector_bytes = kLineBytes;
  FixedMemory memory;
};

TEST_F(LsuTiming, SharedResultComesAfterLatencyPlusPasses) {
  Lsu lsu = Make();
  EXPECT_EQ(Known(&lsu, OpClass::kLoadShared, 1, KernelId{0}, 100), 124u);
  EXPECT_EQ(Known(&lsu, OpClass::kLoadShared, 32, KernelId{0}, 200), 200u + 31 + 24);
}

TEST_F(LsuTiming, PassesOfSeveralInstructionsFollowEachOther) {
  Lsu lsu = Make();
  EXPECT_EQ(Known(&lsu, OpClass::kLoadShared, 3, KernelId{0}, 10), 10u + 2 + 24);
  EXPECT_EQ(Known(&lsu, OpClass::kLoadShared, 1, KernelId{0}, 10), 13u + 24);
  EXPECT_EQ(Known(&lsu, OpClass::kLoadShared, 1, KernelId{0}, 10), 14u + 24);
  EXPECT_EQ(Known(&lsu, OpClass::kLoadShared, 1, KernelId{0}, 20), 20u + 24);
}

TEST_F(LsuTiming, QueueIsFullUntilAnInstructionHasAllItsPasses) {
  Lsu lsu = Make();
  for (int i = 0; i < 4; ++i) Known(&lsu, OpClass::kLoadShared, 2, KernelId{0}, 0);
  EXPECT_TRUE(lsu.Full(1));
  EXPECT_FALSE(lsu.Full(2));
  Known(&lsu, OpClass::kLoadShared, 2, KernelId{0}, 2);
  EXPECT_TRUE(lsu.Full(3));
  EXPECT_FALSE(lsu.Full(4));
}

// From when an instruction could have had its first pass to its last: waits count, waiting behind
// others does not.
TEST_F(LsuTiming, IsTakenFromTheFirstPassOfAnInstructionToItsLast) {
  config.l1.mshrs = 1;
  Lsu lsu = Make();
  Known(&lsu, OpClass::kLoadShared, 3, KernelId{0}, 10);
  Known(&lsu, OpClass::kLoadShared, 2, KernelId{1}, 10);
  EXPECT_EQ(lsu.stats().busy[0], 3u);
  EXPECT_EQ(lsu.stats().busy[1], 2u);
  Global(&lsu, OpClass::kLoadGlobal, 1, 1, 100);
  Global(&lsu, OpClass::kLoadGlobal, 2, 1, 100);  // waits for the MSHR until 400
  EXPECT_EQ(Run(&lsu), (std::vector<Cycle>{400, 700}));
  EXPECT_EQ(lsu.stats().busy[0], 3u + 1 + 300);
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
  lsu.NextRequest() = Request(OpClass::kLoadShared, 2);
  lsu.IssueShared();
  EXPECT_EQ(Run(&lsu), (std::vector<Cycle>{600, 301 + 1 + 24}));
}

TEST_F(LsuTiming, LineInFlightServesOnlySoManyAccesses) {
  Lsu lsu = Make();
  for (unsigned i = 0; i < 4; ++i) Global(&lsu, OpClass::kLoadGlobal, 5, 1, i);
  // Three with the fill; the fourth is asked again when the line is there.
  EXPECT_EQ(Run(&lsu), (std::vector<Cycle>{300, 300, 300, 330}));
  EXPECT_EQ(memory.calls.size(), 1u);
}

TEST_F(LsuTiming, StoresArePostedUpToTheirPlaces) {
  config.stores = 70;
  Lsu lsu = Make();
  for (unsigned i = 0; i < 3; ++i) {
    Global(&lsu, OpClass::kStoreGlobal, 32 * i, 32, 32 * i, 0);
    Run(&lsu);
  }
  ASSERT_EQ(memory.calls.size(), 96u);
  EXPECT_EQ(memory.calls[69].at, 69u);
  EXPECT_EQ(memory.calls[70].at, 300u);
}

TEST_F(LsuTiming, StoredLineLeavesL1) {
  Lsu lsu = Make();
  Global(&lsu, OpClass::kLoadGlobal, 1, 1, 0);
  Global(&lsu, OpClass::kStoreGlobal, 1, 1, 400, 0);
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

TEST_F(LsuTiming, LoadsWithoutAnL1TakeNoMshr) {
  config.l1.bytes = 0;
  Lsu lsu = Make();
  Global(&lsu, OpClass::kLoadGlobal, 0, 32, 0);
  EXPECT_EQ(Run(&lsu), std::vector<Cycle>{31 + 300});
  Global(&lsu, OpClass::kAtomicGlobal, 0, 32, 100);
  EXPECT_EQ(Run(&lsu), std::vector<Cycle>{100 + 31 + 300});
  EXPECT_EQ(memory.calls.size(), 64u);
}

TEST_F(LsuTiming, ConstantsPassInTurnWithALatencyOfTheirOwn) {
  config.units.constant = 0;
  config.constant = {9, 2};
  Lsu lsu = Make();
  EXPECT_EQ(Known(&lsu, OpClass::kLoadConst, 3, KernelId{0}, 10), 10u + 2 * 2 + 9);
  EXPECT_EQ(Known(&lsu, OpClass::kLoadShared, 1, KernelId{0}, 10), 16u + 24);
  // Behind a load whose passes are not known.
  Global(&lsu, OpClass::kLoadGlobal, 0, 9, 20);
  lsu.NextRequest() = Request(OpClass::kLoadConst, 2);
  lsu.IssueShared();
  EXPECT_EQ(Run(&lsu), (std::vector<Cycle>{620, 321 + 2 + 9}));
}

TEST_F(LsuTiming, OperandLatencyIsInEveryResult) {
  config.operand_latency = 5;
  config.units.constant = 0;
  config.constant = {9, 1};
  Lsu lsu = Make();
  EXPECT_EQ(Known(&lsu, OpClass::kLoadShared, 1, KernelId{0}, 0), 24u + 5);
  EXPECT_EQ(Known(&lsu, OpClass::kLoadConst, 1, KernelId{0}, 50), 50u + 9 + 5);
  Global(&lsu, OpClass::kLoadGlobal, 1, 1, 100);
  EXPECT_EQ(Run(&lsu), std::vector<Cycle>{400 + 5});
  Global(&lsu, OpClass::kLoadGlobal, 1, 1, 500);
  EXPECT_EQ(Run(&lsu), std::vector<Cycle>{500 + 30 + 5});
}

class LsuTextures : public LsuTiming {
 protected:
  LsuTextures() {
    config.texture.bytes = 2 * 4 * kLineBytes;  // two sets of four
    config.texture.ways = 4;
    config.texture.fifo = 6;
    config.texture.latency = 20;
  }
};

TEST_F(LsuTextures, HaveLinesAndLatencyOfTheirOwn) {
  Lsu lsu = Make();
  Global(&lsu, OpClass::kLoadGlobal, 1, 1, 0);
  Run(&lsu);
  Global(&lsu, OpClass::kTexture, 1, 1, 400);  // not there, though it is in the L1
  EXPECT_EQ(Run(&lsu), std::vector<Cycle>{700});
  Global(&lsu, OpClass::kTexture, 1, 1, 800);
  EXPECT_EQ(Run(&lsu), std::vector<Cycle>{820});
  Global(&lsu, OpClass::kLoadGlobal, 1, 1, 900);
  EXPECT_EQ(Run(&lsu), std::vector<Cycle>{930});
  EXPECT_EQ(memory.calls.size(), 2u);
}

TEST_F(LsuTextures, TakeNoMshr) {
  config.l1.mshrs = 1;
  config.texture.fifo = 64;
  Lsu lsu = Make();
  Global(&lsu, OpClass::kTexture, 0, 20, 0);
  EXPECT_EQ(Run(&lsu), std::vector<Cycle>{19 + 300});
}

TEST_F(LsuTextures, ResultsComeInOrder) {
  Lsu lsu = Make();
  Global(&lsu, OpClass::kTexture, 1, 1, 0);
  Run(&lsu);
  Global(&lsu, OpClass::kTexture, 2, 1, 400);  // a miss
  Global(&lsu, OpClass::kTexture, 1, 1, 401);  // a hit behind it
  EXPECT_EQ(Run(&lsu), (std::vector<Cycle>{700, 700}));
}

TEST_F(LsuTextures, AFullFifoHoldsUpTheUnit) {
  Lsu lsu = Make();
  Global(&lsu, OpClass::kTexture, 0, 7, 0);
  lsu.NextRequest() = Request(OpClass::kLoadShared, 1);
  lsu.IssueShared();
  EXPECT_EQ(Run(&lsu), (std::vector<Cycle>{300 + 300, 301 + 24}));
  EXPECT_EQ(memory.calls[5].at, 5u);
  EXPECT_EQ(memory.calls[6].at, 300u);
}

TEST_F(LsuTextures, AreReplacedEvenInFlight) {
  config.texture.fifo = 64;
  Lsu lsu = Make();
  Global(&lsu, OpClass::kTexture, 0, 16, 0);  // twice what fits, nothing back yet
  Global(&lsu, OpClass::kTexture, 15, 1, 16);
  Global(&lsu, OpClass::kTexture, 0, 1, 17);
  EXPECT_EQ(Run(&lsu), (std::vector<Cycle>{315, 315, 317}));
  EXPECT_EQ(lsu.stats().l1_hits[0], 1u) << "the young one is here";
}

TEST_F(LsuTextures, AreReplacedByAge) {
  config.texture.fifo = 64;
  Lsu lsu = Make();
  Global(&lsu, OpClass::kTexture, 0, 8, 0);  // all that fits
  Run(&lsu);
  Global(&lsu, OpClass::kTexture, 8, 8, 1000);
  Run(&lsu);
  Global(&lsu, OpClass::kTexture, 0, 1, 2000);
  EXPECT_EQ(Run(&lsu), std::vector<Cycle>{2300});
  EXPECT_EQ(lsu.stats().l1_accesses[0], 17u);
  EXPECT_EQ(lsu.stats().l1_hits[0], 0u);
}

// One set of two ways, with more MSHRs than lines.
class LsuFullSet : public LsuTiming {
 protected:
  LsuFullSet() {
    config.l1.bytes = 2 * kLineBytes;
    config.l1.ways = 2;
  }
};

TEST_F(LsuFullSet, IsPassedByAMissWithoutAPlace) {
  Lsu lsu = Make();
  Global(&lsu, OpClass::kLoadGlobal, 0, 3, 0);
  EXPECT_EQ(Run(&lsu), std::vector<Cycle>{302});
  Global(&lsu, OpClass::kLoadGlobal, 2, 1, 400);
  EXPECT_EQ(Run(&lsu), std::vector<Cycle>{700}) << "the third had no place";
}

TEST_F(LsuFullSet, IsWaitedForWhereTheMachineSaysSo) {
  config.l1_full_set = "wait";
  Lsu lsu = Make();
  Global(&lsu, OpClass::kLoadGlobal, 0, 3, 0);
  EXPECT_EQ(Run(&lsu), std::vector<Cycle>{600}) << "sent when the first line is there, at 300";
  ASSERT_EQ(memory.calls.size(), 3u);
  EXPECT_EQ(memory.calls[1].at, 1u);
  EXPECT_EQ(memory.calls[2].at, 300u);
  Global(&lsu, OpClass::kLoadGlobal, 2, 1, 700);
  EXPECT_EQ(Run(&lsu), std::vector<Cycle>{730}) << "the third has the place of the first";
}

// A line in flight that is asked for again needs no place; one that is there is replaced.
TEST_F(LsuFullSet, HoldsUpMissesOnly) {
  config.l1_full_set = "wait";
  Lsu lsu = Make();
  Global(&lsu, OpClass::kLoadGlobal, 0, 2, 0);
  Global(&lsu, OpClass::kLoadGlobal, 0, 2, 10);
  Run(&lsu);
  EXPECT_EQ(memory.calls.size(), 2u);
  EXPECT_EQ(lsu.stats().l1_hits[0], 2u);
  Global(&lsu, OpClass::kLoadGlobal, 5, 1, 301);
  Run(&lsu);
  ASSERT_EQ(memory.calls.size(), 3u);
  EXPECT_EQ(memory.calls[2].at, 301u);
}

class LsuSectors : public LsuTiming {
 protected:
  LsuSectors() {
    sector_bytes = 32;
    config.lsu_bytes = 32;
  }
  // One line with some sectors.
  static void Line(Lsu* lsu, OpClass op, std::uint64_t line, SectorMask sectors, Cycle now) {
    Lsu::Request request;
    request.op = op;
    request.place = op == OpClass::kLoadGlobal ? 1 : 0;
    lsu->lines()[0] = line * kLineBytes;
    lsu->sectors()[0] = sectors;
    lsu->NextRequest() = request;
    lsu->IssueGlobal(now);
  }
};

TEST_F(LsuSectors, TakeACycleEach) {
  Lsu lsu = Make();
  Line(&lsu, OpClass::kStoreGlobal, 1, 0b1111, 0);
  Line(&lsu, OpClass::kStoreGlobal, 2, 0b0100, 0);
  Line(&lsu, OpClass::kStoreGlobal, 3, 0b1001, 0);
  Line(&lsu, OpClass::kStoreGlobal, 4, 0b0001, 0);
  Run(&lsu);
  ASSERT_EQ(memory.calls.size(), 4u);
  EXPECT_EQ(memory.calls[1].at, 4u);
  EXPECT_EQ(memory.calls[2].at, 5u);
  EXPECT_EQ(memory.calls[3].at, 7u);
  EXPECT_EQ(memory.calls[2].sectors, 0b1001);
}

TEST_F(LsuSectors, PassTwoAtATimeAt64BytesPerCycle) {
  config.lsu_bytes = 64;
  Lsu lsu = Make();
  Line(&lsu, OpClass::kStoreGlobal, 1, 0b0111, 0);
  Line(&lsu, OpClass::kStoreGlobal, 2, 0b0001, 0);
  Run(&lsu);
  EXPECT_EQ(memory.calls[1].at, 2u);
}

TEST_F(LsuSectors, OfALineAreFetchedOneByOne) {
  Lsu lsu = Make();
  Line(&lsu, OpClass::kLoadGlobal, 1, 0b0011, 0);
  EXPECT_EQ(Run(&lsu), std::vector<Cycle>{300});
  Line(&lsu, OpClass::kLoadGlobal, 1, 0b0001, 400);
  EXPECT_EQ(Run(&lsu), std::vector<Cycle>{430}) << "a sector that is here";
  Line(&lsu, OpClass::kLoadGlobal, 1, 0b0100, 500);
  EXPECT_EQ(Run(&lsu), std::vector<Cycle>{800}) << "one that is not";
  Line(&lsu, OpClass::kLoadGlobal, 1, 0b0111, 900);
  EXPECT_EQ(Run(&lsu), std::vector<Cycle>{930}) << "now all three";
  ASSERT_EQ(memory.calls.size(), 2u);
  EXPECT_EQ(memory.calls[1].sectors, 0b0100);
}

TEST_F(LsuSectors, ThatAreHereDoNotWaitForOthersOfTheLine) {
  Lsu lsu = Make();
  Line(&lsu, OpClass::kLoadGlobal, 1, 0b0001, 0);
  Line(&lsu, OpClass::kLoadGlobal, 1, 0b0010, 400);
  Line(&lsu, OpClass::kLoadGlobal, 1, 0b0001, 401);
  Line(&lsu, OpClass::kLoadGlobal, 1, 0b0011, 402);
  EXPECT_EQ(Run(&lsu), (std::vector<Cycle>{300, 700, 401 + 30, 700}));
  EXPECT_EQ(memory.calls.size(), 2u);
  EXPECT_EQ(lsu.stats().l1_hits[0], 2u);
}

TEST_F(LsuSectors, InFlightComeWithTheirOwnFetch) {
  Lsu lsu = Make();
  Line(&lsu, OpClass::kLoadGlobal, 1, 0b0001, 0);
  Line(&lsu, OpClass::kLoadGlobal, 1, 0b0011, 200);
  Line(&lsu, OpClass::kLoadGlobal, 1, 0b0001, 210);
  Line(&lsu, OpClass::kLoadGlobal, 1, 0b0010, 220);
  EXPECT_EQ(Run(&lsu), (std::vector<Cycle>{300, 500, 300, 500}));
  EXPECT_EQ(memory.calls.size(), 2u);
}

// A load of several sectors asks for those that are missing, and waits for those in flight.
TEST_F(LsuSectors, OfAMissAreAskedForOnlyIfMissing) {
  Lsu lsu = Make();
  Line(&lsu, OpClass::kLoadGlobal, 1, 0b0001, 0);
  Line(&lsu, OpClass::kLoadGlobal, 1, 0b0111, 10);
  Line(&lsu, OpClass::kLoadGlobal, 1, 0b1111, 500);
  EXPECT_EQ(Run(&lsu), (std::vector<Cycle>{300, 310, 800}));
  ASSERT_EQ(memory.calls.size(), 3u);
  EXPECT_EQ(memory.calls[1].sectors, 0b0110);
  EXPECT_EQ(memory.calls[2].sectors, 0b1000);
}

TEST_F(LsuSectors, ThatNoMoreCanWaitForAreAskedForAgainWhenTheyAreThere) {
  config.l1.mshr_merges = 1;
  Lsu lsu = Make();
  Line(&lsu, OpClass::kLoadGlobal, 1, 0b0001, 0);
  Line(&lsu, OpClass::kLoadGlobal, 1, 0b0010, 100);
  Line(&lsu, OpClass::kLoadGlobal, 1, 0b0001, 150);
  EXPECT_EQ(Run(&lsu), (std::vector<Cycle>{300, 400, 300 + 30}));
}

// Loads ask for the whole line then. What was not written is not sent, with a line per cycle.
TEST_F(LsuSectors, AreSentByStoresAndAtomicsWhereLinesHaveNone) {
  sector_bytes = kLineBytes;
  Lsu lsu = Make();
  EXPECT_FALSE(lsu.LooksAtSectors(OpClass::kLoadGlobal));
  EXPECT_TRUE(lsu.LooksAtSectors(OpClass::kStoreGlobal));
  EXPECT_TRUE(lsu.LooksAtSectors(OpClass::kAtomicGlobal));
  Line(&lsu, OpClass::kLoadGlobal, 1, 0b0001, 0);
  Line(&lsu, OpClass::kStoreGlobal, 2, 0b0111, 0);
  Line(&lsu, OpClass::kAtomicGlobal, 3, 0b1000, 0);
  Run(&lsu);
  ASSERT_EQ(memory.calls.size(), 3u);
  const SectorMask sent[] = {kAllSectors, 0b0111, 0b1000};
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_EQ(memory.calls[i].at, i);
    EXPECT_EQ(memory.calls[i].sectors, sent[i]) << i;
  }
}

}  // namespace
}  // namespace smk
