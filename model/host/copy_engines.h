// SPDX-License-Identifier: Apache-2.0
// Copies between the memories of host and GPU ([Kernelet] Sec. 3.1, "memory command scheduler").
//
// Purpose     One engine per direction, each with one copy at a time, in the order in which they
//             were asked for. A copy takes the latency and its bytes by the bandwidth.
// Memory      A job has room for what it copies in and out from the start of its copy in until the
//             end of its copy out. Where there is none, it waits, and those behind it, too.
// Overlap     With it, copies and kernels do not know of each other. Without, no copy starts while
//             a kernel runs, and none is launched while a copy runs or could start.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "machine/run.h"

namespace smk {

class CopyEngines {
 public:
  // `jobs` must live as long. Throws InputError for a job that needs more memory than there is.
  CopyEngines(const RunRequest& request);

  // True when the run has any copy.
  bool any() const { return any_; }
  static bool HasCopies(const Job& job) { return job.copy_in != 0 || job.copy_out != 0; }

  void AskIn(JobId job);
  void AskOut(JobId job);
  // Starts what can start in this cycle. `kernels`: some are in kernel slots.
  void Start(Cycle now, bool kernels);
  // A job whose copy has ended by this cycle; nothing when there is none.
  std::optional<JobId> TakeIn(Cycle now);
  std::optional<JobId> TakeOut(Cycle now);
  // Whether launches have to wait.
  bool HoldsLaunches() const;
  // The next end of a copy.
  Cycle NextEvent() const;

  // Counts the time since the last call: `kernels` were in kernel slots in it or not.
  void Account(Cycle now, bool kernels);
  const CopyStats& stats() const { return stats_; }
  // In the order of their starts.
  std::vector<CopyRecord> TakeRecords() { return std::move(records_); }

 private:
  struct Engine {
    std::vector<JobId> queue;  // of all that was asked for, in order
    std::size_t next = 0;      // the first that has not started
    bool busy = false;
    Cycle end = 0;  // when busy
  };

  std::uint64_t Need(JobId job) const;
  bool CanStart(const Engine& engine) const;
  std::optional<JobId> Take(Engine* engine, Cycle now);

  const std::vector<Job>& jobs_;
  const double cycles_per_byte_;
  const Cycle latency_;
  const bool overlap_;
  bool any_ = false;
  std::uint64_t free_;  // bytes
  std::array<Engine, 2> engines_;
  Cycle accounted_ = 0;
  CopyStats stats_;
  std::vector<CopyRecord> records_;  // two of a job at most
};

}  // namespace smk
