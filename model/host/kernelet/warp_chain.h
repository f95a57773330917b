// SPDX-License-Identifier: Apache-2.0
// Kernelet's performance model of one SM with one warp scheduler ([Kernelet] Sec. 4.3): how often
// its kernels issue, from how many warps they have there and how often these wait for memory.
//
// A warp is ready, or idle: it waits for a memory instruction. With uncoalesced instructions it is
// idle in one of two ways. The state of the chain is how many warps of each kernel are idle in
// each way; a step is a round, in which every ready warp issues once:
//   - a ready warp becomes idle with probability R_m, the part of its instructions that access
//     memory, and stays ready with 1 - R_m;
//   - an idle warp becomes ready with probability D / L: D is how long the round takes, the number
//     of ready warps or else one cycle, and L the latency with what is outstanding [D40] [D41].
// Warps go their ways independently, so that the transitions of a state are a product over the
// kernels, and those of a kernel are sums of binomials (eq. 1).
#pragma once

#include <cstdint>
#include <vector>

#include "host/kernelet/latency_line.h"
#include "host/kernelet/steady_state.h"

namespace smk {

// A part of something; false for what is not a number.
inline bool IsShare(double value) { return value >= 0 && value <= 1; }

// One kernel on the SM.
struct ChainKernel {
  unsigned warps = 1;       // w
  double memory_ratio = 0;  // R_m: below 1
  double uncoalesced = 0;   // the part of its memory instructions that are not coalesced
};

struct ChainMemory {
  LatencyLine coalesced;    // of an instruction with one request
  LatencyLine uncoalesced;  // of one with `requests`
  double requests = 32;     // [Kernelet] Sec. 4.3: 1 to 32
};

// Warp instructions per cycle.
struct ChainIpc {
  std::vector<double> kernel;  // eqs. 3, 4 and 5
  double total = 0;            // eq. 6
};

class WarpChain {
 public:
  // One kernel, two, or more. InputError for what cannot be, or is too large.
  WarpChain(std::vector<ChainKernel> kernels, const ChainMemory& memory,
            const ChainLimits& limits = {});

  std::size_t states() const { return states_; }
  // The transitions from a state, for SteadyState().
  void From(std::uint32_t state, double negligible, std::vector<Transition>* row) const;
  // The steady state, by state: the last kernel's idle warps count fastest.
  std::vector<double> Steady() const;
  ChainIpc Ipc() const;

 private:
  // Idle warps of one kernel.
  struct Idle {
    unsigned coalesced = 0;
    unsigned uncoalesced = 0;
  };
  struct Part {
    ChainKernel kernel;
    std::vector<Idle> states;
    std::vector<std::uint32_t> number;        // of a state, by coalesced and uncoalesced
    std::vector<std::vector<double>> issues;  // by ready warps: how many become idle, and how

    std::uint32_t At(unsigned coalesced, unsigned uncoalesced) const {
      return number[coalesced * (kernel.warps + 1) + uncoalesced];
    }
    unsigned Ready(const Idle& idle) const {
      return kernel.warps - idle.coalesced - idle.uncoalesced;
    }
  };
  // Probability of an idle warp to become ready.
  struct Wake {
    double coalesced = 0;
    double uncoalesced = 0;
  };

  static Part MakePart(const ChainKernel& kernel);
  // A state of the chain, as states of its parts.
  void Split(std::uint32_t state, std::vector<std::uint32_t>* parts) const;
  Wake WakeWith(double ready, double coalesced, double uncoalesced) const;
  static void PartRow(const Part& part, const Idle& idle, const Wake& wake,
                      std::vector<double>* row);
  std::uint32_t MeanState() const;

  std::vector<Part> parts_;
  ChainMemory memory_;
  ChainLimits limits_;
  std::size_t states_ = 1;
};

}  // namespace smk
