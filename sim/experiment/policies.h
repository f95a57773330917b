// SPDX-License-Identifier: Apache-2.0
// The policies by name: what `--policy` accepts and how each configures the control plane.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "control/control_plane.h"
#include "workload/workload.h"

namespace smk::sim {

// One policy as `smk list policies` shows it.
struct PolicyInfo {
  std::string name;   // as typed; "table:A,B" stands for table: and one count for each kernel
  std::string paper;  // where it comes from
  std::string description;
  PolicyConfig config;
};

// A policy chosen for a run.
struct Policy {
  std::string name;  // canonical text, "table:4,2" with its counts
  PolicyConfig config;
  bool time_shared = false;  // isolated: every kernel runs alone, one after another
};

// All policies, in the order in which they are shown.
const std::vector<PolicyInfo>& Policies();

// Names that `smk compare` runs when none are given: all but tokens and the fixed table.
std::vector<std::string> DefaultPolicies();

// Looks up `text`; throws InputError for an unknown name or a malformed table. The counts of a
// table must be as many as `kernels`.
Policy FindPolicy(std::string_view text, std::size_t kernels);

// The least that one TB of any kernel of the program needs, resource by resource.
ResourceVector LeastNeed(const Workload& workload);

// Throws InputError when the counts of a fixed table can never be resident together on one SM.
void CheckTable(const Policy& policy, const std::vector<const Workload*>& workloads,
                const ResourceVector& limits);

// Throws InputError when a kernel slot shall have more of the usage window than it may.
void CheckTokens(const Policy& policy);

// Whether --preempt says something to the policy. CheckPreempt() throws InputError when it has not,
// or is not given a mode that it has.
bool UsesPreempt(const PolicyConfig& config);
// "only the policies ... use it", for those who give it to others.
std::string WhoUsesPreempt();
void CheckPreempt(const Policy& policy);

// switch, drain, flush or chimera.
const std::vector<PreemptMode>& PreemptModes();
PreemptMode ParsePreempt(std::string_view text);
const char* Name(PreemptMode mode);
const char* Name(WarpPolicy policy);
// spent, tick.
const char* Name(EpochEnd end);
// leftover, even, spatial, on-demand, partitioned, table, slicer.
const char* Name(DispatchMode mode);
// dispatch-new, preempt, no-victim, ...
const char* Name(DecisionReason reason);

}  // namespace smk::sim
