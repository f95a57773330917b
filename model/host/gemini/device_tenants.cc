// SPDX-License-Identifier: Apache-2.0
#include "host/gemini/device_tenants.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"

namespace smk::gemini {
namespace {

// See DeviceTenants::Speak().
class Speaker : public HostScheduler {
 public:
  explicit Speaker(std::shared_ptr<DeviceTenants> tenants) : tenants_(std::move(tenants)) {}
  const char* name() const override { return tenants_->name(); }
  void Start(const HostView& view) override { tenants_->Start(view); }
  void OnReady(JobId job, const HostView& view) override { tenants_->OnReady(job, view); }
  void OnDone(const LaunchDone& done, const HostView& view) override {
    tenants_->OnDone(done, view);
  }
  std::optional<LaunchChoice> Choose(const HostView& view) override {
    return tenants_->Choose(view);
  }
  Cycle NextEvent() const override { return tenants_->NextEvent(); }

 private:
  std::shared_ptr<DeviceTenants> tenants_;
};

void CheckDevice(const TenantRequest& request) {
  CheckTenants(request);
  if (request.clients.size() > kNumKernels) {
    throw InputError("client: expected at most " + std::to_string(kNumKernels) +
                     " on a device, one for each kernel slot, got " +
                     std::to_string(request.clients.size()));
  }
  for (const ClientScript& client : request.clients) {
    const auto refuse = [&](const std::string& what) {
      throw InputError("client " + client.name + ": " + what);
    };
    if (client.memory != 0 || client.temporary != 0 || client.memory_limit != 0) {
      refuse("memory: a device does not have it; expected none");
    }
    for (const ClientStep& step : client.steps) {
      if (step.kind == StepKind::kAllocate || step.kind == StepKind::kFree) {
        refuse("step: a device does not have memory; expected neither allocate nor free");
      }
      if (step.variation != 0) refuse("variation: kernels of a device are as long as they are");
    }
  }
}

const TenantRequest& Checked(const TenantRequest& request) {
  CheckDevice(request);
  return request;
}

}  // namespace

DeviceTenants::DeviceTenants(const TenantRequest& request, double core_clock_mhz)
    : TenantWorld(Checked(request)),
      core_clock_mhz_(core_clock_mhz),
      clients_(request.clients.size()) {
  result_.together = !InTurn();
  StartClients();
}

std::unique_ptr<HostScheduler> DeviceTenants::Speak(std::shared_ptr<DeviceTenants> tenants) {
  return std::make_unique<Speaker>(std::move(tenants));
}

Nanoseconds DeviceTenants::TimeOf(Cycle cycle) const {
  return static_cast<Nanoseconds>(std::floor(static_cast<double>(cycle) * 1000 / core_clock_mhz_));
}

Cycle DeviceTenants::CycleOf(Nanoseconds time) const {
  auto cycle = static_cast<Cycle>(static_cast<double>(time) * core_clock_mhz_ / 1000);
  while (TimeOf(cycle) < time) ++cycle;
  while (cycle > 0 && TimeOf(cycle - 1) >= time) --cycle;
  return cycle;
}

Nanoseconds DeviceTenants::Executed(std::size_t client) const {
  const Client& c = clients_[client];
  return c.executed + (c.running ? now_ - c.launches[c.begun - 1].begun : 0);
}

std::size_t DeviceTenants::Pending(std::size_t client) const {
  const Client& c = clients_[client];
  return (c.gone ? 0 : c.launches.size() - c.begun) + (c.running ? 1 : 0);
}

void DeviceTenants::Launch(std::size_t client, Nanoseconds /*kernel*/, Nanoseconds called) {
  clients_[client].launches.push_back({called});
  queue_.push_back(client);
}

void DeviceTenants::Ended(std::size_t client) {
  clients_[client].gone = true;
  queue_.erase(std::remove(queue_.begin(), queue_.end(), client), queue_.end());
  Leave(client);
}

void DeviceTenants::CatchUp(Nanoseconds time, bool until) {
  while (!AllLeft() && (NextTime() < time || (until && NextTime() == time))) {
    now_ = NextTime();
    ++result_.events;
    TakeEvent();
  }
  if (!AllLeft()) now_ = time;
}

void DeviceTenants::CountBusy() {
  if (on_gpu_ != 0) result_.busy += now_ - busy_since_;
  busy_since_ = now_;
}

void DeviceTenants::Start(const HostView& view) { CatchUp(TimeOf(view.now), true); }

void DeviceTenants::OnDone(const LaunchDone& done, const HostView& view) {
  CatchUp(TimeOf(view.now), false);
  const std::size_t client = Index(done.job);
  Client& c = clients_[client];
  CountBusy();
  --on_gpu_;
  DeviceLaunch& launch = c.launches[c.begun - 1];
  launch.done = now_;
  c.executed += now_ - launch.begun;
  c.running = false;
  if (Busy(client) && !c.watched) return;
  c.watched = false;
  processes_[client].Drained(now_);
}

std::optional<LaunchChoice> DeviceTenants::Choose(const HostView& view) {
  CatchUp(TimeOf(view.now), true);
  for (auto at = queue_.begin(); at != queue_.end(); ++at) {
    if (InTurn() && on_gpu_ != 0) break;
    const std::size_t client = *at;
    if (view.jobs[client].ready && (view.free_slots >> client & 1) != 0) {
      queue_.erase(at);
      Client& c = clients_[client];
      CountBusy();
      ++on_gpu_;
      c.launches[c.begun++].begun = now_;
      c.running = true;
      return LaunchChoice{static_cast<JobId>(client), static_cast<KernelId>(client),
                          view.jobs[client].tbs_left()};
    }
    if (InTurn()) break;
  }
  return std::nullopt;
}

Cycle DeviceTenants::NextEvent() const {
  return AllLeft() || NextTime() == kNeverNs ? kNever : CycleOf(NextTime());
}

TenantResult DeviceTenants::Finish(Cycle cycles) {
  CatchUp(std::min(TimeOf(cycles), request_.duration), true);
  CountBusy();
  Close();
  return std::move(result_);
}

}  // namespace smk::gemini
