// SPDX-License-Identifier: Apache-2.0
#include "machine/gpu.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "machine/machine_keys.h"

namespace smk {

void Gpu::Validate(const RunRequest& request) {
  const auto require = [](bool holds, const std::string& what) {
    if (!holds) throw InputError(what);
  };
  MachineConfig machine = request.machine;
  NaturalLimits limits = NaturalLimits::Of(machine.sm.limits);
  for (const MachineKey& key : MachineKeys(&machine, &limits)) {
    require(key.Holds(), key.path + ": expected " + key.Expected() + ", got " + key.Print());
  }
  require(!request.programs.empty() && request.programs.size() <= kMaxKernels,
          "programs: expected 1 to " + std::to_string(kMaxKernels));
  require(request.cycles <= kMaxRunCycles,
          "cycles: expected at most " + std::to_string(kMaxRunCycles));
  require(request.policy.epoch_length >= 1, "epoch_length: expected at least 1");
  for (const RunProgram& program : request.programs) {
    require(program.workload != nullptr && !program.workload->launches.empty(),
            "programs: expected a workload with at least one launch");
  }
}

Gpu::Gpu(const RunRequest& request, ControlPlane& control, MemoryPort& memory)
    : request_((Validate(request), request)),
      control_(control),
      ledger_(checks_),
      contexts_(checks_),
      host_(request, ledger_),
      next_tick_(request.policy.epoch_length),
      issued_before_(request.machine.sms) {
  const GpuContext context{host_.launches(), checks_, ledger_, contexts_,
                           request.record_tbs ? &tb_records_ : nullptr};
  for (unsigned i = 0; i < request.machine.sms; ++i) {
    sms_.push_back(std::make_unique<Sm>(SmId{static_cast<std::uint8_t>(i)}, request.machine.sm,
                                        request.ideal_preemption, context, memory));
    next_event_[i] = kNever;
  }
  control_.EnableDecisionLog(request.record_decisions);
  if (request.record_timeline) next_sample_ = request.timeline_from;
  awake_sms_ = control_.awake_sms();
}

void Gpu::Advance(Cycle until) {
  while (now_ < until) {
    if (now_ >= next_sample_) Sample();
    StepCycle();
    Jump(until);
  }
}

void Gpu::StepCycle() {
  const bool driver = StepDriver();
  const bool sms = StepSms();
  if (!driver && !sms) return;
  control_.EndCycle(now_);
  awake_sms_ = control_.awake_sms();
  driver_awake_ = control_.driver_awake();
  if (request_.record_decisions) TakeDecisions();
}

bool Gpu::StepDriver() {
  const bool tick = now_ >= next_tick_;
  if (!tick && !driver_awake_ && !host_.Offers(now_)) return false;
  HostInputs in;
  HostOutputs out;
  in.tick = tick;
  host_.Drive(now_, &in);
  control_.BeginCycle(now_, in, &out);
  host_.Observe(now_, in, out);
  if (tick) {
    last_tick_ = now_;
    next_tick_ += request_.policy.epoch_length;
  }
  return true;
}

bool Gpu::StepSms() {
  bool any = false;
  const unsigned count = static_cast<unsigned>(sms_.size());
  for (unsigned i = 0; i < count; ++i) {
    const bool awake = (awake_sms_ >> i & 1) != 0;
    if (next_event_[i] > now_ && !awake) continue;
    Sm& sm = *sms_[i];
    sm.Begin(now_);
    if (awake || !sm.inputs().Quiet()) {
      any = true;
      control_.StepSm(SmId{static_cast<std::uint8_t>(i)}, sm.inputs(), &outputs_);
      quota_checks_[i].Observe(outputs_, request_.machine.sm.schedulers, now_ == last_tick_ + 1, i,
                               now_, &checks_,
                               [&] { return control_.quotas(SmId{static_cast<std::uint8_t>(i)}); });
      sm.End(now_, &outputs_);
    } else {
      sm.End(now_, nullptr);
    }
    next_event_[i] = sm.NextEvent(now_);
  }
  return any;
}

void Gpu::Jump(Cycle until) {
  ++now_;
  if (awake_sms_ != 0 || driver_awake_) return;
  Cycle next = std::min({next_tick_, next_sample_, host_.NextEvent(), until});
  for (unsigned i = 0; i < sms_.size(); ++i) {
    if (next_event_[i] <= now_) return;
    next = std::min(next, next_event_[i]);
  }
  now_ = std::max(now_, next);
}

// One sample per SM; nothing that is simulated depends on it.
void Gpu::Sample() {
  const Cycle step =
      request_.timeline_step != 0 ? request_.timeline_step : request_.policy.epoch_length;
  next_sample_ = now_ + step > request_.timeline_to ? kNever : now_ + step;
  for (unsigned i = 0; i < sms_.size(); ++i) {
    const Sm& sm = *sms_[i];
    EpochSample sample;
    sample.cycle = now_;
    sample.sm = SmId{static_cast<std::uint8_t>(i)};
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      const std::uint64_t issued = sm.counters().issued[k];
      sample.warp_instructions[k] = issued - issued_before_[i][k];
      issued_before_[i][k] = issued;
      sample.resident_tbs[k] =
          static_cast<std::uint8_t>(sm.resident_tbs(KernelId{static_cast<std::uint8_t>(k)}));
    }
    sample.quota = control_.quotas(sample.sm);
    sample.quota_left = quota_checks_[i].left();
    sample.taken = sm.taken();
    epochs_.push_back(sample);
  }
}

void Gpu::TakeDecisions() {
  const std::vector<Decision>& decisions = control_.TakeDecisions();
  decisions_.insert(decisions_.end(), decisions.begin(), decisions.end());
}

RunResult Gpu::Finish() {
  if (now_ >= next_sample_) Sample();
  RunResult result;
  result.cycles = now_;
  std::array<std::uint64_t, kMaxKernels> resident{};
  for (const auto& sm : sms_) {
    sm->Finish(now_);
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      const std::uint64_t issued = sm->counters().issued[k];
      resident[k] += sm->resident_tbs(KernelId{static_cast<std::uint8_t>(k)});
      result.warp_instructions += issued;
      checks_.CountHeld(issued);  // each grant was checked against the ready warps
    }
  }
  for (unsigned k = 0; k < request_.programs.size(); ++k) {
    ledger_.Balance(KernelId{static_cast<std::uint8_t>(k)}, resident[k], now_);
  }
  AddKernelStats(&result);
  AddSmStats(&result);
  result.tbs = std::move(tb_records_);
  result.decisions = std::move(decisions_);
  result.epochs = std::move(epochs_);
  result.partitions = control_.partitions();
  result.checks = checks_.count();
  return result;
}

void Gpu::AddKernelStats(RunResult* result) const {
  for (unsigned k = 0; k < request_.programs.size(); ++k) {
    const RunProgram& program = request_.programs[k];
    const KernelId kernel{static_cast<std::uint8_t>(k)};
    KernelStats stats;
    stats.name = program.workload->name;
    stats.cycles_present = now_ > program.arrival ? now_ - program.arrival : 0;
    stats.launches_completed = host_.launches_completed(k);
    stats.program_runs = host_.program_runs(k);
    for (const auto& sm : sms_) {
      const SmCounters& counters = sm->counters();
      stats.warp_instructions += counters.issued[k];
      stats.thread_instructions += counters.threads[k];
      stats.tbs_completed += counters.tbs_completed[k];
      stats.preemptions += counters.preemptions[k];
      stats.restores += counters.restores[k];
      stats.flushes += counters.flushes[k];
      stats.preemption_cycles += counters.preemption_cycles[k];
      stats.context_bytes += sm->context_traffic().bytes(kernel);
      stats.l1_accesses += sm->lsu().stats().l1_accesses[k];
      stats.l1_hits += sm->lsu().stats().l1_hits[k];
      for (unsigned r = 0; r < kNumStalls; ++r) {
        stats.stalls[r] += sm->stalls().of_kernel(k, static_cast<Stall>(r));
      }
      stats.stalls[static_cast<unsigned>(Stall::kIssued)] += counters.issued[k];
    }
    result->kernels.push_back(std::move(stats));
  }
}

void Gpu::AddSmStats(RunResult* result) const {
  for (const auto& sm : sms_) {
    SmStats stats;
    for (unsigned r = 0; r < kNumStalls; ++r) {
      stats.scheduler_cycles[r] = sm->stalls().total(static_cast<Stall>(r));
    }
    for (const std::uint64_t issued : sm->counters().issued) {
      stats.scheduler_cycles[static_cast<unsigned>(Stall::kIssued)] += issued;
    }
    stats.warp_instructions = sm->counters().issued;
    stats.tb_cycles = sm->counters().tb_cycles;
    result->sms.push_back(stats);
  }
}

}  // namespace smk
