// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>

#include "common/oracle.h"
#include "control/driver/drf_tracker.h"

namespace smk {
namespace {

constexpr ResourceVector kLimits{256, 384, 64, 32};

DrfTracker::Config ConfigOf(unsigned sms, bool count_running_sms = false) {
  return {sms, kLimits, ShareWeights::Of(kLimits), count_running_sms};
}

DrfTracker::Inputs DispatchOf(unsigned kernel, unsigned sm, bool reserved = false) {
  DrfTracker::Inputs in;
  in.dispatch_valid = true;
  in.dispatch_reserved = reserved;
  in.dispatch_kernel = static_cast<KernelId>(kernel);
  in.dispatch_sm = static_cast<SmId>(sm);
  return in;
}

void AddEvent(DrfTracker::Inputs* in, unsigned sm, EventKind kind, unsigned kernel,
              bool counted = false) {
  in->event_mask.Set(sm);
  in->event[sm].valid = true;
  in->event[sm].kind = kind;
  in->event[sm].kernel = static_cast<KernelId>(kernel);
  in->event[sm].counted = counted;
}

class DrfTrackerTest : public testing::Test {
 protected:
  void Tick(DrfTracker::Inputs in) {
    in.kernel_table = &kernels_;
    drf_.Tick(in);
  }
  void Dispatch(unsigned kernel, unsigned sm, unsigned tbs = 1) {
    for (unsigned i = 0; i < tbs; ++i) Tick(DispatchOf(kernel, sm));
  }
  void Event(unsigned sm, EventKind kind, unsigned kernel, bool counted = false) {
    DrfTracker::Inputs in;
    AddEvent(&in, sm, kind, kernel, counted);
    Tick(in);
  }
  void Preempt(unsigned victim, unsigned tbs, unsigned candidate) {
    DrfTracker::Inputs in;
    in.preempt_valid = in.reserve_valid = true;
    in.preempt_kernel = static_cast<KernelId>(victim);
    in.preempt_count = static_cast<std::uint8_t>(tbs);
    in.reserve_kernel = static_cast<KernelId>(candidate);
    Tick(in);
  }
  std::uint32_t PerTb(unsigned kernel) const { return kernels_.slot[kernel].share; }

  // Shares of one TB: 1/8 (registers), 1/4 (shared memory), 1/8 (threads), 1/32 (TBs).
  KernelTable::State kernels_ =
      oracle::Table({{32, 0, 4, 1}, {16, 96, 4, 1}, {8, 8, 8, 1}, {1, 1, 1, 1}}, kLimits);
  DrfTracker drf_{ConfigOf(4)};
};

TEST_F(DrfTrackerTest, DispatchCountsOnTheNextEdge) {
  EXPECT_EQ(drf_.KernelShare(1), 0u);
  Dispatch(1, 2);
  EXPECT_EQ(drf_.KernelShare(1), drf_.SmShare(2, std::nullopt, kernels_));
  EXPECT_EQ(drf_.KernelShare(1) * 4, ShareWeights::Of(kLimits).whole);
  EXPECT_EQ(drf_.state().resident[1][2], 1);
  EXPECT_EQ(drf_.state().taken[2], (ResourceVector{16, 96, 4, 1}));
  EXPECT_EQ(drf_.ResidentOn(2), 0b0010);
}

TEST_F(DrfTrackerTest, EveryWayOutGivesTheResourcesBack) {
  for (EventKind kind : {EventKind::kFinished, EventKind::kSaved, EventKind::kFlushed}) {
    Dispatch(0, 3);
    Event(3, kind, 0);
    EXPECT_EQ(drf_.KernelShare(0), 0u);
    EXPECT_EQ(drf_.state().taken[3], ResourceVector{});
    EXPECT_EQ(drf_.state().resident[0][3], 0);
  }
}

TEST_F(DrfTrackerTest, AFreedBufferChangesNothing) {
  Dispatch(0, 3);
  Event(3, EventKind::kBufferFree, 0);
  EXPECT_EQ(drf_.KernelShare(0), PerTb(0));
  EXPECT_EQ(drf_.state().resident[0][3], 1);
}

TEST_F(DrfTrackerTest, SharesChangeWhenAPreemptionIsDecidedNotWhenTbsMove) {
  Dispatch(0, 1, 4);
  Preempt(0, 2, 1);
  EXPECT_EQ(drf_.KernelShare(0), 2 * PerTb(0));
  EXPECT_EQ(drf_.KernelShare(1), PerTb(1));
  EXPECT_EQ(drf_.state().resident[0][1], 4) << "they are still there";
  Event(1, EventKind::kSaved, 0, true);
  Event(1, EventKind::kFinished, 0, true);  // a victim that finished before it could leave
  EXPECT_EQ(drf_.KernelShare(0), 2 * PerTb(0));
  EXPECT_EQ(drf_.state().resident[0][1], 2);
  Tick(DispatchOf(1, 1, true));
  EXPECT_EQ(drf_.KernelShare(1), PerTb(1));
}

TEST_F(DrfTrackerTest, CancelTakesTheReservedShareBack) {
  Dispatch(0, 1, 4);
  Preempt(0, 2, 1);
  DrfTracker::Inputs in;
  in.cancel_valid = true;
  in.reserve_kernel = KernelId{1};
  Tick(in);
  EXPECT_EQ(drf_.KernelShare(1), 0u);
}

TEST_F(DrfTrackerTest, ShortfallIsAddedBackOnlyWhereItStillCounts) {
  for (const bool counts : {true, false}) {
    DrfTracker drf(ConfigOf(4));
    std::swap(drf, drf_);
    Dispatch(0, 1, 3);
    Preempt(0, 3, 1);
    DrfTracker::Inputs in;
    AddEvent(&in, 1, EventKind::kSettled, 2);  // the event itself names nobody
    in.event[1].shortfall = 2;
    in.shortfall_kernel[1] = KernelId{0};
    in.shortfall_mask = SmMask(counts ? 0b0010 : 0b1101);
    Tick(in);
    EXPECT_EQ(drf_.KernelShare(0), counts ? 2 * PerTb(0) : 0u);
  }
}

TEST_F(DrfTrackerTest, DoneClearsTheKernelWhateverElseHappens) {
  Dispatch(0, 1, 3);
  DrfTracker::Inputs in;
  in.kernel_done = 0b0001;
  in.cancel_valid = true;
  in.reserve_kernel = KernelId{0};
  Tick(in);
  EXPECT_EQ(drf_.state().share[0], 0);
}

TEST_F(DrfTrackerTest, TakesOneEventOfEverySmInOneCycle) {
  for (unsigned sm = 0; sm < 4; ++sm) Dispatch(sm, sm, 2);
  DrfTracker::Inputs in = DispatchOf(0, 2);
  for (unsigned sm = 0; sm < 4; ++sm) AddEvent(&in, sm, EventKind::kFinished, sm);
  Tick(in);
  EXPECT_EQ(drf_.KernelShare(0), 2 * PerTb(0));
  for (unsigned k = 1; k < 4; ++k) EXPECT_EQ(drf_.KernelShare(k), PerTb(k));
  EXPECT_EQ(drf_.ResidentOn(2), 0b0101);
}

TEST_F(DrfTrackerTest, TiesGoToTheLowestId) {
  EXPECT_EQ(drf_.LowestKernel(0b1100), 2u);
  EXPECT_EQ(drf_.LowestSm(SmMask(0b1010), kernels_), 1u);
  EXPECT_EQ(drf_.HighestSm(SmMask(0b1010), 0, kernels_), 1u);
  Dispatch(2, 3);
  Dispatch(0, 3);  // both 1/8
  EXPECT_EQ(drf_.HighestKernelOn(3, 0b1111), 0u);
  EXPECT_EQ(drf_.LowestKernel(0b0101), 0u);
}

TEST_F(DrfTrackerTest, KernelsThatHaveNothingTakeTurns) {
  EXPECT_EQ(drf_.LowestKernel(0b1111), 0u) << "nobody has come yet";
  for (unsigned last = 0; last < kNumKernels; ++last) {
    Dispatch(last, 3);
    Event(3, EventKind::kFinished, last);
    for (KernelMask mask = 1; mask < 1 << kNumKernels; ++mask) {
      unsigned want = (last + 1) % kNumKernels;
      while ((mask >> want & 1) == 0) want = (want + 1) % kNumKernels;
      EXPECT_EQ(drf_.LowestKernel(mask), want) << last << " came last, of " << int{mask};
    }
  }
}

TEST_F(DrfTrackerTest, SmShareWithoutAKernelSumsTheOthersOnly) {
  Dispatch(0, 2, 2);
  Dispatch(1, 2, 3);
  EXPECT_EQ(drf_.SmShare(2, 1, kernels_), 2 * PerTb(0));
  EXPECT_EQ(drf_.SmShare(2, 0, kernels_), 3 * PerTb(1));
  Dispatch(0, 1, 3);
  EXPECT_EQ(drf_.HighestSm(SmMask(0b0110), 0, kernels_), 2u);
  EXPECT_EQ(drf_.HighestSm(SmMask(0b0110), 1, kernels_), 1u);
}

TEST_F(DrfTrackerTest, VictimIsTheHighestKernelOfTheWholeGpuThatIsOnTheSm) {
  Dispatch(0, 0, 1);
  Dispatch(3, 0, 2);
  EXPECT_EQ(drf_.HighestKernelOn(0, 0b1111), 0u);
  Dispatch(3, 1, 9);  // elsewhere, but it counts
  EXPECT_EQ(drf_.HighestKernelOn(0, 0b1111), 3u);
  EXPECT_EQ(drf_.HighestKernelOn(0, 0b0111), 0u);
  EXPECT_EQ(drf_.HighestKernelOn(0, 0b0110), std::nullopt);
}

TEST_F(DrfTrackerTest, FitsUpToTheLimitOfEachResource) {
  Dispatch(1, 0, 3);
  EXPECT_TRUE(drf_.Fits(0, {208, 96, 52, 29}));
  EXPECT_FALSE(drf_.Fits(0, {209, 96, 52, 29}));
  EXPECT_FALSE(drf_.Fits(0, {208, 97, 52, 29}));
  EXPECT_FALSE(drf_.Fits(0, {208, 96, 53, 29}));
  EXPECT_FALSE(drf_.Fits(0, {208, 96, 52, 30}));
  EXPECT_EQ(drf_.Free(0), (ResourceVector{208, 96, 52, 29}));
}

TEST_F(DrfTrackerTest, RunningSmsCountWhenSmsAreLimited) {
  drf_ = DrfTracker(ConfigOf(4, true));
  const std::uint32_t whole = ShareWeights::Of(kLimits).whole;
  Dispatch(3, 0);
  Dispatch(3, 2);
  EXPECT_EQ(drf_.KernelShare(3), 2 * whole) << "two SMs of four, though it takes little of them";
  EXPECT_EQ(drf_.KernelShareWith(3, 2, 1, kernels_), 2 * whole);
  EXPECT_EQ(drf_.KernelShareWith(3, 1, 1, kernels_), 3 * whole);
  EXPECT_EQ(drf_.KernelShareWith(3, 2, -1, kernels_), whole);
}

// Everything the tracker says, against a list of TBs from which all shares are summed anew.
class DrfTrackerRandom : public testing::TestWithParam<bool> {
 protected:
  static constexpr unsigned kSms = 5;
  struct Tb {
    unsigned kernel, sm;
    bool counted_out;
  };

  ResourceVector Taken(unsigned sm, std::optional<unsigned> except) const {
    ResourceVector sum;
    for (const Tb& tb : tbs_) {
      if (tb.sm == sm && tb.kernel != except) sum += needs_[tb.kernel];
    }
    return sum;
  }
  oracle::Share KernelShare(unsigned kernel) const {
    oracle::Share share = reserved_[kernel] * oracle::DominantShare(needs_[kernel], kLimits);
    std::array<bool, kSms> running{};
    for (const Tb& tb : tbs_) {
      if (tb.kernel != kernel) continue;
      running[tb.sm] = true;
      if (!tb.counted_out) share += oracle::DominantShare(needs_[kernel], kLimits);
    }
    const auto sms = static_cast<std::uint64_t>(std::count(running.begin(), running.end(), true));
    return GetParam() ? std::max(share, sms * oracle::Whole(kLimits)) : share;
  }
  void RandomCycle(std::mt19937* random, DrfTracker* drf, const KernelTable::State& kernels) {
    DrfTracker::Inputs in;
    Leave(random, &in);
    const unsigned k = oracle::Pick(random, kNumKernels);
    const unsigned sm = oracle::Pick(random, kSms);
    switch (oracle::Pick(random, 4)) {
      case 0:
        if (!oracle::Fits(Taken(sm, std::nullopt) + needs_[k], kLimits)) break;
        in = WithDispatch(in, k, sm);
        break;
      case 1:
        Victims(&in, k, sm, (k + 1) % kNumKernels);
        break;
      case 2:
        if (reserved_[k] == 0) break;
        in.cancel_valid = true;
        in.reserve_kernel = static_cast<KernelId>(k);
        --reserved_[k];
        break;
      default:
        break;
    }
    in.kernel_table = &kernels;
    drf->Tick(in);
  }
  // Up to one TB of each SM goes.
  void Leave(std::mt19937* random, DrfTracker::Inputs* in) {
    for (unsigned sm = 0; sm < kSms; ++sm) {
      if (oracle::Pick(random, 3) != 0) continue;
      const auto tb =
          std::find_if(tbs_.begin(), tbs_.end(), [&](const Tb& t) { return t.sm == sm; });
      if (tb == tbs_.end()) continue;
      const EventKind kinds[] = {EventKind::kFinished, EventKind::kSaved, EventKind::kFlushed};
      AddEvent(in, sm, kinds[oracle::Pick(random, 3)], tb->kernel, tb->counted_out);
      tbs_.erase(tb);
    }
  }
  DrfTracker::Inputs WithDispatch(DrfTracker::Inputs in, unsigned k, unsigned sm) {
    in.dispatch_valid = true;
    in.dispatch_reserved = reserved_[k] != 0;
    in.dispatch_kernel = static_cast<KernelId>(k);
    in.dispatch_sm = static_cast<SmId>(sm);
    if (reserved_[k] != 0) --reserved_[k];
    last_ = k;
    tbs_.push_back({k, sm, false});
    return in;
  }
  void Victims(DrfTracker::Inputs* in, unsigned k, unsigned sm, unsigned candidate) {
    unsigned count = 0;
    for (Tb& tb : tbs_) {
      if (tb.kernel != k || tb.sm != sm || tb.counted_out || count == 2) continue;
      tb.counted_out = true;
      ++count;
    }
    if (count == 0) return;
    in->preempt_valid = in->reserve_valid = true;
    in->preempt_kernel = static_cast<KernelId>(k);
    in->preempt_count = static_cast<std::uint8_t>(count);
    in->reserve_kernel = static_cast<KernelId>(candidate);
    ++reserved_[candidate];
  }

  std::vector<ResourceVector> needs_;
  std::vector<Tb> tbs_;
  std::array<unsigned, kMaxKernels> reserved_{};
  unsigned last_ = kNumKernels - 1;  // whose TB came last
};

TEST_P(DrfTrackerRandom, EqualsSharesSummedFromScratch) {
  const unsigned seed = oracle::Seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (unsigned k = 0; k < kNumKernels; ++k) needs_.push_back(oracle::RandomNeed(&random, kLimits));
  const KernelTable::State kernels = oracle::Table(needs_, kLimits);
  DrfTracker drf(ConfigOf(kSms, GetParam()));
  const oracle::Share scale = oracle::Whole(kLimits) / ShareWeights::Of(kLimits).whole;
  for (int cycle = 0; cycle < 20000; ++cycle) {
    RandomCycle(&random, &drf, kernels);
    // The lowest id of each share; the first behind the last one of those that have nothing.
    std::map<oracle::Share, unsigned> by_share;
    for (unsigned n = 1; n <= kNumKernels; ++n) {
      const unsigned k = (last_ + n) % kNumKernels;
      if (KernelShare(k) == 0) by_share.emplace(0, k);
    }
    for (unsigned k = 0; k < kNumKernels; ++k) {
      ASSERT_EQ(drf.KernelShare(k) * scale, KernelShare(k)) << "cycle " << cycle;
      by_share.emplace(KernelShare(k), k);
    }
    ASSERT_EQ(drf.LowestKernel(0b1111), by_share.begin()->second);
    const unsigned except = oracle::Pick(&random, kNumKernels);
    unsigned low = 0, high = 0;
    for (unsigned sm = 0; sm < kSms; ++sm) {
      const auto all = [&](unsigned i) {
        return oracle::DominantShare(Taken(i, std::nullopt), kLimits);
      };
      const auto some = [&](unsigned i) {
        return oracle::DominantShare(Taken(i, except), kLimits);
      };
      ASSERT_EQ(drf.SmShare(sm, std::nullopt, kernels) * scale, all(sm));
      ASSERT_EQ(drf.SmShare(sm, except, kernels) * scale, some(sm));
      if (all(sm) < all(low)) low = sm;
      if (some(sm) > some(high)) high = sm;
    }
    ASSERT_EQ(drf.LowestSm(SmMask(0b11111), kernels), low);
    ASSERT_EQ(drf.HighestSm(SmMask(0b11111), except, kernels), high);
  }
}
INSTANTIATE_TEST_SUITE_P(RunningSms, DrfTrackerRandom, testing::Bool());

}  // namespace
}  // namespace smk
