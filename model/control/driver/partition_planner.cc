// SPDX-License-Identifier: Apache-2.0
#include "control/driver/partition_planner.h"

namespace smk {
namespace {

// One kernel's part of an even split; the constants limits / 1..4 in hardware.
ResourceVector Divided(const ResourceVector& v, unsigned n) {
  ResourceVector r;
  r.registers = static_cast<std::uint16_t>(v.registers / n);
  r.shared_memory = static_cast<std::uint16_t>(v.shared_memory / n);
  r.threads = static_cast<std::uint16_t>(v.threads / n);
  r.tbs = static_cast<std::uint16_t>(v.tbs / n);
  return r;
}

}  // namespace

bool PartitionPlanner::Eligible(unsigned kernel, const Inputs& in,
                                const KernelTable::State& kernels) const {
  if ((state_.kernels >> kernel & 1) == 0) return false;
  const ResourceVector& need = kernels.slot[kernel].need;
  if (!FitsIn(state_.taken + need, config_.limits)) return false;
  if (in.mode == DispatchMode::kEven) {
    const unsigned n = static_cast<unsigned>(__builtin_popcount(state_.kernels));
    return state_.part[kernel].tbs == 0 ||
           FitsIn(state_.part[kernel] + need, Divided(config_.limits, n));
  }
  if (in.mode == DispatchMode::kTable) return state_.part[kernel].tbs < in.table[kernel];
  return true;
}

bool PartitionPlanner::Before(unsigned a, unsigned b) const {
  if (state_.share[a] != state_.share[b]) return state_.share[a] < state_.share[b];
  if (state_.part[a].tbs != state_.part[b].tbs) return state_.part[a].tbs > state_.part[b].tbs;
  return (a - state_.first) % kMaxKernels < (b - state_.first) % kMaxKernels;
}

// Who goes first when not one TB of each fits: the kernels take turns among the SMs that host them.
std::uint8_t PartitionPlanner::First(const Inputs& in) {
  KernelMask left = in.kernels;
  const unsigned turn =
      Index(in.sm) / in.apart % static_cast<unsigned>(__builtin_popcount(in.kernels));
  for (unsigned n = turn; n != 0; --n) left &= static_cast<KernelMask>(left - 1);
  return static_cast<std::uint8_t>(__builtin_ctz(left));
}

void PartitionPlanner::LayOut(bool last_at_end) {
  ResourceVector base;
  KernelMask left = state_.kernels;
  for (unsigned order = 0; order < kMaxKernels; ++order) {
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      if ((state_.kernels >> k & 1) == 0 || state_.order[k] != order) continue;
      left = static_cast<KernelMask>(left & ~(1u << k));
      if (left == 0 && last_at_end) base = config_.limits - state_.part[k];
      const ResourceVector limit = base + state_.part[k];
      PartitionRange& r = state_.range[k];
      r = {base.registers,
           limit.registers,
           base.shared_memory,
           limit.shared_memory,
           base.threads,
           limit.threads,
           static_cast<std::uint8_t>(base.tbs),
           static_cast<std::uint8_t>(state_.part[k].tbs)};
      base = limit;
    }
  }
}

void PartitionPlanner::Tick(const Inputs& in) {
  const KernelTable::State& kernels = *in.kernel_table;
  state_.done = false;
  if (in.start) {
    state_ = State{};
    state_.busy = true;
    state_.kernels = in.kernels;
    ResourceVector one_of_each;
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      if (in.kernels >> k & 1) one_of_each += kernels.slot[k].need;
    }
    state_.anywhere = in.kernels == 0 || FitsIn(one_of_each, config_.limits);
    state_.first = state_.anywhere ? 0 : First(in);
    for (unsigned k = 0; k < kMaxKernels; ++k) state_.order[k] = kernels.slot[k].order;
    return;
  }
  if (!state_.busy) return;
  unsigned best = kMaxKernels;
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    if (!Eligible(k, in, kernels)) continue;
    if (best == kMaxKernels || Before(k, best)) best = k;
  }
  if (best == kMaxKernels) {
    LayOut(in.last_at_end);
    state_.busy = false;
    state_.done = true;
    return;
  }
  state_.taken += kernels.slot[best].need;
  state_.part[best] += kernels.slot[best].need;
  state_.share[best] += kernels.slot[best].share;
}

}  // namespace smk
