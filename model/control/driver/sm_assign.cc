// SPDX-License-Identifier: Apache-2.0
#include "control/driver/sm_assign.h"

#include <numeric>

namespace smk {
namespace {

// The n-th kernel of the mask, from 0.
KernelMask Nth(KernelMask mask, unsigned n) {
  for (; n != 0; --n) mask &= static_cast<KernelMask>(mask - 1);
  return static_cast<KernelMask>(mask & -mask);
}

}  // namespace

bool SmAssign::Walks(const Inputs& in) const {
  return !in.spatial && __builtin_popcount(state_.members) > in.kernels_per_sm;
}

// The next SM profiles one kernel.
bool SmAssign::Dedicated(const Inputs& in) const {
  const unsigned kernels = static_cast<unsigned>(__builtin_popcount(state_.members));
  return in.profile && state_.next < kernels && kernels < config_.num_sms;
}

// A walk gives n kernels at a time out of m, in turn: the same again after m / gcd(m, n) SMs.
unsigned SmAssign::Apart(const Inputs& in) const {
  const unsigned kernels = static_cast<unsigned>(__builtin_popcount(state_.members));
  return Walks(in) ? kernels / std::gcd(kernels, unsigned{in.kernels_per_sm}) : 1;
}

KernelMask SmAssign::Choose(const Inputs& in) const {
  const unsigned kernels = static_cast<unsigned>(__builtin_popcount(state_.members));
  const unsigned sms = config_.num_sms;
  if (kernels == 0) return 0;
  if (in.spatial && kernels <= sms) return Nth(state_.members, state_.next * kernels / sms);
  if (in.spatial) {
    KernelMask group = 0;
    for (unsigned n = 0; n < kernels; ++n) {
      if (n * sms / kernels == state_.next) group |= Nth(state_.members, n);
    }
    return group;
  }
  if (Dedicated(in)) return Nth(state_.members, state_.next);
  if (in.kernels_per_sm >= kernels) return state_.members;
  KernelMask chosen = 0;
  for (unsigned i = 0; i < in.kernels_per_sm; ++i) {
    unsigned best = kMaxKernels;
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      if ((state_.members & ~chosen) >> k & 1) {
        if (best == kMaxKernels || state_.running[k] < state_.running[best]) best = k;
      }
    }
    chosen |= static_cast<KernelMask>(1u << best);
  }
  return chosen;
}

// The next SM.
void SmAssign::Decide(const Inputs& in) {
  const KernelMask chosen = Choose(in);
  const bool dedicated = Dedicated(in);
  if (chosen != state_.allowed[state_.next]) state_.changed.Set(state_.next);
  state_.allowed[state_.next] = chosen;
  for (unsigned k = 0; k < kMaxKernels && !dedicated; ++k) state_.running[k] += chosen >> k & 1;
  ++state_.next;
  if (state_.next == config_.num_sms) state_.busy = false;
}

void SmAssign::Tick(const Inputs& in) {
  state_.changed = SmMask();
  if (in.start) {
    state_.busy = true;
    state_.next = 0;
    state_.members = in.members;
    state_.running.fill(0);
    return;
  }
  if (!state_.busy) return;
  state_.apart = static_cast<std::uint8_t>(Apart(in));
  if (Walks(in)) return Decide(in);
  while (state_.busy) Decide(in);
}

}  // namespace smk
