// SPDX-License-Identifier: Apache-2.0
// Checked access to the keys of a TOML table: every key is asked for, of one type, in one range.
#pragma once

#include <toml++/toml.h>

#include <set>
#include <string>
#include <vector>

namespace smk {

// One table of a file. Finish() fails on keys that nobody asked for, and names those that
// somebody did.
class TomlReader {
 public:
  // `where` is the table's name in messages, empty for the file itself.
  TomlReader(const toml::table& table, std::string file, std::string where)
      : table_(table), file_(std::move(file)), where_(std::move(where)) {}

  // Whether the key is there. It may be: Finish() knows it from now on.
  bool Has(const std::string& key) {
    known_.insert(key);
    return table_.contains(key);
  }
  // The value of a key that must exist.
  const toml::node& Node(const std::string& key, const std::string& expected);
  std::string String(const std::string& key, const std::string& expected);
  std::int64_t Integer(const std::string& key, std::int64_t low, std::int64_t high);
  // The string, which must be one of `choices`.
  std::string Choice(const std::string& key, const std::vector<std::string>& choices);
  // Fails when a key was not asked for.
  void Finish() const;

  [[noreturn]] void Fail(const std::string& key, const std::string& expected) const;
  [[noreturn]] void Fail(const toml::node& node, const std::string& key,
                         const std::string& expected) const;
  // "file:line: key"; the line of the table when there is no such key.
  std::string Place(const std::string& key) const;
  const std::string& file() const { return file_; }
  int line() const { return static_cast<int>(table_.source().begin.line); }

 private:
  const toml::node& NodeOrTable(const std::string& key) const;
  std::string Name(const std::string& key) const {
    return where_.empty() ? key : where_ + "." + key;
  }

  const toml::table& table_;
  std::string file_;
  std::string where_;
  std::set<std::string> known_;
};

}  // namespace smk
