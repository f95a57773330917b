// SPDX-License-Identifier: Apache-2.0
// The tags of a set-associative cache, and the order in which the ways of a set were last used.
//
// Purpose     Finds a tag among the ways of a set without looking at each of them: a byte of every
//             tag lies in words of eight. Keeps the order of use as a list, so that the least
//             recently used way is known.
// Interface   Sets and ways are numbers. A tag is in a set at most once.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace smk {

// See the head of this file.
class CacheSets {
 public:
  static constexpr std::uint32_t kNoTag = ~std::uint32_t{0};
  static constexpr unsigned kNone = ~0u;  // no way

  // At first way 0 is the one that was used least recently, then way 1 and so on.
  CacheSets(unsigned sets, unsigned ways)
      : ways_(ways),
        places_((ways + 7) / 8 * 8),
        tags_(sets * places_, kNoTag),
        bytes_(sets * places_),
        links_(sets * ways),
        ends_(sets) {
    for (unsigned set = 0; set < sets; ++set) {
      for (unsigned way = 0; way < ways; ++way) {
        links_[set * ways + way] = {static_cast<std::uint16_t>(way + 1),
                                    static_cast<std::uint16_t>(way - 1)};
      }
      ends_[set] = {static_cast<std::uint16_t>(ways - 1), 0};
    }
  }

  // The way that has the tag, or kNone.
  unsigned Find(unsigned set, std::uint32_t tag) const {
    const std::uint64_t all = kEach * ByteOf(tag);
    const unsigned begin = set * places_, end = begin + places_;
    for (unsigned first = begin; first != end; first += 8) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, &bytes_[first], sizeof eight);
      const std::uint64_t other = eight ^ all;
      // The highest bit of each byte that is 0, and of some above one that is.
      std::uint64_t found = (other - kEach) & ~other & kEach << 7;
      for (; found != 0; found &= found - 1) {
        const unsigned place = first + static_cast<unsigned>(__builtin_ctzll(found)) / 8;
        if (tags_[place] == tag) return place - begin;
      }
    }
    return kNone;
  }
  void SetTag(unsigned set, unsigned way, std::uint32_t tag) {
    const unsigned place = set * places_ + way;
    tags_[place] = tag;
    bytes_[place] = static_cast<std::uint8_t>(ByteOf(tag));
  }

  // The way is now the one that was used last.
  [[gnu::always_inline]] void Use(unsigned set, unsigned way) {
    Ends& ends = ends_[set];
    if (way == ends.newest) return;
    Link* const links = &links_[set * ways_];
    const Link link = links[way];
    links[link.newer].older = link.older;
    if (way == ends.oldest) {
      ends.oldest = link.newer;
    } else {
      links[link.older].newer = link.newer;
    }
    links[ends.newest].newer = static_cast<std::uint16_t>(way);
    links[way].older = ends.newest;
    ends.newest = static_cast<std::uint16_t>(way);
  }
  unsigned Oldest(unsigned set) const { return ends_[set].oldest; }
  unsigned Newest(unsigned set) const { return ends_[set].newest; }
  // Of the ways of a set but the newest: the one that was used next.
  unsigned Newer(unsigned set, unsigned way) const { return links_[set * ways_ + way].newer; }

 private:
  static constexpr std::uint64_t kEach = 0x0101'0101'0101'0101;
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first byte is the lowest");
  struct Link {
    std::uint16_t newer, older;
  };
  struct Ends {
    std::uint16_t newest, oldest;
  };

  static std::uint64_t ByteOf(std::uint32_t tag) { return (tag * 0x9e3779b9u) >> 24; }

  unsigned ways_, places_;           // of a set: as many as its words of eight have
  std::vector<std::uint32_t> tags_;  // by set and place, which is a way or empty
  std::vector<std::uint8_t> bytes_;  // of the tags, likewise
  std::vector<Link> links_;          // by set and way
  std::vector<Ends> ends_;           // by set
};

}  // namespace smk
