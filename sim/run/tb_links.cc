// SPDX-License-Identifier: Apache-2.0
#include "run/tb_links.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "run/slot_jobs.h"

namespace smk::sim {
namespace {

bool IsDispatch(DecisionReason reason) {
  return reason == DecisionReason::kDispatchNew || reason == DecisionReason::kDispatchRestored ||
         reason == DecisionReason::kDispatchRestarted;
}
bool EmptiesSm(DecisionReason reason) {
  return reason == DecisionReason::kEvictSm || reason == DecisionReason::kRepartition;
}

// A decision to preempt, and how many of its TBs have not been found.
struct Preempt {
  Cycle cycle;
  std::size_t id, victim, asker;
  unsigned left;
  Cycle room_at;  // when the last of its TBs was gone
};

// Works through the decisions once, and then through the stays.
class Linker {
 public:
  explicit Linker(const Results& results)
      : tbs_(results.result.tbs), decisions_(results.result.decisions), links_(tbs_.size()) {
    const SlotJobs jobs = SlotJobsOf(results);
    for (std::size_t id = 0; id < decisions_.size(); ++id) {
      const Decision& d = decisions_[id];
      const std::size_t job = jobs.At(d.kernel, d.cycle);
      if (IsDispatch(d.reason)) {
        dispatches_[{job, d.sm, d.tb}].push_back(id);
        arrivals_[{job, d.sm}].push_back(id);
      } else if (d.reason == DecisionReason::kPreempt) {
        preempts_[d.sm].push_back(
            {d.cycle, id, jobs.At(d.victim, d.cycle), job, d.victim_tbs, d.cycle});
      } else if (EmptiesSm(d.reason)) {
        others_[d.sm].push_back(id);
      }
    }
  }

  std::vector<TbLinks> Take() {
    for (std::size_t i = 0; i < tbs_.size(); ++i) FindDispatch(i);
    for (const std::size_t i : InOrderOfEnds()) FindPreempt(i);
    for (const auto& [sm, preempts] : preempts_) {
      for (const Preempt& preempt : preempts) FindArrival(preempt, sm);
    }
    ReplaceAll();
    return std::move(links_);
  }

 private:
  std::vector<std::size_t> InOrderOfEnds() const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < tbs_.size(); ++i) {
      if (tbs_[i].outcome == 'S' || tbs_[i].outcome == 'F') order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(),
                     [this](std::size_t a, std::size_t b) { return tbs_[a].end < tbs_[b].end; });
    return order;
  }

  // The last one before its warps were placed.
  void FindDispatch(std::size_t i) {
    const TbRecord& tb = tbs_[i];
    const auto found = dispatches_.find({Index(tb.job), tb.sm, tb.tb});
    if (found == dispatches_.end()) return;
    for (const std::size_t id : found->second) {
      if (decisions_[id].cycle > tb.start) break;
      links_[i].dispatched_by = id;
    }
    if (links_[i].dispatched_by) stay_of_[*links_[i].dispatched_by] = i;
  }

  // From when on the TB can have been ordered to leave.
  Cycle Since(std::size_t i) const {
    const auto& dispatch = links_[i].dispatched_by;
    return dispatch ? decisions_[*dispatch].cycle : tbs_[i].start;
  }

  void FindPreempt(std::size_t i) {
    const TbRecord& tb = tbs_[i];
    std::vector<Preempt>& preempts = preempts_[tb.sm];
    const Cycle since = Since(i);
    auto next = std::upper_bound(preempts.begin(), preempts.end(), since,
                                 [](Cycle at, const Preempt& p) { return at < p.cycle; });
    for (; next != preempts.end() && next->cycle < tb.end; ++next) {
      if (next->left == 0 || next->victim != Index(tb.job)) continue;
      --next->left;
      next->room_at = tb.end;
      links_[i].preempted_by = next->id;
      return;
    }
    for (const std::size_t id : others_[tb.sm]) {
      if (decisions_[id].cycle >= tb.end) break;
      if (decisions_[id].cycle > since) links_[i].preempted_by = id;
    }
  }

  // The first TB that came to the SM when there was room, of the kernel that wanted it.
  void FindArrival(const Preempt& preempt, SmId sm) {
    auto found = arrivals_.find({preempt.asker, sm});
    if (found == arrivals_.end()) return;
    std::vector<std::size_t>& ids = found->second;
    const auto first =
        std::lower_bound(ids.begin(), ids.end(), preempt.room_at,
                         [this](std::size_t id, Cycle at) { return decisions_[id].cycle < at; });
    if (first == ids.end()) return;
    arrival_of_[preempt.id] = *first;
    ids.erase(first);
  }

  // After a decision about the whole SM it is the next TB of the slot.
  void ReplaceAll() {
    std::map<std::pair<SmId, TbSlot>, std::vector<std::pair<Cycle, std::size_t>>> by_slot;
    for (std::size_t i = 0; i < tbs_.size(); ++i) {
      by_slot[{tbs_[i].sm, tbs_[i].slot}].emplace_back(tbs_[i].start, i);
    }
    for (auto& [slot, stays] : by_slot) std::sort(stays.begin(), stays.end());
    for (std::size_t i = 0; i < tbs_.size(); ++i) {
      if (!links_[i].preempted_by) continue;
      if (decisions_[*links_[i].preempted_by].reason == DecisionReason::kPreempt) {
        const auto arrival = arrival_of_.find(*links_[i].preempted_by);
        if (arrival == arrival_of_.end()) continue;
        const auto stay = stay_of_.find(arrival->second);
        if (stay != stay_of_.end()) links_[i].replaced_by = stay->second;
        continue;
      }
      const auto& stays = by_slot[{tbs_[i].sm, tbs_[i].slot}];
      const auto next =
          std::lower_bound(stays.begin(), stays.end(), std::make_pair(tbs_[i].end, std::size_t{0}));
      if (next != stays.end() && next->second != i) links_[i].replaced_by = next->second;
    }
  }

  const std::vector<TbRecord>& tbs_;
  const std::vector<Decision>& decisions_;
  std::vector<TbLinks> links_;
  // Decisions in order of time: of a TB, and of all TBs of a job on an SM.
  std::map<std::tuple<std::size_t, SmId, TbId>, std::vector<std::size_t>> dispatches_;
  std::map<std::pair<std::size_t, SmId>, std::vector<std::size_t>> arrivals_;
  std::map<SmId, std::vector<Preempt>> preempts_;
  std::map<SmId, std::vector<std::size_t>> others_;
  std::map<std::size_t, std::size_t> stay_of_;     // by dispatch
  std::map<std::size_t, std::size_t> arrival_of_;  // the dispatch, by preemption
};

}  // namespace

std::vector<TbLinks> LinkTbs(const Results& results) { return Linker(results).Take(); }

}  // namespace smk::sim
