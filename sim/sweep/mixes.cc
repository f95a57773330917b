// SPDX-License-Identifier: Apache-2.0
#include "sweep/mixes.h"

#include <algorithm>
#include <set>

namespace smk::sim {
namespace {

using Mix = std::vector<std::size_t>;

// SplitMix64: a few lines that give the same numbers everywhere, which std::shuffle does not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t Below(std::uint64_t bound) {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) % bound;
  }

 private:
  std::uint64_t state_;
};

std::string GroupOf(const std::vector<MixKernel>& kernels, const Mix& mix) {
  std::string letters;
  for (const std::size_t kernel : mix) letters += kernels[kernel].letter;
  return MixGroup(letters);
}

}  // namespace

std::optional<MixName> ParseMixName(std::string_view text) {
  constexpr std::string_view kSizes[] = {"singles", "pairs", "triples", "quadruples"};
  for (const bool random : {false, true}) {
    const std::string_view prefix = random ? "random-" : "all-";
    if (text.substr(0, prefix.size()) != prefix) continue;
    const auto size = std::find(std::begin(kSizes), std::end(kSizes), text.substr(prefix.size()));
    if (size == std::end(kSizes)) return std::nullopt;
    return MixName{random, static_cast<unsigned>(size - std::begin(kSizes) + 1)};
  }
  return std::nullopt;
}

std::vector<Mix> AllMixes(std::size_t kernels, unsigned size) {
  std::vector<Mix> mixes;
  Mix mix;
  for (std::size_t i = 0; i < size; ++i) mix.push_back(i);
  while (size <= kernels) {
    mixes.push_back(mix);
    // The last place that can still move on; all after it follow directly.
    std::size_t place = size;
    while (place > 0 && mix[place - 1] == kernels - size + place - 1) --place;
    if (place == 0) break;
    ++mix[place - 1];
    for (std::size_t i = place; i < size; ++i) mix[i] = mix[i - 1] + 1;
  }
  return mixes;
}

std::vector<Mix> RandomMixes(const std::vector<MixKernel>& kernels, unsigned size,
                             std::size_t count, std::uint64_t seed) {
  std::vector<Mix> mixes = AllMixes(kernels.size(), size);
  Random random(seed);
  for (std::size_t i = mixes.size(); i > 1; --i) std::swap(mixes[i - 1], mixes[random.Below(i)]);
  // The first of each group goes before all others.
  std::set<std::string> seen;
  std::vector<Mix> firsts, others;
  for (Mix& mix : mixes) {
    (seen.insert(GroupOf(kernels, mix)).second ? firsts : others).push_back(std::move(mix));
  }
  mixes = std::move(firsts);
  mixes.insert(mixes.end(), others.begin(), others.end());
  if (mixes.size() > count) mixes.resize(count);
  std::sort(mixes.begin(), mixes.end());
  return mixes;
}

std::string MixGroup(std::string letters) {
  std::sort(letters.begin(), letters.end());
  std::string group;
  for (const char letter : letters) {
    if (!group.empty()) group += '+';
    group += letter;
  }
  return group;
}

}  // namespace smk::sim
