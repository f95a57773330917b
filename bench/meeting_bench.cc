// SPDX-License-Identifier: Apache-2.0
// What it costs that two threads meet: each waits, spinning, until the other one is there. A run of
// one GPU on two cores would have to do so in every cycle (docs/performance.md).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <thread>

namespace smk {
namespace {

constexpr std::uint64_t kMeetings = 1000;  // of a measurement

// One side of a meeting: says that it is there, and waits for the other.
void Meet(std::atomic<std::uint64_t>* mine, const std::atomic<std::uint64_t>& other) {
  const std::uint64_t count = mine->load(std::memory_order_relaxed) + 1;
  mine->store(count, std::memory_order_release);
  while (other.load(std::memory_order_acquire) < count) {
  }
}

// The shortest time is that of two cores that have nothing else to do; the mean is that of the host
// as it is.
void BM_Meeting(benchmark::State& state) {
  alignas(64) std::atomic<std::uint64_t> here{0};
  alignas(64) std::atomic<std::uint64_t> there{0};
  std::atomic<bool> end{false};
  std::thread second([&] {
    while (!end.load(std::memory_order_relaxed)) {
      if (here.load(std::memory_order_acquire) > there.load(std::memory_order_relaxed)) {
        Meet(&there, here);
      }
    }
  });
  double least = std::numeric_limits<double>::max();
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < kMeetings; ++i) Meet(&here, there);
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
    least = std::min(least, time.count() / kMeetings);
    state.SetIterationTime(time.count() * 1e-9 / kMeetings);
  }
  end = true;
  second.join();
  state.counters["least_ns"] = least;
}
BENCHMARK(BM_Meeting)->UseManualTime()->Iterations(2000);

}  // namespace
}  // namespace smk
