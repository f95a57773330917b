// SPDX-License-Identifier: Apache-2.0
// smk rtl build: verilates and compiles the RTL for a machine, for --control rtl. smk rtl emit:
// writes it out, with its configuration.
#include "cli/rtl.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/progress.h"
#include "base/sha256.h"
#include "experiment/rtl_set.h"
#include "experiment/settings.h"
#include "machine/control_config.h"
#include "synth/tools.h"

namespace smk::sim {
namespace fs = std::filesystem;
namespace {

// What the RTL has besides the numbers of its machine.
constexpr std::string_view kDepthKnob = "control.preempted_depth";

ControlConfig Config(const Context& context, const RtlOptionsOfCommand& options) {
  const std::string path = context.backend.find_machine(options.machine);
  const auto base = LoadMachine(context.backend, path, {});
  std::vector<std::string> keys;
  for (const auto& leaf : base->leaves) keys.push_back(leaf.first);
  const Settings settings = ParseSettings(options.sets, keys);
  for (const KnobSetting& setting : settings.knobs) {
    if (setting.knob->path != kDepthKnob) {
      throw InputError(
          fmt::format("--set {}: the RTL is the same with any; of those that are not "
                      "the machine's it has {} alone",
                      setting.knob->path, kDepthKnob));
    }
  }
  Configuration changed;
  Apply(settings.knobs, &changed);
  ControlConfig config = ControlConfigOf(context.backend.load_machine(path, settings.machine));
  config.preempted_depth = changed.control.preempted_depth;
  if (!options.kernels.empty()) {
    config.num_kernels =
        static_cast<unsigned>(ParseCount("--kernels", options.kernels, 2, kMaxKernels));
  }
  return config;
}

bool InWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Each word that begins with smk_ or SMK_ gets the prefix, in small or in large letters.
std::string WithPrefix(const std::string& text, const std::string& prefix) {
  if (prefix.empty()) return text;
  std::string upper = prefix;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string renamed;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool begins = at == 0 || !InWord(text[at - 1]);
    if (begins && text.compare(at, 4, "smk_") == 0) renamed += prefix + "_";
    if (begins && text.compare(at, 4, "SMK_") == 0) renamed += upper + "_";
    renamed += text[at];
  }
  return renamed;
}

void CheckPrefix(const std::string& prefix) {
  if (prefix.empty()) return;
  bool good = std::islower(static_cast<unsigned char>(prefix[0])) != 0;
  for (const char c : prefix)
    good = good && InWord(c) && std::isupper(static_cast<unsigned char>(c)) == 0;
  if (!good) {
    throw InputError(fmt::format(
        "--prefix: expected small letters, digits and _, a letter first, got '{}'", prefix));
  }
}

// The package first; the folder's own name in no path, so that it can be moved.
std::string FileList(const std::vector<std::string>& names) {
  std::string list = "+incdir+rtl\n";
  std::string modules;
  for (const std::string& name : names) {
    const bool package = name.find("smk_pkg.sv") != std::string::npos;
    if (fs::path(name).extension() == ".sv") (package ? list : modules) += "rtl/" + name + "\n";
  }
  return list + modules;
}

std::string Summary(const ControlConfig& c) {
  return fmt::format("{} SMs of {} x {} warps, {} kernels", c.num_sms, c.num_schedulers,
                     c.warps_per_scheduler, c.num_kernels);
}

}  // namespace

int RtlBuildCommand(const Context& context, const RtlOptionsOfCommand& options) {
  const ControlConfig config = Config(context, options);
  if (!options.chip && HasRtl(config)) {
    if (!options.quiet) fmt::print("{}: built in, nothing to do\n", options.machine);
    return 0;
  }
  const std::string folder = RtlFolder(config);
  const std::string object = options.chip ? kBuiltChip : kBuiltParts;
  const char* const what = options.chip ? "chip" : "RTL";
  RequireTool("verilator", "verilator");
  const char* const chosen = std::getenv("CXX");
  const std::string compiler = chosen == nullptr || *chosen == '\0' ? "c++" : chosen;
  RequireTool(compiler, "g++");
  ToolCache cache(folder);
  WriteFileAtomically(folder + "/smk_config.svh", RtlNumbers(config, options.machine));
  const std::string script = RtlSource("sim/cosim/build_rtl.sh");
  const ToolRun run{
      options.machine,
      {"sh", script, options.chip ? "chip" : "parts"},
      {{"SMK_RTL", RtlSource("rtl")},
       {"SMK_SIM", RtlSource("sim")},
       {"SMK_MODEL", RtlSource("model")},
       {"SMK_CONFIG", folder},
       {"CXX", compiler}},
      HashText(ToolVersion("verilator --version") + ToolVersion(compiler + " --version") + object)
          .substr(0, 32),
      {object}};
  const bool there = cache.Has(run);
  Progress line(options.quiet);
  cache.Make({run}, 1, [&](std::size_t, const std::string&) {
    line.Line(fmt::format("building the {} of {}: {}", what, options.machine, Summary(config)));
  });
  line.Clear();
  if (!options.quiet) {
    fmt::print("{}: {} {}\n{}\n", options.machine, Summary(config), there ? "was built" : "built",
               cache.Folder(run) + "/" + object);
  }
  return 0;
}

int RtlEmitCommand(const Context& context, const RtlOptionsOfCommand& options) {
  CheckPrefix(options.prefix);
  const ControlConfig config = Config(context, options);
  const std::string before = options.prefix.empty() ? "" : options.prefix + "_";
  std::map<std::string, std::string> files;
  files[before + "smk_config.svh"] =
      WithPrefix(RtlNumbers(config, "machine " + options.machine), options.prefix);
  for (const std::string& file : RtlFiles()) {
    const std::string name = fs::path(file).filename();
    files[name.rfind("smk_", 0) == 0 ? before + name : name] =
        WithPrefix(ReadFile(RtlSource("rtl/" + file)), options.prefix);
  }
  const OutputFolder out = OutputFolder::Prepare(options.out, options.force, {"rtl"});
  fs::create_directories(fs::path(options.out) / "rtl");
  std::vector<std::string> names;
  for (const auto& [name, text] : files) {
    out.Write("rtl/" + name, text);
    names.push_back(name);
  }
  const std::string list = before + "smk.f";
  out.Write(list, FileList(names));
  out.Write("README",
            fmt::format("RTL of machine {}: {}. verilator -F {} rtl/lint.vlt --top-module "
                        "{}smk_top; made by smk rtl emit.\n",
                        options.machine, Summary(config), list, before));
  if (!options.quiet) {
    fmt::print("{}/{}: {} files, {}\n", options.out, list, names.size(), Summary(config));
  }
  return 0;
}

}  // namespace smk::sim
