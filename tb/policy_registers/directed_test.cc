// SPDX-License-Identifier: Apache-2.0
#include <Vsmk_policy_registers_smk_pkg.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "control/driver/policy_registers.h"
#include "policy_registers/policies.h"

namespace smk {
namespace {

using Package = Vsmk_policy_registers_smk_pkg;
using Registers = PolicyRegisters<Package>;
using Inputs = Registers::Inputs;
using Words = PolicyWords<Package>;

Inputs Write(unsigned address, std::uint32_t data) {
  Inputs in;
  in.write = true;
  in.address = static_cast<std::uint8_t>(address);
  in.data = data;
  return in;
}
Inputs Command(std::uint32_t command) { return Write(Registers::kControlWord, command); }

std::uint32_t Read(Registers* registers, unsigned address, Inputs in = {}) {
  in.read = true;
  in.address = static_cast<std::uint8_t>(address);
  registers->Tick(in);
  return registers->Eval({}).data;
}
std::uint32_t Status(Registers* registers) { return Read(registers, Registers::kControlWord); }

void WriteAll(Registers* registers, const PolicyConfig& policy) {
  const Words::Words words = Words::Of(policy);
  for (unsigned w = 0; w < Registers::kWords; ++w) registers->Tick(Write(w, words[w]));
}

PolicyConfig Other() {
  PolicyConfig policy = Registers::DefaultPolicy();
  policy.dispatch = DispatchMode::kSpatial;
  policy.warp_policy = WarpPolicy::kLrr;
  policy.table = {1, 2, 3, 32};
  policy.chimera_line = 7;
  return policy;
}

// Cycles until launches are taken again; 0 when they are.
unsigned CyclesHeld(Registers* registers, const Inputs& in = {}, unsigned most = 1000) {
  unsigned cycles = 0;
  for (; registers->Eval({}).launch_hold && cycles < most; ++cycles) registers->Tick(in);
  return cycles;
}

TEST(PolicyRegistersTest, APolicyIsTheSameAfterItWasWords) {
  Dice dice(1);
  for (int i = 0; i < 1000; ++i) {
    const PolicyConfig policy = RandomPolicy<Package>(&dice);
    const Words::Words words = Words::Of(policy);
    EXPECT_EQ(Words::Of(Words::Policy(words)), words);
    std::array<std::uint32_t, Words::kWords> packed{};
    Pack<PolicyFields<Package>>(policy, &packed);
    EXPECT_EQ(packed, words);
  }
}

TEST(PolicyRegistersTest, AfterAResetTheWordsAreWhatIsInForce) {
  Registers registers;
  for (unsigned w = 0; w < Registers::kWords; ++w) {
    EXPECT_EQ(Read(&registers, w), registers.Eval({}).policy[w]);
  }
  EXPECT_EQ(Status(&registers), 0u);
  EXPECT_EQ(Registers::Check(Words::Policy(registers.Eval({}).policy)), PolicyRefusal::kNone);
}

TEST(PolicyRegistersTest, WordsAloneChangeNothing) {
  Registers registers;
  const auto before = registers.Eval({}).policy;
  WriteAll(&registers, Other());
  for (int i = 0; i < 200; ++i) registers.Tick({});
  EXPECT_EQ(registers.Eval({}).policy, before);
  EXPECT_FALSE(registers.Eval({}).launch_hold);
}

TEST(PolicyRegistersTest, ACommitPutsAllWordsInForceInOneCycle) {
  Registers registers;
  const auto before = registers.Eval({}).policy;
  WriteAll(&registers, Other());
  registers.Tick(Command(Registers::kCommit));
  EXPECT_EQ(Status(&registers), Registers::kPending);
  unsigned changes = 0;
  for (auto last = before; registers.Eval({}).launch_hold; registers.Tick({})) {
    const auto out = registers.Eval({});
    if (out.policy != last) {
      EXPECT_TRUE(out.restart);
      EXPECT_EQ(out.policy, Words::Of(Other()));
      ++changes;
    }
    last = out.policy;
  }
  EXPECT_EQ(changes, 1u);
  EXPECT_EQ(Status(&registers), Registers::kDone);
}

TEST(PolicyRegistersTest, EachUnsupportedValueIsRefusedAndSaysWhy) {
  std::set<PolicyRefusal> seen;
  for (const BadPolicy& bad : BadPolicies<Package>()) {
    Registers registers;
    const auto before = registers.Eval({}).policy;
    PolicyConfig policy = Other();
    bad.make(&policy);
    WriteAll(&registers, policy);
    registers.Tick(Command(Registers::kCommit));
    EXPECT_FALSE(registers.Eval({}).launch_hold);
    EXPECT_EQ(Status(&registers), Registers::kRefused | static_cast<std::uint32_t>(bad.why)
                                                            << Registers::kWhyShift);
    for (int i = 0; i < 100; ++i) registers.Tick({});
    EXPECT_EQ(registers.Eval({}).policy, before);
    seen.insert(bad.why);
  }
  EXPECT_EQ(seen.size(), 9u) << "all but cancelled";
}

template <typename P>
void BoundsAreSupported() {
  for (const PolicyConfig& policy : PoliciesAtTheirBounds<P>()) {
    EXPECT_EQ(PolicyRegisters<P>::Check(policy), PolicyRefusal::kNone);
  }
  for (const BadPolicy& bad : BadPolicies<P>()) {
    PolicyConfig policy = PolicyRegisters<P>::DefaultPolicy();
    bad.make(&policy);
    EXPECT_EQ(PolicyRegisters<P>::Check(policy), bad.why);
  }
}

TEST(PolicyRegistersTest, TheLastSupportedValuesAreTaken) { BoundsAreSupported<Package>(); }

TEST(PolicyRegistersTest, WaitsForTheLastKernelAndItsLaunchInTheCycleOfTheCommit) {
  Registers registers;
  Inputs in = Command(Registers::kCommit);
  in.launch_taken = true;
  in.launch_kernel = KernelId{2};
  registers.Tick(in);
  EXPECT_EQ(CyclesHeld(&registers, {}, 500), 500u);
  in = {};
  in.kernel_done = 1u << 2;
  registers.Tick(in);
  EXPECT_EQ(CyclesHeld(&registers), 32u + 4u);
}

TEST(PolicyRegistersTest, WaitsAgainWhenTheChipWakesUp) {
  Registers registers;
  registers.Tick(Command(Registers::kCommit));
  for (int i = 0; i < 30; ++i) registers.Tick({});
  Inputs awake;
  awake.chip_awake = true;
  registers.Tick(awake);
  EXPECT_EQ(CyclesHeld(&registers), 1 + 32u + 4u);
}

TEST(PolicyRegistersTest, ACancelledCommitChangesNothing) {
  Registers registers;
  const auto before = registers.Eval({}).policy;
  WriteAll(&registers, Other());
  Inputs awake = Command(Registers::kCommit);
  awake.chip_awake = true;
  registers.Tick(awake);
  registers.Tick(Command(Registers::kCancel));
  EXPECT_FALSE(registers.Eval({}).launch_hold);
  EXPECT_EQ(Status(&registers),
            Registers::kRefused | static_cast<std::uint32_t>(PolicyRefusal::kCancelled)
                                      << Registers::kWhyShift);
  EXPECT_EQ(registers.Eval({}).policy, before);
  registers.Tick(Command(Registers::kCommit));
  EXPECT_EQ(CyclesHeld(&registers), 32u + 4u) << "it may be tried again";
  EXPECT_EQ(registers.Eval({}).policy, Words::Of(Other()));
}

TEST(PolicyRegistersTest, RefusesAccessesBeyondTheLastWordAndWritesWhileACommitWaits) {
  Registers registers;
  registers.Tick(Write(Registers::kControlWord + 1, 5));
  EXPECT_TRUE(registers.Eval({}).error);
  EXPECT_EQ(Read(&registers, Registers::kControlWord + 1), 0u);
  EXPECT_TRUE(registers.Eval({}).error);
  EXPECT_EQ(Read(&registers, 0), registers.Eval({}).policy[0]);
  EXPECT_FALSE(registers.Eval({}).error);
  registers.Tick(Command(Registers::kCommit));
  for (const Inputs& in : {Write(0, 1), Command(Registers::kCommit)}) {
    registers.Tick(in);
    EXPECT_TRUE(registers.Eval({}).error);
  }
  EXPECT_EQ(Read(&registers, 0), registers.Eval({}).policy[0]);
  EXPECT_FALSE(registers.Eval({}).error) << "reading is allowed";
}

TEST(PolicyRegistersTest, AReadBesideAWriteGivesWhatItWas) {
  Registers registers;
  const std::uint32_t before = Read(&registers, 1);
  EXPECT_EQ(Read(&registers, 1, Write(1, ~before)), before);
  EXPECT_EQ(Read(&registers, 1), ~before);
}

}  // namespace
}  // namespace smk
