// SPDX-License-Identifier: Apache-2.0
#include "cosim/lockstep_control.h"

#include <sstream>
#include <vector>

#include "base/error.h"

namespace smk {
namespace {

constexpr unsigned kNoSm = kMaxSms;

// Compares values and says of the first that differs where it is.
class Comparer {
 public:
  explicit Comparer(LockstepCounts* counts) : counts_(counts != nullptr ? counts : &own_) {}

  void set_cycle(Cycle now) { now_ = now; }
  void set_sm(unsigned sm) { sm_ = sm; }
  void CountCycle() { ++counts_->cycles; }

  template <typename T>
  void Same(const char* block, const char* signal, T expected, T seen) {
    ++counts_->events;
    if (expected == seen) return;
    ++counts_->mismatches;
    std::ostringstream text;
    text << "cycle " << now_ << ": " << block;
    if (sm_ != kNoSm) text << " of SM " << sm_;
    text << ": " << signal << ": expected 0x" << std::hex << static_cast<std::uint64_t>(expected)
         << ", the RTL has 0x" << static_cast<std::uint64_t>(seen);
    throw CheckFailure(text.str());
  }

 private:
  LockstepCounts own_;
  LockstepCounts* counts_;
  Cycle now_ = 0;
  unsigned sm_ = kNoSm;
};

void CompareIssue(const SmOutputs& want, const SmOutputs& got, Comparer* c) {
  c->Same("quota_scheduler", "grant_valid", want.grant_valid, got.grant_valid);
  for (unsigned s = 0; s < kMaxSchedulers; ++s) {
    if ((want.grant_valid >> s & 1) == 0) continue;
    c->Same("quota_scheduler", "grant_warp", want.grant_warp[s], got.grant_warp[s]);
  }
}

void CompareTables(const SmOutputs& want, const SmOutputs& got, Comparer* c) {
  const WarpStart &w = want.warp_start, &v = got.warp_start;
  c->Same("tb_table", "warp_start.valid", w.valid, v.valid);
  if (w.valid) {
    c->Same("tb_table", "warp_start.warp", w.warp, v.warp);
    c->Same("tb_table", "warp_start.warp_in_tb", w.warp_in_tb, v.warp_in_tb);
    c->Same("tb_table", "warp_start.tb_slot", w.tb_slot, v.tb_slot);
    c->Same("tb_table", "warp_start.kernel", w.kernel, v.kernel);
    c->Same("tb_table", "warp_start.tb", w.tb, v.tb);
    c->Same("tb_table", "warp_start.restore", w.restore, v.restore);
  }
  c->Same("tb_table", "activate", want.tb_activate, got.tb_activate);
  c->Same("preempt_engine", "stop", want.tb_stop, got.tb_stop);
  const ContextRequest &x = want.context, &y = got.context;
  c->Same("preempt_engine", "context.valid", x.valid, y.valid);
  if (x.valid) {
    c->Same("preempt_engine", "context.store", x.store, y.store);
    c->Same("preempt_engine", "context.tb_slot", x.tb_slot, y.tb_slot);
    c->Same("preempt_engine", "context.line", x.line, y.line);
    c->Same("preempt_engine", "context.address", x.address, y.address);
  }
  c->Same("preempt_engine", "release_valid", want.release_valid, got.release_valid);
  if (want.release_valid) {
    c->Same("preempt_engine", "release_slot", want.release_slot, got.release_slot);
    c->Same("preempt_engine", "release_kind", want.release_kind, got.release_kind);
  }
}

void CompareRange(const PartitionRange& want, const PartitionRange& got, Comparer* c) {
  constexpr const char* kBlock = "partition_planner";
  c->Same(kBlock, "range.registers_base", want.registers_base, got.registers_base);
  c->Same(kBlock, "range.registers_limit", want.registers_limit, got.registers_limit);
  c->Same(kBlock, "range.shared_memory_base", want.shared_memory_base, got.shared_memory_base);
  c->Same(kBlock, "range.shared_memory_limit", want.shared_memory_limit, got.shared_memory_limit);
  c->Same(kBlock, "range.threads_base", want.threads_base, got.threads_base);
  c->Same(kBlock, "range.threads_limit", want.threads_limit, got.threads_limit);
  c->Same(kBlock, "range.tb_base", want.tb_base, got.tb_base);
  c->Same(kBlock, "range.tb_count", want.tb_count, got.tb_count);
}

// The fields that a command of this kind has.
void CompareCommand(const SmCommand& want, const SmCommand& got, Comparer* c) {
  const char* block = want.op == CommandOp::kQuota ? "quota_calculator" : "tb_dispatch";
  c->Same(block, "command.op", want.op, got.op);
  if (want.op == CommandOp::kEvict) return c->Same(block, "command.mode", want.mode, got.mode);
  c->Same(block, "command.kernel", want.kernel, got.kernel);
  switch (want.op) {
    case CommandOp::kDispatch:
      c->Same(block, "command.tb", want.tb, got.tb);
      c->Same(block, "command.restore", want.restore, got.restore);
      if (want.restore) c->Same(block, "command.buffer", want.buffer, got.buffer);
      break;
    case CommandOp::kPreempt:
      c->Same(block, "command.count", want.count, got.count);
      break;
    case CommandOp::kPartition:
      c->Same(block, "command.first", want.first, got.first);
      c->Same(block, "command.last", want.last, got.last);
      CompareRange(want.range, got.range, c);
      break;
    case CommandOp::kQuota:
      c->Same(block, "command.quota", want.quota, got.quota);
      c->Same(block, "command.last", want.last, got.last);
      break;
    case CommandOp::kEvict:
      break;
  }
}

void CompareToSm(const DriverToSm& want, const DriverToSm& got, Comparer* c) {
  c->Same("driver", "command_valid", want.command_valid, got.command_valid);
  if (want.command_valid) CompareCommand(want.command, got.command, c);
  c->Same("preempted_queue", "buffer_valid", want.buffer_valid, got.buffer_valid);
  if (want.buffer_valid) c->Same("preempted_queue", "buffer", want.buffer, got.buffer);
  c->Same("preempted_queue", "event_ack", want.event_ack, got.event_ack);
  c->Same("driver", "tick", want.tick, got.tick);
}

void CompareEvent(const SmEvent& want, const SmEvent& got, Comparer* c) {
  constexpr const char* kBlock = "sm_control";
  c->Same(kBlock, "event.valid", want.valid, got.valid);
  if (!want.valid) return;
  c->Same(kBlock, "event.kind", want.kind, got.kind);
  if (want.kind == EventKind::kSettled) {
    return c->Same(kBlock, "event.shortfall", want.shortfall, got.shortfall);
  }
  c->Same(kBlock, "event.kernel", want.kernel, got.kernel);
  if (want.kind != EventKind::kBufferFree) {
    c->Same(kBlock, "event.tb", want.tb, got.tb);
    c->Same(kBlock, "event.counted", want.counted, got.counted);
  }
  if (NeedsAck(want.kind)) c->Same(kBlock, "event.buffer", want.buffer, got.buffer);
}

void CompareToDriver(const SmToDriver& want, const SmToDriver& got, Comparer* c) {
  c->Same("tb_table", "command_ready", want.command_ready, got.command_ready);
  CompareEvent(want.event, got.event, c);
  c->Same("preempt_engine", "buffer_request", want.buffer_request, got.buffer_request);
  if (want.buffer_request) {
    c->Same("preempt_engine", "buffer_kernel", want.buffer_kernel, got.buffer_kernel);
  }
  c->Same("profile_counters", "report_valid", want.profile_valid, got.profile_valid);
  if (!want.profile_valid) return;
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    c->Same("profile_counters", "report_issued", want.profile_issued[k], got.profile_issued[k]);
  }
}

void CompareDecision(const Decision& want, const Decision& got, Comparer* c) {
  constexpr const char* kBlock = "tb_dispatch";
  c->Same(kBlock, "decision.reason", want.reason, got.reason);
  c->Same(kBlock, "decision.kernel", want.kernel, got.kernel);
  c->Same(kBlock, "decision.sm", want.sm, got.sm);
  const bool dispatch = want.reason == DecisionReason::kDispatchNew ||
                        want.reason == DecisionReason::kDispatchRestored ||
                        want.reason == DecisionReason::kDispatchRestarted;
  if (dispatch) c->Same(kBlock, "decision.tb", want.tb, got.tb);
  if (want.reason == DecisionReason::kPreempt) {
    c->Same(kBlock, "decision.victim", want.victim, got.victim);
    c->Same(kBlock, "decision.victim_tbs", want.victim_tbs, got.victim_tbs);
  }
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    c->Same("drf_tracker", "share", want.share[k], got.share[k]);
  }
}

class LockstepControl final : public ControlPlane {
 public:
  LockstepControl(const ControlConfig& config, std::unique_ptr<ControlPlane> reference,
                  std::unique_ptr<ControlPlane> rtl, LockstepCounts* counts)
      : num_sms_(config.num_sms),
        reference_(std::move(reference)),
        rtl_(std::move(rtl)),
        want_probe_(dynamic_cast<const ControlProbe&>(*reference_)),
        got_probe_(dynamic_cast<const ControlProbe&>(*rtl_)),
        late_left_(got_probe_.quota_left(0).has_value()),
        comparer_(counts) {
    reference_->EnableDecisionLog(true);
    rtl_->EnableDecisionLog(true);
  }

  void BeginCycle(Cycle now, const HostInputs& in, HostOutputs* out) override {
    comparer_.set_cycle(now);
    HostOutputs want;
    reference_->BeginCycle(now, in, &want);
    rtl_->BeginCycle(now, in, out);
    comparer_.set_sm(kNoSm);
    if (in.launch_valid) {
      comparer_.Same("kernel_table", "launch_ready", want.launch_ready, out->launch_ready);
      comparer_.Same("kernel_table", "launch_error", want.launch_error, out->launch_error);
    }
    comparer_.Same("kernel_table", "kernel_done", want.kernel_done, out->kernel_done);
    driver_stepped_ = true;
  }

  // The cycle of an SM's mismatch is known only at the end of the cycle: outputs are kept.
  void StepSm(SmId sm, const SmInputs& in, SmOutputs* out) override {
    const unsigned i = Index(sm);
    reference_->StepSm(sm, in, &want_[i]);
    rtl_->StepSm(sm, in, out);
    got_[i] = *out;
    if (late_left_) out->quota_left = want_[i].quota_left;
    stepped_ |= 1u << i;
  }

  void EndCycle(Cycle now) override {
    comparer_.set_cycle(now);
    comparer_.CountCycle();
    for (SmMask m = stepped_; m != 0; m &= m - 1) {
      const unsigned i = static_cast<unsigned>(__builtin_ctz(m));
      comparer_.set_sm(i);
      CompareIssue(want_[i], got_[i], &comparer_);
      CompareTables(want_[i], got_[i], &comparer_);
    }
    reference_->EndCycle(now);
    rtl_->EndCycle(now);
    CompareRegisters();
    stepped_ = 0;
    driver_stepped_ = false;
  }

  SmMask awake_sms() const override { return rtl_->awake_sms(); }
  bool driver_awake() const override { return rtl_->driver_awake(); }
  void EnableDecisionLog(bool on) override { log_on_ = on; }
  const std::vector<Decision>& TakeDecisions() override {
    taken_.swap(log_);
    log_.clear();
    return taken_;
  }
  PartitionTable partitions() const override { return rtl_->partitions(); }
  std::array<std::uint16_t, kMaxKernels> quotas(SmId sm) const override { return rtl_->quotas(sm); }

 private:
  void CompareRegisters() {
    comparer_.set_sm(kNoSm);
    comparer_.Same("sm_control", "awake", reference_->awake_sms(), rtl_->awake_sms());
    comparer_.Same("driver", "awake", reference_->driver_awake(), rtl_->driver_awake());
    for (SmMask m = stepped_; m != 0; m &= m - 1) {
      const unsigned i = static_cast<unsigned>(__builtin_ctz(m));
      comparer_.set_sm(i);
      CompareToDriver(want_probe_.to_driver(i), got_probe_.to_driver(i), &comparer_);
      const auto want = reference_->quotas(static_cast<SmId>(i));
      const auto got = rtl_->quotas(static_cast<SmId>(i));
      const auto left = late_left_ ? *got_probe_.quota_left(i) : got_[i].quota_left;
      for (unsigned k = 0; k < kMaxKernels; ++k) {
        comparer_.Same("sm_control", "quota", want[k], got[k]);
        comparer_.Same("quota_scheduler", "left", want_[i].quota_left[k], left[k]);
      }
    }
    if (driver_stepped_) CompareDriver();
  }
  void CompareDriver() {
    for (unsigned i = 0; i < num_sms_; ++i) {
      comparer_.set_sm(i);
      CompareToSm(want_probe_.to_sm(i), got_probe_.to_sm(i), &comparer_);
    }
    comparer_.set_sm(kNoSm);
    comparer_.Same("tb_dispatch", "partition", true,
                   reference_->partitions() == rtl_->partitions());
    const std::vector<Decision>& want = reference_->TakeDecisions();
    const std::vector<Decision>& got = rtl_->TakeDecisions();
    comparer_.Same("tb_dispatch", "decisions in the cycle", want.size(), got.size());
    for (std::size_t i = 0; i < want.size(); ++i) CompareDecision(want[i], got[i], &comparer_);
    if (log_on_) log_.insert(log_.end(), got.begin(), got.end());
  }

  const unsigned num_sms_;
  std::unique_ptr<ControlPlane> reference_;
  std::unique_ptr<ControlPlane> rtl_;
  const ControlProbe& want_probe_;
  const ControlProbe& got_probe_;
  const bool late_left_;
  Comparer comparer_;
  std::array<SmOutputs, kMaxSms> want_{}, got_{};
  SmMask stepped_ = 0;
  bool driver_stepped_ = false;
  bool log_on_ = false;
  std::vector<Decision> log_, taken_;
};

}  // namespace

std::unique_ptr<ControlPlane> MakeLockstepControl(const ControlConfig& config,
                                                  std::unique_ptr<ControlPlane> reference,
                                                  std::unique_ptr<ControlPlane> rtl,
                                                  LockstepCounts* counts) {
  return std::make_unique<LockstepControl>(config, std::move(reference), std::move(rtl), counts);
}

}  // namespace smk
