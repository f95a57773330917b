// SPDX-License-Identifier: Apache-2.0
// The compact form of a trace: used again, made once by many, and never used when damaged.
#include "trace/cache.h"

#include <gmock/gmock.h>
#include <sys/wait.h>

#include "trace/rig.h"

namespace smk {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class TraceCache : public TraceFolder {
 protected:
  fs::path OnlyFile() const {
    const auto files = CacheFiles();
    EXPECT_EQ(files.size(), 1u);
    return files.empty() ? fs::path() : files[0];
  }
  std::string Bytes(const fs::path& path) const {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  void Overwrite(const fs::path& path, const std::string& bytes) const {
    std::ofstream(path, std::ios::binary) << bytes;
  }
};

TEST_F(TraceCache, IsUsedAgainUntilTheTraceChanges) {
  TraceText text;
  EXPECT_FALSE(LoadText(text).from_cache);
  EXPECT_TRUE(Load().from_cache);
  EXPECT_EQ(WalkTrace(Load().streams[0]->kernels[0], 1, 1).size(), 8u);
  text.warps[0].insert(text.warps[0].begin(), "0000 ffffffff 0 NOP 0 0 0");
  EXPECT_FALSE(LoadText(text).from_cache) << "the contents count, not the date";
  EXPECT_EQ(CacheFiles().size(), 2u);
}

TEST_F(TraceCache, IsNotNeeded) {
  WriteTrace({});
  const TraceSet set = LoadTrace(Trace(), {"", false});
  EXPECT_FALSE(set.from_cache);
  EXPECT_EQ(WalkTrace(set.streams[0]->kernels[0], 0, 0).size(), 7u);
  Write("file", "");
  const TraceSet other = LoadTrace(Trace(), {Trace() + "/file", false});
  EXPECT_EQ(other.kernels.size(), 1u) << "a folder that cannot be made";
}

TEST_F(TraceCache, DamageAnywhereIsFoundAndTheFileRemoved) {
  LoadText({});
  const fs::path file = OnlyFile();
  const std::string good = Bytes(file);
  for (std::size_t at = 0; at < good.size(); at += 5) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    Overwrite(file, bad);
    EXPECT_THAT(Refusal(), HasSubstr(".smktrace:1: trace cache: expected")) << at;
  }
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{7}, good.size() / 2, good.size() - 1}) {
    Overwrite(file, good.substr(0, size));
    EXPECT_THAT(Refusal(), HasSubstr("expected a whole file")) << size;
  }
  EXPECT_FALSE(Load().from_cache) << "and the next run makes a new one";
  EXPECT_TRUE(Load().from_cache);
}

TEST_F(TraceCache, OfAnotherTraceOrVersionIsStale) {
  LoadText({});
  const fs::path file = OnlyFile();
  TraceText other;
  other.Set("nregs", "32");
  LoadText(other);
  for (const fs::path& path : CacheFiles()) {
    if (path == file) continue;
    fs::copy_file(file, path, fs::copy_options::overwrite_existing);
  }
  fs::remove(file);
  EXPECT_THAT(Refusal(), HasSubstr("expected the hash of this trace"));
}

TEST_F(TraceCache, ManyProcessesMayBuildItAtOnce) {
  TraceText text;
  text.Set("grid dim", "(200,1,1)");
  text.tbs = 200;
  WriteTrace(text);
  std::vector<pid_t> children;
  for (int i = 0; i < 6; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      bool good = false;
      try {
        for (int n = 0; n < 3; ++n) {
          good = WalkTrace(Load().streams[0]->kernels[0], 199, 1).size() == 8;
        }
      } catch (const std::exception&) {
        good = false;
      }
      _exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_TRUE(Load().from_cache);
  OnlyFile();
}

TEST_F(TraceCache, MemoryIsBoundedByOneThreadBlock) {
  TraceCacheWriter writer((folder / "big").string(), 1);
  std::vector<std::uint8_t> record(std::size_t{1} << 20, 7);
  const std::uint32_t offset = 4;
  std::memcpy(record.data(), &offset, sizeof offset);
  TraceKernel kernel;
  kernel.header.grid = {256, 1, 1};
  kernel.header.block = {32, 1, 1};
  kernel.nodes.emplace_back();
  kernel.after = {1};
  kernel.code = {0};
  for (int i = 0; i < 256; ++i) writer.Add(record);
  kernel.tbs = 256;
  kernel.tb_table = writer.EndKernel();
  const auto file = TraceCacheFile::Map(writer.Commit({kernel}), "big", 1);
  const auto resident = [] {
    std::ifstream in("/proc/self/statm");
    std::uint64_t size = 0, pages = 0;
    in >> size >> pages;
    return pages * 4096;
  };
  const std::uint64_t before = resident();
  std::uint64_t most = before, sum = 0;
  const auto records = file->Records(0);
  for (std::uint32_t tb = 0; tb < 256; ++tb) {
    const TraceByte* const bytes = records->Warp(tb, 0);
    for (std::size_t i = 0; i + 4 < record.size(); i += 4096) sum += bytes[i];
    most = std::max(most, resident());
  }
  EXPECT_EQ(sum, 256u * 256 * 7);
  EXPECT_LT(most - before, TraceCacheFile::kDropBytes + (std::uint64_t{4} << 20));
}

}  // namespace
}  // namespace smk
