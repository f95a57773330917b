// SPDX-License-Identifier: Apache-2.0
// [Warped-Slicer] Table III, column "Even": TBs of each kernel in half of an SM's resources.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "config/machine_config.h"

namespace smk {
namespace {

// Threads, registers per thread and shared memory of the applications; registers are those that
// reproduce the utilisation of Table II.
struct Application {
  unsigned threads, registers, shared_memory;
};

const std::map<std::string, Application> kApplications{
    {"BLK", {128, 32, 0}}, {"BFS", {512, 16, 0}}, {"DXT", {64, 36, 2048}}, {"HOT", {256, 36, 3072}},
    {"IMG", {64, 28, 0}},  {"KNN", {256, 8, 0}},  {"LBM", {120, 36, 0}},   {"MM", {128, 44, 512}},
    {"MVP", {192, 16, 0}}, {"NN", {169, 20, 0}},
};

struct Pair {
  const char* first;
  const char* second;
  unsigned first_tbs, second_tbs;
};

constexpr Pair kTable3[] = {
    {"DXT", "MVP", 4, 4}, {"DXT", "NN", 4, 4},  {"HOT", "MVP", 1, 4}, {"HOT", "NN", 1, 4},
    {"IMG", "MVP", 4, 4}, {"IMG", "NN", 4, 4},  {"MM", "MVP", 2, 4},  {"MM", "NN", 2, 4},
    {"DXT", "BFS", 4, 1}, {"DXT", "BLK", 4, 4}, {"DXT", "KNN", 4, 3}, {"DXT", "LBM", 4, 3},
    {"HOT", "BFS", 1, 1}, {"HOT", "BLK", 1, 4}, {"HOT", "KNN", 1, 3}, {"HOT", "LBM", 1, 3},
    {"IMG", "BFS", 4, 1}, {"IMG", "BLK", 4, 4}, {"IMG", "KNN", 4, 3}, {"IMG", "LBM", 4, 3},
    {"MM", "BFS", 2, 1},  {"MM", "BLK", 2, 4},  {"MM", "KNN", 2, 3},  {"MM", "LBM", 2, 3},
    {"DXT", "IMG", 4, 4}, {"HOT", "DXT", 1, 4}, {"HOT", "IMG", 1, 4}, {"MM", "DXT", 2, 4},
    {"MM", "HOT", 2, 1},  {"MM", "IMG", 2, 4},
};

unsigned TbsInHalf(const std::string& name, const ResourceVector& limits) {
  const ResourceVector half{static_cast<std::uint16_t>(limits.registers / 2),
                            static_cast<std::uint16_t>(limits.shared_memory / 2),
                            static_cast<std::uint16_t>(limits.threads / 2),
                            static_cast<std::uint16_t>(limits.tbs / 2)};
  const Application& a = kApplications.at(name);
  return MaxTbs(TbNeed(a.threads, a.registers, a.shared_memory), half);
}

TEST(PaperEvenSplit, AllThirtyPairsOfTable3AreReproduced) {
  const MachineConfig fermi = MachineConfig::Load(SMK_SOURCE_DIR "/machines/fermi.toml");
  const ResourceVector& limits = fermi.sm.limits;
  ASSERT_EQ(limits, (ResourceVector{128, 192, 48, 8}));
  EXPECT_EQ(std::size(kTable3), 30u);
  for (const Pair& pair : kTable3) {
    EXPECT_EQ(TbsInHalf(pair.first, limits), pair.first_tbs) << pair.first << "+" << pair.second;
    EXPECT_EQ(TbsInHalf(pair.second, limits), pair.second_tbs) << pair.first << "+" << pair.second;
  }
}

}  // namespace
}  // namespace smk
