// SPDX-License-Identifier: Apache-2.0
// Every fault of tb/policy_registers/block.toml is put into a copy of the block, one at a time: the
// assertion that it names must be among the first that fail under some of 50 random hosts, and none
// without the fault.
#include <Vseeded_policy_registers.h>
#include <Vseeded_policy_registers_smk_pkg.h>
#include <gtest/gtest.h>
#include <verilated.h>

#include <cstdint>
#include <set>
#include <string>

#include "policy_registers/random_chip.h"

namespace {
int chosen_bug = 0;
}  // namespace

// Called by the RTL's copy when a model is built; 0 is the RTL as it is. Named as there.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int smk_seeded_bug() { return chosen_bug; }

namespace smk {
namespace {

using Package = Vseeded_policy_registers_smk_pkg;

struct SeededBug {
  int number;
  const char* name;
  const char* finds;
};

constexpr SeededBug kBugs[] = {
#include <bugs.inc>
};

// The assertions that fail in the first cycle in which one does.
std::set<std::string> FailuresWith(int bug, std::uint64_t seed) {
  chosen_bug = bug;
  VerilatedContext context;
  context.fatalOnError(false);
  Vseeded_policy_registers dut(&context);
  RandomChip<Package> chip(seed, 32);
  testing::internal::CaptureStdout();
  for (const int reset : {1, 0, 0, 1}) {
    dut.rst_ni = reset != 0;
    dut.clk_i = 0;
    dut.eval();
    dut.clk_i = reset == 0;
    dut.eval();
  }
  for (int i = 0; i < 100'000 && !context.gotError(); ++i) {
    dut.clk_i = 0;
    DrivePolicyRegisters(chip.Next(dut.launch_hold_o != 0), &dut);
    dut.eval();
    dut.clk_i = 1;
    dut.eval();
  }
  const std::string log = testing::internal::GetCapturedStdout(), before = "Assertion failed in ";
  std::set<std::string> names;
  for (std::size_t at = log.find(before); at != std::string::npos; at = log.find(before, at + 1)) {
    const std::size_t from = at + before.size();
    const std::string path = log.substr(from, log.find(": ", from) - from);
    names.insert(path.substr(path.rfind('.') + 1));
  }
  return names;
}

class SeededRegisters : public testing::TestWithParam<SeededBug> {};

TEST_P(SeededRegisters, IsFound) {
  std::set<std::string> failed;
  for (std::uint64_t seed = 1; seed <= 50 && failed.count(GetParam().finds) == 0; ++seed) {
    failed = FailuresWith(GetParam().number, seed);
  }
  EXPECT_EQ(failed.count(GetParam().finds), 1u) << (failed.empty() ? "nothing" : *failed.begin());
}

TEST(PolicyRegistersUnseeded, NothingFailsWithoutABug) {
  const std::set<std::string> failed = FailuresWith(0, 1);
  EXPECT_TRUE(failed.empty()) << *failed.begin();
}

INSTANTIATE_TEST_SUITE_P(Rtl, SeededRegisters, testing::ValuesIn(kBugs),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace smk
