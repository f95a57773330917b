// SPDX-License-Identifier: Apache-2.0
#include "control/driver/waterfill_planner.h"

namespace smk {

std::uint16_t WaterfillPlanner::Sample(unsigned tbs) const {
  return state_.sample[state_.kernel][(tbs - 1) % kMaxTbSlots];
}

// The (SM mod n)-th of the n kernels: if not one TB of each fits, it goes first [D4].
unsigned WaterfillPlanner::First(const Inputs& in) const {
  if (in.kernels == 0) return 0;
  KernelMask left = in.kernels;
  const unsigned turn = Index(in.sm) % static_cast<unsigned>(__builtin_popcount(in.kernels));
  for (unsigned n = turn; n != 0; --n) left &= static_cast<KernelMask>(left - 1);
  return static_cast<unsigned>(__builtin_ctz(left));
}

void WaterfillPlanner::Start(const Inputs& in) {
  state_.step = Step::kBegin;
  state_.kernels = state_.todo = in.kernels;
  state_.anywhere = true;
  state_.range = {};
  state_.loss = -1;
  state_.taken = {};
  state_.kernel = First(in);
}

void WaterfillPlanner::NextKernel() {
  state_.kernel = state_.kernel + 1 == config_.num_kernels ? 0 : state_.kernel + 1;
}

// One more TB of the kernel, on top of what is tried so far, unless it does not fit; its sample.
bool WaterfillPlanner::TryOneMore(const ResourceVector& need) {
  state_.word = Sample(state_.count + 1u);
  if (!FitsIn(state_.trial + need, config_.limits)) return false;
  state_.trial += need;
  ++state_.count;
  return true;
}

void WaterfillPlanner::Begin() {
  State& s = state_;
  if (s.todo == 0) {
    s.step = Step::kChoose;
    s.kernel = 0;
    s.lowest = kBest;
  } else if (s.todo >> s.kernel & 1) {
    s.step = Step::kAlone;
    s.todo &= static_cast<KernelMask>(~(1u << s.kernel));
    s.trial = {};
    s.count = 0;
    s.mark = 0;
  } else {
    NextKernel();
  }
}

void WaterfillPlanner::BeginFirst(const ResourceVector& need) {
  State& s = state_;
  const bool fits = TryOneMore(need);
  s.tbs[s.kernel] = fits ? 1 : 0;
  s.step = fits ? Step::kScale : Step::kBegin;
  if (fits) {
    s.taken = s.trial;
    s.full &= static_cast<KernelMask>(~(1u << s.kernel));
  } else {
    s.level[s.kernel] = 0;
    s.full |= static_cast<KernelMask>(1u << s.kernel);
    s.anywhere = false;
  }
}

// At its best a kernel is full, and there is nothing to divide.
void WaterfillPlanner::Scale() {
  State& s = state_;
  s.rest = s.word;
  s.mark = s.peak[s.kernel];
  s.bits = 0;
  s.step = Step::kDivide;
  if (s.word < s.peak[s.kernel]) return;
  s.step = Step::kBegin;
  s.level[s.kernel] = kBest;
  s.full |= static_cast<KernelMask>(1u << s.kernel);
}

// One bit of word / peak.
void WaterfillPlanner::Divide() {
  State& s = state_;
  const std::uint32_t twice = 2 * s.rest;
  const bool bit = twice >= s.mark;
  s.rest = bit ? twice - s.mark : twice;
  s.level[s.kernel] = static_cast<std::uint16_t>(s.level[s.kernel] << 1 | (bit ? 1 : 0));
  s.bits = (s.bits + 1) % kPerformanceWidth;
  if (s.bits == 0) s.step = Step::kBegin;
}

// Ties go to the lowest id, as in Algorithm 1.
void WaterfillPlanner::Choose() {
  State& s = state_;
  const bool may_rise = (s.kernels & ~s.full) >> s.kernel & 1;
  if (may_rise && s.level[s.kernel] < s.lowest) {
    s.lowest = s.level[s.kernel];
    s.chosen = s.kernel;
  }
  NextKernel();
  if (s.kernel == 0) s.step = Step::kChosen;
}

void WaterfillPlanner::TakeChosen() {
  State& s = state_;
  s.kernel = s.chosen;
  s.step = Step::kRise;
  if (s.lowest != kBest) return;
  s.step = Step::kPlace;
  s.kernel = s.rank = 0;
  s.todo = s.kernels;
  s.trial = {};
}

void WaterfillPlanner::LayOut(const KernelTable::State& kernels, const Inputs& in) {
  State& s = state_;
  const KernelTable::Slot& slot = kernels.slot[s.kernel];
  if ((s.todo >> s.kernel & 1) != 0 && slot.order == s.rank) {
    s.step = Step::kExtend;
    s.todo &= static_cast<KernelMask>(~(1u << s.kernel));
    s.count = 0;
    PartitionRange& r = s.range[s.kernel];
    r.registers_base = s.trial.registers;
    r.shared_memory_base = s.trial.shared_memory;
    r.threads_base = s.trial.threads;
    r.tb_base = static_cast<std::uint8_t>(s.trial.tbs);
    return;
  }
  NextKernel();
  if (s.kernel != 0) return;
  // Ranks have as many bits as ids.
  unsigned ranks = 2;
  while (ranks < config_.num_kernels) ranks *= 2;
  s.rank = (s.rank + 1) % ranks;
  if (s.rank != 0) return;
  s.step = Step::kJudge;
  s.loss = -1 - static_cast<std::int32_t>(in.loss_limit);
}

void WaterfillPlanner::Extend(const ResourceVector& need) {
  State& s = state_;
  if (s.count < s.tbs[s.kernel] && TryOneMore(need)) return;
  s.step = Step::kPlace;
  PartitionRange& r = s.range[s.kernel];
  r.registers_limit = s.trial.registers;
  r.shared_memory_limit = s.trial.shared_memory;
  r.threads_limit = s.trial.threads;
  r.tb_count = s.count;
  if (s.level[s.kernel] < s.lowest) s.lowest = s.level[s.kernel];
}

// Once for every kernel: what the one loses that keeps least.
void WaterfillPlanner::Judge() {
  State& s = state_;
  if (s.kernels >> s.kernel & 1) s.loss += kBest - s.lowest;
  NextKernel();
  if (s.kernel != 0) return;
  s.step = Step::kIdle;
  s.done = true;
}

// The steps of the plan itself.
void WaterfillPlanner::Plan(const ResourceVector& need) {
  State& s = state_;
  switch (s.step) {
    case Step::kBegin:
      return Begin();
    case Step::kAlone:
      if (TryOneMore(need)) {
        s.step = Step::kAloneLook;
      } else {
        s.step = Step::kFirst;
        s.peak[s.kernel] = s.mark;
        s.trial = s.taken;
        s.count = 0;
      }
      return;
    case Step::kAloneLook:
      s.step = Step::kAlone;
      if (s.word > s.mark) s.mark = s.word;
      return;
    case Step::kFirst:
      return BeginFirst(need);
    case Step::kScale:
      return Scale();
    case Step::kDivide:
      return Divide();
    case Step::kChoose:
      return Choose();
    case Step::kChosen:
      return TakeChosen();
    case Step::kRise:
      s.step = Step::kMark;
      s.trial = s.taken;
      s.count = static_cast<std::uint8_t>(s.tbs[s.kernel] - 1);
      return;
    case Step::kMark:
      s.step = Step::kTry;
      s.word = Sample(++s.count);
      return;
    case Step::kTry:
      if (s.count == s.tbs[s.kernel]) s.mark = s.word;
      s.step = TryOneMore(need) ? Step::kTryLook : Step::kBegin;
      if (s.step == Step::kBegin) s.full |= static_cast<KernelMask>(1u << s.kernel);
      return;
    case Step::kTryLook:
      s.step = s.word > s.mark ? Step::kScale : Step::kTry;
      if (s.step == Step::kTry) return;
      s.taken = s.trial;
      s.tbs[s.kernel] = s.count;
      return;
    default:
      return;
  }
}

void WaterfillPlanner::Tick(const Inputs& in) {
  const KernelTable::State& kernels = *in.kernel_table;
  const ResourceVector& need = kernels.slot[state_.kernel].need;
  state_.done = false;
  if (in.start) {
    Start(in);
  } else if (state_.step == Step::kPlace) {
    LayOut(kernels, in);
  } else if (state_.step == Step::kExtend) {
    Extend(need);
  } else if (state_.step == Step::kJudge) {
    Judge();
  } else {
    Plan(need);
  }
  if (in.sample_valid) {
    state_.sample[in.sample_kernel][in.sample_tbs - 1u] = in.sample_performance;
  }
}

}  // namespace smk
