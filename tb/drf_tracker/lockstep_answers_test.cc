// SPDX-License-Identifier: Apache-2.0
// smk_drf_tracker against DrfTracker: answers that compare shares, to the bit.
#include <gtest/gtest.h>

#include <algorithm>

#include "drf_tracker/directed.h"

namespace smk {
namespace {

using drf_tracker::Directed;
using drf_tracker::Gtx980;
using drf_tracker::Question;

// An answer that compares shares is right in the fifth cycle after a change.
TEST(DrfTrackerLockstep, TheOrderOfSharesIsRightExactlyInTheFifthCycle) {
  Directed d;
  d.Dispatch(0, 1);
  Question ask;
  ask.pick_kernels = 0b0011;
  ask.pick_sms.fill(SmMask(0b0110));
  d.Settle(ask);
  ASSERT_EQ(d.bench.dut().pick_kernel_o, 0b0010);
  DrfTracker::Inputs in;
  in.dispatch_valid = true;
  in.dispatch_kernel = KernelId{1};
  in.dispatch_sm = SmId{2};
  d.Cycle(in, ask);
  for (int cycle = 1; cycle <= 5; ++cycle) {
    const std::uint64_t sm = BitsAt<KernelSms<Gtx980::Package>>(0, d.bench.dut().pick_sm_o);
    EXPECT_EQ(d.bench.dut().pick_kernel_o, cycle < 5 ? 0b0010 : 0b0001) << cycle;
    EXPECT_EQ(sm, cycle < 3 ? 0b0100u : 0b0010u) << cycle;
    d.Cycle({}, ask);
  }
}

TEST(DrfTrackerLockstep, TiesGoToTheLowestId) {
  Directed d;
  for (unsigned sm = 0; sm < Gtx980::kSms; ++sm) d.Dispatch(0, sm);
  for (unsigned sm = 0; sm < Gtx980::kSms; ++sm) d.Dispatch(2, sm);  // the same share of an SM
  for (unsigned low = 0; low < Gtx980::kSms; ++low) {
    Question ask;
    ask.victim_sms = SmMask(0xffffu << low & 0xffffu);
    ask.pick_sms.fill(ask.victim_sms);
    ask.pick_kernels = ask.victim_kernels = 0b0101;
    ask.victim_exclude = 3;
    d.Settle(ask);
    for (unsigned k = 0; k < kNumKernels; ++k) {
      EXPECT_EQ(BitsAt<KernelSms<Gtx980::Package>>(k, d.bench.dut().pick_sm_o), 1u << low);
    }
    EXPECT_EQ(d.bench.dut().victim_sm_o, 1u << low);
    EXPECT_EQ(d.bench.dut().pick_kernel_o, 0b0001);
    EXPECT_EQ(d.bench.dut().victim_kernel_o, 0b0001);
  }
}

// A tie of rK with all bits set, of each two kernels.
TEST(DrfTrackerLockstep, TiesOfEachTwoKernelsGoToTheLowestId) {
  Directed d;
  for (unsigned pair = 0; pair < kNumKernels * kNumKernels; ++pair) {
    const unsigned i = pair % kNumKernels, j = pair / kNumKernels;
    if (i >= j) continue;
    d.Launch({{{85, 0, 1, 1}, {85, 0, 1, 1}, {85, 0, 1, 1}, {85, 0, 1, 1}}});
    d.Dispatch(i, 5);
    d.Dispatch(j, 5);
    Question ask;
    ask.pick_kernels = ask.victim_kernels = static_cast<KernelMask>(1u << i | 1u << j);
    ask.victim_look = 5;
    d.Settle(ask);
    EXPECT_EQ(d.bench.Share(i), 0xffu);
    EXPECT_EQ(d.bench.dut().pick_kernel_o, 1u << i);
    EXPECT_EQ(d.bench.dut().victim_kernel_o, 1u << i);
    d.Empty();
  }
}

TEST(DrfTrackerLockstep, KernelsThatHaveNothingTakeTurnsBehindTheLast) {
  Directed d;
  for (unsigned last = 0; last < kNumKernels; ++last) {
    d.Dispatch(last, 5);
    d.Empty();
    for (unsigned mask = 1; mask < 1u << kNumKernels; ++mask) {
      Question ask;
      ask.pick_kernels = ask.victim_kernels = static_cast<KernelMask>(mask);
      d.Settle(ask);
      unsigned want = (last + 1) % kNumKernels;
      while ((mask >> want & 1) == 0) want = (want + 1) % kNumKernels;
      EXPECT_EQ(d.bench.dut().pick_kernel_o, 1u << want) << last << " came last, of " << mask;
    }
  }
}

TEST(DrfTrackerLockstep, VictimSmIsFoundWithoutTheCandidatesOwnTbs) {
  Directed d;
  for (unsigned sm = 0; sm < Gtx980::kSms; ++sm) {
    for (unsigned own = 0; own < kNumKernels; ++own) {
      const unsigned next = (sm + 1) % Gtx980::kSms, other = (own + 1) % kNumKernels;
      d.Launch({{{8, 8, 2, 1}, {8, 8, 2, 1}, {8, 8, 2, 1}, {8, 8, 2, 1}}});
      d.Dispatch(own, sm, 5);
      d.Dispatch(other, next, 2);
      Question ask;
      ask.victim_sms = SmMask(0xffff);
      ask.victim_exclude = other;
      d.Settle(ask);
      EXPECT_EQ(d.bench.dut().victim_sm_o, 1u << sm);
      ask.victim_exclude = own;
      d.Cycle({}, ask);
      EXPECT_EQ(d.bench.dut().victim_sm_o, 1u << next) << "later than the contract";
      d.Empty();
    }
  }
}

TEST(DrfTrackerLockstep, RangeShrinksOnlyWhenItBecomesSmaller) {
  Directed d;
  d.Dispatch(0, 1, 3);
  d.Dispatch(2, 1, 1);  // 3 : 1 becomes 2 : 2
  Question ask;
  ask.active = 0b0101;
  ask.range_sm = 1;
  ask.range_kernel = 2;
  ask.range_victim = 0;
  d.Settle(ask);
  EXPECT_TRUE(d.bench.dut().range_shrinks_o);
  ask.range_victim_tbs = 3;  // 3 : 1 would become 0 : 2
  for (int cycle = 0; cycle < 6; ++cycle) {
    EXPECT_TRUE(d.bench.dut().range_shrinks_o) << "earlier than the contract";
    d.Cycle({}, ask);
  }
  EXPECT_FALSE(d.bench.dut().range_shrinks_o) << "later than the contract";
  ask.range_victim_tbs = 1;
  d.Dispatch(2, 1, 1);  // 3 : 2 would become 2 : 3
  d.Settle(ask);
  EXPECT_FALSE(d.bench.dut().range_shrinks_o);
}

// Kernel i runs on one SM; two TBs of kernel j are reserved, a little more or less than that.
TEST(DrfTrackerLockstep, TbsAndRunningSmsAreComparedToTheBit) {
  Directed d(true);
  for (unsigned pair = 0; pair < kNumKernels * kNumKernels; ++pair) {
    const unsigned i = pair % kNumKernels, j = pair / kNumKernels;
    if (i == j) continue;
    for (unsigned less = 1; less < 256; less *= 2) {
      for (const unsigned shared_memory : {192 + less, 192 - std::min(less, 191u)}) {
        std::array<ResourceVector, kMaxKernels> needs;
        needs.fill({1, 1, 1, 1});
        needs[j].shared_memory = static_cast<std::uint16_t>(shared_memory);
        d.Launch(needs);
        d.Dispatch(i, less % Gtx980::kSms);
        d.Reserve(j, 2);
        Question ask;
        ask.pick_kernels = static_cast<KernelMask>(1u << i | 1u << j);
        d.Settle(ask);
        EXPECT_EQ(d.bench.dut().pick_kernel_o, 1u << (shared_memory > 192 ? i : j));
        d.Empty();
      }
    }
  }
}

// A TB of kernel j for the only one of kernel i: the range shrinks when it takes less. Both take a
// little, or one of them takes all of an SM.
TEST(DrfTrackerLockstep, TheRangeIsComparedToTheBit) {
  Directed d;
  for (unsigned pair = 0; pair < kNumKernels * kNumKernels; ++pair) {
    const unsigned i = pair % kNumKernels, j = pair / kNumKernels;
    if (i == j) continue;
    for (unsigned n = 0; n < 4 * 9; ++n) {
      const unsigned more = 1u << n / 4;
      const bool shrinks = n % 2 == 0;
      const unsigned base = n % 4 < 2 ? 100u : Gtx980::kLimits.shared_memory - more;
      std::array<ResourceVector, kMaxKernels> needs;
      needs.fill({1, static_cast<std::uint16_t>(base), 1, 1});
      needs[shrinks ? i : j].shared_memory += static_cast<std::uint16_t>(more);
      d.Launch(needs);
      Question ask;
      ask.range_sm = more % Gtx980::kSms;
      ask.active = static_cast<KernelMask>(1u << i | 1u << j);
      ask.range_kernel = j;
      ask.range_victim = i;
      d.Dispatch(i, ask.range_sm);
      d.Settle(ask);
      EXPECT_EQ(d.bench.dut().range_shrinks_o, shrinks) << base << " " << more;
      d.Empty();
    }
  }
}

// The highest rK is more than that of all SMs full, by reservations, and stays; one TB of kernel j
// comes, one of two of kernel i goes, and the lowest rK is what i has then: as much as j now, or
// one more.
TEST(DrfTrackerLockstep, LargeRangesAreComparedToTheBit) {
  constexpr unsigned kOfI = Gtx980::kSms - 2;
  Directed d;
  for (unsigned n = 0; n < 2 * kNumKernels * kNumKernels; ++n) {
    const unsigned i = n % kNumKernels, j = n / kNumKernels % kNumKernels;
    if (i == j) continue;
    const bool shrinks = n >= kNumKernels * kNumKernels;
    const unsigned high = i != 0 && j != 0 ? 0 : i != 1 && j != 1 ? 1 : 2;
    for (unsigned registers = 9; registers < 128; registers += 14) {
      const auto few = static_cast<std::uint16_t>(registers);  // an odd share, three for each
      std::array<ResourceVector, kMaxKernels> needs;
      needs.fill({255, 0, 1, 1});
      needs[i] = needs[j] = {few, 0, 1, 1};
      if (shrinks) needs[i] = {1, static_cast<std::uint16_t>((3 * registers + 1) / 2), 1, 1};
      d.Launch(needs);
      for (unsigned sm = 0; sm < kOfI; ++sm) d.Dispatch(high, sm);
      d.Reserve(high, 8);
      d.Dispatch(i, kOfI, 2);
      d.Dispatch(j, kOfI + 1);
      Question ask;
      ask.range_sm = kOfI;
      ask.active = static_cast<KernelMask>(1u << high | 1u << i | 1u << j);
      ask.range_kernel = j;
      ask.range_victim = i;
      d.Settle(ask);
      EXPECT_EQ(d.bench.dut().range_shrinks_o, shrinks) << registers;
      d.Empty();
    }
  }
}

}  // namespace
}  // namespace smk
