// SPDX-License-Identifier: Apache-2.0
// kernels.csv, stalls.csv, jobs.csv, launches.csv, copies.csv, tbs.csv, decisions.csv and
// samples.csv. Every column is explained in docs/results.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/csv_table.h"
#include "base/numbers.h"
#include "machine/statistics.h"
#include "run/results.h"
#include "run/slot_jobs.h"
#include "run/statistics.h"
#include "run/tb_links.h"

namespace smk::sim {
namespace {

constexpr std::size_t kMaxSamples = 2000;  // of an SM in samples.csv

// Shortest text that reads back as the same value; empty when there is none.
std::string Cell(const nlohmann::ordered_json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return QuotedCell(value.get<std::string>());
  return value.is_number_float() ? fmt::format("{}", value.get<double>()) : value.dump();
}

const char* Outcome(char outcome) {
  switch (outcome) {
    case 'C':
      return "completed";
    case 'S':
      return "saved";
    case 'E':
      return "ended";
    case 'F':
      return "flushed";
    default:
      return "running";
  }
}

// Empty for kNever.
std::string CycleCell(Cycle cycle) { return cycle == kNever ? "" : fmt::to_string(cycle); }

// A place in another table, or nothing.
std::string LinkCell(const std::optional<std::size_t>& place) {
  return place ? fmt::to_string(*place) : "";
}

bool NamesTb(DecisionReason reason) {
  return reason == DecisionReason::kDispatchNew || reason == DecisionReason::kDispatchRestored ||
         reason == DecisionReason::kDispatchRestarted;
}

// A row for each object of this kind in stats.json; its object of stalls is a column for each.
std::string TableOf(const std::string& object, const Results& results, std::size_t rows) {
  std::vector<std::string> heads;
  for (const Statistic& statistic : StatisticsOf(object)) {
    if (statistic.name != "stalls") {
      heads.push_back(statistic.name);
      continue;
    }
    for (const unsigned i : KernelStalls())
      heads.push_back(fmt::format("stall_{}", kStallNames[i]));
  }
  std::string text = Join(heads, ",") + "\n";
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<std::string> cells;
    for (const Statistic& statistic : StatisticsOf(object)) {
      const nlohmann::ordered_json value = statistic.get(results, i);
      if (!value.is_object()) {
        cells.push_back(Cell(value));
        continue;
      }
      for (const auto& [reason, cycles] : value.items()) cells.push_back(Cell(cycles));
    }
    text += Join(cells, ",") + "\n";
  }
  return text;
}

}  // namespace

std::string KernelsCsv(const Results& results) {
  return TableOf("kernels", results, results.result.kernels.size());
}

std::string StallsCsv(const Results& results) {
  std::vector<std::string> heads = {"sm"};
  heads.insert(heads.end(), kStallNames.begin(), kStallNames.end());
  for (const CounterText& stall : kSimStalls) heads.emplace_back(stall.name);
  std::string text = Join(heads, ",") + "\n";
  for (std::size_t i = 0; i < results.result.sms.size(); ++i) {
    const SmStats& sm = results.result.sms[i];
    text += fmt::format("{},{},{}\n", i, fmt::join(sm.scheduler_cycles, ","),
                        fmt::join(sm.sim_stalls, ","));
  }
  return text;
}

std::string JobsCsv(const Results& results) {
  return TableOf("jobs", results, results.result.jobs.size());
}

std::string LaunchesCsv(const Results& results) {
  std::string text = "job,name,launch,kernel,kernel_slot,first_tb,tb_count,start,end\n";
  for (const LaunchRecord& l : results.result.launches) {
    const Workload& workload = *results.experiment->workloads.at(Index(l.job));
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{},{}\n", Index(l.job),
                   QuotedCell(workload.name), l.number,
                   QuotedCell(workload.kernels.at(l.kernel).name), Index(l.slot), l.first_tb,
                   l.tb_count, l.start, CycleCell(l.end));
  }
  return text;
}

std::string CopiesCsv(const Results& results) {
  std::string text = "job,name,direction,bytes,start,end\n";
  for (const CopyRecord& copy : results.result.copy_records) {
    const Workload& workload = *results.experiment->workloads.at(Index(copy.job));
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{}\n", Index(copy.job),
                   QuotedCell(workload.name), copy.out ? "out" : "in", copy.bytes, copy.start,
                   CycleCell(copy.end <= results.result.cycles ? copy.end : kNever));
  }
  return text;
}

std::string TbsCsv(const Results& results) {
  std::string text =
      "kernel,name,launch,tb,sm,tb_slot,start_cycle,end_cycle,restored,outcome,id,dispatched_by,"
      "preempted_by,replaced_by,registers_base,shared_memory_base\n";
  const std::vector<TbLinks> links = LinkTbs(results);
  for (std::size_t i = 0; i < links.size(); ++i) {
    const TbRecord& tb = results.result.tbs[i];
    const unsigned kernel = Index(tb.job);
    fmt::format_to(
        std::back_inserter(text), "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", kernel,
        QuotedCell(results.result.kernels.at(kernel).name), tb.launch, Index(tb.tb), Index(tb.sm),
        Index(tb.slot), tb.start, tb.end, tb.restored ? 1 : 0, Outcome(tb.outcome), i,
        LinkCell(links[i].dispatched_by), LinkCell(links[i].preempted_by),
        LinkCell(links[i].replaced_by),
        tb.base ? fmt::format("{},{}", tb.base->registers, tb.base->shared_memory) : ",");
  }
  return text;
}

std::string DecisionsCsv(const Results& results) {
  const SlotJobs jobs = SlotJobsOf(results);
  const std::size_t slots = std::min<std::size_t>(results.result.kernels.size(), kNumKernels);
  std::string text = "cycle,reason,kernel,sm,tb,victim,victim_tbs";
  for (std::size_t k = 0; k < slots; ++k) text += fmt::format(",share_{}", k);
  text += ",id\n";
  std::size_t id = 0;
  for (const Decision& d : results.result.decisions) {
    const bool preempt = d.reason == DecisionReason::kPreempt;
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{}", d.cycle, Name(d.reason),
                   jobs.At(d.kernel, d.cycle), Index(d.sm),
                   NamesTb(d.reason) ? fmt::to_string(Index(d.tb)) : "",
                   preempt ? fmt::to_string(jobs.At(d.victim, d.cycle)) : "",
                   preempt ? fmt::to_string(d.victim_tbs) : "");
    for (std::size_t k = 0; k < slots; ++k) text += fmt::format(",{}", d.share[k]);
    text += fmt::format(",{}\n", id++);
  }
  return text;
}

std::string SamplesCsv(const Results& results) {
  const RunResult& result = results.result;
  // A timeline may have many more samples than this file is for: then some are added up.
  const std::size_t sms = std::max<std::size_t>(1, result.sms.size());
  const std::size_t together = (result.epochs.size() / sms + kMaxSamples - 1) / kMaxSamples;
  struct Open {
    Cycle start = 0;
    std::size_t samples = 0;
    EpochSample last;  // with the instructions of all
  };
  std::map<SmId, Open> open;
  std::string text = "cycle,length,sm,kernel,name,warp_instructions,resident_tbs,quota\n";
  const auto write = [&](const Open& sum) {
    const EpochSample& sample = sum.last;
    for (std::size_t k = 0; k < kNumKernels; ++k) {
      if (sample.job[k] == kNoJob) continue;
      text += fmt::format("{},{},{},{},{},{},{},{}\n", sample.cycle, sample.cycle - sum.start,
                          Index(sample.sm), Index(sample.job[k]),
                          QuotedCell(results.experiment->labels.at(Index(sample.job[k]))),
                          sample.warp_instructions[k], sample.resident_tbs[k], sample.quota[k]);
    }
  };
  for (const EpochSample& sample : result.epochs) {
    Open& sum = open[sample.sm];
    if (sample.cycle == sum.start && sum.samples == 0) continue;  // no time, and nothing issued
    // Another job, or the first, is in a slot.
    if (sum.samples != 0 && sum.last.job != sample.job) {
      write(sum);
      sum = {sum.last.cycle, 0, {}};
    }
    const EpochSample before = sum.last;
    sum.last = sample;
    for (std::size_t k = 0; k < kNumKernels; ++k) {
      sum.last.warp_instructions[k] += before.warp_instructions[k];
    }
    if (++sum.samples < together && sample.cycle < result.cycles) continue;
    write(sum);
    sum = {sample.cycle, 0, {}};
  }
  return text;
}

}  // namespace smk::sim
