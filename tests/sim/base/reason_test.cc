// SPDX-License-Identifier: Apache-2.0
#include "base/reason.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <new>

#include "base/error.h"

namespace smk::sim {
namespace {

using std::filesystem::filesystem_error;

TEST(Reason, IsInWordsForPeople) {
  EXPECT_EQ(Reason(InputError("a: b")), "a: b");
  EXPECT_EQ(Reason(std::bad_alloc()), "not enough memory");
  EXPECT_EQ(Reason(filesystem_error("cannot do it", "in/f",
                                    std::make_error_code(std::errc::not_a_directory))),
            "in/f: Not a directory");
}

TEST(Reason, AFullDiskIsNoWrongPath) {
  const auto wrong = [](std::errc code) {
    return IsWrongPath(filesystem_error("", "f", std::make_error_code(code)));
  };
  EXPECT_TRUE(wrong(std::errc::too_many_symbolic_link_levels));
  EXPECT_TRUE(wrong(std::errc::filename_too_long));
  EXPECT_FALSE(wrong(std::errc::no_space_on_device));
  EXPECT_FALSE(wrong(std::errc::io_error));
  EXPECT_FALSE(IsWrongPath(InputError("f")));
}

}  // namespace
}  // namespace smk::sim
