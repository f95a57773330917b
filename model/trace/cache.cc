// SPDX-License-Identifier: Apache-2.0
#include "trace/cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "trace/index.h"
#include "workload/trace_stream.h"

namespace smk {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 20;
constexpr std::size_t kHashStep = std::size_t{1} << 24;

// What a cache file begins with.
struct Header {
  char magic[8] = {'S', 'M', 'K', 'T', 'R', 'A', 'C', 'E'};
  std::uint32_t version = kTraceCacheVersion;
  std::uint32_t byte_order = 0x01020304;
  std::uint64_t key = 0;
  std::uint64_t size = 0;      // of the file
  std::uint64_t index = 0;     // its offset
  std::uint64_t checksum = 0;  // of what is behind the header
};
static_assert(sizeof(Header) == 48);

int OpenUnnamed() {
  std::FILE* const file = std::tmpfile();
  const int fd = file == nullptr ? -1 : dup(fileno(file));
  if (file != nullptr) std::fclose(file);
  return fd;
}

}  // namespace

std::uint64_t HashBlock(std::uint64_t hash, const void* bytes, std::size_t size) {
  const auto* at = static_cast<const std::uint8_t*>(bytes);
  const auto mix = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  };
  for (; size >= 8; size -= 8, at += 8) mix(ReadTrace<std::uint64_t>(at));
  if (size != 0) {
    std::uint64_t word = size << 56;
    std::memcpy(&word, at, size);
    mix(word);
  }
  return hash;
}

TraceCacheWriter::TraceCacheWriter(std::string path, std::uint64_t key)
    : path_(std::move(path)), key_(key), checksum_(kHashStart) {
  if (!path_.empty()) {
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
    temporary_ = path_ + ".XXXXXX";
    fd_ = mkostemp(temporary_.data(), O_CLOEXEC);
    if (fd_ < 0) path_.clear();
  }
  if (fd_ < 0) fd_ = OpenUnnamed();
  offsets_ = OpenUnnamed();
  if (fd_ < 0 || offsets_ < 0) Refuse("cannot make a file for the trace's compact form");
  const Header header;
  buffer_.reserve(kBuffer + sizeof header);
  if (write(fd_, &header, sizeof header) != sizeof header) Refuse("cannot write");
  size_ = sizeof header;
}

TraceCacheWriter::~TraceCacheWriter() {
  if (offsets_ >= 0) close(offsets_);
  if (fd_ < 0) return;
  close(fd_);
  if (!path_.empty()) unlink(temporary_.c_str());
}

void TraceCacheWriter::Refuse(const char* what) const {
  throw std::runtime_error((path_.empty() ? "trace cache" : path_) + ": " + what + " (" +
                           std::strerror(errno) + ")");
}

void TraceCacheWriter::Write(const void* bytes, std::size_t size) {
  const auto* const from = static_cast<const std::uint8_t*>(bytes);
  buffer_.insert(buffer_.end(), from, from + size);
  size_ += size;
  if (buffer_.size() >= kBuffer) Flush();
}

// All but the last few bytes, so that only whole words are hashed.
void TraceCacheWriter::Flush() {
  const std::size_t whole = buffer_.size() - buffer_.size() % 8;
  checksum_ = HashBlock(checksum_, buffer_.data(), whole);
  WriteAll(fd_, buffer_.data(), whole);
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(whole));
}

void TraceCacheWriter::WriteAll(int fd, const std::uint8_t* from, std::size_t size) const {
  for (std::size_t done = 0; done < size;) {
    const ssize_t n = write(fd, from + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) Refuse("cannot write");
    done += static_cast<std::size_t>(n);
  }
}

void TraceCacheWriter::Add(const std::vector<std::uint8_t>& record) {
  last_offsets_.push_back(size_);
  Write(record.data(), record.size());
  if (last_offsets_.size() < kBuffer / sizeof(std::uint64_t)) return;
  WriteAll(offsets_, reinterpret_cast<const std::uint8_t*>(last_offsets_.data()),
           last_offsets_.size() * sizeof(std::uint64_t));
  last_offsets_.clear();
}

std::uint64_t TraceCacheWriter::EndKernel() {
  const std::uint64_t table = size_;
  std::vector<std::uint8_t> block(kBuffer);
  off_t at = 0;
  for (ssize_t n = 0; (n = pread(offsets_, block.data(), block.size(), at)) != 0; at += n) {
    if (n < 0) Refuse("cannot read back");
    Write(block.data(), static_cast<std::size_t>(n));
  }
  Write(last_offsets_.data(), last_offsets_.size() * sizeof(std::uint64_t));
  last_offsets_.clear();
  if (ftruncate(offsets_, 0) != 0 || lseek(offsets_, 0, SEEK_SET) != 0) Refuse("cannot write");
  return table;
}

int TraceCacheWriter::Commit(const std::vector<TraceKernel>& kernels) {
  Header header;
  header.key = key_;
  header.index = size_;
  const std::vector<std::uint8_t> index = EncodeTraceIndex(kernels);
  Write(index.data(), index.size());
  const std::uint64_t zero = 0;
  Write(&zero, (8 - (size_ - sizeof header) % 8) % 8);
  Flush();
  header.size = size_;
  header.checksum = checksum_;
  if (pwrite(fd_, &header, sizeof header, 0) != sizeof header) Refuse("cannot write");
  if (!path_.empty() && rename(temporary_.c_str(), path_.c_str()) != 0) Refuse("cannot rename");
  return std::exchange(fd_, -1);
}

std::shared_ptr<const TraceCacheFile> TraceCacheFile::Map(int fd, const std::string& path,
                                                          std::uint64_t key, bool whole) {
  std::shared_ptr<TraceCacheFile> file(new TraceCacheFile(fd, path));
  file->Check(key, whole);
  file->ReadIndex();
  return file;
}

TraceCacheFile::TraceCacheFile(int fd, std::string path) : path_(std::move(path)) {
  struct stat status {};
  const bool good = fstat(fd, &status) == 0 && status.st_size >= static_cast<off_t>(sizeof(Header));
  if (good) {
    size_ = static_cast<std::uint64_t>(status.st_size);
    void* const map = mmap(nullptr, size_, PROT_READ, MAP_SHARED, fd, 0);
    if (map != MAP_FAILED) map_ = static_cast<const std::uint8_t*>(map);
  }
  close(fd);
  if (!good) Damaged("a whole file");
  if (map_ == nullptr) throw std::runtime_error(path_ + ": cannot be mapped into memory");
}

TraceCacheFile::~TraceCacheFile() {
  if (map_ != nullptr) munmap(const_cast<std::uint8_t*>(map_), size_);
}

void TraceCacheFile::Damaged(const char* what) const {
  throw InputError(path_ + ":1: trace cache: expected " + what +
                   "; the damaged file has been removed, the next run makes a new one");
}

void TraceCacheFile::Check(std::uint64_t key, bool whole) const {
  Header header;
  std::memcpy(&header, map_, sizeof header);
  const Header good;
  if (std::memcmp(header.magic, good.magic, sizeof good.magic) != 0) Damaged("its first bytes");
  if (header.version != good.version || header.byte_order != good.byte_order) {
    Damaged("the format of this version");
  }
  if (header.key != key) Damaged("the hash of this trace");
  if (header.size != size_ || header.index < sizeof header || header.index > size_) {
    Damaged("a whole file");
  }
  if (!whole) return;
  std::uint64_t hash = kHashStart;
  for (std::uint64_t at = sizeof header; at < size_; at += kHashStep) {
    const std::size_t n = std::min<std::uint64_t>(kHashStep, size_ - at);
    hash = HashBlock(hash, map_ + at, n);
    madvise(const_cast<std::uint8_t*>(map_), size_, MADV_DONTNEED);
  }
  if (hash != header.checksum) Damaged("its checksum");
}

void TraceCacheFile::ReadIndex() {
  Header header;
  std::memcpy(&header, map_, sizeof header);
  if (!DecodeTraceIndex(map_ + header.index, size_ - header.index, &kernels_)) {
    Damaged("a complete index");
  }
  for (const TraceKernel& kernel : kernels_) {
    if (kernel.tb_table > header.index ||
        kernel.tbs > (header.index - kernel.tb_table) / sizeof(std::uint64_t)) {
      Damaged("a table of all thread blocks");
    }
  }
}

const std::uint8_t* TraceCacheFile::Warp(const TraceKernel& kernel, std::uint32_t tb,
                                         unsigned warp) const {
  const auto offset_of = [&](std::uint32_t i) {
    return ReadTrace<std::uint64_t>(map_ + kernel.tb_table + i * sizeof(std::uint64_t));
  };
  const std::uint64_t begin = offset_of(tb);
  if (warp == 0) {
    const std::uint64_t end = tb + 1 < kernel.tbs ? offset_of(tb + 1) : begin;
    since_drop_ += end - begin;
    if (since_drop_ > kDropBytes) {
      madvise(const_cast<std::uint8_t*>(map_), size_, MADV_DONTNEED);
      since_drop_ = 0;
    }
  }
  return map_ + begin + ReadTrace<std::uint32_t>(map_ + begin + 4 * warp);
}

namespace {

// One kernel of a file that stays mapped as long as somebody may read it.
class KernelRecords : public TraceRecords {
 public:
  KernelRecords(std::shared_ptr<const TraceCacheFile> file, std::size_t kernel)
      : file_(std::move(file)), kernel_(file_->kernels()[kernel]) {}
  const TraceByte* Warp(std::uint32_t tb, unsigned warp) const override {
    return file_->Warp(kernel_, tb, warp);
  }

 private:
  std::shared_ptr<const TraceCacheFile> file_;
  const TraceKernel& kernel_;
};

}  // namespace

std::shared_ptr<const TraceRecords> TraceCacheFile::Records(std::size_t kernel) const {
  return std::make_shared<KernelRecords>(shared_from_this(), kernel);
}

}  // namespace smk
