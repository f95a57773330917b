// SPDX-License-Identifier: Apache-2.0
// docs/workloads.md says what is true: its example works and its table has the numbers of the
// files.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "model/workload/rig.h"
#include "workload/program_summary.h"

namespace smk {
namespace {

std::string Manual() {
  std::ifstream in(SMK_SOURCE_DIR "/../docs/workloads.md");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(WorkloadManual, TheExampleIsAValidWorkload) {
  const std::string manual = Manual();
  const std::size_t begin = manual.find("```toml\n") + 8;
  ASSERT_GE(begin, 8u);
  const std::string example = manual.substr(begin, manual.find("```\n", begin) - begin);
  const auto workload = ParseWorkload(example, "example.toml");
  ASSERT_EQ(workload->kernels.size(), 2u);
  EXPECT_EQ(workload->launches.size(), 4u);
  const KernelSpec& sum = workload->kernels[1];
  for (unsigned warp = 0; warp < 8; ++warp) {
    const auto steps = Walk(sum, TestWarp(sum, 5, warp), true);
    EXPECT_EQ(CountOf(steps, OpClass::kBarrier), 16u);
  }
}

std::string GridText(const KernelSpec& kernel) {
  std::string text = std::to_string(kernel.grid_x);
  if (kernel.grid_y > 1 || kernel.grid_z > 1) text += " x " + std::to_string(kernel.grid_y);
  if (kernel.grid_z > 1) text += " x " + std::to_string(kernel.grid_z);
  return text;
}

TEST(WorkloadManual, TheTableHasTheNumbersOfTheFiles) {
  const std::string manual = Manual();
  const ResourceVector gtx980{256, 384, 64, 32}, fermi{128, 192, 48, 8};
  for (const WorkloadEntry& entry : ListWorkloads(SMK_SOURCE_DIR)) {
    if (entry.group == "micro") continue;
    const auto workload = LoadWorkload(entry.path);
    const bool on_fermi = entry.group == "warped_slicer" || entry.group == "kernelmerge";
    const ResourceVector& limits = on_fermi ? fermi : gtx980;
    for (std::size_t i = 0; i < workload->kernels.size(); ++i) {
      const KernelSpec& k = workload->kernels[i];
      const auto launches = std::count(workload->launches.begin(), workload->launches.end(), i);
      const char* const idempotent = k.idempotence == Idempotence::kYes  ? "yes"
                                     : k.idempotence == Idempotence::kNo ? "no"
                                                                         : "until store";
      std::ostringstream row;
      row << "| `" << entry.name << "` | `" << k.name << "` | " << workload->type << " | "
          << launches << " | " << GridText(k) << " | " << k.threads << " | "
          << k.registers_per_thread << " | " << k.shared_memory << " | " << MaxTbs(k.need, limits)
          << " | " << idempotent << " | " << std::llround(Summarise(k).warp_instructions) << " |\n";
      EXPECT_NE(manual.find(row.str()), std::string::npos) << "not in the manual: " << row.str();
    }
  }
}

}  // namespace
}  // namespace smk
