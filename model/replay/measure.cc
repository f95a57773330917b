// SPDX-License-Identifier: Apache-2.0
#include "replay/measure.h"

#include <algorithm>

#include "replay/repeated_launches.h"
#include "replay/windows.h"

namespace smk {
namespace {

constexpr double kLeastCycles = 20'000;  // of a run of a set
constexpr Cycle kStep = 250;             // between two samples
constexpr unsigned kLaunches = 8;  // of a launch that does not feed, as far as the limit allows

// The kernel alone in a program, with so many TBs; 0: all.
std::shared_ptr<const Workload> Only(const LaunchKind& launch, std::uint32_t tbs) {
  auto only = std::make_shared<Workload>(*launch.workload);
  only->launches = {launch.kernel};
  only->kernels[launch.kernel].tb_limit = tbs;
  return only;
}

unsigned PlacesOf(const LaunchKind& launch, const MachineConfig& machine) {
  return machine.sms * MaxTbs(launch.spec().need, machine.sm.limits);
}

RunRequest Request(const MeasureConfig& config) {
  RunRequest request;
  request.machine = config.machine;
  request.policy = config.policy;
  request.ideal_preemption = config.ideal_preemption;
  request.seed = config.seed;
  request.record_tbs = true;
  request.record_timeline = true;
  request.timeline_step = kStep;
  return request;
}

// Instructions of what is in one kernel slot, over time.
class Progress {
 public:
  Progress(const RunResult& result, KernelId slot) {
    std::uint64_t sum = 0;
    for (const EpochSample& sample : result.epochs) {
      sum += sample.warp_instructions[Index(slot)];
      if (times_.empty() || times_.back() != sample.cycle) {
        times_.push_back(sample.cycle);
        sums_.push_back(sum);
        resident_.push_back(0);
      }
      sums_.back() = sum;
      resident_.back() += sample.resident_tbs[Index(slot)];
    }
  }

  // TBs on the SMs: at samples in the windows, on average and at most.
  double MeanResident(const Windows& windows) const {
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < times_.size(); ++i) {
      if (windows.Within(times_[i], times_[i] + 1) == 0) continue;
      sum += resident_[i];
      ++count;
    }
    return count == 0 ? 0 : sum / count;
  }
  double MostResident() const {
    return resident_.empty() ? 0 : *std::max_element(resident_.begin(), resident_.end());
  }

  double total() const { return sums_.empty() ? 0 : static_cast<double>(sums_.back()); }
  double In(const Windows& windows) const {
    double issued = 0;
    for (const auto& [start, end] : windows.spans()) issued += Before(end) - Before(start);
    return issued;
  }

 private:
  // Issued before the cycle: between two samples, evenly.
  double Before(Cycle cycle) const {
    const auto next = std::upper_bound(times_.begin(), times_.end(), cycle);
    if (next == times_.begin()) return 0;
    const auto i = static_cast<std::size_t>(next - times_.begin()) - 1;
    const auto before = static_cast<double>(sums_[i]);
    if (i + 1 == times_.size()) return before;
    const double part =
        static_cast<double>(cycle - times_[i]) / static_cast<double>(times_[i + 1] - times_[i]);
    return before + part * (static_cast<double>(sums_[i + 1]) - before);
  }

  std::vector<Cycle> times_;
  std::vector<std::uint64_t> sums_;
  std::vector<unsigned> resident_;
};

// When the launch of this number had TBs that were not placed yet, if it ever had all placed.
Cycle FedUntil(const RunResult& result, const LaunchRecord& launch) {
  Cycle last = launch.start;
  std::uint32_t placed = 0;
  for (const TbRecord& tb : result.tbs) {
    if (tb.job != launch.job || tb.launch != launch.number || tb.restored) continue;
    last = std::max(last, tb.start);
    placed = std::max(placed, Index(tb.tb) - launch.first_tb + 1);
  }
  return placed == launch.tb_count ? last : result.cycles;
}

// Times of the launches of one member of a set.
Windows TimesOf(const RunResult& result, JobId job, bool feeds) {
  Windows times;
  for (const LaunchRecord& launch : result.launches) {
    if (launch.job != job) continue;
    const Cycle end = std::min(launch.end, result.cycles);
    times.Add(launch.start, feeds ? std::min(end, FedUntil(result, launch)) : end);
    if (feeds) break;
  }
  return times;
}

}  // namespace

bool Feeds(const LaunchKind& launch, const MachineConfig& machine) {
  return launch.tbs > PlacesOf(launch, machine);
}

RunRequest WholeRequest(const MeasureConfig& config, const LaunchKind& launch) {
  RunRequest request = Request(config);
  request.cycles = config.limits.cycles;
  request.until = RunUntil::kDone;
  request.jobs.push_back({Only(launch, launch.tbs), 0, /*repeat=*/false});
  return request;
}

AloneRate WholeRate(const RunResult& result, const LaunchKind& launch,
                    const MeasureConfig& config) {
  const LaunchRecord& record = result.launches.at(0);
  const Progress progress(result, record.slot);
  const KernelStats& stats = result.kernels.at(0);
  AloneRate alone;
  alone.instructions = progress.total() / launch.tbs;
  alone.dram_bytes =
      static_cast<double>(stats.dram_read_bytes + stats.dram_write_bytes) / launch.tbs;
  if (!Feeds(launch, config.machine)) {
    alone.rate = launch.tbs / static_cast<double>(record.end - record.start);
    alone.places = launch.tbs;
    return alone;
  }
  const Cycle fed = FedUntil(result, record);
  const Windows drain({{fed, record.end}});
  alone.drain_tbs = progress.In(drain) / alone.instructions;
  alone.places = progress.MostResident();
  alone.drain_places = progress.MeanResident(drain);
  alone.drain_cycles = static_cast<double>(record.end - fed);
  alone.rate = (launch.tbs - alone.drain_tbs) / static_cast<double>(fed - record.start);
  return alone;
}

double FeedingRate(const RunResult& result, const AloneRate& shorter, const MeasureConfig& config) {
  const LaunchRecord& record = result.launches.at(0);
  Windows window({{record.start, result.cycles}});
  window.DropFirst(std::min(config.limits.warm_up, window.total() / 4));
  const Progress progress(result, record.slot);
  return progress.In(window) / static_cast<double>(window.total()) / shorter.instructions;
}

LaunchKind Shortened(const LaunchKind& launch, const MachineConfig& machine) {
  const unsigned places = PlacesOf(launch, machine);
  LaunchKind shorter = launch;
  shorter.tbs = std::min(launch.tbs, 2 * places + launch.tbs % places);
  return shorter;
}

RunRequest SetRequest(const MeasureConfig& config, const std::vector<LaunchKind>& set,
                      const std::vector<AloneRate>& alone) {
  RunRequest request = Request(config);
  std::vector<std::uint32_t> sizes;
  bool feeds = false;
  double shortest = 0, longest = 0;  // of those that feed; of the others
  for (std::size_t i = 0; i < set.size(); ++i) {
    const double cycles = alone.at(i).Cycles(set[i].tbs);
    if (Feeds(set[i], config.machine)) {
      shortest = feeds ? std::min(shortest, cycles) : cycles;
      feeds = true;
      sizes.push_back(0);
      request.jobs.push_back({Only(set[i], set[i].tbs), 0, /*repeat=*/true});
    } else {
      longest = std::max(longest, cycles);
      sizes.push_back(set[i].tbs);
      request.jobs.push_back({Only(set[i], 0), 0, /*repeat=*/true});
    }
  }
  const double cycles = feeds ? shortest * static_cast<double>(set.size()) : kLaunches * longest;
  request.cycles =
      std::min(config.limits.cycles, static_cast<Cycle>(std::max(kLeastCycles, cycles)));
  request.scheduler = [sizes] { return MakeRepeatedLaunches(sizes); };
  return request;
}

std::optional<std::vector<SetRate>> SetRates(const RunResult& result,
                                             const std::vector<LaunchKind>& set,
                                             const std::vector<AloneRate>& alone,
                                             const MeasureConfig& config) {
  Windows windows({{0, result.cycles}});
  for (std::size_t i = 0; i < set.size(); ++i) {
    windows = windows.And(TimesOf(result, static_cast<JobId>(i), Feeds(set[i], config.machine)));
  }
  windows.DropFirst(std::min(config.limits.warm_up, windows.total() / 4));
  if (windows.total() == 0) return std::nullopt;
  std::vector<SetRate> rates;
  const auto parts = static_cast<double>(set.size());
  for (std::size_t i = 0; i < set.size(); ++i) {
    const Progress progress(result, static_cast<KernelId>(i));
    const bool feeds = Feeds(set[i], config.machine);
    const double issued = progress.In(windows);
    if (issued == 0) {  // it waited for its places all the time
      rates.push_back({alone.at(i).rate / parts, alone[i].places / parts});
      continue;
    }
    rates.push_back({issued / static_cast<double>(windows.total()) / alone.at(i).instructions,
                     feeds ? progress.MeanResident(windows) : progress.MostResident()});
  }
  return rates;
}

}  // namespace smk
