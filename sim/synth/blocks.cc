// SPDX-License-Identifier: Apache-2.0
#include "synth/blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "base/nearest.h"
#include "base/numbers.h"
#include "base/toml_file.h"

namespace smk::sim {
namespace fs = std::filesystem;
namespace {

// All words in `text` that start with "smk_".
std::set<std::string> ModuleNames(const std::string& text) {
  const auto in_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  std::set<std::string> names;
  for (std::size_t at = text.find("smk_"); at != std::string::npos; at = text.find("smk_", at)) {
    std::size_t end = at;
    while (end < text.size() && in_name(text[end])) ++end;
    if (at == 0 || !in_name(text[at - 1])) names.insert(text.substr(at, end - at));
    at = end;
  }
  return names;
}

// The table that a key holds; throws InputError when it holds something else.
const toml::table& TableOf(const toml::node& node, std::string_view key, std::string_view path) {
  if (const toml::table* table = node.as_table()) return *table;
  throw InputError(fmt::format("{}:{}: {}: expected a table", path, node.source().begin.line, key));
}

std::vector<std::string> Texts(toml::node_view<const toml::node> node) {
  std::vector<std::string> texts;
  if (const toml::array* array = node.as_array()) {
    for (const auto& text : *array) texts.push_back(text.value_or(std::string()));
  }
  return texts;
}

SynthBlock ReadBlock(const std::string& name, const toml::table& table) {
  SynthBlock block;
  block.name = name;
  block.per_sm = table["per"].value_or(std::string()) == "sm";
  block.wiring = table["wiring"].value_or(false);
  block.contains = Texts(table["contains"]);
  block.counters = Texts(table["counters"]);
  return block;
}

// What the drawers tb/<block>/block.toml say of synthesis, by module.
std::map<std::string, SynthBlock> ReadDrawers(const std::string& tb) {
  std::map<std::string, SynthBlock> blocks;
  for (const auto& drawer : fs::directory_iterator(tb)) {
    const std::string path = drawer.path() / "block.toml";
    if (!fs::exists(path)) continue;
    const toml::table content = ParseToml(ReadFile(path), path);
    const toml::node* synthesis = content.get("synthesis");
    if (synthesis == nullptr) continue;
    for (const auto& [key, entry] : TableOf(*synthesis, "synthesis", path)) {
      const std::string name(key.str());
      blocks[name] = ReadBlock(name, TableOf(entry, "synthesis." + name, path));
    }
  }
  return blocks;
}

// Moves `name` out of `blocks` to the end of `ordered`, after all that it contains.
void TakeBlock(const std::string& name, std::map<std::string, SynthBlock>& blocks,
               std::vector<SynthBlock>& ordered) {
  auto node = blocks.extract(name);
  if (node.empty()) return;
  for (const std::string& part : node.mapped().contains) TakeBlock(part, blocks, ordered);
  ordered.push_back(node.mapped());
}

// Parts before what contains them; what is in an SM first.
std::vector<SynthBlock> InOrder(std::map<std::string, SynthBlock> blocks) {
  std::set<std::string> contained, tops[2];
  for (const auto& [name, block] : blocks) {
    contained.insert(block.contains.begin(), block.contains.end());
  }
  for (const auto& [name, block] : blocks) {
    if (contained.count(name) == 0) tops[block.per_sm ? 0 : 1].insert(name);
  }
  std::vector<SynthBlock> ordered;
  for (const std::set<std::string>& names : tops) {
    for (const std::string& name : names) TakeBlock(name, blocks, ordered);
  }
  return ordered;
}

}  // namespace

std::string EssentialVerilog(const std::string& text) {
  std::string kept;
  bool blank = false;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t next = at + 1;
    if (text.compare(at, 2, "//") == 0) {
      next = std::min(text.find('\n', at), text.size());
      blank = true;
    } else if (text.compare(at, 2, "/*") == 0) {
      const std::size_t end = text.find("*/", at + 2);
      next = end == std::string::npos ? text.size() : end + 2;
      blank = true;
    } else if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
      blank = true;
    } else {
      if (blank && !kept.empty()) kept += ' ';
      blank = false;
      kept += text[at];
    }
    at = next;
  }
  return kept;
}

SynthCatalogue::SynthCatalogue(const std::string& data_dir)
    : root_(fs::absolute(data_dir).lexically_normal().parent_path()) {
  if (fs::path(data_dir).filename().empty()) root_ = fs::path(root_).parent_path();
  for (const char* folder : {"rtl", "synth", "tb"}) {
    if (!fs::is_directory(fs::path(root_) / folder)) {
      throw InputError(fmt::format(
          "{}/{}: no such folder; smk synth needs the source tree: set SMK_DATA_DIR to its sim/",
          root_, folder));
    }
  }
  blocks_ = InOrder(ReadDrawers(root_ + "/tb"));
  const std::string path = root_ + "/synth/configs.toml";
  const toml::table table = ParseToml(ReadFile(path), path);
  const toml::node* configs = table.get("config");
  if (configs == nullptr) throw InputError(path + ": expected tables [config.NAME]");
  for (const auto& [key, value] : TableOf(*configs, "config", path)) {
    const std::string name(key.str());
    const toml::table& config = TableOf(value, "config." + name, path);
    configs_[name] = {name,
                      root_ + "/rtl/config/" + name + "/smk_config.svh",
                      config["sms"].value_or(0u),
                      config["kernels"].value_or(0u),
                      {}};
  }
  ReadCorners();
  FindModules();
}

void SynthCatalogue::ReadCorners() {
  const std::string path = root_ + "/synth/cells/corners.toml";
  const toml::table table = ParseToml(ReadFile(path), path);
  const toml::node* corners = table.get("corner");
  if (corners == nullptr) throw InputError(path + ": expected tables [corner.NAME]");
  for (const auto& [key, value] : TableOf(*corners, "corner", path)) {
    const std::string name(key.str());
    corners_[name] = TableOf(value, "corner." + name, path)["derate"].value_or(0.0);
    if (corners_[name] > 0) continue;
    throw InputError(fmt::format("{}: corner.{}: expected a derate above 0", path, name));
  }
}

void SynthCatalogue::FindModules() {
  for (const auto& entry : fs::recursive_directory_iterator(root_ + "/rtl")) {
    if (entry.path().extension() == ".sv") modules_[entry.path().stem()] = entry.path();
  }
  if (modules_.count("smk_pkg") == 0) throw InputError(root_ + "/rtl: no smk_pkg.sv");
}

const SynthBlock& SynthCatalogue::Find(const std::string& name) const {
  const std::string plain = name.rfind("smk_", 0) == 0 ? name.substr(4) : name;
  std::vector<std::string> names;
  for (const SynthBlock& block : blocks_) {
    if (block.name == plain) return block;
    names.push_back(block.name);
  }
  throw InputError(
      fmt::format("no block '{}'{}; blocks: {}", name, DidYouMean(plain, names), Join(names)));
}

SynthConfig SynthCatalogue::Config(const std::string& name) const {
  const auto found = configs_.find(name);
  if (found != configs_.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, config] : configs_) names.push_back(known);
  throw InputError(fmt::format("--config: no configuration '{}'{}; known: {}", name,
                               DidYouMean(name, names), Join(names)));
}

double SynthCatalogue::Derate(const std::string& corner) const {
  const auto found = corners_.find(corner);
  if (found != corners_.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, derate] : corners_) names.push_back(known);
  throw InputError(fmt::format("--corner: no corner '{}'{}; known: {}", corner,
                               DidYouMean(corner, names), Join(names)));
}

std::vector<std::string> SynthCatalogue::Files(const std::string& block) const {
  std::vector<std::string> files, queue = {"smk_" + block};
  std::set<std::string> seen = {"smk_pkg"};
  while (!queue.empty()) {
    const std::string module = queue.back();
    queue.pop_back();
    const auto file = modules_.find(module);
    if (file == modules_.end() || !seen.insert(module).second) continue;
    files.push_back(file->second);
    for (const std::string& name : ModuleNames(EssentialVerilog(ReadFile(file->second)))) {
      queue.push_back(name);
    }
  }
  files.insert(files.begin(), modules_.at("smk_pkg"));
  return files;
}

}  // namespace smk::sim
