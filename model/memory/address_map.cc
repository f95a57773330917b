// SPDX-License-Identifier: Apache-2.0
#include "memory/address_map.h"

namespace smk {

std::uint64_t TagEnd(const MemoryConfig& config) {
  const std::uint64_t sets = config.l2.bytes / config.l2.ways / kLineBytes;
  const std::uint64_t tags = (std::uint64_t{1} << 32) - 1;
  return tags * sets * config.l2_slices_per_controller * config.controllers * kLineBytes;
}

AddressMap::AddressMap(const MemoryConfig& config)
    : controllers_(config.controllers),
      interleave_bits_(static_cast<unsigned>(__builtin_ctz(config.interleave_bytes))),
      slice_bits_(static_cast<unsigned>(__builtin_ctz(config.l2_slices_per_controller))),
      slice_mask_(config.l2_slices_per_controller - 1),
      offset_mask_(config.interleave_bytes - 1) {}

DrawnMap::DrawnMap(const MemoryConfig& config)
    : slice_bits_(static_cast<unsigned>(__builtin_ctz(config.l2_slices_per_controller))),
      chunk_bits_(static_cast<unsigned>(__builtin_ctz(config.interleave_bytes / kLineBytes))),
      lines_(config.controllers * config.l2_slices_per_controller) {
  // Seed 1: a sequence of Park and Miller's fills the state, then 310 draws are thrown away.
  std::uint64_t word = 1;
  for (std::uint32_t& value : state_) {
    value = static_cast<std::uint32_t>(word);
    word = word * 16807 % 2147483647;
  }
  for (unsigned i = 0; i < 310; ++i) Random();
}

// The additive feedback generator x^31 + x^3 + 1 of the C library.
std::uint32_t DrawnMap::Random() {
  std::uint32_t& oldest = state_[next_];
  next_ = (next_ + 1) % state_.size();
  oldest += state_[(next_ + 27) % state_.size()];
  return oldest >> 1;
}

DrawnMap::Page& DrawnMap::Find(std::uint64_t number) {
  std::unique_ptr<Page>& page = pages_[number];
  if (page == nullptr) page = std::make_unique<Page>();
  page_number_ = number;
  return *page;
}

void DrawnMap::Draw(Entry* entry) {
  entry->slice = Random() % static_cast<std::uint32_t>(lines_.size());
  entry->number = lines_[entry->slice]++;
}

}  // namespace smk
