// SPDX-License-Identifier: Apache-2.0
#include "host/gemini/tenant_world.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace smk::gemini {

TenantWorld::TenantWorld(const TenantRequest& request)
    : request_(request),
      scheduler_(request_.settings, request_.clients),
      wakes_(request.clients.size()),
      left_(request.clients.size()) {
  result_.clients.resize(request.clients.size());
  for (std::size_t i = 0; i < request.clients.size(); ++i) {
    processes_.emplace_back(i, request_.clients[i], request_.settings, request.seed, this,
                            &result_);
  }
}

void TenantWorld::StartClients() {
  const bool in_turn = request_.settings.control == Control::kSequential;
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    if (in_turn && i != 0) break;
    Begin(i, in_turn ? 0 : request_.clients[i].start);
  }
  if (request_.sample != 0) Push(request_.sample, EventKind::kSample, 0, 0);
}

void TenantWorld::WakeAt(std::size_t client, Nanoseconds time) {
  Push(time, EventKind::kWake, client, ++wakes_[client]);
}

void TenantWorld::ExpireAt(std::size_t client, std::size_t slice, Nanoseconds time) {
  Push(time, EventKind::kExpire, client, slice);
}

void TenantWorld::MonitorAt(std::size_t client, std::size_t slice, Nanoseconds time) {
  Push(time, EventKind::kMonitor, client, slice);
}

void TenantWorld::Send(const Message& message) {
  messages_.push(message);
  Push(now_ + request_.settings.delay, EventKind::kMessage, message.client, 0);
}

void TenantWorld::Leave(std::size_t client) {
  ++wakes_[client];
  --left_;
  if (request_.settings.control == Control::kSequential && client + 1 < processes_.size()) {
    Begin(client + 1, now_);
  }
}

void TenantWorld::Begin(std::size_t client, Nanoseconds time) {
  Push(time, EventKind::kStart, client, 0);
  const ClientScript& script = request_.clients[client];
  if (script.stop != kNeverNs) {
    Push(time + script.stop - script.start, EventKind::kStop, client, 0);
  }
}

void TenantWorld::Push(Nanoseconds time, EventKind kind, std::size_t client, std::uint64_t number) {
  // A token is given when all that comes at this time is known.
  const std::uint64_t last = kind == EventKind::kChoose ? std::uint64_t{1} << 62 : 0;
  events_.push({time, last + order_++, kind, client, number});
}

void TenantWorld::TakeEvent() {
  const Event event = events_.top();
  events_.pop();
  Take(event);
}

void TenantWorld::Take(const Event& event) {
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
    case EventKind::kMonitor:
      return process.Monitor(event.number, now_);
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

void TenantWorld::TakeMessage() {
  const Message message = messages_.front();
  messages_.pop();
  if (message.ended) {
    scheduler_.SliceEnded(*message.ended, message.end);
    if (holder_ == message.client) holder_.reset();
  }
  if (message.left) scheduler_.Withdraw(message.client);
  if (message.request && !processes_[message.client].ended()) {
    scheduler_.Request(message.client, message.report, now_);
    Requested(message.client);
  }
  Push(now_, EventKind::kChoose, 0, ++chooses_);
}

void TenantWorld::Choose() {
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

void TenantWorld::DeliverToken() {
  const Token token = tokens_.front();
  tokens_.pop();
  processes_[token.client].Receive(token, now_);
}

void TenantWorld::Sample() {
  if (result_.samples.size() == kMostSamples) {
    throw InputError("sample: expected at most " + std::to_string(kMostSamples) +
                     " samples until the run ends; it goes on after them");
  }
  ShareSample sample;
  sample.time = now_;
  sample.window = scheduler_.WindowLength(now_);
  sample.allocated = scheduler_.Allocations(now_);
  for (std::size_t i = 0; i < processes_.size(); ++i) sample.executed.push_back(Executed(i));
  result_.samples.push_back(std::move(sample));
}

void TenantWorld::Close() {
  result_.time = now_;
  for (std::size_t i = 0; i < processes_.size(); ++i) result_.clients[i].executed = Executed(i);
  for (TokenRecord& token : result_.tokens) {
    const bool overusing = token.reason == TokenEnd::kExpired && token.end == token.token.expiry();
    if (token.reason == TokenEnd::kHeld) token.end = std::min(now_, token.token.expiry());
    if (overusing && processes_[token.token.client].overusing(token.token.slice)) token.end = now_;
  }
}

}  // namespace smk::gemini
