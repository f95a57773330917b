// SPDX-License-Identifier: Apache-2.0
// Reference of smk_token_arbiter: whose the GPU is, and for how long.
//
// Purpose     One token for all SMs. A kernel slot that has it keeps it for a quota of cycles, or
//             until it has no TBs. Then the next one is chosen: of those with TBs that are not
//             above their limit in the usage window the farthest below its request, else below its
//             limit; between equals the next slot after the last holder. Whose TBs must leave still
//             uses the GPU. The window slides by whole buckets; see smk_token_usage.
// Paper       [Gemini] Sec. 3.5.1, Fig. 6; 3.5.3; deviations [D82] to [D85].
// Interface   assign: pulse, the holder has changed.
// Latency     A new holder num_kernels + 4 cycles after a token has ended, a first one
//             num_kernels + 5 after demand has risen.
// Throughput  One decision at a time.
// Reset       No token, an empty window.
// Doc         docs/blocks/token_arbiter.md
#pragma once

#include "control/messages.h"

namespace smk {

class TokenArbiter {
 public:
  static constexpr unsigned kUnitsLog2 = 10;   // of the window
  static constexpr unsigned kBucketsLog2 = 3;  // of the window
  static constexpr unsigned kBuckets = 1u << kBucketsLog2;
  static constexpr unsigned kBucketUnits = 1u << (kUnitsLog2 - kBucketsLog2);

  struct Config {
    unsigned num_kernels = kNumKernels;
  };
  struct Inputs {
    // Constant during a run.
    bool enable = false;
    std::uint8_t window = 0;                           // log2 of its cycles
    std::uint32_t quota = 0;                           // cycles of a token
    std::array<std::uint16_t, kMaxKernels> request{};  // units of the window
    std::array<std::uint16_t, kMaxKernels> limit{};    // the same
    KernelMask demand = 0;                             // kernels with TBs that have not ended
    KernelMask resident = 0;                           // kernels with TBs on some SM
  };
  enum class Step : std::uint8_t { kRest, kLook, kClaim, kCompare, kGive, kHold };
  // What a kernel has had, and may have.
  struct Look {
    bool valid = false;
    KernelMask kernel = 0;
    std::uint16_t used = 0, request = 0, limit = 0;
  };
  // How far below its request, or its limit, a kernel is.
  struct Claim {
    bool valid = false;
    KernelMask kernel = 0;
    bool below = false;  // its request
    std::uint16_t gap = 0;
  };
  // What a kernel has had, in units: in the window, in its buckets, the newest first; and the
  // cycles of a unit that is not complete.
  struct Usage {
    std::uint16_t used = 0;
    std::array<std::uint8_t, kBuckets> buckets{};
    std::uint16_t part = 0;
  };
  struct State {
    Step step = Step::kRest;
    KernelMask demand = 0, resident = 0;  // of the last cycle
    std::uint8_t at = 0;                  // kernel that is looked at, or would be
    std::uint8_t looked = 0;              // kernels so far
    std::uint32_t left = 0;               // cycles of the token
    Look look{};
    Claim seen{}, best{};
    bool over = false;    // a token has expired, and its holder still has the GPU
    bool assign = false;  // pulse
    TokenView token{};
    bool passes = false;     // the window's time
    std::uint16_t time = 0;  // cycles of this unit
    std::uint8_t unit = 0;   // units of this bucket
    bool unit_end = false;   // one was completed in the last cycle
    KernelMask carry = 0;    // kernels that have completed a unit in the last cycle
    std::array<Usage, kMaxKernels> usage{};
  };
  // All outputs are registers, but for busy.
  using Outputs = State;

  explicit TokenArbiter(const Config& config) : config_(config) {}
  const Outputs& Eval(const Inputs&) const { return state_; }
  void Tick(const Inputs& in);
  const State& state() const { return state_; }
  // False: nothing will happen without another demand or resident kernels.
  bool Busy(const Inputs& in) const;

 private:
  // TBs that are on their way out.
  KernelMask Others() const {
    return static_cast<KernelMask>(state_.resident & ~state_.token.holder);
  }
  KernelMask User() const;
  Look LookAt(const Inputs& in) const;
  static Claim ClaimOf(const Look& look);
  static bool Better(const Claim& seen, const Claim& best);
  void CountUse(std::uint8_t window);
  void TakeStep(const Inputs& in, bool runs);
  void Give(const Inputs& in);

  Config config_;
  State state_;
};

}  // namespace smk
