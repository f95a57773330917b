// SPDX-License-Identifier: Apache-2.0
// The back end of Gemini: one token, and which client has it next ([Gemini] Sec. 3.5.1).
//
// Purpose     A token is a time slice; only its holder launches kernels. The next one is given when
//             the last has been returned or has expired and a client waits.
// Choice      1 allocations of the sliding window; 2 clients above their limit are left out; 3 of
//             those below their request the farthest below it, else of all the farthest below its
//             limit; 4 the quota (quota.h). Between equals, who has waited longest.
// Time        Calls come in ascending order of time. What a client says takes as long to come here
//             as Settings::delay; so does a token to its client, and its slice begins there. A
//             token has expired when its holder could have said so: its next request counts
//             then [D64].
#pragma once

#include <optional>
#include <vector>

#include "host/gemini/quota.h"
#include "host/gemini/usage_window.h"

namespace smk::gemini {

// A token on its way.
struct Token {
  std::size_t client = 0;
  std::size_t slice = 0;                   // its number, from 0 on
  Nanoseconds requested = 0, granted = 0;  // when the request came, and when it was granted
  Nanoseconds start = 0;                   // when the client receives it
  Nanoseconds quota = 0;
  Nanoseconds expiry() const { return start + quota; }
};

class TokenScheduler {
 public:
  // Both must live as long.
  TokenScheduler(const Settings& settings, const std::vector<ClientScript>& clients);

  // The client waits for a token; it has no other request.
  void Request(std::size_t client, const BurstReport& report, Nanoseconds now);
  // It waits no more.
  void Withdraw(std::size_t client);
  // The client has given its token back, or reports that its kernels went on until `end`.
  void SliceEnded(std::size_t slice, Nanoseconds end);
  // The token of this time, if one can be given.
  std::optional<Token> Choose(Nanoseconds now);
  // After Choose() gave none: when to ask again although nothing has come.
  Nanoseconds NextEvent() const { return next_; }

  // What each client has had of the window, in nanoseconds.
  std::vector<Nanoseconds> Allocations(Nanoseconds now) { return usage_.Allocations(now); }
  Nanoseconds WindowLength(Nanoseconds now) const { return usage_.Length(now); }

 private:
  struct Waiting {
    std::size_t client = 0;
    BurstReport report;
    Nanoseconds since = 0;
  };

  // When the holder's word of the expiry, and its next request, are here if it has sent them.
  Nanoseconds KnownExpiry() const { return out_->expiry() + settings_.delay; }
  // Place in waiting_ of the client to serve; none when all are above their limits.
  std::optional<std::size_t> Select(Nanoseconds now);

  const Settings& settings_;
  const std::vector<ClientScript>& clients_;
  UsageWindow usage_;
  std::vector<Waiting> waiting_;         // in the order of their requests
  std::vector<Nanoseconds> last_quota_;  // by client
  std::optional<Token> out_;             // held by a client, as far as is known here
  Nanoseconds next_ = kNeverNs;
};

}  // namespace smk::gemini
