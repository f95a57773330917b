// SPDX-License-Identifier: Apache-2.0
// Turns the text of one kernel's trace into what the machine executes.
//
// Purpose   Collects the table of the kernel's instructions, and writes each TB's record
//           (trace_stream.h) as soon as its last line has been read.
// Memory    The table, and one TB's record.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/access.h"
#include "trace/async_groups.h"
#include "trace/parser.h"
#include "workload/program_parts.h"

namespace smk {

// What a kernel executes in all, for people.
struct TraceCounts {
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;  // by the masks
  std::array<std::uint64_t, kNumOpClasses> by_class{};
  std::uint64_t accesses = 0, lines = 0;  // global and local memory
  std::uint64_t shared_accesses = 0, passes = 0;
  std::uint64_t footprint_lines = 0;  // distinct
};

// An opcode that the table does not know.
struct UnknownOpcode {
  std::string opcode;  // Printable()
  std::string where;   // "file:line" of the first
  std::uint64_t count = 0;
};

// One kernel, ready to be written to the cache.
struct TraceKernel {
  TraceHeader header;
  std::vector<Instruction> nodes;
  std::vector<std::uint16_t> after, code;  // as in ProgramParts
  std::uint64_t tbs = 0;                   // that were read
  std::uint64_t tb_table = 0;              // in the cache: where the offsets of their records are
  TraceCounts counts;
  std::vector<UnknownOpcode> unknown;
};

// See the head of this file.
class TraceBuilder {
 public:
  // Takes the TBs' records, one after another.
  using Sink = std::function<void(const std::vector<std::uint8_t>&)>;

  TraceBuilder(TraceParser* parser, Sink sink) : parser_(*parser), sink_(std::move(sink)) {}
  // Reads the file to its end.
  TraceKernel Build();

 private:
  // An instruction of the table is what is at one PC and asks one thing of the machine.
  struct Key {
    std::uint64_t pc = 0;
    std::uint64_t what = 0;
    bool operator==(const Key& o) const { return pc == o.pc && what == o.what; }
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t h = key.pc * 0x9e3779b97f4a7c15 ^ key.what * 0xbf58476d1ce4e5b9;
      return static_cast<std::size_t>(h ^ h >> 29);
    }
  };

  void Tb();
  void Warp();
  void Add(const TraceInstruction& line, bool last);
  void Append(std::uint64_t pc, const Instruction& instruction);
  void Count(const TraceInstruction& line, const Instruction& instruction, TraceSpace space);
  // What the machine executes for the line.
  Instruction Translate(const TraceInstruction& line, TraceKind kind, TraceSpace space, bool last);
  void SetAsync(const TraceInstruction& line, TraceKind kind, Instruction* instruction);
  OpClass ClassOf(TraceKind kind, TraceSpace space, const TraceInstruction& line, bool last);
  std::uint16_t NodeOf(std::uint64_t pc, const Instruction& instruction);
  void NoteUnknown(const TraceInstruction& line);
  void Touch(std::uint32_t line);
  void Finish();

  TraceParser& parser_;
  Sink sink_;
  TraceKernel kernel_;
  std::vector<Key> keys_;       // by node
  std::vector<bool> ends_run_;  // by node
  std::unordered_map<Key, std::uint16_t, KeyHash> node_of_;
  std::map<std::string, UnknownOpcode> unknown_;
  // Lines that were touched: a bit each, in pages.
  static constexpr unsigned kPageBits = 15;
  std::vector<std::unique_ptr<std::array<std::uint64_t, (1u << kPageBits) / 64>>> touched_;

  // The warp and the TB that are being read.
  AsyncGroups groups_;
  std::vector<std::uint16_t> runs_;  // first, last
  std::vector<std::uint8_t> data_;
  std::vector<std::vector<std::uint8_t>> warps_;
  std::vector<std::uint8_t> record_;
};

}  // namespace smk
