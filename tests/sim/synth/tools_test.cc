// SPDX-License-Identifier: Apache-2.0
// Calls of tools: several at a time, kept when they are complete, told when they fail.
#include "synth/tools.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "sim/refusal.h"
#include "sim/scratch.h"
#include "synth/blocks.h"

namespace smk::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A run of the shell.
ToolRun Shell(const std::string& name, const std::string& script,
              std::vector<std::string> results = {"r"}) {
  ToolRun run;
  run.name = name;
  run.arguments = {"sh", "-c", script};
  run.key = "key-of-" + name;
  run.results = std::move(results);
  return run;
}

class Tools : public ScratchTest {
 protected:
  void SetUp() override {
    ScratchTest::SetUp();
    cache_ = std::make_unique<ToolCache>(Path("cache"));
  }
  // What Make() throws; "" when all is made.
  std::string Make(const std::vector<ToolRun>& runs, unsigned jobs = 2) {
    try {
      cache_->Make(runs, jobs, [&](std::size_t done, const std::string& names) {
        seen_.push_back(std::to_string(done) + ": " + names);
      });
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }

  std::unique_ptr<ToolCache> cache_;
  std::vector<std::string> seen_;
};

TEST_F(Tools, ResultsAreKeptUnderTheirKey) {
  const ToolRun run = Shell("a", "echo \"$WHAT\" >\"$SMK_OUT/x.txt\"; echo said", {"x.txt"});
  ToolRun with = run;
  with.environment = {{"WHAT", "it's here"}};
  EXPECT_FALSE(cache_->Has(with));
  EXPECT_EQ(Make({with}), "");
  EXPECT_TRUE(cache_->Has(with));
  EXPECT_EQ(cache_->Folder(with), Path("cache/key-of-a"));
  EXPECT_EQ(Read("cache/key-of-a/x.txt"), "it's here\n");
  EXPECT_EQ(Read("cache/key-of-a/log"), "said\n");
  EXPECT_THAT(Names("cache"), ElementsAre("key-of-a")) << "nothing temporary is left";
}

TEST_F(Tools, WhatIsThereIsNotMadeAgain) {
  const ToolRun run = Shell("a", "echo x >>" + Path("calls") + "; echo >$SMK_OUT/r", {"r"});
  EXPECT_EQ(Make({run}), "");
  EXPECT_EQ(Make({run}), "");
  EXPECT_EQ(Read("calls"), "x\n");
  std::filesystem::remove(Path("cache/key-of-a/r"));
  EXPECT_FALSE(cache_->Has(run)) << "all of its results must be there";
}

TEST_F(Tools, ANeverFinishedRunIsMadeAgain) {
  Write("cache/key-of-a.1234.0/r", "half");  // of a process that was killed
  const ToolRun run = Shell("a", "echo whole >$SMK_OUT/r", {"r"});
  EXPECT_FALSE(cache_->Has(run));
  EXPECT_EQ(Make({run}), "");
  EXPECT_EQ(Read("cache/key-of-a/r"), "whole\n");
}

TEST_F(Tools, AFailureTellsTheLastLinesAndKeepsTheLog) {
  const ToolRun run =
      Shell("a", "for i in 1 2 3 4 5 6; do echo line $i; echo; done; echo ERROR: no >&2; exit 3");
  EXPECT_EQ(Make({run}), "sh of a failed: line 3 | line 4 | line 5 | line 6 | ERROR: no (log: " +
                             Path("cache/failed-a.log") + ")");
  EXPECT_THAT(Read("cache/failed-a.log"), HasSubstr("line 1\n"));
  EXPECT_THAT(Names("cache"), ElementsAre("failed-a.log"));
  EXPECT_FALSE(cache_->Has(run));
}

TEST_F(Tools, ARunWithoutAllItsResultsHasFailed) {
  const ToolRun run = Shell("a", "echo >$SMK_OUT/one; echo done", {"one", "two"});
  EXPECT_THAT(Make({run}), HasSubstr("sh of a failed: done"));
}

TEST_F(Tools, AProgramThatIsNotThereHasFailed) {
  ToolRun run = Shell("a", "");
  run.arguments = {"/no/such/program"};
  EXPECT_THAT(Make({run}), HasSubstr("/no/such/program of a failed: "));
}

TEST_F(Tools, AProgramThatIsKilledHasFailed) {
  EXPECT_THAT(Make({Shell("a", "kill -9 $$")}), HasSubstr("sh of a failed: "));
}

TEST_F(Tools, AFailureEndsTheOthers) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(Make({Shell("slow", "exec sleep 60"), Shell("bad", "exit 1")}),
              HasSubstr("sh of bad failed"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  EXPECT_THAT(Names("cache"), ElementsAre("failed-bad.log")) << "nothing of the slow one is left";
}

TEST_F(Tools, NoMoreAtATimeThanWasAskedFor) {
  std::vector<ToolRun> runs;
  const std::string script = "mkdir " + Path("here.") + "$$; ls -d " + Path("here.") +
                             "* | wc -l >>" + Path("counts") + "; sleep 0.05; rmdir " +
                             Path("here.") + "$$; echo >$SMK_OUT/r";
  for (int i = 0; i < 8; ++i) runs.push_back(Shell("n" + std::to_string(i), script, {"r"}));
  EXPECT_EQ(Make(runs, 3), "");
  std::istringstream counts(Read("counts"));
  int lines = 0;
  for (int count = 0; counts >> count; ++lines) EXPECT_LE(count, 3);
  EXPECT_EQ(lines, 8);
  for (const ToolRun& run : runs) EXPECT_TRUE(cache_->Has(run));
}

TEST_F(Tools, WhoWatchesSeesWhatIsDoneAndUnderWay) {
  const std::string made = "echo >$SMK_OUT/r";
  EXPECT_EQ(Make({Shell("a", made, {"r"})}, 1), "");
  seen_.clear();
  EXPECT_EQ(Make({Shell("a", made, {"r"}), Shell("b", made, {"r"}), Shell("c", made, {"r"})}, 1),
            "");
  EXPECT_THAT(seen_, ElementsAre("1: b", "2: c")) << "a was there before";
}

TEST_F(Tools, NothingToDoIsDone) {
  EXPECT_EQ(Make({}), "");
  EXPECT_THAT(seen_, ElementsAre());
}

TEST_F(Tools, SeveralProcessesMayShareTheFolder) {
  const ToolRun run = Shell("a", "sleep 0.05; echo >$SMK_OUT/r", {"r"});
  ToolCache other(Path("cache"));
  // Another process finishes the same while this one is under way.
  ToolRun late = run;
  late.arguments = {"sh", "-c",
                    "mkdir -p " + Path("cache/key-of-a") + "; echo first >" +
                        Path("cache/key-of-a/r") + "; echo >$SMK_OUT/r"};
  EXPECT_EQ(Make({late}), "");
  EXPECT_EQ(Read("cache/key-of-a/r"), "first\n") << "what is there stays";
  EXPECT_TRUE(other.Has(run));
  EXPECT_THAT(Names("cache"), ElementsAre("key-of-a"));
}

TEST_F(Tools, ACacheWithoutAFolderLeavesNothing) {
  std::string folder;
  {
    ToolCache temporary("");
    folder = temporary.folder();
    EXPECT_TRUE(std::filesystem::is_directory(folder));
    temporary.Make({Shell("a", "echo >$SMK_OUT/r", {"r"})}, 1, [](std::size_t, const auto&) {});
    EXPECT_TRUE(temporary.Has(Shell("a", "", {"r"})));
    try {
      temporary.Make({Shell("b", "echo sorry; exit 1")}, 1, [](std::size_t, const auto&) {});
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "sh of b failed: sorry") << "no log is kept";
    }
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST_F(Tools, AFolderThatCannotBeMadeIsNamed) {
  Write("file", "x");
  EXPECT_EQ(Refusal([&] { ToolCache cache(Path("file/inner")); }),
            Path("file/inner") + ": Not a directory");
}

TEST_F(Tools, AProgramIsFoundOnThePath) {
  Write("bin/mytool", "#!/bin/sh\necho 'My tool 1.2  '\necho more\n");
  Write("bin/notes", "no program\n");
  std::filesystem::create_directories(Path("bin/folder"));
  chmod(Path("bin/mytool").c_str(), 0755);
  const std::string old = std::getenv("PATH");
  const Environment path("PATH", Path("bin") + ":" + old);
  EXPECT_EQ(Refusal([] { RequireTool("mytool", "x"); }), "accepted");
  for (const char* name : {"no-such-tool", "folder"}) {
    EXPECT_EQ(Refusal([&] { RequireTool(name, "some-package"); }),
              std::string(name) +
                  " is not installed; scripts/setup build synth, or apt-get install some-package");
  }
  EXPECT_EQ(ToolVersion("mytool -V"), "My tool 1.2");
  EXPECT_EQ(ToolVersion("true"), "");
  EXPECT_EQ(ToolVersion("cat"), "") << "who reads gets nothing to read";
}

TEST(EssentialSource, CommentsAndBlanksDoNotCount) {
  const std::string plain = EssentialVerilog("module x; assign a = b; endmodule");
  EXPECT_EQ(EssentialVerilog("// title\nmodule  x;\n\tassign a = b; // why\n\nendmodule\n"), plain);
  EXPECT_EQ(EssentialVerilog("module x; /* one\ntwo */ assign a = b;\nendmodule"), plain);
  EXPECT_EQ(EssentialVerilog("module x; assign a = b; endmodule// the last word"), plain);
  EXPECT_EQ(EssentialVerilog("module/**/x; assign a/*/ not the end */= b; endmodule"),
            "module x; assign a = b; endmodule")
      << "a comment parts words, and needs more than three characters";
  EXPECT_EQ(EssentialVerilog("a /* open"), "a");
  EXPECT_NE(EssentialVerilog("module x; assign a = c; endmodule"), plain);
  EXPECT_NE(EssentialVerilog("module x; assign ab; endmodule"),
            EssentialVerilog("module x; assign a b; endmodule"));
}

}  // namespace
}  // namespace smk::sim
