// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "base/ids.h"

namespace smk::sim {

// One line on a terminal's stderr that is written over; silent in a pipe or when `quiet`.
class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress() { Clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Some cycles of a simulation are done.
  void Cycles(const std::string& what, Cycle done, Cycle total);
  // Some of several simulations are done.
  void Runs(std::size_t done, std::size_t total);
  // Anything else that fits on a line.
  void Line(const std::string& line);
  void Clear();

 private:
  void Show(const std::string& line);

  const bool visible_;
  bool dirty_ = false;
  std::chrono::steady_clock::time_point shown_{};
};

}  // namespace smk::sim
