// SPDX-License-Identifier: Apache-2.0
// Gpu: what is counted of a run, and whose it is.
#include <algorithm>
#include <utility>

#include "machine/gpu.h"
#include "machine/statistics.h"

namespace smk {

void Gpu::Sample() {
  if (samples_.EndsStep(now_)) TakeSamples();
  const Cycle next = samples_.NextEnd();
  next_sample_ = next > request_.timeline_to ? kNever : next;
}

// One per SM; nothing that is simulated depends on it.
void Gpu::TakeSamples() {
  for (unsigned i = 0; i < sms_.size(); ++i) {
    const Sm& sm = sms_[i];
    EpochSample sample;
    sample.cycle = now_;
    sample.sm = SmId{static_cast<std::uint8_t>(i)};
    for (unsigned k = 0; k < kNumKernels; ++k) {
      sample.job[k] = accounts_[k].open ? accounts_[k].job : kNoJob;
      const std::uint64_t issued = sm.warp_instructions(k);
      sample.warp_instructions[k] = issued - issued_before_[i][k];
      issued_before_[i][k] = issued;
      sample.resident_tbs[k] =
          static_cast<std::uint8_t>(sm.resident_tbs(KernelId{static_cast<std::uint8_t>(k)}));
    }
    const auto quota = control_.quotas(sample.sm);
    std::copy_n(quota.begin(), kNumKernels, sample.quota.begin());
    sample.quota_left = quota_checks_[i].left();
    sample.taken = sm.taken();
    samples_.Add(sample);
  }
}

void Gpu::TakeDecisions() {
  const std::vector<Decision>& decisions = control_.TakeDecisions();
  decisions_.insert(decisions_.end(), decisions.begin(), decisions.end());
}

// The first call begins, the second ends what the statistics are of.
void Gpu::Measure() {
  for (Sm& sm : sms_) sm.Settle(now_);
  ChargeAll();
  next_measure_ = measuring_ ? kNever : request_.measure_to;
  if (measuring_) {
    measured_.measured_to = now_;
    AddKernelStats(&measured_);
    AddSmStats(&measured_);
    return;
  }
  measuring_ = true;
  measured_.measured_from = now_;
  for (KernelStats& job : job_stats_) {
    const Cycle last = job.last_tb_end;
    job = {};
    job.last_tb_end = last;
  }
  for (std::size_t i = 0; i < sms_.size(); ++i) {
    for (const SmCounter& counter : SmCounters()) {
      auto& by_job = sm_stats_[i].*counter.value;
      std::fill(by_job.begin(), by_job.end(), 0);
    }
    scheduler_cycles_before_[i] = SchedulerCycles(sms_[i]);
    sim_stalls_before_[i] = sms_[i].stalls().sim();
  }
  const MemoryStats memory = memory_.stats(now_);
  row_hits_before_ = memory.row_hits;
  row_misses_before_ = memory.row_misses;
  place_waits_before_ = place_wait_cycles_before_ = 0;
  for (auto& sm : sms_) {
    place_waits_before_ += sm.place_waits();
    place_wait_cycles_before_ += sm.place_wait_cycles();
  }
}

// Amid the run. A wait at an LSU that goes on is of the cycles before and after; one that the run's
// end cuts is not counted.
void Gpu::CutMeasure() {
  for (Sm& sm : sms_) sm.CountLsuBusy(now_);
  Measure();
}

RunResult Gpu::Finish() {
  if (now_ >= next_sample_) Sample();
  if (!measuring_) Measure();
  if (measured_.kernels.empty()) Measure();
  ChargeAll();
  RunResult result = std::move(measured_);
  result.cycles = now_;
  if (has_tokens_) result.tokens = tokens_.Take();
  for (std::size_t i = 0; i < job_stats_.size(); ++i) {
    result.kernels[i].last_tb_end = job_stats_[i].last_tb_end;
  }
  SettleQuotas();
  std::array<std::uint64_t, kNumKernels> resident{};
  for (auto& sm : sms_) {
    sm.Finish(now_);
    for (unsigned k = 0; k < kNumKernels; ++k) {
      const std::uint64_t issued = sm.warp_instructions(k);
      resident[k] += sm.resident_tbs(KernelId{static_cast<std::uint8_t>(k)});
      checks_.CountHeld(issued);  // each grant was checked against the ready warps
    }
  }
  const std::size_t slots = std::min<std::size_t>(request_.jobs.size(), kNumKernels);
  for (unsigned k = 0; k < slots; ++k) {
    ledger_.Balance(static_cast<KernelId>(k), resident[k], now_);
  }
  result.tbs = std::move(tb_records_);
  result.decisions = std::move(decisions_);
  result.epochs = samples_.Take();
  AddPartitions(&result);
  result.checks = checks_.count();
  return result;
}

// What is left of quotas after cycles in which it was not shown.
void Gpu::SettleQuotas() {
  for (unsigned i = 0; grants_alone_ && i < sms_.size(); ++i) {
    Clear(&outputs_);
    control_.ShowQuotas(SmId{static_cast<std::uint8_t>(i)}, &outputs_);
    quota_checks_[i].Settle(outputs_, i, now_);
  }
}

// Since the beginning of the run, over all SMs and the memory.
KernelStats Gpu::CountedIn(KernelId slot) {
  const unsigned k = Index(slot);
  KernelStats stats;
  for (auto& sm : sms_) {
    const KernelStats counters = sm.counters(k);
    AddCounters(counters, &stats);
    stats.context_bytes += sm.context_traffic().bytes(slot);
    stats.l1_accesses += sm.lsu().stats().l1_accesses[k];
    stats.l1_hits += sm.lsu().stats().l1_hits[k];
    for (unsigned r = 0; r < kNumStalls; ++r) {
      stats.stalls[r] += sm.stalls().of_kernel(k, static_cast<Stall>(r));
    }
    stats.stalls[static_cast<unsigned>(Stall::kIssued)] += counters.warp_instructions;
  }
  const MemoryStats memory = memory_.stats(now_);
  stats.l2_accesses = memory.l2_accesses[k];
  stats.l2_hits = memory.l2_hits[k];
  stats.dram_read_bytes = memory.dram_read_bytes[k];
  stats.dram_write_bytes = memory.dram_write_bytes[k];
  return stats;
}

// To the job of the slot: what was counted there since the last time.
void Gpu::Charge(KernelId slot) {
  Account& account = accounts_[Index(slot)];
  const KernelStats counted = CountedIn(slot);
  KernelStats& job = job_stats_.at(Index(account.job));
  AddSince(account.charged, counted, &job);
  account.charged = counted;
  for (unsigned i = 0; i < sms_.size(); ++i) {
    // An earlier one is that of the job that was in the slot before.
    const Cycle last = sms_[i].last_tb_end(slot);
    if (last > account.since) job.last_tb_end = std::max(job.last_tb_end, last);
    const std::uint64_t issued = sms_[i].warp_instructions(Index(slot));
    const std::uint64_t tb_cycles = sms_[i].tb_cycles(slot, now_);
    sm_stats_[i].warp_instructions[Index(account.job)] += issued - account.charged_issued[i];
    sm_stats_[i].tb_cycles[Index(account.job)] += tb_cycles - account.charged_tb_cycles[i];
    account.charged_issued[i] = issued;
    account.charged_tb_cycles[i] = tb_cycles;
  }
}

void Gpu::ChargeAll() {
  for (unsigned k = 0; k < kNumKernels; ++k) {
    if (accounts_[k].open) Charge(static_cast<KernelId>(k));
  }
}

void Gpu::AddKernelStats(RunResult* result) {
  for (std::size_t i = 0; i < request_.jobs.size(); ++i) {
    job_stats_[i].name = request_.jobs[i].workload->name;
  }
  result->kernels = job_stats_;
  const MemoryStats memory = memory_.stats(now_);
  result->dram_row_hits = memory.row_hits - row_hits_before_;
  result->dram_row_misses = memory.row_misses - row_misses_before_;
  result->late_reservations = memory.late_reservations;
  result->place_waits = result->place_wait_cycles = 0;
  for (auto& sm : sms_) {
    result->place_waits += sm.place_waits();
    result->place_wait_cycles += sm.place_wait_cycles();
  }
  result->place_waits -= place_waits_before_;
  result->place_wait_cycles -= place_wait_cycles_before_;
}

// Of all schedulers of the SM since the beginning of the run.
std::array<std::uint64_t, kNumStalls> Gpu::SchedulerCycles(Sm& sm) {
  std::array<std::uint64_t, kNumStalls> cycles{};
  for (unsigned r = 0; r < kNumStalls; ++r) cycles[r] = sm.stalls().total(static_cast<Stall>(r));
  for (unsigned k = 0; k < kNumKernels; ++k) {
    cycles[static_cast<unsigned>(Stall::kIssued)] += sm.warp_instructions(k);
  }
  return cycles;
}

void Gpu::AddSmStats(RunResult* result) {
  for (std::size_t i = 0; i < sms_.size(); ++i) {
    auto& cycles = sm_stats_[i].scheduler_cycles;
    cycles = SchedulerCycles(sms_[i]);
    for (unsigned r = 0; r < kNumStalls; ++r) cycles[r] -= scheduler_cycles_before_[i][r];
    result->warp_instructions += cycles[static_cast<unsigned>(Stall::kIssued)];
    auto& sim = sm_stats_[i].sim_stalls;
    sim = sms_[i].stalls().sim();
    for (unsigned r = 0; r < kNumSimStalls; ++r) sim[r] -= sim_stalls_before_[i][r];
  }
  result->sms = sm_stats_;
}

void Gpu::AddPartitions(RunResult* result) const {
  const PartitionTable table = control_.partitions();
  for (unsigned i = 0; i < sms_.size(); ++i) {
    std::vector<std::uint8_t> row(request_.jobs.size());
    for (unsigned k = 0; k < kNumKernels; ++k) {
      const Account& account = accounts_[k];
      if (account.open) row[Index(account.job)] += table[i][k];
    }
    result->partitions.push_back(std::move(row));
  }
}

}  // namespace smk
