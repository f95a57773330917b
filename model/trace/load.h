// SPDX-License-Identifier: Apache-2.0
// Traces as workloads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trace/builder.h"
#include "workload/workload.h"

namespace smk {

// How a trace is read.
struct TraceOptions {
  std::string cache_folder;  // "": nothing is kept
  bool strict = false;       // an unknown opcode is an error
  bool verify = false;       // everything is read and checked, although it looks as it did
};

// A kernel of a trace, for people.
struct TraceKernelInfo {
  std::string file;  // as the list names it
  TraceHeader header;
  TraceCounts counts;
  std::size_t instructions = 0;  // different ones
};

// What a folder with a trace holds.
struct TraceSet {
  // One program per stream, in the order in which the list names them first; each launches its
  // kernels in the order of the list.
  std::vector<std::shared_ptr<const Workload>> streams;
  std::vector<TraceKernelInfo> kernels;  // in the order of the list
  std::string warning;                   // one line about unknown opcodes, or empty
  std::uint64_t compact_bytes = 0;       // of the cache file
  bool from_cache = false;
  bool recognized = false;  // by how its files look; nothing of their contents was read
};

// Reads the trace that a folder holds (its kernelslist.g), or the list itself. Throws InputError.
TraceSet LoadTrace(const std::string& path, const TraceOptions& options);

}  // namespace smk
