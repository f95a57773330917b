// SPDX-License-Identifier: Apache-2.0
// The ports of smk_tb_dispatch: registers of its neighbours into them, what it says out of them.
#pragma once

#include <vector>

#include "tb_dispatch/machine.h"

namespace smk {

// Drives inputs from what TbDispatch gets, and compares outputs with its state and its decisions.
template <typename DutType, typename Pkg>
class DispatchPorts {
 public:
  using Dut = DutType;
  using Package = Pkg;
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

  explicit DispatchPorts(std::uint64_t seed) : lockstep_("tb_dispatch", seed) {}
  Lockstep<Dut>& lockstep() { return lockstep_; }

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
  void CompareDecision(const std::vector<Decision>& log) {
    FieldReader got(lockstep_.dut().decision_o);
    const std::uint64_t victim_tbs = got.Take(kTbs), victim = got.Take(kKernel);
    const std::uint64_t tb = got.Take(32), sm = got.Take(kSm), kernel = got.Take(kKernel);
    const std::uint64_t reason = got.Take(4);
    lockstep_.Expect("decision.valid", got.Take(1), !log.empty());
    if (log.empty()) return;
    const Decision& want = log.front();
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

 private:
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

  template <typename Enum>
  static unsigned Code(Enum value) {
    return static_cast<unsigned>(value);
  }

  Lockstep<Dut> lockstep_;
};

}  // namespace smk
