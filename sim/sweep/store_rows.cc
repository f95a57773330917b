// SPDX-License-Identifier: Apache-2.0
// SweepStore: the rows of one run.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <map>

#include "base/numbers.h"
#include "base/sha256.h"
#include "experiment/model_version.h"
#include "machine/statistics.h"
#include "run/result_io.h"
#include "run/results.h"
#include "smk/version.h"
#include "sweep/damage.h"
#include "sweep/schema.h"
#include "sweep/store.h"

namespace smk::sim {
namespace {

constexpr std::size_t kMaxMessages = 65536;  // bytes of a run's stderr that are kept

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

std::string ResultHash(RunResult result) {
  result.wall_seconds = 0;
  return HashText(ToJson(result).dump());
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
  std::optional<std::uint64_t> cycles, measured, instructions, reads, writes, late;
  std::optional<std::string> hash;
  std::optional<double> seconds;
  if (result != nullptr) {
    cycles = result->cycles;
    measured = result->measured_cycles();
    instructions = result->warp_instructions;
    reads = Total(*result, &KernelStats::dram_read_bytes);
    writes = Total(*result, &KernelStats::dram_write_bytes);
    late = result->late_reservations;
    hash = ResultHash(*result);
    seconds = result->wall_seconds;
  }
  const Experiment& e = loaded.experiment;
  const std::size_t skip = messages.size() > kMaxMessages ? messages.size() - kMaxMessages : 0;
  InsertSettings(run.id, loaded);
  Statement insert(database_, InsertInto("runs"));
  insert.With(run.id, std::string(result != nullptr ? "done" : "failed"), run.workload, run.group,
              run.policy, run.preempt, e.machine.name, std::string(Name(e.control)), e.cycles,
              cycles, measured, std::to_string(e.seed), Join(run.settings, " "), e.machine.sms,
              e.machine.sm.schedulers);
  BindKnobs(InEffect(e, loaded.request.policy), &insert);
  insert.And(RunCommandLine(run), instructions, reads, writes, late);
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

}  // namespace smk::sim
