// SPDX-License-Identifier: Apache-2.0
// smk_tb_dispatch beside TbDispatch: drives the same registers into both, answers the RTL's
// questions from the reference tracker, and compares everything that counts.
#pragma once

#include <functional>
#include <map>

#include "unit/tb_dispatch_machine.h"

namespace smk {

// What the reference sees, in a copy that can be bent.
struct DispatchView {
  TbDispatch::Inputs in{};
  KernelTable::State kernels{};
  SmAssign::State assign{};
  PartitionPlanner::State planner{};
  PolicyConfig policy{};
};

// With `distort` the RTL is compared with a second reference that is told something else, or whose
// state or decisions are bent: one rule broken.
template <typename DutType, typename Pkg>
class DispatchPair {
 public:
  using Dut = DutType;
  using Package = Pkg;
  static constexpr ResourceVector kLimits{Package::LimitRegisters, Package::LimitSharedMemory,
                                          Package::LimitThreads, Package::LimitTbs};

  DispatchPair(const PolicyConfig& policy, unsigned depth, std::uint64_t seed)
      : lockstep_("tb_dispatch", seed),
        config_(ConfigOf(depth)),
        machine_(config_, policy, seed),
        dice_(seed + 1),
        first_tb_(FirstTbs(&dice_)),
        model_({config_.num_sms, kLimits}),
        broken_({config_.num_sms, kLimits}) {
    DriveAll(machine_.Begin(model_.state()));
    lockstep_.Reset();
  }

  // One cycle; the decision made in it, if any.
  std::optional<Decision> Cycle() {
    TbDispatch::Inputs in = machine_.Begin(model_.state());
    const SmAssign::State shaken = Shaken(*in.assign);
    if (machine_.crowded) in.assign = &shaken;
    const KernelTable::State shifted = Shifted(*in.kernels);
    in.kernels = &shifted;
    DriveAll(in);
    Ask(in);
    const TbDispatch::State before = model_.state();
    work_ = lockstep_.dut().work_o;
    Compare(in);
    machine_.End(before);
    ++cycle_;
    if (model_.state().step == Step::kMask) {
      begun_ = cycle_;
      if (before.step == Step::kIdle) left_idle_ = cycle_;
    }
    return log_.empty() ? std::nullopt : std::optional<Decision>(log_.front());
  }

  Lockstep<Dut>& lockstep() { return lockstep_; }
  DispatchMachine& machine() { return machine_; }
  const TbDispatch::State& state() const { return model_.state(); }
  const std::map<DecisionReason, unsigned>& reasons() const { return reasons_; }
  bool work() const { return work_; }  // of the cycle that ended
  std::function<void(DispatchView*)> distort;

 private:
  using Step = TbDispatch::Step;
  using Inputs = TbDispatch::Inputs;
  static constexpr unsigned kSms = Package::NumSms;
  static constexpr unsigned kRegs = CntWidth(Package::LimitRegisters);
  static constexpr unsigned kShared = CntWidth(Package::LimitSharedMemory);
  static constexpr unsigned kThreads = CntWidth(Package::LimitThreads);
  static constexpr unsigned kTbs = CntWidth(Package::LimitTbs);
  static constexpr unsigned kBuffers = CntWidth(Package::PreemptedDepth);
  static constexpr unsigned kBuffer = CntWidth(Package::PreemptedDepth - 1);
  static constexpr unsigned kKernel = CntWidth(kMaxKernels - 1);
  static constexpr unsigned kSm = CntWidth(kSms - 1);

  static std::array<std::uint32_t, kMaxKernels> FirstTbs(Dice* dice) {
    std::array<std::uint32_t, kMaxKernels> first;
    for (std::uint32_t& tb : first) tb = static_cast<std::uint32_t>(dice->Bits() >> 33);
    return first;
  }
  static ControlConfig ConfigOf(unsigned depth) {
    ControlConfig config;
    config.num_sms = kSms;
    config.limits = kLimits;
    config.preempted_depth = depth;
    return config;
  }

  // Rarely an SM may not host anybody for a cycle, in whatever step that comes.
  SmAssign::State Shaken(SmAssign::State assign) {
    if (dice_.Percent(2)) assign.allowed[Any(kSms)] = 0;
    return assign;
  }

  // The same grids, but from some TB on, so that every bit of an index counts.
  KernelTable::State Shifted(KernelTable::State kernels) const {
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      kernels.slot[k].next_tb += first_tb_[k];
      kernels.slot[k].tb_count += first_tb_[k];
    }
    return kernels;
  }

  void DriveAll(const Inputs& in) {
    DriveKernels(in);
    DriveSms(in);
    Dut& dut = lockstep_.dut();
    const PolicyConfig& policy = *in.policy;
    FieldWriter p(&dut.policy_i);
    p.Put(8, policy.latency_scale).Put(16, policy.linger_ticks).Put(16, policy.epoch_length);
    for (unsigned k = 0; k < kMaxKernels; ++k) p.Put(kTbs, policy.table[k]);
    p.Put(3, policy.kernels_per_sm).Put(1, policy.quota_enable);
    p.Put(1, Code(policy.warp_policy)).Put(2, Code(policy.preempt)).Put(3, Code(policy.dispatch));
    dut.plan_done_i = in.planner->done;
    dut.plan_kernels_i = in.planner->kernels;
    FieldWriter ranges(&dut.plan_range_i);
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      const PartitionRange& r = in.planner->range[k];
      ranges.Put(kTbs, r.tb_count).Put(kThreads, r.threads_limit);
      ranges.Put(kShared, r.shared_memory_limit).Put(kRegs, r.registers_limit);
      ranges.Put(kTbs, r.tb_base).Put(kThreads, r.threads_base);
      ranges.Put(kShared, r.shared_memory_base).Put(kRegs, r.registers_base);
    }
  }
  void DriveKernels(const Inputs& in) {
    Dut& dut = lockstep_.dut();
    dut.active_i = in.active;
    dut.need_changed_i = in.need_changed;
    dut.kernel_done_i = in.kernel_done;
    dut.member_expired_i = in.member_expired;
    FieldWriter order(&dut.order_i);
    FieldWriter need(&dut.need_i);
    FieldWriter remaining(&dut.remaining_i);
    FieldWriter next(&dut.next_tb_i);
    dut.queued_i = 0;
    FieldWriter count(&dut.queue_count_i);
    FieldWriter free(&dut.queue_free_i);
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      const KernelTable::Slot& slot = in.kernels->slot[k];
      order.Put(kKernel, slot.order);
      need.Put(kThreads, slot.need.threads).Put(kShared, slot.need.shared_memory);
      need.Put(kRegs, slot.need.registers);
      remaining.Put(32, slot.tb_count - slot.next_tb);
      next.Put(32, slot.next_tb);
      dut.queued_i |= (in.queue->count(k) != 0 ? 1u : 0u) << k;
      count.Put(kBuffers, in.queue->count(k));
      free.Put(kBuffers, in.queue->buffers_free(k));
    }
  }
  void DriveSms(const Inputs& in) {
    Dut& dut = lockstep_.dut();
    dut.assign_busy_i = in.assign_busy;
    dut.assign_changed_i = static_cast<SData>(in.assign->changed);
    dut.events_valid_i = static_cast<SData>(in.event_mask);
    dut.settled_i = static_cast<SData>(in.settled_mask);
    dut.command_ready_i = static_cast<SData>(in.command_ready);
    dut.queue_ack_i = static_cast<SData>(in.queue->state().ack);
    FieldWriter allowed(&dut.allowed_i);
    FieldWriter resident(&dut.resident_i);
    for (unsigned sm = 0; sm < kSms; ++sm) {
      allowed.Put(kMaxKernels, in.assign->allowed[sm]);
      resident.Put(kMaxKernels, in.drf->ResidentOn(sm));
    }
  }

  // Answers the questions; those that mean nothing get any answer.
  void Ask(const Inputs& in) {
    Dut& dut = lockstep_.dut();
    lockstep_.Eval();
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      const SmMask sms = static_cast<SmMask>(GetBits(dut.pick_sms_o, kSms * k, kSms));
      SetBits(&dut.pick_sm_i, kSms * k, kSms,
              sms != 0 ? 1u << in.drf->LowestSm(sms, *in.kernels) : 0u);
    }
    const unsigned kernel =
        dut.pick_kernels_o != 0 ? in.drf->LowestKernel(dut.pick_kernels_o) : Any(kMaxKernels);
    dut.pick_kernel_i = dut.pick_kernels_o != 0 ? 1u << kernel : 0u;
    const SmMask look = static_cast<SmMask>(GetBits(dut.look_sm_o, kSms * kernel, kSms));
    const unsigned sm = look != 0 ? static_cast<unsigned>(__builtin_ctz(look)) : Any(kSms);
    PutVector(&dut.look_taken_i, in.drf->state().taken[sm]);
    dut.look_resident_i = in.drf->state().resident[kernel][sm];
    const unsigned queue = dut.queue_kernel_o;
    PreemptedQueue::Entry front{static_cast<TbId>(dice_.Bits()),
                                static_cast<std::uint16_t>(Any(1u << kBuffer)), Any(2) != 0};
    if (!in.queue->empty(queue)) front = in.queue->front(queue);
    FieldWriter(&dut.queue_front_i)
        .Put(1, front.restart)
        .Put(kBuffer, front.buffer)
        .Put(32, Index(front.tb));
    AnswerVictim(in);
    AnswerRange(in);
    lockstep_.Eval();
  }
  void AnswerVictim(const Inputs& in) {
    Dut& dut = lockstep_.dut();
    dut.victim_sm_i = 0;
    if (dut.victim_sms_o != 0) {
      dut.victim_sm_i = static_cast<SData>(
          1u << in.drf->HighestSm(dut.victim_sms_o, dut.victim_exclude_o, *in.kernels));
    }
    const unsigned sm = dut.victim_look_o != 0 ? Lowest(dut.victim_look_o) : Any(kSms);
    PutNeed(&dut.victim_taken_i, in.drf->state().taken[sm]);
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      SetBits(&dut.victim_resident_i, kTbs * k, kTbs,
              dut.victim_look_o != 0 ? in.drf->state().resident[k][sm] : 0u);
    }
    lockstep_.Eval();
    unsigned highest = kMaxKernels;
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      if ((dut.victim_kernels_o >> k & 1) == 0) continue;
      const bool higher =
          highest == kMaxKernels || in.drf->KernelShare(k) > in.drf->KernelShare(highest);
      if (higher) highest = k;
    }
    dut.victim_kernel_i = static_cast<CData>(dut.victim_kernels_o == 0 ? 0u : 1u << highest);
  }
  // The answer follows the question by some cycles, in which nothing may happen.
  void AnswerRange(const Inputs& in) {
    Dut& dut = lockstep_.dut();
    dut.range_shrinks_i = Any(2) != 0;
    const TbDispatch::State& s = model_.state();
    if (dut.range_kernel_o == 0 || dut.range_victim_o == 0 || s.step != Step::kRange) return;
    const unsigned kernel = Lowest(dut.range_kernel_o), victim = Lowest(dut.range_victim_o);
    const unsigned tbs = dut.range_victim_tbs_o;
    dut.range_shrinks_i = in.drf->RangeShrinks(kernel, victim, tbs, s.sm, s.active, *in.kernels);
  }
  static unsigned Lowest(unsigned mask) { return static_cast<unsigned>(__builtin_ctz(mask)); }
  template <typename Port>
  static void PutNeed(Port* port, const ResourceVector& v) {
    FieldWriter(port)
        .Put(kThreads, v.threads)
        .Put(kShared, v.shared_memory)
        .Put(kRegs, v.registers);
  }
  template <typename Port>
  static void PutVector(Port* port, const ResourceVector& v) {
    FieldWriter(port)
        .Put(kTbs, v.tbs)
        .Put(kThreads, v.threads)
        .Put(kShared, v.shared_memory)
        .Put(kRegs, v.registers);
  }

  void Compare(const Inputs& in) {
    DispatchView view{in, *in.kernels, *in.assign, *in.planner, *in.policy};
    TbDispatch& want = distort ? broken_ : model_;
    if (distort) {
      view.in.kernels = &view.kernels;
      view.in.assign = &view.assign;
      view.in.planner = &view.planner;
      view.in.policy = &view.policy;
      distort(&view);
    }
    CompareRegisters(want, view.in);
    const TbDispatch::State before = want.state();
    log_.clear();
    want.Tick(view.in, cycle_, &log_);
    CompareDecision();
    CompareQuestions(before, want.state(), view.in);
    lockstep_.ClockEdge();
    for (const Decision& d : log_) ++reasons_[d.reason];
    if (distort) model_.Tick(in, cycle_, nullptr);
    if (!distort && !log_.empty()) CheckLatency(in);
  }
  void CompareRegisters(const TbDispatch& want, const Inputs& in) {
    const Dut& dut = lockstep_.dut();
    const TbDispatch::State& s = want.state();
    lockstep_.Expect("work", dut.work_o, want.Awake(in));
    lockstep_.Expect("busy", dut.busy_o, s.busy);
    FieldReader planned(dut.planned_o);
    FieldReader partition(dut.partition_o);
    for (unsigned sm = 0; sm < kSms; ++sm) {
      lockstep_.Expect("planned", planned.Take(kMaxKernels), s.planned[sm]);
      for (unsigned k = 0; k < kMaxKernels; ++k) {
        lockstep_.Expect("partition", partition.Take(kTbs), s.partition[sm][k]);
      }
      const bool leave = (s.victims_valid >> sm & 1) != 0;
      lockstep_.Expect("victims", GetBits(dut.victims_o, kMaxKernels * sm, kMaxKernels),
                       leave ? 1u << Index(s.reservation[sm].victim) : 0u);
    }
    ComparePulses(s.pulses);
    CompareArrival(s.pulses, *in.kernels);
    CompareCommand(s);
  }
  void CompareArrival(const TbDispatch::Pulses& want, const KernelTable::State& kernels) {
    FieldReader got(lockstep_.dut().arrival_o);
    // What it needs, for the four SMs among which its SM is.
    for (unsigned group = 0; group < (kSms + 3) / 4; ++group) {
      const bool here = want.dispatch && Index(want.sm) / 4 == group;
      const std::uint64_t threads = got.Take(kThreads), shared_memory = got.Take(kShared);
      const std::uint64_t registers = got.Take(kRegs);
      if (!want.dispatch) continue;
      const ResourceVector need = here ? kernels.slot[Index(want.kernel)].need : ResourceVector{};
      lockstep_.Expect("arrival.registers", registers, need.registers);
      lockstep_.Expect("arrival.shared_memory", shared_memory, need.shared_memory);
      lockstep_.Expect("arrival.threads", threads, need.threads);
    }
    const std::uint64_t kernel = got.Take(kMaxKernels);
    if (want.dispatch) lockstep_.Expect("arrival.kernel", kernel, 1u << Index(want.kernel));
    lockstep_.Expect("arrival.sms", got.Take(kSms), want.dispatch ? 1u << Index(want.sm) : 0u);
  }
  void ComparePulses(const TbDispatch::Pulses& want) {
    FieldReader got(lockstep_.dut().pulses_o);
    const std::uint64_t victim_tbs = got.Take(kTbs), victim = got.Take(kKernel);
    const std::uint64_t sm = got.Take(kSm), kernel = got.Take(kKernel);
    lockstep_.Expect("pulses.preempt", got.Take(1), want.preempt);
    lockstep_.Expect("pulses.cancel", got.Take(1), want.cancel);
    lockstep_.Expect("pulses.reserve", got.Take(1), want.reserve);
    lockstep_.Expect("pulses.dispatch_reserved", got.Take(1), want.dispatch_reserved);
    lockstep_.Expect("pulses.dispatch", got.Take(1), want.dispatch);
    lockstep_.Expect("pulses.pop", got.Take(1), want.pop);
    lockstep_.Expect("pulses.dispatch_new", got.Take(1), want.dispatch_new);
    const std::uint64_t plan_kernels = got.Take(kMaxKernels);
    lockstep_.Expect("pulses.plan_start", got.Take(1), want.plan_start);
    if (want.plan_start) lockstep_.Expect("plan_kernels", plan_kernels, want.plan_kernels);
    if (want.any()) {
      lockstep_.Expect("pulses.kernel", kernel, Index(want.kernel));
      lockstep_.Expect("pulses.sm", sm, Index(want.sm));
    }
    if (!want.preempt) return;
    lockstep_.Expect("pulses.victim", victim, Index(want.victim));
    lockstep_.Expect("pulses.victim_tbs", victim_tbs, want.victim_tbs);
  }
  void CompareCommand(const TbDispatch::State& s) {
    const Dut& dut = lockstep_.dut();
    lockstep_.Expect("command_valid", dut.command_valid_o, s.command_valid);
    if (!s.command_valid) return;
    const SmCommand& c = s.command;
    lockstep_.Expect("command_sm", dut.command_sm_o, s.command_sm);
    FieldReader got(dut.command_o);
    const auto expect = [&](const char* field, unsigned width, std::uint64_t want) {
      lockstep_.Expect(field, got.Take(width), want);
    };
    expect("command.quota", 16, c.quota);
    expect("command.last", 1, c.last);
    expect("command.first", 1, c.first);
    expect("command.tb_count", kTbs, c.range.tb_count);
    expect("command.threads_limit", kThreads, c.range.threads_limit);
    expect("command.shared_memory_limit", kShared, c.range.shared_memory_limit);
    expect("command.registers_limit", kRegs, c.range.registers_limit);
    expect("command.tb_base", kTbs, c.range.tb_base);
    expect("command.threads_base", kThreads, c.range.threads_base);
    expect("command.shared_memory_base", kShared, c.range.shared_memory_base);
    expect("command.registers_base", kRegs, c.range.registers_base);
    expect("command.mode", 2, Code(c.mode));
    expect("command.count", kTbs, c.count);
    expect("command.buffer", kBuffer, c.buffer);
    expect("command.restore", 1, c.restore);
    expect("command.tb", 32, Index(c.tb));
    expect("command.kernel", kKernel, Index(c.kernel));
    expect("command.op", 3, Code(c.op));
  }
  void CompareDecision() {
    FieldReader got(lockstep_.dut().decision_o);
    const std::uint64_t victim_tbs = got.Take(kTbs), victim = got.Take(kKernel);
    const std::uint64_t tb = got.Take(32), sm = got.Take(kSm), kernel = got.Take(kKernel);
    const std::uint64_t reason = got.Take(4);
    lockstep_.Expect("decision.valid", got.Take(1), !log_.empty());
    if (log_.empty()) return;
    const Decision& want = log_.front();
    lockstep_.Expect("decision.reason", reason, Code(want.reason));
    lockstep_.Expect("decision.kernel", kernel, Index(want.kernel));
    lockstep_.Expect("decision.sm", sm, Index(want.sm));
    if (want.reason <= DecisionReason::kDispatchRestarted) {
      lockstep_.Expect("decision.tb", tb, Index(want.tb));
    }
    if (want.reason != DecisionReason::kPreempt) return;
    lockstep_.Expect("decision.victim", victim, Index(want.victim));
    lockstep_.Expect("decision.victim_tbs", victim_tbs, want.victim_tbs);
  }

  // The questions in the steps that ask them, of decisions that nothing overtakes.
  void CompareQuestions(const TbDispatch::State& before, const TbDispatch::State& after,
                        const Inputs& in) {
    if (after.step == Step::kMask || before.step == after.step) return;
    const Dut& dut = lockstep_.dut();
    const unsigned k = before.kernel;
    if (before.step == Step::kSm && after.step == Step::kLook && !before.reserved) {
      for (unsigned i = 0; i < kMaxKernels; ++i) {
        lockstep_.Expect("pick_sms", GetBits(dut.pick_sms_o, kSms * i, kSms), before.candidates[i]);
      }
    }
    if (before.step == Step::kLook) {
      const KernelMask picked = static_cast<KernelMask>(1u << after.kernel);
      lockstep_.Expect("pick_kernels", dut.pick_kernels_o,
                       before.reserved ? picked : before.kernels);
      lockstep_.Expect("look_sm", GetBits(dut.look_sm_o, kSms * after.kernel, kSms),
                       1u << after.sm);
    }
    if (before.step == Step::kFit) lockstep_.Expect("queue_kernel", dut.queue_kernel_o, k);
    if (before.step == Step::kVictimSm) {
      lockstep_.Expect("victim_sms", dut.victim_sms_o, before.search.sms);
      lockstep_.Expect("victim_exclude", dut.victim_exclude_o, k);
    }
    if (before.step == Step::kVictimLook && before.search.sms != 0) {
      lockstep_.Expect("victim_look", dut.victim_look_o, 1u << before.search.sm);
    }
    if (before.step != Step::kRange) return;
    const auto& resident = in.drf->state().resident;
    lockstep_.Expect("range_kernel", dut.range_kernel_o, 1u << k);
    lockstep_.Expect("range_starts", dut.range_starts_o, resident[k][before.sm] == 0);
    lockstep_.Expect("range_victim", dut.range_victim_o, 1u << before.victim);
    lockstep_.Expect("range_victim_tbs", dut.range_victim_tbs_o, before.victim_tbs);
    lockstep_.Expect("range_stops", dut.range_stops_o,
                     resident[before.victim][before.sm] == before.victim_tbs);
  }

  // Cycles of a decision, by what comes of it: neither earlier nor later.
  void CheckLatency(const Inputs& in) {
    const Decision& d = log_.front();
    const unsigned scale = in.policy->latency_scale;
    // In all, and at least this times latency_scale.
    unsigned steps = 4, least = 4;
    switch (d.reason) {
      case DecisionReason::kEvictSm:
        steps = least = 2;
        break;
      case DecisionReason::kNoVictim:
      case DecisionReason::kRoomComing:
        steps = 8 + (d.reason == DecisionReason::kNoVictim ? d.victim_tbs : 0u);
        least = 8;
        break;
      case DecisionReason::kPreempt:
      case DecisionReason::kRangeNotReduced:
      case DecisionReason::kQueueFull:
        steps = 15u + d.victim_tbs;
        least = 15;
        break;
      default:
        break;
    }
    // One that began anew has waited for latency_scale in part already.
    const std::uint64_t cycles = cycle_ + 1 - begun_;
    if (scale != 1 && begun_ != left_idle_) {
      lockstep_.Expect("enough cycles of the decision", cycles >= steps, true);
    } else if (steps > 4) {
      lockstep_.Expect("cycles of the search", cycles,
                       std::max(4 * scale + steps - 4, least * scale));
    } else {
      lockstep_.Expect("cycles of the decision", cycles, steps * scale);
    }
  }

  template <typename Enum>
  static unsigned Code(Enum value) {
    return static_cast<unsigned>(value);
  }
  unsigned Any(unsigned below) { return dice_.Below(below); }

  Lockstep<Dut> lockstep_;
  ControlConfig config_;
  DispatchMachine machine_;
  Dice dice_;
  std::array<std::uint32_t, kMaxKernels> first_tb_;
  TbDispatch model_, broken_;
  std::vector<Decision> log_;
  std::map<DecisionReason, unsigned> reasons_;
  std::uint64_t cycle_ = 0, left_idle_ = 0, begun_ = 0;
  bool work_ = false;
};

}  // namespace smk
