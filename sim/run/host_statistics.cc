// SPDX-License-Identifier: Apache-2.0
#include "run/host_statistics.h"

#include <algorithm>

namespace smk::sim {
namespace {

using nlohmann::ordered_json;

template <typename Value>
ordered_json OrNull(const std::optional<Value>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

}  // namespace

StreamTotals TotalsOf(const Results& results) {
  constexpr double kMillion = 1e6;
  StreamTotals totals;
  Cycle first = kNever, last = 0;
  double turnarounds = 0;
  for (const JobStats& job : results.result.jobs) {
    ++totals.jobs;
    first = std::min(first, job.arrival);
    const std::optional<Cycle> turnaround = job.turnaround();
    if (!turnaround) continue;
    ++totals.finished;
    last = std::max(last, job.finish);
    turnarounds += static_cast<double>(*turnaround);
  }
  if (totals.finished != 0) {
    totals.mean_turnaround = turnarounds / static_cast<double>(totals.finished);
  }
  if (totals.finished == totals.jobs && last > first) {
    totals.makespan = last - first;
    totals.throughput =
        kMillion * static_cast<double>(totals.jobs) / static_cast<double>(*totals.makespan);
  }
  const CopyStats& copies = results.result.copies;
  if (const Cycle busy = copies.in_cycles + copies.out_cycles; busy != 0) {
    totals.copy_overlap = static_cast<double>(copies.overlapped_cycles) / static_cast<double>(busy);
  }
  const MachineConfig& machine = results.experiment->machine;
  totals.utilisation =
      HitRate(results.result.warp_instructions,
              results.result.measured_cycles() * machine.sms * machine.sm.schedulers);
  return totals;
}

std::vector<Statistic> HostStatistics() {
  using R = const Results&;
  using I = std::size_t;
  return {
      {"scheduler", "", "host scheduler: `--scheduler`",
       [](R r, I) { return r.experiment->stream.scheduler; }},
      {"device", "", "what executed it: `--device`",
       [](R r, I) { return r.experiment->stream.device; }},
      {"jobs", "", "jobs of the stream", [](R r, I) { return TotalsOf(r).jobs; }},
      {"finished", "", "of these, jobs that have ended",
       [](R r, I) { return TotalsOf(r).finished; }},
      {"makespan", "cycles", "from the first arrival to the last end; `null` unless all have ended",
       [](R r, I) { return OrNull(TotalsOf(r).makespan); }},
      {"throughput", "jobs per million cycles", "`jobs` / `makespan`",
       [](R r, I) { return OrNull(TotalsOf(r).throughput); }},
      {"mean_turnaround", "cycles", "of the finished jobs",
       [](R r, I) { return OrNull(TotalsOf(r).mean_turnaround); }},
      {"overlap", "", "true when copies and kernels may run at the same time",
       [](R r, I) { return r.experiment->stream.overlap_copies; }},
      {"copies", "", "between host and GPU, with at least one byte",
       [](R r, I) { return r.result.copies.copies; }},
      {"copy_in_bytes", "bytes", "copied to the GPU",
       [](R r, I) { return r.result.copies.in_bytes; }},
      {"copy_out_bytes", "bytes", "copied back", [](R r, I) { return r.result.copies.out_bytes; }},
      {"copy_in_cycles", "cycles", "in which the engine to the GPU was busy",
       [](R r, I) { return r.result.copies.in_cycles; }},
      {"copy_out_cycles", "cycles", "in which the engine back was busy",
       [](R r, I) { return r.result.copies.out_cycles; }},
      {"copy_overlap", "", "part of both in which kernels were on the GPU; `null` without copies",
       [](R r, I) { return OrNull(TotalsOf(r).copy_overlap); }},
      {"utilisation", "", "issued instructions, of those that all schedulers could have issued",
       [](R r, I) { return TotalsOf(r).utilisation; }},
  };
}

std::vector<Statistic> TokenStatistics() {
  using R = const Results&;
  using I = std::size_t;
  return {
      {"tokens", "tokens", "given to the kernel slot, over the whole run as all of these",
       [](R r, I k) { return r.result.tokens.at(k).tokens; }},
      {"cycles", "cycles", "in which it had the GPU: with a token, or by overuse",
       [](R r, I k) { return r.result.tokens.at(k).cycles; }},
      {"share", "", "`cycles` over those of the run",
       [](R r, I k) { return HitRate(r.result.tokens.at(k).cycles, r.result.cycles); }},
      {"overuse_cycles", "cycles",
       "of these, from the end of a token's quota until another kernel had the GPU",
       [](R r, I k) { return r.result.tokens.at(k).overuse_cycles; }},
      {"overuse_max", "cycles", "the longest of them",
       [](R r, I k) { return r.result.tokens.at(k).overuse_max; }},
  };
}

}  // namespace smk::sim
