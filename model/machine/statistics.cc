// SPDX-License-Identifier: Apache-2.0
#include "machine/statistics.h"

namespace smk {

const std::vector<KernelCounter>& KernelCounters() {
  using K = KernelStats;
  static const std::vector<KernelCounter> kCounters = {
      {{"cycles_present", "cycles",
        "that are measured, from its arrival to its end, or to the end of the run"},
       &K::cycles_present,
       nullptr,
       true},
      {{"warp_instructions", "instructions", "issued"}, &K::warp_instructions},
      {{"thread_instructions", "thread instructions",
        "the same, times the threads that the TB gives each warp"},
       &K::thread_instructions},
      {{"tbs_completed", "TBs", "whose last warp has retired"}, &K::tbs_completed},
      {{"launches_completed", "launches", "kernels of the program that have retired"},
       &K::launches_completed,
       nullptr,
       true},
      {{"program_runs", "", "how often the whole program has ended"},
       &K::program_runs,
       nullptr,
       true},
      {{"l1_accesses", "lines", "128-byte lines that loads asked the L1 for"}, &K::l1_accesses},
      {{"l1_hits", "lines", "of these, found there"}, &K::l1_hits},
      {{"l2_accesses", "lines", "lines that loads and stores asked the L2 for"}, &K::l2_accesses},
      {{"l2_hits", "lines", "of these, found there"}, &K::l2_hits},
      {{"dram_read_bytes", "bytes", "read from DRAM for this kernel"}, &K::dram_read_bytes},
      {{"dram_write_bytes", "bytes", "written to DRAM for this kernel"}, &K::dram_write_bytes},
      {{"alu_busy", "pipe cycles", "its instructions took SP pipes, summed over pipes and SMs"},
       &K::alu_busy,
       nullptr,
       false,
       true},
      {{"sfu_busy", "pipe cycles",
        "the same of the pipes for special functions and integer multiplication"},
       &K::sfu_busy,
       nullptr,
       false,
       true},
      {{"dp_busy", "pipe cycles", "the same of the pipes for double precision"},
       &K::dp_busy,
       nullptr,
       false,
       true},
      {{"lsu_busy", "cycles",
        "its instructions took the LSUs, passes and waits for memory, summed over SMs"},
       &K::lsu_busy,
       nullptr,
       false,
       true},
      {{"preemptions", "TBs", "taken off their SM by saving their context"},
       &K::preemptions,
       "count"},
      {{"restores", "TBs", "brought back from a saved context"}, &K::restores, "restores"},
      {{"flushes", "TBs", "dropped, to be started again"}, &K::flushes, "flushes"},
      {{"context_bytes", "bytes", "contexts saved and restored"},
       &K::context_bytes,
       "context_bytes"},
      {{"preemption_cycles", "cycles",
        "sum over the saved TBs: from the stop to the last line stored"},
       &K::preemption_cycles,
       "cycles"},
  };
  return kCounters;
}

const std::vector<RunCounter>& RunCounters() {
  using R = RunResult;
  static const std::vector<RunCounter> kCounters = {
      {{"warp_instructions", "instructions", "issued in the run, over all kernels"},
       &R::warp_instructions},
      {{"dram_row_hits", "accesses", "to a row that was open"}, &R::dram_row_hits},
      {{"dram_row_misses", "accesses", "for which a row had to be opened"}, &R::dram_row_misses},
      {{"checks", "",
        "checks of the run that were evaluated and held; one that does not hold ends the run with "
        "`FAIL`"},
       &R::checks},
      {{"place_waits", "TBs",
        "that waited on their SM until others had left: registers and shared memory sufficed, but "
        "no gap was large enough"},
       &R::place_waits},
      {{"place_wait_cycles", "cycles", "for which they waited, from the first look on"},
       &R::place_wait_cycles},
  };
  return kCounters;
}

const std::vector<SmCounter>& SmCounters() {
  static const std::vector<SmCounter> kCounters = {
      {{"warp_instructions", "instructions", "issued on it, by kernel"},
       &SmStats::warp_instructions},
      {{"tb_cycles", "TBs × cycles",
        "resident TBs summed over the cycles, by kernel; divided by the cycles measured "
        "it is the mean number of resident TBs"},
       &SmStats::tb_cycles},
  };
  return kCounters;
}

const std::array<const char*, kNumStalls> kStallMeanings = {
    "a warp issued; only in `scheduler_cycles`",
    "an instruction was ready, but its pipe was busy",
    "no instruction in the warp's buffer: fetch or branch",
    "waits for a global, texture, constant or atomic result",
    "waits for a result of an ALU, SFU or shared memory",
    "waits for other warps of its TB",
    "ready, but the kernel has spent its quota",
    "its TB is being started, saved or restored",
    "no warp on the scheduler; only in `scheduler_cycles`",
};

const std::array<CounterText, kNumSimStalls> kSimStalls = {{
    {"sim_pipeline", "scheduler cycles",
     "a warp that is looked at has its instruction and its operands, but the pipe is busy"},
    {"sim_control", "scheduler cycles",
     "no warp that is looked at has an instruction, or none is looked at"},
    {"sim_data", "scheduler cycles",
     "warps that are looked at have an instruction, and none has its operands"},
}};

void AddCounters(const KernelStats& other, KernelStats* sum) {
  for (const KernelCounter& counter : KernelCounters()) {
    sum->*counter.value += other.*counter.value;
  }
  for (unsigned i = 0; i < kNumStalls; ++i) sum->stalls[i] += other.stalls[i];
}

void AddSince(const KernelStats& before, const KernelStats& after, KernelStats* sum) {
  for (const KernelCounter& counter : KernelCounters()) {
    if (!counter.of_job) sum->*counter.value += after.*counter.value - before.*counter.value;
  }
  for (unsigned i = 0; i < kNumStalls; ++i) sum->stalls[i] += after.stalls[i] - before.stalls[i];
}

}  // namespace smk
