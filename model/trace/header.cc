// SPDX-License-Identifier: Apache-2.0
// TraceParser: the header of a trace file.
#include <algorithm>
#include <charconv>

#include "base/ids.h"
#include "trace/parser.h"

namespace smk {
namespace {

constexpr unsigned kMaxThreads = 1024;
constexpr std::uint64_t kMaxGrid = (std::uint64_t{1} << 31) - 1;
constexpr unsigned kMostRegisters = 255;
constexpr unsigned kMaxSharedMemory = 1 << 20;
constexpr unsigned kMaxTracer = 5;
constexpr std::uint64_t kMaxId = ~std::uint64_t{0};

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Compute capabilities that the table of opcodes knows.
bool KnownBinary(std::uint64_t version) {
  constexpr unsigned kKnown[] = {30, 32, 35, 37, 50, 52, 53, 60, 61,
                                 62, 70, 72, 75, 80, 86, 87, 89, 90};
  return std::find(std::begin(kKnown), std::end(kKnown), version) != std::end(kKnown);
}

}  // namespace

TraceParser::TraceParser(TraceLines* lines) : lines_(*lines) {
  ReadHeader();
  warps_ = header_.warps();
  present_.resize((warps_ + 63) / 64);
}

void TraceParser::ReadHeader() {
  while (NextLine()) {
    const std::string_view line = lines_.line();
    if (line.front() == '#') {
      have_line_ = line == "#BEGIN_TB";
      break;
    }
    if (line.front() != '-') Fail(std::string(line.substr(0, 40)), "-KEY = VALUE, or #BEGIN_TB");
    Key(line.substr(1));
  }
  Check();
}

void TraceParser::Key(std::string_view line) {
  const std::size_t equals = line.find('=');
  const std::string key(Trim(line.substr(0, equals)));
  if (equals == std::string_view::npos) Fail("-" + key.substr(0, 40), "-KEY = VALUE");
  const std::string_view value = Trim(line.substr(equals + 1));
  TraceHeader& h = header_;
  seen_.push_back(key);
  if (key == "kernel name") {
    if (value.empty()) Fail(key, "the kernel's name");
    h.name = Printable(std::string(value.substr(0, 4096)));
  } else if (key == "kernel id") {
    h.id = Number(key, value, 0, kMaxId);
  } else if (key == "grid dim") {
    h.grid = Triple(key, value);
    if (h.tbs() > kMaxGrid) Fail(key, "fewer than 2^31 thread blocks");
  } else if (key == "block dim") {
    h.block = Triple(key, value);
    if (std::max({h.block[0], h.block[1], h.block[2]}) > kMaxThreads || h.threads() > kMaxThreads) {
      Fail(key, "at most 1024 threads");
    }
  } else if (key == "shmem") {
    h.shared_memory = static_cast<unsigned>(Number(key, value, 0, kMaxSharedMemory));
  } else if (key == "nregs") {
    h.registers = static_cast<unsigned>(Number(key, value, 1, kMostRegisters));
  } else if (key == "binary version") {
    h.binary_version = static_cast<unsigned>(Number(key, value, 0, 1000));
    if (!KnownBinary(h.binary_version)) {
      Fail(key, "30 to 37, 50 to 53, 60 to 62, 70, 72, 75, 80, 86, 87, 89 or 90, got " +
                    std::to_string(h.binary_version));
    }
  } else if (key == "cuda stream id") {
    h.stream = Number(key, value, 0, kMaxId);
  } else if (key == "shmem base_addr") {
    h.shared_base = Hex(key, value);
  } else if (key == "local mem base_addr") {
    h.local_base = Hex(key, value);
  } else if (key == "accelsim tracer version") {
    h.tracer_version = static_cast<unsigned>(Number(key, value, 0, kMaxTracer));
  } else if (key == "enable lineinfo") {
    h.line_info = Number(key, value, 0, 1) == 1;
  }
}

// What a kernel cannot be run without.
void TraceParser::Check() {
  for (const char* key : {"grid dim", "block dim", "shmem", "nregs", "binary version"}) {
    if (std::find(seen_.begin(), seen_.end(), key) == seen_.end()) {
      Fail("header", std::string("a line -") + key + " = ... before this one");
    }
  }
}

// "(x,y,z)", none of them 0.
std::array<unsigned, 3> TraceParser::Triple(const std::string& key, std::string_view text) const {
  const auto refuse = [&] { Fail(key, "(x,y,z), each at least 1"); };
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') refuse();
  text = text.substr(1, text.size() - 2);
  std::array<unsigned, 3> triple{};
  for (unsigned i = 0; i < 3; ++i) {
    const std::size_t comma = i < 2 ? text.find(',') : text.size();
    if (comma == std::string_view::npos) refuse();
    triple[i] = static_cast<unsigned>(Number(key, Trim(text.substr(0, comma)), 1, kMaxGrid));
    text.remove_prefix(std::min(text.size(), comma + 1));
  }
  if (triple[0] > kMaxGrid / triple[1]) Fail(key, "fewer than 2^31 in all");
  if (std::uint64_t{triple[0]} * triple[1] > kMaxGrid / triple[2]) {
    Fail(key, "fewer than 2^31 in all");
  }
  return triple;
}

std::uint64_t TraceParser::Number(const std::string& key, std::string_view text, std::uint64_t low,
                                  std::uint64_t high) const {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high) {
    Fail(key, "a number from " + std::to_string(low) + " to " + std::to_string(high) + ", got " +
                  std::string(text.substr(0, 40)));
  }
  return value;
}

std::uint64_t TraceParser::Hex(const std::string& key, std::string_view text) const {
  std::string_view digits = text;
  if (digits.substr(0, 2) == "0x") digits.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    Fail(key, "an address such as 0x7f2000000000, got " + std::string(text.substr(0, 40)));
  }
  return value;
}

}  // namespace smk
