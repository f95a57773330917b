// SPDX-License-Identifier: Apache-2.0
// What a GPU does to smk_drf_tracker, by chance and within the rules.
#pragma once

#include "drf_tracker/bench.h"

namespace smk::drf_tracker {

// SMs with TBs that come, are chosen as victims, leave or are not found, of kernels that come and
// go with other needs; all decided by chance, within the limits.
template <typename AnyBench>
class Traffic {
 public:
  static constexpr unsigned kSms = AnyBench::kSms;

  explicit Traffic(std::uint64_t seed) : dice_(seed) {
    for (unsigned k = 0; k < kNumKernels; ++k) Launch(k);
  }

  Step Next(const DrfTracker& drf, unsigned cycle) {
    if (cycle % 512 == 0) ChangePhase();
    Step step;
    // Shares are compared only when nothing has happened for some cycles.
    if (quiet_ == 0 && dice_.Percent(4)) quiet_ = 4 + dice_.Below(30);
    if (quiet_ != 0) {
      --quiet_;
    } else {
      if (cycle != 0) fresh_ = 0;
      GoOn(drf, &step.in);
      for (unsigned sm = 0; sm < kSms; ++sm) Event(drf, sm, &step.in);
      Decide(drf, &step.in);
    }
    step.kernels = kernels_;
    Question ask = Ask(drf);
    if (dice_.Percent(93)) HoldRange(ask_, &ask);
    if (dice_.Percent(50)) ask.victim_exclude = ask_.victim_exclude;
    step.ask = ask_ = ask;
    return step;
  }

 private:
  struct Preempted {
    bool valid = false;  // the victim kernel still runs
    unsigned victim = 0;
    unsigned tbs = 0;  // chosen, and not yet gone
  };

  unsigned Resident(const DrfTracker& drf, unsigned k) const {
    unsigned tbs = 0;
    for (unsigned sm = 0; sm < kSms; ++sm) tbs += drf.state().resident[k][sm];
    return tbs;
  }
  std::uint16_t UpTo(unsigned most) {
    return static_cast<std::uint16_t>(dice_.Percent(10) ? most : dice_.Below(most + 1));
  }

  // A kernel of another need; small ones by the dozen.
  void Launch(unsigned k) {
    fresh_ |= 1u << k;
    const ResourceVector& limits = AnyBench::kLimits;
    const unsigned part = dice_.Percent(25) ? 24 : 1 + dice_.Below(12);
    KernelTable::Slot& slot = kernels_.slot[k];
    slot.need = {UpTo(limits.registers / part), UpTo(limits.shared_memory / part),
                 static_cast<std::uint16_t>(1 + UpTo(limits.threads / part - 1)), 1};
    // So small that TB slots count most, or threads by a little.
    if (dice_.Percent(30))
      slot.need = {UpTo(4), UpTo(6), static_cast<std::uint16_t>(1 + UpTo(3)), 1};
    slot.share = AnyBench::Weights().Dominant(slot.need);
    running_ |= 1u << k;
  }
  void ChangePhase() {
    arrive_ = 10 + dice_.Below(91);
    leave_ = dice_.Percent(25) ? 90 : 1 + dice_.Below(8);
    preempt_ = dice_.Below(50);
    // One kernel gets all room that comes free.
    alone_ = dice_.Percent(15) ? dice_.Below(kNumKernels) : kNumKernels;
    if (alone_ != kNumKernels) arrive_ = 100;
    if (dice_.Percent(60)) running_ &= ~(1u << dice_.Below(kNumKernels));
  }
  // A kernel that gets no more TBs is done when the last has left, and another follows.
  void GoOn(const DrfTracker& drf, DrfTracker::Inputs* in) {
    for (unsigned k = 0; k < kNumKernels; ++k) {
      if ((running_ >> k & 1) != 0) continue;
      if (done_ >> k & 1) {
        done_ &= ~(1u << k);
        Launch(k);
      } else if (Resident(drf, k) == 0 && dice_.Percent(30)) {
        done_ |= 1u << k;
        in->kernel_done |= static_cast<KernelMask>(1u << k);
        reserved_[k] = 0;
        for (Preempted& p : preempted_) p.valid &= p.victim != k;
      }
    }
  }

  // At most one event of the SM. The payload is random where it says nothing.
  void Event(const DrfTracker& drf, unsigned sm, DrfTracker::Inputs* in) {
    SmEvent& event = in->event[sm];
    event.tb = static_cast<TbId>(dice_.Bits());
    event.buffer = static_cast<std::uint16_t>(dice_.Below(512));
    event.kernel = static_cast<KernelId>(dice_.Below(kNumKernels));
    event.counted = dice_.Percent(50);
    event.shortfall = static_cast<std::uint8_t>(dice_.Below(AnyBench::kLimits.tbs));
    event.kind = static_cast<EventKind>(dice_.Below(5));
    Preempted& p = preempted_[sm];
    if (p.valid) in->shortfall_mask.Set(sm);
    in->shortfall_kernel[sm] = static_cast<KernelId>(p.valid ? p.victim : dice_.Below(kNumKernels));
    if (!dice_.Percent(leave_)) return;
    if (event.kind == EventKind::kSettled) {
      if (p.valid) event.shortfall = static_cast<std::uint8_t>(p.tbs);
      p = {};
    } else if (event.kind != EventKind::kBufferFree) {
      const unsigned k = Index(event.kernel);
      if (drf.state().resident[k][sm] == 0 || k == alone_) return;
      event.counted = p.valid && p.victim == k && p.tbs != 0 && dice_.Percent(80);
      if (event.counted) --p.tbs;
    }
    in->event_mask.Set(sm);
  }

  // Pulses of one decision: all of one kernel.
  void Decide(const DrfTracker& drf, DrfTracker::Inputs* in) {
    const bool one = alone_ != kNumKernels && dice_.Percent(95);
    const unsigned k = one ? alone_ : dice_.Below(kNumKernels);
    const unsigned sm = dice_.Below(kSms);
    in->dispatch_kernel = in->reserve_kernel = static_cast<KernelId>(k);
    in->dispatch_sm = static_cast<SmId>(sm);
    in->dispatch_reserved = dice_.Percent(50);
    in->preempt_kernel = static_cast<KernelId>(dice_.Below(kNumKernels));
    in->preempt_count = static_cast<std::uint8_t>(dice_.Below(AnyBench::kLimits.tbs));
    const bool fits = drf.Fits(sm, kernels_.slot[k].need);
    // The first TB comes cycles after the launch.
    if (fits && (running_ & ~fresh_) >> k & 1 && dice_.Percent(arrive_)) {
      in->dispatch_valid = true;
      in->dispatch_reserved = reserved_[k] != 0 && dice_.Percent(70);
      if (in->dispatch_reserved) --reserved_[k];
    }
    if (reserved_[k] != 0 && dice_.Percent(10)) {
      in->cancel_valid = true;
      --reserved_[k];
    }
    if ((running_ >> k & 1) != 0 && dice_.Percent(preempt_)) Preempt(drf, k, in);
  }
  void Preempt(const DrfTracker& drf, unsigned k, DrfTracker::Inputs* in) {
    const unsigned sm = dice_.Below(kSms);
    const unsigned victim = dice_.Below(kNumKernels);
    const unsigned resident = drf.state().resident[victim][sm];
    if (victim == k || resident == 0 || preempted_[sm].valid || reserved_[k] >= kSms) return;
    in->reserve_valid = in->preempt_valid = true;
    in->preempt_kernel = static_cast<KernelId>(victim);
    in->preempt_count = static_cast<std::uint8_t>(1 + dice_.Below(resident));
    preempted_[sm] = {true, victim, in->preempt_count};
    ++reserved_[k];
  }

  SmMask SomeSms() {
    const SmMask mask = dice_.Sms(kSms, 1 + dice_.Below(3));
    if (dice_.Percent(20)) return SmMask::First(kSms);
    return mask.Any() ? mask : SmMask::Of(dice_.Below(kSms));
  }
  KernelMask SomeKernels() { return static_cast<KernelMask>(1 + dice_.Below(15)); }
  Question Ask(const DrfTracker& drf) {
    Question ask;
    ask.pick_kernels = SomeKernels();
    for (SmMask& sms : ask.pick_sms) sms = SomeSms();
    for (unsigned& sm : ask.look_sm) sm = dice_.Below(kSms);
    ask.victim_sms = dice_.Percent(5) ? SmMask() : SomeSms();
    ask.victim_exclude = dice_.Below(kNumKernels);
    ask.victim_look = dice_.Below(kSms);
    ask.victim_kernels = drf.ResidentOn(ask.victim_look);
    if (dice_.Percent(50)) ask.victim_kernels &= static_cast<KernelMask>(dice_.Below(16));
    ask.active = static_cast<KernelMask>(dice_.Below(16));
    ask.range_kernel = dice_.Below(kNumKernels);
    ask.range_victim = dice_.Below(kNumKernels);
    ask.range_sm = dice_.Below(kSms);
    // Mostly as a decision does: the lowest kernel against the highest there.
    if (dice_.Percent(70)) {
      if (ask.active == 0 || dice_.Percent(50)) ask.active = 0b1111;
      ask.range_kernel = drf.LowestKernel(ask.active);
      const auto victim = drf.HighestKernelOn(ask.range_sm, drf.ResidentOn(ask.range_sm));
      ask.range_victim = victim.value_or(ask.range_victim);
    }
    const unsigned resident = drf.state().resident[ask.range_victim][ask.range_sm];
    ask.range_victim_tbs = dice_.Below(resident + 2);
    return ask;
  }

  static void HoldRange(const Question& last, Question* ask) {
    ask->active = last.active;
    ask->range_kernel = last.range_kernel;
    ask->range_victim = last.range_victim;
    ask->range_victim_tbs = last.range_victim_tbs;
    ask->range_sm = last.range_sm;
  }

  Dice dice_;
  KernelTable::State kernels_;
  Question ask_;
  unsigned quiet_ = 0, fresh_ = 0;
  unsigned running_ = 0, done_ = 0;
  std::array<unsigned, kMaxKernels> reserved_{};
  std::array<Preempted, kSms> preempted_{};
  unsigned arrive_ = 0, leave_ = 0, preempt_ = 0, alone_ = kNumKernels;
};

}  // namespace smk::drf_tracker
