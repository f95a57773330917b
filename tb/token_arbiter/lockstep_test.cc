// SPDX-License-Identifier: Apache-2.0
// smk_token_arbiter against TokenArbiter: every output, every cycle.
#include "common/lockstep.h"

#include <Vfermi_token_arbiter.h>
#include <Vfermi_token_arbiter_smk_pkg.h>
#include <Vsmk_token_arbiter.h>
#include <Vsmk_token_arbiter_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "common/seeds.h"
#include "control/driver/token_arbiter.h"

namespace smk {
namespace {

using Inputs = TokenArbiter::Inputs;

// The block and its reference. With `distort` the block is compared with a second reference that
// gets other inputs: one rule broken.
template <typename DutType, typename Pkg>
class Bench {
 public:
  using Package = Pkg;
  static_assert(PackageFitsModel<Pkg>(), "rtl and model disagree");
  static_assert(Pkg::TokenUnitsLog2 == TokenArbiter::kUnitsLog2, "rtl and model disagree");
  static_assert(Pkg::TokenBucketsLog2 == TokenArbiter::kBucketsLog2, "rtl and model disagree");

  explicit Bench(std::uint64_t seed) : lockstep_("token_arbiter", seed) {
    Drive({});
    lockstep_.Reset();
  }
  void Cycle(const Inputs& in) {
    Drive(in);
    lockstep_.Eval();
    const TokenArbiter& want = distort ? broken_ : model_;
    DutType& dut = lockstep_.dut();
    lockstep_.Expect("assign", dut.assign_o, want.state().assign);
    ExpectMessage<TokenFields<Pkg>>(&lockstep_, "token", dut.token_o, want.state().token);
    lockstep_.Expect("busy", dut.busy_o, want.Busy(in));
    lockstep_.ClockEdge();
    model_.Tick(in);
    Inputs distorted = in;
    if (distort) distort(&distorted);
    broken_.Tick(distorted);
  }
  const TokenArbiter::State& state() const { return model_.state(); }
  Lockstep<DutType>& lockstep() { return lockstep_; }
  std::function<void(Inputs*)> distort;

 private:
  void Drive(const Inputs& in) {
    DutType& dut = lockstep_.dut();
    dut.enable_i = in.enable;
    dut.window_i = in.window;
    dut.quota_i = in.quota;
    Pack<TokenShareVec<Package>>(in.request, &dut.request_i);
    Pack<TokenShareVec<Package>>(in.limit, &dut.limit_i);
    dut.demand_i = in.demand;
    dut.resident_i = in.resident;
  }

  Lockstep<DutType> lockstep_;
  TokenArbiter model_{{kNumKernels}};
  TokenArbiter broken_{{kNumKernels}};
};

using Gtx980 = Bench<Vsmk_token_arbiter, Vsmk_token_arbiter_smk_pkg>;
using Fermi = Bench<Vfermi_token_arbiter, Vfermi_token_arbiter_smk_pkg>;

// Kernels come and go; TBs of the holder come at some time, and those of others leave slowly.
class Traffic {
 public:
  explicit Traffic(std::uint64_t seed) : dice_(seed) {
    in_.enable = true;
    in_.window = static_cast<std::uint8_t>(10 + dice_.Below(4));
    in_.quota = dice_.Percent(10) ? dice_.Below(3) : 1 + dice_.Below(400);
    unsigned left = kTokenWhole;
    for (unsigned k = 0; k < kNumKernels; ++k) {
      in_.request[k] = static_cast<std::uint16_t>(dice_.Below(left + 1));
      left -= in_.request[k];
      in_.limit[k] = static_cast<std::uint16_t>(in_.request[k] +
                                                dice_.Below(kTokenWhole - in_.request[k] + 1));
    }
    calm_ = 1 + dice_.Below(1000);
  }
  Inputs Next(const TokenArbiter::State& s) {
    if (dice_.Below(calm_) == 0) {
      const KernelMask bit = static_cast<KernelMask>(1u << dice_.Below(kNumKernels));
      in_.demand ^= bit;
      if ((in_.demand & bit) == 0) in_.resident &= static_cast<KernelMask>(~bit);
    }
    if (dice_.Percent(10)) in_.resident |= s.token.holder & in_.demand;
    if (dice_.Percent(4)) in_.resident &= s.token.holder;
    return in_;
  }

 private:
  Dice dice_;
  Inputs in_;
  unsigned calm_ = 1;
};

template <typename AnyBench>
void RunRandom(AnyBench* bench, std::uint64_t seed, unsigned cycles) {
  Traffic traffic(seed);
  for (unsigned i = 0; i < cycles && bench->lockstep().ok(); ++i) {
    bench->Cycle(traffic.Next(bench->state()));
  }
}

// Shares by which kernels are as far from them as each other, but for one bit: before each choice,
// of what they have used until then. So each bit that is compared decides. Any number is taken as a
// share.
void DrawShares(Dice* dice, const TokenArbiter::State& state, Inputs* in) {
  constexpr unsigned kBits = 11, kMost = (1u << kBits) - 1;
  const unsigned gap = dice->Below(kMost + 1);
  const bool by_limit = dice->Percent(40);
  for (unsigned k = 0; k < kNumKernels; ++k) {
    const unsigned used = state.usage[k].used;
    const unsigned flip = dice->Percent(25) ? 0 : 1u << dice->Below(kBits);
    const unsigned share = std::min(used + (gap ^ flip), kMost);
    const unsigned met = dice->Below(used + 1);
    const unsigned tight = dice->Percent(50) ? used ^ (1u << dice->Below(kBits)) : used;
    in->request[k] = static_cast<std::uint16_t>(by_limit || dice->Percent(10) ? met : share);
    in->limit[k] =
        static_cast<std::uint16_t>(by_limit ? share : (dice->Percent(80) ? kMost : tight));
  }
}

template <typename AnyBench>
void RunChoices(AnyBench* bench, std::uint64_t seed, unsigned cycles) {
  Traffic traffic(seed);
  Dice dice(seed);
  Inputs drawn;
  for (unsigned i = 0; i < cycles && bench->lockstep().ok(); ++i) {
    const TokenArbiter::State& state = bench->state();
    if (state.step == TokenArbiter::Step::kLook && state.looked == 0) {
      DrawShares(&dice, state, &drawn);
      // Tokens that end soon, or when they are returned: of one bit, and too soon without it.
      drawn.quota = dice.Percent(5) ? 1u << dice.Below(24) : dice.Below(1u << dice.Below(9));
    }
    Inputs in = traffic.Next(state);
    in.request = drawn.request;
    in.limit = drawn.limit;
    in.quota = drawn.quota;
    // TBs of several kernels that leave at once.
    if (dice.Percent(3)) drawn.resident = static_cast<KernelMask>(dice.Below(1u << kNumKernels));
    if (dice.Percent(6)) drawn.resident = 0;
    in.resident |= drawn.resident;
    bench->Cycle(in);
  }
}

Inputs Shares(std::array<std::uint16_t, kMaxKernels> request, std::uint16_t limit) {
  Inputs in;
  in.enable = true;
  in.window = 10;
  in.quota = 20;
  in.request = request;
  in.limit.fill(limit);
  return in;
}

TEST(TokenArbiterLockstep, EqualsTheReferenceUnderRandomStimulus) {
  RunSeeds(12, 40'000, RunRandom<Gtx980>);
}

TEST(TokenArbiterLockstep, EqualsTheReferenceInChoicesThatOneBitDecides) {
  RunSeeds(6, 40'000, RunChoices<Gtx980>);
}

TEST(TokenArbiterLockstep, EqualsTheReferenceInConfigurationFermi) {
  RunSeeds(3, 40'000, RunRandom<Fermi>);
}

// The largest unit, 2^14 cycles: every bit of its counter is used.
TEST(TokenArbiterLockstep, EqualsTheReferenceWithTheLargestWindow) {
  Gtx980 bench(1);
  Inputs in = Shares({300, 300}, 500);
  in.window = 24;
  in.quota = 5000;
  in.demand = 0b0011;
  for (unsigned i = 0; i < 300'000 && bench.lockstep().ok(); ++i) {
    in.resident = bench.state().token.holder;
    bench.Cycle(in);
  }
  EXPECT_GT(bench.state().usage[0].used + bench.state().usage[1].used, 15u);
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

// TBs that nobody waits for pass the time, one cycle each: the block is busy for a cycle longer
// when that completes a unit of the window, or of the kernel. So each bit of a count is seen as it
// changes.
TEST(TokenArbiterLockstep, UnitsOfEveryWindowEndInTheRightCycle) {
  for (std::uint8_t window = 10; window <= 24; ++window) {
    Gtx980 bench(1);
    Inputs in = Shares({}, kTokenWhole);
    in.window = window;
    const unsigned unit = 1u << (window - TokenArbiter::kUnitsLog2);
    const auto pass = [&](unsigned kernel, unsigned cycles) {
      in.resident = static_cast<KernelMask>(1u << kernel);
      for (unsigned i = 0; i < cycles; ++i) bench.Cycle(in);
      in.resident = 0;
      for (unsigned i = 0; i < 4; ++i) bench.Cycle(in);
    };
    const auto count = [&](unsigned kernel, const auto& now) {
      for (unsigned size = 1; size <= unit; size *= 2) {
        if (now() >= size) continue;
        pass(kernel, size - 1 - now());
        pass(kernel, 1);
      }
      EXPECT_EQ(now(), 0u) << unsigned{window};
    };
    for (unsigned k = 0; k < kNumKernels; ++k) {
      pass((k + 1) % kNumKernels, 1);  // so that the two ends differ
      count(k, [&] { return unsigned{bench.state().usage[k].part}; });
    }
    pass(0, 1);
    count(1, [&] { return unsigned{bench.state().time}; });
    ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
  }
}

// A kernel that may have all but one unit of the window: alone it has the token until it has had
// that, one window after it began, and for the cycles of a unit nobody has it. With another in its
// place, it has less of the window again.
TEST(TokenArbiterLockstep, NobodyHasTheTokenWhenAKernelHasHadTheWholeWindow) {
  for (unsigned k = 0; k < kNumKernels; ++k) {
    Gtx980 bench(1);
    Inputs in = Shares({}, kTokenWhole - 1);
    in.window = 14;
    in.quota = 1;
    in.demand = in.resident = static_cast<KernelMask>(1u << k);
    bool whole = false;
    for (unsigned i = 0; i < 20'000 && !(whole && bench.state().token.holder == 0); ++i) {
      bench.Cycle(in);
      whole = whole || bench.state().usage[k].used == kTokenWhole;
    }
    EXPECT_TRUE(whole) << k;
    EXPECT_EQ(bench.state().token.holder, 0) << k;
    in.demand = in.resident = static_cast<KernelMask>(1u << (k + 1) % kNumKernels);
    for (unsigned i = 0; i < 2'000; ++i) bench.Cycle(in);
    EXPECT_LT(bench.state().usage[k].used, kTokenWhole) << k;
    ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
  }
}

TEST(TokenArbiterLockstep, SleepsWhenItIsNotEnabled) {
  Gtx980 bench(1);
  Inputs in = Shares({}, kTokenWhole);
  in.enable = false;
  for (unsigned i = 0; i < 1u << 2 * kNumKernels; ++i) {
    in.demand = static_cast<KernelMask>(i % (1u << kNumKernels));
    in.resident = static_cast<KernelMask>(i >> kNumKernels);
    bench.Cycle(in);
    EXPECT_EQ(bench.state().token.holder, 0);
  }
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

// A holder that is stopped keeps the token, and sleeps when it goes on without TBs to come.
TEST(TokenArbiterLockstep, SleepsWhenItIsEnabledAgainWithoutDemand) {
  for (unsigned k = 0; k < kNumKernels; ++k) {
    Gtx980 bench(1);
    Inputs in = Shares({}, kTokenWhole);
    in.demand = in.resident = static_cast<KernelMask>(1u << k);
    while (bench.state().token.holder == 0) bench.Cycle(in);
    in.enable = false;
    for (unsigned i = 0; i < 10; ++i) bench.Cycle(in);
    in.enable = true;
    in.demand = 0;
    for (unsigned i = 0; i < 10; ++i) bench.Cycle(in);
    EXPECT_EQ(bench.state().token.holder, in.resident);
    ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
  }
}

TEST(TokenArbiterLockstep, FirstTokenComesNumKernelsAndFiveCyclesAfterTheDemand) {
  Gtx980 bench(1);
  Inputs in = Shares({}, kTokenWhole);
  in.demand = 0b0100;
  for (unsigned n = 0; n < kNumKernels + 4; ++n) bench.Cycle(in);
  EXPECT_EQ(bench.state().token.holder, 0) << "earlier than the contract";
  bench.Cycle(in);
  EXPECT_EQ(bench.state().token.holder, 0b0100) << "later than the contract";
  EXPECT_TRUE(bench.state().assign);
  EXPECT_TRUE(bench.state().token.given);
  bench.Cycle(in);
  EXPECT_FALSE(bench.state().assign) << "a pulse";
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

// A token of 20 cycles: its holder runs for so many, and has the GPU until the next one is chosen.
TEST(TokenArbiterLockstep, NextHolderComesNumKernelsAndFourCyclesAfterTheExpiry) {
  Gtx980 bench(1);
  Inputs in = Shares({}, kTokenWhole);
  in.demand = 0b0011;
  while (bench.state().token.holder == 0) bench.Cycle(in);
  EXPECT_EQ(bench.state().token.holder, 0b0001);
  for (unsigned n = 0; n < in.quota + kNumKernels + 3; ++n) bench.Cycle(in);
  EXPECT_EQ(bench.state().token.holder, 0b0001) << "earlier than the contract";
  bench.Cycle(in);
  EXPECT_EQ(bench.state().token.holder, 0b0010) << "later than the contract";
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(TokenArbiterLockstep, FindsEachBrokenRule) {
  const std::function<void(Inputs*)> broken[] = {[](Inputs* in) { in->enable = false; },
                                                 [](Inputs* in) { ++in->window; },
                                                 [](Inputs* in) { ++in->quota; },
                                                 [](Inputs* in) { in->request.fill(0); },
                                                 [](Inputs* in) { in->limit.fill(kTokenWhole); },
                                                 [](Inputs* in) { in->demand &= 0b0111; },
                                                 [](Inputs* in) { in->resident = 0; }};
  for (const auto& rule : broken) {
    // Some seeds draw shares and times under which a rule does not show.
    std::string found;
    for (unsigned i = 0; i < 10 && found.empty(); ++i) {
      Gtx980 bench(GetTestOptions().seed + i);
      bench.distort = rule;
      RunRandom(&bench, GetTestOptions().seed + i, 20'000);
      found = bench.lockstep().mismatch();
    }
    EXPECT_THAT(found, testing::HasSubstr("expected")) << &rule - broken;
  }
}

}  // namespace
}  // namespace smk
