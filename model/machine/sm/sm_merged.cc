// SPDX-License-Identifier: Apache-2.0
// Sm: groups of merged launches ([KernelMerge] Sec. 2.1).
//
// A group is a TB that stays. It executes parts: the scheduler's code, which is the program of its
// own launch, then a TB of a member, and again the scheduler's code, until there is nothing more to
// take; then it ends as any TB. A part ends when all warps have exited, and the next one begins as
// behind a barrier and a taken branch. In a part with fewer warps the last ones have exited from
// the start. The group holds its slot, its warps' lanes and what its launch needs all the time.
//
// Instructions, pipes, lines and stalls are counted in the slot of the member that the group
// executes, or executed last; before its first TB, in the slot of its own launch. The control plane
// sees that one only.
#include <algorithm>
#include <string>

#include "machine/sm/sm_schedule.h"

namespace smk {

// All warps are through with a part; whether there is another.
[[gnu::noinline]] bool Sm::NextPart(ThreadBlock* block, unsigned slot, Cycle now) {
  const Launch& own = gpu_.launches[Index(block->kernel)];
  if (block->item) {
    EndItem(block, slot, now);
    StartPart(own, block->tb, block, now, now);
    return true;
  }
  const Cycle answered = block->merged->Answered(now);
  block->item = block->merged->Take(block->tb, id_);
  if (!block->item) return false;
  const MergedLaunch::Member& member = block->merged->member(block->item->member);
  ChargeTo(member.slot, block, now);
  StartPart(member.launch, block->item->tb, block, now, answered);
  return true;
}

void Sm::EndItem(ThreadBlock* block, unsigned slot, Cycle now) {
  const unsigned index = block->item->member;
  const MergedLaunch::Member& member = block->merged->member(index);
  block->merged->Complete(index);
  ++counters_[Index(member.slot)].tbs_completed;
  last_tb_end_[Index(member.slot)] = now;
  AddRecord(*block, member.launch, block->item->tb, slot, 'C', now);
  block->item.reset();
  ChargeTo(member.slot, block, now);
}

// What the group does from now on.
void Sm::ChargeTo(KernelId kernel, ThreadBlock* block, Cycle now) {
  tb_cycles_[Index(block->charged)] += now - block->start;
  block->start = now;
  block->charged = kernel;
  for (unsigned w = 0; w < block->warps; ++w) {
    const unsigned lane = block->lane_of[w];
    Warp& warp = warps_[lane];
    kernel_lanes_[warp.kernel] &= ~LaneBit(lane);
    warp.kernel = static_cast<std::uint8_t>(Index(kernel));
    kernel_lanes_[warp.kernel] |= LaneBit(lane);
    kernel_of_[lane] = warp.kernel;
  }
  skipped_stale_ = true;
}

// Its warps begin when it is known which part it is. Results that are still on their way keep their
// registers, as they would in hardware.
void Sm::StartPart(const Launch& launch, TbId tb, ThreadBlock* block, Cycle now, Cycle known) {
  block->exited = static_cast<std::uint8_t>(block->warps - launch.warps);
  for (unsigned w = 0; w < launch.warps; ++w) {
    const unsigned lane = block->lane_of[w];
    const LaneMask bit = LaneBit(lane);
    SetLive(live_ | bit);
    active_ |= bit;
    unfetched_ |= bit;
    Warp& warp = warps_[lane];
    warp.code = &gpu_.code.Of(*launch.program);
    warp.account = issues_.Account(warp.kernel, kWarpThreads - launch.Threads(w));
    warp.identity = launch.Identity(tb, w);
    launch.program->Start(warp.identity, &warp.cursor);
    SetNext(&warp, lane);
    next_fetch_ = std::max(next_fetch_, now << fetch_shift_);
    const Cycle fetched = (next_fetch_++ >> fetch_shift_) + config_.branch_latency + (known - now);
    warp.earliest = static_cast<std::uint32_t>(std::max(fetched, known + config_.barrier_latency));
    Schedule(&warp, lane, now);
  }
  FindRunnable();
}

}  // namespace smk
