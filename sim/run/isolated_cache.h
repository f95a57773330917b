// SPDX-License-Identifier: Apache-2.0
// Results of isolated runs, kept between calls of the command.
#pragma once

#include <optional>
#include <string>

#include "experiment/experiment.h"

namespace smk::sim {

// A folder with one file for each isolated run, named by the hash of everything that decides its
// result: machine, workload, cycles, seed, model version and executable. Entries are written under
// a temporary name and renamed, so any number of processes may share the folder. A damaged entry is
// as good as none and is overwritten. Trouble with the folder is reported once, on stderr, and then
// ignored.
class IsolatedCache {
 public:
  // "" switches the cache off.
  explicit IsolatedCache(std::string folder) : folder_(std::move(folder)) {}

  // Statistics of kernel `kernel` of `experiment` alone, without TB records and the like.
  std::optional<RunResult> Find(const Experiment& experiment, std::size_t kernel);
  void Store(const Experiment& experiment, std::size_t kernel, RunResult result);

 private:
  std::string Path(const Experiment& experiment, std::size_t kernel);
  void Warn(const std::string& message);

  std::string folder_;
  std::string executable_hash_;
  bool warned_ = false;
};

}  // namespace smk::sim
