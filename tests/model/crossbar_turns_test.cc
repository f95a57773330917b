// SPDX-License-Identifier: Apache-2.0
// Why gathers of the same lines by all SMs are faster here than in Accel-Sim [D26]: an experiment.
//
// The warps of all SMs gather the same lines: 32 of them eight times, then the next 32. A port that
// serves in the order of arrival keeps the SMs in step, one behind the other; one that serves them
// in turn lets them drift apart, and then heads of queues wait for each other as with random
// traffic.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <utility>
#include <vector>

#include "memory/address_map.h"
#include "model/memory_rig.h"

namespace smk {
namespace {

constexpr unsigned kSms = 16;
constexpr unsigned kLines = 256;
constexpr unsigned kGathered = 32;     // by one load
constexpr unsigned kWarps = 8;         // that gather the same, one after the other
constexpr unsigned kRequests = 16384;  // of each SM
constexpr unsigned kInFlight = 512;    // of each SM
constexpr unsigned kHidden = 64;       // cycles from the grant to the data; hidden by kInFlight

MachineConfig Machine() {
  MachineConfig machine;
  machine.sms = kSms;
  machine.memory.sector_bytes = 32;
  machine.memory.xbar_bytes_per_cycle = 40;
  machine.memory.l2_bytes_per_cycle = 32;
  machine.memory.controllers = 8;
  machine.memory.l2_slices_per_controller = 2;
  machine.memory.partition = "drawn";
  machine.memory.xbar_order = "fifo";
  return machine;
}

// The line of an SM's i-th request.
unsigned LineOf(unsigned i) {
  return i / (kGathered * kWarps) * kGathered % kLines + i % kGathered;
}

// The slices of the lines, drawn as the machine draws them.
std::vector<unsigned> Slices() {
  DrawnMap map(Machine().memory);
  std::vector<unsigned> slices;
  slices.reserve(kLines);
  for (unsigned line = 0; line < kLines; ++line) {
    slices.push_back(map.Locate(std::uint64_t{line} * kLineBytes).slice);
  }
  return slices;
}

// Cycles on the machine's crossbar.
Cycle InOrderOfArrival() {
  MemoryRig rig(Machine());
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
      const std::uint64_t address = std::uint64_t{LineOf(i)} * kLineBytes;
      done[sm].push_back(rig.Read(now, address, sm, kSectorBytes).done);
      last = std::max(last, done[sm].back());
      ++sent[sm];
    }
  }
  return last - begin;
}

// The requests' half of a crossbar, cycle by cycle: each output grants the heads of the inputs in
// turn.
class Turns {
 public:
  void Push(unsigned input, unsigned output) { queue_[input].push_back(output); }
  // The input that each output takes in this cycle; kSms for none.
  std::vector<unsigned> Step() {
    std::vector<unsigned> taken(kSms, kSms);
    std::vector<bool> used(kSms, false);
    for (unsigned output = 0; output < kSms; ++output) {
      for (unsigned j = 0; j < kSms; ++j) {
        const unsigned input = (next_[output] + j) % kSms;
        if (used[input] || queue_[input].empty() || queue_[input].front() != output) continue;
        queue_[input].pop_front();
        used[input] = true;
        taken[output] = input;
        next_[output] = (input + 1) % kSms;
        break;
      }
    }
    return taken;
  }

 private:
  std::vector<std::deque<unsigned>> queue_{kSms};
  std::vector<unsigned> next_ = std::vector<unsigned>(kSms, 0);
};

// Cycles when the slices' ports serve in turn.
Cycle InTurn() {
  const std::vector<unsigned> slices = Slices();
  Turns requests;
  std::vector<unsigned> sent(kSms, 0), got(kSms, 0);
  std::deque<std::pair<Cycle, std::pair<unsigned, unsigned>>> served;  // when, slice, SM
  Cycle now = 0;
  for (unsigned all = 0; all < kSms * kRequests; ++now) {
    for (unsigned sm = 0; sm < kSms; ++sm) {
      if (sent[sm] < kRequests && sent[sm] < got[sm] + kInFlight) {
        requests.Push(sm, slices[LineOf(sent[sm]++)]);
      }
    }
    const std::vector<unsigned> taken = requests.Step();
    for (unsigned slice = 0; slice < kSms; ++slice) {
      if (taken[slice] != kSms) served.push_back({now + kHidden, {slice, taken[slice]}});
    }
    for (; !served.empty() && served.front().first <= now; served.pop_front()) {
      ++got[served.front().second.second];
      ++all;
    }
  }
  return now;
}

TEST(CrossbarTurns, ServingInTurnCostsAThirdOfTheThroughputOfGathersInStep) {
  const Cycle arrival = InOrderOfArrival(), turns = InTurn();
  RecordProperty("in_order_of_arrival", static_cast<int>(arrival));
  RecordProperty("in_turn", static_cast<int>(turns));
  std::printf("order of arrival %llu cycles, in turn %llu cycles\n",
              static_cast<unsigned long long>(arrival), static_cast<unsigned long long>(turns));
  EXPECT_GT(static_cast<double>(turns) / static_cast<double>(arrival), 1.3);
  EXPECT_LT(static_cast<double>(turns) / static_cast<double>(arrival), 1.7);
}

}  // namespace
}  // namespace smk
