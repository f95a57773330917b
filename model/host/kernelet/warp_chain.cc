// SPDX-License-Identifier: Apache-2.0
#include "host/kernelet/warp_chain.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/error.h"

namespace smk {
namespace {

// Steps after which the mean is taken as it is.
constexpr unsigned kMeanSteps = 10'000;

bool IsLine(const LatencyLine& line) {
  return std::isfinite(line.a0) && std::isfinite(line.b0) && line.a0 >= 0 && line.b0 >= 0;
}

void Check(const ChainKernel& kernel, std::size_t k) {
  const std::string where = "kernel " + std::to_string(k) + " of the chain: ";
  if (kernel.warps == 0) throw InputError(where + "warps: expected at least 1");
  if (!IsShare(kernel.memory_ratio) || kernel.memory_ratio == 1) {
    throw InputError(where + "memory_ratio: expected at least 0 and below 1");
  }
  if (!IsShare(kernel.uncoalesced)) throw InputError(where + "uncoalesced: expected 0 to 1");
}

void Check(const ChainMemory& memory) {
  if (!IsLine(memory.coalesced) || !IsLine(memory.uncoalesced)) {
    throw InputError("latency of the chain: a0 and b0: expected at least 0");
  }
  if (!std::isfinite(memory.requests) || memory.requests < 1) {
    throw InputError("requests of an uncoalesced instruction: expected at least 1");
  }
}

// How many of n happen, each with probability p. Without powers, one after the other.
std::vector<double> Binomial(unsigned n, double p) {
  std::vector<double> result(n + 1, 0.0);
  result[0] = 1;
  for (unsigned m = 1; m <= n; ++m) {
    for (unsigned k = m; k > 0; --k) result[k] = result[k] * (1 - p) + result[k - 1] * p;
    result[0] *= 1 - p;
  }
  return result;
}

// Of `warps` idle in either way, in either way: no states that are never reached.
bool Occurs(const ChainKernel& kernel, unsigned coalesced, unsigned uncoalesced) {
  if (coalesced + uncoalesced > kernel.warps) return false;
  if (kernel.uncoalesced == 0) return uncoalesced == 0;
  return kernel.uncoalesced < 1 || coalesced == 0;
}

}  // namespace

WarpChain::WarpChain(std::vector<ChainKernel> kernels, const ChainMemory& memory,
                     const ChainLimits& limits)
    : memory_(memory), limits_(limits) {
  if (kernels.empty()) throw InputError("chain: expected at least one kernel");
  Check(memory);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const ChainKernel& kernel = kernels[k];
    Check(kernel, k);
    const double w = kernel.warps;
    const bool both = kernel.uncoalesced > 0 && kernel.uncoalesced < 1;
    const double states = static_cast<double>(states_) * (w + 1) * (both ? (w + 2) / 2 : 1);
    if (states > static_cast<double>(limits.most_states)) {
      throw InputError("chain: expected warps for at most " + std::to_string(limits.most_states) +
                       " states");
    }
    parts_.push_back(MakePart(kernel));
    states_ *= parts_.back().states.size();
  }
}

WarpChain::Part WarpChain::MakePart(const ChainKernel& kernel) {
  Part part;
  part.kernel = kernel;
  const unsigned n = kernel.warps + 1;
  part.number.resize(n * n);
  for (unsigned c = 0; c < n; ++c) {
    for (unsigned u = 0; u < n; ++u) {
      if (!Occurs(kernel, c, u)) continue;
      part.number[c * n + u] = static_cast<std::uint32_t>(part.states.size());
      part.states.push_back({c, u});
    }
  }
  // One ready warp after the other: it stays ready, or becomes idle in one of two ways.
  const double to_uncoalesced = kernel.memory_ratio * kernel.uncoalesced;
  const double to_coalesced = kernel.memory_ratio - to_uncoalesced;
  part.issues.assign(n, std::vector<double>(part.states.size(), 0.0));
  part.issues[0][0] = 1;
  for (unsigned ready = 1; ready < n; ++ready) {
    std::vector<double>& now = part.issues[ready];
    for (std::size_t s = 0; s < part.states.size(); ++s) {
      const Idle& idle = part.states[s];
      const double before = part.issues[ready - 1][s];
      if (before == 0) continue;
      now[s] += before * (1 - kernel.memory_ratio);
      if (to_coalesced > 0)
        now[part.At(idle.coalesced + 1, idle.uncoalesced)] += before * to_coalesced;
      if (to_uncoalesced > 0) {
        now[part.At(idle.coalesced, idle.uncoalesced + 1)] += before * to_uncoalesced;
      }
    }
  }
  return part;
}

void WarpChain::Split(std::uint32_t state, std::vector<std::uint32_t>* parts) const {
  parts->resize(parts_.size());
  for (std::size_t k = parts_.size(); k-- > 0;) {
    const auto n = static_cast<std::uint32_t>(parts_[k].states.size());
    (*parts)[k] = state % n;
    state /= n;
  }
}

WarpChain::Wake WarpChain::WakeWith(double ready, double coalesced, double uncoalesced) const {
  const double duration = std::max(1.0, ready);
  const double outstanding = coalesced + memory_.requests * uncoalesced;
  return {std::min(1.0, duration / memory_.coalesced.At(outstanding)),
          std::min(1.0, duration / memory_.uncoalesced.At(outstanding))};
}

// From `idle`, how many stay idle and how many ready ones join them.
void WarpChain::PartRow(const Part& part, const Idle& idle, const Wake& wake,
                        std::vector<double>* row) {
  const std::vector<double> coalesced = Binomial(idle.coalesced, 1 - wake.coalesced);
  const std::vector<double> uncoalesced = Binomial(idle.uncoalesced, 1 - wake.uncoalesced);
  const std::vector<double>& issues = part.issues[part.Ready(idle)];
  row->assign(part.states.size(), 0.0);
  for (std::size_t s = 0; s < part.states.size(); ++s) {
    if (issues[s] == 0) continue;
    const Idle& joins = part.states[s];
    for (unsigned c = 0; c <= idle.coalesced; ++c) {
      for (unsigned u = 0; u <= idle.uncoalesced; ++u) {
        (*row)[part.At(c + joins.coalesced, u + joins.uncoalesced)] +=
            issues[s] * coalesced[c] * uncoalesced[u];
      }
    }
  }
}

void WarpChain::From(std::uint32_t state, double negligible, std::vector<Transition>* row) const {
  std::vector<std::uint32_t> at;
  Split(state, &at);
  unsigned ready = 0, coalesced = 0, uncoalesced = 0;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const Idle& idle = parts_[k].states[at[k]];
    ready += parts_[k].Ready(idle);
    coalesced += idle.coalesced;
    uncoalesced += idle.uncoalesced;
  }
  const Wake wake = WakeWith(ready, coalesced, uncoalesced);
  // Kernel by kernel: the product of what is there with the next one's row.
  std::vector<Transition> product{{0, 1.0}}, next;
  std::vector<double> part_row;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const Part& part = parts_[k];
    PartRow(part, part.states[at[k]], wake, &part_row);
    next.clear();
    for (const Transition& before : product) {
      const auto base = before.to * static_cast<std::uint32_t>(part_row.size());
      for (std::uint32_t s = 0; s < part_row.size(); ++s) {
        const double p = before.probability * part_row[s];
        if (p > 0 && p >= negligible) next.push_back({base + s, p});
      }
    }
    product.swap(next);
  }
  row->insert(row->end(), product.begin(), product.end());
}

// Near where the mean of the warps settles: a frequent state.
std::uint32_t WarpChain::MeanState() const {
  std::vector<std::array<double, 2>> idle(parts_.size(), {0, 0});
  for (unsigned step = 0; step < kMeanSteps; ++step) {
    double ready = 0, coalesced = 0, uncoalesced = 0;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      ready += parts_[k].kernel.warps - idle[k][0] - idle[k][1];
      coalesced += idle[k][0];
      uncoalesced += idle[k][1];
    }
    const Wake wake = WakeWith(ready, coalesced, uncoalesced);
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const ChainKernel& kernel = parts_[k].kernel;
      const double issues = (kernel.warps - idle[k][0] - idle[k][1]) * kernel.memory_ratio;
      idle[k][0] += issues * (1 - kernel.uncoalesced) - idle[k][0] * wake.coalesced;
      idle[k][1] += issues * kernel.uncoalesced - idle[k][1] * wake.uncoalesced;
    }
  }
  std::uint32_t state = 0;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const Part& part = parts_[k];
    const auto c = static_cast<unsigned>(std::max(0.0, idle[k][0]));
    const auto u = static_cast<unsigned>(std::max(0.0, idle[k][1]));
    state = state * static_cast<std::uint32_t>(part.states.size()) + part.At(c, u);
  }
  return state;
}

std::vector<double> WarpChain::Steady() const {
  return SteadyState(
      states_,
      [this](std::uint32_t state, double negligible, std::vector<Transition>* row) {
        From(state, negligible, row);
      },
      states_ > limits_.dense_states ? MeanState() : 0, limits_);
}

ChainIpc WarpChain::Ipc() const {
  const std::vector<double> pi = Steady();
  ChainIpc ipc;
  ipc.kernel.resize(parts_.size(), 0.0);
  double cycles = 0;
  std::vector<std::uint32_t> at;
  for (std::uint32_t state = 0; state < states_; ++state) {
    Split(state, &at);
    double ready = 0;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const double issues = parts_[k].Ready(parts_[k].states[at[k]]);
      ipc.kernel[k] += pi[state] * issues;
      ready += issues;
    }
    cycles += pi[state] * std::max(1.0, ready);
  }
  for (double& of_kernel : ipc.kernel) ipc.total += of_kernel /= cycles;
  return ipc;
}

}  // namespace smk
