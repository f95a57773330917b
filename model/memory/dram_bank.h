// SPDX-License-Identifier: Apache-2.0
// One DRAM bank: which row is open when.
#pragma once

#include <array>
#include <cstdint>

#include "config/machine_config.h"

namespace smk {

using DramClock = std::uint64_t;

// The bank's plan is a sequence of openings: a row, from its activation to the precharge before the
// next. Requests are planned when they arrive, in the order of their calls; to do as an FR-FCFS
// scheduler would, a request joins an opening of its row that is not yet over when it arrives, even
// if other rows are already planned behind it. The time this takes is charged to the bank's next
// precharge, so a bank never does more work than it has time for.
class DramBank {
 public:
  // Looks for an opening of `row` that a request arriving at `now` can join. True: its column
  // command can be given at `*column` or later.
  bool Join(std::uint64_t row, DramClock now, DramClock* column) const {
    if (row == open_.row) {
      *column = now > open_.column ? now : open_.column;
      return true;
    }
    for (const Opening& past : past_) {
      if (past.row == row && now <= past.closes) {
        *column = now > past.column ? now : past.column;
        return true;
      }
    }
    return false;
  }

  // First clock at which another row can be activated by a request arriving at `now`.
  DramClock EarliestActivate(DramClock now, const MemoryConfig& t) const {
    if (open_.row == kNoRow) return now;
    const DramClock precharge = now > precharge_ ? now : precharge_;
    const DramClock after_precharge = precharge + t.t_rp;
    const DramClock after_activate = activate_ + t.t_rc;
    return after_precharge > after_activate ? after_precharge : after_activate;
  }

  // Closes the open row and opens `row` by an activation at `activate`.
  void Open(std::uint64_t row, DramClock activate, const MemoryConfig& t) {
    open_.closes = activate < t.t_rp ? 0 : activate - t.t_rp;
    past_[next_past_] = open_;
    next_past_ = (next_past_ + 1) % kPast;
    open_ = {row, activate + t.t_rcd, 0};
    activate_ = activate;
    precharge_ = activate + t.t_ras;
  }

  // A column command to `row` at `column` that keeps the bank busy until `end`; `busy` clocks of it
  // are its own.
  void Use(std::uint64_t row, DramClock end, DramClock busy) {
    if (row == open_.row) {
      if (end > precharge_) precharge_ = end;
    } else {
      precharge_ += busy;
    }
  }

 private:
  static constexpr std::uint64_t kNoRow = ~std::uint64_t{0};
  static constexpr unsigned kPast = 4;  // openings that are remembered behind the open one

  struct Opening {
    std::uint64_t row = kNoRow;
    DramClock column = 0;  // first column command: activation + tRCD
    DramClock closes = 0;  // precharge; of the open row not known yet
  };

  Opening open_{};
  std::array<Opening, kPast> past_{};
  unsigned next_past_ = 0;
  DramClock activate_ = 0;   // of the open row
  DramClock precharge_ = 0;  // earliest, of the open row
};

}  // namespace smk
