// SPDX-License-Identifier: Apache-2.0
// What stands around smk_preempt_engine in its lockstep test, by chance and within the rules.
#pragma once

#include "common/lockstep.h"
#include "control/sm/preempt_engine.h"

namespace smk::preempt_engine {

using Inputs = PreemptEngine::Inputs;
using Step = PreemptEngine::Step;

// What the TB table and the driver hold beside the engine.
struct Tables {
  std::array<KernelId, kMaxTbSlots> kernel{};
  std::array<TbId, kMaxTbSlots> tb{};
  std::array<std::uint16_t, kMaxTbSlots> buffer{};
  KernelViews views{};
};

// How often the cases that matter came up.
struct Tally {
  std::array<unsigned, 5> events{};  // by EventKind
  unsigned loaded = 0, withdrawn = 0, late_buffers = 0, finished_in_drain = 0;
};

// The SM, the driver and memory around the engine: TBs that come, run and finish, commands that
// make them leave, buffers, acknowledgements and context lines that take their time.
template <typename AnyBench>
class Surroundings {
 public:
  Surroundings(AnyBench* bench, std::uint64_t seed, Tally* tally)
      : bench_(*bench), dice_(seed), tally_(*tally) {
    Tables& t = bench_.tables;
    for (unsigned k = 0; k < kNumKernels; ++k) {
      // Mostly small ones, so that much happens; room for carries up to the last bit.
      const unsigned log2 = dice_.Percent(20) ? 6 + dice_.Below(7) : 1 + dice_.Below(5);
      t.views[k].context_base = dice_.Bits() & 0xfeff'ffff'ffff;
      t.views[k].context_log2_lines = static_cast<std::uint8_t>(log2);
      t.views[k].context_lines =
          static_cast<std::uint16_t>(1 + dice_.Below(std::min(1u << log2, AnyBench::kMaxLines)));
    }
  }

  void Run(unsigned cycles) {
    for (unsigned i = 0; i < cycles && bench_.lockstep().ok(); ++i) {
      if (i % 512 == 0) ChangePhase();
      const Inputs in = Next();
      const Step step = bench_.model().state().step;
      const PreemptEngine::Outputs out = bench_.Cycle(in);
      Count(step, in, out);
      After(in, out);
    }
  }

 private:
  static constexpr PreemptMode kModes[] = {
      PreemptMode::kSwitch, PreemptMode::kSwitch,  PreemptMode::kFlush,  PreemptMode::kFlush,
      PreemptMode::kDrain,  PreemptMode::kChimera, PreemptMode::kChimera};
  static constexpr std::uint32_t kAll =
      static_cast<std::uint32_t>((std::uint64_t{1} << AnyBench::kSlots) - 1);

  void ChangePhase() {
    ready_ = 10 + dice_.Below(91);
    done_ = dice_.Percent(20) ? 2 : ready_;
    answer_ = dice_.Percent(20) ? 2 : 5 + dice_.Below(95);
    // Every slot must be the only one sometimes.
    arrive_ = dice_.Percent(50) ? 1 : 40;
    leave_ = dice_.Percent(40) ? 1 : 1 + dice_.Below(20);
    finish_ = dice_.Below(6);
    quiet_ = dice_.Percent(20) ? 5 : 1 + dice_.Below(2);
  }
  std::uint32_t Mask(unsigned sparse) {
    return static_cast<std::uint32_t>(dice_.Sparse(sparse)) & kAll;
  }

  Inputs Next() {
    const PreemptEngine::State& s = bench_.model().state();
    Inputs in;
    in.running = running_;
    // Nothing finishes that is stopped and quiet; a TB that is saved cannot finish any more.
    std::uint32_t can_finish = running_;
    if (s.step >= Step::kTransfer && s.step <= Step::kWait) can_finish &= ~(1u << s.slot);
    if (dice_.Percent(finish_)) in.finished = Mask(2) & can_finish;
    if (s.step == Step::kBuffer && dice_.Percent(finish_)) in.finished |= 1u << s.slot & can_finish;
    in.quiet = Mask(quiet_);
    in.flushable = Mask(1);
    // Choices are made one by one, and hold until the TB has gone.
    go_ = (go_ & s.leaving) | (dice_.Percent(answer_) ? Mask(2) & s.leaving : 0);
    flush_ = (flush_ & go_) | (Mask(1) & go_ & ~chosen_);
    chosen_ = go_;
    in.go = go_;
    in.flush = flush_;
    in.context_ready = dice_.Percent(ready_);
    in.context_done = static_cast<std::uint8_t>(
        dice_.Percent(done_) ? dice_.Below(std::min(in_flight_ + 1, 256u)) : 0);
    in.buffer_valid = (s.step == Step::kBuffer && dice_.Percent(answer_)) ||
                      (s.step == Step::kWithdraw && dice_.Percent(answer_ / 2));
    in.buffer_none = s.step == Step::kWithdraw && !in.buffer_valid && dice_.Percent(answer_ / 2);
    in.buffer = static_cast<std::uint16_t>(dice_.Below(512));
    in.event_sent = bench_.Peek(in).event_valid && dice_.Percent(80);
    in.event_ack = s.step == Step::kAck && dice_.Percent(answer_);
    Command(s, &in);
    return in;
  }

  void Command(const PreemptEngine::State& s, Inputs* in) {
    if (arriving_ != 0 && dice_.Percent(50)) {
      in->load = 1u << dice_.BitOf(arriving_);
      arriving_ &= ~in->load;
    }
    if (!dice_.Percent(leave_)) return;
    in->leave = (running_ | s.to_load) & ~in->finished & ~s.leaving;
    if (in->leave != 0)
      in->leave &= dice_.Percent(50) ? 1u << dice_.BitOf(in->leave) : Mask(1 + dice_.Below(4));
    in->leave_counted = dice_.Percent(50);
    in->mode_valid = true;
    in->whole_sm = dice_.Percent(50);
    if (in->whole_sm || dice_.Percent(20)) in->mode = kModes[dice_.Below(7)];
  }

  void Count(Step step, const Inputs& in, const PreemptEngine::Outputs& out) {
    if (in.event_sent) ++tally_.events[static_cast<unsigned>(out.event.kind)];
    tally_.loaded += out.loaded_valid;
    tally_.withdrawn += step == Step::kWithdraw && in.buffer_none;
    tally_.late_buffers += step == Step::kWithdraw && in.buffer_valid;
    tally_.finished_in_drain +=
        step == Step::kDrain && (in.finished >> bench_.model().state().slot & 1);
  }
  // What the engine did to the TBs; slots that are free are taken again.
  void After(const Inputs& in, const PreemptEngine::Outputs& out) {
    const PreemptEngine::State& s = bench_.model().state();
    in_flight_ += (out.context.valid && in.context_ready ? 1u : 0u) - in.context_done;
    running_ &= ~in.finished;
    resident_ &= ~in.finished;
    if (out.release_valid) running_ &= ~(1u << Index(out.release_slot));
    if (out.release_valid) resident_ &= ~(1u << Index(out.release_slot));
    if (out.loaded_valid) running_ |= 1u << Index(out.loaded_slot);
    std::uint32_t free = kAll & ~resident_;
    // The table keeps what a slot held until its event is sent.
    if (s.step != Step::kIdle) free &= ~(1u << s.slot);
    if (free == 0 || !dice_.Percent(arrive_)) return;
    const unsigned slot = dice_.BitOf(free);
    Tables& t = bench_.tables;
    t.kernel[slot] = static_cast<KernelId>(dice_.Below(kNumKernels));
    t.tb[slot] = static_cast<TbId>(dice_.Bits());
    t.buffer[slot] = static_cast<std::uint16_t>(dice_.Below(512));
    resident_ |= 1u << slot;
    (dice_.Percent(30) ? arriving_ : running_) |= 1u << slot;
  }

  AnyBench& bench_;
  Dice dice_;
  Tally& tally_;
  std::uint32_t resident_ = 0, running_ = 0, arriving_ = 0;
  std::uint32_t go_ = 0, flush_ = 0, chosen_ = 0;
  unsigned in_flight_ = 0;  // context lines issued and not completed
  unsigned ready_ = 50, done_ = 50, answer_ = 50, arrive_ = 1, leave_ = 1, finish_ = 1, quiet_ = 1;
};

}  // namespace smk::preempt_engine
