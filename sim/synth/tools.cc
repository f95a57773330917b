// SPDX-License-Identifier: Apache-2.0
#include "synth/tools.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/sha256.h"

namespace smk::sim {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kLastLines = 5;

// The tools under way; they are ended when this object ends.
class Running {
 public:
  struct Tool {
    pid_t pid;
    std::size_t index;
    std::string folder;
  };

  ~Running() {
    for (const Tool& tool : tools_) {
      kill(tool.pid, SIGKILL);
      waitpid(tool.pid, nullptr, 0);
      std::error_code ignored;
      fs::remove_all(tool.folder, ignored);
    }
  }
  std::size_t size() const { return tools_.size(); }

  void Start(const ToolRun& run, std::size_t index, const std::string& folder) {
    std::fflush(nullptr);
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0) throw std::runtime_error("cannot start a process");
    if (pid == 0) Become(run, folder, parent);
    tools_.push_back({pid, index, folder});
  }
  // Waits for one to end.
  Tool Next(int* status) {
    while (true) {
      const pid_t pid = waitpid(-1, status, 0);
      const auto found = std::find_if(tools_.begin(), tools_.end(),
                                      [pid](const Tool& tool) { return tool.pid == pid; });
      if (found != tools_.end()) {
        Tool tool = *found;
        tools_.erase(found);
        return tool;
      }
      if (pid < 0 && errno != EINTR) throw std::runtime_error("cannot wait for a process");
    }
  }
  std::vector<std::size_t> Indices() const {
    std::vector<std::size_t> indices;
    for (const Tool& tool : tools_) indices.push_back(tool.index);
    return indices;
  }

 private:
  [[noreturn]] static void Become(const ToolRun& run, const std::string& folder, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    const int null = open("/dev/null", O_RDONLY);
    const int log = open((folder + "/log").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(null, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    for (const auto& [name, value] : run.environment) setenv(name.c_str(), value.c_str(), 1);
    setenv("SMK_OUT", folder.c_str(), 1);
    std::vector<char*> argv;
    for (const std::string& word : run.arguments) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    _exit(127);
  }

  std::vector<Tool> tools_;
};

bool IsComplete(const ToolRun& run, const std::string& folder) {
  return std::all_of(run.results.begin(), run.results.end(), [&](const std::string& name) {
    std::error_code error;
    return fs::exists(folder + "/" + name, error);
  });
}

// The last lines that say something, in one.
std::string LastWords(const std::string& log) {
  std::vector<std::string> lines;
  for (const std::string& line : Split(log, '\n')) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) lines.push_back(line);
  }
  if (lines.size() > kLastLines) lines.erase(lines.begin(), lines.end() - kLastLines);
  return Join(lines, " | ");
}

}  // namespace

ToolCache::ToolCache(const std::string& folder) : folder_(folder), temporary_(folder.empty()) {
  if (temporary_) {
    std::string name = (fs::temp_directory_path() / "smk_synth_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error(fmt::format("{}: {}", name, std::strerror(errno)));
    }
    folder_ = name;
  }
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw InputError(fmt::format("{}: {}", folder_, error.message()));
}

ToolCache::~ToolCache() {
  std::error_code ignored;
  if (temporary_) fs::remove_all(folder_, ignored);
}

std::string ToolCache::Keep(const std::string& text, const std::string& ending) const {
  std::string path = folder_ + "/" + HashText(text).substr(0, 16) + ending;
  if (!fs::exists(path)) WriteFileAtomically(path, text);
  return path;
}

bool ToolCache::Has(const ToolRun& run) const { return IsComplete(run, Folder(run)); }

void ToolCache::Make(const std::vector<ToolRun>& runs, unsigned jobs,
                     const std::function<void(std::size_t, const std::string&)>& on_change) {
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!Has(runs[i])) missing.push_back(i);
  }
  Running running;
  std::size_t started = 0;
  while (started < missing.size() || running.size() > 0) {
    while (started < missing.size() && running.size() < jobs) {
      const ToolRun& run = runs[missing[started]];
      const std::string folder = fmt::format("{}.{}.{}", Folder(run), getpid(), started);
      fs::create_directories(folder);
      running.Start(run, missing[started++], folder);
    }
    std::vector<std::string> names;
    for (const std::size_t index : running.Indices()) names.push_back(runs[index].name);
    on_change(runs.size() - (missing.size() - started) - running.size(), Join(names));
    int status = 0;
    const Running::Tool tool = running.Next(&status);
    Finish(runs[tool.index], tool.folder, WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

void ToolCache::Finish(const ToolRun& run, const std::string& folder, bool well) {
  std::error_code ignored;
  if (!well || !IsComplete(run, folder)) {
    const std::string words = LastWords(ReadFile(folder + "/log"));
    const std::string kept = fmt::format("{}/failed-{}.log", folder_, run.name);
    fs::rename(folder + "/log", kept, ignored);
    fs::remove_all(folder, ignored);
    throw std::runtime_error(fmt::format("{} of {} failed: {}{}", run.arguments[0], run.name, words,
                                         temporary_ ? "" : " (log: " + kept + ")"));
  }
  std::error_code other;  // another process has made the same
  fs::rename(folder, Folder(run), other);
  if (other) fs::remove_all(folder, ignored);
}

void RequireTool(const std::string& program, const std::string& package) {
  const char* path = std::getenv("PATH");
  for (const std::string& folder : Split(path == nullptr ? "" : path, ':')) {
    const std::string candidate = folder + "/" + program;
    if (access(candidate.c_str(), X_OK) == 0 && !fs::is_directory(candidate)) return;
  }
  throw InputError(fmt::format(
      "{} is not installed; scripts/setup build synth, or apt-get install {}", program, package));
}

std::string ToolVersion(const std::string& command) {
  FILE* pipe = popen((command + " </dev/null 2>&1").c_str(), "r");
  if (pipe == nullptr) return "";
  char line[256] = "";
  if (std::fgets(line, sizeof line, pipe) == nullptr) line[0] = '\0';
  pclose(pipe);
  std::string version = line;
  version.erase(version.find_last_not_of("\r\n ") + 1);
  return version;
}

}  // namespace smk::sim
