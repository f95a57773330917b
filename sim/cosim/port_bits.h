// SPDX-License-Identifier: Apache-2.0
// Fields of a verilated port, wide or not, by position. A packed struct's last field is at bit 0.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace smk {

template <typename Port>
std::uint64_t GetBits(const Port& port, unsigned lsb, unsigned width) {
  std::uint64_t value = 0;
  if constexpr (std::is_integral_v<Port>) {
    value = static_cast<std::uint64_t>(port) >> lsb;
  } else {
    for (unsigned i = lsb / 32, shift = 0; shift < lsb % 32 + width; ++i, shift += 32) {
      const auto word = static_cast<unsigned __int128>(port[i]) << shift;
      value |= static_cast<std::uint64_t>(word >> lsb % 32);
    }
  }
  return width == 64 ? value : value & ((std::uint64_t{1} << width) - 1);
}

template <typename Port>
void SetBits(Port* port, unsigned lsb, unsigned width, std::uint64_t value) {
  for (unsigned done = 0; done < width;) {
    if constexpr (std::is_integral_v<Port>) {
      const std::uint64_t mask = (width == 64 ? 0 : std::uint64_t{1} << width) - 1;
      const std::uint64_t old = *port;
      *port = static_cast<Port>((old & ~(mask << lsb)) | (value & mask) << lsb);
      done = width;
    } else {
      const unsigned at = (lsb + done) % 32;
      const unsigned n = std::min(32 - at, width - done);
      const std::uint32_t mask = (n == 32 ? 0u : 1u << n) - 1u;
      std::uint32_t& word = (*port)[(lsb + done) / 32];
      word = (word & ~(mask << at)) | ((static_cast<std::uint32_t>(value >> done) & mask) << at);
      done += n;
    }
  }
}

// Reads the fields of a packed struct, the last one first, from bit `lsb` on.
template <typename Port>
class FieldReader {
 public:
  explicit FieldReader(const Port& port, unsigned lsb = 0) : port_(port), at_(lsb) {}
  std::uint64_t Take(unsigned width) {
    const std::uint64_t value = GetBits(port_, at_, width);
    at_ += width;
    return value;
  }

 private:
  const Port& port_;
  unsigned at_;
};

// Writes the fields of a packed struct, the last one first, from bit `lsb` on.
template <typename Port>
class FieldWriter {
 public:
  explicit FieldWriter(Port* port, unsigned lsb = 0) : port_(port), at_(lsb) {}
  FieldWriter& Put(unsigned width, std::uint64_t value) {
    SetBits(port_, at_, width, value);
    at_ += width;
    return *this;
  }

 private:
  Port* port_;
  unsigned at_;
};

// Bits that hold the amounts 0 to limit.
constexpr unsigned CntWidth(unsigned limit) {
  unsigned width = 0;
  while (limit >> width != 0) ++width;
  return width;
}

// Bits that hold the ids 0 to count - 1: $clog2 of the count.
constexpr unsigned IdWidth(unsigned count) { return CntWidth(count - 1); }

}  // namespace smk
