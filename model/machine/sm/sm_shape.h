// SPDX-License-Identifier: Apache-2.0
// What all SMs of a machine have in common: their configuration, and what follows from it.
#pragma once

#include <array>
#include <cstdint>

#include "config/machine_config.h"
#include "machine/lanes.h"
#include "workload/program.h"

namespace smk {

struct SmShape {
  enum Port : std::uint8_t { kNoPort, kSp, kSfu, kDp, kConstant, kLsu };
  static constexpr unsigned kNumPorts = kLsu + 1;
  // What an instruction class costs.
  struct OpCost {
    Port port = kNoPort;
    std::uint8_t per_pass = 0;  // 1: `conflicts` - 1 cycles more
    std::uint8_t memory = 0;    // 1: waiting for the result is waiting for memory
    bool off_chip = false;      // global memory and textures: lines, not bank passes
    std::uint16_t latency = 0;
    std::uint16_t initiation = 1;
  };

  explicit SmShape(const SmConfig& sm, bool passing = true);

  SmConfig config;
  LaneLayout layout;
  LaneMask all_schedulers;  // the last lane of each
  std::array<OpCost, kNumOpClasses> costs{};
  bool collects;                                       // there are operand collectors
  std::array<std::uint8_t, kNumPorts> shared_units{};  // pipes that all share; 0: each its own
  bool any_shared = false;                             // of these
  unsigned fetch_shift = 0;                            // log2 of fetch_warps
  bool passing;                                        // see RunRequest
};

}  // namespace smk
