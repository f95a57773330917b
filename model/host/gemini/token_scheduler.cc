// SPDX-License-Identifier: Apache-2.0
#include "host/gemini/token_scheduler.h"

#include <algorithm>

namespace smk::gemini {

TokenScheduler::TokenScheduler(const Settings& settings, const std::vector<ClientScript>& clients)
    : settings_(settings),
      clients_(clients),
      usage_(clients.size(), settings.window),
      last_quota_(clients.size(), settings.base_quota) {}

void TokenScheduler::Request(std::size_t client, const BurstReport& report, Nanoseconds now) {
  waiting_.push_back({client, report, now});
}

void TokenScheduler::Withdraw(std::size_t client) {
  waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(),
                                [client](const Waiting& w) { return w.client == client; }),
                 waiting_.end());
}

void TokenScheduler::SliceEnded(std::size_t slice, Nanoseconds end) {
  usage_.SetEnd(slice, end);
  if (out_ && out_->slice == slice) out_.reset();
}

std::optional<std::size_t> TokenScheduler::Select(Nanoseconds now) {
  const std::vector<Nanoseconds> had = usage_.Allocations(now);
  const Nanoseconds length = usage_.Length(now);
  std::optional<std::size_t> below_request, below_limit;
  Nanoseconds request_gap = 0, limit_gap = 0;
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    const ClientScript& client = clients_[waiting_[i].client];
    const Nanoseconds allocation = had[waiting_[i].client];
    const Nanoseconds to_limit = PartOf(length, client.limit) - allocation;
    if (to_limit < 0) continue;
    const Nanoseconds to_request = PartOf(length, client.request) - allocation;
    if (to_request > request_gap) {
      request_gap = to_request;
      below_request = i;
    }
    if (!below_limit || to_limit > limit_gap) {
      limit_gap = to_limit;
      below_limit = i;
    }
  }
  return below_request ? below_request : below_limit;
}

std::optional<Token> TokenScheduler::Choose(Nanoseconds now) {
  next_ = kNeverNs;
  if (out_ && now >= KnownExpiry()) out_.reset();
  if (waiting_.empty()) return std::nullopt;
  if (out_) {
    next_ = KnownExpiry();
    return std::nullopt;
  }
  const std::optional<std::size_t> place = Select(now);
  if (!place) {
    for (const Waiting& w : waiting_) {
      next_ = std::min(next_, usage_.WithinLimit(w.client, clients_[w.client].limit, now));
    }
    next_ = std::max(next_, now + 1);
    return std::nullopt;
  }
  const Waiting served = waiting_[*place];
  waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(*place));
  Token token;
  token.client = served.client;
  token.requested = served.since;
  token.granted = now;
  token.start = now + settings_.delay;
  token.quota = NextQuota(settings_, last_quota_[served.client], served.report,
                          clients_[served.client].limit);
  token.slice = usage_.Open(served.client, token.start, token.expiry());
  last_quota_[served.client] = token.quota;
  out_ = token;
  return token;
}

}  // namespace smk::gemini
