// SPDX-License-Identifier: Apache-2.0
// Numbers as users write them, and names as they mistype them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace smk::sim {

// Parses a whole number: 200000, 2M, 200k, 1G, 1e6, 1.5M. Throws InputError naming `what` when the
// text is anything else or outside [min, max].
std::uint64_t ParseCount(std::string_view what, std::string_view text, std::uint64_t min,
                         std::uint64_t max);

// The member of `known` that needs the fewest edits to become `text`; "" when `known` is empty. A
// name that ends in ".text" counts as one edit away.
std::string Nearest(std::string_view text, const std::vector<std::string>& known);

// "; did you mean 'x'?" when something in `known` is near enough to `text`, else "".
std::string DidYouMean(std::string_view text, const std::vector<std::string>& known);

// Splits at every `separator`; empty parts are kept.
std::vector<std::string> Split(std::string_view text, char separator);

// "a, b, c"
std::string Join(const std::vector<std::string>& parts, std::string_view separator = ", ");

}  // namespace smk::sim
