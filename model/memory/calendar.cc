// SPDX-License-Identifier: Apache-2.0
#include "memory/calendar.h"

#include <algorithm>

namespace smk {

Calendar::Calendar(unsigned window, unsigned closed_period, unsigned closed)
    : words_(window / kWordSlots),
      mask_(window / kWordSlots - 1),
      near_(window - kWordSlots),
      closed_period_(closed_period),
      closed_(closed),
      open_end_(NextClosed(0)),
      last_(words_.data()),
      last_end_(std::min<std::uint64_t>(kWordSlots, open_end_)) {
  // All others are renewed when they are first asked for: their number is 0, too.
  Renew(words_[0], 0);
}

// Bits of the slots that are always closed. A period is at least a word, so a word meets at most
// the closed ends of two periods.
[[gnu::noinline]] std::uint64_t Calendar::Closed(std::uint64_t number) const {
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

// The first always closed slot from `slot` on, which is open or the first of them.
std::uint64_t Calendar::NextClosed(std::uint64_t slot) const {
  if (closed_ == 0) return ~std::uint64_t{0};
  return slot - slot % closed_period_ + (closed_period_ - closed_);
}

// What Take() does for slots before full_begin_. Mostly the word of the first one has enough, and
// what is not written is in no word that matters.
[[gnu::noinline]] Calendar::Span Calendar::TakeAmong(std::uint64_t from, unsigned count) {
  const std::uint64_t number = from / kWordSlots;
  Word& word = words_[number & mask_];
  if (full_end_ - from >= near_ || word.number != number) return TakeAnywhere(from, count);
  const std::uint64_t free = ~word.taken & ~std::uint64_t{0} << from % kWordSlots;
  std::uint64_t last = free;  // and those behind it
  for (unsigned i = 1; i < count; ++i) last &= last - 1;
  if (last == 0) return TakeOfTwo(from, count);
  const std::uint64_t first = number * kWordSlots;
  const std::uint64_t end = first + static_cast<unsigned>(__builtin_ctzll(last)) + 1;
  if (end > full_begin_) return TakeAnywhere(from, count);
  word.taken |= free & (last ^ (last - 1));
  return {first + static_cast<unsigned>(__builtin_ctzll(free)), end};
}

// What TakeAmong() does when the word of the first slot has not enough. Mostly the next one has
// the others, or all.
[[gnu::noinline]] Calendar::Span Calendar::TakeOfTwo(std::uint64_t from, unsigned count) {
  const std::uint64_t number = from / kWordSlots;
  Word& low = words_[number & mask_];
  Word& high = words_[(number + 1) & mask_];
  if (high.number != number + 1) return TakeAnywhere(from, count);
  const std::uint64_t low_free = ~low.taken & ~std::uint64_t{0} << from % kWordSlots;
  const std::uint64_t high_free = ~high.taken;
  unsigned left = count;
  for (std::uint64_t free = low_free; free != 0; free &= free - 1) --left;
  std::uint64_t last = high_free;  // and those behind it
  for (; left > 1; --left) last &= last - 1;
  if (last == 0) return TakeAnywhere(from, count);
  const std::uint64_t first = (number + 1) * kWordSlots;
  const std::uint64_t end = first + static_cast<unsigned>(__builtin_ctzll(last)) + 1;
  if (end > full_begin_) return TakeAnywhere(from, count);
  low.taken |= low_free;
  high.taken |= high_free & (last ^ (last - 1));
  if (low_free != 0) {
    return {first - kWordSlots + static_cast<unsigned>(__builtin_ctzll(low_free)), end};
  }
  return {first + static_cast<unsigned>(__builtin_ctzll(high_free)), end};
}

// What Take() does in all other cases.
[[gnu::noinline]] Calendar::Span Calendar::TakeAnywhere(std::uint64_t from, unsigned count) {
  from = Look(from);
  std::uint64_t number = from / kWordSlots;
  Word* word = &At(number);
  bool late = word == &past_;
  std::uint64_t free = ~word->taken & (~std::uint64_t{0} << (from % kWordSlots));
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
  Keep(from, last + 1);
  return {first, last + 1};
}

// What TakeRun() does for slots before full_begin_, as TakeAmong().
[[gnu::noinline]] Calendar::Span Calendar::TakeRunAmong(std::uint64_t from, unsigned count) {
  const std::uint64_t number = from / kWordSlots;
  Word& word = words_[number & mask_];
  if (full_end_ - from >= near_ || word.number != number) return TakeRunAnywhere(from, count);
  const std::uint64_t run = ~std::uint64_t{0} >> (kWordSlots - count);
  unsigned begin = from % kWordSlots;
  while (begin + count <= kWordSlots) {
    const std::uint64_t taken = word.taken >> begin & run;
    if (taken == 0) {
      const std::uint64_t first = number * kWordSlots + begin;
      if (first + count > full_begin_) break;
      word.taken |= run << begin;
      return {first, first + count};
    }
    // No run can contain the last taken slot: go on behind it.
    begin += kWordSlots - static_cast<unsigned>(__builtin_clzll(taken));
  }
  return TakeRunAnywhere(from, count);
}

// What TakeRun() does in all other cases.
[[gnu::noinline]] Calendar::Span Calendar::TakeRunAnywhere(std::uint64_t from, unsigned count) {
  const std::uint64_t run = ~std::uint64_t{0} >> (kWordSlots - count);
  std::uint64_t begin = Look(from);
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
      begin += kWordSlots - static_cast<unsigned>(__builtin_clzll(taken));
      continue;
    }
    low.taken |= run << shift;
    if (two) At(begin / kWordSlots + 1).taken |= run >> (kWordSlots - shift);
    late_ += late;
    Keep(begin, begin + count);
    return {begin, begin + count};
  }
}

void Calendar::Close(std::uint64_t from, std::uint64_t end) {
  if (from >= end || (from >= full_begin_ && end <= full_end_)) return;
  Write();
  Fill(from, end);
  Keep(from, end);
}

// Writes the slots from written_ on into the words, mostly into one.
inline void Calendar::Write() {
  if (full_end_ < last_end_) {
    last_->taken |= Bits(written_, full_end_);
  } else {
    Fill(written_, full_end_);
  }
  written_ = full_end_;
}

// What TakeBehind() does when it takes slots in another word than last_. Mostly what is to be
// written is in that one; then nothing is called, so that no register is saved.
[[gnu::noinline]] void Calendar::WriteBefore(std::uint64_t next) {
  if (full_end_ >= last_end_ || closed_ != 0) return WriteAnyBefore(next);
  last_->taken |= Bits(written_, full_end_);
  const std::uint64_t number = next / kWordSlots;
  Word& word = words_[number & mask_];
  if (word.number != number) word = {0, number};
  last_ = &word;
  last_end_ = (number + 1) * kWordSlots;
}

// The same in all other cases.
[[gnu::noinline]] void Calendar::WriteAnyBefore(std::uint64_t next) {
  Write();
  const std::uint64_t number = next / kWordSlots;
  last_ = &At(number);
  last_end_ = std::min((number + 1) * kWordSlots, open_end_);
}

// Where to search for free slots from `from` on; afterwards the words have all that is taken.
inline std::uint64_t Calendar::Look(std::uint64_t from) {
  Write();
  return from >= full_begin_ && from < full_end_ ? full_end_ : from;
}

// All slots from `from` to `end` are taken now, in the words: keep the interval that reaches
// further.
inline void Calendar::Keep(std::uint64_t from, std::uint64_t end) {
  if (end <= full_end_) return;
  if (from != full_end_) full_begin_ = from;
  full_end_ = written_ = end;
  if (end > open_end_) open_end_ = NextClosed(end);
}

// Writes into the words that these slots are taken.
[[gnu::noinline]] void Calendar::Fill(std::uint64_t from, std::uint64_t end) {
  while (from < end) {
    const unsigned shift = from % kWordSlots;
    const unsigned count =
        static_cast<unsigned>(std::min<std::uint64_t>(end - from, kWordSlots - shift));
    At(from / kWordSlots).taken |= (~std::uint64_t{0} >> (kWordSlots - count)) << shift;
    from += count;
  }
}

}  // namespace smk
