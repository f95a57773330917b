// SPDX-License-Identifier: Apache-2.0
// What stands around TbDispatch in its lockstep test: the driver's other reference blocks, and SMs
// that run, finish, save and flush TBs at random and take commands when they like. Phases make
// different things scarce.
#pragma once

#include <deque>

#include "common/lockstep.h"
#include "common/oracle.h"
#include "control/driver/tb_dispatch.h"

namespace smk {

class DispatchMachine {
 public:
  DispatchMachine(const ControlConfig& config, const PolicyConfig& policy, std::uint64_t seed)
      : config_(config),
        policy_(policy),
        dice_(seed),
        random_(static_cast<unsigned>(seed)),
        kernels_({config.limits, ShareWeights::Of(config.limits)}),
        drf_({config.num_sms, config.limits, ShareWeights::Of(config.limits),
              policy.kernels_per_sm < kNumKernels}),
        queue_({config.num_sms, config.preempted_depth}),
        planner_({config.limits}),
        assign_({config.num_sms}),
        sms_(config.num_sms) {
    for (unsigned k = 0; k < kNumKernels; ++k) needs_[k] = RandomNeed();
    ChangePhase();
  }

  // Decides what happens in this cycle, before the clock edge, and returns what TbDispatch sees.
  TbDispatch::Inputs Begin(const TbDispatch::State& dispatch) {
    if (++cycle_ % 256 == 0) ChangePhase();
    Host();
    events_ = {};
    ready_ = waits_ = SmMask();
    for (unsigned sm = 0; sm < config_.num_sms; ++sm) StepSm(sm);
    const bool plan = dispatch.command.op == CommandOp::kPartition;
    const SmMask sms = plan ? dispatch.plan_sms : SmMask::Of(dispatch.command_sm);
    if (dispatch.command_valid && (sms - ready_).None()) {
      for (const unsigned sm : sms) Execute(&sms_[sm], dispatch.command);
    }
    return Inputs();
  }

  // The clock edge of the other blocks. `dispatch` is as it was when the cycle began.
  void End(const TbDispatch::State& dispatch) {
    const TbDispatch::Pulses& p = dispatch.pulses;
    host_.dispatch_new_valid = p.dispatch_new;
    host_.dispatch_new_kernel = p.kernel;
    const KernelTable::Outputs out = kernels_.Eval(host_);
    DrfTracker::Inputs drf = DrfInputs(dispatch, out.kernel_done);
    drf.kernel_table = &kernels_.state();
    drf_.Tick(drf);
    queue_.Tick(QueueInputs(p));
    planner_.Tick({p.plan_start, p.plan_kernels, p.sm, 1, policy_.dispatch, policy_.table, false,
                   &kernels_.state()});
    assign_.Tick({assign_pending_, kernels_.members(), policy_.dispatch == DispatchMode::kSpatial,
                  policy_.quota_enable, policy_.kernels_per_sm});
    kernels_.Tick(host_);
    const bool launch_new = out.launch_fire && !out.launch_same;
    assign_pending_ = launch_new || out.member_expired != 0;
    need_changed_ =
        launch_new ? static_cast<KernelMask>(1u << Index(host_.launch_kernel)) : KernelMask{0};
    for (const unsigned sm : waiting_) {
      if (dice_.Percent(10)) waiting_.Clear(sm);
    }
    waiting_ |= waits_;
    for (unsigned sm = 0; sm < config_.num_sms; ++sm) {
      if (queue_.state().grant.Test(sm)) sms_[sm].buffer = queue_.state().grant_buffer;
      if (queue_.state().ack.Test(sm)) sms_[sm].awaits_ack = false;
    }
  }

  const KernelTable& kernels() const { return kernels_; }
  const DrfTracker& drf() const { return drf_; }
  const PreemptedQueue& queue() const { return queue_; }
  const PolicyConfig& policy() const { return policy_; }
  bool launches = true;                       // kernels come by themselves, and ticks
  bool tick_next = false;                     // in the next cycle
  SmMask finishing = SmMask::First(kMaxSms);  // SMs on which TBs finish
  // One large kernel, and short ones that come and go while room is being made for them.
  bool crowded = false;
  // The same, but TBs leave soon: preemptions come to their end, with many victims each.
  bool calm = false;
  // Launches a kernel in the next cycle; nothing else happens in it.
  void LaunchNext(unsigned kernel, const ResourceVector& need, unsigned tbs) {
    needs_[kernel] = need;
    directed_ = {{kernel, tbs}};
  }
  void SetRates(unsigned finish, unsigned leave, unsigned ready) {
    finish_ = finish;
    leave_ = leave;
    ready_rate_ = ready;
  }

 private:
  struct Tb {
    unsigned kernel = 0;
    unsigned tb = 0;
    bool leaving = false;
    bool counted = false;
    std::optional<std::uint16_t> loading;  // its context, from this buffer
  };
  struct Sm {
    std::vector<Tb> tbs;
    std::deque<SmEvent> outbox;
    bool awaits_ack = false;
    bool settle_due = false;
    unsigned missing = 0;
    bool drain = false, flush = false;
    std::optional<Tb> saving;  // asks for a buffer, or has it
    std::optional<std::uint16_t> buffer;
    std::array<unsigned, kMaxKernels> plan{};
  };

  void ChangePhase() {
    if (!launches) return;
    const auto phase = cycle_ / 256;
    held_ = 0;
    if (policy_.dispatch == DispatchMode::kLeftover && phase % 3 == 1) {
      held_ = static_cast<KernelMask>(5 * phase % (1u << kNumKernels));
    }
    finish_ = dice_.Percent(20) ? 60 : dice_.Below(10);
    leave_ = dice_.Percent(40) ? 2 : 5 + dice_.Below(90);
    ready_rate_ = 10 + dice_.Below(91);
    launch_ = 1 + dice_.Below(20);
    tick_ = dice_.Below(8);
    grid_ = dice_.Percent(30) ? 20 : 400;
    if (crowded) {
      finish_ = 20 + dice_.Below(60);
      leave_ = 3 + dice_.Below(20);
      launch_ = 20;
      tick_ = 10;
      // Now and then so little happens that a search for victims comes to its end.
      if (dice_.Percent(50)) {
        finish_ = dice_.Below(4);
        leave_ = 60;
        launch_ = 2;
        tick_ = 1;
      }
    }
    if (calm) {
      finish_ = 1 + dice_.Below(20);
      leave_ = 30 + dice_.Below(71);
      launch_ = 1 + dice_.Below(5);
      tick_ = dice_.Below(3);
    }
  }

  // Most TBs are so large that SMs are full soon; of some an SM holds as many as it has places.
  ResourceVector RandomNeed(unsigned k = 0) {
    ResourceVector need = oracle::RandomNeed(&random_, config_.limits);
    if (calm) {
      const auto fits = [&](std::uint16_t limit) {
        return static_cast<std::uint16_t>(limit /
                                          (k == 0 ? 2 + dice_.Below(10) : 1 + dice_.Below(4)));
      };
      need = {fits(config_.limits.registers), fits(config_.limits.shared_memory),
              fits(config_.limits.threads), 1};
      return need;
    }
    if (dice_.Percent(30)) return need;
    if (!crowded && dice_.Percent(20)) {
      need.registers /= 16;
      need.shared_memory /= 16;
      need.threads = 1;
      return need;
    }
    const unsigned part = crowded ? 3 + dice_.Below(2) : 1 + dice_.Below(6);
    const unsigned scarce = dice_.Below(6);
    const auto fits = [&](std::uint16_t limit) { return static_cast<std::uint16_t>(limit / part); };
    if (scarce == 0) {
      need.shared_memory = fits(config_.limits.shared_memory);
    } else if (scarce == 1) {
      need.threads = fits(config_.limits.threads);
    } else if (scarce == 2 && !crowded) {
      need = {1, 1, 1, 1};
    } else {
      need.registers = fits(config_.limits.registers);
    }
    return need;
  }

  void Host() {
    host_ = {};
    host_.linger_ticks = policy_.linger_ticks;
    if (directed_) Launch(directed_->first, directed_->second);
    directed_.reset();
    host_.tick = tick_next;
    tick_next = false;
    if (!launches) return;
    host_.tick = dice_.Percent(tick_);
    const unsigned k = dice_.Below(kNumKernels);
    if (kernels_.state().slot[k].active || !dice_.Percent(launch_)) return;
    if (calm || dice_.Percent(30)) needs_[k] = RandomNeed(k);
    unsigned most = dice_.Percent(40) ? 4 : grid_;
    if (crowded) most = k == 0 ? 4000 : 2;
    if (calm) most = k == 0 ? 4000 : dice_.Percent(50) ? 2 : 64;
    Launch(k, 1 + dice_.Below(most));
  }
  void Launch(unsigned kernel, unsigned tbs) {
    host_.launch_valid = true;
    host_.launch_kernel = static_cast<KernelId>(kernel);
    host_.launch.need = needs_[kernel];
    host_.launch.tb_count = tbs;
  }

  static SmEvent EventOf(EventKind kind, const Tb& tb) {
    SmEvent event;
    event.valid = true;
    event.kind = kind;
    event.kernel = static_cast<KernelId>(tb.kernel);
    event.tb = static_cast<TbId>(tb.tb);
    event.counted = tb.counted;
    return event;
  }

  // Whether the SM can take a command. If not, its last TB may wait for a gap, for some time.
  void Answer(unsigned i) {
    if (waiting_.Test(i)) return;
    if (dice_.Percent(ready_rate_)) {
      ready_.Set(i);
    } else if (CanWait() && dice_.Percent(2)) {
      waits_.Set(i);
    }
  }
  bool CanWait() const {
    return policy_.dispatch == DispatchMode::kOnDemand ||
           policy_.dispatch == DispatchMode::kLeftover;
  }

  void StepSm(unsigned i) {
    Sm& sm = sms_[i];
    Answer(i);
    Load(&sm);
    if (finishing.Test(i)) Finish(&sm);
    Leave(&sm);
    if (sm.settle_due && !sm.saving && dice_.Percent(leave_)) Settle(&sm);
    if (sm.outbox.empty() || !dice_.Percent(80)) return;
    const SmEvent event = sm.outbox.front();
    if (sm.awaits_ack && NeedsAck(event.kind)) return;
    sm.awaits_ack |= NeedsAck(event.kind);
    sm.outbox.pop_front();
    events_[i] = event;
    if (event.kind == EventKind::kFinished) ++host_.finished[Index(event.kernel)];
  }
  void Load(Sm* sm) {
    for (Tb& tb : sm->tbs) {
      if (!tb.loading || !dice_.Percent(leave_)) continue;
      SmEvent event = EventOf(EventKind::kBufferFree, tb);
      event.buffer = *tb.loading;
      sm->outbox.push_back(event);
      tb.loading.reset();
      return;
    }
  }
  void Finish(Sm* sm) {
    if (sm->saving && !sm->buffer && dice_.Below(1000) < finish_) {  // no longer needs a buffer
      sm->outbox.push_back(EventOf(EventKind::kFinished, *sm->saving));
      sm->saving.reset();
    }
    if (sm->tbs.empty() || dice_.Below(1000) >= (sm->drain ? 10 * leave_ : finish_)) return;
    const unsigned i = dice_.Below(static_cast<unsigned>(sm->tbs.size()));
    if (sm->tbs[i].loading) return;
    if ((crowded || calm) && sm->tbs[i].kernel == 0 && !dice_.Percent(3)) return;
    sm->outbox.push_back(EventOf(EventKind::kFinished, sm->tbs[i]));
    sm->tbs.erase(sm->tbs.begin() + i);
  }
  // One TB at a time asks for a buffer and goes when it has it.
  void Leave(Sm* sm) {
    const bool start = !sm->drain && dice_.Percent(leave_);
    for (unsigned i = 0; start && !sm->saving && i < sm->tbs.size(); ++i) {
      if (!sm->tbs[i].leaving || sm->tbs[i].loading) continue;
      sm->saving = sm->tbs[i];
      sm->tbs.erase(sm->tbs.begin() + i);
    }
    if (!sm->saving || !sm->buffer || !dice_.Percent(leave_)) return;
    const bool flush = sm->flush && !sm->saving->counted && dice_.Percent(60);
    SmEvent event = EventOf(flush ? EventKind::kFlushed : EventKind::kSaved, *sm->saving);
    event.buffer = *sm->buffer;
    sm->outbox.push_back(event);
    sm->saving.reset();
    sm->buffer.reset();
  }
  void Settle(Sm* sm) {
    for (const Tb& tb : sm->tbs) {
      if (tb.leaving) return;
    }
    SmEvent event;
    event.valid = true;
    event.kind = EventKind::kSettled;
    event.shortfall = static_cast<std::uint8_t>(sm->missing);
    sm->outbox.push_back(event);
    sm->settle_due = sm->drain = sm->flush = false;
    sm->missing = 0;
  }

  void Execute(Sm* sm, const SmCommand& c) {
    const unsigned k = Index(c.kernel);
    if (c.op == CommandOp::kDispatch) {
      sm->tbs.push_back({k, Index(c.tb), false, false, {}});
      if (c.restore) sm->tbs.back().loading = c.buffer;
    } else if (c.op == CommandOp::kPreempt) {
      unsigned found = 0;
      for (Tb& tb : sm->tbs) {
        if (tb.kernel != k || found == c.count) continue;
        tb.leaving = tb.counted = true;
        ++found;
      }
      sm->missing = c.count - found;
      sm->settle_due = true;
    } else if (c.op == CommandOp::kEvict) {
      for (Tb& tb : sm->tbs) tb.leaving = true;
      sm->drain = c.mode == PreemptMode::kDrain;
      sm->flush = c.mode == PreemptMode::kFlush;
      sm->settle_due = true;
    } else {
      if (c.first) sm->plan = {};
      sm->plan[k] = c.range.tb_count;
      if (c.last) Repartition(sm);
    }
  }
  // Those beyond the new partition must go, others may be out of place.
  void Repartition(Sm* sm) {
    std::array<unsigned, kMaxKernels> seen{};
    for (Tb& tb : sm->tbs) {
      tb.leaving = ++seen[tb.kernel] > sm->plan[tb.kernel] || dice_.Percent(20);
    }
    sm->settle_due = true;
  }

  TbDispatch::Inputs Inputs() {
    const KernelTable::Outputs out = kernels_.Eval(host_);
    TbDispatch::Inputs t;
    t.kernels = &kernels_.state();
    t.drf = &drf_;
    t.queue = &queue_;
    t.planner = &planner_.state();
    t.assign = &assign_.state();
    t.assign_busy = assign_pending_ || assign_.state().busy;
    t.policy = &policy_;
    t.active = kernels_.active();
    t.need_changed = need_changed_;
    t.kernel_done = out.kernel_done;
    t.member_expired = out.member_expired;
    for (unsigned sm = 0; sm < config_.num_sms; ++sm) {
      if (!events_[sm].valid) continue;
      t.event_mask.Set(sm);
      if (events_[sm].kind == EventKind::kSettled) t.settled_mask.Set(sm);
    }
    t.command_ready = ready_;
    t.waiting = waiting_;
    t.waits = waits_;
    t.tick = host_.tick;
    t.held = held_;
    return t;
  }
  DrfTracker::Inputs DrfInputs(const TbDispatch::State& d, KernelMask kernel_done) const {
    DrfTracker::Inputs in;
    in.kernel_done = kernel_done;
    in.dispatch_valid = d.pulses.dispatch;
    in.dispatch_reserved = d.pulses.dispatch_reserved;
    in.dispatch_kernel = in.reserve_kernel = d.pulses.kernel;
    in.dispatch_sm = d.pulses.sm;
    in.reserve_valid = d.pulses.reserve;
    in.cancel_valid = d.pulses.cancel;
    in.preempt_valid = d.pulses.preempt;
    in.preempt_kernel = d.pulses.victim;
    in.preempt_count = d.pulses.victim_tbs;
    in.event = events_;
    in.shortfall_mask = d.victims_valid;
    for (unsigned sm = 0; sm < config_.num_sms; ++sm) {
      if (events_[sm].valid) in.event_mask.Set(sm);
      in.shortfall_kernel[sm] = d.reservation[sm].victim;
    }
    return in;
  }
  PreemptedQueue::Inputs QueueInputs(const TbDispatch::Pulses& pulses) const {
    PreemptedQueue::Inputs q;
    for (unsigned sm = 0; sm < config_.num_sms; ++sm) {
      if (sms_[sm].saving && !sms_[sm].buffer) {
        q.request_mask.Set(sm);
        q.request_kernel[sm] = static_cast<KernelId>(sms_[sm].saving->kernel);
      }
      if (events_[sm].valid && NeedsAck(events_[sm].kind)) q.event_mask.Set(sm);
    }
    q.event = events_;
    q.pop_valid = pulses.pop;
    q.pop_kernel = pulses.kernel;
    return q;
  }

  ControlConfig config_;
  PolicyConfig policy_;
  Dice dice_;
  std::mt19937 random_;
  KernelTable kernels_;
  DrfTracker drf_;
  PreemptedQueue queue_;
  PartitionPlanner planner_;
  SmAssign assign_;
  std::vector<Sm> sms_;
  std::array<ResourceVector, kMaxKernels> needs_{};
  KernelTable::Inputs host_{};
  std::array<SmEvent, kMaxSms> events_{};
  SmMask ready_, waiting_, waits_;
  bool assign_pending_ = false;
  KernelMask need_changed_ = 0, held_ = 0;
  std::optional<std::pair<unsigned, unsigned>> directed_;
  std::uint64_t cycle_ = 0;
  unsigned finish_ = 0;  // per thousand cycles; the others are per cent
  unsigned leave_ = 100, ready_rate_ = 100, launch_ = 0, tick_ = 0, grid_ = 60;
};

}  // namespace smk
