// SPDX-License-Identifier: Apache-2.0
// The memory behind the SMs is chosen by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "control/reference_control.h"
#include "host/simulation.h"
#include "memory/memory_models.h"
#include "model/micro.h"

namespace smk {
namespace {

using testing::HasSubstr;

TEST(MemoryModels, TheFirstIsTheDefault) {
  EXPECT_EQ(MachineConfig{}.memory.model, kMemoryModels.front());
}

RunResult RunOn(const std::string& model, unsigned fixed_latency = 400) {
  MicroKernel kernel;
  kernel.tbs = 1;
  for (int n = 0; n < 10; ++n) kernel.Load(1, {1}, MicroKernel::kNewLine);
  MicroRun run;
  run.request.machine.memory.model = model;
  run.request.machine.memory.fixed_latency = fixed_latency;
  run.request.jobs = {{kernel.Build(), 0, false}};
  run.request.record_tbs = true;
  return RunSimulation(run.request, MakeReferenceControl(run.Control(), run.request.policy));
}

TEST(MemoryModels, EachRunsAProgram) {
  std::set<Cycle> ends;
  for (const char* model : kMemoryModels) {
    const RunResult result = RunOn(model);
    EXPECT_EQ(result.kernels[0].tbs_completed, 1u) << model;
    EXPECT_EQ(result.kernels[0].dram_read_bytes, 10u * kLineBytes) << model;
    ends.insert(result.jobs[0].finish);
  }
  EXPECT_EQ(ends.size(), kMemoryModels.size()) << "each has a timing of its own";
}

// Ten loads, each after the one before.
TEST(MemoryModels, FixedTakesItsLatencyForEachLine) {
  const Cycle slow = RunOn("fixed", 500).jobs[0].finish;
  const Cycle fast = RunOn("fixed", 100).jobs[0].finish;
  EXPECT_EQ(slow - fast, 10u * 400);
}

TEST(MemoryModels, FixedCountsByKernelAndKind) {
  MachineConfig machine;
  machine.memory.fixed_latency = 7;
  const auto memory = MakeFixedMemory(machine);
  const auto access = [&](unsigned kernel, MemoryAccess kind) {
    EXPECT_EQ(memory->Access(SmId{0}, static_cast<KernelId>(kernel), kind, 0, 1000), 1007u);
  };
  for (unsigned n = 0; n < 20; ++n) access(1, MemoryAccess::kLoad);
  access(1, MemoryAccess::kAtomic);
  access(2, MemoryAccess::kStore);
  access(3, MemoryAccess::kContextLoad);
  access(3, MemoryAccess::kContextStore);
  const MemoryStats stats = memory->stats(~Cycle{0});
  EXPECT_EQ(stats.l2_accesses, (SlotCounters{0, 21, 1, 0}));
  EXPECT_EQ(stats.dram_read_bytes, (SlotCounters{0, 21 * kLineBytes, 0, 0}));
  EXPECT_EQ(stats.dram_write_bytes, (SlotCounters{0, kLineBytes, kLineBytes, 0}));
  EXPECT_EQ(stats.context_bytes, (SlotCounters{0, 0, 0, 2 * kLineBytes}));
  EXPECT_EQ(stats.l2_hits, SlotCounters{});
}

TEST(MemoryModels, UnknownNameIsRefused) {
  MachineConfig machine;
  machine.memory.model = "hbm";
  try {
    MakeMemory(machine);
    FAIL() << "hbm was made";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("memory.model: expected one of gddr, fixed, got hbm"));
  }
}

}  // namespace
}  // namespace smk
