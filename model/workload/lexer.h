// SPDX-License-Identifier: Apache-2.0
// Cuts the lines of a program into tokens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace smk {

struct Token {
  enum class Kind : std::uint8_t { kWord, kNumber, kSymbol, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;
  double value = 0;          // kNumber, suffix applied
  bool is_integer = false;   // kNumber
  std::int64_t integer = 0;  // kNumber when is_integer
};

// One line of a program without its comment; ends with a kEnd token.
struct TokenLine {
  int line = 0;  // of the file
  std::vector<Token> tokens;
};

// Lines without tokens are left out. `first_line` is the file's line of the first line of `text`;
// `step` is 0 when all of the text comes from one line of the file.
std::vector<TokenLine> Tokenise(const std::string& text, const std::string& file, int first_line,
                                int step);

}  // namespace smk
