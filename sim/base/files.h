// SPDX-License-Identifier: Apache-2.0
// Files that are there completely or not at all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smk::sim {

// A waveform while it is being written: a killed run leaves it under this name.
inline constexpr char kUnfinishedWave[] = "wave.fst.part";

// Whole contents; throws InputError when the file cannot be read.
std::string ReadFile(const std::string& path);

// Writes to a temporary name beside `path` and renames; throws std::runtime_error with the reason.
void WriteFileAtomically(const std::string& path, std::string_view contents);

// The folder `--out` names.
//
// Prepare() is called before anything runs: it creates the folder, finds out that it can be
// written, and refuses one that holds other things unless `force` is given. Errors are InputErrors.
// A folder is taken for one of ours when it holds nothing but files that we would write, or half of
// them: what a command that was killed has left goes.
class OutputFolder {
 public:
  OutputFolder() = default;  // no folder: all calls do nothing
  static OutputFolder Prepare(const std::string& path, bool force,
                              const std::vector<std::string>& subfolders = {});

  explicit operator bool() const { return !path_.empty(); }
  const std::string& path() const { return path_; }
  void Write(const std::string& name, std::string_view contents) const;
  // Removes what an earlier run left here, so that files of two runs never stand side by side.
  void Clear() const;

 private:
  explicit OutputFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace smk::sim
