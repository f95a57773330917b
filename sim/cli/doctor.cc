// SPDX-License-Identifier: Apache-2.0
// smk doctor: what is installed, what is missing, and how to get it.
#include <fmt/format.h>
#include <sysc/kernel/sc_ver.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <vector>

#include "base/cache_folder.h"
#include "base/error.h"
#include "base/text_table.h"
#include "cli/commands.h"
#include "smk/version.h"

namespace smk::sim {
namespace fs = std::filesystem;
namespace {

// A program that some feature uses.
struct Tool {
  const char* name;
  const char* program;
  const char* arguments;  // make it print its version; "": the version of the Debian package
  const char* package;
  const char* used_for;
};

constexpr Tool kTools[] = {
    {"g++", "g++", "-dumpfullversion", "build-essential", "building"},
    {"CMake", "cmake", "--version", "cmake", "building"},
    {"Ninja", "ninja", "--version", "ninja-build", "building"},
    {"Verilator", "verilator", "--version", "verilator", "building and checking the RTL"},
    {"Yosys", "yosys", "-V", "yosys", "checking the RTL, area"},
    {"OpenSTA", "sta", "-version", "opensta", "timing"},
    {"ABC", "yosys-abc", "-h", "yosys", "area, proofs"},
    {"z3", "z3", "--version", "z3", "proofs"},
    {"GTKWave", "gtkwave", "", "gtkwave", "looking at waveforms"},
    {"npm", "npm", "--version", "npm", "building the page of smk report"},
    {"Chromium", "chromium", "", "chromium", "testing that page"},
    {"Slurm", "sinfo", "--version", "slurm-client", "sweeps on several machines"},
};

// One line of the report.
struct Finding {
  std::string name, state, needed_for, remedy;
  bool broken = false;
};

bool OnPath(const std::string& program) {
  const char* path = std::getenv("PATH");
  const std::string folders = path == nullptr ? "" : path;
  std::size_t begin = 0;
  while (begin <= folders.size()) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string candidate = folders.substr(begin, end - begin) + "/" + program;
    if (access(candidate.c_str(), X_OK) == 0 && !fs::is_directory(candidate)) return true;
    begin = end + 1;
  }
  return false;
}

// The first line that has a digit in what the command prints; "installed" when there is none.
std::string Version(const std::string& command) {
  FILE* pipe = popen((command + " </dev/null 2>&1").c_str(), "r");
  if (pipe == nullptr) return "installed";
  std::string version = "installed";
  char line[512];
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    std::string text = line;
    text.erase(text.find_last_not_of("\r\n ") + 1);
    if (version == "installed" && text.size() <= 100 &&
        text.find_first_of("0123456789") != std::string::npos) {
      version = text;
    }
  }
  pclose(pipe);
  return version.size() > 48 ? version.substr(0, 48) : version;
}

Finding LookFor(const Tool& tool) {
  if (!OnPath(tool.program)) {
    return {tool.name, "not installed", tool.used_for,
            fmt::format("apt-get install {}", tool.package)};
  }
  const std::string command = *tool.arguments != '\0'
                                  ? fmt::format("{} {}", tool.program, tool.arguments)
                                  : fmt::format("dpkg-query -W -f '${{Version}}' {}", tool.package);
  return {tool.name, Version(command), tool.used_for, ""};
}

// Whether something that a command needs can be read at all.
template <typename Function>
Finding Try(const char* name, const char* needed_for, const char* remedy,
            const Function& function) {
  try {
    return {name, function(), needed_for, ""};
  } catch (const std::exception& error) {
    return {name, error.what(), needed_for, remedy, true};
  }
}

std::string Count(const std::vector<std::string>& names, const std::string& folder) {
  if (names.empty()) throw InputError("none in " + folder);
  return fmt::format("{} in {}", names.size(), folder);
}

std::vector<Finding> Features(const Backend& backend) {
  std::vector<Finding> findings;
  findings.push_back({"smk", fmt::format("{} ({})", kVersion, kGitDescribe), "", ""});
  findings.push_back({"SystemC",
                      fmt::format("{}.{}.{}", SC_VERSION_MAJOR, SC_VERSION_MINOR, SC_VERSION_PATCH),
                      "run, compare", ""});
  findings.push_back(Try("machines", "run, compare", "set SMK_DATA_DIR", [&] {
    for (const std::string& name : backend.list_machines()) {
      backend.load_machine(backend.find_machine(name), {});
    }
    return Count(backend.list_machines(), backend.data_dir);
  }));
  findings.push_back(Try("workloads", "run, compare", "set SMK_DATA_DIR", [&] {
    for (const std::string& name : backend.list_workloads()) backend.find_workload(name);
    return Count(backend.list_workloads(), backend.data_dir);
  }));
  const std::string cache = CacheFolder();
  findings.push_back({"cache", cache.empty() ? "none" : cache, "isolated runs are kept here",
                      cache.empty() ? "set SMK_CACHE_DIR" : ""});
  return findings;
}

}  // namespace

int DoctorCommand(const Context& context) {
  std::vector<Finding> findings = Features(context.backend);
  for (const Tool& tool : kTools) findings.push_back(LookFor(tool));
  TextTable table({"what", "found", "needed for", "remedy"}, {0, 1, 2, 3});
  bool broken = false;
  for (const Finding& finding : findings) {
    table.Add({finding.name, finding.state, finding.needed_for, finding.remedy});
    broken = broken || finding.broken;
  }
  fmt::print("{}\n{}\n", table.ToString(),
             broken ? "Something that smk run and smk compare need is missing, see above."
                    : "Everything that smk run, smk compare and smk list need is there.");
  return broken ? 1 : 0;
}

}  // namespace smk::sim
