// SPDX-License-Identifier: Apache-2.0
#include "control/sm/tb_table.h"

namespace smk {

TbTable::Outputs TbTable::Eval(const Inputs& in) const {
  Outputs out;
  if (in.loaded_valid) out.activate |= 1u << Index(in.loaded_slot);
  if (state_.step != Step::kStart) return out;
  const std::uint64_t all =
      config_.num_warps == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << config_.num_warps) - 1;
  const std::uint64_t free = in.allowed_warps & ~state_.warp_valid & all;
  if (free == 0) return out;
  const unsigned slot = Index(state_.launch_slot);
  out.warp_start.valid = true;
  out.warp_start.warp = static_cast<WarpId>(__builtin_ctzll(free));
  out.warp_start.warp_in_tb = state_.launch_warp;
  out.warp_start.tb_slot = state_.launch_slot;
  out.warp_start.kernel = state_.kernel[slot];
  out.warp_start.tb = state_.tb[slot];
  out.warp_start.restore = state_.launch.restore;
  out.warp_start.base = in.launch_base;
  if (state_.launch_warp + 1u == in.launch_warps) {
    (state_.launch.restore ? out.load : out.activate) |= 1u << slot;
  }
  return out;
}

void TbTable::Free(unsigned slot) {
  state_.valid &= ~(1u << slot);
  state_.running &= ~(1u << slot);
  state_.warp_valid &= ~state_.warps[slot];
  state_.warps[slot] = 0;
}

// The lowest free slot.
void TbTable::Choose(std::uint32_t allowed_slots) {
  const std::uint32_t all = config_.num_slots == 32 ? ~0u : (1u << config_.num_slots) - 1;
  const std::uint32_t free = allowed_slots & ~state_.valid & all;
  // There is always one, unless a test breaks that rule.
  const unsigned slot = free == 0 ? 0 : static_cast<unsigned>(__builtin_ctz(free));
  state_.valid |= 1u << slot;
  state_.kernel[slot] = state_.launch.kernel;
  state_.tb[slot] = state_.launch.tb;
  state_.buffer[slot] = state_.launch.buffer;
  state_.launch_slot = static_cast<TbSlot>(slot);
  state_.launch_warp = 0;
}

void TbTable::Tick(const Inputs& in, const Outputs& out) {
  if (out.warp_start.valid) {
    const std::uint64_t bit = std::uint64_t{1} << Index(out.warp_start.warp);
    state_.warp_valid |= bit;
    state_.warps[Index(state_.launch_slot)] |= bit;
    ++state_.launch_warp;
    if (((out.activate | out.load) >> Index(state_.launch_slot) & 1) != 0)
      state_.step = Step::kNone;
  }
  state_.running |= out.activate;
  const bool waits = state_.step == Step::kChoose && !in.found;
  if (state_.step == Step::kChoose && in.found) Choose(in.allowed_slots);
  if (state_.step != Step::kNone && state_.step != Step::kStart && !waits) {
    state_.step = static_cast<Step>(static_cast<unsigned>(state_.step) + 1);
  }
  for (std::uint32_t m = in.finished; m != 0; m &= m - 1) Free(__builtin_ctz(m));
  if (in.release_valid) Free(Index(in.release_slot));
  if (in.dispatch_valid) {
    state_.step = Step::kSlots;
    state_.launch = in.dispatch;
  }
}

WarpMask TbTable::SchedulerWarps(std::uint64_t warps, unsigned scheduler) const {
  WarpMask mask = 0;
  for (unsigned i = 0; i * config_.num_schedulers + scheduler < config_.num_warps; ++i) {
    mask |= static_cast<WarpMask>((warps >> (i * config_.num_schedulers + scheduler) & 1) << i);
  }
  return mask;
}

}  // namespace smk
