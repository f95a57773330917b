// SPDX-License-Identifier: Apache-2.0
// Runs a scenario on a control plane, with all checks, beside a second instance of the control
// plane that is stepped only when it must be.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "chip/plane_host.h"
#include "chip/plane_layout.h"
#include "chip/plane_room.h"

namespace smk::plane {

struct RunSummary {
  Cycle cycles = 0;
  std::uint64_t grants = 0;
  std::uint64_t reloads = 0;  // of quotas, on schedulers 0
  std::uint64_t skipped = 0;  // SM steps that the lazy instance was spared
  Counts counts;
};

class Rig {
 public:
  // `lazy` may be null.
  Rig(const Scenario& scenario, ControlPlane* eager, ControlPlane* lazy)
      : scenario_(scenario),
        eager_(*eager),
        lazy_(lazy),
        ledger_(scenario),
        host_(scenario, &ledger_) {
    for (unsigned i = 0; i < scenario.config.num_sms; ++i) {
      sms_.emplace_back(scenario, i, &ledger_, &memory_);
      layouts_.emplace_back(scenario, i);
      rooms_.emplace_back(scenario, i);
    }
    outputs_.resize(scenario.config.num_sms);
    prepared_.resize(scenario.config.num_sms);
    eager_.EnableDecisionLog(true);
    if (lazy_ != nullptr) lazy_->EnableDecisionLog(true);
  }

  // Runs until all programs have ended; throws Failure.
  RunSummary Run() {
    while (!host_.done() || now_ < drained_until_) {
      StepCycle();
      CheckProgress();
      if (!host_.done()) drained_until_ = now_ + 300;
      ++now_;
    }
    ledger_.CheckPromisesKept();
    Require(memory_.live() == 0, Check::kContext, [] { return "a context is left behind"; });
    for (const FakeSm& sm : sms_) {
      Require(sm.empty(), Check::kTbOnce, [] { return "a TB is left behind"; });
      summary_.grants += sm.grants();
    }
    summary_.cycles = now_;
    summary_.counts = ledger_.counts();
    return summary_;
  }

 private:
  void StepCycle() {
    lazy_called_ = false;
    const SmMask awake = lazy_ == nullptr ? SmMask() : lazy_->awake_sms();
    StepDriver();
    if (eager_.prepares()) PrepareSms();
    for (unsigned i = 0; i < sms_.size(); ++i) StepSm(i, awake.Test(i));
    eager_.EndCycle(now_);
    if (lazy_called_) lazy_->EndCycle(now_);
    ticks_ = ticks_ << 1 | (tick_ ? 1u : 0u);
    CheckDecisions();
    CheckTables();
    ledger_.CheckDoneInTime(now_);
  }

  void StepDriver() {
    const HostInputs in = host_.Drive(now_);
    HostOutputs out, lazy_out;
    tick_ = in.tick;
    eager_.BeginCycle(now_, in, &out);
    if (lazy_ != nullptr && (in.tick || in.launch_valid || lazy_->driver_awake())) {
      lazy_->BeginCycle(now_, in, &lazy_out);
      lazy_called_ = true;
    }
    const bool same = out.launch_ready == lazy_out.launch_ready &&
                      out.launch_error == lazy_out.launch_error &&
                      out.kernel_done == lazy_out.kernel_done;
    Require(lazy_ == nullptr || same, Check::kLazy,
            [&] { return "driver at " + std::to_string(now_); });
    host_.Observe(in, out, now_);
  }

  void PrepareSms() {
    const LaneLayout layout(scenario_.config.warps_per_scheduler);
    ReadyTable ready{};
    for (unsigned i = 0; i < sms_.size(); ++i) {
      prepared_[i] = sms_[i].Begin(now_);
      for (unsigned s = 0; s < scenario_.config.num_schedulers; ++s) {
        ready[i] |= LaneMask{prepared_[i].ready[s]} << layout.LaneOf(s, 0);
      }
    }
    eager_.PrepareSms(now_, SmMask::First(static_cast<unsigned>(sms_.size())), ready);
  }

  void StepSm(unsigned i, bool awake) {
    const SmInputs in = eager_.prepares() ? prepared_[i] : sms_[i].Begin(now_);
    SmOutputs& out = outputs_[i];
    const SmOutputs before = out;
    const std::uint32_t activated_before = out.tb_activate;
    eager_.StepSm(static_cast<SmId>(i), in, &out);
    if (lazy_ != nullptr) CheckLazy(i, awake || !in.Quiet(), in, out, before);
    sms_[i].End(out, now_);
    CheckWork(i);
    CheckQuota(i, before.quota_left, activated_before);
    if (Partitioned()) layouts_[i].Check(sms_[i], out, now_);
  }

  static bool Same(const SmOutputs& a, const SmOutputs& b) {
    bool grants = a.grant_valid == b.grant_valid;
    for (unsigned s = 0; s < kMaxSchedulers; ++s) {
      if (a.grant_valid >> s & 1) grants = grants && a.grant_warp[s] == b.grant_warp[s];
    }
    const WarpStart &w = a.warp_start, &v = b.warp_start;
    const bool start = w.valid == v.valid && w.warp == v.warp && w.warp_in_tb == v.warp_in_tb &&
                       w.tb_slot == v.tb_slot && w.kernel == v.kernel && w.tb == v.tb &&
                       w.restore == v.restore && w.base.registers == v.base.registers &&
                       w.base.shared_memory == v.base.shared_memory;
    const ContextRequest &c = a.context, &d = b.context;
    const bool context = c.valid == d.valid && c.store == d.store && c.tb_slot == d.tb_slot &&
                         c.line == d.line && c.address == d.address;
    const bool release = a.release_valid == b.release_valid &&
                         (!a.release_valid ||
                          (a.release_slot == b.release_slot && a.release_kind == b.release_kind));
    return grants && start && context && release && a.tb_activate == b.tb_activate &&
           a.tb_stop == b.tb_stop && a.quota_left == b.quota_left && a.gated == b.gated &&
           a.with_quota == b.with_quota && a.samples == b.samples && a.place_waits == b.place_waits;
  }

  // Stepped: the same outputs. Skipped: the other instance says nothing either.
  void CheckLazy(unsigned i, bool step, const SmInputs& in, const SmOutputs& out,
                 const SmOutputs& before) {
    SmOutputs other;
    other.quota_left = before.quota_left;
    other.gated = before.gated;
    other.with_quota = before.with_quota;
    if (step) {
      lazy_->StepSm(static_cast<SmId>(i), in, &other);
      lazy_called_ = true;
    } else {
      ++summary_.skipped;
    }
    Require(Same(out, other), Check::kLazy, [&] {
      return std::string(step ? "stepped" : "skipped") + " SM " + std::to_string(i) + " at " +
             std::to_string(now_);
    });
  }

  bool Gated(unsigned i) const {
    for (const auto q : eager_.quotas(static_cast<SmId>(i))) {
      if (q != 0) return true;
    }
    return false;
  }

  void CheckWork(unsigned i) const {
    if (scenario_.policy.quota_enable && Gated(i)) return;
    for (unsigned s = 0; s < scenario_.config.num_schedulers; ++s) {
      const bool idle = sms_[i].may()[s] != 0 && (outputs_[i].grant_valid >> s & 1) == 0;
      Require(!idle, Check::kWork, [&] {
        return "scheduler " + std::to_string(s) + " of SM " + std::to_string(i) + " idles at " +
               std::to_string(now_);
      });
    }
  }

  // Of scheduler 0: counted down by grants; reloaded when every running kernel has spent its own,
  // or when nothing could be granted from tick to tick. The schedulers hear one cycle late that a
  // TB runs (`activated_before`: those of the cycle before).
  void CheckQuota(unsigned i, const std::array<std::uint16_t, kMaxKernels>& before,
                  std::uint32_t activated_before) {
    if (!scenario_.policy.quota_enable) return;
    const auto where = [&] { return "on SM " + std::to_string(i) + " at " + std::to_string(now_); };
    const bool gated = Gated(i);
    const bool was_gated = gated_.Test(i);
    gated_.Assign(i, gated);
    const auto& left = outputs_[i].quota_left;
    for (unsigned of = 0; of < kMaxKernels && outputs_[i].gated; ++of) {
      Require((outputs_[i].with_quota >> of & 1) == (left[of] != 0), Check::kQuota,
              [&] { return "the mask of kernels with quota is wrong " + where(); });
    }
    auto expected = before;
    const unsigned k = sms_[i].granted_on_0();
    if (gated && was_gated && k != kMaxKernels) {
      Require(before[k] != 0, Check::kQuota, [&] { return "granted without quota " + where(); });
      --expected[k];
    }
    if (!gated || !was_gated || left == expected) return;
    ++summary_.reloads;
    Require(left == eager_.quotas(static_cast<SmId>(i)), Check::kQuota,
            [&] { return "quota comes or goes " + where(); });
    const bool ticked = (ticks_ >> scenario_.config.LinkStages(i) & 1) != 0;
    for (const FakeSm::Tb& tb : sms_[i].tbs()) {
      const auto slot = static_cast<unsigned>(&tb - sms_[i].tbs().data());
      const std::uint32_t activated = outputs_[i].tb_activate | activated_before;
      const bool runs = tb.valid && tb.active && (activated >> slot & 1) == 0 &&
                        (outputs_[i].tb_stop >> slot & 1) == 0 && HasWarpOn0(tb);
      Require(!runs || expected[tb.kernel] == 0 || ticked, Check::kQuota,
              [&] { return "reloaded too early " + where(); });
    }
  }

  bool HasWarpOn0(const FakeSm::Tb& tb) const {
    for (const unsigned w : tb.warps) {
      if (w % scenario_.config.num_schedulers == 0) return true;
    }
    return false;
  }

  void CheckDecisions() {
    const std::vector<Decision>& decisions = eager_.TakeDecisions();
    if (lazy_called_) {
      const std::vector<Decision>& other = lazy_->TakeDecisions();
      bool same = decisions.size() == other.size();
      for (std::size_t i = 0; same && i < decisions.size(); ++i) {
        const Decision &a = decisions[i], &b = other[i];
        same = a.cycle == b.cycle && a.reason == b.reason && a.kernel == b.kernel && a.sm == b.sm &&
               a.tb == b.tb && a.victim == b.victim && a.victim_tbs == b.victim_tbs &&
               a.share == b.share;
      }
      Require(same, Check::kLazy, [&] { return "decisions at " + std::to_string(now_); });
    } else {
      Require(lazy_ == nullptr || decisions.empty(), Check::kLazy,
              [&] { return "a decision while asleep at " + std::to_string(now_); });
    }
    ledger_.Decisions(decisions, now_);
    for (const Decision& d : decisions) layouts_[Index(d.sm)].Decide(d.reason, &ledger_);
  }

  void CheckTables() {
    const PartitionTable table = eager_.partitions();
    for (unsigned i = 0; i < sms_.size(); ++i) {
      if (Partitioned()) layouts_[i].Observe(table[i]);
      rooms_[i].Check(sms_[i], Partitioned() ? &table[i] : nullptr, &ledger_, now_);
      if (lazy_ == nullptr || now_ % 64 != 0) continue;
      const auto sm = static_cast<SmId>(i);
      Require(lazy_->partitions()[i] == table[i] && lazy_->quotas(sm) == eager_.quotas(sm),
              Check::kLazy, [&] { return "tables at " + std::to_string(now_); });
    }
  }

  bool Partitioned() const {
    const DispatchMode mode = scenario_.policy.dispatch;
    return mode == DispatchMode::kPartitioned || mode == DispatchMode::kEven ||
           mode == DispatchMode::kTable || mode == DispatchMode::kSlicer;
  }

  // Something is granted again and again, or nothing runs; and there is an end.
  void CheckProgress() {
    std::uint64_t grants = 0;
    for (const FakeSm& sm : sms_) grants += sm.grants();
    if (grants != last_grants_) last_progress_ = now_;
    last_grants_ = grants;
    Require(now_ < last_progress_ + 30000 && now_ < 1000000, Check::kProgress, [&] {
      std::string text = "nothing is granted since " + std::to_string(last_progress_) + ";";
      for (unsigned k = 0; k < scenario_.programs.size(); ++k) {
        const Current& c = ledger_.at(k);
        text += " kernel " + std::to_string(k) + (c.active ? " active " : " done ") +
                std::to_string(c.completed) + "/" + std::to_string(c.tbs.size());
      }
      return text;
    });
  }

  const Scenario& scenario_;
  ControlPlane& eager_;
  ControlPlane* lazy_;
  Ledger ledger_;
  ContextMemory memory_;
  Host host_;
  std::vector<FakeSm> sms_;
  std::vector<Layout> layouts_;
  std::vector<Room> rooms_;
  std::vector<SmOutputs> outputs_;
  std::vector<SmInputs> prepared_;  // of this cycle, for a control plane that prepares
  Cycle now_ = 0, drained_until_ = 0, last_progress_ = 0;
  std::uint64_t last_grants_ = 0;
  SmMask gated_;
  bool tick_ = false, lazy_called_ = false;
  std::uint32_t ticks_ = 0;  // of the cycles before, the last one lowest
  RunSummary summary_;
};

}  // namespace smk::plane
