// SPDX-License-Identifier: Apache-2.0
#include "workload/lexer.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "workload/syntax.h"

namespace smk {
namespace {

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool IsWordStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IsWord(char c) { return IsWordStart(c) || IsDigit(c) || c == '.'; }

// Splits one line; `at` moves behind each token.
class LineLexer {
 public:
  LineLexer(const std::string& text, const std::string& file, int line)
      : text_(text), file_(file), line_(line) {}

  std::vector<Token> Run() {
    std::vector<Token> tokens;
    while (SkipSpace()) tokens.push_back(Next());
    tokens.push_back(Token{Token::Kind::kEnd, "end of line", 0, false, 0});
    return tokens;
  }

 private:
  // False at the end of the line or at a comment.
  bool SkipSpace() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    return at_ < text_.size() && text_[at_] != '#';
  }

  Token Next() {
    const char c = text_[at_];
    if (IsDigit(c)) return Number();
    if (IsWordStart(c)) return Word();
    return Symbol();
  }

  Token Word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && IsWord(text_[at_])) ++at_;
    return Token{Token::Kind::kWord, text_.substr(begin, at_ - begin), 0, false, 0};
  }

  // Digits (with _ between them), optionally a fraction, optionally K, M or G (powers of 1024). Two
  // dots end the number.
  Token Number() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (IsDigit(text_[at_]) || text_[at_] == '_')) ++at_;
    bool integer = true;
    if (at_ + 1 < text_.size() && text_[at_] == '.' && IsDigit(text_[at_ + 1])) {
      integer = false;
      ++at_;
      while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
    }
    Token token{Token::Kind::kNumber, text_.substr(begin, at_ - begin), 0, integer, 0};
    std::string digits = token.text;
    digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
    if (digits.size() > 15) FailAt(file_, line_, token.text, "a number of at most 15 digits");
    token.value = std::stod(digits) * Suffix();
    token.text = text_.substr(begin, at_ - begin);
    if (at_ < text_.size() && IsWord(text_[at_]) && text_[at_] != '.') {
      FailAt(file_, line_, token.text + text_[at_], "a number");
    }
    token.integer = static_cast<std::int64_t>(token.value);
    return token;
  }

  double Suffix() {
    if (at_ == text_.size()) return 1;
    switch (text_[at_]) {
      case 'K':
        ++at_;
        return 1024.0;
      case 'M':
        ++at_;
        return 1024.0 * 1024;
      case 'G':
        ++at_;
        return 1024.0 * 1024 * 1024;
      default:
        return 1;
    }
  }

  Token Symbol() {
    static const char* const kSymbols[] = {"==", "!=", "<=", ">=", "..", "=", "{", "}", "[", "]",
                                           "(",  ")",  "+",  "-",  "*",  "%", "<", ">", ":"};
    for (const std::string symbol : kSymbols) {
      if (text_.compare(at_, symbol.size(), symbol) != 0) continue;
      at_ += symbol.size();
      return Token{Token::Kind::kSymbol, symbol, 0, false, 0};
    }
    FailAt(file_, line_, std::string(1, text_[at_]),
           "a word, a number or one of = { } [ ] ( ) + - "
           "* % : .. == != < <= > >=");
  }

  const std::string& text_;
  const std::string& file_;
  int line_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<TokenLine> Tokenise(const std::string& text, const std::string& file, int first_line,
                                int step) {
  std::vector<TokenLine> lines;
  std::istringstream in(text);
  int number = first_line;
  for (std::string line; std::getline(in, line); number += step) {
    TokenLine tokens{number, LineLexer(line, file, number).Run()};
    if (tokens.tokens.size() > 1) lines.push_back(std::move(tokens));
  }
  return lines;
}

}  // namespace smk
