// SPDX-License-Identifier: Apache-2.0
// What stays in the L2, what goes to DRAM, and what is counted.
#include <gtest/gtest.h>

#include "model/memory/rig.h"

namespace smk {
namespace {

constexpr std::uint64_t kL2Bytes = 2 << 20;  // of the default machine

// Reads [0, bytes) once, slowly; hits.
std::uint64_t Pass(MemoryRig* rig, std::uint64_t bytes, Cycle* now) {
  std::uint64_t hits = 0;
  for (std::uint64_t address = 0; address < bytes; address += kLineBytes) {
    hits += rig->Read(*now, address, static_cast<unsigned>(address / kLineBytes % 16)).l2_hit;
    *now += 4;
  }
  return hits;
}

TEST(MemoryL2, WorkingSetThatFitsHitsAfterTheFirstPass) {
  MemoryRig rig{MachineConfig{}};
  Cycle now = 0;
  EXPECT_EQ(Pass(&rig, kL2Bytes, &now), 0u);
  now += 10000;
  EXPECT_EQ(Pass(&rig, kL2Bytes, &now), kL2Bytes / kLineBytes);
  EXPECT_EQ(rig.stats().dram_read_bytes[0], kL2Bytes);
}

TEST(MemoryL2, WorkingSetOfTwiceTheSizeDoesNot) {
  MemoryRig rig{MachineConfig{}};
  Cycle now = 0;
  Pass(&rig, 2 * kL2Bytes, &now);
  now += 10000;
  EXPECT_EQ(Pass(&rig, 2 * kL2Bytes, &now), 0u) << "LRU has just lost what comes next";
}

TEST(MemoryL2, ReadsOfOneLineInFlightShareOneDramAccess) {
  MemoryRig rig{MachineConfig{}};
  const MemoryRig::Answer first = rig.Read(1000, 0, 0);
  const MemoryRig::Answer second = rig.Read(1010, 0, 1);
  EXPECT_FALSE(second.l2_hit);
  // The data array gives the second its data after the first's two passes; the slice's port after
  // its three flits.
  EXPECT_EQ(second.done, first.done + 3);
  EXPECT_EQ(rig.stats().dram_read_bytes[0], kLineBytes);
  EXPECT_EQ(rig.stats().l2_accesses[0], 2u);
  EXPECT_EQ(rig.stats().l2_merges[0], 1u);
  EXPECT_EQ(rig.stats().l2_hits[0], 0u);
}

TEST(MemoryL2, ReadBeyondTheMergesOfALineGoesThroughThePipelineAgain) {
  MachineConfig machine;
  machine.memory.l2.mshr_merges = 1;
  MemoryRig rig(machine);
  rig.Read(1000, 0, 0);
  const Cycle merged = rig.Read(1010, 0, 1).done;
  const Cycle again = rig.Read(1020, 0, 2).done;
  EXPECT_GE(again, merged + machine.memory.l2.latency - 4);
  EXPECT_LE(again, merged + machine.memory.l2.latency + 4);
}

TEST(MemoryL2, MissesWaitForAnMshr) {
  MachineConfig machine;
  machine.memory.l2.mshrs = 1;
  machine.memory.controllers = 1;
  machine.memory.l2_slices_per_controller = 1;
  MemoryRig rig(machine);
  const Cycle first = rig.Read(1000, 0, 0).done - 1000;
  const Cycle second = rig.Read(1000, 4096, 1).done - 1000;
  // The second leaves the slice when the first's data are there.
  const Cycle before = 1 + machine.memory.xbar_latency + machine.memory.l2.latency;
  const Cycle after = machine.memory.xbar_latency + 3;
  EXPECT_NEAR(static_cast<double>(second), static_cast<double>(2 * first - before - after), 2);
}

TEST(MemoryL2, FullLinesAreWrittenWithoutAFetchAndGoToDramWhenReplaced) {
  MemoryRig rig{MachineConfig{}};
  Cycle now = 0;
  for (std::uint64_t address = 0; address < 2 * kL2Bytes; address += kLineBytes) {
    rig.Write(now += 4, address);
  }
  EXPECT_EQ(rig.stats().dram_read_bytes[0], 0u);
  EXPECT_EQ(rig.stats().dram_write_bytes[0], kL2Bytes);
}

TEST(MemoryL2, EvictionIsChargedToTheKernelThatWrote) {
  MemoryRig rig{MachineConfig{}};
  rig.set_kernel(KernelId{1});
  Cycle now = 0;
  for (std::uint64_t address = 0; address < kL2Bytes; address += kLineBytes) {
    rig.Write(now += 4, address);
  }
  rig.set_kernel(KernelId{2});
  for (std::uint64_t address = 0; address < kL2Bytes; address += kLineBytes) {
    rig.Read(now += 4, address + kL2Bytes);
  }
  EXPECT_EQ(rig.stats().dram_write_bytes[1], kL2Bytes);
  EXPECT_EQ(rig.stats().dram_write_bytes[2], 0u);
  EXPECT_EQ(rig.stats().dram_read_bytes[2], kL2Bytes);
  EXPECT_EQ(rig.stats().dram_read_bytes[1], 0u);
}

TEST(MemoryL2, PartialWriteIsFetchedWhenRead) {
  MemoryRig rig{MachineConfig{}};
  EXPECT_FALSE(rig.Write(0, 0, 0, 32).l2_hit);
  EXPECT_EQ(rig.stats().dram_read_bytes[0], 0u);
  EXPECT_FALSE(rig.Read(1000, 0).l2_hit);
  EXPECT_EQ(rig.stats().dram_read_bytes[0], kLineBytes);
  EXPECT_TRUE(rig.Read(3000, 0).l2_hit);
}

TEST(MemoryL2, PartialWritesThatFillALineMakeItWhole) {
  MemoryRig rig{MachineConfig{}};
  for (unsigned part = 0; part < 4; ++part) rig.Write(100 * part, 0, 0, 32);
  EXPECT_TRUE(rig.Read(1000, 0).l2_hit);
  EXPECT_EQ(rig.stats().dram_read_bytes[0], 0u);
}

TEST(MemoryL2, PartialLinesWriteBackTheirSectorsOnly) {
  MemoryRig rig{MachineConfig{}};
  Cycle now = 0;
  for (std::uint64_t address = 0; address < kL2Bytes; address += kLineBytes) {
    rig.Write(now += 4, address, 0, 40);
  }
  Pass(&rig, 0, &now);
  for (std::uint64_t address = kL2Bytes; address < 2 * kL2Bytes; address += kLineBytes) {
    rig.Read(now += 4, address);
  }
  EXPECT_EQ(rig.stats().dram_write_bytes[0], kL2Bytes / kLineBytes * 64) << "two sectors of 32";
}

// As in GPGPU-Sim 3: a store that misses goes on to DRAM, and the line is read.
class MemoryL2Fetch : public testing::Test {
 protected:
  static MachineConfig Machine() {
    MachineConfig machine;
    machine.memory.l2_write_miss = "fetch";
    return machine;
  }
  std::uint64_t Read() const { return rig_.stats().dram_read_bytes[0]; }
  std::uint64_t Written() const { return rig_.stats().dram_write_bytes[0]; }

  MemoryRig rig_{Machine()};
};

TEST_F(MemoryL2Fetch, AMissGoesToDramAndReadsTheLine) {
  EXPECT_FALSE(rig_.Write(0, 0, 0, 32).l2_hit);
  EXPECT_EQ(Written(), 32u);
  EXPECT_EQ(Read(), kLineBytes);
  EXPECT_TRUE(rig_.Read(3000, 0).l2_hit) << "the line is whole";
  EXPECT_EQ(Read(), kLineBytes);
}

TEST_F(MemoryL2Fetch, ALineInFlightIsWrittenInDramToo) {
  EXPECT_FALSE(rig_.Write(0, 0).l2_hit);
  EXPECT_FALSE(rig_.Write(10, 0, 0, 64).l2_hit) << "in flight is a miss";
  EXPECT_EQ(rig_.stats().l2_hits[0], 0u);
  EXPECT_EQ(Written(), kLineBytes + 64u);
  EXPECT_EQ(Read(), kLineBytes) << "one read for both";
  rig_.Read(1000, 4096);
  const std::uint64_t before = Written();
  rig_.Write(1010, 4096, 0, 32);
  EXPECT_EQ(Written(), before + 32) << "also when a read has asked for it";
}

// A line that was read because of a store is as DRAM has it; one that is hit afterwards is not.
TEST_F(MemoryL2Fetch, OnlyHitsMakeALineDirty) {
  Cycle now = 0;
  for (std::uint64_t address = 0; address < kL2Bytes; address += kLineBytes) {
    rig_.Write(now += 20, address);
  }
  now += 10000;
  rig_.Write(now, 0);
  EXPECT_EQ(Written(), kL2Bytes);
  for (std::uint64_t address = kL2Bytes; address < 2 * kL2Bytes; address += kLineBytes) {
    rig_.Read(now += 20, address);
  }
  EXPECT_EQ(Written(), kL2Bytes + kLineBytes);
  EXPECT_EQ(Read(), 2 * kL2Bytes);
}

// One place of the eviction buffer for each store on its way.
TEST(MemoryL2, AWriteMissWaitsForAPlaceOnTheWayToDram) {
  MachineConfig machine;
  machine.memory.l2_write_miss = "fetch";
  machine.memory.l2_eviction_buffer = 1;
  MemoryRig rig(machine);
  const Cycle first = rig.Write(1000, 0).done - 1000;
  const Cycle second = rig.Write(1000, 0).done - 1000;
  EXPECT_GT(second, first + machine.memory.l2.latency);
}

TEST(MemoryL2, AtomicsFetchAndMakeTheLineDirty) {
  MemoryRig rig{MachineConfig{}};
  EXPECT_FALSE(rig.Atomic(0, 0).l2_hit);
  EXPECT_TRUE(rig.Atomic(3000, 0).l2_hit);
  EXPECT_EQ(rig.stats().dram_read_bytes[0], kLineBytes);
  Cycle now = 5000;
  for (std::uint64_t address = 0; address < 2 * kL2Bytes; address += kLineBytes) {
    rig.Read(now += 4, address + kL2Bytes);
  }
  EXPECT_EQ(rig.stats().dram_write_bytes[0], kLineBytes);
}

TEST(MemoryL2, ContextsNeitherUseNorFillIt) {
  MemoryRig rig{MachineConfig{}};
  for (unsigned line = 0; line < 64; ++line) {
    rig.WriteContext(10 * line, line * kLineBytes);
    rig.ReadContext(5000 + 10 * line, line * kLineBytes);
  }
  EXPECT_EQ(rig.stats().l2_accesses[0], 0u);
  EXPECT_EQ(rig.stats().context_bytes[0], 128u * kLineBytes);
  EXPECT_EQ(rig.stats().dram_read_bytes[0] + rig.stats().dram_write_bytes[0], 0u);
  EXPECT_FALSE(rig.Read(9000, 0).l2_hit);
}

}  // namespace
}  // namespace smk
