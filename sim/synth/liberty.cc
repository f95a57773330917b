// SPDX-License-Identifier: Apache-2.0
#include "synth/liberty.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/sha256.h"

namespace smk::sim {
namespace {

// Groups in groups; libraries have about six. More would end the recursion with the stack.
constexpr int kMaxDepth = 64;

// Splits a Liberty file into names, numbers, strings and the characters (){}:;, of its grammar.
class Scanner {
 public:
  explicit Scanner(const std::string& text) : text_(text) {}

  // The next token, "" at the end. Strings come without their quotes.
  std::string Next() {
    if (peeked_) {
      peeked_ = false;
      return std::move(token_);
    }
    SkipBlanks();
    if (at_ >= text_.size()) return "";
    const char c = text_[at_];
    if (c == '"') return String();
    if (IsSign(c)) return std::string(1, text_[at_++]);
    const std::size_t begin = at_;
    while (at_ < text_.size() && !IsSign(text_[at_]) && text_[at_] != '"' &&
           std::isspace(static_cast<unsigned char>(text_[at_])) == 0) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }
  // The same, which stays the next.
  const std::string& Peek() {
    if (!peeked_) token_ = Next();
    peeked_ = true;
    return token_;
  }
  std::size_t line() const {
    const auto end = text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size()));
    return 1 + static_cast<std::size_t>(std::count(text_.begin(), end, '\n'));
  }

 private:
  static bool IsSign(char c) { return std::string_view("(){}:;,").find(c) != std::string::npos; }

  void SkipBlanks() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '\\') {
        ++at_;
      } else if (text_.compare(at_, 2, "/*") == 0) {
        at_ = std::min(text_.find("*/", at_ + 2), text_.size() - 2) + 2;
      } else if (text_.compare(at_, 2, "//") == 0) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        return;
      }
    }
  }
  std::string String() {
    const std::size_t begin = at_ + 1;
    const std::size_t end = std::min(text_.find('"', begin), text_.size());
    at_ = end + 1;
    return text_.substr(begin, end - begin);
  }

  const std::string& text_;
  std::size_t at_ = 0;
  std::string token_;
  bool peeked_ = false;
};

// Reads the groups of a library: cells, their area, and whether they store.
class Reader {
 public:
  Reader(const std::string& text, Liberty* liberty) : scanner_(text), liberty_(liberty) {}

  void Read() {
    if (scanner_.Next() != "library") Fail("not a Liberty file: expected library (NAME) {");
    Group("library", Arguments(), 0);
  }

 private:
  [[noreturn]] void Fail(const std::string& what) const {
    throw InputError(fmt::format("{}:{}: {}", liberty_->path, scanner_.line(), what));
  }
  // As much of a token as goes into one line: a string that is not closed goes on to the end.
  static std::string Shown(const std::string& token) {
    return token.substr(0, std::min<std::size_t>(token.find('\n'), 40));
  }
  // "(a, b)", the first of them.
  std::string Arguments() {
    if (scanner_.Next() != "(") Fail("malformed: expected '('");
    std::string first, token;
    while ((token = scanner_.Next()) != ")") {
      if (token.empty()) Fail("malformed: the file ends too early");
      if (first.empty()) first = token;
    }
    return first;
  }
  // From "{" to "}".
  void Group(const std::string& kind, const std::string& name, int depth) {
    if (depth == kMaxDepth) Fail(fmt::format("expected at most {} groups in groups", kMaxDepth));
    if (depth == 0) liberty_->name = name;
    if (kind == "cell" && depth == 1) cell_ = name;
    if ((kind == "ff" || kind == "ff_bank") && depth == 2) liberty_->cells[cell_].flip_flop = true;
    if (scanner_.Next() != "{") Fail(fmt::format("malformed: expected '{{' after {}", Shown(kind)));
    while (true) {
      const std::string word = scanner_.Next();
      if (word == "}") return;
      if (word.empty()) Fail("malformed: the file ends too early");
      if (word != ";") Statement(word, depth);
    }
  }
  // An attribute, "x : y" or "x (y);", or a group, "x (y) {".
  void Statement(const std::string& word, int depth) {
    if (scanner_.Peek() == ":") {
      scanner_.Next();
      Attribute(word, scanner_.Next(), depth);
    } else if (scanner_.Peek() == "(") {
      const std::string name = Arguments();
      if (scanner_.Peek() == "{") Group(word, name, depth + 1);
    } else {
      Fail(fmt::format("malformed: '{}' after {}", Shown(scanner_.Peek()), Shown(word)));
    }
  }
  void Attribute(const std::string& word, const std::string& value, int depth) {
    if (word == "area" && depth == 1) liberty_->cells[cell_].area = Area(value);
    if (word == "time_unit" && depth == 0) liberty_->time_unit_ns = TimeUnit(value);
  }
  double Area(const std::string& text) const {
    char* end = nullptr;
    const double area = std::strtod(text.c_str(), &end);
    if (!text.empty() && *end == '\0' && std::isfinite(area) && area >= 0) return area;
    Fail(fmt::format("area '{}': expected a number", Shown(text)));
  }
  double TimeUnit(const std::string& text) const {
    const double number = std::atof(text.c_str());
    if (number > 0 && text.find("ps") != std::string::npos) return number / 1000;
    if (number > 0 && text.find("ns") != std::string::npos) return number;
    Fail(fmt::format("time_unit '{}': expected ns or ps", Shown(text)));
  }

  Scanner scanner_;
  Liberty* const liberty_;
  std::string cell_;
};

// The smallest of the cells whose names begin with or contain `word`; "" without one.
std::string Smallest(const Liberty& liberty, const std::string& word, bool at_begin) {
  std::string smallest;
  for (const auto& [name, cell] : liberty.cells) {
    std::string upper = name;
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    const std::size_t at = upper.find(word);
    if (at == std::string::npos || (at_begin && at != 0) || cell.area <= 0) continue;
    if (smallest.empty() || cell.area < liberty.cells.at(smallest).area) smallest = name;
  }
  return smallest;
}

}  // namespace

Liberty LoadLiberty(const std::string& path) {
  const std::string text = ReadFile(path);
  Liberty liberty;
  liberty.path = path;
  liberty.hash = HashText(text);
  Reader(text, &liberty).Read();
  const auto flip_flop = [](const auto& entry) { return entry.second.flip_flop; };
  if (std::none_of(liberty.cells.begin(), liberty.cells.end(), flip_flop)) {
    throw InputError(fmt::format("{}: the library has no flip-flop", path));
  }
  const std::string nand2 = Smallest(liberty, "NAND2", false);
  if (nand2.empty()) {
    throw InputError(fmt::format("{}: the library has no NAND2 cell with an area", path));
  }
  liberty.nand2_area = liberty.cells.at(nand2).area;
  liberty.buffer = Smallest(liberty, "BUF", true);
  return liberty;
}

}  // namespace smk::sim
