// SPDX-License-Identifier: Apache-2.0
// `smk serve` of a specification s.toml, with two small workloads beside it.
#pragma once

#include <algorithm>
#include <string>

#include "sim/command.h"

namespace smk {

class ServeCommand : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    WriteTiny("tiny.toml");
    WriteTiny("other.toml");
  }
  // What it writes, without what differs from run to run.
  nlohmann::ordered_json Stats(const std::string& arguments) const {
    const Outcome outcome = Smk("serve s.toml --force --out o " + arguments);
    EXPECT_EQ(outcome.status, 0) << arguments << '\n' << outcome.out << outcome.err;
    EXPECT_EQ(outcome.LastLine(), "PASS");
    nlohmann::ordered_json stats = Json("o/stats.json");
    stats.erase("wall");
    return stats;
  }
  // One line, in which `part` is.
  void Refuses(const std::string& arguments, const std::string& part) const {
    const Outcome outcome = Smk("serve " + arguments);
    EXPECT_EQ(outcome.status, 2) << arguments << '\n' << outcome.out << outcome.err;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << arguments << '\n' << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
};

}  // namespace smk
