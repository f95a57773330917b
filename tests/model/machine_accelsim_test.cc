// SPDX-License-Identifier: Apache-2.0
// gtx980-accelsim has the parameters of the Accel-Sim configuration that it is compared with.
#include <gtest/gtest.h>

#include "config/machine_config.h"

namespace smk {
namespace {

MachineConfig Load(const std::string& name) {
  return MachineConfig::Load(FindMachine(name, SMK_SOURCE_DIR));
}

TEST(MachineAccelSim, LatenciesAndInitiationIntervals) {
  const SmConfig sm = Load("gtx980-accelsim").sm;
  const auto is = [](const PipeConfig& pipe, unsigned latency, unsigned initiation) {
    return pipe.latency == latency && pipe.initiation == initiation;
  };
  EXPECT_TRUE(is(sm.alu, 4, 1)) << "sp and int";
  EXPECT_TRUE(is(sm.imul, 4, 1)) << "int";
  EXPECT_TRUE(is(sm.constant, 4, 1)) << "int";
  EXPECT_TRUE(is(sm.dp, 20, 8));
  EXPECT_TRUE(is(sm.sfu, 20, 4));
  EXPECT_TRUE(is(sm.shared, 24, 1));
}

TEST(MachineAccelSim, SizesAndBandwidths) {
  const MachineConfig machine = Load("gtx980-accelsim");
  EXPECT_EQ(machine.sms, 16u);
  EXPECT_EQ(machine.core_clock_mhz, 1216);
  EXPECT_EQ(machine.sm.schedulers * machine.sm.warps_per_scheduler, 64u);
  EXPECT_EQ(machine.sm.limits, (ResourceVector{65536 / 256, 98304 / 256, 64, 32}));
  EXPECT_EQ(machine.sm.fetch_warps * machine.sm.fetch_width, 8u);
  EXPECT_EQ(machine.sm.l1.bytes, 0u) << "global loads bypass L1";
  const MemoryConfig& memory = machine.memory;
  EXPECT_EQ(memory.controllers * memory.l2_slices_per_controller, 16u);
  EXPECT_EQ(memory.l2.bytes * 16, 2u << 20);
  EXPECT_EQ(memory.l2.bytes / kLineBytes / memory.l2.ways, 64u) << "sets";
  EXPECT_DOUBLE_EQ(memory.dram_clock_mhz * memory.dram_bytes_per_clock * memory.controllers,
                   224000.0);
}

// All else is that of gtx980.
TEST(MachineAccelSim, DiffersFromGtx980OnlyWhereItSays) {
  MachineConfig accelsim = Load("gtx980-accelsim");
  const MachineConfig gtx980 = Load("gtx980");
  accelsim.name = gtx980.name;
  SmConfig& sm = accelsim.sm;
  sm.fetch_warps = gtx980.sm.fetch_warps;
  sm.alu = gtx980.sm.alu;
  sm.imul = gtx980.sm.imul;
  sm.dp = gtx980.sm.dp;
  sm.shared = gtx980.sm.shared;
  sm.constant = gtx980.sm.constant;
  sm.l1.bytes = gtx980.sm.l1.bytes;
  MemoryConfig& memory = accelsim.memory;
  memory.l2_slices_per_controller = gtx980.memory.l2_slices_per_controller;
  memory.dram_latency = gtx980.memory.dram_latency;
  memory.l2.bytes = gtx980.memory.l2.bytes;
  memory.l2.latency = gtx980.memory.l2.latency;
  EXPECT_EQ(ToToml(accelsim), ToToml(gtx980));
}

}  // namespace
}  // namespace smk
