// SPDX-License-Identifier: Apache-2.0
// A replay of kernels whose rates are given by hand.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "replay/replay.h"

namespace smk {

// An SM of so many has an even part of what the GPU has: nothing is shared.
class EvenPart : public RateSource {
 public:
  EvenPart(RateSource& gpu, unsigned sms) : gpu_(gpu), sms_(sms) {}
  AloneRate Alone(const LaunchKind& launch) override {
    LaunchKind all = launch;
    all.tbs *= sms_;
    AloneRate alone = gpu_.Alone(all);
    alone.rate /= sms_;
    return alone;
  }
  SetRates Together(const std::vector<LaunchKind>& set) override { return gpu_.Together(set); }
  RateSource& OnOneSm() override { return *this; }

 private:
  RateSource& gpu_;
  const unsigned sms_;
};

// Rates by name: of a workload alone, and of several, joined by +, in the order of the set.
class HandRates : public RateSource {
 public:
  std::map<std::string, AloneRate> alone;
  std::map<std::string, std::vector<SetRate>> together;
  std::map<std::string, std::map<SetRates::Ages, std::vector<SetRate>>> by_age;
  std::vector<std::string> asked;  // names of the sets of several, in the order of the questions

  AloneRate Alone(const LaunchKind& launch) override { return alone.at(launch.workload->name); }
  SetRates Together(const std::vector<LaunchKind>& set) override {
    std::string name;
    for (const LaunchKind& launch : set) {
      name += (name.empty() ? "" : "+") + launch.workload->name;
    }
    asked.push_back(name);
    return {together.at(name), by_age[name]};
  }
  RateSource& OnOneSm() override { return one_sm_; }

 private:
  EvenPart one_sm_{*this, 10};
};

// A machine of 10 SMs that hold 4 TBs of 8 warps each, with 100 cycles from launch to launch.
class ReplayRig {
 public:
  static constexpr Cycle kLatency = 100;

  ReplayRig() {
    MachineConfig& machine = request.machine;
    machine.sms = 10;
    machine.sm.limits.threads = 32;
    machine.launch_latency = kLatency;
    machine.core_clock_mhz = 1000;
    machine.host.copy_bandwidth = 1;
    machine.host.copy_latency = 50;
    request.policy.dispatch = DispatchMode::kLeftover;
    request.cycles = 10'000'000;
    request.until = RunUntil::kDone;
  }

  // A job of one kernel of `tbs` TBs of `warps` warps, launched `launches` times.
  Job& Add(const std::string& name, std::uint32_t tbs, unsigned warps = 8, unsigned launches = 1) {
    auto workload = std::make_shared<Workload>();
    workload->name = workload->source_file = name;
    KernelSpec kernel;
    kernel.name = name;
    kernel.threads = warps * kWarpThreads;
    kernel.registers_per_thread = 4;
    kernel.grid_x = tbs;
    kernel.need = TbNeed(kernel.threads, 4, 0);
    workload->kernels.push_back(kernel);
    workload->launches.assign(launches, 0);
    request.jobs.push_back({workload, 0, /*repeat=*/false});
    return request.jobs.back();
  }
  RunResult Execute(std::unique_ptr<HostScheduler> scheduler = nullptr) {
    return RunReplaySimulation(request, rates, std::move(scheduler));
  }

  RunRequest request;
  HandRates rates;
};

}  // namespace smk
