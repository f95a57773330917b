// SPDX-License-Identifier: Apache-2.0
// Workload files by name, and what is read from them besides programs.
#include <filesystem>
#include <fstream>

#include "model/workload/rig.h"

namespace smk {
namespace {

TEST(WorkloadFind, FindsByNameGroupAndPath) {
  const auto by_name = FindWorkload("sgemm", SMK_SOURCE_DIR);
  const auto by_group = FindWorkload("parboil/sgemm", SMK_SOURCE_DIR);
  const auto by_path = FindWorkload(by_name->source_file, "nowhere");
  EXPECT_EQ(by_name->name, "sgemm");
  EXPECT_EQ(by_group->content_hash, by_name->content_hash);
  EXPECT_EQ(by_path->content_hash, by_name->content_hash);
}

TEST(WorkloadFind, ListsEveryFileOnce) {
  std::vector<std::string> parboil;
  for (const WorkloadEntry& entry : ListWorkloads(SMK_SOURCE_DIR)) {
    if (entry.group == "parboil") parboil.push_back(entry.name);
  }
  EXPECT_EQ(parboil, (std::vector<std::string>{"cutcp", "histo", "lbm", "mri-g", "mri-q", "sad",
                                               "sgemm", "spmv", "stencil", "tpacf"}));
}

TEST(WorkloadFind, AsksWhenTwoFoldersHaveTheName) {
  namespace fs = std::filesystem;
  const fs::path root = fs::temp_directory_path() / "smk_workload_find_test";
  for (const char* group : {"one", "two"}) {
    fs::create_directories(root / "workloads" / group);
    std::ofstream(root / "workloads" / group / "same.toml") << TestFile{}.Text();
  }
  try {
    FindWorkload("same", root.string());
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "same: expected one of one/same and two/same");
  }
  EXPECT_EQ(FindWorkload("two/same", root.string())->name, "same");
  fs::remove_all(root);
}

TEST(WorkloadFind, ReadsMetadataAndResources) {
  TestFile file;
  file.registers = "registers = 21";
  file.shared_memory = "shared_memory = 257";
  file.threads = "threads = 120";
  const auto workload = file.Parse();
  EXPECT_EQ(workload->name, "test");
  EXPECT_EQ(workload->description, "test");
  EXPECT_EQ(workload->type, "memory");
  EXPECT_EQ(workload->source_file, "test.toml");
  const KernelSpec& kernel = workload->kernels[0];
  EXPECT_EQ(kernel.tb_count(), 64u);
  EXPECT_EQ(kernel.idempotence, Idempotence::kYes);
  EXPECT_EQ(kernel.need, TbNeed(120, 21, 257));
  EXPECT_EQ(kernel.need.registers, 12u) << "4 warps x 32 x 24 registers";
  EXPECT_EQ(kernel.need.shared_memory, 2u);
}

TEST(WorkloadFind, ExpandsLaunchesInOrder) {
  TestFile file;
  file.launches =
      "launches = [\"l\", { times = 2, kernels = [\"k\", \"l\", { times = 2, "
      "kernels = [\"k\"] }] }]";
  file.program =
      "alu a =\n'''\n[[kernel]]\nname = \"l\"\nthreads = 32\nregisters = 8\n"
      "shared_memory = 0\ngrid = [1]\nidempotence = \"no\"\nprogram_of = \"k\"\n#";
  const std::string text = file.Text();
  const auto workload = ParseWorkload(text.substr(0, text.rfind("'''")), "test.toml");
  EXPECT_EQ(workload->launches, (std::vector<std::uint16_t>{1, 0, 1, 0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(workload->kernels[1].program->parts().nodes.size(), 2u) << "program_of copies it";
}

TEST(WorkloadFind, HashesTheBytesOfTheFile) {
  EXPECT_EQ(ContentHash(""), "cbf29ce484222325");
  EXPECT_EQ(ContentHash("foobar"), "85944171f73967e8");
  TestFile file;
  const std::string before = file.Parse()->content_hash;
  EXPECT_EQ(file.Parse()->content_hash, before);
  file.program += " # comment";
  EXPECT_NE(file.Parse()->content_hash, before);
}

}  // namespace
}  // namespace smk
