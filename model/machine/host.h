// SPDX-License-Identifier: Apache-2.0
// The host: launches the kernels of the programs, one after the other, again and again.
#pragma once

#include <array>
#include <vector>

#include "control/control_plane.h"
#include "machine/lanes.h"
#include "machine/run.h"
#include "machine/run_checks.h"
#include "workload/launch.h"

namespace smk {

// One stream of launches into the control plane. Program i uses kernel slot i; its next kernel is
// offered `launch_latency` cycles after the one before is done. Of several launches that wait, the
// one that waits longest goes first, then the lowest slot. A program that is executed again sees
// the same random draws: they depend on the seed, the program's name, the launch's place in the
// program and the warp, not on the kernel slot, so a program does the same work alone and with
// others.
class Host {
 public:
  Host(const RunRequest& request, TbLedger& ledger);

  const LaunchTable& launches() const { return launches_; }

  // A launch is on offer in this cycle.
  bool Offers(Cycle now) const { return NextEvent() <= now; }
  // Cycle of the next launch, kNever when no program waits for one.
  Cycle NextEvent() const { return next_offer_; }
  // Sets the launch stream of this cycle.
  void Drive(Cycle now, HostInputs* in);
  // Looks at what the control plane answered.
  void Observe(Cycle now, const HostInputs& in, const HostOutputs& out);

  // Statistics of one program.
  std::uint64_t launches_completed(unsigned program) const {
    return programs_[program].launches_completed;
  }
  std::uint64_t program_runs(unsigned program) const { return programs_[program].runs; }

 private:
  struct Program {
    const RunProgram* run = nullptr;
    std::uint64_t key = 0;
    std::size_t next_launch = 0;  // place in Workload::launches
    Cycle offer_at = kNever;
    bool running = false;
    std::uint32_t launches_begun = 0;
    std::uint64_t launches_completed = 0;
    std::uint64_t runs = 0;
  };
  const KernelSpec& NextKernel(const Program& program) const;
  void Begin(unsigned index, const KernelDescriptor& launch);
  void Done(unsigned index, Cycle now);
  void Refuse(unsigned index, LaunchError error) const;
  void FindNextOffer();

  TbLedger& ledger_;
  Cycle launch_latency_;
  std::vector<Program> programs_;
  LaunchTable launches_{};
  Cycle next_offer_ = kNever;
  unsigned next_program_ = 0;
};

}  // namespace smk
