// SPDX-License-Identifier: Apache-2.0
// A driver and a machine around one SM's control logic that do everything the protocol allows, at
// random.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "common/lockstep.h"
#include "control/sm/sm_control.h"

namespace smk {

// How often the cases that matter came up.
struct SmControlTally {
  std::array<unsigned, 5> commands{};  // by CommandOp
  std::array<unsigned, 5> events{};    // by EventKind
  std::array<unsigned, 4> evicted{};   // by PreemptMode
  unsigned counted_finishes = 0, shortfalls = 0, held_commands = 0, late_buffers = 0;
  unsigned reloads = 0, silent_cycles = 0, ready_only_cycles = 0;
  unsigned waits = 0;  // TBs that find no gap in registers or shared memory
  unsigned windows = 0, instructions = 0, stalls = 0;  // reported, and what they counted
};

// What the driver knows of the SM, and what it sends. It sees the SM's registers one cycle later.
class SmControlDriver {
 public:
  SmControlDriver(const ControlConfig& config, bool chimera, Dice* dice, SmControlTally* tally)
      : config_(config), chimera_(chimera), dice_(*dice), tally_(*tally) {
    may_plan_ = dice_.Percent(60);
    for (KernelView& view : views_) Launch(&view);
  }

  void ChangePhase() {
    dispatch_ = dice_.Percent(20) ? 0 : 5 + dice_.Below(90);
    trouble_ = dice_.Percent(30) ? 0 : 1 + dice_.Below(6);
    quotas_ = dice_.Percent(30) ? 10 : 0;
    answer_ = dice_.Percent(20) ? 1 : 5 + dice_.Below(95);
    // For a while, what is counted between two ticks becomes as large as it can.
    if (phases_++ % 64 == 0) seldom_ = dice_.Percent(30);
    tick_ = seldom_ || dice_.Percent(30) ? 0 : 1 + dice_.Below(5);
    windows_ = dice_.Percent(60) ? 0 : 1 + dice_.Below(20);
    plans_ = plans_ || (may_plan_ && dice_.Percent(15));
    // A kernel without TBs here and to come may be another one.
    for (unsigned k = 0; k < kNumKernels; ++k) {
      if (resident_[k] == 0 && plan_.empty() && !(planned_ && tb_count_[k] != 0)) {
        Launch(&views_[k]);
      }
    }
  }

  // The next cycle's signals to the SM, from its registers and those signals of this cycle.
  DriverToSm Step(const SmToDriver& sm, const DriverToSm& now) {
    Take(sm.event);
    DriverToSm next;
    next.command = now.command;
    if (now.command_valid) credit_ = false;
    credit_ = credit_ || sm.command_credit;
    tally_.held_commands += !credit_;
    if (credit_) Command(&next);
    next.event_ack = owes_ack_ && dice_.Percent(answer_);
    owes_ack_ = owes_ack_ && !next.event_ack;
    asked_ = asked_ || sm.buffer_request;
    withdrawn_ = asked_ && (withdrawn_ || sm.buffer_withdraw);
    const bool answers = asked_ && dice_.Percent(answer_);
    next.buffer_none = answers && withdrawn_ && dice_.Percent(50);
    next.buffer_valid = answers && !next.buffer_none;
    asked_ = asked_ && !answers;
    next.buffer = static_cast<std::uint16_t>(dice_.Below(config_.preempted_depth));
    next.tick = dice_.Percent(tick_);
    Window(sm, &next);
    return next;
  }
  const KernelViews& views() const { return views_; }

 private:
  // Mostly of few warps, registers, shared memory and context lines; some fill the SM.
  void Launch(KernelView* view) {
    const bool large = dice_.Percent(6);
    ResourceVector most = large ? config_.limits : Part();
    if (!may_plan_ && !large) {  // so large that not every gap is large enough
      most.registers = static_cast<std::uint16_t>(config_.limits.registers / 3);
      most.shared_memory = static_cast<std::uint16_t>(config_.limits.shared_memory / 3);
    }
    const unsigned threads = config_.limits.threads / (large ? 1 : 6);
    const unsigned lines = dice_.Percent(97) ? 16 : ContextLines(config_.limits);
    view->need.registers = static_cast<std::uint16_t>(dice_.Below(most.registers + 1));
    view->need.shared_memory = static_cast<std::uint16_t>(dice_.Below(most.shared_memory + 1));
    view->need.threads = static_cast<std::uint16_t>(1 + dice_.Below(threads));
    view->context_base = dice_.Bits() >> 17 << 7 & 0xffffffffffff;
    view->context_lines = static_cast<std::uint16_t>(1 + dice_.Below(lines));
    view->context_log2_lines = 0;
    while (1u << view->context_log2_lines < view->context_lines) ++view->context_log2_lines;
  }

  // Windows of any length, some without stalls, each after the counts of the one before.
  void Window(const SmToDriver& sm, DriverToSm* out) {
    if (sm.sample_valid) {
      window_ = 0;
      ++tally_.windows;
      tally_.instructions += sm.sample_issued;
      tally_.stalls += sm.sample_stalled;
    }
    if (window_ == 0 && dice_.Percent(windows_)) {
      const unsigned longest = 65535 / config_.num_schedulers - 2;
      window_ = 2 + dice_.Below(dice_.Percent(50) ? 4 : dice_.Percent(90) ? 200 : longest);
      out->sample_begin = true;
      out->sample_stalls = dice_.Percent(60);
    }
    out->sample_kernel = static_cast<KernelId>(dice_.Below(kNumKernels));
    if (window_ > 1 && !out->sample_begin) out->sample_end = --window_ == 1;
  }

  void Take(const SmEvent& event) {
    if (!event.valid) return;
    const unsigned kind = static_cast<unsigned>(event.kind);
    ++tally_.events[kind];
    owes_ack_ = owes_ack_ || NeedsAck(event.kind);
    if (event.kind == EventKind::kSettled) {
      busy_ = false;
      tally_.shortfalls += event.shortfall != 0;
    } else if (event.kind != EventKind::kBufferFree) {
      --resident_[Index(event.kernel)];
      tally_.counted_finishes += event.kind == EventKind::kFinished && event.counted;
    }
  }

  void Command(DriverToSm* out) {
    if (!plan_.empty()) {
      out->command = plan_.back();
      plan_.pop_back();
    } else if (quotas_ != 0 && dice_.Percent(quotas_)) {
      out->command = Quota();
    } else if (!busy_ && dice_.Percent(trouble_)) {
      out->command = Trouble();
    } else if (!busy_ && dice_.Percent(dispatch_)) {
      const std::optional<SmCommand> dispatch = Dispatch();
      if (!dispatch) return;
      out->command = *dispatch;
    } else {
      return;
    }
    out->command_valid = true;
    ++tally_.commands[static_cast<unsigned>(out->command.op)];
  }

  // A TB of a kernel that has room by what the driver knows.
  std::optional<SmCommand> Dispatch() {
    SmCommand c;
    const unsigned k = dice_.Below(kNumKernels);
    ResourceVector all = OneTb(views_[k]);
    for (unsigned other = 0; other < kNumKernels; ++other) {
      for (unsigned i = 0; i < resident_[other]; ++i) all += OneTb(views_[other]);
    }
    const bool fits = FitsIn(all, config_.limits);
    if (planned_ ? resident_[k] >= tb_count_[k] : !fits) return std::nullopt;
    ++resident_[k];
    c.op = CommandOp::kDispatch;
    c.kernel = static_cast<KernelId>(k);
    c.tb = static_cast<TbId>(dice_.Bits());
    c.restore = dice_.Percent(30);
    c.buffer = static_cast<std::uint16_t>(dice_.Below(config_.preempted_depth));
    return c;
  }

  SmCommand Quota() {
    SmCommand c;
    c.op = CommandOp::kQuota;
    c.kernel = static_cast<KernelId>(dice_.Below(kNumKernels));
    c.quota = static_cast<std::uint16_t>(dice_.Below(dice_.Percent(90) ? 40 : 65536));
    c.first = dice_.Percent(60);
    c.last = dice_.Percent(40);
    return c;
  }

  // TBs must go.
  SmCommand Trouble() {
    SmCommand c;
    busy_ = true;
    if (plans_ && dice_.Percent(40)) return Plan();
    if (dice_.Percent(40)) {
      c.op = CommandOp::kEvict;
      c.mode = dice_.Percent(40) ? PreemptMode::kFlush : static_cast<PreemptMode>(dice_.Below(3));
      if (chimera_ && dice_.Percent(70)) c.mode = PreemptMode::kChimera;
      ++tally_.evicted[static_cast<unsigned>(c.mode)];
      return c;
    }
    const unsigned k = dice_.Below(kNumKernels);
    c.op = CommandOp::kPreempt;
    c.kernel = static_cast<KernelId>(k);
    const unsigned most = dice_.Percent(90) ? resident_[k] + 2 : config_.limits.tbs;
    c.count =
        static_cast<std::uint8_t>(std::min<unsigned>(1 + dice_.Below(most), config_.limits.tbs));
    return c;
  }

  // Ranges of some kernels, the last ones of which go out first. With fixed bases TBs stay.
  SmCommand Plan() {
    const bool fixed = dice_.Percent(60);
    unsigned tb_base = 0, warp_base = 0;
    planned_ = true;
    for (unsigned k = 0; k < kNumKernels; ++k) {
      const ResourceVector& l = config_.limits;
      if (fixed) tb_base = k * l.tbs / kNumKernels, warp_base = k * l.threads / kNumKernels;
      const unsigned tbs = (fixed ? (k + 1) * l.tbs / kNumKernels : l.tbs) - tb_base;
      const unsigned warps = (fixed ? (k + 1) * l.threads / kNumKernels : l.threads) - warp_base;
      const bool in_part = FitsIn(Storage(views_[k]), Part());
      const unsigned most = in_part ? std::min(tbs, warps / views_[k].need.threads) : 0;
      tb_count_[k] = dice_.Percent(20) ? 0 : dice_.Below(most + 1);
      const unsigned warps_limit = warp_base + tb_count_[k] * views_[k].need.threads;
      if (tb_count_[k] != 0) plan_.push_back(Range(k, tb_base, warp_base, warps_limit));
      tb_base += tb_count_[k];
      warp_base = warps_limit;
    }
    if (plan_.empty()) plan_.push_back(Range(0, 0, 0, 0));
    plan_.front().last = true;
    if (dice_.Percent(30)) plan_.front().mode = PreemptMode::kDrain;
    if (chimera_ && dice_.Percent(50)) plan_.front().mode = PreemptMode::kChimera;
    plan_.back().first = true;
    const SmCommand first = plan_.back();
    plan_.pop_back();
    return first;
  }
  SmCommand Range(unsigned k, unsigned tb_base, unsigned warp_base, unsigned warp_limit) const {
    SmCommand c;
    c.op = CommandOp::kPartition;
    c.kernel = static_cast<KernelId>(k);
    c.range.tb_base = static_cast<std::uint8_t>(tb_base);
    c.range.tb_count = static_cast<std::uint8_t>(tb_count_[k]);
    c.range.threads_base = static_cast<std::uint16_t>(warp_base);
    c.range.threads_limit = static_cast<std::uint16_t>(warp_limit);
    // Registers and shared memory in proportion.
    const ResourceVector part = Part();
    c.range.registers_base = static_cast<std::uint16_t>(tb_base * part.registers);
    c.range.registers_limit = static_cast<std::uint16_t>((tb_base + tb_count_[k]) * part.registers);
    c.range.shared_memory_base = static_cast<std::uint16_t>(tb_base * part.shared_memory);
    c.range.shared_memory_limit =
        static_cast<std::uint16_t>((tb_base + tb_count_[k]) * part.shared_memory);
    return c;
  }

  // A TB's registers and shared memory in a plan, at most.
  ResourceVector Part() const {
    const ResourceVector& l = config_.limits;
    return {static_cast<std::uint16_t>(l.registers / l.tbs),
            static_cast<std::uint16_t>(l.shared_memory / l.tbs), 0, 0};
  }
  static ResourceVector Storage(const KernelView& view) {
    return {view.need.registers, view.need.shared_memory, 0, 0};
  }
  static ResourceVector OneTb(const KernelView& view) {
    return {view.need.registers, view.need.shared_memory, view.need.threads, 1};
  }

  ControlConfig config_;
  bool chimera_;  // TBs may leave in a way of their own
  Dice& dice_;
  SmControlTally& tally_;
  KernelViews views_{};
  std::array<unsigned, kMaxKernels> resident_{}, tb_count_{};
  std::vector<SmCommand> plan_;  // commands of a plan still to be sent, the next one last
  bool planned_ = false, plans_ = false, may_plan_ = false;
  bool busy_ = false;  // until kSettled
  bool owes_ack_ = false, asked_ = false, withdrawn_ = false, credit_ = true;
  unsigned dispatch_ = 0, trouble_ = 0, quotas_ = 0, answer_ = 0, tick_ = 0, windows_ = 0;
  unsigned window_ = 0;  // cycles until its end, and one
  unsigned phases_ = 0;
  bool seldom_ = false;
};

// The SM: warps that are ready, TBs that finish, contexts that move.
class SmControlMachine {
 public:
  SmControlMachine(const ControlConfig& config, Dice* dice) : config_(config), dice_(*dice) {}

  void ChangePhase() {
    ready_ = dice_.Percent(25) ? 0 : dice_.Below(100);
    sparse_ = 1 + dice_.Below(4);
    finish_ = dice_.Percent(25) ? 0 : dice_.Below(8);
    quiet_ = 1 + dice_.Below(4);
    context_ = 10 + dice_.Below(91);
    done_ = dice_.Percent(30) ? 1 : context_;  // memory that answers late, with much at once
  }

  SmInputs Step(const SmControl& sm) {
    const TbTable::State& t = sm.tb_table().state();
    const PreemptEngine::State& e = sm.preempt_engine().state();
    const auto slots = static_cast<std::uint32_t>((std::uint64_t{1} << config_.limits.tbs) - 1);
    SmInputs in;
    time_ += dice_.Percent(1) ? dice_.Below(5000) : dice_.Below(3);
    in.time = time_ & kTimeMask;
    Ready(t, &in);
    // A TB whose context is stored is quiet and cannot finish any more.
    std::uint32_t can_finish = t.running & ~gone_;
    if (e.step == PreemptEngine::Step::kTransfer || e.step == PreemptEngine::Step::kWait) {
      can_finish &= ~(1u << e.slot);
    }
    if (dice_.Percent(finish_)) {
      in.tb_finished = static_cast<std::uint32_t>(dice_.Sparse(quiet_)) & can_finish;
    }
    if (e.step == PreemptEngine::Step::kBuffer && dice_.Percent(finish_)) {
      in.tb_finished |= 1u << e.slot & can_finish;
    }
    in.tb_quiet = static_cast<std::uint32_t>(~dice_.Sparse(quiet_)) & slots;
    in.tb_flushable = static_cast<std::uint32_t>(dice_.Bits()) & slots;
    in.context_ready = dice_.Percent(context_);
    for (auto& memory : in.memory) {
      memory = static_cast<std::uint8_t>(dice_.Bits() & ((1u << config_.num_schedulers) - 1));
    }
    if (in_flight_ != 0 && dice_.Percent(done_)) {
      in.context_done = static_cast<std::uint8_t>(dice_.Below(std::min(in_flight_ + 1, 256u)));
    }
    return in;
  }
  void After(const SmInputs& in, const SmOutputs& out) {
    in_flight_ += (out.context.valid && in.context_ready ? 1u : 0u) - in.context_done;
    gone_ = in.tb_finished;
    if (out.release_valid) gone_ |= 1u << Index(out.release_slot);
  }

 private:
  // Warps of TBs that run, and now and then others too.
  void Ready(const TbTable::State& t, SmInputs* in) {
    if (!dice_.Percent(ready_)) return;
    std::uint64_t warps = dice_.Sparse(sparse_) & t.warp_valid;
    if (dice_.Percent(5)) warps = dice_.Bits();
    for (unsigned s = 0; s < config_.num_schedulers; ++s) {
      for (unsigned w = 0; w < config_.warps_per_scheduler; ++w) {
        const std::uint64_t ready = warps >> (w * config_.num_schedulers + s) & 1;
        in->ready[s] |= static_cast<std::uint16_t>(ready << w);
      }
    }
  }

  ControlConfig config_;
  Dice& dice_;
  std::uint32_t time_ = kTimeMask - 50'000;
  std::uint32_t gone_ = 0;  // TBs that went in the last cycle: the table hears of it in this one
  unsigned in_flight_ = 0;  // context lines issued and not completed
  unsigned ready_ = 0, sparse_ = 1, finish_ = 0, quiet_ = 1, context_ = 50, done_ = 50;
};

// Both around `Sm`, which is stepped like SmControl and has one as model().
template <typename Sm>
class SmControlTraffic {
 public:
  SmControlTraffic(Sm* sm, std::uint64_t seed, SmControlTally* tally)
      : sm_(*sm),
        dice_(seed),
        tally_(*tally),
        driver_(Sm::Config(), sm->policy().preempt == PreemptMode::kChimera, &dice_, tally),
        machine_(Sm::Config(), &dice_) {}

  void Run(unsigned cycles) {
    for (unsigned i = 0; i < cycles && sm_.lockstep().ok(); ++i) {
      if (i % 512 == 0) driver_.ChangePhase();
      if (i % 300 == 0) machine_.ChangePhase();
      Cycle();
    }
  }

 private:
  void Cycle() {
    const SmControl& model = sm_.model();
    const SmInputs in = machine_.Step(model);
    const DriverToSm next = driver_.Step(to_driver_, to_sm_);
    SmOutputs out;
    const bool was_awake = model.awake();
    const PreemptEngine::Step step = model.preempt_engine().state().step;
    sm_.Step(in, to_sm_, driver_.views(), &out);
    to_driver_ = sm_.model().state().to_driver;
    machine_.After(in, out);
    Count(in, was_awake, step, out);
    to_sm_ = next;
  }

  void Count(const SmInputs& in, bool was_awake, PreemptEngine::Step step, const SmOutputs& out) {
    tally_.late_buffers += step == PreemptEngine::Step::kWithdraw && to_sm_.buffer_valid;
    tally_.reloads += left_before_[0] < out.quota_left[0];
    tally_.waits += to_driver_.command_waits;
    left_before_ = out.quota_left;
    const bool pulses = Speaks(to_sm_) || in.tb_finished != 0 || in.context_done != 0;
    if (!was_awake && !pulses) ++(in.Quiet() ? tally_.silent_cycles : tally_.ready_only_cycles);
  }

  Sm& sm_;
  Dice dice_;
  SmControlTally& tally_;
  SmControlDriver driver_;
  SmControlMachine machine_;
  DriverToSm to_sm_;
  SmToDriver to_driver_;
  std::array<std::uint16_t, kMaxKernels> left_before_{};
};

}  // namespace smk
