// SPDX-License-Identifier: Apache-2.0
#include "base/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <optional>

#include "base/error.h"

namespace smk::sim {
namespace {

// Decimal digits with an optional fraction, an optional exponent and an optional suffix, computed
// in integers: nothing here depends on the locale or rounds.
class CountParser {
 public:
  explicit CountParser(std::string_view text) : text_(text) {}

  std::optional<std::uint64_t> Parse() {
    if (!Digits() || digits_ == 0) return std::nullopt;
    if (!Exponent() || !Suffix() || !text_.empty()) return std::nullopt;
    return Scale();
  }

 private:
  bool Take(char c) {
    if (text_.empty() || std::tolower(static_cast<unsigned char>(text_[0])) != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  std::optional<unsigned> TakeDigit() {
    if (text_.empty() || text_[0] < '0' || text_[0] > '9') return std::nullopt;
    const unsigned digit = static_cast<unsigned>(text_[0] - '0');
    text_.remove_prefix(1);
    return digit;
  }
  bool Push(unsigned digit) {
    ++digits_;
    if (value_ > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) return false;
    value_ = value_ * 10 + digit;
    return true;
  }
  bool Digits() {
    while (const auto digit = TakeDigit()) {
      if (!Push(*digit)) return false;
    }
    if (!Take('.')) return true;
    while (const auto digit = TakeDigit()) {
      if (!Push(*digit)) return false;
      --power_;
    }
    return true;
  }
  bool Exponent() {
    if (!Take('e')) return true;
    Take('+');
    int exponent = 0;
    bool any = false;
    while (const auto digit = TakeDigit()) {
      exponent = std::min(exponent * 10 + static_cast<int>(*digit), 100);
      any = true;
    }
    power_ += exponent;
    return any;
  }
  bool Suffix() {
    if (Take('k')) {
      power_ += 3;
    } else if (Take('m')) {
      power_ += 6;
    } else if (Take('g')) {
      power_ += 9;
    }
    return true;
  }
  std::optional<std::uint64_t> Scale() const {
    std::uint64_t value = value_;
    for (int i = power_; i > 0 && value != 0; --i) {
      if (value > std::numeric_limits<std::uint64_t>::max() / 10) return std::nullopt;
      value *= 10;
    }
    for (int i = power_; i < 0; ++i) {
      if (value % 10 != 0) return std::nullopt;
      value /= 10;
    }
    return value;
  }

  std::string_view text_;
  std::uint64_t value_ = 0;
  int power_ = 0;
  unsigned digits_ = 0;
};

}  // namespace

std::uint64_t ParseCount(std::string_view what, std::string_view text, std::uint64_t min,
                         std::uint64_t max) {
  const std::optional<std::uint64_t> value = CountParser(text).Parse();
  if (!value || *value < min || *value > max) {
    throw InputError(
        fmt::format("{}: expected a whole number from {} to {}, got '{}'", what, min, max, text));
  }
  return *value;
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

}  // namespace smk::sim
