// SPDX-License-Identifier: Apache-2.0
// One warp of a program as lines of a trace.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "trace/parser.h"
#include "workload/launch.h"

namespace smk {

// Real addresses: a multiple of the 64 GB of a program's memory.
inline constexpr std::uint64_t kExportMemoryBase = 0x7f0000000000;

template <typename... Values>
void AppendText(std::string* out, const char* format, Values... values) {
  char text[256];
  const int n = std::snprintf(text, sizeof text, format, values...);
  out->append(text, static_cast<std::size_t>(n));
}

// A warp's way through its program, as lines.
class TraceWarpWriter {
 public:
  // `limit` of instructions besides the exit; 0: none.
  TraceWarpWriter(const Launch& launch, std::uint32_t tb, unsigned warp, std::uint64_t limit);

  // Instructions, the exit included.
  std::uint64_t Count() const;
  // Calls `flush` with text now and then, and at the end.
  template <typename Flush>
  void Write(Flush flush) {
    program_.Start(id_, &cursor_);
    for (std::uint64_t i = 0; i < limit_; ++i) {
      const Instruction& instruction = program_.At(cursor_);
      if (instruction.op == OpClass::kExit) break;
      Line(instruction);
      program_.Advance(id_, &cursor_);
      if (text_.size() > (1u << 16)) {
        flush(text_);
        text_.clear();
      }
    }
    Exit();
    flush(text_);
    text_.clear();
  }

 private:
  void Exit();
  void Line(const Instruction& in);
  void Operands(const Instruction& in, std::uint32_t mask, const std::string& opcode);
  void GlobalAccess(const Instruction& in);
  void SharedAccess(const Instruction& in);
  void Addresses(const TraceInstruction& access);

  const Program& program_;
  WarpIdentity id_;
  unsigned threads_;
  std::uint64_t limit_;
  WarpCursor cursor_;
  std::string text_;
};

}  // namespace smk
