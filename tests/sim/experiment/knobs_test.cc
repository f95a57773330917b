// SPDX-License-Identifier: Apache-2.0
// Every knob of the list reaches what reads the list.
#include "experiment/knobs.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "experiment/settings.h"
#include "sim/other_value.h"

namespace smk::sim {
namespace {

TEST(Knobs, EachIsSetPrintedAndNamedOnce) {
  std::set<std::string> paths;
  for (const Knob& knob : Knobs()) {
    EXPECT_TRUE(paths.insert(knob.path).second) << knob.path;
    EXPECT_NE(knob.meaning, "") << knob.path;
    EXPECT_NE(knob.section(), knob.name());
    if (!knob.store) continue;
    const std::string value = OtherValue(knob);
    Configuration set;
    Apply(ParseSettings({knob.path + "=" + value}, {}).knobs, &set);
    EXPECT_EQ(knob.print(set), value) << knob.path;
    for (const Knob& other : Knobs()) {
      if (&other == &knob) continue;
      EXPECT_EQ(other.print(set), other.print(Configuration{})) << knob.path;
    }
  }
}

TEST(Knobs, TakeTheirBoundsAndNothingBeyond) {
  for (const Knob* knob : SettableKnobs()) {
    Configuration set;
    EXPECT_THROW(knob->store("x", "", &set), InputError) << knob->path;
    EXPECT_THROW(knob->store("x", "maybe", &set), InputError) << knob->path;
    if (knob->expected.rfind("up to ", 0) == 0) {  // a share for each kernel slot
      EXPECT_THROW(knob->store("x", "1025", &set), InputError) << knob->path;
      EXPECT_THROW(knob->store("x", "1,", &set), InputError) << knob->path;
      EXPECT_THROW(knob->store("x", "1,1,1,1,1,1,1,1,1", &set), InputError) << knob->path;
      continue;
    }
    const std::size_t at = knob->expected.find(" to ");
    if (at == std::string::npos) continue;
    const std::uint64_t min = std::stoull(knob->expected);
    const std::uint64_t max = std::stoull(knob->expected.substr(at + 4));
    for (const std::uint64_t value : {min, max}) {
      knob->store("x", std::to_string(value), &set);
      EXPECT_EQ(knob->print(set), std::to_string(value)) << knob->path;
    }
    EXPECT_THROW(knob->store("x", std::to_string(max + 1), &set), InputError) << knob->path;
    if (min == 0) continue;
    EXPECT_THROW(knob->store("x", std::to_string(min - 1), &set), InputError) << knob->path;
  }
}

TEST(Knobs, WhatAPolicyChoosesIsNotSet) {
  for (const Knob& knob : Knobs()) {
    if (knob.store) continue;
    EXPECT_THROW(ParseSettings({knob.path + "=1"}, {}), InputError) << knob.path;
  }
}

TEST(Knobs, LastSettingHolds) {
  Configuration set;
  Apply(ParseSettings({"policy.epoch_length=500", "policy.epoch_length=700"}, {}).knobs, &set);
  EXPECT_EQ(set.policy.epoch_length, 700);
}

// Databases name their runs by a hash of this text.
TEST(Knobs, TextOfAnIdStaysAsItIs) {
  const Configuration usual;
  EXPECT_EQ(IdText(usual, "policy"),
            "partitioned switch gto quota false kernels_per_sm 4 epoch 10000 linger 2 latency 1 "
            "table 0,0,0,0");
  EXPECT_EQ(IdText(usual, "control"), "512");
  EXPECT_EQ(IdText(usual, "run"), "ideal_preemption false");
  EXPECT_EQ(IdOfChanges(usual), "");
}

}  // namespace
}  // namespace smk::sim
