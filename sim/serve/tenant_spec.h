// SPDX-License-Identifier: Apache-2.0
// Clients with scripts, as a TOML file describes them; docs/gemini.md has the format.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiment/experiment.h"
#include "host/gemini/tenants.h"
#include "serve/spec.h"

namespace smk::sim {

// Kernels whose time is that of a workload's first launch, alone on the machine.
struct TenantKernel {
  std::size_t client = 0, step = 0;
  std::string where;  // "file:line: client.step.workload", for messages
  std::string workload;
  JobSize size;
  std::size_t measured = 0;        // place among the workloads that are measured, each once
  std::uint64_t instructions = 0;  // of warps, of one of them; measured with the time
};

struct TenantSpec {
  std::string path, name;
  std::optional<std::string> machine, scheduler, seed;
  // Of runs on a device.
  std::optional<std::string> device, policy, preempt, control, rate_cycles, rate_warm_up;
  std::vector<std::string> sets;
  Origins origins;                // of these
  bool revocation_given = false;  // by the file
  gemini::TenantRequest request;  // arrivals are made later
  // By client: jobs per second, none: each when the one before has ended; drawn or even; phases.
  struct Arrivals {
    std::optional<double> rate;
    bool poisson = false;
    gemini::Nanoseconds on = 0, off = 0;  // on 0: always
  };
  std::vector<Arrivals> arrivals;
  std::vector<TenantKernel> kernels;
};

// Whether the file's clients have scripts. False also for what cannot be read.
bool IsTenantSpec(const std::string& path);

// Throws InputError, one line with file and line.
TenantSpec LoadTenantSpec(const std::string& path);

// "40ms", "1.5s", "250us", "10ns", "2min", "1h"; -1 for anything else.
gemini::Nanoseconds ParseTime(const std::string& text);

// A key of [gemini], as docs and config.toml show it.
struct TenantKnob {
  std::string key;
  std::string values;  // what is expected
  std::string meaning;
  std::string source;
  gemini::Nanoseconds gemini::Settings::*time = nullptr;  // one of these four
  std::int64_t gemini::Settings::*part = nullptr;
  std::uint32_t gemini::Settings::*count = nullptr;
  bool gemini::Settings::*flag = nullptr;
};
const std::vector<TenantKnob>& TenantKnobs();
std::string Print(const TenantKnob& knob, const gemini::Settings& settings);

// The file that makes the same run again; `device`: its keys of the device, as lines.
std::string TenantToml(const TenantSpec& spec, const Options& options, const std::string& scheduler,
                       std::uint64_t seed, const std::string& device = "");

}  // namespace smk::sim
