// SPDX-License-Identifier: Apache-2.0
#include "synth/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/files.h"
#include "base/text_table.h"

namespace smk::sim {
namespace {

using nlohmann::ordered_json;

// The papers' figures: [SMK] Sec. 6.7 and [Warped-Slicer] Sec. V-I, at 45 nm.
constexpr double kPaperCounterBytes = 2816;  // 704 counters of 32 bits
constexpr double kPaperProfileUm2 = 714;     // profile counters of one SM
constexpr double kPaperPlannerMm2 = 0.04;    // the water-filling planner
constexpr double kPaperGpuMm2 = 704;         // 16 SMs in GPUWattch

std::string Number(double value) { return fmt::format("{:.0f}", value); }

// What loads a cell besides the inputs that it drives.
std::string Wires(const SynthTarget& target) {
  if (target.wires.kind == WireModel::Kind::kPerSink) {
    return fmt::format("{:g} fF per sink", target.wires.ff);
  }
  const bool none = target.wires.kind == WireModel::Kind::kNone || target.wire_name.empty();
  return none ? "none" : "those of the library, " + target.wire_name;
}

std::string Corner(const SynthTarget& target) {
  if (target.derate == 1) return target.corner;
  return fmt::format("{} (delays x {:g})", target.corner, target.derate);
}

double Um2(double um2) { return std::round(um2 * 1000) / 1000; }

ordered_json AreaJson(const SynthArea& area, double nand2) {
  return {{"cells", area.cells},
          {"flip_flops", area.flip_flops},
          {"sram_bits", area.sram_bits},
          {"um2", Um2(area.um2)},
          {"nand2", std::round(area.um2 / nand2)}};
}

double Rounded(double ns) { return std::round(ns * 10000) / 10000; }

ordered_json PathJson(const SynthTarget& target, const SynthPath& path) {
  return {{"fmax_mhz", std::round(Fmax(target, path))},
          {"slack_ns", Rounded(path.slack_ns)},
          {"arrival_ns", Rounded(path.arrival_ns)},
          {"depth", path.depth},
          {"start", path.start},
          {"end", path.end}};
}

ordered_json BlockJson(const SynthSummary& summary, const SynthResult& result) {
  const double nand2 = summary.target.liberty.nand2_area;
  ordered_json j;
  j["block"] = result.block.name;
  j["per"] = result.block.per_sm ? "sm" : "gpu";
  j["inputs"] = result.inputs;
  j["own"] = AreaJson(result.own, nand2);
  if (!result.instances.empty()) {
    j["contains"] = result.instances;
    j["total"] = AreaJson(result.total, nand2);
  }
  if (result.worst.exists) j["worst_path"] = PathJson(summary.target, result.worst);
  if (result.between_registers.exists) {
    j["between_registers"] = PathJson(summary.target, result.between_registers);
  }
  if (result.hold.exists) {
    j["hold_slack_ns"] = Rounded(result.hold.slack_ns);
    j["slow_pins"] = result.slow_pins;
    j["loaded_pins"] = result.loaded_pins;
  }
  if (summary.target.repair > 0 && result.worst.exists) {
    j["repairs"] = {{"changes", result.repairs}, {"um2", Um2(result.repair_um2)}};
  }
  if (result.recovery.exists) j["recovery_slack_ns"] = Rounded(result.recovery.slack_ns);
  if (result.removal.exists) j["removal_slack_ns"] = Rounded(result.removal.slack_ns);
  j["registers"] = result.registers;
  return j;
}

// The whole GPU: all SMs and the driver.
SynthArea Gpu(const SynthSummary& summary, const SynthResult& sm, const SynthResult& driver) {
  SynthArea gpu = driver.total;
  gpu.Add(summary.target.config.sms, sm.total);
  return gpu;
}

std::vector<std::string> AreaRow(const std::string& name, const std::string& count,
                                 const SynthArea& area, double nand2) {
  return {name,
          count,
          std::to_string(area.cells),
          std::to_string(area.flip_flops),
          area.sram_bits == 0 ? "" : std::to_string(area.sram_bits),
          Number(area.um2),
          Number(area.um2 / nand2)};
}

std::string BlockTable(const SynthSummary& summary) {
  std::vector<std::string> heads{"block", "per",   "cells",    "flip-flops", "SRAM bits",
                                 "um2",   "NAND2", "Fmax MHz", "slack ns",   "registers only"};
  if (summary.target.strict())
    heads.insert(heads.end(), {"hold ns", "recovery ns", "removal ns", "slow pins", "loaded pins"});
  if (summary.target.repair > 0) heads.insert(heads.end(), {"repairs", "um2 more"});
  TextTable table(heads, {0, 1});
  for (const SynthResult& result : summary.results) {
    auto row = AreaRow(result.block.name, result.block.per_sm ? "SM" : "GPU", result.own,
                       summary.target.liberty.nand2_area);
    const auto add = [&](const SynthPath& path, bool slack) {
      row.push_back(path.exists ? Number(Fmax(summary.target, path)) : "");
      if (slack) row.push_back(path.exists ? fmt::format("{:.3f}", path.slack_ns) : "");
    };
    add(result.worst, true);
    add(result.between_registers, false);
    if (summary.target.strict()) {
      for (const SynthPath* path : {&result.hold, &result.recovery, &result.removal}) {
        row.push_back(path->exists ? fmt::format("{:.3f}", path->slack_ns) : "");
      }
      for (const std::uint64_t pins : {result.slow_pins, result.loaded_pins}) {
        row.push_back(result.worst.exists ? std::to_string(pins) : "");
      }
    }
    if (summary.target.repair > 0) {
      row.push_back(result.worst.exists ? std::to_string(result.repairs) : "");
      row.push_back(result.worst.exists ? Number(result.repair_um2) : "");
    }
    table.Add(row);
  }
  return table.ToString();
}

std::string PathTable(const SynthSummary& summary) {
  TextTable table({"worst path of", "from", "to", "cells", "ns"}, {0, 1, 2});
  for (const SynthResult& result : summary.results) {
    const SynthPath& path = result.worst;
    if (!path.exists) continue;
    table.Add({result.block.name, path.start, path.end, std::to_string(path.depth),
               fmt::format("{:.3f}", path.arrival_ns)});
  }
  return table.ToString();
}

std::string TotalTable(const SynthSummary& summary) {
  const double nand2 = summary.target.liberty.nand2_area;
  TextTable table({"with all it contains", "", "cells", "flip-flops", "SRAM bits", "um2", "NAND2"},
                  {0, 1});
  for (const SynthResult& result : summary.results) {
    if (!result.instances.empty()) table.Add(AreaRow(result.block.name, "", result.total, nand2));
  }
  const SynthResult* sm = summary.Find("sm_control");
  const SynthResult* driver = summary.Find("driver");
  if (sm != nullptr && driver != nullptr) {
    table.Add(AreaRow(fmt::format("{} SMs and the driver", summary.target.config.sms), "",
                      Gpu(summary, *sm, *driver), nand2));
  }
  return table.ToString();
}

// What of a paper, its number, and ours.
struct PaperRow {
  std::string what, paper, here;
};

std::vector<PaperRow> PaperRows(const SynthSummary& summary) {
  std::vector<PaperRow> rows;
  const SynthResult* profile = summary.Find("profile_counters");
  const SynthResult* planner = summary.Find("waterfill_planner");
  const SynthResult* sm = summary.Find("sm_control");
  const SynthResult* driver = summary.Find("driver");
  if (const std::uint64_t bits = summary.CounterBits(); bits != 0) {
    rows.push_back(
        {fmt::format("partition and quota counters, bytes ({} SMs, {} kernels; paper 16, 4)",
                     summary.target.config.sms, summary.target.config.kernels),
         Number(kPaperCounterBytes), Number(static_cast<double>(bits) / 8)});
  }
  if (profile != nullptr) {
    rows.push_back(
        {"profile counters of one SM, um2", Number(kPaperProfileUm2), Number(profile->total.um2)});
  }
  if (planner != nullptr) {
    rows.push_back({"water-filling planner, mm2", fmt::format("{:.2f}", kPaperPlannerMm2),
                    fmt::format("{:.3f}", planner->total.um2 / 1e6)});
  }
  if (sm != nullptr && driver != nullptr) {
    const double mm2 = Gpu(summary, *sm, *driver).um2 / 1e6;
    rows.push_back({"control logic of the GPU, mm2 without SRAM; 16 SMs of GPUWattch",
                    Number(kPaperGpuMm2),
                    fmt::format("{:.3f} ({:.2f} %)", mm2, 100 * mm2 / kPaperGpuMm2)});
  }
  return rows;
}

std::string PaperTable(const SynthSummary& summary) {
  // A NAND2 of 45 nm has about 0.8 um2.
  const char* title = summary.target.liberty.nand2_area < 2
                          ? "compared with the papers (45 nm)"
                          : "compared with the papers (45 nm, this library is larger)";
  TextTable table({title, "paper", "here"}, {0});
  for (const PaperRow& row : PaperRows(summary)) table.Add({row.what, row.paper, row.here});
  return table.ToString();
}

// What ToJson() makes, as far as it is read again.
bool IsTable(const nlohmann::json& j) {
  const auto has = [](const nlohmann::json& object, const char* key, auto is_kind) {
    return object.is_object() && object.contains(key) && (object[key].*is_kind)();
  };
  using Json = nlohmann::json;
  return has(j, "config", &Json::is_string) && has(j, "mhz", &Json::is_number) &&
         has(j, "library", &Json::is_object) && has(j["library"], "sha256", &Json::is_string) &&
         has(j, "blocks", &Json::is_array) &&
         std::all_of(j["blocks"].begin(), j["blocks"].end(), [&](const Json& block) {
           return has(block, "block", &Json::is_string) && has(block, "inputs", &Json::is_string) &&
                  has(block, "own", &Json::is_object) && has(block["own"], "um2", &Json::is_number);
         });
}

}  // namespace

const SynthResult* SynthSummary::Find(const std::string& block) const {
  for (const SynthResult& result : results) {
    if (result.block.name == block) return &result;
  }
  return nullptr;
}

std::uint64_t SynthSummary::CounterBits() const {
  std::uint64_t sm_bits = 0, gpu_bits = 0;
  const SynthResult* sm = Find("sm_control");
  if (sm == nullptr) return 0;
  for (const SynthResult& result : results) {
    const auto within = sm->instances.find(result.block.name);
    const std::uint64_t times = within == sm->instances.end() ? 1 : within->second;
    for (const std::string& name : result.block.counters) {
      const auto found = result.registers.find(name);
      if (found == result.registers.end()) {
        throw std::runtime_error(fmt::format(
            "{}: no register {} is left, which its block.toml counts", result.block.name, name));
      }
      (result.block.per_sm ? sm_bits : gpu_bits) += times * found->second;
    }
  }
  return sm_bits * target.config.sms + gpu_bits;
}

ordered_json ToJson(const SynthSummary& summary) {
  const SynthTarget& target = summary.target;
  ordered_json j;
  j["config"] = target.config.name;
  j["sms"] = target.config.sms;
  j["kernels"] = target.config.kernels;
  if (!target.config.sets.empty()) j["set"] = target.config.sets;
  j["mhz"] = target.mhz;
  j["wires"] = Wires(target);
  j["uncertainty_percent"] = target.uncertainty;
  j["corner"] = target.corner;
  j["derate"] = target.derate;
  if (target.repair > 0) j["repair"] = target.repair;
  j["library"] = {{"name", target.liberty.name},
                  {"sha256", target.liberty.hash},
                  {"nand2_um2", target.liberty.nand2_area}};
  j["blocks"] = ordered_json::array();
  for (const SynthResult& result : summary.results)
    j["blocks"].push_back(BlockJson(summary, result));
  const SynthResult* sm = summary.Find("sm_control");
  const SynthResult* driver = summary.Find("driver");
  if (sm != nullptr && driver != nullptr) {
    j["gpu"] = AreaJson(Gpu(summary, *sm, *driver), target.liberty.nand2_area);
  }
  if (const std::uint64_t bits = summary.CounterBits(); bits != 0) j["counter_bits"] = bits;
  return j;
}

ordered_json PaperJson(const SynthSummary& summary) {
  ordered_json j = ordered_json::array();
  for (const PaperRow& row : PaperRows(summary)) {
    j.push_back({{"what", row.what}, {"paper", row.paper}, {"here", row.here}});
  }
  return j;
}

std::string ToText(const SynthSummary& summary) {
  const SynthTarget& target = summary.target;
  std::string text = fmt::format(
      "configuration {}, library {}, clock {:.0f} MHz ({:.3f} ns{}); wires: {}; {} "
      "corner{}\n\n{}\n",
      target.config.name, target.liberty.name, target.mhz, target.period_ns(),
      target.uncertainty > 0 ? fmt::format(", uncertain by {:g} %", target.uncertainty) : "",
      Wires(target), Corner(target),
      target.repair > 0 ? fmt::format("; up to {} repairs", target.repair) : "",
      BlockTable(summary));
  if (summary.results.back().worst.exists) text += PathTable(summary) + '\n';
  if (summary.Find("sm_control") != nullptr || summary.Find("driver") != nullptr ||
      summary.Find("drf_tracker") != nullptr) {
    text += TotalTable(summary) + '\n';
  }
  return text + PaperTable(summary);
}

AreaTable::AreaTable(const std::string& path) : path_(path) {
  json_ = nlohmann::json::parse(ReadFile(path), nullptr, false);
  if (!IsTable(json_)) {
    throw InputError(fmt::format("{}: not a table that smk synth --json wrote", path));
  }
}

void AreaTable::RequireSameTarget(const SynthTarget& target) const {
  const auto require = [&](const char* what, const std::string& theirs, const std::string& ours) {
    if (theirs == ours) return;
    throw InputError(fmt::format("{}: made for {} {}, this is {}", path_, what, theirs, ours));
  };
  require("configuration", json_.value("config", ""), target.config.name);
  require("library", json_["library"].value("sha256", ""), target.liberty.hash);
  require("clock", Number(json_.value("mhz", 0.0)), Number(target.mhz));
}

std::string AreaTable::Inputs(const std::string& block) const {
  for (const auto& entry : json_["blocks"]) {
    if (entry.value("block", "") == block) return entry.value("inputs", "");
  }
  return "";
}

std::vector<std::string> AreaTable::Grown(const std::vector<SynthResult>& results,
                                          double percent) const {
  std::vector<std::string> lines;
  for (const SynthResult& result : results) {
    double before = 0;
    for (const auto& entry : json_["blocks"]) {
      if (entry.value("block", "") == result.block.name) before = entry["own"].value("um2", 0.0);
    }
    if (before == 0) {
      lines.push_back(fmt::format("{} is not in the table", result.block.name));
    } else if (result.own.um2 > before * (1 + percent / 100)) {
      lines.push_back(fmt::format("{} has grown from {:.0f} to {:.0f} um2 (+{:.1f} %)",
                                  result.block.name, before, result.own.um2,
                                  100 * (result.own.um2 / before - 1)));
    }
  }
  return lines;
}

}  // namespace smk::sim
