// SPDX-License-Identifier: Apache-2.0
// A trace is recognized without being read, and never taken for what it is not.
#include "trace/stamp.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "trace/rig.h"

namespace smk {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class TraceStamp : public TraceFolder {
 protected:
  // Until what was written is no longer of this moment.
  static void Wait() { std::this_thread::sleep_for(std::chrono::milliseconds(150)); }
  // A trace of about 400 KB that has been read twice: it is remembered.
  void Remembered() const {
    TraceText text;
    text.Set("grid dim", "(500,1,1)");
    text.tbs = 500;
    WriteTrace(text);
    Wait();
    EXPECT_FALSE(Load().recognized);
  }
  TraceSet Verified() const { return LoadTrace(Trace(), {Cache(), false, true}); }
  fs::path FileOf(const char* extension) const {
    fs::path found;
    for (const fs::path& path : fs::directory_iterator(folder / "cache/traces")) {
      if (path.extension() == extension) found = path;
    }
    EXPECT_FALSE(found.empty()) << extension;
    return found;
  }
  // Bytes that this process has read from files.
  static std::uint64_t BytesRead() {
    std::ifstream in("/proc/self/io");
    std::string word;
    std::uint64_t bytes = 0;
    in >> word >> bytes;
    EXPECT_EQ(word, "rchar:");
    return bytes;
  }
  // A byte in the middle is another one; the date is as it was.
  static void Damage(const fs::path& path) {
    const auto date = fs::last_write_time(path);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    const auto middle = static_cast<std::streamoff>(fs::file_size(path) / 2);
    file.seekg(middle);
    const char byte = static_cast<char>(file.get());
    file.seekp(middle);
    file.put(static_cast<char>(byte ^ 1));
    file.close();
    fs::last_write_time(path, date);
  }
};

TEST_F(TraceStamp, TheContentsAreNotRead) {
  Remembered();
  const std::uint64_t size = fs::file_size(folder / "t/kernel-1.traceg");
  ASSERT_GT(size, 300'000u);
  std::uint64_t before = BytesRead();
  const TraceSet set = Load();
  EXPECT_LT(BytesRead() - before, size / 4);
  EXPECT_TRUE(set.recognized);
  EXPECT_TRUE(set.from_cache);
  before = BytesRead();
  const TraceSet verified = Verified();
  EXPECT_GT(BytesRead() - before, size);
  EXPECT_FALSE(verified.recognized);
  EXPECT_EQ(set.streams[0]->content_hash, verified.streams[0]->content_hash);
  EXPECT_EQ(WalkTrace(set.streams[0]->kernels[0], 499, 1).size(), 8u);
}

TEST_F(TraceStamp, OtherContentsOfTheSameSizeAndDateAreSeen) {
  Remembered();
  const std::string hash = Load().streams[0]->content_hash;
  const fs::path file = folder / "t/kernel-1.traceg";
  const auto date = fs::last_write_time(file);
  std::fstream text(file, std::ios::in | std::ios::out | std::ios::binary);
  text.seekp(std::string("-kernel name = _Z4").size());
  text.put('T');
  text.close();
  fs::last_write_time(file, date);
  const TraceSet set = Load();
  EXPECT_FALSE(set.recognized);
  EXPECT_NE(set.streams[0]->content_hash, hash);
  EXPECT_EQ(set.streams[0]->kernels[0].name, "_Z4TestPf");
}

TEST_F(TraceStamp, ACopyIsReadOnce) {
  Remembered();
  fs::copy(folder / "t", folder / "copy");
  Wait();
  const auto load = [&] { return LoadTrace((folder / "copy").string(), {Cache(), false}); };
  const TraceSet first = load();
  EXPECT_FALSE(first.recognized);
  EXPECT_TRUE(first.from_cache) << "the contents are known";
  EXPECT_TRUE(load().recognized);
  EXPECT_TRUE(Load().recognized) << "and the first one, too";
}

// A file that has just been written could be written again and look the same.
TEST_F(TraceStamp, WhatIsNewIsNotRemembered) {
  WriteTrace({});
  EXPECT_FALSE(Load().recognized);
  EXPECT_FALSE(Load().recognized);
  Wait();
  EXPECT_FALSE(Load().recognized);
  EXPECT_TRUE(Load().recognized);
}

TEST_F(TraceStamp, ADamagedCompactFormIsFound) {
  Remembered();
  EXPECT_TRUE(Load().recognized);
  Damage(FileOf(".smktrace"));
  EXPECT_THAT(Refusal(), HasSubstr("expected its checksum"));
  EXPECT_FALSE(Load().from_cache);
  EXPECT_TRUE(Load().recognized);
}

TEST_F(TraceStamp, ADamagedHintIsAsGoodAsNone) {
  Remembered();
  const fs::path hint = FileOf(".stamp");
  const auto size = fs::file_size(hint);
  for (std::uintmax_t left : {std::uintmax_t{0}, size / 2, size - 1}) {
    fs::resize_file(hint, left);
    const TraceSet set = Load();
    EXPECT_FALSE(set.recognized) << left;
    EXPECT_TRUE(set.from_cache) << left;
    EXPECT_TRUE(Load().recognized) << "it has been written again";
  }
  Damage(hint);
  EXPECT_FALSE(Load().recognized);
}

TEST_F(TraceStamp, WithoutTheCompactFormTheTextIsRead) {
  Remembered();
  fs::remove(FileOf(".smktrace"));
  const TraceSet set = Load();
  EXPECT_FALSE(set.recognized);
  EXPECT_FALSE(set.from_cache);
  EXPECT_TRUE(Load().recognized);
}

}  // namespace
}  // namespace smk
