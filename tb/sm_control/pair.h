// SPDX-License-Identifier: Apache-2.0
// smk_sm_control beside SmControl, which is stepped in every cycle.
#pragma once

#include <functional>

#include "common/lockstep.h"
#include "control/sm_control.h"

namespace smk {

// The block and its reference, with the interface of the reference. With `distort` the block is
// compared with a second reference that is told something else: one rule broken.
template <typename DutType, typename Pkg>
class SmControlPair {
 public:
  using Package = Pkg;
  static constexpr unsigned kSlots = Package::NumSlots;

  static ControlConfig Config() {
    ControlConfig config;
    config.num_schedulers = Package::NumSchedulers;
    config.warps_per_scheduler = Package::WarpsPerScheduler;
    config.limits = {Package::LimitRegisters, Package::LimitSharedMemory, Package::LimitThreads,
                     Package::LimitTbs};
    config.preempted_depth = Package::PreemptedDepth;
    return config;
  }

  explicit SmControlPair(const PolicyConfig& policy = {}, std::uint64_t seed = 1)
      : lockstep_("sm_control", seed), model_(Config(), policy), broken_(Config(), policy) {
    lockstep_.dut().warp_policy_i = static_cast<CData>(policy.warp_policy);
    Drive({}, {}, {});
    lockstep_.Reset();
    CompareRegisters(model_, {}, {});
  }

  void Step(const SmInputs& in, const DriverToSm& from_driver, const KernelViews& views,
            SmOutputs* out, SmToDriver* to_driver) {
    Drive(in, from_driver, views);
    lockstep_.Eval();
    model_.Step(in, from_driver, views, out, to_driver);
    if (distort) {
      SmInputs told = in;
      DriverToSm told_driver = from_driver;
      distort(&told, &told_driver);
      broken_.Step(told, told_driver, views, &broken_out_, &broken_to_driver_);
    }
    const SmOutputs& want = distort ? broken_out_ : *out;
    CompareWires(want);
    lockstep_.ClockEdge();
    CompareRegisters(distort ? broken_ : model_, want, distort ? broken_to_driver_ : *to_driver);
  }

  const SmControl& model() const { return model_; }
  Lockstep<DutType>& lockstep() { return lockstep_; }
  std::function<void(SmInputs*, DriverToSm*)> distort;

 private:
  static constexpr unsigned kSchedulers = Package::NumSchedulers;
  static constexpr unsigned kWarps = Package::WarpsPerScheduler;
  static constexpr unsigned kKernelWidth = CntWidth(Package::NumKernels - 1);
  static constexpr unsigned kGrantWidth = CntWidth(kWarps - 1);
  static constexpr unsigned kWarpWidth = CntWidth(Package::NumWarps - 1);
  static constexpr unsigned kSlotWidth = CntWidth(kSlots - 1);
  static constexpr unsigned kBufferWidth = CntWidth(Package::PreemptedDepth - 1);
  static constexpr unsigned kRegistersWidth = CntWidth(Package::LimitRegisters);
  static constexpr unsigned kSharedWidth = CntWidth(Package::LimitSharedMemory);
  static constexpr unsigned kThreadsWidth = CntWidth(Package::LimitThreads);
  static constexpr unsigned kTbsWidth = CntWidth(Package::LimitTbs);
  static constexpr unsigned kLineWidth = CntWidth(Package::MaxContextLines);
  static constexpr unsigned kLogLinesWidth = CntWidth(kLineWidth);
  static constexpr unsigned kViewWidth = Package::AddressWidth + kLineWidth + kLogLinesWidth;

  void Drive(const SmInputs& in, const DriverToSm& from_driver, const KernelViews& views) {
    DutType& dut = lockstep_.dut();
    for (unsigned s = 0; s < kSchedulers; ++s) {
      SetBits(&dut.ready_i, s * kWarps, kWarps, in.ready[s]);
    }
    SetBits(&dut.tb_finished_i, 0, kSlots, in.tb_finished);
    SetBits(&dut.tb_quiet_i, 0, kSlots, in.tb_quiet);
    SetBits(&dut.tb_flushable_i, 0, kSlots, in.tb_flushable);
    dut.context_ready_i = in.context_ready;
    dut.context_done_i = in.context_done;
    dut.command_valid_i = from_driver.command_valid;
    DriveCommand(from_driver.command);
    dut.buffer_valid_i = from_driver.buffer_valid;
    dut.buffer_i = from_driver.buffer;
    dut.event_ack_i = from_driver.event_ack;
    dut.tick_i = from_driver.tick;
    for (unsigned k = 0; k < Package::NumKernels; ++k) {
      const unsigned lines_at = k * kViewWidth + kLogLinesWidth;
      SetBits(&dut.views_i, k * kViewWidth, kLogLinesWidth, views[k].context_log2_lines);
      SetBits(&dut.views_i, lines_at, kLineWidth, views[k].context_lines);
      SetBits(&dut.views_i, lines_at + kLineWidth, Package::AddressWidth, views[k].context_base);
      SetBits(&dut.warps_i, k * kThreadsWidth, kThreadsWidth, views[k].need.threads);
    }
  }

  void DriveCommand(const SmCommand& c) {
    const PartitionRange& r = c.range;
    FieldWriter(&lockstep_.dut().command_i)
        .Put(Package::QuotaWidth, c.quota)
        .Put(1, c.last)
        .Put(1, c.first)
        .Put(kTbsWidth, r.tb_count)
        .Put(kThreadsWidth, r.threads_limit)
        .Put(kSharedWidth, r.shared_memory_limit)
        .Put(kRegistersWidth, r.registers_limit)
        .Put(kTbsWidth, r.tb_base)
        .Put(kThreadsWidth, r.threads_base)
        .Put(kSharedWidth, r.shared_memory_base)
        .Put(kRegistersWidth, r.registers_base)
        .Put(2, static_cast<unsigned>(c.mode))
        .Put(kTbsWidth, c.count)
        .Put(kBufferWidth, c.buffer)
        .Put(1, c.restore)
        .Put(Package::TbIdWidth, Index(c.tb))
        .Put(kKernelWidth, Index(c.kernel))
        .Put(3, static_cast<unsigned>(c.op));
  }

  // Outputs of the cycle that its inputs make.
  void CompareWires(const SmOutputs& want) {
    const DutType& dut = lockstep_.dut();
    lockstep_.Expect("grant_valid", dut.grant_valid_o, want.grant_valid);
    for (unsigned s = 0; s < kSchedulers; ++s) {
      if ((want.grant_valid >> s & 1) == 0) continue;
      lockstep_.Expect("grant_warp", GetBits(dut.grant_warp_o, s * kGrantWidth, kGrantWidth),
                       want.grant_warp[s]);
    }
    CompareStart(want.warp_start);
    lockstep_.Expect("tb_activate", dut.tb_activate_o, want.tb_activate);
    lockstep_.Expect("tb_stop", dut.tb_stop_o, want.tb_stop);
    CompareContext(want.context);
    lockstep_.Expect("release_valid", dut.release_valid_o, want.release_valid);
    if (!want.release_valid) return;
    lockstep_.Expect("release_slot", dut.release_slot_o, Index(want.release_slot));
    lockstep_.Expect("release_kind", dut.release_kind_o, static_cast<unsigned>(want.release_kind));
  }

  void CompareStart(const WarpStart& want) {
    FieldReader start(lockstep_.dut().warp_start_o);
    const std::uint64_t restore = start.Take(1), tb = start.Take(Package::TbIdWidth);
    const std::uint64_t kernel = start.Take(kKernelWidth), slot = start.Take(kSlotWidth);
    const std::uint64_t warp_in_tb = start.Take(kWarpWidth), warp = start.Take(kWarpWidth);
    lockstep_.Expect("warp_start.valid", start.Take(1), want.valid);
    if (!want.valid) return;
    lockstep_.Expect("warp_start.restore", restore, want.restore);
    lockstep_.Expect("warp_start.tb", tb, Index(want.tb));
    lockstep_.Expect("warp_start.kernel", kernel, Index(want.kernel));
    lockstep_.Expect("warp_start.tb_slot", slot, Index(want.tb_slot));
    lockstep_.Expect("warp_start.warp_in_tb", warp_in_tb, want.warp_in_tb);
    lockstep_.Expect("warp_start.warp", warp, Index(want.warp));
  }

  void CompareContext(const ContextRequest& want) {
    FieldReader context(lockstep_.dut().context_o);
    const std::uint64_t address = context.Take(Package::AddressWidth);
    const std::uint64_t line = context.Take(kLineWidth), slot = context.Take(kSlotWidth);
    const std::uint64_t store = context.Take(1);
    lockstep_.Expect("context.valid", context.Take(1), want.valid);
    if (!want.valid) return;
    lockstep_.Expect("context.address", address, want.address);
    lockstep_.Expect("context.line", line, want.line);
    lockstep_.Expect("context.tb_slot", slot, Index(want.tb_slot));
    lockstep_.Expect("context.store", store, want.store);
  }

  // Outputs that come from registers: looked at after the edge.
  void CompareRegisters(const SmControl& want, const SmOutputs& out, const SmToDriver& to_driver) {
    const DutType& dut = lockstep_.dut();
    lockstep_.Expect("command_ready", dut.command_ready_o, to_driver.command_ready);
    CompareEvent(to_driver.event);
    lockstep_.Expect("buffer_request", dut.buffer_request_o, to_driver.buffer_request);
    if (to_driver.buffer_request) {
      lockstep_.Expect("buffer_kernel", dut.buffer_kernel_o, Index(to_driver.buffer_kernel));
    }
    lockstep_.Expect("profile_valid", dut.profile_valid_o, to_driver.profile_valid);
    lockstep_.Expect("gated", dut.gated_o, want.quotas().gated);
    lockstep_.Expect("awake", dut.awake_o, want.awake());
    for (unsigned k = 0; k < Package::NumKernels; ++k) {
      const unsigned at = k * Package::QuotaWidth;
      lockstep_.Expect("quota_left", GetBits(dut.quota_left_o, at, Package::QuotaWidth),
                       out.quota_left[k]);
      lockstep_.Expect("quota", GetBits(dut.quota_o, at, Package::QuotaWidth),
                       want.quotas().quota[k]);
      if (!to_driver.profile_valid) continue;
      const unsigned issued_at = k * Package::IssuedWidth;
      lockstep_.Expect("profile_issued",
                       GetBits(dut.profile_issued_o, issued_at, Package::IssuedWidth),
                       to_driver.profile_issued[k]);
    }
  }

  // Of the payload only what belongs to the kind.
  void CompareEvent(const SmEvent& want) {
    FieldReader event(lockstep_.dut().event_o);
    const std::uint64_t shortfall = event.Take(kTbsWidth), counted = event.Take(1);
    const std::uint64_t buffer = event.Take(kBufferWidth), tb = event.Take(Package::TbIdWidth);
    const std::uint64_t kernel = event.Take(kKernelWidth), kind = event.Take(3);
    lockstep_.Expect("event.valid", event.Take(1), want.valid);
    if (!want.valid) return;
    lockstep_.Expect("event.kind", kind, static_cast<unsigned>(want.kind));
    if (want.kind == EventKind::kSettled) {
      lockstep_.Expect("event.shortfall", shortfall, want.shortfall);
      return;
    }
    lockstep_.Expect("event.kernel", kernel, Index(want.kernel));
    if (NeedsAck(want.kind)) lockstep_.Expect("event.buffer", buffer, want.buffer);
    if (want.kind == EventKind::kBufferFree) return;
    lockstep_.Expect("event.tb", tb, Index(want.tb));
    lockstep_.Expect("event.counted", counted, want.counted);
  }

  Lockstep<DutType> lockstep_;
  SmControl model_;
  SmControl broken_;
  SmOutputs broken_out_;
  SmToDriver broken_to_driver_;
};

}  // namespace smk
