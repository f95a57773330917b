// SPDX-License-Identifier: Apache-2.0
#include "experiment/kernel_names.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace smk::sim {
namespace {

using testing::ElementsAre;

TEST(KernelNames, APlusSignOfANameIsWrittenTwice) {
  EXPECT_THAT(SplitKernels("sgemm"), ElementsAre("sgemm"));
  EXPECT_THAT(SplitKernels("sgemm+lbm+sgemm"), ElementsAre("sgemm", "lbm", "sgemm"));
  EXPECT_THAT(SplitKernels("trace:a++b+lbm"), ElementsAre("trace:a+b", "lbm"));
  EXPECT_THAT(SplitKernels("a+++b"), ElementsAre("a+", "b"));
  EXPECT_THAT(SplitKernels("c++++.toml"), ElementsAre("c++.toml"));
}

TEST(KernelNames, JoinedNamesAreTakenApartAgain) {
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{"a"}, {"a", "b"}, {"a+b"}, {"a+", "b"}, {"a++b", "c+"}}) {
    EXPECT_EQ(SplitKernels(JoinKernels(names)), names);
  }
  EXPECT_EQ(JoinKernels({"trace:a+b", "lbm"}), "trace:a++b+lbm");
}

TEST(KernelNames, NoneIsEmpty) {
  for (const char* text : {"", "+", "a+", "+a", "a+b+"}) {
    EXPECT_THROW(SplitKernels(text), InputError) << text;
  }
}

}  // namespace
}  // namespace smk::sim
