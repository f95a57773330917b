// SPDX-License-Identifier: Apache-2.0
// The line of progress: on a terminal only, and gone at the end.
#include "base/progress.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "sim/scratch.h"

namespace smk::sim {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr char kWipe[] = "\r\033[K";

// A terminal in place of stderr; Seen() is what stands in it.
class Terminal {
 public:
  Terminal() : master_(posix_openpt(O_RDWR | O_NOCTTY)), old_(dup(STDERR_FILENO)) {
    if (master_ < 0 || grantpt(master_) != 0 || unlockpt(master_) != 0) return;
    const int slave = open(ptsname(master_), O_RDWR | O_NOCTTY);
    if (slave < 0) return;
    dup2(slave, STDERR_FILENO);
    close(slave);
    fcntl(master_, F_SETFL, O_NONBLOCK);
    there_ = true;
  }
  ~Terminal() {
    dup2(old_, STDERR_FILENO);
    close(old_);
    close(master_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  bool there() const { return there_; }
  std::string Seen() const {
    std::string seen;
    char buffer[4096];
    for (ssize_t n; (n = read(master_, buffer, sizeof buffer)) > 0;) {
      seen.append(buffer, static_cast<std::size_t>(n));
    }
    return seen;
  }

 private:
  int master_, old_;
  bool there_ = false;
};

void ShowEverything(Progress* progress) {
  progress->Cycles("a under smk", 500, 1000);
  progress->Runs(3, 10);
  progress->Line("synthesis");
  progress->Clear();
}

TEST(ProgressLine, APipeSeesNothing) {
  testing::internal::CaptureStderr();
  {
    Progress progress(false);
    ShowEverything(&progress);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(ProgressLine, ATerminalSeesIt) {
  const Terminal terminal;
  if (!terminal.there()) GTEST_SKIP() << "no pseudo terminal";
  Progress progress(false);
  progress.Runs(3, 10);
  EXPECT_EQ(terminal.Seen(), std::string(kWipe) + "3 of 10 simulations done");
  progress.Line("synthesis: sm_assign");
  EXPECT_EQ(terminal.Seen(), std::string(kWipe) + "synthesis: sm_assign") << "over the first";
}

TEST(ProgressLine, QuietIsQuietOnATerminalToo) {
  const Terminal terminal;
  if (!terminal.there()) GTEST_SKIP() << "no pseudo terminal";
  {
    Progress progress(true);
    ShowEverything(&progress);
  }
  EXPECT_EQ(terminal.Seen(), "");
}

TEST(ProgressLine, NothingOfItStaysBehind) {
  const Terminal terminal;
  if (!terminal.there()) GTEST_SKIP() << "no pseudo terminal";
  {
    Progress progress(false);
    progress.Runs(1, 2);
  }
  EXPECT_THAT(terminal.Seen(), EndsWith(std::string("done") + kWipe));
  {
    Progress progress(false);
    progress.Runs(1, 2);
    progress.Clear();
    progress.Clear();
  }
  EXPECT_EQ(terminal.Seen(), std::string(kWipe) + "1 of 2 simulations done" + kWipe)
      << "wiped once";
}

TEST(ProgressLine, CyclesAreShownAFewTimesInASecond) {
  const Terminal terminal;
  if (!terminal.there()) GTEST_SKIP() << "no pseudo terminal";
  Progress progress(false);
  for (Cycle done = 0; done < 1000; ++done) progress.Cycles("a", 250 + done, 1000);
  const std::string seen = terminal.Seen();
  EXPECT_EQ(seen.rfind(std::string(kWipe) + "a: 25 % of 1000 cycles", 0), 0u) << seen;
  EXPECT_THAT(seen, Not(HasSubstr("26 %"))) << "a thousand calls take no 200 ms";
}

}  // namespace
}  // namespace smk::sim
