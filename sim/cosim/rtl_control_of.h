// SPDX-License-Identifier: Apache-2.0
// The verilated RTL of one configuration behind the seam, and how it is told from others. `Rtl`
// names the classes of a configuration: see configs/. `Waves` writes waveforms: WaveWriter or
// NoWaves. `Issue` is what issues on an SM: see RtlSm.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "control/control_probe.h"
#include "control/driver/plan_record.h"
#include "cosim/rtl_config.h"
#include "cosim/rtl_control.h"
#include "cosim/rtl_coverage.h"
#include "cosim/rtl_driver.h"
#include "cosim/rtl_package.h"
#include "cosim/rtl_sm.h"

namespace smk {

template <typename Rtl, typename Waves, typename Issue = RtlIssue<Rtl>>
class RtlControl final : public ControlPlane, public ControlProbe {
 public:
  using Package = typename Rtl::Package;

  RtlControl(const ControlConfig& config, const PolicyConfig& policy, const RtlOptions& options)
      : shared_(policy),
        plans_(config.num_sms),
        links_(config),
        all_(options.evaluate_all || !options.wave.path.empty()) {
    context_.fatalOnError(false);
    if (!options.wave.path.empty()) context_.traceEverOn(true);
    driver_ = std::make_unique<RtlDriver<Rtl>>(&context_, policy);
    sms_.reserve(Package::NumSms);
    for (unsigned sm = 0; sm < Package::NumSms; ++sm) {
      sms_.emplace_back(&context_, sm, policy, &shared_);
      driver_->Hear(sm, sms_[sm].tables(), sms_[sm].profile(), sms_[sm].sample());
    }
    if (!options.wave.path.empty()) OpenWave(options);
    coverage_.AfterReset(Rtl::kName);
  }
  // Verilator takes models out of the thread's context when they go: it must be theirs.
  ~RtlControl() override { Verilated::threadContextp(&context_); }
  RtlControl(const RtlControl&) = delete;
  RtlControl& operator=(const RtlControl&) = delete;

  void BeginCycle(Cycle now, const HostInputs& in, HostOutputs* out) override {
    now_ = now;
    driver_->Step(in, now, out, log_on_ ? &log_ : nullptr);
    driver_stepped_ = true;
  }

  bool prepares() const override { return Issue::Shared::kPrepares; }
  void PrepareSms(Cycle /*now*/, const SmMask& sms, const ReadyTable& ready) override {
    if constexpr (Issue::Shared::kPrepares) {
      SmMask ticking;
      if (links_.any()) {
        for (const unsigned i : sms) ticking.Assign(i, links_.down(i).tick);
      } else if (driver_->model().tick_o != 0) {
        ticking = sms;
      }
      shared_.Prepare(sms, ready, ticking, &prepared_);
      prepared_.alone -= windows_;
    }
  }
  const PreparedGrants* prepared() const override { return grants_alone() ? &prepared_ : nullptr; }

  void StepSm(SmId sm, const SmInputs& in, SmOutputs* out) override {
    const unsigned i = Index(sm);
    const DriverToSm* link = links_.any() ? &links_.down(i) : nullptr;
    const bool told = link != nullptr ? Speaks(*link) : look_.Test(i);
    sms_[i].Step(in, told, driver_->model(), link, all_, out);
    stepped_.Set(i);
    windows_.Assign(i, sms_[i].samples());
  }

  bool grants_alone() const override { return Issue::Shared::kPrepares && !all_; }
  Grants Grant(SmId sm, LaneMask /*ready*/) override {
    if constexpr (Issue::Shared::kPrepares) {
      const unsigned i = Index(sm);
      const Grants grants = shared_.Alone(i);
      if (__builtin_expect(windows_.Test(i), 0)) sms_[i].NoteGrants(grants.lanes);
      return grants;
    }
    return {};
  }
  void ShowQuotas(SmId sm, SmOutputs* out) override { sms_[Index(sm)].ShowQuotas(out); }

  void EndCycle(Cycle now) override {
    now_ = now;
    if (all_) StepOthers();
    if (wave_) DumpWave();
    for (const unsigned i : stepped_) {
      if (!sms_[i].Edge()) continue;
      awake_.Assign(i, sms_[i].awake());
      sending_.Assign(i, sms_[i].sends());
      if (!links_.any()) {
        driver_->Hear(i, sms_[i].tables(), sms_[i].profile(), sms_[i].sample());
      }
    }
    stepped_ = SmMask();
    if (links_.any()) HearLinks();
    if (driver_->Edge(sending_.Any(), all_)) {
      look_ = driver_->look();
      driver_->Record(&plans_);
    }
    if (links_.any()) TickLinks();
    driver_stepped_ = false;
    if (context_.gotError()) {
      throw CheckFailure("cycle " + std::to_string(now) +
                         ": an assertion of the RTL failed, see above");
    }
  }

  SmMask awake_sms() const override { return awake_ | look_ | links_.busy(); }
  bool driver_awake() const override {
    return driver_->awake() || sending_.Any() || links_.busy().Any();
  }

  void EnableDecisionLog(bool on) override { log_on_ = on; }
  const std::vector<Decision>& TakeDecisions() override {
    taken_.swap(log_);
    log_.clear();
    return taken_;
  }
  PartitionTable partitions() const override { return driver_->partitions(); }
  TokenView token() const override { return driver_->token(); }
  std::optional<PartitionRange> partition(SmId sm, KernelId kernel) const override {
    return plans_.Of(sm, kernel);
  }
  std::array<std::uint16_t, kMaxKernels> quotas(SmId sm) const override {
    const RtlSm<Rtl, Issue>& s = sms_[Index(sm)];
    return s.gated() ? s.quota() : std::array<std::uint16_t, kMaxKernels>{};
  }

  DriverToSm to_sm(unsigned sm) const override { return driver_->ToSm(sm); }
  SmToDriver to_driver(unsigned sm) const override {
    return links_.any() ? links_.up(sm) : sms_[sm].ToDriver();
  }

 private:
  // What both sides say goes into their links; what comes out is what they see.
  void TickLinks() {
    for (unsigned i = 0; i < Package::NumSms; ++i) {
      links_.Tick(i, look_.Test(i) ? driver_->ToSm(i) : DriverToSm{}, ToLink(i));
    }
  }
  SmToDriver ToLink(unsigned sm) const {
    return awake_.Test(sm) ? sms_[sm].ToDriver() : SmToDriver{};
  }
  // What comes out of the links for the driver, before they are clocked.
  void HearLinks() {
    for (unsigned i = 0; i < Package::NumSms; ++i) {
      const SmToDriver up = links_.NextUp(i, ToLink(i));
      driver_->Hear(i, up);
      sending_.Assign(i, Speaks(up));
    }
  }
  template <typename Visitor>
  void VisitUnits(Visitor visit) {
    driver_->VisitUnits(visit);
    for (RtlSm<Rtl, Issue>& sm : sms_) sm.VisitUnits(visit);
  }
  void OpenWave(const RtlOptions& options) {
    wave_ = std::make_unique<Waves>(options.wave, options.wave_failure);
    VisitUnits([this](auto* unit) {
      unit->SettleWhileHigh();
      wave_->Trace(unit->operator->());
    });
    wave_->Open();
  }
  void DumpWave() {
    const bool wanted = wave_->Wants(now_);
    if (wanted) wave_->DumpHigh(now_);
    VisitUnits([](auto* unit) { unit->Fall(); });
    if (wanted) wave_->DumpLow(now_);
  }
  // What nobody steps in this cycle is evaluated all the same.
  void StepOthers() {
    if (!driver_stepped_) {
      HostOutputs host;
      BeginCycle(now_, {}, &host);
    }
    SmOutputs out;
    for (unsigned sm = 0; sm < Package::NumSms; ++sm) {
      if (!stepped_.Test(sm)) StepSm(static_cast<SmId>(sm), {}, &out);
    }
  }

  VerilatedContext context_;
  std::unique_ptr<RtlDriver<Rtl>> driver_;
  typename Issue::Shared shared_;
  std::vector<RtlSm<Rtl, Issue>> sms_;
  RtlCoverage coverage_{&context_};
  std::unique_ptr<Waves> wave_;
  PlanRecord plans_;
  SmLinks links_;
  const bool all_;
  Cycle now_ = 0;
  bool driver_stepped_ = false;
  SmMask stepped_;
  SmMask awake_;
  SmMask look_;
  SmMask sending_;
  PreparedGrants prepared_;
  SmMask windows_;  // SMs whose sample counters count
  bool log_on_ = false;
  std::vector<Decision> log_, taken_;
};

template <typename Rtl>
bool Fits(const ControlConfig& c) {
  const ControlConfig r = ConfigOf<typename Rtl::Package>();
  return c.num_sms == r.num_sms && c.num_kernels == r.num_kernels &&
         c.num_schedulers == r.num_schedulers && c.warps_per_scheduler == r.warps_per_scheduler &&
         c.limits == r.limits && c.preempted_depth == r.preempted_depth;
}

}  // namespace smk
