// SPDX-License-Identifier: Apache-2.0
// Simulations in child processes: the SystemC kernel exists once per process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "machine/run.h"

namespace smk::sim {

// How a child ended.
enum class ChildEnd {
  kResult,
  kInputError,    // it threw InputError
  kCheckFailure,  // it threw CheckFailure, crashed, or ended without a word
  kError,         // it threw something else
  kKilled,        // somebody ended it: SIGKILL, SIGTERM, SIGINT, SIGHUP
};

struct FinishedChild {
  std::size_t index = 0;  // as given to Start()
  ChildEnd end = ChildEnd::kResult;
  RunResult result;      // kResult
  std::string reason;    // all others
  std::string messages;  // its stderr, when it is kept
};

// The running children. They die with this object, and with this process however it ends.
class ChildPool {
 public:
  // With `keep_messages` a child's stderr goes into FinishedChild, else where ours goes.
  explicit ChildPool(bool keep_messages) : keep_messages_(keep_messages) {}
  ~ChildPool();
  ChildPool(const ChildPool&) = delete;
  ChildPool& operator=(const ChildPool&) = delete;

  std::size_t running() const { return running_.size(); }
  void Start(std::size_t index, const std::function<RunResult()>& run);
  // Waits until a child has ended, at most for so long (-1: for ever).
  std::optional<FinishedChild> Next(int timeout_ms);

 private:
  struct Child {
    std::size_t index;
    pid_t pid;
    int fd;        // its result comes from here
    int messages;  // a file in memory, or -1
    std::vector<std::uint8_t> bytes;
  };
  FinishedChild Finish(std::size_t position);

  const bool keep_messages_;
  std::vector<Child> running_;
};

}  // namespace smk::sim
