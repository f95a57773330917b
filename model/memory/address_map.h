// SPDX-License-Identifier: Apache-2.0
// Where a line lives: which controller, which L2 slice, and its address there.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/divisor.h"
#include "config/machine_config.h"

namespace smk {

// From this address on, the 32-bit tags of the L2 slices would not tell lines apart.
std::uint64_t TagEnd(const MemoryConfig& config);

// Exclusive-or'ing the low bits of a number with Scatter() of its high bits keeps runs
// conflict-free and makes numbers that differ in high bits only look random.
inline std::uint64_t Scatter(std::uint64_t high_bits) {
  return (high_bits * 0x9E3779B97F4A7C15u) >> 40;
}

// Spreads the address space over the controllers in chunks of interleave_bytes. In each row of as
// many chunks as there are controllers, every controller has exactly one, and a hash of the row's
// number rotates their order, so that strides that are multiples of the row do not camp on one
// controller. The chunks of one controller are dense in its own address space; a slice of the
// controller is chosen by a hash of the chunk's number there in the same way.
class AddressMap {
 public:
  struct Place {
    unsigned controller = 0;
    unsigned slice = 0;               // over all controllers: controller * slices each + its own
    std::uint64_t local_address = 0;  // in the controller's address space
  };

  explicit AddressMap(const MemoryConfig& config);

  Place Locate(std::uint64_t address) const {
    const std::uint64_t chunk = address >> interleave_bits_;
    const std::uint64_t row = controllers_.Down(chunk);
    auto controller = static_cast<unsigned>(chunk - row * controllers_.by()) + Rotation(row);
    if (controller >= controllers_.by()) controller -= controllers_.by();
    const unsigned slice = static_cast<unsigned>(row ^ Scatter(row >> slice_bits_)) & slice_mask_;
    return {controller, (controller << slice_bits_) + slice,
            row << interleave_bits_ | (address & offset_mask_)};
  }

 private:
  // 0 to controllers_ - 1.
  unsigned Rotation(std::uint64_t row) const {
    return static_cast<unsigned>((Scatter(row) & 0xFFFF) * controllers_.by() >> 16);
  }

  Divisor controllers_;
  unsigned interleave_bits_;
  unsigned slice_bits_;
  unsigned slice_mask_;
  std::uint64_t offset_mask_;
};

// The map for memory.partition = "drawn": the slice of a line is drawn when the line is first
// touched, and stays. So lines are spread unevenly, as by chance: of 32 lines that a warp gathers
// from 16 slices, about five meet in one. The draws are those of the C library's rand() with its
// first seed, which is what Accel-Sim calls for it; they depend on the order of first touches only.
// A slice numbers its lines in that order, so that a stream has open rows.
class DrawnMap {
 public:
  explicit DrawnMap(const MemoryConfig& config);

  AddressMap::Place Locate(std::uint64_t address) {
    const std::uint64_t line = address / kLineBytes;
    const std::uint64_t number = line / kPageLines;
    if (number != page_number_ || page_ == nullptr) page_ = &Find(number);
    Entry& entry = (*page_)[line % kPageLines];
    if (entry.slice == kNowhere) Draw(&entry);
    return {entry.slice >> slice_bits_, entry.slice, LocalLine(entry) * kLineBytes};
  }

 private:
  static constexpr unsigned kPageLines = 512;
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};
  struct Entry {
    std::uint32_t slice = kNowhere;
    std::uint32_t number = 0;  // among the slice's lines
  };
  using Page = std::array<Entry, kPageLines>;

  Page& Find(std::uint64_t number);
  void Draw(Entry* entry);
  std::uint32_t Random();

  // Where an L2 slice looks for the bits that tell it from the others of its controller.
  std::uint64_t LocalLine(const Entry& entry) const {
    const std::uint64_t chunk = entry.number >> chunk_bits_;
    const unsigned own = entry.slice & ((1u << slice_bits_) - 1);
    return (chunk << slice_bits_ | own) << chunk_bits_ | (entry.number & ((1u << chunk_bits_) - 1));
  }

  const unsigned slice_bits_, chunk_bits_;
  std::vector<std::uint32_t> lines_;       // by slice: how many it has
  std::array<std::uint32_t, 31> state_{};  // of the generator
  unsigned next_ = 3;                      // its oldest word
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::uint64_t page_number_ = 0;
  Page* page_ = nullptr;  // of page_number_
};

}  // namespace smk
