// SPDX-License-Identifier: Apache-2.0
// Clients, messages and the token scheduler on one clock, whatever the GPU is.
//
// Purpose     What a run of times (tenants.cc) and a run on a device (device_tenants.h) have in
//             common: the same hooks, the same delays, the same choices.
// Time        At one time, events are taken in the order in which they were made, and the
//             scheduler's choice after them. Who derives sets now_ before it takes one.
#pragma once

#include <optional>
#include <queue>
#include <vector>

#include "host/gemini/client_process.h"
#include "host/gemini/tenants.h"

namespace smk::gemini {

// Members of ClientWorld that are not here are the GPU's.
class TenantWorld : public ClientWorld {
 public:
  TenantWorld(const TenantWorld&) = delete;
  TenantWorld& operator=(const TenantWorld&) = delete;

  void WakeAt(std::size_t client, Nanoseconds time) override;
  void ExpireAt(std::size_t client, std::size_t slice, Nanoseconds time) override;
  void MonitorAt(std::size_t client, std::size_t slice, Nanoseconds time) override;
  void Send(const Message& message) override;

 protected:
  explicit TenantWorld(const TenantRequest& request);
  ~TenantWorld() override = default;

  // Time of the client's kernels so far.
  virtual Nanoseconds Executed(std::size_t client) const = 0;
  // It waits for a token.
  virtual void Requested(std::size_t /*client*/) {}

  void StartClients();
  // The client is gone; of those that run one after the other, the next begins.
  void Leave(std::size_t client);
  // The next event that is not the GPU's; kNeverNs: none.
  Nanoseconds NextTime() const { return events_.empty() ? kNeverNs : events_.top().time; }
  void TakeEvent();
  bool AllLeft() const { return left_ == 0; }
  std::optional<std::size_t> holder() const { return holder_; }
  // What of the records is not known before the end, which is now.
  void Close();

  const TenantRequest request_;
  TenantResult result_;
  std::vector<ClientProcess> processes_;
  Nanoseconds now_ = 0;

 private:
  enum class EventKind : std::uint8_t {
    kStart,
    kStop,
    kWake,
    kExpire,
    kMonitor,
    kMessage,
    kToken,
    kChoose,
    kSample
  };
  struct Event {
    Nanoseconds time = 0;
    std::uint64_t order = 0;  // at one time
    EventKind kind = EventKind::kWake;
    std::size_t client = 0;
    std::uint64_t number = 0;  // of a wake-up, a slice, a message or a token
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.time != b.time ? a.time > b.time : a.order > b.order;
    }
  };

  void Begin(std::size_t client, Nanoseconds time);
  void Push(Nanoseconds time, EventKind kind, std::size_t client, std::uint64_t number);
  void Take(const Event& event);
  void TakeMessage();
  void Choose();
  void DeliverToken();
  void Sample();

  TokenScheduler scheduler_;
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  std::queue<Message> messages_;  // all take as long, so that they arrive in order
  std::queue<Token> tokens_;
  std::vector<std::uint64_t> wakes_;  // the last wake-up of each client
  std::optional<std::size_t> holder_;
  std::uint64_t chooses_ = 0, order_ = 0;
  std::size_t left_;
};

}  // namespace smk::gemini
