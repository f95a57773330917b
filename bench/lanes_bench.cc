// SPDX-License-Identifier: Apache-2.0
// Compiled gates: what a cycle of the 64 schedulers of a gtx980 takes, of its profile counters, and
// to bring masks of 16 SMs into words of lanes (docs/lanes.md).
#include <benchmark/benchmark.h>
#include <gtx980_profile.h>
#include <gtx980_scheduler.h>

#include <cstdint>

#include "cosim/lane_matrix.h"

namespace smk {
namespace {

// Every warp is ready in every other cycle.
template <typename Step>
void RunSchedulers(benchmark::State* state, Step step) {
  lanes::Gtx980Scheduler schedulers;
  schedulers.Reset();
  std::uint64_t ready = 0x5555'5555'5555'5555;
  for (auto _ : *state) {
    ready = ~ready;
    for (auto& word : schedulers.in.ready_i) word = ready;
    step(&schedulers);
    benchmark::DoNotOptimize(schedulers.out.grant_valid_o[0]);
  }
}

void BM_LanesSchedulers(benchmark::State& state) {
  RunSchedulers(&state, [](auto* schedulers) { schedulers->Cycle(); });
}
BENCHMARK(BM_LanesSchedulers);

// Where no warp comes or goes, no quota is loaded and no tick comes.
void BM_LanesSchedulersQuiet(benchmark::State& state) {
  RunSchedulers(&state, [](auto* schedulers) { schedulers->Quiet(); });
}
BENCHMARK(BM_LanesSchedulersQuiet);

// The same under greedy-then-oldest, and where quotas are and were not in force either.
void BM_LanesSchedulersGreedy(benchmark::State& state) {
  RunSchedulers(&state, [](auto* schedulers) { schedulers->Greedy(); });
}
BENCHMARK(BM_LanesSchedulersGreedy);

void BM_LanesSchedulersUngated(benchmark::State& state) {
  RunSchedulers(&state, [](auto* schedulers) { schedulers->Ungated(); });
}
BENCHMARK(BM_LanesSchedulersUngated);

void BM_LanesProfile(benchmark::State& state) {
  lanes::Gtx980Profile profile;
  profile.Reset();
  for (auto _ : state) {
    profile.in.grant_valid_i[0] = ~profile.in.grant_valid_i[0];
    profile.Edge();
  }
}
BENCHMARK(BM_LanesProfile);

void BM_LanesTranspose(benchmark::State& state) {
  LaneRows rows{};
  for (unsigned i = 0; i < rows.size(); ++i) rows[i] = 0x9e37'79b9'7f4a'7c15 * (i + 1);
  for (auto _ : state) {
    Transpose(&rows);
    benchmark::DoNotOptimize(rows);
  }
}
BENCHMARK(BM_LanesTranspose);

}  // namespace
}  // namespace smk
