// SPDX-License-Identifier: Apache-2.0
// One client: its program, which executes the script, and the hook in front of its launches
// ([Gemini] Sec. 3.2, 3.5.3).
//
// Purpose     Without a valid token a launch waits, and a token is asked for. A token is given back
//             before it expires when less is left of it than a kernel is estimated to take: at the
//             end of the last kernel (Fig. 7, first case), or when a launch comes (second case).
// Monitor     An event at the moment from which less is left than that. It gives the token back
//             when the GPU has no kernel of the client; else the end of the last one does. The
//             moment is set when a token comes, and again when a burst changes the estimate.
// Expiry      Kernels that are still on the GPU then are overuse. The hook waits for their end,
//             reports it, and only then asks for another token.
// First       The first launch with a token is never held back, whatever the estimate: else a
//             kernel longer than the quota would never run.
#pragma once

#include <optional>

#include "host/gemini/records.h"

namespace smk::gemini {

// What a client says to the scheduler; it arrives after Settings::delay.
struct Message {
  std::size_t client = 0;
  std::optional<std::size_t> ended;  // this slice has ended
  Nanoseconds end = 0;               // then
  bool request = false;              // another token, please
  bool left = false;                 // waits for no token any more
  BurstReport report;
};

// What a client needs of the world around it.
class ClientWorld {
 public:
  virtual ~ClientWorld() = default;
  virtual void WakeAt(std::size_t client, Nanoseconds time) = 0;  // instead of any earlier call
  virtual void ExpireAt(std::size_t client, std::size_t slice, Nanoseconds time) = 0;
  // Besides any earlier call.
  virtual void MonitorAt(std::size_t client, std::size_t slice, Nanoseconds time) = 0;
  virtual void Send(const Message& message) = 0;
  // A kernel of that time; the program called the launch at `called`, and then it may have waited.
  virtual void Launch(std::size_t client, Nanoseconds kernel, Nanoseconds called) = 0;
  virtual bool Busy(std::size_t client) const = 0;
  virtual std::size_t Pending(std::size_t client) const = 0;
  virtual void Watch(std::size_t client) = 0;  // Woken by Drained() at the end of a kernel
  virtual bool Allocate(std::size_t client, std::uint64_t bytes) = 0;
  virtual void Free(std::size_t client, std::uint64_t bytes) = 0;
  virtual void JobDone(std::size_t client) = 0;
  virtual void Ended(std::size_t client) = 0;  // no more launches come
};

class ClientProcess {
 public:
  ClientProcess(std::size_t index, const ClientScript& script, const Settings& settings,
                std::uint64_t seed, ClientWorld* world, TenantResult* result);

  void Start(Nanoseconds now);
  // The time has come that WakeAt() named.
  void Wake(Nanoseconds now) { Proceed(now); }
  // The GPU has none of its kernels any more, or has ended one that it watches.
  void Drained(Nanoseconds now);
  void Receive(const Token& token, Nanoseconds now);
  void Expire(std::size_t slice, Nanoseconds now);
  // The time has come that MonitorAt() named.
  void Monitor(std::size_t slice, Nanoseconds now);
  // It is taken away, with all that it has launched.
  void Stop(Nanoseconds now);

  bool ended() const { return state_ == State::kEnded; }
  // Its kernels still run with this token, which has expired.
  bool overusing(std::size_t slice) const { return overused_ && overused_->slice == slice; }

 private:
  enum class State : std::uint8_t { kNew, kRunning, kBlocked, kFull, kSync, kEnded };

  void Proceed(Nanoseconds now);
  // One step, or as much of it as goes. False: it has to wait.
  bool Step(const ClientStep& step, Nanoseconds now);
  bool LaunchStep(const ClientStep& step, Nanoseconds now);
  bool BeginJob(Nanoseconds now);
  void EndJob(Nanoseconds now);
  void End(Nanoseconds now);
  // Whether the hook lets a launch pass.
  bool Admit(Nanoseconds now);
  bool tokens() const {
    return settings_.control == Control::kStatic || settings_.control == Control::kDynamic;
  }
  TokenRecord& record() { return result_.tokens[token_place_]; }
  Nanoseconds Remaining(Nanoseconds now) const;
  bool TooShort(Nanoseconds now) const;
  // Asks for a monitor event when the token, if there is one, becomes too short.
  void SetMonitor(Nanoseconds now);
  void Request();
  // The token goes back, as the slice that ends now.
  void Return(TokenEnd reason, Nanoseconds now);
  void EndBurst(Nanoseconds now, bool synchronised);
  void EndOveruse(Nanoseconds now);
  Nanoseconds DrawKernel(const ClientStep& step);

  const std::size_t index_;
  const ClientScript& script_;
  const Settings& settings_;
  ClientWorld& world_;
  TenantResult& result_;
  ClientRecord& record_of_client_;
  BurstMonitor monitor_;

  State state_ = State::kNew;
  std::size_t step_ = 0;
  std::uint32_t launched_ = 0;  // kernels of the step
  bool in_job_ = false, ending_ = false;
  std::uint64_t jobs_ = 0;   // begun
  Nanoseconds arrival_ = 0;  // of this one
  std::uint64_t draw_key_, draws_ = 0;

  std::optional<Token> token_;     // valid
  std::optional<Token> overused_;  // expired, with kernels on the GPU
  std::size_t token_place_ = 0;    // of the last in result_.tokens
  std::uint64_t with_token_ = 0;   // kernels launched with it
  bool requested_ = false;
  bool closing_ = false;  // to be given back when the GPU is done
  Nanoseconds blocked_since_ = 0;
};

}  // namespace smk::gemini
