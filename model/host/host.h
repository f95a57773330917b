// SPDX-License-Identifier: Apache-2.0
// The host: keeps the jobs of a run and launches what its scheduler chooses.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/copy_engines.h"
#include "host/host_scheduler.h"
#include "machine/host_port.h"
#include "machine/merged_launch.h"
#include "machine/run.h"

namespace smk {

// Between a HostScheduler and the GPU. A kernel slot takes its next launch, and a job its next
// kernel, `launch_latency` cycles after the one before is done [D98]. A job that repeats starts
// again when its program ends, and sees the same random draws: they depend on the seed, the
// program's name, the kernel's place in the program, the TB and the warp, not on the kernel slot,
// the slice or the time, so a job does the same work alone and with others, whole and in slices.
class Host : public HostPort {
 public:
  // `request` must live as long as the host. Without a scheduler: in_order.
  explicit Host(const RunRequest& request, std::unique_ptr<HostScheduler> scheduler = nullptr);

  Cycle NextEvent() const override { return next_event_; }
  void Drive(Cycle now, HostInputs* in) override;
  void Observe(Cycle now, const HostInputs& in, const HostOutputs& out) override;
  const LaunchTable& launches() const override { return launches_; }
  void OnWorkDone(JobId job, Cycle end) override;
  bool Finished() const override { return until_ != RunUntil::kCycles && unfinished_ == 0; }

  // At the end of the run: adds what only the host knows.
  void Finish(RunResult* result);

 private:
  // What JobState does not show.
  struct Progress {
    std::uint64_t key = 0;  // source of its draws
    JobStats stats;
    std::uint64_t kernels_measured = 0, executions_measured = 0;  // in the cycles of statistics
    std::uint64_t tbs_launched = 0;
    bool work_done = false;
    bool cut = false;  // a launch has fewer TBs than the scheduler chose: the rest is to follow
  };
  struct Slot {
    bool busy = false;
    Cycle free_at = 0;       // when not busy
    LaunchChoice launch;     // when busy
    std::size_t record = 0;  // of it in records_
    std::unique_ptr<MergedLaunch> merged = {};
  };
  using Timer = std::pair<Cycle, JobId>;  // when a job becomes ready

  void Wake(JobId job, Cycle at);
  void WakeReady();
  void SetReady(JobId job);
  void AdvanceCopies();
  // Something is in a kernel slot, or on its way there.
  bool KernelsRun() const;
  void SetFreeSlots();
  void FindNextEvent();
  void Check(const LaunchChoice& choice) const;
  void CheckPart(JobId job, KernelId slot, std::uint32_t tb_count) const;
  void CheckMerge(const LaunchChoice& choice) const;
  [[noreturn]] void FailChoice(const std::string& what) const;
  [[noreturn]] void Refuse(const LaunchChoice& choice, LaunchError error) const;
  void Begin(const LaunchChoice& choice, const KernelDescriptor& descriptor);
  void BeginMerged(const LaunchChoice& choice, const KernelDescriptor& descriptor);
  Launch MakeLaunch(JobId job);
  void Occupy(JobId job, KernelId slot, std::uint32_t tb_count);
  void Done(KernelId slot);
  void PartDone(KernelId slot);
  // How many TBs of the job one launch may have.
  std::uint32_t MostTbs(JobId job) const;
  // The job has been executed, and what it copies back is there.
  void Finish(JobId job);
  // The job has nothing more to do.
  void End(JobId job, Cycle at);
  bool Measured() const { return view_.now >= measure_from_ && view_.now < measure_to_; }
  // The job's kernel is complete; true when its program is, too.
  bool NextKernel(JobId job);

  const Cycle launch_latency_;
  const Cycle measure_from_, measure_to_;
  const bool record_;
  const RunUntil until_;
  std::size_t unfinished_ = 0;  // jobs that until_ waits for
  std::unique_ptr<HostScheduler> scheduler_;
  std::vector<JobState> jobs_;  // by JobId
  std::vector<Progress> progress_;
  std::vector<Timer> timers_;  // a heap, the next first
  CopyEngines copies_;
  std::array<Slot, kNumKernels> slots_{};
  LaunchTable launches_{};
  std::vector<LaunchRecord> records_;
  HostView view_{0, jobs_, 0};
  std::optional<LaunchChoice> offer_;  // not yet taken
  bool offer_cut_ = false;             // it has fewer TBs than the scheduler chose
  Cycle next_event_ = 0;
};

}  // namespace smk
