// SPDX-License-Identifier: Apache-2.0
// smk_slicer_profiler against SlicerProfiler: every output, every cycle.
#include "common/lockstep.h"

#include <Vfermi_slicer_profiler.h>
#include <Vfermi_slicer_profiler_smk_pkg.h>
#include <Vsmk_slicer_profiler.h>
#include <Vsmk_slicer_profiler_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "common/seeds.h"
#include "control/driver/slicer_profiler.h"
#include "slicer_profiler/traffic.h"

namespace smk {
namespace {

static_assert(PackageIsDefault<Vsmk_slicer_profiler_smk_pkg>(), "rtl and model disagree");
static_assert(PackageFitsModel<Vfermi_slicer_profiler_smk_pkg>(), "rtl and model disagree");

using Inputs = SlicerProfiler::Inputs;
using Kernels = KernelTable::State;

// The block and its reference. With `distort` the block is compared with a second reference that
// gets other inputs: one rule broken.
template <typename DutType, typename Pkg>
class Bench {
 public:
  using Dut = DutType;
  using Package = Pkg;
  static constexpr ResourceVector kLimits{Package::LimitRegisters, Package::LimitSharedMemory,
                                          Package::LimitThreads, Package::LimitTbs};

  explicit Bench(std::uint64_t seed) : lockstep_("slicer_profiler", seed) {
    for (auto& slot : kernels.slot) slot.need = {kEighth, 0, 1, 1};
    Drive({});
    lockstep_.Reset();
  }
  void Cycle(const Inputs& in) {
    Drive(in);
    lockstep_.Eval();
    Compare(distort ? broken_ : model_);
    lockstep_.ClockEdge();
    Inputs distorted = in;
    distorted.kernel_table = &kernels;
    model_.Tick(distorted);
    Kernels table = kernels;
    distorted.kernel_table = &table;
    if (distort) distort(&distorted, &table);
    broken_.Tick(distorted);
  }
  const SlicerProfiler::State& state() const { return model_.state(); }
  Lockstep<Dut>& lockstep() { return lockstep_; }

  Kernels kernels;
  std::function<void(Inputs*, Kernels*)> distort;

 private:
  static constexpr std::uint16_t kEighth = Package::LimitRegisters / 8;
  static constexpr SlicerProfiler::Config kConfig{kLimits, Package::NumSms, Package::NumSchedulers,
                                                  Package::NumKernels};

  void Drive(const Inputs& in) {
    Dut& dut = lockstep_.dut();
    dut.start_i = in.start;
    dut.kernels_i = in.kernels;
    dut.stop_i = in.stop;
    dut.settled_i = in.settled;
    dut.able_i = in.able & ((1u << Package::NumKernels) - 1);
    dut.warmup_i = in.warmup;
    dut.settle_i = in.settle;
    dut.window_i = in.window;
    dut.delay_i = in.delay;
    dut.change_i = in.change;
    dut.sustain_i = in.sustain;
    dut.issued_i = in.issued;
    dut.stalled_i = in.stalled;
    dut.planned_i = in.planned;
    for (unsigned k = 0; k < kNumKernels; ++k) {
      PackAt<NeedVec<Package>>(k, kernels.slot[k].need, &dut.need_i);
    }
  }
  void Compare(const SlicerProfiler& want) {
    const Dut& dut = lockstep_.dut();
    const SlicerProfiler::State& s = want.state();
    lockstep_.Expect("count_sm", dut.count_sm_o, s.sm);
    lockstep_.Expect("window", dut.window_o, s.window());
    lockstep_.Expect("give_valid", dut.give_valid_o, s.give_valid);
    lockstep_.Expect("sample_valid", dut.sample_valid_o, s.sample_valid);
    lockstep_.Expect("plan", dut.plan_o, s.plan);
    lockstep_.Expect("kernels", dut.kernels_o, s.kernels);
    lockstep_.Expect("profiling", dut.profiling_o, s.profiling());
    lockstep_.Expect("busy", dut.busy_o, s.step != SlicerProfiler::Step::kIdle);
    lockstep_.Expect("priority_valid", dut.priority_valid_o, s.priority_valid());
    if (s.give_valid) {
      lockstep_.Expect("give_sm", dut.give_sm_o, s.give_sm);
      lockstep_.Expect("give_kernel", dut.give_kernel_o, s.give_kernel);
      lockstep_.Expect("give_tbs", dut.give_tbs_o, s.give_tbs);
    }
    if (s.sample_valid) {
      lockstep_.Expect("sample_kernel", dut.sample_kernel_o, s.sample_kernel);
      lockstep_.Expect("sample_tbs", dut.sample_tbs_o, s.sample_tbs);
      lockstep_.Expect("sample_performance", dut.sample_performance_o, s.sample_performance);
    }
    if (s.priority_valid()) {
      lockstep_.Expect("priority_kernel", dut.priority_kernel_o, s.again_kernel);
    }
  }

  Lockstep<Dut> lockstep_;
  SlicerProfiler model_{kConfig};
  SlicerProfiler broken_{kConfig};
};

using Gtx980 = Bench<Vsmk_slicer_profiler, Vsmk_slicer_profiler_smk_pkg>;
using Fermi = Bench<Vfermi_slicer_profiler, Vfermi_slicer_profiler_smk_pkg>;

template <typename AnyBench>
void RunRandom(AnyBench* bench, std::uint64_t seed, unsigned cycles) {
  ProfilerTraffic<AnyBench> traffic(bench, seed);
  for (unsigned i = 0; i < cycles && bench->lockstep().ok(); ++i) bench->Cycle(traffic.Next(i));
}

TEST(SlicerProfilerLockstep, EqualsTheReferenceUnderRandomStimulus) {
  RunSeeds(4, 200'000, RunRandom<Gtx980>);
}

TEST(SlicerProfilerLockstep, EqualsTheReferenceInConfigurationFermi) {
  RunSeeds(2, 200'000, RunRandom<Fermi>);
}

// Short times; the planner answers in the cycle after the question.
Inputs Short() {
  Inputs in;
  in.warmup = 20;
  in.settle = 10;
  in.window = 40;
  in.issued = 40;
  in.stalled = 70;
  return in;
}

// The cycles of a profile, from docs/blocks/slicer_profiler.md: two kernels of eight TBs, 16 SMs.
TEST(SlicerProfilerLockstep, SharesExactlyWhenThePageSays) {
  Gtx980 bench(1);
  const SlicerProfiler points({Gtx980::kLimits});
  const unsigned sample = 1 + 52 + points.Shifts(160, 8);
  const unsigned cycles =
      1 + 2 * 10 + 2 + 1 + 16 + 20 + 40 + SlicerProfiler::kDrain + 16 * sample + 1;
  Inputs in = Short();
  in.kernels = 0b0011;
  in.start = true;
  bench.Cycle(in);
  in.start = false;
  for (unsigned cycle = 1; cycle < cycles; ++cycle) {
    EXPECT_FALSE(bench.lockstep().dut().plan_o) << cycle << " of " << cycles;
    bench.Cycle(in);
  }
  EXPECT_TRUE(bench.lockstep().dut().plan_o) << "later than the page says";
  in.planned = true;
  bench.Cycle(in);
  EXPECT_TRUE(bench.lockstep().dut().busy_o && !bench.lockstep().dut().profiling_o);
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

// The times of the paper, in full: 20,000 cycles and a window of 5,000.
TEST(SlicerProfilerLockstep, ProfilesWithTheTimesOfThePaper) {
  Gtx980 bench(1);
  Inputs in;
  in.issued = 8000;
  in.stalled = 6000;
  in.kernels = 0b0011;
  in.start = true;
  unsigned cycles = 0, window = 0, samples = 0, last = 0;
  for (; cycles < 40'000 && !bench.lockstep().dut().plan_o; ++cycles) {
    bench.Cycle(in);
    in.start = false;
    window += bench.lockstep().dut().window_o;
    if (bench.lockstep().dut().sample_valid_o == 0) continue;
    ++samples;
    last = bench.lockstep().dut().sample_performance_o;
  }
  EXPECT_EQ(window, 5000u);
  EXPECT_EQ(samples, 16u);
  EXPECT_EQ(last, 6774u) << "8000 x (1 + 0.3 x 7/9), in units of 2^18 / 180,000";
  std::printf("a profile of two kernels: %u cycles\n", cycles);
  EXPECT_LE(cycles, 26'200u);
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(SlicerProfilerLockstep, ASustainedChangeIsSampledAgain) {
  Gtx980 bench(1);
  Inputs in = Short();
  in.kernels = 0b0011;
  in.start = true;
  bool again = false;
  for (unsigned i = 0; i < 6000 && !again; ++i) {
    bench.Cycle(in);
    in.start = false;
    in.planned = bench.lockstep().dut().plan_o;
    if (i > 3000) in.issued = 60;
    again = bench.lockstep().dut().priority_valid_o;
  }
  EXPECT_TRUE(again) << "40 becomes 60: more than a quarter";
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

// The longest window, in which four schedulers issue anything from nothing to one instruction each
// per cycle.
TEST(SlicerProfilerLockstep, WatchesAndSamplesTheLargestCounts) {
  Dice dice(GetTestOptions().seed);
  for (const KernelMask kernels : {0b0011, 0b1100}) {
    Gtx980 bench(1);
    if (kernels == 0b1100) {  // as many TBs as an SM has slots
      for (auto& slot : bench.kernels.slot) slot.need = {1, 0, 1, 1};
    }
    Inputs in = Short();
    in.window = 16'000;
    in.kernels = kernels;
    in.start = true;
    unsigned profiles = 0;
    for (unsigned i = 0; i < 700'000 && bench.lockstep().ok(); ++i) {
      if (i % 5'000 == 0) {
        in.issued = static_cast<std::uint16_t>(dice.Percent(50) ? dice.Below(64'001)
                                                                : 64'000 * dice.Below(2));
        in.stalled = static_cast<std::uint16_t>(dice.Below(64'001u - in.issued));
      }
      bench.Cycle(in);
      in.start = false;
      in.planned = bench.lockstep().dut().plan_o;
      profiles += in.planned ? 1 : 0;
    }
    EXPECT_GT(profiles, 3u);
    ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
  }
}

// Kernels that are watched change by a quarter, give or take some instructions: whether they are
// profiled again is a question of one of them.
TEST(SlicerProfilerLockstep, JudgesAChangeToTheInstruction) {
  Dice dice(GetTestOptions().seed);
  for (unsigned run = 0; run < 60; ++run) {
    Gtx980 bench(1);
    Inputs in = Short();
    in.window = 200;
    in.sustain = 1;
    in.kernels = static_cast<KernelMask>(0b0011 << run % 3);
    in.start = true;
    unsigned usual = 100 + dice.Below(500), now = usual;
    for (unsigned i = 0; i < 8'000 && bench.lockstep().ok(); ++i) {
      if (i % 400 == 0) {
        usual = dice.Percent(20) ? 100 + dice.Below(500) : usual;
        const unsigned quarter = usual / 4 + dice.Below(5);
        now = dice.Percent(50) ? usual : dice.Percent(50) ? usual + quarter : usual - quarter;
      }
      in.issued = static_cast<std::uint16_t>(now + dice.Below(8));
      in.stalled = static_cast<std::uint16_t>(dice.Below(800 - in.issued));
      bench.Cycle(in);
      in.start = false;
      in.planned = bench.lockstep().dut().plan_o;
    }
    ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
  }
}

TEST(SlicerProfilerLockstep, FindsEachBrokenRule) {
  const std::function<void(Inputs*, Kernels*)> broken[] = {
      [](Inputs* in, Kernels*) { in->kernels &= 0b0111; },
      [](Inputs* in, Kernels*) { in->stop = false; },
      [](Inputs* in, Kernels*) { in->settled = true; },
      [](Inputs* in, Kernels*) { in->able = 0; },
      [](Inputs* in, Kernels*) { in->able = 0b1111; },
      [](Inputs* in, Kernels*) { ++in->warmup; },
      [](Inputs* in, Kernels*) { in->settle += 2; },
      [](Inputs* in, Kernels*) { ++in->window; },
      [](Inputs* in, Kernels*) { in->delay += 2; },
      [](Inputs* in, Kernels*) { in->change = 7; },
      [](Inputs* in, Kernels*) { in->sustain = 0; },
      [](Inputs* in, Kernels*) { in->stalled = 0; },
      [](Inputs* in, Kernels*) { in->issued &= 0xfffc; },
      [](Inputs* in, Kernels*) { in->planned = false; },
      [](Inputs*, Kernels* kernels) { kernels->slot[2].need.threads += 8; }};
  for (const auto& rule : broken) {
    Gtx980 bench(GetTestOptions().seed);
    bench.distort = rule;
    RunRandom(&bench, GetTestOptions().seed, 200'000);
    EXPECT_THAT(bench.lockstep().mismatch(), testing::HasSubstr("expected")) << &rule - broken;
  }
}

}  // namespace
}  // namespace smk
