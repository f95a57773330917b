// SPDX-License-Identifier: Apache-2.0
// Commands that are killed: what they leave behind is no result, and does not stand in the way of
// the next.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <functional>
#include <thread>

#include "sim/command.h"

namespace smk {
namespace {

using testing::HasSubstr;

class Killed : public CommandTest {
 protected:
  // Starts a call in a process group of its own, which the members of this test share.
  void Start(const std::string& arguments) {
    child = fork();
    if (child != 0) return;
    setpgid(0, 0);
    const std::string command = "cd '" + folder.string() + "' && SMK_CACHE_DIR=cache exec '" +
                                SMK_BINARY + "' " + arguments + " >/dev/null 2>&1 </dev/null";
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  // Waits until it is so, 20 seconds at most.
  static bool Becomes(const std::function<bool()>& so) {
    for (int i = 0; i < 2000; ++i) {
      if (so()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  // Ends the process that was started, and only this; gives the signal by which it ended. Its
  // children hold its folder until they know.
  int Kill(int signal) {
    kill(child, signal);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(Becomes([&] { return !SomeoneIsLeft(); }));
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }
  // Whether a process of its group is left.
  bool SomeoneIsLeft() const { return kill(-child, 0) == 0; }
  // How many processes its group has.
  std::size_t Processes() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      count += getpgid(std::stoi(name)) == child ? 1 : 0;
    }
    return count;
  }
  void TearDown() override {
    if (child > 0) kill(-child, SIGKILL);
    CommandTest::TearDown();
  }

  pid_t child = -1;
};

constexpr char kLong[] = " --cycles 1G --no-cache";

TEST_F(Killed, ARunLeavesNoResultAndTheNextTakesItsFolder) {
  for (const int signal : {SIGKILL, SIGTERM, SIGINT}) {
    Start("run sgemm --policy smk --out out" + std::string(kLong));
    ASSERT_TRUE(Becomes([&] { return Exists("out/.smk-run"); }));
    EXPECT_EQ(Kill(signal), signal);
    Write("out/stats.json.aB3xY9", "{");  // as if it had been writing
    const Outcome report = Smk("report out");
    EXPECT_EQ(report.status, 2);
    EXPECT_EQ(report.err,
              "smk: out: there are no results: the run that writes there was killed before its "
              "end\n");
    EXPECT_FALSE(Exists("out/manifest.json"));
    EXPECT_FALSE(Exists("out/stats.json"));
    const Outcome next = Smk("run sgemm --policy smk --cycles 2k --out out");
    EXPECT_EQ(next.status, 0) << next.err;
    EXPECT_EQ(Json("out/manifest.json")["status"], "PASS");
    EXPECT_FALSE(Exists("out/stats.json.aB3xY9"));
    EXPECT_EQ(Smk("report out").err, "");
    EXPECT_FALSE(Exists("out/.smk-run"));
    std::filesystem::remove_all(Path("out"));
  }
}

TEST_F(Killed, ResultsThatWereThereStayWhole) {
  ASSERT_EQ(Smk("run sgemm --policy smk --cycles 2k --out out").status, 0);
  const std::string stats = Read("out/stats.json"), manifest = Read("out/manifest.json");
  Start("run sgemm+lbm --policy smk --out out" + std::string(kLong));
  // Its isolated runs have a process of their own.
  ASSERT_TRUE(Becomes([&] { return Processes() > 1; }));
  Kill(SIGKILL);
  EXPECT_EQ(Read("out/stats.json"), stats);
  EXPECT_EQ(Read("out/manifest.json"), manifest);
  const Outcome report = Smk("report out");
  EXPECT_EQ(report.status, 0);
  EXPECT_NE(report.err.find("of an earlier run; the one that writes there was killed"),
            std::string::npos);
}

TEST_F(Killed, OneRunAtATimeWritesIntoAFolder) {
  Start("run sgemm --policy smk --out out" + std::string(kLong));
  ASSERT_TRUE(Becomes([&] { return Exists("out/.smk-run"); }));
  for (const char* arguments :
       {"run sgemm --cycles 2k --out out", "compare sgemm --cycles 2k --out out",
        "run sgemm --cycles 2k --force --out out"}) {
    const Outcome second = Smk(arguments);
    EXPECT_EQ(second.status, 2) << arguments;
    EXPECT_EQ(second.err, "smk: --out out: another run is writing there\n");
  }
  EXPECT_EQ(Smk("report out").err,
            "smk: out: there are no results: the run that writes there is still at work\n");
  Kill(SIGKILL);
  EXPECT_EQ(Smk("run sgemm --cycles 2k --out out").status, 0);
}

TEST_F(Killed, ChildrenDoNotOutliveTheCommand) {
  Start("compare sgemm+lbm --policies even,smk --jobs 2" + std::string(kLong));
  ASSERT_TRUE(Becomes([&] { return Processes() == 3; })) << "two at a time, and the command";
  Kill(SIGKILL);  // waits for them
}

TEST_F(Killed, AChildOfACompareThatIsKilledIsAFailure) {
  Start("compare sgemm --policies smk --jobs 1 --out out" + std::string(kLong));
  ASSERT_TRUE(Becomes([&] { return Processes() == 2; }));
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const pid_t process = std::stoi(name);
    if (process != child && getpgid(process) == child) kill(process, SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_THAT(Json("out/manifest.json")["status"].get<std::string>(),
              HasSubstr("was ended by signal 9"));
  EXPECT_FALSE(Exists("out/compare.json"));
}

TEST_F(Killed, AHalfWaveIsNotTakenForOne) {
  // Alone, no other run goes before it.
  Start("run sgemm --policy isolated --control rtl --wave --out out" + std::string(kLong));
  ASSERT_TRUE(Becomes([&] { return Exists("out/wave.fst.part"); }));
  Kill(SIGKILL);
  EXPECT_FALSE(Exists("out/wave.fst"));
  const Outcome next = Smk("run sgemm --policy smk-p --cycles 2k --out out");
  EXPECT_EQ(next.status, 0) << next.err;
  EXPECT_FALSE(Exists("out/wave.fst.part")) << "of the run before";
}

TEST_F(Killed, AKilledRunLeavesTheCacheAsItWas) {
  Start("run sgemm+lbm --policy smk --cycles 1G");
  ASSERT_TRUE(Becomes([&] { return Processes() > 1; }));
  Kill(SIGKILL);
  const Outcome next = Smk("run sgemm+lbm --policy smk --cycles 2k");
  EXPECT_EQ(next.status, 0) << next.err;
  EXPECT_EQ(next.err, "") << "no warning of a damaged entry";
}

}  // namespace
}  // namespace smk
