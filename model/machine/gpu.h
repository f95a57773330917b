// SPDX-License-Identifier: Apache-2.0
// The GPU around the control plane: host, SMs, the cycle loop, and the statistics of a run.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "control/control_plane.h"
#include "machine/context_store.h"
#include "machine/host.h"
#include "machine/memory_port.h"
#include "machine/quota_check.h"
#include "machine/run.h"
#include "machine/run_checks.h"
#include "machine/sm.h"

namespace smk {

// Advances simulated time. A cycle is: driver (when it is awake, the host offers a launch, or the
// timer ticks), then every SM that is awake or whose control logic is. Cycles in which nobody is
// awake are jumped over. Knows neither SystemC nor the memory system: see MemoryPort.
class Gpu {
 public:
  // `request`, `control` and `memory` must live as long as the GPU. Throws InputError for a request
  // that cannot be simulated.
  Gpu(const RunRequest& request, ControlPlane& control, MemoryPort& memory);

  // Simulates the cycles from now() up to, but not including, `until`.
  void Advance(Cycle until);
  Cycle now() const { return now_; }
  // Ends the run at now(): final checks and statistics, except those of the memory system.
  RunResult Finish();

 private:
  static void Validate(const RunRequest& request);
  void StepCycle();
  bool StepDriver();
  bool StepSms();
  void Jump(Cycle until);
  void Sample();
  void TakeDecisions();
  void AddKernelStats(RunResult* result) const;
  void AddSmStats(RunResult* result) const;

  const RunRequest& request_;
  ControlPlane& control_;
  RunChecks checks_;
  TbLedger ledger_;
  ContextStore contexts_;
  Host host_;
  std::vector<TbRecord> tb_records_;
  std::vector<std::unique_ptr<Sm>> sms_;

  Cycle now_ = 0;
  Cycle next_tick_ = 0;
  Cycle next_sample_ = kNever;
  std::array<Cycle, kMaxSms> next_event_{};  // by SM
  std::uint32_t awake_sms_ = 0;
  bool driver_awake_ = true;
  SmOutputs outputs_{};
  std::array<QuotaCheck, kMaxSms> quota_checks_{};
  Cycle last_tick_ = 0;
  std::vector<Decision> decisions_;
  std::vector<EpochSample> epochs_;
  std::vector<std::array<std::uint64_t, kMaxKernels>> issued_before_;  // by SM, at the last sample
};

}  // namespace smk
