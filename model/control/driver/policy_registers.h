// SPDX-License-Identifier: Apache-2.0
// Reference of smk_policy_registers: the policy of the chip, from registers, with a defined moment
// of change.
//
// Purpose     Takes a new policy word by word, and puts it in force as a whole: it holds launches
//             off, waits until no kernel is there and the chip is quiet, and changes the policy in
//             the first cycle of a reset of the chip. What is not supported is refused.
// Paper       none.
// Interface   write, read: pulses, one word each. data, error: registers.
// Latency     A word 1 cycle after its read. The change quiet_cycles + 2 cycles after the last in
//             which the chip was awake, and launches restart_cycles later.
// Throughput  One read and one write per cycle.
// Reset       The policy of the Config, in force and in the words.
// Doc         docs/blocks/policy_registers.md
// `Package` has the numbers of a configuration under the names of smk_pkg.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "base/ids.h"
#include "control/control_plane.h"
#include "control/policy_words.h"

namespace smk {

// Why a commit has changed nothing: the codes of the status word.
enum class PolicyRefusal : std::uint8_t {
  kNone,
  kPreempt,       // flush, under Warped-Slicer
  kKernelsPerSm,  // none, or more than there are
  kTable,         // more TBs than an SM has slots
  kEpochLength,   // not more instructions than kernels
  kLatencyScale,  // zero
  kSlicerWindow,  // not 1 to 16,000 cycles
  kTokenWindow,   // not 2^10 to 2^24 cycles
  kTokenQuota,    // zero
  kTokenShare,    // a limit, or all requests together, above the window
  kCancelled,     // by the host, while it waited
};

template <typename Package>
class PolicyRegisters {
 public:
  using Words = typename PolicyWords<Package>::Words;
  static constexpr unsigned kWords = PolicyWords<Package>::kWords;
  // Behind the words of the policy: commands when it is written, the status when it is read.
  static constexpr std::uint8_t kControlWord = kWords;
  static constexpr std::uint32_t kCommit = 1, kCancel = 2;               // commands
  static constexpr std::uint32_t kPending = 1, kDone = 2, kRefused = 4;  // status
  static constexpr unsigned kWhyShift = 4;                               // of PolicyRefusal

  static PolicyConfig DefaultPolicy() {
    PolicyConfig policy;
    policy.kernels_per_sm = Package::NumKernels;
    return policy;
  }
  struct Config {
    PolicyConfig policy = DefaultPolicy();
    unsigned quiet_cycles = 32;   // in a row, in which nothing in the chip is awake
    unsigned restart_cycles = 4;  // of the chip's reset
  };
  struct Inputs {
    bool write = false, read = false;
    std::uint8_t address = 0;
    std::uint32_t data = 0;
    bool launch_taken = false;
    KernelId launch_kernel{0};
    std::uint8_t kernel_done = 0;  // bit per slot
    bool chip_awake = false;
  };
  enum class Step : std::uint8_t { kIdle, kWait, kRestart };
  struct State {
    Step step = Step::kIdle;
    Words words{}, policy{};
    std::uint8_t present = 0;  // kernels, bit per slot
    unsigned count = 0;        // quiet cycles, or cycles of the reset
    bool chip_awake = true;
    bool done = false;
    PolicyRefusal refusal = PolicyRefusal::kNone;
    bool error = false;
    std::uint32_t data = 0;
  };
  struct Outputs {
    std::uint32_t data = 0;
    bool error = false;
    bool launch_hold = false, restart = false;
    Words policy{};
    bool awake = false;
  };

  PolicyRegisters() : PolicyRegisters(Config()) {}
  explicit PolicyRegisters(const Config& config) : config_(config) {
    state_.words = state_.policy = PolicyWords<Package>::Of(config.policy);
  }

  // Whether the chip supports a policy; the last reason that applies.
  static PolicyRefusal Check(const PolicyConfig& policy) {
    using Refusal = PolicyRefusal;
    const unsigned kernels = Package::NumKernels, whole = kTokenWhole;
    const auto above = [&](const auto& values, unsigned most) {
      return std::any_of(values.begin(), values.begin() + kernels,
                         [&](unsigned value) { return value > most; });
    };
    const unsigned requests =
        std::accumulate(policy.token_request.begin(), policy.token_request.begin() + kernels, 0u);
    Refusal why = Refusal::kNone;
    if (policy.dispatch == DispatchMode::kSlicer && policy.preempt == PreemptMode::kFlush) {
      why = Refusal::kPreempt;
    }
    if (policy.kernels_per_sm == 0 || policy.kernels_per_sm > kernels) why = Refusal::kKernelsPerSm;
    if (above(policy.table, Package::LimitTbs)) why = Refusal::kTable;
    if (policy.epoch_length <= kernels) why = Refusal::kEpochLength;
    if (policy.latency_scale == 0) why = Refusal::kLatencyScale;
    if (policy.slicer_window == 0 || policy.slicer_window > 16'000) why = Refusal::kSlicerWindow;
    if (policy.token_window < 10 || policy.token_window > 24) why = Refusal::kTokenWindow;
    if (policy.token_quota == 0) why = Refusal::kTokenQuota;
    if (above(policy.token_limit, whole) || requests > whole) why = Refusal::kTokenShare;
    return why;
  }

  Outputs Eval(const Inputs&) const {
    const bool pending = state_.step != Step::kIdle;
    return {state_.data,   state_.error, pending, state_.step == Step::kRestart,
            state_.policy, pending};
  }
  void Tick(const Inputs& in) {
    const State old = state_;
    Access(in, old);
    for (unsigned k = 0; k < Package::NumKernels; ++k) {
      const auto bit = static_cast<std::uint8_t>(1u << k);
      if ((in.kernel_done & bit) != 0) state_.present &= static_cast<std::uint8_t>(~bit);
      if (in.launch_taken && Index(in.launch_kernel) == k) state_.present |= bit;
    }
    const bool calm = old.present == 0 && !old.chip_awake;
    if (old.step == Step::kWait && state_.step == Step::kWait) {
      state_.count = calm ? old.count + 1 : 0;
      if (state_.count == config_.quiet_cycles) {
        state_.policy = old.words;
        Go(Step::kRestart);
      }
    } else if (old.step == Step::kRestart && ++state_.count == config_.restart_cycles) {
      state_.done = true;
      Go(Step::kIdle);
    }
    state_.chip_awake = state_.step != Step::kWait || in.chip_awake;
  }
  const State& state() const { return state_; }

 private:
  void Go(Step step) {
    state_.step = step;
    state_.count = 0;
  }
  std::uint32_t Word(unsigned address) const {
    if (address < kWords) return state_.words[address];
    if (address != kControlWord) return 0;
    const auto why = static_cast<std::uint32_t>(state_.refusal);
    return (state_.step != Step::kIdle ? kPending : 0) | (state_.done ? kDone : 0) |
           (why != 0 ? kRefused : 0) | why << kWhyShift;
  }
  void Access(const Inputs& in, const State& old) {
    const bool pending = old.step != Step::kIdle, control = in.address == kControlWord;
    const bool commit = in.write && control && !pending && (in.data & kCommit) != 0;
    const bool cancel = in.write && control && old.step == Step::kWait && (in.data & kCancel) != 0;
    if (in.read) state_.data = Word(in.address);
    if (in.read || in.write) {
      state_.error = in.address > kControlWord || (in.write && pending && !cancel);
    }
    if (in.write && !pending && in.address < kWords) {
      state_.words[in.address] = in.data & MaskOf(in.address);
    }
    if (commit) {
      state_.refusal = Check(PolicyWords<Package>::Policy(old.words));
      state_.done = false;
      if (state_.refusal == PolicyRefusal::kNone) Go(Step::kWait);
    }
    if (cancel) {
      state_.refusal = PolicyRefusal::kCancelled;
      Go(Step::kIdle);
    }
  }
  // The bits of a word that there are.
  static std::uint32_t MaskOf(unsigned word) {
    const unsigned left = PolicyWords<Package>::kBits - 32 * word;
    return left >= 32 ? ~0u : (1u << left) - 1;
  }

  Config config_;
  State state_;
};

}  // namespace smk
