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
// Speed       One that Flows() need not be put here: nothing can hold it up, nor does it hold up
//             another, so that it starts kCollectorCycles after its issue. See Sm::IssueCollected.
// Source      The sub-core model of the simulators (docs/validation.md shows its effect).
// Does not    read registers: bank conflicts are not modelled.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "config/machine_config.h"
#include "machine/lanes.h"
#include "machine/sm/decoded_code.h"
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
      : units_(units), schedulers_(units == 0 ? 0 : schedulers), lsu_(ports - 1) {
    pool_.resize(schedulers_ * (units + 2 * ports));
    free_.resize(pool_.size());
    for (Entry& entry : pool_) free_[free_count_++] = &entry;
  }

  bool empty() const { return waiting_ == 0; }
  // Schedulers, a bit each, that are Full() for some port.
  unsigned AnyFull() const { return full_; }
  // The scheduler cannot issue to the port in this cycle.
  bool Full(unsigned port, unsigned scheduler) const { return (Full(scheduler) >> port & 1) != 0; }
  // The same as a bit for each port.
  unsigned Full(unsigned scheduler) const { return at_[scheduler].issued; }

  // Whether one that issues now passes without a wait: there is a collector for it whatever those
  // before it do, and nobody before it wants the same pipe.
  bool Flows(unsigned port, unsigned scheduler) const {
    return (held_up_[scheduler] >> port & 1) == 0;
  }

  // By scheduler what Full() will be after Advance(), which has not come yet in this cycle, as
  // may_start(port, scheduler) says. The LSU takes `room` at most, besides those that are
  // dropped(entry).
  template <typename MayStart, typename Dropped>
  std::array<unsigned, kMaxSchedulers> FullLater(const MayStart& may_start, unsigned room,
                                                 const Dropped& dropped) const {
    std::array<unsigned, kMaxSchedulers> full{}, read{};
    for (unsigned some = full_; some != 0; some &= some - 1) {
      const auto s = static_cast<unsigned>(__builtin_ctz(some));
      read[s] = at_[s].read;
      for (unsigned left = at_[s].read & ~(1u << lsu_); left != 0; left &= left - 1) {
        const auto port = static_cast<unsigned>(__builtin_ctz(left));
        if (may_start(port, s)) read[s] &= ~(1u << port);
      }
    }
    for (unsigned left = at_lsu_; left != 0 && room != 0;) {
      const unsigned oldest = OldestAtLsu(left);
      left &= ~(1u << oldest);
      read[oldest] &= ~(1u << lsu_);
      if (!dropped(*at_[oldest].operands[lsu_])) --room;
    }
    for (unsigned some = full_; some != 0; some &= some - 1) {
      const auto s = static_cast<unsigned>(__builtin_ctz(some));
      full[s] = FullLater(at_[s], read[s]);
    }
    return full;
  }

  // A place for an instruction that issues to a port which is not Full().
  Entry& Issue(unsigned port, unsigned scheduler) {
    Entry* const entry = free_[--free_count_];
    entry->port = static_cast<std::uint8_t>(port);
    entry->order = ++issues_;
    Places& at = at_[scheduler];
    at.issue[port] = entry;
    at.issued |= 1u << port;
    ++at.held[port];
    at.held_ports |= 1u << port;
    ++at.uncollected;
    ++waiting_;
    used_ |= 1u << scheduler;
    full_ |= 1u << scheduler;
    FindHeldUp(scheduler);
    return *entry;
  }

  // One cycle: each moves on by one place, if it is free. may_start(port, scheduler) says whether
  // the pipe takes one now; start(entry) gives it one.
  template <typename MayStart, typename Start>
  [[gnu::always_inline]] void Advance(const MayStart& may_start, const Start& start) {
    // As many as the LSU takes, in the order of their issue.
    while (at_lsu_ != 0 && may_start(lsu_, 0)) Leave(OldestAtLsu(at_lsu_), lsu_, start);
    for (unsigned some = used_; some != 0; some &= some - 1) {
      const auto s = static_cast<unsigned>(__builtin_ctz(some));
      Places& at = at_[s];
      for (unsigned left = at.read & ~(1u << lsu_); left != 0; left &= left - 1) {
        const auto port = static_cast<unsigned>(__builtin_ctz(left));
        if (may_start(port, s)) Leave(s, port, start);
      }
      Collect(s);
      if (at.issued == 0) full_ &= ~(some & -some);
      if (at.read == 0 && at.collecting == 0) used_ &= ~(some & -some);
      FindHeldUp(s);
    }
  }

 private:
  static constexpr unsigned kMaxPorts = 8;
  // The places of one scheduler, and which of them are taken: a bit for each port or collector. A
  // cycle in which nothing moves looks at the first line only.
  struct alignas(64) Places {
    unsigned issued = 0, collecting = 0, read = 0;
    unsigned uncollected = 0;                           // that are not in an operand register yet
    std::array<std::uint8_t, kMaxPorts> held{};         // by port
    unsigned held_ports = 0;                            // of these those that are not 0
    std::array<std::uint8_t, kMaxCollectors> wanted{};  // ports, by collector
    std::array<Entry*, kMaxPorts> issue{}, operands{};
    std::array<Entry*, kMaxCollectors> collectors{};
  };

  // Of some schedulers: the one whose operand register of the LSU has the oldest.
  unsigned OldestAtLsu(unsigned schedulers) const {
    auto oldest = static_cast<unsigned>(__builtin_ctz(schedulers));
    for (unsigned left = schedulers & (schedulers - 1); left != 0; left &= left - 1) {
      const auto s = static_cast<unsigned>(__builtin_ctz(left));
      if (at_[s].operands[lsu_]->order < at_[oldest].operands[lsu_]->order) oldest = s;
    }
    return oldest;
  }

  // Starts what is in an operand register.
  template <typename Start>
  void Leave(unsigned scheduler, unsigned port, const Start& start) {
    Places& at = at_[scheduler];
    Entry* const entry = at.operands[port];
    at.read &= ~(1u << port);
    if (port == lsu_) at_lsu_ &= ~(1u << scheduler);
    if (--at.held[port] == 0) at.held_ports &= ~(1u << port);
    --waiting_;
    start(*entry);
    free_[free_count_++] = entry;
  }

  // From the collectors to the operand registers, from the issue registers to the collectors.
  void Collect(unsigned scheduler) {
    Places* const at = &at_[scheduler];
    for (unsigned left = at->collecting; left != 0; left &= left - 1) {
      const auto unit = static_cast<unsigned>(__builtin_ctz(left));
      const unsigned port = at->wanted[unit];
      if ((at->read >> port & 1) != 0) continue;
      at->operands[port] = at->collectors[unit];
      at->read |= 1u << port;
      if (port == lsu_) at_lsu_ |= 1u << scheduler;
      at->collecting &= ~(left & -left);
      --at->uncollected;
    }
    for (unsigned left = ((1u << units_) - 1) & ~at->collecting; at->issued != 0 && left != 0;
         left &= left - 1) {
      const unsigned port = Oldest(*at, at->issued);
      const auto unit = static_cast<unsigned>(__builtin_ctz(left));
      at->collectors[unit] = at->issue[port];
      at->wanted[unit] = static_cast<std::uint8_t>(port);
      at->collecting |= left & -left;
      at->issued &= ~(1u << port);
    }
  }
  void FindHeldUp(unsigned scheduler) {
    const Places& at = at_[scheduler];
    held_up_[scheduler] = at.uncollected < units_ ? at.held_ports : ~0u;
  }
  // What Collect() would leave in the issue registers.
  unsigned FullLater(const Places& at, unsigned read) const {
    unsigned free = units_;
    for (unsigned left = at.collecting; left != 0; left &= left - 1) {
      const unsigned port = at.wanted[static_cast<unsigned>(__builtin_ctz(left))];
      if ((read >> port & 1) != 0) --free;
      read |= 1u << port;
    }
    unsigned issued = at.issued;
    for (; issued != 0 && free != 0; --free) issued &= ~(1u << Oldest(at, issued));
    return issued;
  }
  // Of some issue registers that are taken.
  static unsigned Oldest(const Places& at, unsigned issued) {
    auto oldest = static_cast<unsigned>(__builtin_ctz(issued));
    for (unsigned left = issued & (issued - 1); left != 0; left &= left - 1) {
      const auto port = static_cast<unsigned>(__builtin_ctz(left));
      if (at.issue[port]->order < at.issue[oldest]->order) oldest = port;
    }
    return oldest;
  }

  unsigned units_, schedulers_, lsu_;
  unsigned waiting_ = 0;
  unsigned used_ = 0;                               // schedulers of which some wait
  unsigned at_lsu_ = 0;                             // of those: in the LSU's operand register
  unsigned full_ = 0;                               // of those: in an issue register
  std::array<unsigned, kMaxSchedulers> held_up_{};  // ports to which not Flows()
  std::uint64_t issues_ = 0;
  std::array<Places, kMaxSchedulers> at_{};
  std::vector<Entry> pool_;
  std::vector<Entry*> free_;  // the first free_count_
  unsigned free_count_ = 0;
};

}  // namespace smk
