// SPDX-License-Identifier: Apache-2.0
// smk_policy_registers against PolicyRegisters: every output, every cycle.
#include "common/lockstep.h"

#include <Vsmk_policy_registers.h>
#include <Vsmk_policy_registers_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <type_traits>
#include <vector>

#include "common/seeds.h"
#include "control/driver/policy_registers.h"
#include "policy_registers/policies.h"
#include "policy_registers/random_chip.h"

namespace smk {
namespace {

using Package = Vsmk_policy_registers_smk_pkg;
using Registers = PolicyRegisters<Package>;
using Inputs = Registers::Inputs;
using Chip = RandomChip<Package>;
const unsigned kQuiet = Registers::Config().quiet_cycles;
const unsigned kRestart = Registers::Config().restart_cycles;

// The block and its reference; `distort` makes a second reference that has one rule broken.
class Bench {
 public:
  explicit Bench(std::uint64_t seed) : lockstep_("policy_registers", seed) {
    Drive({});
    lockstep_.Reset();
  }
  void Cycle(Inputs in) {
    Drive(in);
    lockstep_.Eval();
    Compare(in);
    lockstep_.ClockEdge();
    if (distort) distort(&in);
    model_.Tick(in);
  }
  Lockstep<Vsmk_policy_registers>& lockstep() { return lockstep_; }
  const Registers& model() const { return model_; }
  // Whether the block holds launches off in the next cycle, and resets the chip.
  bool holds() { return lockstep_.dut().launch_hold_o != 0; }
  bool restarts() { return lockstep_.dut().restart_o != 0; }
  std::function<void(Inputs*)> distort;

 private:
  void Drive(const Inputs& in) { DrivePolicyRegisters(in, &lockstep_.dut()); }
  void Compare(const Inputs& in) {
    const Vsmk_policy_registers& dut = lockstep_.dut();
    const Registers::Outputs want = model_.Eval(in);
    lockstep_.Expect("data", dut.data_o, want.data);
    lockstep_.Expect("error", dut.error_o, want.error);
    lockstep_.Expect("launch_hold", dut.launch_hold_o, want.launch_hold);
    lockstep_.Expect("restart", dut.restart_o, want.restart);
    lockstep_.Expect("awake", dut.awake_o, want.awake);
    for (unsigned w = 0; w < Registers::kWords; ++w) {
      lockstep_.Expect("policy", GetBits(dut.policy_o, 32 * w, Bits(w)), want.policy[w]);
    }
  }
  static unsigned Bits(unsigned word) {
    return std::min(32u, PolicyWords<Package>::kBits - 32 * word);
  }

  Lockstep<Vsmk_policy_registers> lockstep_;
  Registers model_;
};

void RunRandom(Bench* bench, std::uint64_t seed, unsigned cycles) {
  RandomChip<Package> chip(seed, kQuiet);
  for (unsigned i = 0; i < cycles && bench->lockstep().ok(); ++i) {
    bench->Cycle(chip.Next(bench->holds()));
  }
}

TEST(PolicyRegistersLockstep, EqualsTheReferenceUnderRandomHosts) {
  RunSeeds(4, 150'000, RunRandom);
}

TEST(PolicyRegistersLockstep, ChangesWhenNoKernelIsThereAndTheChipIsQuiet) {
  Bench bench(1);
  PolicyConfig policy = Registers::DefaultPolicy();
  policy.dispatch = DispatchMode::kSpatial;
  const Registers::Words words = PolicyWords<Package>::Of(policy);
  Inputs launch;
  launch.launch_taken = launch.chip_awake = true;
  bench.Cycle(launch);
  for (unsigned w = 0; w < Registers::kWords; ++w) bench.Cycle(Chip::Write(w, words[w]));
  EXPECT_FALSE(bench.holds());
  bench.Cycle(Chip::Write(Registers::kControlWord, Registers::kCommit));
  EXPECT_TRUE(bench.holds());
  Inputs awake;
  awake.chip_awake = true;
  for (int i = 0; i < 8; ++i) bench.Cycle(awake);
  awake.kernel_done = 1;
  bench.Cycle(awake);
  awake.kernel_done = 0;
  bench.Cycle(awake);
  for (unsigned i = 0; i < kQuiet; ++i) {
    bench.Cycle({});
    EXPECT_FALSE(bench.restarts()) << "not after " << i + 1 << " cycles";
  }
  bench.Cycle({});
  for (unsigned i = 0; i < kRestart; ++i) {
    EXPECT_TRUE(bench.restarts() && bench.holds());
    EXPECT_EQ(bench.model().Eval({}).policy, words);
    bench.Cycle({});
  }
  EXPECT_FALSE(bench.restarts() || bench.holds());
  Inputs status;
  status.read = true;
  status.address = Registers::kControlWord;
  bench.Cycle(status);
  EXPECT_EQ(bench.lockstep().dut().data_o, Registers::kDone);
  bench.Cycle({});
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(PolicyRegistersLockstep, EachUnsupportedValueIsRefused) {
  Bench bench(2);
  for (const BadPolicy& bad : BadPolicies<Package>()) {
    PolicyConfig policy = Registers::DefaultPolicy();
    bad.make(&policy);
    const Registers::Words words = PolicyWords<Package>::Of(policy);
    for (unsigned w = 0; w < Registers::kWords; ++w) bench.Cycle(Chip::Write(w, words[w]));
    Inputs commit = Chip::Write(Registers::kControlWord, Registers::kCommit);
    commit.read = true;
    bench.Cycle(commit);
    EXPECT_FALSE(bench.holds());
    commit.write = false;
    bench.Cycle(commit);
    EXPECT_EQ(bench.lockstep().dut().data_o >> Registers::kWhyShift,
              static_cast<unsigned>(bad.why));
  }
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

// A number of one bit in each place, beside requests of the whole window: each bit of a number, and
// of the requests together, is looked at.
TEST(PolicyRegistersLockstep, EachBitOfANumberDecides) {
  std::vector<Registers::Words> all;
  PolicyConfig policy = Registers::DefaultPolicy();
  policy.token_request.fill(kTokenWhole);
  all.push_back(PolicyWords<Package>::Of(policy));
  policy.token_request = {kTokenWhole};
  PolicyWords<Package>::Visit(policy, [&](const char*, unsigned, unsigned width, auto& value) {
    const auto kept = value;
    for (unsigned bit = 0; bit < width; ++bit) {
      value = static_cast<std::decay_t<decltype(value)>>(1u << bit);
      all.push_back(PolicyWords<Package>::Of(policy));
    }
    value = kept;
  });
  Bench bench(3);
  unsigned taken = 0;
  for (const Registers::Words& words : all) {
    for (unsigned w = 0; w < Registers::kWords; ++w) bench.Cycle(Chip::Write(w, words[w]));
    bench.Cycle(Chip::Write(Registers::kControlWord, Registers::kCommit));
    taken += bench.holds();
    while (bench.model().Eval({}).launch_hold) bench.Cycle({});
  }
  EXPECT_GT(taken, 100u);
  EXPECT_GT(all.size() - taken, 20u);
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(PolicyRegistersLockstep, FindsEachBrokenRule) {
  const std::function<void(Inputs*)> broken[] = {
      [](Inputs* in) { in->data ^= in->write && in->address == 2 ? 1 : 0; },
      [](Inputs* in) { in->write = in->write && in->address != 7; },
      [](Inputs* in) { in->read = in->read && in->data % 4 != 0; },
      [](Inputs* in) { in->address ^= 1; },
      [](Inputs* in) { in->launch_taken = false; },
      [](Inputs* in) { in->kernel_done &= ~unsigned{2}; },
      [](Inputs* in) { in->kernel_done |= 1; },
      [](Inputs* in) { in->chip_awake = false; },
      [](Inputs* in) { in->data &= ~Registers::kCancel; }};
  for (const auto& rule : broken) {
    Bench bench(GetTestOptions().seed);
    bench.distort = rule;
    RunRandom(&bench, GetTestOptions().seed, 50'000);
    EXPECT_THAT(bench.lockstep().mismatch(), testing::HasSubstr("expected")) << &rule - broken;
  }
}

}  // namespace
}  // namespace smk
