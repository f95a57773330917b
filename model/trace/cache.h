// SPDX-License-Identifier: Apache-2.0
// The compact form of a trace on disk: built once, then mapped into memory.
//
// Format    A header; for each kernel the records of its TBs (trace_stream.h) and a table of their
//           offsets; an index with the kernels' tables. A checksum covers everything behind the
//           header; kTraceCacheVersion changes with the format and with what it is made of. The
//           file belongs to one build of the table of opcodes and one content of the trace: its
//           name is the hash of both.
// Safety    Written under a name of its own and renamed, so that any number of processes may build
//           the same file at the same time, and none ever sees half of one.
// Memory    TBs and their offsets are read where they are mapped. Pages are given back every
//           kDropBytes of TBs, so that a trace of any size takes little of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trace/builder.h"
#include "workload/trace_stream.h"

namespace smk {

inline constexpr std::uint32_t kTraceCacheVersion = 6;

// Writes a cache file. Without Commit() nothing is left behind.
class TraceCacheWriter {
 public:
  // Beside `path`; an unnamed file that is gone with the process when `path` is empty or its folder
  // cannot be written.
  TraceCacheWriter(std::string path, std::uint64_t key);
  TraceCacheWriter(const TraceCacheWriter&) = delete;
  TraceCacheWriter& operator=(const TraceCacheWriter&) = delete;
  ~TraceCacheWriter();

  // Appends a TB's record.
  void Add(const std::vector<std::uint8_t>& record);
  // Appends the table of the TBs that were added since the last call; gives its offset.
  std::uint64_t EndKernel();
  // Writes the index and gives the file its name. Returns its open descriptor, which is the
  // caller's.
  int Commit(const std::vector<TraceKernel>& kernels);

 private:
  void Write(const void* bytes, std::size_t size);
  void Flush();
  void WriteAll(int fd, const std::uint8_t* from, std::size_t size) const;
  [[noreturn]] void Refuse(const char* what) const;

  std::string path_, temporary_;
  std::uint64_t key_;
  int fd_ = -1;
  int offsets_ = -1;  // a file with the offsets of the kernel's TBs so far
  std::uint64_t size_ = 0;
  std::uint64_t checksum_;
  std::vector<std::uint8_t> buffer_;
  std::vector<std::uint64_t> last_offsets_;  // not yet in offsets_
};

// A cache file in memory.
class TraceCacheFile : public std::enable_shared_from_this<TraceCacheFile> {
 public:
  static constexpr std::uint64_t kDropBytes = std::uint64_t{64} << 20;

  // Takes the descriptor over. InputError when the file is damaged or not for `key`; `path` is for
  // messages. Without `whole` only header and index are looked at: the caller knows the rest.
  static std::shared_ptr<const TraceCacheFile> Map(int fd, const std::string& path,
                                                   std::uint64_t key, bool whole = true);
  TraceCacheFile(const TraceCacheFile&) = delete;
  TraceCacheFile& operator=(const TraceCacheFile&) = delete;
  ~TraceCacheFile();

  const std::vector<TraceKernel>& kernels() const { return kernels_; }
  // The records of one kernel; they keep the file mapped.
  std::shared_ptr<const TraceRecords> Records(std::size_t kernel) const;
  const std::uint8_t* Warp(const TraceKernel& kernel, std::uint32_t tb, unsigned warp) const;
  std::uint64_t bytes() const { return size_; }

 private:
  TraceCacheFile(int fd, std::string path);
  void Check(std::uint64_t key, bool whole) const;
  void ReadIndex();
  [[noreturn]] void Damaged(const char* what) const;

  std::string path_;
  const std::uint8_t* map_ = nullptr;
  std::uint64_t size_ = 0;
  std::vector<TraceKernel> kernels_;
  mutable std::uint64_t since_drop_ = 0;
};

// 64-bit hash of a stream of bytes; not for adversaries. Start with kHashStart. All blocks but the
// last must be a multiple of eight bytes long.
inline constexpr std::uint64_t kHashStart = 0x6a09e667f3bcc908;
std::uint64_t HashBlock(std::uint64_t hash, const void* bytes, std::size_t size);

}  // namespace smk
