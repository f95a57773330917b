// SPDX-License-Identifier: Apache-2.0
#include "control/driver/token_arbiter.h"

namespace smk {

// To whom a cycle counts: TBs that must leave still have the GPU.
KernelMask TokenArbiter::User() const {
  const KernelMask others = Others();
  if (others != 0) return static_cast<KernelMask>(others & -others);
  return state_.token.holder & state_.demand;
}

TokenArbiter::Look TokenArbiter::LookAt(const Inputs& in) const {
  if (state_.step != Step::kLook) return {};
  const unsigned k = state_.at;
  return {(state_.demand >> k & 1) != 0, static_cast<KernelMask>(1u << k), state_.usage[k].used,
          in.request[k], in.limit[k]};
}

// The order of model/host/gemini/token_scheduler.h.
TokenArbiter::Claim TokenArbiter::ClaimOf(const Look& look) {
  const int to_request = look.request - look.used;
  const int to_limit = look.limit - look.used;
  Claim claim;
  claim.valid = look.valid && to_limit >= 0;
  claim.kernel = look.kernel;
  claim.below = to_request > 0;
  claim.gap = static_cast<std::uint16_t>(claim.below ? to_request : to_limit);
  return claim;
}

bool TokenArbiter::Better(const Claim& seen, const Claim& best) {
  if (!seen.valid || !best.valid) return seen.valid;
  if (seen.below != best.below) return seen.below;
  return seen.gap > best.gap;
}

// The cycle of `token.user`, in a window whose time passes or stands still.
void TokenArbiter::CountUse(std::uint8_t window) {
  const unsigned unit_last = window > kUnitsLog2 ? (1u << (window - kUnitsLog2)) - 1 : 0;
  const bool rotates = state_.unit_end && state_.unit == kBucketUnits - 1;
  KernelMask carry = 0;
  for (unsigned k = 0; k < config_.num_kernels; ++k) {
    Usage& usage = state_.usage[k];
    if (rotates) {
      usage.used -= usage.buckets.back();
      for (unsigned b = kBuckets - 1; b != 0; --b) usage.buckets[b] = usage.buckets[b - 1];
      usage.buckets[0] = 0;
    }
    const std::uint8_t completed = state_.carry >> k & 1;
    usage.buckets[0] += completed;
    usage.used += completed;
    if ((state_.token.user >> k & 1) == 0) continue;
    if (usage.part == unit_last) carry |= static_cast<KernelMask>(1u << k);
    usage.part = usage.part == unit_last ? 0 : static_cast<std::uint16_t>(usage.part + 1);
  }
  state_.carry = carry;
  if (state_.unit_end) state_.unit = (state_.unit + 1) % kBucketUnits;
  state_.unit_end = state_.passes && state_.time == unit_last;
  if (state_.passes) {
    state_.time = state_.unit_end ? 0 : static_cast<std::uint16_t>(state_.time + 1);
  }
}

void TokenArbiter::Give(const Inputs& in) {
  const Claim& best = state_.best;
  state_.left = in.quota;
  state_.token.given = best.valid;
  state_.step = best.valid ? Step::kHold : Step::kRest;
  const KernelMask holder = best.valid ? best.kernel : 0;
  state_.assign = holder != state_.token.holder;
  state_.token.holder = holder;
  if (!best.valid) return;
  const auto k = static_cast<unsigned>(__builtin_ctz(best.kernel));
  state_.at = static_cast<std::uint8_t>((k + 1) % config_.num_kernels);
}

void TokenArbiter::TakeStep(const Inputs& in, bool runs) {
  switch (state_.step) {
    case Step::kRest:
      if (state_.demand != 0) state_.step = Step::kLook;
      break;
    case Step::kLook:
      state_.at = static_cast<std::uint8_t>((state_.at + 1) % config_.num_kernels);
      if (state_.looked == config_.num_kernels - 1) state_.step = Step::kClaim;
      break;
    case Step::kClaim:
      state_.step = Step::kCompare;
      break;
    case Step::kCompare:
      state_.step = Step::kGive;
      break;
    case Step::kGive:
      return Give(in);
    case Step::kHold: {
      const bool owns = (state_.token.holder & state_.demand) != 0;
      if (state_.left == 0 || !owns) state_.step = Step::kLook;
      break;
    }
  }
  if (runs && state_.left != 0) --state_.left;
}

void TokenArbiter::Tick(const Inputs& in) {
  const Step step = state_.step;
  const Look look = LookAt(in);
  const Claim seen = ClaimOf(state_.look);
  CountUse(in.window);
  const KernelMask others = Others();
  const KernelMask user = User();
  const bool owns = (state_.token.holder & state_.demand) != 0;
  const bool runs = step == Step::kHold && owns && others == 0;
  const bool over = state_.over;
  const bool holds = step == Step::kHold || step == Step::kRest;
  const bool taken_over = holds && others == 0;
  const bool renewed = step == Step::kGive && state_.best.kernel == state_.token.holder;
  if (step == Step::kHold && state_.left == 0) {
    state_.over = true;
  } else if (renewed || taken_over) {
    state_.over = false;
  }
  const Claim best = Better(state_.seen, state_.best) ? state_.seen : state_.best;
  state_.passes = state_.demand != 0 || others != 0;
  state_.assign = state_.token.given = false;
  TakeStep(in, runs);
  if (!in.enable) state_.step = Step::kRest;
  state_.looked = step == Step::kLook ? static_cast<std::uint8_t>(state_.looked + 1) : 0;
  state_.look = look;
  state_.seen = seen;
  state_.best = holds ? Claim{} : best;
  state_.token.user = user;
  state_.token.over = over && user != 0 && !taken_over;
  state_.demand = in.enable ? in.demand : 0;
  state_.resident = in.enable ? in.resident : 0;
}

bool TokenArbiter::Busy(const Inputs& in) const {
  const bool hears = in.enable && (in.demand != state_.demand || in.resident != state_.resident);
  return hears || state_.demand != 0 || Others() != 0 || state_.passes || state_.token.user != 0 ||
         state_.unit_end || state_.carry != 0 || state_.step != Step::kRest || state_.over ||
         state_.assign || state_.token.given;
}

}  // namespace smk
