// SPDX-License-Identifier: Apache-2.0
// The host schedulers by name: what `--scheduler` accepts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/gemini/settings.h"
#include "host/host_scheduler.h"

namespace smk::sim {

// Where a scheduler knows pairs of kernels from; what it needs is measured before the stream.
enum class PairSource : std::uint8_t { kNone, kModel, kMeasured, kRandom };

struct SchedulerInfo {
  std::string name;         // as typed
  std::string paper;        // where it comes from
  std::string description;  // one sentence
  // Empty for those that have pairs or merge.
  std::function<std::unique_ptr<HostScheduler>()> make;
  PairSource pairs = PairSource::kNone;
  bool merges = false;  // KernelMerge, which is made for the machine
  // For clients with scripts.
  std::optional<gemini::Control> control = {};
  // For jobs of streams.
  bool streams() const { return make != nullptr || pairs != PairSource::kNone || merges; }
};

// One that was chosen.
struct SchedulerChoice {
  std::string text;  // as typed: kernelet-random:7, kernel-merge:4
  SchedulerInfo info;
  std::uint64_t seed = 1;      // of kernelet-random
  MergeSplit split = {};       // of kernel-merge; none: stealing
  std::uint32_t quota_ms = 0;  // of static-quota; 0: as the specification says
};

// All of them, in the order in which they are shown.
const std::vector<SchedulerInfo>& Schedulers();

// Throws InputError for an unknown name, and for a number where none is taken.
SchedulerChoice ParseScheduler(const std::string& text);

}  // namespace smk::sim
