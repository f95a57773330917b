// SPDX-License-Identifier: Apache-2.0
#include "memory/reply_order.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace smk {
namespace {

// Replies of several latencies, which some vary: hits, misses and what DRAM does out of order. In a
// part of the runs nobody takes them for a while, as when the queue behind them is full.
TEST(ReplyOrder, GivesWhatIsReadyFirstAndOfOneCycleWhatCameFirst) {
  constexpr unsigned kNames = 440;
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    ReplyOrder order;
    std::vector<ReplyLink> links(kNames);
    std::vector<std::uint32_t> free;
    for (std::uint32_t name = 0; name < kNames; ++name) free.push_back(name);
    std::set<std::pair<Cycle, std::uint64_t>> want;  // ready, number
    std::vector<std::uint64_t> number_of(kNames);
    std::uint64_t number = 0;
    for (Cycle now = 0; now < 5000; ++now) {
      for (unsigned i = random() % 4; i != 0 && !free.empty(); --i) {
        const std::uint32_t name = free.back();
        free.pop_back();
        const Cycle latency = random() % 3 == 0 ? 10 : 100 + random() % (1 + seed * 10);
        number_of[name] = number;
        want.emplace(now + latency, number++);
        order.Push(now + latency, name, &links);
      }
      ASSERT_EQ(order.size(), want.size());
      const bool stopped = seed % 2 != 0 && now / 200 % 2 != 0;
      for (unsigned i = 0; i < 3 && !stopped && order.first() <= now; ++i) {
        ASSERT_EQ(order.first(), want.begin()->first) << "cycle " << now;
        const std::uint32_t name = order.Pop(links);
        ASSERT_EQ(number_of[name], want.begin()->second) << "cycle " << now;
        want.erase(want.begin());
        free.push_back(name);
      }
    }
    EXPECT_GT(number, 1000u);
  }
}

TEST(ReplyOrder, IsEmptyAtFirstAndAfterTheLast) {
  ReplyOrder order;
  std::vector<ReplyLink> links(2);
  EXPECT_EQ(order.first(), kNever);
  order.Push(7, 1, &links);
  order.Push(5, 0, &links);
  EXPECT_EQ(order.first(), 5u);
  EXPECT_EQ(order.Pop(links), 0u);
  EXPECT_EQ(order.Pop(links), 1u);
  EXPECT_EQ(order.first(), kNever);
  EXPECT_EQ(order.size(), 0u);
}

}  // namespace
}  // namespace smk
