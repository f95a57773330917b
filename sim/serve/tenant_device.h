// SPDX-License-Identifier: Apache-2.0
// Clients with scripts on a device of cycles: `smk serve` with `--device`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/gemini/device_tenants.h"
#include "serve/devices.h"
#include "serve/tenant_spec.h"

namespace smk::sim {

// What they run on.
struct TenantDevice {
  DeviceChoice choice;
  Experiment experiment;  // its jobs are the clients
  Policy policy;          // with the requests and limits of the clients as those of tokens
};

// What one client had of the device.
struct DeviceClient {
  // Time that the instructions which it has executed take alone.
  gemini::Nanoseconds work = 0;
  // Of each launch whose thread blocks began: from the program's call, or the end of its launch
  // before if that is later, until the first of them was on an SM.
  std::vector<gemini::Nanoseconds> waits;
  std::optional<TokenStats> tokens;  // of the hardware
};

struct DeviceResults {
  gemini::TenantResult tenants;
  std::vector<DeviceClient> clients;
  Cycle cycles = 0;
  std::uint64_t checks = 0;
  double wall_seconds = 0;
};

// Throws InputError for what a device does not have, as kernels without thread blocks.
TenantDevice PrepareTenantDevice(const TenantSpec& spec, const Options& options,
                                 const DeviceOptions& device, const SchedulerChoice& scheduler,
                                 const Backend& backend);

// `spec` with the times of its kernels.
DeviceResults RunTenantsOnDevice(const TenantSpec& spec, const TenantDevice& device,
                                 const Options& options, const Backend& backend);

}  // namespace smk::sim
