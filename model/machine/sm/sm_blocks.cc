// SPDX-License-Identifier: Apache-2.0
// Sm: thread blocks come and go.
#include <algorithm>
#include <string>

#include "machine/sm/sm_schedule.h"

namespace smk {

unsigned Sm::LaneOf(WarpId warp) const {
  const unsigned slot = Index(warp);
  return layout_.LaneOf(slot % config_.schedulers, slot / config_.schedulers);
}

// A warp of a TB takes its slot.
void Sm::Place(const WarpStart& start, Cycle now) {
  const unsigned sm = Index(id_);
  const unsigned slots = config_.schedulers * config_.warps_per_scheduler;
  const auto name = [&] { return "warp slot " + std::to_string(Index(start.warp)); };
  gpu_.checks.Require(Index(start.warp) < slots, now, sm,
                      [&] { return name() + " does not exist"; });
  const unsigned lane = LaneOf(start.warp);
  gpu_.checks.Require((occupied_ & LaneBit(lane)) == 0, now, sm,
                      [&] { return name() + " is occupied twice"; });
  if (start.warp_in_tb == 0) ClaimSlot(start, now);
  const unsigned slot = Index(start.tb_slot);
  ThreadBlock& block = blocks_[slot];
  const bool same = block.valid && !block.active && block.kernel == start.kernel &&
                    block.tb == start.tb && block.restore == start.restore &&
                    start.warp_in_tb == block.placed && block.placed < block.warps;
  gpu_.checks.Require(same, now, sm, [&] {
    return name() + " takes warp " + std::to_string(start.warp_in_tb) + " of TB slot " +
           std::to_string(slot) + " out of order";
  });
  const Launch& launch = gpu_.launches[Index(start.kernel)];
  const LaneMask bit = LaneBit(lane);
  Warp& warp = warps_[lane];
  warp = Warp{};
  warp.code = &gpu_.code.Of(*launch.program);
  warp.block = &block;
  warp.kernel = static_cast<std::uint8_t>(Index(start.kernel));
  warp.tb_slot = static_cast<std::uint8_t>(slot);
  warp.merged = block.merged != nullptr;
  warp.account = issues_.Account(warp.kernel, kWarpThreads - launch.Threads(start.warp_in_tb));
  warp.identity = launch.Identity(start.tb, start.warp_in_tb);
  if (!start.restore) launch.program->Start(warp.identity, &warp.cursor);
  block.lane_of[block.placed++] = static_cast<std::uint8_t>(lane);
  block.lanes |= bit;
  occupied_ |= bit;
  SetLive(live_ | bit);
  kernel_lanes_[warp.kernel] |= bit;
  skipped_stale_ = true;
  if ((tb_stop_ >> slot & 1) != 0) stopped_ |= bit;
  kernel_of_[lane] = warp.kernel;
  for (LaneMask& older : older_) older &= ~bit;
  older_[lane] = occupied_ & ~bit;
}

void Sm::ClaimSlot(const WarpStart& start, Cycle now) {
  const unsigned sm = Index(id_);
  const unsigned slot = Index(start.tb_slot);
  ThreadBlock& block = blocks_[slot];
  gpu_.checks.Require(!block.valid, now, sm,
                      [&] { return "TB slot " + std::to_string(slot) + " is occupied twice"; });
  gpu_.ledger.Dispatch(start.kernel, start.tb, start.restore, sm, now);
  const Launch& launch = gpu_.launches[Index(start.kernel)];
  if (flushes_l1_) FlushL1(launch, now);
  taken_ += launch.spec->need;
  gpu_.checks.Require(FitsIn(taken_, config_.limits), now, sm,
                      [] { return std::string("resident TBs take more than the SM has"); });
  const std::uint32_t generation = block.generation + 1;
  block = ThreadBlock{};
  block.generation = generation;
  block.valid = true;
  block.restore = start.restore;
  block.kernel = block.charged = start.kernel;
  block.tb = start.tb;
  block.merged = launch.merged;
  block.warps = static_cast<std::uint8_t>(launch.warps);
  block.start = now;
  if (gpu_.waves != nullptr && !start.restore) {
    block.wait = gpu_.waves->Wait(start.kernel, start.tb, now);
  }
  ClaimPlace(start, launch.spec->need, now);
  ++resident_[Index(start.kernel)];
  FindSoleKernel();
  traffic_.Clear(start.tb_slot);
  const std::uint32_t bit = 1u << slot;
  inputs_.tb_flushable &= ~bit;
  if (launch.spec->idempotence != Idempotence::kNo) inputs_.tb_flushable |= bit;
}

// The end of a kernel, as far as this SM sees it: no TB is here, and the next one is of another
// launch. [D109]
void Sm::FlushL1(const Launch& launch, Cycle now) {
  const std::uint64_t which = std::uint64_t{Index(launch.job)} << 32 | launch.number;
  if (taken_ == ResourceVector{} && which != last_launch_) lsu_.FlushL1(now);
  last_launch_ = which;
}

// The TB's registers and shared memory.
void Sm::ClaimPlace(const WarpStart& start, const ResourceVector& need, Cycle now) {
  if (gpu_.control == nullptr) return;
  const unsigned slot = Index(start.tb_slot);
  places_.Claim(slot, start.base, need, gpu_.control->partition(id_, start.kernel), now);
  blocks_[slot].base = start.base;
}

void Sm::Activate(unsigned slot, Cycle now) {
  ThreadBlock& block = blocks_[slot];
  const bool whole = block.valid && !block.active && block.placed == block.warps;
  gpu_.checks.Require(whole, now, Index(id_), [&] {
    return "TB slot " + std::to_string(slot) + " is activated with " +
           std::to_string(block.placed) + " of " + std::to_string(block.warps) + " warps";
  });
  block.active = true;
  active_ |= block.lanes;
  if (block.restore) Restore(&block, slot, now);
  FindRunnable();
  const Cycle first_issue = now + block.wait + config_.warp_start_latency;
  for (LaneMask lanes = block.lanes & live_; lanes != 0; lanes &= lanes - 1) {
    const unsigned lane = LowestLane(lanes);
    Warp& warp = warps_[lane];
    warp.earliest = static_cast<std::uint32_t>(first_issue);
    unfetched_ |= LaneBit(lane);
    SetNext(&warp, lane);
    if ((block.at_barrier & LaneBit(lane)) != 0) {
      SetReason(lane, kAtBarrier);
    } else {
      Schedule(&warp, lane, now);
    }
  }
  if ((ended_kernels_ >> Index(block.kernel) & 1) != 0) {
    // No sooner than a TB whose only instruction is its exit.
    block.quiet_at = std::max(block.quiet_at, first_issue);
    EndEarly(&block, slot, now);
  }
}

// The TB continues where it was saved.
void Sm::Restore(ThreadBlock* block, unsigned slot, Cycle now) {
  const Launch& launch = gpu_.launches[Index(block->kernel)];
  const std::uint64_t address =
      traffic_.Finish(TbSlot{static_cast<std::uint8_t>(slot)}, false, launch, now);
  const TbContext& context =
      gpu_.contexts.Take(launch, block->kernel, block->tb, address, Index(id_), now);
  ++counters_[Index(block->kernel)].restores;
  if (!context.flushable) inputs_.tb_flushable &= ~(1u << slot);
  for (unsigned w = 0; w < block->warps; ++w) {
    const unsigned lane = block->lane_of[w];
    const LaneMask bit = LaneBit(lane);
    warps_[lane].cursor = context.cursors[w];
    if ((context.exited >> w & 1) != 0) {
      SetLive(live_ & ~bit);
      active_ &= ~bit;
      ++block->exited;
    } else if ((context.at_barrier >> w & 1) != 0) {
      block->at_barrier |= bit;
      ++block->arrived;
    }
  }
}

void Sm::SetStopped(std::uint32_t tb_stop, Cycle now) {
  stopped_ = 0;
  for (unsigned slot = 0; slot < kMaxTbSlots; ++slot) {
    ThreadBlock& block = blocks_[slot];
    if ((tb_stop >> slot & 1) == 0) {
      block.stopped_at = kNever;
    } else if (block.valid) {
      stopped_ |= block.lanes;
      if (block.stopped_at != kNever) continue;
      block.stopped_at = now;
      FindQuiet(&block);
    }
  }
  tb_stop_ = tb_stop;
  FindRunnable();
  SetSkips(true);
  if (ended_kernels_ == 0) return;
  for (unsigned slot = 0; slot < kMaxTbSlots; ++slot) {
    ThreadBlock& block = blocks_[slot];
    if ((ended_kernels_ >> Index(block.kernel) & 1) != 0) EndEarly(&block, slot, now);
  }
}

// Its warps do not go on: when what they have issued will be done, as far as it is known.
void Sm::FindQuiet(ThreadBlock* block) {
  for (LaneMask lanes = block->lanes & live_; lanes != 0; lanes &= lanes - 1) {
    block->quiet_at = std::max(block->quiet_at, warps_[LowestLane(lanes)].LastResult());
  }
}

// A TB leaves without having finished.
void Sm::Release(const SmOutputs& out, Cycle now) {
  const unsigned slot = Index(out.release_slot);
  ThreadBlock& block = blocks_[slot];
  const auto name = [&] { return "TB slot " + std::to_string(slot); };
  const std::uint32_t stopped = tb_stop_ | out.tb_stop;
  gpu_.checks.Require(block.valid && (stopped >> slot & 1) != 0, now, Index(id_),
                      [&] { return name() + " is released but holds no stopped TB"; });
  if (block.merged != nullptr) {
    RunChecks::Fail(now, Index(id_), name() + " has a group of a merged launch and is preempted");
  }
  const unsigned kernel = Index(block.kernel);
  if (out.release_kind == TbRelease::kSaved) {
    gpu_.checks.Require(block.Quiet(now) && !block.AllExited(), now, Index(id_), [&] {
      return name() + " is saved while instructions of it are in flight";
    });
    Save(block, out.release_slot, now);
    ++counters_[kernel].preemptions;
    if (block.stopped_at != kNever) counters_[kernel].preemption_cycles += now - block.stopped_at;
    gpu_.ledger.Leave(block.kernel, block.tb, TbLedger::Place::kSaved, Index(id_), now);
    FreeSlot(slot, 'S', now);
  } else {
    gpu_.checks.Require((inputs_.tb_flushable >> slot & 1) != 0, now, Index(id_),
                        [&] { return name() + " is flushed but its TB cannot start again"; });
    ++counters_[kernel].flushes;
    gpu_.ledger.Leave(block.kernel, block.tb, TbLedger::Place::kFlushed, Index(id_), now);
    FreeSlot(slot, 'F', now);
    Unclaim(slot, now);
  }
}

void Sm::Save(const ThreadBlock& block, TbSlot slot, Cycle now) {
  const Launch& launch = gpu_.launches[Index(block.kernel)];
  const std::uint64_t address = traffic_.Finish(slot, true, launch, now);
  TbContext context;
  context.kernel = block.kernel;
  context.launch = launch.number;
  context.tb = block.tb;
  context.flushable = (inputs_.tb_flushable >> Index(slot) & 1) != 0;
  for (unsigned w = 0; w < block.warps; ++w) {
    const unsigned lane = block.lane_of[w];
    const std::uint64_t bit = std::uint64_t{1} << w;
    warps_[lane].SetCursor();
    context.cursors[w] = warps_[lane].cursor;
    if ((live_ & LaneBit(lane)) == 0) context.exited |= bit;
    if ((block.at_barrier & LaneBit(lane)) != 0) context.at_barrier |= bit;
  }
  gpu_.contexts.Put(launch, address, context, Index(id_), now);
}

// All warps have exited: the TB finishes once everything of it in flight is complete.
void Sm::TryFinish(ThreadBlock* block, unsigned slot, Cycle now) {
  if (block->unresolved != 0 || block->finish_at != kNever) return;
  block->finish_at = std::max(block->quiet_at, now + 1);
  finishing_ |= 1u << slot;
  next_finish_ = std::min(next_finish_, block->finish_at);
  special_at_ = std::min(special_at_, next_finish_);
}

void Sm::EndKernel(KernelId kernel, Cycle now) {
  ended_kernels_ |= 1u << Index(kernel);
  for (unsigned slot = 0; slot < kMaxTbSlots; ++slot) {
    if (blocks_[slot].kernel == kernel) EndEarly(&blocks_[slot], slot, now);
  }
}

// All warps of the TB exit now. One that is stopped stays: it is about to be saved.
void Sm::EndEarly(ThreadBlock* block, unsigned slot, Cycle now) {
  if (!block->valid || !block->active || block->AllExited() || (tb_stop_ >> slot & 1) != 0) return;
  Settle(now + 1);  // cycles until now are charged by the warps that there were
  FindQuiet(block);
  for (LaneMask lanes = block->lanes & live_; lanes != 0; lanes &= lanes - 1) {
    const unsigned lane = LowestLane(lanes);
    const LaneMask keep = ~LaneBit(lane);
    wheel_.Remove(lane);
    SetLive(live_ & keep);
    for (LaneMask* mask : {&active_, &runnable_, &data_ready_, &unknown_}) *mask &= keep;
    ClearReasons(LaneBit(lane));
    ClearPorts(LaneBit(lane));
  }
  block->exited = block->warps;
  block->arrived = 0;
  block->at_barrier = 0;
  block->cut = true;
  TryFinish(block, slot, now);
}

std::uint64_t Sm::tb_cycles(KernelId kernel, Cycle now) const {
  std::uint64_t sum = tb_cycles_[Index(kernel)];
  for (const ThreadBlock& block : blocks_) {
    if (block.valid && block.charged == kernel) sum += now - block.start;
  }
  return sum;
}

void Sm::Answer(Ticket ticket, Cycle done, Cycle now) {
  if ((ticket & ContextTraffic::kContextTicket) != 0) {
    traffic_.Answer(ticket, done);
    special_at_ = std::min(special_at_, traffic_.NextEvent());
  } else if (lsu_.Answer(ticket, done)) {
    Settle(now + 1);
    TakeResolved(now);
  }
}

void Sm::FreeSlot(unsigned slot, char outcome, Cycle now) {
  ThreadBlock& block = blocks_[slot];
  const Launch& launch = gpu_.launches[Index(block.kernel)];
  for (LaneMask lanes = block.lanes; lanes != 0; lanes &= lanes - 1) {
    RemoveWarp(LowestLane(lanes));
  }
  if (block.merged == nullptr) {
    AddRecord(block, launch, block.tb, slot, outcome, now);
  } else if (block.item) {
    AddRecord(block, block.merged->member(block.item->member).launch, block.item->tb, slot, outcome,
              now);
  }
  if (outcome == 'R') return;  // the end of the run: the TB stays
  tb_cycles_[Index(block.charged)] += now - block.start;
  taken_ -= launch.spec->need;
  places_.Free(slot);
  --resident_[Index(block.kernel)];
  FindSoleKernel();
  finishing_ &= ~(1u << slot);
  inputs_.tb_flushable &= ~(1u << slot);
  block.valid = false;
}

void Sm::AddRecord(const ThreadBlock& block, const Launch& launch, TbId tb, unsigned slot,
                   char outcome, Cycle now) const {
  if (gpu_.tb_records == nullptr) return;
  gpu_.tb_records->push_back({block.start, now, block.charged, launch.number, tb, id_,
                              TbSlot{static_cast<std::uint8_t>(slot)}, block.restore, outcome,
                              launch.job, block.base});
}

void Sm::FindSoleKernel() {
  TakeTally();
  unsigned kernels = 0;
  for (unsigned k = 0; k < kNumKernels; ++k) {
    if (resident_[k] == 0) continue;
    ++kernels;
    sole_kernel_ = k;
  }
  // A merged launch has warps of several.
  if (kernels != 1 || gpu_.launches[sole_kernel_].merged != nullptr) sole_kernel_ = kNumKernels;
  FindTallied();
}

void Sm::RemoveWarp(unsigned lane) {
  const LaneMask keep = ~LaneBit(lane);
  const Warp& warp = warps_[lane];
  if ((live_ & LaneBit(lane)) != 0) wheel_.Remove(lane);  // one that has exited is not there
  SetLive(live_ & keep);
  for (LaneMask* mask : {&occupied_, &active_, &stopped_, &runnable_, &data_ready_, &unknown_,
                         &awaiting_, &kernel_lanes_[warp.kernel]}) {
    *mask &= keep;
  }
  ClearReasons(LaneBit(lane));
  ClearPorts(LaneBit(lane));
  warps_[lane].passing = Passing{};
}

}  // namespace smk
