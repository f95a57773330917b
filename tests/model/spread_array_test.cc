// SPDX-License-Identifier: Apache-2.0
// Objects that are spread over the sets of the host's first cache.
#include "base/spread_array.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <set>
#include <stdexcept>
#include <vector>

namespace smk {
namespace {

template <std::size_t kBytes>
struct alignas(64) Object {
  std::array<std::byte, kBytes> bytes;
};

// In which of 64 sets of 64-byte lines a byte lies.
std::uintptr_t SetOf(const void* byte) { return reinterpret_cast<std::uintptr_t>(byte) / 64 % 64; }

template <std::size_t kBytes>
void IsSpread() {
  SpreadArray<Object<kBytes>> objects(64);
  std::set<std::uintptr_t> sets, first;
  for (unsigned i = 0; i < 64; ++i) {
    const auto& object = objects.Add();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&object) % 64, 0u);
    EXPECT_EQ(&object, &objects[i]);
    sets.insert(SetOf(&object));
    if (i == 0) continue;
    EXPECT_GE(reinterpret_cast<const std::byte*>(&object) -
                  reinterpret_cast<const std::byte*>(&objects[i - 1]),
              static_cast<std::ptrdiff_t>(kBytes))
        << "no two overlap";
  }
  EXPECT_EQ(sets.size(), 64u) << kBytes;
  // Of 16 objects, 18 lines each: no set has more than six.
  std::array<unsigned, 64> lines{};
  for (unsigned i = 0; i < 16; ++i) {
    for (unsigned line = 0; line < 18; ++line) ++lines[(SetOf(&objects[i]) + line) % 64];
  }
  EXPECT_LE(*std::max_element(lines.begin(), lines.end()), 6u) << kBytes;
}

TEST(SpreadArray, TheSameMemberOf64ObjectsIsIn64Sets) {
  IsSpread<64>();
  IsSpread<25 * 64>();
  IsSpread<26 * 64>();
  IsSpread<4032>();
  IsSpread<4096>();
  IsSpread<130000>();
}

struct Noted {
  Noted(int id, std::vector<int>* gone) : id(id), gone(gone) {
    if (id < 0) throw std::runtime_error("none");
  }
  ~Noted() { gone->push_back(id); }
  Noted(const Noted&) = delete;
  Noted& operator=(const Noted&) = delete;
  int id;
  std::vector<int>* gone;
};

TEST(SpreadArray, ObjectsEndOnceTheLastFirst) {
  std::vector<int> gone;
  {
    SpreadArray<Noted> objects(4);
    objects.Add(1, &gone);
    objects.Add(2, &gone);
    EXPECT_THROW(objects.Add(-1, &gone), std::runtime_error);
    objects.Add(3, &gone);
    EXPECT_EQ(objects.size(), 3u);
    std::vector<int> there;
    for (const Noted& object : objects) there.push_back(object.id);
    EXPECT_EQ(there, (std::vector<int>{1, 2, 3}));
    EXPECT_TRUE(gone.empty());
  }
  EXPECT_EQ(gone, (std::vector<int>{3, 2, 1}));
}

TEST(SpreadArray, HasRoomForNoMore) {
  SpreadArray<int> objects(1);
  objects.Add(7);
  EXPECT_THROW(objects.Add(8), std::bad_alloc);
  EXPECT_EQ(objects[0], 7);
}

}  // namespace
}  // namespace smk
