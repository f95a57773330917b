// SPDX-License-Identifier: Apache-2.0
// rtl/driver/smk_drf_tracker.sv against DrfTracker: every output, every cycle.
#include <Vfermi_drf_tracker.h>
#include <Vfermi_drf_tracker_smk_pkg.h>
#include <Vsmk_drf_tracker.h>
#include <Vsmk_drf_tracker_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "unit/drf_tracker_bench.h"
#include "unit/drf_tracker_traffic.h"

namespace smk {
namespace {

using drf_tracker::Bench;
using drf_tracker::Question;
using drf_tracker::Step;
using drf_tracker::Traffic;

static_assert(PackageIsDefault<Vsmk_drf_tracker_smk_pkg>(), "rtl and model disagree");
static_assert(PackageFitsModel<Vfermi_drf_tracker_smk_pkg>(), "rtl and model disagree");

using Gtx980 = Bench<Vsmk_drf_tracker, Vsmk_drf_tracker_smk_pkg>;
using Fermi = Bench<Vfermi_drf_tracker, Vfermi_drf_tracker_smk_pkg>;

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

// Four kernels of which a TB takes 1/8 (registers), 1/4 (shared memory), 1/8 (threads), 1/32 of an
// SM, and what is done to them.
class Directed {
 public:
  explicit Directed(bool count_running_sms = false) : bench(1, count_running_sms) {
    Launch({{{32, 0, 4, 1}, {16, 96, 4, 1}, {8, 8, 8, 1}, {1, 1, 1, 1}}});
  }
  void Launch(const std::array<ResourceVector, kMaxKernels>& needs) {
    for (unsigned k = 0; k < kMaxKernels; ++k) Launch(k, needs[k]);
  }
  ~Directed() { EXPECT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch(); }

  void Launch(unsigned k, const ResourceVector& need) {
    step_.kernels.slot[k].need = need;
    step_.kernels.slot[k].share = Gtx980::Weights().Dominant(need);
    Cycle();
  }
  unsigned PerTb(unsigned k) const { return step_.kernels.slot[k].share; }
  void Cycle(const DrfTracker::Inputs& in = {}, const Question& ask = {}) {
    step_.in = in;
    step_.ask = ask;
    bench.Cycle(step_);
  }
  // Until all answers count.
  void Settle(const Question& ask = {}) {
    for (int i = 0; i < 10; ++i) Cycle({}, ask);
  }
  void Dispatch(unsigned k, unsigned sm, unsigned tbs = 1) {
    DrfTracker::Inputs in;
    in.dispatch_valid = true;
    in.dispatch_kernel = in.reserve_kernel = static_cast<KernelId>(k);
    in.dispatch_sm = static_cast<SmId>(sm);
    for (unsigned i = 0; i < tbs; ++i) Cycle(in);
  }
  // TBs that will follow a preemption: in rK, and on no SM.
  void Reserve(unsigned k, unsigned tbs) {
    DrfTracker::Inputs in;
    in.reserve_valid = true;
    in.dispatch_kernel = in.reserve_kernel = static_cast<KernelId>(k);
    for (unsigned i = 0; i < tbs; ++i) Cycle(in);
  }
  // Everybody leaves.
  void Empty() {
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      for (bool some = true; some;) {
        DrfTracker::Inputs in;
        for (unsigned sm = 0; sm < Gtx980::kSms; ++sm) {
          if (bench.model().state().resident[k][sm] != 0)
            AddEvent(sm, EventKind::kFinished, k, &in);
        }
        some = in.event_mask != 0;
        in.kernel_done = static_cast<KernelMask>(some ? 0u : 1u << k);
        Cycle(in);
      }
    }
    Cycle();
  }
  static void AddEvent(unsigned sm, EventKind kind, unsigned k, DrfTracker::Inputs* in) {
    in->event_mask |= 1u << sm;
    in->event[sm].kind = kind;
    in->event[sm].kernel = static_cast<KernelId>(k);
  }

  Gtx980 bench;

 private:
  Step step_;
};

TEST(DrfTrackerLockstep, CountsChangeOnTheNextEdgeAndSharesExactlyThreeLater) {
  Directed d;
  Question ask;
  ask.victim_look = 2;
  DrfTracker::Inputs in;
  in.dispatch_valid = true;
  in.dispatch_kernel = KernelId{1};
  in.dispatch_sm = SmId{2};
  d.Cycle(in, ask);  // compared before the edge: nothing is taken yet
  EXPECT_EQ(GetBits(d.bench.dut().resident_o, 2 * kMaxKernels, kMaxKernels), 0b0010u);
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

// An answer that compares shares is right in the fifth cycle after a change.
TEST(DrfTrackerLockstep, TheOrderOfSharesIsRightExactlyInTheFifthCycle) {
  Directed d;
  d.Dispatch(0, 1);
  Question ask;
  ask.pick_kernels = 0b0011;
  ask.pick_sms = {0b0110, 0b0110, 0b0110, 0b0110};
  d.Settle(ask);
  ASSERT_EQ(d.bench.dut().pick_kernel_o, 0b0010);
  DrfTracker::Inputs in;
  in.dispatch_valid = true;
  in.dispatch_kernel = KernelId{1};
  in.dispatch_sm = SmId{2};
  d.Cycle(in, ask);
  for (int cycle = 1; cycle <= 5; ++cycle) {
    const unsigned sm = GetBits(d.bench.dut().pick_sm_o, 0, Gtx980::kSms);
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
    ask.victim_sms = 0xffffu << low & 0xffffu;
    ask.pick_sms.fill(ask.victim_sms);
    ask.pick_kernels = ask.victim_kernels = 0b0101;
    ask.victim_exclude = 3;
    d.Settle(ask);
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      EXPECT_EQ(GetBits(d.bench.dut().pick_sm_o, Gtx980::kSms * k, Gtx980::kSms), 1u << low);
    }
    EXPECT_EQ(d.bench.dut().victim_sm_o, 1u << low);
    EXPECT_EQ(d.bench.dut().pick_kernel_o, 0b0001);
    EXPECT_EQ(d.bench.dut().victim_kernel_o, 0b0001);
  }
}

// A tie of rK with all bits set, of each two kernels.
TEST(DrfTrackerLockstep, TiesOfEachTwoKernelsGoToTheLowestId) {
  Directed d;
  for (unsigned pair = 0; pair < kMaxKernels * kMaxKernels; ++pair) {
    const unsigned i = pair % kMaxKernels, j = pair / kMaxKernels;
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
  settled.shortfall_mask = 0x7fff;  // the last one's victim kernel does not run any more
  d.Cycle(settled);
  d.Settle();
  EXPECT_EQ(d.bench.Share(3), (Gtx980::kSms - 1) * most * d.PerTb(3));
}

// Room on every SM, taken twice: TBs that fill an SM each, and as many that will replace others.
TEST(DrfTrackerLockstep, RoomReservedOnEverySmCountsBesideWhatIsTaken) {
  constexpr unsigned kWhole = Gtx980::kSms * Gtx980::Package::ShareWhole;
  for (unsigned k = 0; k < kMaxKernels; ++k) {
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
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    Directed d;
    d.Launch(k, {1, 1, 1, 1});
    for (unsigned sm = 0; sm < Gtx980::kSms; ++sm) d.Dispatch(k, sm, most);
    for (const unsigned last : {most, most - 1, most - 2}) {
      DrfTracker::Inputs preempt, settled;
      preempt.preempt_valid = true;
      preempt.preempt_kernel = static_cast<KernelId>(k);
      settled.shortfall_mask = 0xffff;
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
      ask.range_kernel = (k + 1) % kMaxKernels;
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
  for (unsigned k = 0; k < kMaxKernels; ++k) {
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
    settled.shortfall_mask = 0xffff;
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

TEST(DrfTrackerLockstep, VictimSmIsFoundWithoutTheCandidatesOwnTbs) {
  Directed d;
  for (unsigned sm = 0; sm < Gtx980::kSms; ++sm) {
    for (unsigned own = 0; own < kMaxKernels; ++own) {
      const unsigned next = (sm + 1) % Gtx980::kSms, other = (own + 1) % kMaxKernels;
      d.Launch({{{8, 8, 2, 1}, {8, 8, 2, 1}, {8, 8, 2, 1}, {8, 8, 2, 1}}});
      d.Dispatch(own, sm, 5);
      d.Dispatch(other, next, 2);
      Question ask;
      ask.victim_sms = 0xffff;
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

// Up to the last TB slot, of each kernel; whoever is looked at, and compared.
TEST(DrfTrackerLockstep, EveryKernelCanHaveAllOfEverySm) {
  Dice dice(1);
  Directed d;
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    d.Launch({{{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}}});
    for (unsigned n = 0; n < Gtx980::kSms; ++n) {
      d.Dispatch(k, (5 * n + k) % Gtx980::kSms, Gtx980::kLimits.tbs);
      Question ask;
      for (unsigned i = 0; i < 40; ++i) {
        if (i % 2 == 0) ask.victim_exclude = dice.Below(kMaxKernels);
        ask.victim_look = dice.Below(Gtx980::kSms);
        ask.victim_sms = 1u << ask.victim_look | 1u << dice.Below(Gtx980::kSms);
        ask.pick_sms.fill(ask.victim_sms);
        for (unsigned& sm : ask.look_sm) sm = dice.Below(Gtx980::kSms);
        ask.pick_kernels = static_cast<KernelMask>(1 + dice.Below(15));
        d.Cycle({}, ask);
      }
    }
    d.Empty();
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

// Kernel i runs on one SM; two TBs of kernel j are reserved, a little more or less than that.
TEST(DrfTrackerLockstep, TbsAndRunningSmsAreComparedToTheBit) {
  Directed d(true);
  for (unsigned pair = 0; pair < kMaxKernels * kMaxKernels; ++pair) {
    const unsigned i = pair % kMaxKernels, j = pair / kMaxKernels;
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
  for (unsigned pair = 0; pair < kMaxKernels * kMaxKernels; ++pair) {
    const unsigned i = pair % kMaxKernels, j = pair / kMaxKernels;
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
  for (unsigned n = 0; n < 2 * kMaxKernels * kMaxKernels; ++n) {
    const unsigned i = n % kMaxKernels, j = n / kMaxKernels % kMaxKernels;
    if (i == j) continue;
    const bool shrinks = n >= kMaxKernels * kMaxKernels;
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

TEST(DrfTrackerLockstep, FindsEachBrokenRule) {
  const std::function<void(Step*)> broken[] = {
      [](Step* s) { s->in.event[3].counted = false; },
      [](Step* s) { s->in.event_mask &= ~(s->in.event_mask & (s->in.event_mask - 1)); },
      [](Step* s) { s->in.dispatch_reserved = false; },
      [](Step* s) { s->in.shortfall_mask = ~0u; },
      [](Step* s) { s->in.preempt_count = 1; },
      [](Step* s) { s->in.cancel_valid = false; },
      [](Step* s) { s->in.kernel_done = 0; },
      [](Step* s) { s->ask.victim_exclude = 0; },
      [](Step* s) { s->ask.pick_sms[2] |= 1; },
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

}  // namespace
}  // namespace smk
