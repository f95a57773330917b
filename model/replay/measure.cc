// SPDX-License-Identifier: Apache-2.0
#include "replay/measure.h"

#include <algorithm>
#include <map>
#include <utility>

#include "replay/repeated_launches.h"
#include "replay/windows.h"

namespace smk {
namespace {

constexpr double kLeastCycles = 20'000;  // of a run of a set
constexpr Cycle kStep = 250;             // between two samples
constexpr Cycle kLeastSamples = 4;       // of a run in which instructions are taken from them
constexpr Cycle kLeastWindow = 5'000;    // in which an order of ages was seen
// Of a launch that does not feed: as far as the limit allows, and in any case.
constexpr unsigned kLaunches = 8, kLeastLaunches = 3;

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

// Slices that follow each other, all of which the GPU holds whole.
bool Sliced(const std::vector<LaunchKind>& set, const MachineConfig& machine) {
  bool sliced = false;
  for (const LaunchKind& launch : set) {
    if (Feeds(launch, machine)) return false;
    sliced = sliced || !launch.whole;
  }
  return sliced;
}

// An SM had more of its TBs than the even share: those of the slice before were in the way.
bool Uneven(const RunResult& result, const LaunchRecord& launch, unsigned sms) {
  std::vector<unsigned> on(sms);
  for (const TbRecord& tb : result.tbs) {
    if (tb.job == launch.job && tb.launch == launch.number) ++on.at(Index(tb.sm));
  }
  return *std::max_element(on.begin(), on.end()) > EvenShare(launch.tb_count, sms);
}

// Of each member, times of its slices that ended, while those of all lay evenly; of none, of all
// that ended; of none, the whole run.
std::vector<Windows> WholeSlices(const RunResult& result, const std::vector<LaunchKind>& set,
                                 const MachineConfig& machine) {
  std::vector<Windows> whole(set.size()), even(set.size());
  for (const LaunchRecord& launch : result.launches) {
    if (launch.end > result.cycles) continue;
    whole.at(Index(launch.job)).Add(launch.start, launch.end);
    if (!Uneven(result, launch, machine.sms)) even[Index(launch.job)].Add(launch.start, launch.end);
  }
  Windows all({{0, result.cycles}});
  if (EvenSharesFit(set, machine.sm.limits, machine.sms)) {
    for (const Windows& of : even) all = all.And(of);
  }
  for (Windows& of : whole) {
    if (of.total() == 0) of = Windows({{0, result.cycles}});
    if (const Windows both = of.And(all); both.total() != 0) of = both;
  }
  return whole;
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

// Times in which all members had a launch, by which was taken first.
std::map<SetRates::Ages, Windows> WindowsByAge(const RunResult& result, std::size_t members) {
  std::vector<Cycle> times{result.cycles};
  for (const LaunchRecord& launch : result.launches) {
    times.push_back(std::min(launch.start, result.cycles));
    times.push_back(std::min(launch.end, result.cycles));
  }
  std::sort(times.begin(), times.end());
  std::map<SetRates::Ages, Windows> windows;
  for (std::size_t t = 0; t + 1 < times.size(); ++t) {
    std::vector<std::pair<Cycle, std::size_t>> there;  // begin, member
    for (const LaunchRecord& launch : result.launches) {
      if (launch.start <= times[t] && launch.end > times[t]) {
        there.emplace_back(launch.start, Index(launch.job));
      }
    }
    if (there.size() != members) continue;
    std::sort(there.begin(), there.end());
    SetRates::Ages ages;
    for (const auto& [start, member] : there) ages.push_back(member);
    windows[ages].Add(times[t], times[t + 1]);
  }
  return windows;
}

// A launch of a set in the run that measures.
class Member {
 public:
  // `whole`: the times that count.
  Member(const RunResult& result, std::size_t place, bool feeds, Windows whole, double instructions)
      : progress_(result, static_cast<KernelId>(place)),
        whole_(std::move(whole)),
        feeds_(feeds),
        instructions_(instructions) {}

  // What it has in these windows, which have at least so many cycles. Says whether it had anything.
  // Places that no sample saw are left as they are: without any it would not go on.
  bool Take(const Windows& windows, SetRate* rate, Cycle least = 1) const {
    const Windows whole = windows.And(whole_);
    const double issued = progress_.In(whole);
    if (whole.total() < least || issued == 0) return false;
    rate->rate = issued / static_cast<double>(whole.total()) / instructions_;
    const double places = feeds_ ? progress_.MeanResident(whole) : progress_.MostResident();
    if (places > 0) rate->places = places;
    return true;
  }

 private:
  const Progress progress_;
  const Windows whole_;
  const bool feeds_;
  const double instructions_;
};

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
  alone.unit_tbs = launch.tbs;
  // Samples leave out what is behind the last one: much of a launch of few.
  const bool sampled = result.cycles >= kLeastSamples * kStep;
  alone.instructions =
      (sampled ? progress.total() : static_cast<double>(stats.warp_instructions)) / launch.tbs;
  alone.dram_bytes =
      static_cast<double>(stats.dram_read_bytes + stats.dram_write_bytes) / launch.tbs;
  if (!Feeds(launch, config.machine)) {
    alone.rate = launch.tbs / static_cast<double>(record.end - record.start);
    alone.places = launch.tbs;
    alone.tb_ends.assign(launch.tbs, 1);
    for (const TbRecord& tb : result.tbs) {
      const std::size_t i = Index(tb.tb) - record.first_tb;
      if (tb.launch != record.number || i >= launch.tbs || tb.end <= record.start) continue;
      alone.tb_ends[i] = std::min(1.0, static_cast<double>(tb.end - record.start) /
                                           static_cast<double>(record.end - record.start));
    }
    return alone;
  }
  const Cycle fed = FedUntil(result, record);
  const Windows drain({{fed, record.end}});
  alone.drain_tbs = progress.In(drain) / alone.instructions;
  alone.places = progress.MostResident();
  if (alone.places <= 0) alone.places = PlacesOf(launch, config.machine);
  alone.drain_places = progress.MeanResident(drain);
  alone.drain_cycles = static_cast<double>(record.end - fed);
  alone.rate = (launch.tbs - alone.drain_tbs) / static_cast<double>(fed - record.start);
  return alone;
}

double FeedingRate(const RunResult& result, const AloneRate& shorter, const MeasureConfig& config) {
  const LaunchRecord& record = result.launches.at(0);
  Windows window({{record.start, FedUntil(result, record)}});
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
  const auto parts = static_cast<double>(set.size());
  const double cycles = feeds ? shortest * parts : kLaunches * longest;
  request.cycles =
      std::min(config.limits.cycles, static_cast<Cycle>(std::max(kLeastCycles, cycles)));
  // Slices are fast at the beginning, slow at the end, and older or younger than the others'.
  if (Sliced(set, config.machine)) {
    request.cycles = std::max(request.cycles, static_cast<Cycle>(kLeastLaunches * parts * longest));
  }
  request.scheduler = [sizes] { return MakeRepeatedLaunches(sizes); };
  return request;
}

std::optional<SetRates> RatesOfSet(const RunResult& result, const std::vector<LaunchKind>& set,
                                   const std::vector<AloneRate>& alone,
                                   const MeasureConfig& config) {
  Windows windows({{0, result.cycles}});
  for (std::size_t i = 0; i < set.size(); ++i) {
    windows = windows.And(TimesOf(result, static_cast<JobId>(i), Feeds(set[i], config.machine)));
  }
  windows.DropFirst(std::min(config.limits.warm_up, windows.total() / 4));
  if (windows.total() == 0) return std::nullopt;
  SetRates rates;
  const LaunchRecord& first = result.launches.at(0);
  if (first.end <= result.cycles) {
    rates.first_cycles = static_cast<double>(first.end - first.start);
  }
  for (std::size_t i = 0; i < set.size(); ++i) rates.mean.push_back(alone.at(i).Part(set.size()));
  const bool sliced = Sliced(set, config.machine);
  std::vector<Windows> whole(set.size(), Windows({{0, result.cycles}}));
  if (sliced) whole = WholeSlices(result, set, config.machine);
  std::vector<Member> members;
  for (std::size_t i = 0; i < set.size(); ++i) {
    members.emplace_back(result, i, Feeds(set[i], config.machine), whole[i], alone[i].instructions);
    members[i].Take(windows, &rates.mean[i]);
  }
  if (!sliced || set.size() == 1) return rates;
  for (const auto& [ages, seen] : WindowsByAge(result, set.size())) {
    std::vector<SetRate> of = rates.mean;
    bool all = true;
    for (std::size_t i = 0; i < set.size(); ++i) {
      all = all && members[i].Take(windows.And(seen), &of[i], kLeastWindow);
    }
    if (all) rates.by_age.emplace(ages, std::move(of));
  }
  return rates;
}

}  // namespace smk
