// SPDX-License-Identifier: Apache-2.0
#include "host/gemini/tenants.h"

#include <algorithm>
#include <utility>

#include "host/gemini/tenant_world.h"
#include "host/gemini/time_slicing.h"

namespace smk::gemini {
namespace {

// One run whose kernels have times: the GPU's events go before the others of their time.
class Simulation : public TenantWorld {
 public:
  explicit Simulation(const TenantRequest& request)
      : TenantWorld(request),
        gpu_(request.clients.size(), request.settings.gpu_slice),
        memory_(request.memory, request.clients),
        arrived_at_(request.clients.size()) {}

  TenantResult Run() {
    StartClients();
    while (!AllLeft() && NextEvent() <= request_.duration) Advance();
    if (!AllLeft()) now_ = request_.duration;
    Close();
    for (const ClientRecord& client : result_.clients) result_.busy += client.executed;
    result_.memory = memory_.counts();
    return std::move(result_);
  }

  void Launch(std::size_t client, Nanoseconds kernel, Nanoseconds /*called*/) override {
    if (!gpu_.busy(client)) NeedMemory(client);
    gpu_.Add(client, kernel, now_);
  }
  bool Busy(std::size_t client) const override { return gpu_.busy(client); }
  std::size_t Pending(std::size_t client) const override { return gpu_.pending(client); }
  void Watch(std::size_t client) override { gpu_.Watch(client); }
  bool Allocate(std::size_t client, std::uint64_t bytes) override {
    return memory_.Allocate(client, bytes);
  }
  void Free(std::size_t client, std::uint64_t bytes) override { memory_.Free(client, bytes); }
  void JobDone(std::size_t client) override { memory_.JobDone(client); }
  void Ended(std::size_t client) override {
    gpu_.Drop(client, now_);
    memory_.Leave(client);
    Leave(client);
  }

 private:
  Nanoseconds Executed(std::size_t client) const override { return gpu_.executed(client, now_); }
  void Requested(std::size_t client) override { memory_.Prefetch(client); }

  void NeedMemory(std::size_t client) {
    if (memory_.Use(client, now_)) {
      arrived_at_[client] = gpu_.executed(client, now_);
      gpu_.Unblock(client, now_);
    } else {
      gpu_.Block(client, now_);
    }
  }

  // When others may take the place in memory of the client on the GPU, if one waits for it.
  Nanoseconds RanAt() const {
    if (!memory_.waits() || !gpu_.running()) return kNeverNs;
    const std::size_t client = *gpu_.running();
    const Nanoseconds ran = gpu_.executed(client, now_) - arrived_at_[client];
    return ran >= Keeps(client) ? kNeverNs : now_ + Keeps(client) - ran;
  }
  Nanoseconds Keeps(std::size_t client) const {
    return std::max(request_.settings.gpu_slice, memory_.keeps(client));
  }

  Nanoseconds NextEvent() const {
    return std::min({gpu_.NextEvent(), memory_.NextEvent(), RanAt(), NextTime()});
  }

  void Advance() {
    now_ = NextEvent();
    ++result_.events;
    if (gpu_.NextEvent() <= now_) {
      AdvanceGpu();
    } else if (memory_.NextEvent() <= now_) {
      if (const auto arrived = memory_.TakeArrived(now_)) {
        arrived_at_[*arrived] = gpu_.executed(*arrived, now_);
        gpu_.Unblock(*arrived, now_);
      }
    } else if (NextTime() <= now_) {
      TakeEvent();
    }
    MoveMemory();
  }

  void AdvanceGpu() {
    const std::optional<std::size_t> client = gpu_.Advance(now_);
    if (!client) return;
    if (!gpu_.busy(*client)) memory_.Idle(*client, now_);
    processes_[*client].Drained(now_);
  }

  void MoveMemory() {
    if (!memory_.waits()) return;
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      if (gpu_.executed(i, now_) - arrived_at_[i] >= Keeps(i)) memory_.Ran(i);
    }
    memory_.Start(now_, holder());
    for (const std::size_t client : memory_.TakeEvicted()) NeedMemory(client);
  }

  TimeSlicing gpu_;
  UnifiedMemory memory_;
  std::vector<Nanoseconds> arrived_at_;  // what it had executed when its memory had come
};

}  // namespace

TenantResult RunTenants(const TenantRequest& request) {
  CheckTenants(request);
  return Simulation(request).Run();
}

}  // namespace smk::gemini
