// SPDX-License-Identifier: Apache-2.0
// Context traffic: memory that knows whose line lies where.
#pragma once

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "chip/plane_ledger.h"

namespace smk::plane {

// Lines of saved contexts, of all SMs.
class ContextMemory {
 public:
  struct Owner {
    unsigned kernel, number;
    TbId tb;
    std::uint16_t line;
    bool operator==(const Owner& o) const {
      return kernel == o.kernel && number == o.number && tb == o.tb && line == o.line;
    }
  };

  void Store(std::uint64_t address, const Owner& owner) {
    const bool fresh = lines_.emplace(address, owner).second;
    Require(fresh, Check::kContext,
            [&] { return "line " + std::to_string(owner.line) + " overwrites a live context"; });
  }
  void Load(std::uint64_t address, const Owner& owner) const {
    const auto it = lines_.find(address);
    Require(it != lines_.end() && it->second == owner, Check::kContext, [&] {
      return "line " + std::to_string(owner.line) + " of TB " + std::to_string(Index(owner.tb)) +
             " is loaded from elsewhere";
    });
  }
  void Free(std::uint64_t base, unsigned lines) {
    for (unsigned i = 0; i < lines; ++i) lines_.erase(base + std::uint64_t{i} * kLineBytes);
  }
  std::size_t live() const { return lines_.size(); }

 private:
  std::unordered_map<std::uint64_t, Owner> lines_;
};

// The context stream of one SM: the transfer that is going on, and lines in flight.
class ContextPort {
 public:
  ContextPort(const Scenario& scenario, unsigned sm) : scenario_(scenario), sm_(sm) {}

  bool Ready(Cycle now) const {
    return in_flight_.size() < 40 &&
           Hash(scenario_.seed, 1, sm_, now) % 100 < scenario_.context_ready_percent;
  }
  std::uint8_t TakeDone(Cycle now) {
    const auto done =
        std::partition(in_flight_.begin(), in_flight_.end(), [now](Cycle at) { return at > now; });
    const auto count = static_cast<unsigned>(in_flight_.end() - done);
    in_flight_.erase(done, in_flight_.end());
    completed_ += count;
    return static_cast<std::uint8_t>(count);
  }
  bool Quiet(Cycle now) const {
    return std::none_of(in_flight_.begin(), in_flight_.end(),
                        [now](Cycle at) { return at <= now; });
  }

  // One cycle of the stream.
  void Drive(const ContextRequest& request, bool ready, const Launch* launch,
             const ContextMemory::Owner& owner, ContextMemory* memory, Cycle now) {
    CheckHeld(request);
    held_ = request.valid && !ready;
    offered_ = request;
    if (!request.valid || !ready) return;
    Require(launch != nullptr, Check::kContext, [] { return std::string("of an empty slot"); });
    const KernelDescriptor& d = launch->descriptor;
    if (request.line == 0) Open(request, d);
    const bool place = request.line == issued_ && request.line < ContextLines(d.need) &&
                       request.tb_slot == slot_ && request.store == store_ &&
                       request.address == base_ + std::uint64_t{request.line} * kLineBytes;
    Require(place, Check::kContext, [&] {
      return "line " + std::to_string(request.line) + " out of place on SM " + std::to_string(sm_) +
             " at " + std::to_string(now);
    });
    ++issued_;
    if (request.store) {
      memory->Store(request.address, owner);
    } else {
      memory->Load(request.address, owner);
    }
    in_flight_.push_back(now + 1 +
                         Hash(scenario_.seed, 2, sm_, now) % (scenario_.memory_latency + 1));
  }

  // The TB in the slot has its whole context stored or loaded: the address of its buffer.
  std::uint64_t Close(TbSlot slot, bool store, unsigned lines) {
    const bool whole = open_ && slot == slot_ && store == store_ && issued_ == lines &&
                       completed_ == lines && in_flight_.empty();
    Require(whole, Check::kRelease, [&] {
      return std::string(store ? "released" : "activated") + " after " +
             std::to_string(completed_) + " of " + std::to_string(lines) + " lines on SM " +
             std::to_string(sm_);
    });
    open_ = false;
    return base_;
  }

 private:
  void CheckHeld(const ContextRequest& r) const {
    if (!held_) return;
    const ContextRequest& o = offered_;
    const bool same = r.valid && r.store == o.store && r.tb_slot == o.tb_slot && r.line == o.line &&
                      r.address == o.address;
    Require(same, Check::kContext,
            [&] { return "an offer is taken back on SM " + std::to_string(sm_); });
  }

  // A transfer begins: its buffer is aligned and inside the kernel's region.
  void Open(const ContextRequest& request, const KernelDescriptor& d) {
    std::uint64_t stride = kLineBytes;
    while (stride < std::uint64_t{ContextLines(d.need)} * kLineBytes) stride *= 2;
    const std::uint64_t offset = request.address - d.context_base;
    Require(!open_ && request.address >= d.context_base && offset % stride == 0 &&
                offset / stride < scenario_.config.preempted_depth,
            Check::kContext,
            [&] { return "no buffer of the kernel on SM " + std::to_string(sm_); });
    open_ = true;
    slot_ = request.tb_slot;
    store_ = request.store;
    base_ = request.address;
    issued_ = completed_ = 0;
  }

  const Scenario& scenario_;
  unsigned sm_;
  std::vector<Cycle> in_flight_;  // cycles of completion
  ContextRequest offered_{};
  bool held_ = false;
  bool open_ = false;
  TbSlot slot_{0};
  bool store_ = false;
  std::uint64_t base_ = 0;
  unsigned issued_ = 0, completed_ = 0;
};

}  // namespace smk::plane
