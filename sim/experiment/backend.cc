// SPDX-License-Identifier: Apache-2.0
#include "experiment/backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/cache_folder.h"
#include "base/error.h"
#include "base/files.h"
#include "base/names.h"
#include "base/shared_folder.h"
#include "base/toml_file.h"
#include "control/reference_control.h"
#include "cosim/lockstep_control.h"
#include "experiment/rtl_set.h"
#include "experiment/settings.h"
#include "experiment/trace_name.h"
#include "host/simulation.h"
#include "workload/workload_file.h"

namespace smk::sim {
namespace {

bool IsPath(const std::string& name) {
  return name.find('/') != std::string::npos || name.find(".toml") != std::string::npos;
}

// A name, unlike a path, needs the data folder.
void CheckDataDir(const std::string& name, const std::string& data_dir) {
  if (IsPath(name) || std::filesystem::is_directory(data_dir)) return;
  throw InputError(fmt::format(
      "{}: no such folder; set SMK_DATA_DIR to the one with machines/ and workloads/", data_dir));
}

// Where a file is stands in what is written of the run, and is the folder of the call's, too.
void CheckPath(const std::string& path) {
  CheckName("path of a file", std::filesystem::absolute(path).lexically_normal().string());
}

std::shared_ptr<const Workload> WithCheckedNames(std::shared_ptr<const Workload> workload) {
  const std::string& file = workload->source_file;
  CheckPath(file);
  CheckName(file + ": name", workload->name);
  CheckName(file + ": description", workload->description);
  for (const KernelSpec& kernel : workload->kernels) {
    CheckName(file + ": name of a kernel", kernel.name);
  }
  return workload;
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

RunResult Run(const RunRequest& request, const ControlChoice& choice, const ControlConfig& config) {
  const ControlKind kind = choice.kind;
  if (kind == ControlKind::kReference) {
    return RunSimulation(request, MakeReferenceControl(config, request.policy));
  }
  if (kind == ControlKind::kChip) {
    return RunSimulation(request, MakeChipControl(config, request.policy));
  }
  RtlOptions options;
  options.wave = request.wave;
  std::string wave_failure;
  options.wave_failure = &wave_failure;
  std::unique_ptr<ControlPlane> rtl =
      IsCompiled(kind) ? MakeAnyCompiledControl(config, request.policy)
                       : MakeAnyRtlControl(config, request.policy, options, choice.object);
  LockstepCounts counts;
  if (IsLockstep(kind)) {
    rtl = MakeLockstepControl(config, MakeReferenceControl(config, request.policy), std::move(rtl),
                              &counts);
  }
  RunResult result = RunSimulation(request, std::move(rtl));
  result.lockstep_events = counts.events;
  if (!wave_failure.empty()) throw std::runtime_error(wave_failure);
  return result;
}

}  // namespace

std::string DataDir() {
  const char* folder = std::getenv("SMK_DATA_DIR");
  return folder != nullptr && *folder != '\0' ? folder : SharedFile("sim");
}

std::shared_ptr<const LoadedMachine> LoadMachine(const Backend& backend, const std::string& path,
                                                 const std::vector<std::string>& overrides) {
  std::vector<std::string> key = overrides;
  key.push_back(path);
  if (backend.machines != nullptr) {
    const auto found = backend.machines->find(key);
    if (found != backend.machines->end()) return found->second;
  }
  auto machine = std::make_shared<LoadedMachine>();
  machine->config = backend.load_machine(path, overrides);
  machine->toml = backend.machine_toml(machine->config);
  for (const TomlLeaf& leaf : TomlLeaves(ParseToml(machine->toml, path), path)) {
    machine->leaves.emplace_back(leaf.name, leaf.value);
  }
  if (backend.machines != nullptr) backend.machines->emplace(std::move(key), machine);
  return machine;
}

Backend MakeBackend() {
  Backend backend;
  const std::string data_dir = DataDir();
  backend.data_dir = data_dir;
  backend.run = Run;
  backend.load_trace = [](const std::string& path, const TraceReading& how) {
    CheckReadable(path + "/kernelslist.g");
    TraceSet set = LoadTrace(path, {how.cache ? CacheFolder() : "", how.strict, how.verify});
    for (auto& stream : set.streams) stream = WithCheckedNames(stream);
    return set;
  };
  backend.find_workload = [data_dir, load = backend.load_trace](const std::string& name) {
    if (IsTraceName(name)) return OneStream(name, load(ParseTraceName(name).path, {}));
    CheckDataDir(name, data_dir);
    if (IsPath(name)) CheckReadable(name);
    return WithCheckedNames(FindWorkload(name, data_dir));
  };
  backend.list_workloads = [data_dir] {
    CheckDataDir("", data_dir);
    std::vector<std::string> names;
    for (const WorkloadEntry& entry : ListWorkloads(data_dir)) {
      names.push_back(entry.group.empty() ? entry.name : entry.group + "/" + entry.name);
    }
    return names;
  };
  backend.find_machine = [data_dir](const std::string& name) {
    CheckDataDir(name, data_dir);
    if (IsPath(name)) CheckReadable(name);
    return FindMachine(name, data_dir);
  };
  backend.list_machines = [data_dir] {
    CheckDataDir("", data_dir);
    return ListMachines(data_dir);
  };
  backend.load_machine = [](const std::string& path, const std::vector<std::string>& overrides) {
    CheckReadable(path);
    MachineConfig machine = MachineConfig::Load(path, overrides);
    CheckPath(path);
    CheckName(path + ": name", machine.name);
    return machine;
  };
  backend.machine_toml = [](const MachineConfig& machine) { return ToToml(machine); };
  return backend;
}

}  // namespace smk::sim
