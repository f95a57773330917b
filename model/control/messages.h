// SPDX-License-Identifier: Apache-2.0
// Signals between the driver and the SMs' control logic. All are registers of their source, so each
// is seen by the other side one cycle after it was decided.
#pragma once

#include <array>
#include <cstdint>

#include "control/control_plane.h"

namespace smk {

enum class CommandOp : std::uint8_t {
  kDispatch,   // kernel, tb, restore, buffer
  kPreempt,    // kernel, count: that many TBs of the kernel leave; answered by kSettled
  kPartition,  // kernel, range, first, last: new ranges; misaligned TBs leave; answered by kSettled
  kEvict,      // mode: all TBs leave; answered by kSettled
  kQuota,      // kernel, quota, first, last: in force with the last of a set
};

// Driver to SM, stream.
struct SmCommand {
  CommandOp op = CommandOp::kDispatch;
  KernelId kernel{0};
  TbId tb{0};
  bool restore = false;
  std::uint16_t buffer = 0;
  std::uint8_t count = 0;
  PreemptMode mode = PreemptMode::kSwitch;
  PartitionRange range{};
  bool first = false;
  bool last = false;
  std::uint16_t quota = 0;
};

enum class EventKind : std::uint8_t {
  kFinished,    // kernel, tb, counted
  kSaved,       // kernel, tb, buffer, counted; acknowledged
  kFlushed,     // kernel, tb, buffer (reserved place), counted; acknowledged
  kBufferFree,  // kernel, buffer: loaded, or not needed after all; acknowledged
  kSettled,     // shortfall: the last kPreempt found that many TBs fewer
};

// SM to driver, pulse. After an acknowledged kind the SM waits for event_ack before the next such.
struct SmEvent {
  bool valid = false;
  EventKind kind = EventKind::kFinished;
  KernelId kernel{0};
  TbId tb{0};
  std::uint16_t buffer = 0;
  bool counted = false;  // left because of kPreempt: rK was already lowered when that was decided
  std::uint8_t shortfall = 0;
};

constexpr bool NeedsAck(EventKind kind) {
  return kind == EventKind::kSaved || kind == EventKind::kFlushed || kind == EventKind::kBufferFree;
}

// What an SM knows of PreemptMode::kChimera: constant during a run.
struct Chimera {
  bool enable = false;
  std::uint32_t limit = 0;  // cycles within which the SM shall be free
  std::uint8_t line = 0;    // a context line takes 2^line cycles
};
inline Chimera ChimeraOf(const PolicyConfig& policy) {
  return {policy.preempt == PreemptMode::kChimera, policy.chimera_limit, policy.chimera_line};
}

// What every SM knows of a kernel slot: registers of the driver.
struct KernelView {
  ResourceVector need{};
  std::uint64_t context_base = 0;
  std::uint16_t context_lines = 0;
  std::uint8_t context_log2_lines = 0;  // a buffer's size: 2^this lines
};

struct DriverToSm {
  bool command_valid = false;
  SmCommand command{};
  bool buffer_valid = false;  // pulse: a context buffer for the pending request
  std::uint16_t buffer = 0;
  bool buffer_none = false;  // pulse: the request was withdrawn
  bool event_ack = false;    // pulse
  bool tick = false;         // pulse
  // Pulses: a window in which a kernel is sampled, with or without its stalls.
  bool sample_begin = false;
  bool sample_end = false;
  KernelId sample_kernel{0};
  bool sample_stalls = false;
};

struct SmToDriver {
  bool command_credit = false;  // pulse: another command can come
  // Pulse: the TB that the last command brought waits until another leaves; then comes the credit.
  bool command_waits = false;
  SmEvent event{};
  bool buffer_request = false;  // pulse
  KernelId buffer_kernel{0};
  bool buffer_withdraw = false;  // pulse: the request is void, unless it was granted
  bool profile_valid = false;    // pulse, after a tick: instructions issued in the window that ends
  std::array<std::uint16_t, kMaxKernels> profile_issued{};
  bool sample_valid = false;  // pulse, after sample_end: what the window counted
  std::uint16_t sample_issued = 0, sample_stalled = 0;
};

using KernelViews = std::array<KernelView, kMaxKernels>;
using KernelMask = std::uint8_t;  // bit per kernel slot

}  // namespace smk
