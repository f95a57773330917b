// SPDX-License-Identifier: Apache-2.0
// Sets of workloads by name: all-pairs, random-triples and the like.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smk::sim {

// A kernel that mixes are made of; kernels of one letter are of one type.
struct MixKernel {
  std::string name;
  char letter = '?';  // C compute, M memory
};

// What a name such as "random-triples" asks for.
struct MixName {
  bool random = false;
  unsigned size = 0;
};

// all-singles, all-pairs, all-triples, all-quadruples and the same with random-.
std::optional<MixName> ParseMixName(std::string_view text);

// Every set of `size` kernels, in the order of the list; the kernels of a set too.
std::vector<std::vector<std::size_t>> AllMixes(std::size_t kernels, unsigned size);

// `count` different ones of them, chosen by `seed`. When there is room, each mix of types is among
// them at least once, as in [SMK] Sec. 6.6. The same on every machine; in the order of AllMixes.
std::vector<std::vector<std::size_t>> RandomMixes(const std::vector<MixKernel>& kernels,
                                                  unsigned size, std::size_t count,
                                                  std::uint64_t seed);

// "C+M" of the letters of some kernels, in alphabetical order.
std::string MixGroup(std::string letters);

}  // namespace smk::sim
