// SPDX-License-Identifier: Apache-2.0
#include "synth/flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/sha256.h"

namespace smk::sim {
namespace fs = std::filesystem;
namespace {

constexpr const char* kRepairs = "repaired.txt";  // changes of gates

std::string Blanks(const std::vector<std::string>& words) { return Join(words, " "); }

// "left_q[3]_reg" and "left_q[3]" are "left_q"; "a.b_reg" is "a.b".
std::string RegisterName(std::string name, bool keep_bit) {
  const std::string suffix = "_reg";
  if (name.size() > suffix.size() &&
      name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0) {
    name.erase(name.size() - suffix.size());
  }
  if (!keep_bit && !name.empty() && name.back() == ']') name.erase(name.rfind('['));
  return name;
}

// The words of each line that has exactly `count` of them.
std::vector<std::vector<std::string>> LinesOf(const std::string& text, std::size_t count) {
  std::vector<std::vector<std::string>> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::vector<std::string> found;
    for (std::string word; words >> word;) found.push_back(word);
    if (found.size() == count) lines.push_back(found);
  }
  return lines;
}

// Bits of all memories in a listing of Yosys.
std::uint64_t MemoryBits(const std::string& listing) {
  std::uint64_t bits = 0, size = 0;
  for (const auto& words : LinesOf(listing, 3)) {
    if (words[0] != "parameter") continue;
    if (words[1] == "\\SIZE") size = std::strtoull(words[2].c_str(), nullptr, 10);
    if (words[1] == "\\WIDTH") bits += size * std::strtoull(words[2].c_str(), nullptr, 10);
  }
  return bits;
}

}  // namespace

void SynthArea::Add(std::uint64_t times, const SynthArea& other) {
  cells += times * other.cells;
  flip_flops += times * other.flip_flops;
  sram_bits += times * other.sram_bits;
  um2 += static_cast<double>(times) * other.um2;
}

double Fmax(const SynthTarget& target, const SynthPath& path) {
  return 1000 / (target.period_ns() - path.slack_ns);
}

SynthPath ParsePath(const std::string& report, double time_unit_ns) {
  SynthPath path;
  std::string start, end;
  std::istringstream in(report);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string first, second, third, fourth;
    words >> first >> second >> third >> fourth;
    if (first == "Startpoint:") path.start = RegisterName(start = second, true);
    if (first == "Endpoint:") path.end = RegisterName(end = second, true);
    // "0.0185  0.1476 v u_x/_34802_/ZN (NAND2_X1)": a pin of a cell, among them the registers'.
    const std::size_t slash = fourth.rfind('/');
    if ((third == "^" || third == "v") && slash != std::string::npos) {
      const std::string cell = fourth.substr(0, slash);
      if (cell != start && cell != end) ++path.depth;
    }
    if (second == "data" && third == "arrival" && first[0] != '-') {
      path.arrival_ns = std::atof(first.c_str()) * time_unit_ns;
    }
    if (second == "slack") {
      path.slack_ns = std::atof(first.c_str()) * time_unit_ns;
      path.exists = true;
      return path;
    }
  }
  return path;
}

// Of each pin: "Pin _3197_/A1 ^", its limit and slew, and "Slack   -0.08 (VIOLATED)"; or
// "_3197_/Y (INV_X1) 31.2 above 24.4 (VIOLATED)".
std::uint64_t ParseViolations(const std::string& report) {
  const std::string word = "(VIOLATED)";
  std::uint64_t pins = 0;
  for (std::size_t at = report.find(word); at != std::string::npos;
       at = report.find(word, at + word.size())) {
    ++pins;
  }
  return pins;
}

SynthFlow::SynthFlow(const SynthCatalogue& catalogue, const SynthTarget& target, ToolCache* cache)
    : catalogue_(catalogue),
      target_(target),
      cache_(cache),
      yosys_version_(ToolVersion("yosys -V")),
      sta_version_(ToolVersion("sta -version")) {}

std::vector<SynthBlock> SynthFlow::WithContents(const std::vector<std::string>& names) const {
  std::set<std::string> wanted;
  std::vector<std::string> queue = names;
  while (!queue.empty()) {
    const SynthBlock& block = catalogue_.Find(queue.back());
    queue.pop_back();
    if (!wanted.insert(block.name).second) continue;
    queue.insert(queue.end(), block.contains.begin(), block.contains.end());
  }
  std::vector<SynthBlock> blocks;
  for (const SynthBlock& block : catalogue_.blocks()) {
    if (wanted.count(block.name) != 0) blocks.push_back(block);
  }
  return blocks;
}

std::string SynthFlow::Package(const std::string& original) const {
  std::string text = ReadFile(original);
  const std::string include = "`include \"smk_config.svh\"";
  const std::size_t at = text.find(include);
  if (at == std::string::npos) throw InputError(original + ": expected " + include);
  text.replace(at, include.size(), ReadFile(target_.config.numbers));
  for (const auto& [name, value] : target_.config.sets) {
    const std::regex parameter("(parameter int unsigned " + name + "\\b[^;]*=)[^;=]*;");
    if (!std::regex_search(text, parameter)) {
      throw InputError(fmt::format("--set {}: smk_pkg has no such parameter", name));
    }
    text = std::regex_replace(text, parameter, "$1 " + std::to_string(value) + ";");
  }
  return cache_->Keep(text, "_smk_pkg.sv");
}

ToolRun SynthFlow::YosysRun(const SynthBlock& block) const {
  std::vector<std::string> boxes;
  for (const std::string& name : block.contains) boxes.push_back("smk_" + name);
  std::vector<std::string> files = catalogue_.Files(block.name);
  files.front() = Package(files.front());
  const std::string period = fmt::format("{:.0f}", 1000 * target_.period_ns());
  std::string key = fmt::format("{}\n{}\n{}\n{}\n{}\n", yosys_version_, target_.liberty.hash,
                                period, Blanks(boxes), ReadFile(catalogue_.yosys_script()));
  for (const std::string& file : files) key += EssentialVerilog(ReadFile(file)) + '\n';
  // Gates are sized for the load of wires that are named.
  const bool wires = target_.wires.kind == WireModel::Kind::kPerSink;
  return {block.name,
          {"yosys", "-c", catalogue_.yosys_script()},
          {{"SMK_TOP", "smk_" + block.name},
           {"SMK_FILES", Blanks(files)},
           {"SMK_INCLUDE", catalogue_.include_dir()},
           {"SMK_BOXES", Blanks(boxes)},
           {"SMK_LIBERTY", target_.liberty.path},
           {"SMK_DRIVER", target_.liberty.buffer},
           {"SMK_WIRES", wires ? "1" : ""},
           {"SMK_PERIOD_PS", period}},
          HashText(key),
          {"cells.txt", "memories.txt", "netlist.v"}};
}

ToolRun SynthFlow::StaRun(const SynthBlock& block) const {
  std::vector<std::string> netlists;
  const double period = target_.period_ns() / target_.liberty.time_unit_ns;
  const std::string uncertainty = fmt::format("{:.6f}", period * target_.uncertainty / 100);
  std::string key = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n", sta_version_, block.name, target_.mhz,
                                uncertainty, target_.derate, ReadFile(catalogue_.sta_script()));
  for (const SynthBlock& part : WithContents({block.name})) {
    const ToolRun run = YosysRun(part);
    netlists.push_back(cache_->Folder(run) + "/netlist.v");
    key += run.key + '\n';
  }
  ToolRun run{block.name,
              {"sta", "-exit", "-no_splash", catalogue_.sta_script()},
              {{"SMK_TOP", "smk_" + block.name},
               {"SMK_NETLISTS", Blanks(netlists)},
               {"SMK_LIBERTY", target_.liberty.path},
               {"SMK_UNCERTAINTY", uncertainty},
               {"SMK_DERATE", fmt::format("{}", target_.derate)},
               {"SMK_PERIOD", fmt::format("{:.6f}", period)}},
              "",
              {"timing.txt", "registers.txt", "hold.txt", "recovery.txt", "removal.txt", "slew.txt",
               "load.txt"}};
  if (target_.repair > 0) {
    const std::string most = std::to_string(target_.repair);
    key += most + '\n' + ReadFile(catalogue_.repair_script());
    run.environment["SMK_REPAIR"] = most;
    run.environment["SMK_REPAIR_TCL"] = catalogue_.repair_script();
    run.results.push_back(kRepairs);
  }
  run.key = HashText(key);
  return run;
}

SynthResult SynthFlow::ReadArea(const SynthBlock& block, const ToolRun& run) const {
  const std::string folder = cache_->Folder(run);
  SynthResult result;
  result.block = block;
  result.inputs = run.key;
  result.own.sram_bits = MemoryBits(ReadFile(folder + "/memories.txt"));
  for (const auto& words : LinesOf(ReadFile(folder + "/cells.txt"), 2)) {
    const std::uint64_t count = std::strtoull(words[1].c_str(), nullptr, 10);
    const auto cell = target_.liberty.cells.find(words[0]);
    if (cell != target_.liberty.cells.end()) {
      result.own.cells += count;
      result.own.um2 += static_cast<double>(count) * cell->second.area;
      if (cell->second.flip_flop) result.own.flip_flops += count;
    } else if (words[0].rfind("smk_", 0) == 0) {
      result.instances[words[0].substr(4)] = count;
    } else if (words[0][0] == '$') {
      throw std::runtime_error(fmt::format("{}: {} cells of type {} have no counterpart in {}",
                                           block.name, count, words[0], target_.liberty.path));
    }
  }
  // An instance: "  DFFR_X1 \left_q[3]_reg  (".
  for (const auto& words : LinesOf(ReadFile(folder + "/netlist.v"), 3)) {
    const auto cell = target_.liberty.cells.find(words[0]);
    if (cell == target_.liberty.cells.end() || !cell->second.flip_flop) continue;
    const std::string name = words[1][0] == '\\' ? words[1].substr(1) : words[1];
    ++result.registers[RegisterName(name, false)];
  }
  return result;
}

void SynthFlow::ReadTiming(const ToolRun& run, SynthResult* result) const {
  const auto report = [&](const char* name) { return ReadFile(cache_->Folder(run) + '/' + name); };
  const double unit = target_.liberty.time_unit_ns;
  result->worst = ParsePath(report("timing.txt"), unit);
  result->between_registers = ParsePath(report("registers.txt"), unit);
  result->hold = ParsePath(report("hold.txt"), unit);
  result->recovery = ParsePath(report("recovery.txt"), unit);
  result->removal = ParsePath(report("removal.txt"), unit);
  result->slow_pins = ParseViolations(report("slew.txt"));
  result->loaded_pins = ParseViolations(report("load.txt"));
  if (target_.repair > 0) ReadRepairs(report(kRepairs), result);
}

// Of each change: "u_pick/_34802_ NAND2_X1 NAND2_X2", or of two inputs "u_pick/_34803_ A4 A1".
void SynthFlow::ReadRepairs(const std::string& text, SynthResult* result) const {
  const auto& cells = target_.liberty.cells;
  for (const auto& words : LinesOf(text, 3)) {
    ++result->repairs;
    const auto before = cells.find(words[1]), behind = cells.find(words[2]);
    if (before == cells.end() || behind == cells.end()) continue;
    result->repair_um2 += behind->second.area - before->second.area;
  }
}

std::vector<SynthResult> SynthFlow::Run(const std::vector<SynthBlock>& blocks, bool timing,
                                        unsigned jobs, const SynthProgress& progress) const {
  std::vector<ToolRun> synthesis, sta;
  for (const SynthBlock& block : blocks) {
    synthesis.push_back(YosysRun(block));
    if (timing) sta.push_back(StaRun(block));
  }
  const auto show = [&](const char* what) {
    return [&progress, what, total = blocks.size()](std::size_t done, const std::string& names) {
      progress(fmt::format("{}: {} of {} blocks done; {}", what, done, total, names));
    };
  };
  cache_->Make(synthesis, jobs, show("synthesis"));
  cache_->Make(sta, jobs, show("timing"));
  std::vector<SynthResult> results;
  std::map<std::string, SynthArea> totals;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    SynthResult result = ReadArea(blocks[i], synthesis[i]);
    result.total = result.own;
    for (const auto& [name, count] : result.instances) result.total.Add(count, totals[name]);
    totals[blocks[i].name] = result.total;
    if (timing) ReadTiming(sta[i], &result);
    results.push_back(result);
  }
  return results;
}

void SynthFlow::CopyFiles(const std::vector<SynthBlock>& blocks, bool timing,
                          const std::string& folder) const {
  for (const SynthBlock& block : blocks) {
    const fs::path to = fs::path(folder) / block.name;
    fs::create_directories(to);
    const auto copy = [&](const ToolRun& run, const char* name, const char* as) {
      fs::copy_file(fs::path(cache_->Folder(run)) / name, to / as,
                    fs::copy_options::overwrite_existing);
    };
    const ToolRun synthesis = YosysRun(block);
    for (const char* name : {"netlist.v", "cells.txt"}) copy(synthesis, name, name);
    copy(synthesis, "log", "yosys.log");
    if (!timing) continue;
    const ToolRun sta = StaRun(block);
    for (const std::string& name : sta.results) copy(sta, name.c_str(), name.c_str());
    copy(sta, "log", "sta.log");
  }
}

}  // namespace smk::sim
