// SPDX-License-Identifier: Apache-2.0
// smk_drf_tracker against DrfTracker: every output, every cycle.
#include <Vfermi_drf_tracker.h>
#include <Vfermi_drf_tracker_smk_pkg.h>
#include <Vsmk_drf_tracker.h>
#include <Vsmk_drf_tracker_smk_pkg.h>
#include <Vv100_drf_tracker.h>
#include <Vv100_drf_tracker_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "drf_tracker/directed.h"
#include "drf_tracker/traffic.h"

namespace smk {
namespace {

using drf_tracker::Directed;
using drf_tracker::Fermi;
using drf_tracker::Gtx980;
using drf_tracker::Question;
using drf_tracker::Step;
using drf_tracker::Traffic;
using V100 = drf_tracker::Bench<Vv100_drf_tracker, Vv100_drf_tracker_smk_pkg>;

static_assert(PackageIsDefault<Vsmk_drf_tracker_smk_pkg>(), "rtl and model disagree");
static_assert(PackageFitsModel<Vfermi_drf_tracker_smk_pkg>(), "rtl and model disagree");
static_assert(PackageFitsModel<Vv100_drf_tracker_smk_pkg>(), "rtl and model disagree");

template <typename AnyBench>
void RunRandom(AnyBench* bench, std::uint64_t seed, unsigned cycles) {
  Traffic<AnyBench> traffic(seed);
  for (unsigned i = 0; i < cycles && bench->lockstep().ok(); ++i) {
    bench->Cycle(traffic.Next(bench->model(), i));
  }
}

template <typename AnyBench>
void RunSeeds(unsigned seeds, unsigned cycles, bool count_running_sms) {
  for (unsigned n = 0; n < seeds; ++n) {
    const std::uint64_t seed = GetTestOptions().seed + n;
    AnyBench bench(seed, count_running_sms);
    RunRandom(&bench, seed, cycles);
    ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
    EXPECT_GT(bench.order_answers, cycles / 10);
    EXPECT_GT(bench.range_answers, cycles / 100);
  }
}

TEST(DrfTrackerLockstep, EqualsTheReferenceUnderRandomStimulus) {
  EXPECT_EQ(Gtx980::Weights().whole, Gtx980::Package::ShareWhole);
  RunSeeds<Gtx980>(6, 20'000, false);
}
TEST(DrfTrackerLockstep, EqualsTheReferenceWhenRunningSmsCount) {
  RunSeeds<Gtx980>(4, 20'000, true);
}
TEST(DrfTrackerLockstep, EqualsTheReferenceInConfigurationFermi) {
  EXPECT_EQ(Fermi::Weights().whole, Fermi::Package::ShareWhole);
  for (const bool count_running_sms : {false, true}) RunSeeds<Fermi>(1, 20'000, count_running_sms);
}

TEST(DrfTrackerLockstep, EqualsTheReferenceWithEightySms) {
  EXPECT_EQ(V100::Weights().whole, V100::Package::ShareWhole);
  for (const bool count_running_sms : {false, true}) RunSeeds<V100>(1, 3'000, count_running_sms);
}

TEST(DrfTrackerLockstep, CountsChangeOnTheNextEdgeAndSharesExactlyThreeLater) {
  Directed d;
  Question ask;
  ask.victim_look = 2;
  DrfTracker::Inputs in;
  in.dispatch_valid = true;
  in.dispatch_kernel = KernelId{1};
  in.dispatch_sm = SmId{2};
  d.Cycle(in, ask);  // compared before the edge: nothing is taken yet
  EXPECT_EQ(BitsAt<SmKernels<Gtx980::Package>>(2, d.bench.dut().resident_o), 0b0010u);
  d.Cycle({}, ask);
  d.Cycle({}, ask);
  EXPECT_EQ(d.bench.Share(1), 0u) << "earlier than the contract";
  d.Cycle({}, ask);
  EXPECT_EQ(d.bench.dut().busy_o, 1);
  EXPECT_EQ(d.bench.Share(1), d.PerTb(1)) << "later than the contract";
  d.Cycle({}, ask);
  EXPECT_EQ(d.bench.dut().busy_o, 0);
  DrfTracker::Inputs gone;
  Directed::AddEvent(2, EventKind::kSaved, 1, &gone);
  d.Cycle(gone, ask);
  d.Settle();
  EXPECT_EQ(d.bench.Share(1), 0u);
}

TEST(DrfTrackerLockstep, TakesOneEventOfEverySmAndADispatchInOneCycle) {
  Directed d;
  for (unsigned sm = 0; sm < Gtx980::kSms; ++sm) d.Dispatch(3, sm, 2);
  DrfTracker::Inputs in;
  for (unsigned sm = 0; sm < Gtx980::kSms; ++sm) {
    Directed::AddEvent(sm, EventKind::kFinished, 3, &in);
  }
  in.dispatch_valid = true;
  in.dispatch_kernel = KernelId{3};
  in.dispatch_sm = SmId{5};
  d.Cycle(in);
  d.Settle();
  EXPECT_EQ(d.bench.Share(3), (Gtx980::kSms + 1) * d.PerTb(3));
}

TEST(DrfTrackerLockstep, AddsTheShortfallsOfAllSmsInOneCycle) {
  Directed d;
  const unsigned most = Gtx980::kLimits.tbs;
  for (unsigned sm = 0; sm < Gtx980::kSms; ++sm) d.Dispatch(3, sm, most);
  DrfTracker::Inputs preempt, settled;
  preempt.preempt_valid = true;
  preempt.preempt_kernel = KernelId{3};
  preempt.preempt_count = static_cast<std::uint8_t>(most);
  for (unsigned sm = 0; sm < Gtx980::kSms; ++sm) {
    d.Cycle(preempt);
    Directed::AddEvent(sm, EventKind::kSettled, 0, &settled);
    settled.event[sm].shortfall = static_cast<std::uint8_t>(most);
    settled.shortfall_kernel[sm] = KernelId{3};
  }
  d.Settle();
  EXPECT_EQ(d.bench.Share(3), 0u);
  settled.shortfall_mask = SmMask(0x7fff);  // the last one's victim kernel does not run any more
  d.Cycle(settled);
  d.Settle();
  EXPECT_EQ(d.bench.Share(3), (Gtx980::kSms - 1) * most * d.PerTb(3));
}

// Room on every SM, taken twice: TBs that fill an SM each, and as many that will replace others.
TEST(DrfTrackerLockstep, RoomReservedOnEverySmCountsBesideWhatIsTaken) {
  constexpr unsigned kWhole = Gtx980::kSms * Gtx980::Package::ShareWhole;
  for (unsigned k = 0; k < kNumKernels; ++k) {
    Directed d;
    ResourceVector need = Gtx980::kLimits;
    need.tbs = 1;
    d.Launch(k, need);
    DrfTracker::Inputs reserve;
    reserve.reserve_valid = true;
    reserve.reserve_kernel = static_cast<KernelId>(k);
    for (unsigned sm = 0; sm < Gtx980::kSms; ++sm) d.Cycle(reserve);
    for (unsigned sm = 0; sm < Gtx980::kSms; ++sm) d.Dispatch(k, sm);
    Question alone;
    alone.active = static_cast<KernelMask>(1u << k);
    alone.range_kernel = k;
    d.Settle(alone);
    EXPECT_EQ(d.bench.Share(k), 2 * kWhole);
    DrfTracker::Inputs gone;
    for (unsigned sm = 0; sm < Gtx980::kSms; ++sm) {
      Directed::AddEvent(sm, EventKind::kFlushed, k, &gone);
    }
    d.Cycle(gone);
    d.Settle();
    EXPECT_EQ(d.bench.Share(k), kWhole);
    d.Launch(k, {1, 1, 1, 1});
  }
}

// As many victims as on an SM or fewer, of which all stay.
TEST(DrfTrackerLockstep, AddsShortfallsOfEverySizeForEveryKernel) {
  const unsigned most = Gtx980::kLimits.tbs;
  for (unsigned k = 0; k < kNumKernels; ++k) {
    Directed d;
    d.Launch(k, {1, 1, 1, 1});
    for (unsigned sm = 0; sm < Gtx980::kSms; ++sm) d.Dispatch(k, sm, most);
    for (const unsigned last : {most, most - 1, most - 2}) {
      DrfTracker::Inputs preempt, settled;
      preempt.preempt_valid = true;
      preempt.preempt_kernel = static_cast<KernelId>(k);
      settled.shortfall_mask = SmMask(0xffff);
      unsigned victims = 0;
      for (unsigned sm = 0; sm < Gtx980::kSms; ++sm) {
        const unsigned tbs = sm % 4 == 0 ? last : std::max(last, most - 1);
        preempt.preempt_count = static_cast<std::uint8_t>(tbs);
        d.Cycle(preempt);
        Directed::AddEvent(sm, EventKind::kSettled, 0, &settled);
        settled.event[sm].shortfall = static_cast<std::uint8_t>(tbs);
        settled.shortfall_kernel[sm] = static_cast<KernelId>(k);
        victims += tbs;
      }
      Question ask;
      ask.range_kernel = (k + 1) % kNumKernels;
      ask.range_victim = k;
      ask.range_victim_tbs = last;
      d.Settle(ask);
      EXPECT_EQ(d.bench.Share(k), (Gtx980::kSms * most - victims) * d.PerTb(k));
      d.Cycle(settled);
      d.Settle();
      EXPECT_EQ(d.bench.Share(k), Gtx980::kSms * most * d.PerTb(k));
    }
  }
}

// Victims that finish uncounted after they were chosen take rK below zero until all SMs have
// settled.
TEST(DrfTrackerLockstep, ShareBelowZeroComesBackWhenNoVictimWasFound) {
  const unsigned most = Gtx980::kLimits.tbs;
  for (unsigned k = 0; k < kNumKernels; ++k) {
    Directed d;
    d.Launch(k, {8, 12, 2, 1});  // as many TBs as an SM has places, and none of it is left
    for (unsigned sm = 0; sm < Gtx980::kSms; ++sm) d.Dispatch(k, sm, most);
    DrfTracker::Inputs preempt, finish, settled;
    preempt.preempt_valid = true;
    preempt.preempt_kernel = static_cast<KernelId>(k);
    preempt.preempt_count = static_cast<std::uint8_t>(most);
    for (unsigned sm = 0; sm < Gtx980::kSms; ++sm) {
      d.Cycle(preempt);
      Directed::AddEvent(sm, EventKind::kFinished, k, &finish);
      Directed::AddEvent(sm, EventKind::kSettled, 0, &settled);
      settled.event[sm].shortfall = static_cast<std::uint8_t>(most);
      settled.shortfall_kernel[sm] = static_cast<KernelId>(k);
    }
    for (unsigned tb = 0; tb < most; ++tb) d.Cycle(finish);
    d.Settle();
    EXPECT_EQ(d.bench.Share(k), 0u);
    settled.shortfall_mask = SmMask(0xffff);
    d.Cycle(settled);
    d.Dispatch(k, 0);
    d.Settle();
    EXPECT_EQ(d.bench.Share(k), d.PerTb(k));
  }
}

TEST(DrfTrackerLockstep, DoneWinsOverEverythingElseInItsCycle) {
  Directed d;
  d.Dispatch(0, 4, 2);
  DrfTracker::Inputs in;
  Directed::AddEvent(4, EventKind::kFinished, 0, &in);
  d.Cycle(in);
  in.kernel_done = 0b0001;
  in.reserve_valid = true;
  in.reserve_kernel = KernelId{0};
  d.Cycle(in);
  d.Settle();
  EXPECT_EQ(d.bench.Share(0), 0u);
}

// Up to the last TB slot, of each kernel; whoever is looked at, and compared.
TEST(DrfTrackerLockstep, EveryKernelCanHaveAllOfEverySm) {
  Dice dice(1);
  Directed d;
  for (unsigned k = 0; k < kNumKernels; ++k) {
    d.Launch({{{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}}});
    for (unsigned n = 0; n < Gtx980::kSms; ++n) {
      d.Dispatch(k, (5 * n + k) % Gtx980::kSms, Gtx980::kLimits.tbs);
      Question ask;
      for (unsigned i = 0; i < 40; ++i) {
        if (i % 2 == 0) ask.victim_exclude = dice.Below(kNumKernels);
        ask.victim_look = dice.Below(Gtx980::kSms);
        ask.victim_sms = SmMask::Of(ask.victim_look) | SmMask::Of(dice.Below(Gtx980::kSms));
        ask.pick_sms.fill(ask.victim_sms);
        for (unsigned& sm : ask.look_sm) sm = dice.Below(Gtx980::kSms);
        ask.pick_kernels = static_cast<KernelMask>(1 + dice.Below(15));
        d.Cycle({}, ask);
      }
    }
    d.Empty();
  }
}

TEST(DrfTrackerLockstep, RunningSmsCountWhenTheyAreMore) {
  Directed d(true);
  d.Dispatch(3, 0);
  d.Dispatch(3, 7);
  d.Settle();
  EXPECT_EQ(d.bench.Share(3), 2 * Gtx980::Package::ShareWhole);
  DrfTracker::Inputs in;
  Directed::AddEvent(7, EventKind::kFlushed, 3, &in);
  d.Cycle(in);
  d.Settle();
  EXPECT_EQ(d.bench.Share(3), 1 * Gtx980::Package::ShareWhole);
}

TEST(DrfTrackerLockstep, FindsEachBrokenRule) {
  const std::function<void(Step*)> broken[] = {
      [](Step* s) { s->in.event[3].counted = false; },
      [](Step* s) {
        if (s->in.event_mask.Any()) s->in.event_mask = SmMask::Of(s->in.event_mask.Lowest());
      },
      [](Step* s) { s->in.dispatch_reserved = false; },
      [](Step* s) { s->in.shortfall_mask = SmMask::First(kMaxSms); },
      [](Step* s) { s->in.preempt_count = 1; },
      [](Step* s) { s->in.cancel_valid = false; },
      [](Step* s) { s->in.kernel_done = 0; },
      [](Step* s) { s->ask.victim_exclude = 0; },
      [](Step* s) { s->ask.pick_sms[2].Set(0); },
      [](Step* s) { s->ask.range_victim_tbs += 1; },
      [](Step* s) { s->ask.range_sm = 0; },
      [](Step* s) { s->ask.active |= 8; }};
  for (const auto& rule : broken) {
    Gtx980 bench(GetTestOptions().seed, &rule - broken == 10);
    bench.distort = rule;
    RunRandom(&bench, GetTestOptions().seed, 40'000);
    EXPECT_THAT(bench.lockstep().mismatch(), testing::HasSubstr("expected")) << &rule - broken;
  }
}

// What happens on one SM only, or what a question says of it: beyond 16 SMs, and in each word of a
// mask.
TEST(DrfTrackerLockstep, FindsEachBrokenRuleOnEachOfEightySms) {
  for (const unsigned sm : {16u, 32u, 64u, 79u}) {
    const std::function<void(Step*)> broken[] = {[sm](Step* s) { s->in.event_mask.Clear(sm); },
                                                 [sm](Step* s) { s->in.shortfall_mask.Set(sm); },
                                                 [sm](Step* s) {
                                                   for (SmMask& sms : s->ask.pick_sms) sms.Set(sm);
                                                 },
                                                 [sm](Step* s) { s->ask.victim_sms.Set(sm); }};
    for (const auto& rule : broken) {
      V100 bench(GetTestOptions().seed);
      bench.distort = rule;
      RunRandom(&bench, GetTestOptions().seed, 20'000);
      EXPECT_THAT(bench.lockstep().mismatch(), testing::HasSubstr("expected"))
          << &rule - broken << " of SM " << sm;
    }
  }
}

}  // namespace
}  // namespace smk
