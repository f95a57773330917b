// SPDX-License-Identifier: Apache-2.0
#include "control/driver/driver_slicer.h"

namespace smk {

DriverSlicer::DriverSlicer(const ControlConfig& config, const PolicyConfig& policy)
    : config_(config),
      policy_(policy),
      profiler_({config.limits, config.num_sms, config.num_schedulers, config.num_kernels}),
      planner_({config.limits, config.num_kernels}) {}

bool DriverSlicer::busy() const {
  const State& s = state_;
  return profiler_.state().step != SlicerProfiler::Step::kIdle || planner_.state().busy() ||
         planner_.state().done || s.changed.Any() || s.assign || s.window || s.begin || s.end;
}

void DriverSlicer::Allow(const SmAssign::State& assign, SmAssign::State* seen) const {
  *seen = assign;
  seen->changed |= state_.changed;
  for (const unsigned sm : state_.alone) {
    seen->allowed[sm] = static_cast<KernelMask>(1u << state_.kernel[sm]);
  }
}

// Those that have a kernel alone while kernels are profiled, or all, have the TBs that they were
// given. What was given in this cycle or the last one reaches the partitions later.
bool DriverSlicer::AllSettled(const Inputs& in) const {
  const SlicerProfiler::State& p = profiler_.state();
  const SmMask asked = p.profiling() ? state_.alone : SmMask::First(config_.num_sms);
  return settles() && (asked - in.settled).None() && !p.give_valid && state_.changed.None();
}

// What the profiler gives an SM; only another plan is a change. One without a sample in a further
// window goes on as it was.
void DriverSlicer::Give() {
  const SlicerProfiler::State& p = profiler_.state();
  if (!p.give_valid) return;
  State& s = state_;
  const unsigned sm = p.give_sm;
  if (sm + 1 == config_.num_sms) s.giving = false;
  const bool alone = s.alone.Test(sm);
  if (p.give_tbs == 0 && alone) return;
  const bool same = p.give_tbs == s.tbs[sm] && p.give_kernel == s.kernel[sm];
  if (p.give_tbs != 0 && !(alone && same)) s.changed.Set(sm);
  if (p.give_tbs != 0) s.alone.Set(sm);
  s.kernel[sm] = p.give_kernel;
  s.tbs[sm] = p.give_tbs;
}

// The kernels share all SMs as planned, or have their own.
void DriverSlicer::TakePlan() {
  const WaterfillPlanner::State& w = planner_.state();
  State& s = state_;
  if (!w.done || !s.asked) return;
  s.asked = false;
  s.shared = true;
  s.spatial = w.spatial();
  s.kernels = w.kernels;
  for (unsigned k = 0; k < kMaxKernels; ++k) s.table[k] = w.range[k].tb_count;
  s.alone = SmMask();
  s.changed = SmMask::First(config_.num_sms);
  s.assign = true;
}

void DriverSlicer::Restart(bool profiles) {
  State& s = state_;
  s.asked = s.shared = s.spatial = s.assign = false;
  s.giving = profiles;
  s.alone = SmMask();
  s.changed = SmMask::First(config_.num_sms);
}

// Of several kernels the one that arrived last.
KernelMask DriverSlicer::Youngest(const Inputs& in) {
  if ((in.members & (in.members - 1)) == 0) return 0;
  KernelMask youngest = in.members;
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    for (unsigned j = 0; j < kMaxKernels; ++j) {
      const bool younger = (in.members >> j & 1) != 0 &&
                           in.kernel_table->slot[j].order > in.kernel_table->slot[k].order;
      if (younger) youngest = static_cast<KernelMask>(youngest & ~(1u << k));
    }
  }
  return youngest;
}

// What is to be planned on the SM.
void DriverSlicer::Mode(const Inputs& in) {
  if (!in.plan_start) return;
  State& s = state_;
  const unsigned sm = Index(in.plan_sm);
  s.plan_at_end = (in.plan_kernels & Youngest(in)) != 0;
  s.plan_mode = DispatchMode::kTable;
  if (s.alone.Test(sm)) {
    s.plan_table.fill(s.tbs[sm]);
  } else {
    s.plan_table = s.table;
    if (!s.shared || s.spatial || in.plan_kernels != s.kernels) s.plan_mode = DispatchMode::kEven;
  }
}

void DriverSlicer::Tick(const Inputs& in) {
  if (!enabled()) return;
  State& s = state_;
  const SlicerProfiler::State& p = profiler_.state();
  const bool profiles = (in.members & (in.members - 1)) != 0;
  SlicerProfiler::Inputs profile;
  profile.start = in.assign && profiles;
  profile.stop = in.assign;
  profile.settled = s.settled;
  profile.able = in.able;
  profile.kernels = in.members;
  profile.warmup = policy_.slicer_warmup;
  profile.settle = policy_.slicer_settle;
  profile.window = policy_.slicer_window;
  profile.delay = policy_.slicer_delay;
  profile.change = policy_.slicer_change;
  profile.sustain = policy_.slicer_sustain;
  profile.issued = s.counts[p.sm].issued;
  profile.stalled = s.counts[p.sm].stalled;
  profile.planned = planner_.state().done && s.asked;
  profile.kernel_table = in.kernel_table;
  WaterfillPlanner::Inputs plan;
  plan.sample_valid = p.sample_valid;
  plan.sample_kernel = p.sample_kernel;
  plan.sample_tbs = p.sample_tbs;
  plan.sample_performance = p.sample_performance;
  plan.start = p.plan;
  plan.kernels = p.kernels;
  plan.loss_limit = policy_.slicer_loss;
  plan.kernel_table = in.kernel_table;

  Mode(in);
  s.settled = AllSettled(in);
  s.changed = SmMask();
  s.assign = false;
  Give();
  TakePlan();
  if (p.plan) s.asked = true;
  if (in.assign) Restart(profiles);
  s.begin = p.window() && !s.window;
  s.end = !p.window() && s.window;
  if (s.begin) s.stalls = p.profiling();
  s.window = p.window();
  for (const unsigned sm : in.samples) {
    const SmToDriver& counts = (*in.sm)[sm];
    s.counts[sm] = {counts.sample_issued, counts.sample_stalled};
  }
  planner_.Tick(plan);
  profiler_.Tick(profile);
}

}  // namespace smk
