// SPDX-License-Identifier: Apache-2.0
// One simulation: what goes in and what comes out, without SystemC.
//
// Purpose     The interface between the machine model and those who run it. RunMachine() builds the
//             GPU, runs it for `cycles`, checks it and returns what the hardware did; with the host
//             of model/host, RunSimulation() (host/simulation.h) returns every statistic.
// Units       Cycles are core cycles; an instruction is a warp instruction; bytes are bytes.
// Errors      InputError for impossible requests; CheckFailure when a check of the run fires.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/wave_request.h"
#include "config/machine_config.h"
#include "control/control_plane.h"
#include "workload/workload.h"

namespace smk {

class HostPort;
class HostScheduler;

// How much a job has to do until it is done with its work (RunUntil::kWork).
struct WorkTarget {
  std::uint64_t warp_instructions = 0;
  // The host launches about so many of its TBs before it looks how much is left, so that few remain
  // to be ended when the work is done.
  std::uint64_t tbs = 0;
};

// A program that the host is asked to execute; it is named by its place in RunRequest::jobs.
struct Job {
  std::shared_ptr<const Workload> workload;
  Cycle arrival = 0;
  bool repeat = true;       // execute again when it ends early (SMK Sec. 6.1)
  std::string client = {};  // whose job it is; empty: that of the name of its workload
  WorkTarget work = {};
  // Bytes that are copied to the GPU before it can be launched, and back before it has ended. A job
  // with copies is executed once.
  std::uint64_t copy_in = 0, copy_out = 0;
};

// What ends a run; RunRequest::cycles ends it in any case.
enum class RunUntil : std::uint8_t {
  kCycles,  // nothing else
  kDone,    // every program has ended
  kWork,    // every job has done its work; what it still has is ended, and others get its place
};

struct RunRequest {
  MachineConfig machine;
  PolicyConfig policy;
  std::vector<Job> jobs;
  Cycle cycles = 2000000;
  RunUntil until = RunUntil::kCycles;
  // Statistics are those of the cycles from `measure_from` up to, not including, `measure_to`. What
  // is recorded, and what the host knows of the jobs, is of the whole run.
  Cycle measure_from = 0, measure_to = kNever;
  std::uint64_t seed = 1;
  // Makes what decides which launch is next (host/host_scheduler.h); empty: in_order.
  std::function<std::unique_ptr<HostScheduler>()> scheduler = {};
  bool overlap_copies = true;     // copies and kernels at the same time
  bool ideal_preemption = false;  // contexts move in no time and without traffic (SMK Sec. 6.5)
  // With sm.collectors: an instruction that nothing holds up has its time at its issue. If not, it
  // goes from place to place as all others do, with the same results; for tests.
  bool passing = true;
  bool record_tbs = false;  // fill RunResult::tbs
  bool record_decisions = false;
  bool record_timeline = false;
  Cycle timeline_from = 0, timeline_to = ~Cycle{0};
  Cycle timeline_step = 0;  // between two samples; 0 is an epoch
  // Steps at most, an even number: when there are more, they become twice as long. 0: no limit.
  std::size_t timeline_most_steps = 0;
  WaveRequest wave;                     // for a control plane that can draw one
  std::function<void(Cycle)> progress;  // called now and then, may be empty
};

// Why a scheduler did not issue in a cycle; every scheduler cycle is one of these or an issue.
enum class Stall : std::uint8_t {
  kIssued,      // not a stall
  kPipeline,    // an instruction was ready but its pipe was busy (SP, SFU, LSU queue)
  kControl,     // instruction buffer empty: fetch or branch
  kDataMemory,  // waits for a global, texture, constant or atomic result
  kDataShort,   // waits for an ALU, SFU or shared-memory result
  kBarrier,
  kQuota,       // ready, but the kernel's quota is spent
  kPreemption,  // only warps of stopped or loading TBs
  kEmpty,       // no warp on the scheduler
};
inline constexpr unsigned kNumStalls = 9;
extern const std::array<const char*, kNumStalls> kStallNames;

// The same cycles by another rule, that of the simulator which the papers use: see
// sm_sim_stalls.cc. What it calls them: kSimStalls in statistics.h.
enum class SimStall : std::uint8_t { kPipeline, kControl, kData };
inline constexpr unsigned kNumSimStalls = 3;

// What the hardware did for one job in the cycles that are measured.
struct KernelStats {
  std::string name;
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
  Cycle cycles_present = 0;  // from its arrival to its end, or to the end of the run
  std::uint64_t tbs_completed = 0;
  std::uint64_t launches_completed = 0;
  std::uint64_t program_runs = 0;
  // Scheduler cycles in which the reason held for a warp of the kernel, and for none that is older.
  std::array<std::uint64_t, kNumStalls> stalls{};
  std::uint64_t l1_accesses = 0, l1_hits = 0;  // 128-byte lines, loads
  std::uint64_t l2_accesses = 0, l2_hits = 0;  // 128-byte lines, loads and stores
  std::uint64_t dram_read_bytes = 0, dram_write_bytes = 0;
  // Cycles that its instructions took the pipes, summed over pipes and SMs.
  std::uint64_t alu_busy = 0, sfu_busy = 0, dp_busy = 0, lsu_busy = 0;
  std::uint64_t context_bytes = 0;
  std::uint64_t preemptions = 0, restores = 0, flushes = 0;
  Cycle preemption_cycles = 0;  // sum over TBs: from stop to the last context line stored
  Cycle last_tb_end = 0;        // the last warp of its last TB retired; 0: no TB has ended
  double ipc(Cycle cycles) const {
    return cycles == 0 ? 0.0 : static_cast<double>(warp_instructions) / static_cast<double>(cycles);
  }
};

// What the host did when for one job, over the whole run; what the hardware did is in KernelStats.
struct JobStats {
  std::string client;
  Cycle arrival = 0;
  Cycle ready = kNever;   // its input was on the GPU; kNever: not yet
  Cycle start = kNever;   // its first launch; kNever: none
  Cycle finish = kNever;  // the end of its first execution; kNever: it did not end
  Cycle end = kNever;     // it has nothing more to do; kNever: it had until the end of the run
  std::uint64_t executions = 0, kernels_completed = 0;   // of its program
  std::uint64_t slices_begun = 0, slices_completed = 0;  // a whole kernel is one slice
  KernelId slot{0};                                      // of its last launch
  // From the arrival to the end, when there was one.
  std::optional<Cycle> turnaround() const {
    return finish == kNever ? std::nullopt : std::optional<Cycle>(finish - arrival);
  }
};

// Copies between host and GPU, over the whole run.
struct CopyStats {
  std::uint64_t copies = 0;  // with at least one byte
  std::uint64_t in_bytes = 0, out_bytes = 0;
  Cycle in_cycles = 0, out_cycles = 0;  // in which the engine of the direction was busy
  Cycle overlapped_cycles = 0;          // of both sums: while kernels were in kernel slots
};

// One copy of at least one byte.
struct CopyRecord {
  Cycle start = 0, end = 0;  // of the engine; what has not ended has the end that it would have
  JobId job{0};
  bool out = false;  // from the GPU to the host
  std::uint64_t bytes = 0;
};

// What one kernel slot had of the GPU under DispatchMode::kToken, over the whole run.
struct TokenStats {
  std::uint64_t tokens = 0;  // given to it
  Cycle cycles = 0;          // in which it had the GPU: with a token, or overuse
  // Of these, after the end of a token's quota: until another kernel had the GPU, or it had another
  // token. The longest of them.
  Cycle overuse_cycles = 0, overuse_max = 0;
};

// One launch: a whole kernel or a slice of it, in a kernel slot.
struct LaunchRecord {
  Cycle start = 0, end = kNever;  // taken by the control plane; said to be done, kNever: not yet
  JobId job{0};
  KernelId slot{0};
  std::uint32_t kernel = 0;  // its place in Workload::kernels
  std::uint32_t number = 0;  // launches of the job so far, this one included
  std::uint32_t first_tb = 0, tb_count = 0;
};

struct SmStats {
  std::array<std::uint64_t, kNumStalls> scheduler_cycles{};  // sums to schedulers x measured cycles
  std::array<std::uint64_t, kNumSimStalls> sim_stalls{};     // the same but the issues
  std::vector<std::uint64_t> warp_instructions;              // by job
  std::vector<std::uint64_t> tb_cycles;  // by job: resident TBs, integrated over cycles
};

// Life of one TB on one SM. A preempted TB has one record for each stay.
struct TbRecord {
  Cycle start = 0, end = 0;  // warps placed; last warp retired, context saved, or dropped
  KernelId kernel{0};
  std::uint32_t launch = 0;  // launch number of the job
  TbId tb{0};
  SmId sm{0};
  TbSlot slot{0};
  bool restored = false;  // began from a saved context
  // C completed, S saved, F flushed, E ended with its job's work, R running at the end of the run
  char outcome = 'C';
  JobId job{0};
  std::optional<TbBase> base;  // where it lay
};

// One sample per SM and step of the timeline, and when a kernel slot changes hands, for timelines
// and reports; by kernel slot.
struct EpochSample {
  Cycle cycle = 0;
  SmId sm{0};
  std::array<JobId, kNumKernels> job{};  // whose slot it is, or was last; or kNoJob
  std::array<std::uint64_t, kNumKernels> warp_instructions{};  // since the last one
  std::array<std::uint8_t, kNumKernels> resident_tbs{};
  std::array<std::uint16_t, kNumKernels> quota{};       // of a scheduler, in force
  std::array<std::uint16_t, kNumKernels> quota_left{};  // of scheduler 0
  ResourceVector taken{};
};

struct RunResult {
  Cycle cycles = 0;
  bool cut_short = false;  // by RunRequest::cycles, before what RunRequest::until waits for
  // Of the replay device (model/replay): nothing is known of SMs, and little of the kernels.
  bool from_rates = false;
  Cycle measured_from = 0, measured_to = kNever;  // kNever: to the end of the run
  double wall_seconds = 0;
  std::uint64_t warp_instructions = 0;
  std::vector<KernelStats> kernels;  // by job, as in RunRequest::jobs
  std::vector<JobStats> jobs;
  CopyStats copies;
  std::vector<TokenStats> tokens;  // by kernel slot, under DispatchMode::kToken
  std::vector<SmStats> sms;
  std::uint64_t dram_row_hits = 0, dram_row_misses = 0;
  std::uint64_t late_reservations = 0;   // of the whole run: MemoryStats
  std::vector<LaunchRecord> launches;    // when anything else is recorded
  std::vector<CopyRecord> copy_records;  // likewise
  std::vector<TbRecord> tbs;
  std::vector<Decision> decisions;
  std::vector<EpochSample> epochs;
  // By SM and job: TBs that the partition of the job's kernel slot holds at the end.
  std::vector<std::vector<std::uint8_t>> partitions;
  std::uint64_t checks = 0;  // checks that were evaluated and held
  // TBs that waited for a gap in an SM's memories though there was enough in all, and how long.
  std::uint64_t place_waits = 0, place_wait_cycles = 0;
  // Cycles that the statistics are of.
  Cycle measured_cycles() const {
    const Cycle to = std::min(measured_to, cycles);
    return to > measured_from ? to - measured_from : 0;
  }
  // Outputs of two control planes that were compared and equal; 0 when only one ran.
  std::uint64_t lockstep_events = 0;
};

// Runs one simulation in this process (the SystemC kernel allows one at a time, one after another).
// What is known of the jobs beyond `kernels` is the host's to add: see host/simulation.h.
RunResult RunMachine(const RunRequest& request, ControlPlane& control, HostPort& host);

}  // namespace smk
