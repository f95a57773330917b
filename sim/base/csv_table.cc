// SPDX-License-Identifier: Apache-2.0
#include "base/csv_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/files.h"

namespace smk::sim {
namespace {

// The cells of one line; false when a quote is not closed.
bool SplitCells(std::string_view line, std::vector<std::string>* cells) {
  cells->clear();
  std::string cell;
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      cell += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells->push_back(std::move(cell));
      cell.clear();
    } else {
      cell += c;
    }
  }
  cells->push_back(std::move(cell));
  return !quoted;
}

}  // namespace

CsvTable::CsvTable(const std::string& path, const std::vector<std::string>& columns)
    : path_(path), text_(ReadFile(path)) {
  if (!NextLine()) Fail("expected a header, got an empty file");
  header_ = cells_;
  for (const std::string& name : columns) Column(name);
}

bool CsvTable::NextLine() {
  if (at_ >= text_.size()) return false;
  const std::size_t end = std::min(text_.find('\n', at_), text_.size());
  ++line_;
  if (!SplitCells(std::string_view(text_).substr(at_, end - at_), &cells_)) {
    Fail("a quote is not closed");
  }
  at_ = end + 1;
  return true;
}

bool CsvTable::Next() {
  if (!NextLine()) return false;
  if (cells_.size() != header_.size()) {
    Fail(fmt::format("expected {} cells, got {}", header_.size(), cells_.size()));
  }
  return true;
}

std::size_t CsvTable::Column(const std::string& name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  if (found == header_.end()) Fail(fmt::format("no column '{}'", name));
  return static_cast<std::size_t>(found - header_.begin());
}

std::uint64_t CsvTable::Number(std::size_t column) const {
  const std::string& text = cells_[column];
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    Fail(fmt::format("{}: expected a whole number, got '{}'", header_[column], text));
  }
  return value;
}

void CsvTable::Fail(const std::string& what) const {
  throw InputError(fmt::format("{}:{}: {}", path_, line_, what));
}

std::string QuotedCell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') quoted += c;
  }
  return quoted + "\"";
}

}  // namespace smk::sim
