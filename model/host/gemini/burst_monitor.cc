// SPDX-License-Identifier: Apache-2.0
#include "host/gemini/burst_monitor.h"

#include <algorithm>

namespace smk::gemini {

void BurstMonitor::Call(Nanoseconds now) {
  if (called_) return;
  called_ = true;
  call_ = now;
}

void BurstMonitor::Launch(Nanoseconds now) {
  Call(now);
  if (open_.kernels == 0) {
    open_.start = now;
    open_.interval = bursts_.empty() ? 0 : std::max<Nanoseconds>(0, call_ - bursts_.back().end);
  }
  called_ = false;
  ++open_.kernels;
}

Burst BurstMonitor::End(Nanoseconds now, bool synchronised) {
  Burst ended = open_;
  if (ended.kernels == 0) {
    // The program synchronises after a burst that a token's end has cut: nothing belongs to it.
    if (synchronised && !bursts_.empty()) bursts_.back().cut = false;
    return ended;
  }
  open_ = {};
  ended.end = now;
  ended.cut = !synchronised;
  if (bursts_.size() == settings_.bursts) bursts_.erase(bursts_.begin());
  bursts_.push_back(ended);
  kernel_time_ = std::max<Nanoseconds>(1, ended.time() / static_cast<std::int64_t>(ended.kernels));
  return ended;
}

std::vector<Nanoseconds> BurstMonitor::Merged() const {
  std::vector<Nanoseconds> merged;
  if (bursts_.empty()) return merged;
  Nanoseconds sum = 0;
  for (const Burst& burst : bursts_) sum += burst.time();
  const Nanoseconds tolerated =
      PartOf(sum / static_cast<std::int64_t>(bursts_.size()), settings_.epsilon);
  for (std::size_t i = 0; i < bursts_.size(); ++i) {
    const Burst& burst = bursts_[i];
    const Nanoseconds time = std::max<Nanoseconds>(1, burst.time());
    const bool join = i != 0 && (bursts_[i - 1].cut || burst.interval < settings_.gamma ||
                                 burst.interval < tolerated);
    if (join) {
      merged.back() += burst.interval + time;
    } else {
      merged.push_back(time);
    }
  }
  // The last one goes on with the next token: how long it is, is not known yet.
  if (bursts_.back().cut && merged.size() > 1) merged.pop_back();
  return merged;
}

BurstReport BurstMonitor::Report() const {
  const std::vector<Nanoseconds> merged = Merged();
  if (merged.empty()) return {};
  std::vector<Nanoseconds> times = merged;
  std::sort(times.begin(), times.end());
  // Nearest rank: the smallest time that at least 90 % of the bursts do not exceed.
  return {times[(times.size() * 9 + 9) / 10 - 1], merged.back()};
}

}  // namespace smk::gemini
