// SPDX-License-Identifier: Apache-2.0
#include "host/gemini/client_process.h"

#include <algorithm>

#include "workload/random.h"

namespace smk::gemini {
namespace {

std::uint64_t KeyOf(std::uint64_t seed, const std::string& name) {
  std::uint64_t key = ScrambleBits(seed + 0x9e3779b97f4a7c15);
  for (const char c : name) key = ScrambleBits(key ^ static_cast<unsigned char>(c));
  return key;
}

}  // namespace

const char* Name(TokenEnd end) {
  switch (end) {
    case TokenEnd::kHeld:
      return "held";
    case TokenEnd::kExpired:
      return "expired";
    case TokenEnd::kKernelEnd:
      return "kernel-end";
    case TokenEnd::kLaunch:
      return "launch";
    case TokenEnd::kLeft:
      return "left";
  }
  return "";
}

ClientProcess::ClientProcess(std::size_t index, const ClientScript& script,
                             const Settings& settings, std::uint64_t seed, ClientWorld* world,
                             TenantResult* result)
    : index_(index),
      script_(script),
      settings_(settings),
      world_(*world),
      result_(*result),
      record_of_client_(result->clients[index]),
      monitor_(settings),
      draw_key_(KeyOf(seed, script.name)) {}

void ClientProcess::Start(Nanoseconds now) {
  if (state_ != State::kNew) return;
  record_of_client_.started = now;
  state_ = State::kRunning;
  Proceed(now);
}

void ClientProcess::Proceed(Nanoseconds now) {
  if (state_ == State::kNew || state_ == State::kEnded) return;
  state_ = State::kRunning;
  while (true) {
    if (!in_job_ && !BeginJob(now)) return;
    while (step_ < script_.steps.size()) {
      if (!Step(script_.steps[step_], now)) return;
    }
    EndJob(now);
  }
}

bool ClientProcess::BeginJob(Nanoseconds now) {
  const bool all = (script_.jobs != 0 && jobs_ == script_.jobs) ||
                   (!script_.arrivals.empty() && jobs_ == script_.arrivals.size());
  if (all) {
    // A program ends when its kernels have.
    ending_ = true;
    if (world_.Busy(index_)) {
      state_ = State::kSync;
    } else {
      End(now);
    }
    return false;
  }
  arrival_ = now;
  if (!script_.arrivals.empty()) {
    arrival_ = record_of_client_.started + script_.arrivals[jobs_];
    if (arrival_ > now) {
      world_.WakeAt(index_, arrival_);
      return false;
    }
  }
  in_job_ = true;
  step_ = 0;
  launched_ = 0;
  ++jobs_;
  return true;
}

void ClientProcess::EndJob(Nanoseconds now) {
  in_job_ = false;
  record_of_client_.latencies.push_back(now - arrival_);
  world_.JobDone(index_);
}

bool ClientProcess::Step(const ClientStep& step, Nanoseconds now) {
  switch (step.kind) {
    case StepKind::kKernels:
      return LaunchStep(step, now);
    case StepKind::kSync:
      if (world_.Busy(index_)) {
        state_ = State::kSync;
        return false;
      }
      EndBurst(now, true);
      ++step_;
      if (token_ && TooShort(now)) Return(TokenEnd::kKernelEnd, now);
      return true;
    case StepKind::kHost:
      ++step_;
      if (step.time == 0) return true;
      world_.WakeAt(index_, now + step.time);
      return false;
    case StepKind::kAllocate:
      ++step_;
      if (world_.Allocate(index_, step.bytes)) return true;
      record_of_client_.out_of_memory = true;
      Stop(now);
      return false;
    case StepKind::kFree:
      ++step_;
      world_.Free(index_, step.bytes);
      return true;
  }
  return true;
}

bool ClientProcess::LaunchStep(const ClientStep& step, Nanoseconds now) {
  if (launched_ == step.count) {
    launched_ = 0;
    ++step_;
    return true;
  }
  monitor_.Call(now);
  if (tokens() && !Admit(now)) {
    state_ = State::kBlocked;
    return false;
  }
  if (world_.Pending(index_) >= settings_.launch_queue) {
    state_ = State::kFull;
    world_.Watch(index_);
    return false;
  }
  monitor_.Launch(now);
  ++with_token_;
  if (token_) ++record().kernels;
  ++record_of_client_.kernels;
  ++launched_;
  world_.Launch(index_, DrawKernel(step), monitor_.called());
  const Nanoseconds call = step.launch + (tokens() ? settings_.hook : 0);
  if (call == 0) return true;
  world_.WakeAt(index_, now + call);
  return false;
}

Nanoseconds ClientProcess::DrawKernel(const ClientStep& step) {
  if (step.variation == 0) return step.time;
  const std::uint64_t bits = ScrambleBits(draw_key_ + ++draws_) >> 33;  // 31 of them
  const Nanoseconds most = PartOf(step.time, step.variation);
  // Evenly within [-most, most], without a product that overflows: in 1024ths of 31 bits.
  const auto part = static_cast<Nanoseconds>(bits >> 11);  // 20 bits
  const Nanoseconds width = 2 * most;
  const Nanoseconds drawn = (width >> 20) * part + ((width & 0xfffff) * part >> 20);
  return std::max<Nanoseconds>(1, step.time - most + drawn);
}

bool ClientProcess::Admit(Nanoseconds now) {
  if (!token_) {
    if (state_ != State::kBlocked) blocked_since_ = now;
    // What has expired is reported first.
    if (!requested_ && !overused_) Request();
    return false;
  }
  if (!TooShort(now)) return true;
  if (state_ != State::kBlocked) blocked_since_ = now;
  if (world_.Busy(index_)) {
    closing_ = true;
    return false;
  }
  Return(TokenEnd::kLaunch, now);
  Request();
  return false;
}

Nanoseconds ClientProcess::Remaining(Nanoseconds now) const {
  const Nanoseconds left = token_->expiry() - now;
  if (!settings_.count_launched) return left;
  const auto launched = static_cast<Nanoseconds>(with_token_);
  return std::min(left, token_->quota - launched * monitor_.KernelTime());
}

bool ClientProcess::TooShort(Nanoseconds now) const {
  return settings_.revocation && with_token_ != 0 && Remaining(now) < monitor_.KernelTime();
}

// What is too short already goes back at a launch, a synchronisation or the end of the kernels.
void ClientProcess::SetMonitor(Nanoseconds now) {
  if (!token_ || !settings_.revocation) return;
  const Nanoseconds time = token_->expiry() - monitor_.KernelTime() + 1;
  if (time > now && time < token_->expiry()) world_.MonitorAt(index_, token_->slice, time);
}

// Of an estimate that has changed since, the answer is that of now.
void ClientProcess::Monitor(std::size_t slice, Nanoseconds now) {
  if (!token_ || token_->slice != slice || world_.Busy(index_)) return;
  if (TooShort(now)) Return(TokenEnd::kKernelEnd, now);
}

void ClientProcess::Request() {
  requested_ = true;
  Message message;
  message.client = index_;
  message.request = true;
  message.report = monitor_.Report();
  world_.Send(message);
}

void ClientProcess::Return(TokenEnd reason, Nanoseconds now) {
  EndBurst(now, false);
  record().end = now;
  record().reason = reason;
  Message message;
  message.client = index_;
  message.ended = token_->slice;
  message.end = now;
  token_.reset();
  closing_ = false;
  world_.Send(message);
}

void ClientProcess::EndBurst(Nanoseconds now, bool synchronised) {
  const Burst burst = monitor_.End(now, synchronised);
  if (burst.kernels == 0) return;
  result_.bursts.push_back({index_, burst});
  if (synchronised) SetMonitor(now);  // else its token has ended too
}

// The kernels that were beyond the token's expiry are done, which the scheduler hears.
void ClientProcess::EndOveruse(Nanoseconds now) {
  record().end = now;
  Message message;
  message.client = index_;
  message.ended = overused_->slice;
  message.end = now;
  overused_.reset();
  world_.Send(message);
}

void ClientProcess::Drained(Nanoseconds now) {
  if (state_ == State::kEnded) return;
  if (!world_.Busy(index_)) {
    if (state_ == State::kSync) EndBurst(now, true);
    if (overused_) {
      EndBurst(now, false);
      EndOveruse(now);
      if (state_ == State::kBlocked) Request();
    } else if (token_ && closing_) {
      Return(TokenEnd::kLaunch, now);
      Request();
    } else if (token_ && TooShort(now)) {
      Return(TokenEnd::kKernelEnd, now);
    }
    if (state_ == State::kSync) {
      if (ending_) return End(now);
      ++step_;
      return Proceed(now);
    }
  }
  if (state_ == State::kFull) Proceed(now);
}

void ClientProcess::Receive(const Token& token, Nanoseconds now) {
  requested_ = false;
  token_ = token;
  with_token_ = 0;
  token_place_ = result_.tokens.size();
  result_.tokens.push_back({token, now, 0, TokenEnd::kHeld});
  if (state_ == State::kEnded) return Return(TokenEnd::kLeft, now);
  world_.ExpireAt(index_, token.slice, token.expiry());
  SetMonitor(now);
  if (state_ != State::kBlocked) return;
  record_of_client_.waited += now - blocked_since_;
  Proceed(now);
}

void ClientProcess::Expire(std::size_t slice, Nanoseconds now) {
  if (!token_ || token_->slice != slice) return;
  record().end = now;
  record().reason = TokenEnd::kExpired;
  closing_ = false;
  if (world_.Busy(index_)) {
    overused_ = token_;
  } else {
    EndBurst(now, false);
  }
  token_.reset();
  if (state_ == State::kBlocked && !overused_) Request();
}

void ClientProcess::End(Nanoseconds now) {
  if (token_) Return(TokenEnd::kLeft, now);
  EndBurst(now, false);
  record_of_client_.ended = now;
  state_ = State::kEnded;
  world_.Ended(index_);
}

void ClientProcess::Stop(Nanoseconds now) {
  if (state_ == State::kEnded) return;
  if (state_ == State::kBlocked) record_of_client_.waited += now - blocked_since_;
  if (overused_) EndOveruse(now);
  if (requested_) {
    Message message;
    message.client = index_;
    message.left = true;
    world_.Send(message);
  }
  End(now);
}

}  // namespace smk::gemini
