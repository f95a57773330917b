// SPDX-License-Identifier: Apache-2.0
// Many requests at a time: what each shared resource carries, and how it is shared.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "model/memory/rig.h"

namespace smk {
namespace {

constexpr Cycle kCycles = 40000;
constexpr std::uint64_t kRegion = 64 << 20;  // of one SM
// Of the default machine.
constexpr Cycle kHit = 207;      // cycles of a read that hits the L2
constexpr Cycle kLineFlits = 3;  // of a line in the crossbar, one per cycle

// Bytes per cycle that 16 SMs with `in_flight` lines in flight each get.
double Measure(const MachineConfig& machine,
               const std::function<Cycle(MemoryRig&, unsigned, Cycle)>& send,
               unsigned in_flight = 64) {
  MemoryRig rig(machine);
  ClosedLoop loop(machine.sms, in_flight);
  loop.Run(0, kCycles, [&](unsigned sm, Cycle now) { return send(rig, sm, now); });
  return static_cast<double>(loop.total()) * kLineBytes / kCycles;
}

// Each SM reads, or with `writes` of 4 accesses writes, its own region from end to end.
double Stream(const MachineConfig& machine, unsigned writes, unsigned in_flight = 64) {
  std::vector<std::uint64_t> next(machine.sms);
  const auto send = [&](MemoryRig& rig, unsigned sm, Cycle now) {
    const std::uint64_t address = sm * kRegion + next[sm] * kLineBytes;
    const bool write = next[sm]++ % 4 < writes;
    return write ? rig.Write(now, address, sm).done : rig.Read(now, address, sm).done;
  };
  return Measure(machine, send, in_flight);
}

double RandomRows(const MachineConfig& machine) {
  std::mt19937_64 random(1);
  return Measure(machine, [&](MemoryRig& rig, unsigned sm, Cycle now) {
    return rig.Read(now, random() % (std::uint64_t{1} << 34) / kLineBytes * kLineBytes, sm).done;
  });
}

TEST(MemoryBandwidth, StreamingReadsReachThreeQuartersOfThePeakAndNeverTheWhole) {
  const MachineConfig machine;
  const double share = Stream(machine, 0) / PeakDramBytes(machine);
  EXPECT_GT(share, 0.75);
  EXPECT_LT(share, 0.95) << "refresh alone takes 5.1 %";
}

TEST(MemoryBandwidth, TheMissesOfTheL1sAreEnoughToStream) {
  const MachineConfig machine;
  const double share = Stream(machine, 0, machine.sm.l1.mshrs) / PeakDramBytes(machine);
  EXPECT_GT(share, 0.75);
  EXPECT_LT(share, 0.95);
}

TEST(MemoryBandwidth, SlicesOfTheDefaultMachineCarryALittleLessThanDram) {
  // Lines of three flits through four ports: 92.6 % of the DRAM's peak.
  const MachineConfig machine;
  const double ports = 4 * kLineBytes / 3.0;
  EXPECT_NEAR(ports / PeakDramBytes(machine), 0.9265, 0.0005);
  EXPECT_LT(Stream(machine, 0), ports);
  EXPECT_GT(Stream(machine, 0), 0.9 * ports);
}

TEST(MemoryBandwidth, PeakIs224GigabytesPerSecond) {
  const MachineConfig machine;
  EXPECT_NEAR(PeakDramBytes(machine) / 4, 46.05, 0.01) << "bytes per core cycle and controller";
  EXPECT_NEAR(PeakDramBytes(machine) * machine.core_clock_mhz * 1e6, 224e9, 1);
}

// What SMs have asked for is planned at once, and moved later.
TEST(MemoryBandwidth, BytesAreCountedWhenTheyAreMoved) {
  const MachineConfig machine;
  MemoryRig rig(machine);
  constexpr unsigned kLines = 8000;
  Cycle last = 0;
  for (unsigned i = 0; i < kLines; ++i) {
    last = std::max(last, rig.Read(i / 16, i * kLineBytes, i % 16).done);
  }
  std::uint64_t before = 0;
  for (const Cycle now : {300u, 500u, 1000u, 3000u}) {
    const std::uint64_t bytes = rig.memory().stats(now).dram_read_bytes[0];
    EXPECT_GT(bytes, before) << now;
    EXPECT_LT(static_cast<double>(bytes), PeakDramBytes(machine) * static_cast<double>(now)) << now;
    before = bytes;
  }
  EXPECT_EQ(rig.memory().stats(last).dram_read_bytes[0], kLines * kLineBytes);
  EXPECT_EQ(rig.stats().dram_read_bytes[0], kLines * kLineBytes);
}

// Those of the write buffer when it takes them.
TEST(MemoryBandwidth, WrittenBytesAreCountedWhenTheyAreBuffered) {
  const MachineConfig machine;
  MemoryRig rig(machine);
  const std::uint64_t lines = machine.memory.l2.bytes * 4 / kLineBytes;
  Cycle last = 0;
  for (std::uint64_t i = 0; i < 2 * lines; ++i) {
    last = std::max(last, rig.Write(i / 16, i * kLineBytes, i % 16).done);
  }
  const std::uint64_t all = rig.stats().dram_write_bytes[0];
  EXPECT_GT(rig.memory().stats(last).dram_write_bytes[0], all / 10 * 9);
  EXPECT_LT(rig.memory().stats(last / 2).dram_write_bytes[0], all);
}

TEST(MemoryBandwidth, OneSharedStreamIsAsFast) {
  const MachineConfig machine;
  std::uint64_t next = 0;
  const double bytes = Measure(machine, [&](MemoryRig& rig, unsigned sm, Cycle now) {
    return rig.Read(now, next++ * kLineBytes, sm).done;
  });
  EXPECT_GT(bytes / PeakDramBytes(machine), 0.75);
  EXPECT_LT(bytes / PeakDramBytes(machine), 0.95);
}

TEST(MemoryBandwidth, WritesAmongReadsCostTurnarounds) {
  const MachineConfig machine;
  const double reads = Stream(machine, 0);
  // Written lines reach DRAM when they are replaced, so the region must be beyond the L2.
  MemoryRig rig(machine);
  ClosedLoop loop(machine.sms, 64);
  std::vector<std::uint64_t> next(machine.sms);
  loop.Run(0, 4 * kCycles, [&](unsigned sm, Cycle now) {
    const std::uint64_t address = sm * kRegion + next[sm] * kLineBytes;
    return next[sm]++ % 2 == 0 ? rig.Write(now, address, sm).done : rig.Read(now, address, sm).done;
  });
  const MemoryStats stats = rig.stats();
  const double mixed =
      static_cast<double>(stats.dram_read_bytes[0] + stats.dram_write_bytes[0]) / (4 * kCycles);
  EXPECT_GT(stats.dram_write_bytes[0], stats.dram_read_bytes[0] / 2);
  EXPECT_LT(mixed, 0.95 * reads);
  EXPECT_GT(mixed, 0.5 * reads);
}

TEST(MemoryBandwidth, WritesAloneAreHeldBackToWhatDramTakes) {
  const MachineConfig machine;
  MemoryRig rig(machine);
  ClosedLoop loop(machine.sms, 64);
  std::vector<std::uint64_t> next(machine.sms);
  loop.Run(0, 4 * kCycles, [&](unsigned sm, Cycle now) {
    return rig.Write(now, sm * kRegion + next[sm]++ * kLineBytes, sm).done;
  });
  const double accepted =
      static_cast<double>(loop.total() * kLineBytes - (2 << 20)) / (4 * kCycles);
  EXPECT_LT(accepted, PeakDramBytes(machine));
  EXPECT_GT(accepted, 0.5 * PeakDramBytes(machine));
}

TEST(MemoryBandwidth, RandomRowsAreLimitedByBanks) {
  MachineConfig machine;
  machine.memory.banks = 4;
  const double lines_per_clock = 4.0 / machine.memory.t_rc * machine.memory.controllers;
  const double limit =
      lines_per_clock * kLineBytes * machine.memory.dram_clock_mhz / machine.core_clock_mhz;
  const double bytes = RandomRows(machine);
  EXPECT_LT(bytes, 1.01 * limit);
  EXPECT_GT(bytes, 0.85 * limit);
}

TEST(MemoryBandwidth, RandomRowsAreLimitedByActivations) {
  MachineConfig machine;
  machine.memory.banks = 64;
  machine.memory.t_rrd = 10;
  const double limit =
      4 * kLineBytes / 10.0 * machine.memory.dram_clock_mhz / machine.core_clock_mhz;
  const double bytes = RandomRows(machine);
  EXPECT_LT(bytes, 1.01 * limit);
  EXPECT_GT(bytes, 0.85 * limit);
}

TEST(MemoryBandwidth, OneSmGetsNoMoreThanItsPort) {
  MachineConfig machine;
  machine.sms = 1;
  MemoryRig rig(machine);
  for (unsigned line = 0; line < 1024; ++line) rig.Read(10 * line, line * kLineBytes);
  ClosedLoop loop(1, 128);
  unsigned next = 0;
  loop.Run(kCycles, 2 * kCycles, [&](unsigned sm, Cycle now) {
    return rig.Read(now, next++ % 1024 * kLineBytes, sm).done;
  });
  EXPECT_EQ(loop.total(), 1 + (kCycles - 1 - kHit) / kLineFlits);
}

TEST(MemoryBandwidth, SmsShareOneSliceEqually) {
  const MachineConfig machine;
  MemoryRig rig(machine);
  ClosedLoop loop(machine.sms, 16);
  rig.Read(0, 0);
  loop.Run(kCycles, 2 * kCycles, [&](unsigned sm, Cycle now) { return rig.Read(now, 0, sm).done; });
  const auto& completed = loop.completed();
  const auto [least, most] = std::minmax_element(completed.begin(), completed.end());
  EXPECT_GE(*least + 1, *most);
  EXPECT_EQ(loop.total(), 1 + (kCycles - 1 - kHit) / kLineFlits);
}

TEST(MemoryBandwidth, SmsShareDramEqually) {
  const MachineConfig machine;
  MemoryRig rig(machine);
  ClosedLoop loop(machine.sms, 64);
  std::vector<std::uint64_t> next(machine.sms);
  loop.Run(0, kCycles, [&](unsigned sm, Cycle now) {
    return rig.Read(now, sm * kRegion + next[sm]++ * kLineBytes, sm).done;
  });
  const auto& completed = loop.completed();
  const auto [least, most] = std::minmax_element(completed.begin(), completed.end());
  EXPECT_GT(*least, 0.95 * static_cast<double>(*most));
}

TEST(MemoryBandwidth, HitsDoNotWaitBehindMisses) {
  // Replies of misses are reserved hundreds of cycles ahead; those of hits fit in before them.
  MemoryRig rig{MachineConfig{}};
  rig.Read(0, 0);
  for (unsigned line = 1; line <= 30; ++line) rig.Read(5000, line * 4096);
  EXPECT_LE(rig.Read(5000, 0).done - 5000, kHit + 30);
}

TEST(MemoryBandwidth, ArrivalOutOfOrderLosesNoBandwidth) {
  const MachineConfig machine;
  // The last completion of as many requests as the DRAM takes in 20,000 cycles, sent at their rate,
  // in order or shuffled within `reach`.
  auto last = [&](unsigned reach) {
    MemoryRig rig(machine);
    std::mt19937 random(1);
    const double gap = kLineBytes / (0.9 * PeakDramBytes(machine));
    std::vector<std::pair<Cycle, std::uint64_t>> requests;
    for (std::uint64_t line = 0; line * gap < 20000; ++line) {
      requests.emplace_back(1000 + static_cast<Cycle>(static_cast<double>(line) * gap), line);
    }
    for (std::size_t i = 0; reach != 0 && i + reach <= requests.size(); i += reach) {
      std::shuffle(&requests[i], &requests[i] + reach, random);
    }
    Cycle done = 0;
    for (const auto& [now, line] : requests) {
      done = std::max(done, rig.Read(now, line * kLineBytes, line % 16).done);
    }
    return static_cast<double>(done - 1000);
  };
  const double in_order = last(0);
  EXPECT_LT(last(16), 1.02 * in_order);
  EXPECT_LT(last(64), 1.02 * in_order);
}

TEST(MemoryBandwidth, StreamsThatShareBanksKeepTheirRows) {
  // Two streams, one bank each per controller row, always in conflict with each other: FR-FCFS
  // serves several lines of a row before it goes to the other; in order, every access would be a
  // row miss.
  MachineConfig machine;
  machine.memory.controllers = 1;
  machine.memory.banks = 1;
  machine.memory.l2_slices_per_controller = 1;
  MemoryRig rig(machine);
  ClosedLoop loop(2, 32);
  std::vector<std::uint64_t> next(2);
  loop.Run(0, kCycles, [&](unsigned sm, Cycle now) {
    return rig.Read(now, sm * kRegion + next[sm]++ * kLineBytes, sm).done;
  });
  const MemoryStats stats = rig.stats();
  const auto hits = static_cast<double>(stats.row_hits);
  EXPECT_GT(hits / (hits + static_cast<double>(stats.row_misses)), 0.75);
}

TEST(MemoryBandwidth, ContextTrafficTakesItsShareOfDram) {
  const MachineConfig machine;
  const double alone = Stream(machine, 0);
  std::vector<std::uint64_t> next(machine.sms);
  const double both = Measure(machine, [&](MemoryRig& rig, unsigned sm, Cycle now) {
    const std::uint64_t address = sm * kRegion + next[sm]++ * kLineBytes;
    return sm < 8 ? rig.ReadContext(now, address, sm).done : rig.Read(now, address, sm).done;
  });
  EXPECT_NEAR(both / alone, 1, 0.05) << "the same DRAM, however it is reached";
}

TEST(MemoryDeterminism, TheSameRequestsGiveTheSameAnswers) {
  auto hash = [] {
    MemoryRig rig{MachineConfig{}};
    std::mt19937_64 random(7);
    std::uint64_t sum = 0;
    for (Cycle now = 0; now < 20000; ++now) {
      const std::uint64_t r = random();
      const std::uint64_t address = (r >> 8) % (8 << 20) / kLineBytes * kLineBytes;
      const unsigned sm = r % 16;
      const unsigned what = (r >> 4) % 8;
      const Cycle done = what == 0   ? rig.Write(now, address, sm).done
                         : what == 1 ? rig.Atomic(now, address, sm).done
                         : what == 2 ? rig.WriteContext(now, address, sm).done
                                     : rig.Read(now, address, sm).done;
      EXPECT_GT(done, now);
      sum = sum * 1000003 + done;
    }
    return sum;
  };
  EXPECT_EQ(hash(), hash());
}

}  // namespace
}  // namespace smk
