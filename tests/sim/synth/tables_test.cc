// SPDX-License-Identifier: Apache-2.0
// What is made of a synthesis: areas, paths, the tables, and the comparison with an earlier one.
#include "synth/tables.h"

#include <gmock/gmock.h>

#include "sim/refusal.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

SynthArea Area(std::uint64_t cells, std::uint64_t flip_flops, std::uint64_t sram, double um2) {
  SynthArea area;
  area.cells = cells;
  area.flip_flops = flip_flops;
  area.sram_bits = sram;
  area.um2 = um2;
  return area;
}

SynthPath Path(double slack) {
  SynthPath path;
  path.exists = true;
  path.start = "left_q[1]";
  path.end = "grant_o";
  path.depth = 3;
  path.arrival_ns = 1 - slack;
  path.slack_ns = slack;
  return path;
}

SynthResult Block(const std::string& name, bool per_sm, const SynthArea& own) {
  SynthResult result;
  result.block.name = name;
  result.block.per_sm = per_sm;
  result.inputs = "hash of " + name;
  result.own = result.total = own;
  return result;
}

// Two SMs at 1 GHz; an SM has two quota schedulers.
SynthSummary Chip() {
  SynthSummary summary;
  summary.target.config.name = "small";
  summary.target.config.sms = 2;
  summary.target.config.kernels = 4;
  summary.target.liberty.name = "lib";
  summary.target.liberty.hash = "abc";
  summary.target.liberty.nand2_area = 2;
  summary.target.mhz = 1000;
  SynthResult scheduler = Block("quota_scheduler", true, Area(10, 4, 0, 50));
  scheduler.registers["left_q"] = 8;
  scheduler.block.counters = {"left_q"};
  scheduler.worst = Path(0.25);
  SynthResult sm = Block("sm_control", true, Area(5, 2, 96, 30));
  sm.instances["quota_scheduler"] = 2;
  sm.total.Add(2, scheduler.total);
  SynthResult driver = Block("driver", false, Area(100, 20, 0, 700));
  driver.registers["count_q"] = 16;
  driver.block.counters = {"count_q"};
  driver.worst = Path(-0.25);
  driver.between_registers = Path(0.5);
  summary.results = {scheduler, sm, driver};
  return summary;
}

TEST(SynthNumbers, AreasAddUpInEveryPart) {
  SynthArea area = Area(1, 2, 3, 4.5);
  area.Add(10, Area(1, 10, 100, 0.5));
  EXPECT_EQ(area.cells, 11u);
  EXPECT_EQ(area.flip_flops, 102u);
  EXPECT_EQ(area.sram_bits, 1003u);
  EXPECT_DOUBLE_EQ(area.um2, 9.5);
  area.Add(0, Area(9, 9, 9, 9));
  EXPECT_EQ(area.cells, 11u);
}

TEST(SynthNumbers, TheHighestClockIsThatWithoutSlack) {
  SynthTarget target;
  target.mhz = 1000;
  EXPECT_DOUBLE_EQ(target.period_ns(), 1);
  EXPECT_DOUBLE_EQ(Fmax(target, Path(0)), 1000);
  EXPECT_DOUBLE_EQ(Fmax(target, Path(0.5)), 2000);
  EXPECT_DOUBLE_EQ(Fmax(target, Path(-1)), 500);
}

constexpr char kReport[] =
    "Startpoint: u_x/left_q[3]_reg (rising edge-triggered flip-flop clocked by clk)\n"
    "Endpoint: sum_q_reg (rising edge-triggered flip-flop clocked by clk)\n"
    "Path Group: clk\n"
    "  Delay    Time   Description\n"
    "   10.0    10.0 ^ clk (in)\n"
    "   100.0   110.0 ^ u_x/left_q[3]_reg/Q (DFF_X1)\n"
    "   200.0   310.0 v u_x/_1_/ZN (NAND2_X1)\n"
    "   200.0   510.0 ^ _2_/ZN (NAND2_X1)\n"
    "   0.0     510.0 ^ sum_q_reg/D (DFF_X1)\n"
    "           510.0   data arrival time\n"
    "           800.0   data required time\n"
    "          -510.0   data arrival time\n"
    "           290.0   slack (MET)\n"
    "Startpoint: another\n";

TEST(SynthPaths, APathIsReadFromTheTimersReport) {
  const SynthPath path = ParsePath(kReport, 0.001);
  EXPECT_TRUE(path.exists);
  EXPECT_EQ(path.start, "u_x/left_q[3]");
  EXPECT_EQ(path.end, "sum_q");
  EXPECT_EQ(path.depth, 2u) << "cells between the registers";
  EXPECT_DOUBLE_EQ(path.arrival_ns, 0.51);
  EXPECT_DOUBLE_EQ(path.slack_ns, 0.29);
}

TEST(SynthPaths, ThePortsOfABlockAreEndsToo) {
  const SynthPath path = ParsePath(
      "Startpoint: valid_i (input port clocked by clk)\nEndpoint: ready_o (output port)\n"
      "  0.1  0.1 v _1_/ZN (INV)\n  0.2  -0.1   slack (VIOLATED)\n  -0.1   slack (VIOLATED)\n",
      1);
  EXPECT_EQ(path.start, "valid_i");
  EXPECT_EQ(path.end, "ready_o");
  EXPECT_EQ(path.depth, 1u);
  EXPECT_DOUBLE_EQ(path.slack_ns, -0.1);
}

TEST(SynthPaths, PinsAboveALimitAreCounted) {
  EXPECT_EQ(ParseViolations(""), 0u);
  EXPECT_EQ(ParseViolations("Pin _1_/A ^\nmax slew 0.1\nSlack 0.02 (MET)\n"), 0u);
  EXPECT_EQ(ParseViolations("Pin _1_/A ^\nSlack -0.08 (VIOLATED)\n_2_/Y (INV) 9 above 8 "
                            "(VIOLATED)\n"),
            2u);
}

TEST(SynthPaths, WithoutASlackThereIsNoPath) {
  EXPECT_FALSE(ParsePath("", 1).exists);
  EXPECT_FALSE(ParsePath("No paths found.\n", 1).exists);
  const std::string report = kReport;
  EXPECT_FALSE(ParsePath(report.substr(0, report.find("290.0")), 1).exists) << "cut off";
}

TEST(SynthTables, JsonHasEveryBlockWithItsParts) {
  const auto j = ToJson(Chip());
  EXPECT_EQ(j["config"], "small");
  EXPECT_EQ(j["mhz"], 1000);
  EXPECT_EQ(j["library"]["sha256"], "abc");
  EXPECT_FALSE(j.contains("set"));
  ASSERT_EQ(j["blocks"].size(), 3u);
  const auto& scheduler = j["blocks"][0];
  EXPECT_EQ(scheduler["per"], "sm");
  EXPECT_EQ(scheduler["own"]["nand2"], 25);
  EXPECT_EQ(scheduler["registers"]["left_q"], 8);
  EXPECT_FALSE(scheduler.contains("total")) << "it contains nothing";
  EXPECT_FALSE(scheduler.contains("between_registers"));
  EXPECT_EQ(scheduler["worst_path"]["fmax_mhz"], 1333);
  const auto& sm = j["blocks"][1];
  EXPECT_EQ(sm["contains"]["quota_scheduler"], 2);
  EXPECT_EQ(sm["total"]["um2"], 130);
  EXPECT_EQ(sm["total"]["cells"], 25);
  EXPECT_FALSE(sm.contains("worst_path"));
  EXPECT_EQ(j["gpu"]["um2"], 960) << "two SMs and the driver";
  EXPECT_EQ(j["counter_bits"], 2 * 2 * 8 + 16);
}

TEST(SynthTables, ACornerSaysHowMuchSlowerItIs) {
  SynthSummary summary = Chip();
  summary.target.corner = "slow";
  summary.target.derate = 1.31;
  summary.results[0].removal = Path(-0.125);
  summary.results[0].loaded_pins = 17;
  const auto j = ToJson(summary);
  EXPECT_EQ(j["derate"], 1.31);
  EXPECT_EQ(j["blocks"][0]["removal_slack_ns"], -0.125);
  EXPECT_FALSE(j["blocks"][0].contains("recovery_slack_ns"));
  const std::string text = ToText(summary);
  EXPECT_THAT(text, HasSubstr("wires: none; slow (delays x 1.31) corner\n"));
  EXPECT_THAT(text, HasSubstr("hold ns  recovery ns  removal ns  slow pins  loaded pins"));
  EXPECT_THAT(text, HasSubstr("-0.125          0           17\n"));
}

TEST(SynthTables, TheSetOfParametersIsInTheTable) {
  SynthSummary summary = Chip();
  summary.target.config.sets = {{"NumSms", 32}};
  EXPECT_EQ(ToJson(summary)["set"]["NumSms"], 32);
}

TEST(SynthTables, WithoutADriverThereIsNoChip) {
  SynthSummary summary = Chip();
  summary.results.pop_back();
  EXPECT_FALSE(ToJson(summary).contains("gpu"));
  EXPECT_THAT(ToText(summary), Not(HasSubstr("SMs and the driver")));
  summary.results.pop_back();
  EXPECT_FALSE(ToJson(summary).contains("counter_bits")) << "of no SM";
  EXPECT_EQ(summary.CounterBits(), 0u);
}

TEST(SynthTables, ACounterThatIsGoneIsAnError) {
  SynthSummary summary = Chip();
  summary.results[0].registers.clear();
  try {
    summary.CounterBits();
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(),
                 "quota_scheduler: no register left_q is left, which its block.toml counts");
  }
}

TEST(SynthTables, BlocksAreFoundByName) {
  const SynthSummary summary = Chip();
  ASSERT_NE(summary.Find("driver"), nullptr);
  EXPECT_EQ(summary.Find("driver")->own.cells, 100u);
  EXPECT_EQ(summary.Find("drive"), nullptr);
}

TEST(SynthTables, TheTextIsTheWholeStory) {
  EXPECT_EQ(
      ToText(Chip()),
      R"(configuration small, library lib, clock 1000 MHz (1.000 ns); wires: none; typical corner

block            per  cells  flip-flops  SRAM bits  um2  NAND2  Fmax MHz  slack ns  registers only
quota_scheduler  SM      10           4              50     25      1333     0.250
sm_control       SM       5           2         96   30     15
driver           GPU    100          20             700    350       800    -0.250            2000

worst path of    from       to       cells     ns
quota_scheduler  left_q[1]  grant_o      3  0.750
driver           left_q[1]  grant_o      3  1.250

with all it contains    cells  flip-flops  SRAM bits  um2  NAND2
sm_control                 25          10         96  130     65
2 SMs and the driver      150          40        192  960    480

compared with the papers (45 nm, this library is larger)             paper            here
partition and quota counters, bytes (2 SMs, 4 kernels; paper 16, 4)   2816               6
control logic of the GPU, mm2 without SRAM; 16 SMs of GPUWattch        704  0.001 (0.00 %)
)");
}

class AreaTables : public ScratchTest {
 protected:
  std::string RefusalOf(const std::string& text) const {
    const std::string path = Write("t.json", text);
    const std::string said = Refusal([&] {
      const AreaTable table(path);
      table.RequireSameTarget(Chip().target);
      table.Inputs("driver");
      table.Grown(Chip().results, 5);
    });
    return said == "accepted" ? said : said.substr(std::min(path.size(), said.size()));
  }
};

TEST_F(AreaTables, ATableHasNotGrownBesideItself) {
  const AreaTable table(Write("t.json", ToJson(Chip()).dump()));
  table.RequireSameTarget(Chip().target);
  EXPECT_THAT(table.Grown(Chip().results, 0), ElementsAre());
  EXPECT_EQ(table.Inputs("driver"), "hash of driver");
  EXPECT_EQ(table.Inputs("drive"), "");
}

TEST_F(AreaTables, GrowthIsToldWhenItIsMoreThanAllowed) {
  const AreaTable table(Write("t.json", ToJson(Chip()).dump()));
  SynthSummary summary = Chip();
  summary.results[2].own.um2 = 735;  // exactly 5 %
  summary.results[0].own.um2 = 40;   // smaller
  EXPECT_THAT(table.Grown(summary.results, 5), ElementsAre());
  summary.results[2].own.um2 = 742;
  summary.results.push_back(Block("tb_table", false, Area(1, 1, 0, 1)));
  EXPECT_THAT(
      table.Grown(summary.results, 5),
      ElementsAre("driver has grown from 700 to 742 um2 (+6.0 %)", "tb_table is not in the table"));
}

TEST_F(AreaTables, OtherTargetsAreNotCompared) {
  const AreaTable table(Write("t.json", ToJson(Chip()).dump()));
  const auto refusal = [&](const SynthTarget& target) {
    const std::string said = Refusal([&] { table.RequireSameTarget(target); });
    return said.substr(said.find(": ") + 2);
  };
  SynthTarget target = Chip().target;
  target.config.name = "gtx980";
  EXPECT_EQ(refusal(target), "made for configuration small, this is gtx980");
  target = Chip().target;
  target.liberty.hash = "xyz";
  EXPECT_EQ(refusal(target), "made for library abc, this is xyz");
  target = Chip().target;
  target.mhz = 900;
  EXPECT_EQ(refusal(target), "made for clock 1000, this is 900");
}

TEST_F(AreaTables, WhatIsNoTableIsRefused) {
  for (const char* text : {"", "{", "[]", "7", "{}", "{\"blocks\": []}", "{\"blocks\": {}}",
                           "{\"blocks\": 1, \"library\": {}}", "{\"library\": {}}"}) {
    EXPECT_EQ(RefusalOf(text), ": not a table that smk synth --json wrote") << text;
  }
  EXPECT_EQ(Refusal([&] { AreaTable(Path("no.json")); }), Path("no.json") + ": cannot be read");
}

TEST_F(AreaTables, DamageIsAnInputErrorNeverAnotherOne) {
  for (const char* text :
       {"{\"blocks\": [1], \"library\": {\"sha256\": \"abc\"}, \"config\": \"small\", \"mhz\": "
        "1000}",
        "{\"blocks\": [{\"block\": 7}], \"library\": {\"sha256\": \"abc\"}, \"config\": \"small\", "
        "\"mhz\": 1000}",
        "{\"blocks\": [{\"block\": \"driver\", \"own\": 7}], \"library\": {\"sha256\": \"abc\"}, "
        "\"config\": \"small\", \"mhz\": 1000}",
        "{\"blocks\": [{\"block\": \"driver\"}], \"library\": {\"sha256\": \"abc\"}, \"config\": "
        "\"small\", \"mhz\": 1000}",
        "{\"blocks\": [], \"library\": {\"sha256\": 7}}",
        "{\"blocks\": [], \"library\": {}, \"config\": []}"}) {
    EXPECT_NE(RefusalOf(text), "accepted") << text;
  }
}

TEST(SynthTables, ThePlannerStandsBesideThePapers) {
  SynthSummary summary = Chip();
  summary.results.push_back(Block("waterfill_planner", false, Area(9, 9, 0, 26'000)));
  EXPECT_THAT(ToText(summary), testing::ContainsRegex("water-filling planner, mm2 +0.04 +0.026\n"));
}

}  // namespace
}  // namespace smk::sim
