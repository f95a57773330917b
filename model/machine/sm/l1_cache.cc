// SPDX-License-Identifier: Apache-2.0
#include "machine/sm/l1_cache.h"

namespace smk {

L1Cache::L1Cache(const CacheConfig& config)
    : ways_(config.ways), sets_(config.ways == 0 ? 0 : config.bytes / kLineBytes / config.ways) {
  lines_.resize(static_cast<std::size_t>(sets_) * ways_);
  power_of_two_ = sets_ != 0 && (sets_ & (sets_ - 1)) == 0;
  while ((1u << shift_) < sets_) ++shift_;
}

L1Cache::Line* L1Cache::Set(std::uint64_t tag) {
  const std::uint64_t index =
      power_of_two_ ? (tag ^ (tag >> shift_) ^ (tag >> (2 * shift_))) & (sets_ - 1) : tag % sets_;
  return &lines_[index * ways_];
}

L1Cache::Line* L1Cache::Find(std::uint64_t address) {
  if (sets_ == 0) return nullptr;
  const std::uint64_t tag = address / kLineBytes;
  Line* set = Set(tag);
  for (unsigned way = 0; way < ways_; ++way) {
    if (set[way].tag == tag) {
      set[way].used = ++clock_;
      return &set[way];
    }
  }
  return nullptr;
}

void L1Cache::Allocate(std::uint64_t address, Cycle now, Cycle fill, SectorMask sectors) {
  if (sets_ == 0) return;
  const std::uint64_t tag = address / kLineBytes;
  Line* set = Set(tag);
  Line* victim = nullptr;
  for (unsigned way = 0; way < ways_; ++way) {
    if (set[way].fill > now) continue;
    if (victim == nullptr || set[way].used < victim->used) victim = &set[way];
  }
  if (victim == nullptr) return;
  *victim = Line{tag, static_cast<std::uint32_t>(fill), ++clock_, 1, sectors};
}

void L1Cache::Evict(std::uint64_t address, Cycle now) {
  if (sets_ == 0) return;
  const std::uint64_t tag = address / kLineBytes;
  Line* set = Set(tag);
  for (unsigned way = 0; way < ways_; ++way) {
    if (set[way].tag == tag && set[way].fill <= now) set[way] = Line{};
  }
}

}  // namespace smk
