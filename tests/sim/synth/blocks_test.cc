// SPDX-License-Identifier: Apache-2.0
// What the drawers say of synthesis, and which files a block is made of: in a source tree of our
// own, and in the project's.
#include "synth/blocks.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "sim/refusal.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using testing::UnorderedElementsAre;

class Catalogues : public ScratchTest {
 protected:
  void SetUp() override {
    ScratchTest::SetUp();
    Write("sim/here", "");
    Write("synth/configs.toml",
          "[config.big]\nsms = 16\nkernels = 4\n"
          "[config.tiny]\nsms = 2\nkernels = 2\n");
    Write("synth/cells/corners.toml",
          "[corner.typical]\nderate = 1.0\n[corner.slow]\nderate = 1.5\n");
    Write("rtl/common/smk_pkg.sv", "package smk_pkg; endpackage");
    Module("leaf", "");
    Module("pair", "smk_leaf u_a(); smk_leaf u_b();");
    Module("chip", "smk_pair u_pair(); smk_other u_other(); // not smk_comment");
    Module("other", "my_smk_leaf u_x(); /* smk_pair */");
    Drawer("leaf", "[synthesis.leaf]\nper = 'sm'\ncounters = ['left_q']\n");
    Drawer("pair", "[synthesis.pair]\nper = 'sm'\ncontains = ['leaf']\nwiring = true\n");
    Drawer("chip", "[synthesis.chip]\ncontains = ['pair', 'other']\n");
    Drawer("other", "[synthesis.other]\n[[proof]]\nname = 'x'\n");
    Drawer("silent", "[[proof]]\nname = 'y'\n");
  }
  void Module(const std::string& name, const std::string& body) const {
    Write("rtl/blocks/" + name + "/smk_" + name + ".sv",
          "module smk_" + name + "; " + body + " endmodule\n");
  }
  std::string Drawer(const std::string& name, const std::string& text) const {
    return Write("tb/" + name + "/block.toml", text);
  }
  SynthCatalogue Catalogue() const { return SynthCatalogue(Path("sim")); }
  std::string Said() const {
    return Refusal([&] { Catalogue(); });
  }
  // Names of the files of a block, without their folders.
  std::vector<std::string> Files(const std::string& block) const {
    std::vector<std::string> names;
    for (const std::string& file : Catalogue().Files(block)) {
      names.push_back(std::filesystem::path(file).stem());
    }
    return names;
  }
};

TEST_F(Catalogues, PartsComeBeforeWhatContainsThem) {
  const SynthCatalogue catalogue = Catalogue();
  std::vector<std::string> names;
  for (const SynthBlock& block : catalogue.blocks()) names.push_back(block.name);
  EXPECT_THAT(names, ElementsAre("leaf", "pair", "other", "chip"));
}

TEST_F(Catalogues, ADrawerTellsPlaceContentsAndCounters) {
  const SynthCatalogue catalogue = Catalogue();
  const SynthBlock &leaf = catalogue.Find("leaf"), &pair = catalogue.Find("smk_pair");
  EXPECT_TRUE(leaf.per_sm);
  EXPECT_FALSE(leaf.wiring);
  EXPECT_THAT(leaf.counters, ElementsAre("left_q"));
  EXPECT_TRUE(pair.wiring);
  EXPECT_THAT(pair.contains, ElementsAre("leaf"));
  EXPECT_FALSE(catalogue.Find("chip").per_sm);
}

TEST_F(Catalogues, UnknownBlocksAreToldWithTheNearest) {
  const SynthCatalogue catalogue = Catalogue();
  EXPECT_EQ(Refusal([&] { catalogue.Find("pairs"); }),
            "no block 'pairs'; did you mean 'pair'?; blocks: leaf, pair, other, chip");
  EXPECT_EQ(Refusal([&] { catalogue.Config("tin"); }),
            "--config: no configuration 'tin'; did you mean 'tiny'?; known: big, tiny");
}

TEST_F(Catalogues, AConfigurationIsAFileOfNumbers) {
  const SynthCatalogue catalogue = Catalogue();
  EXPECT_EQ(catalogue.Config("tiny").numbers, Path("rtl/config/tiny/smk_config.svh"));
  EXPECT_EQ(catalogue.Config("tiny").sms, 2u);
  EXPECT_EQ(catalogue.Config("tiny").kernels, 2u);
}

TEST_F(Catalogues, ACornerIsAFactor) {
  EXPECT_EQ(Catalogue().Derate("slow"), 1.5);
  EXPECT_EQ(Refusal([&] { Catalogue().Derate("fast"); }),
            "--corner: no corner 'fast'; known: slow, typical");
  const std::string path = Write("synth/cells/corners.toml", "x = 1\n");
  EXPECT_EQ(Said(), path + ": expected tables [corner.NAME]");
  Write("synth/cells/corners.toml", "[corner.slow]\nderate = 0.0\n");
  EXPECT_EQ(Said(), path + ": corner.slow: expected a derate above 0");
  Write("synth/cells/corners.toml", "[corner]\nslow = 2\n");
  EXPECT_EQ(Said(), path + ":2: corner.slow: expected a table");
}

TEST_F(Catalogues, ABlockIsThePackageAndAllModulesBelow) {
  EXPECT_THAT(Files("leaf"), ElementsAre("smk_pkg", "smk_leaf"));
  EXPECT_EQ(Files("pair").front(), "smk_pkg");
  EXPECT_THAT(Files("pair"), UnorderedElementsAre("smk_pkg", "smk_pair", "smk_leaf"));
  EXPECT_THAT(Files("chip"),
              UnorderedElementsAre("smk_pkg", "smk_chip", "smk_pair", "smk_leaf", "smk_other"))
      << "each once; comments and parts of words name nothing";
  EXPECT_THAT(Files("other"), UnorderedElementsAre("smk_pkg", "smk_other"));
}

TEST_F(Catalogues, ModulesThatNameEachOtherEnd) {
  Module("leaf", "smk_pair u_p();");
  EXPECT_THAT(Files("pair"), UnorderedElementsAre("smk_pkg", "smk_pair", "smk_leaf"));
  Drawer("leaf", "[synthesis.leaf]\ncontains = ['pair']\n");
  EXPECT_LE(Catalogue().blocks().size(), 4u);
}

TEST_F(Catalogues, TheFolderMayEndInASlash) {
  EXPECT_EQ(SynthCatalogue(Path("sim") + "/").Files("leaf"), Catalogue().Files("leaf"));
}

TEST_F(Catalogues, ASourceTreeHasThreeFolders) {
  for (const char* folder : {"rtl", "synth", "tb"}) {
    std::filesystem::rename(Path(folder), Path("away"));
    EXPECT_EQ(Said(), Path(folder) +
                          ": no such folder; smk synth needs the source tree: set "
                          "SMK_DATA_DIR to its sim/");
    std::filesystem::rename(Path("away"), Path(folder));
  }
  std::filesystem::remove(Path("rtl/common/smk_pkg.sv"));
  EXPECT_EQ(Said(), Path("rtl") + ": no smk_pkg.sv");
}

TEST_F(Catalogues, DamagedDrawersAreToldByFileAndLine) {
  EXPECT_EQ(Refusal([&] {
              const std::string path = Drawer("leaf", "\n[synthesis]\nleaf = 5\n");
              Catalogue();
            }),
            Path("tb/leaf/block.toml") + ":3: synthesis.leaf: expected a table");
  Drawer("leaf", "synthesis = 'leaf'\n");
  EXPECT_EQ(Said(), Path("tb/leaf/block.toml") + ":1: synthesis: expected a table");
  Drawer("leaf", "[synthesis\n");
  EXPECT_THAT(Said(), StartsWith(Path("tb/leaf/block.toml") + ":1: expected TOML: "));
}

TEST_F(Catalogues, DamagedConfigurationsAreToldByFileAndLine) {
  const std::string path = Write("synth/configs.toml", "x = 1\n");
  EXPECT_EQ(Said(), path + ": expected tables [config.NAME]");
  Write("synth/configs.toml", "config = 5\n");
  EXPECT_EQ(Said(), path + ":1: config: expected a table");
  Write("synth/configs.toml", "[config]\n\nbig = 5\n");
  EXPECT_EQ(Said(), path + ":3: config.big: expected a table");
}

// The project's own source tree.
TEST(ProjectCatalogue, EveryBlockHasItsModuleAndItsContents) {
  const SynthCatalogue catalogue(SMK_SOURCE_DIR);
  EXPECT_GE(catalogue.blocks().size(), 12u);
  std::set<std::string> before;
  for (const SynthBlock& block : catalogue.blocks()) {
    const std::vector<std::string> files = catalogue.Files(block.name);
    ASSERT_GE(files.size(), 2u) << block.name;
    EXPECT_THAT(files[0], HasSubstr("/smk_pkg.sv"));
    EXPECT_THAT(files[1], HasSubstr("/smk_" + block.name + ".sv"));
    for (const std::string& part : block.contains) {
      EXPECT_EQ(before.count(part), 1u) << block.name << " contains " << part;
      const std::string file = "/smk_" + part + ".sv";
      EXPECT_TRUE(std::any_of(files.begin(), files.end(),
                              [&](const std::string& path) {
                                return path.size() > file.size() &&
                                       path.substr(path.size() - file.size()) == file;
                              }))
          << block.name << " names no " << part;
    }
    before.insert(block.name);
  }
}

}  // namespace
}  // namespace smk::sim
