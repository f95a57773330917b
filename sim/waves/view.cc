// SPDX-License-Identifier: Apache-2.0
#include "waves/view.h"

#include <toml++/toml.h>

#include <filesystem>
#include <sstream>
#include <stdexcept>

namespace smk {
namespace {

template <typename Value>
using Names = std::map<std::string, Value>;

const Names<WaveRadix> kRadixes = {{"", WaveRadix::kAuto},           {"hex", WaveRadix::kHex},
                                   {"decimal", WaveRadix::kDecimal}, {"signed", WaveRadix::kSigned},
                                   {"binary", WaveRadix::kBinary},   {"index", WaveRadix::kIndex},
                                   {"count", WaveRadix::kCount}};

const Names<WaveColor> kColors = {{"", WaveColor::kNormal},       {"red", WaveColor::kRed},
                                  {"orange", WaveColor::kOrange}, {"yellow", WaveColor::kYellow},
                                  {"green", WaveColor::kGreen},   {"blue", WaveColor::kBlue},
                                  {"indigo", WaveColor::kIndigo}, {"violet", WaveColor::kViolet}};

std::string Trim(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

class Reader {
 public:
  Reader(const std::string& dir, const std::string& name, const WaveVariables& variables)
      : dir_(dir), path_(dir + "/" + name + "/wave.toml"), variables_(variables) {}

  WaveView Read() const {
    WaveView view;
    try {
      const toml::table table = toml::parse_file(path_);
      CheckKeys(table, {"test", "marker", "group"});
      view.test = Text(table, "test");
      if (const toml::table* marker = table["marker"].as_table()) view.marker = Marker(*marker);
      view.groups = Groups(table);
    } catch (const toml::parse_error& error) {
      Fail(error.source().begin.line, std::string(error.description()));
    }
    return view;
  }

 private:
  [[noreturn]] void Fail(unsigned line, const std::string& what) const {
    throw std::runtime_error(path_ + ":" + std::to_string(line) + ": " + what);
  }
  void CheckKeys(const toml::table& table, std::initializer_list<std::string_view> known) const {
    for (const auto& [key, value] : table) {
      bool found = false;
      for (const std::string_view name : known) found = found || key.str() == name;
      if (!found) Fail(value.source().begin.line, "unknown key '" + std::string(key.str()) + "'");
    }
  }
  std::string Text(const toml::table& table, std::string_view key) const {
    return Replace(table[key].value_or(std::string()));
  }
  std::string Replace(std::string text) const {
    for (const auto& [name, value] : variables_) {
      const std::string word = "{" + name + "}";
      for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos;) {
        text.replace(at, word.size(), value);
      }
    }
    return text;
  }
  template <typename Value>
  Value Find(const Names<Value>& names, const std::string& name, unsigned line) const {
    const auto found = names.find(name);
    if (found == names.end()) Fail(line, "unknown word '" + name + "'");
    return found->second;
  }

  WaveMarker Marker(const toml::table& table) const {
    CheckKeys(table, {"signal", "value", "before", "after"});
    WaveMarker marker;
    marker.signal = Text(table, "signal");
    marker.value = table["value"].value_or(marker.value);
    marker.before = table["before"].value_or(marker.before);
    marker.after = table["after"].value_or(marker.after);
    return marker;
  }
  std::vector<WaveGroup> Groups(const toml::table& table) const {
    std::vector<WaveGroup> groups;
    const toml::array* list = table["group"].as_array();
    if (list == nullptr) return groups;
    for (const toml::node& node : *list) {
      if (!node.is_table()) Fail(node.source().begin.line, "a group is a table");
      groups.push_back(Group(*node.as_table()));
    }
    return groups;
  }
  WaveGroup Group(const toml::table& table) const {
    CheckKeys(table, {"name", "scope", "color", "open", "rest", "signals", "group", "include"});
    const unsigned line = table.source().begin.line;
    WaveGroup group;
    group.name = Text(table, "name");
    if (group.name.empty()) Fail(line, "a group needs a name");
    group.scope = Text(table, "scope");
    group.color = Find(kColors, Text(table, "color"), line);
    group.open = table["open"].value_or(group.open);
    group.rest = table["rest"].value_or(group.rest);
    if (const toml::array* signals = table["signals"].as_array()) {
      for (const toml::node& node : *signals) group.lines.push_back(Line(node));
    }
    group.groups = Groups(table);
    const std::string included = Text(table, "include");
    if (!included.empty()) {
      for (WaveGroup& inner : Reader(dir_, included, variables_).Read().groups) {
        group.groups.push_back(std::move(inner));
      }
    }
    return group;
  }
  // "pattern | name | radix", the last two optional.
  WaveLine Line(const toml::node& node) const {
    const unsigned at = node.source().begin.line;
    std::istringstream text(Replace(node.value_or(std::string())));
    std::string column[3], extra;
    for (std::string& part : column) {
      std::getline(text, part, '|');
      part = Trim(part);
    }
    if (std::getline(text, extra)) Fail(at, "more than three columns");
    if (column[0].empty()) Fail(at, "no signal");
    return {column[0], column[1], Find(kRadixes, column[2], at)};
  }

  std::string dir_;
  std::string path_;
  const WaveVariables& variables_;
};

WaveGroup MakeGroup(const char* name, const char* pattern, WaveColor color) {
  WaveGroup group;
  group.name = name;
  group.color = color;
  group.rest = true;
  group.lines.push_back({pattern, "", WaveRadix::kAuto});
  return group;
}

}  // namespace

WaveView ReadWaveView(const std::string& dir, const std::string& name,
                      const WaveVariables& variables) {
  return Reader(dir, name, variables).Read();
}

WaveView BlockWaveView(const std::string& dir, const std::string& block) {
  if (std::filesystem::exists(dir + "/" + block + "/wave.toml")) return ReadWaveView(dir, block);
  WaveView view;
  view.groups = {MakeGroup("Inputs", "*_i", WaveColor::kNormal),
                 MakeGroup("Outputs", "*_o", WaveColor::kOrange),
                 MakeGroup("Registers", "*_q", WaveColor::kYellow)};
  return view;
}

WaveView RunWaveView(const std::string& dir, const FstFile& fst) {
  const std::string before = "top.gen_sm[", after = "].u_tables.u_preempt_engine";
  std::string sm = "0";
  std::optional<std::uint64_t> first;
  for (const WaveSignal& signal : fst.signals()) {
    if (signal.name != "buffer_request_o" || signal.scope.rfind(before, 0) != 0) continue;
    const std::size_t end = signal.scope.find(']');
    if (signal.scope.substr(end) != after) continue;
    const std::optional<std::uint64_t> time = fst.FirstTime(signal, 1);
    if (!time || (first && *first <= *time)) continue;
    first = time;
    sm = signal.scope.substr(before.size(), end - before.size());
  }
  return ReadWaveView(dir, "top", {{"sm", sm}});
}

}  // namespace smk
