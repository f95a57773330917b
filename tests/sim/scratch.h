// SPDX-License-Identifier: Apache-2.0
// What tests of the rooms have in common: a folder to write in, numbers by chance, the environment.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "test_options.h"

namespace smk::sim {

// A folder of this test, removed at its end.
class ScratchTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              (std::string("smk_scratch_") + std::to_string(getpid()) + "_" + info->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  const std::filesystem::path& folder() const { return folder_; }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  bool Exists(const std::string& name) const { return std::filesystem::exists(folder_ / name); }
  std::string Read(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    EXPECT_TRUE(in.good()) << name;
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  // Gives the path.
  std::string Write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return Path(name);
  }
  // Names in the folder, sorted.
  std::vector<std::string> Names(const std::string& inside = ".") const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / inside)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::filesystem::path folder_;
};

// Numbers by chance; a failure tells the seed (--seed=N of the test program).
class Chance {
 public:
  Chance()
      : trace_(__FILE__, __LINE__, "--seed=" + std::to_string(GetTestOptions().seed)),
        engine_(GetTestOptions().seed) {}
  // 0 to n - 1
  std::uint64_t Below(std::uint64_t n) { return engine_() % n; }
  std::uint64_t Any() { return engine_(); }
  bool Happens() { return (engine_() & 1) != 0; }
  // Up to `size` characters of `alphabet`.
  std::string Text(std::size_t size, const std::string& alphabet) {
    std::string text(Below(size + 1), ' ');
    for (char& c : text) c = alphabet[Below(alphabet.size())];
    return text;
  }

 private:
  testing::ScopedTrace trace_;
  std::mt19937_64 engine_;
};

// An environment variable for the length of a scope; without a value it is not there.
class Environment {
 public:
  Environment(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    Set(value);
  }
  ~Environment() { Set(old_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  void Set(const std::optional<std::string>& value) const {
    value ? setenv(name_, value->c_str(), 1) : unsetenv(name_);
  }

  const char* name_;
  std::optional<std::string> old_;
};

}  // namespace smk::sim
