// SPDX-License-Identifier: Apache-2.0
// smk_kernel_table beside KernelTable.
#pragma once

#include <functional>

#include "common/lockstep.h"
#include "control/driver/kernel_table.h"

namespace smk {

// The block and its reference. With `distort` the block is compared with a second reference that
// gets other inputs: one rule broken.
template <typename DutType, typename Pkg>
class KernelTablePair {
 public:
  using Dut = DutType;
  using Package = Pkg;
  using Inputs = KernelTable::Inputs;
  static constexpr unsigned kSms = Package::NumSms;
  static constexpr ResourceVector kLimits{Package::LimitRegisters, Package::LimitSharedMemory,
                                          Package::LimitThreads, Package::LimitTbs};

  explicit KernelTablePair(std::uint64_t seed) : lockstep_("kernel_table", seed), dice_(seed) {
    Drive({});
    lockstep_.Reset();
  }
  void Reset() {
    lockstep_.Reset();
    model_ = broken_ = KernelTable{{kLimits, ShareWeights::Of(kLimits)}};
  }
  KernelTable::Outputs Cycle(const Inputs& in = {}) {
    Drive(in);
    lockstep_.Eval();
    Inputs distorted = in;
    if (distort) distort(&distorted);
    const KernelTable& want = distort ? broken_ : model_;
    CompareLaunch(want.Eval(distorted));
    CompareKernels(want);
    const KernelTable::Outputs out = model_.Eval(in);
    lockstep_.ClockEdge();
    model_.Tick(in);
    if (distort) broken_.Tick(distorted);
    return out;
  }
  // A cycle of many that are alike, not compared.
  void CycleUnseen(const Inputs& in) {
    Drive(in);
    lockstep_.Eval();
    lockstep_.ClockEdge();
    model_.Tick(in);
  }
  const KernelTable::State& state() const { return model_.state(); }
  Lockstep<Dut>& lockstep() { return lockstep_; }
  std::function<void(Inputs*)> distort;

 private:
  void Drive(const Inputs& in) {
    Dut& dut = lockstep_.dut();
    dut.launch_valid_i = in.launch_valid;
    dut.launch_kernel_i = static_cast<CData>(Index(in.launch_kernel));
    Pack<KernelDescriptorFields<Package>>(in.launch, &dut.launch_i);
    dut.dispatch_new_i =
        static_cast<CData>(in.dispatch_new_valid ? 1u << Index(in.dispatch_new_kernel) : 0);
    DriveFinished(in);
    dut.tick_i = in.tick;
    dut.linger_ticks_i = in.linger_ticks;
  }

  // Completions of each kernel, on SMs by chance; the kernels of the other SMs mean nothing.
  void DriveFinished(const Inputs& in) {
    unsigned sm = dice_.Below(kSms);
    SmMask valid;
    const std::uint64_t noise = dice_.Bits();
    for (unsigned i = 0; i < kSms; ++i) {
      PackAt<SmKernelId<Package>>(i, noise >> 2 * i % 64, &lockstep_.dut().finished_kernel_i);
    }
    for (unsigned k = 0; k < kNumKernels; ++k) {
      for (unsigned n = 0; n < in.finished[k]; ++n, sm = (sm + 7) % kSms) {
        valid.Set(sm);
        PackAt<SmKernelId<Package>>(sm, k, &lockstep_.dut().finished_kernel_i);
      }
    }
    Pack<Bits<kSms>>(valid, &lockstep_.dut().finished_valid_i);
  }

  void CompareLaunch(const KernelTable::Outputs& out) {
    const Dut& dut = lockstep_.dut();
    lockstep_.Expect("launch_ready", dut.launch_ready_o, out.launch_ready);
    lockstep_.Expect("launch_error", dut.launch_error_o, out.launch_error);
    lockstep_.Expect("launch_fire", dut.launch_fire_o, out.launch_fire);
    lockstep_.Expect("launch_same", dut.launch_same_o, out.launch_same);
    lockstep_.Expect("kernel_done", dut.kernel_done_o, out.kernel_done);
    lockstep_.Expect("member_expired", dut.member_expired_o, out.member_expired);
  }

  void CompareKernels(const KernelTable& want) {
    const Dut& dut = lockstep_.dut();
    lockstep_.Expect("active", dut.active_o, want.active());
    lockstep_.Expect("members", dut.members_o, want.members());
    ExpectMessage<ContextViews<Package>>(&lockstep_, "views", dut.views_o, want.Views());
    for (unsigned k = 0; k < kNumKernels; ++k) {
      const KernelTable::Slot& slot = want.state().slot[k];
      ExpectAt<NeedVec<Package>>(&lockstep_, "need", k, dut.need_o, slot.need);
      ExpectAt<ShareVec<Package>>(&lockstep_, "tb_share", k, dut.tb_share_o, slot.share);
      ExpectAt<OrderVec<Package>>(&lockstep_, "order", k, dut.order_o, slot.order);
      ExpectAt<TbIdVec<Package>>(&lockstep_, "remaining", k, dut.remaining_o, slot.remaining());
      ExpectAt<TbIdVec<Package>>(&lockstep_, "next_tb", k, dut.next_tb_o, slot.next_tb);
    }
  }

  Lockstep<Dut> lockstep_;
  Dice dice_;
  KernelTable model_{{kLimits, ShareWeights::Of(kLimits)}};
  KernelTable broken_{{kLimits, ShareWeights::Of(kLimits)}};
};

}  // namespace smk
