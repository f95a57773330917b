// SPDX-License-Identifier: Apache-2.0
// Lines in sectors, and an input-queued crossbar: crossbar, L2 and DRAM.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "memory/calendar.h"
#include "model/memory/rig.h"

namespace smk {
namespace {

MachineConfig Sectored() {
  MachineConfig machine;
  machine.memory.sector_bytes = 32;
  machine.memory.xbar_bytes_per_cycle = 40;
  machine.memory.l2_bytes_per_cycle = 32;
  return machine;
}

// A memory system whose requests name sectors.
class SectorRig : public MemoryRig {
 public:
  explicit SectorRig(const MachineConfig& machine = Sectored()) : MemoryRig(machine) {}
  Answer ReadSectors(Cycle now, std::uint64_t address, SectorMask sectors, unsigned sm = 0) {
    request().extension().sectors = sectors;
    return Read(now, address, sm, Bytes(sectors));
  }
  Answer WriteSectors(Cycle now, std::uint64_t address, SectorMask sectors, unsigned sm = 0) {
    request().extension().sectors = sectors;
    return Write(now, address, sm, Bytes(sectors));
  }
  static unsigned Bytes(SectorMask sectors) {
    return static_cast<unsigned>(__builtin_popcount(sectors)) * kSectorBytes;
  }
};

TEST(MemorySectors, OnlyWhatIsAskedForComesFromDram) {
  SectorRig rig;
  rig.ReadSectors(0, 0, 0b0001);
  EXPECT_EQ(rig.stats().dram_read_bytes[0], 32u);
  EXPECT_TRUE(rig.ReadSectors(2000, 0, 0b0001).l2_hit);
  EXPECT_FALSE(rig.ReadSectors(4000, 0, 0b0110).l2_hit) << "the line is here, the sectors are not";
  EXPECT_EQ(rig.stats().dram_read_bytes[0], 96u);
  EXPECT_FALSE(rig.ReadSectors(6000, 0, 0b1111).l2_hit);
  EXPECT_EQ(rig.stats().dram_read_bytes[0], 128u) << "the missing one alone";
  EXPECT_TRUE(rig.ReadSectors(8000, 0, 0b1111).l2_hit);
}

TEST(MemorySectors, WrittenOnesAreHere) {
  SectorRig rig;
  rig.WriteSectors(0, 0, 0b0011);
  EXPECT_TRUE(rig.ReadSectors(2000, 0, 0b0011).l2_hit);
  EXPECT_FALSE(rig.ReadSectors(4000, 0, 0b0100).l2_hit);
  EXPECT_EQ(rig.stats().dram_read_bytes[0], 32u);
  EXPECT_EQ(rig.stats().dram_write_bytes[0], 0u);
}

TEST(MemorySectors, ThatAreHereAreHitWhileOthersAreFetched) {
  SectorRig rig;
  rig.ReadSectors(0, 0, 0b0001);
  const Cycle hit = rig.ReadSectors(2000, 0, 0b0001).done - 2000;
  const Cycle other = rig.ReadSectors(4000, 0, 0b0010).done;
  ASSERT_GT(other, 4010 + hit);
  const MemoryRig::Answer here = rig.ReadSectors(4010, 0, 0b0001);
  EXPECT_TRUE(here.l2_hit);
  EXPECT_EQ(here.done, 4010 + hit);
  rig.WriteSectors(4020, 0, 0b0100);
  EXPECT_TRUE(rig.ReadSectors(4030, 0, 0b0100).l2_hit) << "written meanwhile";
  EXPECT_EQ(rig.stats().l2_merges[0], 0u);
  const MemoryRig::Answer both = rig.ReadSectors(4040, 0, 0b0011);
  EXPECT_FALSE(both.l2_hit);
  EXPECT_GE(both.done, other);
  EXPECT_EQ(rig.stats().l2_merges[0], 1u);
}

// Requests are served in the order of calls, which need not be that of their times.
TEST(MemorySectors, InFlightComeWithTheirOwnFetch) {
  SectorRig rig;
  rig.ReadSectors(0, 0, 0b1000);  // opens the row
  const Cycle late = rig.ReadSectors(4000, 0, 0b0001).done;
  const Cycle early = rig.ReadSectors(1000, 0, 0b0010, 1).done;  // each SM in its own order
  ASSERT_LT(early, 3000u);
  EXPECT_TRUE(rig.ReadSectors(3000, 0, 0b0010, 1).l2_hit);
  const MemoryRig::Answer pending = rig.ReadSectors(3000, 0, 0b0001, 1);
  EXPECT_FALSE(pending.l2_hit);
  EXPECT_GE(pending.done, late);
  EXPECT_GE(rig.ReadSectors(2000, 0, 0b0101, 2).done, late) << "one in flight and one missing";
  EXPECT_EQ(rig.stats().dram_read_bytes[0], 128u);
}

// Writes go back to DRAM as they came: one sector of each line.
TEST(MemorySectors, EvictionsWriteTheDirtyOnes) {
  MachineConfig machine = Sectored();
  machine.memory.l2.bytes = 16 * 1024;
  SectorRig rig(machine);
  constexpr unsigned kLines = 4096;
  for (unsigned i = 0; i < kLines; ++i) rig.WriteSectors(i * 20, i * kLineBytes, 0b0100);
  const std::uint64_t held = 4 * machine.memory.l2.bytes / kLineBytes;
  EXPECT_EQ(rig.stats().dram_write_bytes[0], (kLines - held) * 32);
}

// Requests and replies of an SM are a packet per sector: n of them take n cycles of its port.
TEST(MemorySectors, EachIsAPacket) {
  SectorRig rig;
  for (const SectorMask sectors : {1, 3, 7, 15}) rig.ReadSectors(0, 0, sectors);
  const auto hit = [&](Cycle now, SectorMask sectors) {
    return rig.ReadSectors(now, 0, sectors).done - now;
  };
  const Cycle one = hit(10000, 1);
  // The slice serves the first while the others come, and replies leave in the same way.
  EXPECT_EQ(hit(20000, 3), one + 1);
  EXPECT_EQ(hit(30000, 15), one + 3);
}

TEST(MemoryWrites, AcknowledgedAreCompleteWhenTheReplyIsBack) {
  MachineConfig machine = Sectored();
  SectorRig posted(machine);
  machine.memory.writes = "acknowledged";
  SectorRig acknowledged(machine);
  const auto done = [](SectorRig* rig, SectorMask sectors) {
    return rig->WriteSectors(1000, 0, sectors).done - 1000;
  };
  // Through the slice's pipeline and back, one flit.
  const Cycle back = machine.memory.l2.latency + machine.memory.xbar_latency + 1;
  EXPECT_EQ(done(&acknowledged, 1), done(&posted, 1) + back);
  EXPECT_EQ(acknowledged.WriteSectors(2000, 0, 15).done - 2000,
            posted.WriteSectors(2000, 0, 15).done - 2000 + back + 3)
      << "a flit for each sector";
}

// Ports of the fewest bytes: five flits for a sector with its header. A write is complete with its
// last.
TEST(MemorySectors, ANarrowPortCompletesAWriteWithItsLastFlit) {
  MachineConfig machine = Sectored();
  machine.memory.xbar_bytes_per_cycle = 8;
  SectorRig rig(machine);
  const Cycle one = rig.WriteSectors(1000, 0, 1).done - 1000;
  EXPECT_EQ(rig.WriteSectors(2000, 0, 15).done - 2000, one + 15);
}

// Replies of writes take the SM's port: as many as it carries, one per cycle.
TEST(MemoryWrites, AcknowledgmentsTakeThePortOfTheirSm) {
  MachineConfig machine = Sectored();
  machine.memory.writes = "acknowledged";
  SectorRig rig(machine);
  Cycle last = 0;
  for (unsigned i = 0; i < 64; ++i) {
    last = std::max(last, rig.WriteSectors(1000, i * 256, 1).done);
  }
  const Cycle one = SectorRig(machine).WriteSectors(1000, 0, 1).done;
  EXPECT_GE(last, one + 63);
}

TEST(MemorySectors, LinesWithoutThemMoveWhole) {
  MachineConfig machine = Sectored();
  machine.memory.sector_bytes = kLineBytes;
  SectorRig rig(machine);
  rig.Read(0, 0);
  EXPECT_EQ(rig.stats().dram_read_bytes[0], 128u);
}

// All SMs write single sectors to random slices, one per cycle. With a queue at the input the first
// in line holds up the rest: 58.6 % of the ports' capacity for many ports (Karol, Hluchyj and
// Morgan, IEEE Trans. Comm. 1987), 0.655 with four; a crossbar that looks behind it comes close to
// all.
double SharePerSlice(const char* order) {
  MachineConfig machine = Sectored();
  machine.memory.xbar_order = order;
  machine.memory.controllers = 16;
  machine.sms = 16;
  SectorRig rig(machine);
  // Eight lines each in the L2, so that nothing but the ports is slow.
  constexpr unsigned kPackets = 4000;
  std::uint64_t random = 1;
  Cycle last = 0;
  for (unsigned i = 0; i < kPackets; ++i) {
    for (unsigned sm = 0; sm < machine.sms; ++sm) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      last = std::max(last, rig.WriteSectors(i, (random >> 40) % 1024 * kLineBytes, 1, sm).done);
    }
  }
  return static_cast<double>(kPackets) / static_cast<double>(last);
}

TEST(MemoryXbarOrder, AnInputQueueLosesWhatTheoryHasItLose) {
  EXPECT_NEAR(SharePerSlice("fifo"), 0.60, 0.05);
  EXPECT_GT(SharePerSlice("free"), 0.85);
}

TEST(MemoryXbarOrder, ARequestWaitsForTheOneBeforeIt) {
  for (const bool fifo : {false, true}) {
    MachineConfig machine = Sectored();
    machine.memory.xbar_order = fifo ? "fifo" : "free";
    SectorRig rig(machine);
    // A line on another slice than line 0.
    rig.WriteSectors(0, 4 * 256, 1, 2);
    const Cycle alone = rig.WriteSectors(1000, 4 * 256, 1, 2).done - 1000;
    // Twenty SMs' worth of packets for one slice, then this SM's: one for that slice, one not.
    for (unsigned i = 0; i < 20; ++i) rig.WriteSectors(2000, 0, 1, 1);
    rig.WriteSectors(2000, 0, 1, 2);
    const Cycle behind = rig.WriteSectors(2000, 256, 1, 2).done - 2000;
    if (fifo) {
      EXPECT_GT(behind, alone + 15);
    } else {
      EXPECT_LE(behind, alone + 2);
    }
  }
}

TEST(MemoryCalendar, CloseTakesWhatIsFree) {
  Calendar calendar(1024);
  calendar.Take(100, 1);
  calendar.Close(98, 230);
  EXPECT_EQ(calendar.Take(0, 1).begin, 0u);
  EXPECT_EQ(calendar.Take(97, 1).begin, 97u);
  EXPECT_EQ(calendar.Take(97, 1).begin, 230u);
  calendar.Close(300, 300);
  EXPECT_EQ(calendar.Take(300, 1).begin, 300u);
}

}  // namespace
}  // namespace smk
