// SPDX-License-Identifier: Apache-2.0
#include "host/simulation.h"

#include "host/host.h"

namespace smk {

RunResult RunSimulation(const RunRequest& request, std::unique_ptr<ControlPlane> control,
                        std::unique_ptr<HostScheduler> scheduler) {
  if (scheduler == nullptr && request.scheduler) scheduler = request.scheduler();
  Host host(request, std::move(scheduler));
  RunResult result = RunMachine(request, *control, host);
  host.Finish(&result);
  return result;
}

}  // namespace smk
