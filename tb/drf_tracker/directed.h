// SPDX-License-Identifier: Apache-2.0
// smk_drf_tracker and what a test does to it, step by step.
#pragma once

#include <Vfermi_drf_tracker.h>
#include <Vfermi_drf_tracker_smk_pkg.h>
#include <Vsmk_drf_tracker.h>
#include <Vsmk_drf_tracker_smk_pkg.h>
#include <gtest/gtest.h>

#include "drf_tracker/bench.h"

namespace smk::drf_tracker {

using Gtx980 = Bench<Vsmk_drf_tracker, Vsmk_drf_tracker_smk_pkg>;
using Fermi = Bench<Vfermi_drf_tracker, Vfermi_drf_tracker_smk_pkg>;

// Four kernels of which a TB takes 1/8 (registers), 1/4 (shared memory), 1/8 (threads), 1/32 of an
// SM, and what is done to them.
class Directed {
 public:
  explicit Directed(bool count_running_sms = false) : bench(1, count_running_sms) {
    Launch({{{32, 0, 4, 1}, {16, 96, 4, 1}, {8, 8, 8, 1}, {1, 1, 1, 1}}});
  }
  void Launch(const std::array<ResourceVector, kMaxKernels>& needs) {
    for (unsigned k = 0; k < kNumKernels; ++k) Launch(k, needs[k]);
  }
  ~Directed() { EXPECT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch(); }

  void Launch(unsigned k, const ResourceVector& need) {
    step_.kernels.slot[k].need = need;
    step_.kernels.slot[k].share = Gtx980::Weights().Dominant(need);
    Cycle();
  }
  unsigned PerTb(unsigned k) const { return step_.kernels.slot[k].share; }
  void Cycle(const DrfTracker::Inputs& in = {}, const Question& ask = {}) {
    step_.in = in;
    step_.ask = ask;
    bench.Cycle(step_);
  }
  // Until all answers count.
  void Settle(const Question& ask = {}) {
    for (int i = 0; i < 10; ++i) Cycle({}, ask);
  }
  void Dispatch(unsigned k, unsigned sm, unsigned tbs = 1) {
    DrfTracker::Inputs in;
    in.dispatch_valid = true;
    in.dispatch_kernel = in.reserve_kernel = static_cast<KernelId>(k);
    in.dispatch_sm = static_cast<SmId>(sm);
    for (unsigned i = 0; i < tbs; ++i) Cycle(in);
  }
  // TBs that will follow a preemption: in rK, and on no SM.
  void Reserve(unsigned k, unsigned tbs) {
    DrfTracker::Inputs in;
    in.reserve_valid = true;
    in.dispatch_kernel = in.reserve_kernel = static_cast<KernelId>(k);
    for (unsigned i = 0; i < tbs; ++i) Cycle(in);
  }
  // Everybody leaves.
  void Empty() {
    for (unsigned k = 0; k < kNumKernels; ++k) {
      for (bool some = true; some;) {
        DrfTracker::Inputs in;
        for (unsigned sm = 0; sm < Gtx980::kSms; ++sm) {
          if (bench.model().state().resident[k][sm] != 0)
            AddEvent(sm, EventKind::kFinished, k, &in);
        }
        some = in.event_mask.Any();
        in.kernel_done = static_cast<KernelMask>(some ? 0u : 1u << k);
        Cycle(in);
      }
    }
    Cycle();
  }
  static void AddEvent(unsigned sm, EventKind kind, unsigned k, DrfTracker::Inputs* in) {
    in->event_mask.Set(sm);
    in->event[sm].kind = kind;
    in->event[sm].kernel = static_cast<KernelId>(k);
  }

  Gtx980 bench;

 private:
  Step step_;
};

}  // namespace smk::drf_tracker
