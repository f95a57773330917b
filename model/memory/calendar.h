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
// Speed       Most requests want slots behind all reservations, or among the last ones. Where the
//             last run of taken slots begins and ends tells what they get. Its bits are written
//             when a gap follows it, or when a request has to search. Mostly the run and what
//             comes behind the gap are in one word, which is known.
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
  Calendar(const Calendar&) = delete;  // it would write into the words of the original
  Calendar& operator=(const Calendar&) = delete;

  // Takes the first `count` free slots at or after `from`; they need not be adjacent. count is 1
  // to 64.
  [[gnu::always_inline]] Span Take(std::uint64_t from, unsigned count) {
    Span span;
    return TakeBehind(from, count, &span) ? span : TakeAmong(from, count);
  }

  // Takes whatever is free of [from, end).
  void Close(std::uint64_t from, std::uint64_t end);

  // Takes the first `count` adjacent free slots at or after `from`. count is 1 to 64.
  [[gnu::always_inline]] Span TakeRun(std::uint64_t from, unsigned count) {
    Span span;
    return TakeBehind(from, count, &span) ? span : TakeRunAmong(from, count);
  }

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
  Word& Renew(Word& word, std::uint64_t number) {
    word = {closed_ == 0 ? 0 : Closed(number), number};
    return word;
  }
  std::uint64_t Closed(std::uint64_t number) const;
  std::uint64_t NextClosed(std::uint64_t slot) const;

  // Takes slots behind all that are taken: these are free, so no word is looked at. False when the
  // request may get earlier ones, or when some of these are always closed.
  [[gnu::always_inline]] bool TakeBehind(std::uint64_t from, unsigned count, Span* span) {
    if (from > full_end_) {
      if (from + count <= last_end_) {
        last_->taken |= Bits(written_, full_end_);
      } else if (from + count <= open_end_) {
        WriteBefore(from);
      } else {
        return false;
      }
      full_begin_ = written_ = from;
      full_end_ = from + count;
      *span = {from, full_end_};
    } else {
      const std::uint64_t begin = full_end_;
      if (from < full_begin_ || begin + count > open_end_) return false;
      full_end_ = begin + count;
      *span = {begin, full_end_};
    }
    return true;
  }
  Span TakeAmong(std::uint64_t from, unsigned count);
  Span TakeOfTwo(std::uint64_t from, unsigned count);
  Span TakeAnywhere(std::uint64_t from, unsigned count);
  Span TakeRunAmong(std::uint64_t from, unsigned count);
  Span TakeRunAnywhere(std::uint64_t from, unsigned count);

  // Of a word: the slots from `from` to `end`, which are both in it.
  static std::uint64_t Bits(std::uint64_t from, std::uint64_t end) {
    constexpr std::uint64_t kAll = ~std::uint64_t{0};
    return (kAll << from % kWordSlots) ^ (kAll << end % kWordSlots);
  }
  void Write();
  void WriteBefore(std::uint64_t next);
  void WriteAnyBefore(std::uint64_t next);
  std::uint64_t Look(std::uint64_t from);
  void Fill(std::uint64_t from, std::uint64_t end);
  void Keep(std::uint64_t from, std::uint64_t end);

  std::vector<Word> words_;
  std::uint64_t mask_;
  std::uint64_t near_;  // slots less apart are in one word, or in two at different places
  std::uint64_t closed_period_, closed_;
  // All slots from full_begin_ to full_end_ are taken, and none behind them. Those from written_
  // on, which is not before full_begin_, are not yet in the words. None of them is before last_.
  std::uint64_t full_begin_ = 0, full_end_ = 0, written_ = 0;
  std::uint64_t open_end_;  // no slot from full_end_ to here is always closed
  Word* last_;              // where the last gap ended that was left by TakeBehind()
  std::uint64_t last_end_;  // its end, or open_end_ if that comes first
  Word past_{~std::uint64_t{0}, 0};
  std::uint64_t late_ = 0;
};

}  // namespace smk
