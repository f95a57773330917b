// SPDX-License-Identifier: Apache-2.0
// How fast the whole model runs: simulated cycles and warp instructions per second of host time,
// with the reference control plane, on the gtx980 machine.
//
//   bin/smk_bench --benchmark_filter=Gpu
//
// The environment variable SMK_BENCH_CYCLES sets the length of a run. Host instructions per
// simulated warp instruction: scripts/count_instructions.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <exception>
#include <sstream>
#include <string>
#include <utility>

#include "control/reference_control.h"
#include "machine/run.h"
#include "workload/workload_file.h"

namespace smk {
namespace {

Cycle RunLength() {
  const char* cycles = std::getenv("SMK_BENCH_CYCLES");
  return cycles == nullptr ? 200000 : std::stoull(cycles);
}

// `kernels` as a user writes them: "lbm+tpacf".
RunRequest Request(const std::string& kernels, DispatchMode dispatch, bool quota) {
  const std::string data_dir = SMK_DATA_DIR;
  RunRequest request;
  request.machine = MachineConfig::Load(data_dir + "/machines/gtx980.toml");
  request.policy.dispatch = dispatch;
  request.policy.quota_enable = quota;
  request.cycles = RunLength();
  std::istringstream names(kernels);
  for (std::string name; std::getline(names, name, '+');) {
    request.programs.push_back({FindWorkload(name, data_dir), 0, true});
  }
  return request;
}

ControlConfig Hardware(const MachineConfig& machine) {
  ControlConfig config;
  config.num_sms = machine.sms;
  config.num_schedulers = machine.sm.schedulers;
  config.warps_per_scheduler = machine.sm.warps_per_scheduler;
  config.limits = machine.sm.limits;
  return config;
}

void GpuCycles(benchmark::State& state, const std::string& kernels, DispatchMode dispatch,
               bool quota) {
  std::uint64_t instructions = 0;
  std::uint64_t cycles = 0;
  try {
    const RunRequest request = Request(kernels, dispatch, quota);
    for (auto _ : state) {
      auto control = MakeReferenceControl(Hardware(request.machine), request.policy);
      const RunResult result = RunSimulation(request, std::move(control));
      instructions += result.warp_instructions;
      cycles += result.cycles;
    }
  } catch (const std::exception& e) {
    state.SkipWithError(e.what());
    return;
  }
  using benchmark::Counter;
  state.counters["cycles"] = Counter(static_cast<double>(cycles), Counter::kIsRate);
  state.counters["instructions"] = Counter(static_cast<double>(instructions), Counter::kIsRate);
  state.counters["run_instructions"] =
      static_cast<double>(instructions) / static_cast<double>(state.iterations());
  state.counters["ipc"] = static_cast<double>(instructions) / static_cast<double>(cycles);
}

BENCHMARK_CAPTURE(GpuCycles, sgemm, "sgemm", DispatchMode::kLeftover, false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(GpuCycles, lbm, "lbm", DispatchMode::kLeftover, false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(GpuCycles, cutcp_stencil, "cutcp+stencil", DispatchMode::kPartitioned, true)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace smk
