// SPDX-License-Identifier: Apache-2.0
// The RTL of one SM's control logic, in parts that are evaluated only when they can change.
//
// Purpose     The parts of smk_sm_control, wired here as it wires them: smk_sm_tables and
//             smk_sm_sample, each verilated once, and what issues, `Issue`: the schedulers with the
//             profile counters, verilated (rtl_issue.h) or as lanes of words (lane_issue.h).
//             Whatever is known of them comes out of their ports.
// Idle        In a quiet cycle only what issues is evaluated, and the sample counters while they
//             sample: no other part changes (the idle property). A window does not keep the tables
//             awake. Nor are they evaluated while a cycle leaves them as they were and the next one
//             has the same inputs: they wait, for TBs that drain, for a buffer or for memory.
// Does not hold anything but models: all state is in the RTL.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "control/message_fields.h"
#include "control/sm/sm_link.h"
#include "cosim/pack.h"
#include "cosim/rtl_issue.h"
#include "cosim/verilated_unit.h"

namespace smk {

// `Rtl` names the classes of a configuration: see configs/.
template <typename Rtl, typename Issue = RtlIssue<Rtl>>
class RtlSm {
 public:
  using Package = typename Rtl::Package;
  using Tables = typename Rtl::Tables;
  using Sample = typename Rtl::Sample;
  using Driver = typename Rtl::Driver;

  // `shared`: what the SMs' issue has in common, if anything.
  RtlSm(VerilatedContext* context, unsigned sm, const PolicyConfig& policy,
        typename Issue::Shared* shared = nullptr)
      : sm_(sm),
        times_(policy.preempt == PreemptMode::kChimera),
        tables_(context, Scope(sm) + " u_tables"),
        issue_(context, Scope(sm), sm, policy, shared),
        sample_(context, Scope(sm) + " u_sample") {
    Pack<ChimeraFields<Package>>(ChimeraOf(policy), &tables_->chimera_i);
    tables_.Reset();
    sample_.Reset();
    TellIssue();
  }

  // One cycle. `told`: the driver says something to this SM. It is read for its registers towards
  // the SM, or `link`, when there is one, for what has come through it. With `all`, every part is
  // evaluated in every cycle, which changes nothing but what a waveform shows.
  void Step(const SmInputs& in, bool told, const Driver& driver, const DriverToSm* link, bool all,
            SmOutputs* out) {
    Clear(out);
    const bool pulses = told || in.tb_finished != 0 || in.context_done != 0;
    const bool waits = tables_awake_ && waits_ && !pulses && !all && SameLevels(in);
    busy_ = all || pulses || (tables_awake_ && !waits);
    told_ = told;
    sampled_ = false;
    if (busy_) {
      const bool tick = link != nullptr ? link->tick : driver.tick_o != 0;
      Tell(driver, link);
      BeginTables(in, driver, all, out);
      issue_.All(in, *tables_.operator->(), tick, out);
      SampleAll(in, driver, link, all, out);
    } else {
      if (waits) ReadTables(out);
      issue_.Ready(in, gated_, out);
      if (sample_->busy_o != 0) {
        SampleAll(in, driver, link, all, out);
      } else if (samples_ && out->grant_valid != 0) {
        SampleGrants(out->grant_valid);
      }
    }
    was_gated_ = gated_;
    ShowQuotas(out);
  }
  // What the sample counters must hear of a cycle in which nothing happens but that warps are
  // ready, if not awake(): while samples().
  bool samples() const { return samples_; }
  void NoteGrants(LaneMask granted) {
    if (granted != 0) SampleGrants(issue_.grant_valid());
  }
  // What is left of quotas after the last cycle, if they were in force in it.
  void ShowQuotas(SmOutputs* out) {
    if (!was_gated_) return;
    out->gated = true;
    issue_.Quotas(out);
  }
  // The clock edge of a cycle that was stepped; false when what the SM says, and whether it is
  // awake, is as before.
  bool Edge() {
    if (busy_) {
      tables_.Edge();
      issue_.Edge();
      TellIssue();
      tables_awake_ = tables_->awake_o != 0 || profile().report_valid_o != 0;
      waits_ = Waits();
    } else if (!sampled_) {
      return false;
    }
    awake_ = tables_awake_ || sample_->busy_o != 0;
    busy_ = false;
    return true;
  }

  // Quotas: those that the schedulers have in this cycle; after Edge as after the cycle.
  bool gated() const { return gated_; }
  std::array<std::uint16_t, kMaxKernels> quota() const {
    std::array<std::uint16_t, kMaxKernels> quota{};
    Unpack<QuotaVec<Package>>(tables_->quota_o, &quota);
    return quota;
  }
  // Registers, valid after Edge.
  bool awake() const { return awake_; }
  bool sends() const {
    return Unpack<SmEventFields<Package>>(tables_->event_o).valid ||
           (tables_->buffer_request_o | tables_->buffer_withdraw_o | profile().report_valid_o |
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
    d.profile_valid = profile().report_valid_o != 0;
    Unpack<IssuedVec<Package>>(profile().report_issued_o, &d.profile_issued);
    d.sample_valid = sample_->valid_o != 0;
    d.sample_issued = sample_->issued_o;
    d.sample_stalled = sample_->stalled_o;
    return d;
  }
  const Tables& tables() const { return *tables_.operator->(); }
  // Has the ports report_valid_o and report_issued_o.
  const auto& profile() const { return issue_.profile(); }
  const Sample& sample() const { return *sample_.operator->(); }

  template <typename Visitor>
  void VisitUnits(Visitor visit) {
    visit(&tables_);
    issue_.VisitUnits(visit);
    visit(&sample_);
  }

 private:
  static std::string Scope(unsigned sm) { return "top gen_sm[" + std::to_string(sm) + "]"; }
  // This SM's bit of a port of the driver.
  template <typename Port>
  bool Mine(const Port& port) const {
    return GetBits(port, sm_, 1) != 0;
  }
  // What the schedulers hear of the tables' registers.
  void TellIssue() {
    issue_.Tell(*tables_.operator->());
    gated_ = tables_->gated_o != 0;
  }
  void Tell(const Driver& driver, const DriverToSm* link);
  void BeginTables(const SmInputs& in, const Driver& driver, bool all, SmOutputs* out);
  void ReadTables(SmOutputs* out) const;
  // Inputs of the tables that are no pulses are those of their last evaluation.
  bool SameLevels(const SmInputs& in) const {
    const Tables& t = *tables_.operator->();
    return GetBits(t.tb_quiet_i, 0, Package::NumSlots) == in.tb_quiet &&
           GetBits(t.tb_flushable_i, 0, Package::NumSlots) == in.tb_flushable &&
           (t.context_ready_i != 0) == in.context_ready && (!times_ || t.time_i == in.time);
  }
  // The last cycle has changed nothing in the tables: not one bit of their model, with all that
  // they hear. What is compared is always the cycle just before.
  bool Waits() {
    const Tables& t = *tables_.operator->();
    const auto* const model = reinterpret_cast<const unsigned char*>(t.rootp);
    constexpr std::size_t kSize = sizeof *t.rootp;
    const bool sends =
        t.context_ready_i != 0 && Unpack<ContextRequestFields<Package>>(t.context_o).valid;
    if (!tables_awake_ || told_ || sends || t.load_o != 0 || t.start_valid_o != 0 ||
        t.command_credit_o != 0) {
      before_.clear();
      return false;
    }
    if (!before_.empty() && std::memcmp(before_.data(), model, kSize) == 0) return true;
    before_.assign(model, model + kSize);
    return false;
  }
  void SampleAll(const SmInputs& in, const Driver& driver, const DriverToSm* link, bool all,
                 SmOutputs* out);
  void SampleGrants(std::uint8_t grant_valid) {
    sample_->grant_valid_i = grant_valid;
    sample_->grant_kernel_i = issue_.grant_kernels();
    sample_.Cycle();
  }

  const unsigned sm_;
  const bool times_;  // somebody looks at the time
  bool awake_ = false;
  bool tables_awake_ = false;  // without the sample counters
  bool busy_ = false;          // this cycle is not a quiet one for the tables
  bool told_ = false;          // nor for the driver
  bool waits_ = false;         // the tables are what they were a cycle before
  bool sampled_ = false;       // the sample counters have ended a window in it, or reported
  bool gated_ = false;         // the tables' register: what they have lies far apart in memory
  bool was_gated_ = false;     // the same in the last cycle
  bool samples_ = false;       // from the beginning of a window until its counts are reported
  std::vector<unsigned char> before_;  // the tables' model at the end of a cycle
  VerilatedUnit<Tables> tables_;
  Issue issue_;
  VerilatedUnit<Sample> sample_;
};

template <typename Rtl, typename Issue>
void RtlSm<Rtl, Issue>::Tell(const Driver& driver, const DriverToSm* link) {
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

template <typename Rtl, typename Issue>
void RtlSm<Rtl, Issue>::BeginTables(const SmInputs& in, const Driver& driver, bool all,
                                    SmOutputs* out) {
  using Slots = Bits<Package::NumSlots>;
  Tables& t = *tables_.operator->();
  t.views_i = driver.views_o;
  t.needs_i = driver.needs_o;
  Pack<Slots>(in.tb_finished, &t.tb_finished_i);
  Pack<Slots>(in.tb_quiet, &t.tb_quiet_i);
  Pack<Slots>(in.tb_flushable, &t.tb_flushable_i);
  t.context_ready_i = in.context_ready;
  t.context_done_i = in.context_done;
  t.time_i = times_ || all ? in.time : 0;
  tables_.Settle();
  ReadTables(out);
}

template <typename Rtl, typename Issue>
void RtlSm<Rtl, Issue>::ReadTables(SmOutputs* out) const {
  const Tables& t = *tables_.operator->();
  Unpack<WarpStartFields<Package>>(t.warp_start_o, &out->warp_start);
  out->tb_activate = t.tb_activate_o;
  out->tb_stop = t.tb_stop_o;
  Unpack<ContextRequestFields<Package>>(t.context_o, &out->context);
  out->release_valid = t.release_valid_o != 0;
  out->release_slot = static_cast<TbSlot>(t.release_slot_o);
  out->release_kind = static_cast<TbRelease>(t.release_kind_o);
  out->place_waits = t.place_waits_o != 0;
}

// A window that begins, ends or goes on: what the schedulers do in it.
template <typename Rtl, typename Issue>
void RtlSm<Rtl, Issue>::SampleAll(const SmInputs& in, const Driver& driver, const DriverToSm* link,
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
  s.grant_kernel_i = issue_.grant_kernels();
  Pack<KernelSchedulers<Package>>(in.memory, &s.memory_i);
  const bool reported = s.valid_o != 0;
  sample_.Cycle();
  sampled_ = reported || s.valid_o != 0 || s.busy_o == 0;
  samples_ = s.begin_i != 0 || (samples_ && !reported);
  out->samples = s.samples_o != 0;
  s.begin_i = s.end_i = 0;
}

}  // namespace smk
