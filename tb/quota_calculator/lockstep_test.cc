// SPDX-License-Identifier: Apache-2.0
// smk_quota_calculator against QuotaCalculator: every output, every cycle.
#include "common/lockstep.h"

#include <Vfermi_quota_calculator.h>
#include <Vfermi_quota_calculator_smk_pkg.h>
#include <Vsmk_quota_calculator.h>
#include <Vsmk_quota_calculator_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "control/driver/quota_calculator.h"

namespace smk {
namespace {

static_assert(PackageIsDefault<Vsmk_quota_calculator_smk_pkg>(), "rtl and model disagree");
static_assert(PackageFitsModel<Vfermi_quota_calculator_smk_pkg>(), "rtl and model disagree");

using Inputs = QuotaCalculator::Inputs;
constexpr unsigned kDivide = QuotaCalculator::kDivideCycles;

// A command that the RTL sent.
struct Sent {
  unsigned sm, kernel, quota;
  bool last;
};

// The block and its reference. With `distort` the block is compared with a second reference that
// gets other inputs: one rule broken.
template <typename DutType, typename Pkg>
class Bench {
 public:
  using Dut = DutType;
  using Package = Pkg;
  static constexpr unsigned kSms = Package::NumSms;

  explicit Bench(std::uint64_t seed) : lockstep_("quota_calculator", seed) {
    in.settled = SmMask::First(kSms);
    Drive();
    lockstep_.Reset();
  }
  void Cycle() {
    in.partition = &partition;
    Drive();
    lockstep_.Eval();
    Compare(distort ? broken_ : model_);
    Dut& dut = lockstep_.dut();
    if (dut.command_valid_o && in.command_ready) {
      const auto c = Unpack<SmCommandFields<Package>>(dut.command_o);
      sent.push_back({dut.command_sm_o, Index(c.kernel), c.quota, c.last});
    }
    lockstep_.ClockEdge();
    model_.Tick(in);
    if (!distort) return;
    Inputs distorted = in;
    PartitionTable table = partition;
    distorted.partition = &table;
    distort(&distorted, &table);
    broken_.Tick(distorted);
  }
  // The window of these kernels ends.
  void Window(KernelMask kernels, std::array<std::uint16_t, kMaxKernels> issued) {
    in.profile_valid = kernels;
    in.profile_issued = issued;
    Cycle();
    in.profile_valid = 0;
  }
  // Cycles until the round is over.
  unsigned Round() {
    unsigned cycles = 0;
    lockstep_.Eval();
    for (; cycles < 100'000 && lockstep_.dut().busy_o; ++cycles) {
      Cycle();
      lockstep_.Eval();
    }
    return cycles;
  }
  const QuotaCalculator& model() const { return model_; }
  Lockstep<Dut>& lockstep() { return lockstep_; }

  Inputs in;
  PartitionTable partition{};
  std::vector<Sent> sent;
  std::function<void(Inputs*, PartitionTable*)> distort;

 private:
  void Drive() {
    Dut& dut = lockstep_.dut();
    dut.epoch_length_i = in.epoch_length;
    dut.profile_valid_i = in.profile_valid;
    dut.settled_i = in.settled.Test(model_.state().sm);
    dut.command_ready_i = in.command_ready;
    Pack<IssuedVec<Package>>(in.profile_issued, &dut.profile_issued_i);
    Pack<TbCntVec<Package>>(in.profile_tbs, &dut.profile_tbs_i);
    Pack<SmTbCnts<Package>>(partition, &dut.partition_i);
  }

  void Compare(const QuotaCalculator& want) {
    const QuotaCalculator::State& s = want.state();
    lockstep_.Expect("busy", lockstep_.dut().busy_o, want.busy());
    if (want.busy()) {
      SmMask at;
      at.Set(s.sm);
      ExpectMessage<Bits<kSms>>(&lockstep_, "at", lockstep_.dut().at_o, at);
    }
    lockstep_.Expect("command_valid", lockstep_.dut().command_valid_o, s.command_valid);
    if (!s.command_valid) return;
    lockstep_.Expect("command_sm", lockstep_.dut().command_sm_o, s.sm);
    ExpectWhole<SmCommandFields<Package>>(&lockstep_, "command", lockstep_.dut().command_o,
                                          s.command);
  }

  Lockstep<Dut> lockstep_;
  QuotaCalculator model_{{kSms}};
  QuotaCalculator broken_{{kSms}};
};

using Gtx980 = Bench<Vsmk_quota_calculator, Vsmk_quota_calculator_smk_pkg>;
using Fermi = Bench<Vfermi_quota_calculator, Vfermi_quota_calculator_smk_pkg>;

// Windows of all sizes; partitions that are equal, change, or are lost while they are served.
template <typename AnyBench>
class Traffic {
 public:
  Traffic(AnyBench* bench, std::uint64_t seed) : bench_(*bench), dice_(seed) {}

  void Next(unsigned cycle) {
    Inputs& in = bench_.in;
    const bool busy = bench_.model().busy();
    if (cycle % 4096 == 0) ChangePhase();
    if (!busy && dice_.Percent(20)) in.epoch_length = RandomEpoch();
    if (busy && dice_.Percent(change_) && dice_.Percent(10)) Change();
    in.profile_valid = 0;
    if (dice_.Percent(busy ? 2 : 30)) {
      in.profile_valid = dice_.Percent(80) ? 0b1111 : static_cast<KernelMask>(dice_.Below(16));
      for (auto& issued : in.profile_issued) issued = RandomIssued();
      for (auto& tbs : in.profile_tbs) tbs = RandomTbs();
    }
    in.command_ready = dice_.Percent(ready_);
  }

 private:
  static constexpr unsigned kMost = AnyBench::Package::LimitTbs;

  void ChangePhase() {
    change_ = dice_.Percent(40) ? 0 : dice_.Below(60);
    ready_ = dice_.Percent(40) ? 100 : 5 + dice_.Below(90);
    small_ = dice_.Percent(30);
    for (unsigned sm = 0; sm < AnyBench::kSms; ++sm) Refill(sm);
  }
  void Refill(unsigned sm) {
    auto& here = bench_.partition[sm];
    if (sm != 0 && dice_.Percent(40)) {
      here = bench_.partition[sm - 1];
      return;
    }
    here = {};
    unsigned left = kMost;
    for (unsigned n = 0; n < kNumKernels; ++n) {
      const unsigned k = dice_.Below(kNumKernels);
      const unsigned tbs = dice_.Percent(70) ? dice_.Below(std::min(left, 9u) + 1) : left;
      left += here[k];
      here[k] = static_cast<std::uint8_t>(std::min(tbs, left));
      left -= here[k];
    }
  }
  void Change() {
    const unsigned sm = dice_.Below(AnyBench::kSms);
    bench_.in.settled.Assign(sm, !bench_.in.settled.Test(sm));
    bench_.in.settled |= dice_.Sms(AnyBench::kSms, 1);
    Refill(dice_.Below(AnyBench::kSms));
  }
  std::uint16_t RandomEpoch() {
    return static_cast<std::uint16_t>(dice_.Percent(30) ? 5 + dice_.Below(20)
                                                        : 5 + dice_.Below(65531));
  }
  std::uint8_t RandomTbs() {
    if (dice_.Percent(3)) return 0;
    return static_cast<std::uint8_t>(dice_.Percent(10) ? kMost : 1 + dice_.Below(kMost));
  }
  std::uint16_t RandomIssued() {
    if (dice_.Percent(3)) return 0;
    if (dice_.Percent(10)) return 65535;
    if (dice_.Percent(10)) return static_cast<std::uint16_t>(1u << dice_.Below(16));
    return static_cast<std::uint16_t>(small_ ? 1 + dice_.Below(6)
                                             : dice_.Bits() >> dice_.Below(16));
  }

  AnyBench& bench_;
  Dice dice_;
  unsigned change_ = 0, ready_ = 0;
  bool small_ = false;
};

template <typename AnyBench>
void RunRandom(AnyBench* bench, std::uint64_t seed, unsigned cycles) {
  Traffic<AnyBench> traffic(bench, seed);
  for (unsigned i = 0; i < cycles && bench->lockstep().ok(); ++i) {
    traffic.Next(i);
    bench->Cycle();
  }
}

template <typename AnyBench>
void RunSeeds(unsigned seeds, unsigned cycles) {
  for (unsigned n = 0; n < seeds; ++n) {
    const std::uint64_t seed = GetTestOptions().seed + n;
    AnyBench bench(seed);
    RunRandom(&bench, seed, cycles);
    ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
    EXPECT_GT(bench.sent.size(), cycles / 1000) << "seed " << seed;
  }
}

TEST(QuotaCalculatorLockstep, EqualsTheReferenceUnderRandomStimulus) {
  RunSeeds<Gtx980>(4, 200'000);
}

TEST(QuotaCalculatorLockstep, EqualsTheReferenceInConfigurationFermi) {
  RunSeeds<Fermi>(2, 200'000);
}

// Two kernels with eight TBs each on their profiling SMs.
struct Profiled : Gtx980 {
  Profiled() : Gtx980(1) {
    in.command_ready = true;
    in.profile_tbs = {8, 8, 0, 0};
    partition[0] = {8, 0, 0, 0};
    partition[1] = {0, 8, 0, 0};
  }
  Vsmk_quota_calculator& dut() { return lockstep().dut(); }
};

// The example of SMK Sec. 5.4: WIPC 0.4 and 0.5 alone with 8 TBs each, 2 and 4 TBs together; the
// quotas are 0.1/0.35 and 0.25/0.35 of the epoch, rounded by [D9].
TEST(QuotaCalculatorLockstep, ExampleOfThePaper) {
  Profiled bench;
  bench.in.epoch_length = 10000;
  bench.partition[2] = {2, 4, 0, 0};
  bench.Window(0b0011, {16000, 20000, 0, 0});
  bench.Round();
  ASSERT_EQ(bench.sent.size(), 2u);
  EXPECT_EQ(bench.sent[0].sm, 2u);
  EXPECT_EQ(bench.sent[0].quota, 100u * 9998 / 350 + 1);
  EXPECT_EQ(bench.sent[1].quota, 250u * 9998 / 350 + 1);
  EXPECT_FALSE(bench.sent[0].last);
  EXPECT_TRUE(bench.sent[1].last);
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

// Exactly 2 x k x 38 + 2 cycles after the SM is looked at, one after the window.
TEST(QuotaCalculatorLockstep, FirstCommandExactlyAfterTwoOperationsPerKernel) {
  Profiled bench;
  for (const KernelMask mask : {KernelMask{0b0011}, KernelMask{0b0111}, KernelMask{0b1111}}) {
    const auto kernels = static_cast<unsigned>(__builtin_popcount(mask));
    bench.in.profile_tbs = {4, 4, 4, 4};
    for (auto& here : bench.partition) here = {};
    for (unsigned sm = 0; sm < kernels; ++sm) {
      for (unsigned k = 0; k < kernels; ++k) bench.partition[sm][k] = 4;
    }
    bench.Window(mask, {1000, 2000, 3000, 4000});
    bench.Cycle();  // looks at SM 0
    for (unsigned n = 0; n < 2 * kernels * kDivide + 1; ++n) {
      EXPECT_FALSE(bench.dut().command_valid_o) << "earlier than the contract";
      bench.Cycle();
    }
    EXPECT_TRUE(bench.dut().command_valid_o) << "later than the contract";
    bench.Round();
  }
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

// Two commands in a row, and those of an equal partition without an operation.
TEST(QuotaCalculatorLockstep, OneCommandPerCycleAndEqualPartitionsAreNotDividedAgain) {
  Profiled bench;
  bench.partition[2] = bench.partition[3] = {2, 4, 0, 0};
  bench.Window(0b0011, {4000, 5000, 0, 0});
  // Of 16 SMs, 14 are passed in a cycle each; two are looked at, offered to, and take two.
  EXPECT_EQ(bench.Round(), 14 + (1 + 4 * kDivide + 1 + 2) + (1 + 1 + 2));
  ASSERT_EQ(bench.sent.size(), 4u);
  EXPECT_EQ(bench.sent[2].sm, 3u);
  EXPECT_EQ(bench.sent[2].quota, bench.sent[0].quota);
  EXPECT_EQ(bench.sent[3].quota, bench.sent[1].quota);
  EXPECT_TRUE(bench.sent[3].last);
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(QuotaCalculatorLockstep, CommandHoldsUntilItIsSent) {
  Profiled bench;
  bench.partition[2] = {2, 4, 0, 0};
  bench.in.command_ready = false;
  bench.Window(0b0011, {4000, 5000, 0, 0});
  for (int i = 0; i < 300; ++i) bench.Cycle();
  EXPECT_TRUE(bench.dut().command_valid_o);
  EXPECT_EQ(bench.dut().command_sm_o, 2u);
  bench.in.command_ready = true;
  bench.Round();
  EXPECT_EQ(bench.sent.size(), 2u);
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(QuotaCalculatorLockstep, WindowsDuringARoundAreNotUsed) {
  Profiled bench;
  bench.partition[2] = {2, 4, 0, 0};
  bench.Window(0b0011, {4000, 5000, 0, 0});
  for (int i = 0; i < 20; ++i) bench.Cycle();
  bench.Window(0b0011, {1, 60000, 0, 0});
  bench.Round();
  ASSERT_EQ(bench.sent.size(), 2u);
  EXPECT_EQ(bench.sent[0].quota, 1000u * 9998 / 3500 + 1);
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

// The largest numbers: C of 65535 x 31, of an epoch of 65535; and those that scale to nothing.
TEST(QuotaCalculatorLockstep, ExtremesAreExact) {
  Profiled bench;
  bench.in.epoch_length = 65535;
  bench.in.profile_tbs = {1, 32, 0, 0};
  bench.partition[2] = {31, 1, 0, 0};
  bench.Window(0b0011, {65535, 31, 0, 0});
  bench.Round();
  ASSERT_EQ(bench.sent.size(), 2u);
  EXPECT_EQ(bench.sent[0].quota, 65533u + 1) << "C of the other is 31 / 32: none";
  EXPECT_EQ(bench.sent[1].quota, 1u);
  bench.in.profile_tbs = {32, 32, 0, 0};
  bench.partition[2] = {1, 1, 0, 0};
  bench.Window(0b0011, {31, 31, 0, 0});
  bench.Round();
  ASSERT_EQ(bench.sent.size(), 4u);
  EXPECT_EQ(bench.sent[2].quota + bench.sent[3].quota, 2u) << "sum(C) is 0";
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

// T is of the window: what becomes of the profiling SMs during the round does not count.
TEST(QuotaCalculatorLockstep, TbsAloneAreThoseOfTheWindow) {
  Profiled bench;
  bench.partition[2] = {2, 4, 0, 0};
  bench.in.profile_tbs = {1, 4, 0, 0};
  bench.Window(0b0011, {500, 4000, 0, 0});
  bench.in.profile_tbs = {8, 0, 0, 0};
  bench.partition[0] = bench.partition[1] = {};
  bench.Round();
  ASSERT_EQ(bench.sent.size(), 2u);
  EXPECT_EQ(bench.sent[0].quota, 1000u * 9998 / 5000 + 1);
  EXPECT_EQ(bench.sent[1].quota, 4000u * 9998 / 5000 + 1);
  bench.Window(0b0011, {500, 4000, 0, 0});
  bench.Round();
  EXPECT_EQ(bench.sent.size(), 2u) << "a kernel without a TB has no window";
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(QuotaCalculatorLockstep, ChangedOrUnsettledSmsGetNoMoreCommands) {
  Profiled bench;
  bench.partition[2] = {2, 4, 0, 0};
  bench.Window(0b0011, {4000, 5000, 0, 0});
  for (int i = 0; i < 20; ++i) bench.Cycle();
  bench.partition[2] = {1, 1, 0, 0};
  bench.Round();
  EXPECT_TRUE(bench.sent.empty()) << "changed while it was worked out";
  bench.in.settled.Clear(2);
  bench.Window(0b0011, {4000, 5000, 0, 0});
  EXPECT_EQ(bench.Round(), 16u);
  EXPECT_TRUE(bench.sent.empty()) << "not in force";
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(QuotaCalculatorLockstep, FindsEachBrokenRule) {
  const std::function<void(Inputs*, PartitionTable*)> broken[] = {
      [](Inputs* in, PartitionTable*) { in->profile_issued[1] |= 1; },
      [](Inputs* in, PartitionTable*) { in->profile_valid &= 0b0111; },
      [](Inputs* in, PartitionTable*) { ++in->epoch_length; },
      [](Inputs* in, PartitionTable*) { in->profile_tbs[0] ^= 1; },
      [](Inputs* in, PartitionTable*) { in->profile_tbs[3] += in->profile_tbs[3] == 0 ? 1 : 0; },
      [](Inputs* in, PartitionTable*) { in->settled.Set(5); },
      [](Inputs* in, PartitionTable*) { in->command_ready = true; },
      [](Inputs*, PartitionTable* table) { (*table)[7][2] ^= 1; }};
  for (const auto& rule : broken) {
    Gtx980 bench(GetTestOptions().seed);
    bench.distort = rule;
    RunRandom(&bench, GetTestOptions().seed, 2'000'000);  // until it is found
    EXPECT_THAT(bench.lockstep().mismatch(), testing::HasSubstr("expected")) << &rule - broken;
  }
}

}  // namespace
}  // namespace smk
