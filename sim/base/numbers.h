// SPDX-License-Identifier: Apache-2.0
// Numbers and lists as users write them.
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

// Splits at every `separator`; empty parts are kept.
std::vector<std::string> Split(std::string_view text, char separator);

// "a, b, c"
std::string Join(const std::vector<std::string>& parts, std::string_view separator = ", ");

}  // namespace smk::sim
