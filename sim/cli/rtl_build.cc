// SPDX-License-Identifier: Apache-2.0
#include "cli/rtl_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/progress.h"
#include "base/sha256.h"
#include "experiment/gates.h"
#include "experiment/rtl_set.h"
#include "synth/tools.h"

namespace smk::sim {
namespace fs = std::filesystem;
namespace {

// Everything that is made of one configuration.
class RtlBuilder {
 public:
  RtlBuilder(std::string machine, const ControlConfig& config, bool quiet)
      : machine_(std::move(machine)), config_(config), line_(quiet), folder_(RtlFolder(config)) {
    RequireTool("verilator", "verilator");
    const char* const chosen = std::getenv("CXX");
    compiler_ = chosen == nullptr || *chosen == '\0' ? "c++" : chosen;
    RequireTool(compiler_, "g++");
    versions_ = ToolVersion("verilator --version") + ToolVersion(compiler_ + " --version");
    cache_ = std::make_unique<ToolCache>(folder_);
    WriteFileAtomically(folder_ + "/smk_config.svh", RtlNumbers(config, machine_));
  }

  BuiltObject Parts(const std::vector<std::string>& gates) {
    const std::map<std::string, ToolRun> netlists = Netlists(gates);
    std::vector<ToolRun> parts;
    for (const RtlPart& part : RtlParts()) parts.push_back(Part(part, gates, netlists));
    return Object(parts, gates.empty() ? kBuiltParts : kBuiltGates, gates);
  }

  BuiltObject Compiled() {
    RequireTool("yosys", "yosys");
    RequireTool("python3", "python3");
    std::vector<ToolRun> parts;
    for (const RtlPart& part : RtlParts()) {
      const std::string name = part.name;
      if (name != "scheduler" && name != "profile") parts.push_back(Part(part, {}, {}));
    }
    std::string made_of = ToolVersion("yosys -V") + ToolVersion("python3 --version");
    for (const char* file : {"lanes/cpp.py", "lanes/gates.py", "lanes/lanes.tcl", "lanes/logic.py",
                             "lanes/make_lanes.py", "lanes/netlist.py", "lanes/reduce.tcl",
                             "lanes/yosys.py", "yosys/netlist.tcl"}) {
      made_of += HashFile(RtlSource(std::string("synth/") + file));
    }
    const auto lanes = [&](const char* name, const char* type, const char* file) {
      parts.push_back(
          Script({"lanes", name, type, RtlSource(file)}, made_of, std::string(name) + ".o"));
    };
    lanes("built_scheduler", "BuiltScheduler", "rtl/sm/quota_scheduler/smk_quota_scheduler.sv");
    lanes("built_profile", "BuiltProfile", "rtl/sm/sm_control/smk_sm_profile.sv");
    return Object(parts, kBuiltCompiled, {});
  }

  BuiltObject Chip() {
    const ToolRun run = Script({"chip"}, "", kBuiltChip);
    const bool there = cache_->Has(run);
    Make({run}, "the chip");
    return {cache_->Folder(run) + "/" + kBuiltChip, there};
  }

 private:
  // What is made by tools of these versions; two at a time, for one takes most of the time.
  void Make(const std::vector<ToolRun>& runs, const char* what) {
    cache_->Make(runs, 2, [&](std::size_t, const std::string& names) {
      line_.Line(
          fmt::format("building {} of {}, {}: {}", what, machine_, SizeText(config_), names));
    });
    line_.Clear();
  }

  // The shared object of these parts.
  BuiltObject Object(const std::vector<ToolRun>& parts, const char* object,
                     const std::vector<std::string>& gates) {
    std::vector<std::string> words = {"link", object, Join(gates, ",")};
    std::string keys;
    for (const ToolRun& part : parts) {
      const std::string base = cache_->Folder(part) + "/" + part.name;
      words.push_back("-I" + base);
      words.push_back(base + ".o");
      keys += part.key;
    }
    const ToolRun all = Script(words, keys, object);
    const bool there = cache_->Has(all);
    if (!there) {
      Make(parts, "the RTL");
      Make({all}, "the RTL");
    }
    return {cache_->Folder(all) + "/" + object, there};
  }

  // A run of build_rtl.sh.
  ToolRun Script(std::vector<std::string> words, const std::string& made_of,
                 const std::string& result) const {
    ToolRun run;
    run.name = words[0] == "part" || words[0] == "lanes" ? words[1] : machine_;
    run.key = HashText(versions_ + made_of + words[0] + result).substr(0, 32);
    run.arguments = {"sh", RtlSource("sim/cosim/built/build_rtl.sh")};
    run.arguments.insert(run.arguments.end(), words.begin(), words.end());
    run.environment = {{"SMK_RTL", RtlSource("rtl")},     {"SMK_SIM", RtlSource("sim")},
                       {"SMK_MODEL", RtlSource("model")}, {"SMK_SYNTH", RtlSource("synth")},
                       {"SMK_CONFIG", folder_},           {"CXX", compiler_}};
    run.results = {result};
    return run;
  }

  ToolRun Part(const RtlPart& part, const std::vector<std::string>& gates,
               const std::map<std::string, ToolRun>& netlists) const {
    std::vector<std::string> words = {"part", part.name, part.module, RtlSource(part.file),
                                      part.optimize};
    std::string keys;
    for (const std::string& gate : GatesOf(part, gates)) {
      words.push_back(cache_->Folder(netlists.at(gate)));
      keys += netlists.at(gate).key;
    }
    return Script(words, keys, std::string(part.name) + ".o");
  }

  std::map<std::string, ToolRun> Netlists(const std::vector<std::string>& gates) {
    std::map<std::string, ToolRun> netlists;
    if (gates.empty()) return netlists;
    RequireTool("yosys", "yosys");
    std::string made_of = ToolVersion("yosys -V");
    for (const char* file : {"yosys/gates.tcl", "yosys/netlist.tcl", "yosys/output_buffer.v",
                             "cells/smk45.lib", "cells/smk45.v"}) {
      made_of += HashFile(RtlSource(std::string("synth/") + file));
    }
    std::vector<ToolRun> runs;
    for (const std::string& gate : gates) {
      ToolRun run;
      run.name = gate;
      run.arguments = {"yosys", "-q", "-c", RtlSource("synth/yosys/gates.tcl")};
      run.environment = {{"SMK_BLOCK", "smk_" + gate},
                         {"SMK_RTL", RtlSource("rtl")},
                         {"SMK_CONFIG", folder_},
                         {"SMK_LIBERTY", RtlSource("synth/cells/smk45.lib")}};
      run.key = HashText(made_of + gate).substr(0, 32);
      run.results = {"modules.txt"};
      runs.push_back(run);
      netlists[gate] = run;
    }
    Make(runs, "gates");
    for (const std::string& gate : gates) {
      if (fs::exists(cache_->Folder(netlists[gate]) + "/smk_" + gate + ".sv")) continue;
      throw InputError(fmt::format("--gates: {} is not in the machine {}", gate, machine_));
    }
    return netlists;
  }

  const std::string machine_;
  const ControlConfig& config_;
  Progress line_;
  const std::string folder_;
  std::string compiler_, versions_;
  std::unique_ptr<ToolCache> cache_;
};

}  // namespace

BuiltObject BuildParts(const std::string& machine, const ControlConfig& config,
                       const std::vector<std::string>& gates, bool quiet) {
  return RtlBuilder(machine, config, quiet).Parts(gates);
}

BuiltObject BuildCompiled(const std::string& machine, const ControlConfig& config, bool quiet) {
  return RtlBuilder(machine, config, quiet).Compiled();
}

BuiltObject BuildChip(const std::string& machine, const ControlConfig& config, bool quiet) {
  return RtlBuilder(machine, config, quiet).Chip();
}

std::vector<BuiltRtlEntry> ListBuilt() {
  std::vector<BuiltRtlEntry> found;
  const std::string title = "Configuration of ";
  std::error_code none;
  for (const auto& folder : fs::directory_iterator(RtlCache(), none)) {
    const std::string numbers = folder.path() / "smk_config.svh";
    if (!fs::exists(numbers)) continue;
    const std::string text = ReadFile(numbers);
    const std::size_t at = text.find(title) + title.size();
    for (const auto& run : fs::directory_iterator(folder, none)) {
      for (const char* object : {kBuiltParts, kBuiltGates, kBuiltCompiled, kBuiltChip}) {
        // Other names are of what is being made.
        const std::string path = run.path() / object;
        if (run.path().has_extension() || !fs::exists(path)) continue;
        BuiltRtlEntry entry{text.substr(at, text.find(".\n", at) - at),
                            object == kBuiltChip       ? "chip"
                            : object == kBuiltCompiled ? "compiled"
                                                       : "parts",
                            {},
                            path};
        if (object == kBuiltGates) {
          const std::string names = ReadFile(run.path() / "gates.txt");
          entry.gates = Split(names.substr(0, names.find('\n')), ',');
        }
        found.push_back(std::move(entry));
      }
    }
  }
  std::sort(found.begin(), found.end(), [](const BuiltRtlEntry& a, const BuiltRtlEntry& b) {
    return std::tie(a.machine, a.of, a.gates, a.path) < std::tie(b.machine, b.of, b.gates, b.path);
  });
  return found;
}

std::string SizeText(const ControlConfig& c) {
  return fmt::format("{} SMs of {} x {} warps, {} kernels", c.num_sms, c.num_schedulers,
                     c.warps_per_scheduler, c.num_kernels);
}

}  // namespace smk::sim
