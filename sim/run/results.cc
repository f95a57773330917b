// SPDX-License-Identifier: Apache-2.0
#include "run/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/numbers.h"
#include "machine/statistics.h"

namespace smk::sim {
namespace {

// Makes job 0, in kernel slot 0 of a run of its own, job `job` in the slot of that number. The
// decisions of jobs for which there is no such slot are left out.
void MoveToJob(std::size_t job, RunResult* result) {
  const bool has_slot = job < kNumKernels;
  const auto slot = static_cast<KernelId>(has_slot ? job : 0);
  for (JobStats& stats : result->jobs) stats.slot = slot;
  for (TbRecord& tb : result->tbs) {
    tb.kernel = slot;
    tb.job = static_cast<JobId>(job);
  }
  if (!has_slot) result->decisions.clear();
  for (LaunchRecord& launch : result->launches) {
    launch.slot = slot;
    launch.job = static_cast<JobId>(job);
  }
  for (Decision& decision : result->decisions) {
    decision.kernel = slot;
    std::swap(decision.share[0], decision.share[job]);
  }
}

template <typename Values>
void Append(const Values& from, Values* to) {
  to->insert(to->end(), from.begin(), from.end());
}

void Append(const SmStats& other, SmStats* sm) {
  for (unsigned i = 0; i < kNumStalls; ++i) sm->scheduler_cycles[i] += other.scheduler_cycles[i];
  for (unsigned i = 0; i < kNumSimStalls; ++i) sm->sim_stalls[i] += other.sim_stalls[i];
  for (const SmCounter& counter : SmCounters()) {
    Append(other.*counter.value, &(sm->*counter.value));
  }
}

void Append(const RunResult& other, RunResult* all) {
  all->cycles = std::max(all->cycles, other.cycles);
  all->cut_short = all->cut_short || other.cut_short;
  all->wall_seconds += other.wall_seconds;
  for (const RunCounter& counter : RunCounters()) {
    all->*counter.value += other.*counter.value;
  }
  all->late_reservations += other.late_reservations;
  for (std::size_t i = 0; i < all->sms.size(); ++i) {
    Append(other.sms.at(i), &all->sms[i]);
    Append(other.partitions.at(i), &all->partitions.at(i));
  }
  Append(other.kernels, &all->kernels);
  Append(other.jobs, &all->jobs);
  Append(other.launches, &all->launches);
  Append(other.tbs, &all->tbs);
  Append(other.decisions, &all->decisions);
}

// Of a program that ends then.
bool EndsInWindow(const Experiment& experiment, Cycle end) {
  const RunConfig& config = experiment.run_config;
  if (end == kNever) return false;
  if (config.measure != 0) return end < config.warm_up + config.measure;
  if (config.until == RunUntil::kCycles) return end < experiment.cycles;
  return config.warm_up != 0 && end <= config.warm_up;
}

}  // namespace

double Results::cycles_per_second() const {
  const auto cycles = static_cast<double>(policy.time_shared ? baseline_cycles : result.cycles);
  return result.wall_seconds > 0 ? cycles / result.wall_seconds : 0.0;
}

RunResult MergeBaseline(std::vector<RunResult> alone) {
  RunResult all = std::move(alone.at(0));
  for (std::size_t i = 1; i < alone.size(); ++i) {
    MoveToJob(i, &alone[i]);
    Append(alone[i], &all);
  }
  return all;
}

bool EndedInWindow(const Results& results, std::size_t kernel) {
  const std::vector<JobStats>& jobs = results.result.jobs;
  return kernel < jobs.size() && EndsInWindow(*results.experiment, jobs[kernel].end);
}

std::string WindowNote(const Results& results) {
  const Experiment& e = *results.experiment;
  const RunConfig& config = e.run_config;
  if (config.warm_up == 0 && config.measure == 0) return "";
  std::vector<std::string> ended;
  for (std::size_t i = 0; i < e.labels.size(); ++i) {
    const char* alone = results.policy.time_shared ? " alone" : "";
    if (EndedInWindow(results, i)) {
      ended.push_back(fmt::format("{}{} (at {})", e.labels[i], alone, results.result.jobs[i].end));
    }
    if (i < results.isolated_ends.size() && EndsInWindow(e, results.isolated_ends[i])) {
      ended.push_back(fmt::format("{} alone (at {})", e.labels[i], results.isolated_ends[i]));
    }
  }
  if (ended.empty()) return "";
  const std::string to =
      config.measure == 0 ? "the end" : fmt::to_string(config.warm_up + config.measure);
  return fmt::format(
      "smk: note: {}: measured from {} to {}; what had ended before, and is not in all of it: {}\n",
      results.policy.name, config.warm_up, to, Join(ended));
}

void CheckResult(const RunRequest& request, RunResult* result) {
  const auto check = [&](bool holds, const std::string& law) {
    if (!holds) throw CheckFailure("statistics: " + law);
    ++result->checks;
  };
  const bool whole = request.until == RunUntil::kCycles || result->cut_short;
  check(whole ? result->cycles == request.cycles : result->cycles <= request.cycles,
        "the run did not last as long as it was asked to");
  check(result->kernels.size() == request.jobs.size() && result->jobs.size() == request.jobs.size(),
        "a kernel has no statistics");
  check(Total(*result, &KernelStats::warp_instructions) == result->warp_instructions,
        "the kernels' instructions are not those of the run");
  if (result->from_rates) return;
  const std::uint64_t slots = result->measured_cycles() * request.machine.sm.schedulers;
  std::uint64_t issued = 0, by_sm = 0;
  for (std::size_t i = 0; i < result->sms.size(); ++i) {
    const SmStats& sm = result->sms[i];
    const std::uint64_t attributed =
        std::accumulate(sm.scheduler_cycles.begin(), sm.scheduler_cycles.end(), std::uint64_t{0});
    check(attributed == slots,
          fmt::format("SM {}: {} scheduler cycles have a reason, of {}", i, attributed, slots));
    const std::uint64_t of_sm = sm.scheduler_cycles[static_cast<unsigned>(Stall::kIssued)];
    const std::uint64_t sim =
        std::accumulate(sm.sim_stalls.begin(), sm.sim_stalls.end(), std::uint64_t{0});
    check(sim == attributed - of_sm,
          fmt::format("SM {}: {} stalls as the papers' simulator counts them, of {}", i, sim,
                      attributed - of_sm));
    issued += of_sm;
    by_sm +=
        std::accumulate(sm.warp_instructions.begin(), sm.warp_instructions.end(), std::uint64_t{0});
  }
  check(by_sm == result->warp_instructions, "the SMs' instructions are not those of the run");
  check(issued == result->warp_instructions, "issue cycles and instructions differ");
}

const std::vector<unsigned>& KernelStalls() {
  static const std::vector<unsigned> kReasons = [] {
    std::vector<unsigned> all;
    for (unsigned i = 0; i < kNumStalls; ++i) {
      const auto reason = static_cast<Stall>(i);
      if (reason != Stall::kIssued && reason != Stall::kEmpty) all.push_back(i);
    }
    return all;
  }();
  return kReasons;
}

std::string Ratio(const std::optional<double>& value) {
  return value ? fmt::format("{:.3f}", *value) : "-";
}

double HitRate(std::uint64_t hits, std::uint64_t accesses) {
  return accesses == 0 ? 0.0 : static_cast<double>(hits) / static_cast<double>(accesses);
}

std::uint64_t Total(const RunResult& result, std::uint64_t KernelStats::*member) {
  std::uint64_t total = 0;
  for (const KernelStats& kernel : result.kernels) total += kernel.*member;
  return total;
}

}  // namespace smk::sim
