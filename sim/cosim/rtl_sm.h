// SPDX-License-Identifier: Apache-2.0
// The RTL of one SM's control logic, in parts that are evaluated only when they can change.
//
// Purpose     smk_sm_tables, smk_quota_scheduler (behind input registers), smk_sm_profile and
//             smk_sm_sample, the parts of smk_sm_control, each verilated once and wired here as
//             smk_sm_control wires them. Whatever is known of them comes out of their ports.
// Idle        In a quiet cycle only schedulers with a ready warp are evaluated, and the counters
//             when one of them granted: no other part changes (the idle property).
// Does not hold anything but models: all state is in the RTL.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "control/message_fields.h"
#include "control/sm_link.h"
#include "cosim/pack.h"
#include "cosim/verilated_unit.h"

namespace smk {

// `Rtl` names the classes of a configuration: see rtl_configs.h.
template <typename Rtl>
class RtlSm {
 public:
  using Package = typename Rtl::Package;
  using Tables = typename Rtl::Tables;
  using Scheduler = typename Rtl::Scheduler;
  using Profile = typename Rtl::Profile;
  using Sample = typename Rtl::Sample;
  using Driver = typename Rtl::Driver;

  RtlSm(VerilatedContext* context, unsigned sm, const PolicyConfig& policy)
      : sm_(sm),
        tables_(context, Scope(sm) + " u_tables"),
        profile_(context, Scope(sm) + " u_profile"),
        sample_(context, Scope(sm) + " u_sample") {
    schedulers_.reserve(Package::NumSchedulers);
    for (unsigned s = 0; s < Package::NumSchedulers; ++s) {
      schedulers_.emplace_back(context, Scope(sm) + " gen_scheduler[" + std::to_string(s) + "]");
      schedulers_[s]->policy_i = static_cast<CData>(policy.warp_policy);
      schedulers_[s]->epoch_end_i = static_cast<CData>(policy.epoch_end);
      schedulers_[s].Reset();
    }
    Pack<ChimeraFields<Package>>(ChimeraOf(policy), &tables_->chimera_i);
    tables_.Reset();
    profile_.Reset();
    sample_.Reset();
  }

  // One cycle. `driver` is read for its registers towards this SM, or `link`, when there is one,
  // for what has come through it; with `all`, every part is evaluated in every cycle, which changes
  // nothing but what a waveform shows.
  void Step(const SmInputs& in, const Driver& driver, const DriverToSm* link, bool all,
            SmOutputs* out) {
    *out = SmOutputs{};
    const bool tick = link != nullptr ? link->tick : driver.tick_o != 0;
    const bool sent = link != nullptr
                          ? Speaks(*link)
                          : Mine(driver.command_valid_o) || Mine(driver.buffer_valid_o) ||
                                Mine(driver.buffer_none_o) || Mine(driver.event_ack_o) ||
                                (driver.sample_begin_o | driver.sample_end_o) != 0;
    busy_ = all || awake_ || sent || tick || in.tb_finished != 0 || in.context_done != 0;
    if (busy_) {
      Tell(driver, link);
      BeginTables(in, driver, out);
      IssueAll(in, tick, out);
      SampleAll(in, driver, link, all, out);
    } else {
      IssueReady(in, out);
    }
    if (tables_->gated_o == 0) return;
    out->gated = true;
    out->quota_left = quota_left_;
    out->with_quota = with_quota_;
  }
  // The clock edge of a cycle that was stepped; false when it changed no register of the tables.
  bool Edge() {
    if (!busy_) return false;
    tables_.Edge();
    profile_.LateEdge();
    awake_ = tables_->awake_o != 0 || profile_->report_valid_o != 0 || sample_->busy_o != 0;
    busy_ = false;
    return true;
  }

  // Quotas: those that the schedulers have in this cycle; after Edge as after the cycle.
  bool gated() const { return tables_->gated_o != 0; }
  std::array<std::uint16_t, kMaxKernels> quota() const {
    std::array<std::uint16_t, kMaxKernels> quota{};
    Unpack<QuotaVec<Package>>(tables_->quota_o, &quota);
    return quota;
  }
  // Registers, valid after Edge.
  bool awake() const { return awake_; }
  bool sends() const {
    return Unpack<SmEventFields<Package>>(tables_->event_o).valid ||
           (tables_->buffer_request_o | tables_->buffer_withdraw_o | profile_->report_valid_o |
            sample_->valid_o | tables_->command_credit_o | tables_->command_waits_o) != 0;
  }
  SmToDriver ToDriver() const {
    SmToDriver d;
    d.command_credit = tables_->command_credit_o != 0;
    d.command_waits = tables_->command_waits_o != 0;
    d.event = Unpack<SmEventFields<Package>>(tables_->event_o);
    d.buffer_request = tables_->buffer_request_o != 0;
    d.buffer_kernel = static_cast<KernelId>(tables_->buffer_kernel_o);
    d.buffer_withdraw = tables_->buffer_withdraw_o != 0;
    d.profile_valid = profile_->report_valid_o != 0;
    Unpack<IssuedVec<Package>>(profile_->report_issued_o, &d.profile_issued);
    d.sample_valid = sample_->valid_o != 0;
    d.sample_issued = sample_->issued_o;
    d.sample_stalled = sample_->stalled_o;
    return d;
  }
  const Tables& tables() const { return *tables_.operator->(); }
  const Profile& profile() const { return *profile_.operator->(); }
  const Sample& sample() const { return *sample_.operator->(); }

  template <typename Visitor>
  void VisitUnits(Visitor visit) {
    visit(&tables_);
    for (auto& scheduler : schedulers_) visit(&scheduler);
    visit(&profile_);
    visit(&sample_);
  }

 private:
  static std::string Scope(unsigned sm) { return "top gen_sm[" + std::to_string(sm) + "]"; }
  // This SM's bit of a port of the driver.
  template <typename Port>
  bool Mine(const Port& port) const {
    return GetBits(port, sm_, 1) != 0;
  }
  void ReadQuotas(unsigned s);
  void Tell(const Driver& driver, const DriverToSm* link);
  void BeginTables(const SmInputs& in, const Driver& driver, SmOutputs* out);
  void IssueAll(const SmInputs& in, bool tick, SmOutputs* out);
  void IssueReady(const SmInputs& in, SmOutputs* out);
  void SampleAll(const SmInputs& in, const Driver& driver, const DriverToSm* link, bool all,
                 SmOutputs* out);
  void Grant(unsigned s, SmOutputs* out) {
    const Scheduler& scheduler = *schedulers_[s].operator->();
    if (scheduler.grant_valid_o == 0) return;
    out->grant_valid |= static_cast<std::uint8_t>(1u << s);
    out->grant_warp[s] = scheduler.grant_warp_o;
    CopyAt<GrantKernels<Package>>(s, scheduler.grant_kernel_o, &profile_->grant_kernel_i);
  }
  void CycleScheduler(unsigned s, SmOutputs* out) {
    schedulers_[s].Cycle();
    Grant(s, out);
    if (tables_->gated_o != 0) ReadQuotas(s);
  }

  const unsigned sm_;
  VerilatedUnit<Tables> tables_;
  std::vector<VerilatedUnit<Scheduler>> schedulers_;
  VerilatedUnit<Profile> profile_;
  VerilatedUnit<Sample> sample_;
  bool awake_ = false;
  bool busy_ = false;  // this cycle is not a quiet one
  bool calm_ = true;   // the schedulers' other inputs are those of a quiet cycle
  // While quotas are in force: after the last cycle of each scheduler.
  std::array<std::uint16_t, kMaxKernels> quota_left_{};
  std::uint32_t with_quota_ = 0;
  bool samples_ = false;  // from the beginning of a window until its counts are reported
};

// While they are in force: what is left on a scheduler after this cycle.
template <typename Rtl>
void RtlSm<Rtl>::ReadQuotas(unsigned s) {
  const Scheduler& q = *schedulers_[s].operator->();
  const std::uint32_t all = (1u << kMaxKernels) - 1;
  with_quota_ = (with_quota_ & ~(all << s * kMaxKernels)) | std::uint32_t{q.some_left_o}
                                                                << s * kMaxKernels;
  if (s != 0) return;
  Unpack<QuotaVec<Package>>(q.reload_o != 0 ? q.quota_i : q.left_o, &quota_left_);
  if (q.reload_o == 0 && q.grant_valid_o != 0) --quota_left_[q.grant_kernel_o];
}

template <typename Rtl>
void RtlSm<Rtl>::Tell(const Driver& driver, const DriverToSm* link) {
  Tables& t = *tables_.operator->();
  if (link != nullptr) {
    t.command_valid_i = link->command_valid;
    Pack<SmCommandFields<Package>>(link->command, &t.command_i);
    t.buffer_valid_i = link->buffer_valid;
    t.buffer_i = link->buffer;
    t.buffer_none_i = link->buffer_none;
    t.event_ack_i = link->event_ack;
    return;
  }
  t.command_valid_i = Mine(driver.command_valid_o);
  t.command_i = driver.command_o;
  t.buffer_valid_i = Mine(driver.buffer_valid_o);
  t.buffer_i = driver.buffer_o;
  t.buffer_none_i = Mine(driver.buffer_none_o);
  t.event_ack_i = Mine(driver.event_ack_o);
}

template <typename Rtl>
void RtlSm<Rtl>::BeginTables(const SmInputs& in, const Driver& driver, SmOutputs* out) {
  using Slots = Bits<Package::NumSlots>;
  Tables& t = *tables_.operator->();
  t.views_i = driver.views_o;
  t.needs_i = driver.needs_o;
  Pack<Slots>(in.tb_finished, &t.tb_finished_i);
  Pack<Slots>(in.tb_quiet, &t.tb_quiet_i);
  Pack<Slots>(in.tb_flushable, &t.tb_flushable_i);
  t.context_ready_i = in.context_ready;
  t.context_done_i = in.context_done;
  t.time_i = in.time;
  tables_.Settle();
  Unpack<WarpStartFields<Package>>(t.warp_start_o, &out->warp_start);
  out->tb_activate = t.tb_activate_o;
  out->tb_stop = t.tb_stop_o;
  Unpack<ContextRequestFields<Package>>(t.context_o, &out->context);
  out->release_valid = t.release_valid_o != 0;
  out->release_slot = static_cast<TbSlot>(t.release_slot_o);
  out->release_kind = static_cast<TbRelease>(t.release_kind_o);
  out->place_waits = t.place_waits_o != 0;
}

// Every scheduler, with what the tables say in this cycle.
template <typename Rtl>
void RtlSm<Rtl>::IssueAll(const SmInputs& in, bool tick, SmOutputs* out) {
  using Warps = SchedulerWarps<Package>;
  const Tables& t = *tables_.operator->();
  for (unsigned s = 0; s < Package::NumSchedulers; ++s) {
    Scheduler& q = *schedulers_[s].operator->();
    Pack<typename Warps::Element>(in.ready[s], &q.ready_i);
    Pack<typename Warps::Element>(BitsAt<Warps>(s, t.stop_warps_o), &q.stop_i);
    Pack<typename Warps::Element>(BitsAt<Warps>(s, t.leave_warps_o), &q.leave_i);
    q.start_valid_i = (t.start_valid_o >> s & 1) != 0;
    q.start_warp_i = t.start_warp_o;
    q.start_kernel_i = t.start_kernel_o;
    q.gated_i = t.gated_o;
    q.quota_i = t.quota_o;
    q.load_i = t.load_o;
    q.tick_i = tick;
    CycleScheduler(s, out);
  }
  calm_ = false;
  profile_->grant_valid_i = out->grant_valid;
  profile_->tick_i = tick;
  profile_.CycleOrSettle();
}

// Only schedulers with a ready warp, in a cycle in which nothing else happens.
template <typename Rtl>
void RtlSm<Rtl>::IssueReady(const SmInputs& in, SmOutputs* out) {
  if (!calm_) {
    for (auto& scheduler : schedulers_) {
      scheduler->leave_i = 0;
      scheduler->start_valid_i = 0;
      scheduler->load_i = 0;
      scheduler->tick_i = 0;
    }
    calm_ = true;
  }
  for (unsigned s = 0; s < Package::NumSchedulers; ++s) {
    if (in.ready[s] == 0) continue;
    Pack<Bits<Package::WarpsPerScheduler>>(in.ready[s], &schedulers_[s]->ready_i);
    CycleScheduler(s, out);
  }
  if (out->grant_valid == 0) return;
  profile_->grant_valid_i = out->grant_valid;
  profile_.Cycle();
  if (!samples_) return;
  sample_->grant_valid_i = out->grant_valid;
  sample_->grant_kernel_i = profile_->grant_kernel_i;
  sample_.Cycle();
}

// A window that begins, ends or goes on: what the schedulers do in it.
template <typename Rtl>
void RtlSm<Rtl>::SampleAll(const SmInputs& in, const Driver& driver, const DriverToSm* link,
                           bool all, SmOutputs* out) {
  Sample& s = *sample_.operator->();
  s.begin_i = link != nullptr ? link->sample_begin : driver.sample_begin_o;
  s.end_i = link != nullptr ? link->sample_end : driver.sample_end_o;
  if (!all && !samples_ && s.begin_i == 0) return;
  if (s.begin_i != 0 && link != nullptr) {
    s.kernel_i = static_cast<CData>(Index(link->sample_kernel));
    s.stalls_i = link->sample_stalls;
  } else if (s.begin_i != 0) {
    s.kernel_i = static_cast<CData>(BitsAt<SmKernelId<Package>>(sm_, driver.sample_kernel_o));
    s.stalls_i = driver.sample_stalls_o;
  }
  s.grant_valid_i = out->grant_valid;
  s.grant_kernel_i = profile_->grant_kernel_i;
  Pack<KernelSchedulers<Package>>(in.memory, &s.memory_i);
  const bool reported = s.valid_o != 0;
  sample_.Cycle();
  samples_ = s.begin_i != 0 || (samples_ && !reported);
  out->samples = s.samples_o != 0;
  s.begin_i = s.end_i = 0;
}

}  // namespace smk
