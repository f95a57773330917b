// SPDX-License-Identifier: Apache-2.0
// smk_work_queue against WorkQueue: every output, every cycle.
#include "common/lockstep.h"

#include <Vsmk_work_queue.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>

#include "common/seeds.h"
#include "control/driver/work_queue.h"

namespace smk {
namespace {

using Inputs = WorkQueue::Inputs;
constexpr unsigned kGroups = 1u << 13;

// The block and its reference; `distort` makes a second reference that has one rule broken.
class Bench {
 public:
  explicit Bench(std::uint64_t seed) : lockstep_("work_queue", seed) {
    Drive({});
    lockstep_.Reset();
  }
  void Cycle(Inputs in) {
    Drive(in);
    lockstep_.Eval();
    out_ = model_.Eval(in);
    const Vsmk_work_queue& dut = lockstep_.dut();
    lockstep_.Expect("request_ready", dut.request_ready_o, out_.request_ready);
    lockstep_.Expect("answer_valid", dut.answer_valid_o, out_.answer_valid);
    lockstep_.Expect("answer_group", dut.answer_group_o, out_.answer.group);
    lockstep_.Expect("answer_none", dut.answer_none_o, out_.answer.none);
    lockstep_.Expect("answer_second", dut.answer_second_o, out_.answer.second);
    lockstep_.Expect("answer_index", dut.answer_index_o, out_.answer.index);
    lockstep_.ClockEdge();
    if (distort) distort(&in);
    model_.Tick(in);
  }
  Lockstep<Vsmk_work_queue>& lockstep() { return lockstep_; }
  const WorkQueue::Outputs& out() const { return out_; }
  std::function<void(Inputs*)> distort;

 private:
  void Drive(const Inputs& in) {
    Vsmk_work_queue& dut = lockstep_.dut();
    dut.load_i = in.load;
    dut.count_first_i = in.count[0];
    dut.count_second_i = in.count[1];
    dut.split_i = in.split;
    dut.request_valid_i = in.request_valid;
    dut.request_group_i = in.request_group;
    dut.answer_ready_i = in.answer_ready;
  }

  Lockstep<Vsmk_work_queue> lockstep_;
  WorkQueue model_;
  WorkQueue::Outputs out_;
};

// Few or many work-groups, up to the largest number; a split of any size, or none.
void RollPair(Dice* dice, Inputs* in) {
  for (std::uint32_t& count : in->count) {
    count = dice->Percent(10) ? static_cast<std::uint32_t>(dice->Bits()) : dice->Below(40);
  }
  const unsigned below = dice->Percent(50) ? 8 : kGroups;
  in->split = static_cast<std::uint16_t>(dice->Percent(50) ? 0 : dice->Below(below));
}

// Pairs that are executed to the end and beyond, or broken off; requests and answers that wait.
void RunRandom(Bench* bench, std::uint64_t seed, unsigned cycles) {
  Dice dice(seed);
  Inputs in;
  unsigned asks = 50, takes = 50, groups = 8;
  for (unsigned i = 0; i < cycles && bench->lockstep().ok(); ++i) {
    in.load = dice.Percent(1);
    if (in.load) {
      RollPair(&dice, &in);
      asks = dice.Percent(20) ? 100 : dice.Below(101);
      takes = dice.Percent(20) ? 100 : dice.Below(101);
      groups = dice.Percent(50) ? 8 : kGroups;
    }
    const bool waits = in.request_valid && !bench->out().request_ready;
    if (!waits) {
      in.request_valid = dice.Percent(asks);
      in.request_group = static_cast<std::uint16_t>(dice.Below(groups));
    }
    in.answer_ready = dice.Percent(takes);
    bench->Cycle(in);
  }
}

TEST(WorkQueueLockstep, EqualsTheReferenceUnderRandomBackPressure) {
  RunSeeds(4, 200'000, RunRandom);
}

// Asks for the work-groups of a pair, one per cycle, as the groups on both sides of its split.
void Ask(Bench* bench, std::array<std::uint32_t, 2> count, unsigned split, unsigned requests) {
  Inputs in;
  in.load = true;
  in.count = count;
  in.split = static_cast<std::uint16_t>(split);
  bench->Cycle(in);
  in.load = false;
  in.request_valid = in.answer_ready = true;
  for (unsigned i = 0; i < requests && bench->lockstep().ok(); ++i) {
    in.request_group = static_cast<std::uint16_t>((split + kGroups - i % 2) % kGroups);
    bench->Cycle(in);
  }
}

// Counts and splits of one bit, and three more: without it a pair ends at once, or has no split.
TEST(WorkQueueLockstep, EachBitOfTheCountsAndOfTheSplitDecides) {
  Bench bench(1);
  for (unsigned bit = 0; bit < 32; ++bit) {
    const std::uint32_t one = 1u << bit;
    Ask(&bench, {one, one + 3}, one % kGroups, 20);
    Ask(&bench, {one + 3, one}, 0, 20);
  }
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

// Two kernels of a million work-groups less one, to the end.
TEST(WorkQueueLockstep, CountsAMillionWorkGroupsOfEachKernel) {
  Bench bench(1);
  constexpr std::uint32_t kMillion = 1u << 20;
  Ask(&bench, {kMillion - 1, kMillion - 1}, 0, 2 * kMillion);
  EXPECT_TRUE(bench.out().answer.none);
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(WorkQueueLockstep, AnswerComesOneCycleAfterTheRequest) {
  Bench bench(1);
  Inputs in;
  in.load = true;
  in.count = {2, 3};
  bench.Cycle(in);
  in.load = false;
  in.request_valid = in.answer_ready = true;
  const bool second[] = {false, true, false, true, true};
  const unsigned index[] = {0, 0, 1, 1, 2};
  for (unsigned i = 0; i < 5; ++i) {
    in.request_group = static_cast<std::uint16_t>(i);
    EXPECT_EQ(bench.lockstep().dut().answer_valid_o, i != 0 ? 1 : 0);
    bench.Cycle(in);
    EXPECT_EQ(bench.lockstep().dut().answer_valid_o, 1);
    EXPECT_EQ(bench.lockstep().dut().answer_second_o, second[i] ? 1 : 0);
    EXPECT_EQ(bench.lockstep().dut().answer_index_o, index[i]);
  }
  EXPECT_EQ(bench.lockstep().dut().answer_none_o, 0);
  bench.Cycle(in);
  EXPECT_EQ(bench.lockstep().dut().answer_none_o, 1) << "both are at their end";
  in.request_valid = false;
  bench.Cycle(in);
  EXPECT_EQ(bench.lockstep().dut().answer_valid_o, 0);
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(WorkQueueLockstep, FindsEachBrokenRule) {
  const std::function<void(Inputs*)> broken[] = {
      [](Inputs* in) { in->split ^= 1; },
      [](Inputs* in) { std::swap(in->count[0], in->count[1]); },
      [](Inputs* in) { in->count[1] += 1; },
      [](Inputs* in) { in->request_group ^= 1; },
      [](Inputs* in) { in->request_valid = false; },
      [](Inputs* in) { in->answer_ready = true; },
      [](Inputs* in) { in->load = in->load && in->split == 0; }};
  for (const auto& rule : broken) {
    Bench bench(GetTestOptions().seed);
    bench.distort = rule;
    RunRandom(&bench, GetTestOptions().seed, 50'000);
    EXPECT_THAT(bench.lockstep().mismatch(), testing::HasSubstr("expected")) << &rule - broken;
  }
}

}  // namespace
}  // namespace smk
