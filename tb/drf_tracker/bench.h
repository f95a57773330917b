// SPDX-License-Identifier: Apache-2.0
// smk_drf_tracker beside DrfTracker: drives both, compares every output in every cycle.
#pragma once

#include <functional>

#include "common/lockstep.h"
#include "common/tb_arrival.h"
#include "control/driver/drf_tracker.h"

namespace smk::drf_tracker {

// What a decision asks in a cycle. Except where it says so, masks are not empty.
struct Question {
  KernelMask pick_kernels = 1;
  std::array<SmMask, kMaxKernels> pick_sms{SmMask(1), SmMask(1), SmMask(1), SmMask(1)};
  std::array<unsigned, kMaxKernels> look_sm{};
  unsigned victim_exclude = 0;
  SmMask victim_sms{1};  // may be empty
  unsigned victim_look = 0;
  KernelMask victim_kernels = 0b1111;  // may be empty
  KernelMask active = 0b1111;          // may be empty
  unsigned range_kernel = 0, range_victim = 1, range_victim_tbs = 1, range_sm = 0;

  bool SameRange(const Question& q) const {
    return active == q.active && range_kernel == q.range_kernel && range_victim == q.range_victim &&
           range_victim_tbs == q.range_victim_tbs && range_sm == q.range_sm;
  }
};

// One cycle of the block: what it gets and answers, and what kernels need.
struct Step {
  DrfTracker::Inputs in;
  Question ask;
  KernelTable::State kernels;
};

// The block and its reference. With `distort` the block is compared with a second reference that
// gets other inputs: one rule broken.
template <typename DutType, typename Pkg>
class Bench {
 public:
  using Dut = DutType;
  using Package = Pkg;
  static constexpr unsigned kSms = Package::NumSms;
  static constexpr ResourceVector kLimits{Package::LimitRegisters, Package::LimitSharedMemory,
                                          Package::LimitThreads, Package::LimitTbs};

  explicit Bench(std::uint64_t seed, bool count_running_sms = false)
      : lockstep_("drf_tracker", seed),
        model_(ConfigOf(count_running_sms)),
        broken_(model_),
        dice_(seed) {
    lockstep_.dut().count_running_sms_i = count_running_sms;
    Drive({});
    lockstep_.Reset();
  }
  void Cycle(const Step& step) {
    Drive(step);
    lockstep_.Eval();
    Step distorted = step;
    if (distort) distort(&distorted);
    Observe(step);
    Compare(distort ? broken_ : model_, distorted);
    lockstep_.ClockEdge();
    Tick(&model_, step);
    if (distort) Tick(&broken_, distorted);
  }
  const DrfTracker& model() const { return model_; }
  Lockstep<Dut>& lockstep() { return lockstep_; }
  Dut& dut() { return lockstep_.dut(); }
  // Answers that compare shares count when nothing has happened for some cycles; so many did.
  unsigned order_answers = 0, range_answers = 0;
  // rK as the block says it now.
  std::uint64_t Share(unsigned k) { return BitsAt<TotalShareVec<Package>>(k, dut().share_o); }
  std::function<void(Step*)> distort;

  static ShareWeights Weights() { return ShareWeights::Of(kLimits); }

 private:
  static void Tick(DrfTracker* tracker, const Step& step) {
    DrfTracker::Inputs in = step.in;
    in.kernel_table = &step.kernels;
    tracker->Tick(in);
  }
  static DrfTracker::Config ConfigOf(bool count_running_sms) {
    return {kSms, kLimits, Weights(), count_running_sms};
  }

  void Drive(const Step& step) {
    Dut& dut = lockstep_.dut();
    const Question& ask = step.ask;
    dut.kernel_done_i = step.in.kernel_done;
    DrivePulses(step);
    DriveEvents(step.in);
    DriveNeeds(step.kernels);
    dut.active_i = ask.active;
    dut.pick_kernels_i = ask.pick_kernels;
    for (unsigned k = 0; k < kNumKernels; ++k) {
      PackAt<KernelSms<Package>>(k, ask.pick_sms[k], &dut.pick_sms_i);
      PackAt<KernelSms<Package>>(k, SmMask::Of(ask.look_sm[k]), &dut.look_sm_i);
    }
    Pack<Bits<kSms>>(ask.victim_sms, &dut.victim_sms_i);
    dut.victim_exclude_i = static_cast<CData>(ask.victim_exclude);
    Pack<Bits<kSms>>(SmMask::Of(ask.victim_look), &dut.victim_look_i);
    dut.victim_kernels_i = ask.victim_kernels;
    const auto& resident = model_.state().resident;
    const unsigned of_victim = resident[ask.range_victim][ask.range_sm];
    dut.range_kernel_i = static_cast<CData>(1u << ask.range_kernel);
    dut.range_starts_i = resident[ask.range_kernel][ask.range_sm] == 0;
    dut.range_victim_i = static_cast<CData>(1u << ask.range_victim);
    dut.range_victim_tbs_i = static_cast<CData>(ask.range_victim_tbs);
    dut.range_stops_i = of_victim != 0 && of_victim <= ask.range_victim_tbs;
  }

  void DrivePulses(const Step& step) {
    const DrfTracker::Inputs& in = step.in;
    const KernelId kernel = in.dispatch_valid ? in.dispatch_kernel : in.reserve_kernel;
    const ResourceVector& need = step.kernels.slot[Index(kernel)].need;
    const unsigned noise = dice_.Below(128);  // for others
    TbDispatch::Pulses pulses;
    pulses.plan_start = (noise >> 6 & 1) != 0;
    pulses.plan_kernels = static_cast<KernelMask>(noise >> 2 & 0b1111);
    pulses.dispatch_new = (noise >> 1 & 1) != 0;
    pulses.pop = (noise & 1) != 0;
    pulses.dispatch = in.dispatch_valid;
    pulses.dispatch_reserved = in.dispatch_reserved;
    pulses.reserve = in.reserve_valid;
    pulses.cancel = in.cancel_valid;
    pulses.preempt = in.preempt_valid;
    pulses.kernel = kernel;
    pulses.sm = in.dispatch_sm;
    pulses.victim = in.preempt_kernel;
    pulses.victim_tbs = in.preempt_count;
    Pack<DispatchPulsesFields<Package>>(pulses, &lockstep_.dut().pulses_i);
    TbArrival arrival = ArrivalOf(kernel, in.dispatch_sm, need);
    if (!in.dispatch_valid) arrival.sms = {};
    Pack<TbArrivalFields<Package>>(arrival, &lockstep_.dut().arrival_i);
  }

  void DriveEvents(const DrfTracker::Inputs& in) {
    for (unsigned sm = 0; sm < kSms; ++sm) {
      SmEvent event = in.event[sm];
      event.valid = in.event_mask.Test(sm);
      PackAt<SmEvents<Package>>(sm, event, &lockstep_.dut().events_i);
      const bool counts = in.shortfall_mask.Test(sm);
      PackAt<SmKernels<Package>>(sm, counts ? 1u << Index(in.shortfall_kernel[sm]) : 0u,
                                 &lockstep_.dut().shortfall_of_i);
    }
  }

  void DriveNeeds(const KernelTable::State& kernels) {
    for (unsigned k = 0; k < kNumKernels; ++k) {
      PackAt<NeedVec<Package>>(k, kernels.slot[k].need, &lockstep_.dut().need_i);
      PackAt<ShareVec<Package>>(k, kernels.slot[k].share, &lockstep_.dut().tb_share_i);
    }
  }

  // For how many cycles nothing has happened, and the question has been the same.
  void Observe(const Step& step) {
    const DrfTracker::Inputs& in = step.in;
    range_held_ = step.ask.SameRange(last_.ask) ? range_held_ + 1 : 0;
    exclude_held_ = step.ask.victim_exclude == last_.ask.victim_exclude;
    const bool same_shares = SameShares(step.kernels, last_.kernels);
    quiet_ = happened_ || !same_shares ? 0 : quiet_ + 1;
    happened_ = in.event_mask.Any() || in.kernel_done != 0 || in.dispatch_valid ||
                in.reserve_valid || in.cancel_valid || in.preempt_valid;
    last_ = step;
  }
  static bool SameShares(const KernelTable::State& a, const KernelTable::State& b) {
    for (unsigned k = 0; k < kNumKernels; ++k) {
      if (a.slot[k].share != b.slot[k].share) return false;
    }
    return true;
  }

  void Compare(const DrfTracker& want, const Step& step) {
    Dut& dut = lockstep_.dut();
    const Question& ask = step.ask;
    for (unsigned k = 0; k < kNumKernels; ++k) {
      lockstep_.Expect("share", Share(k), want.ShownShare(k));
      ExpectAt<TbCntVec<Package>>(&lockstep_, "victim_resident", k, dut.victim_resident_o,
                                  want.state().resident[k][ask.victim_look]);
    }
    lockstep_.Expect("busy", dut.busy_o, want.busy());
    for (unsigned sm = 0; sm < kSms; ++sm) {
      ExpectAt<SmKernels<Package>>(&lockstep_, "resident", sm, dut.resident_o, want.ResidentOn(sm));
    }
    ExpectMessage<TbNeedFields<Package>>(&lockstep_, "victim_taken", dut.victim_taken_o,
                                         want.state().taken[ask.victim_look]);
    const unsigned picked = static_cast<unsigned>(__builtin_ctz(dut.pick_kernel_o | 0x10u)) % 4;
    ExpectMessage<ResourceVectorFields<Package>>(&lockstep_, "look_taken", dut.look_taken_o,
                                                 want.state().taken[ask.look_sm[picked]]);
    lockstep_.Expect("look_resident", dut.look_resident_o,
                     want.state().resident[picked][ask.look_sm[picked]]);
    if (quiet_ >= 4) CompareOrder(want, step);
    if (quiet_ < 9 || range_held_ < 7) return;
    ++range_answers;
    lockstep_.Expect("range_shrinks", dut.range_shrinks_o,
                     want.RangeShrinks(ask.range_kernel, ask.range_victim, ask.range_victim_tbs,
                                       ask.range_sm, ask.active, step.kernels));
  }

  void CompareOrder(const DrfTracker& want, const Step& step) {
    Dut& dut = lockstep_.dut();
    const Question& ask = step.ask;
    ++order_answers;
    lockstep_.Expect("pick_kernel", dut.pick_kernel_o, 1u << want.LowestKernel(ask.pick_kernels));
    for (unsigned k = 0; k < kNumKernels; ++k) {
      ExpectAt<KernelSms<Package>>(&lockstep_, "pick_sm", k, dut.pick_sm_o,
                                   SmMask::Of(want.LowestSm(ask.pick_sms[k], step.kernels)));
    }
    if (exclude_held_) {
      SmMask victim;
      if (ask.victim_sms.Any()) {
        victim.Set(want.HighestSm(ask.victim_sms, ask.victim_exclude, step.kernels));
      }
      ExpectMessage<Bits<kSms>>(&lockstep_, "victim_sm", dut.victim_sm_o, victim);
    }
    const auto& resident = want.state().resident;
    KernelMask there = 0;
    for (unsigned k = 0; k < kNumKernels; ++k) {
      there |= static_cast<KernelMask>((resident[k][ask.victim_look] != 0 ? 1u : 0u) << k);
    }
    if ((ask.victim_kernels & ~there) != 0) return;
    const auto victim = want.HighestKernelOn(ask.victim_look, ask.victim_kernels);
    lockstep_.Expect("victim_kernel", dut.victim_kernel_o, victim ? 1u << *victim : 0u);
  }

  Lockstep<Dut> lockstep_;
  DrfTracker model_;
  DrfTracker broken_;
  Dice dice_;
  Step last_{};
  bool happened_ = true, exclude_held_ = false;
  unsigned quiet_ = 0, range_held_ = 0;
};

}  // namespace smk::drf_tracker
