// SPDX-License-Identifier: Apache-2.0
// A disk that gets full while a run writes: one line that says so, and nothing half written.
#include "sim/command.h"

namespace smk {
namespace {

class FullDisk : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    if (!CanMount()) GTEST_SKIP() << "cannot mount a small file system here";
  }
  // A script in which $smk is the command; what it prints goes into out and err, and its status
  // into status.
  void Run(const std::string& mounts, const std::string& arguments) const {
    ASSERT_EQ(InNamespace(mounts + "\nstatus=0\n'" SMK_BINARY "' " + arguments +
                          " >out 2>err || status=$?\necho $status >status\n"
                          "ls disk/out >names 2>/dev/null || true\n"
                          "cp disk/out/manifest.json . || true\n"),
              0);
  }
};

constexpr char kWave[] =
    "run sgemm --policy isolated --cycles 2k --control rtl --wave --no-cache --out disk/out";

TEST_F(FullDisk, AWaveEndsAsEveryOtherOutput) {
  // Too small for the names of the signals, which are in a file beside it; for their values.
  for (const auto& [size, part] :
       {std::pair{"40k", ".hier"}, std::pair{"600k", ".hier"}, std::pair{"1400k", ""}}) {
    SCOPED_TRACE(size);
    Run(std::string("mount -t tmpfs -o size=") + size + " none disk", kWave);
    EXPECT_EQ(Read("status"), "1\n") << Read("err");
    EXPECT_EQ(Read("out"), "FAIL: " + Path("disk/out/wave.fst.part") + part +
                               ": cannot be written: No space left on device\n");
    EXPECT_EQ(Read("err"), "");
    EXPECT_EQ(Read("names"), "manifest.json\n");
    EXPECT_NE(Json("manifest.json")["status"].get<std::string>().find("No space left on device"),
              std::string::npos);
  }
}

// The library keeps some in files without a name, in /tmp.
TEST_F(FullDisk, AWaveNamesTheFolderOfItsTemporaryFiles) {
  if (std::string(SMK_BINARY).rfind("/tmp/", 0) == 0) {
    GTEST_SKIP() << "the program lies in /tmp, which is covered here";
  }
  Run("mount --bind '" + folder.string() + "' /mnt\nmount -t tmpfs -o size=16k none /tmp\ncd /mnt",
      kWave);
  EXPECT_EQ(Read("status"), "1\n") << Read("err");
  EXPECT_EQ(Read("out"), "FAIL: /tmp: cannot be written: No space left on device\n");
  EXPECT_EQ(Read("names"), "manifest.json\n");
}

TEST_F(FullDisk, AWaveThatHasRoomIsWritten) {
  Run("mount -t tmpfs -o size=64m none disk", kWave);
  EXPECT_EQ(Read("status"), "0\n") << Read("out") << Read("err");
  EXPECT_NE(Read("names").find("wave.fst\nwave.gtkw\n"), std::string::npos) << Read("names");
}

TEST_F(FullDisk, AHalfTraceIsRemoved) {
  Run("mount -t tmpfs -o size=64k none disk", "trace export sgemm --tbs 4 --out disk/out");
  EXPECT_EQ(Read("status"), "1\n") << Read("err");
  EXPECT_EQ(Read("out"),
            "FAIL: disk/out/kernel-1.traceg: cannot be written: No space left on "
            "device\n");
  EXPECT_EQ(Read("err"), "");
  EXPECT_EQ(Read("names"), "");
}

TEST_F(FullDisk, AReportFailsAsEveryOtherOutput) {
  ASSERT_EQ(Smk("run sgemm --machine mini --cycles 2k --out one --quiet").status, 0);
  Write("page.html", "<!--TITLE--><!--DATA-->");
  Run("mount -t tmpfs -o size=8k none disk\nmkdir disk/out\nexport SMK_REPORT_PAGE=page.html",
      "report one --out disk/out/x.html");
  EXPECT_EQ(Read("status"), "1\n") << Read("err");
  EXPECT_EQ(Read("out"), "FAIL: disk/out/x.html: cannot be written: No space left on device\n");
  EXPECT_EQ(Read("err"), "");
  EXPECT_EQ(Read("names"), "");
}

}  // namespace
}  // namespace smk
