// SPDX-License-Identifier: Apache-2.0
// Files that are there completely or not at all.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace smk::sim {

// A waveform while it is being written: a killed run leaves it under this name.
inline constexpr char kUnfinishedWave[] = "wave.fst.part";

// The largest file that is read as a whole.
inline constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 30;

// Throws InputError for what is no file, such as a device or a pipe, and for a file that is larger.
// What does not exist, and a folder, is left to who opens it.
void CheckReadable(const std::string& path, std::uintmax_t most = kMostBytes);

// Whole contents; throws InputError when the file cannot be read.
std::string ReadFile(const std::string& path);

// Writes to a temporary name beside `path` and renames; throws std::system_error with the reason.
void WriteFileAtomically(const std::string& path, std::string_view contents);
// For what is written after long work: throws InputError when `option`'s folder is not there or
// cannot be written.
void RequireWritable(const std::string& option, const std::string& path);

// Who writes into a folder: there is a file .smk-run in it, locked, as long as an OutputFolder of
// it lives. One that is not locked was left by a process that was killed.
enum class Writing { kNobody, kAtWork, kKilled };
Writing WritingInto(const std::string& folder);

// The folder `--out` names.
//
// Prepare() is called before anything runs: it creates the folder, finds out that it can be
// written, and refuses one that holds other things unless `force` is given. Errors are InputErrors.
// A folder is taken for one of ours when it holds nothing but files that we would write, or half of
// them: what a command that was killed has left goes. One process at a time writes into it; a
// second is refused.
class OutputFolder {
 public:
  OutputFolder() = default;  // no folder: all calls do nothing
  static OutputFolder Prepare(const std::string& path, bool force,
                              const std::vector<std::string>& subfolders = {});

  explicit operator bool() const { return !path_.empty(); }
  const std::string& path() const { return path_; }
  void Write(const std::string& name, std::string_view contents) const;
  // Names of what commands write here and is there, but the manifest and what is made of it.
  std::vector<std::string> Outputs() const;
  // Removes what an earlier run left here, so that files of two runs never stand side by side.
  void Clear() const;

 private:
  class Mark;
  OutputFolder(std::string path, std::shared_ptr<const Mark> mark)
      : path_(std::move(path)), mark_(std::move(mark)) {}
  std::string path_;
  std::shared_ptr<const Mark> mark_;
};

}  // namespace smk::sim
