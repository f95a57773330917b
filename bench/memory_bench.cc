// SPDX-License-Identifier: Apache-2.0
// Cost of one transaction through the whole memory system, from the SM's side.
//
//   bin/smk_bench --benchmark_filter=Transactions
//   scripts/count_instructions L2Hit DramStream    host instructions of one
//
// The environment variable SMK_BENCH_CYCLES sets how many an iteration sends.
#include <benchmark/benchmark.h>

#include <memory>
#include <random>

#include "config/machine_config.h"
#include "machine/simulation_context.h"
#include "memory/memory_models.h"
#include "run_length.h"

namespace smk {
namespace {

// A memory system as SMs see it.
struct Rig {
  SimulationContext context;
  MachineConfig machine;
  std::unique_ptr<MemoryPort> memory = MakeGddrMemory(machine);

  Rig() {
    sc_core::sc_report_handler::set_actions(sc_core::SC_ID_NO_SC_START_ACTIVITY_,
                                            sc_core::SC_DO_NOTHING);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
};

// Sends at a steady rate of `per_cycle` requests; `address` chooses each.
template <typename Address>
void Drive(benchmark::State& state, double per_cycle, bool write, Address address) {
  Rig rig;
  const std::uint64_t length = RunLength(1000);
  const MemoryAccess access = write ? MemoryAccess::kStore : MemoryAccess::kLoad;
  std::uint64_t count = 0;
  auto send = [&] {
    const auto now = static_cast<Cycle>(static_cast<double>(count) / per_cycle);
    const auto sm = static_cast<SmId>(count % rig.machine.sms);
    benchmark::DoNotOptimize(rig.memory->Access(sm, KernelId{0}, access, address(count), now));
    ++count;
  };
  for (int i = 0; i < 40000; ++i) send();
  const MemoryStats before = rig.memory->stats(~Cycle{0});
  const std::uint64_t first = count;
  for (auto _ : state) {
    for (std::uint64_t i = 0; i < length; ++i) send();
  }
  const MemoryStats after = rig.memory->stats(~Cycle{0});
  const auto sent = static_cast<double>(count - first);
  using benchmark::Counter;
  state.counters["l2_hit_rate"] = static_cast<double>(after.l2_hits[0] - before.l2_hits[0]) / sent;
  state.counters["transactions"] = Counter(sent, Counter::kIsRate);
  state.counters["run_instructions"] = static_cast<double>(length);
  state.counters["run_sm_cycles"] = static_cast<double>(length) / per_cycle * rig.machine.sms;
}

constexpr double kL2Rate = 2.0;    // lines per cycle: half of what the SMs' ports take
constexpr double kDramRate = 1.2;  // lines per cycle: 83 % of the DRAM's peak

void L2Hit(benchmark::State& state) {
  Drive(state, kL2Rate, false, [](std::uint64_t i) { return i % 8192 * kLineBytes; });
}
BENCHMARK(L2Hit)->Name("Transactions/L2Hit");

void DramStream(benchmark::State& state) {
  Drive(state, kDramRate, false,
        [](std::uint64_t i) { return (i % 16 << 28) + i / 16 * kLineBytes; });
}
BENCHMARK(DramStream)->Name("Transactions/DramStream");

void DramRandom(benchmark::State& state) {
  std::mt19937_64 random(1);
  Drive(state, kDramRate / 2, false,
        [&](std::uint64_t /*i*/) { return (random() & 0x3FFFFFFF) / kLineBytes * kLineBytes; });
}
BENCHMARK(DramRandom)->Name("Transactions/DramRandom");

void WriteStream(benchmark::State& state) {
  Drive(state, kDramRate / 2, true, [](std::uint64_t i) { return i * kLineBytes; });
}
BENCHMARK(WriteStream)->Name("Transactions/WriteStream");

}  // namespace
}  // namespace smk
