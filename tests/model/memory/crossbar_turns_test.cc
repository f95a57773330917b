// SPDX-License-Identifier: Apache-2.0
// The crossbar with memory.xbar_order `turns`: beside `fifo`, beside a crossbar of the test's own,
// and in whole runs.
//
// Where the warps of all SMs gather the same lines, a port that serves in the order of arrival
// keeps the SMs in step, one behind the other. One that serves them in turn lets them drift apart,
// and then heads of queues wait for each other as with random traffic.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "control/reference_control.h"
#include "host/simulation.h"
#include "machine/control_config.h"
#include "machine/statistics.h"
#include "memory/address_map.h"
#include "memory/turn_queues.h"
#include "model/memory/rig.h"
#include "model/micro.h"

namespace smk {
namespace {

constexpr unsigned kSms = 16;
constexpr unsigned kLines = 256;
constexpr unsigned kGathered = 32;    // by one load
constexpr unsigned kWarps = 8;        // that gather the same, one after the other
constexpr unsigned kRequests = 8192;  // of each SM
constexpr unsigned kInFlight = 256;   // of each SM

MachineConfig Machine(const char* order = "turns") {
  MachineConfig machine;
  machine.sms = kSms;
  machine.sm.l1.bytes = 0;
  machine.sm.texture.bytes = 0;
  machine.sm.lsu_bytes = 32;
  MemoryConfig& memory = machine.memory;
  memory.sector_bytes = 32;
  memory.xbar_bytes_per_cycle = 40;
  memory.xbar_latency = 8;
  memory.l2_bytes_per_cycle = 32;
  memory.controllers = 8;
  memory.l2_slices_per_controller = 2;
  memory.partition = "drawn";
  memory.writes = "acknowledged";
  memory.xbar_order = order;
  return machine;
}

// A memory system whose SMs ask and hear.
class TurnRig : public MemoryRig, private MemoryListener {
 public:
  explicit TurnRig(const MachineConfig& machine) : MemoryRig(machine), answered(machine.sms) {}

  unsigned Ask(Cycle now, MemoryAccess access, std::uint64_t address, SectorMask sectors = 1,
               unsigned sm = 0) {
    return memory().Ask(SmId(sm), KernelId{0}, access, {address, sectors}, 7, now);
  }
  bool Full(unsigned sm) { return memory().Full(SmId(sm)); }
  void Step(Cycle now) {
    if (memory().NextTurn() <= now) memory().TakeTurns(now, this);
  }
  // Asks and waits: the cycles until all answers are there.
  Cycle Alone(Cycle now, MemoryAccess access, std::uint64_t address, SectorMask sectors = 1) {
    const Cycle begin = now;
    const unsigned before = answered[0];
    for (const unsigned all = before + Ask(now, access, address, sectors); answered[0] != all;) {
      Step(now++);
    }
    return last - begin;
  }

  std::vector<unsigned> answered;  // by SM
  Cycle last = 0;

 private:
  void OnAnswer(SmId sm, Ticket ticket, Cycle done) override {
    EXPECT_EQ(ticket, 7u);
    ++answered[Index(sm)];
    last = std::max(last, done);
  }
};

// Without others to wait for, the orders are the same.
TEST(CrossbarTurns, ARequestAloneTakesAsLongAsInAnyOrder) {
  TurnRig turns(Machine());
  MemoryRig fifo(Machine("fifo"));
  fifo.request().extension().sectors = 1;
  EXPECT_EQ(turns.Alone(0, MemoryAccess::kLoad, 0), fifo.Read(0, 0, 0, kSectorBytes).done);
  EXPECT_EQ(turns.Alone(5000, MemoryAccess::kLoad, 0),
            fifo.Read(5000, 0, 0, kSectorBytes).done - 5000)
      << "a hit";
  EXPECT_EQ(turns.Alone(9000, MemoryAccess::kStore, 0),
            fifo.Write(9000, 0, 0, kSectorBytes).done - 9000);
  EXPECT_EQ(turns.stats().dram_read_bytes[0], fifo.stats().dram_read_bytes[0]);
}

TEST(CrossbarTurns, EachSectorIsAPacket) {
  TurnRig rig(Machine());
  const Cycle one = rig.Alone(0, MemoryAccess::kContextLoad, 1 << 20, 1);
  EXPECT_EQ(rig.Ask(9000, MemoryAccess::kLoad, 0, 0b1011), 3u);
  TurnRig lines(Machine());
  EXPECT_EQ(lines.Alone(0, MemoryAccess::kContextLoad, 1 << 20, 15) >= one + 3, true);
  EXPECT_EQ(lines.stats().context_bytes[0], 128u);
  MachineConfig whole = Machine();
  whole.memory.sector_bytes = kLineBytes;
  TurnRig packets(whole);
  EXPECT_EQ(packets.Ask(0, MemoryAccess::kLoad, 0, 0b1011), 1u);
}

// A line without sectors is stored with those that are touched.
TEST(CrossbarTurns, WithoutSectorsAStoreTakesTheBytesThatItTouches) {
  MachineConfig machine = Machine();
  machine.memory.sector_bytes = kLineBytes;
  machine.memory.l2_write_miss = "fetch";
  TurnRig rig(machine);
  rig.Alone(0, MemoryAccess::kStore, 0, 0b0100);
  EXPECT_EQ(rig.stats().dram_write_bytes[0], kSectorBytes);
  rig.Alone(50000, MemoryAccess::kStore, 1 << 20, kAllSectors);
  EXPECT_EQ(rig.stats().dram_write_bytes[0], kSectorBytes + kLineBytes);
}

// What has passed the crossbar and is not answered has a place in the slice. When DRAM cannot keep
// up, requests wait in front of it, and the SMs for them.
TEST(CrossbarTurns, ASliceHasRoomForSoManyRequests) {
  TurnRig rig(Machine());
  std::vector<unsigned> sent(kSms, 0);
  Cycle now = 0;
  const auto of_slices = kSms * TurnQueues::kInSlice;
  const auto of_queues = 2 * kSms * TurnQueues::kQueue;  // of SMs, and of the slices' replies
  unsigned most = 0;
  for (; now < 20000; ++now) {
    for (unsigned sm = 0; sm < kSms; ++sm) {
      if (rig.Full(sm)) continue;
      rig.Ask(now, MemoryAccess::kLoad, (std::uint64_t{sent[sm]++} * kSms + sm) * kLineBytes, 1,
              sm);
    }
    rig.Step(now);
    unsigned asked = 0, answered = 0;
    for (unsigned sm = 0; sm < kSms; ++sm) asked += sent[sm], answered += rig.answered[sm];
    most = std::max(most, asked - answered);
  }
  EXPECT_GT(most, of_slices / 2);
  EXPECT_LE(most, of_slices + of_queues);
}

// The line of an SM's i-th request.
std::uint64_t LineOf(unsigned i) {
  return i / (kGathered * kWarps) * kGathered % kLines + i % kGathered;
}

// Cycles that all SMs need for their requests on the machine's crossbar.
Cycle InTurn() {
  TurnRig rig(Machine());
  Cycle now = 0;
  for (std::uint64_t line = 0; line < kLines; ++line) {
    now += rig.Alone(now, MemoryAccess::kLoad, line * kLineBytes);
  }
  const Cycle begin = now;
  std::vector<unsigned> sent(kSms, 0);
  rig.answered.assign(kSms, 0);
  for (; *std::min_element(rig.answered.begin(), rig.answered.end()) != kRequests; ++now) {
    for (unsigned sm = 0; sm < kSms; ++sm) {
      if (sent[sm] == kRequests || sent[sm] >= rig.answered[sm] + kInFlight) continue;
      rig.Ask(now, MemoryAccess::kLoad, LineOf(sent[sm]++) * kLineBytes, 1, sm);
    }
    rig.Step(now);
  }
  return now - begin;
}

// The same in the order of arrival.
Cycle InOrderOfArrival() {
  MemoryRig rig(Machine("fifo"));
  rig.request().extension().sectors = 1;
  Cycle now = 0;
  for (unsigned line = 0; line < kLines; ++line) {
    now = rig.Read(now, std::uint64_t{line} * kLineBytes, 0, kSectorBytes).done;
  }
  const Cycle begin = now;
  std::vector<std::vector<Cycle>> done(kSms);
  Cycle last = begin;
  for (std::vector<unsigned> sent(kSms, 0); sent.back() < kRequests; ++now) {
    for (unsigned sm = 0; sm < kSms; ++sm) {
      const unsigned i = sent[sm];
      if (i == kRequests || (i >= kInFlight && done[sm][i - kInFlight] > now)) continue;
      done[sm].push_back(rig.Read(now, LineOf(i) * kLineBytes, sm, kSectorBytes).done);
      last = std::max(last, done[sm].back());
      ++sent[sm];
    }
  }
  return last - begin;
}

// One direction of a crossbar, written down once more: each output that a head asks for looks for
// the first such input above the one behind that it granted last, and then from the lowest.
class Reference {
 public:
  explicit Reference(unsigned latency) : latency_(latency) {}
  void Push(unsigned input, unsigned output, Cycle ready) {
    queue_[input].push_back({ready, output});
  }
  // What arrives in this cycle: inputs and outputs.
  std::vector<std::pair<unsigned, unsigned>> Step(Cycle now) {
    std::map<unsigned, std::set<unsigned>> asked;
    for (unsigned input = 0; input < kSms; ++input) {
      const auto& queue = queue_[input];
      if (!queue.empty() && queue.front().first <= now) asked[queue.front().second].insert(input);
    }
    for (const auto& [output, inputs] : asked) {
      auto found = inputs.upper_bound(next_[output]);
      if (found == inputs.end()) found = inputs.begin();
      queue_[*found].pop_front();
      under_way_.push_back({now + 1 + latency_, {*found, output}});
      next_[output] = *found + 1;
    }
    std::vector<std::pair<unsigned, unsigned>> arrived;
    for (; !under_way_.empty() && under_way_.front().first <= now; under_way_.pop_front()) {
      arrived.push_back(under_way_.front().second);
    }
    return arrived;
  }

 private:
  unsigned latency_;
  std::vector<std::deque<std::pair<Cycle, unsigned>>> queue_{kSms};
  std::vector<unsigned> next_ = std::vector<unsigned>(kSms, 0);
  std::deque<std::pair<Cycle, std::pair<unsigned, unsigned>>> under_way_;
};

Cycle InTurnByReference() {
  const MachineConfig machine = Machine();
  DrawnMap map(machine.memory);
  std::vector<unsigned> slices;
  for (std::uint64_t line = 0; line < kLines; ++line) {
    slices.push_back(map.Locate(line * kLineBytes).slice);
  }
  Reference requests(machine.memory.xbar_latency), replies(machine.memory.xbar_latency);
  std::vector<unsigned> sent(kSms, 0), got(kSms, 0);
  Cycle now = 0;
  for (unsigned all = 0; all < kSms * kRequests; ++now) {
    for (unsigned sm = 0; sm < kSms; ++sm) {
      if (sent[sm] == kRequests || sent[sm] >= got[sm] + kInFlight) continue;
      requests.Push(sm, slices[LineOf(sent[sm]++)], now);
    }
    for (const auto& [sm, slice] : requests.Step(now)) {
      replies.Push(slice, sm, now + machine.memory.l2.latency);
    }
    for (const auto& [slice, sm] : replies.Step(now)) {
      ++got[sm];
      ++all;
    }
  }
  return now;
}

TEST(CrossbarTurns, GathersInStepTakeWhatACrossbarWrittenDownOnceMoreTakes) {
  const auto turns = static_cast<double>(InTurn());
  const auto reference = static_cast<double>(InTurnByReference());
  const auto arrival = static_cast<double>(InOrderOfArrival());
  EXPECT_NEAR(turns / reference, 1, 0.03);
  EXPECT_GT(turns / arrival, 1.25) << "serving in turn costs a third of the throughput";
  EXPECT_LT(turns / arrival, 1.7);
}

// Whole runs: kernels that load, store and are preempted.
RunResult RunPair(Cycle cycles, bool timeline = false) {
  RunRequest request;
  request.machine = Machine();
  request.machine.sms = 2;
  request.cycles = cycles;
  request.policy.dispatch = DispatchMode::kSpatial;
  request.record_timeline = timeline;
  request.timeline_step = 1;  // no cycle is jumped over
  request.timeline_to = kNever;
  request.record_tbs = true;
  for (const char* name : {"first", "second"}) {
    MicroKernel kernel;
    kernel.name = name;
    kernel.threads = 128;
    kernel.tbs = 12;
    kernel.Loop(60);
    kernel.Load(1, {}, MicroKernel::kNewLine);
    kernel.Op(OpClass::kAlu, 2, {1});
    kernel.Store({2});
    kernel.End();
    request.jobs.push_back({kernel.Build(), request.jobs.empty() ? Cycle{0} : Cycle{3000}, true});
  }
  return RunSimulation(request,
                       MakeReferenceControl(ControlConfigOf(request.machine), request.policy));
}

std::vector<std::uint64_t> Numbers(const RunResult& result) {
  std::vector<std::uint64_t> numbers{result.cycles};
  for (const KernelStats& kernel : result.kernels) {
    for (const KernelCounter& counter : KernelCounters()) numbers.push_back(kernel.*counter.value);
  }
  for (const TbRecord& tb : result.tbs) {
    numbers.push_back(tb.start);
    numbers.push_back(tb.end);
  }
  return numbers;
}

TEST(CrossbarTurns, ContextsMoveInTurnToo) {
  const RunResult result = RunPair(60000);
  ASSERT_EQ(result.kernels.size(), 2u);
  EXPECT_GT(result.kernels[0].preemptions, 0u);
  EXPECT_GT(result.kernels[0].context_bytes, 0u);
  for (const KernelStats& kernel : result.kernels) EXPECT_GT(kernel.tbs_completed, 0u);
}

TEST(CrossbarTurns, ARunIsTheSameAgainAndWhenNoCycleIsJumpedOver) {
  const std::vector<std::uint64_t> once = Numbers(RunPair(20000));
  EXPECT_EQ(Numbers(RunPair(20000)), once);
  EXPECT_EQ(Numbers(RunPair(20000, true)), once);
}

}  // namespace
}  // namespace smk
