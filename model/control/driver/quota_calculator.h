// SPDX-License-Identifier: Apache-2.0
// Reference of smk_quota_calculator: warp-instruction quotas from profiled IPC.
//
// Purpose     After each profiling window: for every shared SM, C_k = issued_k x S_k / T_k and
//             Quota_k = C_k / sum(C) x epoch, then one command per kernel and SM.
// Paper       [SMK] Sec. 5.4. S = TBs of the kernel in the SM's partition, T = TBs that it had on
//             its profiling SM. Deviations [D9], [D11], [D107].
// Interface   profile: pulse per kernel, with what its profiling SM issued and T; command: stream
//             towards the SMs, held until sent.
// Latency     kDivideCycles per division: two per kernel and SM, none for an SM whose partition
//             equals that of the last SM served.
// Throughput  One round at a time; windows that end during a round are not used.
// Reset       No window seen.
// Doc         docs/blocks/quota_calculator.md
// Quota_k = floor(C_k x (epoch - kernels) / sum(C)) + 1, so that sum(Quota) <= epoch and none is
// zero [D9]. An SM on which a sharing kernel has no window, or an empty one, is left as it is.
#pragma once

#include "control/messages.h"

namespace smk {

class QuotaCalculator {
 public:
  struct Config {
    unsigned num_sms = 16;
  };
  static constexpr unsigned kDivideCycles = 38;  // width of C x epoch

  struct Inputs {
    std::uint16_t epoch_length = 10000;
    KernelMask profile_valid = 0;  // the windows of these kernels have ended
    std::array<std::uint16_t, kMaxKernels> profile_issued{};
    std::array<std::uint8_t, kMaxKernels> profile_tbs{};
    const PartitionTable* partition = nullptr;  // TBs in force per SM and kernel
    SmMask settled{};                           // SMs whose partition is in force
    bool command_ready = false;                 // the command offered is sent this cycle
  };
  enum class Step : std::uint8_t { kIdle, kSm, kScale, kDivide, kSend };
  struct State {
    std::array<std::uint16_t, kMaxKernels> issued{};
    std::array<std::uint8_t, kMaxKernels> alone{};  // T
    KernelMask seen = 0;  // kernels with a window that is not empty in this round
    Step step = Step::kIdle;
    std::uint8_t sm = 0;
    std::uint8_t kernel = 0;
    std::uint8_t cycles_left = 0;
    std::array<std::uint32_t, kMaxKernels> scaled{};  // C_k
    std::array<std::uint16_t, kMaxKernels> quota{};
    std::array<std::uint8_t, kMaxKernels> last{};  // partition the quotas are for
    bool last_valid = false;
    bool command_valid = false;
    SmCommand command{};
    std::array<std::array<std::uint16_t, kMaxKernels>, kMaxSms> sent{};  // for reports
  };
  // All outputs are registers.
  using Outputs = State;

  explicit QuotaCalculator(const Config& config) : config_(config) {}
  const Outputs& Eval(const Inputs&) const { return state_; }
  void Tick(const Inputs& in);
  const State& state() const { return state_; }
  bool busy() const { return state_.step != Step::kIdle; }

 private:
  void NextSm();
  void StartSm(const Inputs& in);
  void Scale();
  void Divide(const Inputs& in);
  void Send(const Inputs& in);
  static KernelMask Seen(const Inputs& in);
  KernelMask Sharing(const Inputs& in, unsigned sm) const;

  Config config_;
  State state_;
};

}  // namespace smk
