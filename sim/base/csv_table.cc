// SPDX-License-Identifier: Apache-2.0
#include "base/csv_table.h"

#include <csv.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <new>

#include "base/error.h"
#include "base/files.h"

namespace smk::sim {

// The parser, and the records that it has found and Next() has not asked for.
struct CsvTable::Parser {
  Parser() { csv_init(&csv, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL); }
  ~Parser() { csv_free(&csv); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  static void OnCell(void* text, std::size_t size, void* parser) {
    static_cast<Parser*>(parser)->cells.emplace_back(static_cast<const char*>(text), size);
  }
  static void OnEnd(int end, void* parser) { static_cast<Parser*>(parser)->EndRecord(end); }

  void EndRecord(int end) {
    // The second character of CRLF; any other record without cells is an empty line.
    const bool second = end == '\n' && last_end == '\r' && cells.empty();
    last_end = second ? 0 : end;
    if (second) return;
    if (cells.empty()) cells.emplace_back();
    records.push_back(std::move(cells));
    cells.clear();
  }

  csv_parser csv{};
  std::vector<std::string> cells;
  std::deque<std::vector<std::string>> records;
  int last_end = 0;
};

CsvTable::CsvTable(const std::string& path, const std::vector<std::string>& columns)
    : path_(path), text_(ReadFile(path)), parser_(std::make_unique<Parser>()) {
  // Spaces belong to cells.
  csv_set_space_func(&parser_->csv, [](unsigned char) { return 0; });
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // of spreadsheets
  if (std::string_view(text_).substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    at_ = kByteOrderMark.size();
  }
  if (!NextRecord()) Fail("expected a header, got an empty file");
  header_ = cells_;
  for (const std::string& name : columns) Column(name);
}

CsvTable::~CsvTable() = default;

// Gives the parser the text up to the next line end.
void CsvTable::ParseLine() {
  const std::size_t end = std::min(text_.find('\n', at_), text_.size() - 1) + 1;
  const std::size_t size = end - at_;
  csv_parser* csv = &parser_->csv;
  if (csv_parse(csv, &text_[at_], size, &Parser::OnCell, &Parser::OnEnd, parser_.get()) != size) {
    if (csv_error(csv) != CSV_EPARSE) throw std::bad_alloc();
    line_ = next_line_;
    Fail("a quote neither begins nor ends a cell");
  }
  at_ = end;
  if (at_ < text_.size()) return;
  if (csv_fini(csv, &Parser::OnCell, &Parser::OnEnd, parser_.get()) != 0) {
    line_ = next_line_;
    Fail("a quote is not closed");
  }
}

bool CsvTable::NextRecord() {
  while (parser_->records.empty() && at_ < text_.size()) ParseLine();
  if (parser_->records.empty()) return false;
  cells_ = std::move(parser_->records.front());
  parser_->records.pop_front();
  line_ = next_line_++;
  for (const std::string& cell : cells_) {
    next_line_ += static_cast<std::size_t>(std::count(cell.begin(), cell.end(), '\n'));
  }
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

std::size_t CsvTable::NumberBelow(std::size_t column, std::size_t limit) const {
  const std::uint64_t value = Number(column);
  if (value >= limit) {
    Fail(fmt::format("{}: expected a number below {}, got {}", header_[column], limit, value));
  }
  return static_cast<std::size_t>(value);
}

void CsvTable::Fail(const std::string& what) const {
  throw InputError(fmt::format("{}:{}: {}", path_, line_, what));
}

std::string QuotedCell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted(2 * text.size() + 2, '\0');
  quoted.resize(csv_write(quoted.data(), quoted.size(), text.data(), text.size()));
  return quoted;
}

}  // namespace smk::sim
