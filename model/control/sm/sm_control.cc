// SPDX-License-Identifier: Apache-2.0
#include "control/sm/sm_control.h"

namespace smk {
namespace {

// Cycles until everything has reached the schedulers.
constexpr std::uint8_t kEcho = 3;
// From the end of a window to the report of its counts.
constexpr std::uint8_t kSampleEnds = 2;

}  // namespace

SmControl::SmControl(const ControlConfig& config, const PolicyConfig& policy)
    : warp_policy_(policy.warp_policy),
      epoch_end_(policy.epoch_end),
      joint_(config.warps_per_scheduler, policy.warp_policy),
      config_(config),
      policy_(policy),
      table_({config.num_schedulers, config.limits.threads, config.limits.tbs}),
      partitions_({config.num_kernels, config.limits}),
      places_({config.limits.tbs, config.limits}) {}

// The kernel's TBs that have not finished.
std::uint32_t SmControl::Staying(KernelId kernel) const {
  std::uint32_t slots = 0;
  for (std::uint32_t m = table_.state().valid & ~state_.finished; m != 0; m &= m - 1) {
    if (table_.state().kernel[static_cast<unsigned>(__builtin_ctz(m))] == kernel) slots |= m & -m;
  }
  return slots;
}

// The highest slot of the kernel, one per cycle until all are found or there is none. One that
// waits for its context is a victim like any other: it is loaded first, and then it leaves. Who was
// chosen is no candidate again, though the engine forgets one that has left before the table does.
void SmControl::ChooseVictim(PreemptEngine::Inputs* engine) {
  if (!state_.choosing) return;
  state_.choosing = false;
  state_.candidates &= ~state_.finished;
  if (state_.shortfall == 0 || state_.candidates == 0) return;
  const std::uint32_t victim = 1u << (31 - __builtin_clz(state_.candidates));
  engine->leave |= victim;
  engine->leave_counted = true;
  state_.candidates &= ~victim;
  --state_.shortfall;
  state_.choosing = true;
}

// TBs that are out of place under the new plan.
void SmControl::Judge(PartitionCounters::Inputs* partitions, PreemptEngine::Inputs* engine) {
  partitions->slot_valid = table_.state().valid & ~state_.finished;
  partitions->slot_kernel = &table_.state().kernel;
  engine->leave |= partitions_.Eval(*partitions).misaligned;
}

void SmControl::TakeCommand(const SmCommand& command, TbTable::Inputs* table,
                            PartitionCounters::Inputs* partitions, PreemptEngine::Inputs* engine) {
  switch (command.op) {
    case CommandOp::kDispatch:
      table->dispatch_valid = true;
      table->dispatch = command;
      break;
    case CommandOp::kPreempt:
      state_.choosing = true;
      state_.candidates = Staying(command.kernel);
      state_.shortfall = command.count;
      engine->mode_valid = true;
      state_.settle_pending = true;
      break;
    case CommandOp::kPartition:
      partitions->command_valid = true;
      partitions->command = command;
      if (!command.last) break;
      engine->mode_valid = true;
      engine->mode = command.mode;
      engine->whole_sm = command.mode == PreemptMode::kDrain;
      state_.settle_pending = true;
      state_.quotas.gated = false;
      state_.set_open = false;
      state_.changed = kEcho;
      break;
    case CommandOp::kEvict:
      engine->leave = table_.state().valid & ~state_.finished;
      engine->mode_valid = true;
      engine->whole_sm = true;
      engine->mode = command.mode;
      state_.settle_pending = true;
      break;
    case CommandOp::kQuota:
      TakeQuota(command);
      break;
  }
}

// A set is taken as a whole, with its last quota; the rest of one that a plan has cut off is not.
void SmControl::TakeQuota(const SmCommand& command) {
  state_.changed = kEcho;
  state_.set_open = state_.set_open || command.first;
  if (!state_.set_open) return;
  state_.coming[Index(command.kernel)] = command.quota;
  if (!command.last) return;
  state_.set_open = false;
  state_.quotas.quota = state_.coming;
  state_.quotas.load = !state_.quotas.gated;
  state_.quotas.gated = true;
}

// One report per cycle: a TB that left, then a TB that finished, then that all who had to leave
// have. The event register has what was reported one cycle ago.
void SmControl::SendEvent(const PreemptEngine::Outputs& engine, const SmInputs& in,
                          PreemptEngine::Inputs* engine_in, PreemptChooser::Inputs* chooser) {
  state_.to_driver.event = state_.report;
  state_.report = SmEvent{};
  if (engine.event_valid) {
    state_.report = engine.event;
    engine_in->event_sent = true;
  } else if (state_.finish_pending != 0) {
    const unsigned slot = static_cast<unsigned>(__builtin_ctz(state_.finish_pending));
    state_.report.valid = true;
    state_.report.kind = EventKind::kFinished;
    state_.report.kernel = table_.state().kernel[slot];
    state_.report.tb = table_.state().tb[slot];
    state_.report.counted = (state_.finish_counted >> slot & 1) != 0;
    chooser->ended = true;
    chooser->ended_slot = static_cast<std::uint8_t>(slot);
    state_.finish_pending &= state_.finish_pending - 1;
    state_.finish_counted &= ~(1u << slot);
  } else if (state_.settle_pending && !state_.choosing && !partitions_.judging() &&
             engine_.settled() && in.tb_finished == 0) {
    state_.report.valid = true;
    state_.report.kind = EventKind::kSettled;
    state_.report.shortfall = state_.shortfall;
    state_.settle_pending = false;
    state_.shortfall = 0;
  }
}

// In which way each TB leaves that must go under kChimera.
void SmControl::ChooseWays(const SmInputs& in, const TbTable::Inputs& table,
                           const PreemptEngine::Inputs& engine, PreemptChooser::Inputs* chooser) {
  chooser->chimera = ChimeraOf(policy_);
  if (!chooser->chimera.enable) return;
  chooser->time = in.time;
  // A TB that is placed is said to run in every cycle until it does.
  const bool placing = table_.state().step > TbTable::Step::kIndex;
  chooser->loaded = table.loaded_valid ? 1u << Index(table.loaded_slot) : 0;
  chooser->activate = chooser->loaded | (placing ? 1u << Index(table_.state().launch_slot) : 0);
  chooser->order = engine.mode_valid;
  chooser->mode = engine.mode;
  chooser->leaving = engine_.state().leaving;
  chooser->running = table_.state().running;
  chooser->flushable = in.tb_flushable;
  chooser->slot_kernel = &table_.state().kernel;
  chooser->kernels = engine.kernels;
  chooser_.Tick(*chooser);
}

SmControl::Masks SmControl::WarpsOf(std::uint32_t slots) const {
  Masks masks{};
  for (std::uint32_t m = slots; m != 0; m &= m - 1) {
    const Masks& warps = slot_warps_[static_cast<unsigned>(__builtin_ctz(m))];
    for (unsigned s = 0; s < kMaxSchedulers; ++s) masks[s] |= warps[s];
  }
  return masks;
}

// What the schedulers hear in the next cycle. Who goes is stopped until they have forgotten it.
void SmControl::TellSchedulers(const WarpStart& start, std::uint32_t gone) {
  const TbTable::State& t = table_.state();
  const std::uint32_t stopped =
      engine_.StopNext(chooser_.state().go) | (t.valid & ~t.running) | gone;
  if (!stops_valid_ || stopped != stopped_slots_) state_.stop = WarpsOf(stopped);
  stops_valid_ = true;
  stopped_slots_ = stopped;
  state_.leave = WarpsOf(gone);
  for (std::uint32_t m = gone; m != 0; m &= m - 1) {
    slot_warps_[static_cast<unsigned>(__builtin_ctz(m))].fill(0);
  }
  state_.start = start;
  if (start.valid) {
    const unsigned w = Index(start.warp);
    slot_warps_[Index(start.tb_slot)][w % config_.num_schedulers] |=
        WarpMask{1} << (w / config_.num_schedulers);
  }
  if (start.valid || gone != 0) stops_valid_ = false;  // a slot has other warps
}

// A window begins or ends; some cycles later its counts are reported.
void SmControl::HearWindow(const DriverToSm& from_driver) {
  State& s = state_;
  s.to_driver.sample_valid = s.sample_ends == 1;
  s.to_driver.sample_issued = sample_.state().issued;
  s.to_driver.sample_stalled = sample_.state().stalled;
  if (s.sample_ends != 0) --s.sample_ends;
  if (from_driver.sample_begin) {
    s.samples = true;
    s.sample_kernel = from_driver.sample_kernel;
    s.sample_stalls = from_driver.sample_stalls;
  }
  if (!from_driver.sample_end) return;
  s.samples = false;
  s.sample_ends = kSampleEnds;
}

// The TB being launched: what its kernel may use.
void SmControl::Launch(const KernelViews& kernels, PartitionCounters::Inputs* partitions,
                       TbTable::Inputs* table) const {
  const TbTable::State& t = table_.state();
  const unsigned k = Index(t.launch.kernel);
  partitions->read = true;
  partitions->read_kernel = static_cast<std::uint8_t>(k);
  partitions->read_slot = static_cast<std::uint8_t>(Index(t.launch_slot));
  partitions->read_need = kernels[k].need;
  table->launch_warps = static_cast<std::uint8_t>(kernels[k].need.threads);
  const bool partitioned = partitions_.state().partitioned;
  table->found = partitioned || places_.found();
  table->launch_base = partitioned ? partitions_.state().base : places_.base();
  // A slot is taken again only after the TB that finished there has been reported.
  table->allowed_slots = partitions_.state().slots & ~state_.finish_pending &
                         (partitioned ? ~0u : places_.state().slots);
  table->allowed_warps = partitions_.state().warps;
}

// Where TBs lie without partitions. Hears of those that go, in the same cycle as the table.
void SmControl::StepPlaces(const KernelViews& kernels, std::uint32_t gone, std::uint32_t pending) {
  const TbTable::State& t = table_.state();
  TbPlaces::Inputs places;
  places.partitioned = partitions_.state().partitioned;
  places.kernels = &kernels;
  places.slot_valid = t.valid;
  places.slot_kernel = &t.kernel;
  places.gone = gone;
  places.pending = pending;
  places.launching = table_.launching();
  places.look = t.step == TbTable::Step::kSlots;
  places.chosen = t.step == TbTable::Step::kIndex;
  places.kernel = static_cast<std::uint8_t>(Index(t.launch.kernel));
  places.slot = static_cast<std::uint8_t>(Index(t.launch_slot));
  places_.Tick(places);
}

void SmControl::StepTables(const SmInputs& in, const DriverToSm& from_driver,
                           const KernelViews& kernels, SmOutputs* out) {
  TbTable::Inputs table;
  PartitionCounters::Inputs partitions;
  PreemptEngine::Inputs engine;
  PreemptChooser::Inputs chooser;
  const TbTable::State& t = table_.state();
  const bool was_launching = table_.launching();
  const std::uint32_t pending = state_.finish_pending;
  if (joint_.loaded()) joint_.Store(&schedulers_, &profile_);
  if (state_.changed != 0) --state_.changed;
  state_.used = state_.quotas;
  state_.quotas.load = false;
  engine.go = chooser_.state().go;
  engine.flush = chooser_.state().flush;
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
  engine.buffer_none = from_driver.buffer_none;
  engine.event_ack = from_driver.event_ack;
  const PreemptEngine::Outputs e = engine_.Eval(engine);
  if (table_.launching()) Launch(kernels, &partitions, &table);

  SendEvent(e, in, &engine, &chooser);
  ChooseVictim(&engine);
  Judge(&partitions, &engine);
  state_.finish_counted |= in.tb_finished & ((engine_.state().counted & engine_.state().leaving) |
                                             (engine.leave_counted ? engine.leave : 0));
  if (from_driver.command_valid) TakeCommand(from_driver.command, &table, &partitions, &engine);
  table.finished = state_.finished;
  table.release_valid = state_.release;
  table.release_slot = e.release_slot;
  table.loaded_valid = state_.loaded;
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
  out->place_waits = places_.state().waiting;

  state_.to_driver.profile_valid = from_driver.tick;
  state_.to_driver.profile_issued = profile_.issued();
  Issue(in, from_driver.tick, out);
  HearWindow(from_driver);
  const bool started = state_.start.valid;
  std::uint32_t gone = state_.finished;
  if (state_.release) gone |= 1u << Index(table.release_slot);
  TellSchedulers(tb.warp_start, gone);
  StepPlaces(kernels, gone, pending);
  ChooseWays(in, table, engine, &chooser);
  table_.Tick(table, tb);
  partitions_.Tick(partitions);
  engine_.Tick(engine, e);
  if (in.tb_finished != 0 || state_.release || state_.loaded || started) state_.changed = kEcho;
  state_.finish_pending |= in.tb_finished;
  state_.finished = in.tb_finished;
  state_.release = e.release_valid;
  state_.loaded = e.loaded_valid;
  // One credit for each command: at once, or when the TB that it brought is placed.
  const bool took = from_driver.command_valid && !table.dispatch_valid;
  state_.to_driver.command_credit = took || (was_launching && !table_.launching());
  state_.to_driver.command_waits = places_.state().waits;
  state_.to_driver.buffer_request = engine_.state().request;
  state_.to_driver.buffer_withdraw = engine_.state().withdraw;
  state_.to_driver.buffer_kernel = t.kernel[engine_.state().slot];
  busy_ = table_.launching() || engine_.busy() || chooser_.state().busy() ||
          state_.finish_pending != 0 || state_.settle_pending || state_.report.valid ||
          state_.to_driver.event.valid || state_.start.valid || state_.changed != 0 ||
          state_.to_driver.profile_valid || state_.to_driver.command_credit ||
          state_.to_driver.buffer_request || state_.sample_ends != 0 ||
          state_.to_driver.sample_valid;
}

}  // namespace smk
