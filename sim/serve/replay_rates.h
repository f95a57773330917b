// SPDX-License-Identifier: Apache-2.0
// Rates for the replay device: measured by the cycle model when they are asked for, and kept on
// disk.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "experiment/experiment.h"
#include "replay/measure.h"
#include "run/json_cache.h"
#include "run/runner.h"

namespace smk::sim {

// The rates under one policy. An entry of the cache stands under all that decides it: machine,
// policy and its settings, seed, limits of the measurement, workloads with their TBs, model version
// and executable.
class ReplayRates : public RateSource {
 public:
  // Its arguments must live as long.
  ReplayRates(const Backend& cycle_model, const Experiment& experiment, MeasureConfig config,
              RunnerOptions options);

  // What Alone() will be asked for, measured as many at a time as the options say.
  void Prepare(const std::vector<LaunchKind>& launches);
  AloneRate Alone(const LaunchKind& launch) override;
  SetRates Together(const std::vector<LaunchKind>& set) override;
  RateSource& OnOneSm() override;

  // Seconds that measuring has taken.
  double seconds() const { return seconds_ + (one_sm_ != nullptr ? one_sm_->seconds() : 0); }
  // A row for each launch of each set that was asked for.
  std::string Csv(const std::string& policy) const;

 private:
  struct Entry {
    std::vector<LaunchKind> set;
    AloneRate alone;  // of one
    SetRates rates;   // of several
  };
  RunResult Run(const RunRequest& request, const std::string& name) const;
  RunResult InChild(const RunRequest& request, const std::string& name) const;
  AloneRate Measure(const LaunchKind& launch, RunResult first);
  RunResult WholeRun(const LaunchKind& launch, RunResult* first) const;
  SetRates MeasureSet(const std::vector<LaunchKind>& set,
                      const std::vector<AloneRate>& alone) const;
  bool Find(const std::string& key, const std::vector<LaunchKind>& set);
  void Keep(const std::string& key, Entry entry);

  const Backend& cycle_model_;
  const Experiment& experiment_;
  const MeasureConfig config_;
  const RunnerOptions options_;
  const std::string common_;  // of all keys
  JsonCache cache_;
  std::map<std::string, Entry> entries_;  // by key
  std::unique_ptr<ReplayRates> one_sm_;
  double seconds_ = 0;
};

// The device behind Backend::run, with the rates of every policy that requests have.
class ReplayDevice {
 public:
  ReplayDevice(Backend cycle_model, const Experiment& experiment, MeasureLimits limits,
               RunnerOptions options);

  // In this process; what is not known yet is measured in children.
  RunResult Run(const RunRequest& request);
  // The rates under the request's policy.
  ReplayRates& Under(const PolicyConfig& policy, bool ideal_preemption = false);
  // The rates of kernels alone, as isolated runs have them.
  ReplayRates& UnderAlone() { return Under(InEffectAlone(experiment_).policy); }
  // What was measured, as replay_rates.csv.
  std::string Csv() const;

 private:
  const Backend cycle_model_;
  const Experiment& experiment_;
  const MeasureLimits limits_;
  const RunnerOptions options_;
  std::map<std::string, std::unique_ptr<ReplayRates>> by_policy_;
  std::map<std::string, std::string> names_;  // of the policies, for the file
};

// Everything of the policy and the control plane that decides a result.
std::string PolicyText(const Experiment& experiment, const PolicyConfig& policy,
                       bool ideal_preemption);

}  // namespace smk::sim
