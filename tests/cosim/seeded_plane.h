// SPDX-License-Identifier: Apache-2.0
// A small GPU's control logic with a bug that was put in on purpose (seeded_bugs/), and all
// checkers.
#pragma once

#include <Vseeded_arbiter.h>
#include <Vseeded_driver.h>
#include <Vseeded_driver_smk_pkg.h>
#include <Vseeded_planner.h>
#include <Vseeded_profile.h>
#include <Vseeded_profiler.h>
#include <Vseeded_sample.h>
#include <Vseeded_scheduler.h>
#include <Vseeded_tables.h>
#include <Vseeded_tables___024root.h>
#include <Vseeded_usage.h>

#include <vector>

#include "cosim/rtl_driver.h"
#include "cosim/rtl_sm.h"

namespace smk {

struct RtlSeeded {
  static constexpr const char* kName = "seeded";
  using Package = Vseeded_driver_smk_pkg;
  using Driver = Vseeded_driver;
  using Arbiter = Vseeded_arbiter;
  using Planner = Vseeded_planner;
  using Profiler = Vseeded_profiler;
  using Usage = Vseeded_usage;
  using Tables = Vseeded_tables;
  using Scheduler = Vseeded_scheduler;
  using Profile = Vseeded_profile;
  using Sample = Vseeded_sample;
};

// Thrown at the end of the cycle in which an assertion failed; the simulation has printed which.
struct AssertionFired {
  Cycle cycle;
};

// A failed assertion is counted, and the simulation goes on.
inline VerilatedContext* QuietContext(VerilatedContext* context) {
  context->fatalOnError(false);
  return context;
}

// Every part is evaluated in every cycle, so that the idle property is looked at, too.
class SeededPlane final : public ControlPlane {
 public:
  static constexpr unsigned kSms = RtlSeeded::Package::NumSms;

  // Stops before `until` as if an assertion had failed there.
  explicit SeededPlane(const PolicyConfig& policy, Cycle until = ~Cycle{0})
      : driver_(QuietContext(&context_), policy), until_(until) {
    sms_.reserve(kSms);
    for (unsigned sm = 0; sm < kSms; ++sm) {
      sms_.emplace_back(&context_, sm, policy);
    }
  }

  void BeginCycle(Cycle now, const HostInputs& in, HostOutputs* out) override {
    driver_.Step(in, now, out, &log_);
    now_ = now;
  }
  void StepSm(SmId sm, const SmInputs& in, SmOutputs* out) override {
    sms_[Index(sm)].Step(in, true, driver_.model(), nullptr, true, out);
  }
  void EndCycle(Cycle now) override {
    for (unsigned sm = 0; sm < kSms; ++sm) {
      sms_[sm].Edge();
      driver_.Hear(sm, sms_[sm].tables(), sms_[sm].profile(), sms_[sm].sample());
    }
    driver_.Edge(true, true);
    if (context_.gotError() || now >= until_) throw AssertionFired{now};
  }
  // The rest of a cycle that the machine broke off.
  void FinishCycle() { EndCycle(now_); }
  // A cycle in which the machine says nothing.
  void QuietCycle() {
    HostOutputs host;
    SmOutputs out;
    BeginCycle(now_, {}, &host);
    for (unsigned sm = 0; sm < kSms; ++sm) StepSm(static_cast<SmId>(sm), {}, &out);
    EndCycle(now_);
  }
  SmMask awake_sms() const override { return SmMask::First(kMaxSms); }
  bool driver_awake() const override { return true; }
  void EnableDecisionLog(bool) override {}
  const std::vector<Decision>& TakeDecisions() override {
    taken_.swap(log_);
    log_.clear();
    return taken_;
  }
  PartitionTable partitions() const override { return driver_.partitions(); }
  std::array<std::uint16_t, kMaxKernels> quotas(SmId sm) const override {
    const auto& s = sms_[Index(sm)];
    return s.gated() ? s.quota() : std::array<std::uint16_t, kMaxKernels>{};
  }

 private:
  VerilatedContext context_;
  RtlDriver<RtlSeeded> driver_;
  std::vector<RtlSm<RtlSeeded>> sms_;
  const Cycle until_;
  Cycle now_ = 0;
  std::vector<Decision> log_, taken_;
};

}  // namespace smk
