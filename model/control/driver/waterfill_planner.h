// SPDX-License-Identifier: Apache-2.0
// Reference of smk_waterfill_planner: how many TBs of each kernel share one SM, by water-filling.
//
// Purpose     From an empty SM and one TB of each kernel, the kernel that keeps least of its
//             performance gets the fewest further TBs with which it does better, until no kernel
//             can rise; then the ranges are laid out in order of arrival [D5].
// Paper       [Warped-Slicer] Sec. IV, Algorithm 1 and eq. 1. Deviations [D4], [D30], [D31].
// Interface   sample_*: a pulse writes one performance: of a kernel, with so many TBs on an SM.
//             start: pulse with a set of kernels, not empty; done: pulse; plan and ranges hold
//             until the next start.
// Latency     done is visible at most 1,579 cycles after start in configuration gtx980, and 1,366
//             in the longest plan known; the page has the cycles of each step.
// Throughput  One plan at a time; one sample per cycle.
// Reset       Idle; samples are not reset.
// Doc         docs/blocks/waterfill_planner.md
// Every kernel's level is its performance over its best one, in 16 bits, rounded down: all ones
// is the best. It comes from one divider, bit by bit.
#pragma once

#include "control/driver/kernel_table.h"

namespace smk {

class WaterfillPlanner {
 public:
  static constexpr unsigned kPerformanceWidth = 16;
  static constexpr std::uint16_t kBest = 0xffff;
  // 120 % of all that one kernel has, shared by the kernels of the plan [D30].
  static constexpr std::uint32_t kLossLimit = 6 * 65536 / 5;

  struct Config {
    ResourceVector limits{};
    unsigned num_kernels = kNumKernels;
  };
  struct Inputs {
    bool sample_valid = false;
    std::uint8_t sample_kernel = 0;
    std::uint8_t sample_tbs = 1;
    std::uint16_t sample_performance = 0;
    bool start = false;
    KernelMask kernels = 0;
    SmId sm{0};
    std::uint32_t loss_limit = kLossLimit;
    const KernelTable::State* kernel_table = nullptr;  // registers of kernel_table
  };
  // What the planner does in this cycle.
  enum class Step : std::uint8_t {
    kIdle,
    kBegin,      // looks for a kernel that has not begun
    kAlone,      // its best performance: one more TB on an SM of its own ...
    kAloneLook,  // ... and is it better?
    kFirst,      // its first TB of the plan
    kScale,      // is it as good as alone?
    kDivide,     // if not, its level: a bit per cycle
    kChoose,     // the lowest of all that may rise: a kernel per cycle
    kChosen,
    kRise,  // what it has now ...
    kMark,
    kTry,      // ... one more TB ...
    kTryLook,  // ... and is it better?
    kPlace,    // looks for the next kernel by arrival
    kExtend,   // its range, TB by TB
    kJudge,    // adds what is lost
  };
  struct State {
    Step step = Step::kIdle;
    bool done = false;  // pulse
    KernelMask kernels = 0;
    bool anywhere = true;  // the plan is the same on every SM
    std::array<PartitionRange, kMaxKernels> range{};
    // What is lost, once for every kernel, less the limit and one.
    std::int32_t loss = -1;
    bool spatial() const { return loss >= 0; }
    bool busy() const { return step != Step::kIdle; }

    KernelMask todo = 0, full = 0;
    unsigned kernel = 0, rank = 0;
    std::array<std::uint8_t, kMaxKernels> tbs{};
    std::array<std::uint16_t, kMaxKernels> level{}, peak{};
    ResourceVector taken{}, trial{};  // by TBs planned; with those that are tried
    std::uint8_t count = 0;           // TBs of the kernel in trial
    std::uint16_t word = 0, mark = 0;
    std::uint32_t rest = 0;  // of the division
    unsigned bits = 0;
    std::uint16_t lowest = 0;
    unsigned chosen = 0;
    // Performance of each kernel with 1, 2, ... TBs.
    std::array<std::array<std::uint16_t, kMaxTbSlots>, kMaxKernels> sample{};
  };
  // All outputs are registers.
  using Outputs = State;

  explicit WaterfillPlanner(const Config& config) : config_(config) {}
  const Outputs& Eval(const Inputs&) const { return state_; }
  void Tick(const Inputs& in);
  const State& state() const { return state_; }

 private:
  void Start(const Inputs& in);
  unsigned First(const Inputs& in) const;
  void NextKernel();
  bool TryOneMore(const ResourceVector& need);
  void Plan(const ResourceVector& need);
  void Begin();
  void BeginFirst(const ResourceVector& need);
  void Scale();
  void Divide();
  void Choose();
  void TakeChosen();
  void LayOut(const KernelTable::State& kernels, const Inputs& in);
  void Extend(const ResourceVector& need);
  void Judge();
  std::uint16_t Sample(unsigned tbs) const;

  Config config_;
  State state_;
};

}  // namespace smk
