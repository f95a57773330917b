// SPDX-License-Identifier: Apache-2.0
// How fast the whole model runs: simulated cycles and warp instructions per second of host time,
// with the reference control plane, mostly on the gtx980 machine; what an SM costs in smaller and
// wider ones, and what kernels, TBs and launches cost.
//
//   bin/smk_bench --benchmark_filter=Gpu
//   bin/smk_bench --benchmark_filter=WideCycles
//   bin/smk_bench --benchmark_filter='KernelCycles|Many'
//
// The environment variable SMK_BENCH_CYCLES sets the length of a run. Host instructions per
// simulated warp instruction: scripts/count_instructions.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "control/reference_control.h"
#include "host/simulation.h"
#include "machine/control_config.h"
#include "run_length.h"
#include "trace/export.h"
#include "trace/load.h"
#include "workload/workload_file.h"

namespace smk {
namespace {

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
RunRequest Request(const std::string& kernels, DispatchMode dispatch, bool quota,
                   const std::string& machine = "gtx980") {
  const std::string data_dir = SMK_DATA_DIR;
  RunRequest request;
  request.machine = MachineConfig::Load(data_dir + "/machines/" + machine + ".toml");
  request.policy.dispatch = dispatch;
  request.policy.quota_enable = quota;
  request.cycles = RunLength(200000);
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

// The same with another number of SMs: to each 4 SMs belong a memory controller and a quarter of
// a kernel's grid, as in gtx980, and one controller and a whole grid to fewer than 16 at least.
RunRequest WideRequest(const std::string& kernels, DispatchMode dispatch, bool quota,
                       unsigned sms) {
  RunRequest request = Request(kernels, dispatch, quota);
  const unsigned wider = std::max(sms / request.machine.sms, 1u);
  request.machine.memory.controllers =
      std::max(request.machine.memory.controllers * sms / request.machine.sms, 1u);
  request.machine.sms = sms;
  for (Job& job : request.jobs) {
    auto workload = std::make_shared<Workload>(*job.workload);
    for (KernelSpec& kernel : workload->kernels) kernel.grid_y *= wider;
    job.workload = std::move(workload);
  }
  return request;
}

// `tbs` TBs of half a warp and ten instructions, in `launches` launches.
RunRequest ManyRequest(unsigned tbs, unsigned launches) {
  RunRequest request = Request("short_tbs", DispatchMode::kLeftover, false);
  auto workload = std::make_shared<Workload>(*request.jobs[0].workload);
  workload->kernels[0].grid_x = tbs / launches;
  workload->launches.assign(launches, 0);
  request.jobs[0] = {std::move(workload), 0, false};
  request.until = RunUntil::kDone;
  request.cycles = 1'000'000'000;
  return request;
}

// The most memory that this process had, in KB: Linux knows it of the program alone, while
// getrusage() also counts the one that started it.
double PeakKb() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kb = 0;
    if (word == "VmHWM:" && status >> kb) return kb;
  }
  return 0;
}

void Measure(benchmark::State& state, const std::function<RunRequest()>& make) {
  std::uint64_t instructions = 0;
  std::uint64_t cycles = 0;
  unsigned sms = 0;
  try {
    const RunRequest request = make();
    sms = request.machine.sms;
    for (auto _ : state) {
      auto control = MakeReferenceControl(ControlConfigOf(request.machine), request.policy);
      const RunResult result = RunSimulation(request, std::move(control));
      instructions += result.warp_instructions;
      cycles += result.cycles;
    }
  } catch (const std::exception& e) {
    state.SkipWithError(e.what());
    return;
  }
  using benchmark::Counter;
  state.counters["peak_kb"] = PeakKb();
  state.counters["cycles"] = Counter(static_cast<double>(cycles), Counter::kIsRate);
  state.counters["instructions"] = Counter(static_cast<double>(instructions), Counter::kIsRate);
  state.counters["run_instructions"] =
      static_cast<double>(instructions) / static_cast<double>(state.iterations());
  const double sm_cycles = static_cast<double>(cycles) * sms;
  state.counters["run_sm_cycles"] = sm_cycles / static_cast<double>(state.iterations());
  state.counters["sm_cycles"] = Counter(sm_cycles, Counter::kIsRate);
  state.counters["ipc"] = static_cast<double>(instructions) / static_cast<double>(cycles);
}

void GpuCycles(benchmark::State& state, const std::string& kernels, DispatchMode dispatch,
               bool quota, const std::string& machine = "gtx980") {
  Measure(state, [&] { return Request(kernels, dispatch, quota, machine); });
}

// The argument is the number of SMs.
void WideCycles(benchmark::State& state, const std::string& kernels, DispatchMode dispatch,
                bool quota) {
  Measure(state, [&] {
    return WideRequest(kernels, dispatch, quota, static_cast<unsigned>(state.range(0)));
  });
}

// The argument is the number of copies of the kernel; four of them run at the same time.
void KernelCycles(benchmark::State& state, const std::string& kernel, DispatchMode dispatch,
                  bool quota) {
  Measure(state, [&] {
    RunRequest request = Request(kernel, dispatch, quota);
    request.jobs.resize(static_cast<std::size_t>(state.range(0)), request.jobs[0]);
    return request;
  });
}

// The argument is the number of TBs, or of launches of one TB.
void ManyTbs(benchmark::State& state) {
  Measure(state, [&] { return ManyRequest(static_cast<unsigned>(state.range(0)), 1); });
}
void ManyLaunches(benchmark::State& state) {
  const auto launches = static_cast<unsigned>(state.range(0));
  Measure(state, [&] { return ManyRequest(launches, launches); });
}

BENCHMARK_CAPTURE(GpuCycles, sgemm, "sgemm", DispatchMode::kLeftover, false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(GpuCycles, sgemm_trace, "traced/sgemm", DispatchMode::kLeftover, false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(GpuCycles, lbm_trace, "traced/lbm", DispatchMode::kLeftover, false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(GpuCycles, stencil_trace, "traced/stencil", DispatchMode::kLeftover, false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(GpuCycles, lbm, "lbm", DispatchMode::kLeftover, false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(GpuCycles, cutcp_stencil, "cutcp+stencil", DispatchMode::kPartitioned, true)
    ->Unit(benchmark::kMillisecond);
// With operand collectors, where the front end does not limit a compute-bound kernel.
BENCHMARK_CAPTURE(GpuCycles, cutcp_accelsim, "cutcp", DispatchMode::kLeftover, false,
                  "gtx980-accelsim")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(GpuCycles, lbm_accelsim, "lbm", DispatchMode::kLeftover, false, "gtx980-accelsim")
    ->Unit(benchmark::kMillisecond);

void Widths(benchmark::internal::Benchmark* bench) {
  for (const int sms : {1, 2, 4, 8, 16, 32, 64, 80, 132}) bench->Arg(sms);
  bench->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(WideCycles, sgemm, "sgemm", DispatchMode::kLeftover, false)->Apply(Widths);
BENCHMARK_CAPTURE(WideCycles, lbm, "lbm", DispatchMode::kLeftover, false)->Apply(Widths);
BENCHMARK_CAPTURE(WideCycles, lbm_sgemm_demand, "lbm+sgemm", DispatchMode::kOnDemand, false)
    ->Apply(Widths);
BENCHMARK_CAPTURE(WideCycles, cutcp_stencil, "cutcp+stencil", DispatchMode::kPartitioned, true)
    ->Apply(Widths);

void Copies(benchmark::internal::Benchmark* bench) {
  bench->DenseRange(1, 8)->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(KernelCycles, sgemm, "sgemm", DispatchMode::kPartitioned, true)->Apply(Copies);
BENCHMARK_CAPTURE(KernelCycles, sgemm_demand, "sgemm", DispatchMode::kOnDemand, false)
    ->Apply(Copies);
BENCHMARK_CAPTURE(KernelCycles, lbm, "lbm", DispatchMode::kPartitioned, true)->Apply(Copies);

BENCHMARK(ManyTbs)->RangeMultiplier(10)->Range(1, 1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(ManyLaunches)->RangeMultiplier(10)->Range(1, 100'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace smk
