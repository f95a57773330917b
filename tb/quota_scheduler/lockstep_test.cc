// SPDX-License-Identifier: Apache-2.0
// smk_quota_scheduler against QuotaScheduler: every output, every cycle.
#include "common/lockstep.h"

#include <Vfermi_quota_scheduler.h>
#include <Vfermi_quota_scheduler_smk_pkg.h>
#include <Vsmk_quota_scheduler.h>
#include <Vsmk_quota_scheduler_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "common/seeds.h"
#include "control/sm/quota_scheduler.h"

namespace smk {
namespace {

static_assert(PackageIsDefault<Vsmk_quota_scheduler_smk_pkg>(), "rtl and model disagree");
static_assert(PackageFitsModel<Vfermi_quota_scheduler_smk_pkg>(), "rtl and model disagree");

using Quotas = std::array<std::uint16_t, kMaxKernels>;

// The block and its reference. `distort`, when set, changes what a second reference gets that
// the block is then compared with: a reference with one rule broken.
template <typename DutType, typename Pkg>
class Bench {
 public:
  using Dut = DutType;
  using Package = Pkg;
  using Inputs = QuotaScheduler::Inputs;
  explicit Bench(std::uint64_t seed) : lockstep_("quota_scheduler", seed) {
    Drive({});
    lockstep_.Reset();
  }

  QuotaScheduler::Outputs Cycle(Inputs in) {
    in.quota = &quota;
    Drive(in);
    lockstep_.Eval();
    const QuotaScheduler::Outputs out = model_.Eval(in);
    Compare(out, model_.state(), in);
    const auto& dut = lockstep_.dut();
    const unsigned some_left = dut.some_left_o;
    Quotas left{};
    Unpack<QuotaVec<Package>>(dut.reload_o != 0 ? dut.quota_i : dut.left_o, &left);
    if (in.gated && dut.reload_o == 0 && out.grant_valid) --left[out.grant_kernel];
    lockstep_.ClockEdge();
    model_.Tick(in, out);
    lockstep_.Expect("some_left", some_left, model_.state().some_left);
    for (unsigned k = 0; k < Package::NumKernels; ++k) {
      lockstep_.Expect("left after", left[k], model_.state().left[k]);
    }
    return out;
  }
  void Start(unsigned warp, unsigned kernel) {
    Inputs in;
    in.start_valid = true;
    in.start_warp = static_cast<std::uint8_t>(warp);
    in.start_kernel = static_cast<KernelId>(kernel);
    Cycle(in);
  }
  void Reset() {
    lockstep_.Reset();
    model_ = broken_ = QuotaScheduler();
  }

  const QuotaScheduler::State& state() const { return model_.state(); }
  Lockstep<Dut>& lockstep() { return lockstep_; }
  Quotas quota{};
  std::function<void(Inputs*)> distort;

 private:
  void Compare(QuotaScheduler::Outputs want, const QuotaScheduler::State& model, Inputs in) {
    QuotaScheduler::State state = model;
    if (distort) {
      distort(&in);
      want = broken_.Eval(in);
      state = broken_.state();
      broken_.Tick(in, want);
    }
    const Dut& dut = lockstep_.dut();
    lockstep_.Expect("grant_valid", dut.grant_valid_o, want.grant_valid);
    if (want.grant_valid) {
      lockstep_.Expect("grant_warp", dut.grant_warp_o, want.grant_warp);
      lockstep_.Expect("grant_kernel", dut.grant_kernel_o, want.grant_kernel);
    }
    ExpectMessage<QuotaVec<Package>>(&lockstep_, "left", dut.left_o, state.left);
  }
  void Drive(const Inputs& in) {
    Dut& dut = lockstep_.dut();
    dut.ready_i = in.ready;
    dut.stop_i = in.stop;
    dut.leave_i = in.leave;
    dut.start_valid_i = in.start_valid;
    dut.start_warp_i = in.start_warp;
    dut.start_kernel_i = static_cast<CData>(Index(in.start_kernel));
    dut.gated_i = in.gated;
    dut.ungated_i = !in.gated;
    Pack<QuotaVec<Package>>(quota, &dut.quota_i);
    dut.load_i = in.load;
    dut.tick_i = in.tick;
    dut.policy_i = static_cast<CData>(in.policy);
    dut.epoch_end_i = static_cast<CData>(in.epoch_end);
  }

  Lockstep<Dut> lockstep_;
  QuotaScheduler model_;
  QuotaScheduler broken_;
};

using Gtx980 = Bench<Vsmk_quota_scheduler, Vsmk_quota_scheduler_smk_pkg>;
using Fermi = Bench<Vfermi_quota_scheduler, Vfermi_quota_scheduler_smk_pkg>;

// Random warps, stops, quotas and ticks; how busy and how scarce changes every few hundred cycles.
template <typename AnyBench>
void RunRandom(AnyBench* bench, std::uint64_t seed, unsigned cycles) {
  constexpr unsigned kWarps = AnyBench::Package::WarpsPerScheduler;
  Dice dice(seed);
  constexpr unsigned kAll = (1u << kWarps) - 1;
  QuotaScheduler::Inputs in;
  unsigned sparse = 1, first = 0, kernels = 1, quota_max = 1, churn = 1, tick_every = 1, idle = 0;
  for (unsigned i = 0; i < cycles && bench->lockstep().ok(); ++i) {
    if (i % 256 == 0) {
      sparse = 1 + dice.Below(4);
      idle = dice.Percent(60) ? 0 : dice.Below(100);
      first = dice.Below(kNumKernels);
      kernels = 1 + dice.Below(kNumKernels);
      quota_max = 1u << (dice.Percent(90) ? dice.Below(10) : 16);
      churn = dice.Below(30);
      tick_every = 3 + dice.Below(60);
      in.gated = dice.Percent(75);
      in.policy = dice.Percent(60) ? WarpPolicy::kGto : WarpPolicy::kLrr;
      in.epoch_end = dice.Percent(70) ? EpochEnd::kSpent : EpochEnd::kTick;
      if (dice.Percent(3)) bench->Reset();
    }
    if (dice.Percent(10)) {
      bench->quota[dice.Below(kNumKernels)] = static_cast<std::uint16_t>(
          dice.Percent(3) ? 1u << dice.Below(16) : dice.Below(quota_max));
    }
    in.ready = static_cast<WarpMask>(dice.Sparse(sparse) & kAll);
    if (dice.Percent(idle)) in.ready = 0;
    if (dice.Percent(5)) in.stop = static_cast<WarpMask>(dice.Sparse(1 + dice.Below(4)) & kAll);
    const WarpMask valid = bench->state().valid;
    in.leave = dice.Percent(churn) ? static_cast<WarpMask>(dice.Sparse(3) & valid) : 0;
    const unsigned free = ~(valid & ~in.leave) & kAll;
    const unsigned warp = dice.Below(kWarps);
    in.start_valid = dice.Percent(churn) && (free >> warp & 1) != 0;
    in.start_warp = static_cast<std::uint8_t>(warp);
    in.start_kernel = static_cast<KernelId>((first + dice.Below(kernels)) % kNumKernels);
    in.load = dice.Percent(1);
    in.tick = dice.Below(tick_every) == 0;
    bench->Cycle(in);
  }
}

TEST(QuotaSchedulerLockstep, EqualsTheReferenceUnderRandomStimulus) {
  RunSeeds(8, 50'000, RunRandom<Gtx980>);
}

TEST(QuotaSchedulerLockstep, EqualsTheReferenceWithTwentyFourWarps) {
  RunSeeds(4, 50'000, RunRandom<Fermi>);
}

TEST(QuotaSchedulerLockstep, GrantsGreedyThenOldest) {
  Gtx980 bench(1);
  for (const unsigned warp : {7, 3, 9}) bench.Start(warp, 0);
  QuotaScheduler::Inputs in;
  in.ready = 1u << 3 | 1u << 9;
  EXPECT_EQ(bench.Cycle(in).grant_warp, 3) << "the oldest ready one";
  in.ready |= 1u << 7;
  EXPECT_EQ(bench.Cycle(in).grant_warp, 3) << "greedy";
  in.ready = 1u << 7 | 1u << 9;
  EXPECT_EQ(bench.Cycle(in).grant_warp, 7);
  in.stop = 1u << 7;
  EXPECT_EQ(bench.Cycle(in).grant_warp, 9) << "the greedy one is stopped";
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(QuotaSchedulerLockstep, ReoccupiedSlotIsTheYoungest) {
  Gtx980 bench(1);
  for (const unsigned warp : {0, 1, 2}) bench.Start(warp, 0);
  QuotaScheduler::Inputs in;
  in.leave = 1u << 0;  // and back in the same cycle
  in.start_valid = true;
  in.start_warp = 0;
  bench.Cycle(in);
  QuotaScheduler::Inputs all;
  all.ready = 0b111;
  EXPECT_EQ(bench.Cycle(all).grant_warp, 1);
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(QuotaSchedulerLockstep, RoundRobinServesEveryReadyWarpOnce) {
  Gtx980 bench(1);
  for (unsigned warp = 0; warp < 16; ++warp) bench.Start(15 - warp, warp % 4);
  QuotaScheduler::Inputs in;
  in.policy = WarpPolicy::kLrr;
  in.ready = 0xffff;
  for (unsigned n = 0; n < 40; ++n) EXPECT_EQ(bench.Cycle(in).grant_warp, n % 16);
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

// SMK Sec. 5.4: quotas 2 and 3; each kernel stops at its quota, and the reload comes with the last.
TEST(QuotaSchedulerLockstep, ReloadsExactlyWhenTheLastQuotaIsSpent) {
  Gtx980 bench(1);
  bench.quota = {2, 3, 0, 0};
  bench.Start(0, 0);
  bench.Start(1, 1);
  QuotaScheduler::Inputs in;
  in.gated = true;
  in.load = true;
  bench.Cycle(in);
  in.load = false;
  in.ready = 0b11;
  for (const unsigned kernel : {0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1}) {
    EXPECT_EQ(bench.Cycle(in).grant_kernel, kernel) << "cycle " << bench.lockstep().cycle();
  }
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(QuotaSchedulerLockstep, KernelWithoutRunnableWarpNeverBlocksAReload) {
  Gtx980 bench(1);
  bench.quota = {1, 5, 5, 0};
  bench.Start(0, 0);
  bench.Start(1, 1);
  QuotaScheduler::Inputs in;
  in.gated = true;
  in.load = true;
  bench.Cycle(in);
  in.load = false;
  in.ready = 0b11;
  in.stop = 0b10;  // kernel 1 is stopped, kernel 2 is not here
  for (unsigned n = 0; n < 10; ++n) EXPECT_TRUE(bench.Cycle(in).grant_valid) << n;
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(QuotaSchedulerLockstep, SecondTickFreesKernelsThatWaitForEachOther) {
  Gtx980 bench(1);
  bench.quota = {1, 5, 0, 0};
  bench.Start(0, 0);
  bench.Start(1, 1);
  QuotaScheduler::Inputs in;
  in.gated = true;
  in.load = true;
  bench.Cycle(in);
  in.load = false;
  in.ready = 0b01;  // kernel 1 has quota and waits at a barrier
  EXPECT_TRUE(bench.Cycle(in).grant_valid);
  EXPECT_FALSE(bench.Cycle(in).grant_valid);
  in.tick = true;
  EXPECT_FALSE(bench.Cycle(in).grant_valid);
  in.tick = false;
  EXPECT_FALSE(bench.Cycle(in).grant_valid) << "the first tick has seen a grant";
  in.tick = true;
  EXPECT_FALSE(bench.Cycle(in).grant_valid) << "earlier than the contract";
  in.tick = false;
  EXPECT_TRUE(bench.Cycle(in).grant_valid) << "later than the contract";
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

// The comparison is worth something only if a broken rule is found.
TEST(QuotaSchedulerLockstep, FindsEachBrokenRule) {
  using Inputs = QuotaScheduler::Inputs;
  const std::function<void(Inputs*)> broken[] = {[](Inputs* in) { in->stop = 0; },
                                                 [](Inputs* in) { in->load = false; },
                                                 [](Inputs* in) { in->tick = false; },
                                                 [](Inputs* in) { in->policy = WarpPolicy::kGto; },
                                                 [](Inputs* in) { in->gated = false; },
                                                 [](Inputs* in) { in->start_kernel = KernelId{0}; },
                                                 [](Inputs* in) { in->ready &= 0x7fff; },
                                                 [](Inputs* in) { in->epoch_end = EpochEnd::kSpent; }};
  for (const auto& rule : broken) {
    Gtx980 bench(GetTestOptions().seed);
    bench.distort = rule;
    RunRandom(&bench, GetTestOptions().seed, 50'000);
    EXPECT_THAT(bench.lockstep().mismatch(), testing::HasSubstr("expected")) << &rule - broken;
  }
}

}  // namespace
}  // namespace smk
