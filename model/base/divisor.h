// SPDX-License-Identifier: Apache-2.0
// Division by a number that is known once and used often.
#pragma once

#include <cstdint>

namespace smk {

// Divides by a multiplication. Exact for values below 2^64 / by - 1; the Up() of `unsigned` for
// both below 2^15. `by` is at least 1.
class Divisor {
 public:
  explicit Divisor(unsigned by)
      : by_(by),
        reciprocal_(~std::uint64_t{0} / by),
        short_reciprocal_((std::uint64_t{1} << 32) / by + 1) {}

  unsigned by() const { return by_; }
  std::uint64_t Down(std::uint64_t value) const { return Before(value + 1); }
  std::uint64_t Up(std::uint64_t value) const { return Before(value + by_); }
  unsigned Up(unsigned value) const {
    return static_cast<unsigned>((value + (by_ - 1)) * short_reciprocal_ >> 32);
  }

 private:
  // The quotient of the value before this one.
  std::uint64_t Before(std::uint64_t value) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(static_cast<Wide>(value) * reciprocal_ >> 64);
  }

  unsigned by_;
  std::uint64_t reciprocal_;        // below 2^64 / by, by one at most
  std::uint64_t short_reciprocal_;  // above 2^32 / by, by one at most
};

// Of a power of two.
inline unsigned Log2(unsigned power_of_two) {
  return static_cast<unsigned>(__builtin_ctz(power_of_two));
}

}  // namespace smk
