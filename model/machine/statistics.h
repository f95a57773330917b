// SPDX-License-Identifier: Apache-2.0
// The counters of a run: one list for each of run, kernel and SM, from which they are added up,
// kept, written and explained. stats.json has them in this order.
#pragma once

#include <vector>

#include "machine/run.h"

namespace smk {

// The text of a counter on a page.
struct CounterText {
  const char* name;
  const char* unit;
  const char* meaning;
};

// A member of KernelStats.
struct KernelCounter : CounterText {
  std::uint64_t KernelStats::*value;
  // Its name among the counters of preemption, if it is one.
  const char* of_preemption = nullptr;
  // Of the job as a whole; the machine counts the others by kernel slot.
  bool of_job = false;
  // Of an execution unit; its name is that of the unit and "_busy".
  bool of_unit = false;
};
const std::vector<KernelCounter>& KernelCounters();

// A member of RunResult. For the run as a whole.
struct RunCounter : CounterText {
  std::uint64_t RunResult::*value;
};
const std::vector<RunCounter>& RunCounters();

// A member of SmStats, by job.
struct SmCounter : CounterText {
  std::vector<std::uint64_t> SmStats::*value;
};
const std::vector<SmCounter>& SmCounters();

// What each member of kStallNames means.
extern const std::array<const char*, kNumStalls> kStallMeanings;

// Those of SmStats::sim_stalls.
extern const std::array<CounterText, kNumSimStalls> kSimStalls;

// Adds all counters and stalls of `other`.
void AddCounters(const KernelStats& other, KernelStats* sum);
// Adds what is counted by kernel slot and was counted there from `before` to `after`.
void AddSince(const KernelStats& before, const KernelStats& after, KernelStats* sum);

}  // namespace smk
