// SPDX-License-Identifier: Apache-2.0
// A driver's life: kernels arrive and go among SMs that finish, save, load, settle and take
// commands at random times, all together.
#pragma once

#include "driver/bench.h"

namespace smk {

// Mean cycles between things, and sizes; 0 means never.
struct DriverRates {
  unsigned tick = 300, launch = 400, bad_launch = 0;
  unsigned finish = 30, free = 20, settle = 4, leave = 10;
  unsigned busy = 3;  // an SM takes no command in one of so many cycles
  unsigned spare_victims = 0;
  unsigned launches = 10, most_tbs = 80;
  unsigned odd_sizes = 0;  // per cent of kernels with TBs as large as an SM, or by the dozen

  // SMs that are full, and so little happens that a search for victims comes to its end.
  static DriverRates Lively() {
    DriverRates rates;
    rates.launch = 60;
    rates.bad_launch = 50;
    rates.finish = 2000;
    rates.spare_victims = 1;
    rates.launches = ~0u;
    rates.most_tbs = 300;
    return rates;
  }
};

// How often the cases that matter came up.
struct DriverTally {
  std::array<unsigned, 12> reasons{};  // of decisions
  std::array<unsigned, 5> commands{};  // by CommandOp
  std::array<unsigned, 5> refused{};   // launches, by LaunchError
  unsigned launches = 0, done = 0;
  std::array<unsigned, kNumKernels + 1> running{};  // cycles, by number of kernels
};

// `D` is a Driver, or something that is stepped like one.
template <typename D>
class DriverTraffic {
 public:
  template <typename... Args>
  DriverTraffic(const ControlConfig& config, const PolicyConfig& policy, const DriverRates& rates,
                unsigned seed, Args... args)
      : rates_(rates),
        mode_(policy.dispatch),
        random_(seed),
        config_(config),
        bench_(config, policy, args...) {}

  // One cycle; false when all kernels have been launched and are done.
  bool Cycle() {
    HostInputs host;
    host.tick = Now(rates_.tick);
    if (host.tick) ReportProfiles();
    bench_.spare_victims = rates_.spare_victims;
    for (unsigned sm = 0; sm < config_.num_sms; ++sm) Act(sm);
    if (launched_ < rates_.launches && Now(rates_.launch) && Launch()) return true;
    if (Now(rates_.bad_launch)) BadLaunch(&host);
    bench_.Cycle(host);
    if (host.launch_valid) ++refused_[static_cast<unsigned>(bench_.host_out().launch_error)];
    return !Done();
  }
  DriverRates& rates() { return rates_; }
  DriverBenchOf<D>& bench() { return bench_; }
  unsigned launches(unsigned k) const { return launches_[k]; }
  unsigned most_counted = 1;  // in a window: instructions, and stalls
  // Launches that must be refused, by the answer.
  const std::array<unsigned, 5>& refused() const { return refused_; }

 private:
  unsigned Pick(unsigned n) { return oracle::Pick(&random_, n); }
  bool Now(unsigned mean) { return mean != 0 && Pick(mean) == 0; }
  bool Done() const {
    if (launched_ < rates_.launches) return false;
    for (unsigned k = 0; k < kNumKernels; ++k) {
      if (bench_.finished(k) != tbs_[k]) return false;
    }
    for (unsigned sm = 0; sm < config_.num_sms; ++sm) {
      const BenchSm& s = bench_.sm(sm);
      if (!s.loading.empty() || s.settle_due || s.asks) return false;
    }
    return bench_.Quiet();
  }
  bool Launch() {
    const unsigned k = Pick(kNumKernels);
    if (launches_[k] != bench_.done(k)) return false;
    if (launches_[k] == 0 || Pick(2) == 0) {
      need_[k] = Need();
    }
    tbs_[k] = 1 + Pick(rates_.most_tbs);
    ++launches_[k];
    ++launched_;
    bench_.Launch(k, need_[k], tbs_[k], (std::uint64_t{Pick(1u << 20)} << 21 | Pick(1u << 21)) << 7,
                  FirstTb());
    return true;
  }
  // Every other launch is a slice.
  unsigned FirstTb() const { return launched_ % 2 == 0 ? 0 : launched_ * 0x9e3779b9u; }
  ResourceVector Need() {
    const ResourceVector& l = config_.limits;
    const bool odd = rates_.odd_sizes != 0 && Pick(100) < rates_.odd_sizes;
    if (odd && Pick(3) == 0) return {l.registers, l.shared_memory, l.threads, 1};
    const unsigned parts = odd ? 16 : 1;
    const auto most = [&](unsigned limit) {
      return static_cast<std::uint16_t>(limit * 3 / 4 / parts);
    };
    return oracle::RandomNeed(&random_,
                              {most(l.registers), most(l.shared_memory), most(l.threads), l.tbs});
  }
  // A launch with one thing wrong, or with more than one.
  void BadLaunch(HostInputs* host) {
    host->launch_valid = true;
    host->launch.tb_count = 1 + Pick(~0u);
    host->launch.need = oracle::RandomNeed(&random_, config_.limits);
    host->launch_kernel = static_cast<KernelId>(kNumKernels + Pick(200));
    const unsigned k = Pick(kNumKernels);
    const unsigned fault = Pick(4);
    if (fault != 0 && (fault != 1 || bench_.finished(k) != tbs_[k]))
      host->launch_kernel = static_cast<KernelId>(k);
    if (fault == 2) host->launch.tb_count = 0;
    if (fault != 3) return;
    const auto extra = static_cast<std::uint16_t>(1 + Pick(Pick(2) == 0 ? 1000 : 60'000));
    ResourceVector& need = host->launch.need;
    std::uint16_t* const too_large[] = {&need.registers, &need.shared_memory, &need.threads};
    const std::uint16_t limits[] = {config_.limits.registers, config_.limits.shared_memory,
                                    config_.limits.threads};
    const unsigned which = Pick(3);
    *too_large[which] = static_cast<std::uint16_t>(limits[which] + extra);
  }
  void ReportProfiles() {
    for (unsigned sm = 0; sm < config_.num_sms; ++sm) {
      bench_.registers(sm).profile_valid = true;
      for (auto& issued : bench_.registers(sm).profile_issued) {
        issued = static_cast<std::uint16_t>(Pick(Pick(4) == 0 ? 65536 : 4000));
      }
    }
  }
  // A TB may wait for a gap where TBs of several needs lie without partitions.
  bool MayWait() const {
    return mode_ == DispatchMode::kOnDemand || mode_ == DispatchMode::kLeftover;
  }
  void Act(unsigned sm) {
    BenchSm& s = bench_.sm(sm);
    s.ready = !Now(rates_.busy);
    s.waits = MayWait() && Pick(8) == 0;
    if (!s.tbs.empty() && Now(rates_.finish)) {
      const unsigned index = Pick(static_cast<unsigned>(s.tbs.size()));
      // A TB that has its buffer stays until it is saved.
      if (saving_[sm] == index + 1) {
        if (s.asks && !s.withdrawn) {
          bench_.Withdraw(sm, index);
          saving_[sm] = 0;
        }
      } else {
        if (saving_[sm] > index + 1) --saving_[sm];
        bench_.Finish(sm, index);
      }
    }
    if (!s.loading.empty() && Now(rates_.free)) bench_.FreeBuffer(sm);
    if (bench_.CanSettle(sm) && Now(rates_.settle)) bench_.Settle(sm);
    Save(sm);
    Count(sm);
  }
  // What a window counted comes after it, however long the link is.
  void Count(unsigned sm) {
    if (bench_.to_sm(sm).sample_end) counts_in_[sm] = 1 + Pick(30);
    if (counts_in_[sm] == 0 || --counts_in_[sm] != 0) return;
    SmToDriver& out = bench_.registers(sm);
    out.sample_valid = true;
    // Both together are at most twice as many.
    out.sample_issued = static_cast<std::uint16_t>(Pick(most_counted));
    out.sample_stalled = static_cast<std::uint16_t>(Pick(most_counted));
    if (out.sample_issued % 4 != 0) return;
    out.sample_issued = static_cast<std::uint16_t>(out.sample_issued + out.sample_stalled);
    out.sample_stalled = 0;
  }
  void Save(unsigned sm) {
    BenchSm& s = bench_.sm(sm);
    if (saving_[sm] == 0) {
      if (s.asks) return;
      for (unsigned i = 0; i < s.tbs.size() && saving_[sm] == 0; ++i) {
        if (s.tbs[i].leaving) saving_[sm] = i + 1;
      }
      if (saving_[sm] == 0) return;
      bench_.Ask(sm, s.tbs[saving_[sm] - 1].kernel);
    } else if (!s.asks && Now(rates_.leave)) {
      bench_.Leave(sm, saving_[sm] - 1, bench_.granted(sm), Pick(4) == 0);
      saving_[sm] = 0;
    }
  }

  DriverRates rates_;
  DispatchMode mode_;
  std::mt19937 random_;
  ControlConfig config_;
  DriverBenchOf<D> bench_;
  unsigned launched_ = 0;
  std::array<unsigned, kMaxKernels> launches_{}, tbs_{};
  std::array<ResourceVector, kMaxKernels> need_{};
  std::array<unsigned, kMaxSms> saving_{};  // index + 1 of the TB that is being saved
  std::array<unsigned, 5> refused_{};
  std::array<unsigned, kMaxSms> counts_in_{};  // cycles until the counts of a window come
};

}  // namespace smk
