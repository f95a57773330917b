// SPDX-License-Identifier: Apache-2.0
// The packed types of rtl/common/smk_pkg.sv, each described once.
//
// Purpose     One list of fields per packed struct, in the order of smk_pkg, with the member of the
//             C++ struct and the width. Packing, unpacking, comparing and printing expand these
//             lists (sim/cosim/pack.h), in the co-simulation and in the testbenches.
// Interface   `Package` has the numbers of a configuration under the names of smk_pkg: the class
//             that Verilator makes of it.
// A new field is one line here, a member of the C++ struct and one of the SystemVerilog struct.
#pragma once

#include "control/driver/preempted_queue.h"
#include "control/driver/tb_dispatch.h"
#include "control/messages.h"
#include "control/packed.h"

namespace smk {

// Vectors over kernels, SMs and schedulers.
template <typename P, typename Element>
using KernelVec = Vector<P::NumKernels, Element>;
template <typename P, typename Element>
using SmVec = Vector<P::NumSms, Element>;
template <typename P, typename Element>
using SchedulerVec = Vector<P::NumSchedulers, Element>;
template <typename P>
using TbIdVec = KernelVec<P, Bits<P::TbIdWidth>>;
template <typename P>
using TbCntVec = KernelVec<P, Bits<P::TbCntWidth>>;
template <typename P>
using OrderVec = KernelVec<P, Bits<P::KernelWidth>>;
template <typename P>
using ShareVec = KernelVec<P, Bits<P::ShareWidth>>;
template <typename P>
using TotalShareVec = KernelVec<P, Bits<P::TotalShareWidth>>;
template <typename P>
using BufferCntVec = KernelVec<P, Bits<P::BufferCntWidth>>;
template <typename P>
using QuotaVec = KernelVec<P, Bits<P::QuotaWidth>>;
template <typename P>
using IssuedVec = KernelVec<P, Bits<P::IssuedWidth>>;
template <typename P>
using TokenShareVec = KernelVec<P, Bits<P::TokenShareWidth>>;
template <typename P>
using KernelSms = KernelVec<P, Bits<P::NumSms>>;
template <typename P>
using KernelSlots = KernelVec<P, Bits<P::NumSlots>>;
template <typename P>
using SmKernels = SmVec<P, Bits<P::NumKernels>>;
template <typename P>
using SmKernelId = SmVec<P, Bits<P::KernelWidth>>;
template <typename P>
using SmTbCnts = SmVec<P, TbCntVec<P>>;
template <typename P>
using SmIssued = SmVec<P, IssuedVec<P>>;
template <typename P>
using SmFlags = SmVec<P, Bits<1>>;
template <typename P>
using SmSamples = SmVec<P, Bits<P::SampleWidth>>;
template <typename P>
using KernelSchedulers = KernelVec<P, Bits<P::NumSchedulers>>;
template <typename P>
using SmMemory = SmVec<P, KernelSchedulers<P>>;
template <typename P>
using SchedulerWarps = SchedulerVec<P, Bits<P::WarpsPerScheduler>>;
template <typename P>
using GrantWarps = SchedulerVec<P, Bits<P::GrantWidth>>;
template <typename P>
using GrantKernels = SchedulerVec<P, Bits<P::KernelWidth>>;

// resource_vector_t
template <typename P>
struct ResourceVectorFields {
  using Message = ResourceVector;
  static constexpr auto kFields =
      std::make_tuple(Is<Bits<P::RegisterCntWidth>>("registers", &Message::registers),
                      Is<Bits<P::SharedCntWidth>>("shared_memory", &Message::shared_memory),
                      Is<Bits<P::ThreadCntWidth>>("threads", &Message::threads),
                      Is<Bits<P::TbCntWidth>>("tbs", &Message::tbs));
};

// tb_need_t
template <typename P>
struct TbNeedFields {
  using Message = ResourceVector;
  static constexpr auto kFields =
      std::make_tuple(Is<Bits<P::RegisterCntWidth>>("registers", &Message::registers),
                      Is<Bits<P::SharedCntWidth>>("shared_memory", &Message::shared_memory),
                      Is<Bits<P::ThreadCntWidth>>("threads", &Message::threads));
};
template <typename P>
using NeedVec = KernelVec<P, TbNeedFields<P>>;

// policy_t
template <typename P>
struct PolicyFields {
  using Message = PolicyConfig;
  static constexpr auto kFields = std::make_tuple(
      Is<Bits<3>>("dispatch", &Message::dispatch), Is<Bits<2>>("preempt", &Message::preempt),
      Is<Bits<1>>("warp_policy", &Message::warp_policy),
      Is<Bits<1>>("quota_enable", &Message::quota_enable), Is<Bits<1>>("stream", &Message::stream),
      Is<Bits<1>>("quota_gate", &Message::quota_gate),
      Is<Bits<1>>("epoch_end", &Message::epoch_end),
      Is<Bits<1>>("preempt_guard", &Message::preempt_guard),
      Is<Bits<1>>("leftover_strict", &Message::leftover_strict),
      Is<Bits<P::KernelCntWidth>>("kernels_per_sm", &Message::kernels_per_sm),
      Is<TbCntVec<P>>("table_tbs", &Message::table),
      Is<Bits<P::QuotaWidth>>("epoch_length", &Message::epoch_length),
      Is<Bits<P::LingerWidth>>("linger_ticks", &Message::linger_ticks),
      Is<Bits<P::ScaleWidth>>("latency_scale", &Message::latency_scale),
      Is<Bits<16>>("slicer_warmup", &Message::slicer_warmup),
      Is<Bits<16>>("slicer_settle", &Message::slicer_settle),
      Is<Bits<16>>("slicer_window", &Message::slicer_window),
      Is<Bits<16>>("slicer_delay", &Message::slicer_delay),
      Is<Bits<3>>("slicer_change", &Message::slicer_change),
      Is<Bits<4>>("slicer_sustain", &Message::slicer_sustain),
      Is<Bits<P::LossWidth>>("slicer_loss", &Message::slicer_loss),
      Is<Bits<P::TokenWindowWidth>>("token_window", &Message::token_window),
      Is<Bits<P::TokenQuotaWidth>>("token_quota", &Message::token_quota),
      Is<TokenShareVec<P>>("token_request", &Message::token_request),
      Is<TokenShareVec<P>>("token_limit", &Message::token_limit),
      Is<Bits<P::ChimeraLimitWidth>>("chimera_limit", &Message::chimera_limit),
      Is<Bits<P::ChimeraLineWidth>>("chimera_line", &Message::chimera_line));
};

// chimera_t
template <typename P>
struct ChimeraFields {
  using Message = Chimera;
  static constexpr auto kFields =
      std::make_tuple(Is<Bits<1>>("enable", &Message::enable),
                      Is<Bits<P::ChimeraLimitWidth>>("limit", &Message::limit),
                      Is<Bits<P::ChimeraLineWidth>>("line", &Message::line));
};

// kernel_descriptor_t, whose need may be more than an SM has.
struct AnyNeedFields {
  using Message = ResourceVector;
  static constexpr auto kFields =
      std::make_tuple(Is<Bits<16>>("registers", &Message::registers),
                      Is<Bits<16>>("shared_memory", &Message::shared_memory),
                      Is<Bits<16>>("threads", &Message::threads));
};
template <typename P>
struct KernelDescriptorFields {
  using Message = KernelDescriptor;
  static constexpr auto kFields =
      std::make_tuple(Is<AnyNeedFields>("need", &Message::need),
                      Is<Bits<P::TbIdWidth>>("first_tb", &Message::first_tb),
                      Is<Bits<P::TbIdWidth>>("tb_count", &Message::tb_count),
                      Is<Bits<P::AddressWidth>>("context_base", &Message::context_base));
};

// partition_range_t
template <typename P>
struct PartitionRangeFields {
  using Message = PartitionRange;
  static constexpr auto kFields = std::make_tuple(
      Is<Bits<P::RegisterCntWidth>>("registers_base", &Message::registers_base),
      Is<Bits<P::SharedCntWidth>>("shared_memory_base", &Message::shared_memory_base),
      Is<Bits<P::ThreadCntWidth>>("threads_base", &Message::threads_base),
      Is<Bits<P::TbCntWidth>>("tb_base", &Message::tb_base),
      Is<Bits<P::RegisterCntWidth>>("registers_limit", &Message::registers_limit),
      Is<Bits<P::SharedCntWidth>>("shared_memory_limit", &Message::shared_memory_limit),
      Is<Bits<P::ThreadCntWidth>>("threads_limit", &Message::threads_limit),
      Is<Bits<P::TbCntWidth>>("tb_count", &Message::tb_count));
};
template <typename P>
using RangeVec = KernelVec<P, PartitionRangeFields<P>>;

// sm_command_t: which fields count depends on the operation.
template <typename P>
struct SmCommandFields {
  using Message = SmCommand;
  template <CommandOp Op>
  static constexpr bool If(const SmCommand& c) {
    return c.op == Op;
  }
  static constexpr bool HasKernel(const SmCommand& c) { return c.op != CommandOp::kEvict; }
  static constexpr bool HasLast(const SmCommand& c) {
    return c.op == CommandOp::kPartition || c.op == CommandOp::kQuota;
  }
  static constexpr bool HasMode(const SmCommand& c) {
    return c.op == CommandOp::kPartition || c.op == CommandOp::kEvict;
  }
  static constexpr bool HasBuffer(const SmCommand& c) {
    return c.op == CommandOp::kDispatch && c.restore;
  }
  static constexpr auto kFields = std::make_tuple(
      Is<Bits<3>>("op", &Message::op),
      Is<Bits<P::KernelWidth>>("kernel", &Message::kernel, HasKernel),
      Is<Bits<P::TbIdWidth>>("tb", &Message::tb, If<CommandOp::kDispatch>),
      Is<Bits<1>>("restore", &Message::restore, If<CommandOp::kDispatch>),
      Is<Bits<P::BufferWidth>>("buffer", &Message::buffer, HasBuffer),
      Is<Bits<P::TbCntWidth>>("count", &Message::count, If<CommandOp::kPreempt>),
      Is<Bits<2>>("mode", &Message::mode, HasMode),
      Is<PartitionRangeFields<P>>("range", &Message::range, If<CommandOp::kPartition>,
                                  "partition_planner"),
      Is<Bits<1>>("first", &Message::first, If<CommandOp::kPartition>),
      Is<Bits<1>>("last", &Message::last, HasLast),
      Is<Bits<P::QuotaWidth>>("quota", &Message::quota, If<CommandOp::kQuota>, "quota_calculator"));
};

// sm_event_t: which fields count depends on the kind.
template <typename P>
struct SmEventFields {
  using Message = SmEvent;
  static constexpr bool Valid(const SmEvent& e) { return e.valid; }
  static constexpr bool HasKernel(const SmEvent& e) {
    return e.valid && e.kind != EventKind::kSettled;
  }
  static constexpr bool HasTb(const SmEvent& e) {
    return HasKernel(e) && e.kind != EventKind::kBufferFree;
  }
  static constexpr bool HasBuffer(const SmEvent& e) { return e.valid && NeedsAck(e.kind); }
  static constexpr bool HasShortfall(const SmEvent& e) {
    return e.valid && e.kind == EventKind::kSettled;
  }
  static constexpr auto kFields =
      std::make_tuple(Is<Bits<1>>("valid", &Message::valid),  //
                      Is<Bits<3>>("kind", &Message::kind, Valid),
                      Is<Bits<P::KernelWidth>>("kernel", &Message::kernel, HasKernel),
                      Is<Bits<P::TbIdWidth>>("tb", &Message::tb, HasTb),
                      Is<Bits<P::BufferWidth>>("buffer", &Message::buffer, HasBuffer),
                      Is<Bits<1>>("counted", &Message::counted, HasTb),
                      Is<Bits<P::TbCntWidth>>("shortfall", &Message::shortfall, HasShortfall));
};
template <typename P>
using SmEvents = SmVec<P, SmEventFields<P>>;

// preempted_entry_t
template <typename P>
struct PreemptedEntryFields {
  using Message = PreemptedQueue::Entry;
  static constexpr auto kFields =
      std::make_tuple(Is<Bits<P::TbIdWidth>>("tb", &Message::tb),
                      Is<Bits<P::BufferWidth>>("buffer", &Message::buffer),
                      Is<Bits<1>>("restart", &Message::restart));
};

// dispatch_pulses_t
template <typename P>
struct DispatchPulsesFields {
  using Message = TbDispatch::Pulses;
  static constexpr bool Any(const Message& p) { return p.any(); }
  static constexpr bool HasPlan(const Message& p) { return p.plan_start; }
  static constexpr bool HasVictim(const Message& p) { return p.preempt; }
  static constexpr auto kFields = std::make_tuple(
      Is<Bits<1>>("plan_start", &Message::plan_start),
      Is<Bits<P::NumKernels>>("plan_kernels", &Message::plan_kernels, HasPlan),
      Is<Bits<1>>("dispatch_new", &Message::dispatch_new), Is<Bits<1>>("pop", &Message::pop),
      Is<Bits<1>>("dispatch", &Message::dispatch),
      Is<Bits<1>>("dispatch_reserved", &Message::dispatch_reserved),
      Is<Bits<1>>("reserve", &Message::reserve), Is<Bits<1>>("cancel", &Message::cancel),
      Is<Bits<1>>("preempt", &Message::preempt),
      Is<Bits<P::KernelWidth>>("kernel", &Message::kernel, Any),
      Is<Bits<P::SmWidth>>("sm", &Message::sm, Any),
      Is<Bits<P::KernelWidth>>("victim", &Message::victim, HasVictim),
      Is<Bits<P::TbCntWidth>>("victim_tbs", &Message::victim_tbs, HasVictim));
};

// decision_t without its first bit, valid: in C++ there is a decision or none.
template <typename P>
struct DecisionFields {
  using Message = Decision;
  static constexpr bool HasTb(const Decision& d) {
    return d.reason == DecisionReason::kDispatchNew ||
           d.reason == DecisionReason::kDispatchRestored ||
           d.reason == DecisionReason::kDispatchRestarted;
  }
  static constexpr bool HasVictim(const Decision& d) {
    return d.reason == DecisionReason::kPreempt;
  }
  static constexpr auto kFields = std::make_tuple(
      Is<Bits<4>>("reason", &Message::reason), Is<Bits<P::KernelWidth>>("kernel", &Message::kernel),
      Is<Bits<P::SmWidth>>("sm", &Message::sm), Is<Bits<P::TbIdWidth>>("tb", &Message::tb, HasTb),
      Is<Bits<P::KernelWidth>>("victim", &Message::victim, HasVictim),
      Is<Bits<P::TbCntWidth>>("victim_tbs", &Message::victim_tbs, HasVictim));
};

// token_t
template <typename P>
struct TokenFields {
  using Message = TokenView;
  static constexpr auto kFields =
      std::make_tuple(Is<Bits<P::NumKernels>>("holder", &Message::holder),
                      Is<Bits<P::NumKernels>>("user", &Message::user),
                      Is<Bits<1>>("given", &Message::given), Is<Bits<1>>("over", &Message::over));
};

// context_view_t: what an SM hears of a KernelView; the warps of a TB are a port of their own.
template <typename P>
struct ContextViewFields {
  using Message = KernelView;
  static constexpr auto kFields = std::make_tuple(
      Is<Bits<P::AddressWidth>>("context_base", &Message::context_base),
      Is<Bits<P::LineWidth>>("context_lines", &Message::context_lines),
      Is<Bits<P::LogLinesWidth>>("context_log2_lines", &Message::context_log2_lines));
};
template <typename P>
using ContextViews = KernelVec<P, ContextViewFields<P>>;

// tb_base_t
template <typename P>
struct TbBaseFields {
  using Message = TbBase;
  static constexpr auto kFields =
      std::make_tuple(Is<Bits<P::RegisterCntWidth>>("registers", &Message::registers),
                      Is<Bits<P::SharedCntWidth>>("shared_memory", &Message::shared_memory));
};

// warp_start_t
template <typename P>
struct WarpStartFields {
  using Message = WarpStart;
  static constexpr bool Valid(const WarpStart& w) { return w.valid; }
  static constexpr auto kFields = std::make_tuple(
      Is<Bits<1>>("valid", &Message::valid), Is<Bits<P::WarpWidth>>("warp", &Message::warp, Valid),
      Is<Bits<P::WarpWidth>>("warp_in_tb", &Message::warp_in_tb, Valid),
      Is<Bits<P::SlotWidth>>("tb_slot", &Message::tb_slot, Valid),
      Is<Bits<P::KernelWidth>>("kernel", &Message::kernel, Valid),
      Is<Bits<P::TbIdWidth>>("tb", &Message::tb, Valid),
      Is<Bits<1>>("restore", &Message::restore, Valid),
      Is<TbBaseFields<P>>("base", &Message::base, Valid, "partition_counters"));
};

// context_request_t
template <typename P>
struct ContextRequestFields {
  using Message = ContextRequest;
  static constexpr bool Valid(const ContextRequest& c) { return c.valid; }
  static constexpr auto kFields = std::make_tuple(
      Is<Bits<1>>("valid", &Message::valid), Is<Bits<1>>("store", &Message::store, Valid),
      Is<Bits<P::SlotWidth>>("tb_slot", &Message::tb_slot, Valid),
      Is<Bits<P::LineWidth>>("line", &Message::line, Valid),
      Is<Bits<P::AddressWidth>>("address", &Message::address, Valid));
};

// What the machine and the SMs tell each other, of all SMs.
template <typename P>
using SmReady = SmVec<P, SchedulerWarps<P>>;
template <typename P>
using SmSlots = SmVec<P, Bits<P::NumSlots>>;
template <typename P>
using SmSlotId = SmVec<P, Bits<P::SlotWidth>>;
template <typename P>
using SmDone = SmVec<P, Bits<P::DoneWidth>>;
template <typename P>
using SmGrants = SmVec<P, Bits<P::NumSchedulers>>;
template <typename P>
using SmGrantWarps = SmVec<P, GrantWarps<P>>;
template <typename P>
using SmWarpStarts = SmVec<P, WarpStartFields<P>>;
template <typename P>
using SmContexts = SmVec<P, ContextRequestFields<P>>;
template <typename P>
using SmQuotas = SmVec<P, QuotaVec<P>>;

// From here on: what one side tells the other in a cycle, a port for each field; to be compared.

template <typename P>
struct DriverToSmFields {
  using Message = DriverToSm;
  static constexpr bool HasCommand(const DriverToSm& d) { return d.command_valid; }
  static constexpr bool HasBuffer(const DriverToSm& d) { return d.buffer_valid; }
  static constexpr bool HasSample(const DriverToSm& d) { return d.sample_begin; }
  static constexpr auto kFields = std::make_tuple(
      Is<Bits<1>>("command_valid", &Message::command_valid),
      Is<SmCommandFields<P>>("command", &Message::command, HasCommand, "tb_dispatch"),
      Is<Bits<1>>("buffer_valid", &Message::buffer_valid, Always, "preempted_queue"),
      Is<Bits<P::BufferWidth>>("buffer", &Message::buffer, HasBuffer, "preempted_queue"),
      Is<Bits<1>>("buffer_none", &Message::buffer_none, Always, "preempted_queue"),
      Is<Bits<1>>("event_ack", &Message::event_ack, Always, "preempted_queue"),
      Is<Bits<1>>("tick", &Message::tick),
      Is<Bits<1>>("sample_begin", &Message::sample_begin, Always, "slicer_profiler"),
      Is<Bits<1>>("sample_end", &Message::sample_end, Always, "slicer_profiler"),
      Is<Bits<P::KernelWidth>>("sample_kernel", &Message::sample_kernel, HasSample,
                               "slicer_profiler"),
      Is<Bits<1>>("sample_stalls", &Message::sample_stalls, HasSample, "slicer_profiler"));
};

template <typename P>
struct SmToDriverFields {
  using Message = SmToDriver;
  static constexpr bool HasKernel(const SmToDriver& s) { return s.buffer_request; }
  static constexpr bool HasProfile(const SmToDriver& s) { return s.profile_valid; }
  static constexpr bool HasCounts(const SmToDriver& s) { return s.sample_valid; }
  static constexpr auto kFields = std::make_tuple(
      Is<Bits<1>>("command_credit", &Message::command_credit, Always, "tb_table"),
      Is<Bits<1>>("command_waits", &Message::command_waits, Always, "tb_places"),
      Is<SmEventFields<P>>("event", &Message::event),
      Is<Bits<1>>("buffer_request", &Message::buffer_request, Always, "preempt_engine"),
      Is<Bits<P::KernelWidth>>("buffer_kernel", &Message::buffer_kernel, HasKernel,
                               "preempt_engine"),
      Is<Bits<1>>("buffer_withdraw", &Message::buffer_withdraw, Always, "preempt_engine"),
      Is<Bits<1>>("profile_valid", &Message::profile_valid, Always, "profile_counters"),
      Is<IssuedVec<P>>("profile_issued", &Message::profile_issued, HasProfile, "profile_counters"),
      Is<Bits<1>>("sample_valid", &Message::sample_valid, Always, "sample_counters"),
      Is<Bits<P::SampleWidth>>("sample_issued", &Message::sample_issued, HasCounts,
                               "sample_counters"),
      Is<Bits<P::SampleWidth>>("sample_stalled", &Message::sample_stalled, HasCounts,
                               "sample_counters"));
};

// Without the quota left, which is for timelines, and comes later from some.
template <typename P>
struct SmOutputsFields {
  using Message = SmOutputs;
  static constexpr bool HasRelease(const SmOutputs& o) { return o.release_valid; }
  static constexpr auto kFields = std::make_tuple(
      Is<WarpStartFields<P>>("warp_start", &Message::warp_start, Always, "tb_table"),
      Is<Bits<P::NumSlots>>("tb_activate", &Message::tb_activate, Always, "tb_table"),
      Is<Bits<P::NumSlots>>("tb_stop", &Message::tb_stop),
      Is<ContextRequestFields<P>>("context", &Message::context),
      Is<Bits<1>>("release_valid", &Message::release_valid),
      Is<Bits<P::SlotWidth>>("release_slot", &Message::release_slot, HasRelease),
      Is<Bits<1>>("release_kind", &Message::release_kind, HasRelease),
      Is<Bits<1>>("samples", &Message::samples, Always, "sample_counters"),
      Is<Bits<1>>("place_waits", &Message::place_waits, Always, "tb_places"));
};

}  // namespace smk
