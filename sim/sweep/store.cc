// SPDX-License-Identifier: Apache-2.0
#include "sweep/store.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "base/sha256.h"
#include "sweep/damage.h"
#include "sweep/schema.h"

namespace smk::sim {
namespace {

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "?";
}

// When a process started, in clock ticks since the machine did; "" when there is none.
std::string StartOf(const std::string& pid) {
  std::ifstream in("/proc/" + pid + "/stat");
  std::string text;
  std::getline(in, text);
  // The name of the program may hold anything; after its ) come state and 18 numbers.
  const std::size_t end = text.rfind(')');
  if (end == std::string::npos) return "";
  std::istringstream fields(text.substr(end + 1));
  std::string field;
  for (int i = 0; i < 20; ++i) fields >> field;
  return field;
}

Database OpenFile(const std::string& path, const StoreOptions& options) {
  std::error_code ignored;
  if (!options.create && !std::filesystem::exists(path, ignored)) {
    throw InputError(fmt::format("{}: no such database", path));
  }
  try {
    return Database(path, options.read     ? Database::Mode::kRead
                          : options.create ? Database::Mode::kCreate
                                           : Database::Mode::kWrite);
  } catch (const DatabaseError& error) {
    throw InputError(error.what());
  }
}

}  // namespace

std::string OwnProcess() {
  const std::string pid = std::to_string(getpid());
  return fmt::format("{} {} {}", HostName(), pid, StartOf(pid));
}

bool ProcessLives(const std::string& text) {
  std::istringstream in(text);
  std::string host, pid, start;
  in >> host >> pid >> start;
  return host == HostName() && !start.empty() && StartOf(pid) == start;
}

SweepStore::SweepStore(const std::string& path, const StoreOptions& options)
    : database_(OpenFile(path, options)),
      claims_(!options.one_writer),
      owner_(OwnProcess()),
      host_(HostName()),
      executable_(HashFile("/proc/self/exe")) {
  try {
    Prepare(options);
  } catch (const DatabaseError& error) {
    if (error.code() == SQLITE_FULL || error.code() == SQLITE_IOERR) throw;
    throw InputError(error.what());
  }
}

void SweepStore::Prepare(const StoreOptions& options) {
  CheckSweepSchema(&database_);
  if (options.read) {
    if (database_.Number("PRAGMA user_version") == 0) {
      throw InputError(fmt::format("{}: holds no runs yet", database_.path()));
    }
    database_.Run("PRAGMA temp_store = MEMORY");
    return;
  }
  if (options.one_writer) database_.Run("PRAGMA locking_mode = EXCLUSIVE");
  database_.SetJournalMode(options.one_writer ? "TRUNCATE" : "WAL");
  // With WAL, NORMAL loses nothing when processes die, and at a power cut only the last runs.
  database_.Run("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = OFF");
  Transaction transaction(database_);
  // Another process may have made the tables since.
  if (database_.Number("PRAGMA user_version") == 0) {
    database_.Run(SweepSchemaSql());
    database_.Run(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                              kSweepApplication, kSweepSchema));
  }
  AddSettingColumns(&database_);
  transaction.Commit();
}

void SweepStore::RequireInPlace() const {
  if (!database_.HasMoved()) return;
  throw DatabaseError(
      fmt::format("{}: was removed or replaced while the sweep ran", database_.path()),
      SQLITE_READONLY);
}

void SweepStore::SetMembers(const SweepPlan& plan) {
  Transaction transaction(database_);
  Statement(database_, "DELETE FROM members WHERE sweep = ?").With(plan.name).Run();
  Statement insert(database_, "INSERT INTO members VALUES (?, ?, ?, ?)");
  for (const SweepMember& member : plan.members) {
    const std::string& run = plan.runs[member.run].id;
    insert.With(plan.name, member.experiment, run, MemberHash(plan.name, member.experiment, run))
        .Run();
  }
  transaction.Commit();
}

std::map<std::string, RunState> SweepStore::States() {
  std::map<std::string, RunState> states;
  Statement select(database_, "SELECT run, status FROM runs");
  while (select.Step()) {
    states[select.Text(0)] = select.Text(1) == "done" ? RunState::kDone : RunState::kFailed;
  }
  return states;
}

RunState SweepStore::StateOf(const std::string& run) {
  Statement select(database_, "SELECT status FROM runs WHERE run = ?");
  return select.With(run).Step() && select.Text(0) == "done" ? RunState::kDone : RunState::kFailed;
}

std::optional<KernelStats> SweepStore::KernelOf(const std::string& run) {
  Statement select(database_,
                   "SELECT name, warp_instructions, tbs_completed FROM kernels WHERE run = ? AND "
                   "slot = 0");
  if (!select.With(run).Step()) return std::nullopt;
  KernelStats kernel;
  kernel.name = select.Text(0);
  kernel.warp_instructions = static_cast<std::uint64_t>(select.Number(1));
  kernel.tbs_completed = static_cast<std::uint64_t>(select.Number(2));
  return kernel;
}

Claim SweepStore::TryClaim(const std::string& run, bool retry) {
  std::optional<Transaction> transaction;
  if (claims_) transaction.emplace(database_);
  Statement status(database_, "SELECT status FROM runs WHERE run = ?");
  if (status.With(run).Step() && (status.Text(0) == "done" || !retry)) return Claim::kFinished;
  if (!claims_) return Claim::kGranted;
  Statement owner(database_, "SELECT owner FROM claims WHERE run = ?");
  if (owner.With(run).Step() && owner.Text(0) != owner_ && ProcessLives(owner.Text(0))) {
    return Claim::kTaken;
  }
  Statement(database_, "INSERT OR REPLACE INTO claims VALUES (?, ?)").With(run, owner_).Run();
  transaction->Commit();
  return Claim::kGranted;
}

void SweepStore::GiveBack(const std::string& run) {
  if (!claims_) return;
  Statement(database_, "DELETE FROM claims WHERE run = ? AND owner = ?").With(run, owner_).Run();
}

}  // namespace smk::sim
