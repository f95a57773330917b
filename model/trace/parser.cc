// SPDX-License-Identifier: Apache-2.0
// TraceParser: thread blocks, warps and instructions.
#include "trace/parser.h"

#include <algorithm>
#include <charconv>

namespace smk {
namespace {

constexpr std::uint64_t kMaxInstructions = (std::uint64_t{1} << 31) - 1;  // of one warp

// One contiguous run of set bits, or none.
bool Contiguous(std::uint32_t mask) {
  if (mask == 0) return true;
  const std::uint32_t low = mask >> __builtin_ctz(mask);
  return (low & (low + 1)) == 0;
}

template <typename T>
bool Parse(std::string_view text, T* value, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value, base);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

bool TraceParser::NextLine() {
  if (have_line_) {
    have_line_ = false;
    return true;
  }
  while (lines_.Next()) {
    if (!lines_.line().empty()) return true;
  }
  return false;
}

// The value of a line "key = value", which must come next.
std::string_view TraceParser::Value(const char* key) {
  const std::string expected = std::string(key) + " = ...";
  if (!NextLine()) Fail("end of file", expected);
  std::string_view line = lines_.line();
  const std::string_view name = key;
  if (line.substr(0, name.size()) != name) Fail(std::string(line.substr(0, 40)), expected);
  line.remove_prefix(name.size());
  while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  if (line.empty() || line.front() != '=') Fail(key, expected);
  line.remove_prefix(1);
  while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  return line;
}

bool TraceParser::NextTb() {
  for (;;) {
    if (!NextLine()) {
      if (tbs_ == header_.tbs()) return false;
      Fail("end of file", std::to_string(header_.tbs()) + " thread blocks, as the grid has, got " +
                              std::to_string(tbs_));
    }
    if (lines_.line() == "#BEGIN_TB") break;
    if (lines_.line().front() != '#' || lines_.line() == "#END_TB") {
      Fail(std::string(lines_.line().substr(0, 40)), "#BEGIN_TB");
    }
  }
  if (tbs_ == header_.tbs()) {
    Fail("#BEGIN_TB", std::to_string(header_.tbs()) + " thread blocks, as the grid has");
  }
  ++tbs_;
  // The coordinates are for people: TBs are run in file order. They must be there all the same.
  std::string_view text = Value("thread block");
  for (unsigned i = 0; i < 3; ++i) {
    const std::size_t comma = i < 2 ? text.find(',') : text.size();
    std::uint64_t value = 0;
    if (comma == std::string_view::npos || !Parse(text.substr(0, comma), &value)) {
      Fail("thread block", "x,y,z");
    }
    text.remove_prefix(std::min(text.size(), comma + 1));
  }
  std::fill(present_.begin(), present_.end(), 0);
  return true;
}

void TraceParser::MissingWarp() const {
  for (unsigned warp = 0; warp < warps_; ++warp) {
    if ((present_[warp / 64] >> warp % 64 & 1) == 0) {
      Fail("#END_TB", "all " + std::to_string(warps_) + " warps of the thread block, warp " +
                          std::to_string(warp) + " is missing");
    }
  }
}

bool TraceParser::NextWarp() {
  if (!NextLine()) Fail("end of file", "warp = N or #END_TB");
  if (lines_.line() == "#END_TB") {
    MissingWarp();
    return false;
  }
  have_line_ = true;
  const std::string_view number = Value("warp");
  if (!Parse(number, &warp_) || warp_ >= warps_) {
    Fail("warp",
         "a number below " + std::to_string(warps_) + ", got " + std::string(number.substr(0, 40)));
  }
  std::uint64_t& word = present_[warp_ / 64];
  const std::uint64_t bit = std::uint64_t{1} << warp_ % 64;
  if ((word & bit) != 0) Fail("warp", "each warp once per thread block");
  word |= bit;
  const std::string_view count = Value("insts");
  if (!Parse(count, &instructions_) || instructions_ > kMaxInstructions) {
    Fail("insts", "the number of instruction lines that follow");
  }
  return true;
}

std::string_view TraceParser::Token(const char* what) {
  std::size_t begin = 0;
  while (begin < rest_.size() && rest_[begin] == ' ') ++begin;
  std::size_t end = begin;
  while (end < rest_.size() && rest_[end] != ' ') ++end;
  if (begin == end) Fail("end of line", what);
  const std::string_view token = rest_.substr(begin, end - begin);
  rest_.remove_prefix(end);
  return token;
}

std::uint64_t TraceParser::DecimalToken(const char* what, std::uint64_t high) {
  const std::string_view token = Token(what);
  std::uint64_t value = 0;
  if (!Parse(token, &value) || value > high) Fail(std::string(token.substr(0, 40)), what);
  return value;
}

std::int64_t TraceParser::SignedToken(const char* what) {
  const std::string_view token = Token(what);
  std::int64_t value = 0;
  if (!Parse(token, &value)) Fail(std::string(token.substr(0, 40)), what);
  return value;
}

std::uint64_t TraceParser::HexToken(const char* what, unsigned max_digits) {
  const std::string_view token = Token(what);
  std::uint64_t value = 0;
  if (token.size() > max_digits || !Parse(token, &value, 16)) {
    Fail(std::string(token.substr(0, 40)), what);
  }
  return value;
}

std::uint64_t TraceParser::AddressToken() {
  const char* const what = "an address such as 0x7f3000000000";
  const std::string_view token = Token(what);
  std::uint64_t value = 0;
  if (token.substr(0, 2) != "0x" || !Parse(token.substr(2), &value, 16)) {
    Fail(std::string(token.substr(0, 40)), what);
  }
  return value;
}

std::uint8_t TraceParser::RegisterToken(const char* what) {
  const std::string_view token = Token(what);
  unsigned value = 0;
  if (token.front() != 'R' || !Parse(token.substr(1), &value) || value > 255) {
    Fail(std::string(token.substr(0, 40)), what);
  }
  return static_cast<std::uint8_t>(value);
}

void TraceParser::Next(TraceInstruction* out) {
  if (!NextLine()) Fail("end of file", "an instruction; insts says so");
  rest_ = lines_.line();
  if (rest_.front() == '#' || rest_.substr(0, 4) == "warp") {
    Fail(std::string(rest_.substr(0, 40)), "an instruction; insts says so");
  }
  if (header_.tracer_version < 3) {
    for (unsigned i = 0; i < 4; ++i)
      DecimalToken("tbx tby tbz warp, as tracers before 3 write", ~std::uint32_t{0});
  }
  if (header_.line_info) DecimalToken("a source line number", ~std::uint32_t{0});
  out->pc = HexToken("a PC in hexadecimal, a multiple of 8", 16);
  if (out->pc % 8 != 0) Fail("PC", "a multiple of 8");
  out->mask = static_cast<std::uint32_t>(HexToken("a mask of 8 hexadecimal digits", 8));
  out->lanes = static_cast<unsigned>(__builtin_popcount(out->mask));
  out->dst = TraceInstruction::kNone;
  if (DecimalToken("0 or 1 destination registers", 1) == 1) {
    out->dst = RegisterToken("a destination register R0 to R255");
  }
  out->opcode = Token("an opcode");
  if (out->opcode.front() < 'A' || out->opcode.front() > 'Z') {
    Fail(std::string(out->opcode.substr(0, 40)), "an opcode");
  }
  out->num_src = static_cast<std::uint8_t>(DecimalToken("0 to 4 source registers", 4));
  for (unsigned i = 0; i < out->num_src; ++i) {
    out->src[i] = RegisterToken("a source register R0 to R255");
  }
  out->width = static_cast<unsigned>(DecimalToken("a memory width of 0 to 128 bytes", 128));
  if (out->width != 0) Addresses(out);
  EndOfLine(out);
}

void TraceParser::Addresses(TraceInstruction* out) {
  const std::uint64_t mode = DecimalToken("address mode 0, 1 or 2", 2);
  if (mode == 1) {
    BaseStride(out);
  } else if (mode == 0) {
    for (unsigned i = 0; i < out->lanes; ++i) out->address[i] = AddressToken();
  } else {
    std::uint64_t address = AddressToken();
    out->address[0] = address;
    for (unsigned i = 1; i < out->lanes; ++i) {
      address += static_cast<std::uint64_t>(SignedToken("one address difference per active lane"));
      out->address[i] = address;
    }
  }
}

void TraceParser::BaseStride(TraceInstruction* out) {
  const std::uint64_t base = AddressToken();
  const std::int64_t stride = SignedToken("a stride in bytes");
  if (!Contiguous(out->mask)) Fail("address mode 1", "active lanes side by side");
  for (unsigned i = 0; i < out->lanes; ++i) {
    out->address[i] = base + i * static_cast<std::uint64_t>(stride);
  }
}

// An immediate may follow, whatever the version.
void TraceParser::EndOfLine(TraceInstruction* out) {
  out->immediate = 0;
  if (rest_.find_first_not_of(' ') == std::string_view::npos) return;
  out->immediate = SignedToken("an immediate or the end of the line");
  if (rest_.find_first_not_of(' ') == std::string_view::npos) return;
  Fail(std::string(Token("")), "the end of the line");
}

}  // namespace smk
