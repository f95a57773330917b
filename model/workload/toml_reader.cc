// SPDX-License-Identifier: Apache-2.0
#include "workload/toml_reader.h"

#include <algorithm>

#include "base/nearest.h"
#include "workload/syntax.h"

namespace smk {
namespace {

int LineOf(const toml::node& node) {
  return std::max(1, static_cast<int>(node.source().begin.line));
}

}  // namespace

const toml::node& TomlReader::Node(const std::string& key, const std::string& expected) {
  known_.insert(key);
  const toml::node* node = table_.get(key);
  if (node == nullptr) {
    FailAt(file_, LineOf(table_), Name(key), expected + " (the key is missing)");
  }
  return *node;
}

std::string TomlReader::String(const std::string& key, const std::string& expected) {
  const toml::node& node = Node(key, expected);
  if (!node.is_string()) Fail(node, key, expected);
  return node.as_string()->get();
}

std::int64_t TomlReader::Integer(const std::string& key, std::int64_t low, std::int64_t high) {
  const std::string expected =
      "a whole number from " + std::to_string(low) + " to " + std::to_string(high);
  const toml::node& node = Node(key, expected);
  const auto* value = node.as_integer();
  if (value == nullptr || value->get() < low || value->get() > high) Fail(node, key, expected);
  return value->get();
}

std::string TomlReader::Choice(const std::string& key, const std::vector<std::string>& choices) {
  std::string expected;
  for (const std::string& choice : choices) {
    expected += (expected.empty() ? "\"" : " or \"") + choice + "\"";
  }
  const toml::node& node = Node(key, expected);
  const auto* value = node.as_string();
  if (value == nullptr ||
      std::find(choices.begin(), choices.end(), value->get()) == choices.end()) {
    Fail(node, key, expected);
  }
  return value->get();
}

void TomlReader::Finish() const {
  const std::vector<std::string> known(known_.begin(), known_.end());
  std::string all;
  for (const std::string& key : known) all += (all.empty() ? "" : ", ") + key;
  for (const auto& [key, node] : table_) {
    const std::string name(key.str());
    if (known_.count(name) != 0) continue;
    const int line = std::max(1, static_cast<int>(key.source().begin.line));
    FailAt(file_, line, Name(name), "one of the keys " + all + DidYouMean(name, known));
  }
}

const toml::node& TomlReader::NodeOrTable(const std::string& key) const {
  const toml::node* node = table_.get(key);
  return node == nullptr ? static_cast<const toml::node&>(table_) : *node;
}

std::string TomlReader::Place(const std::string& key) const {
  return file_ + ":" + std::to_string(LineOf(NodeOrTable(key))) + ": " + Name(key);
}

void TomlReader::Fail(const std::string& key, const std::string& expected) const {
  Fail(NodeOrTable(key), key, expected);
}

void TomlReader::Fail(const toml::node& node, const std::string& key,
                      const std::string& expected) const {
  FailAt(file_, LineOf(node), Name(key), expected);
}

}  // namespace smk
