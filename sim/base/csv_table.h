// SPDX-License-Identifier: Apache-2.0
// Reads the CSV files that a run writes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace smk::sim {

// One CSV file with a header line (RFC 4180), as libcsv reads it: lines end with LF, CRLF or CR,
// and cells in quotes may hold line ends. Rows are read one after another; errors are InputErrors
// with file, line and column.
class CsvTable {
 public:
  // Reads the file and its header; every name in `columns` must be there.
  CsvTable(const std::string& path, const std::vector<std::string>& columns);
  ~CsvTable();

  // The next row; false after the last.
  bool Next();

  // Index of a column for Text() and Number(); throws when the file does not have it.
  std::size_t Column(const std::string& name) const;
  const std::vector<std::string>& header() const { return header_; }
  const std::string& Text(std::size_t column) const { return cells_[column]; }
  bool IsEmpty(std::size_t column) const { return cells_[column].empty(); }
  std::uint64_t Number(std::size_t column) const;
  std::size_t NumberBelow(std::size_t column, std::size_t limit) const;

 private:
  struct Parser;

  bool NextRecord();
  void ParseLine();
  [[noreturn]] void Fail(const std::string& what) const;

  std::string path_, text_;
  std::size_t at_ = 0;
  std::size_t line_ = 0, next_line_ = 1;  // on which this record begins, and the next
  std::vector<std::string> header_, cells_;
  std::unique_ptr<Parser> parser_;
};

// The cell that holds this text: in quotes when it holds a comma, a quote or a line end (RFC 4180).
std::string QuotedCell(const std::string& text);

}  // namespace smk::sim
