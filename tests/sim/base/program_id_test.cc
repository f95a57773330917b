// SPDX-License-Identifier: Apache-2.0
#include "base/program_id.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "base/files.h"
#include "base/sha256.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {

TEST(ProgramId, IsThatOfTheLinker) {
  const std::string id = ProgramId();
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos) << id;
  EXPECT_GE(id.size(), 32u);
  // readelf says the same of this very program.
  FILE* const pipe = popen("readelf -n \"/proc/$PPID/exe\"", "r");
  ASSERT_NE(pipe, nullptr);
  std::string notes;
  char part[256];
  while (std::fgets(part, sizeof(part), pipe) != nullptr) notes += part;
  ASSERT_EQ(pclose(pipe), 0);
  EXPECT_NE(notes.find("Build ID: " + id + "\n"), std::string::npos) << notes;
}

using ProgramHashes = ScratchTest;

TEST_F(ProgramHashes, AreKeptAsLongAsTheProgramIsTheSame) {
  const std::string hash = HashFile("/proc/self/exe");
  EXPECT_EQ(ProgramHash(""), hash);
  const std::string cache = Path("cache");
  EXPECT_EQ(ProgramHash(cache), hash);
  const std::string path = cache + "/program-" + ProgramId() + ".txt";
  const std::string kept = ReadFile(path);
  ASSERT_EQ(kept.substr(kept.size() - 65), hash + "\n");

  // What is there is taken.
  const std::string other(64, 'a');
  WriteFileAtomically(path, kept.substr(0, kept.size() - 65) + other + "\n");
  EXPECT_EQ(ProgramHash(cache), other);
  // But not of another program, nor half of it.
  for (const std::string& wrong : {"1" + kept, kept.substr(0, kept.size() - 2), std::string()}) {
    WriteFileAtomically(path, wrong);
    EXPECT_EQ(ProgramHash(cache), hash) << wrong;
    EXPECT_EQ(ReadFile(path), kept);
  }
  // A folder that cannot be is no error.
  EXPECT_EQ(ProgramHash(path + "/below"), hash);
}

}  // namespace
}  // namespace smk::sim
