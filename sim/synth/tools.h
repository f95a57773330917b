// SPDX-License-Identifier: Apache-2.0
// Runs of Yosys and OpenSTA: several at a time, logged, and kept by what went into them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace smk::sim {

// One call of a tool. Its results are files that it writes into the folder $SMK_OUT.
struct ToolRun {
  std::string name;  // for messages: "quota_scheduler"
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;
  std::string key;                   // hash of everything that decides the result
  std::vector<std::string> results;  // files that must be there afterwards
};

// The folder of results: one folder for each run, named by its key. Runs write into a temporary
// folder that is renamed when all is there, so any number of processes may share it.
class ToolCache {
 public:
  // A folder of its own for this object, removed with it, when `folder` is "".
  explicit ToolCache(const std::string& folder);
  ~ToolCache();
  ToolCache(const ToolCache&) = delete;
  ToolCache& operator=(const ToolCache&) = delete;

  const std::string& folder() const { return folder_; }
  std::string Folder(const ToolRun& run) const { return folder_ + "/" + run.key; }
  bool Has(const ToolRun& run) const;
  // A file of this text for runs to read, named by its hash and `ending`.
  std::string Keep(const std::string& text, const std::string& ending) const;

  // Makes the runs that are missing, at most `jobs` at a time. `on_change` gets the number of runs
  // that are done and the names of those under way. Throws std::runtime_error, with the tool's last
  // words, when one fails; the others are ended.
  void Make(const std::vector<ToolRun>& runs, unsigned jobs,
            const std::function<void(std::size_t, const std::string&)>& on_change);

 private:
  // Takes over what a run has left in `folder`.
  void Finish(const ToolRun& run, const std::string& folder, bool well);

  std::string folder_;
  bool temporary_;
};

// Throws InputError, saying how to get it, when `program` is not on the PATH.
void RequireTool(const std::string& program, const std::string& package);

// What the program prints when it is asked for its version, its first line.
std::string ToolVersion(const std::string& command);

}  // namespace smk::sim
