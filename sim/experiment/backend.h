// SPDX-License-Identifier: Apache-2.0
// What the command needs from the rest of the project, as functions: the real thing is
// MakeBackend(), tests of the command put a stand-in here.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "experiment/controls.h"
#include "machine/run.h"
#include "trace/load.h"

namespace smk::sim {

// How a trace is read.
struct TraceReading {
  bool strict = false;  // an unknown opcode is an error
  bool cache = true;    // its compact form is used and kept
  bool verify = false;  // its files are read although they look as they did
};

using RunFunction =
    std::function<RunResult(const RunRequest&, const ControlChoice&, const ControlConfig&)>;

// A machine, its text, and the dotted names and values in that.
struct LoadedMachine {
  MachineConfig config;
  std::string toml;
  std::vector<std::pair<std::string, std::string>> leaves;
};

// All functions throw InputError for what does not exist or cannot be read.
struct Backend {
  RunFunction run;
  // By shipped name, or by the path of a file.
  std::function<std::shared_ptr<const Workload>(const std::string& name)> find_workload;
  std::function<std::vector<std::string>()> list_workloads;
  // All streams of an Accel-Sim trace.
  std::function<TraceSet(const std::string& path, const TraceReading& how)> load_trace;
  std::function<std::string(const std::string& name)> find_machine;  // gives the path
  std::function<std::vector<std::string>()> list_machines;
  std::function<MachineConfig(const std::string& path, const std::vector<std::string>& overrides)>
      load_machine;
  std::function<std::string(const MachineConfig&)> machine_toml;
  std::string data_dir;
  // What LoadMachine() has given, by overrides and path; null: nothing is remembered.
  std::shared_ptr<std::map<std::vector<std::string>, std::shared_ptr<const LoadedMachine>>>
      machines;
};

std::shared_ptr<const LoadedMachine> LoadMachine(const Backend& backend, const std::string& path,
                                                 const std::vector<std::string>& overrides);

// The simulator itself, with the workloads and machines below DataDir().
Backend MakeBackend();

// The folder that holds machines/ and workloads/: the environment variable SMK_DATA_DIR if it is
// set, else the one that belongs to the program (base/shared_folder.h).
std::string DataDir();

}  // namespace smk::sim
