// SPDX-License-Identifier: Apache-2.0
#include "machine/gpu.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "config/machine_keys.h"
#include "machine/address_space.h"
#include "machine/sm/sm_ordinary.h"
#include "memory/address_map.h"

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
  require(!request.jobs.empty(), "jobs: expected at least one");
  require(request.policy.epoch_length >= 1, "epoch_length: expected at least 1");
  for (const Job& job : request.jobs) {
    require(job.workload != nullptr && !job.workload->launches.empty(),
            "jobs: expected a workload with at least one launch");
    require(request.until != RunUntil::kWork || job.work.warp_instructions != 0,
            "jobs: expected work for " + job.workload->name);
  }
}

namespace {

// The L2 must tell all lines of the run apart.
void CheckTags(const RunRequest& request) {
  const std::uint64_t end = AddressEnd(request.jobs.size());
  MemoryConfig memory = request.machine.memory;
  if (memory.model != "gddr" || TagEnd(memory) >= end) return;
  while (TagEnd(memory) < end) memory.l2.bytes *= 2;
  throw InputError("memory.l2.bytes: expected at least " + std::to_string(memory.l2.bytes) +
                   ", as tags have 32 bits and " + std::to_string(request.jobs.size()) +
                   " jobs have addresses up to " + std::to_string(end >> 30) + " GB, got " +
                   std::to_string(request.machine.memory.l2.bytes));
}

const RunRequest& Checked(const RunRequest& request) {
  Gpu::Validate(request);
  CheckTags(request);
  if (request.cycles > kMaxRunCycles) {
    throw InputError("cycles: expected at most " + std::to_string(kMaxRunCycles));
  }
  return request;
}

}  // namespace

Gpu::Gpu(const RunRequest& request, ControlPlane& control, MemoryPort& memory, HostPort& host)
    : request_(Checked(request)),
      control_(control),
      grants_alone_(control.grants_alone()),
      prepares_(control.prepares()),
      prepared_(control.prepared()),
      memory_(memory),
      host_(host),
      ledger_(checks_),
      contexts_(checks_),
      shape_(request.machine.sm, request.passing),
      code_(shape_),
      waves_(request.machine.sms),
      sms_(request.machine.sms),
      next_tick_(request.policy.epoch_length),
      next_launch_(host.NextEvent()),
      in_turn_(memory.InTurn()),
      has_tokens_(request.policy.dispatch == DispatchMode::kToken),
      samples_(request.machine.sms,
               request.timeline_step != 0 ? request.timeline_step : request.policy.epoch_length,
               request.record_timeline ? request.timeline_most_steps : 0),
      issued_before_(request.machine.sms),
      work_done_(request.jobs.size()),
      job_stats_(request.jobs.size()),
      sm_stats_(request.machine.sms),
      next_measure_(request.measure_from),
      scheduler_cycles_before_(request.machine.sms),
      sim_stalls_before_(request.machine.sms) {
  const MemoryConfig& config = request.machine.memory;
  GpuContext context{host_.launches(), checks_, ledger_, contexts_, code_};
  context.control = &control;
  if (request.record_tbs) context.tb_records = &tb_records_;
  context.sector_bytes = config.sector_bytes;
  if (request.machine.tb_starts == "waves") context.waves = &waves_;
  for (unsigned i = 0; i < request.machine.sms; ++i) {
    sms_.Add(SmId{static_cast<std::uint8_t>(i)}, shape_, request.ideal_preemption, context, memory);
    if (prepares_ && !sms_[i].TellsReadyFirst()) {
      throw InputError(
          "sm.collectors: with operand collectors, and pipes that schedulers share (sm.units), "
          "warps cannot be scheduled for all SMs at once");
    }
    next_event_[i] = kNever;
    sm_stats_[i].warp_instructions.resize(request.jobs.size());
    sm_stats_[i].tb_cycles.resize(request.jobs.size());
  }
  control_.EnableDecisionLog(request.record_decisions);
  if (request.record_timeline) next_sample_ = request.timeline_from;
  WakeSms();
}

void Gpu::Advance(Cycle until) {
  while (now_ < until && !finished_) {
    if (now_ >= next_sample_) Sample();
    if (now_ >= next_measure_) CutMeasure();
    StepCycle();
    if (now_ >= next_work_) CheckWork();
    Jump(until);
  }
}

inline void Gpu::StepCycle() {
  const bool driver = StepDriver();
  const bool sms = StepSms();
  if (__builtin_expect(in_turn_, 0)) TakeTurns();
  if (!driver && !sms) return;
  control_.EndCycle(now_);
  WakeSms();
  driver_awake_ = control_.driver_awake();
  if (has_tokens_) tokens_.Count(control_.token());
  if (request_.record_decisions) TakeDecisions();
}

inline bool Gpu::StepDriver() {
  const bool tick = now_ >= next_tick_;
  const bool host = now_ >= next_launch_;
  if (!tick && !driver_awake_ && !host) return false;
  HostInputs in;
  HostOutputs out;
  in.tick = tick;
  if (host) host_.Drive(now_, &in);
  if (tick || driver_awake_ || in.launch_valid) {
    control_.BeginCycle(now_, in, &out);
    host_.Observe(now_, in, out);
    ObserveLaunch(in, out);
  }
  finished_ = host_.Finished();
  next_launch_ = host_.NextEvent();
  if (tick) {
    last_tick_ = now_;
    next_tick_ += request_.policy.epoch_length;
  }
  return true;
}

// Looks at what begins and ends in the kernel slots.
void Gpu::ObserveLaunch(const HostInputs& in, const HostOutputs& out) {
  if (in.launch_valid && out.launch_ready) {
    const KernelId slot = in.launch_kernel;
    ledger_.BeginLaunch(slot, in.launch.first_tb, in.launch.tb_count);
    waves_.BeginLaunch(slot, in.launch.first_tb, in.launch.tb_count);
    const Launch& launch = host_.launches()[Index(slot)];
    const JobId job = launch.job;
    OpenAccount(slot);
    for (std::size_t i = 0; launch.merged != nullptr && i < launch.merged->members(); ++i) {
      OpenAccount(launch.merged->member(i).slot);
    }
    if (request_.until == RunUntil::kWork) {
      next_work_ = now_;
      for (auto& sm : sms_) {
        if (work_done_[Index(job)]) {
          sm.EndKernel(slot, now_);
        } else {
          sm.AdmitKernel(slot);
        }
      }
    }
  }
  for (unsigned done = out.kernel_done; done != 0; done &= done - 1) {
    ledger_.EndLaunch(static_cast<KernelId>(LowestLane(done)), now_);
  }
}

// What happens in the slot from now on is the job's whose launch is there.
void Gpu::OpenAccount(KernelId slot) {
  const JobId job = host_.launches()[Index(slot)].job;
  Account& account = accounts_[Index(slot)];
  if (account.open && account.job != job) {
    Charge(slot);
    // What a sample counts in a slot is of one job.
    if (next_sample_ != kNever && !samples_.empty()) TakeSamples();
  }
  if (!account.open || account.job != job) account.since = now_;
  account.open = true;
  account.job = job;
}

// Ends the jobs that have done their work; says when the next one can have, at the earliest.
void Gpu::CheckWork() {
  std::uint64_t least = ~std::uint64_t{0};
  for (const Account& account : accounts_) {
    const JobId job = account.job;
    if (!account.open || work_done_[Index(job)]) continue;
    const std::uint64_t work = request_.jobs[Index(job)].work.warp_instructions;
    const std::uint64_t issued = IssuedBy(job);
    if (issued >= work) {
      EndWork(job);
    } else {
      least = std::min(least, work - issued);
    }
  }
  const std::uint64_t per_cycle = sms_.size() * request_.machine.sm.schedulers;
  next_work_ = now_ + std::max<std::uint64_t>(1, least / per_cycle);
}

std::uint64_t Gpu::IssuedBy(JobId job) const {
  std::uint64_t issued = job_stats_[Index(job)].warp_instructions;
  for (unsigned k = 0; k < kNumKernels; ++k) {
    if (!accounts_[k].open || accounts_[k].job != job) continue;
    for (const Sm& sm : sms_) issued += sm.warp_instructions(k);
    issued -= accounts_[k].charged.warp_instructions;
  }
  return issued;
}

// Its warps end where they are, and those that the control plane still places end at once.
void Gpu::EndWork(JobId job) {
  work_done_[Index(job)] = true;
  for (unsigned k = 0; k < kNumKernels; ++k) {
    if (!accounts_[k].open || accounts_[k].job != job) continue;
    for (unsigned i = 0; i < sms_.size(); ++i) {
      sms_[i].EndKernel(static_cast<KernelId>(k), now_);
      if (!awake_sms_.Test(i)) next_event_[i] = sms_[i].NextEvent(now_);
    }
  }
  host_.OnWorkDone(job, now_ + 1);
  finished_ = host_.Finished();
}

// Quotas have been spent or loaded in a cycle that was taken for an ordinary one.
[[gnu::noinline]] void Gpu::EndShown(unsigned i, LaneMask granted) {
  const SmId id{static_cast<std::uint8_t>(i)};
  Clear(&outputs_);
  SetGrants(shape_.layout, granted, &outputs_);
  control_.ShowQuotas(id, &outputs_);
  quota_checks_[i].Observe(outputs_, request_.machine.sm.schedulers, false, i, now_, &checks_,
                           [&] { return control_.quotas(id); });
  sms_[i].End(now_, &outputs_);
  next_event_[i] = sms_[i].NextEvent(now_);
}

// Not inlined: the loop over SMs would keep a register for quota_checks_.
[[gnu::noinline]] void Gpu::CheckQuota(unsigned i, LaneMask granted) {
  if (!quota_checks_[i].gated()) return;
  quota_checks_[i].Grant(granted & shape_.layout.SchedulerField(0), i, now_, &checks_);
}

// The end of a cycle without an issue. A function of its own, so that the other knows of one.
template <bool Prepared, bool Collects>
[[gnu::noinline]] void Gpu::EndIdle(unsigned i) {
  next_event_[i] =
      Prepared ? sms_[i].EndPrepared<Collects>(now_, 0) : sms_[i].EndOrdinary<Collects>(now_, 0);
}

// An SM in a cycle in which nothing happens there but that warps are ready.
template <bool Prepared, bool Collects>
[[gnu::always_inline]] inline void Gpu::StepOrdinary(unsigned i, Cycle now) {
  Sm& sm = sms_[i];
  const LaneMask ready = Prepared ? ready_[i] : sm.BeginOrdinary<Collects>(now);
  if (__builtin_expect(ready == 0, 0)) return EndIdle<Prepared, Collects>(i);
  Grants grants;
  if (Prepared && prepared_ != nullptr && prepared_->alone.Test(i)) {
    grants.lanes = prepared_->lanes[i];
  } else {
    grants = control_.Grant(SmId{static_cast<std::uint8_t>(i)}, ready);
  }
  if (Prepared || __builtin_expect(grants.notes != 0, 0)) {
    if (grants.left()) {
      if (Prepared) sm.BeginOrdinaryRest(now);
      return EndShown(i, grants.lanes);
    }
    CheckQuota(i, grants.lanes);
  }
  if (__builtin_expect(grants.lanes == 0, 0)) return EndIdle<Prepared, Collects>(i);
  next_event_[i] = Prepared ? sm.EndPrepared<Collects>(now, grants.lanes)
                            : sm.EndOrdinary<Collects>(now, grants.lanes);
}

// What the control plane must know of a cycle before the first of its SMs is stepped.
void Gpu::PrepareSms() {
  SmMask due;
  for (unsigned i = 0; i < sms_.size(); ++i) {
    if (next_event_[i] > now_) continue;
    ready_[i] = sms_[i].BeginReady(now_);
    due.Set(i);
  }
  control_.PrepareSms(now_, due, ready_);
}

// An SM in any cycle; whether its control logic was stepped.
template <bool Prepared>
[[gnu::noinline]] bool Gpu::StepWhole(unsigned i) {
  const SmId id{static_cast<std::uint8_t>(i)};
  Sm& sm = sms_[i];
  if (Prepared) {
    sm.BeginRest(now_);
  } else {
    sm.Begin(now_);
  }
  const bool speaks = awake_sms_.Test(i) || !sm.inputs().Quiet();
  if (speaks) {
    control_.StepSm(id, sm.inputs(), &outputs_);
    quota_checks_[i].Observe(outputs_, request_.machine.sm.schedulers, now_ == last_tick_ + 1, i,
                             now_, &checks_, [&] { return control_.quotas(id); });
  }
  sm.End(now_, speaks ? &outputs_ : nullptr);
  next_event_[i] = sm.NextEvent(now_);
  return speaks;
}

bool Gpu::StepSms() {
  if (shape_.collects) return prepares_ ? StepEach<true, true>() : StepEach<false, true>();
  return prepares_ ? StepEach<true, false>() : StepEach<false, false>();
}

// What all SMs have in common is known when it is compiled.
template <bool Prepared, bool Collects>
bool Gpu::StepEach() {
  if (Prepared) PrepareSms();
  bool any = false;
  const unsigned count = static_cast<unsigned>(sms_.size());
  // kNever where no SM's cycle can be ordinary: it is before no other time.
  const Cycle now = now_;
  const Cycle ordinary = grants_alone_ && now != last_tick_ + 1 ? now : kNever;
  for (unsigned i = 0; i < count; ++i) {
    if (next_event_[i] > now) continue;
    if (sms_[i].Ordinary(ordinary)) {
      StepOrdinary<Prepared, Collects>(i, now);
    } else if (StepWhole<Prepared>(i)) {
      any = true;
    }
  }
  return any;
}

// The SMs whose control logic has something to do in the next cycle.
void Gpu::WakeSms() {
  awake_sms_ = control_.awake_sms();
  if (!awake_sms_.Any()) return;
  for (unsigned i = 0; i < sms_.size(); ++i) {
    if (!awake_sms_.Test(i)) continue;
    next_event_[i] = now_;
    sms_[i].ExpectControl();
  }
}

void Gpu::Jump(Cycle until) {
  ++now_;
  if (awake_sms_.Any() || driver_awake_ || finished_) return;
  Cycle next = std::min({next_tick_, next_sample_, next_measure_, next_launch_, next_turn_, until});
  for (unsigned i = 0; i < sms_.size(); ++i) {
    if (next_event_[i] <= now_) return;
    next = std::min(next, next_event_[i]);
  }
  now_ = std::max(now_, next);
}

}  // namespace smk
