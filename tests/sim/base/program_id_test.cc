// SPDX-License-Identifier: Apache-2.0
#include "base/program_id.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

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

}  // namespace
}  // namespace smk::sim
