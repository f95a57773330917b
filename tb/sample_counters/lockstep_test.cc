// SPDX-License-Identifier: Apache-2.0
// smk_sample_counters against SampleCounters: every output, every cycle.
#include "common/lockstep.h"

#include <Vfermi_sample_counters.h>
#include <Vfermi_sample_counters_smk_pkg.h>
#include <Vsmk_sample_counters.h>
#include <Vsmk_sample_counters_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "common/seeds.h"
#include "control/sm/sample_counters.h"

namespace smk {
namespace {

static_assert(PackageIsDefault<Vsmk_sample_counters_smk_pkg>(), "rtl and model disagree");

using Inputs = SampleCounters::Inputs;

// The block and its reference; `distort` makes a second reference that has one rule broken.
template <typename DutType, typename Pkg>
class Bench {
 public:
  using Dut = DutType;
  using Package = Pkg;
  explicit Bench(std::uint64_t seed) : lockstep_("sample_counters", seed) {
    Drive({});
    lockstep_.Reset();
  }
  void Cycle(Inputs in) {
    Drive(in);
    lockstep_.Eval();
    lockstep_.Expect("issued", lockstep_.dut().issued_o, model_.state().issued);
    lockstep_.Expect("stalled", lockstep_.dut().stalled_o, model_.state().stalled);
    lockstep_.ClockEdge();
    if (distort) distort(&in);
    model_.Tick(in);
  }
  Lockstep<Dut>& lockstep() { return lockstep_; }
  std::function<void(Inputs*)> distort;

 private:
  void Drive(const Inputs& in) {
    Dut& dut = lockstep_.dut();
    dut.grant_valid_i = in.grant_valid;
    Pack<GrantKernels<Package>>(in.grant_kernel, &dut.grant_kernel_i);
    dut.memory_i = in.memory;
    dut.kernel_i = in.kernel;
    dut.window_i = in.window;
  }

  Lockstep<Dut> lockstep_;
  SampleCounters model_;
};

using Gtx980 = Bench<Vsmk_sample_counters, Vsmk_sample_counters_smk_pkg>;
using Fermi = Bench<Vfermi_sample_counters, Vfermi_sample_counters_smk_pkg>;

// Windows from one cycle to beyond what a counter holds, often with one cycle between them.
template <typename AnyBench>
void RunRandom(AnyBench* bench, std::uint64_t seed, unsigned cycles) {
  Dice dice(seed);
  unsigned left = 0, busy = 50, waits = 50, kernels = 1;
  Inputs in;
  for (unsigned i = 0; i < cycles && bench->lockstep().ok(); ++i) {
    if (left == 0) {
      in.window = !in.window;
      left = in.window ? (dice.Percent(1) ? 30'000 : 1 + dice.Below(100)) : 1 + dice.Below(4);
      busy = dice.Percent(20) ? 100 * dice.Below(2) : dice.Below(101);
      waits = dice.Percent(20) ? 100 : dice.Below(101);
      kernels = 1 + dice.Below(kNumKernels);
      in.kernel = static_cast<std::uint8_t>(dice.Below(kernels));
    }
    --left;
    in.grant_valid = in.memory = 0;
    for (unsigned s = 0; s < AnyBench::Package::NumSchedulers; ++s) {
      in.grant_valid |= static_cast<std::uint8_t>(dice.Percent(busy) << s);
      in.memory |= static_cast<std::uint8_t>(dice.Percent(waits) << s);
      in.grant_kernel[s] = static_cast<std::uint8_t>(dice.Below(kernels));
    }
    bench->Cycle(in);
  }
}

TEST(SampleCountersLockstep, EqualsTheReferenceUnderRandomStimulus) {
  RunSeeds(4, 200'000, RunRandom<Gtx980>);
}

TEST(SampleCountersLockstep, EqualsTheReferenceInConfigurationFermi) {
  RunSeeds(2, 100'000, RunRandom<Fermi>);
}

TEST(SampleCountersLockstep, CountedWithTheSecondEdge) {
  Gtx980 bench(1);
  Inputs in;
  in.window = true;
  in.grant_valid = 0b0001;
  in.memory = 0b0010;
  bench.Cycle(in);
  bench.Cycle(in);
  EXPECT_EQ(bench.lockstep().dut().issued_o, 1u);
  EXPECT_EQ(bench.lockstep().dut().stalled_o, 1u);
  in.window = false;
  bench.Cycle(in);
  EXPECT_EQ(bench.lockstep().dut().issued_o, 2u);
  in.window = true;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(bench.lockstep().dut().issued_o, 2u) << "holds until the next has counted";
    bench.Cycle(in);
  }
  EXPECT_EQ(bench.lockstep().dut().issued_o, 1u);
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

// Each bit of both counters carries; only a counter with all ones but for three bits is full.
TEST(SampleCountersLockstep, OnlyAFullCounterSaturates) {
  Gtx980 bench(1);
  for (unsigned grants = 0; grants < 2; ++grants) {
    for (unsigned first = 1; first <= 4; ++first) {
      for (unsigned n = 0; n < 17'000; ++n) {
        const unsigned mask = n == 0 ? (1u << first) - 1 : 0b1111;
        Inputs in;
        in.window = true;
        in.grant_valid = static_cast<std::uint8_t>(grants != 0 ? mask : 0);
        in.memory = static_cast<std::uint8_t>(mask);
        bench.Cycle(in);
      }
      bench.Cycle({});
    }
  }
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(SampleCountersLockstep, FindsEachBrokenRule) {
  const std::function<void(Inputs*)> broken[] = {
      [](Inputs* in) { in->window = true; },
      [](Inputs* in) { in->grant_valid &= 7; },
      [](Inputs* in) { in->memory = static_cast<std::uint8_t>(in->memory & ~4); },
      [](Inputs* in) { in->window = in->window && in->memory != 15; },
      [](Inputs* in) { in->grant_kernel[2] ^= 2; },
      [](Inputs* in) { in->kernel ^= 1; }};
  for (const auto& rule : broken) {
    Gtx980 bench(GetTestOptions().seed);
    bench.distort = rule;
    RunRandom(&bench, GetTestOptions().seed, 50'000);
    EXPECT_THAT(bench.lockstep().mismatch(), testing::HasSubstr("expected")) << &rule - broken;
  }
}

}  // namespace
}  // namespace smk
