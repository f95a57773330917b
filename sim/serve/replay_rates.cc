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

constexpr Cycle kMostMeasured = 100'000'000;  // of a run that measures
constexpr Cycle kLonger = 8;                  // times, when a run was too short

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

// What is kept of a launch alone, in this order.
std::vector<double*> NumbersOf(AloneRate* r) {
  return {&r->rate,         &r->drain_tbs,    &r->drain_cycles, &r->places,
          &r->drain_places, &r->instructions, &r->dram_bytes,   &r->unit_tbs};
}

json ToJson(AloneRate rate) {
  json all = json::array();
  for (const double* number : NumbersOf(&rate)) all.push_back(*number);
  all.push_back(rate.tb_ends);
  return all;
}

AloneRate AloneFromJson(const json& all) {
  AloneRate rate;
  std::size_t i = 0;
  for (double* number : NumbersOf(&rate)) all.at(i++).get_to(*number);
  all.at(i).get_to(rate.tb_ends);
  return rate;
}

json ToJson(const std::vector<SetRate>& rates) {
  json all = json::array();
  for (const auto& [rate, places] : rates) all.push_back({rate, places});
  return all;
}

std::vector<SetRate> SetFromJson(const json& all, std::size_t count) {
  std::vector<SetRate> rates;
  for (const json& r : all) rates.push_back({r.at(0).get<double>(), r.at(1).get<double>()});
  if (rates.size() != count) throw std::runtime_error("another number of rates");
  return rates;
}

json ToJson(const SetRates& rates) {
  json by_age = json::array();
  for (const auto& [ages, of] : rates.by_age) by_age.push_back({ages, ToJson(of)});
  return {ToJson(rates.mean), by_age, rates.first_cycles};
}

SetRates RatesFromJson(const json& all, std::size_t count) {
  SetRates rates;
  rates.mean = SetFromJson(all.at(0), count);
  for (const json& of : all.at(1)) {
    rates.by_age[of.at(0).get<SetRates::Ages>()] = SetFromJson(of.at(1), count);
  }
  all.at(2).get_to(rates.first_cycles);
  return rates;
}

std::string Cells(const LaunchKind& launch, const std::string& ages) {
  return fmt::format("{},{},{},{},{}", QuotedCell(launch.workload->name),
                     QuotedCell(launch.spec().name), launch.tbs, launch.whole ? 1 : 0, ages);
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
      common_(fmt::format("replay rates\nsms {} seed {}\ncycles {} warm_up {}\n{}{}",
                          config_.machine.sms, config_.seed, config_.limits.cycles,
                          config_.limits.warm_up,
                          PolicyText(experiment, config_.policy, config_.ideal_preemption),
                          WithoutHost(experiment.machine_toml))),
      cache_(options_.cache_folder, "rate") {}

bool ReplayRates::Find(const std::string& key, const std::vector<LaunchKind>& set) {
  if (entries_.count(key) != 0) return true;
  const std::optional<json> found = cache_.Find(common_ + key);
  if (!found) return false;
  try {
    Entry entry{set, {}, {}};
    if (set.size() == 1) {
      entry.alone = AloneFromJson(*found);
    } else {
      entry.rates = RatesFromJson(*found, set.size());
    }
    entries_[key] = std::move(entry);
    return true;
  } catch (const std::exception&) {
    cache_.Damaged(common_ + key);
    return false;
  }
}

void ReplayRates::Keep(const std::string& key, Entry entry) {
  const bool one = entry.set.size() == 1;
  cache_.Store(common_ + key, one ? ToJson(entry.alone) : ToJson(entry.rates));
  entries_[key] = std::move(entry);
}

RunResult ReplayRates::Run(const RunRequest& request, const std::string& name) const {
  ControlConfig control = experiment_.control_config;
  control.num_sms = request.machine.sms;
  RunResult result = cycle_model_.run(request, ControlKind::kReference, control);
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
    if (config.limits.cycles <= kMostMeasured) continue;
    throw InputError(fmt::format("--device replay: {} TBs of {} alone do not end within {} cycles",
                                 launch.tbs, launch.workload->name, kMostMeasured));
  }
}

AloneRate ReplayRates::Measure(const LaunchKind& launch, RunResult first) {
  const bool feeds = Feeds(launch, config_.machine);
  const LaunchKind shorter = Shortened(launch, config_.machine);
  if (feeds && first.cut_short && shorter.tbs < launch.tbs) {
    AloneRate alone = WholeRate(WholeRun(shorter, nullptr), shorter, config_);
    alone.rate = FeedingRate(first, alone, config_);
    if (alone.rate > 0) return alone;
    throw InputError(
        fmt::format("--device replay: {} issues nothing in the {} cycles of --rate-cycles; "
                    "expected more of them",
                    launch.workload->name, config_.limits.cycles));
  }
  AloneRate alone = WholeRate(WholeRun(launch, &first), launch, config_);
  // A slice follows another.
  if (!feeds && !launch.whole) alone.rate = MeasureSet({launch}, {alone}).mean.front().rate;
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
    Keep(KeyOf({missing[i]}), {{missing[i]}, alone, {}});
  }
}

AloneRate ReplayRates::Alone(const LaunchKind& launch) {
  Prepare({launch});
  return entries_.at(KeyOf({launch})).alone;
}

// Where the set never was as it should be, each has its part of what it has alone.
SetRates ReplayRates::MeasureSet(const std::vector<LaunchKind>& set,
                                 const std::vector<AloneRate>& alone) const {
  constexpr unsigned kTries = 3;
  RunRequest request = SetRequest(config_, set, alone);
  for (unsigned i = 0; i < kTries; ++i) {
    const RunResult result = InChild(request, NameOf(set));
    if (auto rates = RatesOfSet(result, set, alone, config_)) return std::move(*rates);
    request.cycles *= kLonger;
  }
  SetRates rates;
  for (const AloneRate& a : alone) rates.mean.push_back(a.Part(alone.size()));
  return rates;
}

SetRates ReplayRates::Together(const std::vector<LaunchKind>& set) {
  const std::string key = KeyOf(set);
  if (!Find(key, set)) {
    std::vector<AloneRate> all;
    all.reserve(set.size());
    for (const LaunchKind& launch : set) all.push_back(Alone(launch));
    const Stopwatch watch(&seconds_);
    Progress(options_.quiet).Line(fmt::format("rates: {}", NameOf(set)));
    Keep(key, {set, {}, MeasureSet(set, all)});
  }
  return entries_.at(key).rates;
}

RateSource& ReplayRates::OnOneSm() {
  if (one_sm_ == nullptr) {
    MeasureConfig config = config_;
    config.machine.sms = 1;
    one_sm_ = std::make_unique<ReplayRates>(cycle_model_, experiment_, std::move(config), options_);
  }
  return *one_sm_;
}

std::string ReplayRates::Csv(const std::string& policy) const {
  std::string text;
  for (const auto& named : entries_) {
    const Entry& entry = named.second;
    const std::string first = fmt::format("{},{},{}", QuotedCell(policy), config_.machine.sms,
                                          QuotedCell(NameOf(entry.set)));
    if (entry.set.size() == 1) {
      const AloneRate& alone = entry.alone;
      text += fmt::format("{},{},{},{},{},{},{}\n", first, Cells(entry.set[0], ""), alone.rate,
                          alone.places, alone.drain_tbs, alone.drain_cycles, alone.drain_places);
      continue;
    }
    const auto add = [&](const std::vector<SetRate>& rates, const std::string& ages) {
      for (std::size_t i = 0; i < rates.size(); ++i) {
        text += fmt::format("{},{},{},{},,,\n", first, Cells(entry.set[i], ages), rates[i].rate,
                            rates[i].places);
      }
    };
    add(entry.rates.mean, "");
    for (const auto& [ages, rates] : entry.rates.by_age) {
      add(rates, fmt::format("{}", fmt::join(ages, " ")));
    }
  }
  return one_sm_ != nullptr ? text + one_sm_->Csv(policy) : text;
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
      "dispatch,sms,set,workload,kernel,tbs,whole,ages,tbs_per_cycle,places,drain_tbs,drain_cycles,"
      "drain_places\n";
  for (const auto& [policy, rates] : by_policy_) text += rates->Csv(names_.at(policy));
  return text;
}

}  // namespace smk::sim
