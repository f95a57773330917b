// SPDX-License-Identifier: Apache-2.0
#include "serve/stream_run.h"

#include <algorithm>
#include <vector>

#include "experiment/requests.h"
#include "run/results.h"
#include "serve/replay_rates.h"

namespace smk::sim {
namespace {

// A profile has a run for each size of a slice.
constexpr Cycle kProfileCycles = 5'000'000;
constexpr double kLeastWaves = 2;

// The rates of all kernels alone, as many at a time as the options say.
void PrepareRates(const Experiment& experiment, ReplayDevice* device) {
  std::vector<LaunchKind> launches;
  for (const auto& workload : experiment.workloads) {
    for (const std::uint16_t kernel : workload->launches) {
      launches.push_back({workload, kernel, workload->kernels[kernel].tb_count(), true});
    }
  }
  device->UnderAlone().Prepare(launches);
}

}  // namespace

StreamDevice::StreamDevice(const Backend& cycle_model, const Serving& serving)
    : backend_(cycle_model) {
  if (serving.device.kind != DeviceKind::kReplay) return;
  replay_ = std::make_unique<ReplayDevice>(cycle_model, serving.experiment, serving.device.limits,
                                           MakeRunnerOptions(serving.options));
  backend_.run = [replay = replay_.get()](const RunRequest& request, ControlKind,
                                          const ControlConfig&) { return replay->Run(request); };
  PrepareRates(serving.experiment, replay_.get());
}

StreamDevice::~StreamDevice() = default;

std::optional<std::string> StreamDevice::RatesCsv() const {
  return replay_ == nullptr ? std::nullopt : std::optional<std::string>(replay_->Csv());
}

ProfiledTbs StreamDevice::profiled_tbs() const {
  if (replay_ == nullptr) return {};
  return [replay = replay_.get()](const std::shared_ptr<const Workload>& workload,
                                  std::uint16_t kernel) {
    const std::uint32_t all = workload->kernels[kernel].tb_count();
    const AloneRate alone = replay->UnderAlone().Alone({workload, kernel, all, true});
    if (alone.Cycles(all) <= kProfileCycles) return all;
    const double tbs = std::max(alone.rate * kProfileCycles, kLeastWaves * alone.places);
    return std::min(all, static_cast<std::uint32_t>(tbs));
  };
}

RunResult RunStream(const Backend& cycle_model, Serving* serving,
                    const std::optional<std::size_t>& alone) {
  const StreamDevice device(cycle_model, *serving);
  const Experiment& e = serving->experiment;
  if (!alone) PlanScheduler(cycle_model, device.profiled_tbs(), serving, nullptr);
  const RunRequest request =
      alone ? IsolatedRequest(e, *alone, {}) : SharedRequest(e, serving->policy, {});
  RunResult result = device.backend().run(request, e.control, e.control_config);
  CheckResult(request, &result);
  return result;
}

}  // namespace smk::sim
