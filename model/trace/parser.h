// SPDX-License-Identifier: Apache-2.0
// Reads one kernel's trace in the format of Accel-Sim, versions 0 to 5 (docs/traces.md).
//
// Purpose   Checks a .traceg file line by line and gives its thread blocks, warps and instructions
//           in file order.
// Errors    InputError, one line: "file:line: what: expected ...". Nothing of a line that does not
//           follow the format is used.
// Memory    One line.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/lines.h"

namespace smk {

// The lines "-key = value" before the first TB.
struct TraceHeader {
  std::string name;
  std::uint64_t id = 0;
  std::array<unsigned, 3> grid{};
  std::array<unsigned, 3> block{};
  unsigned shared_memory = 0;  // bytes per TB
  unsigned registers = 0;      // per thread
  unsigned binary_version = 0;
  std::uint64_t stream = 0;
  std::uint64_t shared_base = 0, local_base = 0;  // of generic addresses; 0: not known
  unsigned tracer_version = 0;
  bool line_info = false;

  unsigned threads() const { return block[0] * block[1] * block[2]; }
  unsigned warps() const { return (threads() + 31) / 32; }
  std::uint64_t tbs() const { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }
};

// One warp instruction.
struct TraceInstruction {
  static constexpr std::uint8_t kNone = 0xff;  // no register: R255 reads as zero
  std::uint64_t pc = 0;
  std::uint32_t mask = 0;  // active lanes
  std::uint8_t dst = kNone;
  std::uint8_t num_src = 0;
  std::array<std::uint8_t, 4> src{};
  std::string_view opcode;                  // with all its parts
  unsigned width = 0;                       // bytes per lane, 0: no addresses
  unsigned lanes = 0;                       // active lanes
  std::array<std::uint64_t, 32> address{};  // of the active lanes, lowest first
  std::int64_t immediate = 0;               // 0 where the line has none
};

// See the head of this file.
class TraceParser {
 public:
  // Reads the header. `lines` must outlive the parser.
  explicit TraceParser(TraceLines* lines);

  const TraceHeader& header() const { return header_; }

  // Goes to the next TB; false at the end of a complete file. All instructions of the TB before
  // must have been read.
  bool NextTb();
  // Goes to the next warp of the TB; false at the TB's end, when every warp has been there.
  bool NextWarp();
  // The warp's number in the TB, and how many instructions it has; without any it only exits.
  unsigned warp() const { return warp_; }
  std::uint64_t instructions() const { return instructions_; }
  // Reads one instruction; to be called instructions() times. What `out` refers to is good until
  // the next call.
  void Next(TraceInstruction* out);

  std::uint64_t line() const { return lines_.number(); }
  const std::string& path() const { return lines_.path(); }
  [[noreturn]] void Fail(const std::string& what, const std::string& expected) const {
    lines_.Fail(what, expected);
  }

 private:
  // header
  void ReadHeader();
  void Key(std::string_view line);
  void Check();
  std::array<unsigned, 3> Triple(const std::string& key, std::string_view text) const;
  std::uint64_t Number(const std::string& key, std::string_view text, std::uint64_t low,
                       std::uint64_t high) const;
  std::uint64_t Hex(const std::string& key, std::string_view text) const;
  // body
  bool NextLine();  // skips blank lines
  std::string_view Value(const char* key);
  void MissingWarp() const;
  // one instruction
  std::string_view Token(const char* what);
  std::uint64_t DecimalToken(const char* what, std::uint64_t high);
  std::int64_t SignedToken(const char* what);
  std::uint64_t HexToken(const char* what, unsigned max_digits);
  std::uint64_t AddressToken();
  std::uint8_t RegisterToken(const char* what);
  void Addresses(TraceInstruction* out);
  void BaseStride(TraceInstruction* out);
  void EndOfLine(TraceInstruction* out);

  TraceLines& lines_;
  TraceHeader header_;
  std::vector<std::string> seen_;       // keys of the header
  std::vector<std::uint64_t> present_;  // bit per warp of the TB
  std::string_view rest_;               // of the line
  std::uint64_t tbs_ = 0;
  unsigned warps_ = 0;
  unsigned warp_ = 0;
  std::uint64_t instructions_ = 0;
  bool have_line_ = false;  // the line has been read and not used
};

}  // namespace smk
