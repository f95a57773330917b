// SPDX-License-Identifier: Apache-2.0
#include "base/csv_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/files.h"

namespace smk::sim {
CsvTable::CsvTable(const std::string& path, const std::vector<std::string>& columns)
    : path_(path), text_(ReadFile(path)) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // of spreadsheets
  if (std::string_view(text_).substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    at_ = kByteOrderMark.size();
  }
  if (!NextRecord()) Fail("expected a header, got an empty file");
  header_ = cells_;
  for (const std::string& name : columns) Column(name);
}

bool CsvTable::NextRecord() {
  if (at_ >= text_.size()) return false;
  line_ = next_line_++;
  cells_.assign(1, "");
  bool quoted = false;
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\n';
    if (c == '"') {
      const bool doubled = quoted && next == '"';
      if (doubled) cells_.back() += text_[at_++];
      quoted = doubled || !quoted;
    } else if (quoted) {
      cells_.back() += c;
      next_line_ += c == '\n' ? 1 : 0;
    } else if (c == ',') {
      cells_.emplace_back();
    } else if (c == '\n') {
      break;
    } else if (c != '\r' || next != '\n') {
      cells_.back() += c;
    }
  }
  ++at_;
  if (quoted) Fail("a quote is not closed");
  return true;
}

bool CsvTable::Next() {
  if (!NextRecord()) return false;
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
