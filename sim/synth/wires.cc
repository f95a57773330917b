// SPDX-License-Identifier: Apache-2.0
#include "synth/wires.h"

#include <fmt/format.h>

#include <charconv>
#include <regex>

#include "base/error.h"

namespace smk::sim {
namespace {

constexpr double kMostFf = 100;  // per sink: 500 um of wire

const std::regex& DefaultAttribute() {
  static const std::regex kAttribute(R"re(\bdefault_wire_load\s*:\s*"?([^";]*)"?\s*;)re");
  return kAttribute;
}

// One unit of capacitance in the file, in fF, and where the statement ends that says so.
struct LoadUnit {
  double ff;
  std::size_t end;
};

LoadUnit FindLoadUnit(const std::string& path, const std::string& liberty) {
  static const std::regex kUnit(
      R"re(\bcapacitive_load_unit\s*\(\s*([0-9.]+)\s*,\s*"?([a-z]+)"?\s*\)\s*;)re",
      std::regex::icase);
  std::smatch found;
  if (!std::regex_search(liberty, found, kUnit)) {
    throw InputError(path + ": expected capacitive_load_unit (NUMBER, ff|pf)");
  }
  const double number = std::stod(found[1]);
  const auto end = static_cast<std::size_t>(found.position(0) + found.length(0));
  if (found[2] == "ff" || found[2] == "fF") return {number, end};
  if (found[2] == "pf" || found[2] == "pF") return {number * 1000, end};
  throw InputError(
      fmt::format("{}: capacitive_load_unit in '{}': expected ff or pf", path, found[2].str()));
}

}  // namespace

WireModel WireModel::Parse(const std::string& option, const std::string& text) {
  if (text == "library") return {Kind::kLibrary, 0};
  if (text == "none") return {Kind::kNone, 0};
  double ff = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, ff, std::chars_format::fixed);
  if (error != std::errc() || stop != end || !(ff >= 0 && ff <= kMostFf)) {
    throw InputError(fmt::format("{} {}: expected library, none, or fF per sink from 0 to {:.0f}",
                                 option, text, kMostFf));
  }
  return {Kind::kPerSink, ff};
}

std::string DefaultWires(const std::string& liberty) {
  std::smatch found;
  return std::regex_search(liberty, found, DefaultAttribute()) ? found[1].str() : "";
}

std::string WithWires(const std::string& path, const std::string& liberty, const WireModel& wires) {
  if (wires.kind == WireModel::Kind::kLibrary) return liberty;
  std::string text = std::regex_replace(liberty, DefaultAttribute(), "");
  if (wires.kind == WireModel::Kind::kNone) return text;
  // One unit of length for each sink. OpenSTA takes the file's units from where they are said.
  const LoadUnit unit = FindLoadUnit(path, text);
  return text.insert(
      unit.end,
      fmt::format(
          "\n  wire_load (\"smk_per_sink\") {{ capacitance : {:.6g}; resistance : 0; area : 0;"
          " slope : 1; fanout_length (1, 1); fanout_length (2, 2); }}\n"
          "  default_wire_load : \"smk_per_sink\";\n",
          wires.ff / unit.ff));
}

}  // namespace smk::sim
