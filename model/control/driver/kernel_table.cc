// SPDX-License-Identifier: Apache-2.0
#include "control/driver/kernel_table.h"

namespace smk {

LaunchError KernelTable::Check(const Inputs& in) const {
  const unsigned k = Index(in.launch_kernel);
  if (k >= config_.num_kernels) return LaunchError::kBadSlot;
  if (state_.slot[k].active) return LaunchError::kSlotBusy;
  if (in.launch.tb_count == 0) return LaunchError::kNoTbs;
  const ResourceVector& need = in.launch.need;
  if (need.threads == 0 || need.tbs != 1 || !FitsIn(need, config_.limits)) {
    return LaunchError::kTooLarge;
  }
  return LaunchError::kNone;
}

KernelTable::Outputs KernelTable::Eval(const Inputs& in) const {
  Outputs out;
  out.kernel_done = state_.done_pulse;
  out.member_expired = state_.expired_pulse;
  if (!in.launch_valid) return out;
  out.launch_ready = true;  // refused or taken, a launch never waits
  out.launch_error = Check(in);
  out.launch_fire = out.launch_error == LaunchError::kNone;
  if (out.launch_fire) {
    const Slot& slot = state_.slot[Index(in.launch_kernel)];
    out.launch_same = slot.member && slot.need == in.launch.need;
  }
  return out;
}

void KernelTable::RemoveFromOrder(unsigned kernel) {
  const std::uint8_t order = state_.slot[kernel].order;
  for (Slot& s : state_.slot) {
    if (s.member && s.order > order) --s.order;
  }
  state_.slot[kernel].member = false;
}

void KernelTable::Launch(const Inputs& in) {
  const unsigned k = Index(in.launch_kernel);
  Slot& slot = state_.slot[k];
  const bool same = slot.member && slot.need == in.launch.need;
  if (!same) {
    if (slot.member) RemoveFromOrder(k);
    std::uint8_t members = 0;
    for (const Slot& s : state_.slot) members += s.member ? 1 : 0;
    slot.order = members;
  }
  slot.active = true;
  slot.member = true;
  slot.linger = 0;
  slot.need = in.launch.need;
  slot.share = config_.weights.Dominant(in.launch.need);
  slot.first_tb = in.launch.first_tb;
  slot.tb_count = in.launch.tb_count;
  slot.next_tb = in.launch.first_tb;
  slot.completed = 0;
  slot.idempotent = in.launch.idempotent;
  slot.context_base = in.launch.context_base;
}

void KernelTable::Tick(const Inputs& in) {
  const Outputs out = Eval(in);
  state_.done_pulse = 0;
  state_.expired_pulse = 0;
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    Slot& slot = state_.slot[k];
    const bool taken = out.launch_fire && Index(in.launch_kernel) == k;
    if (in.dispatch_new_valid && Index(in.dispatch_new_kernel) == k) ++slot.next_tb;
    slot.completed += in.finished[k];
    if (slot.active && slot.completed == slot.tb_count) {
      slot.active = false;
      slot.linger = in.linger_ticks;
      state_.done_pulse |= static_cast<KernelMask>(1u << k);
    } else if (slot.member && !slot.active && in.tick && !taken) {
      if (slot.linger != 0) {
        --slot.linger;
      } else {
        RemoveFromOrder(k);
        state_.expired_pulse |= static_cast<KernelMask>(1u << k);
      }
    }
  }
  if (out.launch_fire) Launch(in);
}

KernelMask KernelTable::active() const {
  KernelMask mask = 0;
  for (unsigned k = 0; k < kMaxKernels; ++k) mask |= state_.slot[k].active ? 1u << k : 0u;
  return mask;
}

KernelMask KernelTable::members() const {
  KernelMask mask = 0;
  for (unsigned k = 0; k < kMaxKernels; ++k) mask |= state_.slot[k].member ? 1u << k : 0u;
  return mask;
}

KernelMask KernelTable::YoungerThan(KernelMask kernels) const {
  KernelMask mask = 0;
  for (unsigned j = 0; j < kMaxKernels; ++j) {
    if ((kernels >> j & 1) == 0) continue;
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      mask |= state_.slot[j].order < state_.slot[k].order ? 1u << k : 0u;
    }
  }
  return mask;
}

KernelViews KernelTable::Views() const {
  KernelViews views;
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    const Slot& slot = state_.slot[k];
    views[k].need = slot.need;
    views[k].context_base = slot.context_base;
    views[k].context_lines = static_cast<std::uint16_t>(ContextLines(slot.need));
    std::uint8_t log2 = 0;
    while ((1u << log2) < views[k].context_lines) ++log2;
    views[k].context_log2_lines = log2;
  }
  return views;
}

}  // namespace smk
