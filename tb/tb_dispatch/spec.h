// SPDX-License-Identifier: Apache-2.0
// SMK Fig. 4 and Fig. 7, and the other modes, as a function of what is resident where: computed
// from scratch for every decision. Knows the driver's blocks only through the SMs' assignment,
// which has its own test.
#pragma once

#include "driver/bench.h"

namespace smk {

struct Expected {
  DecisionReason reason{};
  unsigned kernel = 0;
  unsigned sm = 0;
  unsigned tb = 0;          // dispatches
  unsigned victim = 0;      // kPreempt
  unsigned victim_tbs = 0;  // kPreempt
};

class DispatchSpec {
 public:
  DispatchSpec(DriverBench* bench, const ControlConfig& config, const PolicyConfig& policy)
      : bench_(bench), config_(config), policy_(policy) {}

  // What the test did.
  void Launched(unsigned kernel, unsigned tbs) {
    Kernel& k = kernels_[kernel];
    const bool same = k.member && k.need == bench_->need(kernel);
    k.need = bench_->need(kernel);
    k.next = 0;
    k.tbs = tbs;
    if (same) return;
    if (k.member) {
      for (Kernel& other : kernels_) other.order -= other.member && other.order > k.order ? 1 : 0;
      k.member = false;
    }
    k.order = 0;
    for (const Kernel& other : kernels_) k.order += other.member ? 1 : 0;
    k.member = true;
    gone_.erase(kernel);
    for (auto& tried : tried_) tried.clear();
    for (unsigned sm = 0; sm < config_.num_sms; ++sm) planned_[sm].erase(kernel);
  }
  void EventFrom(unsigned sm) {
    for (auto& tried : tried_) {
      if (policy_.dispatch == DispatchMode::kOnDemand) tried.clear();
      tried.erase(sm);
    }
    for (unsigned k = 0; k < kNumKernels; ++k) {
      if (Active(k)) continue;
      for (auto& reserved : reserved_) {
        if (reserved == k) reserved.reset();
      }
      for (auto& victim : victim_) {
        if (victim == k) victim.reset();
      }
      for (Guard& guard : guards_) {
        if (guard.kernel == k) guard.ticks = 0;
      }
    }
  }
  void Ticked() {
    for (Guard& guard : guards_) {
      if (guard.ticks == 0 || --guard.ticks != 0) continue;
      for (auto& tried : tried_) tried.clear();
    }
  }
  void Left(unsigned kernel, unsigned tb, unsigned buffer, bool restart) {
    kernels_[kernel].away.push_back({tb, buffer, restart});
  }
  void TookBuffer(unsigned kernel) { ++kernels_[kernel].buffers; }
  void FreedBuffer(unsigned kernel) { --kernels_[kernel].buffers; }
  void Settled(unsigned sm) {
    busy_.erase(sm);
    victim_[sm].reset();
  }
  void Expired(unsigned kernel) {
    kernels_[kernel].member = false;
    gone_.insert(kernel);
    for (Kernel& k : kernels_) k.order -= k.member && k.order > kernels_[kernel].order ? 1 : 0;
    for (auto& tried : tried_) tried.clear();
    for (auto& planned : planned_) {
      if (planned.count(kernel) != 0) planned.clear();
    }
  }

  // The next decision; nothing when nothing can be done. `not_yet` is taken for not waiting.
  std::optional<Expected> Next(std::optional<unsigned> not_yet = {}) {
    not_yet_ = not_yet;
    FollowAssignment();
    for (unsigned sm = 0; sm < config_.num_sms; ++sm) {
      if (!reserved_[sm] || busy_.count(sm) != 0) continue;
      const unsigned k = *reserved_[sm];
      if (Waiting(k) && Allowed(k, sm) && Fits(k, sm)) return Dispatch(k, sm);
      reserved_[sm].reset();
    }
    if (!Partitioned()) {
      if (const auto evict = Evict()) return evict;
    }
    std::optional<unsigned> kernel;
    for (unsigned k = 0; k < kNumKernels; ++k) {
      if (!Waiting(k) || Held(k) || !CandidateSm(k)) continue;
      if (!kernel || Before(k, *kernel)) kernel = k;
    }
    if (!kernel) return std::nullopt;
    const unsigned sm = *CandidateSm(*kernel);
    if (Partitioned()) return InPartition(*kernel, sm);
    if (Fits(*kernel, sm)) return Dispatch(*kernel, sm);
    if (policy_.dispatch != DispatchMode::kOnDemand) {
      candidate_ = sm;
      return Expected{DecisionReason::kNoRoom, *kernel, sm};
    }
    return OnDemand(*kernel, sm);
  }

  // The decision was taken.
  void Apply(const Expected& e) {
    switch (e.reason) {
      case DecisionReason::kDispatchNew:
        ++kernels_[e.kernel].next;
        Dispatched(e);
        break;
      case DecisionReason::kDispatchRestored:
      case DecisionReason::kDispatchRestarted:
        if (kernels_[e.kernel].away.front().restart) --kernels_[e.kernel].buffers;
        kernels_[e.kernel].away.pop_front();
        Dispatched(e);
        break;
      case DecisionReason::kPreempt:
        reserved_[e.sm] = e.kernel;
        victim_[e.sm] = e.victim;
        victim_tbs_[e.sm] = e.victim_tbs;
        busy_.insert(e.sm);
        if (policy_.preempt_guard) guards_[e.sm] = {e.kernel, 2};
        for (auto& tried : tried_) tried.clear();
        break;
      case DecisionReason::kRepartition:
      case DecisionReason::kEvictSm:
        busy_.insert(e.sm);
        break;
      default:
        tried_[e.kernel].insert(candidate_);
        break;
    }
  }

  bool Member(unsigned k) const { return kernels_[k].member; }
  bool Active(unsigned k) const {
    return kernels_[k].member && bench_->finished(k) < kernels_[k].tbs;
  }
  bool Partitioned() const {
    return policy_.dispatch == DispatchMode::kPartitioned ||
           policy_.dispatch == DispatchMode::kEven || policy_.dispatch == DispatchMode::kTable;
  }
  unsigned BuffersFree(unsigned k) const { return config_.preempted_depth - kernels_[k].buffers; }
  // TBs of each kernel in the plan in force.
  const std::map<unsigned, unsigned>& planned(unsigned sm) const { return planned_[sm]; }
  oracle::Share KernelShare(unsigned k) const { return ShareWith(k, 0, 0); }

 private:
  struct Away {
    unsigned tb, buffer;
    bool restart;
  };
  struct Kernel {
    bool member = false;
    unsigned order = 0;
    ResourceVector need{};
    unsigned next = 0, tbs = 0;
    std::deque<Away> away;
    unsigned buffers = 0;
  };
  // Who gained room on an SM by preemption, and for how many ticks nobody takes it away.
  struct Guard {
    unsigned kernel = 0, ticks = 0;
  };

  bool Allowed(unsigned k, unsigned sm) const {
    return (bench_->driver().sm_assign().state().allowed[sm] >> k & 1) != 0;
  }
  bool Waiting(unsigned k) const {
    return k != not_yet_ && Active(k) &&
           (kernels_[k].next != kernels_[k].tbs || !kernels_[k].away.empty());
  }
  // Strict left-over: an older kernel waits that has an SM.
  bool Held(unsigned k) const {
    if (!policy_.leftover_strict || policy_.dispatch != DispatchMode::kLeftover) return false;
    for (unsigned j = 0; j < kNumKernels; ++j) {
      if (!Waiting(j) || kernels_[j].order >= kernels_[k].order) continue;
      for (unsigned sm = 0; sm < config_.num_sms; ++sm) {
        if (Allowed(j, sm)) return true;
      }
    }
    return false;
  }
  bool Fits(unsigned k, unsigned sm) const {
    return oracle::Fits(bench_->Taken(sm) + kernels_[k].need, config_.limits);
  }
  bool Usable(unsigned k, unsigned sm) const {
    return Allowed(k, sm) && busy_.count(sm) == 0 && !reserved_[sm];
  }
  // rK if `more` TBs came to the SM: the TBs that stay, those to come and those to go.
  oracle::Share ShareWith(unsigned k, unsigned at, int more) const {
    int tbs = more;
    oracle::Share running = 0;
    for (unsigned sm = 0; sm < config_.num_sms; ++sm) {
      for (const BenchTb& tb : bench_->sm(sm).tbs) tbs += tb.kernel == k && !tb.counted ? 1 : 0;
      tbs += reserved_[sm] == k ? 1 : 0;
      // Victims decided upon that the SM has not found, or not yet.
      const BenchSm& bench_sm = bench_->sm(sm);
      const unsigned not_found = bench_sm.settle_due ? bench_sm.missing : victim_tbs_[sm];
      tbs -= victim_[sm] == k ? static_cast<int>(not_found) : 0;
      const int resident = static_cast<int>(bench_->Resident(k, sm)) + (sm == at ? more : 0);
      running += resident > 0 ? 1 : 0;
    }
    const oracle::Share share = static_cast<unsigned>(std::max(tbs, 0)) *
                                oracle::DominantShare(kernels_[k].need, config_.limits);
    const bool limited = policy_.kernels_per_sm < kNumKernels;
    return limited ? std::max(share, running * oracle::Whole(config_.limits)) : share;
  }
  oracle::Share SmShare(unsigned sm, std::optional<unsigned> except) const {
    return oracle::DominantShare(bench_->Taken(sm, except), config_.limits);
  }
  bool Before(unsigned a, unsigned b) const {
    if (policy_.dispatch == DispatchMode::kLeftover) return kernels_[a].order < kernels_[b].order;
    const oracle::Share share_a = KernelShare(a), share_b = KernelShare(b);
    if (share_a == 0 && share_b == 0) return BehindLast(a) < BehindLast(b);
    return share_a < share_b;
  }
  // Kernels that have nothing take turns.
  unsigned BehindLast(unsigned k) const { return (k + kNumKernels - last_ - 1) % kNumKernels; }
  std::optional<unsigned> CandidateSm(unsigned k) const {
    std::optional<unsigned> best;
    for (unsigned sm = 0; sm < config_.num_sms; ++sm) {
      if (!Usable(k, sm) || tried_[k].count(sm) != 0) continue;
      if (!best || SmShare(sm, {}) < SmShare(*best, {})) best = sm;
    }
    return best;
  }
  void FollowAssignment() {
    for (unsigned sm = 0; sm < config_.num_sms; ++sm) {
      const KernelMask now = bench_->driver().sm_assign().state().allowed[sm];
      if (now == allowed_[sm]) continue;
      allowed_[sm] = now;
      planned_[sm].clear();
      EventFrom(sm);
    }
  }
  std::optional<Expected> Evict() const {
    for (unsigned sm = 0; sm < config_.num_sms; ++sm) {
      if (busy_.count(sm) != 0 || reserved_[sm]) continue;
      bool wrong = false;
      unsigned lowest = kNumKernels;
      for (const BenchTb& tb : bench_->sm(sm).tbs) {
        wrong |= !Allowed(tb.kernel, sm);
        lowest = std::min(lowest, tb.kernel);
      }
      if (wrong) return Expected{DecisionReason::kEvictSm, lowest, sm};
    }
    return std::nullopt;
  }
  Expected Dispatch(unsigned k, unsigned sm) const {
    const Kernel& kernel = kernels_[k];
    if (kernel.away.empty()) return {DecisionReason::kDispatchNew, k, sm, kernel.next};
    return {kernel.away.front().restart ? DecisionReason::kDispatchRestarted
                                        : DecisionReason::kDispatchRestored,
            k, sm, kernel.away.front().tb};
  }
  void Dispatched(const Expected& e) {
    last_ = e.kernel;
    reserved_[e.sm].reset();
    if (policy_.dispatch != DispatchMode::kOnDemand) return;
    for (auto& tried : tried_) tried.clear();
  }
  // When a kernel of a fixed table has ended, the others divide the SM [D97].
  PolicyConfig PlanPolicy() const {
    PolicyConfig policy = policy_;
    if (policy_.dispatch != DispatchMode::kTable) return policy;
    for (const unsigned k : gone_) {
      if (policy_.table[k] != 0) policy.dispatch = DispatchMode::kEven;
    }
    return policy;
  }
  // Fig. 7.
  Expected InPartition(unsigned k, unsigned sm) {
    candidate_ = sm;
    const auto plan = planned_[sm].find(k);
    if (plan == planned_[sm].end()) {
      std::vector<oracle::Planned> kernels;
      for (unsigned i = 0; i < kNumKernels; ++i) {
        if (Allowed(i, sm) && Active(i)) kernels.push_back({i, kernels_[i].need, 0});
      }
      oracle::PlanFor(PlanPolicy(), &kernels, config_.limits, sm);
      planned_[sm].clear();
      for (const oracle::Planned& p : kernels) planned_[sm][p.kernel] = p.tbs;
      return {DecisionReason::kRepartition, k, sm};
    }
    if (bench_->Resident(k, sm) < plan->second) return Dispatch(k, sm);
    return {DecisionReason::kPartitionFull, k, sm};
  }
  // Fig. 4, from "not enough resources" on.
  Expected OnDemand(unsigned k, unsigned candidate) {
    candidate_ = candidate;
    unsigned coming = 0;
    for (const auto& reserved : reserved_) coming += reserved == k ? 1 : 0;
    const Kernel& kernel = kernels_[k];
    if (coming >= kernel.tbs - kernel.next + kernel.away.size()) {
      return {DecisionReason::kRoomComing, k, candidate};
    }
    std::optional<unsigned> sm;
    for (unsigned i = 0; i < config_.num_sms; ++i) {
      if (!Usable(k, i) || (guards_[i].ticks != 0 && guards_[i].kernel != k)) continue;
      if (!sm || SmShare(i, k) > SmShare(*sm, k)) sm = i;
    }
    std::optional<unsigned> victim;
    for (unsigned v = 0; sm && v < kNumKernels; ++v) {
      if (v == k || bench_->Resident(v, *sm) == 0) continue;
      if (!victim || KernelShare(v) > KernelShare(*victim)) victim = v;
    }
    if (!victim) return {DecisionReason::kNoVictim, k, candidate};
    const unsigned resident = bench_->Resident(*victim, *sm);
    const auto fits_without = [&](unsigned tbs) {
      const ResourceVector left = bench_->Taken(*sm) - oracle::Times(kernels_[*victim].need, tbs);
      return oracle::Fits(left + kernels_[k].need, config_.limits);
    };
    unsigned tbs = 1;
    while (tbs <= resident && !fits_without(tbs)) ++tbs;
    if (tbs > resident) return {DecisionReason::kNoVictim, k, candidate};
    if (Range(*sm, k, *victim, tbs) >= Range(*sm, k, *victim, 0)) {
      return {DecisionReason::kRangeNotReduced, k, *sm};
    }
    if (BuffersFree(*victim) < tbs) return {DecisionReason::kQueueFull, k, *sm};
    return {DecisionReason::kPreempt, k, *sm, 0, *victim, tbs};
  }
  // Of rK, when so many victim TBs are replaced by one of the candidate.
  oracle::Share Range(unsigned sm, unsigned candidate, unsigned victim, unsigned tbs) const {
    oracle::Share low = ~oracle::Share{0}, high = 0;
    for (unsigned k = 0; k < kNumKernels; ++k) {
      if (!Active(k)) continue;
      const int more = k == victim ? -static_cast<int>(tbs) : k == candidate && tbs != 0 ? 1 : 0;
      low = std::min(low, ShareWith(k, sm, more));
      high = std::max(high, ShareWith(k, sm, more));
    }
    return high - low;
  }

  DriverBench* bench_;
  ControlConfig config_;
  PolicyConfig policy_;
  std::optional<unsigned> not_yet_;
  unsigned last_ = kNumKernels - 1;  // whose TB came last
  unsigned candidate_ = 0;
  std::array<Kernel, kMaxKernels> kernels_{};
  std::array<std::set<unsigned>, kMaxKernels> tried_;
  std::set<unsigned> busy_, gone_;
  std::array<std::optional<unsigned>, kMaxSms> reserved_{}, victim_{};
  std::array<unsigned, kMaxSms> victim_tbs_{};
  std::array<Guard, kMaxSms> guards_{};
  std::array<std::map<unsigned, unsigned>, kMaxSms> planned_;
  std::array<KernelMask, kMaxSms> allowed_{};
};

}  // namespace smk
