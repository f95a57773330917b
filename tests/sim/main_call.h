// SPDX-License-Identifier: Apache-2.0
// The whole command, called in this process with a stand-in for the simulator.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/commands.h"
#include "sim/fake.h"

namespace smk::sim {

// What a call of Main() printed and returned.
struct Ended {
  int status;
  std::string out, err;
};

inline Ended CallMain(const Backend& backend, const std::vector<std::string>& words) {
  std::vector<const char*> arguments = {"smk"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Ended ended;
  ended.status = Main(static_cast<int>(arguments.size()), arguments.data(), backend);
  ended.out = testing::internal::GetCapturedStdout();
  ended.err = testing::internal::GetCapturedStderr();
  return ended;
}

// What a refused call says in its one line, without "smk: " in front.
inline std::string MainRefusal(const Backend& backend, const std::vector<std::string>& words) {
  const Ended ended = CallMain(backend, words);
  EXPECT_EQ(ended.status, 2) << ended.out << ended.err;
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(ended.err.rfind("smk: ", 0), 0u) << ended.err;
  EXPECT_EQ(ended.err.find('\n') + 1, ended.err.size()) << ended.err;
  return ended.err.size() < 6 ? "" : ended.err.substr(5, ended.err.size() - 6);
}

}  // namespace smk::sim
