// SPDX-License-Identifier: Apache-2.0
// Compiled gates: what a cycle of the 64 schedulers of a gtx980 takes, of those of a v100 in a
// pass, and of profile counters, and what it takes to bring masks of 16 SMs into words of lanes
// (docs/lanes.md).
#include <benchmark/benchmark.h>
#include <gtx980_profile.h>
#include <gtx980_scheduler.h>
#include <v100_scheduler.h>

#include <cstdint>
#include <memory>

#include "cosim/lanes/lane_matrix.h"

namespace smk {
namespace {

// Every warp is ready in every other cycle.
template <typename Schedulers, typename Step>
void RunSchedulers(benchmark::State* state, Step step) {
  const auto schedulers = std::make_unique<Schedulers>();
  schedulers->Reset();
  std::uint64_t ready = 0x5555'5555'5555'5555;
  for (auto _ : *state) {
    ready = ~ready;
    for (auto& bit : schedulers->in.ready_i) {
      for (unsigned w = 0; w < Schedulers::kWords; ++w) bit[w] = ready;
    }
    step(schedulers.get());
    benchmark::DoNotOptimize(schedulers->out.grant_valid_o[0]);
  }
}

// 64 of them, and 128.
using Narrow = lanes::Gtx980Scheduler;
using Wide = lanes::V100Scheduler;

template <typename Schedulers>
void BM_LanesSchedulers(benchmark::State& state) {
  RunSchedulers<Schedulers>(&state, [](auto* schedulers) { schedulers->Cycle(); });
}
BENCHMARK(BM_LanesSchedulers<Narrow>);
BENCHMARK(BM_LanesSchedulers<Wide>);

// Where no warp comes or goes, no quota is loaded and no tick comes.
template <typename Schedulers>
void BM_LanesSchedulersQuiet(benchmark::State& state) {
  RunSchedulers<Schedulers>(&state, [](auto* schedulers) { schedulers->Quiet(); });
}
BENCHMARK(BM_LanesSchedulersQuiet<Narrow>);
BENCHMARK(BM_LanesSchedulersQuiet<Wide>);

// The same under greedy-then-oldest, and where quotas are and were not in force either.
template <typename Schedulers>
void BM_LanesSchedulersGreedy(benchmark::State& state) {
  RunSchedulers<Schedulers>(&state, [](auto* schedulers) { schedulers->Greedy(); });
}
BENCHMARK(BM_LanesSchedulersGreedy<Narrow>);
BENCHMARK(BM_LanesSchedulersGreedy<Wide>);

template <typename Schedulers>
void BM_LanesSchedulersUngated(benchmark::State& state) {
  RunSchedulers<Schedulers>(&state, [](auto* schedulers) { schedulers->Ungated(); });
}
BENCHMARK(BM_LanesSchedulersUngated<Narrow>);
BENCHMARK(BM_LanesSchedulersUngated<Wide>);

void BM_LanesProfile(benchmark::State& state) {
  lanes::Gtx980Profile profile;
  profile.Reset();
  for (auto _ : state) {
    profile.in.grant_valid_i[0][0] = ~profile.in.grant_valid_i[0][0];
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
