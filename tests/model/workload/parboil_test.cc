// SPDX-License-Identifier: Apache-2.0
// The Parboil programs execute what the published kernels execute, within 10 %.
//
// The numbers are ours: static counts of the PTX of the kernels' sources (abduld/Parboil,
// CUDA 11.8), weighted with branch probabilities measured on the data sets (matthiasdiener/parboil)
// or on replicas of them. Counts are warp instructions; `fixed` is what a warp executes outside of
// its main loop.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "model/workload/rig.h"
#include "workload/program_summary.h"

namespace smk {
namespace {

// One iteration of the main loop, by class.
struct Mix {
  double alu = 0, imul = 0, sfu = 0, load_shared = 0, store_shared = 0, atomic_shared = 0,
         load_const = 0, load_global = 0, texture = 0, store_global = 0, atomic_global = 0,
         barrier = 0, branch = 0;

  std::array<double, kNumOpClasses> ByClass() const {
    return {alu,          imul,          sfu,        0,           load_shared,
            store_shared, atomic_shared, load_const, load_global, texture,
            store_global, atomic_global, barrier,    branch,      0};
  }
};

struct ProgramReference {
  const char* workload;
  const char* kernel;
  double iterations;  // per warp
  double fixed;
  Mix mix;
};

const ProgramReference kReferences[] = {
    {"cutcp",
     "cuda_cutoff_potential_lattice6overlap",
     1481,
     5323,
     {19.68 + 6.52 + 3.34, 0, 1.84, 4, 0, 0, 0, 0, 0, 0, 0, 0, 5.5}},
    {"lbm",
     "performStreamCollide_kernel",
     1,
     0,
     {117 + 60 + 29 + 1, 2, 3, 0, 0, 0, 2, 20, 0, 19, 0, 0, 2}},
    {"sgemm",
     "mysgemmNT",
     992,
     132,
     {16 + 3.5, 0.75, 0, 16, 0.125, 0, 0, 1.125, 0, 0, 0, 0.25, 0.63}},
    {"spmv", "spmv_jds", 24.8, 74, {1 + 9, 2, 0, 0, 0, 0, 1, 3, 0, 0, 0, 0, 1}},
    {"stencil", "block2D_reg_tiling", 62, 83, {6 + 2 + 13, 4, 0, 0, 0, 0, 0, 5, 0, 1, 0, 0, 1}},
    {"histo", "histo_prescan_kernel", 8, 147, {1.5 + 3.5 + 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}},
    {"histo",
     "histo_intermediates_kernel",
     16,
     10,
     {19.9 + 10.1, 8.2, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 1}},
    {"histo", "histo_final_kernel", 10.5, 376.5, {9 + 8, 2, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 1}},
    {"mri-q", "ComputeQ_GPU", 512, 54, {8 + 4 + 6, 1, 4, 0, 0, 0, 8, 0, 0, 0, 0, 0, 1}},
    {"sad", "mb_sad_calc", 6, 161, {278 + 106, 0, 0, 0, 3, 0, 0, 0, 24, 0, 0, 0, 1}},
    {"sad", "larger_sad_calc_8", 17.03, 94, {12, 0, 0, 0, 0, 0, 0, 4, 0, 5, 0, 0, 1}},
    {"sad", "larger_sad_calc_16", 17.03, 62, {13, 0, 0, 0, 0, 0, 0, 4, 0, 5, 0, 0, 1}},
    {"mri-g", "binning_kernel", 1, 0, {19 + 4, 5, 0, 0, 0, 0, 9, 4, 0, 2, 1, 0, 4}},
    {"mri-g", "splitSort", 4, 140, {300, 9, 0, 40, 26, 0, 0, 0, 0, 0, 0, 22, 40}},
    {"mri-g",
     "gridding_GPU",
     312,
     7385,
     {30.928 + 3.944 + 20.736, 0, 1.472, 6, 0, 0, 0, 0, 0, 0, 0, 0, 6}},
};

const KernelSpec& KernelOf(std::string_view workload, std::string_view name) {
  static std::map<std::string, std::shared_ptr<const Workload>> loaded;
  const std::string path = "parboil/" + std::string(workload);
  auto& file = loaded[path];
  if (file == nullptr) file = FindWorkload(path, SMK_SOURCE_DIR);
  for (const KernelSpec& kernel : file->kernels) {
    if (kernel.name == name) return kernel;
  }
  throw InputError(path + " has no kernel " + std::string(name));
}

TEST(WorkloadParboil, WarpInstructionsMatch) {
  for (const ProgramReference& r : kReferences) {
    const ProgramSummary summary = Summarise(KernelOf(r.workload, r.kernel));
    double per_iteration = 0;
    for (const double count : r.mix.ByClass()) per_iteration += count;
    const double expected = r.iterations * per_iteration + r.fixed;
    EXPECT_NEAR(summary.warp_instructions, expected, 0.1 * expected) << r.kernel;
  }
}

// A class may be off by 10 % and by what the fixed part, whose classes are not known, can add.
TEST(WorkloadParboil, InstructionClassesMatch) {
  for (const ProgramReference& r : kReferences) {
    const ProgramSummary summary = Summarise(KernelOf(r.workload, r.kernel));
    const auto mix = r.mix.ByClass();
    double fixed_left = 1.1 * r.fixed + 2;
    for (unsigned c = 0; c < kNumOpClasses; ++c) {
      const double loop = r.iterations * mix[c];
      EXPECT_GE(summary.by_class[c], 0.9 * loop) << r.kernel << " " << kOpClassNames[c];
      fixed_left -= std::max(0.0, summary.by_class[c] - 1.1 * loop);
    }
    EXPECT_GE(fixed_left, 0) << r.kernel << ": more than the loops and the fixed part";
  }
}

// tpacf and histo's main kernel differ between TBs: counts of single TBs.
double InstructionsOf(const KernelSpec& kernel, unsigned tb) {
  double sum = 0;
  const unsigned warps = (kernel.threads + 31) / 32;
  for (unsigned warp = 0; warp < warps; ++warp) {
    sum += static_cast<double>(Walk(kernel, TestWarp(kernel, tb, warp)).size());
  }
  return sum / warps;
}

TEST(WorkloadParboil, HistoMainWorksInTwoRowsOnly) {
  const KernelSpec& kernel = KernelOf("histo", "histo_main_kernel");
  const double hot = 96.3 * 24 + 198;   // 2509 per warp, TB rows 2 and 3
  const double cold = 96.3 * 12 + 198;  // the other rows; row 0: 16 instructions per trip
  EXPECT_NEAR(InstructionsOf(kernel, 2 * 14), hot, 0.1 * hot);
  EXPECT_NEAR(InstructionsOf(kernel, 3 * 14 + 13), hot, 0.1 * hot);
  EXPECT_NEAR(InstructionsOf(kernel, 1 * 14), cold, 0.1 * cold);
  EXPECT_NEAR(InstructionsOf(kernel, 5), 96.3 * 16 + 198, 0.1 * cold);
}

TEST(WorkloadParboil, TpacfIteratesOverAllPairs) {
  const ProgramSummary summary = Summarise(KernelOf("tpacf", "gen_hists"));
  // 101 TBs with 213016 pairs per thread and 100 with 426031; 93 instructions each.
  const double pairs = (101 * 213016.0 + 100 * 426031.0) / 201;
  EXPECT_NEAR(summary.warp_instructions, 93 * pairs, 0.1 * 93 * pairs);
  const Mix mix{9 + 1 + 56, 8, 0, 3, 0, 1, 7, 0, 0, 0, 0, 0, 8};
  const auto by_class = mix.ByClass();
  for (unsigned c = 0; c < kNumOpClasses; ++c) {
    if (by_class[c] == 0) continue;
    // Half of the warps of a self comparison have nothing to count.
    const double share = c == static_cast<unsigned>(OpClass::kAtomicShared) ? 0.83 : 1;
    EXPECT_NEAR(summary.by_class[c], share * by_class[c] * pairs, 0.1 * by_class[c] * pairs)
        << kOpClassNames[c];
  }
}

// Mean lines of the accesses to an array by one kind of instruction.
double LinesOf(const char* workload, const char* kernel, OpClass op, const std::string& array) {
  double lines = 0;
  double executions = 0;
  for (const AccessSummary& access : Summarise(KernelOf(workload, kernel)).accesses) {
    if (access.op != op || access.array != array) continue;
    lines += access.lines * access.executions;
    executions += access.executions;
  }
  return lines / executions;
}

TEST(WorkloadParboil, LinesPerAccessMatch) {
  const char* const cutcp = "cuda_cutoff_potential_lattice6overlap";
  EXPECT_DOUBLE_EQ(LinesOf("cutcp", cutcp, OpClass::kLoadGlobal, "bins"), 2);
  EXPECT_DOUBLE_EQ(LinesOf("cutcp", cutcp, OpClass::kStoreGlobal, "lattice"), 2);
  EXPECT_DOUBLE_EQ(LinesOf("lbm", "performStreamCollide_kernel", OpClass::kLoadGlobal, "src"), 1);
  EXPECT_NEAR(19 * LinesOf("lbm", "performStreamCollide_kernel", OpClass::kStoreGlobal, "dst"), 29,
              0.1 * 29);
  EXPECT_DOUBLE_EQ(LinesOf("sgemm", "mysgemmNT", OpClass::kLoadGlobal, "a"), 1);
  EXPECT_DOUBLE_EQ(LinesOf("sgemm", "mysgemmNT", OpClass::kLoadGlobal, "b"), 2);
  EXPECT_DOUBLE_EQ(LinesOf("spmv", "spmv_jds", OpClass::kLoadGlobal, "index"), 1);
  EXPECT_NEAR(LinesOf("spmv", "spmv_jds", OpClass::kLoadGlobal, "x"), 3.5, 0.1);
  EXPECT_NEAR(LinesOf("spmv", "spmv_jds", OpClass::kStoreGlobal, "y"), 3.3, 0.1);
  EXPECT_NEAR(LinesOf("stencil", "block2D_reg_tiling", OpClass::kLoadGlobal, "a0"), 7.0 / 5, 0.05);
  EXPECT_NEAR(LinesOf("tpacf", "gen_hists", OpClass::kLoadGlobal, "px"), 2, 0.2);
  EXPECT_NEAR(LinesOf("sad", "mb_sad_calc", OpClass::kTexture, "reference"), 12.3, 0.2);
  EXPECT_NEAR(LinesOf("mri-g", "binning_kernel", OpClass::kLoadGlobal, "samples"), 6.5, 0.65);
  EXPECT_DOUBLE_EQ(LinesOf("mri-g", "splitSort", OpClass::kLoadGlobal, "keys"), 4);
  EXPECT_DOUBLE_EQ(LinesOf("mri-g", "gridding_GPU", OpClass::kLoadGlobal, "bins"), 1);
}

// The papers' simulator executes PTX in order: what follows a load mostly uses it.
TEST(WorkloadParboil, LoadsAreUsedAsInPtx) {
  const auto distance = [](const char* workload, const char* kernel) {
    return Summarise(KernelOf(workload, kernel)).load_use_distance;
  };
  EXPECT_NEAR(distance("sgemm", "mysgemmNT"), 1.0, 0.1);
  EXPECT_NEAR(distance("stencil", "block2D_reg_tiling"), 1.0, 0.5);
  EXPECT_NEAR(distance("spmv", "spmv_jds"), 4.0, 1.0);
  EXPECT_NEAR(distance("sad", "mb_sad_calc"), 1.0, 0.1);
  EXPECT_NEAR(distance("mri-g", "binning_kernel"), 1.0, 0.1);
  EXPECT_GT(distance("lbm", "performStreamCollide_kernel"), 20) << "20 loads in flight";
}

TEST(WorkloadParboil, LaunchesFollowTheProgramsOrder) {
  const auto names = [](const char* workload) {
    const auto file = FindWorkload(workload, SMK_SOURCE_DIR);
    std::vector<std::string> list;
    for (const std::uint16_t launch : file->launches) list.push_back(file->kernels[launch].name);
    return list;
  };
  const auto histo = names("histo");
  ASSERT_EQ(histo.size(), 40000u);
  EXPECT_EQ(std::vector<std::string>(histo.begin() + 4, histo.begin() + 8),
            (std::vector<std::string>{"histo_prescan_kernel", "histo_intermediates_kernel",
                                      "histo_main_kernel", "histo_final_kernel"}));
  const auto mri_g = names("mri-g");
  ASSERT_EQ(mri_g.size(), 25u);
  EXPECT_EQ(mri_g[0], "binning_kernel");
  EXPECT_EQ(mri_g[1], "splitSort");
  EXPECT_EQ(mri_g[21], "splitRearrange");
  EXPECT_EQ(mri_g[22], "reorder_kernel");
  EXPECT_EQ(mri_g[24], "gridding_GPU");
  EXPECT_EQ(names("sad"),
            (std::vector<std::string>{"mb_sad_calc", "larger_sad_calc_8", "larger_sad_calc_16"}));
}

TEST(WorkloadParboil, GridsAreThoseOfTheLargeDataSets) {
  const std::map<std::string, std::pair<std::string, unsigned>> tbs{
      {"cuda_cutoff_potential_lattice6overlap", {"cutcp", 676}},
      {"performStreamCollide_kernel", {"lbm", 18000}},
      {"mysgemmNT", {"sgemm", 528}},
      {"spmv_jds", {"spmv", 765}},
      {"block2D_reg_tiling", {"stencil", 256}},
      {"gen_hists", {"tpacf", 201}},
      {"histo_main_kernel", {"histo", 84}},
      {"ComputeQ_GPU", {"mri-q", 1024}},
      {"mb_sad_calc", {"sad", 128640}},
      {"gridding_GPU", {"mri-g", 65536}},
  };
  for (const auto& [kernel, where] : tbs) {
    EXPECT_EQ(KernelOf(where.first, kernel).tb_count(), where.second) << kernel;
  }
}

// The texels that one warp of mb_sad_calc fetches, fetch by fetch, written as Parboil's source is:
// the loops over positions, rows and columns of one thread. By fetch, the lines of the reference
// frame, which is bound to tiles of 16 x 4 texels of 2 bytes.
std::vector<std::set<std::uint64_t>> SadFetches(int block_x, int block_y, unsigned warp) {
  constexpr int kWidth = 1920, kHeight = 1072;
  constexpr int kSearchRange = 16, kSearchDimension = 33, kPositionsPerThread = 18;
  constexpr int kPositions = kSearchDimension * kSearchDimension;
  constexpr unsigned kThreads = 61;  // ceil(1089 / 18)
  std::vector<std::set<std::uint64_t>> fetches(6 * 4 * 6);
  for (unsigned thread = warp * 32; thread < std::min(kThreads, warp * 32 + 32); ++thread) {
    const int reference_x = block_x * 4 - kSearchRange;
    const int reference_y = block_y * 4 - kSearchRange;
    const int begin = static_cast<int>(thread) * kPositionsPerThread;
    const int end = std::min(begin + kPositionsPerThread, kPositions);
    std::size_t fetch = 0;
    for (int position = begin; position < end; position += 3) {
      const int x = reference_x + position % kSearchDimension;
      const int y = reference_y + position / kSearchDimension;
      for (int row = 0; row < 4; ++row) {
        for (int column = 0; column < 6; ++column) {
          const auto u = static_cast<std::uint64_t>(std::clamp(x + column, 0, kWidth - 1));
          const auto v = static_cast<std::uint64_t>(std::clamp(y + row, 0, kHeight - 1));
          fetches[fetch++].insert(v / 4 * (kWidth / 16) + u / 16);
        }
      }
    }
  }
  return fetches;
}

TEST(WorkloadParboil, SadFetchesTheTexelsOfItsSource) {
  const KernelSpec& kernel = KernelOf("sad", "mb_sad_calc");
  constexpr std::uint64_t kReference = 4'116'480;  // behind the current frame
  // Corners and edges, where coordinates are clamped, and blocks inside.
  for (const auto& [x, y] : {std::pair(0, 0), std::pair(479, 267), std::pair(0, 100),
                             std::pair(241, 0), std::pair(123, 45), std::pair(122, 46)}) {
    for (unsigned warp = 0; warp < 2; ++warp) {
      const WarpIdentity id = TestWarp(kernel, static_cast<unsigned>(y * 480 + x), warp);
      std::vector<std::set<std::uint64_t>> fetches;
      for (const WalkedStep& step : Walk(kernel, id, true)) {
        if (step.op != OpClass::kTexture) continue;
        std::set<std::uint64_t>& lines = fetches.emplace_back();
        for (const std::uint64_t line : step.lines) lines.insert((line - kReference) / kLineBytes);
        EXPECT_EQ(lines.size(), step.lines.size()) << "a line is asked for once";
      }
      EXPECT_EQ(fetches, SadFetches(x, y, warp)) << "block " << x << ", " << y << ", warp " << warp;
    }
  }
}

// Inside the frame: 12.3 lines per fetch, against 20.6 if rows were linear.
TEST(WorkloadParboil, SadFetchesTwelveLines) {
  std::size_t lines = 0, fetches = 0;
  for (int block = 0; block < 64; ++block) {
    for (unsigned warp = 0; warp < 2; ++warp) {
      for (const auto& fetch : SadFetches(100 + block % 16, 100 + block / 16, warp)) {
        lines += fetch.size();
        ++fetches;
      }
    }
  }
  EXPECT_NEAR(static_cast<double>(lines) / static_cast<double>(fetches), 12.29, 0.01);
}

}  // namespace
}  // namespace smk
