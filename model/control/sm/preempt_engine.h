// SPDX-License-Identifier: Apache-2.0
// Reference of smk_preempt_engine: partial context switching, one TB at a time.
//
// Purpose     Makes TBs leave the SM: reserves a context buffer, stops fetching, waits until
//             nothing of the TB is in flight, stores its registers, shared memory, SIMT stack and
//             barrier state line by line, and reports it. Loads contexts back the same way. The
//             SM's other TBs keep running, except when the whole SM is switched.
// Paper       [SMK] Sec. 5.1, Fig. 3 (steps 1-4, i-iii); whole-SM modes: Sec. 3 [8][9].
// Interface   leave: pulse with a mask of slots. load: pulse with a mask of slots. context: stream.
//             buffer_request: pulse, answered by one buffer_valid however long that takes, or by
//             buffer_none, which only buffer_withdraw can bring about. event: held until
//             event_sent, then event_ack.
// Latency     The buffer is requested 3 cycles after leave, a context 5 after load; a save takes 2
//             + drain + lines + memory latency; quiet must hold for 2 cycles of stop.
// Throughput  One context line per cycle.
// Reset       Idle.
// Doc         docs/blocks/preempt_engine.md
// Saves go before loads; a TB that waits for its own context is loaded before it can be saved.
#pragma once

#include "control/messages.h"

namespace smk {

class PreemptEngine {
 public:
  struct Inputs {
    std::uint32_t leave = 0;     // pulse: these slots must go
    bool leave_counted = false;  // because of kPreempt
    bool mode_valid = false;     // pulse: from now on TBs leave in this mode
    PreemptMode mode = PreemptMode::kSwitch;
    bool whole_sm = false;   // the SM stops while it is emptied
    std::uint32_t load = 0;  // pulse: these slots wait for their context
    // Registers of smk_preempt_chooser: under kChimera only these go, and these are dropped.
    std::uint32_t go = 0, flush = 0;
    // Registers of smk_tb_table and the kernel views.
    std::uint32_t running = 0;
    const std::array<KernelId, kMaxTbSlots>* slot_kernel = nullptr;
    const std::array<TbId, kMaxTbSlots>* slot_tb = nullptr;
    const std::array<std::uint16_t, kMaxTbSlots>* slot_buffer = nullptr;
    const KernelViews* kernels = nullptr;
    // From the machine.
    std::uint32_t finished = 0;
    std::uint32_t quiet = 0;
    std::uint32_t flushable = 0;
    bool context_ready = false;
    std::uint8_t context_done = 0;
    // From the driver and the event register.
    bool buffer_valid = false;
    std::uint16_t buffer = 0;
    bool buffer_none = false;
    bool event_sent = false;
    bool event_ack = false;
  };
  struct Outputs {
    std::uint32_t stop = 0;
    ContextRequest context{};
    bool release_valid = false;
    TbSlot release_slot{0};
    TbRelease release_kind = TbRelease::kSaved;
    bool loaded_valid = false;
    TbSlot loaded_slot{0};
    bool buffer_request = false;
    bool buffer_withdraw = false;
    KernelId buffer_kernel{0};
    bool event_valid = false;
    SmEvent event{};
  };
  enum class Step : std::uint8_t {
    kIdle,
    kLookUp,  // the table is read
    kBuffer,  // waits for a context buffer
    kOffset,  // the address of the first line is computed
    kAddress,
    kDrain,     // waits until nothing of the TB is in flight
    kTransfer,  // issues context lines
    kWait,      // waits until all lines are stored or loaded
    kReport,    // event offered
    kAck,       // waits for the driver
    kWithdraw,  // the TB finished before a buffer came: one may still be on its way
  };
  // Cycles a switched SM stands still for a buffer.
  static constexpr std::uint8_t kBufferPatience = 63;

  struct State {
    Step step = Step::kIdle;
    bool loading = false;  // else saving
    bool gone = false;     // the TB finished before it could leave
    bool flush = false;    // the TB is dropped
    std::uint8_t slot = 0;
    bool slot_counted = false;
    std::uint16_t buffer = 0;
    std::uint16_t line = 0;  // next to issue
    std::uint16_t done = 0;  // completed
    bool quiet_seen = false;
    bool request = false;   // a buffer is asked for
    bool withdraw = false;  // or not any more
    std::uint8_t waited = 0;
    std::uint32_t leaving = 0;  // slots that must go
    std::uint32_t counted = 0;  // of these, because of kPreempt
    std::uint32_t to_load = 0;
    std::uint32_t stop = 0;  // who is stopped, as decided one cycle ago
    PreemptMode mode = PreemptMode::kSwitch;
    bool whole_sm = false;
  };

  Outputs Eval(const Inputs& in) const;
  void Tick(const Inputs& in, const Outputs& out);
  const State& state() const { return state_; }
  // Who is stopped from the next cycle on. `go`: as in Inputs.
  std::uint32_t StopNext(std::uint32_t go) const;
  // True when no TB is leaving and no report is outstanding.
  bool settled() const {
    return state_.leaving == 0 && (state_.step == Step::kIdle || state_.loading);
  }
  bool busy() const {
    return state_.step != Step::kIdle || (state_.leaving | state_.to_load | state_.stop) != 0;
  }

 private:
  void Start(const Inputs& in);
  void LookUp(const Inputs& in);
  void Drain(const Inputs& in);
  // Of TBs that must go, those that do not wait for their end.
  std::uint32_t Chosen(std::uint32_t go) const {
    if (state_.mode == PreemptMode::kChimera) return go;
    return state_.whole_sm && state_.mode == PreemptMode::kDrain ? 0 : ~0u;
  }
  const KernelView& View(const Inputs& in) const {
    return (*in.kernels)[Index((*in.slot_kernel)[state_.slot])];
  }

  State state_;
};

}  // namespace smk
