// SPDX-License-Identifier: Apache-2.0
#include "turns.h"

#include <algorithm>

namespace pair {
namespace {

class Turns : public smk::HostScheduler {
 public:
  explicit Turns(std::uint32_t tbs) : tbs_(tbs) {}

  const char* name() const override { return "turns"; }
  void Start(const smk::HostView&) override {}
  void OnReady(smk::JobId, const smk::HostView&) override {}
  void OnDone(const smk::LaunchDone&, const smk::HostView&) override { running_ = false; }

  std::optional<smk::LaunchChoice> Choose(const smk::HostView& view) override {
    if (running_ || (view.free_slots & 1) == 0) return std::nullopt;
    for (std::size_t tried = 0; tried < view.jobs.size(); ++tried) {
      const std::size_t job = next_;
      next_ = (next_ + 1) % view.jobs.size();
      const smk::JobState& state = view.jobs[job];
      if (!state.ready || state.tbs_left() == 0) continue;
      running_ = true;
      return smk::LaunchChoice{smk::JobId{static_cast<std::uint32_t>(job)}, smk::KernelId{0},
                               std::min(tbs_, state.tbs_left())};
    }
    return std::nullopt;
  }
  smk::Cycle NextEvent() const override { return smk::kNever; }

 private:
  const std::uint32_t tbs_;
  std::size_t next_ = 0;
  bool running_ = false;
};

}  // namespace

std::unique_ptr<smk::HostScheduler> MakeTurns(std::uint32_t tbs) {
  return std::make_unique<Turns>(tbs);
}

}  // namespace pair
