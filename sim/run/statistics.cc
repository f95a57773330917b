// SPDX-License-Identifier: Apache-2.0
#include "run/statistics.h"

#include "experiment/model_version.h"
#include "machine/statistics.h"
#include "run/host_statistics.h"
#include "run/utilisation.h"

namespace smk::sim {
namespace {

using nlohmann::ordered_json;

ordered_json OrNull(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json ByReason(const std::array<std::uint64_t, kNumStalls>& cycles) {
  ordered_json object = ordered_json::object();
  for (unsigned i = 0; i < kNumStalls; ++i) object[kStallNames[i]] = cycles[i];
  return object;
}

ordered_json SimStalls(const std::array<std::uint64_t, kNumSimStalls>& cycles) {
  ordered_json object = ordered_json::object();
  for (unsigned i = 0; i < kNumSimStalls; ++i) object[kSimStalls[i].name] = cycles[i];
  return object;
}

ordered_json KernelReasons(const KernelStats& kernel) {
  ordered_json object = ordered_json::object();
  for (const unsigned reason : KernelStalls()) {
    object[kStallNames[reason]] = kernel.stalls[reason];
  }
  return object;
}

// All objects of a kind, one per kernel, job, client or SM.
ordered_json ListOf(const std::string& object, const Results& results, std::size_t count) {
  ordered_json array = ordered_json::array();
  for (std::size_t i = 0; i < count; ++i) array.push_back(StatisticsJson(object, results, i));
  return array;
}

ordered_json AllReasons(const RunResult& result) {
  std::array<std::uint64_t, kNumStalls> sum{};
  for (const SmStats& sm : result.sms) {
    for (unsigned i = 0; i < kNumStalls; ++i) sum[i] += sm.scheduler_cycles[i];
  }
  return ByReason(sum);
}

ordered_json AllSimStalls(const RunResult& result) {
  std::array<std::uint64_t, kNumSimStalls> sum{};
  for (const SmStats& sm : result.sms) {
    for (unsigned i = 0; i < kNumSimStalls; ++i) sum[i] += sm.sim_stalls[i];
  }
  return SimStalls(sum);
}

// A mismatch ends the run, so a run with statistics has none.
ordered_json Lockstep(const Results& r) {
  if (!IsLockstep(r.experiment->control)) return ordered_json::value_t::discarded;
  return {{"events", r.result.lockstep_events}, {"mismatches", 0}};
}

Statistic Of(const RunCounter& counter, const std::string& name) {
  return {name, counter.unit, counter.meaning,
          [value = counter.value](const Results& r, std::size_t) { return r.result.*value; }};
}
Statistic Of(const KernelCounter& counter) {
  return {counter.name, counter.unit, counter.meaning,
          [value = counter.value](const Results& r, std::size_t i) {
            return r.result.kernels[i].*value;
          }};
}
Statistic Of(const SmCounter& counter) {
  return {
      counter.name, counter.unit, counter.meaning,
      [value = counter.value](const Results& r, std::size_t i) { return r.result.sms[i].*value; }};
}

bool OfDram(const RunCounter& counter) { return std::string(counter.name).rfind("dram_", 0) == 0; }

std::vector<Statistic> RunStatistics() {
  using R = const Results&;
  using I = std::size_t;
  std::vector<Statistic> all = {
      {"schema", "", "version of this format: 2. Version 1 had no `jobs` and `clients`",
       [](R, I) { return kStatsSchema; }},
      {"model_version", "", "changes when the model gives other numbers for the same inputs",
       [](R, I) { return kModelVersion; }},
      {"workload", "", "names of the kernels, joined by +",
       [](R r, I) { return r.experiment->workload_name(); }},
      {"machine", "", "name of the machine", [](R r, I) { return r.experiment->machine.name; }},
      {"policy", "", "policy, with the counts of a table", [](R r, I) { return r.policy.name; }},
      {"baseline", "", "true for the policy `isolated`",
       [](R r, I) { return r.policy.time_shared; }},
      {"control", "", "control plane: `--control`",
       [](R r, I) { return Name(r.experiment->control); }},
      {"cycles", "cycles", "length of the run; of the baseline, of the longest of its runs",
       [](R r, I) { return r.result.cycles; }},
      {"until", "", "what ends the run: `--until`",
       [](R r, I) { return Name(r.experiment->run_config.until); }},
      {"cut_short", "", "true when its greatest length ended it before that",
       [](R r, I) { return r.result.cut_short; }},
      {"measured_from", "cycles", "first cycle that is measured: `--warm-up`",
       [](R r, I) { return r.result.measured_from; }},
      {"measured_to", "cycles", "first cycle after those that are measured",
       [](R r, I) { return r.result.measured_from + r.result.measured_cycles(); }},
      {"seed", "", "seed of all random draws in the workloads",
       [](R r, I) { return r.experiment->seed; }},
      Of(RunCounters().front(), RunCounters().front().name),
      {"kernels", "", "one object per kernel, in the order of the command line, see below",
       [](R r, I) { return ListOf("kernels", r, r.result.kernels.size()); }},
      {"jobs", "", "one object per job, in the same order, see below",
       [](R r, I) { return ListOf("jobs", r, r.result.jobs.size()); }},
      {"clients", "", "one object per client, see below",
       [](R r, I) { return ListOf("clients", r, r.metrics.clients.size()); }},
      {"stp", "", "system throughput", [](R r, I) { return OrNull(r.metrics.stp); }},
      {"antt", "", "average normalized turnaround time",
       [](R r, I) { return OrNull(r.metrics.antt); }},
      {"fairness", "", "fairness", [](R r, I) { return OrNull(r.metrics.fairness); }},
      {"preemptions", "", "see below", [](R r, I) { return StatisticsJson("preemptions", r); }},
      {"tokens", "", "under policy `tokens`: one object per kernel slot, see below",
       [](R r, I) {
         return r.result.tokens.empty() ? ordered_json(ordered_json::value_t::discarded)
                                        : ListOf("tokens", r, r.result.tokens.size());
       }},
      {"dram", "", "see below", [](R r, I) { return StatisticsJson("dram", r); }},
      {"utilisation", "", "of the execution units, see below",
       [](R r, I) { return StatisticsJson("utilisation", r); }},
      {"scheduler_cycles", "scheduler cycles", "reasons of all schedulers of all SMs, see below",
       [](R r, I) { return AllReasons(r.result); }},
      {"sim_stalls", "scheduler cycles",
       "the same without the issues, as the papers' simulator counts them, see below",
       [](R r, I) { return AllSimStalls(r.result); }},
      {"sms", "", "one object per SM, see below",
       [](R r, I) { return ListOf("sms", r, r.result.sms.size()); }},
      {"partitions", "TBs",
       "for each SM, the TBs that its partitions hold at the end of the run, by kernel: of the "
       "kernel slot that it was in last; 0 without partitions",
       [](R r, I) { return r.result.partitions; }},
  };
  for (std::size_t i = 1; i < RunCounters().size(); ++i) {
    const RunCounter& counter = RunCounters()[i];
    if (!OfDram(counter)) all.push_back(Of(counter, counter.name));
  }
  all.push_back({"late_reservations", "reservations",
                 "of ports, L2 arrays and DRAM, of the whole run, that may have waited too long: a "
                 "queue was longer than the memory model looks ahead",
                 [](R r, I) { return r.result.late_reservations; }});
  all.push_back({"host", "", "of a stream of jobs (`smk serve`), see below", [](R r, I) {
                   return r.experiment->stream.name.empty()
                              ? ordered_json(ordered_json::value_t::discarded)
                              : StatisticsJson("host", r);
                 }});
  all.push_back(
      {"lockstep", "",
       "with `--control lockstep` or `lockstep-compiled`: outputs of both control planes that "
       "were compared as `events`, and 0 `mismatches`",
       [](R r, I) { return Lockstep(r); }});
  all.push_back({"wall", "", "what differs between equal runs, see below",
                 [](R r, I) { return StatisticsJson("wall", r); }});
  return all;
}

// What is computed of a kernel, each in front of a counter.
std::vector<Statistic> DerivedBefore(const std::string& counter) {
  using R = const Results&;
  using I = std::size_t;
  if (counter == "warp_instructions") {
    return {
        {"ipc", "instructions per cycle", "`warp_instructions` / `cycles_present`, over all SMs",
         [](R r, I i) { return r.metrics.ipc[i]; }},
        {"ipc_isolated", "instructions per cycle", "the same in the isolated run",
         [](R r, I i) { return OrNull(r.metrics.isolated[i]); }},
        {"normalized_ipc", "", "`ipc` / `ipc_isolated`",
         [](R r, I i) { return OrNull(r.metrics.normalized[i]); }}};
  }
  if (counter == "l1_accesses") {
    return {{"l1_hit_rate", "", "`l1_hits` / `l1_accesses`", [](R r, I i) {
               return HitRate(r.result.kernels[i].l1_hits, r.result.kernels[i].l1_accesses);
             }}};
  }
  if (counter == "l2_accesses") {
    return {{"l2_hit_rate", "", "`l2_hits` / `l2_accesses`", [](R r, I i) {
               return HitRate(r.result.kernels[i].l2_hits, r.result.kernels[i].l2_accesses);
             }}};
  }
  for (const Unit& unit : Units()) {
    const std::string name = unit.name;
    if (counter != name + "_busy") continue;
    return {{name + "_utilisation", "", "`" + counter + "` / (`cycles_present` × pipes × SMs)",
             [&unit](R r, I i) { return KernelUtilisation(r, unit, i); }}};
  }
  return {};
}

std::vector<Statistic> KernelStatistics() {
  using R = const Results&;
  using I = std::size_t;
  std::vector<Statistic> all = {
      {"slot", "",
       "place in the command line, from 0; the kernel slot, too, when there are at most four "
       "kernels",
       [](R, I i) { return i; }},
      {"name", "", "name of the workload", [](R r, I i) { return r.result.kernels[i].name; }},
      {"arrival", "cycles", "when the host was asked to execute it",
       [](R r, I i) { return r.policy.time_shared ? 0 : r.experiment->arrivals[i]; }},
  };
  for (const KernelCounter& counter : KernelCounters()) {
    for (Statistic& derived : DerivedBefore(counter.name)) all.push_back(std::move(derived));
    all.push_back(Of(counter));
  }
  all.push_back({"ended_in_window", "",
                 "true when it had nothing more to do before the cycles were over that are to be "
                 "measured; with `--until done` and no `--measure`: before the first of them",
                 [](R r, I i) { return EndedInWindow(r, i); }});
  all.push_back({"stalls", "scheduler cycles", "why the kernel did not issue, by reason, see below",
                 [](R r, I i) { return KernelReasons(r.result.kernels[i]); }});
  return all;
}

ordered_json CycleOrNull(Cycle cycle) {
  return cycle == kNever ? ordered_json(nullptr) : ordered_json(cycle);
}

std::vector<Statistic> JobStatistics() {
  using R = const Results&;
  using I = std::size_t;
  return {
      {"job", "", "place in the command line, from 0", [](R, I i) { return i; }},
      {"name", "", "name of the workload", [](R r, I i) { return r.result.kernels[i].name; }},
      {"client", "", "whose job it is: `--client`, else the name of the workload",
       [](R r, I i) { return r.result.jobs[i].client; }},
      {"kernel_slot", "", "kernel slot of its last launch; `null` when there was none",
       [](R r, I i) {
         const JobStats& job = r.result.jobs[i];
         return job.start == kNever ? ordered_json(nullptr) : ordered_json(Index(job.slot));
       }},
      {"arrival", "cycles", "when the host was asked to execute it",
       [](R r, I i) { return r.result.jobs[i].arrival; }},
      {"ready", "cycles", "its input was on the GPU: from here on it could be launched",
       [](R r, I i) { return CycleOrNull(r.result.jobs[i].ready); }},
      {"start", "cycles", "its first launch; `null` when there was none",
       [](R r, I i) { return CycleOrNull(r.result.jobs[i].start); }},
      {"finish", "cycles", "end of its first execution; `null` when it did not end",
       [](R r, I i) { return CycleOrNull(r.result.jobs[i].finish); }},
      {"end", "cycles",
       "from here on it had nothing to do; `null` when it had until the end of the run",
       [](R r, I i) { return CycleOrNull(r.result.jobs[i].end); }},
      {"last_tb_end", "cycles", "end of its last TB, as in `tbs.csv`; `null` when none has ended",
       [](R r, I i) {
         const Cycle end = r.result.kernels[i].last_tb_end;
         return CycleOrNull(end == 0 ? kNever : end);
       }},
      {"turnaround", "cycles", "`finish` − `arrival`",
       [](R r, I i) { return CycleOrNull(r.result.jobs[i].turnaround().value_or(kNever)); }},
      {"executions", "", "how often the whole program has ended",
       [](R r, I i) { return r.result.jobs[i].executions; }},
      {"kernels_completed", "", "kernels of the program that have retired",
       [](R r, I i) { return r.result.jobs[i].kernels_completed; }},
      {"slices_begun", "", "launches into kernel slots; a whole kernel is one slice",
       [](R r, I i) { return r.result.jobs[i].slices_begun; }},
      {"slices_completed", "", "of these, those that have ended",
       [](R r, I i) { return r.result.jobs[i].slices_completed; }},
      {"tbs_completed", "TBs", "whose last warp has retired",
       [](R r, I i) { return r.result.kernels[i].tbs_completed; }},
  };
}

std::vector<Statistic> ClientStatistics() {
  using R = const Results&;
  using I = std::size_t;
  const auto sum = [](const char* name, const char* unit, std::uint64_t ClientTotals::*value) {
    return Statistic{name, unit, "sum over its jobs",
                     [value](R r, I i) { return r.metrics.clients[i].*value; }};
  };
  return {
      {"name", "", "the client", [](R r, I i) { return r.metrics.clients[i].name; }},
      {"jobs", "", "its jobs", [](R r, I i) { return r.metrics.clients[i].jobs; }},
      {"finished", "", "of these, executed at least once",
       [](R r, I i) { return r.metrics.clients[i].finished; }},
      {"mean_turnaround", "cycles", "of the finished jobs",
       [](R r, I i) { return OrNull(r.metrics.clients[i].mean_turnaround); }},
      {"antt", "", "mean of 1 / `normalized_ipc` of its jobs; `null` when one issued nothing",
       [](R r, I i) { return OrNull(r.metrics.clients[i].antt); }},
      sum("executions", "", &ClientTotals::executions),
      sum("kernels_completed", "", &ClientTotals::kernels_completed),
      sum("slices_completed", "", &ClientTotals::slices_completed),
      sum("tbs_completed", "TBs", &ClientTotals::tbs_completed),
      sum("warp_instructions", "instructions", &ClientTotals::warp_instructions),
  };
}

std::vector<Statistic> PreemptionStatistics() {
  using R = const Results&;
  using I = std::size_t;
  std::vector<Statistic> all;
  for (const KernelCounter& counter : KernelCounters()) {
    if (counter.of_preemption == nullptr) continue;
    const bool context = counter.value == &KernelStats::context_bytes;
    all.push_back({context ? "bytes" : counter.of_preemption, counter.unit,
                   std::string("sum of the kernels' `") + counter.name + "`",
                   [value = counter.value](R r, I) { return Total(r.result, value); }});
  }
  all.push_back({"mean_cycles", "cycles", "`cycles` / `count`", [](R r, I) {
                   return HitRate(Total(r.result, &KernelStats::preemption_cycles),
                                  Total(r.result, &KernelStats::preemptions));
                 }});
  return all;
}

std::vector<Statistic> DramStatistics() {
  using R = const Results&;
  using I = std::size_t;
  std::vector<Statistic> all = {
      {"read_bytes", "bytes", "read, over all kernels",
       [](R r, I) { return Total(r.result, &KernelStats::dram_read_bytes); }},
      {"write_bytes", "bytes", "written, over all kernels",
       [](R r, I) { return Total(r.result, &KernelStats::dram_write_bytes); }},
  };
  for (const RunCounter& counter : RunCounters()) {
    if (OfDram(counter)) all.push_back(Of(counter, std::string(counter.name).substr(5)));
  }
  all.push_back({"row_hit_rate", "", "`row_hits` / (`row_hits` + `row_misses`)", [](R r, I) {
                   return HitRate(r.result.dram_row_hits,
                                  r.result.dram_row_hits + r.result.dram_row_misses);
                 }});
  return all;
}

std::vector<Statistic> UtilisationStatistics() {
  std::vector<Statistic> all;
  for (const Unit& unit : Units()) {
    all.push_back({unit.name, "", std::string("share of their cycles that ") + unit.meaning,
                   [&unit](const Results& r, std::size_t) { return Utilisation(r, unit); }});
  }
  return all;
}

std::vector<Statistic> SmStatistics() {
  std::vector<Statistic> all = {
      {"sm", "", "number of the SM", [](const Results&, std::size_t i) { return i; }}};
  for (const SmCounter& counter : SmCounters()) all.push_back(Of(counter));
  all.push_back(
      {"scheduler_cycles", "scheduler cycles", "reasons of its schedulers",
       [](const Results& r, std::size_t i) { return ByReason(r.result.sms[i].scheduler_cycles); }});
  all.push_back(
      {"sim_stalls", "scheduler cycles",
       "the same without the issues, as the papers' simulator counts them",
       [](const Results& r, std::size_t i) { return SimStalls(r.result.sms[i].sim_stalls); }});
  return all;
}

std::vector<Statistic> WallStatistics() {
  using R = const Results&;
  using I = std::size_t;
  return {{"wall_seconds", "seconds", "duration of the simulation, without the isolated runs",
           [](R r, I) { return r.result.wall_seconds; }},
          {"cycles_per_second", "cycles per second", "simulated cycles / `wall_seconds`",
           [](R r, I) { return r.cycles_per_second(); }},
          {"isolated_from_cache", "", "by kernel: whether the isolated run was in the cache",
           [](R r, I) { return r.isolated_from_cache; }}};
}

}  // namespace

const std::vector<StatisticTable>& StatisticTables() {
  static const std::vector<StatisticTable> kTables = {{"run", RunStatistics()},
                                                      {"kernels", KernelStatistics()},
                                                      {"jobs", JobStatistics()},
                                                      {"clients", ClientStatistics()},
                                                      {"host", HostStatistics()},
                                                      {"preemptions", PreemptionStatistics()},
                                                      {"dram", DramStatistics()},
                                                      {"tokens", TokenStatistics()},
                                                      {"utilisation", UtilisationStatistics()},
                                                      {"sms", SmStatistics()},
                                                      {"wall", WallStatistics()}};
  return kTables;
}

const std::vector<Statistic>& StatisticsOf(const std::string& object) {
  for (const StatisticTable& table : StatisticTables()) {
    if (table.object == object) return table.statistics;
  }
  throw std::logic_error("no statistics of " + object);
}

ordered_json StatisticsJson(const std::string& object, const Results& results, std::size_t index) {
  ordered_json j;
  for (const Statistic& statistic : StatisticsOf(object)) {
    ordered_json value = statistic.get(results, index);
    if (!value.is_discarded()) j[statistic.name] = std::move(value);
  }
  return j;
}

ordered_json StatsJson(const Results& results) { return StatisticsJson("run", results); }

}  // namespace smk::sim
