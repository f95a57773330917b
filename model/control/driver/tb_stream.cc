// SPDX-License-Identifier: Apache-2.0
#include "control/driver/tb_stream.h"

namespace smk {

bool TbStream::Waits(const Inputs& in, unsigned kernel) const {
  const KernelTable::Slot& slot = in.kernels->slot[kernel];
  return slot.remaining() != 0 || !in.queue->empty(kernel);
}

// SMs on which a TB of each kernel has room; under left-over not where an older one has, too.
std::array<SmMask, kMaxKernels> TbStream::Room(const Inputs& in) const {
  std::array<SmMask, kMaxKernels> room{};
  const TbDispatch::State& d = *in.dispatch;
  const bool partitioned = TbDispatch::Partitioned(*in.policy);
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    if (!Waits(in, k) || (in.held >> k & 1) != 0) continue;
    const SmMask sms = SmsWithBit(in.assign->allowed, k, config_.num_sms) - d.busy - d.reservations;
    for (const unsigned sm : sms) {
      const bool fits = partitioned ? (d.planned[sm] >> k & 1) != 0 &&
                                          in.drf->state().resident[k][sm] < d.partition[sm][k]
                                    : in.drf->Fits(sm, in.kernels->slot[k].need);
      if (fits) room[k].Set(sm);
    }
  }
  if (in.policy->dispatch != DispatchMode::kLeftover) return room;
  std::array<SmMask, kMaxKernels> first = room;
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    for (unsigned j = 0; j < kMaxKernels; ++j) {
      if (in.kernels->slot[j].order < in.kernels->slot[k].order) first[k] -= room[j];
    }
  }
  return first;
}

// A kernel's TB that is being sent is not yet taken away, and not counted twice.
TbStream::Outputs TbStream::Eval(const Inputs& in) const {
  const State& s = state_;
  Outputs out;
  out.sm = s.sm;
  if (!s.chosen || s.wait != 0 || in.flush || in.quota_waits || !in.credit.Test(s.sm)) return out;
  if ((in.held >> s.kernel & 1) != 0) return out;
  const KernelTable::Slot& slot = in.kernels->slot[s.kernel];
  const unsigned sent = s.send && s.send_kernel == s.kernel ? 1 : 0;
  out.pop = in.queue->count(s.kernel) > (s.pop ? sent : 0);
  out.takes = out.pop || slot.remaining() > (s.pop ? 0 : sent);
  return out;
}

// The next kernel in turn, and its next SM in turn. What was just chosen is not yet in the
// candidates.
void TbStream::Choose(const Inputs& in) {
  State& s = state_;
  const SmMask just = s.chosen ? SmMask::Of(s.sm) : SmMask();
  const unsigned last_kernel = s.kernel, last_sm = s.sm;
  s.chosen = false;
  unsigned best = kMaxKernels;
  for (unsigned n = 1; n <= kMaxKernels; ++n) {
    const unsigned k = (last_kernel + n) % kMaxKernels;
    if ((s.candidates[k] - just).None()) continue;
    const bool older = in.policy->dispatch == DispatchMode::kLeftover && best != kMaxKernels &&
                       in.kernels->slot[k].order < in.kernels->slot[best].order;
    if (best == kMaxKernels || older) best = k;
  }
  if (best == kMaxKernels) return;
  const SmMask sms = s.candidates[best] - just;
  const SmMask after = sms - SmMask::First(last_sm + 1);
  s.chosen = true;
  s.kernel = static_cast<std::uint8_t>(best);
  s.sm = static_cast<std::uint8_t>((after.Any() ? after : sms).Lowest());
}

void TbStream::Send(const Inputs& in) {
  State& s = state_;
  s.command_valid = s.send;
  s.decision.reset();
  if (!s.send) return;
  s.command = SmCommand{};
  s.command.op = CommandOp::kDispatch;
  s.command_sm = s.send_sm;
  s.command.kernel = static_cast<KernelId>(s.send_kernel);
  s.command.tb = static_cast<TbId>(in.kernels->slot[s.send_kernel].next_tb);
  Decision d;
  d.reason = DecisionReason::kDispatchNew;
  if (s.pop) {
    const PreemptedQueue::Entry& entry = in.queue->front(s.send_kernel);
    s.command.tb = entry.tb;
    s.command.restore = !entry.restart;
    s.command.buffer = entry.buffer;
    d.reason =
        entry.restart ? DecisionReason::kDispatchRestarted : DecisionReason::kDispatchRestored;
  }
  d.kernel = s.command.kernel;
  d.sm = static_cast<SmId>(s.send_sm);
  d.tb = s.command.tb;
  for (unsigned k = 0; k < kMaxKernels; ++k) d.share[k] = in.drf->ShownShare(k);
  s.decision = d;
}

void TbStream::Tick(const Inputs& in, const Outputs& out) {
  State& s = state_;
  Send(in);
  s.look = in.changes || in.flush || s.wait != 0 || s.recent.Any();
  s.send = out.takes;
  s.pop = out.takes && out.pop;
  if (out.takes) {
    s.send_kernel = s.kernel;
    s.send_sm = s.sm;
  }
  if (s.wait != 0) {
    --s.wait;
  } else {
    // Candidates are those of the registers of this cycle, but for SMs that are not yet counted.
    const SmMask out_of_date = s.recent | (s.chosen ? SmMask::Of(s.sm) : SmMask());
    const SmMask recent = s.chosen ? SmMask::Of(s.sm) : SmMask();
    const std::array<SmMask, kMaxKernels> room = Room(in);
    s.wait = Moves(in, room) ? static_cast<std::uint8_t>(in.policy->latency_scale - 1) : 0;
    Choose(in);
    s.candidates = room;
    for (SmMask& sms : s.candidates) sms = (sms & in.credit) - out_of_date;
    s.recent = recent;
  }
  if (in.flush || !TbDispatch::Streams(*in.policy)) {
    s.candidates = {};
    s.chosen = false;
  }
}

// Something is on its way to a decision, or there is room that a credit can be spent on.
bool TbStream::Moves(const Inputs& in, const std::array<SmMask, kMaxKernels>& room) const {
  const State& s = state_;
  if (s.chosen || s.recent.Any()) return true;
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    if (s.candidates[k].Any() || (room[k] & in.credit).Any()) return true;
  }
  return false;
}

bool TbStream::Awake(const Inputs& in) const {
  const State& s = state_;
  if (!TbDispatch::Streams(*in.policy)) return false;
  if (s.look || s.send || s.command_valid || s.wait != 0 || s.chosen || s.recent.Any()) return true;
  for (const SmMask& sms : s.candidates) {
    if (sms.Any()) return true;
  }
  return false;
}

}  // namespace smk
