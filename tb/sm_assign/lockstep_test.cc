// SPDX-License-Identifier: Apache-2.0
// smk_sm_assign against SmAssign: every output, every cycle.
#include "common/lockstep.h"

#include <Vfermi_sm_assign.h>
#include <Vfermi_sm_assign_smk_pkg.h>
#include <Vsmk_sm_assign.h>
#include <Vsmk_sm_assign_smk_pkg.h>
#include <Vv100_sm_assign.h>
#include <Vv100_sm_assign_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "common/seeds.h"
#include "control/driver/sm_assign.h"

namespace smk {
namespace {

static_assert(PackageIsDefault<Vsmk_sm_assign_smk_pkg>(), "rtl and model disagree");
static_assert(PackageFitsModel<Vfermi_sm_assign_smk_pkg>(), "rtl and model disagree");
static_assert(PackageFitsModel<Vv100_sm_assign_smk_pkg>(), "rtl and model disagree");

using Inputs = SmAssign::Inputs;

// The block and its reference. With `distort` the block is compared with a second reference that
// gets other inputs: one rule broken.
template <typename DutType, typename Pkg>
class Bench {
 public:
  using Dut = DutType;
  using Package = Pkg;
  static constexpr unsigned kSms = Pkg::NumSms;

  explicit Bench(std::uint64_t seed) : lockstep_("sm_assign", seed) {
    Drive({});
    lockstep_.Reset();
  }
  void Cycle(const Inputs& in) {
    Drive(in);
    lockstep_.Eval();
    Compare(distort ? broken_ : model_);
    lockstep_.ClockEdge();
    model_.Tick(in);
    Inputs distorted = in;
    if (distort) distort(&distorted);
    broken_.Tick(distorted);
  }
  const SmAssign::State& state() const { return model_.state(); }
  Lockstep<Dut>& lockstep() { return lockstep_; }
  std::function<void(Inputs*)> distort;

 private:
  void Drive(const Inputs& in) {
    Dut& dut = lockstep_.dut();
    dut.start_i = in.start;
    dut.members_i = in.members;
    dut.spatial_i = in.spatial;
    dut.profile_i = in.profile;
    dut.kernels_per_sm_i = in.kernels_per_sm;
  }
  void Compare(const SmAssign& want) {
    const Dut& dut = lockstep_.dut();
    lockstep_.Expect("busy", dut.busy_o, want.state().busy);
    ExpectMessage<Bits<kSms>>(&lockstep_, "changed", dut.changed_o, want.state().changed);
    lockstep_.Expect("apart", dut.apart_o, 1u << (want.state().apart - 1));
    ExpectMessage<SmKernels<Package>>(&lockstep_, "allowed", dut.allowed_o, want.state().allowed);
  }

  Lockstep<Dut> lockstep_;
  SmAssign model_{{kSms}};
  SmAssign broken_{{kSms}};
};

using Gtx980 = Bench<Vsmk_sm_assign, Vsmk_sm_assign_smk_pkg>;
using Fermi = Bench<Vfermi_sm_assign, Vfermi_sm_assign_smk_pkg>;
using V100 = Bench<Vv100_sm_assign, Vv100_sm_assign_smk_pkg>;

// Kernels come and go, sometimes during a walk; the configuration changes with a start, or while
// nothing is decided.
class Traffic {
 public:
  explicit Traffic(std::uint64_t seed) : dice_(seed) {}

  Inputs Next(const SmAssign::State& s) {
    const unsigned percent = s.busy ? 3 : 30;
    in_.start = dice_.Percent(percent);
    in_.members = static_cast<KernelMask>(dice_.Below(16));
    if ((in_.start || !s.busy) && dice_.Percent(50)) {
      in_.spatial = dice_.Percent(30);
      in_.profile = dice_.Percent(50);
      in_.kernels_per_sm = static_cast<std::uint8_t>(1 + dice_.Below(kNumKernels));
    }
    return in_;
  }

 private:
  Dice dice_;
  Inputs in_{false, 0, false, false, kNumKernels};
};

template <typename AnyBench>
void RunRandom(AnyBench* bench, std::uint64_t seed, unsigned cycles) {
  Traffic traffic(seed);
  for (unsigned i = 0; i < cycles && bench->lockstep().ok(); ++i) {
    bench->Cycle(traffic.Next(bench->state()));
  }
}

TEST(SmAssignLockstep, EqualsTheReferenceUnderRandomStimulus) {
  RunSeeds(4, 50'000, RunRandom<Gtx980>);
}

TEST(SmAssignLockstep, EqualsTheReferenceInConfigurationFermi) {
  RunSeeds(2, 50'000, RunRandom<Fermi>);
}

TEST(SmAssignLockstep, EqualsTheReferenceWithEightySms) { RunSeeds(2, 50'000, RunRandom<V100>); }

// All walks there are: every set of kernels under every configuration, each after every other set.
TEST(SmAssignLockstep, EqualsTheReferenceForAllSetsOfKernels) {
  Gtx980 bench(1);
  for (unsigned settings = 0; settings < 16; ++settings) {
    Inputs in;
    in.spatial = (settings & 1) != 0;
    in.profile = (settings & 2) != 0;
    in.kernels_per_sm = static_cast<std::uint8_t>(1 + settings / 4);
    for (unsigned sets = 0; sets < 256; ++sets) {
      for (const unsigned members : {sets % 16, sets / 16}) {
        in.members = static_cast<KernelMask>(members);
        in.start = true;
        bench.Cycle(in);
        in.start = false;
        while (bench.state().busy) bench.Cycle(in);
      }
    }
  }
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

// Two kernels, one per SM: the first has the even SMs.
TEST(SmAssignLockstep, LastSmIsVisibleExactlyOneCyclePerSmAfterTheStart) {
  Gtx980 bench(1);
  Inputs in{true, 0b0011, false, false, 1};
  bench.Cycle(in);
  in.start = false;
  for (unsigned n = 0; n < 15; ++n) bench.Cycle(in);
  EXPECT_TRUE(bench.lockstep().dut().busy_o) << "earlier than the contract";
  EXPECT_EQ(BitsAt<SmKernels<Gtx980::Package>>(15, bench.lockstep().dut().allowed_o), 0u);
  bench.Cycle(in);
  EXPECT_FALSE(bench.lockstep().dut().busy_o) << "later than the contract";
  EXPECT_EQ(BitsAt<SmKernels<Gtx980::Package>>(15, bench.lockstep().dut().allowed_o), 0b0010u);
  EXPECT_EQ(bench.lockstep().dut().changed_o, 0x8000u);
  bench.Cycle(in);
  EXPECT_EQ(bench.lockstep().dut().changed_o, 0u) << "a pulse";
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(SmAssignLockstep, AllSmsAreVisibleTwoCyclesAfterTheStart) {
  V100 bench(1);
  Inputs in{true, 0b1111, true, false, 1};
  bench.Cycle(in);
  EXPECT_TRUE(bench.lockstep().dut().busy_o) << "earlier than the contract";
  in.start = false;
  bench.Cycle(in);
  EXPECT_FALSE(bench.lockstep().dut().busy_o) << "later than the contract";
  for (const unsigned sm : {0u, 20u, 40u, 79u}) {
    EXPECT_EQ(BitsAt<SmKernels<V100::Package>>(sm, bench.lockstep().dut().allowed_o),
              1u << sm / 20);
  }
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

// Three kernels, two per SM: every third SM hosts the same, whatever is configured afterwards.
TEST(SmAssignLockstep, ConfigurationIsNotLookedAtWhenNotBusy) {
  Gtx980 bench(1);
  Inputs in{true, 0b0111, false, false, 2};
  bench.Cycle(in);
  in.start = false;
  while (bench.state().busy) bench.Cycle(in);
  for (unsigned settings = 0; settings < 16; ++settings) {
    in.spatial = (settings & 1) != 0;
    in.profile = (settings & 2) != 0;
    in.kernels_per_sm = static_cast<std::uint8_t>(1 + settings / 4);
    bench.Cycle(in);
    bench.Cycle(in);
    EXPECT_EQ(bench.lockstep().dut().apart_o, 0b100u) << settings;
    EXPECT_EQ(BitsAt<SmKernels<Gtx980::Package>>(0, bench.lockstep().dut().allowed_o), 0b011u);
  }
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(SmAssignLockstep, FindsEachBrokenRule) {
  const std::function<void(Inputs*)> broken[] = {
      [](Inputs* in) { in->start = in->start && in->members != 0b1111; },
      [](Inputs* in) { in->members &= 0b0111; },
      [](Inputs* in) { in->spatial = false; },
      [](Inputs* in) { in->profile = false; },
      [](Inputs* in) { in->kernels_per_sm = std::max<std::uint8_t>(in->kernels_per_sm, 2); },
      [](Inputs* in) { in->kernels_per_sm = std::min<std::uint8_t>(in->kernels_per_sm, 3); }};
  for (const auto& rule : broken) {
    Gtx980 bench(GetTestOptions().seed);
    bench.distort = rule;
    RunRandom(&bench, GetTestOptions().seed, 20'000);
    EXPECT_THAT(bench.lockstep().mismatch(), testing::HasSubstr("expected")) << &rule - broken;
  }
}

// The last cycle of a walk over 80 SMs is that of SM 79: a start that comes then is seen there
// only.
TEST(SmAssignLockstep, FindsAWalkThatEndsTooEarlyWithEightySms) {
  for (const unsigned decided : {15u, 31u, 63u, 79u}) {
    V100 bench(GetTestOptions().seed);
    Inputs in{true, 0b0011, false, false, 1};
    bench.Cycle(in);
    in.start = false;
    for (unsigned sm = 0; sm < decided; ++sm) bench.Cycle(in);
    bench.distort = [](Inputs* distorted) { distorted->kernels_per_sm = 2; };
    for (unsigned n = 0; n < 80; ++n) bench.Cycle(in);
    EXPECT_THAT(bench.lockstep().mismatch(), testing::HasSubstr("expected")) << decided;
  }
}

}  // namespace
}  // namespace smk
