// SPDX-License-Identifier: Apache-2.0
// The groups of asynchronous copies (LDGSTS) of one warp of a trace.
//
// Purpose   Gives each group a register that all its copies write, so that an instruction that
//           reads it waits for the group: LDGDEPBAR closes a group, DEPBAR waits for all groups
//           but the last N.
// Registers The highest ones, in turn. Groups that far apart share one; whoever waits for one of
//           them waits for both. A kernel that has these registers itself waits for both, too.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "workload/program.h"

namespace smk {

// See the head of this file.
class AsyncGroups {
 public:
  // A copy issues; the register that it writes.
  std::uint8_t Copy() {
    open_[closed_ % kAsyncRegisters] = true;
    return RegisterOf(closed_);
  }
  // What has been copied since the last call is a group.
  void Close() { ++closed_; }
  // The warp waits for all groups but the last `left`: registers of those that it has not waited
  // for, the last one first.
  std::vector<std::uint8_t> Wait(std::uint64_t left) {
    std::vector<std::uint8_t> registers;
    const std::uint64_t end = closed_ - std::min(left, closed_);
    for (std::uint64_t group = end; group > waited_; --group) {
      bool& open = open_[(group - 1) % kAsyncRegisters];
      if (open) registers.push_back(RegisterOf(group - 1));
      open = false;
    }
    waited_ = std::max(waited_, end);
    const bool none = std::none_of(open_.begin(), open_.end(), [](bool open) { return open; });
    // So that each trip of a loop has the same registers.
    if (none) closed_ = waited_ = 0;
    return registers;
  }

 private:
  static std::uint8_t RegisterOf(std::uint64_t group) {
    return static_cast<std::uint8_t>(kFirstAsyncRegister + group % kAsyncRegisters);
  }

  std::uint64_t closed_ = 0;  // groups; copies belong to the next one
  std::uint64_t waited_ = 0;  // groups before this one are done
  std::array<bool, kAsyncRegisters> open_{};
};

}  // namespace smk
