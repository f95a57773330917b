// SPDX-License-Identifier: Apache-2.0
// Requests of an SM that wait for their turn in memory, by ticket.
#pragma once

#include <algorithm>
#include <vector>

#include "memory/memory_port.h"

namespace smk {

// `Owner` says whose request it is. Nothing is allocated once there were as many as there ever are.
template <typename Owner>
class OpenRequests {
 public:
  struct Entry {
    Owner owner{};
    unsigned answers = 0;  // that are missing
    bool asked = false;    // there will be no more of them
    Cycle done = 0;        // the last answer so far
  };

  Ticket Open(const Owner& owner) {
    if (free_.empty()) {
      free_.push_back(static_cast<Ticket>(entries_.size()));
      entries_.emplace_back();
    }
    const Ticket ticket = free_.back();
    free_.pop_back();
    entries_[ticket] = Entry{owner};
    return ticket;
  }
  // So many more answers will come.
  void Expect(Ticket ticket, unsigned answers) { entries_[ticket].answers += answers; }
  // All was asked for. At least one answer is missing.
  void Close(Ticket ticket) { entries_[ticket].asked = true; }
  // An answer has come. The entry, which is gone with the next call, if it was the last.
  const Entry* Answer(Ticket ticket, Cycle done) {
    Entry& entry = entries_[ticket];
    entry.done = std::max(entry.done, done);
    if (--entry.answers != 0 || !entry.asked) return nullptr;
    free_.push_back(ticket);
    return &entry;
  }

 private:
  std::vector<Entry> entries_;
  std::vector<Ticket> free_;
};

}  // namespace smk
