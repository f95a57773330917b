// SPDX-License-Identifier: Apache-2.0
// Tests of one SM's control logic, cycle by cycle.
#pragma once

#include <vector>

#include "control/sm/sm_control.h"

namespace smk {

// One SM's control logic between a driver and an SM that do what the test says: `Control` is
// stepped like SmControl. Buffers and acknowledgements come at once.
template <typename Control>
class SmControlBench {
 public:
  template <typename... Args>
  explicit SmControlBench(const Args&... args) : control_(args...) {
    for (auto& view : views) {
      view.need = {2, 0, 4, 1};
      view.context_base = 0x1000000;
      view.context_lines = static_cast<std::uint16_t>(ContextLines(view.need));
      view.context_log2_lines = 5;
    }
  }

  void Step() {
    control_.Step(in, from_driver, views, &out);
    if (from_driver.command_valid) ready_ = false;
    to_driver = control_.state().to_driver;
    ready_ = ready_ || to_driver.command_credit;
    in = SmInputs{};
    if (time_runs) in.time = ++cycles_ / kCyclesPerTimeUnit;
    in.tb_quiet = out.tb_stop;
    in.context_done = out.context.valid ? 1 : 0;
    from_driver = DriverToSm{};
    from_driver.buffer_valid = to_driver.buffer_request;
    from_driver.buffer = 5;
    from_driver.event_ack = to_driver.event.valid && NeedsAck(to_driver.event.kind);
    if (to_driver.event.valid) events.push_back(to_driver.event);
  }
  void Run(unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) Step();
  }
  void Send(const SmCommand& command) {
    while (!ready_) Step();
    from_driver.command_valid = true;
    from_driver.command = command;
    Step();
  }
  void Dispatch(unsigned kernel, unsigned tb, bool restore = false) {
    SmCommand command;
    command.op = CommandOp::kDispatch;
    command.kernel = static_cast<KernelId>(kernel);
    command.tb = static_cast<TbId>(tb);
    command.restore = restore;
    Send(command);
  }
  // Dispatches and waits until the TB runs.
  void Place(unsigned kernel, unsigned tb) {
    Dispatch(kernel, tb);
    Run(14);
  }
  void Preempt(unsigned kernel, unsigned count) {
    SmCommand command;
    command.op = CommandOp::kPreempt;
    command.kernel = static_cast<KernelId>(kernel);
    command.count = static_cast<std::uint8_t>(count);
    Send(command);
  }
  void Partition(unsigned kernel, unsigned tb_base, unsigned tbs, bool first, bool last,
                 PreemptMode mode = PreemptMode::kSwitch) {
    SmCommand command;
    command.op = CommandOp::kPartition;
    command.mode = mode;
    command.kernel = static_cast<KernelId>(kernel);
    PartitionRange& r = command.range;
    r.tb_base = static_cast<std::uint8_t>(tb_base);
    r.tb_count = static_cast<std::uint8_t>(tbs);
    r.registers_base = static_cast<std::uint16_t>(2 * tb_base);
    r.registers_limit = static_cast<std::uint16_t>(2 * (tb_base + tbs));
    r.threads_base = static_cast<std::uint16_t>(4 * tb_base);
    r.threads_limit = static_cast<std::uint16_t>(4 * (tb_base + tbs));
    command.first = first;
    command.last = last;
    Send(command);
  }
  void Quota(unsigned kernel, unsigned quota, bool first, bool last) {
    SmCommand command;
    command.op = CommandOp::kQuota;
    command.kernel = static_cast<KernelId>(kernel);
    command.quota = static_cast<std::uint16_t>(quota);
    command.first = first;
    command.last = last;
    Send(command);
  }
  void Evict(PreemptMode mode) {
    SmCommand command;
    command.op = CommandOp::kEvict;
    command.mode = mode;
    Send(command);
  }
  Control& control() { return control_; }
  // The SM has given its credit back.
  bool ready() const { return ready_; }

  KernelViews views{};
  SmInputs in{};
  DriverToSm from_driver{};
  SmOutputs out{};
  SmToDriver to_driver{};
  std::vector<SmEvent> events;
  bool time_runs = false;  // else it is always 0, which matters under kChimera only

 private:
  static constexpr unsigned kCyclesPerTimeUnit = 16;
  Control control_;
  bool ready_ = true;
  std::uint32_t cycles_ = 0;
};

}  // namespace smk
