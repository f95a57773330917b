// SPDX-License-Identifier: Apache-2.0
// Recognizes the files of a trace without reading them.
//
// Purpose   A file that still has its device, inode, size and times has the contents that it had.
//           For each trace whose contents were hashed, a small file beside the compact form says
//           what the hash was, and how the compact form itself looked when it was checked.
// Safety    Times of files are coarse: nothing is remembered of a file that changed a moment ago,
//           because it could change again and look the same. What is remembered is a hint: without
//           it, or when it does not fit, everything is read and checked again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/list.h"

namespace smk {

// How one file looks from outside; times in nanoseconds.
struct FileStamp {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t modified = 0, changed = 0;  // contents; contents or inode

  bool operator==(const FileStamp& o) const {
    return device == o.device && inode == o.inode && size == o.size && modified == o.modified &&
           changed == o.changed;
  }
  bool operator!=(const FileStamp& o) const { return !(*this == o); }
};

// Of the file with the name, or of the open one; nothing if there is none.
std::optional<FileStamp> StampOf(const std::string& path);
std::optional<FileStamp> StampOf(int fd);

// What is known of a trace by its stamps.
struct KnownTrace {
  std::uint64_t key = 0;  // HashTrace()
  FileStamp compact;      // of the compact form, which was whole then
};

// The stamps of a list and its files at one time, and what is remembered for them.
class TraceStamps {
 public:
  TraceStamps(const TraceList& list, const std::string& cache_folder);

  std::optional<KnownTrace> Recall() const;
  // Remembers `key` if the files look as they did, and have not just been written. Trouble with the
  // folder means that nothing is remembered.
  void Remember(const TraceList& list, const KnownTrace& known) const;

 private:
  std::vector<FileStamp> stamps_;
  bool settled_ = false;
  std::string path_;  // of the hint; "": none
};

}  // namespace smk
