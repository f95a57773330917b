// SPDX-License-Identifier: Apache-2.0
#include "control/sm/preempt_chooser.h"

namespace smk {

// The highest TB that must go and is not judged; else one whose end is reported in this cycle.
void PreemptChooser::Start(const Inputs& in) {
  State& s = state_;
  const std::uint32_t left = s.active ? in.leaving & in.running & ~s.judged : 0;
  if (left == 0 && !(in.ended && in.chimera.enable)) return;
  s.measures = left == 0;
  s.slot = left != 0 ? static_cast<std::uint8_t>(31 - __builtin_clz(left)) : in.ended_slot;
  s.step = Step::kKernel;
}

void PreemptChooser::Read(const Inputs& in) {
  State& s = state_;
  s.age = (in.time - s.age) & kTimeMask;
  s.its_mean = s.mean[s.kernel];
  s.has_mean = (s.known >> s.kernel & 1) != 0;
  s.lines = (*in.kernels)[s.kernel].context_lines;
  s.step = Step::kCost;
}

// A TB that has run elsewhere before says nothing of how long one runs.
void PreemptChooser::Sum() {
  State& s = state_;
  s.rest = static_cast<std::uint32_t>(s.apart < 0 ? -s.apart : s.apart);
  s.saves_with = s.saves + s.save;
  s.step = s.measures ? Step::kIdle : Step::kJudge;
  if (!s.measures || s.again) return;
  const std::int32_t part = static_cast<std::int32_t>(1u << kMeanLog2);
  const std::int32_t step = (s.apart - ((s.apart % part) + part) % part) / part;
  s.mean[s.kernel] = s.has_mean ? s.its_mean + static_cast<std::uint32_t>(step) : s.age;
  s.known |= static_cast<std::uint8_t>(1u << s.kernel);
}

// A flush is over at once; saves go one after the other.
void PreemptChooser::Judge(const Inputs& in) {
  State& s = state_;
  const std::uint32_t limit = in.chimera.limit >> kTimeUnitLog2, move = 2 * s.save;
  s.may_flush = (in.flushable >> s.slot & 1) != 0 && !s.again;
  s.drain_in_time = s.has_mean && s.rest <= limit;
  s.switch_in_time = s.saves_with <= limit;
  s.drain_sooner = s.has_mean && s.rest < s.saves_with;
  s.drain_under_flush = s.rest <= s.age;
  s.drain_under_switch = s.rest <= move;
  s.flush_under_switch = s.age <= move;
  s.step = Step::kChoose;
}

// The cheapest of those that are in time: a drain before a flush before a switch. If none is, what
// is over first.
void PreemptChooser::Choose(std::uint32_t* go, std::uint32_t* flush) {
  State& s = state_;
  const bool none = !s.may_flush && !s.drain_in_time && !s.switch_in_time;
  const bool drain = none ? s.drain_sooner
                          : s.drain_in_time && (s.drain_under_flush || !s.may_flush) &&
                                (s.drain_under_switch || !s.switch_in_time);
  const bool drop = !drain && s.may_flush && (s.flush_under_switch || !s.switch_in_time);
  const std::uint32_t bit = 1u << s.slot;
  s.judged |= bit;
  if (!drain) *go |= bit;
  if (drop) *flush |= bit;
  if (!drain && !drop) s.saves = s.saves_with;
  s.step = Step::kIdle;
}

void PreemptChooser::Tick(const Inputs& in) {
  State& s = state_;
  std::uint32_t go = s.go, flush = s.flush;
  const bool late = s.late;
  const std::uint32_t limit = in.chimera.limit >> kTimeUnitLog2;
  s.watch = s.active && in.leaving != 0;
  s.late = s.watch && s.elapsed > limit;
  s.elapsed = s.watch ? (in.time - s.since) & kTimeMask : 0;
  switch (s.step) {
    case Step::kIdle:
      Start(in);
      break;
    case Step::kKernel:
      s.kernel = static_cast<std::uint8_t>(Index((*in.slot_kernel)[s.slot]));
      s.age = s.start[s.slot];
      s.again = (s.restored >> s.slot & 1) != 0;
      s.step = Step::kRead;
      break;
    case Step::kRead:
      Read(in);
      break;
    case Step::kCost:
      s.apart = static_cast<std::int32_t>(s.age) - static_cast<std::int32_t>(s.its_mean);
      s.save = (std::uint32_t{s.lines} << in.chimera.line) >> kTimeUnitLog2;
      s.step = Step::kSum;
      break;
    case Step::kSum:
      Sum();
      break;
    case Step::kJudge:
      Judge(in);
      break;
    case Step::kChoose:
      Choose(&go, &flush);
      break;
  }
  s.judged &= in.leaving;
  s.go = late ? s.judged : go & in.leaving;
  s.flush = flush & in.leaving;
  if (in.order) {
    s.active = in.mode == PreemptMode::kChimera;
    s.saves = 0;
    s.since = in.time;
  }
  for (std::uint32_t m = in.chimera.enable ? in.activate : 0; m != 0; m &= m - 1) {
    s.start[static_cast<unsigned>(__builtin_ctz(m))] = in.time;
  }
  if (in.chimera.enable) s.restored = (s.restored & ~in.activate) | in.loaded;
}

}  // namespace smk
