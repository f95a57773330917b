// SPDX-License-Identifier: Apache-2.0
// A stream of jobs as a TOML file describes it; docs/serve.md has the format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "experiment/origins.h"

namespace smk::sim {

// The policy of a stream of which nobody says another.
inline constexpr char kStreamPolicy[] = "leftover";

// Bytes of a copy: those of the workload's arrays.
inline constexpr std::uint64_t kOfWorkload = ~std::uint64_t{0};

// How much of a workload a job executes. What is not given is that of the file's top level, and
// else of the whole workload.
struct JobSize {
  std::optional<double> scale = {};                          // part of the TBs of each kernel
  std::optional<std::uint32_t> tbs = {};                     // or so many, at most
  std::optional<std::uint32_t> launches = {};                // the first of its launches
  std::optional<std::uint64_t> copy_in = {}, copy_out = {};  // bytes, or kOfWorkload
};

// A [[job]] or a [[client]]: `count` jobs of one workload.
struct StreamEntry {
  std::string where;   // "file:line: job", for messages
  std::string client;  // whose jobs they are; empty: that of the workload's name
  std::string workload;
  Cycle arrival = 0;  // of the first, or from here on
  std::uint64_t count = 1;
  std::optional<double> rate;  // jobs per second, as a Poisson process; none: all at `arrival`
  JobSize size;
};

struct StreamSpec {
  std::string path;
  std::string name;
  // As the options of the command; none: its default.
  std::optional<std::string> machine, policy, preempt, control, scheduler, device, cycles, seed,
      rate_cycles, rate_warm_up;
  std::vector<std::string> sets;
  Origins origins;      // of these
  bool overlap = true;  // copies and kernels at the same time
  std::vector<StreamEntry> entries;
};

// Throws InputError, one line with file and line.
StreamSpec LoadStreamSpec(const std::string& path);

}  // namespace smk::sim
