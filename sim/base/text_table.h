// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace smk::sim {

// A table in plain text: columns padded to their widest cell, numbers to the right, two spaces
// between.
class TextTable {
 public:
  // `left` columns (counted from 0) are aligned to the left, all others to the right.
  explicit TextTable(std::vector<std::string> header, const std::vector<std::size_t>& left = {0});
  void Add(std::vector<std::string> row);
  // One line for each row, without spaces at the end of a line.
  std::string ToString() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<bool> left_;
};

}  // namespace smk::sim
