// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "common/oracle.h"
#include "control/driver/kernel_table.h"

namespace smk {
namespace {

constexpr ResourceVector kLimits{256, 384, 64, 32};
constexpr ResourceVector kNeed{32, 0, 8, 1};
constexpr ResourceVector kOtherNeed{16, 24, 4, 1};

KernelTable::Inputs LaunchOf(unsigned kernel, ResourceVector need = kNeed, std::uint32_t tbs = 3) {
  KernelTable::Inputs in;
  in.launch_valid = true;
  in.launch_kernel = static_cast<KernelId>(kernel);
  in.launch.need = need;
  in.launch.tb_count = tbs;
  return in;
}

class KernelTableTest : public testing::Test {
 protected:
  KernelTable::Outputs Cycle(KernelTable::Inputs in = {}) {
    in.linger_ticks = linger_;
    const KernelTable::Outputs out = table_.Eval(in);
    table_.Tick(in);
    return out;
  }
  KernelTable::Outputs Finish(unsigned kernel, unsigned tbs) {
    KernelTable::Inputs in;
    in.finished[kernel] = static_cast<std::uint8_t>(tbs);
    return Cycle(in);
  }
  KernelTable::Outputs ChipTick() {
    KernelTable::Inputs in;
    in.tick = true;
    return Cycle(in);
  }
  const KernelTable::Slot& slot(unsigned kernel) const { return table_.state().slot[kernel]; }

  std::uint16_t linger_ = 2;
  KernelTable table_{{kLimits, ShareWeights::Of(kLimits)}};
};

TEST_F(KernelTableTest, LaunchIsTakenAtOnceAndVisibleOnTheNextEdge) {
  const KernelTable::Inputs in = LaunchOf(2);
  const KernelTable::Outputs out = table_.Eval(in);
  EXPECT_TRUE(out.launch_ready && out.launch_fire);
  EXPECT_EQ(out.launch_error, LaunchError::kNone);
  EXPECT_EQ(table_.active(), 0);
  table_.Tick(in);
  EXPECT_EQ(table_.active(), 0b0100);
  EXPECT_EQ(table_.members(), 0b0100);
  EXPECT_EQ(slot(2).share, ShareWeights::Of(kLimits).Dominant(kNeed));
}

TEST_F(KernelTableTest, RefusedLaunchSaysWhyAndChangesNothing) {
  Cycle(LaunchOf(0));
  const auto error = [&](const KernelTable::Inputs& in) {
    const KernelTable::Outputs out = Cycle(in);
    EXPECT_TRUE(out.launch_ready);  // refused, not held
    EXPECT_FALSE(out.launch_fire);
    EXPECT_EQ(table_.members(), 0b0001);
    return out.launch_error;
  };
  EXPECT_EQ(error(LaunchOf(0)), LaunchError::kSlotBusy);
  EXPECT_EQ(error(LaunchOf(4)), LaunchError::kBadSlot);
  EXPECT_EQ(error(LaunchOf(1, kNeed, 0)), LaunchError::kNoTbs);
  EXPECT_EQ(error(LaunchOf(1, {257, 0, 8, 1})), LaunchError::kTooLarge);
  EXPECT_EQ(error(LaunchOf(1, {0, 385, 8, 1})), LaunchError::kTooLarge);
  EXPECT_EQ(error(LaunchOf(1, {0, 0, 65, 1})), LaunchError::kTooLarge);
  EXPECT_EQ(error(LaunchOf(1, {8, 8, 0, 1})), LaunchError::kTooLarge);
  EXPECT_EQ(error(LaunchOf(1, {8, 8, 8, 0})), LaunchError::kTooLarge) << "one TB is one TB";
  EXPECT_EQ(error(LaunchOf(1, {8, 8, 8, 2})), LaunchError::kTooLarge) << "one TB is one TB";
  EXPECT_EQ(Cycle(LaunchOf(1, {256, 384, 64, 1})).launch_error, LaunchError::kNone);
}

TEST_F(KernelTableTest, IndicesAreHandedOutInOrder) {
  Cycle(LaunchOf(1));
  KernelTable::Inputs in;
  in.dispatch_new_valid = true;
  in.dispatch_new_kernel = KernelId{1};
  for (unsigned n = 0; n < 3; ++n) {
    EXPECT_EQ(slot(1).next_tb, n);
    Cycle(in);
  }
  EXPECT_EQ(slot(1).remaining(), 0u);
}

TEST_F(KernelTableTest, SliceBeginsAtItsFirstTbAndEndsAfterItsLast) {
  KernelTable::Inputs launch = LaunchOf(1, kNeed, 3);
  launch.launch.first_tb = 1000;
  Cycle(launch);
  KernelTable::Inputs in;
  in.dispatch_new_valid = true;
  in.dispatch_new_kernel = KernelId{1};
  for (unsigned n = 0; n < 3; ++n) {
    EXPECT_EQ(slot(1).next_tb, 1000 + n);
    EXPECT_EQ(slot(1).remaining(), 3 - n);
    Cycle(in);
  }
  Finish(1, 2);
  EXPECT_EQ(Cycle().kernel_done, 0) << "one TB is missing";
  Finish(1, 1);
  EXPECT_EQ(Cycle().kernel_done, 0b0010);
}

TEST_F(KernelTableTest, DoneOneCycleAfterTheLastTbAndForOneCycle) {
  Cycle(LaunchOf(1, kNeed, 5));
  EXPECT_EQ(Finish(1, 4).kernel_done, 0);
  EXPECT_EQ(Cycle().kernel_done, 0) << "one TB is missing";
  EXPECT_EQ(Finish(1, 1).kernel_done, 0) << "not in the cycle of the event";
  EXPECT_EQ(table_.active(), 0);
  EXPECT_EQ(Cycle().kernel_done, 0b0010);
  EXPECT_EQ(Cycle().kernel_done, 0) << "a pulse";
}

TEST_F(KernelTableTest, CountsCompletionsOfAllSmsInOneCycle) {
  Cycle(LaunchOf(0, kNeed, 32));
  Cycle(LaunchOf(3, kNeed, 20));
  KernelTable::Inputs in;
  in.finished[0] = 16;
  in.finished[3] = 16;
  Cycle(in);
  EXPECT_EQ(slot(0).completed, 16u);
  in.finished[3] = 4;
  Cycle(in);
  EXPECT_EQ(Cycle().kernel_done, 0b1001);
}

TEST_F(KernelTableTest, PlaceIsKeptForTheTicksGivenAndNoLonger) {
  Cycle(LaunchOf(1));
  Finish(1, 3);
  ChipTick();
  ChipTick();
  Cycle();
  EXPECT_EQ(table_.members(), 0b0010) << "earlier than the contract";
  ChipTick();
  EXPECT_EQ(table_.members(), 0);
  EXPECT_EQ(Cycle().member_expired, 0b0010);
  EXPECT_EQ(Cycle().member_expired, 0) << "a pulse";
}

TEST_F(KernelTableTest, RunningKernelsDoNotExpire) {
  Cycle(LaunchOf(1));
  for (int i = 0; i < 10; ++i) ChipTick();
  EXPECT_EQ(table_.members(), 0b0010);
}

TEST_F(KernelTableTest, SameNeedTakesItsPlaceBack) {
  Cycle(LaunchOf(2));
  Cycle(LaunchOf(0));
  Finish(2, 3);
  ChipTick();
  EXPECT_TRUE(Cycle(LaunchOf(2)).launch_same);
  EXPECT_EQ(slot(2).order, 0);
  EXPECT_EQ(slot(0).order, 1);
  EXPECT_EQ(slot(2).next_tb, 0u);
  EXPECT_EQ(slot(2).completed, 0u);
}

TEST_F(KernelTableTest, AnotherNeedArrivesLast) {
  Cycle(LaunchOf(2));
  Cycle(LaunchOf(0));
  Finish(2, 3);
  EXPECT_FALSE(Cycle(LaunchOf(2, kOtherNeed)).launch_same);
  EXPECT_EQ(slot(0).order, 0);
  EXPECT_EQ(slot(2).order, 1);
}

TEST_F(KernelTableTest, LaunchKeepsThePlaceThatExpiresInTheSameCycle) {
  linger_ = 0;
  Cycle(LaunchOf(2));
  Cycle(LaunchOf(0));
  Finish(2, 3);
  KernelTable::Inputs in = LaunchOf(2);
  in.tick = true;
  EXPECT_TRUE(Cycle(in).launch_same);
  EXPECT_EQ(slot(2).order, 0);
  EXPECT_EQ(Cycle().member_expired, 0);
  EXPECT_EQ(table_.members(), 0b0101);
}

TEST_F(KernelTableTest, ContextBufferIsThePowerOfTwoThatHoldsIt) {
  const ResourceVector whole_sm{kLimits.registers, kLimits.shared_memory, kLimits.threads, 1};
  for (const ResourceVector need : {kNeed, kOtherNeed, whole_sm, ResourceVector{0, 0, 1, 1}}) {
    KernelTable table({kLimits, ShareWeights::Of(kLimits)});
    KernelTable::Inputs in = LaunchOf(1, need);
    in.launch.context_base = 0x1234000;
    table.Tick(in);
    const KernelView view = table.Views()[1];
    // Registers of 4 bytes, shared memory, one line per warp, one for barriers.
    const unsigned lines =
        need.registers * 256 * 4 / 128 + need.shared_memory * 256 / 128 + need.threads + 1u;
    EXPECT_EQ(view.context_lines, lines);
    EXPECT_GE(1u << view.context_log2_lines, lines);
    EXPECT_LT((1u << view.context_log2_lines) / 2, lines);
    EXPECT_EQ(view.context_base, 0x1234000u);
  }
}

// Kernels come, run and go; the oracle is a list of members in order of arrival.
TEST_F(KernelTableTest, RanksFollowArrivalInRandomUse) {
  const unsigned seed = oracle::Seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  struct Member {
    unsigned kernel;
    ResourceVector need;
    unsigned left;
    unsigned ticks;
  };
  std::vector<Member> members;
  const auto find = [&](unsigned k) {
    return std::find_if(members.begin(), members.end(),
                        [&](const Member& m) { return m.kernel == k; });
  };
  for (int cycle = 0; cycle < 20000; ++cycle) {
    KernelTable::Inputs in;
    if (oracle::Pick(&random, 4) == 0) {
      const unsigned kernel = oracle::Pick(&random, 4);
      const auto& need = oracle::Pick(&random, 2) != 0 ? kNeed : kOtherNeed;
      in = LaunchOf(kernel, need, 1 + oracle::Pick(&random, 4));
    }
    in.tick = oracle::Pick(&random, 5) == 0;
    for (auto m = members.begin(); m != members.end();) {
      const bool launched = in.launch_valid && Index(in.launch_kernel) == m->kernel;
      if (m->left != 0) {
        const unsigned done = oracle::Pick(&random, std::min(m->left, 2u) + 1);
        in.finished[m->kernel] = static_cast<std::uint8_t>(done);
        m->left -= done;
        m->ticks = 0;
        // A launch is judged by the registers, in which the kernel still runs.
        if (launched) in.launch_valid = false;
      } else if (in.tick && !launched && m->ticks++ == linger_) {
        m = members.erase(m);
        continue;
      }
      ++m;
    }
    if (in.launch_valid) {
      const unsigned k = Index(in.launch_kernel);
      auto m = find(k);
      if (m != members.end() && m->need != in.launch.need) m = members.erase(m);
      m = find(k);
      if (m == members.end()) {
        members.push_back({k, in.launch.need, in.launch.tb_count, 0});
      } else {
        m->left = in.launch.tb_count;
        m->ticks = 0;
      }
    }
    Cycle(in);
    KernelMask want = 0, want_active = 0;
    for (unsigned i = 0; i < members.size(); ++i) {
      const Member& m = members[i];
      want |= static_cast<KernelMask>(1u << m.kernel);
      if (m.left != 0) want_active |= static_cast<KernelMask>(1u << m.kernel);
      ASSERT_EQ(slot(m.kernel).order, i) << "cycle " << cycle;
    }
    ASSERT_EQ(table_.members(), want) << "cycle " << cycle;
    ASSERT_EQ(table_.active(), want_active) << "cycle " << cycle;
  }
}

}  // namespace
}  // namespace smk
