// SPDX-License-Identifier: Apache-2.0
#include "base/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace smk::sim {

Progress::Progress(bool quiet) : visible_(!quiet && isatty(STDERR_FILENO) != 0) {}

void Progress::Cycles(const std::string& what, Cycle done, Cycle total) {
  const auto now = std::chrono::steady_clock::now();
  if (!visible_ || now - shown_ < std::chrono::milliseconds(200)) return;
  shown_ = now;
  Show(fmt::format("{}: {} % of {} cycles", what, done * 100 / total, total));
}

void Progress::Runs(std::size_t done, std::size_t total) {
  if (visible_) Show(fmt::format("{} of {} simulations done", done, total));
}

void Progress::Line(const std::string& line) {
  if (visible_) Show(line);
}

void Progress::Show(const std::string& line) {
  fmt::print(stderr, "\r\033[K{}", line);
  std::fflush(stderr);
  dirty_ = true;
}

void Progress::Clear() {
  if (!dirty_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  dirty_ = false;
}

}  // namespace smk::sim
