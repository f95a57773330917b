// SPDX-License-Identifier: Apache-2.0
#include "workload/tb_lengths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/uneven_tbs.h"

namespace smk {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// 2 instructions a trip, and the exit.
TEST(TbLengths, AreThoseOfTheProgram) {
  EXPECT_THAT(TbLengths(UnevenTbs()->kernels[0]), ElementsAre(17, 17, 5, 5, 5, 5, 5, 5, 5, 5));
}

TEST(TbLengths, AreNotSaidOfTbsThatAreAlike) {
  KernelSpec none;
  EXPECT_THAT(TbLengths(none), IsEmpty()) << "no program";
  KernelSpec alike = UnevenTbs()->kernels[0];
  alike.program =
      ParseWorkload(
          "description = \"Alike\"\ntype = \"compute\"\nlaunches = [\"k\"]\n[[kernel]]\n"
          "name = \"k\"\nthreads = 32\nregisters = 8\nshared_memory = 0\ngrid = [10]\n"
          "idempotence = \"yes\"\nprogram = '''\nloop i 3 {\n  alu a =\n}\n'''\n",
          "alike.toml")
          ->kernels[0]
          .program;
  EXPECT_THAT(TbLengths(alike), IsEmpty());
}

}  // namespace
}  // namespace smk
