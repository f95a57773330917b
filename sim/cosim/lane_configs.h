// SPDX-License-Identifier: Apache-2.0
// The configurations of which schedulers and profile counters are compiled as lanes.
#pragma once

#include <fermi_profile.h>
#include <fermi_scheduler.h>
#include <gtx980_profile.h>
#include <gtx980_scheduler.h>
#include <small_profile.h>
#include <small_scheduler.h>

#include "cosim/rtl_configs.h"

namespace smk {

struct LanesGtx980 : RtlGtx980 {
  using SchedulerLanes = lanes::Gtx980Scheduler;
  using ProfileLanes = lanes::Gtx980Profile;
};
struct LanesFermi : RtlFermi {
  using SchedulerLanes = lanes::FermiScheduler;
  using ProfileLanes = lanes::FermiProfile;
};
struct LanesSmall : RtlSmall {
  using SchedulerLanes = lanes::SmallScheduler;
  using ProfileLanes = lanes::SmallProfile;
};
// More SMs, each as of gtx980.
struct LanesV100 : RtlV100 {
  using SchedulerLanes = lanes::Gtx980Scheduler;
  using ProfileLanes = lanes::Gtx980Profile;
};

}  // namespace smk
