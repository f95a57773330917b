// SPDX-License-Identifier: Apache-2.0
// kernels.csv, tbs.csv, decisions.csv and samples.csv. Every column is explained in
// docs/results.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "run/results.h"

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

std::string TbsCsv(const Results& results) {
  std::string text = "kernel,name,launch,tb,sm,tb_slot,start_cycle,end_cycle,restored,outcome\n";
  for (const TbRecord& tb : results.result.tbs) {
    const unsigned kernel = Index(tb.kernel);
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{},{},{}\n", kernel,
                   Cell(results.result.kernels.at(kernel).name), tb.launch, Index(tb.tb),
                   Index(tb.sm), Index(tb.slot), tb.start, tb.end, tb.restored ? 1 : 0,
                   Outcome(tb.outcome));
  }
  return text;
}

std::string DecisionsCsv(const Results& results) {
  const std::size_t kernels = results.result.kernels.size();
  std::string text = "cycle,reason,kernel,sm,tb,victim,victim_tbs";
  for (std::size_t k = 0; k < kernels; ++k) text += fmt::format(",share_{}", k);
  text += '\n';
  for (const Decision& d : results.result.decisions) {
    const bool preempt = d.reason == DecisionReason::kPreempt;
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{}", d.cycle, Name(d.reason),
                   Index(d.kernel), Index(d.sm),
                   NamesTb(d.reason) ? fmt::to_string(Index(d.tb)) : "",
                   preempt ? fmt::to_string(Index(d.victim)) : "",
                   preempt ? fmt::to_string(d.victim_tbs) : "");
    for (std::size_t k = 0; k < kernels; ++k) text += fmt::format(",{}", d.share[k]);
    text += '\n';
  }
  return text;
}

std::string SamplesCsv(const Results& results) {
  const RunResult& result = results.result;
  const std::size_t kernels = result.kernels.size();
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
    for (std::size_t k = 0; k < kernels; ++k) {
      sum.warp_instructions[k] += sample.warp_instructions[k];
    }
    if (++sum.samples < together && sample.cycle < result.cycles) continue;
    for (std::size_t k = 0; k < kernels; ++k) {
      text += fmt::format("{},{},{},{},{},{},{},{}\n", sample.cycle, sample.cycle - sum.start,
                          Index(sample.sm), k, Cell(results.experiment->labels.at(k)),
                          sum.warp_instructions[k], sample.resident_tbs[k], sample.quota[k]);
    }
    sum = {sample.cycle, 0, {}};
  }
  return text;
}

}  // namespace smk::sim
