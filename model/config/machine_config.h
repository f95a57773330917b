// SPDX-License-Identifier: Apache-2.0
// Parameters of the machine model; every field is a key of sim/machines/*.toml (same names).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/resources.h"

namespace smk {

inline constexpr unsigned kMaxLsuQueue = 32;
inline constexpr unsigned kMaxCollectors = 8;  // of one scheduler

// What memory.model may name; the first is the default. MakeMemory() makes one
// (memory/memory_models.h).
inline constexpr std::array<const char*, 2> kMemoryModels{"gddr", "fixed"};

// What sm.register_allocation may name. `warps`: whole warps take registers, and each thread a
// multiple of four. `threads`: what the threads of a TB have, together.
inline constexpr std::array<const char*, 2> kRegisterAllocations{"warps", "threads"};

// What tb_starts may name. `alone`: a TB begins when it is on its SM. `waves`: the TBs of a launch
// begin in waves of one per SM, each when its last TB is there (machine/tb_waves.h).
inline constexpr std::array<const char*, 2> kTbStarts{"alone", "waves"};

// What memory.xbar_order may name. `free`: any request of an SM whose slice is free goes. `fifo`:
// an SM's requests go in their order, so that one that waits holds back all behind it. `turns`: as
// `fifo`, and each port serves those that wait in turn; of an SM without an L1 only.
inline constexpr std::array<const char*, 3> kXbarOrders{"free", "fifo", "turns"};

// What sm.l1_full_set may name: what a miss does when all lines of its set are in flight. `bypass`:
// it goes on without a place. `wait`: for the first of them, as in GPGPU-Sim.
inline constexpr std::array<const char*, 2> kL1FullSets{"bypass", "wait"};
// What sm.l1_flush may name: what invalidates an L1. `never`: nothing. `kernel`: the end of a
// kernel, as Accel-Sim's gpgpu_flush_l1_cache (Sm::ClaimSlot).
inline constexpr std::array<const char*, 2> kL1Flushes{"never", "kernel"};
// What memory.sector_bytes may be: a sector, or a whole line.
inline constexpr std::array<unsigned, 2> kSectorSizes{kSectorBytes, kLineBytes};

// What memory.writes may name. `posted`: a write is complete when its slice has taken it.
// `acknowledged`: when its reply is back at the SM, a packet for each of its own.
inline constexpr std::array<const char*, 2> kWrites{"posted", "acknowledged"};
// What memory.l2_write_miss may name. `validate`: the line is allocated, and knows what of it was
// written. `fetch`: the store goes on to DRAM, and the line is read from there, as in GPGPU-Sim 3.
inline constexpr std::array<const char*, 2> kL2WriteMisses{"validate", "fetch"};

// What memory.partition may name. `rotated`: chunks of interleave_bytes go round the controllers,
// in an order that a hash turns from row to row. `drawn`: each line's slice is drawn when it is
// first touched, as Accel-Sim's partition indexing "random" has it.
inline constexpr std::array<const char*, 2> kPartitions{"rotated", "drawn"};
inline constexpr std::array<const char*, 2> kMergeBarriers{"group", "tb"};
inline constexpr std::array<const char*, 2> kMergeQueues{"memory", "hardware"};

// One execution pipe: result after `latency` core cycles, next instruction after `initiation`
// cycles.
struct PipeConfig {
  unsigned latency = 4;
  unsigned initiation = 1;
};

struct CacheConfig {
  unsigned bytes = 0;  // 0: no such cache (L1 only)
  unsigned ways = 0;
  unsigned mshrs = 0;        // lines in flight
  unsigned mshr_merges = 8;  // accesses that one line in flight can serve
  unsigned latency = 0;      // core cycles, hit
};

// A cache of textures beside the L1.
struct TextureConfig {
  unsigned bytes = 65536;  // 0: textures go through the L1
  unsigned ways = 16;
  unsigned fifo = 128;    // accesses between tag and data, whose results come back in order
  unsigned latency = 82;  // core cycles, hit
};

// How many pipes of a kind an SM has. As many as schedulers: each has its own. Fewer: all share
// them, and an instruction takes the first that is free.
struct UnitConfig {
  unsigned sp = 4, sfu = 4, dp = 4;
  unsigned constant = 4;  // 0: constants go through the memory pipe
  unsigned memory = 4;    // memory instructions that enter the LSU per cycle
};

struct SmConfig {
  ResourceVector limits{256, 384, 64, 32};  // allocation units
  std::string register_allocation = kRegisterAllocations[0];
  unsigned schedulers = 4;
  unsigned warps_per_scheduler = 16;
  unsigned fetch_warps = 1;     // warps per cycle for which the SM fetches: 1, 2, 4 or 8
  unsigned fetch_width = 2;     // instructions per fetch: the size of a warp's instruction buffer
  unsigned fetch_line = 16;     // instructions per line of code, which a fetch does not cross
  unsigned fetch_latency = 2;   // cycles from a fetch until its first instruction can issue
  unsigned branch_latency = 2;  // the same after a taken branch, which empties the buffer
  PipeConfig alu{6, 1}, imul{6, 2}, sfu{20, 4}, dp{48, 32};
  PipeConfig shared{8, 1};  // plus one cycle per extra bank pass
  PipeConfig constant{8, 1};
  PipeConfig lsu{0, 1};      // cycles per 128-byte line at the SM's LSU
  unsigned lsu_queue = 8;    // memory instructions waiting at the SM's LSU
  unsigned lsu_bytes = 128;  // what passes the LSU per cycle where lines have sectors
  std::string l1_full_set = kL1FullSets[0];
  std::string l1_flush = kL1Flushes[0];
  unsigned stores = 64;     // lines of stores on their way; no limit with xbar_order `turns`
  unsigned collectors = 0;  // operand collectors of each scheduler; 0: none, pipes are waited for
  unsigned operand_latency = 0;  // of operand collection and write-back, in every result
  unsigned barrier_latency = 4;
  unsigned warp_start_latency = 10;  // from activation of a TB to the first issue
  UnitConfig units{};
  CacheConfig l1{16384, 4, 28, 8, 82};
  TextureConfig texture{};
};

// The memory system behind the SMs. Defaults are those of gtx980.toml, which names their sources.
struct MemoryConfig {
  std::string model = kMemoryModels[0];  // all below is of `gddr`, but
  unsigned fixed_latency = 367;          // of `fixed`: core cycles of every line
  unsigned sector_bytes = 128;           // what loads ask for at least: 128 is whole lines
  unsigned xbar_latency = 36;            // core cycles, one way
  unsigned xbar_bytes_per_cycle = 48;    // per port and direction; also the size of a flit
  std::string xbar_order = kXbarOrders[0];
  std::string writes = kWrites[0];
  unsigned l2_slices_per_controller = 1;     // a power of two
  CacheConfig l2{524288, 16, 128, 16, 131};  // one slice; the number of sets is a power of two
  unsigned l2_bytes_per_cycle = 64;          // one slice
  unsigned l2_eviction_buffer = 16;          // one slice: lines on their way to DRAM
  std::string l2_write_miss = kL2WriteMisses[0];
  unsigned controllers = 4;
  unsigned banks = 16;  // per controller, a power of two
  unsigned row_bytes = 2048;
  double dram_clock_mhz = 1750;        // command clock
  unsigned dram_bytes_per_clock = 32;  // per controller, data bus
  unsigned t_cl = 12, t_rcd = 12, t_rp = 12, t_ras = 28, t_rc = 40, t_rrd = 6, t_ccd = 2,
           t_wr = 12;                   // dram clocks
  unsigned t_wl = 4, t_wtr = 5;         // dram clocks: write latency, write to read
  unsigned t_refi = 3325, t_rfc = 168;  // dram clocks: time between refreshes, length of one
  unsigned dram_queue = 64;             // per controller: reads it can reorder
  unsigned write_batch = 16;            // per controller: writes drained together
  unsigned dram_latency = 140;  // core cycles of controller and pins besides the timings above
  std::string partition = kPartitions[0];
  unsigned interleave_bytes = 256;  // `rotated`: consecutive bytes on one controller
};

// What is between host and GPU.
struct HostLink {
  double copy_bandwidth = 12;     // GB/s (10^9 bytes), each direction
  unsigned copy_latency = 12160;  // core cycles of a copy besides its bytes
  unsigned memory = 4096;         // MB (2^20 bytes) of the GPU
  // Merged launches: instructions of a warp before each TB, registers of a thread at least.
  unsigned merge_spoof = 150, merge_registers = 0;
  // Whom a barrier of a merged launch waits for: all warps of the group, or those of its TB.
  std::string merge_barrier = kMergeBarriers[0];
  // Where a merged launch has its queue; cycles from a request to the answer of one in hardware.
  std::string merge_queue = kMergeQueues[0];
  unsigned merge_queue_latency = 3;
};

// Defaults are those of sim/machines/gtx980.toml, which a test holds true.
struct MachineConfig {
  std::string name = "gtx980";
  double core_clock_mhz = 1216;
  unsigned sms = 16;
  unsigned launch_latency = 100;  // core cycles from a kernel's end to the program's next launch
  std::string tb_starts = kTbStarts[0];
  SmConfig sm{};
  MemoryConfig memory{};
  HostLink host{};

  // Reads a machine file; throws InputError ("file:line: key: expected ..., got ...") on any
  // unknown, missing or impossible key. `overrides` are "key=value" with dotted keys, e.g.
  // "sm.l1.bytes=49152"; they pass the same checks and are reported as "--set key: expected ...".
  static MachineConfig Load(const std::string& path,
                            const std::vector<std::string>& overrides = {});
  // The same from the text of a file; `path` is only for messages.
  static MachineConfig Parse(const std::string& text, const std::string& path,
                             const std::vector<std::string>& overrides = {});
};

// What a TB takes of an SM of this kind.
ResourceVector TbNeedOn(const SmConfig& sm, unsigned threads, unsigned registers_per_thread,
                        unsigned shared_bytes);

// The text of a machine file with every key; Parse() of it gives the same configuration.
std::string ToToml(const MachineConfig& machine);

// Path of a machine: `name` itself when it has a slash or ends in .toml, else
// data_dir/machines/name.toml. InputError, naming the machines there are, when there is no such
// file.
std::string FindMachine(const std::string& name, const std::string& data_dir);

// Names of the machines in data_dir/machines, sorted.
std::vector<std::string> ListMachines(const std::string& data_dir);

}  // namespace smk
