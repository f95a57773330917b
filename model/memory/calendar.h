// SPDX-License-Identifier: Apache-2.0
// Reservations of one resource in time, out of order.
//
// Purpose     Time is cut into slots; a slot is free or taken. A request takes the first free slots
//             at or after the time it wants, so one that is served late by a full or slow part does
//             not keep away those that come after it and could be served before it.
// Holds       A slot is given to one request only: the resource is never used beyond its capacity.
// Window      The calendar remembers `window` slots in a ring, in words of 64. A reservation takes
//             over the word of the slots one window earlier, and what was free of these counts as
//             taken from then on. With a backlog below the window these slots have passed. With a
//             longer one they are still to come, and nobody gets them: a request that wants one
//             waits for a slot that is at most a window before the furthest reservation. It loses
//             that time, and the resource the slots. late() counts such requests.
#pragma once

#include <cstdint>
#include <vector>

namespace smk {

// See the head of this file.
class Calendar {
 public:
  // What a reservation got: its first slot and the one after its last.
  struct Span {
    std::uint64_t begin = 0, end = 0;
  };

  // `window` in slots: a power of two, at least 128. Of every `closed_period` slots the last
  // `closed` can never be taken (0: always open; otherwise a period is at least 64 slots).
  explicit Calendar(unsigned window, unsigned closed_period = 0, unsigned closed = 0);

  // Takes the first `count` free slots at or after `from`; they need not be adjacent. count is 1
  // to 64.
  [[gnu::always_inline]] Span Take(std::uint64_t from, unsigned count) {
    if (from - full_begin_ < full_end_ - full_begin_) from = full_end_;
    Word& word = words_[from / kWordSlots & mask_];
    const unsigned shift = from % kWordSlots, room = kWordSlots - count;
    const std::uint64_t run = ~std::uint64_t{0} >> room;
    const bool free = word.number == from / kWordSlots && (word.taken >> shift & run) == 0;
    if (__builtin_expect(!free || shift > room, 0)) return TakeLater(from, count);
    word.taken |= run << shift;
    return Remember(from, from, from + count);
  }

  // Takes whatever is free of [from, end).
  void Close(std::uint64_t from, std::uint64_t end);

  // Takes the first `count` adjacent free slots at or after `from`. count is 1 to 64.
  Span TakeRun(std::uint64_t from, unsigned count);

  // Requests that wanted a slot further before the furthest reservation than the window.
  std::uint64_t late() const { return late_; }

 private:
  static constexpr unsigned kWordSlots = 64;
  struct Word {
    std::uint64_t taken = 0;   // a bit per slot
    std::uint64_t number = 0;  // slot / 64 of the first bit
  };

  // The word of slots [64 * number, 64 * number + 64). One that has left the window is full.
  Word& At(std::uint64_t number) {
    Word& word = words_[number & mask_];
    if (word.number == number) return word;
    return word.number < number ? Renew(word, number) : past_;
  }
  Word& Renew(Word& word, std::uint64_t number);
  std::uint64_t Closed(std::uint64_t number) const;
  Span TakeLater(std::uint64_t from, unsigned count);

  // Everything from `from` to `end` is taken now: keep the interval if it reaches further.
  Span Remember(std::uint64_t from, std::uint64_t begin, std::uint64_t end) {
    if (from != full_end_) full_begin_ = end > full_end_ ? from : full_begin_;
    full_end_ = end > full_end_ ? end : full_end_;
    return {begin, end};
  }

  std::vector<Word> words_;
  std::uint64_t mask_;
  std::uint64_t closed_period_, closed_;
  std::uint64_t full_begin_ = 0, full_end_ = 0;  // all slots in here are taken
  Word past_{~std::uint64_t{0}, 0};
  std::uint64_t late_ = 0;
};

}  // namespace smk
