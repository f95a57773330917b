// SPDX-License-Identifier: Apache-2.0
#include "control/driver/quota_calculator.h"

namespace smk {
namespace {

unsigned NextKernel(KernelMask mask, unsigned from) {
  while (from < kMaxKernels && (mask >> from & 1) == 0) ++from;
  return from;
}

}  // namespace

// Kernels that have issued something, with a TB at least.
KernelMask QuotaCalculator::Seen(const Inputs& in) {
  KernelMask mask = 0;
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    const bool some = in.profile_issued[k] != 0 && in.profile_tbs[k] != 0;
    mask |= static_cast<KernelMask>((some ? 1u : 0u) << k);
  }
  return mask & in.profile_valid;
}

KernelMask QuotaCalculator::Sharing(const Inputs& in, unsigned sm) const {
  KernelMask mask = 0;
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    if ((*in.partition)[sm][k] != 0) mask |= static_cast<KernelMask>(1u << k);
  }
  return mask;
}

void QuotaCalculator::NextSm() {
  ++state_.sm;
  state_.step = state_.sm == config_.num_sms ? Step::kIdle : Step::kSm;
}

// An SM is served when its partition is in force, is shared, and every sharer has a window.
void QuotaCalculator::StartSm(const Inputs& in) {
  const KernelMask sharing = Sharing(in, state_.sm);
  const bool known = (sharing & ~state_.seen) == 0 && (sharing & (sharing - 1)) != 0;
  if (!known || !in.settled.Test(state_.sm)) {
    NextSm();
    return;
  }
  const bool same = state_.last_valid && state_.last == (*in.partition)[state_.sm];
  state_.last = (*in.partition)[state_.sm];
  state_.last_valid = true;
  state_.kernel = static_cast<std::uint8_t>(NextKernel(sharing, 0));
  state_.cycles_left = kDivideCycles;
  if (!same) {
    state_.scaled.fill(0);
    state_.quota.fill(0);
  }
  state_.step = same ? Step::kSend : Step::kScale;
}

void QuotaCalculator::Scale() {
  if (--state_.cycles_left != 0) return;
  const unsigned k = state_.kernel;
  state_.scaled[k] = state_.issued[k] * state_.last[k] / state_.alone[k];
  KernelMask sharing = 0;
  for (unsigned i = 0; i < kMaxKernels; ++i) sharing |= state_.last[i] != 0 ? 1u << i : 0u;
  state_.cycles_left = kDivideCycles;
  state_.kernel = static_cast<std::uint8_t>(NextKernel(sharing, k + 1));
  if (state_.kernel == kMaxKernels) {
    state_.kernel = static_cast<std::uint8_t>(NextKernel(sharing, 0));
    state_.step = Step::kDivide;
  }
}

void QuotaCalculator::Divide(const Inputs& in) {
  if (--state_.cycles_left != 0) return;
  const unsigned k = state_.kernel;
  std::uint64_t sum = 0;
  KernelMask sharing = 0;
  for (unsigned i = 0; i < kMaxKernels; ++i) {
    sum += state_.scaled[i];
    sharing |= state_.last[i] != 0 ? 1u << i : 0u;
  }
  const unsigned kernels = static_cast<unsigned>(__builtin_popcount(sharing));
  const std::uint64_t epoch = in.epoch_length - kernels;
  const std::uint64_t part = sum == 0 ? 0 : state_.scaled[k] * epoch / sum;
  state_.quota[k] = static_cast<std::uint16_t>(part + 1);
  state_.cycles_left = kDivideCycles;
  state_.kernel = static_cast<std::uint8_t>(NextKernel(sharing, k + 1));
  if (state_.kernel == kMaxKernels) {
    state_.kernel = static_cast<std::uint8_t>(NextKernel(sharing, 0));
    state_.step = Step::kSend;
  }
}

void QuotaCalculator::Send(const Inputs& in) {
  if (state_.command_valid && !in.command_ready) return;
  if (state_.command_valid) {
    const unsigned k = Index(state_.command.kernel);
    state_.sent[state_.sm][k] = state_.command.quota;
    state_.command_valid = false;
    if (state_.command.last) {
      NextSm();
      return;
    }
    state_.kernel = static_cast<std::uint8_t>(k + 1);
  }
  // A partition that changed meanwhile gets its quotas in the next round.
  if (state_.last != (*in.partition)[state_.sm] || !in.settled.Test(state_.sm)) {
    NextSm();
    return;
  }
  KernelMask sharing = Sharing(in, state_.sm);
  const unsigned k = NextKernel(sharing, state_.kernel);
  state_.command = SmCommand{};
  state_.command.op = CommandOp::kQuota;
  state_.command.kernel = static_cast<KernelId>(k);
  state_.command.quota = state_.quota[k];
  state_.command.first = NextKernel(sharing, 0) == k;
  state_.command.last = NextKernel(sharing, k + 1) == kMaxKernels;
  state_.command_valid = true;
}

void QuotaCalculator::Tick(const Inputs& in) {
  switch (state_.step) {
    case Step::kIdle:
      if (in.profile_valid == 0) break;
      for (unsigned k = 0; k < kMaxKernels; ++k) {
        if ((in.profile_valid >> k & 1) == 0) continue;
        state_.issued[k] = in.profile_issued[k];
        state_.alone[k] = in.profile_tbs[k];
      }
      state_.seen = Seen(in);
      state_.step = Step::kSm;
      state_.sm = 0;
      state_.last_valid = false;
      break;
    case Step::kSm:
      StartSm(in);
      break;
    case Step::kScale:
      Scale();
      break;
    case Step::kDivide:
      Divide(in);
      break;
    case Step::kSend:
      Send(in);
      break;
  }
}

}  // namespace smk
