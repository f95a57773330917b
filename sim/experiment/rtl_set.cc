// SPDX-License-Identifier: Apache-2.0
#include "experiment/rtl_set.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "base/cache_folder.h"
#include "base/error.h"
#include "base/files.h"
#include "base/sha256.h"
#include "base/shared_folder.h"
#include "control/reference_control.h"
#include "cosim/built/built_rtl.h"
#include "cosim/machine_rtl.h"

namespace smk::sim {
namespace fs = std::filesystem;
namespace {

bool IsPowerOfTwo(unsigned n) { return n != 0 && (n & (n - 1)) == 0; }

// As SMK_CHECK_CONFIG says it; what CheckControl refuses is not said again.
void CheckRtl(const ControlConfig& c) {
  const auto require = [](bool holds, const std::string& what) {
    if (!holds) throw InputError("rtl: " + what);
  };
  CheckControl(c, {});
  require(c.num_kernels >= 2 && c.num_kernels <= kMaxKernels, "kernels must be 2 to 8");
  require(c.num_schedulers <= kMaxSchedulers && IsPowerOfTwo(c.num_schedulers),
          fmt::format("the RTL has 1, 2 or 4 schedulers per SM, not {}", c.num_schedulers));
  require(c.warps_per_scheduler >= 2 && c.warps_per_scheduler <= kMaxWarpsPerScheduler &&
              c.num_schedulers * c.warps_per_scheduler <= kMaxWarps,
          fmt::format("a scheduler of the RTL has 2 to 32 warps and an SM at most 64, not {} x {}",
                      c.num_schedulers, c.warps_per_scheduler));
  const unsigned least_depth = std::max<unsigned>(4, c.limits.tbs);
  require(IsPowerOfTwo(c.preempted_depth) && c.preempted_depth >= least_depth &&
              c.preempted_depth <= 32768,
          fmt::format(
              "control.preempted_depth must be a power of two, not below {}, and at most 32768, "
              "not {}; an SM has {} TBs",
              least_depth, c.preempted_depth, c.limits.tbs));
  require(c.limits.registers * 8u + c.limits.shared_memory * 2u + c.limits.threads + 1u <= 65535,
          "a context has at most 65535 lines");
}

// Everything that is compiled into the shared object, but the configuration.
std::string HashSources() {
  std::vector<std::string> files;
  for (const std::string& file : RtlFiles()) files.push_back("rtl/" + file);
  for (const char* folder : {"sim/cosim", "model/base", "model/control"}) {
    const fs::path root = RtlSource(folder);
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      const std::string extension = entry.path().extension();
      if (extension == ".h" || extension == ".sv" || extension == ".svh" || extension == ".sh" ||
          (extension == ".cc" && entry.path().stem().string().rfind("built_", 0) == 0)) {
        files.push_back(std::string(folder) + "/" + fs::relative(entry.path(), root).string());
      }
    }
  }
  std::sort(files.begin(), files.end());
  std::string all;
  for (const std::string& file : files) all += file + '\n' + HashFile(RtlSource(file)) + '\n';
  return all;
}

void* Symbol(void* library, const char* name) {
  void* const symbol = dlsym(library, name);
  if (symbol == nullptr) throw InputError(fmt::format("rtl: {}", dlerror()));
  return symbol;
}

// The library stays loaded: what it made may outlive the call.
void* Open(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw InputError(fmt::format("rtl: {}", dlerror()));
  return library;
}

MakeBuiltRtl* Load(const std::string& path) {
  void* const library = Open(path);
  auto* const layout = reinterpret_cast<unsigned long (*)()>(Symbol(library, kLayoutSymbol));
  if (layout() != kSeamLayout) {
    throw InputError(path + ": made for another version of smk; remove it, and build it again");
  }
  return reinterpret_cast<MakeBuiltRtl*>(Symbol(library, kMakeSymbol));
}

const MachineRtl* LoadMachineRtl(const std::string& path) {
  void* const library = Open(path);
  const auto sources = reinterpret_cast<const char* (*)()>(Symbol(library, kRtlSourcesSymbol));
  if (std::string_view(sources()) != RtlSources()) {
    throw InputError(path + ": made of other sources than this program; build it again");
  }
  return reinterpret_cast<const MachineRtl* (*)()>(Symbol(library, kMachineRtlSymbol))();
}

// What lies beside the program.
const std::vector<const MachineRtl*>& Beside() {
  static const std::vector<const MachineRtl*> kBeside = [] {
    std::vector<std::string> paths;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(SharedFile("../../lib/smk"), none)) {
      const std::string name = entry.path().filename();
      if (name.rfind("rtl_", 0) == 0 && entry.path().extension() == ".so") {
        paths.push_back(entry.path());
      }
    }
    std::sort(paths.begin(), paths.end());
    std::vector<const MachineRtl*> beside(paths.size());
    std::transform(paths.begin(), paths.end(), beside.begin(), LoadMachineRtl);
    return beside;
  }();
  return kBeside;
}

// Null when there is none.
const MachineRtl* FindAnyRtl(const ControlConfig& config) {
  if (const MachineRtl* const rtl = FindRtl(config)) return rtl;
  for (const MachineRtl* const rtl : Beside()) {
    if (rtl->fits(config)) return rtl;
  }
  return nullptr;
}

}  // namespace

bool HasAnyRtl(const ControlConfig& config) { return FindAnyRtl(config) != nullptr; }

std::string RtlMachines() {
  std::string names = Gtx980Rtl().name;
  for (const MachineRtl* const rtl : Beside()) names += std::string(", ") + rtl->name;
  return names;
}

std::string RtlNumbers(const ControlConfig& config, const std::string& title) {
  CheckRtl(config);
  const ResourceVector& l = config.limits;
  const unsigned whole = ShareWeights::Of(l).whole;
  const std::pair<const char*, unsigned> numbers[] = {
      {"NumSms", config.num_sms},
      {"NumKernels", config.num_kernels},
      {"NumSchedulers", config.num_schedulers},
      {"WarpsPerScheduler", config.warps_per_scheduler},
      {"LimitRegisters", l.registers},
      {"LimitSharedMemory", l.shared_memory},
      {"LimitThreads", l.threads},
      {"LimitTbs", l.tbs},
      {"PreemptedDepth", config.preempted_depth},
      {"ShareWhole", whole},
  };
  std::string text =
      "// SPDX-License-Identifier: Apache-2.0\n// Configuration of " + title +
      ".\n// What each number means and what is supported: smk_pkg.sv, which includes this file.\n";
  for (const auto& [name, value] : numbers) {
    text += fmt::format("  parameter int unsigned {:<17} /*verilator public_flat_rd*/ = {};\n",
                        name, value);
  }
  return text;
}

std::string RtlSource(const std::string& name) { return SharedFile(name); }

std::vector<std::string> RtlFiles() {
  const std::string root = RtlSource("rtl");
  if (!fs::is_directory(root)) throw InputError(root + ": no such folder; it has the RTL");
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const std::string name = fs::path(entry.path()).lexically_relative(root);
    const std::string extension = entry.path().extension();
    if (name.rfind("config/", 0) == 0) continue;
    if (extension == ".sv" || extension == ".svh" || extension == ".vlt") files.push_back(name);
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string RtlCache() {
  const std::string cache = CacheFolder();
  if (cache.empty()) throw InputError("rtl: no cache: set SMK_CACHE_DIR, XDG_CACHE_HOME or HOME");
  return cache + "/rtl";
}

std::string RtlName(const ControlConfig& config) {
  return HashText(RtlNumbers(config, "") + HashSources()).substr(0, 32);
}

std::string RtlFolder(const ControlConfig& config) { return RtlCache() + "/" + RtlName(config); }

std::string BuiltRtl(const ControlConfig& config, const std::string& object) {
  std::string newest;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(RtlFolder(config), none)) {
    const std::string path = entry.path().string() + "/" + object;
    // Other names are of what is being made.
    if (entry.path().has_extension() || !fs::exists(path)) continue;
    if (newest.empty() || fs::last_write_time(path) > fs::last_write_time(newest)) newest = path;
  }
  return newest;
}

namespace {

// From a shared object, which smk rtl build has made.
std::unique_ptr<ControlPlane> Loaded(const std::string& path, const ControlConfig& config,
                                     const PolicyConfig& policy, const RtlOptions& options) {
  CheckControl(config, policy);
  return std::unique_ptr<ControlPlane>(Load(path)(&config, &policy, &options));
}

}  // namespace

std::unique_ptr<ControlPlane> MakeAnyRtlControl(const ControlConfig& config,
                                                const PolicyConfig& policy,
                                                const RtlOptions& options,
                                                const std::string& object) {
  if (object.empty()) {
    CheckControl(config, policy);
    if (const MachineRtl* const rtl = FindAnyRtl(config)) return rtl->make(config, policy, options);
  }
  const std::string path = object.empty() ? BuiltRtl(config) : object;
  if (path.empty()) return MakeRtlControl(config, policy, options);  // refuses it
  return Loaded(path, config, policy, options);
}

std::unique_ptr<ControlPlane> MakeAnyCompiledControl(const ControlConfig& config,
                                                     const PolicyConfig& policy) {
  CheckControl(config, policy);
  if (const MachineRtl* const rtl = FindAnyRtl(config)) return rtl->make_compiled(config, policy);
  const std::string path = BuiltRtl(config, kBuiltCompiled);
  if (path.empty()) return MakeCompiledControl(config, policy);  // refuses it
  return Loaded(path, config, policy, {});
}

void RequireChip(const ControlConfig& config, const std::string& machine) {
  if (config.link_stages + config.link_spread != 0) {
    throw InputError(
        "--control chip: its links have no relay stations; with control.link_stages or "
        "control.link_spread use --control rtl");
  }
  if (!BuiltRtl(config, kBuiltChip).empty()) return;
  throw InputError(fmt::format(
      "--control chip: the chip of the machine {} is not built; make it with smk rtl build {} "
      "--chip, and the same --set, or use --control reference",
      machine, machine));
}

std::unique_ptr<ControlPlane> MakeChipControl(const ControlConfig& config,
                                              const PolicyConfig& policy) {
  CheckControl(config, policy);
  RequireChip(config, "of these numbers");
  const RtlOptions options;
  return std::unique_ptr<ControlPlane>(
      Load(BuiltRtl(config, kBuiltChip))(&config, &policy, &options));
}

}  // namespace smk::sim
