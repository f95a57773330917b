// SPDX-License-Identifier: Apache-2.0
// A workload: one program as a user names it ("histo"), a sequence of kernel launches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/resources.h"
#include "workload/program.h"

namespace smk {

class Program;  // compiled warp-level program, workload/program_code.h

enum class Idempotence : std::uint8_t {
  kYes,         // TBs can always be dropped and started again
  kNo,          // never
  kUntilStore,  // until the first instruction marked ends_idempotence
};

// One kernel of a workload.
struct KernelSpec {
  std::string name;
  unsigned threads = 0;  // per TB
  unsigned registers_per_thread = 0;
  unsigned shared_memory = 0;  // bytes per TB
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  Idempotence idempotence = Idempotence::kNo;
  ResourceVector need{};  // allocation units
  std::shared_ptr<const Program> program;
  std::uint32_t tb_limit = 0;  // only so many, the first of the grid; 0: all
  std::uint32_t tb_count() const {
    const std::uint32_t all = grid_x * grid_y * grid_z;
    return tb_limit == 0 ? all : std::min(all, tb_limit);
  }
};

// A program: its launches in order. After the last, it ends (and is executed again by the run).
struct Workload {
  std::string name;
  std::string description;
  std::string type;  // "compute" or "memory"
  std::vector<KernelSpec> kernels;
  std::vector<std::uint16_t> launches;  // indices into kernels, in program order
  // Arrays that a kernel reads, and that one writes, in bytes; 0 for a trace.
  std::uint64_t input_bytes = 0, output_bytes = 0;
  std::string source_file;
  std::string content_hash;  // of the file's bytes, for caches and manifests
};

}  // namespace smk
