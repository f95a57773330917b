// SPDX-License-Identifier: Apache-2.0
// Reference of smk_preempt_chooser: how each TB leaves an SM, by what it costs.
//
// Purpose     Decides for every TB that must go under PreemptMode::kChimera whether it is flushed
//             (dropped), drained (ends) or switched (saved), by estimated cycles: of work lost,
//             until its end, or of moving its context out and in again. Measures how long TBs run.
// Paper       [Chimera]; [SMK] Sec. 3, reference 8. Deviations [D80], [D86].
// Interface   activate, ended, order: pulses. leaving, running: registers of the engine and the
//             table. Who is to leave now, and who of them is dropped: masks.
// Latency     A TB that must go is judged 7 cycles after it was picked.
// Throughput  One TB in 7 cycles; a TB that ends meanwhile is not measured.
// Reset       Nothing is known, nobody is judged.
// Doc         docs/blocks/preempt_chooser.md
// Does not stop or save anybody: see smk_preempt_engine.
#pragma once

#include "control/messages.h"

namespace smk {

class PreemptChooser {
 public:
  struct Inputs {
    Chimera chimera{};       // constant during a run; nothing is kept unless it is enabled
    std::uint32_t time = 0;  // TimeOf() this cycle
    // These TBs run from now on, if it is not said again; of them, those that continue from a
    // context.
    std::uint32_t activate = 0, loaded = 0;
    // Pulse: the end of the TB that was in this slot is reported.
    bool ended = false;
    std::uint8_t ended_slot = 0;
    // Pulse: from now on TBs leave by choice, or in another mode.
    bool order = false;
    PreemptMode mode = PreemptMode::kSwitch;
    std::uint32_t leaving = 0, running = 0, flushable = 0;
    const std::array<KernelId, kMaxTbSlots>* slot_kernel = nullptr;
    const KernelViews* kernels = nullptr;
  };
  enum class Step : std::uint8_t {
    kIdle,
    kKernel,  // the TB's kernel and start are read
    kRead,    // its age is worked out; mean and lines of its kernel are read
    kCost,    // how far the age is from the mean; a save
    kSum,     // the distance alone, and all saves; or the new mean
    kJudge,   // costs are compared
    kChoose,
  };
  // A mean moves by 2^-kMeanLog2 of what it was wrong.
  static constexpr unsigned kMeanLog2 = 3;

  struct State {
    Step step = Step::kIdle;
    // By slot: when the TB began, and whether it had run elsewhere before. By kernel: how long its
    // TBs run, once one has ended.
    std::array<std::uint32_t, kMaxTbSlots> start{};
    std::uint32_t restored = 0;
    std::array<std::uint32_t, kMaxKernels> mean{};
    std::uint8_t known = 0;
    // The TB at hand, and what is known of it. Times are in units.
    std::uint8_t slot = 0, kernel = 0;
    bool measures = false;  // it has ended
    bool again = false;     // it was restored
    std::uint32_t age = 0, its_mean = 0, rest = 0, save = 0, saves_with = 0;
    std::int32_t apart = 0;  // age - mean
    std::uint16_t lines = 0;
    bool has_mean = false;
    bool may_flush = false, drain_in_time = false, switch_in_time = false, drain_sooner = false;
    bool drain_under_flush = false, drain_under_switch = false, flush_under_switch = false;
    // The order at hand: who is judged, who of them goes now, who is dropped; all saves.
    bool active = false, watch = false, late = false;
    std::uint32_t judged = 0, go = 0, flush = 0, saves = 0, since = 0, elapsed = 0;

    bool busy() const { return step != Step::kIdle || watch; }
  };
  // All outputs are registers: go, flush and busy().
  using Outputs = State;

  const Outputs& Eval(const Inputs&) const { return state_; }
  void Tick(const Inputs& in);
  const State& state() const { return state_; }

 private:
  void Start(const Inputs& in);
  void Read(const Inputs& in);
  void Sum();
  void Judge(const Inputs& in);
  void Choose(std::uint32_t* go, std::uint32_t* flush);

  State state_;
};

}  // namespace smk
