// SPDX-License-Identifier: Apache-2.0
#include "control/driver/drf_tracker.h"

#include <algorithm>

namespace smk {

void DrfTracker::ApplyEvent(unsigned sm, const Inputs& in, const KernelTable::State& kernels) {
  const SmEvent& event = in.event[sm];
  const unsigned k = Index(event.kernel);
  switch (event.kind) {
    case EventKind::kFinished:
    case EventKind::kSaved:
    case EventKind::kFlushed:
      --state_.resident[k][sm];
      state_.taken[sm] -= kernels.slot[k].need;
      if (!event.counted) state_.share[k] -= static_cast<std::int32_t>(kernels.slot[k].share);
      break;
    case EventKind::kSettled: {
      if (!in.shortfall_mask.Test(sm)) break;
      const unsigned victim = Index(in.shortfall_kernel[sm]);
      state_.share[victim] +=
          static_cast<std::int32_t>(event.shortfall * kernels.slot[victim].share);
      break;
    }
    case EventKind::kBufferFree:
      break;
  }
}

void DrfTracker::ShowShares(bool changes) {
  State& s = state_;
  if (s.settling != 0) {
    --s.settling;
    s.shown = s.shown_next;
    s.shown_next = s.shown_last;
    for (unsigned k = 0; k < kMaxKernels; ++k) s.shown_last[k] = KernelShare(k);
  }
  if (changes) s.settling = 4;
}

void DrfTracker::Tick(const Inputs& in) {
  const KernelTable::State& kernels = *in.kernel_table;
  ShowShares(in.event_mask.Any() || in.kernel_done != 0 || in.dispatch_valid || in.reserve_valid ||
             in.cancel_valid || in.preempt_valid);
  for (const unsigned sm : in.event_mask) ApplyEvent(sm, in, kernels);
  const auto share = [&](KernelId k) {
    return static_cast<std::int32_t>(kernels.slot[Index(k)].share);
  };
  if (in.preempt_valid) {
    state_.share[Index(in.preempt_kernel)] -= in.preempt_count * share(in.preempt_kernel);
  }
  if (in.reserve_valid) state_.share[Index(in.reserve_kernel)] += share(in.reserve_kernel);
  if (in.cancel_valid) state_.share[Index(in.reserve_kernel)] -= share(in.reserve_kernel);
  if (in.dispatch_valid) {
    const unsigned k = Index(in.dispatch_kernel);
    const unsigned sm = Index(in.dispatch_sm);
    state_.last = k;
    ++state_.resident[k][sm];
    state_.taken[sm] += kernels.slot[k].need;
    if (!in.dispatch_reserved) state_.share[k] += share(in.dispatch_kernel);
  }
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    if (in.kernel_done >> k & 1) state_.share[k] = 0;
  }
}

// `share`, or the share of the SMs on which the kernel runs when `tbs` come to `sm`.
std::uint32_t DrfTracker::Share(unsigned kernel, std::int32_t share, unsigned sm, int tbs) const {
  const auto taken = static_cast<std::uint32_t>(std::max(share, 0));
  if (!config_.count_running_sms) return taken;
  SmMask running = RunsOn(kernel);
  running.Assign(sm, state_.resident[kernel][sm] + tbs > 0);
  return std::max(taken, running.Count() * config_.weights.whole);
}

std::uint32_t DrfTracker::SmShare(unsigned sm, std::optional<unsigned> exclude,
                                  const KernelTable::State& kernels) const {
  ResourceVector v = state_.taken[sm];
  if (exclude) {
    const unsigned n = state_.resident[*exclude][sm];
    const ResourceVector& need = kernels.slot[*exclude].need;
    v.registers -= static_cast<std::uint16_t>(n * need.registers);
    v.shared_memory -= static_cast<std::uint16_t>(n * need.shared_memory);
    v.threads -= static_cast<std::uint16_t>(n * need.threads);
    v.tbs -= static_cast<std::uint16_t>(n);
  }
  return config_.weights.Dominant(v);
}

unsigned DrfTracker::LowestKernel(KernelMask mask) const {
  unsigned best = static_cast<unsigned>(__builtin_ctz(mask));
  for (unsigned k = best + 1; k < kMaxKernels; ++k) {
    if ((mask >> k & 1) == 0) continue;
    const std::uint32_t share = KernelShare(k), lowest = KernelShare(best);
    const bool turn = share == 0 && lowest == 0 && best <= state_.last && state_.last < k;
    if (share < lowest || turn) best = k;
  }
  return best;
}

unsigned DrfTracker::LowestSm(const SmMask& mask, const KernelTable::State& kernels) const {
  unsigned best = kMaxSms;
  std::uint32_t best_share = ~0u;
  for (const unsigned sm : mask) {
    const std::uint32_t share = SmShare(sm, std::nullopt, kernels);
    if (share < best_share) {
      best = sm;
      best_share = share;
    }
  }
  return best;
}

unsigned DrfTracker::HighestSm(const SmMask& mask, unsigned exclude,
                               const KernelTable::State& kernels) const {
  unsigned best = mask.Lowest();
  std::uint32_t best_share = SmShare(best, exclude, kernels);
  for (const unsigned sm : mask) {
    const std::uint32_t share = SmShare(sm, exclude, kernels);
    if (share > best_share) {
      best = sm;
      best_share = share;
    }
  }
  return best;
}

std::optional<unsigned> DrfTracker::HighestKernelOn(unsigned sm, KernelMask mask) const {
  std::optional<unsigned> best;
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    if ((mask >> k & 1) == 0 || state_.resident[k][sm] == 0) continue;
    if (!best || KernelShare(k) > KernelShare(*best)) best = k;
  }
  return best;
}

bool DrfTracker::RangeShrinks(unsigned kernel, unsigned victim, unsigned victim_tbs, unsigned sm,
                              KernelMask active, const KernelTable::State& kernels) const {
  std::uint32_t low = ~0u, high = 0, low_after = ~0u, high_after = 0;
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    if ((active >> k & 1) == 0) continue;
    const int tbs = k == kernel ? 1 : k == victim ? -static_cast<int>(victim_tbs) : 0;
    const std::uint32_t now = KernelShare(k);
    const std::uint32_t after = KernelShareWith(k, sm, tbs, kernels);
    low = std::min(low, now);
    high = std::max(high, now);
    low_after = std::min(low_after, after);
    high_after = std::max(high_after, after);
  }
  return high_after - low_after < high - low;
}

KernelMask DrfTracker::ResidentOn(unsigned sm) const {
  KernelMask mask = 0;
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    if (state_.resident[k][sm] != 0) mask |= static_cast<KernelMask>(1u << k);
  }
  return mask;
}

}  // namespace smk
