// SPDX-License-Identifier: Apache-2.0
#include "control/sm/preempt_engine.h"

namespace smk {

std::uint32_t PreemptEngine::StopNext(std::uint32_t go) const {
  const State& s = state_;
  std::uint32_t stop = 0;
  const bool at_hand = s.step == Step::kDrain || s.step == Step::kTransfer || s.step == Step::kWait;
  if (at_hand && !s.loading && !s.gone) stop |= 1u << s.slot;
  const bool waited_long = s.step == Step::kBuffer && s.waited == kBufferPatience;
  if (s.whole_sm && !waited_long) stop |= s.leaving & Chosen(go);
  return stop;
}

PreemptEngine::Outputs PreemptEngine::Eval(const Inputs& in) const {
  Outputs out;
  const State& s = state_;
  const std::uint32_t bit = 1u << s.slot;
  out.stop = s.stop;
  out.buffer_request = s.request;
  out.buffer_withdraw = s.withdraw;
  if (s.step == Step::kIdle) return out;
  const KernelView& view = View(in);
  out.buffer_kernel = (*in.slot_kernel)[s.slot];
  if (s.step == Step::kTransfer) {
    out.context.valid = true;
    out.context.store = !s.loading;
    out.context.tb_slot = static_cast<TbSlot>(s.slot);
    out.context.line = s.line;
    out.context.address =
        view.context_base +
        ((std::uint64_t{s.buffer} << view.context_log2_lines) + s.line) * kLineBytes;
  }
  const bool complete = s.step == Step::kWait && s.done + in.context_done == view.context_lines;
  const bool dropped = s.step == Step::kDrain && s.flush && s.quiet_seen &&
                       (in.quiet & s.stop & bit) != 0 && !s.gone && (in.finished & bit) == 0;
  out.release_valid = (complete && !s.loading) || dropped;
  out.release_slot = static_cast<TbSlot>(s.slot);
  out.release_kind = dropped ? TbRelease::kFlushed : TbRelease::kSaved;
  out.loaded_valid = complete && s.loading;
  out.loaded_slot = static_cast<TbSlot>(s.slot);
  if (s.step == Step::kReport) {
    out.event_valid = true;
    out.event.valid = true;
    out.event.kind = s.loading || s.gone ? EventKind::kBufferFree
                     : s.flush           ? EventKind::kFlushed
                                         : EventKind::kSaved;
    out.event.kernel = (*in.slot_kernel)[s.slot];
    out.event.tb = (*in.slot_tb)[s.slot];
    out.event.buffer = s.buffer;
    out.event.counted = s.slot_counted;
  }
  return out;
}

// Picks the next TB: the highest leaving slot that runs, else the lowest that waits for its
// context.
void PreemptEngine::Start(const Inputs& in) {
  State& s = state_;
  const std::uint32_t can_leave = s.leaving & in.running & ~in.finished & Chosen(in.go);
  if (can_leave != 0) {
    s.slot = static_cast<std::uint8_t>(31 - __builtin_clz(can_leave));
    s.loading = false;
    s.step = Step::kLookUp;
  } else if (s.to_load != 0) {
    s.slot = static_cast<std::uint8_t>(__builtin_ctz(s.to_load));
    s.to_load &= s.to_load - 1;
    s.loading = true;
    s.step = Step::kLookUp;
  }
}

// A TB that finishes meanwhile needs no buffer.
void PreemptEngine::LookUp(const Inputs& in) {
  State& s = state_;
  s.slot_counted = (s.counted >> s.slot & 1) != 0;
  s.gone = s.flush = s.quiet_seen = false;
  s.line = s.done = 0;
  s.waited = 0;
  if ((in.finished >> s.slot & 1) != 0) {
    s.step = Step::kIdle;
  } else if (s.loading) {
    s.buffer = (*in.slot_buffer)[s.slot];
    s.step = Step::kOffset;
  } else {
    s.step = Step::kBuffer;
    s.request = true;
  }
}

void PreemptEngine::Drain(const Inputs& in) {
  State& s = state_;
  const std::uint32_t bit = 1u << s.slot;
  if (s.gone) {
    s.step = Step::kReport;
    return;
  }
  const bool quiet = (in.quiet & s.stop & bit) != 0;
  if (quiet && s.quiet_seen) {
    s.step = s.flush ? Step::kReport : Step::kTransfer;
    return;
  }
  s.quiet_seen = quiet;
  const bool drop = s.mode == PreemptMode::kChimera ? (in.flush & bit) != 0
                                                    : s.mode == PreemptMode::kFlush && s.whole_sm;
  s.flush = drop && (in.flushable & bit) != 0;
}

void PreemptEngine::Tick(const Inputs& in, const Outputs& out) {
  State& s = state_;
  const std::uint32_t bit = 1u << s.slot;
  const std::uint32_t stop = StopNext(in.go);
  s.request = s.withdraw = false;
  const bool leaves = !s.loading && s.step >= Step::kBuffer && s.step <= Step::kDrain;
  if (leaves && (in.finished & bit) != 0) s.gone = true;
  switch (s.step) {
    case Step::kIdle:
      Start(in);
      break;
    case Step::kLookUp:
      LookUp(in);
      break;
    case Step::kBuffer:
      if (in.buffer_valid) {
        s.buffer = in.buffer;
        s.step = Step::kOffset;
      } else if (s.gone) {
        s.step = Step::kWithdraw;
        s.withdraw = true;
      } else if (s.waited != kBufferPatience) {
        ++s.waited;
      }
      break;
    case Step::kOffset:
      s.step = Step::kAddress;
      break;
    case Step::kAddress:
      s.step = s.loading ? Step::kTransfer : Step::kDrain;
      break;
    case Step::kDrain:
      Drain(in);
      break;
    case Step::kTransfer:
      s.done += in.context_done;
      if (in.context_ready && ++s.line == View(in).context_lines) s.step = Step::kWait;
      break;
    case Step::kWait:
      s.done += in.context_done;
      if (s.done == View(in).context_lines) s.step = Step::kReport;
      break;
    case Step::kReport:
      if (in.event_sent) s.step = Step::kAck;
      break;
    case Step::kAck:
      if (in.event_ack) s.step = Step::kIdle;
      break;
    case Step::kWithdraw:
      if (in.buffer_valid) {
        s.buffer = in.buffer;
        s.step = Step::kReport;
      } else if (in.buffer_none) {
        s.step = Step::kIdle;
      }
      break;
  }
  std::uint32_t left = in.finished;
  if (out.release_valid) left |= 1u << Index(out.release_slot);
  s.leaving &= ~left;
  s.leaving |= in.leave & ~in.finished;
  if (in.leave_counted) s.counted |= in.leave;
  if (in.mode_valid) {
    s.mode = in.mode;
    s.whole_sm = in.whole_sm;
  }
  s.to_load |= in.load;
  s.counted &= s.leaving;
  s.stop = stop;
}

}  // namespace smk
