// SPDX-License-Identifier: Apache-2.0
#include "memory/calendar.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "memory/address_map.h"

namespace smk {
namespace {

constexpr unsigned kWindow = 1024;

// The same in the obvious way, without a window.
class SlowCalendar {
 public:
  explicit SlowCalendar(unsigned period = 0, unsigned closed = 0) {
    for (unsigned slot = 0; period != 0 && slot < taken_.size(); ++slot) {
      taken_[slot] = slot % period >= period - closed;
    }
  }
  Calendar::Span Take(std::uint64_t from, unsigned count) {
    while (taken_[from]) ++from;
    const std::uint64_t begin = from;
    for (; count != 0; ++from) {
      if (!taken_[from]) --count;
      taken_[from] = true;
    }
    return {begin, from};
  }
  Calendar::Span TakeRun(std::uint64_t from, unsigned count) {
    for (unsigned run = 0; run < count; ++from) run = taken_[from] ? 0 : run + 1;
    for (unsigned i = 1; i <= count; ++i) taken_[from - i] = true;
    return {from - count, from};
  }
  void Close(std::uint64_t from, std::uint64_t end) {
    for (; from < end; ++from) taken_[from] = true;
  }

 private:
  std::vector<bool> taken_ = std::vector<bool>(1 << 20);
};

// Requests around a time that moves on; `spread` slots to either side of it.
template <typename Check>
void Drive(unsigned seed, unsigned spread, double load, unsigned max_count, Check check) {
  std::mt19937 random(seed);
  double now = spread;
  for (int i = 0; i < 20000; ++i) {
    const unsigned count = 1 + random() % max_count;
    now += count / load;
    check(static_cast<std::uint64_t>(now) - spread + random() % (2 * spread), count);
  }
}

TEST(MemoryCalendar, TakesTheFirstFreeSlots) {
  for (const double load : {0.3, 0.8, 0.97}) {
    Calendar calendar(kWindow);
    SlowCalendar slow;
    Drive(1, 100, load, 5, [&](std::uint64_t from, unsigned count) {
      const Calendar::Span got = calendar.Take(from, count), want = slow.Take(from, count);
      ASSERT_EQ(got.begin, want.begin) << "from " << from << " load " << load;
      ASSERT_EQ(got.end, want.end) << "from " << from << " load " << load;
    });
  }
}

TEST(MemoryCalendar, TakesTheFirstFreeRun) {
  for (const double load : {0.3, 0.6}) {
    Calendar calendar(kWindow);
    SlowCalendar slow;
    Drive(2, 100, load, 9, [&](std::uint64_t from, unsigned count) {
      ASSERT_EQ(calendar.TakeRun(from, count).begin, slow.TakeRun(from, count).begin)
          << "from " << from << " load " << load;
    });
  }
}

// Slots, runs and what is closed in one calendar: each must see what the others have taken, whether
// it is behind all that, next to it or before it.
TEST(MemoryCalendar, EveryRequestSeesWhatTheOthersTook) {
  for (const unsigned spread : {2u, 20u, 200u}) {
    Calendar calendar(kWindow);
    SlowCalendar slow;
    std::mt19937 choice(6);
    Drive(5, spread, 0.7, 5, [&](std::uint64_t from, unsigned count) {
      const unsigned kind = choice() % 4;
      if (kind == 0) {
        calendar.Close(from, from + count);
        slow.Close(from, from + count);
        return;
      }
      const bool run = kind == 1;
      const Calendar::Span got = run ? calendar.TakeRun(from, count) : calendar.Take(from, count);
      const Calendar::Span want = run ? slow.TakeRun(from, count) : slow.Take(from, count);
      ASSERT_EQ(got.begin, want.begin) << "from " << from << " spread " << spread;
      ASSERT_EQ(got.end, want.end) << "from " << from << " spread " << spread;
    });
  }
}

// A request takes over the words of earlier slots when it is made, not when the next one is.
TEST(MemoryCalendar, ALongRunTakesOverWhatIsAWindowBefore) {
  Calendar calendar(kWindow);
  calendar.Take(0, 1);
  for (std::uint64_t slot = kWindow - 64; slot < kWindow + 64; ++slot) calendar.Take(slot, 1);
  EXPECT_EQ(calendar.Take(1, 1).begin, 64u);
  EXPECT_EQ(calendar.late(), 1u);
}

TEST(MemoryCalendar, KeepsClosedSlotsClosed) {
  for (const auto& [period, closed] :
       std::vector<std::pair<unsigned, unsigned>>{{64, 1}, {100, 30}, {130, 70}, {1663, 70}}) {
    Calendar calendar(kWindow, period, closed);
    SlowCalendar slow(period, closed);
    Drive(3, 50, 0.4, 3, [&, period = period](std::uint64_t from, unsigned count) {
      ASSERT_EQ(calendar.Take(from, count).end, slow.Take(from, count).end)
          << "from " << from << " period " << period;
    });
  }
}

TEST(MemoryCalendar, SlotsThatLeftTheWindowCountAsTaken) {
  Calendar calendar(kWindow);
  calendar.Take(10 + kWindow, 1);  // takes over the word of slots 0 to 63
  EXPECT_EQ(calendar.late(), 0u);
  EXPECT_EQ(calendar.Take(10, 1).begin, 64u);
  EXPECT_EQ(calendar.late(), 1u);
  EXPECT_EQ(calendar.TakeRun(20, 3).begin, 65u);
  EXPECT_EQ(calendar.late(), 2u);
}

TEST(MemoryCalendar, CountsARequestOnceHoweverManySlotsHaveLeftTheWindow) {
  Calendar calendar(kWindow);
  calendar.Take(64, 64);
  // These take over the four words behind it.
  for (unsigned word = 2; word < 6; ++word) calendar.Take(64 * word + kWindow, 1);
  EXPECT_EQ(calendar.Take(64, 2).begin, 64u * 6);
  EXPECT_EQ(calendar.late(), 1u);
}

TEST(MemoryCalendar, NeverGivesASlotTwiceHoweverFarApart) {
  Calendar calendar(kWindow);
  std::vector<bool> taken(1 << 20);
  std::mt19937 random(4);
  for (int i = 0; i < 50000; ++i) {
    const std::uint64_t slot = calendar.Take(random() % 1000000, 1).begin;
    ASSERT_LT(slot, taken.size());
    ASSERT_FALSE(taken[slot]) << slot;
    taken[slot] = true;
  }
}

MemoryConfig WithControllers(unsigned controllers) {
  MemoryConfig config;
  config.controllers = controllers;
  config.l2_slices_per_controller = 4;
  return config;
}

TEST(MemoryAddressMap, GivesEveryLineAPlaceOfItsOwn) {
  for (const unsigned controllers : {1u, 4u, 6u}) {
    const MemoryConfig config = WithControllers(controllers);
    const AddressMap map(config);
    constexpr std::uint64_t kLines = 1 << 16;
    std::vector<std::vector<bool>> used(controllers, std::vector<bool>(kLines + 64));
    for (std::uint64_t line = 0; line < kLines; ++line) {
      const AddressMap::Place place = map.Locate(line * kLineBytes);
      ASSERT_LT(place.controller, controllers);
      ASSERT_EQ(place.slice / config.l2_slices_per_controller, place.controller);
      const std::uint64_t local = place.local_address / kLineBytes;
      ASSERT_LT(local, kLines / controllers + 64) << "not dense";
      ASSERT_FALSE(used[place.controller][local]);
      used[place.controller][local] = true;
    }
  }
}

TEST(MemoryAddressMap, StridesOfPowersOfTwoUseAllControllersAndSlices) {
  for (const unsigned controllers : {4u, 6u}) {
    const MemoryConfig config = WithControllers(controllers);
    const AddressMap map(config);
    for (std::uint64_t stride = kLineBytes; stride <= (1u << 22); stride *= 2) {
      std::vector<unsigned> by_controller(controllers),
          by_slice(controllers * config.l2_slices_per_controller);
      constexpr unsigned kAccesses = 4096;
      for (std::uint64_t i = 0; i < kAccesses; ++i) {
        const AddressMap::Place place = map.Locate(i * stride);
        ++by_controller[place.controller];
        ++by_slice[place.slice];
      }
      for (const unsigned n : by_controller) {
        EXPECT_LT(n, 1.25 * kAccesses / controllers) << "stride " << stride;
      }
      for (const unsigned n : by_slice) {
        EXPECT_LT(n, 1.8 * kAccesses / by_slice.size()) << "stride " << stride;
      }
    }
  }
}

MemoryConfig Drawn() {
  MemoryConfig config = WithControllers(8);
  config.l2_slices_per_controller = 2;
  config.partition = "drawn";
  return config;
}

// The simulator calls rand() without a seed of its own.
TEST(MemoryDrawnMap, DrawsWhatTheCLibraryDraws) {
  DrawnMap map(Drawn());
  std::srand(1);
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const std::uint64_t address = i * 7 * kLineBytes;
    const auto slice = static_cast<unsigned>(std::rand()) % 16;
    const AddressMap::Place place = map.Locate(address);
    ASSERT_EQ(place.slice, slice) << "line " << i;
    ASSERT_EQ(place.controller, slice / 2);
  }
}

TEST(MemoryDrawnMap, EveryLineStaysAndHasAPlaceOfItsOwn) {
  for (const unsigned interleave : {128u, 256u, 1024u}) {
    MemoryConfig config = Drawn();
    config.interleave_bytes = interleave;
    DrawnMap map(config);
    std::set<std::pair<unsigned, std::uint64_t>> places;
    std::mt19937_64 random(interleave);
    for (unsigned i = 0; i < 20000; ++i) {
      const std::uint64_t address = (random() % (1u << 14) << 20) + 0x7f3000000000;
      const AddressMap::Place first = map.Locate(address);
      const AddressMap::Place again = map.Locate(address + 64);
      ASSERT_EQ(first.slice, again.slice);
      ASSERT_EQ(first.local_address, again.local_address);
      places.insert({first.controller, first.local_address});
      // An L2 slice drops the bits that tell it from its neighbour.
      const std::uint64_t chunk = first.local_address / interleave;
      ASSERT_EQ(chunk % 2, first.slice % 2);
      ASSERT_LT(first.local_address, std::uint64_t{1} << 25) << "not dense";
    }
    std::mt19937_64 same(interleave);
    std::set<std::uint64_t> lines;
    for (unsigned i = 0; i < 20000; ++i) lines.insert(same() % (1u << 14));
    EXPECT_EQ(places.size(), lines.size());
  }
}

// Sixteen slices, 32 lines at a time: the fullest slice has about five, not two.
TEST(MemoryDrawnMap, SpreadsLinesByChance) {
  DrawnMap map(Drawn());
  double fullest = 0;
  constexpr unsigned kGathers = 500;
  for (unsigned gather = 0; gather < kGathers; ++gather) {
    std::array<unsigned, 16> lines{};
    for (unsigned i = 0; i < 32; ++i) {
      ++lines[map.Locate((gather * 32 + i) * std::uint64_t{kLineBytes}).slice];
    }
    fullest += *std::max_element(lines.begin(), lines.end());
  }
  EXPECT_NEAR(fullest / kGathers, 5.0, 0.5);
}

}  // namespace
}  // namespace smk
