// SPDX-License-Identifier: Apache-2.0
#include "cosim/lockstep_control.h"

#include <sstream>
#include <vector>

#include "base/error.h"
#include "control/message_fields.h"
#include "cosim/pack.h"

namespace smk {
namespace {

constexpr unsigned kNoSm = kMaxSms;

// Fields are the same in every configuration; of the widths none is looked at here.
// NOLINTBEGIN(readability-identifier-naming): the names of smk_pkg.
template <unsigned Kernels>
struct Any {
  static constexpr unsigned NumSms = kMaxSms, NumKernels = Kernels, NumSchedulers = kMaxSchedulers,
                            NumSlots = kMaxTbSlots, WarpsPerScheduler = kMaxWarpsPerScheduler;
  static constexpr unsigned SmWidth = 1, KernelWidth = 1, SlotWidth = 1, WarpWidth = 1,
                            GrantWidth = 1, BufferWidth = 1, BufferCntWidth = 1, TbIdWidth = 1,
                            AddressWidth = 1, RegisterCntWidth = 1, SharedCntWidth = 1,
                            ThreadCntWidth = 1, TbCntWidth = 1, LineWidth = 1, LogLinesWidth = 1,
                            DoneWidth = 1, QuotaWidth = 1, IssuedWidth = 1, ShareWidth = 1,
                            TotalShareWidth = 1, KernelCntWidth = 1, ScaleWidth = 1,
                            LingerWidth = 1, SampleWidth = 1;
};
// NOLINTEND(readability-identifier-naming)

// Compares values and says of the first that differs where it is.
class Comparer {
 public:
  Comparer(unsigned num_kernels, LockstepCounts* counts)
      : num_kernels_(num_kernels), counts_(counts != nullptr ? counts : &own_) {}

  void set_cycle(Cycle now) { now_ = now; }
  void set_sm(unsigned sm) { sm_ = sm; }
  // The cycle that was set, once.
  void CountCycle() {
    if (counted_ == now_) return;
    counted_ = now_;
    ++counts_->cycles;
  }
  // So many values that are equal.
  void CountSame(unsigned values) { counts_->events += values; }

  template <typename T>
  void Same(const char* block, const char* signal, T expected, T seen) {
    Same(FieldPath{signal, block}, expected, seen);
  }
  template <typename T>
  void Same(const FieldPath& signal, T expected, T seen) {
    ++counts_->events;
    if (expected == seen) return;
    ++counts_->mismatches;
    Fail(signal, static_cast<std::uint64_t>(expected), static_cast<std::uint64_t>(seen));
  }
  // What counts in a message.
  template <template <typename> class Fields, typename Message>
  void SameFields(const FieldPath& signal, const Message& expected, const Message& seen) {
    const auto same = [this](const FieldPath& field, auto want, auto got) {
      this->Same(field, want, got);
    };
    if (num_kernels_ <= kNumKernels) {
      CompareFields<Fields<Any<kNumKernels>>>(signal, expected, seen, same);
    } else {
      CompareFields<Fields<Any<kMaxKernels>>>(signal, expected, seen, same);
    }
  }

  // Of masks that differ, the first SM is named.
  void Same(const char* block, const char* signal, const SmMask& expected, const SmMask& seen) {
    const SmMask differ = (expected | seen) - (expected & seen);
    if (differ.Any()) set_sm(differ.Lowest());
    Same(block, signal, differ.Any() && expected.Test(sm_), differ.Any() && seen.Test(sm_));
  }

 private:
  [[noreturn]] void Fail(const FieldPath& signal, std::uint64_t expected, std::uint64_t seen) {
    std::ostringstream text;
    text << "cycle " << now_ << ": " << signal.from;
    if (sm_ != kNoSm) text << " of SM " << sm_;
    text << ": " << signal.Text() << ": expected 0x" << std::hex << expected << ", the RTL has 0x"
         << seen;
    throw CheckFailure(text.str());
  }

  const unsigned num_kernels_;
  LockstepCounts own_;
  LockstepCounts* counts_;
  Cycle now_ = 0, counted_ = kNever;
  unsigned sm_ = kNoSm;
};

void CompareIssue(const SmOutputs& want, const SmOutputs& got, Comparer* c) {
  c->Same("quota_scheduler", "grant_valid", want.grant_valid, got.grant_valid);
  for (unsigned s = 0; s < kMaxSchedulers; ++s) {
    if ((want.grant_valid >> s & 1) == 0) continue;
    c->Same("quota_scheduler", "grant_warp", want.grant_warp[s], got.grant_warp[s]);
  }
}

void CompareDecision(const Decision& want, const Decision& got, Comparer* c) {
  c->SameFields<DecisionFields>({"decision", "tb_dispatch"}, want, got);
  c->SameFields<TotalShareVec>({"share", "drf_tracker"}, want.share, got.share);
}

class LockstepControl final : public ControlPlane {
 public:
  LockstepControl(const ControlConfig& config, std::unique_ptr<ControlPlane> reference,
                  std::unique_ptr<ControlPlane> rtl, LockstepCounts* counts)
      : num_sms_(config.num_sms),
        num_kernels_(config.num_kernels),
        layout_(config.warps_per_scheduler),
        reference_(std::move(reference)),
        rtl_(std::move(rtl)),
        prepared_(rtl_->prepared()),
        want_probe_(dynamic_cast<const ControlProbe&>(*reference_)),
        got_probe_(dynamic_cast<const ControlProbe&>(*rtl_)),
        comparer_(config.num_kernels, counts) {
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

  bool prepares() const override { return reference_->prepares() || rtl_->prepares(); }
  void PrepareSms(Cycle now, const SmMask& sms, const ReadyTable& ready) override {
    comparer_.set_cycle(now);
    reference_->PrepareSms(now, sms, ready);
    rtl_->PrepareSms(now, sms, ready);
  }

  // The cycle of an SM's mismatch is known only at the end of the cycle: outputs are kept.
  void StepSm(SmId sm, const SmInputs& in, SmOutputs* out) override {
    const unsigned i = Index(sm);
    reference_->StepSm(sm, in, &want_[i]);
    rtl_->StepSm(sm, in, out);
    got_[i] = *out;
    stepped_.Set(i);
  }

  // PrepareSms() has told the cycle.
  bool grants_alone() const override {
    return prepares() && reference_->grants_alone() && rtl_->grants_alone();
  }
  Grants Grant(SmId sm, LaneMask ready) override {
    const Grants want = reference_->Grant(sm, ready);
    const Grants got = rtl_->Grant(sm, ready);
    comparer_.CountCycle();
    comparer_.set_sm(Index(sm));
    if (__builtin_expect(want.lanes != got.lanes, 0)) {
      SetGrants(layout_, want.lanes, &want_[Index(sm)]);
      SetGrants(layout_, got.lanes, &got_[Index(sm)]);
      CompareIssue(want_[Index(sm)], got_[Index(sm)], &comparer_);
    }
    comparer_.CountSame(1 + static_cast<unsigned>(__builtin_popcountll(want.lanes)));
    comparer_.Same("quota_scheduler", "quotas", want.left(), got.left());
    if (prepared_ != nullptr && prepared_->alone.Test(Index(sm))) {
      comparer_.Same("quota_scheduler", "prepared", want.lanes, prepared_->lanes[Index(sm)]);
      comparer_.Same("quota_scheduler", "alone", want.left(), false);
    }
    ShowQuotas(sm, &shown_);
    return got;
  }
  void ShowQuotas(SmId sm, SmOutputs* out) override {
    SmOutputs& want = want_[Index(sm)];
    for (SmOutputs* quotas : {&want, out}) {
      quotas->gated = false;
      quotas->with_quota = 0;
      quotas->quota_left = {};
    }
    reference_->ShowQuotas(sm, &want);
    rtl_->ShowQuotas(sm, out);
    comparer_.set_sm(Index(sm));
    CompareQuotas(want, *out);
  }

  void EndCycle(Cycle now) override {
    comparer_.set_cycle(now);
    comparer_.CountCycle();
    for (const unsigned i : stepped_) {
      comparer_.set_sm(i);
      CompareIssue(want_[i], got_[i], &comparer_);
      comparer_.SameFields<SmOutputsFields>({"sm", "preempt_engine"}, want_[i], got_[i]);
    }
    reference_->EndCycle(now);
    rtl_->EndCycle(now);
    CompareRegisters();
    stepped_ = SmMask();
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
  TokenView token() const override { return rtl_->token(); }
  std::optional<PartitionRange> partition(SmId sm, KernelId kernel) const override {
    return rtl_->partition(sm, kernel);
  }
  std::array<std::uint16_t, kMaxKernels> quotas(SmId sm) const override { return rtl_->quotas(sm); }

 private:
  void CompareQuotas(const SmOutputs& want, const SmOutputs& got) {
    comparer_.Same("sm_control", "gated", want.gated, got.gated);
    for (unsigned k = 0; k < num_kernels_; ++k) {
      comparer_.Same("quota_scheduler", "left", want.quota_left[k], got.quota_left[k]);
    }
    comparer_.Same("quota_scheduler", "with_quota", want.with_quota, got.with_quota);
  }
  void CompareRegisters() {
    comparer_.set_sm(kNoSm);
    comparer_.Same("sm_control", "awake", reference_->awake_sms(), rtl_->awake_sms());
    comparer_.Same("driver", "awake", reference_->driver_awake(), rtl_->driver_awake());
    for (const unsigned i : stepped_) {
      comparer_.set_sm(i);
      comparer_.SameFields<SmToDriverFields>({"to_driver", "sm_control"}, want_probe_.to_driver(i),
                                             got_probe_.to_driver(i));
      const auto want = reference_->quotas(static_cast<SmId>(i));
      const auto got = rtl_->quotas(static_cast<SmId>(i));
      for (unsigned k = 0; k < num_kernels_; ++k) {
        comparer_.Same("sm_control", "quota", want[k], got[k]);
      }
      CompareQuotas(want_[i], got_[i]);
    }
    if (driver_stepped_) CompareDriver();
  }
  void CompareDriver() {
    for (unsigned i = 0; i < num_sms_; ++i) {
      comparer_.set_sm(i);
      comparer_.SameFields<DriverToSmFields>({"to_sm", "driver"}, want_probe_.to_sm(i),
                                             got_probe_.to_sm(i));
    }
    comparer_.set_sm(kNoSm);
    comparer_.SameFields<TokenFields>({"token", "token_arbiter"}, reference_->token(),
                                      rtl_->token());
    comparer_.Same("tb_dispatch", "partition", true,
                   reference_->partitions() == rtl_->partitions());
    const std::vector<Decision>& want = reference_->TakeDecisions();
    const std::vector<Decision>& got = rtl_->TakeDecisions();
    comparer_.Same("tb_dispatch", "decisions in the cycle", want.size(), got.size());
    for (std::size_t i = 0; i < want.size(); ++i) CompareDecision(want[i], got[i], &comparer_);
    if (log_on_) log_.insert(log_.end(), got.begin(), got.end());
  }

  const unsigned num_sms_, num_kernels_;
  const LaneLayout layout_;
  std::unique_ptr<ControlPlane> reference_;
  std::unique_ptr<ControlPlane> rtl_;
  const PreparedGrants* prepared_;  // of the RTL: must be what Grant() says
  const ControlProbe& want_probe_;
  const ControlProbe& got_probe_;
  Comparer comparer_;
  std::array<SmOutputs, kMaxSms> want_{}, got_{};
  SmOutputs shown_;  // quotas in an ordinary cycle
  SmMask stepped_;
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
