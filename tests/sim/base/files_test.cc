// SPDX-License-Identifier: Apache-2.0
// Files that are there completely or not at all, also when the disk is full.
#include "base/files.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <thread>

#include "sim/refusal.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// No file may grow beyond `bytes` while this lives: what a full disk looks like to write().
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old_);
    rlimit small = old_;
    small.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit old_{};
  void (*handler_)(int) = SIG_DFL;
};

using Files = ScratchTest;

// What WriteFileAtomically throws; "" when it wrote.
std::string WriteError(const std::string& path, const std::string& contents) {
  try {
    WriteFileAtomically(path, contents);
  } catch (const InputError&) {
    return "an InputError";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST_F(Files, WholeContentsAreReadWhateverTheyAre) {
  std::string every;
  for (int c = 0; c < 256; ++c) every += static_cast<char>(c);
  EXPECT_EQ(ReadFile(Write("bytes", every)), every);
  EXPECT_EQ(ReadFile(Write("lines", "a\r\nb\n\n")), "a\r\nb\n\n");
}

TEST_F(Files, AnEmptyFileIsEmptyText) { EXPECT_EQ(ReadFile(Write("empty", "")), ""); }

TEST_F(Files, WhatCannotBeReadIsNamed) {
  EXPECT_EQ(Refusal([&] { ReadFile(Path("nothing")); }), Path("nothing") + ": cannot be read");
  EXPECT_EQ(Refusal([&] { ReadFile(folder().string()); }), folder().string() + ": cannot be read");
}

TEST_F(Files, WhatIsWrittenIsReadBack) {
  Chance chance;
  for (int round = 0; round < 50; ++round) {
    std::string text(chance.Below(200'000), '\0');
    for (char& c : text) c = static_cast<char>(chance.Any());
    WriteFileAtomically(Path("x"), text);
    ASSERT_EQ(ReadFile(Path("x")), text);
  }
  EXPECT_THAT(Names(), ElementsAre("x")) << "nothing temporary is left";
}

TEST_F(Files, AFileIsReplacedNotChanged) {
  WriteFileAtomically(Path("x"), "old");
  std::filesystem::create_hard_link(Path("x"), Path("other"));
  WriteFileAtomically(Path("x"), "new");
  EXPECT_EQ(Read("x"), "new");
  EXPECT_EQ(Read("other"), "old") << "who has the old file open goes on reading it";
}

TEST_F(Files, AFileHasTheRightsOfAnyNewFile) {
  const mode_t before = umask(0027);
  WriteFileAtomically(Path("x"), "");
  umask(before);
  struct stat status {};
  ASSERT_EQ(stat(Path("x").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST_F(Files, AFullDiskLeavesTheOldFile) {
  WriteFileAtomically(Path("x"), "old");
  std::string said;
  {
    const FullDisk full(1000);
    said = WriteError(Path("x"), std::string(5000, 'n'));
  }
  EXPECT_EQ(said, Path("x") + ": cannot be written: File too large");
  EXPECT_EQ(Read("x"), "old");
  EXPECT_THAT(Names(), ElementsAre("x"));
}

TEST_F(Files, AFullDiskLeavesNoNewFile) {
  {
    const FullDisk full(1000);
    EXPECT_EQ(WriteError(Path("fits"), std::string(1000, 'n')), "") << "to the last byte";
    EXPECT_NE(WriteError(Path("x"), std::string(1001, 'n')), "");
  }
  EXPECT_THAT(Names(), ElementsAre("fits"));
}

TEST_F(Files, AFileCannotTakeAFoldersPlace) {
  std::filesystem::create_directory(Path("x"));
  EXPECT_EQ(WriteError(Path("x"), "text"), Path("x") + ": cannot be written: Is a directory");
  EXPECT_THAT(Names(), ElementsAre("x"));
}

TEST_F(Files, AFolderThatIsNotThereIsToldByTheFile) {
  EXPECT_EQ(WriteError(Path("no/x"), "text"),
            Path("no/x") + ": cannot be written: No such file or directory");
}

TEST_F(Files, ReadersSeeTheOldOrTheNewFileNeverAPart) {
  const std::string a(300'000, 'a'), b(200'000, 'b');
  WriteFileAtomically(Path("x"), a);
  std::thread writer([&] {
    for (int i = 0; i < 40; ++i) WriteFileAtomically(Path("x"), i % 2 == 0 ? b : a);
  });
  int wrong = 0;
  for (int i = 0; i < 200; ++i) {
    const std::string seen = ReadFile(Path("x"));
    if (seen != a && seen != b) ++wrong;
  }
  writer.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Files, TwoWritersDoNotMeet) {
  const auto write = [&](char c) {
    for (int i = 0; i < 30; ++i) WriteFileAtomically(Path("x"), std::string(100'000, c));
  };
  std::thread one(write, '1'), two(write, '2');
  one.join();
  two.join();
  const std::string text = Read("x");
  ASSERT_EQ(text.size(), 100'000u);
  EXPECT_EQ(text.find_first_not_of(text[0]), std::string::npos);
  EXPECT_THAT(Names(), ElementsAre("x"));
}

TEST_F(Files, NoOutputFolderTakesEverythingAndDoesNothing) {
  const OutputFolder none = OutputFolder::Prepare("", false);
  EXPECT_FALSE(none);
  none.Write("stats.json", "text");
  none.Clear();
  EXPECT_THAT(Names(), ElementsAre());
  EXPECT_FALSE(std::filesystem::exists("stats.json"));
  EXPECT_FALSE(OutputFolder());
}

TEST_F(Files, AnOutputFolderIsMadeWithThoseAroundIt) {
  const OutputFolder out = OutputFolder::Prepare(Path("a/b/c"), false);
  EXPECT_TRUE(out);
  EXPECT_EQ(out.path(), Path("a/b/c"));
  EXPECT_THAT(Names("a/b/c"), ElementsAre(".smk-run")) << "the attempt to write has left nothing";
  out.Write("stats.json", "{}");
  EXPECT_EQ(Read("a/b/c/stats.json"), "{}");
}

TEST_F(Files, AFolderOfOursMayBeUsedAgain) {
  for (const char* name :
       {"config.toml", "manifest.json", "stats.json", "kernels.csv", "tbs.csv", "decisions.csv",
        "samples.csv", "timeline.json.gz", "compare.csv", "compare.json", "wave.fst", "wave.gtkw",
        "report.html", "timeline.svg", "wave.fst.part"}) {
    Write(std::string("out/") + name, "x");
  }
  EXPECT_TRUE(OutputFolder::Prepare(Path("out"), false));
}

TEST_F(Files, WhatIsMadeOfARunIsNoneOfItsOutputs) {
  for (const char* name : {"manifest.json", "stats.json", "report.html", "timeline.svg"}) {
    Write(std::string("out/") + name, "x");
  }
  const OutputFolder out = OutputFolder::Prepare(Path("out"), false);
  EXPECT_THAT(out.Outputs(), ElementsAre("stats.json"));
  out.Clear();
  EXPECT_THAT(out.Outputs(), ElementsAre());
  EXPECT_FALSE(Exists("out/timeline.svg")) << "it shows the run before";
}

TEST_F(Files, AFolderHasOneWriterAtATime) {
  EXPECT_EQ(WritingInto(Path("out")), Writing::kNobody) << "there is no such folder";
  {
    const OutputFolder out = OutputFolder::Prepare(Path("out"), false);
    EXPECT_EQ(WritingInto(Path("out")), Writing::kAtWork);
    EXPECT_EQ(Refusal([&] { OutputFolder::Prepare(Path("out"), true); }),
              "--out " + Path("out") + ": another run is writing there");
  }
  EXPECT_EQ(WritingInto(Path("out")), Writing::kNobody);
  Write("out/.smk-run", "");  // of one that was killed
  EXPECT_EQ(WritingInto(Path("out")), Writing::kKilled);
  EXPECT_TRUE(OutputFolder::Prepare(Path("out"), false));
  EXPECT_THAT(Names("out"), ElementsAre());
}

TEST_F(Files, WhatIsNoFileIsNotRead) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  for (const std::string& path : {Path("pipe"), std::string("/dev/zero")}) {
    EXPECT_EQ(Refusal([&] { ReadFile(path); }),
              path + ": expected a file of at most 1024 MB, got a device or a pipe");
    EXPECT_EQ(Refusal([&] { CheckReadable(path, ~std::uintmax_t{0}); }),
              path + ": expected a file, got a device or a pipe");
  }
  Write("large", "");
  std::filesystem::resize_file(Path("large"), (std::uintmax_t{3} << 30) + 1);
  EXPECT_EQ(Refusal([&] { ReadFile(Path("large")); }),
            Path("large") + ": expected a file of at most 1024 MB, got one of 3072 MB");
  CheckReadable(Path("nothing"));
  CheckReadable(Path("."));
}

TEST_F(Files, WhatAKilledCommandHasLeftGoes) {
  for (const char* name : {".smk-probe", ".smk-probe.aB3xY9", "stats.json.Zz09aa", "wave.fst.part",
                           "wave.fst.part.hier", "timeline.json.gz.abcdef", "tbs.csv"}) {
    Write(std::string("out/") + name, "x");
  }
  EXPECT_TRUE(OutputFolder::Prepare(Path("out"), false));
  EXPECT_THAT(Names("out"), ElementsAre("tbs.csv")) << "that is whole";
}

TEST_F(Files, OnlyOurOwnHalvesAreTakenForOurs) {
  for (const char* name : {"stats.json.abc", "stats.json.abcdefg", "thesis.abcdef", "stats.json.",
                           "abcdef", "xstats.json.abcdef"}) {
    Write(std::string("out/") + name, "precious");
    EXPECT_THAT(Refusal([&] { OutputFolder::Prepare(Path("out"), false); }), HasSubstr(name));
    EXPECT_TRUE(OutputFolder::Prepare(Path("out"), true));
    EXPECT_EQ(Read(std::string("out/") + name), "precious");
    std::filesystem::remove(Path(std::string("out/") + name));
  }
}

TEST_F(Files, AFolderOfOthersIsRefusedByTheirFile) {
  Write("out/stats.json", "x");
  Write("out/thesis.tex", "precious");
  EXPECT_EQ(Refusal([&] { OutputFolder::Prepare(Path("out"), false); }),
            "--out " + Path("out") +
                ": the folder holds other things ('thesis.tex'); give --force to write there all "
                "the same");
  EXPECT_TRUE(OutputFolder::Prepare(Path("out"), true));
  EXPECT_EQ(Read("out/thesis.tex"), "precious");
}

TEST_F(Files, AComparisonsFolderHasOneFolderForEachPolicy) {
  std::filesystem::create_directories(Path("out/smk-pw"));
  std::filesystem::create_directories(Path("out/table-2-3"));
  EXPECT_TRUE(OutputFolder::Prepare(Path("out"), false, {"smk-pw"}));
  EXPECT_THAT(Refusal([&] { OutputFolder::Prepare(Path("out"), false, {"smk"}); }),
              HasSubstr("'smk-pw'"));
  EXPECT_THAT(Refusal([&] { OutputFolder::Prepare(Path("out"), false); }),
              HasSubstr("holds other things"))
      << "a run has no folders";
}

TEST_F(Files, AnOutputFolderIsNoFile) {
  Write("out", "x");
  EXPECT_EQ(Refusal([&] { OutputFolder::Prepare(Path("out"), true); }),
            "--out " + Path("out") + ": is not a folder");
  EXPECT_EQ(Refusal([&] { OutputFolder::Prepare(Path("out/inner"), true); }),
            "--out " + Path("out/inner") + ": Not a directory");
}

TEST_F(Files, ClearTakesOursAndLeavesTheRest) {
  for (const char* name : {"stats.json", "tbs.csv", "report.html", "notes.txt"}) {
    Write(std::string("out/") + name, "x");
  }
  std::filesystem::create_directories(Path("out/smk"));
  OutputFolder::Prepare(Path("out"), true).Clear();
  EXPECT_THAT(Names("out"), ElementsAre("notes.txt", "smk"));
}

}  // namespace
}  // namespace smk::sim
