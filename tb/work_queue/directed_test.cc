// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "control/driver/work_queue.h"

namespace smk {
namespace {

using Inputs = WorkQueue::Inputs;

void Load(WorkQueue* queue, std::uint32_t first, std::uint32_t second, std::uint16_t split = 0) {
  Inputs in;
  in.load = true;
  in.count = {first, second};
  in.split = split;
  queue->Tick(in);
}

Inputs Request(std::uint16_t group) {
  Inputs in;
  in.request_valid = true;
  in.request_group = group;
  in.answer_ready = true;
  return in;
}

// What the group gets: "a0", "b2", or "-".
std::string Take(WorkQueue* queue, std::uint16_t group = 0) {
  queue->Tick(Request(group));
  const WorkQueue::Outputs out = queue->Eval({});
  EXPECT_TRUE(out.answer_valid);
  EXPECT_EQ(out.answer.group, group);
  if (out.answer.none) return "-";
  return (out.answer.second ? "b" : "a") + std::to_string(out.answer.index);
}

std::string TakeAll(WorkQueue* queue, const std::vector<std::uint16_t>& groups) {
  std::string taken;
  for (const std::uint16_t group : groups) taken += (taken.empty() ? "" : " ") + Take(queue, group);
  return taken;
}

// Fig. 3a: in turn, and the rest of the longer one at the end.
TEST(WorkQueueTest, InTurnAndTheRestAtTheEnd) {
  WorkQueue queue;
  Load(&queue, 2, 5);
  EXPECT_EQ(TakeAll(&queue, {0, 1, 2, 3, 4, 5, 6, 7, 8}), "a0 b0 a1 b1 b2 b3 b4 - -");
  Load(&queue, 4, 1);
  EXPECT_EQ(TakeAll(&queue, {0, 0, 0, 0, 0, 0}), "a0 b0 a1 a2 a3 -");
}

// Fig. 3b: a group below the split never executes the second kernel, and no other the first.
TEST(WorkQueueTest, EachGroupKeepsToItsKernelUnderASplit) {
  WorkQueue queue;
  Load(&queue, 2, 3, 1);
  EXPECT_EQ(TakeAll(&queue, {0, 1, 3, 0, 0, 2, 1, 0}), "a0 b0 b1 a1 - b2 - -");
}

TEST(WorkQueueTest, AKernelWithoutWorkGroupsGivesNone) {
  WorkQueue queue;
  EXPECT_EQ(Take(&queue, 7), "-") << "no pair yet";
  Load(&queue, 0, 2);
  EXPECT_EQ(TakeAll(&queue, {0, 0, 0}), "b0 b1 -");
  Load(&queue, 1, 0, 5);
  EXPECT_EQ(TakeAll(&queue, {9, 4, 4}), "- a0 -");
}

TEST(WorkQueueTest, AnswerWaitsAndNoRequestIsTakenMeanwhile) {
  WorkQueue queue;
  Load(&queue, 9, 9);
  Inputs in = Request(1);
  in.answer_ready = false;
  EXPECT_TRUE(queue.Eval(in).request_ready);
  queue.Tick(in);
  in.request_group = 2;
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(queue.Eval(in).request_ready);
    EXPECT_EQ(queue.Eval(in).answer.group, 1);
    queue.Tick(in);
  }
  in.answer_ready = true;
  EXPECT_TRUE(queue.Eval(in).request_ready) << "in the cycle in which the answer is taken";
}

TEST(WorkQueueTest, AStartRefusesRequestsAndKeepsTheAnswer) {
  WorkQueue queue;
  Load(&queue, 3, 3);
  Inputs in = Request(1);
  in.answer_ready = false;
  queue.Tick(in);
  in.load = true;
  in.count = {1, 1};
  EXPECT_FALSE(queue.Eval(in).request_ready);
  queue.Tick(in);
  EXPECT_TRUE(queue.Eval({}).answer_valid);
  EXPECT_EQ(queue.Eval({}).answer.group, 1);
  EXPECT_EQ(TakeAll(&queue, {5, 6, 7}), "a0 b0 -");
}

// Any sizes, any split, requests in any order: each once.
TEST(WorkQueueTest, EveryWorkGroupIsGivenOnce) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int n = 0; n < 300; ++n) {
    WorkQueue queue;
    const unsigned count[] = {static_cast<unsigned>(random() % 40),
                              static_cast<unsigned>(random() % 40)};
    const auto groups = static_cast<std::uint16_t>(2 + random() % 6);
    const auto split = static_cast<std::uint16_t>(random() % groups);
    Load(&queue, count[0], count[1], split);
    std::vector<int> given[] = {std::vector<int>(count[0]), std::vector<int>(count[1])};
    for (std::uint16_t group = 0; group < groups; ++group) {
      for (unsigned i = 0; i < 100; ++i) {
        const auto who = static_cast<std::uint16_t>(i < 50 ? random() % groups : group);
        queue.Tick(Request(who));
        const WorkQueue::Answer answer = queue.Eval({}).answer;
        if (!answer.none) ++given[answer.second ? 1 : 0].at(answer.index);
      }
    }
    for (const std::vector<int>& kernel : given) {
      ASSERT_TRUE(std::all_of(kernel.begin(), kernel.end(), [](int times) { return times == 1; }));
    }
  }
}

}  // namespace
}  // namespace smk
