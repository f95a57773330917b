// SPDX-License-Identifier: Apache-2.0
// Parts of the SM by themselves: timing wheel, L1 tags, things in flight.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "machine/sm/completion_heap.h"
#include "machine/sm/completion_tree.h"
#include "machine/sm/l1_cache.h"
#include "machine/sm/warp_wheel.h"
#include "test_options.h"

namespace smk {
namespace {

TEST(WarpWheel, GivesALaneExactlyInItsCycle) {
  WarpWheel wheel;
  wheel.Add(5, 17, 3);
  EXPECT_EQ(wheel.Next(3), 17u);
  for (Cycle c = 4; c < 17; ++c) EXPECT_EQ(wheel.Take(c), 0u) << c;
  EXPECT_EQ(wheel.Take(17), LaneBit(5));
  EXPECT_EQ(wheel.Take(17), 0u);
  EXPECT_EQ(wheel.Next(17), kNever);
}

TEST(WarpWheel, KeepsTimesBeyondItsSpan) {
  WarpWheel wheel;
  const Cycle due = 5 * WarpWheel::kSlots + 7;
  wheel.Add(63, due, 0);
  Cycle now = 0;
  LaneMask taken = 0;
  while (taken == 0) {
    now = wheel.Next(now);
    ASSERT_LE(now, due);
    taken = wheel.Take(now);
  }
  EXPECT_EQ(now, due);
  EXPECT_EQ(taken, LaneBit(63));
}

TEST(WarpWheel, ForgetsARemovedLane) {
  WarpWheel wheel;
  wheel.Add(1, 10, 0);
  wheel.Add(2, 10, 0);
  wheel.Remove(1);
  EXPECT_EQ(wheel.Take(10), LaneBit(2));
  wheel.Add(3, 20, 10);
  wheel.Remove(3);
  EXPECT_EQ(wheel.Next(10), kNever);
}

// Until then no bucket has a lane that is due later.
TEST(WarpWheel, TellsWhenALaneBeyondItsSpanComesRound) {
  WarpWheel wheel;
  EXPECT_EQ(wheel.FarAt(), kNever);
  wheel.Add(1, 3 * WarpWheel::kSlots, 0);
  wheel.Add(2, 3 * WarpWheel::kSlots, 5);
  wheel.Add(3, 100, 5);
  EXPECT_EQ(wheel.FarAt(), WarpWheel::kSlots - 1);
  EXPECT_EQ(wheel.TakeNear(100), LaneBit(3));
  EXPECT_EQ(wheel.Take(wheel.FarAt()), 0u);
  EXPECT_EQ(wheel.FarAt(), WarpWheel::kSlots + 4) << "the second lane's";
  wheel.Remove(2);
  EXPECT_EQ(wheel.Take(wheel.FarAt()), 0u);
  EXPECT_EQ(wheel.FarAt(), 2 * (WarpWheel::kSlots - 1)) << "the first lane's again";
}

TEST(WarpWheel, AgreesWithAMapOverRandomTimes) {
  WarpWheel wheel;
  std::map<unsigned, Cycle> due;
  std::mt19937 random(7);
  Cycle now = 0;
  for (int step = 0; step < 20000; ++step) {
    const unsigned lane = random() % kLanes;
    if (due.count(lane) == 0) {
      due[lane] = now + 1 + random() % (random() % 8 == 0 ? 5000 : 100);
      wheel.Add(lane, due[lane], now);
    }
    const Cycle target = now + random() % 4;
    while (wheel.Next(now) <= target) {
      now = wheel.Next(now);
      LaneMask expected = 0;
      for (auto i = due.begin(); i != due.end();) {
        ASSERT_GE(i->second, now);
        if (i->second == now) expected |= LaneBit(i->first);
        i = i->second == now ? due.erase(i) : std::next(i);
      }
      ASSERT_EQ(wheel.Take(now), expected) << now;
    }
    now = target;
  }
}

TEST(CompletionHeap, TellsHowManyAreComplete) {
  CompletionHeap heap(3);
  for (const Cycle done : {30u, 20u, 40u}) heap.Push(done);
  EXPECT_EQ(heap.Earliest(), 20u);
  EXPECT_EQ(heap.Expire(19), 0u);
  EXPECT_EQ(heap.Expire(30), 2u);
  EXPECT_EQ(heap.size(), 1u);
  heap.Replace(40, 35);
  EXPECT_EQ(heap.Earliest(), 35u);
  EXPECT_EQ(heap.Expire(35), 1u);
  EXPECT_EQ(heap.Earliest(), kNever);
}

TEST(CompletionTree, HasRoomAgainWhenTheEarliestCompletes) {
  CompletionTree tree(2);
  EXPECT_FALSE(tree.Full(0));
  tree.Push(30);
  EXPECT_FALSE(tree.Full(0));
  tree.Push(20);
  EXPECT_TRUE(tree.Full(19));
  EXPECT_EQ(tree.Earliest(), 20u);
  EXPECT_FALSE(tree.Full(20));
  tree.Push(25);
  EXPECT_TRUE(tree.Full(24));
  EXPECT_EQ(tree.Earliest(), 25u);
}

// Of any number of places, beside a list of what they have.
TEST(CompletionTree, IsAsManyPlacesInAList) {
  SCOPED_TRACE(testing::Message() << "seed " << GetTestOptions().seed);
  std::mt19937_64 random(GetTestOptions().seed);
  for (const unsigned limit : {1u, 2u, 3u, 28u, 31u, 32u, 33u, 4095u, 4096u}) {
    CompletionTree tree(limit);
    std::vector<Cycle> places(limit, 0);
    unsigned full = 0;
    for (Cycle now = 0; now < 20'000; now += random() % 3) {
      const auto first = std::min_element(places.begin(), places.end());
      ASSERT_EQ(tree.Full(now), *first > now) << limit << " places, cycle " << now;
      if (tree.Full(now)) {
        ASSERT_EQ(tree.Earliest(), *first) << limit << " places, cycle " << now;
        ++full;
        continue;
      }
      *first = now + 1 + random() % (random() % 64 == 0 ? 3000 : 3 * limit);
      tree.Push(*first);
    }
    EXPECT_TRUE(full > 100 || limit > 4000) << limit;
  }
}

CacheConfig Cache(unsigned bytes, unsigned ways) {
  CacheConfig config;
  config.bytes = bytes;
  config.ways = ways;
  return config;
}

std::uint64_t LineAddress(std::uint64_t n) { return n * kLineBytes; }

TEST(L1Cache, HoldsExactlyItsCapacity) {
  for (const unsigned ways : {1u, 4u, 64u}) {
    SCOPED_TRACE(ways);
    L1Cache cache(Cache(16 * 1024, ways), false);
    for (unsigned i = 0; i < 128; ++i) cache.Allocate(LineAddress(i), 0, 0);
    for (unsigned i = 0; i < 128; ++i) EXPECT_NE(cache.Find(LineAddress(i)), nullptr) << i;
    cache.Allocate(LineAddress(128), 0, 0);
    unsigned present = 0;
    for (unsigned i = 0; i < 129; ++i) present += cache.Find(LineAddress(i)) != nullptr;
    EXPECT_EQ(present, 128u);
  }
}

TEST(L1Cache, ReplacesTheLeastRecentlyUsedLine) {
  L1Cache cache(Cache(4 * kLineBytes, 4), false);
  for (unsigned i = 0; i < 4; ++i) cache.Allocate(LineAddress(i), 0, 0);
  cache.Find(LineAddress(0));
  cache.Allocate(LineAddress(4), 0, 0);
  EXPECT_NE(cache.Find(LineAddress(0)), nullptr);
  EXPECT_EQ(cache.Find(LineAddress(1)), nullptr);
}

TEST(L1Cache, NeverReplacesALineInFlight) {
  L1Cache cache(Cache(2 * kLineBytes, 2), false);
  cache.Allocate(LineAddress(0), 0, 100);
  cache.Allocate(LineAddress(1), 0, 50);
  cache.Allocate(LineAddress(2), 10, 200);  // no place
  EXPECT_EQ(cache.Find(LineAddress(2)), nullptr);
  cache.Allocate(LineAddress(3), 60, 200);  // in place of line 1
  EXPECT_EQ(cache.Find(LineAddress(1)), nullptr);
  EXPECT_NE(cache.Find(LineAddress(0)), nullptr);
}

TEST(L1Cache, ALineOfSectorsIsInFlightUntilTheLastIsThere) {
  L1Cache cache(Cache(kLineBytes, 1), true);
  cache.Allocate(LineAddress(0), 0, 100, 0b0001);
  L1Cache::Line* const line = cache.Find(LineAddress(0));
  ASSERT_NE(line, nullptr);
  cache.Add(line, 0b0110, 200);
  EXPECT_EQ(cache.Ready(*line, 0b0001, 50), 100u);
  EXPECT_EQ(cache.Ready(*line, 0b0010, 50), 200u);
  EXPECT_EQ(cache.Ready(*line, 0b0101, 50), 200u);
  EXPECT_LE(cache.Ready(*line, 0b0101, 200), 200u);
  cache.Evict(LineAddress(0), 150);
  cache.Allocate(LineAddress(1), 150, 400, 0b0001);
  EXPECT_NE(cache.Find(LineAddress(0)), nullptr);
  cache.Allocate(LineAddress(1), 200, 400, 0b0001);
  EXPECT_EQ(cache.Find(LineAddress(0)), nullptr);
}

TEST(L1Cache, PowerOfTwoStridesDoNotMeetInOneSet) {
  L1Cache cache(Cache(16 * 1024, 4), false);
  for (unsigned i = 0; i < 32; ++i) cache.Allocate(LineAddress(i * 32), 0, 0);
  for (unsigned i = 0; i < 32; ++i) EXPECT_NE(cache.Find(LineAddress(i * 32)), nullptr) << i;
}

TEST(L1Cache, StoreEvictsItsLine) {
  L1Cache cache(Cache(16 * 1024, 4), false);
  cache.Allocate(LineAddress(7), 0, 20);
  cache.Evict(LineAddress(7), 10);  // in flight: stays
  EXPECT_NE(cache.Find(LineAddress(7)), nullptr);
  cache.Evict(LineAddress(7), 20);
  EXPECT_EQ(cache.Find(LineAddress(7)), nullptr);
}

TEST(L1Cache, WithoutBytesNothingIsEverPresent) {
  L1Cache cache(Cache(0, 0), false);
  cache.Allocate(LineAddress(1), 0, 0);
  EXPECT_EQ(cache.Find(LineAddress(1)), nullptr);
}

}  // namespace
}  // namespace smk
