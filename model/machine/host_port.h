// SPDX-License-Identifier: Apache-2.0
// What the machine sees of the host: launches on offer, and who occupies each kernel slot.
#pragma once

#include "control/control_plane.h"
#include "workload/launch.h"

namespace smk {

// The machine's side of the host. Contract: in a cycle from NextEvent() on, the machine calls
// Drive(), and whenever it steps the driver, Observe() with what the control plane answered. In
// other cycles the host has nothing to say.
class HostPort {
 public:
  virtual ~HostPort() = default;
  // The next cycle in which Drive() must be called; kNever when only a kernel's end can lead to a
  // launch.
  virtual Cycle NextEvent() const = 0;
  // Sets the launch stream of this cycle; leaves launch_valid false when nothing is launched.
  virtual void Drive(Cycle now, HostInputs* in) = 0;
  // What the control plane answered. Throws InputError for a launch that it refuses.
  virtual void Observe(Cycle now, const HostInputs& in, const HostOutputs& out) = 0;
  // The launch in each kernel slot; a new one is there after the Observe() that saw it taken.
  virtual const LaunchTable& launches() const = 0;
  // The job's instructions have reached Job::work; `end` is the first cycle after it. No launch of
  // the job is begun from then on but one that is on offer already.
  virtual void OnWorkDone(JobId job, Cycle end) = 0;
  // What RunRequest::until waits for has happened. Changes in Drive(), Observe() and
  // OnWorkDone() only.
  virtual bool Finished() const = 0;
};

}  // namespace smk
