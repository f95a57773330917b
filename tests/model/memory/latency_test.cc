// SPDX-License-Identifier: Apache-2.0
// One request at a time: every latency is the sum of what is configured, to the cycle.
#include <gtest/gtest.h>

#include "model/memory/rig.h"

namespace smk {
namespace {

// One controller with one bank, DRAM and core at the same clock, so that sums have no rounding.
MachineConfig OneBank() {
  MachineConfig machine;
  machine.core_clock_mhz = machine.memory.dram_clock_mhz = 1000;
  machine.memory.controllers = 1;
  machine.memory.l2_slices_per_controller = 1;
  machine.memory.banks = 1;
  machine.memory.t_rfc = 0;  // no refresh comes between
  return machine;
}

// Parts of the way.
Cycle Flits(const MachineConfig& m, unsigned bytes = kLineBytes) {
  return (bytes + m.memory.xbar_bytes_per_cycle - 1) / m.memory.xbar_bytes_per_cycle;
}
Cycle RequestWay(const MachineConfig& m) { return 1 + m.memory.xbar_latency; }
Cycle ReplyWay(const MachineConfig& m) { return m.memory.xbar_latency + Flits(m); }
Cycle Burst() { return 4; }

TEST(MemoryLatency, L2HitIsTheSumOfItsParts) {
  for (const unsigned latency : {1u, 131u, 200u}) {
    MachineConfig machine;
    machine.memory.l2.latency = latency;
    machine.memory.xbar_latency = latency / 3 + 1;
    MemoryRig rig(machine);
    rig.Read(0, 0);
    const MemoryRig::Answer answer = rig.Read(5000, 0);
    EXPECT_TRUE(answer.l2_hit);
    EXPECT_EQ(answer.done - 5000, RequestWay(machine) + latency + ReplyWay(machine));
  }
}

TEST(MemoryLatency, LineHasAsManyFlitsAsItFills) {
  MachineConfig machine;
  Cycle last = 0;
  for (const auto& [bytes, flits] :
       {std::pair{128u, 1u}, {127u, 2u}, {64u, 2u}, {48u, 3u}, {43u, 3u}, {42u, 4u}, {32u, 4u}}) {
    machine.memory.xbar_bytes_per_cycle = bytes;
    MemoryRig rig(machine);
    rig.Read(0, 0);
    const Cycle done = rig.Read(5000, 0).done - flits;
    EXPECT_EQ(done, last == 0 ? done : last) << bytes;
    last = done;
  }
}

TEST(MemoryLatency, Gtx980IsWhatWasMeasuredOnTheRealOne) {
  MemoryRig rig{MachineConfig{}};
  EXPECT_NEAR(static_cast<double>(rig.Read(1000, 0).done - 1000), 370, 5);
  EXPECT_EQ(rig.Read(3000, 0).done - 3000, 207u);
}

TEST(MemoryLatency, DramAddsActivationColumnAndBurst) {
  const MachineConfig machine = OneBank();
  const MemoryConfig& t = machine.memory;
  const Cycle path =
      RequestWay(machine) + t.l2.latency + Burst() + t.t_cl + t.dram_latency + ReplyWay(machine);
  MemoryRig rig(machine);
  // Request times are such that column commands fall on the bus's slots of tCCD.
  EXPECT_EQ(rig.Read(1000, 0).done - 1000, path + t.t_rcd) << "closed bank";
  EXPECT_EQ(rig.Read(2000, 128).done - 2000, path) << "open row";
  EXPECT_EQ(rig.Read(3000, 1 << 20).done - 3000, path + t.t_rp + t.t_rcd) << "other row";
  EXPECT_EQ(rig.stats().row_hits, 1u);
  EXPECT_EQ(rig.stats().row_misses, 2u);
}

TEST(MemoryLatency, RowsOfOneBankAreTrcApart) {
  for (const unsigned t_rc : {40u, 60u}) {
    MachineConfig machine = OneBank();
    machine.memory.t_rc = t_rc;
    MemoryRig rig(machine);
    const Cycle first = rig.Read(1001, 0, 0).done;
    const Cycle second = rig.Read(1001, 1 << 20, 1).done;
    EXPECT_EQ(second - first, t_rc);
  }
}

TEST(MemoryLatency, PrechargeWaitsForTras) {
  MachineConfig machine = OneBank();
  machine.memory.t_ras = 50;
  machine.memory.t_rc = 50;
  MemoryRig rig(machine);
  const Cycle first = rig.Read(1001, 0, 0).done;
  EXPECT_EQ(rig.Read(1001, 1 << 20, 1).done - first, 50u + machine.memory.t_rp);
}

TEST(MemoryLatency, ActivationsOfOneChannelAreTrrdApart) {
  MachineConfig machine = OneBank();
  machine.memory.banks = 16;
  MemoryRig rig(machine);
  const Cycle first = rig.Read(1001, 0, 0).done;
  EXPECT_EQ(rig.Read(1001, 2048, 1).done - first, machine.memory.t_rrd);
}

TEST(MemoryLatency, TransfersOfOneChannelAreABurstApart) {
  MemoryRig rig(OneBank());
  rig.Read(1001, 0, 0);
  const Cycle first = rig.Read(2001, 128, 0).done;
  EXPECT_EQ(rig.Read(2001, 256, 1).done - first, Burst());
}

TEST(MemoryLatency, WriteIsAcceptedAtTheSlice) {
  const MachineConfig machine = OneBank();
  MemoryRig rig(machine);
  // Header and data through the port, and two passes of 64 bytes into the array.
  EXPECT_EQ(rig.Write(1001, 0).done - 1001, 1 + Flits(machine) + machine.memory.xbar_latency + 2);
  EXPECT_EQ(rig.Write(2001, 4096, 0, 32).done - 2001,
            1 + Flits(machine, 32) + machine.memory.xbar_latency + 1);
}

TEST(MemoryLatency, AtomicCarriesDataBothWays) {
  const MachineConfig machine = OneBank();
  MemoryRig rig(machine);
  rig.Read(1001, 0);
  EXPECT_EQ(rig.Atomic(3001, 0).done - 3001,
            RequestWay(machine) + Flits(machine) + machine.memory.l2.latency + ReplyWay(machine));
}

TEST(MemoryLatency, ContextReadsSkipTheL2) {
  const MachineConfig machine = OneBank();
  const MemoryConfig& t = machine.memory;
  MemoryRig rig(machine);
  EXPECT_EQ(rig.ReadContext(1001, 0).done - 1001,
            RequestWay(machine) + t.t_rcd + Burst() + t.t_cl + t.dram_latency + ReplyWay(machine));
  EXPECT_EQ(rig.WriteContext(2001, 128).done - 2001, RequestWay(machine) + Flits(machine));
}

TEST(MemoryLatency, TimeStartsAtSystemCsTime) {
  MemoryRig rig{MachineConfig{}};
  rig.Read(0, 0);
  sc_core::sc_start(CoreCycles(5000));
  EXPECT_EQ(rig.Read(0, 0).done, 207u) << "delay is relative to sc_time_stamp()";
}

TEST(MemoryContract, BrokenRequestsAreRefusedWithoutEffect) {
  MemoryRig rig{MachineConfig{}};
  EXPECT_EQ(rig.Read(0, 64).status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(rig.Read(0, std::uint64_t{1} << 60).status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(rig.Read(0, 0, 0, 0).status, tlm::TLM_BURST_ERROR_RESPONSE);
  EXPECT_EQ(rig.Read(0, 0, 0, 129).status, tlm::TLM_BURST_ERROR_RESPONSE);
  EXPECT_EQ(rig.Read(0, 0, 16).status, tlm::TLM_GENERIC_ERROR_RESPONSE);
  rig.request().payload().set_command(tlm::TLM_IGNORE_COMMAND);
  EXPECT_EQ(rig.Send(0, 0, MemoryKind::kDemand, false).status, tlm::TLM_COMMAND_ERROR_RESPONSE);
  EXPECT_EQ(rig.stats().l2_accesses[0], 0u);
  EXPECT_EQ(rig.Read(0, 0).status, tlm::TLM_OK_RESPONSE);
}

TEST(MemoryContract, AddressOfThePayloadIsRestored) {
  MemoryRig rig{MachineConfig{}};
  rig.Read(0, 0x12345680);
  EXPECT_EQ(rig.request().payload().get_address(), 0x12345680u);
}

TEST(MemoryContract, SocketsAndTransportAreTheSame) {
  SimulationContext context;
  MemorySystem memory("memory", MachineConfig{});
  SocketSm sm("sm");
  sm.socket.bind(memory.sm_socket(SmId(3)));
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  MemoryTransaction request;
  request.extension().sm = SmId(3);
  request.SetRead(0);
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  sm.socket->b_transport(request.payload(), delay);
  MemoryRig rig{MachineConfig{}};
  EXPECT_EQ(ToCycles(delay), rig.Read(0, 0, 3).done);
}

}  // namespace
}  // namespace smk
