// SPDX-License-Identifier: Apache-2.0
// Reads workload files; the format is described in docs/workloads.md.
//
// Errors  InputError, one line: "file:line: key or token: expected what". Unknown and missing keys
//         are errors. Lines are those of the file, also inside a program's text.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "workload/workload.h"

namespace smk {

// Reads one file. The workload's name is the file's name without its suffix.
std::shared_ptr<const Workload> LoadWorkload(const std::string& path);

// The same from memory; `path` gives the name and is used in messages.
std::shared_ptr<const Workload> ParseWorkload(const std::string& text, const std::string& path);

// A name as the user gives it: "sgemm" or "parboil/sgemm" for data_dir/workloads/**/sgemm.toml, or
// the path of a file that ends in ".toml".
std::shared_ptr<const Workload> FindWorkload(const std::string& name, const std::string& data_dir);

// A workload file below data_dir/workloads.
struct WorkloadEntry {
  std::string name;   // "sgemm"
  std::string group;  // folder: "parboil"
  std::string path;
};

// All of them, by group and name.
std::vector<WorkloadEntry> ListWorkloads(const std::string& data_dir);

// 64-bit FNV-1a of the bytes, 16 hexadecimal digits.
std::string ContentHash(const std::string& bytes);

}  // namespace smk
