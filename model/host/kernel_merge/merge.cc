// SPDX-License-Identifier: Apache-2.0
#include "host/kernel_merge/merge.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "workload/program_code.h"
#include "workload/workload_file.h"

namespace smk {
namespace {

bool HasBarriers(const KernelSpec& kernel) {
  const auto& nodes = kernel.program->parts().nodes;
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const Instruction& node) { return node.op == OpClass::kBarrier; });
}

// Threads of a group that its TB does not use never come to the barrier.
void CheckBarriers(const KernelSpec& a, const KernelSpec& b) {
  const KernelSpec& smaller = a.threads < b.threads ? a : b;
  const KernelSpec& larger = a.threads < b.threads ? b : a;
  if (smaller.threads == larger.threads || !HasBarriers(smaller)) return;
  throw InputError("kernel-merge: " + smaller.name + " has barriers and " +
                   std::to_string(smaller.threads) + " threads, " + larger.name + " " +
                   std::to_string(larger.threads) +
                   ": expected equal sizes, or no barriers in the smaller kernel");
}

// Before each TB.
std::shared_ptr<const Program> SchedulerProgram(unsigned threads, const HostLink& host) {
  std::string text =
      "description = \"Scheduler\"\ntype = \"compute\"\nlaunches = [\"scheduler\"]\n"
      "[arrays]\nqueue = 128\n[[kernel]]\nname = \"scheduler\"\nthreads = " +
      std::to_string(threads) +
      "\nregisters = 8\nshared_memory = 4\ngrid = [1]\nidempotence = \"no\"\nprogram = '''\n";
  const bool in_memory = host.merge_queue == kMergeQueues[0];
  if (in_memory) {
    text +=
        "if warp == 0 {\n"
        "  atomic_global item = [queue] lanes 1\n"
        "  store_shared item\n"
        "}\n";
  }
  text += "barrier\n";
  if (in_memory) text += "load_shared id =\n";
  if (host.merge_spoof != 0) {
    text += std::string("alu id =") + (in_memory ? " id x" : " x") +
            std::to_string(host.merge_spoof) + " chain\n";
  }
  return ParseWorkload(text + "'''\n", "scheduler.toml")->kernels[0].program;
}

// The kernels in the order of the jobs, each with the first two jobs that have it. Jobs with other
// numbers of TBs share a kernel's program.
using KernelJobs = std::vector<std::pair<const KernelSpec*, std::vector<std::size_t>>>;

KernelJobs KernelsOf(const std::vector<const Workload*>& jobs) {
  KernelJobs kernels;
  std::map<const Program*, std::size_t> places;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    if (jobs[job] == nullptr) continue;
    const std::set<std::uint16_t> numbers(jobs[job]->launches.begin(), jobs[job]->launches.end());
    for (const std::uint16_t number : numbers) {
      const KernelSpec* const kernel = &jobs[job]->kernels[number];
      const auto [place, is_new] = places.emplace(kernel->program.get(), kernels.size());
      if (is_new) kernels.push_back({kernel, {}});
      auto& of_kernel = kernels[place->second].second;
      if (of_kernel.size() < 2 && (of_kernel.empty() || of_kernel[0] != job)) {
        of_kernel.push_back(job);
      }
    }
  }
  return kernels;
}

// Something must be left to the second kernel.
void CheckSplit(const std::string& name, const char* what, std::uint32_t all, std::uint32_t first) {
  if (first < all) return;
  const std::string expected =
      all == 1 ? "two at least" : "1 to " + std::to_string(all - 1) + " for the first kernel";
  throw InputError("kernel-merge: " + name + " has " + std::to_string(all) + ' ' + what +
                   (all == 1 ? "" : "s") + ": expected " + expected + ", got " +
                   std::to_string(first));
}

}  // namespace

unsigned SchedulerGroups(const KernelSpec& merged, const MachineConfig& machine) {
  return machine.sms * MaxTbs(merged.need, machine.sm.limits);
}

KernelSpec MergedKernel(const KernelSpec& a, const KernelSpec* b, const MachineConfig& machine) {
  if (b != nullptr && machine.host.merge_barrier == kMergeBarriers[0]) CheckBarriers(a, *b);
  KernelSpec merged;
  merged.name = b == nullptr ? a.name : a.name + "+" + b->name;
  const KernelSpec& other = b == nullptr ? a : *b;
  merged.threads = std::max(a.threads, other.threads);
  merged.registers_per_thread =
      std::max({a.registers_per_thread, other.registers_per_thread, machine.host.merge_registers});
  merged.shared_memory = std::max(a.shared_memory, other.shared_memory);
  merged.need =
      TbNeedOn(machine.sm, merged.threads, merged.registers_per_thread, merged.shared_memory);
  merged.grid_x = SchedulerGroups(merged, machine);
  if (merged.grid_x == 0) {
    throw InputError("kernel-merge: " + merged.name + " needs " + std::to_string(merged.threads) +
                     " threads, " + std::to_string(merged.registers_per_thread) +
                     " registers per thread and " + std::to_string(merged.shared_memory) +
                     " bytes of shared memory, more than an SM of " + machine.name + " has");
  }
  merged.program = SchedulerProgram(merged.threads, machine.host);
  return merged;
}

std::vector<MergedPair> MergePairs(const std::vector<const Workload*>& jobs,
                                   const KernelMergePlan& plan) {
  const KernelJobs kernels = KernelsOf(jobs);
  std::vector<MergedPair> pairs;
  for (std::size_t a = 0; a < kernels.size(); ++a) {
    const auto& [first, first_jobs] = kernels[a];
    pairs.push_back({first, nullptr, MergedKernel(*first, nullptr, plan.machine)});
    for (std::size_t b = a; b < kernels.size(); ++b) {
      const auto& [second, second_jobs] = kernels[b];
      if (first_jobs.size() == 1 && first_jobs == second_jobs) continue;
      pairs.push_back({first, second, MergedKernel(*first, second, plan.machine)});
      const KernelSpec& merged = pairs.back().merged;
      CheckSplit(merged.name, "group", merged.tb_count(), plan.split.groups);
      // Groups come to all SMs in turn.
      CheckSplit(merged.name, "SM", plan.machine.sms, plan.split.sms);
    }
  }
  return pairs;
}

}  // namespace smk
