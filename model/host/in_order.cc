// SPDX-License-Identifier: Apache-2.0
#include "host/in_order.h"

#include <array>
#include <tuple>

#include "machine/lanes.h"

namespace smk {
namespace {

constexpr KernelMask kAllSlots = static_cast<KernelMask>((1u << kNumKernels) - 1);

// See MakeInOrder() and MakeSequential().
class InOrder : public HostScheduler {
 public:
  InOrder(const char* name, KernelMask slots) : name_(name), slots_(slots) {}
  const char* name() const override { return name_; }

  void Start(const HostView& view) override {
    jobs_.resize(view.jobs.size());
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      jobs_[i].last_slot = static_cast<std::uint8_t>(i % kNumKernels);
    }
  }

  void OnReady(JobId job, const HostView& view) override {
    jobs_[Index(job)].since = view.now;
    for (unsigned k = 0; k < kNumKernels; ++k) {
      if ((held_ >> k & 1) == 0 || holder_[k] != job) continue;
      holder_ready_ |= Bit(k);
      return;
    }
    Enqueue(job);
  }

  void OnDone(const LaunchDone& done, const HostView& /*view*/) override {
    if (done.job_done) held_ &= static_cast<KernelMask>(~Bit(Index(done.slot)));
  }

  std::optional<LaunchChoice> Choose(const HostView& view) override {
    std::optional<unsigned> chosen;  // slot
    JobId job{0};
    const unsigned free = view.free_slots & slots_;
    for (unsigned slots = free & held_ & holder_ready_; slots != 0; slots &= slots - 1) {
      const unsigned k = LowestLane(slots);
      if (chosen && !Before(holder_[k], job)) continue;
      chosen = k;
      job = holder_[k];
    }
    const unsigned open = free & ~held_;
    if (waiting_ != 0 && open != 0 && (!chosen || Before(first_, job))) {
      job = first_;
      const unsigned last = jobs_[Index(job)].last_slot;
      chosen = (open >> last & 1) != 0 ? last : LowestLane(open);
      Dequeue();
    }
    if (!chosen) return std::nullopt;
    const unsigned k = *chosen;
    holder_[k] = job;
    held_ |= Bit(k);
    holder_ready_ &= static_cast<KernelMask>(~Bit(k));
    jobs_[Index(job)].last_slot = static_cast<std::uint8_t>(k);
    return LaunchChoice{job, static_cast<KernelId>(k), view.jobs[Index(job)].tbs_left()};
  }

  Cycle NextEvent() const override { return kNever; }

 private:
  struct Entry {
    Cycle since = 0;             // when it became ready
    JobId next{0};               // in the queue
    std::uint8_t last_slot = 0;  // where it was; at first, any
  };

  static KernelMask Bit(unsigned slot) { return static_cast<KernelMask>(1u << slot); }

  bool Before(JobId a, JobId b) const {
    return std::tie(jobs_[Index(a)].since, a) < std::tie(jobs_[Index(b)].since, b);
  }

  // The queue of jobs without a slot is in the order of Before(), because they become ready in it.
  void Enqueue(JobId job) {
    if (waiting_++ == 0) {
      first_ = job;
    } else {
      jobs_[Index(last_)].next = job;
    }
    last_ = job;
  }
  void Dequeue() {
    --waiting_;
    first_ = jobs_[Index(first_)].next;
  }

  const char* const name_;
  const KernelMask slots_;                   // that it uses
  std::vector<Entry> jobs_;                  // by JobId
  std::array<JobId, kNumKernels> holder_{};  // by slot: whose it is
  KernelMask held_ = 0;                      // slots that belong to a job
  KernelMask holder_ready_ = 0;              // slots whose job has a kernel to launch
  JobId first_{0}, last_{0};                 // of the queue
  std::size_t waiting_ = 0;                  // in the queue
};

}  // namespace

std::unique_ptr<HostScheduler> MakeInOrder() {
  return std::make_unique<InOrder>("in_order", kAllSlots);
}

std::unique_ptr<HostScheduler> MakeSequential() {
  return std::make_unique<InOrder>("sequential", KernelMask{1});
}

}  // namespace smk
