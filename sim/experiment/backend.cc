// SPDX-License-Identifier: Apache-2.0
#include "experiment/backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/cache_folder.h"
#include "base/error.h"
#include "control/reference_control.h"
#include "cosim/lockstep_control.h"
#include "cosim/rtl_control.h"
#include "experiment/trace_name.h"
#include "host/simulation.h"
#include "workload/workload_file.h"

namespace smk::sim {
namespace {

// A name, unlike a path, needs the data folder.
void CheckDataDir(const std::string& name, const std::string& data_dir) {
  const bool is_path =
      name.find('/') != std::string::npos || name.find(".toml") != std::string::npos;
  if (is_path || std::filesystem::is_directory(data_dir)) return;
  throw InputError(fmt::format(
      "{}: no such folder; set SMK_DATA_DIR to the one with machines/ and workloads/", data_dir));
}

// The stream that the name asks for; the only one if it asks for none.
std::shared_ptr<const Workload> OneStream(const std::string& name, const TraceSet& set) {
  const std::size_t stream = ParseTraceName(name).stream;
  if (stream > set.streams.size() || (stream == 0 && set.streams.size() > 1)) {
    throw InputError(fmt::format("{}: expected one of its {} streams, such as trace:FOLDER:1", name,
                                 set.streams.size()));
  }
  return set.streams[std::max<std::size_t>(stream, 1) - 1];
}

RunResult Run(const RunRequest& request, ControlKind kind, const ControlConfig& config) {
  if (kind == ControlKind::kReference) {
    return RunSimulation(request, MakeReferenceControl(config, request.policy));
  }
  RtlOptions options;
  options.wave = request.wave;
  std::unique_ptr<ControlPlane> rtl = MakeRtlControl(config, request.policy, options);
  if (kind == ControlKind::kRtl) return RunSimulation(request, std::move(rtl));
  LockstepCounts counts;
  RunResult result = RunSimulation(
      request, MakeLockstepControl(config, MakeReferenceControl(config, request.policy),
                                   std::move(rtl), &counts));
  result.lockstep_events = counts.events;
  return result;
}

}  // namespace

std::string DataDir() {
  const char* folder = std::getenv("SMK_DATA_DIR");
  return folder != nullptr && *folder != '\0' ? folder : SMK_DATA_DIR;
}

Backend MakeBackend() {
  Backend backend;
  const std::string data_dir = DataDir();
  backend.data_dir = data_dir;
  backend.run = Run;
  backend.load_trace = [](const std::string& path, const TraceReading& how) {
    return LoadTrace(path, {how.cache ? CacheFolder() : "", how.strict, how.verify});
  };
  backend.find_workload = [data_dir, load = backend.load_trace](const std::string& name) {
    if (IsTraceName(name)) return OneStream(name, load(ParseTraceName(name).path, {}));
    CheckDataDir(name, data_dir);
    return FindWorkload(name, data_dir);
  };
  backend.list_workloads = [data_dir] {
    std::vector<std::string> names;
    for (const WorkloadEntry& entry : ListWorkloads(data_dir)) {
      names.push_back(entry.group.empty() ? entry.name : entry.group + "/" + entry.name);
    }
    return names;
  };
  backend.find_machine = [data_dir](const std::string& name) {
    CheckDataDir(name, data_dir);
    return FindMachine(name, data_dir);
  };
  backend.list_machines = [data_dir] { return ListMachines(data_dir); };
  backend.load_machine = [](const std::string& path, const std::vector<std::string>& overrides) {
    return MachineConfig::Load(path, overrides);
  };
  backend.machine_toml = [](const MachineConfig& machine) { return ToToml(machine); };
  return backend;
}

}  // namespace smk::sim
