// SPDX-License-Identifier: Apache-2.0
// smk rtl build: verilates and compiles the RTL for a machine, for --control rtl. smk rtl list:
// what was built. smk rtl emit: writes it out, with its configuration.
#include "cli/rtl.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/text_table.h"
#include "cli/rtl_build.h"
#include "experiment/gates.h"
#include "experiment/rtl_set.h"
#include "experiment/settings.h"
#include "machine/control_config.h"

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

}  // namespace

int RtlBuildCommand(const Context& context, const RtlOptionsOfCommand& options) {
  const ControlConfig config = Config(context, options);
  std::vector<std::string> gates;
  if (options.gates) gates = ParseGates(*options.gates);
  const bool parts = !options.chip && !options.compiled;
  if (!parts && !gates.empty()) {
    throw InputError(fmt::format("--gates: for the parts of --control rtl and lockstep, not for {}",
                                 options.chip ? "--chip" : "--compiled"));
  }
  if (options.chip && options.compiled) {
    throw InputError("--chip, --compiled: one of both; each is an object of its own");
  }
  if (gates.empty() && !options.chip && HasAnyRtl(config)) {
    if (!options.quiet) fmt::print("{}: comes with the program, nothing to do\n", options.machine);
    return 0;
  }
  const BuiltObject built = options.chip ? BuildChip(options.machine, config, options.quiet)
                            : options.compiled
                                ? BuildCompiled(options.machine, config, options.quiet)
                                : BuildParts(options.machine, config, gates, options.quiet);
  if (!options.quiet) {
    fmt::print("{}: {}{} {}\n{}\n", options.machine, SizeText(config),
               gates.empty() ? "" : ", gates " + Join(gates),
               built.was_there ? "was built" : "built", built.path);
  }
  return 0;
}

int RtlListCommand(const Context&, const RtlOptionsOfCommand& options) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  TextTable table({"machine", "of", "gates", "object"}, {0, 1, 2, 3});
  for (const BuiltRtlEntry& built : ListBuilt()) {
    rows.push_back({{"machine", built.machine},
                    {"of", built.of},
                    {"gates", built.gates},
                    {"object", built.path}});
    table.Add({built.machine, built.of, built.gates.empty() ? "none" : Join(built.gates, ","),
               built.path});
  }
  if (options.json) {
    fmt::print("{}\n", rows.dump(2));
  } else {
    fmt::print("{}", rows.empty() ? "nothing was built\n" : table.ToString());
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
  out.Write(
      "README",
      fmt::format("RTL of machine {}: {}; made by smk rtl emit.\n\n"
                  "verilator --lint-only -Wall -fno-reloop -fno-const-bit-op-tree rtl/lint.vlt "
                  "-F {} --top-module {}smk_top\n\n"
                  "With --cc in the place of --lint-only -Wall it makes a model in C++. Waivers\n"
                  "come before the files that they are for. Without the two -f Verilator 5.006\n"
                  "gets some loops over wide registers and some trees of bits wrong; a -O3 behind\n"
                  "them would take them back.\n",
                  options.machine, SizeText(config), list, before));
  if (!options.quiet) {
    fmt::print("{}/{}: {} files, {}\n", options.out, list, names.size(), SizeText(config));
  }
  return 0;
}

}  // namespace smk::sim
