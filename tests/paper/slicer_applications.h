// SPDX-License-Identifier: Apache-2.0
// The ten applications of Warped-Slicer by the names of its tables, and its machine.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "config/machine_config.h"
#include "workload/workload_file.h"

namespace smk {

// "LBM": our file lbm36, whose name says that its build is not Parboil's lbm.
inline std::shared_ptr<const Workload> SlicerWorkload(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name == "lbm") name = "lbm36";
  return FindWorkload("warped_slicer/" + name, SMK_SOURCE_DIR);
}

// Its kernel, the first one of BFS: the TBs of all are alike but Kernel2's.
inline const KernelSpec& Application(std::string_view name) {
  static std::map<std::string, std::shared_ptr<const Workload>> loaded;
  auto& workload = loaded[std::string(name)];
  if (workload == nullptr) workload = SlicerWorkload(std::string(name));
  return workload->kernels.at(0);
}

inline MachineConfig SlicerMachine() {
  return MachineConfig::Load(SMK_SOURCE_DIR "/machines/fermi-gpgpusim.toml");
}

}  // namespace smk
