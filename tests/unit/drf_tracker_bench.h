// SPDX-License-Identifier: Apache-2.0
// smk_drf_tracker beside DrfTracker: drives both, compares every output in every cycle.
#pragma once

#include <functional>

#include "control/drf_tracker.h"
#include "unit/lockstep.h"

namespace smk::drf_tracker {

// What a decision asks in a cycle. The masks are not empty.
struct Question {
  KernelMask pick_kernels = 1;
  SmMask pick_sms = 1;
  unsigned look_sm = 0;
  SmMask victim_sms = 1;
  unsigned victim_exclude = 0;
  KernelMask victim_kernels = 0b1111;
  KernelMask active = 0b1111;
  unsigned range_kernel = 0, range_victim = 1, range_victim_tbs = 1, range_sm = 0;
};

// One cycle of the block: what it is told and asked, and what kernels need.
struct Step {
  DrfTracker::Inputs in;
  Question ask;
  KernelTable::State kernels;
};

// The block and its reference. With `distort` the block is compared with a second reference that
// is told or asked something else: one rule broken.
template <typename DutType, typename Pkg>
class Bench {
 public:
  using Dut = DutType;
  using Package = Pkg;
  static constexpr unsigned kSms = Package::NumSms;
  static constexpr ResourceVector kLimits{Package::LimitRegisters, Package::LimitSharedMemory,
                                          Package::LimitThreads, Package::LimitTbs};

  explicit Bench(std::uint64_t seed, bool count_running_sms = false)
      : lockstep_("drf_tracker", seed), model_(ConfigOf(count_running_sms)), broken_(model_) {
    lockstep_.dut().count_running_sms_i = count_running_sms;
    Drive({});
    lockstep_.Reset();
  }
  void Cycle(const Step& step) {
    Drive(step);
    lockstep_.Eval();
    Step told = step;
    if (distort) distort(&told);
    Compare(distort ? broken_ : model_, told);
    lockstep_.ClockEdge();
    model_.Tick(step.in, step.kernels);
    if (distort) broken_.Tick(told.in, told.kernels);
  }
  const DrfTracker& model() const { return model_; }
  Lockstep<Dut>& lockstep() { return lockstep_; }
  Dut& dut() { return lockstep_.dut(); }
  // rK as the block says it now.
  std::uint64_t Share(unsigned k) {
    return GetBits(dut().share_o, kTotalShareWidth * k, kTotalShareWidth);
  }
  std::function<void(Step*)> distort;

  static ShareWeights Weights() { return ShareWeights::Of(kLimits); }

 private:
  static constexpr unsigned kTbCnt = CntWidth(kLimits.tbs);
  static constexpr unsigned kThreadCnt = CntWidth(kLimits.threads);
  static constexpr unsigned kSharedCnt = CntWidth(kLimits.shared_memory);
  static constexpr unsigned kRegisterCnt = CntWidth(kLimits.registers);
  static constexpr unsigned kShareWidth = CntWidth(Package::ShareWhole);
  static constexpr unsigned kTotalShareWidth = CntWidth(2 * kSms * Package::ShareWhole) + 1;
  static constexpr unsigned kBufferWidth = CntWidth(Package::PreemptedDepth - 1);
  static constexpr unsigned kKernelWidth = CntWidth(kMaxKernels - 1);
  static constexpr unsigned kSmWidth = CntWidth(kSms - 1);

  static DrfTracker::Config ConfigOf(bool count_running_sms) {
    return {kSms, kLimits, Weights(), count_running_sms};
  }

  void Drive(const Step& step) {
    Dut& dut = lockstep_.dut();
    const Question& ask = step.ask;
    dut.kernel_done_i = step.in.kernel_done;
    DrivePulses(step.in);
    DriveEvents(step.in);
    DriveNeeds(step.kernels);
    dut.active_i = ask.active;
    dut.pick_kernels_i = ask.pick_kernels;
    dut.pick_sms_i = static_cast<SData>(ask.pick_sms);
    dut.look_sm_i = static_cast<CData>(ask.look_sm);
    dut.victim_sms_i = static_cast<SData>(ask.victim_sms);
    dut.victim_exclude_i = static_cast<CData>(ask.victim_exclude);
    dut.victim_kernels_i = ask.victim_kernels;
    dut.range_kernel_i = static_cast<CData>(ask.range_kernel);
    dut.range_victim_i = static_cast<CData>(ask.range_victim);
    dut.range_victim_tbs_i = static_cast<CData>(ask.range_victim_tbs);
    dut.range_sm_i = static_cast<CData>(ask.range_sm);
  }

  void DrivePulses(const DrfTracker::Inputs& in) {
    const KernelId kernel = in.dispatch_valid ? in.dispatch_kernel : in.reserve_kernel;
    FieldWriter(&lockstep_.dut().pulses_i)
        .Put(kTbCnt, in.preempt_count)
        .Put(kKernelWidth, Index(in.preempt_kernel))
        .Put(kSmWidth, Index(in.dispatch_sm))
        .Put(kKernelWidth, Index(kernel))
        .Put(1, in.preempt_valid)
        .Put(1, in.cancel_valid)
        .Put(1, in.reserve_valid)
        .Put(1, in.dispatch_reserved)
        .Put(1, in.dispatch_valid);
  }

  void DriveEvents(const DrfTracker::Inputs& in) {
    FieldWriter events(&lockstep_.dut().events_i);
    for (unsigned sm = 0; sm < kSms; ++sm) {
      const SmEvent& event = in.event[sm];
      events.Put(kTbCnt, event.shortfall).Put(1, event.counted).Put(kBufferWidth, event.buffer);
      events.Put(Package::TbIdWidth, Index(event.tb)).Put(kKernelWidth, Index(event.kernel));
      events.Put(3, static_cast<std::uint64_t>(event.kind)).Put(1, in.event_mask >> sm & 1);
      SetBits(&lockstep_.dut().shortfall_kernel_i, kKernelWidth * sm, kKernelWidth,
              Index(in.shortfall_kernel[sm]));
    }
    lockstep_.dut().shortfall_mask_i = static_cast<SData>(in.shortfall_mask);
  }

  void DriveNeeds(const KernelTable::State& kernels) {
    FieldWriter needs(&lockstep_.dut().need_i);
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      const KernelTable::Slot& slot = kernels.slot[k];
      needs.Put(kThreadCnt, slot.need.threads).Put(kSharedCnt, slot.need.shared_memory);
      needs.Put(kRegisterCnt, slot.need.registers);
      SetBits(&lockstep_.dut().tb_share_i, kShareWidth * k, kShareWidth, slot.share);
    }
  }

  void Compare(const DrfTracker& want, const Step& step) {
    Dut& dut = lockstep_.dut();
    const Question& ask = step.ask;
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      lockstep_.Expect("share", Share(k), want.KernelShare(k));
      lockstep_.Expect("look_resident", GetBits(dut.look_resident_o, kTbCnt * k, kTbCnt),
                       want.state().resident[k][ask.look_sm]);
    }
    for (unsigned sm = 0; sm < kSms; ++sm) {
      lockstep_.Expect("resident", GetBits(dut.resident_o, kMaxKernels * sm, kMaxKernels),
                       want.ResidentOn(sm));
    }
    lockstep_.Expect("pick_kernel", dut.pick_kernel_o, want.LowestKernel(ask.pick_kernels));
    lockstep_.Expect("pick_sm", dut.pick_sm_o, want.LowestSm(ask.pick_sms, step.kernels));
    CompareVector("look_taken", dut.look_taken_o, want.state().taken[ask.look_sm]);
    CompareVictim(want, step);
    lockstep_.Expect("range_shrinks", dut.range_shrinks_o,
                     want.RangeShrinks(ask.range_kernel, ask.range_victim, ask.range_victim_tbs,
                                       ask.range_sm, ask.active, step.kernels));
  }

  void CompareVictim(const DrfTracker& want, const Step& step) {
    Dut& dut = lockstep_.dut();
    const unsigned sm = want.HighestSm(step.ask.victim_sms, step.ask.victim_exclude, step.kernels);
    const auto victim = want.HighestKernelOn(sm, step.ask.victim_kernels);
    lockstep_.Expect("victim_sm", dut.victim_sm_o, sm);
    lockstep_.Expect("victim_valid", dut.victim_valid_o, victim.has_value());
    CompareVector("victim_free", dut.victim_free_o, want.Free(sm));
    if (!victim) return;
    lockstep_.Expect("victim_kernel", dut.victim_kernel_o, *victim);
    lockstep_.Expect("victim_resident", dut.victim_resident_o, want.state().resident[*victim][sm]);
  }

  template <typename Port>
  void CompareVector(const char* name, const Port& port, const ResourceVector& want) {
    FieldReader fields(port);
    const ResourceVector got_from_last{0, 0, 0, static_cast<std::uint16_t>(fields.Take(kTbCnt))};
    lockstep_.Expect(name, got_from_last.tbs, want.tbs);
    lockstep_.Expect(name, fields.Take(kThreadCnt), want.threads);
    lockstep_.Expect(name, fields.Take(kSharedCnt), want.shared_memory);
    lockstep_.Expect(name, fields.Take(kRegisterCnt), want.registers);
  }

  Lockstep<Dut> lockstep_;
  DrfTracker model_;
  DrfTracker broken_;
};

}  // namespace smk::drf_tracker
