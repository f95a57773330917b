// SPDX-License-Identifier: Apache-2.0
// Random scenarios for the test of the whole control plane: a small GPU, a policy, and programs
// that launch kernels one after another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "control/control_plane.h"

namespace smk::plane {

constexpr std::uint64_t Mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// The same question gets the same answer, whoever asks and when: what happens does not depend on
// the order in which SMs are looked at.
constexpr std::uint64_t Hash(std::uint64_t seed, std::uint64_t a, std::uint64_t b = 0,
                             std::uint64_t c = 0) {
  return Mix(Mix(Mix(Mix(seed) ^ a) ^ b) ^ c);
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(Mix(seed)) {}
  std::uint64_t Next() { return state_ = Mix(state_); }
  unsigned Below(unsigned n) { return static_cast<unsigned>(Next() % n); }
  unsigned Between(unsigned low, unsigned high) { return low + Below(high - low + 1); }
  bool Percent(unsigned p) { return Below(100) < p; }
  // Small values often, large ones sometimes.
  unsigned Skewed(unsigned low, unsigned high) {
    const unsigned span = high - low + 1;
    return low + Below(1 + Below(Percent(30) ? span : span / 4 + 1));
  }

 private:
  std::uint64_t state_;
};

// One launch of a program.
struct Launch {
  KernelDescriptor descriptor;
  unsigned instructions = 1;   // of each warp, at least
  unsigned spread = 1;         // up to so many more, per warp; 1 with barriers
  unsigned barrier_every = 0;  // instructions; 0 = no barriers
  Cycle gap = 0;               // after the kernel before it in the program has completed
};

struct Scenario {
  std::uint64_t seed = 0;
  ControlConfig config;
  PolicyConfig policy;
  std::vector<std::vector<Launch>> programs;  // index = kernel slot
  unsigned tick_period = 500;
  unsigned memory_latency = 50;
  unsigned context_ready_percent = 100;
  unsigned ready_percent = 100;
};

inline const char* Name(DispatchMode mode) {
  constexpr const char* kNames[] = {"leftover",    "even",  "spatial", "ondemand",
                                    "partitioned", "table", "slicer",  "token"};
  return kNames[static_cast<unsigned>(mode)];
}

inline std::string Describe(const Scenario& s) {
  constexpr const char* kPreempt[] = {"switch", "drain", "flush", "chimera"};
  return "seed " + std::to_string(s.seed) + " " + Name(s.policy.dispatch) + "/" +
         kPreempt[static_cast<unsigned>(s.policy.preempt)] +
         (s.policy.quota_enable ? "/quota" : "") + " sms=" + std::to_string(s.config.num_sms) +
         " programs=" + std::to_string(s.programs.size()) +
         " kernels_per_sm=" + std::to_string(s.policy.kernels_per_sm) +
         " depth=" + std::to_string(s.config.preempted_depth) +
         " links=" + std::to_string(s.config.link_stages) + "+" +
         std::to_string(s.config.link_spread) + (s.policy.stream ? "" : " no stream") +
         " scale=" + std::to_string(s.policy.latency_scale);
}

inline ResourceVector RandomNeed(Random* random, const ResourceVector& limits) {
  ResourceVector need;
  need.registers = static_cast<std::uint16_t>(random->Skewed(0, limits.registers));
  need.shared_memory =
      static_cast<std::uint16_t>(random->Percent(50) ? 0 : random->Skewed(0, limits.shared_memory));
  need.threads = static_cast<std::uint16_t>(random->Skewed(1, limits.threads));
  need.tbs = 1;
  return need;
}

inline Launch RandomLaunch(Random* random, const ResourceVector& limits) {
  Launch launch;
  launch.descriptor.need = RandomNeed(random, limits);
  launch.descriptor.tb_count = random->Skewed(1, 120);
  launch.descriptor.context_base = std::uint64_t{random->Between(1, 200)} << 36;
  launch.descriptor.idempotent = random->Percent(60);
  launch.instructions = random->Skewed(1, 300);
  launch.spread = random->Between(1, 20);
  if (random->Percent(30)) {
    launch.barrier_every = random->Between(1, 8);
    launch.spread = 1;
  }
  launch.gap = random->Percent(50) ? 0 : random->Below(random->Percent(20) ? 6000 : 300);
  return launch;
}

// Of a whole grid, or of a slice of one: somewhere, or where the indices end.
inline std::uint32_t RandomFirstTb(Random* random) {
  if (random->Percent(40)) return 0;
  return random->Percent(70) ? random->Skewed(1, ~0u - 1) : ~0u - random->Below(60);
}

inline PolicyConfig RandomPolicy(Random* random, DispatchMode mode) {
  PolicyConfig policy;
  policy.dispatch = mode;
  policy.preempt = static_cast<PreemptMode>(random->Below(3));
  policy.warp_policy = random->Percent(70) ? WarpPolicy::kGto : WarpPolicy::kLrr;
  policy.quota_enable = random->Percent(50);
  policy.quota_gate = random->Percent(90);
  policy.epoch_end = random->Percent(80) ? EpochEnd::kSpent : EpochEnd::kTick;
  policy.kernels_per_sm =
      static_cast<std::uint8_t>(random->Percent(60) ? kMaxKernels : random->Between(1, 3));
  for (unsigned k = 0; k < kNumKernels; ++k) {
    policy.table[k] = static_cast<std::uint8_t>(random->Between(1, 6));
  }
  for (unsigned k = kNumKernels; k < kMaxKernels; ++k) policy.table[k] = policy.table[k - 4];
  policy.epoch_length = static_cast<std::uint16_t>(random->Skewed(20, 2000));
  policy.linger_ticks = static_cast<std::uint16_t>(random->Below(4));
  policy.preempt_guard = policy.epoch_length % 3 == 0;
  policy.leftover_strict = policy.epoch_length % 2 == 0;
  policy.latency_scale = static_cast<std::uint8_t>(random->Percent(70) ? 1 : random->Between(2, 9));
  return policy;
}

// Tokens that are long enough for contexts to come back, and limits that leave nobody out for long.
inline void SetTokens(std::uint64_t seed, PolicyConfig* policy) {
  Random random(seed ^ 0x70cc);
  policy->token_window = static_cast<std::uint8_t>(random.Between(10, 14));
  policy->token_quota = static_cast<std::uint32_t>(random.Between(12'000, 40'000));
  std::uint64_t left = kTokenWhole;
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    policy->token_request[k] = static_cast<std::uint16_t>(random.Below(left + 1));
    left -= policy->token_request[k];
    policy->token_limit[k] = static_cast<std::uint16_t>(
        std::max<std::uint64_t>(policy->token_request[k], random.Between(300, kTokenWhole)));
  }
}

// Every fourth of those who can leaves by choice, within a limit that is met, or is not.
inline void SetChimera(std::uint64_t seed, PolicyConfig* policy) {
  Random random(seed ^ 0xc41e);
  if (!random.Percent(25)) return;
  policy->preempt = PreemptMode::kChimera;
  policy->chimera_limit = static_cast<std::uint32_t>(random.Skewed(0, 20'000));
  policy->chimera_line = static_cast<std::uint8_t>(random.Below(8));
}

// Windows and waits so short that plans are made while the programs run.
inline void SetSlicer(std::uint64_t seed, PolicyConfig* policy) {
  Random random(seed ^ 0x51ce);
  policy->slicer_warmup = static_cast<std::uint16_t>(random.Skewed(0, 600));
  policy->slicer_settle = static_cast<std::uint16_t>(random.Skewed(0, 300));
  policy->slicer_window = static_cast<std::uint16_t>(random.Skewed(1, 600));
  policy->slicer_delay = static_cast<std::uint16_t>(random.Skewed(0, 200));
  policy->slicer_change = static_cast<std::uint8_t>(random.Below(5));
  policy->slicer_sustain = static_cast<std::uint8_t>(random.Below(4));
  policy->slicer_loss = random.Percent(60) ? policy->slicer_loss : random.Below(3 * 65536);
}

// Every other GPU is a large one: SMs are up to 8 cycles away from the driver, each as far as it
// is.
inline void StretchLinks(std::uint64_t seed, ControlConfig* config) {
  Random random(seed * 0x9e3779b97f4a7c15);
  if (random.Percent(50)) return;
  config->link_stages = static_cast<std::uint8_t>(random.Below(5));
  config->link_spread = static_cast<std::uint8_t>(random.Below(5));
  config->link_seed = static_cast<std::uint32_t>(seed);
}

// `fixed`: on this GPU, with at most so many programs, instead of a random one.
inline Scenario RandomScenario(std::uint64_t seed, DispatchMode mode,
                               const ControlConfig* fixed = nullptr, unsigned max_programs = 4) {
  Random random(seed);
  Scenario s;
  s.seed = seed;
  s.config.num_sms = random.Percent(10) ? 12 : random.Between(1, 6);
  s.config.preempted_depth = random.Percent(50) ? 4 : 512;
  if (random.Percent(30)) {
    s.config.num_schedulers = random.Between(1, 4);
    s.config.warps_per_scheduler = random.Between(2, 16);
    s.config.limits = {128, 192, 0, static_cast<std::uint16_t>(random.Between(2, 32))};
    s.config.limits.threads =
        static_cast<std::uint16_t>(s.config.num_schedulers * s.config.warps_per_scheduler);
  }
  s.policy = RandomPolicy(&random, mode);
  if (mode == DispatchMode::kSlicer) SetSlicer(seed, &s.policy);
  if (mode == DispatchMode::kToken) SetTokens(seed, &s.policy);
  if (mode == DispatchMode::kSpatial || mode == DispatchMode::kToken ||
      mode == DispatchMode::kSlicer) {
    SetChimera(seed, &s.policy);
  }
  // On demand on one SM, TBs of which two fit instead of one of the other kernel can preempt each
  // other for ever: the range of rK shrinks each time, and grows again when the second one follows.
  if (mode == DispatchMode::kOnDemand && s.config.num_sms == 1) s.config.num_sms = 2;
  const unsigned programs = random.Percent(10) ? 1 : random.Between(2, max_programs);
  // Quotas need SMs that are shared, besides those that are profiled.
  if (s.policy.quota_enable && random.Percent(80)) s.config.num_sms += programs;
  StretchLinks(seed, &s.config);
  if (fixed != nullptr) s.config = *fixed;
  for (std::uint8_t& tbs : s.policy.table) {
    tbs = static_cast<std::uint8_t>(std::min<unsigned>(tbs, s.config.limits.tbs));
  }
  Random slices(~seed);
  s.policy.stream = slices.Percent(70);
  for (unsigned p = 0; p < programs; ++p) {
    std::vector<Launch> launches;
    for (unsigned n = random.Between(1, 3); n != 0; --n) {
      launches.push_back(RandomLaunch(&random, s.config.limits));
      if (launches.size() > 1 && random.Percent(50)) {
        launches.back().descriptor.need = launches.front().descriptor.need;
      }
      launches.back().descriptor.context_base += std::uint64_t{p} << 45;
      launches.back().descriptor.first_tb = RandomFirstTb(&slices);
    }
    launches.front().gap += p == 0 ? 0 : random.Below(3000);
    s.programs.push_back(std::move(launches));
  }
  s.tick_period = random.Skewed(100, 2000);
  s.memory_latency = random.Between(1, 300);
  s.context_ready_percent = random.Percent(50) ? 100 : random.Between(20, 90);
  s.ready_percent = random.Percent(50) ? 100 : random.Between(30, 90);
  return s;
}

}  // namespace smk::plane
