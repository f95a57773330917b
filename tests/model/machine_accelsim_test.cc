// SPDX-License-Identifier: Apache-2.0
// gtx980-accelsim has the parameters of the Accel-Sim configuration that it is compared with.
#include <gtest/gtest.h>

#include "config/machine_config.h"
#include "machine/sm/collectors.h"

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

// As the configurations say that they follow; GPGPU-Sim 3 has no such configuration.
TEST(MachineAccelSim, KernelsLeaveTheL1EmptyWhereTheConfigurationSaysSo) {
  for (const char* const name : {"gtx980-accelsim", "v100"}) {
    EXPECT_EQ(Load(name).sm.l1_flush, "kernel") << name;
  }
  for (const char* const name : {"gtx980", "gtx980-gpgpusim", "fermi", "fermi-gpgpusim"}) {
    EXPECT_EQ(Load(name).sm.l1_flush, "never") << name;
  }
}

TEST(MachineAccelSim, SizesAndBandwidths) {
  const MachineConfig machine = Load("gtx980-accelsim");
  EXPECT_EQ(machine.sms, 16u);
  EXPECT_EQ(machine.core_clock_mhz, 1216);
  EXPECT_EQ(machine.sm.schedulers * machine.sm.warps_per_scheduler, 64u);
  EXPECT_EQ(machine.sm.limits, (ResourceVector{65536 / 256, 98304 / 256, 64, 32}));
  EXPECT_EQ(machine.sm.l1.bytes, 0u) << "global loads bypass L1";
  const MemoryConfig& memory = machine.memory;
  EXPECT_EQ(memory.controllers * memory.l2_slices_per_controller, 16u);
  EXPECT_EQ(memory.l2.bytes * 16, 2u << 20);
  EXPECT_EQ(memory.l2.bytes / kLineBytes / memory.l2.ways, 64u) << "sets";
  EXPECT_DOUBLE_EQ(memory.dram_clock_mhz * memory.dram_bytes_per_clock * memory.controllers,
                   224000.0);
}

// Each fetch and decode happens eight times per cycle, of two instructions each.
TEST(MachineAccelSim, PipelineOfItsSource) {
  const SmConfig sm = Load("gtx980-accelsim").sm;
  EXPECT_EQ(sm.fetch_warps, 8u);
  EXPECT_EQ(sm.fetch_width, 2u);
  EXPECT_EQ(sm.fetch_latency, 1u);
  EXPECT_EQ(sm.branch_latency, 1u);
  EXPECT_EQ(sm.barrier_latency, 1u);
  EXPECT_EQ(sm.collectors * sm.schedulers, 8u);
  EXPECT_EQ(sm.lsu_queue, 1u) << "the dispatch register";
  EXPECT_EQ(Load("gtx980-accelsim").tb_starts, "waves") << "one TB per SM and cycle";
  const unsigned around = kCollectorCycles + sm.operand_latency;
  EXPECT_EQ(sm.alu.latency + around, 9u) << "dependent FFMA";
  EXPECT_EQ(sm.sfu.latency + around, 25u) << "dependent MUFU";
  EXPECT_EQ(sm.shared.latency + around, 29u) << "dependent LDS";
}

TEST(MachineAccelSim, MovesSectors) {
  const MachineConfig machine = Load("gtx980-accelsim");
  const MemoryConfig& memory = machine.memory;
  EXPECT_EQ(memory.sector_bytes, 32u);
  EXPECT_EQ(machine.sm.lsu_bytes, 32u);
  EXPECT_EQ(memory.xbar_bytes_per_cycle, 40u) << "a sector and its header";
  EXPECT_EQ(memory.xbar_order, "turns");
  EXPECT_EQ(memory.dram_bytes_per_clock * memory.t_ccd, 32u) << "a burst is a sector";
  EXPECT_EQ(memory.partition, "drawn");
  EXPECT_EQ(memory.writes, "acknowledged");
  // A load of four sectors that hits the L2 takes 145 cycles; latencies are whole ones.
  EXPECT_NEAR(kCollectorCycles + machine.sm.operand_latency + 2 * (memory.xbar_latency + 1) +
                  memory.l2.latency + 3,
              145, 1);
}

// All else is that of gtx980.
TEST(MachineAccelSim, DiffersFromGtx980OnlyWhereItSays) {
  const MachineConfig accelsim = Load("gtx980-accelsim");
  MachineConfig gtx980 = Load("gtx980");
  gtx980.name = accelsim.name;
  gtx980.launch_latency = accelsim.launch_latency;
  gtx980.tb_starts = accelsim.tb_starts;
  SmConfig& sm = gtx980.sm;
  sm.fetch_warps = accelsim.sm.fetch_warps;
  sm.fetch_latency = accelsim.sm.fetch_latency;
  sm.branch_latency = accelsim.sm.branch_latency;
  sm.barrier_latency = accelsim.sm.barrier_latency;
  sm.lsu_bytes = accelsim.sm.lsu_bytes;
  sm.l1_flush = accelsim.sm.l1_flush;
  sm.stores = accelsim.sm.stores;
  sm.operand_latency = accelsim.sm.operand_latency;
  sm.collectors = accelsim.sm.collectors;
  sm.lsu_queue = accelsim.sm.lsu_queue;
  sm.warp_start_latency = accelsim.sm.warp_start_latency;
  sm.alu = accelsim.sm.alu;
  sm.imul = accelsim.sm.imul;
  sm.dp = accelsim.sm.dp;
  sm.shared = accelsim.sm.shared;
  sm.constant = accelsim.sm.constant;
  sm.l1.bytes = accelsim.sm.l1.bytes;
  sm.texture.bytes = accelsim.sm.texture.bytes;
  MemoryConfig& memory = gtx980.memory;
  memory.sector_bytes = accelsim.memory.sector_bytes;
  memory.xbar_latency = accelsim.memory.xbar_latency;
  memory.xbar_bytes_per_cycle = accelsim.memory.xbar_bytes_per_cycle;
  memory.xbar_order = accelsim.memory.xbar_order;
  memory.writes = accelsim.memory.writes;
  memory.partition = accelsim.memory.partition;
  memory.l2_slices_per_controller = accelsim.memory.l2_slices_per_controller;
  memory.l2_bytes_per_cycle = accelsim.memory.l2_bytes_per_cycle;
  memory.l2 = accelsim.memory.l2;
  memory.controllers = accelsim.memory.controllers;
  memory.dram_bytes_per_clock = accelsim.memory.dram_bytes_per_clock;
  memory.dram_latency = accelsim.memory.dram_latency;
  EXPECT_EQ(ToToml(gtx980), ToToml(accelsim));
}

// fermi-gpgpusim: the pipes of Warped-Slicer's simulator, and how it allocates registers.
TEST(MachineGpgpuSim, DiffersFromFermiOnlyWhereItSays) {
  const MachineConfig gpgpusim = Load("fermi-gpgpusim");
  EXPECT_EQ(gpgpusim.sm.register_allocation, "threads");
  EXPECT_EQ(gpgpusim.sm.units.sp * gpgpusim.sm.alu.initiation, 2u) << "two a cycle";
  MachineConfig fermi = Load("fermi");
  const auto rate = [](unsigned pipes, const PipeConfig& pipe) {
    return static_cast<double>(pipes) / pipe.initiation;
  };
  EXPECT_EQ(rate(gpgpusim.sm.units.sp, gpgpusim.sm.alu), rate(fermi.sm.units.sp, fermi.sm.alu));
  EXPECT_EQ(rate(gpgpusim.sm.units.sfu, gpgpusim.sm.sfu), rate(fermi.sm.units.sfu, fermi.sm.sfu));
  EXPECT_EQ(rate(gpgpusim.sm.units.sfu, gpgpusim.sm.imul), rate(fermi.sm.units.sfu, fermi.sm.imul));
  fermi.name = gpgpusim.name;
  fermi.sm.register_allocation = gpgpusim.sm.register_allocation;
  fermi.sm.units = gpgpusim.sm.units;
  fermi.sm.lsu_queue = gpgpusim.sm.lsu_queue;
  fermi.sm.alu = gpgpusim.sm.alu;
  fermi.sm.imul = gpgpusim.sm.imul;
  fermi.sm.sfu = gpgpusim.sm.sfu;
  fermi.sm.dp = gpgpusim.sm.dp;
  fermi.sm.shared.initiation = gpgpusim.sm.shared.initiation;
  EXPECT_EQ(gpgpusim.sm.l1_full_set, "wait");
  fermi.sm.l1_full_set = gpgpusim.sm.l1_full_set;
  EXPECT_EQ(gpgpusim.memory.l2_write_miss, "fetch");
  fermi.memory.l2_write_miss = gpgpusim.memory.l2_write_miss;
  EXPECT_EQ(ToToml(fermi), ToToml(gpgpusim));
}

// gtx980-gpgpusim: what the simulator of the paper has where gtx980 has the chip's.
TEST(MachineGpgpuSim, DiffersFromGtx980OnlyWhereItSays) {
  const MachineConfig gpgpusim = Load("gtx980-gpgpusim");
  EXPECT_EQ(gpgpusim.sm.units.sp, 2u);
  EXPECT_EQ(gpgpusim.sm.units.sfu, 1u);
  EXPECT_EQ(gpgpusim.sm.units.memory, 1u);
  EXPECT_EQ(gpgpusim.sm.units.constant, 0u) << "through the memory pipe";
  EXPECT_EQ(gpgpusim.sm.fetch_warps * gpgpusim.sm.fetch_width, 2u);
  EXPECT_EQ(gpgpusim.memory.l2.bytes * gpgpusim.memory.l2_slices_per_controller *
                gpgpusim.memory.controllers,
            2u << 20);
  MachineConfig gtx980 = Load("gtx980");
  gtx980.name = gpgpusim.name;
  gtx980.sm.units = gpgpusim.sm.units;
  gtx980.sm.lsu_queue = gpgpusim.sm.lsu_queue;
  gtx980.sm.l1.mshrs = gpgpusim.sm.l1.mshrs;
  MemoryConfig& memory = gtx980.memory;
  memory.xbar_bytes_per_cycle = gpgpusim.memory.xbar_bytes_per_cycle;
  memory.l2 = gpgpusim.memory.l2;
  memory.dram_queue = gpgpusim.memory.dram_queue;
  EXPECT_EQ(gpgpusim.sm.l1_full_set, "wait");
  gtx980.sm.l1_full_set = gpgpusim.sm.l1_full_set;
  EXPECT_EQ(gpgpusim.memory.l2_write_miss, "fetch");
  memory.l2_write_miss = gpgpusim.memory.l2_write_miss;
  EXPECT_EQ(ToToml(gtx980), ToToml(gpgpusim));
}

}  // namespace
}  // namespace smk
