// SPDX-License-Identifier: Apache-2.0
// The ports of smk_tb_dispatch: registers of its neighbours into them, what it says out of them.
#pragma once

#include <vector>

#include "common/tb_arrival.h"
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

  explicit DispatchPorts(std::uint64_t seed) : lockstep_("tb_dispatch", seed) {}
  Lockstep<Dut>& lockstep() { return lockstep_; }

  void DriveAll(const Inputs& in) {
    DriveKernels(in);
    DriveSms(in);
    Dut& dut = lockstep_.dut();
    Pack<PolicyFields<Package>>(*in.policy, &dut.policy_i);
    dut.others_work_i = 0;
    dut.tick_i = in.tick;
    dut.held_i = in.held;
    dut.plan_done_i = in.planner->done;
    dut.plan_kernels_i = in.planner->kernels;
    dut.plan_anywhere_i = in.planner->anywhere;
    Pack<RangeVec<Package>>(in.planner->range, &dut.plan_range_i);
  }

  void CompareRegisters(const TbDispatch& want, const Inputs& in) {
    const Dut& dut = lockstep_.dut();
    const TbDispatch::State& s = want.state();
    lockstep_.Expect("work", dut.work_o, want.Awake(in));
    ExpectMessage<Bits<kSms>>(&lockstep_, "busy", dut.busy_o, s.busy);
    ExpectMessage<SmKernels<Package>>(&lockstep_, "planned", dut.planned_o, s.planned);
    ExpectMessage<SmTbCnts<Package>>(&lockstep_, "partition", dut.partition_o, s.partition);
    for (unsigned sm = 0; sm < kSms; ++sm) {
      const bool leave = s.victims_valid.Test(sm);
      ExpectAt<SmKernels<Package>>(&lockstep_, "victims", sm, dut.victims_o,
                                   leave ? 1u << Index(s.reservation[sm].victim) : 0u);
    }
    const TbDispatch::Pulses& pulses = s.pulses;
    ExpectMessage<DispatchPulsesFields<Package>>(&lockstep_, "pulses", dut.pulses_o, pulses);
    lockstep_.Expect("command_valid", dut.command_valid_o, s.command_valid);
    if (!s.command_valid) return;
    lockstep_.Expect("command_sm", dut.command_sm_o, s.command_sm);
    ExpectMessage<Bits<kSms>>(&lockstep_, "command_sms", dut.command_sms_o, want.CommandSms());
    ExpectWhole<SmCommandFields<Package>>(&lockstep_, "command", dut.command_o, s.command);
  }
  void CompareDecision(const std::vector<Decision>& log, const Inputs& in) {
    using Fields = DecisionFields<Package>;
    const auto& got = lockstep_.dut().decision_o;
    lockstep_.Expect("decision.valid", GetBits(got, kWidthOf<Fields>, 1), !log.empty());
    if (!log.empty()) ExpectMessage<Fields>(&lockstep_, "decision", got, log.front());
    TbArrival arrival;
    if (!log.empty() && Fields::HasTb(log.front())) {
      const Decision& d = log.front();
      arrival = ArrivalOf(d.kernel, d.sm, in.kernels->slot[Index(d.kernel)].need);
    }
    ExpectMessage<TbArrivalFields<Package>>(&lockstep_, "arrival", lockstep_.dut().arrival_o,
                                            arrival);
  }

 private:
  void DriveKernels(const Inputs& in) {
    Dut& dut = lockstep_.dut();
    dut.active_i = in.active;
    dut.need_changed_i = in.need_changed;
    dut.kernel_done_i = in.kernel_done;
    dut.member_expired_i = in.member_expired;
    dut.queued_i = 0;
    for (unsigned k = 0; k < kNumKernels; ++k) {
      const KernelTable::Slot& slot = in.kernels->slot[k];
      PackAt<OrderVec<Package>>(k, slot.order, &dut.order_i);
      PackAt<NeedVec<Package>>(k, slot.need, &dut.need_i);
      PackAt<TbIdVec<Package>>(k, slot.remaining(), &dut.remaining_i);
      PackAt<TbIdVec<Package>>(k, slot.next_tb, &dut.next_tb_i);
      dut.queued_i |= (in.queue->count(k) != 0 ? 1u : 0u) << k;
      PackAt<BufferCntVec<Package>>(k, in.queue->count(k), &dut.queue_count_i);
      PackAt<BufferCntVec<Package>>(k, in.queue->buffers_free(k), &dut.queue_free_i);
    }
  }
  void DriveSms(const Inputs& in) {
    Dut& dut = lockstep_.dut();
    dut.assign_busy_i = in.assign_busy;
    Pack<Bits<kSms>>(in.assign->changed, &dut.assign_changed_i);
    Pack<Bits<kSms>>(in.event_mask, &dut.events_valid_i);
    Pack<Bits<kSms>>(in.settled_mask, &dut.settled_i);
    Pack<Bits<kSms>>(in.command_ready, &dut.command_ready_i);
    Pack<Bits<kSms>>(in.waiting, &dut.waiting_i);
    Pack<Bits<kSms>>(in.waits, &dut.waits_i);
    Pack<Bits<kSms>>(in.queue->state().ack, &dut.queue_ack_i);
    Pack<SmKernels<Package>>(in.assign->allowed, &dut.allowed_i);
    for (unsigned sm = 0; sm < kSms; ++sm) {
      PackAt<SmKernels<Package>>(sm, in.drf->ResidentOn(sm), &dut.resident_i);
    }
  }

  Lockstep<Dut> lockstep_;
};

}  // namespace smk
