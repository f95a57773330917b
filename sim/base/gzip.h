// SPDX-License-Identifier: Apache-2.0
// gzip of a text in memory.
#pragma once

#include <string>
#include <string_view>

namespace smk::sim {

// The same bytes for the same text: no name and no time of day are in it.
std::string Gzip(std::string_view text);

}  // namespace smk::sim
