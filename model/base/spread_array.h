// SPDX-License-Identifier: Apache-2.0
// Objects of one kind, spread over the sets of the host's first cache.
//
// Purpose     In every cycle the same members of all SMs are looked at, one SM after the other.
//             They stay in the host's first cache only if they are not in the same of its sets,
//             which hold 8 to 12 lines each. Members of two objects are in the same set if they lie
//             a multiple of 4 KiB apart, as do those of objects that are allocated one by one and
//             are larger than 128 KiB. Here the same member of 64 objects is in 64 sets.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace smk {

// See the head of this file. Objects stay where they are.
template <typename T>
class SpreadArray {
  static constexpr std::size_t kLine = 64, kSets = 64;  // of the host's first cache
  // Lines from one object to the next. 25 modulo 64 is odd, and what lies close together in an
  // object does not meet that of the next ones.
  static constexpr std::size_t kStep = 25;
  static constexpr std::size_t kLines = (sizeof(T) + kLine - 1) / kLine;
  static constexpr std::size_t kStride =
      (kLines + (kStep + kSets - kLines % kSets) % kSets) * kLine;
  static constexpr std::align_val_t kAlign{alignof(T) < kLine ? kLine : alignof(T)};
  static_assert(kStride >= sizeof(T) && kStride % alignof(T) == 0);

 public:
  // Room for so many objects.
  explicit SpreadArray(std::size_t capacity)
      : memory_(static_cast<std::byte*>(::operator new(capacity* kStride, kAlign))),
        capacity_(capacity) {}
  ~SpreadArray() {
    while (size_ != 0) std::destroy_at(&(*this)[--size_]);
    ::operator delete(memory_, kAlign);
  }
  SpreadArray(const SpreadArray&) = delete;
  SpreadArray& operator=(const SpreadArray&) = delete;

  // Makes the next object. There must be room for it.
  template <typename... Args>
  T& Add(Args&&... args) {
    if (size_ == capacity_) throw std::bad_alloc();
    T* const made = ::new (memory_ + size_ * kStride) T(std::forward<Args>(args)...);
    ++size_;
    return *made;
  }

  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return *At(memory_ + i * kStride); }
  const T& operator[](std::size_t i) const { return *At(memory_ + i * kStride); }

  template <typename Object>
  class Iterator {
   public:
    explicit Iterator(std::byte* at) : at_(at) {}
    Object& operator*() const { return *At(at_); }
    Iterator& operator++() {
      at_ += kStride;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    std::byte* at_;
  };
  Iterator<T> begin() { return Iterator<T>(memory_); }
  Iterator<T> end() { return Iterator<T>(memory_ + size_ * kStride); }
  Iterator<const T> begin() const { return Iterator<const T>(memory_); }
  Iterator<const T> end() const { return Iterator<const T>(memory_ + size_ * kStride); }

 private:
  static T* At(std::byte* at) { return std::launder(reinterpret_cast<T*>(at)); }

  std::byte* memory_;
  std::size_t capacity_, size_ = 0;
};

}  // namespace smk
