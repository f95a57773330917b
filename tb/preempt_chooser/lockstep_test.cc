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
