// SPDX-License-Identifier: Apache-2.0
// One streaming multiprocessor, without its control logic.
//
// Purpose     Executes the warps that the control plane places, in the cycles in which it grants
//             them: instruction buffer, scoreboard, execution ports, LSU with L1, barriers, and the
//             reason of every cycle in which a scheduler does not issue.
// Paper       [SMK] Sec. 2.2, 5.1.
// Cycle       Begin(now): what is due now happens, inputs() are the signals to the control logic.
//             End(now, outputs): grants and commands of the same cycle. Both only in cycles not
//             before NextEvent(), or in which the control logic is awake; the cycles between are
//             accounted for when the SM is woken. Begin in two steps, for a control plane that is
//             told first of all SMs which warps are ready: BeginReady() and BeginRest().
// Issue       In order per warp. One instruction buffer of `fetch_width` per warp; the SM fetches
//             for `fetch_warps` warps per cycle, so that all schedulers together cannot issue more
//             than fetch_warps x fetch_width for long. An instruction can issue when its source and
//             destination registers have no result outstanding: a result of latency n can be used n
//             cycles after the issue.
// Ports       SP, SFU (and integer multiply), DP and constant cache, each busy for `initiation`
//             cycles: one for each scheduler, or fewer that all share (sm.units). All schedulers
//             may issue to a shared pipe that is free in the same cycle; the later ones start as
//             pipes become free, and nobody issues to it before one is. One LSU for the SM.
//             Branch, barrier and exit need no port. With operand collectors (sm.collectors) an
//             instruction issues before its port is free and waits there: see collectors.h.
// Barrier     The waiting warps continue `barrier_latency` cycles after the last one arrives.
// Finish      A TB whose warps have all exited pulses tb_finished when nothing of it is in flight,
//             the cycle after the last exit at the earliest. Such a TB is never reported quiet, not
//             even when it is stopped: it finishes.
// Speed       At issue everything that can be known of the next instruction is computed and the
//             warp goes on the timing wheel; nothing is polled. See lanes.h for masks and stamps.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "config/machine_config.h"
#include "control/control_plane.h"
#include "machine/context_store.h"
#include "machine/run.h"
#include "machine/run_checks.h"
#include "machine/sm/collectors.h"
#include "machine/sm/decoded_code.h"
#include "machine/sm/issues.h"
#include "machine/sm/lsu.h"
#include "machine/sm/place_check.h"
#include "machine/sm/sm_shape.h"
#include "machine/sm/stall_account.h"
#include "machine/sm/thread_block.h"
#include "machine/sm/warp.h"
#include "machine/sm/warp_wheel.h"
#include "machine/tb_waves.h"
#include "memory/memory_port.h"
#include "workload/launch.h"

namespace smk {

// What all SMs share.
struct GpuContext {
  const LaunchTable& launches;
  RunChecks& checks;
  TbLedger& ledger;
  ContextStore& contexts;
  CodeTable& code;
  const ControlPlane* control = nullptr;        // where TBs lie is not checked when null
  std::vector<TbRecord>* tb_records = nullptr;  // not recorded when null
  unsigned sector_bytes = kLineBytes;
  TbWaves* waves = nullptr;  // where TBs begin in waves
};

// See the head of this file.
class alignas(64) Sm {
 public:
  // `shape` outlives it.
  Sm(SmId id, const SmShape& shape, bool ideal_preemption, const GpuContext& gpu,
     MemoryPort& memory);
  Sm(const Sm&) = delete;
  Sm& operator=(const Sm&) = delete;

  // An ordinary cycle: nothing happens but that warps are ready, which are told. If the control
  // logic does not speak, BeginOrdinary() and EndOrdinary() then take the place of Begin() and
  // End().
  bool Ordinary(Cycle now) const { return now < special_at_; }
  // The next cycle is none.
  void ExpectControl() { special_at_ = 0; }
  // `Collects`: it has operand collectors.
  template <bool Collects>
  LaneMask BeginOrdinary(Cycle now);
  template <bool Collects>
  Cycle EndOrdinary(Cycle now, LaneMask granted);  // and NextEvent()
  // The same after BeginReady(): what is left of BeginOrdinary(), and with EndOrdinary().
  void BeginOrdinaryRest(Cycle now);
  template <bool Collects>
  Cycle EndPrepared(Cycle now, LaneMask granted);
  void Begin(Cycle now);
  // Only which warps are ready; nothing that other SMs see.
  LaneMask BeginReady(Cycle now);
  void BeginRest(Cycle now);
  // Whether BeginReady() can tell: with operand collectors and pipes that all schedulers share,
  // which warps are ready depends on what the LSU does in the same cycle.
  bool TellsReadyFirst() const { return !collects_ || !shape_.any_shared; }
  const SmInputs& inputs() const { return inputs_; }
  // `out` is null when the control logic was not stepped.
  void End(Cycle now, const SmOutputs* out);
  // The next cycle in which something happens, if the control logic sleeps.
  Cycle NextEvent(Cycle now) { return NextEvent<true>(now, data_ready_ & runnable_ & ~busy_); }
  // At the end of a cycle: an answer of memory, where requests wait for their turn.
  void Answer(Ticket ticket, Cycle done, Cycle now);
  // Between two cycles: ends the warps of the kernel slot that are here, without an instruction,
  // and those that come. TBs that are stopped are saved first: the control logic counts on that.
  void EndKernel(KernelId kernel, Cycle now);
  // A new launch is in the kernel slot: its warps execute.
  void AdmitKernel(KernelId kernel) { ended_kernels_ &= ~(1u << Index(kernel)); }
  // Accounts for all cycles before `now`.
  void Settle(Cycle now);
  // Counts for the LSU what has passed of an instruction's wait there.
  void CountLsuBusy(Cycle now) { lsu_.CountBusy(now); }
  // The end of the run: settles, closes TB records.
  void Finish(Cycle end);

  // What this SM itself counts of a kernel; the rest of KernelStats stays 0.
  KernelStats counters(unsigned kernel) const {
    KernelStats stats = counters_[kernel];
    for (unsigned missing = 0; missing < kWarpThreads; ++missing) {
      const std::uint64_t warps = issues_.Of(kernel, missing);
      stats.warp_instructions += warps;
      stats.thread_instructions += warps * (kWarpThreads - missing);
    }
    stats.alu_busy = PipeCycles(kernel, {OpClass::kAlu});
    stats.sfu_busy = PipeCycles(kernel, {OpClass::kImul, OpClass::kSfu});
    stats.dp_busy = PipeCycles(kernel, {OpClass::kDp});
    stats.lsu_busy = lsu_.stats().busy[kernel];
    return stats;
  }
  std::uint64_t warp_instructions(unsigned kernel) const {
    std::uint64_t sum = 0;
    for (unsigned missing = 0; missing < kWarpThreads; ++missing)
      sum += issues_.Of(kernel, missing);
    return sum;
  }
  // Resident TBs, integrated over the cycles before `now`.
  std::uint64_t tb_cycles(KernelId kernel, Cycle now) const;
  // When the last TB finished that was in the kernel slot; 0: none.
  Cycle last_tb_end(KernelId kernel) const { return last_tb_end_[Index(kernel)]; }
  // As of the last Settle().
  const StallAccount& stalls() {
    TakeTally();
    return stalls_;
  }
  const Lsu& lsu() const { return lsu_; }
  const ContextTraffic& context_traffic() const { return traffic_; }
  // TBs that waited for a gap in its memories, and how long, since the beginning of the run.
  std::uint64_t place_waits() const { return place_waits_; }
  std::uint64_t place_wait_cycles() const { return place_wait_cycles_; }
  const ResourceVector& taken() const { return taken_; }
  unsigned resident_tbs(KernelId kernel) const { return resident_[Index(kernel)]; }

 private:
  using Port = SmShape::Port;
  using OpCost = SmShape::OpCost;
  static constexpr Port kNoPort = Port::kNoPort, kSp = Port::kSp, kLsu = Port::kLsu;
  static constexpr unsigned kNumPorts = SmShape::kNumPorts;
  // Why a warp is not ready. One without a reason waits for its instruction.
  enum Reason : std::uint8_t { kShort, kMemory, kAtBarrier, kNumWaits };

  // sm.cc: the cycle.
  void Receive(Cycle now);
  void SetReady();
  void SetLevels(Cycle now);
  LaneMask BlockedLater(LaneMask lanes, Cycle now);
  LaneMask BlockedByCollectors(LaneMask lanes) const;
  LaneMask Wanting(unsigned ports, unsigned scheduler) const;
  template <typename Ports>
  LaneMask WantingFull(const Ports& ports) const;
  void AdvancePrepared(Cycle now);
  void CheckBlocked(Cycle now) const;
  Cycle LaterEvent(Cycle now);
  Cycle PortsFreeAt(LaneMask lanes, Cycle now) const;
  void SetQuiet(Cycle now);
  void SetMemory();
  void TakeResolved(Cycle now);
  void FinishDueTbs(Cycle now);
  LaneMask Granted(const SmOutputs& out, Cycle now) const;
  // `ready`: that have their data, and no port was busy for them.
  template <bool Collects>
  Cycle NextEvent(Cycle now, LaneMask ready) {
    // Without a branch between the two, which the host could not guess.
    const LaneMask lanes = ready | wheel_.Due(now + 1);
    if (lanes != 0) return now + 1;
    const bool soon = lsu_.next_pass() == now + 1 || (Collects && Collecting());
    return soon ? now + 1 : LaterEvent(now);
  }
  void FindSpecial();
  [[noreturn]] void RefuseGrant(unsigned scheduler, unsigned index, Cycle now) const;
  // sm_ordinary.h: what every cycle has, and an issue whose time is known.
  template <bool Ordinary>
  void Wake(Cycle now);
  template <bool Collects>
  void FindReady(Cycle now);
  template <bool Collects>
  LaneMask BlockedByPorts(LaneMask lanes, Cycle now);
  template <bool Collects>
  void IssueInline(LaneMask granted, Cycle now);
  template <bool Collects>
  void Issue(unsigned lane, Cycle now);
  Cycle TakePipe(const Step& step, unsigned lane, Cycle now);
  Cycle TakeBanks(const Step& step, const Warp& warp, Cycle now);
  const Step* Next(Warp* warp, LaneMask bit, Cycle now);
  // sm_issue.cc: any other issue.
  void IssueAll(LaneMask granted, Cycle now);
  void IssueOther(const Step& step, Warp* warp, unsigned lane, Cycle now);
  bool IssueSpecial(const Step& step, Warp* warp, unsigned lane, Cycle now);
  bool IssueWithoutPort(const Step& step, Warp* warp, unsigned lane, Cycle now);
  Cycle TakeUnit(Port port, unsigned initiation, Cycle now);
  Cycle TakeSharedPipe(const Step& step, unsigned lane, Cycle now);
  void IssueToLsu(const Step& step, Warp* warp, unsigned lane, Cycle now,
                  Collectors::Entry* waited);
  void Queue(const Step& step, Warp* warp, unsigned lane, Cycle now, Collectors::Entry* waited);
  static std::uint8_t LinesOf(Warp* warp, std::uint64_t* lines, SectorMask* sectors);
  bool PipeTakes(unsigned port, unsigned scheduler, Cycle now);
  void ReleaseBarrier(ThreadBlock* block, Cycle now);
  void Exit(Warp* warp, unsigned lane, ThreadBlock* block, Cycle now);
  void Schedule(Warp* warp, unsigned lane, Cycle now);
  void ScheduleAwaiting(Warp* warp, unsigned lane, Cycle now);
  bool Awaits(unsigned lane) const { return (awaiting_ & LaneBit(lane)) != 0; }
  void Resolve(Warp* warp, unsigned lane, Cycle now);
  // sm_schedule.h: when results are there and warps go on.
  void ReceiveAnswers(Cycle now);
  void ClearReasons(LaneMask lanes);
  // Lanes without a reason.
  LaneMask ForInstruction() const {
    return ~(reason_lanes_[kShort] | reason_lanes_[kMemory] | reason_lanes_[kAtBarrier]);
  }
  void ClearPorts(LaneMask lanes);
  void SetReason(unsigned lane, Reason reason);
  void SetNext(Warp* warp, unsigned lane);
  template <bool Ahead>
  void ScheduleInline(Warp* warp, unsigned lane, Cycle now);
  template <bool Ahead>
  void ScheduleAt(Warp* warp, LaneMask bit, Cycle now, Stamp operands);
  void ScheduleFar(LaneMask bit, Cycle at, Cycle now, Stamp operands);
  void ResolveInline(Warp* warp, unsigned lane, Cycle now);
  void Known(const Step& step, Cycle done, Warp* warp);
  void KnownLater(const Step& step, Cycle done, Warp* warp);
  static void KnownToWarp(const Step& step, Cycle done, Warp* warp);
  static void KnownToBlock(Cycle done, ThreadBlock* block);
  static void Unknown(const Step& step, Warp* warp);
  // sm_collected.h and sm_collected.cc: through the operand collectors.
  void IssueCollected(LaneMask granted, Cycle now);
  bool Passes(const Step& step, Warp* warp, unsigned lane, Cycle now);
  void Wait(const Step& step, Warp* warp, unsigned lane);
  void FindLines(Warp* warp, Collectors::Entry* entry);
  void Start(Collectors::Entry* waited, Cycle now);
  void AdvanceCollectors(Cycle now);
  template <bool Ahead>
  void ScheduleCollected(Warp* warp, unsigned lane, Cycle now, Stamp operands);
  void ScheduleLater(Warp* warp, unsigned lane, Cycle now, Stamp operands);
  void ResolveDue(Cycle now);
  void Unclaim(unsigned slot, Cycle now);
  // Its TB was flushed meanwhile.
  bool Dropped(const Collectors::Entry& entry) const {
    const ThreadBlock& block = blocks_[entry.tb_slot];
    return !block.valid || block.generation != entry.tb_generation;
  }
  // Something in the collectors needs this cycle.
  bool Collecting() const { return collects_ && (!collectors_.empty() || resolving_ != 0); }
  // sm_blocks.cc: thread blocks come and go.
  void Place(const WarpStart& start, Cycle now);
  void ClaimSlot(const WarpStart& start, Cycle now);
  void FlushL1(const Launch& launch, Cycle now);
  void ClaimPlace(const WarpStart& start, const ResourceVector& need, Cycle now);
  void Activate(unsigned slot, Cycle now);
  void Restore(ThreadBlock* block, unsigned slot, Cycle now);
  void SetStopped(std::uint32_t tb_stop, Cycle now);
  void FindQuiet(ThreadBlock* block);
  void Release(const SmOutputs& out, Cycle now);
  void Save(const ThreadBlock& block, TbSlot slot, Cycle now);
  void TryFinish(ThreadBlock* block, unsigned slot, Cycle now);
  void EndEarly(ThreadBlock* block, unsigned slot, Cycle now);
  void FreeSlot(unsigned slot, char outcome, Cycle now);
  void FindSoleKernel();
  void RemoveWarp(unsigned lane);
  void AddRecord(const ThreadBlock& block, const Launch& launch, TbId tb, unsigned slot,
                 char outcome, Cycle now) const;
  // sm_merged.cc: groups of merged launches.
  bool NextPart(ThreadBlock* block, unsigned slot, Cycle now);
  void EndItem(ThreadBlock* block, unsigned slot, Cycle now);
  void ChargeTo(KernelId kernel, ThreadBlock* block, Cycle now);
  void StartPart(const Launch& launch, TbId tb, ThreadBlock* block, Cycle now, Cycle known);
  unsigned LaneOf(WarpId warp) const;
  // For how long the instructions of these classes have taken their pipes.
  std::uint64_t PipeCycles(unsigned kernel, std::initializer_list<OpClass> classes) const {
    std::uint64_t cycles = 0;
    for (const OpClass op : classes) {
      const auto i = static_cast<unsigned>(op);
      cycles += issues_.Of(kernel, op) * costs_[i].initiation;
    }
    return cycles;
  }
  // sm_stalls.cc: why schedulers do not issue.
  void Account(LaneMask granted);
  void AccountSleep(Cycle cycles);
  template <bool Ordinary>
  void AccountInline(LaneMask granted, LaneMask ready, LaneMask busy, unsigned cycles);
  void AccountEach(LaneMask granted, LaneMask ready, LaneMask busy, unsigned cycles);
  template <unsigned Warps, bool Ordinary>
  void AccountSole(LaneMask granted, LaneMask ready, LaneMask busy, unsigned cycles);
  // Stalls are counted for all schedulers at once while warps are of one kernel, none is skipped
  // and it is known which schedulers have none.
  void FindTallied() {
    const bool tallied = sole_kernel_ != kNumKernels && !skips_ && !lanes_changed_;
    tallied_warps_ = tallied ? layout_.lanes_per_scheduler() : 0;
  }
  void SetSkips(bool skips) {
    skips_ = skips;
    FindTallied();
  }
  void ChargeWaiting(LaneMask field, Cycle cycles);
  template <unsigned Warps>
  void ChargeEach(LaneMask granted, LaneMask ready, LaneMask busy, Cycle cycles);
  void TakeTally();
  void SetLive(LaneMask live) {
    live_ = live;
    lanes_changed_ = true;
    tallied_warps_ = 0;
  }
  void FindRunnable() {
    runnable_ = active_ & ~stopped_;
    SetLive(live_);
  }
  // Schedulers without any of the lanes.
  unsigned Without(LaneMask lanes) const {
    return layout_.CountOf(shape_.all_schedulers & ~layout_.LastLanesIn(lanes));
  }
  void AccountChanged(LaneMask granted, LaneMask ready, LaneMask busy, unsigned cycles);
  unsigned Oldest(LaneMask lanes) const {
    unsigned lane = LowestLane(lanes);
    for (LaneMask older = older_[lane] & lanes; older != 0; older = older_[lane] & lanes) {
      lane = LowestLane(older);
    }
    return lane;
  }
  // sm_sim_stalls.cc: the same as the papers' simulator counts it.
  void NoteQuotas(const SmOutputs* out);
  // Warps that the schedulers do not look at, besides those of stopped TBs, when quotas are in
  // force.
  LaneMask Skipped() { return skipped_stale_ ? FindSkipped() : skipped_; }
  LaneMask FindSkipped();
  // Those that they look at.
  LaneMask Seen() { return gated_ ? runnable_ & ~Skipped() : runnable_; }
  void MoveStalls(SimStall ours, LaneMask waiting, Cycle cycles);
  Cycle Unfetched(LaneMask lanes, Cycle cycles);

  // What the SMs share, so that it is in the host's first cache but once.
  const SmShape& shape_;
  const SmConfig& config_;
  const LaneLayout& layout_;
  const std::array<OpCost, kNumOpClasses>& costs_;

  // Warps by lane, a bit in each mask; and what else every cycle looks at, close together.
  LaneMask runnable_ = 0;    // active and not stopped
  LaneMask data_ready_ = 0;  // fetched, operands there
  LaneMask busy_ = 0;        // ready but for the port, this cycle
  LaneMask ready_ = 0;       // what SmInputs::ready says, this cycle
  LaneMask stopped_ = 0;     // of TBs in tb_stop
  LaneMask unfetched_ = 0;   // may be before Warp::earliest; the others are not, or are ready
  std::array<LaneMask, kNumWaits> reason_lanes_{};
  std::array<LaneMask, kNumPorts> port_lanes_{};  // by what they need next; of kNoPort none
  std::array<LaneMask, kNumKernels> kernel_lanes_{};
  Cycle accounted_ = 0;  // all cycles before are
  Cycle next_finish_ = kNever;
  Cycle special_at_ = 0;  // no cycle before can be but an ordinary one
  Cycle ports_busy_until_ = 0;
  Cycle next_fetch_ = 0;             // next free fetch: cycle x fetch_warps + turn
  const std::uint32_t fetch_shift_;  // log2 of fetch_warps
  const std::uint32_t fetch_latency_;
  LaneMask unknown_ = 0;   // waits for a result whose time is not known
  LaneMask awaiting_ = 0;  // in unknown_, behind a memory barrier: waits for all results
  LaneMask skipped_ = 0;   // of kernels without quota
  std::uint32_t tb_stop_ = 0;
  // What the control logic said of quotas: whether they are in force, by scheduler the kernels that
  // have some left.
  std::uint32_t with_quota_ = 0;
  // How many warps the schedulers have of which stalls are counted for all at once; 0: for each.
  unsigned tallied_warps_ = 0;
  bool lanes_changed_ = true;           // live or runnable ones, since schedulers were counted
  unsigned sole_kernel_ = kNumKernels;  // the only one with TBs here, kNumKernels if several
  const bool collects_;                 // it has operand collectors
  bool gated_ = false;
  bool samples_ = false;  // it looks at SmInputs::memory in the next cycle
  bool skips_ = false;  // schedulers may skip warps: quotas are in force, or TBs were just stopped
  bool skipped_stale_ = true;
  bool place_waits_now_ = false;
  SmInputs inputs_{};
  std::array<Cycle, kNumPorts>
      shared_free_{};  // when the first of the pipes that all share is free
  std::array<std::array<Cycle, kMaxSchedulers>, kNumPorts> port_free_{};  // by scheduler or pipe
  Lsu lsu_;
  ContextTraffic traffic_;
  WarpWheel wheel_;
  Issues issues_;     // counted one by one
  StallTally tally_;  // of cycles that stalls_ does not know yet, all sole_kernel_'s
  StallAccount stalls_;
  std::array<std::uint8_t, kLanes> kernel_of_{};  // as Warp::kernel
  std::array<LaneMask, kLanes> older_{};          // who is older than each, among others
  std::array<Warp, kLanes> warps_{};
  std::array<ThreadBlock, kMaxTbSlots> blocks_{};

  SmId id_;
  GpuContext gpu_;
  LaneMask occupied_ = 0;  // has a warp, exited or not
  LaneMask live_ = 0;      // placed, not exited
  LaneMask active_ = 0;    // of activated TBs
  Collectors collectors_;
  // Lanes in unknown_ that wait for the start of what passes the collectors, by cycle; and all of
  // them.
  std::array<LaneMask, kCollectorCycles + 1> resolve_at_{};
  LaneMask resolving_ = 0;
  // Such a one has its pipe for several cycles; a TB that is flushed before it starts gives it
  // back.
  struct Claim {
    Cycle start = 0, before = 0;  // `before`: Sm::port_free_
    std::uint8_t slot = 0;
  };
  std::array<std::array<Claim, kMaxSchedulers>, kNumPorts> claims_{};
  std::uint32_t finishing_ = 0;  // slots with a finish_at
  ResourceVector taken_{};
  PlaceCheck places_;
  std::uint64_t place_waits_ = 0, place_wait_cycles_ = 0;
  std::array<std::uint8_t, kNumKernels> resident_{};
  const bool flushes_l1_;
  std::uint64_t last_launch_ = 0;                       // job and number, of which a TB came last
  unsigned ended_kernels_ = 0;                          // kernel slots, see EndKernel()
  std::array<KernelStats, kNumKernels> counters_{};     // all but issues
  std::array<std::uint64_t, kNumKernels> tb_cycles_{};  // of TBs that have left
  std::array<Cycle, kNumKernels> last_tb_end_{};
};

}  // namespace smk
