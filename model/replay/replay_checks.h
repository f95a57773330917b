// SPDX-License-Identifier: Apache-2.0
// Checks of a replay that are always on: a violation ends the run, held checks are counted.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/run.h"
#include "machine/run_checks.h"
#include "replay/rates.h"

namespace smk {

// Every TB is in exactly one launch, its work is done once, and time goes on.
class ReplayChecks {
 public:
  explicit ReplayChecks(std::size_t jobs) : launched_(jobs) {}

  // A launch of these TBs of the job's current kernel, which has `tbs` in all.
  void Launch(JobId job, std::uint32_t first_tb, std::uint32_t tb_count, std::uint32_t tbs,
              Cycle now);
  // It is done, which is the work of `all`, and so much was counted, `rate` of it in a cycle at the
  // end.
  void Done(JobId job, double all, double work, double rate, Cycle now);
  // An event at `now`, after one at `before`.
  void Time(Cycle before, Cycle now);
  // The rates of a set of `members`.
  void Rates(const std::vector<SetRate>& rates, std::size_t members, Cycle now);
  // Launches are there: one goes on, or the host has something to do.
  void Progress(bool progress, Cycle now);
  // At the end: TBs of the job in launches that are done, and what they are when it has ended.
  void Ended(JobId job, std::uint64_t tbs, std::uint64_t expected, Cycle now);

  std::uint64_t count() const { return checks_.count(); }

 private:
  RunChecks checks_;
  std::vector<std::uint32_t> launched_;  // by job: TBs of its current kernel
};

}  // namespace smk
