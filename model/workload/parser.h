// SPDX-License-Identifier: Apache-2.0
// Reads the text of a program: lines of instructions, loops, conditionals and unrolled blocks.
#pragma once

#include <string>
#include <vector>

#include "workload/lexer.h"
#include "workload/syntax.h"

namespace smk {

// Reads the tokens of one line from left to right and fails with the line's place.
class TokenReader {
 public:
  TokenReader(const TokenLine& line, const std::string& file) : line_(line), file_(file) {}

  const Token& Peek() const { return line_.tokens[at_]; }
  bool AtEnd() const { return Peek().kind == Token::Kind::kEnd; }
  // True and a step forward when the next token is `text` (a word or a symbol).
  bool Accept(const std::string& text);
  void Expect(const std::string& text);
  std::string Word(const std::string& what);
  double Number(const std::string& what, double low, double high);
  std::int64_t Integer(const std::string& what, std::int64_t low, std::int64_t high);
  Token Take() { return AtEnd() ? Peek() : line_.tokens[at_++]; }
  // True when `text` stands behind the next token.
  bool Follows(const std::string& text) const {
    return !AtEnd() && line_.tokens[at_ + 1].text == text;
  }
  [[noreturn]] void Fail(const std::string& expected) const {
    FailAt(file_, line_.line, Peek().text, expected);
  }
  [[noreturn]] void Fail(const std::string& token, const std::string& expected) const {
    FailAt(file_, line_.line, token, expected);
  }
  int line() const { return line_.line; }
  // Depth of parentheses; expressions are read recursively.
  void Enter() {
    if (++nesting_ > 32) Fail("at most 32 nested parentheses");
  }
  void Leave() { --nesting_; }

 private:
  const TokenLine& line_;
  const std::string& file_;
  std::size_t at_ = 0;
  int nesting_ = 0;
};

// A line that is an instruction.
Statement ParseInstruction(TokenReader* in);
// What stands between `loop NAME` and `{`.
TripSyntax ParseTrips(TokenReader* in);
// What stands between `if` and `{`.
ConditionSyntax ParseCondition(TokenReader* in);
// Sum of products; at most one factor of a product is a name.
AffineSyntax ParseAffine(TokenReader* in);

// The whole program. `first_line` and `step`: see Tokenise().
std::vector<Statement> ParseProgram(const std::string& text, const std::string& file,
                                    int first_line, int step);

}  // namespace smk
