// SPDX-License-Identifier: Apache-2.0
#include "run/tasks.h"

#include <fmt/format.h>

#include "base/error.h"
#include "run/child_pool.h"

namespace smk::sim {
namespace {

[[noreturn]] void Throw(const std::string& name, const FinishedChild& child) {
  if (child.end == ChildEnd::kInputError) throw InputError(child.reason);
  const std::string text = fmt::format("{}: {}", name, child.reason);
  if (child.end == ChildEnd::kError) throw std::runtime_error(text);
  throw CheckFailure(text);
}

}  // namespace

std::vector<RunResult> RunTasks(const std::vector<Task>& tasks, unsigned jobs,
                                const std::function<void(std::size_t)>& on_done) {
  std::vector<RunResult> results(tasks.size());
  ChildPool children(/*keep_messages=*/false);
  std::size_t next = 0, done = 0;
  while (done < tasks.size()) {
    for (; next < tasks.size() && children.running() < jobs; ++next) {
      children.Start(next, tasks[next].run);
    }
    std::optional<FinishedChild> child = children.Next(-1);
    if (child->end != ChildEnd::kResult) Throw(tasks[child->index].name, *child);
    results[child->index] = std::move(child->result);
    ++done;
    if (on_done) on_done(done);
  }
  return results;
}

}  // namespace smk::sim
