// SPDX-License-Identifier: Apache-2.0
// Operand collectors: what waits between the issue of an instruction and its pipe.
//
// Purpose     With sm.collectors = n, an instruction that has issued passes three places on its way
//             to its pipe: the issue register of its pipe (one per scheduler and pipe), one of the
//             n collectors of its scheduler, which serve all pipes, and the operand register of
//             its pipe (one per scheduler and pipe). It stays a cycle in each, longer where the
//             next one is taken; so it starts three cycles after its issue at the earliest.
// Order       The lowest collector goes first, so that an older instruction in a higher one waits
//             as long as younger ones keep coming; and one that waits for a busy pipe keeps its
//             collector from the instructions of other pipes. The LSU takes the oldest of all
//             schedulers, the other pipes belong to one scheduler each.
// Source      The sub-core model of the simulators (docs/validation.md shows its effect).
// Does not    read registers: bank conflicts are not modelled.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "config/machine_config.h"
#include "machine/decoded_code.h"
#include "machine/lanes.h"
#include "workload/program.h"

namespace smk {

// From the issue to the start of an instruction that waits for nothing.
inline constexpr unsigned kCollectorCycles = 3;

// See the head of this file. Ports are numbers below `ports`; the last is the LSU's.
class Collectors {
 public:
  // An instruction that has issued and not started.
  struct Entry {
    const Step* step = nullptr;
    std::uint8_t port = 0;
    std::uint8_t lane = 0;
    std::uint8_t tb_slot = 0;
    std::uint8_t lines_used = 0;
    std::uint32_t tb_generation = 0;
    std::uint64_t order = 0;  // of issue
    std::array<std::uint64_t, kMaxLines> lines;
    std::array<SectorMask, kMaxLines> sectors;

    // How many there are. `sectors` is null where lines have none.
    std::uint8_t CopyLines(std::uint64_t* to_lines, SectorMask* to_sectors) const {
      std::copy_n(lines.begin(), lines_used, to_lines);
      if (to_sectors != nullptr) std::copy_n(sectors.begin(), lines_used, to_sectors);
      return lines_used;
    }
  };

  // None with `units` 0.
  Collectors(unsigned units, unsigned schedulers, unsigned ports)
      : units_(units), schedulers_(schedulers), ports_(ports) {
    if (units == 0) return;
    pool_.resize(schedulers * (units + 2 * ports));
    for (Entry& entry : pool_) free_.push_back(&entry);
  }

  bool present() const { return units_ != 0; }
  bool empty() const { return waiting_ == 0; }
  // The scheduler cannot issue to the port in this cycle.
  bool Full(unsigned port, unsigned scheduler) const { return issued_[scheduler][port] != nullptr; }

  // A place for an instruction that issues to a port which is not Full().
  Entry& Issue(unsigned port, unsigned scheduler) {
    Entry* const entry = free_.back();
    free_.pop_back();
    entry->port = static_cast<std::uint8_t>(port);
    entry->order = ++issues_;
    issued_[scheduler][port] = entry;
    ++waiting_;
    return *entry;
  }

  // One cycle: each moves on by one place, if it is free. may_start(port, scheduler) says whether
  // the pipe takes one now; start(entry) gives it one.
  template <typename MayStart, typename Start>
  void Advance(const MayStart& may_start, const Start& start) {
    StartOldest(may_start, start);
    for (unsigned s = 0; s < schedulers_; ++s) {
      for (unsigned port = 0; port + 1 < ports_; ++port) {
        Entry*& entry = operands_[s][port];
        if (entry != nullptr && may_start(port, s)) Leave(&entry, start);
      }
      Collect(s);
    }
  }

 private:
  static constexpr unsigned kMaxPorts = 8;
  template <typename T>
  using PerScheduler = std::array<T, kMaxSchedulers>;

  // As many as the LSU takes, in the order of their issue.
  template <typename MayStart, typename Start>
  void StartOldest(const MayStart& may_start, const Start& start) {
    const unsigned lsu = ports_ - 1;
    while (true) {
      Entry** oldest = nullptr;
      for (unsigned s = 0; s < schedulers_; ++s) Older(&operands_[s][lsu], &oldest);
      if (oldest == nullptr || !may_start(lsu, 0)) return;
      Leave(oldest, start);
    }
  }

  static void Older(Entry** place, Entry*** oldest) {
    if (*place == nullptr || (*oldest != nullptr && (**oldest)->order < (*place)->order)) return;
    *oldest = place;
  }

  template <typename Start>
  void Leave(Entry** place, const Start& start) {
    Entry* const entry = *place;
    *place = nullptr;
    --waiting_;
    start(*entry);
    free_.push_back(entry);
  }

  // From the collectors to the operand registers, from the issue registers to the collectors.
  void Collect(unsigned s) {
    for (unsigned unit = 0; unit < units_; ++unit) {
      Entry*& entry = collecting_[s][unit];
      if (entry == nullptr || operands_[s][entry->port] != nullptr) continue;
      operands_[s][entry->port] = entry;
      entry = nullptr;
    }
    for (unsigned unit = 0; unit < units_; ++unit) {
      if (collecting_[s][unit] != nullptr) continue;
      Entry** oldest = nullptr;
      for (unsigned port = 0; port < ports_; ++port) Older(&issued_[s][port], &oldest);
      if (oldest == nullptr) return;
      collecting_[s][unit] = *oldest;
      *oldest = nullptr;
    }
  }

  unsigned units_, schedulers_, ports_;
  unsigned waiting_ = 0;
  std::uint64_t issues_ = 0;
  PerScheduler<std::array<Entry*, kMaxPorts>> issued_{}, operands_{};
  PerScheduler<std::array<Entry*, kMaxCollectors>> collecting_{};
  std::vector<Entry> pool_;
  std::vector<Entry*> free_;
};

}  // namespace smk
