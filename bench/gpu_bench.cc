// SPDX-License-Identifier: Apache-2.0
// How fast the whole model runs: simulated cycles and warp instructions per second of host time,
// with the reference control plane, on the gtx980 machine.
//
//   bin/smk_bench --benchmark_filter=Gpu
//
// The environment variable SMK_BENCH_CYCLES sets the length of a run. Host instructions per
// simulated warp instruction: scripts/count_instructions.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "control/reference_control.h"
#include "host/simulation.h"
#include "trace/export.h"
#include "trace/load.h"
#include "workload/workload_file.h"

namespace smk {
namespace {

Cycle RunLength() {
  const char* cycles = std::getenv("SMK_BENCH_CYCLES");
  return cycles == nullptr ? 200000 : std::stoull(cycles);
}

// One wave of a program's TBs on the GPU, exported as an Accel-Sim trace and read back. A warp's
// instructions end before the program's do, but not in a run of fewer than 100,000 cycles.
std::shared_ptr<const Workload> AsTrace(const Workload& workload) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("smk_bench_" + std::to_string(getpid()));
  TraceExport what;
  what.folder = folder.string();
  what.tbs = 176;
  what.max_instructions = 4000;
  ExportTrace(workload, what);
  auto trace = LoadTrace(what.folder, {}).streams.at(0);
  std::filesystem::remove_all(folder);
  return trace;
}

// `kernels` as a user writes them: "lbm+tpacf"; "traced/sgemm" is sgemm by way of a trace.
RunRequest Request(const std::string& kernels, DispatchMode dispatch, bool quota) {
  const std::string data_dir = SMK_DATA_DIR;
  RunRequest request;
  request.machine = MachineConfig::Load(data_dir + "/machines/gtx980.toml");
  request.policy.dispatch = dispatch;
  request.policy.quota_enable = quota;
  request.cycles = RunLength();
  std::istringstream names(kernels);
  for (std::string name; std::getline(names, name, '+');) {
    const std::string prefix = "traced/";
    const bool traced = name.rfind(prefix, 0) == 0;
    auto workload = FindWorkload(traced ? name.substr(prefix.size()) : name, data_dir);
    if (traced) workload = AsTrace(*workload);
    request.jobs.push_back({std::move(workload), 0, true});
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
BENCHMARK_CAPTURE(GpuCycles, sgemm_trace, "traced/sgemm", DispatchMode::kLeftover, false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(GpuCycles, lbm, "lbm", DispatchMode::kLeftover, false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(GpuCycles, cutcp_stencil, "cutcp+stencil", DispatchMode::kPartitioned, true)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace smk
