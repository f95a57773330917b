// SPDX-License-Identifier: Apache-2.0
// Cell libraries: what is taken from a Liberty file, and every way in which it may be bad.
#include "synth/liberty.h"

#include <gmock/gmock.h>

#include "base/sha256.h"
#include "sim/refusal.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {

using testing::StartsWith;

constexpr char kGood[] = R"(/* Two lines
   of comment } */
library (small_lib) {
  // a line } of comment
  delay_model : table_lookup;
  time_unit : "100ps";
  define ("x", "cell", "string");
  capacitive_load_unit (1, pf);
  lu_table_template (t) { variable_1 : input_net_transition; index_1 ("1, 2, \
    3"); }
  cell (NAND2_X2) { area : 3.5; pin (A) { direction : input; timing () { } } }
  cell (NAND2_X1) { area : 2.25; }
  cell (nand2b) { area : 0; }
  cell ("DFF_X1") { area : 9; ff (IQ, IQN) { next_state : "D"; clocked_on : "CK"; } }
  cell (DFF4) { area : 30; ff_bank (IQ, IQN, 4) { } }
  cell (LATCH) { area : 5; latch (IQ, IQN) { enable : "G"; } }
  cell (BUF_X4) { area : 4 }
  cell (BUF_X1) { area : 2; }
  cell (CLKBUF) { area : 1; }
}
)";

class LibertyFiles : public ScratchTest {
 protected:
  Liberty Load(const std::string& text) const { return LoadLiberty(Write("x.lib", text)); }
  std::string RefusalOf(const std::string& text) const {
    const std::string said = Refusal([&] { Load(text); });
    if (said == "accepted") return said;
    EXPECT_THAT(said, StartsWith(Path("x.lib")));
    return said.substr(Path("x.lib").size());
  }
  // A library that has what it needs, and `more`.
  static std::string With(const std::string& more) {
    return "library (x) {\n cell (NAND2) { area : 1; }\n cell (D) { area : 1; ff (a, b) { } }\n" +
           more + "\n}\n";
  }
};

TEST_F(LibertyFiles, CellsHaveAnAreaAndMayStore) {
  const Liberty liberty = Load(kGood);
  EXPECT_EQ(liberty.path, Path("x.lib"));
  EXPECT_EQ(liberty.name, "small_lib");
  EXPECT_EQ(liberty.hash, HashText(kGood));
  EXPECT_EQ(liberty.cells.size(), 9u);
  EXPECT_EQ(liberty.cells.at("NAND2_X2").area, 3.5);
  EXPECT_FALSE(liberty.cells.at("NAND2_X2").flip_flop);
  EXPECT_TRUE(liberty.cells.at("DFF_X1").flip_flop);
  EXPECT_TRUE(liberty.cells.at("DFF4").flip_flop) << "a bank of them, too";
  EXPECT_FALSE(liberty.cells.at("LATCH").flip_flop);
}

TEST_F(LibertyFiles, TheSmallestCellOfItsKindCounts) {
  const Liberty liberty = Load(kGood);
  EXPECT_EQ(liberty.nand2_area, 2.25) << "one without an area is none";
  EXPECT_EQ(liberty.buffer, "BUF_X1") << "a clock buffer does not begin with BUF";
  EXPECT_EQ(Load(With("")).buffer, "") << "there may be none";
  EXPECT_EQ(Load(With("cell (buf_small) { area : 1; }")).buffer, "buf_small");
}

TEST_F(LibertyFiles, TimeIsInNanosecondsOrPicoseconds) {
  EXPECT_DOUBLE_EQ(Load(kGood).time_unit_ns, 0.1);
  EXPECT_DOUBLE_EQ(Load(With("time_unit : \"1ps\";")).time_unit_ns, 0.001);
  EXPECT_DOUBLE_EQ(Load(With("time_unit : \"10ns\";")).time_unit_ns, 10);
  EXPECT_DOUBLE_EQ(Load(With("")).time_unit_ns, 1);
  EXPECT_EQ(RefusalOf(With("time_unit : \"1us\";")), ":4: time_unit '1us': expected ns or ps");
  EXPECT_EQ(RefusalOf(With("time_unit : \"ns\";")), ":4: time_unit 'ns': expected ns or ps");
}

TEST_F(LibertyFiles, WhatANetlistCannotDoWithoutMustBeThere) {
  EXPECT_EQ(RefusalOf("library (x) { cell (NAND2) { area : 1; } }"),
            ": the library has no flip-flop");
  EXPECT_EQ(RefusalOf("library (x) { cell (D) { area : 1; ff (a, b) { } } }"),
            ": the library has no NAND2 cell with an area");
  EXPECT_EQ(RefusalOf("library (x) { cell (D) { area : 1; ff (a, b) { } } "
                      "cell (NAND2) { area : 0; } }"),
            ": the library has no NAND2 cell with an area");
}

TEST_F(LibertyFiles, MistakesAreToldByTheirLine) {
  EXPECT_EQ(RefusalOf(""), ":1: not a Liberty file: expected library (NAME) {");
  EXPECT_EQ(RefusalOf("\n\nmodule x;\n"), ":3: not a Liberty file: expected library (NAME) {");
  EXPECT_EQ(RefusalOf("library {\n"), ":1: malformed: expected '('");
  EXPECT_EQ(RefusalOf("library (x) ;\n"), ":1: malformed: expected '{' after library");
  EXPECT_EQ(RefusalOf("library (x) {\n area 3;\n}\n"), ":2: malformed: '3' after area");
  EXPECT_EQ(RefusalOf("library (x) {\n cell (a\n"), ":3: malformed: the file ends too early");
  EXPECT_EQ(RefusalOf("library (x) {\n cell (a) {\n"), ":3: malformed: the file ends too early");
}

TEST_F(LibertyFiles, AFileThatIsNotThereIsNamed) {
  EXPECT_EQ(Refusal([&] { LoadLiberty(Path("no.lib")); }), Path("no.lib") + ": cannot be read");
}

TEST_F(LibertyFiles, AnythingThatIsCutOffIsRefused) {
  const std::string good = kGood;
  for (std::size_t size = 0; size + 2 < good.size(); size += 5) {
    EXPECT_NE(RefusalOf(good.substr(0, size)), "accepted") << size;
  }
}

TEST_F(LibertyFiles, DamageIsAnInputErrorNeverAnotherOne) {
  Chance chance;
  for (int round = 0; round < 400; ++round) {
    std::string text = kGood;
    for (std::uint64_t edits = 1 + chance.Below(4); edits > 0; --edits) {
      text[chance.Below(text.size())] = "(){}:;,\"\\/*x1\n"[chance.Below(14)];
    }
    const std::string said = RefusalOf(text);
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
}

TEST_F(LibertyFiles, TheProjectsOwnLibraryHasWhatSynthesisNeeds) {
  const Liberty liberty = LoadLiberty(SMK_SOURCE_DIR "/../synth/cells/smk45.lib");
  EXPECT_EQ(liberty.name, "smk45");
  EXPECT_EQ(liberty.time_unit_ns, 0.001);
  EXPECT_EQ(liberty.buffer, "BUF_X1");
  EXPECT_EQ(liberty.nand2_area, liberty.cells.at("NAND2_X1").area);
  for (const char* name : {"DFF_X1", "DFFR_X1", "DFFS_X1"}) {
    EXPECT_TRUE(liberty.cells.at(name).flip_flop) << name;
  }
  EXPECT_FALSE(liberty.cells.at("MUX2_X1").flip_flop);
}

}  // namespace
}  // namespace smk::sim
