// SPDX-License-Identifier: Apache-2.0
// Parameters of the machine model; every field is a key of sim/machines/*.toml (same names).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/resources.h"

namespace smk {

// One execution pipe: result after `latency` core cycles, next instruction after `initiation` cycles.
struct PipeConfig {
  unsigned latency = 4;
  unsigned initiation = 1;
};

struct CacheConfig {
  unsigned bytes = 0;
  unsigned ways = 0;
  unsigned mshrs = 0;          // lines in flight
  unsigned mshr_merges = 8;    // accesses that one line in flight can serve
  unsigned latency = 0;        // core cycles, hit
};

struct SmConfig {
  ResourceVector limits{256, 384, 64, 32};  // allocation units
  unsigned schedulers = 4;
  unsigned warps_per_scheduler = 16;
  unsigned fetch_latency = 3;               // cycles from issue until the next instruction of the warp can issue
  unsigned branch_latency = 6;              // the same after a taken branch (control stall)
  PipeConfig alu{6, 1}, imul{6, 2}, sfu{20, 4}, dp{20, 8};
  PipeConfig shared{24, 1};                 // plus one cycle per extra bank pass
  PipeConfig constant{8, 1};
  PipeConfig lsu{0, 1};                     // cycles per 128-byte line at the SM's LSU
  unsigned lsu_queue = 8;                   // memory instructions waiting at the SM's LSU
  unsigned barrier_latency = 4;
  unsigned warp_start_latency = 10;         // from activation of a TB to the first issue
  CacheConfig l1{};
};

struct MemoryConfig {
  unsigned xbar_latency = 0;          // core cycles, one way
  unsigned xbar_bytes_per_cycle = 32; // per port and direction
  unsigned l2_slices_per_controller = 1;
  CacheConfig l2{};                   // one slice
  unsigned l2_bytes_per_cycle = 64;   // one slice
  unsigned controllers = 4;
  unsigned banks = 16;                // per controller
  unsigned row_bytes = 2048;
  double dram_clock_mhz = 0;          // command clock
  unsigned dram_bytes_per_clock = 0;  // per controller, data bus
  unsigned t_cl = 0, t_rcd = 0, t_rp = 0, t_ras = 0, t_rc = 0, t_rrd = 0, t_ccd = 0, t_wr = 0;  // dram clocks
  unsigned dram_latency = 0;          // core cycles of controller and pins besides the timings above
  unsigned interleave_bytes = 256;    // consecutive bytes on one controller
};

struct MachineConfig {
  std::string name;
  double core_clock_mhz = 1216;
  unsigned sms = 16;
  unsigned launch_latency = 100;  // core cycles from a kernel's end to the launch of the program's next
  SmConfig sm{};
  MemoryConfig memory{};

  // Reads a machine file; throws InputError (file:line: key: expected ...) on any unknown, missing or
  // impossible key. `overrides` are "key=value" with dotted keys, e.g. "sm.l1.bytes=32768".
  static MachineConfig Load(const std::string& path,
                            const std::vector<std::string>& overrides = {});
};

}  // namespace smk
