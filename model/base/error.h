// SPDX-License-Identifier: Apache-2.0
// The two ways a run can end badly. Both carry one complete line for the user.
#pragma once

#include <stdexcept>
#include <string>

namespace smk {

// Bad input: usage, configuration, workload or file. Message: "file:line: key: what was expected".
// The command prints it as one line and exits with 2.
class InputError : public std::runtime_error {
 public:
  explicit InputError(const std::string& message) : std::runtime_error(message) {}
};

// A check inside the run failed: the model or the hardware is wrong. The command prints
// "FAIL: message" and exits with 1.
class CheckFailure : public std::runtime_error {
 public:
  explicit CheckFailure(const std::string& message) : std::runtime_error(message) {}
};

}  // namespace smk
