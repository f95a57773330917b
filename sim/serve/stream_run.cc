// SPDX-License-Identifier: Apache-2.0
#include "serve/stream_run.h"

#include <vector>

#include "experiment/requests.h"
#include "run/results.h"
#include "serve/replay_rates.h"

namespace smk::sim {
namespace {

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

RunResult RunStream(const Backend& cycle_model, Serving* serving,
                    const std::optional<std::size_t>& alone) {
  const StreamDevice device(cycle_model, *serving);
  const Experiment& e = serving->experiment;
  if (!alone) PlanScheduler(device.backend(), serving, nullptr);
  const RunRequest request =
      alone ? IsolatedRequest(e, *alone, {}) : SharedRequest(e, serving->policy, {});
  RunResult result = device.backend().run(request, e.control, e.control_config);
  CheckResult(request, &result);
  return result;
}

}  // namespace smk::sim
