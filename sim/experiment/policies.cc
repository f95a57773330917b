// SPDX-License-Identifier: Apache-2.0
#include "experiment/policies.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/nearest.h"
#include "base/numbers.h"

namespace smk::sim {
namespace {

constexpr std::string_view kTablePrefix = "table:";

PolicyConfig Config(DispatchMode dispatch, bool quota = false,
                    std::uint8_t kernels_per_sm = kNumKernels) {
  PolicyConfig config;
  config.dispatch = dispatch;
  config.quota_enable = quota;
  config.kernels_per_sm = kernels_per_sm;
  return config;
}

// Without preemption unless --preempt says so.
PolicyConfig Slicer(bool quota = false) {
  PolicyConfig config = Config(DispatchMode::kSlicer, quota);
  config.preempt = PreemptMode::kDrain;
  return config;
}

std::vector<PolicyInfo> MakePolicies() {
  return {
      {"isolated", "[SMK] Sec. 6.1", "each kernel alone on the whole GPU: the baseline, STP 1",
       Config(DispatchMode::kLeftover)},
      {"leftover", "[SMK] Sec. 2", "the next kernel takes what the ones before it leave over",
       Config(DispatchMode::kLeftover)},
      {"even", "[Warped-Slicer] Sec. 3", "every kernel gets an equal part of each SM's resources",
       Config(DispatchMode::kEven)},
      {"spatial", "[SMK] Sec. 6.3", "every kernel gets an equal part of the SMs (--preempt)",
       Config(DispatchMode::kSpatial)},
      {"smk", "[SMK] Sec. 5.2", "on-demand: fair dominant shares by preempting thread blocks",
       Config(DispatchMode::kOnDemand)},
      {"smk-p", "[SMK] Sec. 5.3", "fair partitions of each SM, planned before dispatch",
       Config(DispatchMode::kPartitioned)},
      {"smk-pw", "[SMK] Sec. 5.4", "smk-p and quotas for the warp schedulers",
       Config(DispatchMode::kPartitioned, true)},
      {"smk-pw2", "[SMK] Sec. 5.5", "smk-pw with at most two kernels on an SM",
       Config(DispatchMode::kPartitioned, true, 2)},
      {"warped-slicer", "[Warped-Slicer] Sec. 4",
       "partitions by water-filling of profiled kernels (--preempt)", Slicer()},
      {"warped-slicer+w", "[Warped-Slicer] Sec. 4, [SMK] Sec. 5.4",
       "warped-slicer and quotas for the warp schedulers", Slicer(true)},
      {"tokens", "[Gemini] Sec. 3.5.1, in hardware",
       "the whole GPU in turns, for a token's quota of cycles (--preempt)",
       Config(DispatchMode::kToken)},
      {"table:A,B,...", "[Warped-Slicer] Sec. 4", "fixed number of TBs per SM for each kernel",
       Config(DispatchMode::kTable)},
  };
}

std::vector<std::string> PolicyNames() {
  std::vector<std::string> names;
  for (const PolicyInfo& info : Policies()) names.push_back(info.name);
  return names;
}

Policy ParseTable(std::string_view text, std::size_t kernels) {
  Policy policy;
  policy.config = Config(DispatchMode::kTable);
  const std::vector<std::string> counts = Split(text.substr(kTablePrefix.size()), ',');
  if (kernels > kNumKernels) {
    throw InputError(fmt::format("--policy {}: a table is for at most {} kernels, the run has {}",
                                 text, kNumKernels, kernels));
  }
  if (counts.size() != kernels) {
    throw InputError(fmt::format("--policy {}: expected {} for the {} of the run, got {}", text,
                                 kernels == 1 ? "1 count" : fmt::format("{} counts", kernels),
                                 kernels == 1 ? "kernel" : "kernels", counts.size()));
  }
  std::vector<std::string> canonical;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::uint64_t count =
        ParseCount(fmt::format("--policy {}: count {}", text, i + 1), counts[i], 1, kMaxTbSlots);
    policy.config.table[i] = static_cast<std::uint8_t>(count);
    canonical.push_back(std::to_string(count));
  }
  policy.name = fmt::format("{}{}", kTablePrefix, Join(canonical, ","));
  return policy;
}

}  // namespace

const std::vector<PolicyInfo>& Policies() {
  static const std::vector<PolicyInfo> kPolicies = MakePolicies();
  return kPolicies;
}

std::vector<std::string> DefaultPolicies() {
  std::vector<std::string> names = PolicyNames();
  names.resize(names.size() - 2);  // the table needs counts, tokens need shares
  return names;
}

Policy FindPolicy(std::string_view text, std::size_t kernels) {
  if (text.substr(0, kTablePrefix.size()) == kTablePrefix) return ParseTable(text, kernels);
  for (const PolicyInfo& info : Policies()) {
    if (info.config.dispatch != DispatchMode::kTable && info.name == text) {
      return {info.name, info.config, info.name == "isolated"};
    }
  }
  throw InputError(fmt::format("--policy: unknown policy '{}'{} (one of {})", text,
                               DidYouMean(text, PolicyNames()), Join(PolicyNames())));
}

ResourceVector LeastNeed(const Workload& workload) {
  ResourceVector least = workload.kernels.front().need;
  for (const KernelSpec& kernel : workload.kernels) {
    least.registers = std::min(least.registers, kernel.need.registers);
    least.shared_memory = std::min(least.shared_memory, kernel.need.shared_memory);
    least.threads = std::min(least.threads, kernel.need.threads);
  }
  return least;
}

void CheckTable(const Policy& policy, const std::vector<const Workload*>& workloads,
                const ResourceVector& limits) {
  if (policy.config.dispatch != DispatchMode::kTable) return;
  unsigned registers = 0, shared_memory = 0, threads = 0, tbs = 0;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    const unsigned count = policy.config.table[i];
    const ResourceVector need = LeastNeed(*workloads[i]);
    registers += count * need.registers;
    shared_memory += count * need.shared_memory;
    threads += count * need.threads;
    tbs += count;
  }
  const auto check = [&](const char* what, unsigned taken, unsigned limit) {
    if (taken <= limit) return;
    throw InputError(
        fmt::format("--policy {}: these TBs do not fit on one SM: they take {} % of its {}",
                    policy.name, taken * 100 / limit, what));
  };
  check("registers", registers, limits.registers);
  check("shared memory", shared_memory, limits.shared_memory);
  check("threads", threads, limits.threads);
  check("TB slots", tbs, limits.tbs);
}

const std::vector<PreemptMode>& PreemptModes() {
  static const std::vector<PreemptMode> kModes = {PreemptMode::kSwitch, PreemptMode::kDrain,
                                                  PreemptMode::kFlush, PreemptMode::kChimera};
  return kModes;
}

PreemptMode ParsePreempt(std::string_view text) {
  for (const PreemptMode mode : PreemptModes()) {
    if (text == Name(mode)) return mode;
  }
  std::vector<std::string> names;
  for (const PreemptMode mode : PreemptModes()) names.emplace_back(Name(mode));
  throw InputError(fmt::format("--preempt: expected {}, got '{}'", Join(names, " or "), text));
}

bool UsesPreempt(const PolicyConfig& config) {
  return config.dispatch == DispatchMode::kSpatial || config.dispatch == DispatchMode::kSlicer ||
         config.dispatch == DispatchMode::kToken;
}

std::string WhoUsesPreempt() {
  std::vector<std::string> names;
  for (const PolicyInfo& info : Policies()) {
    if (UsesPreempt(info.config)) names.emplace_back(info.name);
  }
  return fmt::format("only the policies {} use it", Join(names));
}

void CheckTokens(const Policy& policy) {
  if (policy.config.dispatch != DispatchMode::kToken) return;
  for (unsigned k = 0; k < kNumKernels; ++k) {
    const unsigned request = policy.config.token_request[k], limit = policy.config.token_limit[k];
    if (limit >= request) continue;
    throw InputError(
        fmt::format("--set policy.token_limit: expected at least the request of each kernel slot; "
                    "slot {} has a request of {} and a limit of {}",
                    k, request, limit));
  }
}

void CheckPreempt(const Policy& policy) {
  if (!UsesPreempt(policy.config)) {
    throw InputError(fmt::format("--preempt: {}, not {}", WhoUsesPreempt(), policy.name));
  }
  if (policy.config.dispatch == DispatchMode::kSlicer &&
      policy.config.preempt == PreemptMode::kFlush) {
    throw InputError(
        fmt::format("--preempt: {} takes switch, drain or chimera, not flush", policy.name));
  }
}

const char* Name(PreemptMode mode) {
  switch (mode) {
    case PreemptMode::kSwitch:
      return "switch";
    case PreemptMode::kDrain:
      return "drain";
    case PreemptMode::kFlush:
      return "flush";
    case PreemptMode::kChimera:
      return "chimera";
  }
  return "?";
}

const char* Name(WarpPolicy policy) { return policy == WarpPolicy::kGto ? "gto" : "lrr"; }

const char* Name(EpochEnd end) { return end == EpochEnd::kSpent ? "spent" : "tick"; }

const char* Name(DispatchMode mode) {
  switch (mode) {
    case DispatchMode::kLeftover:
      return "leftover";
    case DispatchMode::kEven:
      return "even";
    case DispatchMode::kSpatial:
      return "spatial";
    case DispatchMode::kOnDemand:
      return "on-demand";
    case DispatchMode::kPartitioned:
      return "partitioned";
    case DispatchMode::kTable:
      return "table";
    case DispatchMode::kSlicer:
      return "slicer";
    case DispatchMode::kToken:
      return "token";
  }
  return "?";
}

const char* Name(DecisionReason reason) {
  switch (reason) {
    case DecisionReason::kDispatchNew:
      return "dispatch-new";
    case DecisionReason::kDispatchRestored:
      return "dispatch-restored";
    case DecisionReason::kDispatchRestarted:
      return "dispatch-restarted";
    case DecisionReason::kPreempt:
      return "preempt";
    case DecisionReason::kNoVictim:
      return "no-victim";
    case DecisionReason::kRangeNotReduced:
      return "range-not-reduced";
    case DecisionReason::kPartitionFull:
      return "partition-full";
    case DecisionReason::kNoRoom:
      return "no-room";
    case DecisionReason::kRepartition:
      return "repartition";
    case DecisionReason::kEvictSm:
      return "evict-sm";
    case DecisionReason::kQueueFull:
      return "queue-full";
    case DecisionReason::kRoomComing:
      return "room-coming";
  }
  return "?";
}

}  // namespace smk::sim
