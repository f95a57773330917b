// SPDX-License-Identifier: Apache-2.0
#include "cli/backend.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "control/reference_control.h"
#include "workload/workload_file.h"

namespace smk::cli {
namespace {

// A name, unlike a path, needs the data folder.
void CheckDataDir(const std::string& name, const std::string& data_dir) {
  const bool is_path =
      name.find('/') != std::string::npos || name.find(".toml") != std::string::npos;
  if (is_path || std::filesystem::is_directory(data_dir)) return;
  throw InputError(fmt::format(
      "{}: no such folder; set SMK_DATA_DIR to the one with machines/ and workloads/", data_dir));
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
  backend.run = [](const RunRequest& request, ControlKind, const ControlConfig& config) {
    return RunSimulation(request, MakeReferenceControl(config, request.policy));
  };
  backend.find_workload = [data_dir](const std::string& name) {
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

}  // namespace smk::cli
