// SPDX-License-Identifier: Apache-2.0
// Simulations in child processes: the SystemC kernel exists once per process, so this is how
// several run at the same time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "machine/run.h"

namespace smk::sim {

// One simulation to run; `name` is for messages.
struct Task {
  std::string name;
  std::function<RunResult()> run;
};

// Runs all tasks, each in a process of its own, at most `jobs` at a time, and gives their results
// in the order of the tasks. `on_done` is called with the number of finished tasks after each. The
// first failure ends all others and is thrown here as it was thrown there (InputError,
// CheckFailure, std::runtime_error); a child that crashed is a CheckFailure.
std::vector<RunResult> RunTasks(const std::vector<Task>& tasks, unsigned jobs,
                                const std::function<void(std::size_t)>& on_done);

}  // namespace smk::sim
