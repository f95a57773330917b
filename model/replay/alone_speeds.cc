// SPDX-License-Identifier: Apache-2.0
#include "replay/alone_speeds.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace smk {
namespace {

// So that the youngest goes on, too.
constexpr double kMostPriority = 0.9;
constexpr unsigned kPrioritySteps = 9;

LaunchKind Slice(LaunchKind launch, std::uint32_t tbs) {
  launch.tbs = tbs;
  launch.whole = false;
  return launch;
}

}  // namespace

bool AloneSpeeds::Holds(const LaunchKind& launch) const {
  return launch.tbs <= sms_ * MaxTbs(launch.spec().need, limits_);
}

unsigned AloneSpeeds::EvenOf(std::size_t kind) const {
  return EvenShare(kinds_[kind].launch.tbs, sms_);
}

unsigned AloneSpeeds::MostOf(std::size_t kind) const {
  KernelSpec spec = kinds_[kind].launch.spec();
  spec.tb_limit = 0;
  return std::min(MaxTbs(spec.need, limits_), std::max(1u, spec.tb_count() / sms_));
}

double AloneSpeeds::TimeAt(std::size_t kind, unsigned tbs) {
  const auto& [launch, alone] = kinds_[kind];
  if (tbs == EvenOf(kind)) return launch.tbs / alone.rate;
  const LaunchKind alike = Slice(launch, tbs * sms_);
  return alike.tbs / kinds_[kinds_.Of(alike)].alone.rate;
}

// Not longer than with TBs on the others: SMs may have what others have loaded.
double AloneSpeeds::OwnTimeAt(std::size_t kind, unsigned tbs) {
  const LaunchKind own = Slice(kinds_[kind].launch, tbs);
  return std::min(TimeAt(kind, tbs), tbs / one_sm_[one_sm_.Of(own)].alone.rate);
}

std::vector<unsigned> AloneSpeeds::MeasuredOf(std::size_t kind) const {
  const unsigned even = EvenOf(kind), most = MostOf(kind);
  std::vector<unsigned> tbs = {1};
  if (even / 2 > 1) tbs.push_back(even / 2);
  if (even > 1) tbs.push_back(even);
  if (most > even) tbs.push_back(most);
  return tbs;
}

double AloneSpeeds::Between(std::size_t kind, unsigned tbs, TimeAtTbs at) {
  const unsigned even = EvenOf(kind), least = kinds_[kind].launch.tbs / sms_;
  if (tbs == even || tbs == least) return (this->*at)(kind, even);
  const std::vector<unsigned> measured = MeasuredOf(kind);
  // More than were measured: the throughput of these.
  if (tbs >= measured.back()) return (this->*at)(kind, measured.back()) * tbs / measured.back();
  const auto more = std::upper_bound(measured.begin(), measured.end(), tbs);
  const unsigned below = *std::prev(more), above = *more;
  const double own = (this->*at)(kind, below);
  if (tbs == below) return own;
  return own + ((this->*at)(kind, above) - own) * (tbs - below) / (above - below);
}

double AloneSpeeds::Delivered(std::size_t kind, double demand) {
  std::map<double, double>& delivered = delivered_[kind];
  if (delivered.empty()) {
    for (const unsigned on_sm : MeasuredOf(kind)) {
      const double tbs = on_sm == EvenOf(kind) ? kinds_[kind].launch.tbs : on_sm * sms_;
      delivered[tbs / OwnTimeOf(kind, on_sm)] = tbs / TimeOf(kind, on_sm);
    }
  }
  // Less than the least, and more than the most, that was measured: no more than there.
  const auto more = delivered.lower_bound(demand);
  if (more == delivered.begin()) return std::min(1.0, more->second / demand);
  const auto less = std::prev(more);
  if (more == delivered.end()) return std::min(1.0, less->second / demand);
  const double way = (demand - less->first) / (more->first - less->first);
  return std::min(1.0, (less->second + way * (more->second - less->second)) / demand);
}

double AloneSpeeds::DeliveredTo(std::size_t kind, const std::vector<unsigned>& tbs) {
  double demand = 0;
  for (const unsigned on_sm : tbs) demand += on_sm == 0 ? 0 : on_sm / OwnTimeOf(kind, on_sm);
  return Delivered(kind, demand);
}

std::vector<double> AloneSpeeds::ByAgeAt(std::size_t kind, unsigned tbs, double priority) {
  std::vector<double> by_age(tbs);
  const double all = tbs / OwnTimeOf(kind, tbs);
  double before = 0;  // throughput of those that are older
  for (unsigned i = 0; i < tbs; ++i) {
    const double together = std::clamp((i + 1) / OwnTimeOf(kind, i + 1), before, all);
    by_age[i] = 1 + priority * (tbs * (together - before) / all - 1);
    before = together;
  }
  return by_age;
}

const std::vector<double>& AloneSpeeds::ByAge(std::size_t kind, unsigned tbs) {
  const auto [place, is_new] = by_age_.emplace(std::pair(kind, tbs), std::vector<double>());
  if (is_new) place->second = ByAgeAt(kind, tbs, AgePriorityOf(kind));
  return place->second;
}

// The part of a TB at a priority is linear between those at two.
double AloneSpeeds::AgePriorityOf(std::size_t kind) {
  const std::size_t full = kinds_.Of(Slice(kinds_[kind].launch, MostOf(kind) * sms_));
  const auto [place, is_new] = age_priorities_.emplace(full, 0.0);
  if (!is_new) return place->second;
  const std::vector<double> none = PartsAt(full, 0), most = PartsAt(full, kMostPriority);
  double least = -1;
  for (unsigned step = 0; step <= kPrioritySteps; ++step) {
    const double way = static_cast<double>(step) / kPrioritySteps;
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < none.size(); ++i) {
      const double part = none[i] + way * (most[i] - none[i]);
      sum += part;
      squares += part * part;
    }
    const double differ = squares / (sum * sum);
    if (least >= 0 && differ >= least) continue;
    least = differ;
    place->second = way * kMostPriority;
  }
  return place->second;
}

std::vector<double> AloneSpeeds::PartsOf(std::size_t kind) {
  return PartsAt(kind, AgePriorityOf(kind));
}

std::vector<double> AloneSpeeds::PartsAt(std::size_t kind, double priority) {
  std::vector<double> ends = kinds_[kind].alone.tb_ends;
  ends.resize(kinds_[kind].launch.tbs, 1);
  const double time = TimeOf(kind, EvenOf(kind));
  std::vector<std::size_t> order(ends.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return ends[a] < ends[b]; });
  std::vector<unsigned> left(sms_);  // TBs on each SM
  for (const std::size_t tb : order) ++left[tb % sms_];
  std::vector<double> parts(ends.size());
  std::vector<bool> ended(ends.size());
  std::map<unsigned, std::vector<double>> by_age;  // by the TBs on an SM
  double before = 0;
  for (const std::size_t tb : order) {
    const double cycles = (ends[tb] - before) * time * DeliveredTo(kind, left);
    for (std::size_t sm = 0; sm < sms_; ++sm) {
      if (left[sm] == 0) continue;
      const double mean = cycles / OwnTimeOf(kind, left[sm]);
      std::vector<double>& shares = by_age[left[sm]];
      if (shares.empty()) shares = ByAgeAt(kind, left[sm], priority);
      std::size_t older = 0;
      for (std::size_t i = sm; i < ends.size(); i += sms_) {
        if (!ended[i]) parts[i] += mean * shares[older++];
      }
    }
    before = ends[tb];
    ended[tb] = true;
    --left[tb % sms_];
  }
  return parts;
}

AloneSpeeds::Overlap AloneSpeeds::OverlapOf(std::size_t kind, Cycle now) {
  LaunchKind whole = kinds_[kind].launch;
  whole.tbs = whole.spec().tb_count();
  if (Holds(whole)) return {};
  const std::size_t full = kinds_.Of(Slice(whole, MostOf(kind) * sms_));
  const auto [place, is_new] = overlaps_.emplace(full, Overlap{});
  if (is_new) place->second = MeasureOverlap(full, now);
  return place->second;
}

AloneSpeeds::Overlap AloneSpeeds::MeasureOverlap(std::size_t full, Cycle now) {
  const SetRates& both = kinds_.Together({full, full}, now);
  double rate = 0;
  for (const SetRate& of : both.mean) rate += of.rate;
  const std::vector<double> parts = PartsAt(full, 0);
  const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
  Overlap overlap;
  overlap.speed = rate / kinds_[full].alone.rate * sum / kinds_[full].launch.tbs;
  // The older slice has ended as soon as alone, or when its longest TB has at this speed.
  const double alone = TimeOf(full, EvenOf(full));
  const double equal = *std::max_element(parts.begin(), parts.end()) * alone / overlap.speed;
  if (both.first_cycles > 0 && equal > alone) {
    overlap.priority = std::clamp((equal - both.first_cycles) / (equal - alone), 0.0, 1.0);
  }
  return overlap;
}

}  // namespace smk
