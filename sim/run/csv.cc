// SPDX-License-Identifier: Apache-2.0
// kernels.csv, jobs.csv, launches.csv, tbs.csv, decisions.csv and samples.csv. Every column is
// explained in docs/results.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "run/results.h"
#include "run/slot_jobs.h"

namespace smk::sim {
namespace {

constexpr std::size_t kMaxSamples = 2000;  // of an SM in samples.csv

// RFC 4180: quotes around a cell that holds a comma, a quote or a line end.
std::string Cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') quoted += c;
  }
  return quoted + "\"";
}

// Shortest text that reads back as the same number; empty when there is none.
std::string Number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

const char* Outcome(char outcome) {
  switch (outcome) {
    case 'C':
      return "completed";
    case 'S':
      return "saved";
    case 'F':
      return "flushed";
    default:
      return "running";
  }
}

// Empty for kNever.
std::string CycleCell(Cycle cycle) { return cycle == kNever ? "" : fmt::to_string(cycle); }

bool NamesTb(DecisionReason reason) {
  return reason == DecisionReason::kDispatchNew || reason == DecisionReason::kDispatchRestored ||
         reason == DecisionReason::kDispatchRestarted;
}

}  // namespace

std::string KernelsCsv(const Results& results) {
  std::string text =
      "slot,name,ipc,ipc_isolated,normalized_ipc,warp_instructions,thread_instructions,"
      "cycles_present,tbs_completed,launches_completed,program_runs,l1_hit_rate,l2_hit_rate,"
      "dram_read_bytes,dram_write_bytes,preemptions,restores,flushes,context_bytes,"
      "preemption_cycles";
  for (const unsigned i : KernelStalls()) text += fmt::format(",stall_{}", kStallNames[i]);
  text += '\n';
  for (std::size_t i = 0; i < results.result.kernels.size(); ++i) {
    const KernelStats& k = results.result.kernels[i];
    text +=
        fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", i, Cell(k.name),
                    Number(results.metrics.ipc[i]), Number(results.metrics.isolated[i]),
                    Number(results.metrics.normalized[i]), k.warp_instructions,
                    k.thread_instructions, k.cycles_present, k.tbs_completed, k.launches_completed,
                    k.program_runs, HitRate(k.l1_hits, k.l1_accesses),
                    HitRate(k.l2_hits, k.l2_accesses), k.dram_read_bytes, k.dram_write_bytes,
                    k.preemptions, k.restores, k.flushes, k.context_bytes, k.preemption_cycles);
    for (const unsigned reason : KernelStalls()) text += fmt::format(",{}", k.stalls[reason]);
    text += '\n';
  }
  return text;
}

std::string JobsCsv(const Results& results) {
  std::string text =
      "job,name,client,kernel_slot,arrival,start,finish,turnaround,executions,kernels_completed,"
      "slices_begun,slices_completed,tbs_completed\n";
  for (std::size_t i = 0; i < results.result.jobs.size(); ++i) {
    const JobStats& job = results.result.jobs[i];
    const KernelStats& kernel = results.result.kernels[i];
    text += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{}\n", i, Cell(kernel.name), Cell(job.client),
        job.start == kNever ? "" : fmt::to_string(Index(job.slot)), job.arrival,
        CycleCell(job.start), CycleCell(job.finish), CycleCell(job.turnaround().value_or(kNever)),
        kernel.program_runs, kernel.launches_completed, job.slices_begun, job.slices_completed,
        kernel.tbs_completed);
  }
  return text;
}

std::string LaunchesCsv(const Results& results) {
  std::string text = "job,name,launch,kernel,kernel_slot,first_tb,tb_count,start,end\n";
  for (const LaunchRecord& l : results.result.launches) {
    const Workload& workload = *results.experiment->workloads.at(Index(l.job));
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{},{}\n", Index(l.job),
                   Cell(workload.name), l.number, Cell(workload.kernels.at(l.kernel).name),
                   Index(l.slot), l.first_tb, l.tb_count, l.start, CycleCell(l.end));
  }
  return text;
}

std::string TbsCsv(const Results& results) {
  std::string text = "kernel,name,launch,tb,sm,tb_slot,start_cycle,end_cycle,restored,outcome\n";
  for (const TbRecord& tb : results.result.tbs) {
    const unsigned kernel = Index(tb.job);
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{},{},{}\n", kernel,
                   Cell(results.result.kernels.at(kernel).name), tb.launch, Index(tb.tb),
                   Index(tb.sm), Index(tb.slot), tb.start, tb.end, tb.restored ? 1 : 0,
                   Outcome(tb.outcome));
  }
  return text;
}

std::string DecisionsCsv(const Results& results) {
  const SlotJobs jobs = SlotJobsOf(results);
  const std::size_t slots = std::min<std::size_t>(results.result.kernels.size(), kMaxKernels);
  std::string text = "cycle,reason,kernel,sm,tb,victim,victim_tbs";
  for (std::size_t k = 0; k < slots; ++k) text += fmt::format(",share_{}", k);
  text += '\n';
  for (const Decision& d : results.result.decisions) {
    const bool preempt = d.reason == DecisionReason::kPreempt;
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{}", d.cycle, Name(d.reason),
                   jobs.At(d.kernel, d.cycle), Index(d.sm),
                   NamesTb(d.reason) ? fmt::to_string(Index(d.tb)) : "",
                   preempt ? fmt::to_string(jobs.At(d.victim, d.cycle)) : "",
                   preempt ? fmt::to_string(d.victim_tbs) : "");
    for (std::size_t k = 0; k < slots; ++k) text += fmt::format(",{}", d.share[k]);
    text += '\n';
  }
  return text;
}

std::string SamplesCsv(const Results& results) {
  const RunResult& result = results.result;
  const std::size_t slots = std::min<std::size_t>(result.kernels.size(), kMaxKernels);
  // A timeline may have many more samples than this file is for: then some are added up.
  const std::size_t sms = std::max<std::size_t>(1, result.sms.size());
  const std::size_t together = (result.epochs.size() / sms + kMaxSamples - 1) / kMaxSamples;
  struct Open {
    Cycle start = 0;
    std::size_t samples = 0;
    std::array<std::uint64_t, kMaxKernels> warp_instructions{};
  };
  std::map<SmId, Open> open;
  std::string text = "cycle,length,sm,kernel,name,warp_instructions,resident_tbs,quota\n";
  for (const EpochSample& sample : result.epochs) {
    Open& sum = open[sample.sm];
    if (sample.cycle == sum.start) continue;  // before anything ran
    for (std::size_t k = 0; k < slots; ++k) {
      sum.warp_instructions[k] += sample.warp_instructions[k];
    }
    if (++sum.samples < together && sample.cycle < result.cycles) continue;
    for (std::size_t k = 0; k < slots; ++k) {
      text += fmt::format("{},{},{},{},{},{},{},{}\n", sample.cycle, sample.cycle - sum.start,
                          Index(sample.sm), Index(sample.job[k]),
                          Cell(results.experiment->labels.at(Index(sample.job[k]))),
                          sum.warp_instructions[k], sample.resident_tbs[k], sample.quota[k]);
    }
    sum = {sample.cycle, 0, {}};
  }
  return text;
}

}  // namespace smk::sim
