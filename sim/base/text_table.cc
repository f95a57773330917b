// SPDX-License-Identifier: Apache-2.0
#include "base/text_table.h"

#include <algorithm>

namespace smk::sim {

TextTable::TextTable(std::vector<std::string> header, const std::vector<std::size_t>& left)
    : left_(header.size(), false) {
  for (const std::size_t column : left) left_[column] = true;
  rows_.push_back(std::move(header));
}

void TextTable::Add(std::vector<std::string> row) {
  row.resize(left_.size());
  rows_.push_back(std::move(row));
}

std::string TextTable::ToString() const {
  std::vector<std::size_t> widths(left_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      if (i != 0) line += "  ";
      line += left_[i] ? row[i] + padding : padding + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace smk::sim
