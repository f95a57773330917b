// SPDX-License-Identifier: Apache-2.0
#include "memory/calendar.h"

#include <algorithm>

namespace smk {

Calendar::Calendar(unsigned window, unsigned closed_period, unsigned closed)
    : words_(window / kWordSlots),
      mask_(window / kWordSlots - 1),
      closed_period_(closed_period),
      closed_(closed) {
  // All others are renewed when they are first asked for: their number is 0, too.
  Renew(words_[0], 0);
}

Calendar::Word& Calendar::Renew(Word& word, std::uint64_t number) {
  word.number = number;
  word.taken = Closed(number);
  return word;
}

// Bits of the slots that are always closed. A period is at least a word, so a word meets at most
// the closed ends of two periods.
std::uint64_t Calendar::Closed(std::uint64_t number) const {
  if (closed_ == 0) return 0;
  const std::uint64_t phase = number * kWordSlots % closed_period_;
  std::uint64_t bits = 0;
  for (unsigned period = 0; period < 2; ++period) {
    // The closed slots of this period, relative to the word.
    const auto end = static_cast<std::int64_t>((period + 1) * closed_period_ - phase);
    const auto begin = std::max<std::int64_t>(end - static_cast<std::int64_t>(closed_), 0);
    for (std::int64_t slot = begin; slot < std::min<std::int64_t>(end, kWordSlots); ++slot) {
      bits |= std::uint64_t{1} << slot;
    }
  }
  return bits;
}

// What Take() does when they are not the slots from `from` on, in one word.
[[gnu::noinline]] Calendar::Span Calendar::TakeLater(std::uint64_t from, unsigned count) {
  std::uint64_t number = from / kWordSlots;
  Word* word = &At(number);
  bool late = word == &past_;
  std::uint64_t free = ~word->taken & (~std::uint64_t{0} << (from % kWordSlots));
  if (free != 0) {
    // Mostly one run.
    const auto begin = static_cast<unsigned>(__builtin_ctzll(free));
    const std::uint64_t run = ~std::uint64_t{0} >> (kWordSlots - count);
    if ((free >> begin & run) == run) {
      word->taken |= run << begin;
      const std::uint64_t first = number * kWordSlots + begin;
      return Remember(from, first, first + count);
    }
  }
  std::uint64_t first = 0, last = 0;
  for (unsigned left = count; left != 0; --left) {
    while (free == 0) {
      word = &At(++number);
      late = late || word == &past_;
      free = ~word->taken;
    }
    const std::uint64_t bit = free & (~free + 1);
    last = number * kWordSlots + static_cast<unsigned>(__builtin_ctzll(free));
    if (left == count) first = last;
    word->taken |= bit;
    free ^= bit;
  }
  late_ += late;
  return Remember(from, first, last + 1);
}

void Calendar::Close(std::uint64_t from, std::uint64_t end) {
  if (from >= end) return;
  for (std::uint64_t at = from; at < end;) {
    const unsigned shift = at % kWordSlots;
    const unsigned count =
        static_cast<unsigned>(std::min<std::uint64_t>(end - at, kWordSlots - shift));
    At(at / kWordSlots).taken |= (~std::uint64_t{0} >> (kWordSlots - count)) << shift;
    at += count;
  }
  Remember(from, from, end);
}

Calendar::Span Calendar::TakeRun(std::uint64_t from, unsigned count) {
  if (from - full_begin_ < full_end_ - full_begin_) from = full_end_;
  const std::uint64_t run = ~std::uint64_t{0} >> (kWordSlots - count);
  std::uint64_t begin = from;
  bool late = false;
  while (true) {
    const unsigned shift = begin % kWordSlots;
    Word& low = At(begin / kWordSlots);
    late = late || &low == &past_;
    const bool two = shift + count > kWordSlots;
    std::uint64_t taken = low.taken >> shift;
    if (two) taken |= At(begin / kWordSlots + 1).taken << (kWordSlots - shift);
    taken &= run;
    if (taken != 0) {
      // No run can contain the last taken slot: go on behind it.
      begin += kWordSlots - static_cast<unsigned>(__builtin_clzll(taken));
      continue;
    }
    low.taken |= run << shift;
    if (two) At(begin / kWordSlots + 1).taken |= run >> (kWordSlots - shift);
    if (begin == from) Remember(from, begin, begin + count);
    late_ += late;
    return {begin, begin + count};
  }
}

}  // namespace smk
