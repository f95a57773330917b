// SPDX-License-Identifier: Apache-2.0
// smk_tb_table against TbTable: every output, every cycle.
#include "common/lockstep.h"

#include <Vfermi_tb_table.h>
#include <Vfermi_tb_table_smk_pkg.h>
#include <Vsmk_tb_table.h>
#include <Vsmk_tb_table_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "common/seeds.h"
#include "control/sm/tb_table.h"

namespace smk {
namespace {

static_assert(PackageIsDefault<Vsmk_tb_table_smk_pkg>(), "rtl and model disagree");
static_assert(PackageFitsModel<Vfermi_tb_table_smk_pkg>(), "rtl and model disagree");

using Inputs = TbTable::Inputs;

// What the read ports are asked for in a cycle.
struct Question {
  std::uint32_t stop_slots = 0;
  unsigned read_slot = 0;
  unsigned context_slot = 0;
};

// The block and its reference. With `distort` the block is compared with a second reference that
// gets other inputs: one rule broken.
template <typename DutType, typename Pkg>
class Bench {
 public:
  using Dut = DutType;
  using Package = Pkg;
  static constexpr unsigned kSlots = Package::NumSlots;
  static constexpr TbTable::Config kConfig{Package::NumSchedulers, Package::NumWarps, kSlots};

  explicit Bench(std::uint64_t seed) : lockstep_("tb_table", seed) {
    Drive({}, {});
    lockstep_.Reset();
  }
  TbTable::Outputs Cycle(const Inputs& in, const Question& ask = {}) {
    Drive(in, ask);
    lockstep_.Eval();
    const TbTable::Outputs out = model_.Eval(in);
    Inputs distorted = in;
    if (distort) distort(&distorted);
    TbTable::Outputs broken;
    if (distort) broken = broken_.Eval(distorted);
    Compare(distort ? broken_ : model_, distort ? broken : out, distort ? distorted : in, ask);
    lockstep_.ClockEdge();
    model_.Tick(in, out);
    if (distort) broken_.Tick(distorted, broken);
    return out;
  }
  const TbTable::State& state() const { return model_.state(); }
  Lockstep<Dut>& lockstep() { return lockstep_; }
  std::function<void(Inputs*)> distort;

 private:
  using Slots = Bits<kSlots>;

  void Drive(const Inputs& in, const Question& ask) {
    Dut& dut = lockstep_.dut();
    dut.dispatch_valid_i = in.dispatch_valid;
    dut.dispatch_kernel_i = static_cast<CData>(Index(in.dispatch.kernel));
    dut.dispatch_tb_i = Index(in.dispatch.tb);
    dut.dispatch_restore_i = in.dispatch.restore;
    dut.dispatch_buffer_i = in.dispatch.buffer;
    dut.found_i = in.found;
    Pack<Slots>(in.allowed_slots, &dut.allowed_slots_i);
    dut.allowed_warps_i = in.allowed_warps;
    dut.launch_warps_i = in.launch_warps;
    Pack<TbBaseFields<Package>>(in.launch_base, &dut.launch_base_i);
    Pack<Slots>(in.finished, &dut.finished_i);
    dut.release_valid_i = in.release_valid;
    dut.release_slot_i = static_cast<CData>(Index(in.release_slot));
    dut.loaded_valid_i = in.loaded_valid;
    dut.loaded_slot_i = static_cast<CData>(Index(in.loaded_slot));
    Pack<Slots>(ask.stop_slots, &dut.stop_slots_i);
    dut.read_slot_i = static_cast<CData>(ask.read_slot);
    dut.context_slot_i = static_cast<CData>(ask.context_slot);
  }

  void Compare(const TbTable& want, const TbTable::Outputs& out, const Inputs& in,
               const Question& ask) {
    const Dut& dut = lockstep_.dut();
    const TbTable::State& s = want.state();
    lockstep_.Expect("launching", dut.launching_o, want.launching());
    lockstep_.Expect("look", dut.look_o, s.step == TbTable::Step::kSlots);
    lockstep_.Expect("chosen", dut.chosen_o, s.step == TbTable::Step::kIndex);
    if (want.launching()) {
      lockstep_.Expect("launch_kernel", dut.launch_kernel_o, Index(s.launch.kernel));
    }
    if (s.step > TbTable::Step::kChoose) {
      lockstep_.Expect("launch_slot", dut.launch_slot_o, Index(s.launch_slot));
    }
    CompareStart(out.warp_start);
    lockstep_.Expect("activate", dut.activate_o, out.activate);
    lockstep_.Expect("load", dut.load_o, out.load);
    lockstep_.Expect("valid", dut.valid_o, s.valid);
    lockstep_.Expect("running", dut.running_o, s.running);
    CompareMasks(s, in, ask);
    // What a slot holds is written in the cycle after it was chosen.
    if (s.step == TbTable::Step::kIndex) return;
    if ((s.valid >> ask.read_slot & 1) != 0) {
      lockstep_.Expect("read_kernel", dut.read_kernel_o, Index(s.kernel[ask.read_slot]));
      lockstep_.Expect("read_tb", dut.read_tb_o, Index(s.tb[ask.read_slot]));
    }
    if ((s.valid >> ask.context_slot & 1) != 0) {
      lockstep_.Expect("context_kernel", dut.context_kernel_o, Index(s.kernel[ask.context_slot]));
      lockstep_.Expect("context_buffer", dut.context_buffer_o, s.buffer[ask.context_slot]);
    }
  }

  void CompareStart(const WarpStart& want) {
    const Dut& dut = lockstep_.dut();
    ExpectMessage<WarpStartFields<Package>>(&lockstep_, "warp_start", dut.warp_start_o, want);
    lockstep_.Expect("start_valid", dut.start_valid_o,
                     want.valid ? 1u << Index(want.warp) % kConfig.num_schedulers : 0u);
  }

  // Masks that the reference's wiring makes from the state; of warps those of the last cycle.
  void CompareMasks(const TbTable::State& s, const Inputs& in, const Question& ask) {
    const Dut& dut = lockstep_.dut();
    lockstep_.Expect("leave_warps", dut.leave_warps_o, leave_warps_);
    lockstep_.Expect("stop_warps", dut.stop_warps_o, stop_warps_);
    std::uint32_t gone = in.finished;
    if (in.release_valid) gone |= 1u << Index(in.release_slot);
    lockstep_.Expect("gone", dut.gone_o, gone);
    for (unsigned k = 0; k < Package::NumKernels; ++k) {
      std::uint32_t slots = 0;
      for (unsigned slot = 0; slot < kSlots; ++slot) {
        slots |= (Index(s.kernel[slot]) == k ? 1u : 0u) << slot;
      }
      ExpectAt<KernelSlots<Package>>(&lockstep_, "slots_of", k, dut.slots_of_o, slots);
    }
    const std::uint32_t stopped = ask.stop_slots | (s.valid & ~s.running) | gone;
    leave_warps_ = stop_warps_ = 0;
    std::array<std::uint64_t, kMaxKernels> of_kernel{};
    for (unsigned slot = 0; slot < kSlots; ++slot) {
      if ((gone >> slot & 1) != 0) leave_warps_ |= s.warps[slot];
      if ((stopped >> slot & 1) != 0) stop_warps_ |= s.warps[slot];
      if ((s.valid >> slot & 1) != 0) of_kernel[Index(s.kernel[slot])] |= std::uint64_t{1} << slot;
    }
    ExpectMessage<KernelSlots<Package>>(&lockstep_, "kernel_slots", dut.kernel_slots_o, of_kernel);
  }

  Lockstep<Dut> lockstep_;
  TbTable model_{kConfig};
  TbTable broken_{kConfig};
  std::uint64_t leave_warps_ = 0, stop_warps_ = 0;
};

using Gtx980 = Bench<Vsmk_tb_table, Vsmk_tb_table_smk_pkg>;
using Fermi = Bench<Vfermi_tb_table, Vfermi_tb_table_smk_pkg>;

// TBs come, run, finish, are saved and come back, in slots and warps that are sometimes scarce.
template <typename AnyBench>
class Traffic {
 public:
  explicit Traffic(std::uint64_t seed) : dice_(seed) {}

  Inputs Next(const TbTable::State& s, unsigned cycle) {
    if (cycle % 512 == 0) ChangePhase();
    // Not in the middle of a launch.
    const bool launching = s.step != TbTable::Step::kNone;
    if (!launching) warps_ = next_warps_;
    Inputs in;
    in.allowed_slots = static_cast<std::uint32_t>((scarce_ ? dice_.Sparse(2) : ~0ull) &
                                                  ((std::uint64_t{1} << AnyBench::kSlots) - 1));
    in.found = !dice_.Percent(stall_);
    in.allowed_warps = dice_.Percent(stall_) ? dice_.Sparse(6) : ~0ull;
    if (AnyBench::kConfig.num_warps < 64) {
      in.allowed_warps &= (std::uint64_t{1} << AnyBench::kConfig.num_warps % 64) - 1;
    }
    constexpr auto kAll = static_cast<std::uint32_t>((std::uint64_t{1} << AnyBench::kSlots) - 1);
    if (s.step == TbTable::Step::kChoose && (in.allowed_slots & ~s.valid) == 0) {
      in.allowed_slots = kAll;
    }
    if (launching) in.launch_warps = warps_[Index(s.launch.kernel)];
    using P = typename AnyBench::Package;
    in.launch_base = {static_cast<std::uint16_t>(dice_.Below(P::LimitRegisters)),
                      static_cast<std::uint16_t>(dice_.Below(P::LimitSharedMemory))};
    GoAndLoad(s, &in);
    in.dispatch_valid = !launching && (kAll & ~s.valid) != 0 && dice_.Percent(arrive_);
    in.dispatch.kernel = static_cast<KernelId>(dice_.Below(kNumKernels));
    in.dispatch.tb = static_cast<TbId>(dice_.Bits());
    in.dispatch.restore = dice_.Percent(30);
    in.dispatch.buffer = static_cast<std::uint16_t>(dice_.Below(512));
    return in;
  }
  Question Ask() {
    return {
        static_cast<std::uint32_t>(dice_.Sparse(2) & ((std::uint64_t{1} << AnyBench::kSlots) - 1)),
        dice_.Below(AnyBench::kSlots), dice_.Below(AnyBench::kSlots)};
  }

 private:
  void ChangePhase() {
    scarce_ = dice_.Percent(30);
    stall_ = dice_.Percent(50) ? 0 : dice_.Below(80);
    arrive_ = 10 + dice_.Below(90);
    leave_ = 1 + dice_.Below(30);
    // Small TBs use all slots, large ones all warps.
    constexpr std::array<std::uint8_t, kMaxKernels> kSizes[] = {
        {1, 3, 8, 16}, {1, 1, 2, 2}, {2, 5, 35, AnyBench::kConfig.num_warps}};
    const unsigned size = dice_.Below(3);
    next_warps_ = kSizes[size];
    if (size == 1) leave_ = 1 + leave_ / 8;
  }
  void GoAndLoad(const TbTable::State& s, Inputs* in) {
    if (s.running != 0 && dice_.Percent(leave_)) {
      in->finished = static_cast<std::uint32_t>(dice_.Sparse(3)) & s.running;
    }
    if (s.running != 0 && dice_.Percent(leave_)) {
      in->release_valid = true;
      in->release_slot = static_cast<TbSlot>(dice_.BitOf(s.running));
    }
    std::uint32_t waiting = s.valid & ~s.running;
    if (s.step > TbTable::Step::kChoose) waiting &= ~(1u << Index(s.launch_slot));
    if (waiting != 0 && dice_.Percent(leave_)) {
      in->loaded_valid = true;
      in->loaded_slot = static_cast<TbSlot>(dice_.BitOf(waiting));
    }
  }

  Dice dice_;
  // Warps per TB of each kernel.
  std::array<std::uint8_t, kMaxKernels> warps_{}, next_warps_{};
  bool scarce_ = false;
  unsigned stall_ = 0, arrive_ = 0, leave_ = 0;
};

template <typename AnyBench>
void RunRandom(AnyBench* bench, std::uint64_t seed, unsigned cycles) {
  Traffic<AnyBench> traffic(seed);
  for (unsigned i = 0; i < cycles && bench->lockstep().ok(); ++i) {
    bench->Cycle(traffic.Next(bench->state(), i), traffic.Ask());
  }
}

TEST(TbTableLockstep, EqualsTheReferenceUnderRandomStimulus) {
  RunSeeds(4, 50'000, RunRandom<Gtx980>);
}

TEST(TbTableLockstep, EqualsTheReferenceInConfigurationFermi) {
  RunSeeds(2, 50'000, RunRandom<Fermi>);
}

Inputs Dispatch(unsigned kernel, unsigned tb, bool restore) {
  Inputs in;
  in.dispatch_valid = true;
  in.dispatch.kernel = static_cast<KernelId>(kernel);
  in.dispatch.tb = static_cast<TbId>(tb);
  in.dispatch.restore = restore;
  return in;
}

// A cycle in which a TB of four warps may be launched.
Inputs Launch() {
  Inputs in;
  in.allowed_slots = ~0u;
  in.allowed_warps = ~0ull;
  in.launch_warps = 4;
  return in;
}

// Until the first warp can start.
template <typename AnyBench>
void LookUp(AnyBench* bench) {
  for (unsigned cycle = 1; cycle < 6; ++cycle) {
    EXPECT_FALSE(bench->Cycle(Launch()).warp_start.valid) << "earlier than the contract: " << cycle;
  }
}

TEST(TbTableLockstep, TbIsActiveExactlyWithItsLastWarp) {
  Gtx980 bench(1);
  EXPECT_FALSE(bench.Cycle(Dispatch(2, 77, false)).warp_start.valid);
  LookUp(&bench);
  for (unsigned warp = 0; warp < 4; ++warp) {
    const TbTable::Outputs out = bench.Cycle(Launch());
    EXPECT_EQ(Index(out.warp_start.warp), warp);
    EXPECT_EQ(out.activate, warp == 3 ? 1u : 0u) << "warp " << warp;
  }
  EXPECT_FALSE(bench.lockstep().dut().launching_o);
  EXPECT_EQ(bench.lockstep().dut().running_o, 1u);
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(TbTableLockstep, RestoredTbRunsOnlyAfterItsContextIsLoaded) {
  Gtx980 bench(1);
  bench.Cycle(Dispatch(1, 5, true));
  LookUp(&bench);
  for (unsigned warp = 0; warp < 3; ++warp) EXPECT_EQ(bench.Cycle(Launch()).load, 0u);
  const TbTable::Outputs last = bench.Cycle(Launch());
  EXPECT_EQ(last.load, 1u);
  EXPECT_EQ(last.activate, 0u);
  bench.Cycle({});
  bench.Cycle({});
  EXPECT_EQ(bench.lockstep().dut().stop_warps_o, 0xfu) << "no warp runs before";
  Inputs loaded;
  loaded.loaded_valid = true;
  EXPECT_EQ(bench.Cycle(loaded).activate, 1u);
  EXPECT_EQ(bench.lockstep().dut().running_o, 1u);
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(TbTableLockstep, ASlotIsTakenExactlyFromTheCycleAfterItWasFreedOn) {
  Gtx980 bench(1);
  for (unsigned tb = 0; tb < 2; ++tb) {
    bench.Cycle(Dispatch(0, tb, false));
    LookUp(&bench);
    for (unsigned warp = 0; warp < 4; ++warp) bench.Cycle(Launch());
  }
  bench.Cycle(Dispatch(0, 2, false));
  Inputs freed = Launch(), chosen = Launch();
  freed.finished = 1;
  chosen.finished = 2;
  bench.Cycle(freed);
  bench.Cycle(chosen);
  EXPECT_EQ(bench.lockstep().dut().valid_o, 1u);
  EXPECT_EQ(bench.lockstep().dut().launch_slot_o, 0u);
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(TbTableLockstep, FindsEachBrokenRule) {
  const std::function<void(Inputs*)> broken[] = {
      [](Inputs* in) { in->allowed_slots = ~0u; },
      [](Inputs* in) { in->found = true; },
      [](Inputs* in) { in->allowed_warps = ~0ull; },
      [](Inputs* in) { in->dispatch.restore = false; },
      [](Inputs* in) { in->finished &= 0xfffe; },
      [](Inputs* in) { in->dispatch.buffer &= 0xff; },
      [](Inputs* in) { in->launch_base.shared_memory = 0; }};
  for (const auto& rule : broken) {
    Gtx980 bench(GetTestOptions().seed);
    bench.distort = rule;
    RunRandom(&bench, GetTestOptions().seed, 20'000);
    EXPECT_THAT(bench.lockstep().mismatch(), testing::HasSubstr("expected")) << &rule - broken;
  }
}

}  // namespace
}  // namespace smk
