// SPDX-License-Identifier: Apache-2.0
// The database of sweeps.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/database.h"
#include "sweep/plan.h"

namespace smk::sim {

// What the database knows of a run.
enum class RunState { kDone, kFailed };

// Who may take a run.
enum class Claim {
  kGranted,   // we, and nobody else
  kFinished,  // nobody: its result is there
  kTaken,     // another sweep has it in work
};

// How a database is used.
struct StoreOptions {
  bool create = false;
  // Nobody else uses the file: it may lie on a network file system, where WAL must not be used.
  bool one_writer = false;
  // Nothing is written; the file may be where nothing can be.
  bool read = false;
};

// One connection. Every public function is one transaction: it has happened or it has not, whoever
// is killed, and any number of processes of one machine may use the file at the same time. Errors
// are InputErrors when the file is at fault from the start (missing, not ours, of a newer schema,
// read-only), and DatabaseErrors later (disk full).
class SweepStore {
 public:
  SweepStore(const std::string& path, const StoreOptions& options);

  // Which runs belong to which experiment; what was known of this sweep before is forgotten.
  void SetMembers(const SweepPlan& plan);
  std::map<std::string, RunState> States();
  RunState StateOf(const std::string& run);  // one that is there
  // The first kernel of a run that is done: what it executed and completed, nothing else.
  std::optional<KernelStats> KernelOf(const std::string& run);

  // Takes the run for this process. A claim dies with its process. A failed run is granted only
  // when `retry` is set.
  Claim TryClaim(const std::string& run, bool retry);
  void GiveBack(const std::string& run);

  // Both end the claim. A result that is there already stays.
  void StoreResult(const SweepRun& run, const LoadedRun& loaded, const RunResult& result,
                   const std::string& messages);
  void StoreFailure(const SweepRun& run, const LoadedRun& loaded, const std::string& reason,
                    const std::string& messages);

  // Takes away those runs of this plan, or of none, whose rows are not what was stored, and says
  // which they were.
  std::vector<std::string> RemoveDamaged(const SweepPlan& plan);

  // Throws DatabaseError when what is written here is not in the file at our path.
  void RequireInPlace() const;

  // Runs of this plan that another executable made.
  std::size_t OfOtherExecutables(const SweepPlan& plan);

  // What Merge() took over.
  struct Merged {
    std::size_t done = 0, failed = 0;
    std::vector<std::string> conflicts;  // runs whose two results differ
  };
  // Throws InputError for a database that Merge() would refuse.
  static void RequireReadable(const std::string& path);
  // Takes over all runs of another database of the same schema; done goes before failed.
  Merged Merge(const std::string& path);

  Database& database() { return database_; }

 private:
  void Prepare(const StoreOptions& options);
  void Delete(const std::string& run);
  // Leaves out the runs in the table `bad`. All rows are written again: what is not in its place is
  // not found by its name.
  void Rewrite();
  // Stores the hash of the rows that are there.
  void Seal(const std::string& run);
  // A statement with a parameter for each column.
  std::string InsertInto(const std::string& table);
  // The row of `runs`; `result` is null for a failed one.
  void InsertRun(const SweepRun& run, const LoadedRun& loaded, const RunResult* result,
                 const std::string& reason, const std::string& messages);
  // The settings of the runs in the table `fresh`, of the database `other`.
  void MergeSettings();
  void InsertSettings(const std::string& run, const LoadedRun& loaded);
  void InsertKernels(const SweepRun& run, const LoadedRun& loaded, const RunResult& result);
  void InsertSms(const SweepRun& run, const RunResult& result);
  // Of a stream, or of one of its jobs alone.
  void InsertStream(const SweepRun& run, const RunResult& result);

  Database database_;
  const bool claims_;  // not when we are the one writer
  std::string owner_;  // of our claims
  std::string host_, executable_;
};

// The hash of everything in a result but wall_seconds.
std::string ResultHash(RunResult result);

// "HOST PID START" of this process, and whether the process of such a text still runs. One of
// another host is taken for dead: it cannot have the file open.
std::string OwnProcess();
bool ProcessLives(const std::string& text);

}  // namespace smk::sim
