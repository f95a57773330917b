// SPDX-License-Identifier: Apache-2.0
// Parts of the memory system call each other, and pass payloads to what others have put between:
// both are the same in time.
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

#include "base/error.h"
#include "machine/simulation_context.h"
#include "memory/l2_slice.h"
#include "memory/memory_controller.h"
#include "memory/memory_sockets.h"
#include "model/memory/rig.h"

namespace smk {
namespace {

// Somebody else's part: passes everything on, by b_transport only.
class Monitor : public sc_core::sc_module, public tlm::tlm_fw_transport_if<> {
 public:
  explicit Monitor(sc_core::sc_module_name name) : sc_module(name), in("in"), out("out") {
    in.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
  }
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
    ++seen;
    bytes += payload.get_data_length();
    out->b_transport(payload, delay);
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& /*payload*/,
                                     tlm::tlm_phase& /*phase*/,
                                     sc_core::sc_time& /*delay*/) override {
    return tlm::TLM_COMPLETED;
  }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& /*payload*/, tlm::tlm_dmi& /*dmi*/) override {
    return false;
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& /*payload*/) override { return 0; }

  tlm::tlm_target_socket<> in;
  BlockingSocket out;
  std::uint64_t seen = 0, bytes = 0;
};

struct SliceRun {
  std::vector<Cycle> done;
  std::vector<bool> hits;
  MemoryStats memory;
  std::uint64_t seen = 0, bytes = 0;
};

void Start() {
  sc_core::sc_report_handler::set_actions(sc_core::SC_ID_NO_SC_START_ACTIVITY_,
                                          sc_core::SC_DO_NOTHING);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
}

LineAccess RandomAccess(std::mt19937* random, std::uint64_t lines) {
  LineAccess access;
  access.address = (*random)() % lines * kLineBytes;
  access.kernel = static_cast<KernelId>((*random)() % 4);
  access.sm = static_cast<SmId>((*random)() % 16);
  const unsigned kind = (*random)() % 8;
  access.access = kind < 5   ? MemoryAccess::kLoad
                  : kind < 7 ? MemoryAccess::kStore
                             : MemoryAccess::kAtomic;
  if (kind == 6) access.bytes = 32;
  return access;
}

// A slice and its controller under random requests.
SliceRun RunSlice(bool monitored) {
  SimulationContext context;
  const MachineConfig machine;
  L2Slice slice("slice", machine.memory);
  MemoryController controller("controller", machine, 1);
  Monitor monitor("monitor");
  if (monitored) {
    slice.memory_socket().bind(monitor.in);
    monitor.out.bind(controller.socket(0));
  } else {
    slice.memory_socket().bind(controller.socket(0));
    monitor.out.bind(monitor.in);
  }
  SocketSm sm("sm");
  sm.socket.bind(slice.socket());
  Start();
  SliceRun run;
  std::mt19937 random(1);
  Cycle now = 0;
  for (int i = 0; i < 5000; ++i) {
    now += random() % 4;
    LineAccess access = RandomAccess(&random, 8192);
    run.done.push_back(sm.socket.Serve(&access, now));
    run.hits.push_back(access.l2_hit);
  }
  run.memory = slice.stats();
  run.memory += controller.stats(~Cycle{0});
  run.seen = monitor.seen;
  run.bytes = monitor.bytes;
  return run;
}

TEST(MemorySockets, APartOfSomebodyElseChangesNothing) {
  const SliceRun with = RunSlice(true), without = RunSlice(false);
  EXPECT_EQ(with.done, without.done);
  EXPECT_EQ(with.hits, without.hits);
  const auto sum = [](const SlotCounters& of) {
    return std::accumulate(of.begin(), of.end(), std::uint64_t{0});
  };
  EXPECT_GT(with.seen, 1000u);
  EXPECT_EQ(without.seen, 0u);
  EXPECT_EQ(with.bytes, sum(without.memory.dram_read_bytes) + sum(without.memory.dram_write_bytes));
  EXPECT_EQ(with.memory.row_hits, without.memory.row_hits);
}

// The whole system, with payloads and without.
TEST(MemorySockets, TransportIsServe) {
  std::vector<Cycle> done[2];
  for (const unsigned direct : {0u, 1u}) {
    MemoryRig rig{MachineConfig{}};
    std::mt19937 random(2);
    Cycle now = 0;
    for (int i = 0; i < 5000; ++i) {
      now += random() % 2;
      const LineAccess access = RandomAccess(&random, 100'000);
      if (direct != 0) {
        done[1].push_back(rig.memory().Serve(access, now));
        continue;
      }
      rig.request().Set(access);
      sc_core::sc_time delay = CoreCycles(now);
      rig.memory().Transport(rig.request().payload(), delay);
      EXPECT_EQ(rig.request().payload().get_response_status(), tlm::TLM_OK_RESPONSE);
      EXPECT_EQ(rig.request().payload().get_address(), access.address);
      done[0].push_back(ToCycles(delay));
    }
  }
  EXPECT_EQ(done[0], done[1]);
}

TEST(MemorySockets, ServeRefusesWhatTransportRefuses) {
  MemoryRig rig{MachineConfig{}};
  LineAccess access;
  access.address = 64;
  try {
    rig.memory().Serve(access, 7);
    FAIL();
  } catch (const CheckFailure& failure) {
    EXPECT_STREQ(failure.what(),
                 "cycle 7: SM 0: memory refused a request: TLM_ADDRESS_ERROR_RESPONSE");
  }
}

}  // namespace
}  // namespace smk
