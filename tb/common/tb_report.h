// SPDX-License-Identifier: Apache-2.0
// What a testbench prints: one line per test with what it compared, and the outcome last.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "common/lockstep_log.h"

namespace smk {

// 1234567 as "1,234,567".
std::string WithCommas(std::uint64_t number);

class TbReport : public testing::EmptyTestEventListener {
 public:
  explicit TbReport(std::string block) : block_(std::move(block)) {}

  void OnTestProgramStart(const testing::UnitTest& all) override;
  void OnTestStart(const testing::TestInfo& test) override;
  void OnTestPartResult(const testing::TestPartResult& result) override;
  void OnTestEnd(const testing::TestInfo& test) override;
  // The last line.
  void PrintOutcome() const;

 private:
  std::string block_;
  LockstepLog before_;
  std::string failures_;  // of the test that runs
};

}  // namespace smk
