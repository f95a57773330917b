// SPDX-License-Identifier: Apache-2.0
// Host time of Kernelet's performance model: a chain, and a choice among eight kernels.
#include <benchmark/benchmark.h>

#include "host/kernelet/co_schedule.h"

namespace smk {
namespace {

ChainMemory Memory() {
  const LatencyLine line{5, 400};
  return {line, LineOfSeveral(line, 32), 32};
}

// One kernel of so many warps, in percent how many of its accesses are uncoalesced.
void BM_KerneletKernel(benchmark::State& state) {
  const ChainKernel kernel{static_cast<unsigned>(state.range(0)), 0.1,
                           static_cast<double>(state.range(1)) / 100};
  const WarpChain chain({kernel}, Memory());
  for (auto _ : state) benchmark::DoNotOptimize(chain.Ipc());
  state.counters["states"] = static_cast<double>(chain.states());
}
BENCHMARK(BM_KerneletKernel)->Args({16, 0})->Args({64, 0})->Args({16, 30})->Args({64, 30});

// Two kernels of so many warps each.
void BM_KerneletPair(benchmark::State& state) {
  const auto warps = static_cast<unsigned>(state.range(0));
  const double uncoalesced = static_cast<double>(state.range(1)) / 100;
  const WarpChain chain({{warps, 0.02, uncoalesced}, {warps, 0.2, uncoalesced}}, Memory());
  for (auto _ : state) benchmark::DoNotOptimize(chain.Ipc());
  state.counters["states"] = static_cast<double>(chain.states());
}
BENCHMARK(BM_KerneletPair)
    ->Args({8, 0})
    ->Args({12, 0})
    ->Args({16, 0})
    ->Args({24, 0})
    ->Args({32, 0})
    ->Args({48, 0})
    ->Args({8, 30})
    ->Args({12, 30})
    ->Unit(benchmark::kMillisecond);

// FindCoSchedule among eight kernels that nothing is known of yet, on SMs of 48 warps and two
// schedulers.
void BM_KerneletFind(benchmark::State& state) {
  KerneletMachine machine;
  machine.sms = 14;
  machine.limits = {128, 192, 48, 8};
  machine.schedulers = 2;
  machine.issue_rate = 0.5;
  machine.memory = Memory();
  std::vector<KerneletKernel> kernels;
  std::vector<std::size_t> pending;
  for (unsigned k = 0; k < 8; ++k) {
    KerneletKernel kernel;
    kernel.name = std::to_string(k);
    kernel.need = {8, 0, static_cast<std::uint16_t>(k % 2 == 0 ? 4 : 8), 1};
    kernel.memory_ratio = 0.01 + 0.05 * k;
    kernel.pur = 0.9 - 0.1 * k;
    kernels.push_back(kernel);
    pending.push_back(k);
  }
  CoScheduleParams params;
  params.pur_difference = 0;
  for (auto _ : state) {
    CoScheduleFinder finder(machine, kernels, params);
    benchmark::DoNotOptimize(finder.Find(pending));
  }
}
BENCHMARK(BM_KerneletFind)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace smk
