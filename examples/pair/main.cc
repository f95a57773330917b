// SPDX-License-Identifier: Apache-2.0
// Runs histo, which comes with SMK, beside axpy, which is in this folder: once as a GPU does, so
// that both share every SM, and once under a scheduler of our own, which gives them turns.
#include <cstdio>

#include "base/error.h"
#include "control/reference_control.h"
#include "host/in_order.h"
#include "host/simulation.h"
#include "machine/control_config.h"
#include "turns.h"
#include "workload/workload_file.h"

namespace {

void Show(const char* name, const smk::RunResult& result) {
  std::printf("%-9s", name);
  for (const smk::KernelStats& kernel : result.kernels) {
    std::printf("  %s: IPC %.2f, %llu TBs", kernel.name.c_str(), kernel.ipc(result.cycles),
                static_cast<unsigned long long>(kernel.tbs_completed));
  }
  std::printf("  %zu launches\n", result.launches.size());
}

void Run() {
  smk::RunRequest request;
  request.machine = smk::MachineConfig::Load(smk::FindMachine("gtx980", SMK_DATA_DIR));
  request.policy.dispatch = smk::DispatchMode::kPartitioned;
  request.policy.quota_enable = true;
  request.jobs = {{smk::FindWorkload("histo", SMK_DATA_DIR)}, {smk::LoadWorkload(PAIR_WORKLOAD)}};
  request.cycles = 200000;
  request.record_tbs = true;

  const smk::ControlConfig hardware = smk::ControlConfigOf(request.machine);
  const auto run = [&](std::unique_ptr<smk::HostScheduler> scheduler) {
    return smk::RunSimulation(request, smk::MakeReferenceControl(hardware, request.policy),
                              std::move(scheduler));
  };
  Show("in_order", run(smk::MakeInOrder()));
  Show("turns", run(pair::MakeTurns(64)));
}

}  // namespace

int main() {
  try {
    Run();
  } catch (const smk::InputError& error) {
    std::fprintf(stderr, "pair: %s\n", error.what());
    return 2;
  }
}
