// SPDX-License-Identifier: Apache-2.0
// Reference of smk_tb_dispatch: which TB goes to which SM, and who has to leave.
//
// Purpose     The dispatch decision in every mode: on demand with victim search and the test of the
//             range of rK (Fig. 4), with partitions (Fig. 7), left-over, even split, fixed table,
//             spatial.
// Paper       [SMK] Sec. 5.3, Fig. 4 and 7; 5.5; deviations [D1], [D2], [D13], [D14], [D22],
//             [D73].
// Interface   Reads the registers of the driver's other blocks; command: stream towards the SMs.
// Latency     A dispatch is decided 4 cycles after Idle sees work, an eviction 2; a preemption of n
//             TBs 15 + n. At least 4, 2 and 15 times latency_scale. A decision that is overtaken by
//             an event begins anew; waiting for the planner or for an SM comes on top.
// Throughput  One decision at a time.
// Reset       No partition, nothing tried.
// Doc         docs/blocks/tb_dispatch.md
// A pair (kernel, SM) for which nothing could be done is not tried again before something changes.
#pragma once

#include <optional>

#include "control/driver/drf_tracker.h"
#include "control/driver/partition_planner.h"
#include "control/driver/preempted_queue.h"
#include "control/driver/sm_assign.h"

namespace smk {

class TbDispatch {
 public:
  struct Config {
    unsigned num_sms = 16;
    ResourceVector limits{};
  };
  // The driver's registers, as wires into this block.
  struct Inputs {
    const KernelTable::State* kernels = nullptr;
    const DrfTracker* drf = nullptr;
    const PreemptedQueue* queue = nullptr;
    const PartitionPlanner::State* planner = nullptr;
    const SmAssign::State* assign = nullptr;
    bool assign_busy = false;  // SMs are being assigned, or will be from the next cycle on
    const PolicyConfig* policy = nullptr;
    KernelMask active = 0;
    KernelMask need_changed = 0;  // launched with another need: its partitions are void
    KernelMask kernel_done = 0;
    KernelMask member_expired = 0;  // its place is given away: partitions with it are void
    SmMask event_mask{};            // SMs with any event
    SmMask settled_mask{};          // SMs with a kSettled event
    SmMask command_ready{};         // SMs that can take a command
    SmMask waiting{};               // SMs on which a TB waits for a gap
    SmMask waits{};                 // on which that begins
    bool tick = false;              // an epoch ends
    KernelMask held = 0;            // kernels that wait for older ones
  };
  enum class Step : std::uint8_t {
    kIdle,
    kMask,
    kSm,
    kLook,
    kFit,
    kVictimSm,
    kVictimLook,
    kVictimKernel,
    kCount,
    kRange,
    kPlan,
    kSendPlan,
    kSend
  };
  // Cycles of a preemption after Fit, but for one per victim; those of them after the first that
  // may give up; those of the last step, Range.
  static constexpr unsigned kSearchSteps = 11;
  static constexpr unsigned kLateSteps = 7;
  static constexpr unsigned kRangeSteps = 7;
  static constexpr unsigned kGuardTicks = 2;
  struct Reservation {
    KernelId kernel{0};  // who gets the room
    KernelId victim{0};
  };
  // To the other blocks, for the cycle after a decision.
  struct Pulses {
    bool plan_start = false;
    KernelMask plan_kernels = 0;
    bool dispatch_new = false;  // the kernel's next TB
    bool pop = false;           // the kernel's first preempted TB
    bool dispatch = false;      // any of the two
    bool dispatch_reserved = false;
    bool reserve = false;
    bool cancel = false;
    bool preempt = false;
    KernelId kernel{0};
    SmId sm{0};
    KernelId victim{0};
    std::uint8_t victim_tbs = 0;
    bool any() const { return plan_start || dispatch || reserve || cancel || preempt; }
  };
  // What a decision has found on the SM it looks at.
  struct Look {
    bool allowed = false;
    bool waiting = false;
    bool fits = false;
    bool planned = false;
    bool below = false;  // the partition has room
  };
  // Who loses TBs, and how many.
  struct VictimSearch {
    SmMask sms{};  // that may lose some
    std::uint8_t sm = 0;
    bool room_coming = false;
    bool found = false;
    bool buffers = false;  // enough are free
    std::array<int, 3> missing{};
    std::uint8_t range_steps = 0;
  };
  struct State {
    Step step = Step::kIdle;
    std::uint16_t wait = 0;  // cycles before a decision may act at the earliest
    bool searching = false;  // the wait of a dispatch is over, that of a preemption has begun
    bool happened = false;   // something has happened: what a decision looked at may have changed
    bool happened_late = false;  // the cycle before
    SmMask changed_late{};       // SMs with an event, or assigned anew, in the last cycle
    bool launched = false;       // the set of active kernels has changed
    KernelMask active = 0;       // of the last cycle
    KernelMask kernels = 0;      // that may be dispatched
    std::array<SmMask, kMaxKernels> candidates{};
    std::uint8_t kernel = 0;  // candidate kernel
    std::uint8_t candidate_sm = 0;
    std::uint8_t sm = 0;  // the candidate SM, then the victim SM
    Look look{};
    VictimSearch search{};
    std::uint8_t victim = 0;
    std::uint8_t victim_tbs = 0;
    bool plan_void = false;  // kernels changed while the plan was made
    bool reserved = false;   // the decision serves a reservation
    bool evict = false;      // the decision evicts
    std::uint8_t plan_kernel = 0;
    bool plan_kept = false;  // what the planner has holds on any SM with these kernels
    SmMask plan_sms{};       // the plan goes to these
    std::array<SmMask, kMaxKernels> tried{};
    SmMask busy{};  // SMs with TBs leaving: not settled
    std::array<Reservation, kMaxSms> reservation{};
    SmMask reservations{};  // valid ones
    // Ticks before another kernel than that of the reservation may have TBs leave there [D22].
    std::array<std::uint8_t, kMaxSms> guard{};
    SmMask guarded{};        // SMs with some
    SmMask victims_valid{};  // SMs with a kPreempt in flight whose victim kernel still runs
    std::array<KernelMask, kMaxSms> planned{};  // kernels covered by the partition in force
    PartitionTable partition{};
    bool command_valid = false;
    std::uint8_t command_sm = 0;
    SmCommand command{};
    Pulses pulses{};
    std::optional<Decision> decision{};  // made at the last edge, without its cycle; for logs
  };
  // All outputs are registers.
  using Outputs = State;

  explicit TbDispatch(const Config& config) : config_(config) {}
  // False: nothing will happen without an input.
  bool Awake(const Inputs& in) const {
    return state_.step != Step::kIdle || state_.happened || state_.happened_late ||
           state_.launched || in.active != state_.active || HasWork(in);
  }
  const Outputs& Eval(const Inputs&) const { return state_; }
  void Tick(const Inputs& in);
  const State& state() const { return state_; }
  // It is about to decide, or decides: nobody else dispatches.
  bool Decides() const { return state_.step != Step::kIdle; }
  // To whom the command goes.
  SmMask CommandSms() const {
    const bool plan = state_.command.op == CommandOp::kPartition;
    return plan ? state_.plan_sms : SmMask::Of(state_.command_sm);
  }
  // TBs are left to tb_stream.
  static bool Streams(const PolicyConfig& policy) {
    return policy.stream && policy.dispatch != DispatchMode::kOnDemand;
  }
  static bool Partitioned(const PolicyConfig& policy) {
    return policy.dispatch == DispatchMode::kPartitioned ||
           policy.dispatch == DispatchMode::kEven || policy.dispatch == DispatchMode::kTable ||
           policy.dispatch == DispatchMode::kSlicer;
  }
  SmMask all_sms() const { return SmMask::First(config_.num_sms); }

 private:
  // What the step of this cycle does to what is remembered; what happened comes first.
  struct Act {
    bool failed = false;     // nothing can be done for the pair
    bool retry_all = false;  // rK has changed
    SmMask leaving{};
    SmMask reserve{};
    SmMask unreserve{};
    SmMask guard_ends{};
    bool plan_start = false;
    bool plan_in_force = false;
  };

  bool HasWork(const Inputs& in) const;
  bool Happens(const Inputs& in) const;
  SmMask GuardEnds(const Inputs& in) const;
  void Guard(const Inputs& in);
  SmMask GuardedFrom(unsigned kernel) const;
  bool Deciding() const { return state_.step > Step::kIdle && state_.step < Step::kPlan; }
  bool Overtaken() const;
  void Forget(const Inputs& in);
  void ForgetTried(const Inputs& in);
  void ForgetDone(const Inputs& in);
  SmMask Retry(const Inputs& in) const;
  void Apply(const Inputs& in);
  void Wait(const Inputs& in, Step before);
  unsigned WaitingTbs(const Inputs& in, unsigned kernel) const;
  KernelMask Waiting(const Inputs& in) const;
  // SMs with TBs on their way out, or with one that has no place yet.
  SmMask Busy(const Inputs& in) const { return state_.busy | in.waiting; }
  SmMask Usable(const Inputs& in, unsigned kernel) const;
  // SMs on which something might still be done for the kernel.
  SmMask Candidates(const Inputs& in, unsigned kernel) const;
  SmMask SmsToEvict(const Inputs& in) const;
  bool HasCandidates(const Inputs& in) const;
  void Mask(const Inputs& in);
  void TakeLowest();
  void PickSm(const Inputs& in);
  void LookAt(const Inputs& in);
  void Fit(const Inputs& in);
  void FitReserved(const Inputs& in);
  void FitPartitioned(const Inputs& in);
  void FindVictimSm(const Inputs& in);
  void FindVictimKernel(const Inputs& in);
  void CountVictims(const Inputs& in);
  void TestRange(const Inputs& in);
  void Preempt();
  unsigned RoomComing(unsigned kernel) const;
  SmMask PlanSms(const Inputs& in) const;
  void SendPlan(const Inputs& in);
  void WaitForSm(const Inputs& in);
  void TakeStep(const Inputs& in);
  void TakeSearchStep(const Inputs& in);
  void WaitForPlan(const Inputs& in);
  void Dispatch(const Inputs& in);
  void Evict(const Inputs& in);
  void GiveUp(DecisionReason reason);
  void Send(const SmCommand& command);
  void Decide(DecisionReason reason);

  Config config_;
  State state_;
  Act act_;
  const Inputs* in_ = nullptr;  // of the current Tick, for decisions
};

}  // namespace smk
