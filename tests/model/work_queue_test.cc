// SPDX-License-Identifier: Apache-2.0
// The work queue in hardware beside the one in the memory of a GPU.
#include "control/driver/work_queue.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "machine/merged_launch.h"
#include "test_options.h"

namespace smk {
namespace {

// What a request is answered, in its next cycle.
WorkQueue::Answer Ask(WorkQueue* queue, std::uint16_t group) {
  WorkQueue::Inputs in;
  in.request_valid = in.answer_ready = true;
  in.request_group = group;
  queue->Tick(in);
  return queue->Eval({}).answer;
}

// The same requests in the same order, pairs of any sizes, with any split or none: the same work.
TEST(WorkQueue, GivesWhatTheQueueInMemoryGives) {
  std::mt19937_64 random(GetTestOptions().seed);
  SCOPED_TRACE(testing::Message() << "seed " << GetTestOptions().seed);
  WorkQueue hardware;
  unsigned given = 0, none = 0;
  for (int pair = 0; pair < 500; ++pair) {
    WorkQueue::Inputs start;
    start.load = true;
    start.count = {static_cast<std::uint32_t>(random() % 60),
                   static_cast<std::uint32_t>(random() % 60)};
    const auto groups = static_cast<unsigned>(2 + random() % 30);
    start.split = static_cast<std::uint16_t>(random() % 2 == 0 ? 0 : random() % groups);
    hardware.Tick(start);
    std::vector<MergedLaunch::Member> members(2);
    for (unsigned i = 0; i < 2; ++i) members[i].tb_count = start.count[i];
    MergedLaunch memory(std::move(members), {start.split, 0});
    const auto requests = random() % 400;
    for (unsigned i = 0; i < requests; ++i) {
      const auto group = static_cast<std::uint16_t>(random() % groups);
      const auto item = memory.Take(TbId{group}, SmId{0});
      const WorkQueue::Answer answer = Ask(&hardware, group);
      ASSERT_EQ(answer.none, !item.has_value()) << "pair " << pair << ", request " << i;
      ASSERT_EQ(answer.group, group);
      (item ? given : none) += 1;
      if (!item) continue;
      ASSERT_EQ(answer.second ? 1u : 0u, item->member) << "pair " << pair << ", request " << i;
      ASSERT_EQ(answer.index, Index(item->tb)) << "pair " << pair << ", request " << i;
    }
  }
  EXPECT_GT(given, 10'000u);
  EXPECT_GT(none, 10'000u);
}

}  // namespace
}  // namespace smk
