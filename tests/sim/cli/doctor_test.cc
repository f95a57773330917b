// SPDX-License-Identifier: Apache-2.0
// smk doctor, on a computer of our own: a folder of programs is all that is installed.
#include <gmock/gmock.h>

#include "base/error.h"
#include "sim/main_call.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {

using testing::HasSubstr;
using testing::Not;

class Doctor : public ScratchTest {
 protected:
  // A program that prints this.
  void Install(const std::string& name, const std::string& prints) const {
    namespace fs = std::filesystem;
    const std::string path = Write("bin/" + name, "#!/bin/sh\nprintf '" + prints + "'\n");
    fs::permissions(path, fs::perms::owner_all);
  }
  Ended Call() const {
    const Environment path("PATH", Path("nothing") + ":" + Path("bin"));
    return CallMain(backend, {"doctor"});
  }
  // The line about something.
  std::string Line(const std::string& what) const {
    std::istringstream in(Call().out);
    for (std::string line; std::getline(in, line);) {
      if (line.rfind(what + "  ", 0) == 0) return line;
    }
    return "";
  }

  Backend backend = FakeBackend();
};

TEST_F(Doctor, WhatIsMissingHasARemedy) {
  const Ended ended = Call();
  EXPECT_EQ(ended.status, 0) << "smk run needs none of them";
  EXPECT_THAT(ended.out, HasSubstr("Everything that smk run, smk compare and smk list need"));
  EXPECT_THAT(Line("Yosys"), HasSubstr("not installed"));
  EXPECT_THAT(Line("Yosys"), HasSubstr("checking the RTL, area"));
  EXPECT_THAT(Line("Yosys"), HasSubstr("apt-get install yosys"));
  EXPECT_THAT(Line("Slurm"), HasSubstr("apt-get install slurm-client"));
}

TEST_F(Doctor, VersionsAreTheFirstLinesWithANumber) {
  Install("yosys", "\\n  hello\\nYosys 0.23 (git)\\nYosys 99\\n");
  Install("verilator", "Verilator 5.006\\n");
  EXPECT_THAT(Line("Yosys"), HasSubstr("  Yosys 0.23 (git)  "));
  EXPECT_THAT(Line("Yosys"), Not(HasSubstr("apt-get")));
  EXPECT_THAT(Line("Verilator"), HasSubstr("  Verilator 5.006  "));
}

TEST_F(Doctor, AProgramThatSaysNoNumberIsInstalled) {
  Install("npm", "hello\\n");
  EXPECT_THAT(Line("npm"), HasSubstr("  installed  "));
  Install("npm", "");
  EXPECT_THAT(Line("npm"), HasSubstr("  installed  "));
}

TEST_F(Doctor, LongVersionsAreCut) {
  Install("sinfo", "slurm " + std::string(60, '1') + "\\n");
  EXPECT_THAT(Line("Slurm"), HasSubstr("  slurm " + std::string(42, '1') + "  "));
  Install("sinfo", std::string(200, '2') + "\\nslurm 22\\n");
  EXPECT_THAT(Line("Slurm"), HasSubstr("  slurm 22  ")) << "no version is so long";
}

TEST_F(Doctor, SomeVersionsAreThoseOfTheirPackages) {
  Install("gtkwave", "never called");
  Install("dpkg-query", "3.3.104 of %s\\n' \"$4\" '");
  EXPECT_THAT(Line("GTKWave"), HasSubstr("  3.3.104 of gtkwave  "));
}

TEST_F(Doctor, OnlyWhatCanBeExecutedCounts) {
  Write("bin/yosys", "text");
  EXPECT_THAT(Line("Yosys"), HasSubstr("not installed"));
  std::filesystem::create_directories(Path("bin/verilator"));
  EXPECT_THAT(Line("Verilator"), HasSubstr("not installed")) << "a folder is no program";
}

TEST_F(Doctor, WithoutAPathNothingIsInstalled) {
  const Environment path("PATH", std::nullopt);
  EXPECT_THAT(CallMain(backend, {"doctor"}).out, HasSubstr("apt-get install yosys"));
}

TEST_F(Doctor, WhatARunNeedsMustBeReadable) {
  backend.data_dir = "/data";
  EXPECT_THAT(Line("machines"), HasSubstr("  1 in /data  "));
  EXPECT_THAT(Line("workloads"), HasSubstr("  2 in /data  "));
  backend.load_machine = [](const std::string& path, const std::vector<std::string>&) {
    throw InputError(path + ".toml:3: sms: expected a number");
    return MachineConfig{};
  };
  const Ended ended = Call();
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.out, HasSubstr("Something that smk run and smk compare need is missing"));
  EXPECT_THAT(Line("machines"), HasSubstr("gtx980.toml:3: sms: expected a number"));
  EXPECT_THAT(Line("machines"), HasSubstr("set SMK_DATA_DIR"));
}

TEST_F(Doctor, NoWorkloadsAreTooFew) {
  backend.data_dir = "/data";
  backend.list_workloads = [] { return std::vector<std::string>{}; };
  EXPECT_EQ(Call().status, 1);
  EXPECT_THAT(Line("workloads"), HasSubstr("none in /data"));
}

TEST_F(Doctor, TheCacheIsShownOrHowToHaveOne) {
  {
    const Environment cache("SMK_CACHE_DIR", "/my/cache");
    EXPECT_THAT(Line("cache"), HasSubstr("  /my/cache  "));
  }
  const Environment one("SMK_CACHE_DIR", std::nullopt), two("XDG_CACHE_HOME", std::nullopt),
      home("HOME", std::nullopt);
  EXPECT_THAT(Line("cache"), HasSubstr("  none  "));
  EXPECT_THAT(Line("cache"), HasSubstr("set SMK_CACHE_DIR"));
}

}  // namespace
}  // namespace smk::sim
