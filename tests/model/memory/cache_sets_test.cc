// SPDX-License-Identifier: Apache-2.0
// The tags and the order of use of a cache, beside a list of ways per set.
#include "memory/cache_sets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace smk {
namespace {

// The ways of one set, least recently used first, and their tags.
struct ListedSet {
  explicit ListedSet(unsigned ways) : tags(ways, CacheSets::kNoTag) {
    for (unsigned way = 0; way < ways; ++way) order.push_back(way);
  }
  unsigned Find(std::uint32_t tag) const {
    const auto found = std::find(tags.begin(), tags.end(), tag);
    return found == tags.end() ? CacheSets::kNone : static_cast<unsigned>(found - tags.begin());
  }
  void Use(unsigned way) {
    order.erase(std::find(order.begin(), order.end(), way));
    order.push_back(way);
  }
  std::vector<std::uint32_t> tags;
  std::vector<unsigned> order;
};

std::vector<unsigned> OrderOf(const CacheSets& sets, unsigned set) {
  std::vector<unsigned> order{sets.Oldest(set)};
  while (order.back() != sets.Newest(set)) order.push_back(sets.Newer(set, order.back()));
  return order;
}

class CacheSetsOf : public testing::TestWithParam<unsigned> {};

TEST_P(CacheSetsOf, FindAndOrderAsListsDo) {
  const unsigned ways = GetParam();
  constexpr unsigned kSets = 3;
  CacheSets sets(kSets, ways);
  std::vector<ListedSet> want(kSets, ListedSet(ways));
  std::mt19937 random(ways);
  unsigned found = 0;
  for (int i = 0; i < 20'000; ++i) {
    const unsigned set = random() % kSets;
    // Some more than there are ways, in steps after which many have a byte in common.
    const std::uint32_t tag = random() % (ways + ways / 2 + 1) * 0x0100'0000 + i / 10'000;
    const unsigned way = want[set].Find(tag);
    ASSERT_EQ(sets.Find(set, tag), way);
    ASSERT_EQ(OrderOf(sets, set), want[set].order);
    found += way != CacheSets::kNone;
    const unsigned used = way != CacheSets::kNone ? way : want[set].order.front();
    if (way == CacheSets::kNone) {
      ASSERT_EQ(sets.Oldest(set), used);
      sets.SetTag(set, used, tag);
      want[set].tags[used] = tag;
    }
    sets.Use(set, used);
    want[set].Use(used);
  }
  EXPECT_GT(found, 3000u);
  EXPECT_LT(found, 17'000u);
}

INSTANTIATE_TEST_SUITE_P(Ways, CacheSetsOf, testing::Values(1, 2, 4, 7, 8, 9, 16, 24, 64),
                         testing::PrintToStringParamName());

TEST(CacheSets, HaveNoTagAtFirst) {
  const CacheSets sets(2, 16);
  for (std::uint32_t tag = 0; tag < 1000; ++tag) EXPECT_EQ(sets.Find(1, tag), CacheSets::kNone);
}

}  // namespace
}  // namespace smk
