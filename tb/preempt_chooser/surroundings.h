// SPDX-License-Identifier: Apache-2.0
// What stands around smk_preempt_chooser in its lockstep test, by chance and within the rules.
#pragma once

#include <algorithm>

#include "common/lockstep.h"
#include "control/sm/preempt_chooser.h"

namespace smk::preempt_chooser {

using Inputs = PreemptChooser::Inputs;

// How often the cases that matter came up.
struct Tally {
  unsigned drains = 0, flushes = 0, switches = 0, none_in_time = 0, measured = 0, late = 0;
  unsigned restored = 0, wraps = 0;
};

// TBs that come, run for about as long as others of their kernel and end; orders that make them
// leave; time that jumps, as while an SM sleeps.
template <typename AnyBench>
class Surroundings {
 public:
  // With `near`, limit and time are chosen by what they are compared with: one bit decides.
  Surroundings(AnyBench* bench, std::uint64_t seed, Tally* tally, bool near = false)
      : bench_(*bench), dice_(seed), tally_(*tally), near_(near) {
    in_.chimera.enable = true;
    // Time wraps in every run.
    in_.time = kTimeMask - dice_.Below(2000);
    for (KernelView& view : bench_.views) Launch(&view);
  }

  void Run(unsigned cycles) {
    for (unsigned i = 0; i < cycles && bench_.lockstep().ok(); ++i) {
      if (i % 1024 == 0) ChangePhase();
      Next();
      if (near_) Aim();
      const PreemptChooser::State before = bench_.model().state();
      bench_.Cycle(in_);
      Count(before);
      After();
    }
  }

 private:
  static constexpr std::uint32_t kAll =
      static_cast<std::uint32_t>((std::uint64_t{1} << AnyBench::kSlots) - 1);

  std::uint32_t Mask(unsigned sparse) {
    return static_cast<std::uint32_t>(dice_.Sparse(sparse)) & kAll;
  }
  void Launch(KernelView* view) {
    const unsigned most = dice_.Percent(near_ ? 60 : 20) ? AnyBench::kMaxLines : 40;
    view->context_lines = static_cast<std::uint16_t>(1 + dice_.Below(most));
  }
  // They change only while nobody has to go.
  void ChangeLimit() {
    const unsigned kind = dice_.Below(4);
    in_.chimera.limit = kind == 0 ? dice_.Below(64) : dice_.Below(kind == 1 ? 1u << 24 : 4000);
    in_.chimera.line = static_cast<std::uint8_t>(dice_.Below(8));
  }
  void ChangePhase() {
    arrive_ = 5 + dice_.Below(60);
    finish_ = 1 + dice_.Below(20);
    order_ = 1 + dice_.Below(8);
    gone_ = dice_.Percent(30) ? 1 : 20;
    jump_ = dice_.Percent(30) ? 200 : 2;
    if (leaving_ == 0 && running_ == 0) {
      for (KernelView& view : bench_.views) Launch(&view);
    }
    if (leaving_ == 0) ChangeLimit();
    if (near_) LaunchWhoHasNoTbs();
  }
  void LaunchWhoHasNoTbs() {
    const std::uint32_t there = running_ | waiting_ | ending_ | leaving_;
    for (unsigned k = 0; k < kNumKernels; ++k) {
      bool has = bench_.model().state().step != PreemptChooser::Step::kIdle;
      for (unsigned s = 0; s < AnyBench::kSlots; ++s) {
        has = has || ((there >> s & 1) != 0 && Index(bench_.slot_kernel[s]) == k);
      }
      if (!has) Launch(&bench_.views[k]);
    }
  }

  std::uint32_t FlipOne(std::uint32_t value, unsigned bits) {
    return dice_.Percent(25) ? value : value ^ 1u << dice_.Below(bits);
  }
  // The age at which the way that a TB of the kernel leaves changes.
  std::uint32_t Turn(unsigned kernel) {
    const std::uint32_t mean = bench_.model().state().mean[kernel];
    const std::uint32_t lines = bench_.views[kernel].context_lines;
    const std::uint32_t moved = 2 * (lines << in_.chimera.line >> kTimeUnitLog2);
    const std::uint32_t ages[] = {moved, mean + moved, mean - moved, mean / 2};
    return FlipOne(ages[dice_.Below(4)], kTimeWidth);
  }
  void Aim() {
    constexpr unsigned kBits = 20;  // of the limit, in units of time
    const PreemptChooser::State& s = bench_.model().state();
    const unsigned now = dice_.Below(100);
    if (leaving_ == 0 && now < 2) in_.time = dice_.Below(1u << kTimeWidth);
    if (leaving_ == 0 && running_ != 0 && now >= 90) {
      const auto slot = static_cast<unsigned>(31 - __builtin_clz(running_));
      aim_ = (s.start[slot] + Turn(Index(bench_.slot_kernel[slot]))) & kTimeMask;
      in_.time = (aim_ - dice_.Below(16)) & kTimeMask;
      in_.order = true;
      in_.mode = PreemptMode::kChimera;
    }
    if (s.step == PreemptChooser::Step::kRead && ((aim_ - in_.time) & kTimeMask) < 64) {
      in_.time = aim_;
    }
    const bool judges = s.step == PreemptChooser::Step::kJudge;
    std::uint32_t limit = (1u << kBits) - 1;
    if (judges && now < 70) limit = FlipOne(now < 35 ? s.rest : s.saves_with, kBits);
    if (!judges && now < 2) limit = FlipOne(s.elapsed, kBits);
    in_.chimera.limit = (limit & ((1u << kBits) - 1)) << kTimeUnitLog2;
  }

  void Next() {
    if (dice_.Percent(30)) {
      const std::uint32_t before = in_.time;
      const unsigned far = dice_.Percent(1) ? 1u << dice_.Below(23) : jump_;
      in_.time = (in_.time + dice_.Below(far)) & kTimeMask;
      tally_.wraps += in_.time < before;
    }
    in_.activate = in_.loaded = 0;
    in_.order = in_.ended = false;
    Arrive();
    if (ending_ != 0) {
      in_.ended = true;
      in_.ended_slot = static_cast<std::uint8_t>(__builtin_ctz(ending_));
    }
    if (leaving_ == 0 && dice_.Percent(order_)) {
      in_.order = true;
      in_.mode =
          dice_.Percent(85) ? PreemptMode::kChimera : static_cast<PreemptMode>(dice_.Below(3));
    }
    in_.leaving = leaving_;
    in_.running = running_;
    if (dice_.Percent(10)) in_.flushable = Mask(1);
  }
  void Arrive() {
    const std::uint32_t free = kAll & ~(running_ | waiting_ | ending_ | 1u << in_.ended_slot);
    if (waiting_ != 0 && dice_.Percent(arrive_)) {
      in_.loaded = 1u << dice_.BitOf(waiting_);
      in_.activate = in_.loaded;
    }
    if (free == 0 || !dice_.Percent(arrive_)) return;
    const unsigned slot = dice_.BitOf(free);
    bench_.slot_kernel[slot] = static_cast<KernelId>(dice_.Below(kNumKernels));
    if (dice_.Percent(25)) {
      waiting_ |= 1u << slot;
    } else {
      in_.activate |= 1u << slot;
    }
  }

  // What this cycle did to the TBs.
  void After() {
    if (in_.ended) ending_ &= ending_ - 1;
    const std::uint32_t ended = dice_.Percent(finish_) ? Mask(3) & running_ : 0;
    const std::uint32_t go = bench_.model().state().go & leaving_ & running_;
    const std::uint32_t left = go != 0 && dice_.Percent(gone_) ? 1u << dice_.BitOf(go) : 0;
    const std::uint32_t all = (running_ | waiting_) & ~ended;
    if (in_.order) leaving_ = dice_.Percent(50) ? all : all & Mask(1);
    tally_.restored += in_.loaded != 0;
    waiting_ &= ~in_.loaded;
    running_ = (running_ | in_.activate) & ~(ended | left);
    leaving_ &= ~(ended | left);
    ending_ |= ended & ~left;
  }
  void Count(const PreemptChooser::State& before) {
    const PreemptChooser::State& s = bench_.model().state();
    using Step = PreemptChooser::Step;
    tally_.late += s.late && !before.late;
    tally_.measured += before.step == Step::kSum && before.measures && !before.again;
    if (before.step != Step::kChoose) return;
    const std::uint32_t bit = 1u << before.slot;
    tally_.none_in_time += !before.may_flush && !before.drain_in_time && !before.switch_in_time;
    tally_.drains += (s.judged & ~s.go & bit) != 0;
    tally_.flushes += (s.flush & bit) != 0;
    tally_.switches += (s.go & ~s.flush & bit) != 0;
  }

  AnyBench& bench_;
  Dice dice_;
  Tally& tally_;
  bool near_;
  Inputs in_;
  std::uint32_t aim_ = 0;  // a time at which a TB has an age that decides
  // TBs that run, that wait for their context, whose end is to be reported, that must go.
  std::uint32_t running_ = 0, waiting_ = 0, ending_ = 0, leaving_ = 0;
  unsigned arrive_ = 10, finish_ = 5, order_ = 2, gone_ = 20, jump_ = 2;
};

}  // namespace smk::preempt_chooser
