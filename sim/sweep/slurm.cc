// SPDX-License-Identifier: Apache-2.0
#include "sweep/slurm.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/numbers.h"
#include "run/manifest.h"

namespace smk::sim {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kRunsPerTask = 64;
constexpr int kMaxJobs = 3;  // that --wait submits
constexpr auto kPoll = std::chrono::seconds(1);

// A program of Slurm's, and everything that it printed.
struct Output {
  int status = 0;
  std::string text;
};

Output Call(const std::vector<std::string>& words) {
  FILE* pipe = popen((CommandLine(words) + " 2>&1 </dev/null").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error(words[0] + ": cannot be started");
  Output output;
  char buffer[4096];
  std::size_t n = 0;
  while ((n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0) output.text.append(buffer, n);
  const int status = pclose(pipe);
  output.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  output.text.erase(output.text.find_last_not_of(" \n") + 1);
  if (output.status == 127) {
    throw InputError(
        fmt::format("--slurm: {} is not installed: apt-get install slurm-client", words[0]));
  }
  return output;
}

// Whether a job is still in the queue, running or not.
bool InQueue(const std::string& job) {
  const Output output = Call({"squeue", "--noheader", "--jobs", job, "--format", "%i"});
  if (output.status == 0) return !output.text.empty();
  if (output.text.find("Invalid job id") != std::string::npos) return false;
  // The controller may be away for a moment.
  return true;
}

// The jobs of one database.
class Jobs {
 public:
  Jobs(const SweepPlan& plan, std::vector<std::size_t> runs, SweepStore* store,
       const SlurmOptions& options)
      : plan_(plan),
        runs_(std::move(runs)),
        store_(*store),
        options_(options),
        folder_(fs::absolute(store->database().path()).lexically_normal().string() + ".slurm") {}

  int Run() {
    fs::create_directories(folder_);
    const std::string last =
        fs::exists(folder_ / "job") ? ReadFile((folder_ / "job").string()) : "";
    if (!last.empty() && InQueue(last)) {
      if (!options_.wait) {
        throw InputError(
            fmt::format("--slurm: job {} of {} is still in the queue; expected to be "
                        "called when it is through, or with --wait",
                        last, store_.database().path()));
      }
      Await(last);
    }
    for (int submitted = 0;; ++submitted) {
      Collect();
      const std::vector<std::string> missing = Missing(submitted > 0);
      if (missing.empty()) return Finish();
      if (submitted == kMaxJobs) {
        fmt::print("FAIL: {} of {} runs are missing after {} jobs; see {}/*.log\n", missing.size(),
                   runs_.size(), submitted, folder_.string());
        return 1;
      }
      const std::string job = Submit(missing);
      if (!options_.wait) return 0;
      Await(job);
    }
  }

 private:
  static void Await(const std::string& job) {
    while (InQueue(job)) std::this_thread::sleep_for(kPoll);
  }

  // Merges the databases of the tasks, and removes them.
  void Collect() {
    std::vector<fs::path> parts;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().extension() == ".db") parts.push_back(entry.path());
    }
    std::sort(parts.begin(), parts.end());
    for (const fs::path& part : parts) {
      SweepStore::Merged merged;
      try {
        merged = store_.Merge(part.string());
      } catch (const InputError& error) {
        // Not a database: its task has failed, and its runs are missing.
        fmt::print(stderr, "smk: warning: {}; set aside\n", error.what());
        fs::rename(part, part.string() + ".broken");
        continue;
      }
      if (!merged.conflicts.empty()) {
        throw std::runtime_error(fmt::format("{}: run {} has another result than in {}",
                                             part.string(), merged.conflicts.front(),
                                             store_.database().path()));
      }
      fs::remove(part);
      fs::remove(part.string() + "-journal");
    }
  }

  // Runs without a result; failed ones only when they are to be made again, which is done once.
  std::vector<std::string> Missing(bool again) {
    const std::map<std::string, RunState> states = store_.States();
    std::vector<std::string> missing;
    for (const std::size_t index : runs_) {
      const std::string& run = plan_.runs[index].id;
      const auto state = states.find(run);
      if (state == states.end() ||
          (state->second == RunState::kFailed && options_.retry_failed && !again)) {
        missing.push_back(run);
      }
    }
    return missing;
  }

  int Finish() {
    store_.RequireInPlace();
    const std::map<std::string, RunState> states = store_.States();
    const auto failed = std::count_if(runs_.begin(), runs_.end(), [&](std::size_t index) {
      return states.at(plan_.runs[index].id) == RunState::kFailed;
    });
    if (!options_.quiet) {
      fmt::print("{}: {} runs, {} failed\n", store_.database().path(), runs_.size(), failed);
    }
    if (failed > 0) {
      fmt::print("FAIL: {} of {} runs failed; again with --retry-failed\n", failed, runs_.size());
      return 1;
    }
    fmt::print("PASS\n");
    return 0;
  }

  // Tasks of the job, as many as runs at most, and no more than Slurm takes.
  ArraySize Tasks(std::size_t runs) const {
    ArraySize size;
    size.tasks = (runs + kRunsPerTask - 1) / kRunsPerTask;
    if (!options_.tasks.empty()) size = ParseTasks(options_.tasks);
    const Output config = Call({"scontrol", "show", "config"});
    if (config.status != 0) throw InputError("--slurm: scontrol: " + OneLine(config.text));
    // The largest index is one below MaxArraySize, and ours begin with 1.
    const std::size_t most = ConfigNumber(config.text, "MaxArraySize", 1001) - 1;
    size.tasks = std::max<std::size_t>(1, std::min({size.tasks, runs, most}));
    return size;
  }

  static std::string OneLine(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
  }

  std::string Submit(const std::vector<std::string>& missing) {
    std::size_t number = 1;
    const auto file = [&](const std::string& suffix) {
      return (folder_ / fmt::format("{}.{}", number, suffix)).string();
    };
    while (fs::exists(file("runs"))) ++number;
    const ArraySize size = Tasks(missing.size());
    WriteFileAtomically(file("runs"), Join(missing, "\n") + "\n");
    WriteFileAtomically(
        file("sh"),
        Script(file("runs"), fmt::format("{}/{}", folder_.string(), number), size.tasks));
    std::vector<std::string> words = {
        "sbatch",    "--parsable",         "--job-name",   "smk-" + plan_.name,
        "--requeue", "--open-mode=append", "--export=PATH"};
    words.push_back(fmt::format("--array=1-{}{}", size.tasks,
                                size.running == 0 ? "" : fmt::format("%{}", size.running)));
    words.push_back("--output=" + file("%a.log"));
    words.insert(words.end(), options_.sbatch.begin(), options_.sbatch.end());
    words.push_back(file("sh"));
    const Output output = Call(words);
    if (output.status != 0) throw InputError("--slurm: " + OneLine(output.text));
    // "17" or "17;cluster", perhaps after a warning.
    const std::string last = output.text.substr(output.text.rfind('\n') + 1);
    std::string job = last.substr(0, last.find(';'));
    WriteFileAtomically((folder_ / "job").string(), job);
    if (!options_.quiet) {
      fmt::print("{}: job {}: {} runs in {} {}, logs in {}\n", store_.database().path(), job,
                 missing.size(), size.tasks, size.tasks == 1 ? "task" : "tasks", folder_.string());
      if (!options_.wait) fmt::print("again with the same command when it is through\n");
      std::fflush(stdout);
    }
    return job;
  }

  std::string Script(const std::string& runs, const std::string& prefix, std::size_t tasks) const {
    std::vector<std::string> words = {fs::read_symlink("/proc/self/exe").string(),
                                      "sweep",
                                      options_.spec,
                                      "--runs",
                                      runs,
                                      "--one-writer"};
    if (options_.retry_failed) words.emplace_back("--retry-failed");
    return fmt::format(
        "#!/bin/sh\n# Task K makes every {0}-th run; it may be started again.\n"
        "export SMK_DATA_DIR={1}\n"
        "exec {2} --shard \"$SLURM_ARRAY_TASK_ID/{0}\" --jobs \"${{SLURM_CPUS_PER_TASK:-1}}\" \\\n"
        "  --out {3}.\"$SLURM_ARRAY_TASK_ID\".db\n",
        tasks, CommandLine({options_.data_dir}), CommandLine(words), CommandLine({prefix}));
  }

  const SweepPlan& plan_;
  const std::vector<std::size_t> runs_;
  SweepStore& store_;
  const SlurmOptions& options_;
  const fs::path folder_;
};

}  // namespace

ArraySize ParseTasks(const std::string& text) {
  const std::vector<std::string> parts = Split(text, '%');
  if (parts.size() > 2) {
    throw InputError(fmt::format("--tasks: expected N or N%RUNNING, got '{}'", text));
  }
  ArraySize size;
  size.tasks = ParseCount("--tasks", parts[0], 1, 10'000'000);
  if (parts.size() == 2) size.running = ParseCount("--tasks", parts[1], 1, 10'000'000);
  return size;
}

std::size_t ConfigNumber(const std::string& config, const std::string& key, std::size_t otherwise) {
  std::istringstream lines(config);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, equals;
    std::size_t value = 0;
    if (words >> name >> equals >> value && name == key && equals == "=") return value;
  }
  return otherwise;
}

int SlurmSweep(const SweepPlan& plan, const std::vector<std::size_t>& runs, SweepStore* store,
               const SlurmOptions& options) {
  return Jobs(plan, runs, store, options).Run();
}

}  // namespace smk::sim
