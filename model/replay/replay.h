// SPDX-License-Identifier: Apache-2.0
// The second device behind the host: rates instead of SMs, and time in jumps from event to event.
//
// Purpose     Runs streams of jobs that are too long for the cycle model: RunReplay() is to the
//             rates what RunMachine() is to SystemC. Host and host schedulers are the same.
// Events      A launch is taken, begins to drain, or is done; a place is given away; what the host
//             waits for. Between two events every launch goes on at one rate.
// Draining    A draining launch goes on at a part of its rate. With left-over and on demand its
//             places go to the others meanwhile, who have the rates that they have with it in that
//             part of the time, and those without it in the rest.
// Checks      replay_checks.h, always on.
// Errors      InputError for a launch that fits no SM, and for what only the cycle model can do.
#pragma once

#include <memory>

#include "host/host_scheduler.h"
#include "machine/host_port.h"
#include "machine/run.h"
#include "replay/rates.h"

namespace smk {

// Of the result, RunResult::sms and everything that is recorded of SMs stays empty. Instructions
// and bytes of DRAM are those that a launch has alone.
RunResult RunReplay(const RunRequest& request, RateSource& rates, HostPort& host);

// The same with the host's part of the statistics, as RunSimulation(). Without a scheduler: that of
// the request, else in_order. Throws InputError for a request that only the cycle model can run.
RunResult RunReplaySimulation(const RunRequest& request, RateSource& rates,
                              std::unique_ptr<HostScheduler> scheduler = nullptr);

}  // namespace smk
