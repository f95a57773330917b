// SPDX-License-Identifier: Apache-2.0
// Save files of GTKWave: what they say, and that they say nothing that is not in the waves.
#include "waves/gtkw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smk {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

WaveSignal Signal(const std::string& scope, const std::string& name, unsigned width = 1) {
  WaveSignal signal;
  signal.path = scope + "." + name;
  signal.scope = scope;
  signal.name = name;
  signal.width = width;
  if (width > 1) signal.range = "[" + std::to_string(width - 1) + ":0]";
  return signal;
}

WaveGroup Group(const std::string& name, std::vector<WaveLine> lines) {
  WaveGroup group;
  group.name = name;
  group.lines = std::move(lines);
  return group;
}

std::string Write(const std::vector<WaveGroup>& groups, const std::vector<WaveSignal>& signals) {
  WaveView view;
  view.groups = groups;
  return WriteGtkw(view, signals, "dut", "x.fst", {0, 950'000, std::nullopt}).text;
}

TEST(Gtkw, IsWhatGtkwaveReads) {
  WaveSignal state = Signal("dut", "state_q", 3);
  state.is_enum = true;
  WaveView view;
  view.groups = {Group("State", {{"state_q", "", WaveRadix::kAuto}}),
                 Group("Left", {{"left_q.kernel[*]", "kernel * left", WaveRadix::kDecimal}})};
  view.groups[0].color = WaveColor::kYellow;
  view.groups[1].open = false;
  const Gtkw gtkw =
      WriteGtkw(view,
                {Signal("dut", "rst_ni"), Signal("dut", "left_q.kernel[0]", 16),
                 Signal("dut", "left_q.kernel[1]", 16), state, Signal("dut", "clk_i")},
                "dut", "x.fst", {2000, 952'000, 5000});
  EXPECT_EQ(gtkw.text, R"([*]
[*] Written by smk: open with gtkwave x.fst and this file.
[*]
[dumpfile] "x.fst"
[timestart] 2000
[size] 1500 950
[pos] -1 -1
*-17.609640 5000 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1
[sst_width] 60
[signals_width] 440
[sst_expanded] 0
@800200
-Clock and reset
@28
+{clk_i} dut.clk_i
@28
+{rst_ni} dut.rst_ni
@1000200
-Clock and reset
@800200
-State
@100000028
[color] 3
+{state_q} dut.state_q[2:0]
@1000200
-State
@c00200
-Left
@24
+{kernel 0 left} dut.left_q.kernel[0][15:0]
@24
+{kernel 1 left} dut.left_q.kernel[1][15:0]
@1400200
-Left
)");
  EXPECT_EQ(gtkw.shown, 5u);
  EXPECT_THAT(gtkw.missing, ElementsAre());
}

TEST(Gtkw, WhatIsNotThereIsReportedAndNotWritten) {
  WaveView view;
  view.groups = {Group("Some", {{"here_q", "", WaveRadix::kAuto}, {"gone_q", "", {}}}),
                 Group("None", {{"gone_*", "", WaveRadix::kAuto}})};
  view.groups.push_back(Group("No such scope", {{"here_q", "", WaveRadix::kAuto}}));
  view.groups.back().scope = "u_gone";
  const Gtkw gtkw = WriteGtkw(view, {Signal("dut", "here_q")}, "dut", "x.fst", {});
  EXPECT_THAT(gtkw.missing, ElementsAre("dut.gone_q", "dut.gone_*", "dut.u_gone"));
  EXPECT_THAT(gtkw.text, HasSubstr("[*] not in the waves: dut.gone_q\n"));
  EXPECT_THAT(gtkw.text, HasSubstr("+{here_q} dut.here_q\n"));
  EXPECT_THAT(gtkw.text, Not(HasSubstr("-None"))) << "an empty group";
}

TEST(Gtkw, GroupStandsForEveryScopeInNumericOrder) {
  WaveGroup group = Group("SM *", {{"busy_q", "", WaveRadix::kAuto}});
  group.scope = "gen_sm[*].u_engine";
  const std::string text =
      Write({group}, {Signal("dut.gen_sm[10].u_engine", "busy_q"),
                      Signal("dut.gen_sm[2].u_engine", "busy_q"), Signal("dut.u_other", "busy_q")});
  EXPECT_THAT(text, HasSubstr("-SM 2\n@28\n+{busy_q} dut.gen_sm[2].u_engine.busy_q\n"));
  EXPECT_LT(text.find("-SM 2"), text.find("-SM 10"));
  EXPECT_THAT(text, Not(HasSubstr("u_other")));
}

TEST(Gtkw, StructStandsForItsMembersAndKeepsItsName) {
  const std::string text =
      Write({Group("Command",
                   {{"command_o", "", WaveRadix::kAuto}, {"command_o", "cmd", WaveRadix::kHex}})},
            {Signal("dut", "command_o.op", 3), Signal("dut", "command_other")});
  // A name with a dot would lose what stands before it.
  EXPECT_THAT(text, HasSubstr("+{command_o op} dut.command_o.op[2:0]\n"));
  EXPECT_THAT(text, HasSubstr("+{cmd op} dut.command_o.op[2:0]\n"));
  EXPECT_THAT(text, Not(HasSubstr("command_other")));
}

TEST(Gtkw, RestIsWhatNoLineBeforeHasShown) {
  WaveGroup rest = Group("Rest", {{"*_q", "", WaveRadix::kAuto}});
  rest.rest = true;
  const std::string text = Write({Group("First", {{"a_q", "", WaveRadix::kAuto}}), rest},
                                 {Signal("dut", "a_q"), Signal("dut", "b_q")});
  EXPECT_EQ(text.find("dut.a_q"), text.rfind("dut.a_q"));
  EXPECT_LT(text.find("-Rest"), text.find("dut.b_q"));
}

TEST(Gtkw, PortsOfATopAreThoseOfTheModuleBelowIt) {
  WaveSignal port = Signal("dut", "ready_i"), inner = port;
  inner.path = "dut.smk_block.ready_i";
  const std::string text =
      Write({Group("Ports", {{"ready_i", "", WaveRadix::kAuto}})}, {port, inner});
  EXPECT_THAT(text, HasSubstr("+{ready_i} dut.smk_block.ready_i\n"));
  EXPECT_THAT(text, Not(HasSubstr("dut.ready_i")));
}

TEST(Gtkw, ClockOfAnInnerBlockIsFound) {
  EXPECT_THAT(Write({}, {Signal("dut.u_driver", "clk_i")}),
              HasSubstr("+{clk_i} dut.u_driver.clk_i"));
}

}  // namespace
}  // namespace smk
