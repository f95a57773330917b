// SPDX-License-Identifier: Apache-2.0
// What can be refused before a run of clients, and the laws that hold after it. Allocations are
// counted here from the records of the tokens, apart from UsageWindow.
#include <algorithm>
#include <set>
#include <string>

#include "base/error.h"
#include "host/gemini/quota.h"
#include "host/gemini/tenants.h"

namespace smk::gemini {
namespace {

void Require(bool holds, const std::string& client, const std::string& what) {
  if (!holds) throw InputError("client " + client + ": " + what);
}

std::string Percent(std::int64_t share) {
  const std::int64_t cents = share % 10'000 / 100;
  return std::to_string(share / 10'000) + (cents < 10 ? ".0" : ".") + std::to_string(cents) + " %";
}

// Time that one job takes at least; a job without any would never end.
bool TakesTime(const ClientScript& client) {
  bool kernels = false;
  for (const ClientStep& step : client.steps) {
    if (step.kind == StepKind::kHost && step.time > 0) return true;
    if (step.kind == StepKind::kKernels && step.launch > 0) return true;
    kernels = kernels || step.kind == StepKind::kKernels;
    if (step.kind == StepKind::kSync && kernels) return true;
  }
  return false;
}

void CheckClient(const ClientScript& client, const TenantRequest& request) {
  Require(client.request >= 0 && client.request <= kWhole, client.name,
          "request: expected 0 to 1 of the GPU");
  Require(client.limit > 0 && client.limit <= kWhole, client.name,
          "limit: expected more than 0 and at most 1 of the GPU");
  Require(client.request <= client.limit, client.name,
          "request: expected at most its limit of " + Percent(client.limit) + ", got " +
              Percent(client.request));
  Require(!client.steps.empty(), client.name, "step: expected at least one, got none");
  Require(TakesTime(client), client.name,
          "step: a job takes no time; expected host time, or kernels and a sync");
  for (const ClientStep& step : client.steps) {
    Require(step.kind != StepKind::kKernels || (step.count > 0 && step.time > 0), client.name,
            "kernel: expected a time above 0");
  }
  const std::uint64_t uses = client.memory + client.temporary;
  Require(request.memory.bytes == 0 || uses <= request.memory.bytes, client.name,
          "memory: expected at most the " + std::to_string(request.memory.bytes) +
              " bytes of the GPU, got " + std::to_string(uses));
  Require(client.memory_limit == 0 || uses <= client.memory_limit, client.name,
          "memory: expected at most its memory_limit of " + std::to_string(client.memory_limit) +
              " bytes, got " + std::to_string(uses));
  const bool ends = client.jobs != 0 || !client.arrivals.empty() || client.stop != kNeverNs;
  Require(ends || request.duration != kNeverNs, client.name,
          "jobs: expected jobs, arrivals or stop, or a duration of the run");
  Require(ends || request.settings.control != Control::kSequential, client.name,
          "jobs: expected jobs, arrivals or stop: clients run one after the other");
}

class Laws {
 public:
  Laws(const TenantRequest& request, const TenantResult& result)
      : request_(request), result_(result) {}

  std::uint64_t Check() {
    Gpu();
    Tokens();
    Windows();
    Samples();
    return checks_;
  }

 private:
  void Hold(bool holds, const std::string& law) {
    ++checks_;
    if (!holds) throw CheckFailure("clients: " + law);
  }
  const std::string& NameOf(std::size_t client) const { return request_.clients[client].name; }

  void Gpu() {
    Nanoseconds sum = 0;
    for (std::size_t i = 0; i < result_.clients.size(); ++i) {
      const ClientRecord& client = result_.clients[i];
      const ClientScript& script = request_.clients[i];
      sum += client.executed;
      Hold(client.executed <= result_.time, NameOf(i) + " has run for longer than the run");
      Hold(script.jobs == 0 || client.latencies.size() <= script.jobs,
           NameOf(i) + " has done more jobs than it has");
      for (const Nanoseconds latency : client.latencies) {
        Hold(latency >= 0, NameOf(i) + ": a job ended before it arrived");
      }
    }
    Hold(result_.busy <= result_.time, "kernels have run for longer than there was time");
    Hold(result_.together ? result_.busy <= sum : result_.busy == sum,
         "the GPU was not busy as long as kernels ran");
  }

  // One valid token at a time, and none without its quota.
  void Tokens() {
    Nanoseconds free = 0;
    std::vector<std::uint64_t> kernels(result_.clients.size());
    for (const TokenRecord& record : result_.tokens) {
      const Token& token = record.token;
      Hold(token.start >= free, NameOf(token.client) + " has a token while another is valid");
      Hold(token.start == token.granted + request_.settings.delay,
           NameOf(token.client) + ": a token did not take the delay to come");
      Hold(token.requested <= token.granted, NameOf(token.client) + " has not asked for its token");
      Hold(record.end >= token.start, NameOf(token.client) + ": a slice ends before it begins");
      Hold(record.reason == TokenEnd::kExpired || record.overuse() == 0,
           NameOf(token.client) + ": overuse of a token that was given back");
      Hold(GoodQuota(token), NameOf(token.client) + ": a quota that the settings do not allow");
      free = std::min(record.end, token.expiry());
      kernels[token.client] += record.kernels;
    }
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const bool tokens = request_.settings.control == Control::kStatic ||
                          request_.settings.control == Control::kDynamic;
      Hold(!tokens || kernels[i] == result_.clients[i].kernels,
           NameOf(i) + " has launched kernels without a token");
    }
  }

  bool GoodQuota(const Token& token) const {
    const Settings& settings = request_.settings;
    if (settings.control == Control::kStatic) return token.quota == settings.quota;
    const Nanoseconds most = LargestQuota(settings, request_.clients[token.client].limit);
    return token.quota <= most && token.quota >= std::min(most, settings.least_quota);
  }

  // Any window: the shares together are at most all of it, and each at most its limit, one slice
  // and what the client has overused.
  void Windows() {
    const Nanoseconds window = request_.settings.window;
    std::size_t first = 0;
    for (const ShareSample& sample : result_.samples) {
      const Nanoseconds from = std::max<Nanoseconds>(0, sample.time - window);
      while (first < result_.tokens.size() && result_.tokens[first].end <= from) ++first;
      std::vector<Nanoseconds> slack(result_.clients.size());
      const std::vector<Nanoseconds> had = Allocations(first, from, sample.time, &slack);
      Nanoseconds sum = 0;
      for (std::size_t i = 0; i < had.size(); ++i) {
        sum += had[i];
        if (from != 0) {
          Hold(had[i] <= PartOf(window, request_.clients[i].limit) + slack[i],
               NameOf(i) + " has more than its limit");
        }
      }
      Hold(sum <= sample.time - from, "slices together are longer than the window");
    }
  }

  // By the ends of the slices in the window: each part of it to those that have it.
  std::vector<Nanoseconds> Allocations(std::size_t first, Nanoseconds from, Nanoseconds to,
                                       std::vector<Nanoseconds>* slack) const {
    std::set<Nanoseconds> times = {from, to};
    std::vector<const TokenRecord*> slices;
    for (std::size_t i = first; i < result_.tokens.size(); ++i) {
      const TokenRecord& record = result_.tokens[i];
      if (record.token.start >= to) break;
      if (record.end <= from) continue;
      slices.push_back(&record);
      for (const Nanoseconds at : {record.token.start, record.end}) {
        if (at > from && at < to) times.insert(at);
      }
    }
    std::vector<Nanoseconds> sums(result_.clients.size()), longest(result_.clients.size());
    for (const TokenRecord* slice : slices) {
      const std::size_t client = slice->token.client;
      longest[client] = std::max(longest[client], slice->token.quota);
      (*slack)[client] += slice->overuse();
    }
    for (std::size_t i = 0; i < sums.size(); ++i) (*slack)[i] += longest[i];
    std::size_t next = 0;
    std::vector<const TokenRecord*> open;
    for (auto at = times.begin(); std::next(at) != times.end(); ++at) {
      while (next < slices.size() && slices[next]->token.start <= *at)
        open.push_back(slices[next++]);
      open.erase(std::remove_if(open.begin(), open.end(),
                                [at](const TokenRecord* slice) { return slice->end <= *at; }),
                 open.end());
      for (const TokenRecord* slice : open) {
        sums[slice->token.client] += (*std::next(at) - *at) / static_cast<Nanoseconds>(open.size());
      }
    }
    return sums;
  }

  void Samples() {
    std::vector<Nanoseconds> before(result_.clients.size());
    for (const ShareSample& sample : result_.samples) {
      Nanoseconds sum = 0;
      for (std::size_t i = 0; i < before.size(); ++i) {
        sum += sample.allocated[i];
        Hold(sample.executed[i] >= before[i], NameOf(i) + ": its time on the GPU shrinks");
        before[i] = sample.executed[i];
      }
      Hold(sum <= sample.window, "the scheduler counts more than its window");
    }
  }

  const TenantRequest& request_;
  const TenantResult& result_;
  std::uint64_t checks_ = 0;
};

}  // namespace

void CheckTenants(const TenantRequest& request) {
  std::int64_t requests = 0;
  for (const ClientScript& client : request.clients) {
    CheckClient(client, request);
    requests += client.request;
  }
  if (request.clients.empty()) throw InputError("client: expected at least one, got none");
  if (requests > kWhole) {
    throw InputError("client: request: expected at most 100 % of the GPU for all together, got " +
                     Percent(requests));
  }
}

std::uint64_t CheckTenantResult(const TenantRequest& request, const TenantResult& result) {
  return Laws(request, result).Check();
}

}  // namespace smk::gemini
