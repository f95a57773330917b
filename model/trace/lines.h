// SPDX-License-Identifier: Apache-2.0
// The lines of a trace file, one at a time, however long the file is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace smk {

// A name's ending, in C++17.
inline bool EndsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

// The text with '?' for what a terminal would not print as it is.
std::string Printable(std::string text);

// Where bytes come from, a block at a time.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills up to `size` bytes and gives their number, 0 at the end. `problem` is set, to what was
  // expected, when the bytes cannot be had.
  virtual std::size_t Read(char* to, std::size_t size, std::string* problem) = 0;
};

// A file; one whose name ends in ".xz" is decompressed on the way. InputError when it cannot be
// opened.
std::unique_ptr<ByteSource> OpenBytes(const std::string& path);
// A text in memory, for tests; `xz` says that it is compressed.
std::unique_ptr<ByteSource> BytesOf(std::string text, bool xz = false);

// Cuts a source into lines. Memory is bounded by the longest line, which is at most kMaxLine.
class TraceLines {
 public:
  static constexpr std::size_t kMaxLine = std::size_t{1} << 16;

  // `path` is for messages.
  TraceLines(std::string path, std::unique_ptr<ByteSource> source);

  // Goes to the next line; false at the end of the file.
  bool Next();
  // The line, without its end and without spaces around it. Good until the next call of Next().
  std::string_view line() const { return line_; }
  // Of the line, from 1; the last one at the end of the file.
  std::uint64_t number() const { return number_; }
  const std::string& path() const { return path_; }

  // Throws InputError: "path:line: what: expected ...".
  [[noreturn]] void Fail(const std::string& what, const std::string& expected) const;

 private:
  void Fill();

  std::string path_;
  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // of what is not yet taken
  bool at_end_ = false;
  std::uint64_t number_ = 0;
  std::string_view line_;
};

}  // namespace smk
