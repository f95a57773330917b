// SPDX-License-Identifier: Apache-2.0
// smk_tb_dispatch beside TbDispatch: drives the same registers into both, answers the RTL's
// questions from the reference tracker, and compares everything that counts.
#pragma once

#include <functional>
#include <map>

#include "tb_dispatch/ports.h"

namespace smk {

// What the reference sees, in a copy that can be bent.
struct DispatchView {
  TbDispatch::Inputs in{};
  KernelTable::State kernels{};
  SmAssign::State assign{};
  PartitionPlanner::State planner{};
  PolicyConfig policy{};
};

// With `distort` the RTL is compared with a second reference that gets other inputs, or whose
// state or decisions are bent: one rule broken.
template <typename DutType, typename Pkg>
class DispatchPair {
 public:
  using Dut = DutType;
  using Package = Pkg;
  static constexpr ResourceVector kLimits{Package::LimitRegisters, Package::LimitSharedMemory,
                                          Package::LimitThreads, Package::LimitTbs};

  DispatchPair(const PolicyConfig& policy, unsigned depth, std::uint64_t seed)
      : ports_(seed),
        config_(ConfigOf(depth)),
        machine_(config_, policy, seed),
        dice_(seed + 1),
        first_tb_(FirstTbs(&dice_)),
        model_({config_.num_sms, kLimits}),
        broken_({config_.num_sms, kLimits}) {
    ports_.DriveAll(machine_.Begin(model_.state()));
    lockstep().Reset();
  }

  // One cycle; the decision made in it, if any.
  std::optional<Decision> Cycle() {
    TbDispatch::Inputs in = machine_.Begin(model_.state());
    const SmAssign::State shaken = Shaken(*in.assign);
    in.assign = &shaken;
    const KernelTable::State shifted = Shifted(*in.kernels);
    in.kernels = &shifted;
    ports_.DriveAll(in);
    Ask(in);
    const TbDispatch::State before = model_.state();
    work_ = lockstep().dut().work_o;
    Compare(in);
    machine_.End(before);
    ++cycle_;
    if (model_.state().step == before.step && IsDue(before, *in.policy)) ++stayed_;
    if (model_.state().step == Step::kMask) {
      begun_ = cycle_;
      stayed_ = 0;
      if (before.step == Step::kIdle) left_idle_ = cycle_;
    }
    return log_.empty() ? std::nullopt : std::optional<Decision>(log_.front());
  }

  Lockstep<Dut>& lockstep() { return ports_.lockstep(); }
  DispatchMachine& machine() { return machine_; }
  const TbDispatch::State& state() const { return model_.state(); }
  const std::map<DecisionReason, unsigned>& reasons() const { return reasons_; }
  bool work() const { return work_; }  // of the cycle that ended
  std::function<void(DispatchView*)> distort;
  SmMask forbidden_next;  // SMs that may host nobody in the next cycle

 private:
  using Step = TbDispatch::Step;
  using Inputs = TbDispatch::Inputs;
  using Ports = DispatchPorts<Dut, Package>;
  static constexpr unsigned kSms = Package::NumSms;

  static std::array<std::uint32_t, kMaxKernels> FirstTbs(Dice* dice) {
    std::array<std::uint32_t, kMaxKernels> first{};
    for (unsigned k = 0; k < Package::NumKernels; ++k) {
      // A grid has less than 2^32 TBs.
      first[k] =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(dice->Bits() >> 32, 0xfff00000));
    }
    return first;
  }
  static ControlConfig ConfigOf(unsigned depth) {
    ControlConfig config;
    config.num_sms = kSms;
    config.limits = kLimits;
    config.preempted_depth = depth;
    return config;
  }

  // Rarely an SM may not host anybody for a cycle, in whatever step that comes; or as a test says.
  SmAssign::State Shaken(SmAssign::State assign) {
    if (machine_.crowded && dice_.Percent(2)) assign.allowed[Any(kSms)] = 0;
    for (unsigned sm = 0; sm < kSms; ++sm) {
      if (forbidden_next.Test(sm)) assign.allowed[sm] = 0;
    }
    forbidden_next = SmMask();
    return assign;
  }

  // The same grids, but from some TB on, so that every bit of an index counts.
  KernelTable::State Shifted(KernelTable::State kernels) const {
    for (unsigned k = 0; k < kNumKernels; ++k) {
      kernels.slot[k].next_tb += first_tb_[k];
      kernels.slot[k].first_tb += first_tb_[k];
    }
    return kernels;
  }

  // Answers the questions; those that mean nothing get any answer.
  void Ask(const Inputs& in) {
    Dut& dut = lockstep().dut();
    lockstep().Eval();
    for (unsigned k = 0; k < kNumKernels; ++k) {
      SmMask sms;
      UnpackAt<KernelSms<Package>>(k, dut.pick_sms_o, &sms);
      SmMask pick;
      if (sms.Any()) pick.Set(in.drf->LowestSm(sms, *in.kernels));
      PackAt<KernelSms<Package>>(k, pick, &dut.pick_sm_i);
    }
    const unsigned kernel =
        dut.pick_kernels_o != 0 ? in.drf->LowestKernel(dut.pick_kernels_o) : Any(kNumKernels);
    dut.pick_kernel_i = dut.pick_kernels_o != 0 ? 1u << kernel : 0u;
    SmMask look;
    UnpackAt<KernelSms<Package>>(kernel, dut.look_sm_o, &look);
    const unsigned sm = look.Any() ? look.Lowest() : Any(kSms);
    Pack<ResourceVectorFields<Package>>(in.drf->state().taken[sm], &dut.look_taken_i);
    dut.look_resident_i = in.drf->state().resident[kernel][sm];
    const unsigned queue = dut.queue_kernel_o;
    PreemptedQueue::Entry front{static_cast<TbId>(dice_.Bits()),
                                static_cast<std::uint16_t>(Any(1u << Package::BufferWidth)),
                                Any(2) != 0};
    if (!in.queue->empty(queue)) front = in.queue->front(queue);
    Pack<PreemptedEntryFields<Package>>(front, &dut.queue_front_i);
    AnswerVictim(in);
    AnswerRange(in);
    lockstep().Eval();
  }
  void AnswerVictim(const Inputs& in) {
    Dut& dut = lockstep().dut();
    const auto sms = UnpackMask<SmMask, kSms>(dut.victim_sms_o);
    SmMask victim;
    if (sms.Any()) victim.Set(in.drf->HighestSm(sms, dut.victim_exclude_o, *in.kernels));
    Pack<Bits<kSms>>(victim, &dut.victim_sm_i);
    const auto look = UnpackMask<SmMask, kSms>(dut.victim_look_o);
    const unsigned sm = look.Any() ? look.Lowest() : Any(kSms);
    Pack<TbNeedFields<Package>>(in.drf->state().taken[sm], &dut.victim_taken_i);
    for (unsigned k = 0; k < kNumKernels; ++k) {
      PackAt<TbCntVec<Package>>(k, look.Any() ? in.drf->state().resident[k][sm] : 0u,
                                &dut.victim_resident_i);
    }
    lockstep().Eval();
    unsigned highest = kNumKernels;
    for (unsigned k = 0; k < kNumKernels; ++k) {
      if ((dut.victim_kernels_o >> k & 1) == 0) continue;
      const bool higher =
          highest == kNumKernels || in.drf->KernelShare(k) > in.drf->KernelShare(highest);
      if (higher) highest = k;
    }
    dut.victim_kernel_i = static_cast<CData>(dut.victim_kernels_o == 0 ? 0u : 1u << highest);
  }
  // The answer follows the question by some cycles, in which nothing may happen.
  void AnswerRange(const Inputs& in) {
    Dut& dut = lockstep().dut();
    dut.range_shrinks_i = Any(2) != 0;
    const TbDispatch::State& s = model_.state();
    if (dut.range_kernel_o == 0 || dut.range_victim_o == 0 || s.step != Step::kRange) return;
    const unsigned kernel = Lowest(dut.range_kernel_o), victim = Lowest(dut.range_victim_o);
    const unsigned tbs = dut.range_victim_tbs_o;
    dut.range_shrinks_i = in.drf->RangeShrinks(kernel, victim, tbs, s.sm, s.active, *in.kernels);
  }
  static unsigned Lowest(unsigned mask) { return static_cast<unsigned>(__builtin_ctz(mask)); }
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
    ports_.CompareRegisters(want, view.in);
    const TbDispatch::State before = want.state();
    log_.clear();
    want.Tick(view.in);
    if (want.state().decision) log_.push_back(*want.state().decision);
    ports_.CompareDecision(log_, view.in);
    CompareQuestions(before, want.state(), view.in);
    lockstep().ClockEdge();
    for (const Decision& d : log_) ++reasons_[d.reason];
    if (distort) model_.Tick(in);
    if (!distort && !log_.empty()) CheckLatency(in);
  }
  // The questions in the steps that ask them, of decisions that nothing overtakes.
  void CompareQuestions(const TbDispatch::State& before, const TbDispatch::State& after,
                        const Inputs& in) {
    if (after.step == Step::kMask || before.step == after.step) return;
    const Dut& dut = lockstep().dut();
    const unsigned k = before.kernel;
    if (before.step == Step::kSm && after.step == Step::kLook && !before.reserved) {
      for (unsigned i = 0; i < kNumKernels; ++i) {
        ExpectAt<KernelSms<Package>>(&lockstep(), "pick_sms", i, dut.pick_sms_o,
                                     before.candidates[i]);
      }
    }
    if (before.step == Step::kLook) {
      const KernelMask picked = static_cast<KernelMask>(1u << after.kernel);
      lockstep().Expect("pick_kernels", dut.pick_kernels_o,
                        before.reserved ? picked : before.kernels);
      ExpectAt<KernelSms<Package>>(&lockstep(), "look_sm", after.kernel, dut.look_sm_o,
                                   SmMask::Of(after.sm));
    }
    if (before.step == Step::kFit) lockstep().Expect("queue_kernel", dut.queue_kernel_o, k);
    if (before.step == Step::kVictimSm) {
      ExpectMessage<Bits<kSms>>(&lockstep(), "victim_sms", dut.victim_sms_o, before.search.sms);
      lockstep().Expect("victim_exclude", dut.victim_exclude_o, k);
    }
    if (before.step == Step::kVictimLook && before.search.sms.Any()) {
      ExpectMessage<Bits<kSms>>(&lockstep(), "victim_look", dut.victim_look_o,
                                SmMask::Of(before.search.sm));
    }
    if (before.step != Step::kRange) return;
    const auto& resident = in.drf->state().resident;
    lockstep().Expect("range_kernel", dut.range_kernel_o, 1u << k);
    lockstep().Expect("range_starts", dut.range_starts_o, resident[k][before.sm] == 0);
    lockstep().Expect("range_victim", dut.range_victim_o, 1u << before.victim);
    lockstep().Expect("range_victim_tbs", dut.range_victim_tbs_o, before.victim_tbs);
    lockstep().Expect("range_stops", dut.range_stops_o,
                      resident[before.victim][before.sm] == before.victim_tbs);
  }

  // It has come to its last step and may act: what it waits for is the SM's credit.
  static bool IsDue(const TbDispatch::State& s, const PolicyConfig& policy) {
    if (s.step == Step::kSm) return s.searching || s.wait <= 2 * policy.latency_scale;
    if (s.step == Step::kFit) return s.searching || s.wait == 0;
    return s.step == Step::kRange && s.search.range_steps + 1u >= TbDispatch::kRangeSteps &&
           s.wait == 0;
  }
  // Cycles of a decision, by what comes of it, but for those in which it waited for a credit:
  // neither earlier nor later.
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
    const std::uint64_t cycles = cycle_ + 1 - begun_ - stayed_;
    if (scale != 1 && begun_ != left_idle_) {
      lockstep().Expect("enough cycles of the decision", cycles >= steps, true);
    } else if (steps > 4) {
      lockstep().Expect("cycles of the search", cycles,
                        std::max(4 * scale + steps - 4, least * scale));
    } else {
      lockstep().Expect("cycles of the decision", cycles, steps * scale);
    }
  }

  unsigned Any(unsigned below) { return dice_.Below(below); }

  Ports ports_;
  ControlConfig config_;
  DispatchMachine machine_;
  Dice dice_;
  std::array<std::uint32_t, kMaxKernels> first_tb_;
  TbDispatch model_, broken_;
  std::vector<Decision> log_;
  std::map<DecisionReason, unsigned> reasons_;
  std::uint64_t cycle_ = 0, left_idle_ = 0, begun_ = 0, stayed_ = 0;
  bool work_ = false;
};

}  // namespace smk
