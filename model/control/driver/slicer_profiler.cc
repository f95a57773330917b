// SPDX-License-Identifier: Apache-2.0
#include "control/driver/slicer_profiler.h"

#include <algorithm>

namespace smk {

SlicerProfiler::SlicerProfiler(const Config& config) : config_(config) {
  while ((1u << tbs_width_) < config.limits.tbs + 1u) ++tbs_width_;
}

// The denominator of all points, cycles x (m + 1), shifted up to the highest bit.
unsigned SlicerProfiler::Shifts(unsigned cycles, unsigned most) const {
  const unsigned highest = 15 + tbs_width_;
  const std::uint64_t base = std::uint64_t{cycles} * (most + 1);
  unsigned shifts = 0;
  while (shifts < highest && (base << shifts >> highest) == 0) ++shifts;
  return shifts;
}

std::uint16_t SlicerProfiler::Point(unsigned issued, unsigned stalled, unsigned cycles,
                                    unsigned tbs, unsigned most) const {
  const auto psi = static_cast<std::int64_t>(2 * tbs) - static_cast<std::int64_t>(most) - 1;
  const std::int64_t base = std::int64_t{cycles} * (most + 1);
  const auto gain = static_cast<std::uint64_t>(base + psi * stalled) << Shifts(cycles, most);
  return static_cast<std::uint16_t>((gain >> tbs_width_) * issued >> 16);
}

void SlicerProfiler::Wait(Step step, unsigned cycles) {
  state_.step = step;
  state_.timer = cycles;
}

// One of 0 cycles counts as 1.
bool SlicerProfiler::TimedOut() {
  if (state_.timer <= 1) return true;
  --state_.timer;
  return false;
}

// Whether this was the last one.
bool SlicerProfiler::NextSm() {
  state_.sm = state_.sm + 1 == config_.num_sms ? 0 : state_.sm + 1;
  return state_.sm == 0;
}

// Whose this SM is.
unsigned SlicerProfiler::Kernel() const {
  return state_.walk == 0 ? 0 : static_cast<unsigned>(__builtin_ctz(state_.walk));
}

void SlicerProfiler::Start(const Inputs& in) {
  State& s = state_;
  s.step = Step::kAlone;
  s.kernels = s.left = in.kernels;
  s.base = 0;
  s.taken = {};
  s.fresh = s.first = true;
  s.sm = s.at = 0;
  s.watches = s.again = false;
  s.known = 0;
  s.lacks = 0;
}

void SlicerProfiler::Alone() {
  State& s = state_;
  const auto bit = static_cast<KernelMask>(1u << s.at);
  const bool member = (s.kernels & bit) != 0;
  if (member && s.fresh) {
    s.fresh = false;
    return;
  }
  const ResourceVector more = s.taken + s.need;
  if (member && FitsIn(more, config_.limits)) {
    s.taken = more;
    return;
  }
  s.most[s.at] = static_cast<std::uint8_t>(member ? s.taken.tbs : 0);
  s.fits = static_cast<KernelMask>(s.most[s.at] != 0 ? s.fits | bit : s.fits & ~bit);
  if (s.most[s.at] == 0) s.left = static_cast<KernelMask>(s.left & ~bit);
  s.taken = {};
  s.fresh = true;
  s.at = s.at + 1 == config_.num_kernels ? 0 : s.at + 1;
  if (s.at == 0) s.step = Step::kShare;
}

// The SMs are divided equally between the kernels, as far as there are SMs.
void SlicerProfiler::Share() {
  State& s = state_;
  const auto count = static_cast<unsigned>(__builtin_popcount(s.left));
  s.share = std::max(1u, config_.num_sms / std::max(1u, count));
  if (s.base == 0) s.open = s.left;
  Begin();
  s.step = Step::kAssign;
}

// From the first SM on.
void SlicerProfiler::Begin() {
  State& s = state_;
  s.walk = s.left;
  s.group = s.share;
  s.tbs = static_cast<std::uint8_t>(s.base + 1);
  s.beyond = false;
}

// Whether this SM has a sample in this window.
bool SlicerProfiler::Samples() const {
  return (state_.open >> Kernel() & 1u) != 0 && state_.walk != 0 && !state_.beyond;
}

// To the next SM; whether there is none.
bool SlicerProfiler::Advance() {
  State& s = state_;
  if (--s.group != 0) {
    s.beyond = s.beyond || s.tbs == s.most[Kernel()];
    ++s.tbs;
  } else {
    s.walk = static_cast<KernelMask>(s.walk & (s.walk - 1));
    s.group = s.share;
    s.tbs = static_cast<std::uint8_t>(s.base + 1);
    s.beyond = false;
  }
  return NextSm();
}

void SlicerProfiler::Assign(const Inputs& in) {
  State& s = state_;
  s.give_valid = true;
  s.give_sm = static_cast<std::uint8_t>(s.sm);
  s.give_kernel = static_cast<std::uint8_t>(Kernel());
  s.give_tbs = Samples() ? s.tbs : 0;
  if (!Advance()) return;
  Begin();
  Wait(Step::kSettle, s.first ? in.warmup : in.settle);
}

// While SMs are not settled, `settle` cycles are left at least. What was given last (`gave`) is not
// known there yet.
void SlicerProfiler::Settle(const Inputs& in, bool gave) {
  State& s = state_;
  if (!in.settled && s.timer <= in.settle) {
    s.timer = in.settle;
  } else if (TimedOut()) {
    const bool holds = gave || !in.settled;
    Wait(holds ? Step::kSettle : Step::kWindow, holds ? in.settle : in.window);
  }
}

// The counts of this SM are worked on. After the last one a further window, in which the same SMs
// hold more TBs; or the SMs are those of kernels that had none; or the curves are whole.
void SlicerProfiler::Sampled(const Inputs& in) {
  State& s = state_;
  s.step = Step::kRead;
  if (!Advance()) return;
  const KernelMask unreached = s.walk;
  if (s.open == 0) {
    s.left = 0;
    return Wait(Step::kDelay, in.delay);
  }
  s.step = Step::kShare;
  if ((s.open & ~unreached) != 0) {
    s.base = static_cast<std::uint8_t>(s.base + s.share);
  } else {
    s.left = unreached;
    s.base = 0;
  }
}

void SlicerProfiler::Read(const Inputs& in) {
  State& s = state_;
  s.issued = in.issued;
  s.stalled = in.stalled;
  if (!Samples()) return Sampled(in);
  const unsigned cycles = in.window * config_.num_schedulers & 0xffffu;
  Wait(Step::kScale, 52 + Shifts(cycles, s.most[Kernel()]));
}

void SlicerProfiler::Scale(const Inputs& in) {
  State& s = state_;
  if (!TimedOut()) return;
  const unsigned cycles = in.window * config_.num_schedulers & 0xffffu;
  const unsigned kernel = Kernel();
  s.sample_valid = true;
  s.sample_kernel = static_cast<std::uint8_t>(kernel);
  s.sample_tbs = s.tbs;
  s.sample_performance = Point(s.issued, s.stalled, cycles, s.tbs, s.most[kernel]);
  if (s.tbs == s.most[kernel]) s.open = static_cast<KernelMask>(s.open & ~(1u << kernel));
  Sampled(in);
}

// The next member's turn, from the last to the first.
void SlicerProfiler::TurnOn() {
  State& s = state_;
  s.walk = static_cast<KernelMask>(s.walk & (s.walk - 1));
  if (s.walk == 0) s.walk = s.kernels;
}

void SlicerProfiler::Turns(const Inputs& in) {
  State& s = state_;
  s.give_valid = true;
  s.give_sm = static_cast<std::uint8_t>(s.sm);
  s.give_kernel = static_cast<std::uint8_t>(Kernel());
  s.give_tbs = 0;
  TurnOn();
  if (!NextSm()) return;
  s.walk = s.kernels;
  Wait(Step::kSettle, in.warmup);
}

void SlicerProfiler::Add(const Inputs& in) {
  State& s = state_;
  if (s.walk != 0 && Kernel() == s.at) s.total += in.issued >> 2;
  TurnOn();
  if (!NextSm()) return;
  s.walk = s.kernels;
  s.step = Step::kAddLast;
}

// This kernel is sampled again; the others go on beside it.
void SlicerProfiler::Again() {
  State& s = state_;
  s.step = Step::kShare;
  s.again = true;
  s.watches = false;
  s.again_kernel = static_cast<std::uint8_t>(s.at);
  s.lacks = static_cast<KernelMask>(s.lacks & ~(1u << s.at));
  s.left = static_cast<KernelMask>(1u << s.at & s.fits);
  s.base = 0;
  s.at = 0;
}

void SlicerProfiler::Judge(const Inputs& in) {
  State& s = state_;
  const unsigned k = s.at;
  const auto bit = static_cast<KernelMask>(1u << k);
  const std::uint32_t total = s.total;
  s.total = 0;
  s.step = Step::kAdd;
  if ((s.kernels & bit) != 0) {
    const std::int64_t size = s.difference < 0 ? -s.difference : s.difference;
    const bool known = (s.known & bit) != 0;
    const bool able = (in.able & bit) != 0;
    const bool changed = known && able && size > s.was[k] >> in.change;
    if (!known) s.was[k] = total;
    const auto windows = static_cast<std::uint8_t>((s.windows[k] + 1) & 15);
    s.known |= bit;
    s.windows[k] = changed ? windows : 0;
    const bool lacked = able && (s.lacks & bit) != 0;
    if (in.sustain != 0 && (lacked || (changed && windows >= in.sustain))) return Again();
  }
  s.at = k + 1 == config_.num_kernels ? 0 : k + 1;
  if (s.at == 0) Wait(Step::kWindow, in.window);
}

void SlicerProfiler::Tick(const Inputs& in) {
  const ResourceVector need = in.kernel_table->slot[state_.at].need;
  Go(in);
  state_.need = need;
}

void SlicerProfiler::Go(const Inputs& in) {
  State& s = state_;
  const bool gave = s.give_valid;
  s.give_valid = s.sample_valid = s.plan = false;
  if (in.start) return Start(in);
  if (in.stop) {
    s.step = Step::kIdle;
    s.sm = s.at = 0;
    s.watches = s.again = false;
    return;
  }
  switch (s.step) {
    case Step::kAlone:
      return Alone();
    case Step::kShare:
      return Share();
    case Step::kAssign:
      return Assign(in);
    case Step::kSettle:
      return Settle(in, gave);
    case Step::kWindow:
      s.first = false;
      if (s.profiling() && !s.again)
        s.lacks = static_cast<KernelMask>(s.lacks | (s.left & ~in.able));
      if (TimedOut()) Wait(Step::kDrain, kDrain);
      return;
    case Step::kDrain:
      s.total = 0;
      if (TimedOut()) s.step = s.watches ? Step::kAdd : Step::kRead;
      return;
    case Step::kRead:
      return Read(in);
    case Step::kScale:
      return Scale(in);
    case Step::kDelay:
      s.plan = TimedOut();
      if (s.plan) s.step = Step::kPlan;
      return;
    case Step::kPlan:
      s.known = 0;
      s.again = false;
      s.walk = s.kernels;
      if (!in.planned) return;
      s.step = Step::kTurns;
      s.watches = true;
      return;
    case Step::kTurns:
      return Turns(in);
    case Step::kAdd:
      return Add(in);
    case Step::kAddLast:
      return Wait(Step::kCompare, 2);
    case Step::kCompare:
      s.difference = static_cast<std::int64_t>(s.total) - s.was[s.at];
      if (TimedOut()) s.step = Step::kJudge;
      return;
    case Step::kJudge:
      return Judge(in);
    default:
      return;
  }
}

}  // namespace smk
