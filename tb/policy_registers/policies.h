// SPDX-License-Identifier: Apache-2.0
// Policies for the tests of policy_registers: supported ones, and what the chip does not support.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "common/lockstep.h"
#include "control/driver/policy_registers.h"

namespace smk {

struct BadPolicy {
  PolicyRefusal why;
  std::function<void(PolicyConfig*)> make;  // of a supported one
};

// One for each bound of each rule.
template <typename Package>
std::vector<BadPolicy> BadPolicies() {
  using Why = PolicyRefusal;
  constexpr unsigned kLast = Package::NumKernels - 1;
  return {
      {Why::kPreempt,
       [](PolicyConfig* p) {
         p->dispatch = DispatchMode::kSlicer;
         p->preempt = PreemptMode::kFlush;
       }},
      {Why::kKernelsPerSm, [](PolicyConfig* p) { p->kernels_per_sm = 0; }},
      {Why::kKernelsPerSm, [](PolicyConfig* p) { p->kernels_per_sm = Package::NumKernels + 1; }},
      {Why::kTable, [](PolicyConfig* p) { p->table[0] = Package::LimitTbs + 1; }},
      {Why::kTable, [](PolicyConfig* p) { p->table[kLast] = Package::LimitTbs + 1; }},
      {Why::kEpochLength, [](PolicyConfig* p) { p->epoch_length = Package::NumKernels; }},
      {Why::kLatencyScale, [](PolicyConfig* p) { p->latency_scale = 0; }},
      {Why::kSlicerWindow, [](PolicyConfig* p) { p->slicer_window = 0; }},
      {Why::kSlicerWindow, [](PolicyConfig* p) { p->slicer_window = 16'001; }},
      {Why::kTokenWindow, [](PolicyConfig* p) { p->token_window = 9; }},
      {Why::kTokenWindow, [](PolicyConfig* p) { p->token_window = 25; }},
      {Why::kTokenQuota, [](PolicyConfig* p) { p->token_quota = 0; }},
      {Why::kTokenShare, [](PolicyConfig* p) { p->token_limit[kLast] = kTokenWhole + 1; }},
      {Why::kTokenShare,
       [](PolicyConfig* p) {
         p->token_request = {};
         p->token_request[0] = kTokenWhole;
         p->token_request[kLast] = 1;
       }},
  };
}

// The last values that are supported.
template <typename Package>
std::vector<PolicyConfig> PoliciesAtTheirBounds() {
  PolicyConfig low = PolicyRegisters<Package>::DefaultPolicy(), high = low;
  low.kernels_per_sm = low.latency_scale = 1;
  low.epoch_length = Package::NumKernels + 1;
  low.slicer_window = 1;
  low.token_window = 10;
  low.token_quota = 1;
  low.token_limit = {};
  high.dispatch = DispatchMode::kToken;
  high.preempt = PreemptMode::kChimera;
  high.table.fill(Package::LimitTbs);
  high.epoch_length = 0xffff;
  high.latency_scale = 0xff;
  high.slicer_window = 16'000;
  high.token_window = 24;
  high.token_quota = (1u << 24) - 1;
  high.token_request = {};
  high.token_request[0] = kTokenWhole - 1;
  high.token_request[Package::NumKernels - 1] += 1;
  return {low, high};
}

// Any that is supported.
template <typename Package>
PolicyConfig RandomPolicy(Dice* dice) {
  PolicyConfig policy;
  PolicyWords<Package>::Visit(policy, [&](const char*, unsigned, unsigned width, auto& value) {
    using Value = std::decay_t<decltype(value)>;
    value = static_cast<Value>(dice->Bits() & ((std::uint64_t{1} << width) - 1));
  });
  if (policy.dispatch == DispatchMode::kSlicer) policy.preempt = PreemptMode::kDrain;
  const auto at_least_one = [&](unsigned most) { return 1 + dice->Below(most); };
  policy.kernels_per_sm = static_cast<std::uint8_t>(at_least_one(Package::NumKernels));
  for (auto& tbs : policy.table)
    tbs = static_cast<std::uint8_t>(dice->Below(Package::LimitTbs + 1));
  policy.epoch_length = static_cast<std::uint16_t>(Package::NumKernels + at_least_one(60'000));
  policy.latency_scale = static_cast<std::uint8_t>(at_least_one(0xff));
  policy.slicer_window = static_cast<std::uint16_t>(at_least_one(16'000));
  policy.token_window = static_cast<std::uint8_t>(10 + dice->Below(15));
  policy.token_quota = at_least_one((1u << 24) - 1);
  for (unsigned k = 0, left = kTokenWhole; k < Package::NumKernels; ++k) {
    policy.token_request[k] = static_cast<std::uint16_t>(dice->Below(left + 1));
    left -= policy.token_request[k];
    policy.token_limit[k] = static_cast<std::uint16_t>(dice->Below(kTokenWhole + 1));
  }
  return policy;
}

}  // namespace smk
