// SPDX-License-Identifier: Apache-2.0
#include "sweep/runner.h"

#include <fmt/format.h>

#include <chrono>
#include <deque>
#include <thread>

#include "base/numbers.h"
#include "base/progress.h"
#include "experiment/requests.h"
#include "run/child_pool.h"
#include "run/results.h"

namespace smk::sim {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMaxKills = 3;   // a run whose process is killed so often has failed
constexpr int kPollMs = 1000;  // between two looks at the clock
constexpr auto kOthersPause = std::chrono::milliseconds(100);

double Seconds(Clock::time_point since) {
  return std::chrono::duration<double>(Clock::now() - since).count();
}

std::string Duration(double seconds) {
  const auto total = static_cast<std::uint64_t>(seconds + 0.5);
  if (total < 60) return fmt::format("{} s", total);
  if (total < 3600) return fmt::format("{} min {:02} s", total / 60, total % 60);
  return fmt::format("{} h {:02} min", total / 3600, total / 60 % 60);
}

// One sweep at work.
class Sweep {
 public:
  Sweep(const SweepPlan& plan, const Backend& backend, SweepStore* store,
        const SweepRunnerOptions& options)
      : plan_(plan),
        backend_(backend),
        store_(*store),
        options_(options),
        progress_(options.quiet),
        pool_(/*keep_messages=*/true) {}

  SweepSummary Run(const std::vector<std::size_t>& runs) {
    summary_.runs = runs.size();
    const std::map<std::string, RunState> states = store_.States();
    for (const std::size_t index : runs) {
      const auto state = states.find(plan_.runs[index].id);
      if (state == states.end() || (state->second == RunState::kFailed && options_.retry_failed)) {
        waiting_.push_back(index);
        cycles_left_ += Cost(index);
      } else {
        Count(state->second);
      }
    }
    while (!waiting_.empty() || !elsewhere_.empty() || pool_.running() > 0) Turn();
    store_.RequireInPlace();
    summary_.seconds = Seconds(begin_);
    return summary_;
  }

 private:
  double Cost(std::size_t index) const {
    return static_cast<double>(
        ParseCount("cycles", *plan_.runs[index].options.cycles, 1, ~std::uint64_t{0}));
  }
  void Count(RunState state) { ++(state == RunState::kDone ? summary_.before : summary_.failed); }

  // Keeps all workers busy, then waits for one of them.
  void Turn() {
    while (pool_.running() < options_.jobs && !waiting_.empty()) Take();
    Show();
    if (pool_.running() > 0) {
      if (std::optional<FinishedChild> child = pool_.Next(kPollMs)) Store(*child);
      return;
    }
    // What is left is in work in other sweeps: look whether it is finished or free again.
    if (!elsewhere_.empty()) std::this_thread::sleep_for(kOthersPause);
    waiting_.insert(waiting_.end(), elsewhere_.begin(), elsewhere_.end());
    elsewhere_.clear();
  }

  void Take() {
    const std::size_t index = waiting_.front();
    waiting_.pop_front();
    const SweepRun& run = plan_.runs[index];
    switch (store_.TryClaim(run.id, options_.retry_failed && attempts_[index] == 0)) {
      case Claim::kTaken:
        elsewhere_.push_back(index);
        return;
      case Claim::kFinished:
        cycles_left_ -= Cost(index);
        Count(store_.StateOf(run.id));
        return;
      case Claim::kGranted:
        break;
    }
    ++attempts_[index];
    pool_.Start(index, [this, &run, done = DoneAlone(run)] {
      if (run.stream) return RunStreamOf(run, backend_);
      LoadedRun loaded = LoadRun(run, backend_);
      if (loaded.request.until == RunUntil::kWork) SetAllWork(done, &loaded);
      RunResult result =
          backend_.run(loaded.request, loaded.experiment.control, loaded.experiment.control_config);
      CheckResult(loaded.request, &result);
      return result;
    });
  }

  // What the kernels of the run did in their isolated runs; nothing of those that are not stored.
  std::vector<std::optional<KernelStats>> DoneAlone(const SweepRun& run) {
    std::vector<std::optional<KernelStats>> done;
    if (run.is_isolated() || run.stream) return done;
    for (const std::string& id : run.isolated) done.push_back(store_.KernelOf(id));
    return done;
  }

  // Makes the isolated runs that are not stored; another process may be making them, too.
  void SetAllWork(const std::vector<std::optional<KernelStats>>& done, LoadedRun* loaded) const {
    const Experiment& e = loaded->experiment;
    for (std::size_t i = 0; i < done.size(); ++i) {
      RunResult alone;
      if (done[i]) {
        alone.kernels = {*done[i]};
      } else {
        alone = backend_.run(IsolatedRequest(e, i, {}), e.control, e.control_config);
      }
      SetWork(i, alone, &loaded->request);
    }
  }

  void Store(const FinishedChild& child) {
    const SweepRun& run = plan_.runs[child.index];
    if (child.end == ChildEnd::kKilled && ++kills_[child.index] < kMaxKills) {
      // Not the run's fault, as far as one can tell. The claim stays ours.
      --attempts_[child.index];
      store_.GiveBack(run.id);
      waiting_.push_front(child.index);
      return;
    }
    cycles_left_ -= Cost(child.index);
    cycles_made_ += Cost(child.index);
    const LoadedRun loaded = LoadRun(run, backend_);
    store_.RequireInPlace();
    if (child.end == ChildEnd::kResult) {
      store_.StoreResult(run, loaded, child.result, child.messages);
      ++summary_.made;
      return;
    }
    store_.StoreFailure(run, loaded, child.reason, child.messages);
    ++summary_.failed;
    if (summary_.first_failure.empty()) {
      summary_.first_failure = fmt::format("{} {}: {}", run.workload, run.policy, child.reason);
    }
  }

  void Show() {
    const std::size_t stored = summary_.before + summary_.made + summary_.failed;
    std::string line = fmt::format("{} of {} runs", stored, summary_.runs);
    if (summary_.failed > 0) line += fmt::format(", {} failed", summary_.failed);
    const double seconds = Seconds(begin_);
    if (cycles_made_ > 0 && seconds > 0) {
      line += fmt::format(", {:.0f} runs/h, {} left",
                          3600 * static_cast<double>(summary_.made) / seconds,
                          Duration(seconds * cycles_left_ / cycles_made_));
    }
    progress_.Line(line);
  }

  const SweepPlan& plan_;
  const Backend& backend_;
  SweepStore& store_;
  const SweepRunnerOptions options_;
  Progress progress_;
  ChildPool pool_;
  const Clock::time_point begin_ = Clock::now();
  SweepSummary summary_;
  std::deque<std::size_t> waiting_;
  std::vector<std::size_t> elsewhere_;  // taken by other sweeps
  std::map<std::size_t, int> attempts_, kills_;
  double cycles_left_ = 0, cycles_made_ = 0;
};

}  // namespace

SweepSummary RunSweep(const SweepPlan& plan, const std::vector<std::size_t>& runs,
                      const Backend& backend, SweepStore* store,
                      const SweepRunnerOptions& options) {
  return Sweep(plan, backend, store, options).Run(runs);
}

}  // namespace smk::sim
