// SPDX-License-Identifier: Apache-2.0
// Small workloads for tests, and warps that walk through them.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "workload/program_code.h"
#include "workload/random.h"
#include "workload/workload_file.h"

namespace smk {

// A workload file around one program; the program's first line is line 13 of the file.
struct TestFile {
  std::string description = "description = \"test\"";
  std::string type = "type = \"memory\"";
  std::string launches = "launches = [\"k\"]";
  std::string arrays = "arrays = { a = 1_048_576, b = 4096 }";
  std::string kernel = "[[kernel]]";
  std::string name = "name = \"k\"";
  std::string threads = "threads = 128";
  std::string registers = "registers = 32";
  std::string shared_memory = "shared_memory = 0";
  std::string grid = "grid = [8, 4, 2]";
  std::string idempotence = "idempotence = \"yes\"";
  std::string program = "alu a =";

  std::string Text() const {
    return description + "\n" + type + "\n" + launches + "\n" + arrays + "\n" + kernel + "\n" +
           name + "\n" + threads + "\n" + registers + "\n" + shared_memory + "\n" + grid + "\n" +
           idempotence + "\nprogram = '''\n" + program + "\n'''\n";
  }
  std::shared_ptr<const Workload> Parse() const { return ParseWorkload(Text(), "test.toml"); }
};

inline constexpr int kProgramLine = 13;

inline KernelSpec CompileTestKernel(const std::string& program) {
  TestFile file;
  file.program = program;
  return file.Parse()->kernels[0];
}

inline WarpIdentity TestWarp(const KernelSpec& kernel, unsigned tb, unsigned warp,
                             std::uint64_t seed = 1) {
  WarpIdentity id;
  id.tb = tb;
  id.tb_x = static_cast<std::uint16_t>(tb % kernel.grid_x);
  id.tb_y = static_cast<std::uint16_t>(tb / kernel.grid_x % kernel.grid_y);
  id.tb_z = static_cast<std::uint16_t>(tb / kernel.grid_x / kernel.grid_y);
  id.warp = static_cast<std::uint16_t>(warp);
  id.tb_key = ScrambleBits(seed * 1000003 + tb + 1);
  id.key = ScrambleBits(id.tb_key + warp + 1);
  return id;
}

// One instruction of a walk, as the test wants to see it.
struct WalkedStep {
  OpClass op;
  int line;  // of the file
  std::vector<std::uint64_t> lines;
};

inline std::vector<WalkedStep> Walk(const KernelSpec& kernel, const WarpIdentity& id,
                                    bool with_lines = false) {
  std::vector<WalkedStep> steps;
  WarpCursor cursor;
  kernel.program->Start(id, &cursor);
  for (;;) {
    const Instruction& in = kernel.program->At(cursor);
    WalkedStep step{in.op, kernel.program->parts().info[cursor.node].line, {}};
    if (with_lines && in.op >= OpClass::kLoadGlobal && in.op <= OpClass::kAtomicGlobal) {
      std::uint64_t lines[kMaxLines];
      const unsigned n = kernel.program->Lines(in, id, cursor, lines);
      step.lines.assign(lines, lines + n);
    }
    steps.push_back(std::move(step));
    if (in.op == OpClass::kExit) return steps;
    kernel.program->Advance(id, &cursor);
  }
}

// Instructions of one class in a walk.
inline unsigned CountOf(const std::vector<WalkedStep>& steps, OpClass op) {
  unsigned count = 0;
  for (const WalkedStep& step : steps) count += step.op == op ? 1 : 0;
  return count;
}

}  // namespace smk
