// SPDX-License-Identifier: Apache-2.0
// A stand-in for the simulator: plausible results without simulating.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "experiment/backend.h"

namespace smk::sim {

// A program with one kernel of `threads` threads per TB.
inline std::shared_ptr<const Workload> FakeWorkload(const std::string& name,
                                                    unsigned threads = 128) {
  auto workload = std::make_shared<Workload>();
  workload->name = name;
  workload->type = "compute";
  workload->description = "stands in for " + name;
  workload->content_hash = name;
  workload->source_file = name + ".toml";
  KernelSpec kernel;
  kernel.name = name + "_kernel";
  kernel.threads = threads;
  kernel.registers_per_thread = 32;
  kernel.grid_x = 100;
  kernel.need = TbNeed(threads, 32, 0);
  workload->kernels.push_back(kernel);
  workload->launches = {0};
  return workload;
}

// A result in which every law of CheckResult holds: kernel k issues `ipc / programs` per cycle.
inline RunResult FakeResult(const RunRequest& request, unsigned ipc = 8) {
  RunResult result;
  result.cycles = request.cycles;
  result.wall_seconds = 0.5;
  const unsigned sms = request.machine.sms;
  result.sms.resize(sms);
  const std::uint64_t each = request.cycles * ipc / (sms * request.jobs.size());
  for (std::size_t k = 0; k < request.jobs.size(); ++k) {
    KernelStats kernel;
    kernel.name = request.jobs[k].workload->name;
    kernel.warp_instructions = each * sms;
    kernel.cycles_present = request.cycles - request.jobs[k].arrival;
    kernel.stalls[static_cast<unsigned>(Stall::kDataMemory)] = 700;
    kernel.stalls[static_cast<unsigned>(Stall::kPipeline)] = 300;
    result.kernels.push_back(kernel);
    JobStats job;
    job.client = request.jobs[k].client.empty() ? kernel.name : request.jobs[k].client;
    job.arrival = request.jobs[k].arrival;
    job.slot = static_cast<KernelId>(k % kNumKernels);
    result.jobs.push_back(job);
    result.warp_instructions += kernel.warp_instructions;
    for (SmStats& sm : result.sms) {
      sm.warp_instructions.push_back(each);
      sm.tb_cycles.push_back(0);
      sm.scheduler_cycles[static_cast<unsigned>(Stall::kIssued)] += each;
    }
  }
  for (SmStats& sm : result.sms) {
    sm.scheduler_cycles[static_cast<unsigned>(Stall::kEmpty)] =
        request.cycles * request.machine.sm.schedulers -
        sm.scheduler_cycles[static_cast<unsigned>(Stall::kIssued)];
    sm.sim_stalls[static_cast<unsigned>(SimStall::kControl)] =
        sm.scheduler_cycles[static_cast<unsigned>(Stall::kEmpty)];
  }
  result.partitions.assign(sms, std::vector<std::uint8_t>(request.jobs.size()));
  return result;
}

inline Backend FakeBackend() {
  Backend backend;
  backend.run = [](const RunRequest& request, ControlKind, const ControlConfig&) {
    return FakeResult(request);
  };
  backend.find_workload = [](const std::string& name) { return FakeWorkload(name); };
  backend.list_workloads = [] { return std::vector<std::string>{"a", "b"}; };
  backend.find_machine = [](const std::string& name) { return name; };
  backend.list_machines = [] { return std::vector<std::string>{"gtx980"}; };
  backend.load_machine = [](const std::string&, const std::vector<std::string>&) {
    return MachineConfig{};
  };
  backend.machine_toml = [](const MachineConfig& machine) { return ToToml(machine); };
  return backend;
}

}  // namespace smk::sim
