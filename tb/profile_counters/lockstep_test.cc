// SPDX-License-Identifier: Apache-2.0
// smk_profile_counters against ProfileCounters: every output, every cycle.
#include "common/lockstep.h"

#include <Vfermi_profile_counters.h>
#include <Vfermi_profile_counters_smk_pkg.h>
#include <Vsmk_profile_counters.h>
#include <Vsmk_profile_counters_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "common/seeds.h"
#include "control/sm/profile_counters.h"

namespace smk {
namespace {

static_assert(PackageIsDefault<Vsmk_profile_counters_smk_pkg>(), "rtl and model disagree");

using Inputs = ProfileCounters::Inputs;

// The block and its reference; `distort` makes a second reference that has one rule broken.
template <typename DutType, typename Pkg>
class Bench {
 public:
  using Dut = DutType;
  using Package = Pkg;
  explicit Bench(std::uint64_t seed) : lockstep_("profile_counters", seed) {
    Drive({});
    lockstep_.Reset();
  }
  void Cycle(Inputs in) {
    Drive(in);
    lockstep_.Eval();
    Compare();
    lockstep_.ClockEdge();
    if (distort) distort(&in);
    model_.Tick(in);
  }
  unsigned issued(unsigned k) { return BitsAt<IssuedVec<Package>>(k, lockstep_.dut().issued_o); }
  Lockstep<Dut>& lockstep() { return lockstep_; }
  std::function<void(Inputs*)> distort;

 private:
  void Drive(const Inputs& in) {
    Dut& dut = lockstep_.dut();
    dut.grant_valid_i = in.grant_valid;
    Pack<GrantKernels<Package>>(in.grant_kernel, &dut.grant_kernel_i);
    dut.tick_i = in.tick;
  }
  void Compare() {
    ExpectMessage<IssuedVec<Package>>(&lockstep_, "issued", lockstep_.dut().issued_o,
                                      model_.issued());
  }

  Lockstep<Dut> lockstep_;
  ProfileCounters model_;
};

using Gtx980 = Bench<Vsmk_profile_counters, Vsmk_profile_counters_smk_pkg>;
using Fermi = Bench<Vfermi_profile_counters, Vfermi_profile_counters_smk_pkg>;

// Windows from one cycle to far beyond what a counter holds.
template <typename AnyBench>
void RunRandom(AnyBench* bench, std::uint64_t seed, unsigned cycles) {
  Dice dice(seed);
  unsigned tick_every = 1, busy = 50, kernels = 1;
  bool begins = true;
  for (unsigned i = 0; i < cycles && bench->lockstep().ok(); ++i) {
    if (begins) {
      tick_every = dice.Percent(1) ? 30'000 : 1 + dice.Below(200);
      busy = dice.Percent(20) ? 100 : dice.Below(101);
      kernels = 1 + dice.Below(kNumKernels);
    }
    Inputs in;
    for (unsigned s = 0; s < AnyBench::Package::NumSchedulers; ++s) {
      in.grant_valid |= static_cast<std::uint8_t>(dice.Percent(busy) << s);
      in.grant_kernel[s] = static_cast<std::uint8_t>(dice.Below(kernels));
    }
    in.tick = dice.Below(tick_every) == 0;
    begins = in.tick;
    bench->Cycle(in);
  }
}

TEST(ProfileCountersLockstep, EqualsTheReferenceUnderRandomStimulus) {
  RunSeeds(4, 200'000, RunRandom<Gtx980>);
}

TEST(ProfileCountersLockstep, EqualsTheReferenceInConfigurationFermi) {
  RunSeeds(2, 100'000, RunRandom<Fermi>);
}

TEST(ProfileCountersLockstep, SaturatesAndNeverWraps) {
  Gtx980 bench(1);
  Inputs in;
  in.grant_valid = 0xf;
  in.grant_kernel = {1, 1, 1, 2};
  for (unsigned n = 0; n < 30'000; ++n) bench.Cycle(in);
  EXPECT_EQ(bench.issued(1), 61'443u);
  EXPECT_EQ(bench.issued(2), 30'000u);
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

// The carry into the high part, at every value at which one of its bits alone is missing; a counter
// that has all of its upper four is full.
TEST(ProfileCountersLockstep, OnlyAFullCounterSaturates) {
  Gtx980 bench(1);
  for (unsigned k = 0; k < kNumKernels; ++k) {
    for (unsigned bit = 0; bit < 16; ++bit) {
      Inputs in;
      in.grant_valid = 0xf;
      in.grant_kernel.fill(static_cast<std::uint8_t>(k));
      const unsigned grants = (0xffffu & ~(1u << bit)) + 7;
      for (unsigned n = 0; n < grants / 4; ++n) bench.Cycle(in);
      in.tick = true;
      bench.Cycle(in);
    }
  }
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(ProfileCountersLockstep, GrantInTheCycleOfTheTickCountsInTheNextWindow) {
  Gtx980 bench(1);
  Inputs in;
  in.grant_valid = 1;
  in.tick = true;
  bench.Cycle(in);
  EXPECT_EQ(bench.issued(0), 1u);
  in.tick = false;
  bench.Cycle(in);
  EXPECT_EQ(bench.issued(0), 2u);
  in.tick = true;
  bench.Cycle(in);
  EXPECT_EQ(bench.issued(0), 1u);
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(ProfileCountersLockstep, FindsEachBrokenRule) {
  const std::function<void(Inputs*)> broken[] = {
      [](Inputs* in) { in->tick = false; }, [](Inputs* in) { in->grant_valid &= 7; },
      [](Inputs* in) { in->grant_kernel[2] ^= 2; },
      [](Inputs* in) { in->grant_valid = in->tick ? 0 : in->grant_valid; }};
  for (const auto& rule : broken) {
    Gtx980 bench(GetTestOptions().seed);
    bench.distort = rule;
    RunRandom(&bench, GetTestOptions().seed, 50'000);
    EXPECT_THAT(bench.lockstep().mismatch(), testing::HasSubstr("expected")) << &rule - broken;
  }
}

}  // namespace
}  // namespace smk
