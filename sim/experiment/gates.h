// SPDX-License-Identifier: Apache-2.0
// `--gates A,B`: blocks that are netlists in a run on the RTL.
#pragma once

#include <string>
#include <vector>

namespace smk::sim {

// What `--control rtl` evaluates apart.
struct RtlPart {
  const char* name;      // Vbuilt_cosim_<name> in built_rtl.cc
  const char* module;    // at the top
  const char* file;      // of it, as RtlSource() takes it
  const char* block;     // in it, or it: the first module of rtl/
  const char* optimize;  // the driver is large and runs in few cycles
};
const std::vector<RtlPart>& RtlParts();

// The blocks of a comma-separated list, without smk_, in order. Throws InputError for an empty
// list, for what is no module of the RTL or in no part, and for what is named twice or inside
// another one.
std::vector<std::string> ParseGates(const std::string& text);

// Those of the blocks that a part has, or is.
std::vector<std::string> GatesOf(const RtlPart& part, const std::vector<std::string>& gates);

}  // namespace smk::sim
