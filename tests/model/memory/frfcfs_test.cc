// SPDX-License-Identifier: Apache-2.0
// The memory controller, which plans every request when it arrives, against an FR-FCFS scheduler
// that decides clock by clock with all waiting requests before it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "machine/simulation_context.h"
#include "memory/address_map.h"
#include "memory/memory_controller.h"
#include "memory/memory_sockets.h"

namespace smk {
namespace {

// One controller, DRAM and core at the same clock, nothing but the DRAM's own time.
MachineConfig OneController() {
  MachineConfig machine;
  machine.core_clock_mhz = machine.memory.dram_clock_mhz = 1000;
  machine.memory.dram_latency = 0;
  machine.memory.t_rfc = 0;
  return machine;
}

struct Request {
  Cycle arrival = 0;
  std::uint64_t address = 0;
};

struct Outcome {
  Cycle last = 0;
  double mean_latency = 0;
  double row_hit_rate = 0;
};

// The scheduler of the textbook: the oldest request whose row is open and whose column command can
// be given; else it opens the row of the oldest request of a bank nobody needs as it is.
class ClockedFrFcfs {
 public:
  explicit ClockedFrFcfs(const MemoryConfig& config) : t_(config), banks_(config.banks) {}

  Outcome Run(const std::vector<Request>& requests) {
    std::size_t next = 0;
    for (Cycle now = 0; next < requests.size() || !queue_.empty(); ++now) {
      while (next < requests.size() && requests[next].arrival <= now &&
             queue_.size() < t_.dram_queue) {
        queue_.push_back(requests[next]);
        ++next;
      }
      GiveColumn(now);
      OpenRow(now);
    }
    const auto count = static_cast<double>(requests.size());
    return {last_, latency_ / count, 1 - misses_ / count};
  }

 private:
  struct Bank {
    std::uint64_t row = ~std::uint64_t{0};
    Cycle column = 0, precharge = 0, activate = 0;
    bool opened = false;
  };

  std::uint64_t Row(const Request& r) const { return r.address / t_.row_bytes / t_.banks; }
  Bank& BankOf(const Request& r) {
    return banks_[(r.address / t_.row_bytes ^ Scatter(Row(r))) % t_.banks];
  }

  void GiveColumn(Cycle now) {
    if (now < bus_) return;
    for (auto it = queue_.begin(); it != queue_.end(); ++it) {
      Bank& bank = BankOf(*it);
      if (bank.row != Row(*it) || bank.column > now) continue;
      bus_ = now + 4;
      bank.precharge = std::max(bank.precharge, bus_);
      last_ = std::max(last_, bus_ + t_.t_cl);
      latency_ += static_cast<double>(bus_ + t_.t_cl - it->arrival);
      queue_.erase(it);
      return;
    }
  }

  void OpenRow(Cycle now) {
    for (const Request& waiting : queue_) {
      Bank& bank = BankOf(waiting);
      if (bank.row == Row(waiting)) continue;
      const bool needed = std::any_of(queue_.begin(), queue_.end(), [&](const Request& other) {
        return &BankOf(other) == &bank && Row(other) == bank.row;
      });
      if (needed || bank.precharge > now) continue;
      const Cycle after = bank.opened ? std::max(now + t_.t_rp, bank.activate + t_.t_rc) : now;
      const Cycle activate = std::max(after, activated_ + t_.t_rrd);
      bank = {Row(waiting), activate + t_.t_rcd, activate + t_.t_ras, activate, true};
      activated_ = activate;
      misses_ += 1;
      return;
    }
  }

  const MemoryConfig t_;
  std::vector<Bank> banks_;
  std::vector<Request> queue_;
  Cycle bus_ = 0, activated_ = 0, last_ = 0;
  double latency_ = 0, misses_ = 0;
};

Outcome Planned(const MachineConfig& machine, const std::vector<Request>& requests) {
  SimulationContext context;
  MemoryController controller("controller", machine, 1);
  Outcome outcome;
  MemoryTransaction transaction;
  double latency = 0;
  for (const Request& request : requests) {
    transaction.SetRead(request.address);
    sc_core::sc_time delay = CoreCycles(request.arrival);
    controller.b_transport(transaction.payload(), delay);
    const Cycle done = ToCycles(delay);
    outcome.last = std::max(outcome.last, done);
    latency += static_cast<double>(done - request.arrival);
  }
  const auto count = static_cast<double>(requests.size());
  outcome.mean_latency = latency / count;
  outcome.row_hit_rate = static_cast<double>(controller.stats(0).row_hits) / count;
  return outcome;
}

// `streams` readers, each from a random row on, taking turns at random; 0 streams: every line at
// random.
std::vector<Request> Requests(unsigned streams, double load) {
  std::mt19937_64 random(streams + 1);
  std::vector<std::uint64_t> next(std::max(streams, 1u));
  for (auto& address : next) address = random() % (1 << 30) / kLineBytes * kLineBytes;
  std::vector<Request> requests;
  for (double now = 1000; requests.size() < 10000;) {
    now += 4 / load * std::exponential_distribution<>(1)(random);
    std::uint64_t& address = next[random() % next.size()];
    if (streams == 0) address = random() % (1 << 30) / kLineBytes * kLineBytes;
    requests.push_back({static_cast<Cycle>(now), address});
    address += kLineBytes;
  }
  return requests;
}

class MemoryFrFcfs : public testing::TestWithParam<std::pair<unsigned, double>> {};

TEST_P(MemoryFrFcfs, PlanIsCloseToTheScheduler) {
  const auto [streams, load] = GetParam();
  const MachineConfig machine = OneController();
  const std::vector<Request> requests = Requests(streams, load);
  const Outcome want = ClockedFrFcfs(machine.memory).Run(requests);
  const Outcome got = Planned(machine, requests);
  const double time = static_cast<double>(got.last - 1000) / static_cast<double>(want.last - 1000);
  // The figures of docs/memory_model.md.
  RecordProperty("time_ratio", std::to_string(time));
  RecordProperty("row_hit_rates",
                 std::to_string(want.row_hit_rate) + " " + std::to_string(got.row_hit_rate));
  RecordProperty("latencies",
                 std::to_string(want.mean_latency) + " " + std::to_string(got.mean_latency));
  EXPECT_NEAR(time, 1, streams == 0 ? 0.12 : 0.01);
  EXPECT_NEAR(got.row_hit_rate, want.row_hit_rate, 0.08);
  EXPECT_NEAR(got.mean_latency / want.mean_latency, 1, 0.2);
}

INSTANTIATE_TEST_SUITE_P(Patterns, MemoryFrFcfs,
                         testing::Values(std::pair(1u, 0.5), std::pair(1u, 0.9), std::pair(1u, 1.5),
                                         std::pair(4u, 0.5), std::pair(4u, 0.9), std::pair(4u, 1.5),
                                         std::pair(16u, 0.5), std::pair(16u, 0.9),
                                         std::pair(16u, 1.5), std::pair(64u, 0.9),
                                         std::pair(64u, 1.5), std::pair(0u, 0.3),
                                         std::pair(0u, 0.5), std::pair(0u, 1.5)));

}  // namespace
}  // namespace smk
