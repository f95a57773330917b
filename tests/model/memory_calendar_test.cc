// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "memory/address_map.h"
#include "memory/calendar.h"

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
  EXPECT_EQ(calendar.Take(10, 1).begin, 64u);
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

}  // namespace
}  // namespace smk
