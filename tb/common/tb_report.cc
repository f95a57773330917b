// SPDX-License-Identifier: Apache-2.0
#include "common/tb_report.h"

#include <algorithm>
#include <cstdio>

#include "test_options.h"

namespace smk {
namespace {

// Cycles that a wave of a failure shows before the mismatch.
constexpr std::uint64_t kLeadIn = 50;

}  // namespace

std::string WithCommas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

void TbReport::OnTestProgramStart(const testing::UnitTest&) {
  std::printf("tb_%s: smk_%s in lockstep with its C++ twin, seed %llu\n", block_.c_str(),
              block_.c_str(), static_cast<unsigned long long>(GetTestOptions().seed));
  std::printf("  %-60s %10s %12s %7s\n", "test", "cycles", "values", "ms");
}

void TbReport::OnTestStart(const testing::TestInfo&) {
  before_ = GetLockstepLog();
  failures_.clear();
}

void TbReport::OnTestPartResult(const testing::TestPartResult& result) {
  if (!result.failed()) return;
  failures_ += std::string("    ") + (result.file_name() ? result.file_name() : "") + ":" +
               std::to_string(result.line_number()) + ": " + result.message() + "\n";
}

void TbReport::OnTestEnd(const testing::TestInfo& test) {
  const LockstepLog& now = GetLockstepLog();
  const std::uint64_t found = now.mismatches - before_.mismatches;
  std::printf("  %-60s %10s %12s %7lld%s\n", test.name(),
              WithCommas(now.cycles - before_.cycles).c_str(),
              WithCommas(now.compared - before_.compared).c_str(),
              static_cast<long long>(test.result()->elapsed_time()),
              test.result()->Failed() ? "  FAIL" : "");
  if (test.result()->Passed() && found != 0) {
    std::printf("    found %s of %s broken references, as it should\n", WithCommas(found).c_str(),
                WithCommas(now.runs - before_.runs).c_str());
  }
  if (!test.result()->Failed()) return;
  std::printf("%s", failures_.c_str());
  if (found == 0) return;
  std::printf(
      "    to see it: tb_%s --seed=%llu --wave-test=%s --wave-from=%llu --wave-cycles=%llu\n",
      block_.c_str(), static_cast<unsigned long long>(now.seed), test.name(),
      static_cast<unsigned long long>(now.cycle - std::min(now.cycle, kLeadIn)),
      static_cast<unsigned long long>(2 * kLeadIn));
}

void TbReport::PrintOutcome() const {
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  const LockstepLog& log = GetLockstepLog();
  const bool pass = all.Passed() && all.successful_test_count() != 0;
  std::printf("%s: %d of %d tests, %s cycles, %s values compared, seed %llu\n",
              pass ? "PASS" : "FAIL", all.successful_test_count(), all.test_to_run_count(),
              WithCommas(log.cycles).c_str(), WithCommas(log.compared).c_str(),
              static_cast<unsigned long long>(GetTestOptions().seed));
}

}  // namespace smk
