// SPDX-License-Identifier: Apache-2.0
#include "control/reference_control.h"

#include <numeric>

#include "base/error.h"
#include "base/spread_array.h"
#include "control/control_probe.h"
#include "control/driver/driver.h"
#include "control/driver/plan_record.h"
#include "control/sm/sm_control.h"
#include "control/sm/sm_link.h"

namespace smk {
namespace {

// Steps driver and SMs so that each sees the other's registers of the cycle before.
class ReferenceControl final : public ControlPlane, public ControlProbe {
 public:
  ReferenceControl(const ControlConfig& config, const PolicyConfig& policy)
      : config_(config),
        driver_(config, policy),
        sms_(config.num_sms),
        plans_(config.num_sms),
        links_(config) {
    for (unsigned sm = 0; sm < config.num_sms; ++sm) sms_.Add(config, policy);
  }

  void BeginCycle(Cycle now, const HostInputs& in, HostOutputs* out) override {
    Driver::Inputs d;
    d.host = in;
    d.sm = &sm_out_;
    driver_.Step(d, now, out, log_on_ ? &log_ : nullptr);
    look_ = driver_.state().look;
    driver_stepped_ = true;
  }

  void StepSm(SmId sm, const SmInputs& in, SmOutputs* out) override {
    const unsigned i = Index(sm);
    sms_[i].Step(in, driver_out_[i], heard_.Test(i), views_, out);
    stepped_.Set(i);
    if (sms_[i].awake() || awake_.Test(i)) changed_.Set(i);
  }

  bool grants_alone() const override { return true; }
  Grants Grant(SmId sm, LaneMask ready) override { return sms_[Index(sm)].GrantReady(ready); }
  void ShowQuotas(SmId sm, SmOutputs* out) override {
    if (sms_[Index(sm)].state().used.gated) sms_[Index(sm)].ShowQuotas(out);
  }

  void EndCycle(Cycle) override {
    for (unsigned w = 0; w < SmMask::kWords; ++w) {
      if (changed_.word(w) != 0) EndSteps(w);
    }
    stepped_ = changed_ = SmMask();
    if (links_.any()) TickLinks();
    if (driver_stepped_) {
      // Registers that no SM must look at say nothing, before and now.
      if (!links_.any()) {
        for (const unsigned i : look_ | looked_) Hear(i, driver_.state().to_sm[i]);
        looked_ = look_;
      }
      for (const unsigned i : look_) {
        const DriverToSm& sent = driver_.state().to_sm[i];
        if (sent.command_valid) plans_.Hear(i, sent.command);
      }
      views_ = driver_.state().views;
      driver_stepped_ = false;
    }
  }

  SmMask awake_sms() const override { return awake_ | look_ | links_.busy(); }
  bool driver_awake() const override {
    return driver_.awake() || sending_.Any() || links_.busy().Any();
  }

  void EnableDecisionLog(bool on) override { log_on_ = on; }
  const std::vector<Decision>& TakeDecisions() override {
    taken_.swap(log_);
    log_.clear();
    return taken_;
  }
  PartitionTable partitions() const override { return driver_.tb_dispatch().state().partition; }
  TokenView token() const override { return driver_.token_arbiter().state().token; }
  std::optional<PartitionRange> partition(SmId sm, KernelId kernel) const override {
    return plans_.Of(sm, kernel);
  }
  std::array<std::uint16_t, kMaxKernels> quotas(SmId sm) const override {
    const SmControl::State& s = sms_[Index(sm)].state();
    const bool in_cycle = stepped_.Test(Index(sm));
    const SmControl::Quotas& q = in_cycle ? s.used : s.quotas;
    return q.gated ? q.quota : std::array<std::uint16_t, kMaxKernels>{};
  }

  DriverToSm to_sm(unsigned sm) const override {
    if (!links_.any()) return driver_out_[sm];
    return look_.Test(sm) ? driver_.state().to_sm[sm] : DriverToSm{};
  }
  SmToDriver to_driver(unsigned sm) const override { return sm_out_[sm]; }

 private:
  // What the SM sees of the driver in the next cycle.
  void Hear(unsigned sm, const DriverToSm& said) {
    driver_out_[sm] = said;
    heard_.Assign(sm, Speaks(said));
  }
  // What both sides say goes into their links; what comes out is what they see.
  void TickLinks() {
    for (unsigned i = 0; i < config_.num_sms; ++i) {
      const bool sent = driver_stepped_ && look_.Test(i);
      links_.Tick(i, sent ? driver_.state().to_sm[i] : DriverToSm{},
                  awake_.Test(i) ? sms_[i].state().to_driver : SmToDriver{});
      Hear(i, links_.down(i));
      sm_out_[i] = links_.up(i);
    }
    sending_ = links_.arriving();
  }
  // Of the SMs of one word of the masks.
  void EndSteps(unsigned w) {
    std::uint64_t awake = awake_.word(w), sending = sending_.word(w);
    for (std::uint64_t left = changed_.word(w); left != 0; left &= left - 1) {
      const unsigned shift = static_cast<unsigned>(__builtin_ctzll(left));
      const unsigned i = w * SmMask::kWordBits + shift;
      const std::uint64_t bit = std::uint64_t{1} << shift;
      const bool now_awake = sms_[i].awake();
      const SmToDriver& out = sm_out_[i] = sms_[i].state().to_driver;
      awake = (awake & ~bit) | std::uint64_t{now_awake} << shift;
      sending = (sending & ~bit) | std::uint64_t{Speaks(out)} << shift;
    }
    awake_.set_word(w, awake);
    sending_.set_word(w, sending);
  }

  ControlConfig config_;
  Driver driver_;
  SpreadArray<SmControl> sms_;
  std::array<DriverToSm, kMaxSms> driver_out_{};
  std::array<SmToDriver, kMaxSms> sm_out_{};
  KernelViews views_{};
  PlanRecord plans_;
  SmLinks links_;
  bool driver_stepped_ = false;
  SmMask stepped_;
  SmMask changed_;  // those that were awake or are now: the others say what they said before
  SmMask awake_;
  SmMask look_;    // SMs to which the driver has said something, in this step
  SmMask looked_;  // and in the one before
  SmMask heard_;   // SMs that see a word of it in this cycle
  SmMask sending_;
  bool log_on_ = false;
  std::vector<Decision> log_, taken_;
};

}  // namespace

void CheckControl(const ControlConfig& config, const PolicyConfig& policy) {
  const ResourceVector& l = config.limits;
  if (config.num_sms == 0 || config.num_sms > kMaxSms) {
    throw InputError("control: number of SMs must be 1 to " + std::to_string(kMaxSms));
  }
  if (l.registers == 0 || l.shared_memory == 0 || l.threads == 0 || l.tbs == 0 ||
      l.tbs > kMaxTbSlots || l.threads > config.num_schedulers * config.warps_per_scheduler) {
    throw InputError("control: resource limits of an SM are zero or exceed its warp or TB slots");
  }
  if (config.link_stages + config.link_spread > kMaxLinkStages) {
    throw InputError("control: a link has at most " + std::to_string(kMaxLinkStages) +
                     " relay stations");
  }
  // rK is counted in 32 bits: limits without common factors have too large a common multiple.
  std::uint64_t whole = 1;
  for (const unsigned limit : {l.registers, l.shared_memory, l.threads, l.tbs}) {
    whole = std::lcm<std::uint64_t>(whole, limit);
  }
  if (whole * config.num_sms >= std::uint64_t{1} << 30) {
    throw InputError("control: the limits of an SM need a common multiple below 2^30 / SMs, not " +
                     std::to_string(whole));
  }
  if (policy.latency_scale == 0 || policy.kernels_per_sm == 0 ||
      policy.epoch_length <= config.num_kernels) {
    throw InputError("policy: latency_scale, kernels_per_sm and epoch_length must be positive");
  }
}

std::unique_ptr<ControlPlane> MakeReferenceControl(const ControlConfig& config,
                                                   const PolicyConfig& policy) {
  CheckControl(config, policy);
  return std::make_unique<ReferenceControl>(config, policy);
}

}  // namespace smk
