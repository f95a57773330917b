// SPDX-License-Identifier: Apache-2.0
// The list of a trace's kernels: kernelslist.g.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace smk {

struct TraceList {
  struct Kernel {
    std::string name;  // as the list has it
    std::string path;
  };
  std::string path;  // of the list
  std::vector<Kernel> kernels;
};

// Reads kernelslist.g of a folder, or the list itself. Commands of the form "NAME,..." (copies) are
// left out; every kernel must have its file. Throws InputError.
TraceList ReadTraceList(const std::string& path);

// Hash of the list, of its files and of the table of opcodes.
std::uint64_t HashTrace(const TraceList& list);

}  // namespace smk
