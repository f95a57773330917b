// SPDX-License-Identifier: Apache-2.0
// The command line as a whole: every option that the help of a command offers takes what the help
// says and nothing else; help, versions, and where output goes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include "base/numbers.h"
#include "sim/main_call.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Commands, each with what must follow it.
const std::map<std::string, std::vector<std::string>> kCommands = {
    {"run", {"run", "a+b"}},
    {"compare", {"compare", "a+b"}},
    {"serve", {"serve", "s.toml"}},
    {"sweep", {"sweep", "s.toml"}},
    {"report", {"report", "folder"}},
    {"timeline", {"timeline", "folder"}},
    {"synth", {"synth"}},
    {"list", {"list", "policies"}},
    {"doctor", {"doctor"}},
    {"validate", {"validate", "x"}},
    {"trace info", {"trace", "info", "x"}},
    {"trace export", {"trace", "export", "x"}}};

// An option of a help text: "  --cycles N    core cycles"; "--force" takes nothing.
struct Offer {
  std::string name, type;
  bool again = false;  // it may be given again
};

std::vector<Offer> Offers(const std::string& command) {
  std::vector<std::string> words = Split(command, ' ');
  words.emplace_back("--help");
  const Ended ended = CallMain(FakeBackend(), words);
  EXPECT_EQ(ended.status, 0) << command;
  std::vector<Offer> offers;
  for (const std::string& line : Split(ended.out, '\n')) {
    if (line.rfind("  --", 0) != 0) continue;
    std::istringstream in(line);
    Offer offer;
    in >> offer.name;
    const std::size_t behind = line.find(offer.name) + offer.name.size();
    if (line.compare(behind, 2, "  ") != 0) in >> offer.type;
    offer.again = line.find(" ... ") != std::string::npos;
    offers.push_back(offer);
  }
  return offers;
}

std::vector<std::string> With(const std::string& command, const std::vector<std::string>& more) {
  std::vector<std::string> words = kCommands.at(command);
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(CommandLine, EveryCommandOffersSomething) {
  for (const auto& [command, words] : kCommands) {
    EXPECT_EQ(Offers(command).empty(), command == "doctor") << command;
  }
}

TEST(CommandLine, AnOptionWithoutItsValueIsRefusedByName) {
  for (const auto& [command, words] : kCommands) {
    for (const Offer& offer : Offers(command)) {
      const bool may_be_empty = offer.name == "--timeline" || offer.name == "--wave" ||
                                command + offer.name == "synth--json";
      if (offer.type.empty() || may_be_empty) continue;
      EXPECT_THAT(MainRefusal(FakeBackend(), With(command, {offer.name})), StartsWith(offer.name))
          << command;
    }
  }
}

TEST(CommandLine, AnOptionIsGivenOnceUnlessItsHelpSaysAgain) {
  for (const auto& [command, words] : kCommands) {
    for (const Offer& offer : Offers(command)) {
      if (offer.type.empty() || offer.again || offer.name == "--merge") continue;
      const std::string said =
          MainRefusal(FakeBackend(), With(command, {offer.name, "1", offer.name, "2"}));
      EXPECT_THAT(said, HasSubstr(offer.name)) << command;
      EXPECT_THAT(said, HasSubstr("; see smk help")) << command;
    }
  }
}

TEST(CommandLine, AFlagTakesNoValue) {
  for (const auto& [command, words] : kCommands) {
    for (const Offer& offer : Offers(command)) {
      if (!offer.type.empty()) continue;
      for (const char* value : {"=maybe", "=5"}) {
        EXPECT_THAT(MainRefusal(FakeBackend(), With(command, {offer.name + value})),
                    HasSubstr(offer.name.substr(2)))
            << command;
      }
    }
  }
}

TEST(CommandLine, AnEmptyValueIsNotTakenForNone) {
  for (const auto& [command, option] : std::vector<std::pair<std::string, std::string>>{
           {"run", "--jobs"}, {"run", "--out"}, {"sweep", "--shard"}, {"trace export", "--tbs"}}) {
    EXPECT_THAT(MainRefusal(FakeBackend(), With(command, {option, ""})),
                StartsWith(option + ": expected a value, got ''"));
  }
}

TEST(CommandLine, AMessageOfAnyLengthIsCut) {
  const std::string said =
      MainRefusal(FakeBackend(), {"run", "a", "--cycles", std::string(100000, 'x')});
  EXPECT_THAT(said, StartsWith("--cycles: expected a whole number from 1 to 2000000000"));
  EXPECT_EQ(said.size(), 1003u);
  std::string wide;
  for (int i = 0; i < 2000; ++i) wide += "\u00e4";
  EXPECT_THAT(MainRefusal(FakeBackend(), {"run", "a", "--cycles", wide}), HasSubstr("\u00e4..."));
}

TEST(CommandLine, OptionsOfOneCommandAreNotThoseOfAnother) {
  std::map<std::string, std::string> owners;
  for (const auto& [command, words] : kCommands) {
    for (const Offer& offer : Offers(command)) owners.emplace(offer.name, offer.type);
  }
  EXPECT_GT(owners.size(), 30u);
  for (const auto& [command, words] : kCommands) {
    for (const auto& [option, type] : owners) {
      bool own = false;
      for (const Offer& offer : Offers(command)) own = own || offer.name == option;
      if (own) continue;
      EXPECT_THAT(MainRefusal(FakeBackend(), With(command, {option, "1"})), HasSubstr(option))
          << command;
    }
  }
}

TEST(CommandLine, BeginningsOfOptionsAreNotEnough) {
  EXPECT_THAT(MainRefusal(FakeBackend(), {"run", "a", "--cycle", "5"}), HasSubstr("--cycle"));
  EXPECT_THAT(MainRefusal(FakeBackend(), {"ru", "a"}), HasSubstr("ru"));
}

TEST(CommandLine, ValuesMayBeginWithADash) {
  EXPECT_EQ(MainRefusal(FakeBackend(), {"run", "a", "--cycles=-5"}),
            "--cycles: expected a whole number from 1 to 2000000000, got '-5'");
}

TEST(CommandLine, HelpOfACommandIsTheSameInBothWays) {
  for (const auto& [command, words] : kCommands) {
    if (command.find(' ') != std::string::npos) continue;
    const Ended help = CallMain(FakeBackend(), {"help", command});
    EXPECT_EQ(help.status, 0);
    EXPECT_EQ(help.out, CallMain(FakeBackend(), {command, "--help"}).out) << command;
    EXPECT_THAT(help.out, HasSubstr("Usage: smk " + command)) << command;
  }
  const std::string all = CallMain(FakeBackend(), {"help"}).out;
  for (const auto& [command, words] : kCommands) EXPECT_THAT(all, HasSubstr(words.front()));
  EXPECT_EQ(MainRefusal(FakeBackend(), {"help", "rnu"}),
            "help: no command 'rnu'; did you mean 'run'?");
}

TEST(CommandLine, NothingIsDoneWithoutACommand) {
  EXPECT_EQ(MainRefusal(FakeBackend(), {}), "no command given; see smk help");
}

TEST(CommandLine, WhatACallRequiresIsToldByName) {
  EXPECT_THAT(MainRefusal(FakeBackend(), {"list"}), HasSubstr("what"));
  EXPECT_THAT(MainRefusal(FakeBackend(), {"report"}), HasSubstr("path"));
  EXPECT_THAT(MainRefusal(FakeBackend(), {"trace", "info"}), HasSubstr("folder"));
  EXPECT_THAT(MainRefusal(FakeBackend(), {"trace", "export"}), HasSubstr("kernel"));
  EXPECT_THAT(MainRefusal(FakeBackend(), {"trace"}), HasSubstr("subcommand"));
}

// The status of a call whose output goes to this file, and what it says on stderr.
std::pair<int, std::string> WithOutput(const char* path, const std::vector<std::string>& words) {
  testing::internal::CaptureStderr();
  const pid_t child = fork();
  if (child == 0) {
    const int out = open(path, O_WRONLY);
    dup2(out, STDOUT_FILENO);
    std::vector<const char*> arguments = {"smk"};
    for (const std::string& word : words) arguments.push_back(word.c_str());
    _exit(Main(static_cast<int>(arguments.size()), arguments.data(), FakeBackend()));
  }
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, testing::internal::GetCapturedStderr()};
}

TEST(CommandLine, OutputThatGoesNowhereIsAFailure) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"list", "policies"},
                                             {"help"},
                                             {"--version"},
                                             {"run", "a", "--cycles", "16k", "--no-cache"}}) {
    EXPECT_EQ(WithOutput("/dev/null", words), std::make_pair(0, std::string())) << words.front();
    const auto [status, said] = WithOutput("/dev/full", words);
    EXPECT_EQ(status, 1) << words.front() << " on a full disk";
    EXPECT_EQ(said, "smk: standard output: cannot be written: No space left on device\n");
  }
}

}  // namespace
}  // namespace smk::sim
