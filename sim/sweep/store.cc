// SPDX-License-Identifier: Apache-2.0
#include "sweep/store.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/database_uri.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/sha256.h"
#include "experiment/model_version.h"
#include "machine/statistics.h"
#include "run/result_io.h"
#include "run/results.h"
#include "smk/version.h"
#include "sweep/damage.h"
#include "sweep/schema.h"

namespace smk::sim {
namespace {

constexpr std::size_t kMaxMessages = 65536;  // bytes of a run's stderr that are kept

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

// The same for a database to be merged; false when there is nothing in it. A writer that was killed
// may have left something to be undone, so it is opened for writing where that is possible.
bool CheckOther(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    throw InputError(fmt::format("{}: no such database", path));
  }
  try {
    Database database(path, CanWriteBeside(path) ? Database::Mode::kWrite : Database::Mode::kRead);
    CheckSweepSchema(&database);
    if (database.Number("PRAGMA user_version") == 0) return false;
    ReadOlderSweep(&database);
    RefuseDamage(&database);
    return true;
  } catch (const DatabaseError& error) {
    throw InputError(error.what());
  }
}

// The values of the columns that KnobColumns() names.
void BindKnobs(const Configuration& configuration, Statement* insert) {
  for (const Knob& knob : Knobs()) {
    if (!knob.has_column) continue;
    const std::string value = knob.print(configuration);
    if (knob.is_word) {
      insert->And(value);
    } else {
      insert->And(value == "true" ? 1 : value == "false" ? 0 : std::stoll(value));
    }
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

std::string ResultHash(RunResult result) {
  result.wall_seconds = 0;
  return HashText(ToJson(result).dump());
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
    ReadOlderSweep(&database_);
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
                              kSweepApplication, SweepSchema()));
  }
  UpgradeSweep(&database_);
  transaction.Commit();
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

std::string SweepStore::InsertInto(const std::string& table) {
  const std::int64_t columns =
      database_.Number(fmt::format("SELECT COUNT(*) FROM pragma_table_info('{}')", table));
  std::string values;
  for (std::int64_t i = 0; i < columns; ++i) values += i == 0 ? "?" : ",?";
  return fmt::format("INSERT INTO {} VALUES ({})", table, values);
}

void SweepStore::Delete(const std::string& run) {
  for (const char* table : kRunTables) {
    Statement(database_, fmt::format("DELETE FROM {} WHERE run = ?", table)).With(run).Run();
  }
}

void SweepStore::Seal(const std::string& run) {
  Statement(database_, "UPDATE runs SET rows_sha256 = ? WHERE run = ?")
      .With(RowHash(&database_).Of(run), run)
      .Run();
}

void SweepStore::StoreResult(const SweepRun& run, const LoadedRun& loaded, const RunResult& result,
                             const std::string& messages) {
  Transaction transaction(database_);
  Statement(database_, "DELETE FROM claims WHERE run = ?").With(run.id).Run();
  Statement done(database_, "SELECT 1 FROM runs WHERE run = ? AND status = 'done'");
  if (!done.With(run.id).Step()) {
    InsertRun(run, loaded, &result, "", messages);
    InsertKernels(run, loaded, result);
    InsertSms(run, result);
    InsertStream(run, result);
    Seal(run.id);
  }
  transaction.Commit();
}

void SweepStore::StoreFailure(const SweepRun& run, const LoadedRun& loaded,
                              const std::string& reason, const std::string& messages) {
  Transaction transaction(database_);
  Statement(database_, "DELETE FROM claims WHERE run = ?").With(run.id).Run();
  Statement done(database_, "SELECT 1 FROM runs WHERE run = ? AND status = 'done'");
  if (!done.With(run.id).Step()) {
    InsertRun(run, loaded, nullptr, reason, messages);
    Seal(run.id);
  }
  transaction.Commit();
}

void SweepStore::InsertRun(const SweepRun& run, const LoadedRun& loaded, const RunResult* result,
                           const std::string& reason, const std::string& messages) {
  Statement before(database_, "SELECT attempts FROM runs WHERE run = ?");
  const std::int64_t attempts = before.With(run.id).Step() ? before.Number(0) + 1 : 1;
  Delete(run.id);
  std::optional<std::uint64_t> instructions, reads, writes;
  std::optional<std::string> hash;
  std::optional<double> seconds;
  if (result != nullptr) {
    instructions = result->warp_instructions;
    reads = Total(*result, &KernelStats::dram_read_bytes);
    writes = Total(*result, &KernelStats::dram_write_bytes);
    hash = ResultHash(*result);
    seconds = result->wall_seconds;
  }
  const Experiment& e = loaded.experiment;
  const std::size_t skip = messages.size() > kMaxMessages ? messages.size() - kMaxMessages : 0;
  InsertSettings(run.id, loaded);
  Statement insert(database_, InsertInto("runs"));
  insert.With(run.id, std::string(result != nullptr ? "done" : "failed"), run.workload, run.group,
              run.policy, run.preempt, e.machine.name, std::string(Name(e.control)), e.cycles,
              std::to_string(e.seed), Join(run.settings, " "), e.machine.sms,
              e.machine.sm.schedulers);
  BindKnobs(InEffect(e, loaded.request.policy), &insert);
  insert.And(RunCommandLine(run), instructions, reads, writes);
  for (const RunCounter& counter : RunCounters()) {
    if (counter.value == &RunResult::warp_instructions) continue;
    insert.And(result != nullptr ? std::optional(result->*counter.value) : std::nullopt);
  }
  insert
      .And(hash, std::string(), seconds,
           fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))), host_,
           std::string(kGitDescribe), std::string(kModelVersion), executable_, attempts, reason,
           messages.substr(skip))
      .Run();
}

void SweepStore::InsertSettings(const std::string& run, const LoadedRun& loaded) {
  std::map<std::string, std::string> values;
  for (const auto& [key, value] : loaded.experiment.loaded_machine->leaves) values[key] = value;
  for (const char* key : {"name", "sms"}) values.erase(key);
  const Configuration configuration = InEffect(loaded.experiment, loaded.request.policy);
  for (const Knob* knob : SettableKnobs()) values[knob->path] = knob->print(configuration);
  std::string keys, places;
  for (const auto& [key, value] : values) {
    keys += fmt::format(", \"{}\"", key);
    places += ", ?";
  }
  Statement insert(database_,
                   fmt::format("INSERT INTO settings (run{}) VALUES (?{})", keys, places));
  insert.With(run);
  for (const auto& [key, value] : values) insert.And(value);
  insert.Run();
}

void SweepStore::InsertKernels(const SweepRun& run, const LoadedRun& loaded,
                               const RunResult& result) {
  Statement kernels(database_, InsertInto("kernels"));
  Statement preemptions(database_, InsertInto("preemptions"));
  Statement units(database_, InsertInto("units"));
  for (std::size_t slot = 0; slot < result.kernels.size(); ++slot) {
    const KernelStats& k = result.kernels[slot];
    const Job& job = loaded.request.jobs[slot];
    kernels.With(run.id, slot, k.name, job.workload->type, run.isolated[slot], job.arrival);
    preemptions.With(run.id, slot);
    units.With(run.id, slot);
    for (const KernelCounter& counter : KernelCounters()) {
      Statement& table = counter.of_unit                    ? units
                         : counter.of_preemption == nullptr ? kernels
                                                            : preemptions;
      table.And(k.*counter.value);
    }
    for (const unsigned reason : KernelStalls()) kernels.And(k.stalls[reason]);
    kernels.Run();
    preemptions.Run();
    units.Run();
  }
}

void SweepStore::InsertStream(const SweepRun& run, const RunResult& result) {
  if (!run.stream) return;
  if (!run.is_isolated()) {
    const CopyStats& c = result.copies;
    Statement(database_, InsertInto("streams"))
        .With(run.id, run.stream->scheduler, run.stream->device, c.copies, c.in_bytes, c.out_bytes,
              c.in_cycles, c.out_cycles, c.overlapped_cycles)
        .Run();
  }
  Statement jobs(database_, InsertInto("jobs"));
  const auto known = [](Cycle cycle) {
    return cycle == kNever ? std::nullopt : std::optional<Cycle>(cycle);
  };
  for (std::size_t slot = 0; slot < result.jobs.size(); ++slot) {
    const JobStats& job = result.jobs[slot];
    jobs.With(run.id, slot, job.client, job.arrival, known(job.ready), known(job.start),
              known(job.finish), job.slices_completed)
        .Run();
  }
}

void SweepStore::InsertSms(const SweepRun& run, const RunResult& result) {
  Statement sms(database_, InsertInto("sms")), stalls(database_, InsertInto("stalls"));
  for (std::size_t sm = 0; sm < result.sms.size(); ++sm) {
    const SmStats& stats = result.sms[sm];
    for (std::size_t slot = 0; slot < result.kernels.size(); ++slot) {
      sms.With(run.id, sm, slot);
      for (const SmCounter& counter : SmCounters()) sms.And((stats.*counter.value)[slot]);
      sms.And(result.partitions[sm][slot]).Run();
    }
    stalls.With(run.id, sm);
    for (const std::uint64_t cycles : stats.scheduler_cycles) stalls.And(cycles);
    for (const std::uint64_t cycles : stats.sim_stalls) stalls.And(cycles);
    stalls.Run();
  }
}

std::vector<std::string> SweepStore::RemoveDamaged(const SweepPlan& plan) {
  std::vector<std::string> removed;
  const std::vector<std::string> damaged = DamagedRuns(&database_);
  Transaction transaction(database_);
  RemoveDamagedMembers(&database_);
  if (!damaged.empty()) {
    std::set<std::string> ours;
    for (const SweepRun& run : plan.runs) ours.insert(run.id);
    database_.Run("CREATE TEMP TABLE bad (run TEXT PRIMARY KEY)");
    for (const std::string& run : DamagedRuns(&database_)) {
      // An id that nobody asks for may be what was damaged.
      Statement asked(database_, "SELECT 1 FROM members WHERE run = ?");
      if (ours.count(run) == 0 && asked.With(run).Step()) continue;
      removed.push_back(DescribeRun(&database_, run));
      Statement(database_, "INSERT INTO bad VALUES (?)").With(run).Run();
    }
    Rewrite();
  }
  transaction.Commit();
  return removed;
}

void SweepStore::Rewrite() {
  for (const char* table : kRunTables) {
    database_.Run(fmt::format(
        "CREATE TEMP TABLE good AS SELECT * FROM main.{0} WHERE +run NOT IN (SELECT run FROM bad) "
        "AND +run IN (SELECT +run FROM main.runs);"
        "DELETE FROM main.{0}; INSERT OR IGNORE INTO main.{0} SELECT * FROM good ORDER BY 1, 2, 3;"
        "DROP TABLE good",
        table));
  }
  database_.Run("DROP TABLE bad");
}

std::size_t SweepStore::OfOtherExecutables(const SweepPlan& plan) {
  std::size_t others = 0;
  Statement select(database_,
                   "SELECT executable_sha256 <> ? FROM runs WHERE run = ? AND status = 'done'");
  for (const SweepRun& run : plan.runs) {
    if (select.With(executable_, run.id).Step() && select.Number(0) != 0) ++others;
  }
  return others;
}

void SweepStore::MergeSettings() {
  std::vector<std::string> keys;
  {
    Statement columns(
        database_, "SELECT name FROM pragma_table_info('settings', 'other') WHERE name <> 'run'");
    while (columns.Step()) keys.push_back(columns.Text(0));
  }
  AddSettingColumns(&database_, keys);
  std::string names = "run";
  for (const std::string& key : keys) names += fmt::format(", \"{}\"", key);
  database_.Run(fmt::format(
      "INSERT OR IGNORE INTO main.settings ({0}) SELECT {0} FROM other.settings WHERE run IN "
      "(SELECT run FROM fresh)",
      names));
}

SweepStore::Merged SweepStore::Merge(const std::string& path) {
  if (!CheckOther(path)) return {};
  const std::string absolute = std::filesystem::absolute(path).string();
  Statement(database_, "ATTACH ? AS other")
      .With(CanWriteBeside(path) ? absolute : UnchangingUri(path))
      .Run();
  Merged merged;
  {
    Transaction transaction(database_);
    Statement conflicts(database_,
                        "SELECT o.run FROM other.runs o JOIN main.runs r USING (run) WHERE "
                        "o.status = 'done' AND r.status = 'done' AND "
                        "o.result_sha256 <> r.result_sha256 ORDER BY 1");
    while (conflicts.Step()) merged.conflicts.push_back(conflicts.Text(0));
    // New here: runs that are not there, and results of runs that have failed here.
    database_.Run(
        "CREATE TEMP TABLE fresh AS SELECT o.run, o.status FROM other.runs o LEFT JOIN main.runs r "
        "USING (run) WHERE r.run IS NULL OR (r.status = 'failed' AND o.status = 'done')");
    merged.done = static_cast<std::size_t>(
        database_.Number("SELECT COUNT(*) FROM fresh WHERE status = 'done'"));
    merged.failed = static_cast<std::size_t>(
        database_.Number("SELECT COUNT(*) FROM fresh WHERE status = 'failed'"));
    database_.Run("DELETE FROM main.runs WHERE run IN (SELECT run FROM fresh)");
    const std::int64_t version = database_.Number("PRAGMA other.user_version");
    for (const char* table : kSweepTables) {
      if (std::string(table) == "settings") {
        MergeSettings();
        continue;
      }
      const bool streams = std::string(table) == "streams" || std::string(table) == "jobs";
      if (streams && version < kStreamsSchema) continue;
      const bool all = std::string(table) == "members";
      database_.Run(fmt::format("INSERT OR IGNORE INTO main.{0} SELECT * FROM other.{0}{1}", table,
                                all ? "" : " WHERE run IN (SELECT run FROM fresh)"));
    }
    database_.Run("DROP TABLE fresh");
    transaction.Commit();
  }
  database_.Run("DETACH other");
  return merged;
}

}  // namespace smk::sim
