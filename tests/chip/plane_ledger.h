// SPDX-License-Identifier: Apache-2.0
// Where every TB of every launch is, and what the decision log said about it.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "chip/plane_check.h"
#include "chip/plane_scenario.h"

namespace smk::plane {

// A TB's progress: what its context must keep.
struct Progress {
  std::vector<std::uint16_t> left;  // instructions per warp
};

enum class Place : std::uint8_t { kNew, kResident, kSaved, kFlushed, kComplete };

struct TbRecord {
  Place place = Place::kNew;
  Cycle since = 0;
  std::uint64_t buffer = 0;  // kSaved: address
  Progress progress;
};

// The launch a kernel slot works on.
struct Current {
  const Launch* launch = nullptr;
  unsigned number = 0;  // of all launches of the slot
  bool active = false;
  bool share_seen = false;  // a decision for this launch has been logged
  std::uint32_t completed = 0;
  std::uint32_t away = 0;      // TBs that wait: new, saved or flushed
  std::uint32_t next_new = 0;  // next TB the log should dispatch as new
  Cycle last_completion = 0;
  std::vector<TbRecord> tbs;  // from the launch's first on

  // Place in `tbs`; beyond its end for a TB that is not of the launch.
  std::uint32_t At(TbId tb) const { return Index(tb) - launch->descriptor.first_tb; }
};

struct Counts {
  std::uint64_t completed = 0, saved = 0, flushed = 0, restored = 0, preemptions = 0;
};

class Ledger {
 public:
  explicit Ledger(const Scenario& scenario) : scenario_(scenario) {}

  Current& at(unsigned kernel) { return current_[kernel]; }
  TbRecord& tb(unsigned kernel, TbId tb) { return current_[kernel].tbs[current_[kernel].At(tb)]; }
  const Counts& counts() const { return counts_; }

  void Begin(unsigned kernel, const Launch& launch) {
    Current& c = current_[kernel];
    const unsigned number = c.number + 1;
    c = Current{};
    c.launch = &launch;
    c.number = number;
    c.active = true;
    c.tbs.resize(launch.descriptor.tb_count);
    c.away = launch.descriptor.tb_count;
  }

  void Start(const WarpStart& start, unsigned sm, Cycle now) {
    const unsigned k = Index(start.kernel);
    Current& c = current_[k];
    const auto name = [&] { return TbName(k, start.tb, sm, now); };
    Require(c.active && c.At(start.tb) < c.tbs.size(), Check::kTbOnce,
            [&] { return name() + " does not exist"; });
    TbRecord& record = tb(k, start.tb);
    const bool right = start.restore
                           ? record.place == Place::kSaved
                           : record.place == Place::kNew || record.place == Place::kFlushed;
    Require(right, Check::kTbOnce, [&] { return name() + " starts where it cannot"; });
    TakePromise(start, sm, now);
    record.place = Place::kResident;
    --c.away;
    counts_.restored += start.restore ? 1 : 0;
  }

  void Leave(unsigned kernel, TbId id, Place place, Cycle now) {
    TbRecord& record = tb(kernel, id);
    record.place = place;
    record.since = now;
    if (place == Place::kSaved) ++counts_.saved;
    if (place == Place::kFlushed) ++counts_.flushed;
    if (place != Place::kComplete) {
      ++current_[kernel].away;
      return;
    }
    ++counts_.completed;
    ++current_[kernel].completed;
    current_[kernel].last_completion = now;
  }

  void KernelDone(unsigned kernel, Cycle now) {
    Current& c = current_[kernel];
    Require(c.active && c.completed == c.tbs.size(), Check::kKernelDone,
            [&] { return "kernel " + std::to_string(kernel) + " at " + std::to_string(now); });
    c.active = false;
  }

  // The driver learns of a completion within a few cycles; an SM reports one TB per cycle.
  void CheckDoneInTime(Cycle now) const {
    for (const Current& c : current_) {
      const bool late = c.active && c.completed == c.tbs.size() && now > c.last_completion + 100;
      Require(!late, Check::kKernelDone, [&] { return "late at " + std::to_string(now); });
    }
  }

  void Decisions(const std::vector<Decision>& decisions, Cycle now) {
    for (const Decision& d : decisions) {
      counts_.preemptions += d.reason == DecisionReason::kPreempt ? 1 : 0;
      Require(d.cycle <= now && d.cycle >= last_decision_ &&
                  Index(d.sm) < scenario_.config.num_sms &&
                  Index(d.kernel) < scenario_.programs.size(),
              Check::kDecisions, [&] {
                return "misplaced at " + std::to_string(now) + ": cycle " +
                       std::to_string(d.cycle) + " SM " + std::to_string(Index(d.sm)) + " kernel " +
                       std::to_string(Index(d.kernel)) + " reason " +
                       std::to_string(static_cast<unsigned>(d.reason));
              });
      last_decision_ = d.cycle;
      Current& c = current_[Index(d.kernel)];
      CheckFreshShare(d, &c);
      switch (d.reason) {
        case DecisionReason::kDispatchNew:
        case DecisionReason::kDispatchRestored:
        case DecisionReason::kDispatchRestarted:
          Promise(d, &c);
          break;
        case DecisionReason::kPreempt:
          Require(d.victim != d.kernel && d.victim_tbs >= 1, Check::kDecisions,
                  [&] { return "preempts itself at " + std::to_string(now); });
          break;
        default:
          break;
      }
    }
  }

  // At the end nothing may be promised any more.
  void CheckPromisesKept() const {
    Require(promises_.empty(), Check::kDecisions, [] { return "a dispatch never happened"; });
  }

 private:
  static std::string TbName(unsigned kernel, TbId tb, unsigned sm, Cycle now) {
    return "kernel " + std::to_string(kernel) + " TB " + std::to_string(Index(tb)) + " on SM " +
           std::to_string(sm) + " at " + std::to_string(now);
  }

  // A kernel holds nothing when its first TB is decided upon.
  void CheckFreshShare(const Decision& d, Current* c) const {
    if (c->share_seen || !c->active) return;
    c->share_seen = true;
    Require(d.share[Index(d.kernel)] == 0, Check::kDecisions, [&] {
      return "kernel " + std::to_string(Index(d.kernel)) + " begins with share " +
             std::to_string(d.share[Index(d.kernel)]) + " at " + std::to_string(d.cycle);
    });
  }

  // A logged dispatch must be followed by the TB's start, and new TBs wait for preempted ones.
  void Promise(const Decision& d, Current* c) {
    const auto name = [&] { return TbName(Index(d.kernel), d.tb, Index(d.sm), d.cycle); };
    Require(c->active && c->At(d.tb) < c->tbs.size(), Check::kDecisions,
            [&] { return name() + " does not exist"; });
    const Place place = c->tbs[c->At(d.tb)].place;
    const bool fits = (d.reason == DecisionReason::kDispatchNew && place == Place::kNew) ||
                      (d.reason == DecisionReason::kDispatchRestored && place == Place::kSaved) ||
                      (d.reason == DecisionReason::kDispatchRestarted && place == Place::kFlushed);
    Require(fits, Check::kDecisions, [&] { return name() + " is not there"; });
    if (d.reason == DecisionReason::kDispatchNew) {
      Require(c->At(d.tb) == c->next_new++, Check::kDecisions,
              [&] { return name() + " is not next"; });
      constexpr Cycle kSlack = 100;  // until the queue knows of every TB that left
      for (const TbRecord& other : c->tbs) {
        const bool waits = (other.place == Place::kSaved || other.place == Place::kFlushed) &&
                           other.since + kSlack < d.cycle;
        Require(!waits || Promised(*c, other), Check::kDecisions,
                [&] { return name() + " is dispatched before a preempted TB"; });
      }
    }
    promises_.push_back(d);
  }

  bool Promised(const Current& c, const TbRecord& record) const {
    const auto tb = static_cast<std::uint32_t>(&record - c.tbs.data());
    for (const Decision& p : promises_) {
      if (&c == &current_[Index(p.kernel)] && c.At(p.tb) == tb) return true;
    }
    return false;
  }

  void TakePromise(const WarpStart& start, unsigned sm, Cycle now) {
    for (auto it = promises_.begin(); it != promises_.end(); ++it) {
      if (it->kernel != start.kernel || it->tb != start.tb || Index(it->sm) != sm) continue;
      Require(
          start.restore == (it->reason == DecisionReason::kDispatchRestored), Check::kDecisions,
          [&] { return TbName(Index(start.kernel), start.tb, sm, now) + " restores otherwise"; });
      promises_.erase(it);
      return;
    }
    throw Failure(Check::kDecisions,
                  TbName(Index(start.kernel), start.tb, sm, now) + " starts undecided");
  }

  const Scenario& scenario_;
  std::array<Current, kMaxKernels> current_{};
  std::vector<Decision> promises_;
  Cycle last_decision_ = 0;
  Counts counts_;
};

}  // namespace smk::plane
