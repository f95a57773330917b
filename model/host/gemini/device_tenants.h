// SPDX-License-Identifier: Apache-2.0
// Clients with scripts on a device of cycles: their kernels have thread blocks, and end when the
// machine has executed these.
//
// Purpose     The same programs, hooks and token scheduler as in a run of times (tenants.h), behind
//             the host seam (host_scheduler.h). Client i is job i, whose workload has the kernels
//             of its script in order, and repeats; it launches into kernel slot i.
// Tokens      Kernels of different clients are never on the GPU together: a launch begins when
//             those of others are done, in the order in which the hooks let them pass [D91].
//             Software can do no more: what an expired token has left on the GPU runs to its end.
// None        Without tokens every launch begins as soon as its client's last one is done; the
//             policy of the hardware shares the GPU.
// Records     grow while it runs: unlike other schedulers of the host it allocates after Start().
// Not here    Memory of the clients.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "host/gemini/tenant_world.h"
#include "host/host_scheduler.h"

namespace smk::gemini {

// A launch, in the order of its client's.
struct DeviceLaunch {
  Nanoseconds called = 0;  // by the program, before the hook
  Nanoseconds begun = kNeverNs, done = kNeverNs;
};

class DeviceTenants : public TenantWorld, public HostScheduler {
 public:
  // Throws InputError as CheckTenants(), and for what a device does not have.
  DeviceTenants(const TenantRequest& request, double core_clock_mhz);

  // For RunRequest::scheduler: speaks for `tenants`.
  static std::unique_ptr<HostScheduler> Speak(std::shared_ptr<DeviceTenants> tenants);

  // After a run of so many cycles, or of the request's duration if that is less; once.
  TenantResult Finish(Cycle cycles);
  const std::vector<DeviceLaunch>& launches(std::size_t client) const {
    return clients_[client].launches;
  }

  Nanoseconds TimeOf(Cycle cycle) const;
  // The first cycle that is not before that time.
  Cycle CycleOf(Nanoseconds time) const;

  // HostScheduler.
  const char* name() const override { return "clients"; }
  void Start(const HostView& view) override;
  void OnReady(JobId /*job*/, const HostView& /*view*/) override {}
  void OnDone(const LaunchDone& done, const HostView& view) override;
  std::optional<LaunchChoice> Choose(const HostView& view) override;
  Cycle NextEvent() const override;

  // ClientWorld.
  void Launch(std::size_t client, Nanoseconds kernel, Nanoseconds called) override;
  bool Busy(std::size_t client) const override { return Pending(client) != 0; }
  std::size_t Pending(std::size_t client) const override;
  void Watch(std::size_t client) override { clients_[client].watched = true; }
  bool Allocate(std::size_t /*client*/, std::uint64_t /*bytes*/) override { return true; }
  void Free(std::size_t /*client*/, std::uint64_t /*bytes*/) override {}
  void JobDone(std::size_t /*client*/) override {}
  void Ended(std::size_t client) override;

 private:
  struct Client {
    std::vector<DeviceLaunch> launches;
    std::size_t begun = 0;  // of them; those behind wait, unless it has ended
    bool running = false;   // the last of these is on the GPU
    bool watched = false;
    bool gone = false;
    Nanoseconds executed = 0;
  };

  Nanoseconds Executed(std::size_t client) const override;
  bool InTurn() const { return request_.settings.control != Control::kNone; }
  // Takes all events before that time, or until it.
  void CatchUp(Nanoseconds time, bool until);
  // The GPU has another number of clients.
  void CountBusy();

  const double core_clock_mhz_;
  std::vector<Client> clients_;
  std::deque<std::size_t> queue_;  // clients of the launches that wait, in their order
  std::size_t on_gpu_ = 0;         // clients with a kernel there
  Nanoseconds busy_since_ = 0;
};

}  // namespace smk::gemini
