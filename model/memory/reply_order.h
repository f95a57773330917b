// SPDX-License-Identifier: Apache-2.0
// Replies that have not left their slice, in the order in which they can.
//
// Purpose     Gives the reply that is ready first; of those of one cycle, the one that came first.
// Speed       Replies come nearly in this order: hits in theirs, and behind them misses in theirs,
//             but for what DRAM does out of order. So they are kept in a few runs, each a list that
//             is in order. A reply joins the first run whose last one is not later, or begins one;
//             the first of all is the first of a run. Nothing is allocated but runs and names.
// Ties        Of two runs the latter one's last reply was always earlier, so that a reply of the
//             same cycle that comes later never joins an earlier run.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"

namespace smk {

// A reply, known by a name of the caller's choice, and the one behind it in its run. Replies of
// several orders may share them.
struct ReplyLink {
  Cycle ready = 0;
  std::uint32_t next = 0;
};

// See the head of this file.
class ReplyOrder {
 public:
  unsigned size() const { return size_; }
  // When the first of all is ready; kNever if there is none.
  Cycle first() const { return first_; }

  void Push(Cycle ready, std::uint32_t name, std::vector<ReplyLink>* links) {
    unsigned r = 0;
    while (r != runs_.size() && runs_[r].last_ready > ready) ++r;
    if (r == runs_.size()) runs_.emplace_back();
    Run& run = runs_[r];
    (*links)[name].ready = ready;
    if (run.first_ready == kNever) {
      run.first = name;
      run.first_ready = ready;
    } else {
      (*links)[run.last].next = name;
    }
    run.last = name;
    run.last_ready = ready;
    ++size_;
    if (ready < first_) Begin(r);
  }

  // Takes the first of all; its name.
  std::uint32_t Pop(const std::vector<ReplyLink>& links) {
    Run& run = runs_[first_run_];
    const std::uint32_t name = run.first;
    run.first = links[name].next;
    run.first_ready = name == run.last ? kNever : links[run.first].ready;
    --size_;
    unsigned best = 0;
    for (unsigned r = 1; r != runs_.size(); ++r) {
      if (runs_[r].first_ready < runs_[best].first_ready) best = r;
    }
    Begin(best);
    return name;
  }

 private:
  struct Run {
    Cycle first_ready = kNever;  // kNever: it is empty
    Cycle last_ready = 0;        // of the last one that joined it, which may have left
    std::uint32_t first = 0, last = 0;
  };

  void Begin(unsigned run) {
    first_run_ = run;
    first_ = runs_[run].first_ready;
  }

  std::vector<Run> runs_;
  unsigned first_run_ = 0, size_ = 0;
  Cycle first_ = kNever;
};

}  // namespace smk
