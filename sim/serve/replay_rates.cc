// SPDX-License-Identifier: Apache-2.0
#include "serve/replay_rates.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/csv_table.h"
#include "base/error.h"
#include "base/progress.h"
#include "experiment/requests.h"
#include "replay/replay.h"

namespace smk::sim {
namespace {

using nlohmann::json;

constexpr Cycle kMostCycles = 100'000'000;  // of a run that measures
constexpr Cycle kLonger = 8;                // times, when a run was too short

// Adds the time that it lives.
class Stopwatch {
 public:
  explicit Stopwatch(double* seconds) : seconds_(*seconds) {}
  ~Stopwatch() {
    const std::chrono::duration<double> lived = std::chrono::steady_clock::now() - begin_;
    seconds_ += lived.count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& seconds_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

std::string NameOf(const std::vector<LaunchKind>& set) {
  std::string text;
  for (const LaunchKind& launch : set) {
    text += fmt::format("{}{}", text.empty() ? "" : "+", launch.workload->name);
  }
  return text;
}

std::string KeyOf(const std::vector<LaunchKind>& set) {
  std::string text;
  for (const LaunchKind& launch : set) {
    text += fmt::format("launch {} {} kernel {} tbs {} whole {}\n", launch.workload->name,
                        launch.workload->content_hash, launch.kernel, launch.tbs, launch.whole);
  }
  return text;
}

json ToJson(const std::vector<AloneRate>& rates) {
  json all = json::array();
  for (const AloneRate& r : rates) {
    all.push_back({r.rate, r.drain_tbs, r.drain_cycles, r.places, r.drain_places, r.instructions,
                   r.dram_bytes});
  }
  return all;
}

std::vector<AloneRate> FromJson(const json& all, std::size_t count) {
  std::vector<AloneRate> rates;
  for (const json& r : all) {
    AloneRate rate;
    std::size_t i = 0;
    for (double* value : {&rate.rate, &rate.drain_tbs, &rate.drain_cycles, &rate.places,
                          &rate.drain_places, &rate.instructions, &rate.dram_bytes}) {
      r.at(i++).get_to(*value);
    }
    rates.push_back(rate);
  }
  if (rates.size() != count) throw std::runtime_error("another number of rates");
  return rates;
}

}  // namespace

std::string PolicyText(const Experiment& experiment, const PolicyConfig& policy,
                       bool ideal_preemption) {
  Configuration all{policy, experiment.control_config, {}};
  all.run.ideal_preemption = ideal_preemption;
  std::string text;
  for (const Knob& knob : Knobs()) {
    const bool of_run = knob.section() == "run" && knob.name() != "ideal_preemption";
    if (!of_run) text += fmt::format("{} {}\n", knob.path, knob.print(all));
  }
  return text;
}

ReplayRates::ReplayRates(const Backend& cycle_model, const Experiment& experiment,
                         MeasureConfig config, RunnerOptions options)
    : cycle_model_(cycle_model),
      experiment_(experiment),
      config_(std::move(config)),
      options_(std::move(options)),
      common_(fmt::format("replay rates\nseed {}\ncycles {} warm_up {}\n{}{}", config_.seed,
                          config_.limits.cycles, config_.limits.warm_up,
                          PolicyText(experiment, config_.policy, config_.ideal_preemption),
                          WithoutHost(experiment.machine_toml))),
      cache_(options_.cache_folder, "rate") {}

bool ReplayRates::Find(const std::string& key, const std::vector<LaunchKind>& set) {
  if (entries_.count(key) != 0) return true;
  const std::optional<json> found = cache_.Find(common_ + key);
  if (!found) return false;
  try {
    entries_[key] = {set, FromJson(*found, set.size())};
    return true;
  } catch (const std::exception&) {
    cache_.Damaged(common_ + key);
    return false;
  }
}

void ReplayRates::Keep(const std::string& key, Entry entry) {
  cache_.Store(common_ + key, ToJson(entry.rates));
  entries_[key] = std::move(entry);
}

RunResult ReplayRates::Run(const RunRequest& request, const std::string& name) const {
  RunResult result = cycle_model_.run(request, ControlKind::kReference, experiment_.control_config);
  CheckResult(request, &result);
  if (result.launches.empty()) throw CheckFailure(name + ": nothing was launched");
  return result;
}

RunResult ReplayRates::InChild(const RunRequest& request, const std::string& name) const {
  const std::vector<Task> task = {{name, [&] { return Run(request, name); }}};
  return std::move(RunTasks(task, 1, {}).front());
}

// Longer and longer, until the launch is done. `first`: the run that has been made already, or
// null.
RunResult ReplayRates::WholeRun(const LaunchKind& launch, RunResult* first) const {
  MeasureConfig config = config_;
  while (true) {
    RunResult result = first != nullptr ? std::move(*first)
                                        : InChild(WholeRequest(config, launch), NameOf({launch}));
    first = nullptr;
    if (!result.cut_short) return result;
    config.limits.cycles *= kLonger;
    if (config.limits.cycles <= kMostCycles) continue;
    throw InputError(fmt::format("--device replay: {} TBs of {} alone do not end within {} cycles",
                                 launch.tbs, launch.workload->name, kMostCycles));
  }
}

AloneRate ReplayRates::Measure(const LaunchKind& launch, RunResult first) {
  const bool feeds = Feeds(launch, config_.machine);
  if (feeds && first.cut_short) {
    const LaunchKind shorter = Shortened(launch, config_.machine);
    AloneRate alone = WholeRate(WholeRun(shorter, nullptr), shorter, config_);
    alone.rate = FeedingRate(first, alone, config_);
    return alone;
  }
  AloneRate alone = WholeRate(WholeRun(launch, &first), launch, config_);
  // A slice follows another.
  if (!feeds && !launch.whole) alone.rate = MeasureSet({launch}, {alone}).front().rate;
  return alone;
}

void ReplayRates::Prepare(const std::vector<LaunchKind>& launches) {
  std::vector<LaunchKind> missing;
  std::map<std::string, std::size_t> keys;
  for (const LaunchKind& launch : launches) {
    const std::string key = KeyOf({launch});
    if (!Find(key, {launch}) && keys.emplace(key, missing.size()).second) missing.push_back(launch);
  }
  std::vector<Task> tasks;
  tasks.reserve(missing.size());
  for (const LaunchKind& launch : missing) {
    tasks.push_back({NameOf({launch}), [this, &launch] {
                       return Run(WholeRequest(config_, launch), NameOf({launch}));
                     }});
  }
  if (tasks.empty()) return;
  const Stopwatch watch(&seconds_);
  Progress progress(options_.quiet);
  std::vector<RunResult> results = RunTasks(tasks, options_.jobs, [&](std::size_t done) {
    progress.Line(fmt::format("rates: {} of {}", done, tasks.size()));
  });
  for (std::size_t i = 0; i < missing.size(); ++i) {
    const AloneRate alone = Measure(missing[i], std::move(results[i]));
    Keep(KeyOf({missing[i]}), {{missing[i]}, {alone}});
  }
}

AloneRate ReplayRates::Alone(const LaunchKind& launch) {
  Prepare({launch});
  return entries_.at(KeyOf({launch})).rates.front();
}

// Where the set never was as it should be, each has its part of what it has alone.
std::vector<SetRate> ReplayRates::MeasureSet(const std::vector<LaunchKind>& set,
                                             const std::vector<AloneRate>& alone) const {
  constexpr unsigned kTries = 3;
  RunRequest request = SetRequest(config_, set, alone);
  for (unsigned i = 0; i < kTries; ++i) {
    const RunResult result = InChild(request, NameOf(set));
    if (const auto rates = SetRates(result, set, alone, config_)) return *rates;
    request.cycles *= kLonger;
  }
  std::vector<SetRate> rates;
  rates.reserve(alone.size());
  const auto parts = static_cast<double>(alone.size());
  for (const AloneRate& a : alone) rates.push_back({a.rate / parts, a.places / parts});
  return rates;
}

std::vector<SetRate> ReplayRates::Together(const std::vector<LaunchKind>& set) {
  const std::string key = KeyOf(set);
  if (!Find(key, set)) {
    std::vector<AloneRate> all;
    all.reserve(set.size());
    for (const LaunchKind& launch : set) all.push_back(Alone(launch));
    const Stopwatch watch(&seconds_);
    Progress(options_.quiet).Line(fmt::format("rates: {}", NameOf(set)));
    const std::vector<SetRate> rates = MeasureSet(set, all);
    for (std::size_t i = 0; i < set.size(); ++i) {
      all[i].rate = rates[i].rate;
      all[i].places = rates[i].places;
    }
    Keep(key, {set, all});
  }
  std::vector<SetRate> rates;
  for (const AloneRate& rate : entries_.at(key).rates) rates.push_back({rate.rate, rate.places});
  return rates;
}

std::string ReplayRates::Csv(const std::string& policy) const {
  std::string text;
  for (const auto& [key, entry] : entries_) {
    for (std::size_t i = 0; i < entry.set.size(); ++i) {
      const LaunchKind& launch = entry.set[i];
      const AloneRate& rate = entry.rates[i];
      const bool alone = entry.set.size() == 1;
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", QuotedCell(policy),
                          QuotedCell(NameOf(entry.set)), QuotedCell(launch.workload->name),
                          QuotedCell(launch.spec().name), launch.tbs, launch.whole ? 1 : 0,
                          rate.rate, rate.places, alone ? fmt::to_string(rate.drain_tbs) : "",
                          alone ? fmt::to_string(rate.drain_cycles) : "",
                          alone ? fmt::to_string(rate.drain_places) : "");
    }
  }
  return text;
}

ReplayDevice::ReplayDevice(Backend cycle_model, const Experiment& experiment, MeasureLimits limits,
                           RunnerOptions options)
    : cycle_model_(std::move(cycle_model)),
      experiment_(experiment),
      limits_(limits),
      options_(std::move(options)) {}

ReplayRates& ReplayDevice::Under(const PolicyConfig& policy, bool ideal_preemption) {
  const std::string text = PolicyText(experiment_, policy, ideal_preemption);
  auto& rates = by_policy_[text];
  if (rates == nullptr) {
    MeasureConfig config{experiment_.machine, policy, ideal_preemption, experiment_.seed, limits_};
    rates = std::make_unique<ReplayRates>(cycle_model_, experiment_, std::move(config), options_);
    names_[text] = Name(policy.dispatch);
  }
  return *rates;
}

RunResult ReplayDevice::Run(const RunRequest& request) {
  ReplayRates& rates = Under(request.policy, request.ideal_preemption);
  const double before = rates.seconds();
  RunResult result = RunReplaySimulation(request, rates);
  result.wall_seconds -= rates.seconds() - before;
  return result;
}

std::string ReplayDevice::Csv() const {
  std::string text =
      "dispatch,set,workload,kernel,tbs,whole,tbs_per_cycle,places,drain_tbs,drain_cycles,"
      "drain_places\n";
  for (const auto& [policy, rates] : by_policy_) text += rates->Csv(names_.at(policy));
  return text;
}

}  // namespace smk::sim
