// SPDX-License-Identifier: Apache-2.0
// A set of SMs: one bit per SM, in as many words as the widest machine needs.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "base/ids.h"

namespace smk {

// Of fixed size and without allocation, so that it can be a register of a twin. `for (unsigned sm :
// mask)` visits the SMs of the set in rising order; the loop works on a copy, so that the body may
// change the mask.
class SmMask {
 public:
  static constexpr unsigned kWordBits = 64;
  static constexpr unsigned kWords = (kMaxSms + kWordBits - 1) / kWordBits;

  using Words = std::array<std::uint64_t, kWords>;

  constexpr SmMask() = default;
  // Bit i of `low` is SM i, for i < 64.
  constexpr explicit SmMask(std::uint64_t low) : words_{low} {}
  static constexpr SmMask Of(unsigned sm) {
    SmMask mask;
    mask.Set(sm);
    return mask;
  }
  // SMs 0 to count - 1.
  static constexpr SmMask First(unsigned count) {
    SmMask mask;
    for (unsigned w = 0; w < kWords && count > w * kWordBits; ++w) {
      const unsigned bits = count - w * kWordBits;
      mask.words_[w] = bits >= kWordBits ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    }
    return mask;
  }

  constexpr bool Test(unsigned sm) const { return (words_[sm / kWordBits] & Bit(sm)) != 0; }
  constexpr void Set(unsigned sm) { words_[sm / kWordBits] |= Bit(sm); }
  constexpr void Clear(unsigned sm) { words_[sm / kWordBits] &= ~Bit(sm); }
  constexpr void Assign(unsigned sm, bool value) {
    std::uint64_t& word = words_[sm / kWordBits];
    word = (word & ~Bit(sm)) | std::uint64_t{value} << sm % kWordBits;
  }
  // SMs sm to sm + 7 of an empty part of the set, from the lowest bit of each byte of `eight`; sm
  // is a multiple of 8.
  constexpr void SetEight(unsigned sm, std::uint64_t eight) {
    words_[sm / kWordBits] |= eight * 0x0102'0408'1020'4080 >> 56 << sm % kWordBits;
  }
  // From SM `sm` on; all of `bits` must lie in the word of that SM.
  constexpr void SetSome(unsigned sm, std::uint64_t bits) {
    words_[sm / kWordBits] |= bits << sm % kWordBits;
  }
  constexpr bool Any() const {
    std::uint64_t any = 0;
    for (const std::uint64_t word : words_) any |= word;
    return any != 0;
  }
  constexpr bool None() const { return !Any(); }
  constexpr unsigned Count() const {
    unsigned count = 0;
    for (const std::uint64_t word : words_) {
      count += static_cast<unsigned>(__builtin_popcountll(word));
    }
    return count;
  }
  // The first SM of the set, which must not be empty.
  constexpr unsigned Lowest() const {
    unsigned w = 0;
    while (words_[w] == 0) ++w;
    return w * kWordBits + static_cast<unsigned>(__builtin_ctzll(words_[w]));
  }
  // SMs w * 64 to w * 64 + 63.
  constexpr std::uint64_t word(unsigned w) const { return words_[w]; }
  constexpr void set_word(unsigned w, std::uint64_t bits) { words_[w] = bits; }

  constexpr SmMask& operator&=(const SmMask& o) {
    for (unsigned w = 0; w < kWords; ++w) words_[w] &= o.words_[w];
    return *this;
  }
  constexpr SmMask& operator|=(const SmMask& o) {
    for (unsigned w = 0; w < kWords; ++w) words_[w] |= o.words_[w];
    return *this;
  }
  // The set without the SMs of `o`.
  constexpr SmMask& operator-=(const SmMask& o) {
    for (unsigned w = 0; w < kWords; ++w) words_[w] &= ~o.words_[w];
    return *this;
  }
  friend constexpr SmMask operator&(SmMask a, const SmMask& b) { return a &= b; }
  friend constexpr SmMask operator|(SmMask a, const SmMask& b) { return a |= b; }
  friend constexpr SmMask operator-(SmMask a, const SmMask& b) { return a -= b; }
  friend constexpr bool operator==(const SmMask& a, const SmMask& b) {
    std::uint64_t differ = 0;
    for (unsigned w = 0; w < kWords; ++w) differ |= a.words_[w] ^ b.words_[w];
    return differ == 0;
  }
  friend constexpr bool operator!=(const SmMask& a, const SmMask& b) { return !(a == b); }

  // What a range-based for loop needs.
  class Iterator {
   public:
    constexpr explicit Iterator(const Words& words) : left_(words[0]), words_(words) { Seek(); }
    constexpr unsigned operator*() const {
      return word_ * kWordBits + static_cast<unsigned>(__builtin_ctzll(left_));
    }
    constexpr void operator++() {
      left_ &= left_ - 1;
      Seek();
    }
    struct End {};
    constexpr bool operator!=(End) const { return left_ != 0; }

   private:
    constexpr void Seek() {
      while (left_ == 0 && ++word_ < kWords) left_ = words_[word_];
    }

    std::uint64_t left_;
    unsigned word_ = 0;
    Words words_;
  };
  constexpr Iterator begin() const { return Iterator(words_); }
  constexpr Iterator::End end() const { return {}; }

 private:
  static constexpr std::uint64_t Bit(unsigned sm) { return std::uint64_t{1} << sm % kWordBits; }

  Words words_{};
};

// The SMs of the first `sms` in whose byte bit `bit` is set: eight bytes at a time.
inline SmMask SmsWithBit(const std::array<std::uint8_t, kMaxSms>& bytes, unsigned bit,
                         unsigned sms) {
  SmMask mask;
  unsigned sm = 0;
  for (; sm + 8 <= sms; sm += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, bytes.data() + sm, sizeof(eight));
    mask.SetEight(sm, eight >> bit & 0x0101'0101'0101'0101);
  }
  for (; sm < sms; ++sm) mask.Assign(sm, (bytes[sm] >> bit & 1) != 0);
  return mask;
}

// The SMs of the first `sms` whose byte, below 128, is not 0.
inline SmMask SmsNotZero(const std::array<std::uint8_t, kMaxSms>& bytes, unsigned sms) {
  SmMask mask;
  unsigned sm = 0;
  for (; sm + 8 <= sms; sm += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, bytes.data() + sm, sizeof(eight));
    mask.SetEight(sm, (eight + 0x7f7f'7f7f'7f7f'7f7f) >> 7 & 0x0101'0101'0101'0101);
  }
  for (; sm < sms; ++sm) mask.Assign(sm, bytes[sm] != 0);
  return mask;
}

}  // namespace smk
