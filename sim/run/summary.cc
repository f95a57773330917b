// SPDX-License-Identifier: Apache-2.0
// The table at the end of `smk run`.
#include <fmt/format.h>

#include <algorithm>

#include "base/numbers.h"
#include "base/text_table.h"
#include "run/results.h"
#include "run/utilisation.h"

namespace smk::sim {
namespace {

constexpr std::size_t kTopStalls = 3;

// "data-memory 61 %, pipeline 20 %, barrier 3 %": shares of the cycles in which the kernel waited.
std::string TopStalls(const KernelStats& kernel) {
  std::vector<unsigned> order = KernelStalls();
  std::uint64_t waited = 0;
  for (const unsigned i : order) waited += kernel.stalls[i];
  const auto too_little = [&](unsigned i) { return HitRate(kernel.stalls[i], waited) < 0.005; };
  order.erase(std::remove_if(order.begin(), order.end(), too_little), order.end());
  std::stable_sort(order.begin(), order.end(),
                   [&](unsigned a, unsigned b) { return kernel.stalls[a] > kernel.stalls[b]; });
  if (order.size() > kTopStalls) order.resize(kTopStalls);
  std::string text;
  for (const unsigned i : order) {
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", kStallNames[i],
                        100.0 * HitRate(kernel.stalls[i], waited));
  }
  return text;
}

std::string Percent(std::uint64_t hits, std::uint64_t accesses) {
  return accesses == 0 ? "-" : fmt::format("{:.1f} %", 100.0 * HitRate(hits, accesses));
}

std::string ControlText(const Experiment& e) {
  if (e.gates.empty()) return Name(e.control);
  return fmt::format("{} with gates {}", Name(e.control), Join(e.gates));
}

std::string Header(const Results& results) {
  const Experiment& e = *results.experiment;
  std::string text = fmt::format("{}: policy {}, machine {}, control {}, {} cycles{}, seed {}\n",
                                 e.workload_name(), results.policy.name, e.machine.name,
                                 ControlText(e), results.result.cycles, EndText(results), e.seed);
  for (std::size_t i = 0; i < e.labels.size() && !results.policy.time_shared; ++i) {
    if (e.arrivals[i] != 0)
      text += fmt::format("{} arrives at cycle {}\n", e.labels[i], e.arrivals[i]);
  }
  if (results.policy.time_shared) {
    text += "each kernel runs alone, they take turns: normalized IPC 1 and STP 1 by definition\n";
  }
  return text;
}

std::string KernelTable(const Results& results) {
  TextTable table(
      {"kernel", "IPC", "isolated", "normalized", "TBs done", "L1 hits", "L2 hits", "waits for"},
      {0, 7});
  for (std::size_t i = 0; i < results.result.kernels.size(); ++i) {
    const KernelStats& k = results.result.kernels[i];
    table.Add({results.experiment->labels[i], fmt::format("{:.3f}", results.metrics.ipc[i]),
               Ratio(results.metrics.isolated[i]), Ratio(results.metrics.normalized[i]),
               fmt::to_string(k.tbs_completed), Percent(k.l1_hits, k.l1_accesses),
               Percent(k.l2_hits, k.l2_accesses), TopStalls(k)});
  }
  return table.ToString();
}

// When each job ran: of jobs that had to wait for a kernel slot, or that end.
std::string JobTable(const Results& results) {
  const Experiment& e = *results.experiment;
  const bool alone = results.policy.time_shared;
  const bool waits = !alone && results.result.jobs.size() > kNumKernels;
  const bool ends = !alone && !e.repeat;
  if (!waits && !ends && e.run_config.until == RunUntil::kCycles) return "";
  const auto cycle = [](Cycle at) { return at == kNever ? "-" : fmt::to_string(at); };
  TextTable table(
      {"job", "client", "slot", "arrives", "starts", "last TB", "ends", "turnaround", "executed"},
      {0, 1});
  for (std::size_t i = 0; i < results.result.jobs.size(); ++i) {
    const JobStats& job = results.result.jobs[i];
    const KernelStats& kernel = results.result.kernels[i];
    table.Add({results.experiment->labels[i], job.client,
               job.start == kNever ? "-" : fmt::to_string(Index(job.slot)), cycle(job.arrival),
               cycle(job.start), cycle(kernel.last_tb_end == 0 ? kNever : kernel.last_tb_end),
               cycle(job.end != kNever ? job.end : job.finish),
               cycle(job.turnaround().value_or(kNever)), fmt::to_string(job.executions)});
  }
  return table.ToString() + '\n';
}

// What each kernel slot had of the GPU, where it goes from one to the next.
std::string TokenText(const RunResult& result) {
  std::string text;
  for (std::size_t k = 0; k < result.tokens.size(); ++k) {
    const TokenStats& t = result.tokens[k];
    if (t.tokens == 0) continue;
    text += fmt::format(
        "slot {}: {} tokens, {:.1f} % of the cycles; overuse {} cycles, at most {}\n", k, t.tokens,
        100.0 * HitRate(t.cycles, result.cycles), t.overuse_cycles, t.overuse_max);
  }
  return text;
}

}  // namespace

std::string EndText(const Results& results) {
  const RunUntil until = results.experiment->run_config.until;
  const RunResult& result = results.result;
  std::string text;
  if (result.cut_short) {
    text = " (CUT SHORT by --cycles)";
  } else if (until == RunUntil::kDone) {
    text = " until all programs had ended";
  } else if (until == RunUntil::kWork && !results.policy.time_shared) {
    text = " until each had done its work";
  }
  if (result.measured_cycles() != result.cycles) {
    text += fmt::format(", measured from {} to {}", result.measured_from,
                        result.measured_from + result.measured_cycles());
  }
  return text;
}

std::string LateReservationsText(const RunResult& result) {
  if (result.late_reservations == 0) return "";
  return fmt::format(
      "late reservations {}: a queue of the memory system was longer than the model looks ahead, "
      "so these may have waited too long (docs/memory_model.md)\n",
      result.late_reservations);
}

std::string Summary(const Results& results) {
  const RunResult& result = results.result;
  const std::uint64_t count = Total(result, &KernelStats::preemptions);
  std::string text = Header(results) + '\n' + KernelTable(results) + '\n' + JobTable(results);
  text += fmt::format("STP {}   fairness {}   ANTT {}\n", Ratio(results.metrics.stp),
                      Ratio(results.metrics.fairness), Ratio(results.metrics.antt));
  text += fmt::format("units taken: {}\n", UtilisationText(results));
  text += TokenText(result);
  text += fmt::format("preemptions {}", count);
  if (count != 0) {
    text += fmt::format(" ({:.1f} MB, {:.0f} cycles each)",
                        static_cast<double>(Total(result, &KernelStats::context_bytes)) / 1e6,
                        HitRate(Total(result, &KernelStats::preemption_cycles), count));
  }
  if (const std::uint64_t flushes = Total(result, &KernelStats::flushes); flushes != 0) {
    text += fmt::format("   flushed TBs {}", flushes);
  }
  text += fmt::format("   {:.0f} simulated cycles/s   {} checks\n", results.cycles_per_second(),
                      result.checks);
  text += LateReservationsText(result);
  if (IsLockstep(results.experiment->control)) {
    text += fmt::format("lockstep: {} outputs of RTL and reference compared, no mismatch\n",
                        result.lockstep_events);
  }
  return text;
}

}  // namespace smk::sim
