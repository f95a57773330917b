// SPDX-License-Identifier: Apache-2.0
#include "experiment/origins.h"

#include <gtest/gtest.h>

namespace smk::sim {
namespace {

std::string Said(const Origins& origins, const std::string& error) {
  try {
    origins.At([&]() -> int { throw InputError(error); });
  } catch (const InputError& placed) {
    return placed.what();
  }
  return "";
}

TEST(Origins, AnErrorSaysThePlaceInsteadOfTheOption) {
  Origins origins;
  origins.Add("--policy", "f:2: policy");
  origins.Add("--set sm.l1", "f:3: set.sm.l1");
  origins.AddName("client a", "f:4");
  EXPECT_EQ(Said(origins, "--policy: unknown"), "f:2: policy: unknown");
  EXPECT_EQ(Said(origins, "--policy x: unknown: y"), "f:2: policy x: unknown: y");
  EXPECT_EQ(Said(origins, "--set sm.l1=5: no"), "f:3: set.sm.l1=5: no");
  EXPECT_EQ(Said(origins, "client a: no"), "f:4: client a: no");
  for (const char* other : {"--policies: no", "--policy", "--set sm.l1.bytes: no", "client ab: no",
                            "client a b: no", "g:1: --policy: no", ""}) {
    EXPECT_EQ(Said(origins, other), other);
  }
  EXPECT_EQ(origins.At([] { return 7; }), 7);
}

TEST(Origins, WhatTheCommandLineSaysIsForgotten) {
  Origins origins, more;
  more.Add("--set a", "f:2: a");
  more.Add("--set a.b", "f:3: a.b");
  more.Add("--seed", "f:4: seed");
  origins.Add(more);
  origins.ForgetSets({"a=5", "c=6"});
  origins.ForgetIf(true, "--seed");
  origins.ForgetIf(false, "--set a.b");
  EXPECT_EQ(Said(origins, "--set a: no"), "--set a: no");
  EXPECT_EQ(Said(origins, "--set a.b: no"), "f:3: a.b: no");
  EXPECT_EQ(Said(origins, "--seed: no"), "--seed: no");
}

}  // namespace
}  // namespace smk::sim
