// SPDX-License-Identifier: Apache-2.0
#include "trace/stamp.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "trace/cache.h"
#include "trace/opcodes.h"

namespace smk {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMoment = kSecond / 10;  // coarser than the times of any local file system

// What a hint holds.
struct Hint {
  char magic[8] = {'S', 'M', 'K', 'S', 'T', 'A', 'M', 'P'};
  std::uint64_t key = 0;
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t modified = 0, changed = 0;
  std::uint64_t checksum = 0;  // of what is before it
};

std::uint64_t ChecksumOf(const Hint& hint) {
  return HashBlock(kHashStart, &hint, offsetof(Hint, checksum));
}

FileStamp Stamp(const struct stat& status) {
  const auto time = [](const timespec& t) { return t.tv_sec * kSecond + t.tv_nsec; };
  return {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
          time(status.st_mtim), time(status.st_ctim)};
}

std::vector<FileStamp> StampsOf(const TraceList& list) {
  std::vector<FileStamp> stamps;
  stamps.reserve(list.kernels.size() + 1);
  stamps.push_back(StampOf(list.path).value_or(FileStamp{}));
  for (const TraceList::Kernel& kernel : list.kernels) {
    stamps.push_back(StampOf(kernel.path).value_or(FileStamp{}));
  }
  return stamps;
}

std::int64_t Now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

}  // namespace

std::optional<FileStamp> StampOf(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return Stamp(status);
}

std::optional<FileStamp> StampOf(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return std::nullopt;
  return Stamp(status);
}

TraceStamps::TraceStamps(const TraceList& list, const std::string& cache_folder)
    : stamps_(StampsOf(list)) {
  if (cache_folder.empty()) return;
  const std::int64_t now = Now();
  settled_ = std::all_of(stamps_.begin(), stamps_.end(), [&](const FileStamp& stamp) {
    return std::max(stamp.modified, stamp.changed) < now - kMoment;
  });
  const std::uint64_t start[] = {OpcodeTableHash(), kTraceCacheVersion};
  std::uint64_t hash = HashBlock(kHashStart, start, sizeof start);
  static_assert(sizeof(FileStamp) == 40, "without gaps, so that its bytes can be hashed");
  hash = HashBlock(hash, stamps_.data(), stamps_.size() * sizeof(FileStamp));
  char name[40];
  std::snprintf(name, sizeof name, "/traces/%016llx.stamp", static_cast<unsigned long long>(hash));
  path_ = cache_folder + name;
}

std::optional<KnownTrace> TraceStamps::Recall() const {
  if (path_.empty()) return std::nullopt;
  const int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  Hint hint;
  const Hint good;
  const bool whole = read(fd, &hint, sizeof hint) == static_cast<ssize_t>(sizeof hint);
  close(fd);
  if (!whole || std::memcmp(hint.magic, good.magic, sizeof good.magic) != 0 ||
      hint.checksum != ChecksumOf(hint)) {
    return std::nullopt;
  }
  return KnownTrace{hint.key, {hint.device, hint.inode, hint.size, hint.modified, hint.changed}};
}

void TraceStamps::Remember(const TraceList& list, const KnownTrace& known) const {
  if (path_.empty() || !settled_ || StampsOf(list) != stamps_) return;
  Hint hint;
  hint.key = known.key;
  hint.device = known.compact.device;
  hint.inode = known.compact.inode;
  hint.size = known.compact.size;
  hint.modified = known.compact.modified;
  hint.changed = known.compact.changed;
  hint.checksum = ChecksumOf(hint);
  std::string temporary = path_ + ".XXXXXX";
  const int fd = mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return;
  const bool whole = write(fd, &hint, sizeof hint) == static_cast<ssize_t>(sizeof hint);
  close(fd);
  if (!whole || rename(temporary.c_str(), path_.c_str()) != 0) unlink(temporary.c_str());
}

}  // namespace smk
