// SPDX-License-Identifier: Apache-2.0
// The GPU around the control plane: SMs, the cycle loop, and the statistics of a run.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/spread_array.h"
#include "control/control_plane.h"
#include "machine/context_store.h"
#include "machine/host_port.h"
#include "machine/quota_check.h"
#include "machine/run.h"
#include "machine/run_checks.h"
#include "machine/sample_log.h"
#include "machine/sm/sm.h"
#include "machine/token_meter.h"
#include "memory/memory_port.h"

namespace smk {

// Advances simulated time. A cycle is: driver (when it is awake, the host offers a launch, or the
// timer ticks), then every SM that is awake or whose control logic is. Cycles in which nobody is
// awake are jumped over. Knows neither SystemC nor the memory system: see MemoryPort.
class Gpu : private MemoryListener {
 public:
  // The arguments must live as long as the GPU. Throws InputError for a request that cannot be
  // simulated.
  Gpu(const RunRequest& request, ControlPlane& control, MemoryPort& memory, HostPort& host);

  // Simulates the cycles from now() up to, but not including, `until`; fewer when the host has
  // finished.
  void Advance(Cycle until);
  Cycle now() const { return now_; }
  // The host has nothing more to wait for.
  bool finished() const { return finished_; }
  // Ends the run at now(): final checks and statistics, except those that only the host has.
  RunResult Finish();

  // Throws InputError for a request that no device can run.
  static void Validate(const RunRequest& request);

 private:
  void StepCycle();
  bool StepDriver();
  bool StepSms();
  template <bool Prepared, bool Collects>
  bool StepEach();
  void PrepareSms();
  template <bool Prepared, bool Collects>
  void StepOrdinary(unsigned i, Cycle now);
  template <bool Prepared, bool Collects>
  void EndIdle(unsigned i);
  template <bool Prepared>
  bool StepWhole(unsigned i);
  void WakeSms();
  void EndShown(unsigned i, LaneMask granted);
  void CheckQuota(unsigned i, LaneMask granted);
  void TakeTurns() {
    if (memory_.NextTurn() <= now_) memory_.TakeTurns(now_, this);
    next_turn_ = memory_.NextTurn();
  }
  void OnAnswer(SmId sm, Ticket ticket, Cycle done) override {
    Sm& owner = sms_[Index(sm)];
    owner.Answer(ticket, done, now_);
    next_event_[Index(sm)] = std::min(next_event_[Index(sm)], owner.NextEvent(now_));
  }
  void Jump(Cycle until);
  void Sample();
  void TakeSamples();
  void TakeDecisions();
  void CheckWork();
  void EndWork(JobId job);
  std::uint64_t IssuedBy(JobId job) const;
  void Measure();
  void CutMeasure();
  void ChargeAll();
  void ObserveLaunch(const HostInputs& in, const HostOutputs& out);
  void OpenAccount(KernelId slot);
  void SettleQuotas();
  KernelStats CountedIn(KernelId slot);
  void Charge(KernelId slot);
  void AddKernelStats(RunResult* result);
  void AddSmStats(RunResult* result);
  static std::array<std::uint64_t, kNumStalls> SchedulerCycles(Sm& sm);
  void AddPartitions(RunResult* result) const;

  const RunRequest& request_;
  ControlPlane& control_;
  const bool grants_alone_;  // it has a short way for ordinary cycles
  const bool prepares_;      // the control plane hears first of all SMs which warps are ready
  const PreparedGrants* const prepared_;  // and what it then says, or null
  MemoryPort& memory_;
  HostPort& host_;
  RunChecks checks_;
  TbLedger ledger_;
  ContextStore contexts_;
  const SmShape shape_;
  CodeTable code_;
  TbWaves waves_;
  std::vector<TbRecord> tb_records_;
  SpreadArray<Sm> sms_;
  ReadyTable ready_{};

  Cycle now_ = 0;
  Cycle next_tick_ = 0;
  Cycle next_launch_ = 0;  // when the host may have one
  Cycle next_sample_ = kNever;
  const bool in_turn_;  // requests wait for their turn in memory
  Cycle next_turn_ = kNever;
  // By SM; of one in awake_sms_, not later than the next cycle.
  std::array<Cycle, kMaxSms> next_event_{};
  SmMask awake_sms_;
  Cycle next_work_ = kNever;  // when a job may have done its work
  bool driver_awake_ = true;
  bool finished_ = false;
  SmOutputs outputs_{};
  std::array<QuotaCheck, kMaxSms> quota_checks_{};
  Cycle last_tick_ = 0;
  const bool has_tokens_;
  TokenMeter tokens_;
  std::vector<Decision> decisions_;
  SampleLog samples_;
  std::vector<std::array<std::uint64_t, kNumKernels>> issued_before_;  // by SM, at the last sample
  std::vector<bool> work_done_;                                        // by job
  // What happens in a kernel slot is charged to the job whose launch it holds.
  struct Account {
    bool open = false;  // a job was there
    JobId job{0};
    Cycle since = 0;  // its first launch there
    // Of what is counted in the slot: what jobs have been charged for.
    KernelStats charged;
    std::array<std::uint64_t, kMaxSms> charged_issued{}, charged_tb_cycles{};  // by SM
  };
  std::array<Account, kNumKernels> accounts_;  // by kernel slot
  std::vector<KernelStats> job_stats_;
  std::vector<SmStats> sm_stats_;
  // What is measured: when it begins or ends, what was there when it began, and the result.
  Cycle next_measure_ = kNever;
  bool measuring_ = false;
  std::vector<std::array<std::uint64_t, kNumStalls>> scheduler_cycles_before_;  // by SM
  std::vector<std::array<std::uint64_t, kNumSimStalls>> sim_stalls_before_;
  std::uint64_t row_hits_before_ = 0, row_misses_before_ = 0;
  std::uint64_t place_waits_before_ = 0, place_wait_cycles_before_ = 0;
  RunResult measured_;
};

}  // namespace smk
