// SPDX-License-Identifier: Apache-2.0
// Reference of smk_slicer_profiler: profiles kernels on SMs with 1, 2, ... TBs, and watches them.
//
// Purpose     Gives each SM a kernel and a number of TBs, samples a window, makes each kernel's
//             curve of performance and asks for a plan; then watches IPC for a change.
// Paper       [Warped-Slicer] Sec. IV-A and IV-B, Fig. 4. Deviations [D33] to [D36], [D105].
// Interface   start: pulse with a set of kernels, not empty; begins anew at any time. give_*:
//             pulse, what an SM has to do from now on. sample_*, plan: pulses to the planner.
// Latency     A profile takes warm-up, window and 53 to 74 cycles a sample; the page has each step.
// Throughput  One profile at a time; a sample for each SM and window.
// Reset       Idle.
// Doc         docs/blocks/slicer_profiler.md
// Timers of 0 count as 1. Does not move TBs and does not plan.
#pragma once

#include "control/driver/kernel_table.h"

namespace smk {

class SlicerProfiler {
 public:
  // Cycles from the end of a window until its counts are read: with the longest links the last
  // count is known after 35.
  static constexpr std::uint16_t kDrain = 40;

  struct Config {
    ResourceVector limits{};
    unsigned num_sms = 16;
    unsigned num_schedulers = 4;
    unsigned num_kernels = kNumKernels;
  };
  struct Inputs {
    bool start = false;
    KernelMask kernels = 0;
    bool stop = false;
    // Every SM that was given something has those TBs, as far as there are any.
    bool settled = true;
    // Have TBs to dispatch: only they are sampled again; who had none in its profile is, once.
    KernelMask able = static_cast<KernelMask>(~0u);
    // Constant during a run.
    std::uint16_t warmup = 20'000, settle = 5'000, window = 5'000, delay = 0;
    std::uint8_t change = 2, sustain = 2;
    // Counts of the SM that `sm` names.
    std::uint16_t issued = 0, stalled = 0;
    bool planned = false;
    const KernelTable::State* kernel_table = nullptr;  // registers of kernel_table
  };
  // What the profiler does in this cycle.
  enum class Step : std::uint8_t {
    kIdle,
    kAlone,   // how many TBs of each kernel there are to sample
    kShare,   // how many SMs each kernel has
    kAssign,  // gives each SM its kernel and TBs
    kSettle,  // TBs come and go until all SMs are settled, caches warm up
    kWindow,
    kDrain,
    kRead,   // the counts of an SM ...
    kScale,  // ... and its point of the curve
    kDelay,
    kPlan,   // waits for the planner
    kTurns,  // gives each SM a kernel to watch
    kAdd,    // adds up what the kernel at work issued
    kAddLast,
    kCompare,
    kJudge,
  };
  struct State {
    Step step = Step::kIdle;
    bool give_valid = false;  // pulse
    std::uint8_t give_sm = 0, give_kernel = 0, give_tbs = 0;
    bool sample_valid = false;  // pulse
    std::uint8_t sample_kernel = 0, sample_tbs = 0;
    std::uint16_t sample_performance = 0;
    bool plan = false;  // pulse
    KernelMask kernels = 0;
    unsigned sm = 0;
    std::uint8_t again_kernel = 0;
    bool watches = false, again = false;
    bool window() const { return step == Step::kWindow; }
    bool profiling() const { return step != Step::kIdle && !watches; }
    bool priority_valid() const { return again && step != Step::kDelay && step != Step::kPlan; }

    unsigned timer = 0;
    // Kernels that have SMs or wait for some; those with TBs still to be sampled. SMs of each, and
    // TBs that earlier windows had on the last of them.
    KernelMask left = 0, open = 0, fits = 0;
    KernelMask lacks = 0;  // had no TB to dispatch in a window of their profile
    unsigned share = 0;
    std::uint8_t base = 0;
    // SMs in turn: kernels from this SM's on, its SMs left, the TBs here; or none are left to it.
    KernelMask walk = 0;
    unsigned group = 0;
    std::uint8_t tbs = 0;
    bool beyond = false;
    unsigned at = 0;  // the kernel at work
    bool first = false;
    std::array<std::uint8_t, kMaxKernels> most{};
    ResourceVector taken{}, need{};
    bool fresh = false;  // the need of the kernel at work is read
    std::uint16_t issued = 0, stalled = 0;
    // Watching, in units of four: what a kernel issued in the first window and in this; windows
    // with
    // another IPC.
    std::uint32_t total = 0;
    std::int64_t difference = 0;
    std::array<std::uint32_t, kMaxKernels> was{};
    std::array<std::uint8_t, kMaxKernels> windows{};
    KernelMask known = 0;
  };
  // All outputs are registers.
  using Outputs = State;

  explicit SlicerProfiler(const Config& config);
  const Outputs& Eval(const Inputs&) const { return state_; }
  void Tick(const Inputs& in);
  const State& state() const { return state_; }

  // A point of the curve [D34]: instructions and stalls of a window, its cycles times the
  // schedulers. And the cycles that its last shift takes.
  std::uint16_t Point(unsigned issued, unsigned stalled, unsigned cycles, unsigned tbs,
                      unsigned most) const;
  unsigned Shifts(unsigned cycles, unsigned most) const;

 private:
  void Start(const Inputs& in);
  void Go(const Inputs& in);
  void Alone();
  void Share();
  void Assign(const Inputs& in);
  bool Samples() const;
  void Begin();
  bool Advance();
  void Sampled(const Inputs& in);
  void Read(const Inputs& in);
  void Scale(const Inputs& in);
  void Turns(const Inputs& in);
  void Add(const Inputs& in);
  void Judge(const Inputs& in);
  void Again();
  void Settle(const Inputs& in, bool gave);
  bool TimedOut();
  void Wait(Step step, unsigned cycles);
  bool NextSm();
  unsigned Kernel() const;
  void TurnOn();

  Config config_;
  unsigned tbs_width_ = 1;
  State state_;
};

}  // namespace smk
