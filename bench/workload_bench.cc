// SPDX-License-Identifier: Apache-2.0
// Host time per call of the functions that run for every warp instruction.
#include <benchmark/benchmark.h>

#include <vector>

#include "workload/program_code.h"
#include "workload/random.h"
#include "workload/workload_file.h"

namespace smk {
namespace {

WarpIdentity WarpOf(const KernelSpec& kernel, unsigned tb, unsigned warp) {
  WarpIdentity id;
  id.tb = tb;
  id.tb_x = static_cast<std::uint16_t>(tb % kernel.grid_x);
  id.tb_y = static_cast<std::uint16_t>(tb / kernel.grid_x % kernel.grid_y);
  id.tb_z = static_cast<std::uint16_t>(tb / kernel.grid_x / kernel.grid_y);
  id.warp = static_cast<std::uint16_t>(warp);
  id.tb_key = ScrambleBits(tb + 1);
  id.key = ScrambleBits(id.tb_key + warp + 1);
  return id;
}

// 64 warps of one SM take turns, as in a run; a warp that ends starts again.
void Advance(benchmark::State& state, const char* name) {
  const auto workload = FindWorkload(name, SMK_DATA_DIR);
  const KernelSpec& kernel = workload->kernels[0];
  const Program& program = *kernel.program;
  std::vector<WarpIdentity> ids;
  std::vector<WarpCursor> cursors(64);
  const unsigned warps = (kernel.threads + kWarpThreads - 1) / kWarpThreads;
  for (unsigned i = 0; i < cursors.size(); ++i) {
    ids.push_back(WarpOf(kernel, i / warps, i % warps));
    program.Start(ids[i], &cursors[i]);
  }
  unsigned i = 0;
  for (auto _ : state) {
    if (program.At(cursors[i]).op == OpClass::kExit) {
      program.Start(ids[i], &cursors[i]);
    } else {
      program.Advance(ids[i], &cursors[i]);
    }
    benchmark::DoNotOptimize(cursors[i]);
    i = (i + 1) % 64;
  }
}
BENCHMARK_CAPTURE(Advance, sgemm, "parboil/sgemm");
BENCHMARK_CAPTURE(Advance, spmv, "parboil/spmv");

// All accesses of a kernel to one array, from 64 warps.
void Lines(benchmark::State& state, const char* name, OpClass op, const std::string& array) {
  const auto workload = FindWorkload(name, SMK_DATA_DIR);
  const KernelSpec& kernel = workload->kernels[0];
  const Program& program = *kernel.program;
  std::vector<unsigned> nodes;
  for (unsigned n = 0; n < program.parts().nodes.size(); ++n) {
    const Instruction& in = program.parts().nodes[n];
    if (in.op == op && program.parts().access_names[in.access] == array) nodes.push_back(n);
  }
  std::vector<WarpIdentity> ids;
  for (unsigned tb = 0; tb < 64; ++tb) ids.push_back(WarpOf(kernel, tb, 0));
  std::uint64_t lines[kMaxLines];
  std::uint64_t total = 0;
  unsigned i = 0;
  WarpCursor cursor;
  for (auto _ : state) {
    total += program.Lines(program.parts().nodes[nodes[i]], ids[i % 64], cursor, lines);
    benchmark::DoNotOptimize(lines);
    if (++i == nodes.size()) i = 0;
  }
  state.counters["lines"] =
      benchmark::Counter(static_cast<double>(total) / static_cast<double>(state.iterations()));
}
BENCHMARK_CAPTURE(Lines, lbm_loads, "parboil/lbm", OpClass::kLoadGlobal, "src");
BENCHMARK_CAPTURE(Lines, lbm_stores, "parboil/lbm", OpClass::kStoreGlobal, "dst");
BENCHMARK_CAPTURE(Lines, spmv_gather, "parboil/spmv", OpClass::kLoadGlobal, "x");

}  // namespace
}  // namespace smk
