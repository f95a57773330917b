// SPDX-License-Identifier: Apache-2.0
// Wires before layout: what may be asked for, and the library that comes of it.
#include "synth/wires.h"

#include <gmock/gmock.h>

#include "sim/refusal.h"
#include "synth/flow.h"

namespace smk::sim {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kLibrary[] = R"(library (cells) {
  capacitive_load_unit (1,pf);
  wire_load("5K") { capacitance : 0.1; resistance : 0; slope : 5; fanout_length(1, 1.2); }
  default_wire_load : "5K" ;
  cell (BUF_X1) { area : 1; }
}
)";

WireModel PerSink(double ff) { return {WireModel::Kind::kPerSink, ff}; }

TEST(SynthWires, LibraryNoneOrFemtofaradsPerSink) {
  EXPECT_EQ(WireModel::Parse("--wires", "library").kind, WireModel::Kind::kLibrary);
  EXPECT_EQ(WireModel::Parse("--wires", "none").kind, WireModel::Kind::kNone);
  const WireModel model = WireModel::Parse("--wires", "0.75");
  EXPECT_EQ(model.kind, WireModel::Kind::kPerSink);
  EXPECT_EQ(model.ff, 0.75);
}

TEST(SynthWires, WhatElseIsRefused) {
  for (const char* text : {"", "much", "-1", "1.5fF", "100.5", "nan", "1e400"}) {
    EXPECT_EQ(
        Refusal([&] { WireModel::Parse("--wires", text); }),
        std::string("--wires ") + text + ": expected library, none, or fF per sink from 0 to 100");
  }
}

TEST(SynthWires, TheLibrarysOwnStayAsTheyAre) {
  EXPECT_EQ(WithWires("x.lib", kLibrary, {}), kLibrary);
  EXPECT_EQ(DefaultWires(kLibrary), "5K");
}

TEST(SynthWires, NoneTakesTheDefaultAway) {
  const std::string text = WithWires("x.lib", kLibrary, {WireModel::Kind::kNone, 0});
  EXPECT_EQ(DefaultWires(text), "");
  EXPECT_THAT(text, HasSubstr("BUF_X1"));
}

TEST(SynthWires, PerSinkIsInTheLibrarysUnit) {
  const std::string text = WithWires("x.lib", kLibrary, PerSink(1.5));
  EXPECT_EQ(DefaultWires(text), "smk_per_sink");
  EXPECT_THAT(text, HasSubstr("capacitance : 0.0015;")) << "pF";
  EXPECT_THAT(text, Not(HasSubstr("default_wire_load : \"5K\"")));
  EXPECT_LT(text.find("capacitive_load_unit"), text.find("smk_per_sink")) << "units come first";
}

TEST(SynthWires, AUnitThatIsNotKnownIsRefused) {
  EXPECT_EQ(Refusal([] {
              WithWires("x.lib", "library (x) { capacitive_load_unit (1,nf); }", PerSink(1));
            }),
            "x.lib: capacitive_load_unit in 'nf': expected ff or pf");
  EXPECT_EQ(Refusal([] { WithWires("x.lib", "library (x) { }", PerSink(1)); }),
            "x.lib: expected capacitive_load_unit (NUMBER, ff|pf)");
}

TEST(SynthWires, SlowPinsAreCounted) {
  EXPECT_EQ(ParseViolations(""), 0u);
  EXPECT_EQ(ParseViolations("max_transition\n\nPin _1_/A ^\nmax_transition 0.05\n"
                            "transition_time 0.13\n-----\nSlack -0.08 (VIOLATED)\n\n"
                            "Pin _2_/Y v\nSlack -0.01 (VIOLATED)\n"),
            2u);
}

}  // namespace
}  // namespace smk::sim
