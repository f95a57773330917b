// SPDX-License-Identifier: Apache-2.0
// stats.json. Every key here is explained in docs/results.md.
#include "run/model_version.h"
#include "run/results.h"

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

ordered_json StallsJson(const KernelStats& kernel) {
  ordered_json object = ordered_json::object();
  for (const unsigned reason : KernelStalls()) {
    object[kStallNames[reason]] = kernel.stalls[reason];
  }
  return object;
}

ordered_json KernelJson(const Results& results, std::size_t i) {
  const KernelStats& kernel = results.result.kernels[i];
  ordered_json j;
  j["slot"] = i;
  j["name"] = kernel.name;
  j["arrival"] = results.policy.time_shared ? 0 : results.experiment->arrivals[i];
  j["cycles_present"] = kernel.cycles_present;
  j["ipc"] = results.metrics.ipc[i];
  j["ipc_isolated"] = OrNull(results.metrics.isolated[i]);
  j["normalized_ipc"] = OrNull(results.metrics.normalized[i]);
  j["warp_instructions"] = kernel.warp_instructions;
  j["thread_instructions"] = kernel.thread_instructions;
  j["tbs_completed"] = kernel.tbs_completed;
  j["launches_completed"] = kernel.launches_completed;
  j["program_runs"] = kernel.program_runs;
  j["l1_hit_rate"] = HitRate(kernel.l1_hits, kernel.l1_accesses);
  j["l1_accesses"] = kernel.l1_accesses;
  j["l1_hits"] = kernel.l1_hits;
  j["l2_hit_rate"] = HitRate(kernel.l2_hits, kernel.l2_accesses);
  j["l2_accesses"] = kernel.l2_accesses;
  j["l2_hits"] = kernel.l2_hits;
  j["dram_read_bytes"] = kernel.dram_read_bytes;
  j["dram_write_bytes"] = kernel.dram_write_bytes;
  j["preemptions"] = kernel.preemptions;
  j["restores"] = kernel.restores;
  j["flushes"] = kernel.flushes;
  j["context_bytes"] = kernel.context_bytes;
  j["preemption_cycles"] = kernel.preemption_cycles;
  j["stalls"] = StallsJson(kernel);
  return j;
}

ordered_json CycleOrNull(Cycle cycle) {
  return cycle == kNever ? ordered_json(nullptr) : ordered_json(cycle);
}

ordered_json JobJson(const RunResult& result, std::size_t i) {
  const JobStats& job = result.jobs[i];
  const KernelStats& kernel = result.kernels[i];
  const std::optional<Cycle> turnaround = job.turnaround();
  ordered_json j;
  j["job"] = i;
  j["name"] = kernel.name;
  j["client"] = job.client;
  j["kernel_slot"] = job.start == kNever ? ordered_json(nullptr) : ordered_json(Index(job.slot));
  j["arrival"] = job.arrival;
  j["start"] = CycleOrNull(job.start);
  j["finish"] = CycleOrNull(job.finish);
  j["turnaround"] = turnaround ? ordered_json(*turnaround) : ordered_json(nullptr);
  j["executions"] = kernel.program_runs;
  j["kernels_completed"] = kernel.launches_completed;
  j["slices_begun"] = job.slices_begun;
  j["slices_completed"] = job.slices_completed;
  j["tbs_completed"] = kernel.tbs_completed;
  return j;
}

ordered_json ClientJson(const ClientTotals& client) {
  ordered_json j;
  j["name"] = client.name;
  j["jobs"] = client.jobs;
  j["finished"] = client.finished;
  j["mean_turnaround"] = OrNull(client.mean_turnaround);
  j["executions"] = client.executions;
  j["kernels_completed"] = client.kernels_completed;
  j["slices_completed"] = client.slices_completed;
  j["tbs_completed"] = client.tbs_completed;
  j["warp_instructions"] = client.warp_instructions;
  return j;
}

ordered_json PreemptionsJson(const RunResult& result) {
  const std::uint64_t count = Total(result, &KernelStats::preemptions);
  const std::uint64_t cycles = Total(result, &KernelStats::preemption_cycles);
  ordered_json j;
  j["count"] = count;
  j["restores"] = Total(result, &KernelStats::restores);
  j["flushes"] = Total(result, &KernelStats::flushes);
  j["bytes"] = Total(result, &KernelStats::context_bytes);
  j["cycles"] = cycles;
  j["mean_cycles"] = HitRate(cycles, count);
  return j;
}

ordered_json DramJson(const RunResult& result) {
  ordered_json j;
  j["read_bytes"] = Total(result, &KernelStats::dram_read_bytes);
  j["write_bytes"] = Total(result, &KernelStats::dram_write_bytes);
  j["row_hits"] = result.dram_row_hits;
  j["row_misses"] = result.dram_row_misses;
  j["row_hit_rate"] = HitRate(result.dram_row_hits, result.dram_row_hits + result.dram_row_misses);
  return j;
}

ordered_json SmsJson(const RunResult& result) {
  ordered_json sms = ordered_json::array();
  for (std::size_t i = 0; i < result.sms.size(); ++i) {
    const SmStats& sm = result.sms[i];
    ordered_json j;
    j["sm"] = i;
    j["warp_instructions"] = sm.warp_instructions;
    j["tb_cycles"] = sm.tb_cycles;
    j["scheduler_cycles"] = ByReason(sm.scheduler_cycles);
    sms.push_back(std::move(j));
  }
  return sms;
}

ordered_json SchedulerCyclesJson(const RunResult& result) {
  std::array<std::uint64_t, kNumStalls> sum{};
  for (const SmStats& sm : result.sms) {
    for (unsigned i = 0; i < kNumStalls; ++i) sum[i] += sm.scheduler_cycles[i];
  }
  return ByReason(sum);
}

ordered_json WallJson(const Results& results) {
  ordered_json j;
  j["wall_seconds"] = results.result.wall_seconds;
  j["cycles_per_second"] = results.cycles_per_second();
  j["isolated_from_cache"] = results.isolated_from_cache;
  return j;
}

}  // namespace

ordered_json StatsJson(const Results& results) {
  const Experiment& experiment = *results.experiment;
  const RunResult& result = results.result;
  ordered_json j;
  j["schema"] = kStatsSchema;
  j["model_version"] = kModelVersion;
  j["workload"] = experiment.workload_name();
  j["machine"] = experiment.machine.name;
  j["policy"] = results.policy.name;
  j["baseline"] = results.policy.time_shared;
  j["control"] = Name(experiment.control);
  j["cycles"] = result.cycles;
  j["seed"] = experiment.seed;
  j["warp_instructions"] = result.warp_instructions;
  j["kernels"] = ordered_json::array();
  for (std::size_t i = 0; i < result.kernels.size(); ++i) {
    j["kernels"].push_back(KernelJson(results, i));
  }
  j["jobs"] = ordered_json::array();
  for (std::size_t i = 0; i < result.jobs.size(); ++i) j["jobs"].push_back(JobJson(result, i));
  j["clients"] = ordered_json::array();
  for (const ClientTotals& client : ByClient(result)) j["clients"].push_back(ClientJson(client));
  j["stp"] = OrNull(results.metrics.stp);
  j["antt"] = OrNull(results.metrics.antt);
  j["fairness"] = OrNull(results.metrics.fairness);
  j["preemptions"] = PreemptionsJson(result);
  j["dram"] = DramJson(result);
  j["scheduler_cycles"] = SchedulerCyclesJson(result);
  j["sms"] = SmsJson(result);
  j["partitions"] = result.partitions;
  j["checks"] = result.checks;
  if (experiment.control == ControlKind::kLockstep) {
    // A mismatch ends the run, so a run with statistics has none.
    j["lockstep"] = {{"events", result.lockstep_events}, {"mismatches", 0}};
  }
  j["wall"] = WallJson(results);
  return j;
}

}  // namespace smk::sim
