// SPDX-License-Identifier: Apache-2.0
// smk synth with stand-ins for Yosys and OpenSTA: what it makes of their output, and of bad input.
#include "sim/command.h"

namespace smk {
namespace {

namespace fs = std::filesystem;

constexpr char kLiberty[] =
    "library (tiny) {\n"
    "  time_unit : \"1ns\"; /* a comment } */\n"
    "  lu_table_template (t) { variable_1 : input_net_transition; }\n"
    "  cell (NAND2X1) { area : 2.5; pin (A) { direction : input; } }\n"
    "  cell (NAND2X4) { area : 4; pin (A) { direction : input; } }\n"
    "  cell (\"DFFX1\") { area : 10; ff (IQ, IQN) { next_state : \"D\"; } }\n"
    "}\n";
constexpr char kYosys[] =
    "#!/bin/sh\n"
    "echo run >>runs.txt\n"
    "case \"$1\" in -V) echo 'Yosys 0'; exit;; esac\n"
    "[ \"$SMK_TOP\" != smk_tb_table ] || { echo 'first'; echo 'ERROR: no way'; exit 1; }\n"
    "printf '     DFFX1   4\\n     NAND2X1  %s\\n' \"${NANDS:-6}\" >$SMK_OUT/cells.txt\n"
    "printf 'parameter \\\\SIZE 64\\nparameter \\\\WIDTH 3\\n' >$SMK_OUT/memories.txt\n"
    "printf '  DFFX1 \\\\left_q[1]_reg  (\\n  NAND2X1 _1_ (\\n' >$SMK_OUT/netlist.v\n";
constexpr char kSta[] =
    "#!/bin/sh\n"
    "[ \"$1\" != -version ] || exit 0\n"
    "cat >$SMK_OUT/timing.txt <<'E'\n"
    "Startpoint: left_q[1]_reg (rising edge-triggered flip-flop clocked by clk)\n"
    "Endpoint: grant_o[3] (output port clocked by clk)\n"
    "   0.1000    0.1000 ^ left_q[1]_reg/Q (DFFX1)\n"
    "   0.3000    0.4000 v _1_/Y (NAND2X1)\n"
    "             0.4000   data arrival time\n"
    "            -0.4000   data arrival time\n"
    "             0.6000   slack (MET)\n"
    "E\n"
    "echo 'No paths found.' >$SMK_OUT/registers.txt\n"
    "echo 'No paths found.' >$SMK_OUT/hold.txt\n"
    "echo \"  $SMK_DERATE   slack (MET)\" >$SMK_OUT/recovery.txt\n"
    "echo '  -0.0200   slack (VIOLATED)' >$SMK_OUT/removal.txt\n"
    ": >$SMK_OUT/slew.txt\n"
    "[ -z \"$SMK_REPAIR\" ] || printf '_1_ NAND2X1 NAND2X4\\n_1_ A B\\n' >$SMK_OUT/repaired.txt\n"
    "echo '_1_/Y (NAND2X1) 31.20 above 24.4 (VIOLATED)' >$SMK_OUT/load.txt\n";

class SynthCommand : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    Write("tiny.lib", kLiberty);
    fs::create_directories(Path("bin"));
    WriteTool("bin/yosys", kYosys);
    WriteTool("bin/sta", kSta);
  }
  void WriteTool(const std::string& name, const std::string& text) const {
    Write(name, text);
    fs::permissions(Path(name), fs::perms::owner_all);
  }
  Outcome Synth(const std::string& arguments, const std::string& environment = "") const {
    return Smk("synth --liberty tiny.lib " + arguments,
               "PATH='" + Path("bin") + "':\"$PATH\" " + environment);
  }
  void Refuses(const Outcome& outcome, const std::string& part) const {
    EXPECT_EQ(outcome.status, 2) << outcome.out << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err.rfind("smk: ", 0), 0u) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  }
};

TEST_F(SynthCommand, AddsUpCellsAndTellsPaths) {
  const Outcome outcome = Synth("quota_scheduler --mhz 1000 --json t.json --out kept");
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const auto j = Json("t.json");
  EXPECT_EQ(j["library"]["nand2_um2"], 2.5);
  const auto& block = j["blocks"][0];
  EXPECT_EQ(block["own"]["cells"], 10);
  EXPECT_EQ(block["own"]["flip_flops"], 4);
  EXPECT_EQ(block["own"]["sram_bits"], 192);
  EXPECT_EQ(block["own"]["um2"], 55);
  EXPECT_EQ(block["own"]["nand2"], 22);
  EXPECT_EQ(block["registers"]["left_q"], 1);
  const auto& path = block["worst_path"];
  EXPECT_EQ(path["start"], "left_q[1]");
  EXPECT_EQ(path["end"], "grant_o[3]");
  EXPECT_EQ(path["depth"], 1);
  EXPECT_EQ(path["slack_ns"], 0.6);
  EXPECT_EQ(path["fmax_mhz"], 2500);
  EXPECT_FALSE(block.contains("between_registers"));
  EXPECT_NE(outcome.out.find("left_q[1]"), std::string::npos) << outcome.out;
  EXPECT_TRUE(Exists("kept/quota_scheduler/netlist.v"));
  EXPECT_TRUE(Exists("kept/quota_scheduler/yosys.log"));
  EXPECT_TRUE(Exists("kept/quota_scheduler/timing.txt"));
}

TEST_F(SynthCommand, JsonWithoutAFileIsAllOfStdout) {
  ASSERT_EQ(Synth("sm_assign --json t.json").status, 0);
  const Outcome outcome = Synth("sm_assign --json");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, Read("t.json"));
  EXPECT_EQ(outcome.err, "");
  Refuses(Synth("--json sm_assign"), "expected a file, got a block; write sm_assign before --json");
  Refuses(Synth("sm_assign --against t.json --json"), "--against prints no numbers");
  const Outcome failed = Synth("tb_table --json");
  EXPECT_EQ(failed.status, 1);
  EXPECT_EQ(nlohmann::json::parse(failed.out)["status"].get<std::string>().rfind("FAIL: ", 0), 0u);
}

TEST_F(SynthCommand, ACornerIsAFactorOfAllDelays) {
  ASSERT_EQ(Synth("sm_assign --json typical.json").status, 0);
  ASSERT_EQ(Synth("sm_assign --corner slow --json slow.json").status, 0);
  EXPECT_EQ(Json("typical.json")["corner"], "typical");
  EXPECT_EQ(Json("typical.json")["blocks"][0]["recovery_slack_ns"], 1) << "the stand-in's word";
  const auto slow = Json("slow.json");
  EXPECT_EQ(slow["corner"], "slow");
  EXPECT_EQ(slow["derate"], 1.31);
  EXPECT_EQ(slow["blocks"][0]["recovery_slack_ns"], 1.31) << "timed again";
  EXPECT_EQ(slow["blocks"][0]["own"], Json("typical.json")["blocks"][0]["own"]);
  Refuses(Synth("sm_assign --corner slwo"), "--corner: no corner 'slwo'; did you mean 'slow'?");
}

TEST_F(SynthCommand, RepairsAreTold) {
  ASSERT_EQ(Synth("sm_assign --json t.json").status, 0);
  const Outcome outcome = Synth("sm_assign --repair 7 --json r.json --out kept");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("typical corner; up to 7 repairs"), std::string::npos);
  EXPECT_NE(outcome.out.find("um2 more"), std::string::npos) << outcome.out;
  const auto before = Json("t.json"), behind = Json("r.json");
  EXPECT_FALSE(before.contains("repair") || before["blocks"][0].contains("repairs"));
  EXPECT_EQ(behind["repair"], 7);
  EXPECT_EQ(behind["blocks"][0]["repairs"]["changes"], 2);
  EXPECT_EQ(behind["blocks"][0]["repairs"]["um2"], 1.5);
  EXPECT_EQ(behind["blocks"][0]["own"], before["blocks"][0]["own"]) << "of the mapping";
  EXPECT_EQ(Read("kept/sm_assign/repaired.txt"), "_1_ NAND2X1 NAND2X4\n_1_ A B\n");
  Refuses(Synth("sm_assign --repair -1"), "--repair: expected");
}

TEST_F(SynthCommand, ResetAndLimitsAreTold) {
  const Outcome outcome = Synth("sm_assign --uncertainty 5 --json t.json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(Json("t.json")["blocks"][0]["removal_slack_ns"], -0.02);
  EXPECT_NE(outcome.out.find("recovery ns"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("loaded pins"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("-0.020          0            1"), std::string::npos) << outcome.out;
}

TEST_F(SynthCommand, HtmlIsAPageWithTheNumbers) {
  Write("page.html", "<title><!--TITLE--></title><script><!--DATA--></script>");
  const std::string page = "SMK_REPORT_PAGE=" + Path("page.html");
  ASSERT_EQ(Synth("sm_assign --json t.json --html p.html", page).status, 0);
  const std::string text = Read("p.html");
  EXPECT_NE(text.find("<title>Area and timing of gtx980 in tiny</title>"), std::string::npos)
      << text;
  const std::size_t begin = text.find("<script>") + 8;
  const auto data = nlohmann::json::parse(text.substr(begin, text.find("</script>") - begin));
  nlohmann::json blocks = nlohmann::json::parse(Read("t.json"))["blocks"];
  for (auto& block : blocks) block.erase("registers");
  EXPECT_EQ(data["kind"], "synth");
  EXPECT_EQ(data["synth"]["blocks"], blocks);
  EXPECT_EQ(data["synth"]["mhz"], 1216);
  EXPECT_TRUE(data["papers"].is_array());
  EXPECT_EQ(Synth("sm_assign --html gone/p.html", page).status, 2);
  EXPECT_EQ(Synth("sm_assign --html p.html", "SMK_REPORT_PAGE=" + Path("none")).status, 2);
  Refuses(Synth("sm_assign --against t.json --html p.html"), "--against makes no page");
}

TEST_F(SynthCommand, MakesNothingTwice) {
  ASSERT_EQ(Synth("sm_assign --json first.json").status, 0);
  const std::string runs = Read("runs.txt");
  ASSERT_EQ(Synth("sm_assign --json second.json").status, 0);
  EXPECT_EQ(Read("runs.txt"), runs + "run\n") << "asked for its version only";
  EXPECT_EQ(Read("first.json"), Read("second.json"));
  ASSERT_EQ(Synth("sm_assign --mhz 500").status, 0);
  EXPECT_EQ(Read("runs.txt"), runs + "run\nrun\nrun\n") << "another clock, another netlist";
}

TEST_F(SynthCommand, SetChangesAParameterOfThePackage) {
  ASSERT_EQ(Synth("sm_assign --set NumSms=32 --set RegisterCntWidth=32 --json t.json").status, 0);
  EXPECT_EQ(Json("t.json")["sms"], 32);
  EXPECT_EQ(Json("t.json")["set"]["RegisterCntWidth"], 32);
  std::string package;
  for (const auto& entry : fs::directory_iterator(Path("cache/synth"))) {
    if (entry.path().extension() == ".sv") package = entry.path().filename();
  }
  const std::string text = Read("cache/synth/" + package);
  EXPECT_NE(text.find("NumSms            /*verilator public_flat_rd*/ = 32;"), std::string::npos);
  EXPECT_NE(text.find("RegisterCntWidth  = 32;"), std::string::npos);
}

TEST_F(SynthCommand, ABlockMayGrowByFivePercent) {
  ASSERT_EQ(Synth("sm_assign --json table.json").status, 0);
  const std::string again = "sm_assign --no-cache --against table.json";
  const Outcome same = Synth(again, "NANDS=9");
  EXPECT_EQ(same.status, 0) << same.out << same.err;
  EXPECT_NE(same.out.find("0 of 1 blocks"), std::string::npos) << "not made again";
  std::string table = Read("table.json");
  const std::size_t inputs = table.find("\"inputs\": \"") + 11;
  table.replace(inputs, 4, "xxxx");
  Write("table.json", table);
  EXPECT_EQ(Synth(again, "NANDS=7").status, 0) << "+4.5 %";
  const Outcome grown = Synth(again, "NANDS=8");
  EXPECT_EQ(grown.status, 1);
  EXPECT_NE(grown.LastLine().find("FAIL: sm_assign has grown from 55 to 60 um2 (+9.1 %)"),
            std::string::npos)
      << grown.out;
  EXPECT_EQ(Synth("tb_dispatch --against table.json").status, 1) << "not in the table";
  Refuses(Synth("sm_assign --mhz 600 --against table.json"), "made for clock 1216, this is 600");
  Refuses(Synth("sm_assign --against tiny.lib"), "not a table");
}

TEST_F(SynthCommand, AToolsLastWordsAreShown) {
  const Outcome outcome = Synth("tb_table");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out.rfind("FAIL: yosys of tb_table failed: first | ERROR: no way (log: ", 0),
            0u)
      << outcome.out;
  EXPECT_TRUE(Exists("cache/synth/failed-tb_table.log"));
}

TEST_F(SynthCommand, BadInputIsRefusedInOneLine) {
  Refuses(Synth("quota_schedule"), "no block 'quota_schedule'; did you mean 'quota_scheduler'?");
  Refuses(Synth("sm_assign --config gtx970"), "did you mean 'gtx980'?");
  Refuses(Synth("sm_assign --mhz fast"), "--mhz");
  Refuses(Synth("sm_assign --set NumSms"), "expected NAME=N");
  Refuses(Synth("sm_assign --set NumSmx=3"), "no such parameter");
  Refuses(Synth("sm_assign --jobs 0"), "--jobs");
  Refuses(Synth("sm_assign", "SMK_DATA_DIR=" + Path("none/sim")), "no such folder");
}

TEST_F(SynthCommand, BadLibrariesAreRefusedInOneLine) {
  const auto refuses = [this](const std::string& text, const std::string& part) {
    Write("tiny.lib", text);
    Refuses(Synth("sm_assign"), part);
  };
  const std::string good = kLiberty;
  for (std::size_t size = 1; size + 2 < good.size(); size += 7) {
    refuses(good.substr(0, size), "tiny.lib:");
  }
  refuses("module x; endmodule\n", "tiny.lib:1: not a Liberty file");
  refuses("library (x) {\n area 3;\n}\n", "tiny.lib:2: malformed: '3' after area");
  refuses("library (x) { cell (NAND2) { area : 1; } }\n", "no flip-flop");
  refuses("library (x) { cell (D) { area : 1; ff (a, b) { } } }\n", "no NAND2");
  const auto with = [&](const std::string& line) {
    return "library (x) {\n" + line + good.substr(good.find("  lu_table"));
  };
  refuses(with("  time_unit : \"1us\";\n"), "tiny.lib:2: time_unit '1us': expected ns or ps");
  Write("tiny.lib", with("  capacitive_load_unit (1, nf);\n"));
  Refuses(Synth("sm_assign --wires 1.5"), "capacitive_load_unit in 'nf': expected ff or pf");
  fs::remove(Path("tiny.lib"));
  Refuses(Synth("sm_assign"), "tiny.lib: cannot be read");
}

TEST_F(SynthCommand, SaysHowToGetWhatIsMissing) {
  fs::remove(Path("bin/sta"));
  const std::string alone = "PATH='" + Path("bin") + "'";
  const std::string command = "synth sm_assign --liberty tiny.lib";
  Refuses(Smk(command, alone), "sta is not installed; scripts/setup build synth, or apt-get");
  EXPECT_EQ(Synth("sm_assign --no-timing").status, 0) << "area needs no timer";
  fs::remove(Path("bin/yosys"));
  Refuses(Smk(command, alone), "yosys is not installed");
}

}  // namespace
}  // namespace smk
