// SPDX-License-Identifier: Apache-2.0
#include "machine/sm/l1_cache.h"

#include <algorithm>

namespace smk {

L1Cache::L1Cache(const CacheConfig& config, bool sectored)
    : ways_(config.ways),
      sets_(config.ways == 0 ? 0 : config.bytes / kLineBytes / config.ways),
      times_(sectored ? static_cast<std::size_t>(sets_) * ways_ : 0) {
  lines_.resize(static_cast<std::size_t>(sets_) * ways_);
  power_of_two_ = sets_ != 0 && (sets_ & (sets_ - 1)) == 0;
  while ((1u << shift_) < sets_) ++shift_;
}

std::size_t L1Cache::FirstOfSet(std::uint64_t tag) const {
  const std::uint64_t index =
      power_of_two_ ? (tag ^ (tag >> shift_) ^ (tag >> (2 * shift_))) & (sets_ - 1) : tag % sets_;
  return index * ways_;
}

// All ways are looked at: which one it is cannot be guessed.
L1Cache::Line* L1Cache::In(Line* set, std::uint64_t tag) const {
  unsigned found = ways_;
  for (unsigned way = 0; way < ways_; ++way) found = set[way].tag == tag ? way : found;
  return found == ways_ ? nullptr : &set[found];
}

L1Cache::Line* L1Cache::Find(std::uint64_t address) {
  if (sets_ == 0) return nullptr;
  const std::uint64_t tag = address / kLineBytes;
  Line* const found = In(Set(tag), tag);
  if (found != nullptr) found->used = ++clock_;
  return found;
}

Cycle L1Cache::PlaceAt(std::uint64_t address) const {
  const Line* const set = &lines_[FirstOfSet(address / kLineBytes)];
  std::uint32_t first = set[0].fill;
  for (unsigned way = 1; way < ways_; ++way) first = std::min(first, set[way].fill);
  return first;
}

void L1Cache::Allocate(std::uint64_t address, Cycle now, Cycle fill, SectorMask sectors) {
  if (sets_ == 0) return;
  const std::uint64_t tag = address / kLineBytes;
  Line* const set = Set(tag);
  // In flight or not, when it was used, and which it is.
  std::uint64_t victim = ~std::uint64_t{0};
  for (unsigned way = 0; way < ways_; ++way) {
    const std::uint64_t in_flight = set[way].fill > now ? 1 : 0;
    victim = std::min(victim, in_flight << 63 | std::uint64_t{set[way].used} << 8 | way);
  }
  if ((victim >> 63) != 0) return;
  Line& line = set[victim & 0xff];
  line = Line{tag, static_cast<std::uint32_t>(fill), ++clock_, 1, sectors};
  if (times_.exists()) times_.Set(Number(line), sectors, fill);
}

void L1Cache::Add(Line* line, SectorMask sectors, Cycle fill) {
  times_.Set(Number(*line), sectors, fill);
  line->sectors |= sectors;
  line->fill = std::max(line->fill, static_cast<std::uint32_t>(fill));
  line->merges = 1;
}

void L1Cache::Evict(std::uint64_t address, Cycle now) {
  if (sets_ == 0) return;
  const std::uint64_t tag = address / kLineBytes;
  Line* const found = In(Set(tag), tag);
  if (found != nullptr && found->fill <= now) *found = Line{};
}

void L1Cache::Flush(Cycle now) {
  for (Line& line : lines_) {
    if (line.fill <= now) line = Line{};
  }
}

}  // namespace smk
