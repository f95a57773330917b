// SPDX-License-Identifier: Apache-2.0
#include "host/gemini/tenants.h"

#include <algorithm>
#include <queue>

#include "host/gemini/client_process.h"
#include "host/gemini/time_slicing.h"

namespace smk::gemini {
namespace {

enum class EventKind : std::uint8_t {
  kStart,
  kStop,
  kWake,
  kExpire,
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

// One run. Members of ClientWorld are called by the clients.
class Simulation : public ClientWorld {
 public:
  explicit Simulation(const TenantRequest& request)
      : request_(request),
        gpu_(request.clients.size(), request.settings.gpu_slice),
        memory_(request.memory, request.clients),
        scheduler_(request_.settings, request_.clients),
        wakes_(request.clients.size()),
        arrived_at_(request.clients.size()) {
    result_.clients.resize(request.clients.size());
    for (std::size_t i = 0; i < request.clients.size(); ++i) {
      processes_.emplace_back(i, request_.clients[i], request_.settings, request.seed, this,
                              &result_);
    }
  }

  TenantResult Run() {
    const bool in_turn = request_.settings.control == Control::kSequential;
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      if (in_turn && i != 0) break;
      Begin(i, in_turn ? 0 : request_.clients[i].start);
    }
    if (request_.sample != 0) Push(request_.sample, EventKind::kSample, 0, 0);
    while (left_ != 0 && NextTime() <= request_.duration) Advance();
    if (left_ != 0) now_ = request_.duration;
    return Finish();
  }

  void WakeAt(std::size_t client, Nanoseconds time) override {
    Push(time, EventKind::kWake, client, ++wakes_[client]);
  }
  void ExpireAt(std::size_t client, std::size_t slice, Nanoseconds time) override {
    Push(time, EventKind::kExpire, client, slice);
  }
  void Send(const Message& message) override {
    messages_.push(message);
    Push(now_ + request_.settings.delay, EventKind::kMessage, message.client, 0);
  }
  void Launch(std::size_t client, Nanoseconds kernel) override {
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
    ++wakes_[client];
    --left_;
    if (request_.settings.control == Control::kSequential && client + 1 < processes_.size()) {
      Begin(client + 1, now_);
    }
  }

 private:
  void Begin(std::size_t client, Nanoseconds time) {
    Push(time, EventKind::kStart, client, 0);
    const ClientScript& script = request_.clients[client];
    if (script.stop != kNeverNs)
      Push(time + script.stop - script.start, EventKind::kStop, client, 0);
  }
  void Push(Nanoseconds time, EventKind kind, std::size_t client, std::uint64_t number) {
    // A token is given when all that comes at this time is known.
    const std::uint64_t last = kind == EventKind::kChoose ? std::uint64_t{1} << 62 : 0;
    events_.push({time, last + order_++, kind, client, number});
  }

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

  Nanoseconds NextTime() const {
    Nanoseconds next = std::min({gpu_.NextEvent(), memory_.NextEvent(), RanAt()});
    if (!events_.empty()) next = std::min(next, events_.top().time);
    return next;
  }

  void Advance() {
    now_ = NextTime();
    ++result_.events;
    if (gpu_.NextEvent() <= now_) {
      AdvanceGpu();
    } else if (memory_.NextEvent() <= now_) {
      if (const auto arrived = memory_.TakeArrived(now_)) {
        arrived_at_[*arrived] = gpu_.executed(*arrived, now_);
        gpu_.Unblock(*arrived, now_);
      }
    } else if (!events_.empty() && events_.top().time <= now_) {
      const Event event = events_.top();
      events_.pop();
      Take(event);
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
    memory_.Start(now_, holder_);
    for (const std::size_t client : memory_.TakeEvicted()) NeedMemory(client);
  }

  void Take(const Event& event) {
    ClientProcess& process = processes_[event.client];
    switch (event.kind) {
      case EventKind::kStart:
        return process.Start(now_);
      case EventKind::kStop:
        return process.Stop(now_);
      case EventKind::kWake:
        if (wakes_[event.client] == event.number) process.Wake(now_);
        return;
      case EventKind::kExpire:
        return process.Expire(event.number, now_);
      case EventKind::kMessage:
        return TakeMessage();
      case EventKind::kToken:
        return DeliverToken();
      case EventKind::kChoose:
        if (event.number == chooses_) Choose();
        return;
      case EventKind::kSample:
        Sample();
        Push(now_ + request_.sample, EventKind::kSample, 0, 0);
        return;
    }
  }

  void TakeMessage() {
    const Message message = messages_.front();
    messages_.pop();
    if (message.ended) {
      scheduler_.SliceEnded(*message.ended, message.end);
      if (holder_ == message.client) holder_.reset();
    }
    if (message.left) scheduler_.Withdraw(message.client);
    if (message.request && !processes_[message.client].ended()) {
      scheduler_.Request(message.client, message.report, now_);
      memory_.Prefetch(message.client);
    }
    Push(now_, EventKind::kChoose, 0, ++chooses_);
  }

  void Choose() {
    while (const std::optional<Token> token = scheduler_.Choose(now_)) {
      holder_ = token->client;
      tokens_.push(*token);
      Push(token->start, EventKind::kToken, token->client, 0);
    }
    ++chooses_;
    if (scheduler_.NextEvent() != kNeverNs) {
      Push(scheduler_.NextEvent(), EventKind::kChoose, 0, chooses_);
    }
  }

  void DeliverToken() {
    const Token token = tokens_.front();
    tokens_.pop();
    processes_[token.client].Receive(token, now_);
  }

  void Sample() {
    ShareSample sample;
    sample.time = now_;
    sample.window = scheduler_.WindowLength(now_);
    sample.allocated = scheduler_.Allocations(now_);
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      sample.executed.push_back(gpu_.executed(i, now_));
    }
    result_.samples.push_back(std::move(sample));
  }

  TenantResult Finish() {
    result_.time = now_;
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      result_.clients[i].executed = gpu_.executed(i, now_);
      result_.busy += result_.clients[i].executed;
    }
    for (TokenRecord& token : result_.tokens) {
      const bool overusing =
          token.reason == TokenEnd::kExpired && token.end == token.token.expiry();
      if (token.reason == TokenEnd::kHeld) token.end = std::min(now_, token.token.expiry());
      if (overusing && processes_[token.token.client].overusing(token.token.slice))
        token.end = now_;
    }
    result_.memory = memory_.counts();
    return std::move(result_);
  }

  const TenantRequest request_;
  TenantResult result_;
  TimeSlicing gpu_;
  UnifiedMemory memory_;
  TokenScheduler scheduler_;
  std::vector<ClientProcess> processes_;
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  std::queue<Message> messages_;  // all take as long, so that they arrive in order
  std::queue<Token> tokens_;
  std::vector<std::uint64_t> wakes_;     // the last wake-up of each client
  std::vector<Nanoseconds> arrived_at_;  // what it had executed when its memory had come
  std::optional<std::size_t> holder_;
  std::uint64_t chooses_ = 0, order_ = 0;
  std::size_t left_ = request_.clients.size();
  Nanoseconds now_ = 0;
};

}  // namespace

TenantResult RunTenants(const TenantRequest& request) {
  CheckTenants(request);
  return Simulation(request).Run();
}

}  // namespace smk::gemini
