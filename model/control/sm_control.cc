// SPDX-License-Identifier: Apache-2.0
#include "control/sm_control.h"

namespace smk {

SmControl::SmControl(const ControlConfig& config, const PolicyConfig& policy)
    : config_(config),
      policy_(policy),
      table_({config.num_schedulers, config.limits.threads, config.limits.tbs}) {}

// The highest slots of the kernel. One that waits for its context is a victim like any other: it is
// loaded first, and then it leaves.
std::uint32_t SmControl::ChooseVictims(KernelId kernel, unsigned count,
                                       std::uint32_t finished) const {
  std::uint32_t victims = 0;
  const std::uint32_t here = table_.state().valid & ~finished & ~engine_.state().leaving;
  for (int slot = kMaxTbSlots - 1; slot >= 0 && count != 0; --slot) {
    if ((here >> slot & 1) == 0 || table_.state().kernel[slot] != kernel) continue;
    victims |= 1u << slot;
    --count;
  }
  return victims;
}

void SmControl::TakeCommand(const SmCommand& command, const SmInputs& in, TbTable::Inputs* table,
                            PreemptEngine::Inputs* engine, bool* load_quota) {
  const unsigned k = Index(command.kernel);
  switch (command.op) {
    case CommandOp::kDispatch:
      table->dispatch_valid = true;
      table->dispatch = command;
      // A slot is taken again only after the TB that finished there has been reported.
      table->allowed_slots = partitions_.Slots(k) & ~(finish_pending_ | in.tb_finished);
      break;
    case CommandOp::kPreempt: {
      engine->leave = ChooseVictims(command.kernel, command.count, in.tb_finished);
      engine->leave_counted = true;
      shortfall_ = static_cast<std::uint8_t>(command.count - __builtin_popcount(engine->leave));
      settle_pending_ = true;
      break;
    }
    case CommandOp::kPartition: {
      PartitionCounters::Inputs p;
      p.command_valid = true;
      p.command = command;
      p.slot_valid = table_.state().valid & ~in.tb_finished;
      p.slot_kernel = &table_.state().kernel;
      const PartitionCounters::Outputs out = partitions_.Eval(p);
      if (out.commit) {
        engine->leave = out.misaligned;
        settle_pending_ = true;
        gated_ = false;
      }
      partitions_.Tick(p);
      break;
    }
    case CommandOp::kEvict:
      engine->leave = table_.state().valid & ~in.tb_finished;
      engine->whole_sm = true;
      engine->mode = command.mode;
      settle_pending_ = true;
      break;
    case CommandOp::kQuota:
      quota_[k] = command.quota;
      if (command.last) {
        *load_quota = !gated_;
        gated_ = true;
      }
      break;
  }
}

// One event per cycle: a TB that left, then a TB that finished, then that all who had to leave
// have.
void SmControl::SendEvent(const PreemptEngine::Outputs& engine, const SmInputs& in,
                          SmToDriver* to_driver, PreemptEngine::Inputs* engine_in) {
  to_driver->event = SmEvent{};
  if (engine.event_valid) {
    to_driver->event = engine.event;
    engine_in->event_sent = true;
  } else if (finish_pending_ != 0) {
    const unsigned slot = static_cast<unsigned>(__builtin_ctz(finish_pending_));
    to_driver->event.valid = true;
    to_driver->event.kind = EventKind::kFinished;
    to_driver->event.kernel = table_.state().kernel[slot];
    to_driver->event.tb = table_.state().tb[slot];
    to_driver->event.counted = (finish_counted_ >> slot & 1) != 0;
    finish_pending_ &= finish_pending_ - 1;
    finish_counted_ &= ~(1u << slot);
  } else if (settle_pending_ && engine_.settled() && in.tb_finished == 0) {
    to_driver->event.valid = true;
    to_driver->event.kind = EventKind::kSettled;
    to_driver->event.shortfall = shortfall_;
    settle_pending_ = false;
    shortfall_ = 0;
  }
}

void SmControl::UpdateStops(std::uint32_t tb_stop) {
  const TbTable::State& t = table_.state();
  const std::uint32_t stopped = tb_stop | (t.valid & ~t.running);
  if (stops_valid_ && stopped == stopped_slots_) return;
  stops_valid_ = true;
  stopped_slots_ = stopped;
  stop_.fill(0);
  for (std::uint32_t m = stopped; m != 0; m &= m - 1) {
    const auto& warps = slot_warps_[static_cast<unsigned>(__builtin_ctz(m))];
    for (unsigned s = 0; s < kMaxSchedulers; ++s) stop_[s] |= warps[s];
  }
}

// The warp schedulers in an ordinary cycle: only those with ready warps can change state.
inline void SmControl::Grant(const SmInputs& in, SmOutputs* out) {
  QuotaScheduler::Inputs q;
  q.gated = gated_;
  q.quota = &quota_;
  q.policy = policy_.warp_policy;
  for (unsigned s = 0; s < config_.num_schedulers; ++s) {
    if (in.ready[s] == 0) continue;
    q.ready = in.ready[s];
    q.stop = stop_[s];
    const QuotaScheduler::Outputs grant = schedulers_[s].Grant(q);
    if (!grant.grant_valid) continue;
    out->grant_valid |= static_cast<std::uint8_t>(1u << s);
    out->grant_warp[s] = grant.grant_warp;
    profile_.Count(grant.grant_kernel);
  }
}

// The warp schedulers in a cycle in which anything else may happen, too.
void SmControl::Issue(const SmInputs& in, bool tick,
                      const std::array<std::uint16_t, kMaxSchedulers>& leave,
                      const WarpStart& start, bool load_quota, SmOutputs* out) {
  ProfileCounters::Inputs profile;
  profile.tick = tick;
  for (unsigned s = 0; s < config_.num_schedulers; ++s) {
    QuotaScheduler::Inputs q;
    q.ready = in.ready[s];
    q.stop = stop_[s];
    q.leave = leave[s];
    q.gated = gated_;
    q.quota = &quota_;
    q.load = load_quota;
    q.tick = tick;
    q.policy = policy_.warp_policy;
    if (start.valid && Index(start.warp) % config_.num_schedulers == s) {
      q.start_valid = true;
      q.start_warp = static_cast<std::uint8_t>(Index(start.warp) / config_.num_schedulers);
      q.start_kernel = start.kernel;
    }
    const QuotaScheduler::Outputs grant = schedulers_[s].Eval(q);
    schedulers_[s].Tick(q, grant);
    out->grant_valid |= static_cast<std::uint8_t>((grant.grant_valid ? 1u : 0u) << s);
    out->grant_warp[s] = grant.grant_warp;
    profile.grant_kernel[s] = grant.grant_kernel;
  }
  profile.grant_valid = out->grant_valid;
  profile_.Tick(profile);
}

void SmControl::StepTables(const SmInputs& in, const DriverToSm& from_driver,
                           const KernelViews& kernels, SmOutputs* out, SmToDriver* to_driver) {
  TbTable::Inputs table;
  PreemptEngine::Inputs engine;
  bool load_quota = false;
  const TbTable::State& t = table_.state();
  finish_counted_ |= in.tb_finished & engine_.state().counted & engine_.state().leaving;
  engine.running = t.running;
  engine.slot_kernel = &t.kernel;
  engine.slot_tb = &t.tb;
  engine.slot_buffer = &t.buffer;
  engine.kernels = &kernels;
  engine.finished = in.tb_finished;
  engine.quiet = in.tb_quiet;
  engine.flushable = in.tb_flushable;
  engine.context_ready = in.context_ready;
  engine.context_done = in.context_done;
  engine.buffer_valid = from_driver.buffer_valid;
  engine.buffer = from_driver.buffer;
  engine.event_ack = from_driver.event_ack;
  const PreemptEngine::Outputs e = engine_.Eval(engine);

  SendEvent(e, in, to_driver, &engine);
  if (from_driver.command_valid && to_driver->command_ready) {
    TakeCommand(from_driver.command, in, &table, &engine, &load_quota);
  }
  if (t.launching) {
    const unsigned slot = Index(t.launch_slot);
    const unsigned k = Index(t.kernel[slot]);
    table.launch_warps = static_cast<std::uint8_t>(kernels[k].need.threads);
    table.allowed_warps = partitions_.Warps(k, slot, table.launch_warps);
  }
  table.finished = in.tb_finished;
  table.release_valid = e.release_valid;
  table.release_slot = e.release_slot;
  table.loaded_valid = e.loaded_valid;
  table.loaded_slot = e.loaded_slot;
  const TbTable::Outputs tb = table_.Eval(table);
  engine.load = tb.load;

  out->warp_start = tb.warp_start;
  out->tb_activate = tb.activate;
  out->tb_stop = e.stop;
  out->context = e.context;
  out->release_valid = e.release_valid;
  out->release_slot = e.release_slot;
  out->release_kind = e.release_kind;

  std::array<std::uint16_t, kMaxSchedulers> leave{};
  std::uint32_t left = in.tb_finished;
  if (e.release_valid) left |= 1u << Index(e.release_slot);
  for (std::uint32_t m = left; m != 0; m &= m - 1) {
    const auto& warps = slot_warps_[static_cast<unsigned>(__builtin_ctz(m))];
    for (unsigned s = 0; s < kMaxSchedulers; ++s) leave[s] |= warps[s];
  }
  UpdateStops(e.stop);
  Issue(in, from_driver.tick, leave, tb.warp_start, load_quota, out);
  for (std::uint32_t m = left; m != 0; m &= m - 1) {
    slot_warps_[static_cast<unsigned>(__builtin_ctz(m))].fill(0);
  }
  if (tb.warp_start.valid) {
    const unsigned w = Index(tb.warp_start.warp);
    slot_warps_[Index(tb.warp_start.tb_slot)][w % config_.num_schedulers] |=
        static_cast<std::uint16_t>(1u << (w / config_.num_schedulers));
  }
  if (tb.warp_start.valid || left != 0) stops_valid_ = false;  // a slot has other warps
  table_.Tick(table, tb);
  engine_.Tick(engine, e);
  finish_pending_ |= in.tb_finished;
  to_driver->command_ready = !table_.state().launching;
  to_driver->buffer_request = engine_.state().step == PreemptEngine::Step::kBuffer;
  to_driver->buffer_kernel = t.kernel[engine_.state().slot];
  to_driver->profile_valid = profile_.state().report_valid;
  to_driver->profile_issued = profile_.state().report;
  awake_ = table_.state().launching || engine_.busy() || finish_pending_ != 0 || settle_pending_ ||
           to_driver->event.valid || profile_.state().report_valid || left != 0 ||
           out->tb_activate != 0;
}

void SmControl::Step(const SmInputs& in, const DriverToSm& from_driver, const KernelViews& kernels,
                     SmOutputs* out, SmToDriver* to_driver) {
  *out = SmOutputs{};
  const bool quiet = !awake_ && in.tb_finished == 0 && in.context_done == 0 &&
                     !from_driver.command_valid && !from_driver.buffer_valid &&
                     !from_driver.event_ack && !from_driver.tick;
  if (quiet) {
    Grant(in, out);
  } else {
    StepTables(in, from_driver, kernels, out, to_driver);
  }
  if (gated_) out->quota_left = schedulers_[0].state().left;
}

}  // namespace smk
