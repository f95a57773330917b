// SPDX-License-Identifier: Apache-2.0
// smk_preempt_chooser against PreemptChooser: every output, every cycle.
#include "common/lockstep.h"

#include <Vfermi_preempt_chooser.h>
#include <Vfermi_preempt_chooser_smk_pkg.h>
#include <Vsmk_preempt_chooser.h>
#include <Vsmk_preempt_chooser_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "common/seeds.h"
#include "preempt_chooser/surroundings.h"

namespace smk {
namespace {

using preempt_chooser::Inputs;
using preempt_chooser::Surroundings;
using preempt_chooser::Tally;

static_assert(PackageIsDefault<Vsmk_preempt_chooser_smk_pkg>(), "rtl and model disagree");
static_assert(PackageFitsModel<Vfermi_preempt_chooser_smk_pkg>(), "rtl and model disagree");
static_assert(Vsmk_preempt_chooser_smk_pkg::TimeWidth == kTimeWidth, "rtl and model disagree");
static_assert(Vsmk_preempt_chooser_smk_pkg::TimeUnitLog2 == kTimeUnitLog2, "the same");

// The block and its reference. With `distort` the block is compared with a second reference that
// gets other inputs: one rule broken.
template <typename DutType, typename Pkg>
class Bench {
 public:
  using Dut = DutType;
  using Package = Pkg;
  static constexpr unsigned kSlots = Package::NumSlots;
  static constexpr unsigned kMaxLines = Package::MaxContextLines;

  explicit Bench(std::uint64_t seed) : lockstep_("preempt_chooser", seed) {
    Inputs idle;
    Connect(&idle);
    Drive(idle);
    lockstep_.Reset();
  }
  void Cycle(Inputs in) {
    Connect(&in);
    Drive(in);
    lockstep_.Eval();
    Inputs distorted = in;
    if (distort) distort(&distorted);
    const PreemptChooser::State& want = distort ? broken_.state() : model_.state();
    lockstep_.Expect("go", lockstep_.dut().go_o, want.go);
    lockstep_.Expect("flush", lockstep_.dut().flush_o, want.flush);
    lockstep_.Expect("busy", lockstep_.dut().busy_o, want.busy());
    lockstep_.ClockEdge();
    model_.Tick(in);
    if (distort) broken_.Tick(distorted);
  }
  void Cycles(const Inputs& in, unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) Cycle(in);
  }
  const PreemptChooser& model() const { return model_; }
  Lockstep<Dut>& lockstep() { return lockstep_; }
  std::array<KernelId, kMaxTbSlots> slot_kernel{};
  KernelViews views{};
  Tally tally;
  std::function<void(Inputs*)> distort;

 private:
  using Slots = Bits<kSlots>;

  void Connect(Inputs* in) const {
    in->slot_kernel = &slot_kernel;
    in->kernels = &views;
  }
  void Drive(const Inputs& in) {
    Dut& dut = lockstep_.dut();
    Pack<ChimeraFields<Package>>(in.chimera, &dut.chimera_i);
    dut.time_i = in.time;
    Pack<Slots>(in.activate, &dut.activate_i);
    Pack<Slots>(in.loaded, &dut.loaded_i);
    dut.ended_i = in.ended;
    Pack<Slots>(1u << in.ended_slot, &dut.ended_slot_i);
    dut.order_i = in.order;
    dut.mode_i = static_cast<CData>(in.mode);
    Pack<Slots>(in.leaving, &dut.leaving_i);
    Pack<Slots>(in.running, &dut.running_i);
    Pack<Slots>(in.flushable, &dut.flushable_i);
    std::array<std::uint32_t, kMaxKernels> slots_of{};
    for (unsigned s = 0; s < kSlots; ++s) slots_of[Index(slot_kernel[s])] |= 1u << s;
    Pack<KernelSlots<Package>>(slots_of, &dut.slots_of_i);
    Pack<ContextViews<Package>>(views, &dut.views_i);
  }

  Lockstep<Dut> lockstep_;
  PreemptChooser model_, broken_;
};

using Gtx980 = Bench<Vsmk_preempt_chooser, Vsmk_preempt_chooser_smk_pkg>;
using Fermi = Bench<Vfermi_preempt_chooser, Vfermi_preempt_chooser_smk_pkg>;

template <typename AnyBench>
void RunSeedsOf(unsigned seeds, unsigned cycles) {
  Tally tally;
  for (unsigned n = 0; n < seeds; ++n) {
    const std::uint64_t seed = GetTestOptions().seed + n;
    AnyBench bench(seed);
    Surroundings<AnyBench>(&bench, seed, &tally).Run(cycles);
    ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
  }
  // All that can happen must have happened often.
  EXPECT_GT(tally.drains, 500u);
  EXPECT_GT(tally.flushes, 500u);
  EXPECT_GT(tally.switches, 500u);
  EXPECT_GT(tally.none_in_time, 100u);
  EXPECT_GT(tally.measured, 500u);
  EXPECT_GT(tally.late, 100u);
  EXPECT_GT(tally.restored, 100u);
  EXPECT_GT(tally.wraps, 5u);
}

TEST(PreemptChooserLockstep, EqualsTheReferenceUnderRandomStimulus) {
  RunSeedsOf<Gtx980>(6, 100'000);
}

TEST(PreemptChooserLockstep, EqualsTheReferenceInConfigurationFermi) {
  RunSeedsOf<Fermi>(6, 100'000);
}

TEST(PreemptChooserLockstep, EqualsTheReferenceWhereOneBitDecides) {
  Tally tally;
  for (unsigned n = 0; n < 6; ++n) {
    Gtx980 bench(GetTestOptions().seed + n);
    Surroundings<Gtx980>(&bench, GetTestOptions().seed + n, &tally, true).Run(60'000);
    ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
  }
  EXPECT_GT(tally.drains, 500u);
  EXPECT_GT(tally.flushes, 500u);
  EXPECT_GT(tally.switches, 500u);
  EXPECT_GT(tally.late, 100u);
}

// The largest contexts in all slots, half a million units of time: from the 23rd on one in two is
// just in time to be saved, and one just too late: it ends.
TEST(PreemptChooserLockstep, SavesOfAllTbsAddUp) {
  Gtx980 bench(1);
  Inputs in;
  const std::uint32_t all = ~0u, no_limit = (1u << 24) - 1;
  in.chimera = {true, no_limit, 7};
  bench.views[0].context_lines = Gtx980::kMaxLines;
  in.activate = all;
  bench.Cycle(in);
  in.activate = 0;
  in.time = 400'000;
  in.ended = true;
  bench.Cycle(in);
  in.ended = false;
  bench.Cycles(in, 10);
  in.activate = in.running = all;
  in.order = true;
  in.mode = PreemptMode::kChimera;
  bench.Cycle(in);
  in.activate = 0;
  in.order = false;
  in.leaving = all;
  unsigned judged = 0;
  for (unsigned i = 0; i < 7 * Gtx980::kSlots; ++i) {
    const PreemptChooser::State& s = bench.model().state();
    const bool judges = s.step == PreemptChooser::Step::kJudge && s.saves_with >> 19 != 0;
    in.chimera.limit = judges ? (s.saves_with - judged % 2) << kTimeUnitLog2 : no_limit;
    judged += judges;
    bench.Cycle(in);
  }
  const int saved = __builtin_popcount(bench.lockstep().dut().go_o);
  EXPECT_GT(saved, 23);
  EXPECT_LT(saved, 30);
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

// A TB that runs no longer than its context moves may end, and one that does is saved: for contexts
// of each power of two, of each kernel.
TEST(PreemptChooserLockstep, EachBitOfAContextDecides) {
  for (unsigned lines = 1; lines <= Gtx980::kMaxLines; lines *= 2) {
    for (unsigned k = 0; k < 2 * kNumKernels; ++k) {
      Gtx980 bench(1);
      const bool late = k % 2 != 0;
      const std::uint32_t moved = 2 * (lines << 7 >> kTimeUnitLog2), mean = 2 * moved + 100;
      bench.slot_kernel[0] = static_cast<KernelId>(k / 2);
      bench.views[k / 2].context_lines = static_cast<std::uint16_t>(lines);
      Inputs in;
      in.chimera = {true, (1u << 24) - 1, 7};
      in.activate = 1;
      bench.Cycle(in);
      in.activate = 0;
      in.ended = true;
      in.time = mean;
      bench.Cycle(in);
      in.ended = false;
      bench.Cycles(in, 10);
      in.activate = in.running = 1;
      in.order = true;
      in.mode = PreemptMode::kChimera;
      bench.Cycle(in);
      in.activate = 0;
      in.order = false;
      in.leaving = 1;
      in.time += mean - moved - late;
      bench.Cycles(in, 10);
      EXPECT_EQ(bench.lockstep().dut().go_o, late ? 1u : 0u) << lines << " of " << k / 2;
      ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
    }
  }
}

TEST(PreemptChooserLockstep, NothingIsKeptUnlessItIsEnabled) {
  Gtx980 bench(1);
  Inputs in;
  in.activate = 1;
  in.time = 5;
  bench.Cycle(in);
  in.activate = 0;
  in.time = 50;
  in.ended = true;
  bench.Cycle(in);
  EXPECT_EQ(bench.lockstep().dut().busy_o, 0u);
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

// Not at n - 1, at n.
TEST(PreemptChooserLockstep, JudgesInSevenCycles) {
  Gtx980 bench(1);
  Inputs in;
  in.chimera = {true, 1000, 3};
  in.order = true;
  in.mode = PreemptMode::kChimera;
  in.running = 0b101;
  bench.Cycle(in);
  in.order = false;
  in.leaving = 0b101;
  bench.Cycles(in, 6);
  EXPECT_EQ(bench.lockstep().dut().go_o, 0u) << "earlier than the contract";
  bench.Cycle(in);
  EXPECT_EQ(bench.lockstep().dut().go_o, 0b100u) << "later than the contract";
  bench.Cycles(in, 6);
  EXPECT_EQ(bench.lockstep().dut().go_o, 0b100u);
  bench.Cycle(in);
  EXPECT_EQ(bench.lockstep().dut().go_o, 0b101u);
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(PreemptChooserLockstep, FindsEachBrokenRule) {
  const std::function<void(Inputs*)> broken[] = {
      [](Inputs* in) { in->flushable = ~0u; },
      [](Inputs* in) { in->flushable = 0; },
      [](Inputs* in) { in->loaded = 0; },
      [](Inputs* in) { in->ended = false; },
      [](Inputs* in) { in->ended_slot ^= 1; },
      [](Inputs* in) { in->activate &= ~2u; },
      [](Inputs* in) { in->chimera.limit += 1u << kTimeUnitLog2; },
      [](Inputs* in) { in->chimera.line ^= 1; },
      [](Inputs* in) { in->order = false; },
      [](Inputs* in) { in->time += in->order; },
      [](Inputs* in) { in->leaving &= ~1u; },
      [](Inputs* in) { in->running = ~0u; }};
  for (const auto& rule : broken) {
    Gtx980 bench(GetTestOptions().seed);
    bench.distort = rule;
    Tally tally;
    Surroundings<Gtx980>(&bench, GetTestOptions().seed, &tally).Run(100'000);
    EXPECT_THAT(bench.lockstep().mismatch(), testing::HasSubstr("expected")) << &rule - broken;
  }
}

}  // namespace
}  // namespace smk
