// SPDX-License-Identifier: Apache-2.0
// Workload files by name.
#include <algorithm>
#include <filesystem>
#include <tuple>

#include "base/error.h"
#include "workload/workload_file.h"

namespace smk {
namespace {

bool EndsWithToml(const std::string& name) {
  const std::string suffix = ".toml";
  return name.size() > suffix.size() &&
         name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
}

}  // namespace

std::vector<WorkloadEntry> ListWorkloads(const std::string& data_dir) {
  namespace fs = std::filesystem;
  std::vector<WorkloadEntry> entries;
  std::error_code error;
  const fs::path root = fs::path(data_dir) / "workloads";
  for (fs::recursive_directory_iterator at(root, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() != ".toml" || !at->is_regular_file()) continue;
    const fs::path group = at->path().lexically_relative(root).parent_path();
    entries.push_back({at->path().stem().string(), group.generic_string(), at->path().string()});
  }
  if (error) throw InputError(root.string() + ": expected a folder with workload files");
  std::sort(entries.begin(), entries.end(), [](const WorkloadEntry& a, const WorkloadEntry& b) {
    return std::tie(a.group, a.name) < std::tie(b.group, b.name);
  });
  return entries;
}

std::shared_ptr<const Workload> FindWorkload(const std::string& name, const std::string& data_dir) {
  if (EndsWithToml(name)) return LoadWorkload(name);
  std::string known;
  std::vector<WorkloadEntry> matches;
  for (const WorkloadEntry& entry : ListWorkloads(data_dir)) {
    known += (known.empty() ? "" : ", ") + entry.name;
    if (entry.name == name || entry.group + "/" + entry.name == name) matches.push_back(entry);
  }
  if (matches.size() == 1) return LoadWorkload(matches[0].path);
  if (matches.empty()) {
    throw InputError(name + ": expected a .toml file or one of the workloads " + known);
  }
  throw InputError(name + ": expected one of " + matches[0].group + "/" + name + " and " +
                   matches[1].group + "/" + name);
}

}  // namespace smk
