// SPDX-License-Identifier: Apache-2.0
// The built command, called as a user calls it.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "model/workload/rig.h"

namespace smk {

// What a call left behind.
struct Outcome {
  int status = -1;
  std::string out, err;

  std::string LastLine() const {
    const std::size_t end = out.find_last_not_of('\n');
    const std::size_t begin = out.rfind('\n', end);
    return out.substr(begin == std::string::npos ? 0 : begin + 1, end - begin);
  }
};

// Each test has a folder of its own, with a cache of its own, and runs there.
class CommandTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    std::replace(name.begin(), name.end(), '/', '_');
    folder = std::filesystem::temp_directory_path() /
             ("smk_command_" + std::to_string(getpid()) + "_" + name);
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string Path(const std::string& name) const { return (folder / name).string(); }
  std::string Read(const std::string& name) const {
    std::ifstream in(Path(name));
    std::ostringstream text;
    text << in.rdbuf();
    EXPECT_TRUE(in.good()) << name;
    return text.str();
  }
  nlohmann::ordered_json Json(const std::string& name) const {
    return nlohmann::ordered_json::parse(Read(name));
  }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
  }
  bool Exists(const std::string& name) const { return std::filesystem::exists(Path(name)); }

  // `arguments` are words of a shell; `environment` stands before the command.
  Outcome Smk(const std::string& arguments, const std::string& environment = "") const {
    const std::string command = "cd '" + folder.string() + "' && SMK_CACHE_DIR='" + Path("cache") +
                                "' " + environment + " '" + SMK_BINARY + "' " + arguments +
                                " >stdout 2>stderr </dev/null";
    const int status = std::system(command.c_str());
    Outcome outcome;
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    outcome.out = Read("stdout");
    outcome.err = WithoutNotices(Read("stderr"));
    return outcome;
  }
  // Runs a script of the shell in this folder, where it may mount file systems of its own; gives
  // its status.
  int InNamespace(const std::string& script) const {
    Write("script", "set -e\ncd '" + folder.string() + "'\nexport SMK_CACHE_DIR=" + Path("cache") +
                        "\n" + script);
    return WEXITSTATUS(std::system(("unshare -rm sh '" + Path("script") + "'").c_str()));
  }
  // Whether that is possible here.
  bool CanMount() const {
    std::filesystem::create_directory(Path("disk"));
    return InNamespace("mount -t tmpfs none disk 2>/dev/null") == 0;
  }
  // AddressSanitizer says in three lines that it does not know SystemC's stacks; that is not ours.
  static std::string WithoutNotices(const std::string& text) {
    std::istringstream in(text);
    std::string kept;
    for (std::string line; std::getline(in, line);) {
      const bool notice = line.find("WARNING: ASan is ignoring") != std::string::npos ||
                          line.rfind("False positive error reports", 0) == 0 ||
                          line.rfind("For details see https://github.com/google/sanit", 0) == 0;
      if (!notice) kept += line + "\n";
    }
    return kept;
  }
  // A run that must pass; gives its stats.json.
  nlohmann::ordered_json Stats(const std::string& arguments) const {
    const Outcome outcome = Smk("run " + arguments + " --force --out stats");
    EXPECT_EQ(outcome.status, 0) << arguments << '\n' << outcome.out << outcome.err;
    EXPECT_EQ(outcome.LastLine(), "PASS") << arguments;
    return Json("stats/stats.json");
  }
  // The same without what may differ between two equal runs.
  nlohmann::ordered_json Fixed(const std::string& arguments) const {
    nlohmann::ordered_json stats = Stats(arguments);
    stats.erase("wall");
    return stats;
  }
  // A short program with everything in it: barriers, shared memory, loads, stores, atomics, loops.
  // It ends many times in a run.
  void WriteTiny(const std::string& name) const {
    TestFile file;
    file.shared_memory = "shared_memory = 2048";
    file.grid = "grid = [64]";
    file.program =
        "loop i 8 {\nload_global a = [a + tb.x*4096 + warp*128]\nstore_shared a\nbarrier\n"
        "load_shared b =\nsfu c = b a\nalu d = c b x4 chain\n"
        "store_global d [b + warp*128]\nbranch\n}";
    Write(name, file.Text());
  }

  std::filesystem::path folder;
};

}  // namespace smk
