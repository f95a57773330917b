// SPDX-License-Identifier: Apache-2.0
// Widths of the RTL's fields, from the verilated package of a configuration: the C++ side of
// rtl/common/smk_pkg.sv. Structs are written and read last field first.
#pragma once

#include "control/messages.h"
#include "cosim/port_bits.h"

namespace smk {

template <typename Package>
struct RtlLayout {
  static constexpr unsigned kSms = Package::NumSms;
  static constexpr unsigned kKernels = Package::NumKernels;
  static constexpr unsigned kSchedulers = Package::NumSchedulers;
  static constexpr unsigned kWarpsPerScheduler = Package::WarpsPerScheduler;
  static constexpr unsigned kSlots = Package::NumSlots;

  static constexpr unsigned kSm = IdWidth(kSms);
  static constexpr unsigned kKernel = IdWidth(kKernels);
  static constexpr unsigned kWarp = IdWidth(Package::NumWarps);
  static constexpr unsigned kSchedulerWarp = IdWidth(kWarpsPerScheduler);
  static constexpr unsigned kSlot = IdWidth(kSlots);
  static constexpr unsigned kBuffer = IdWidth(Package::PreemptedDepth);
  static constexpr unsigned kTb = Package::TbIdWidth;
  static constexpr unsigned kAddress = Package::AddressWidth;
  static constexpr unsigned kRegisterCnt = CntWidth(Package::LimitRegisters);
  static constexpr unsigned kSharedCnt = CntWidth(Package::LimitSharedMemory);
  static constexpr unsigned kThreadCnt = CntWidth(Package::LimitThreads);
  static constexpr unsigned kTbCnt = CntWidth(Package::LimitTbs);
  static constexpr unsigned kLine = CntWidth(Package::MaxContextLines);
  static constexpr unsigned kQuota = Package::QuotaWidth;
  static constexpr unsigned kIssued = Package::IssuedWidth;
  static constexpr unsigned kDone = 8;
  static constexpr unsigned kKernelCnt = CntWidth(kKernels);
  static constexpr unsigned kEvent = 1 + 3 + kKernel + kTb + kBuffer + 1 + kTbCnt;
  static constexpr unsigned kWarpStart = 1 + 2 * kWarp + kSlot + kKernel + kTb + 1;
  static constexpr unsigned kLogLines = CntWidth(kLine);
  static constexpr unsigned kView = kAddress + kLine + kLogLines;
  static constexpr unsigned kContext = 1 + 1 + kSlot + kLine + kAddress;
  static constexpr unsigned kTotalShare = CntWidth(2 * kSms * Package::ShareWhole) + 1;

  static ControlConfig Config() {
    ControlConfig config;
    config.num_sms = kSms;
    config.num_schedulers = kSchedulers;
    config.warps_per_scheduler = kWarpsPerScheduler;
    config.limits = {Package::LimitRegisters, Package::LimitSharedMemory, Package::LimitThreads,
                     Package::LimitTbs};
    config.preempted_depth = Package::PreemptedDepth;
    return config;
  }

  template <typename Port>
  static SmCommand ReadCommand(const Port& port) {
    FieldReader r(port);
    SmCommand c;
    c.quota = static_cast<std::uint16_t>(r.Take(kQuota));
    c.last = r.Take(1) != 0;
    c.first = r.Take(1) != 0;
    c.range = ReadRange(&r);
    c.mode = static_cast<PreemptMode>(r.Take(2));
    c.count = static_cast<std::uint8_t>(r.Take(kTbCnt));
    c.buffer = static_cast<std::uint16_t>(r.Take(kBuffer));
    c.restore = r.Take(1) != 0;
    c.tb = static_cast<TbId>(r.Take(kTb));
    c.kernel = static_cast<KernelId>(r.Take(kKernel));
    c.op = static_cast<CommandOp>(r.Take(3));
    return c;
  }

  template <typename Port>
  static SmEvent ReadEvent(const Port& port, unsigned lsb = 0) {
    FieldReader r(port, lsb);
    SmEvent e;
    e.shortfall = static_cast<std::uint8_t>(r.Take(kTbCnt));
    e.counted = r.Take(1) != 0;
    e.buffer = static_cast<std::uint16_t>(r.Take(kBuffer));
    e.tb = static_cast<TbId>(r.Take(kTb));
    e.kernel = static_cast<KernelId>(r.Take(kKernel));
    e.kind = static_cast<EventKind>(r.Take(3));
    e.valid = r.Take(1) != 0;
    return e;
  }

  template <typename Port>
  static void WriteEvent(const SmEvent& e, Port* port, unsigned lsb) {
    FieldWriter w(port, lsb);
    w.Put(kTbCnt, e.shortfall).Put(1, e.counted).Put(kBuffer, e.buffer).Put(kTb, Index(e.tb));
    w.Put(kKernel, Index(e.kernel)).Put(3, static_cast<unsigned>(e.kind)).Put(1, e.valid);
  }

  template <typename Port>
  static WarpStart ReadWarpStart(const Port& port, unsigned lsb = 0) {
    FieldReader r(port, lsb);
    WarpStart w;
    w.restore = r.Take(1) != 0;
    w.tb = static_cast<TbId>(r.Take(kTb));
    w.kernel = static_cast<KernelId>(r.Take(kKernel));
    w.tb_slot = static_cast<TbSlot>(r.Take(kSlot));
    w.warp_in_tb = static_cast<std::uint8_t>(r.Take(kWarp));
    w.warp = static_cast<WarpId>(r.Take(kWarp));
    w.valid = r.Take(1) != 0;
    return w;
  }

  template <typename Port>
  static ContextRequest ReadContext(const Port& port, unsigned lsb = 0) {
    FieldReader r(port, lsb);
    ContextRequest c;
    c.address = r.Take(kAddress);
    c.line = static_cast<std::uint16_t>(r.Take(kLine));
    c.tb_slot = static_cast<TbSlot>(r.Take(kSlot));
    c.store = r.Take(1) != 0;
    c.valid = r.Take(1) != 0;
    return c;
  }

 private:
  template <typename Reader>
  static PartitionRange ReadRange(Reader* r) {
    PartitionRange p;
    p.tb_count = static_cast<std::uint8_t>(r->Take(kTbCnt));
    p.threads_limit = static_cast<std::uint16_t>(r->Take(kThreadCnt));
    p.shared_memory_limit = static_cast<std::uint16_t>(r->Take(kSharedCnt));
    p.registers_limit = static_cast<std::uint16_t>(r->Take(kRegisterCnt));
    p.tb_base = static_cast<std::uint8_t>(r->Take(kTbCnt));
    p.threads_base = static_cast<std::uint16_t>(r->Take(kThreadCnt));
    p.shared_memory_base = static_cast<std::uint16_t>(r->Take(kSharedCnt));
    p.registers_base = static_cast<std::uint16_t>(r->Take(kRegisterCnt));
    return p;
  }
};

}  // namespace smk
