// SPDX-License-Identifier: Apache-2.0
#include "host/copy_engines.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"

namespace smk {
namespace {

constexpr std::size_t kIn = 0, kOut = 1;
constexpr std::uint64_t kMegabyte = std::uint64_t{1} << 20;

}  // namespace

CopyEngines::CopyEngines(const RunRequest& request)
    : jobs_(request.jobs),
      // MHz by GB/s is 10^-3 cycles per byte.
      cycles_per_byte_(request.machine.core_clock_mhz /
                       (request.machine.host.copy_bandwidth * 1e3)),
      latency_(request.machine.host.copy_latency),
      overlap_(request.overlap_copies),
      free_(request.machine.host.memory * kMegabyte) {
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const Job& job = jobs_[i];
    if (!HasCopies(job)) continue;
    any_ = true;
    const std::string what = "job " + std::to_string(i) + ": copies: expected ";
    if (job.repeat) throw InputError(what + "none of a job that is executed again");
    if (request.until == RunUntil::kWork) throw InputError(what + "none in a run until equal work");
    if (job.copy_in > free_ || job.copy_out > free_ - job.copy_in) {
      throw InputError(what + "at most the " + std::to_string(request.machine.host.memory) +
                       " MB of the GPU's memory, got " + std::to_string(job.copy_in) + " and " +
                       std::to_string(job.copy_out) + " bytes");
    }
  }
  for (Engine& engine : engines_) engine.queue.reserve(any_ ? jobs_.size() : 0);
  records_.reserve(any_ ? 2 * jobs_.size() : 0);
}

std::uint64_t CopyEngines::Need(JobId job) const {
  return jobs_[Index(job)].copy_in + jobs_[Index(job)].copy_out;
}

void CopyEngines::AskIn(JobId job) { engines_[kIn].queue.push_back(job); }
void CopyEngines::AskOut(JobId job) { engines_[kOut].queue.push_back(job); }

bool CopyEngines::CanStart(const Engine& engine) const {
  if (engine.busy || engine.next == engine.queue.size()) return false;
  return &engine == &engines_[kOut] || Need(engine.queue[engine.next]) <= free_;
}

void CopyEngines::Start(Cycle now, bool kernels) {
  if (!overlap_ && kernels) return;
  for (const std::size_t direction : {kIn, kOut}) {
    Engine& engine = engines_[direction];
    if (!CanStart(engine)) continue;
    const JobId job = engine.queue[engine.next];
    const std::uint64_t bytes =
        direction == kIn ? jobs_[Index(job)].copy_in : jobs_[Index(job)].copy_out;
    if (direction == kIn) free_ -= Need(job);
    engine.busy = true;
    engine.end = now;
    if (bytes == 0) continue;
    engine.end +=
        latency_ + static_cast<Cycle>(std::ceil(static_cast<double>(bytes) * cycles_per_byte_));
    (direction == kIn ? stats_.in_bytes : stats_.out_bytes) += bytes;
    ++stats_.copies;
    records_.push_back({now, engine.end, job, direction == kOut, bytes});
  }
}

std::optional<JobId> CopyEngines::Take(Engine* engine, Cycle now) {
  if (!engine->busy || engine->end > now) return std::nullopt;
  engine->busy = false;
  return engine->queue[engine->next++];
}

std::optional<JobId> CopyEngines::TakeIn(Cycle now) { return Take(&engines_[kIn], now); }

std::optional<JobId> CopyEngines::TakeOut(Cycle now) {
  const std::optional<JobId> job = Take(&engines_[kOut], now);
  if (job) free_ += Need(*job);
  return job;
}

bool CopyEngines::HoldsLaunches() const {
  return !overlap_ && std::any_of(engines_.begin(), engines_.end(), [this](const Engine& engine) {
    return engine.busy || CanStart(engine);
  });
}

Cycle CopyEngines::NextEvent() const {
  Cycle next = kNever;
  for (const Engine& engine : engines_) {
    if (engine.busy) next = std::min(next, engine.end);
  }
  return next;
}

void CopyEngines::Account(Cycle now, bool kernels) {
  const Cycle since = now - accounted_;
  accounted_ = now;
  if (engines_[kIn].busy) stats_.in_cycles += since;
  if (engines_[kOut].busy) stats_.out_cycles += since;
  if (!kernels) return;
  for (const Engine& engine : engines_) {
    if (engine.busy) stats_.overlapped_cycles += since;
  }
}

}  // namespace smk
