// SPDX-License-Identifier: Apache-2.0
// Statistics, tables and logs of clients with scripts.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/csv_table.h"
#include "base/text_table.h"
#include "run/results.h"
#include "serve/tenant_serve.h"

namespace smk::sim {
namespace {

using gemini::ClientRecord;
using gemini::ClientScript;
using gemini::Nanoseconds;
using gemini::TenantResult;
using gemini::TokenRecord;
using nlohmann::ordered_json;

double Share(Nanoseconds part, Nanoseconds whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Of one client.
struct Totals {
  std::uint64_t tokens = 0;
  Nanoseconds slices = 0, overuse = 0, most_overuse = 0, quotas = 0;
};

// By the tokens of the hardware, all of which have one quota.
Totals TotalsOf(const TokenStats& tokens, const TenantServing& serving) {
  const double mhz = serving.experiment.machine.core_clock_mhz;
  const auto time = [&](Cycle cycles) {
    return static_cast<Nanoseconds>(static_cast<double>(cycles) * 1000 / mhz + 0.5);
  };
  Totals totals;
  totals.tokens = tokens.tokens;
  totals.slices = time(tokens.cycles);
  totals.overuse = time(tokens.overuse_cycles);
  totals.most_overuse = time(tokens.overuse_max);
  totals.quotas =
      static_cast<Nanoseconds>(tokens.tokens) * time(serving.device->policy.config.token_quota);
  return totals;
}

std::vector<Totals> TotalsOf(const TenantServing& serving, const TenantResults& results) {
  const TenantResult& result = results.result;
  std::vector<Totals> totals(result.clients.size());
  for (std::size_t i = 0; i < results.device.size(); ++i) {
    if (results.device[i].tokens) totals[i] = TotalsOf(*results.device[i].tokens, serving);
  }
  for (const TokenRecord& token : result.tokens) {
    Totals& client = totals[token.token.client];
    ++client.tokens;
    client.slices += token.end - token.token.start;
    client.overuse += token.overuse();
    client.most_overuse = std::max(client.most_overuse, token.overuse());
    client.quotas += token.token.quota;
  }
  return totals;
}

// Nearest rank.
ordered_json Latencies(std::vector<Nanoseconds> latencies) {
  if (latencies.empty()) return nullptr;
  std::sort(latencies.begin(), latencies.end());
  const auto rank = [&](std::size_t percent) {
    return latencies[(latencies.size() * percent + 99) / 100 - 1];
  };
  const Nanoseconds sum = std::accumulate(latencies.begin(), latencies.end(), Nanoseconds{0});
  return {{"mean", sum / static_cast<Nanoseconds>(latencies.size())},
          {"median", rank(50)},
          {"p95", rank(95)},
          {"max", latencies.back()}};
}

// From its start until it ended, or the run.
Nanoseconds PresentFor(const ClientRecord& client, const TenantResult& result) {
  if (client.started > result.time) return 0;
  return std::min(client.ended, result.time) - client.started;
}

ordered_json ClientJson(const ClientScript& script, const ClientRecord& client,
                        const Totals& totals, const TenantResult& result) {
  const Nanoseconds present = PresentFor(client, result);
  const std::size_t jobs = client.latencies.size();
  ordered_json j;
  j["name"] = script.name;
  j["request"] = Share(script.request, gemini::kWhole);
  j["limit"] = Share(script.limit, gemini::kWhole);
  j["present_ns"] = present;
  j["ended_ns"] = client.ended > result.time ? ordered_json(nullptr) : ordered_json(client.ended);
  j["share"] = Share(client.executed, present);
  j["token_share"] = Share(totals.slices, present);
  j["jobs"] = jobs;
  j["throughput"] =
      present == 0 ? 0 : static_cast<double>(jobs) * 1e9 / static_cast<double>(present);
  j["latency_ns"] = Latencies(client.latencies);
  j["kernels"] = client.kernels;
  j["kernel_ns"] = client.executed;
  j["waited_ns"] = client.waited;
  j["tokens"] = totals.tokens;
  j["tokens_per_job"] =
      jobs == 0 ? ordered_json(nullptr)
                : ordered_json(static_cast<double>(totals.tokens) / static_cast<double>(jobs));
  j["mean_quota_ns"] = totals.tokens == 0
                           ? ordered_json(nullptr)
                           : ordered_json(totals.quotas / static_cast<Nanoseconds>(totals.tokens));
  j["overuse_ns"] = totals.overuse;
  j["mean_overuse_ns"] =
      totals.tokens == 0 ? ordered_json(nullptr)
                         : ordered_json(totals.overuse / static_cast<Nanoseconds>(totals.tokens));
  j["max_overuse_ns"] =
      totals.tokens == 0 ? ordered_json(nullptr) : ordered_json(totals.most_overuse);
  j["out_of_memory"] = client.out_of_memory;
  return j;
}

void AddDevice(const TenantServing& serving, const TenantResults& results, ordered_json* j) {
  const TenantDevice& device = *serving.device;
  (*j)["device"] = Name(device.choice.kind);
  (*j)["policy"] = device.policy.name;
  (*j)["cycles"] = results.cycles;
  double sum = 0, least = 0, most = 0;
  for (std::size_t i = 0; i < results.device.size(); ++i) {
    const double work =
        Share(results.device[i].work, PresentFor(results.result.clients[i], results.result));
    sum += work;
    least = i == 0 ? work : std::min(least, work);
    most = std::max(most, work);
  }
  (*j)["work"] = sum;
  (*j)["fairness"] = most == 0 ? 0 : least / most;
}

std::string Milliseconds(const ordered_json& ns) {
  return ns.is_null() ? "-" : fmt::format("{:.2f}", ns.get<double>() / 1e6);
}
std::string Percent(const ordered_json& share) {
  return fmt::format("{:.1f} %", 100 * share.get<double>());
}

// What the clients had of a device.
std::string DeviceText(const TenantServing& serving, const ordered_json& j) {
  TextTable table({"client", "work", "waits ms", "largest", "largest overuse"}, {0});
  for (const ordered_json& client : j["clients"]) {
    const ordered_json& waits = client["gpu_wait_ns"];
    table.Add({client["name"], Percent(client["work"]),
               waits.is_null() ? "-" : Milliseconds(waits["mean"]),
               waits.is_null() ? "-" : Milliseconds(waits["max"]),
               Milliseconds(client["max_overuse_ns"])});
  }
  return fmt::format(
             "\ndevice {}, policy {}, {} cycles; work: what its instructions take alone, of the "
             "time; waits: of a launch for the GPU\n",
             Name(serving.device->choice.kind), serving.device->policy.name, j["cycles"].dump()) +
         table.ToString();
}

}  // namespace

ordered_json TenantJson(const TenantServing& serving, const TenantResults& results) {
  const TenantResult& result = results.result;
  const gemini::TenantRequest& request = serving.spec.request;
  const std::vector<Totals> totals = TotalsOf(serving, results);
  ordered_json j;
  j["schema"] = kStatsSchema;
  j["kind"] = "clients";
  j["workload"] = serving.spec.name;
  j["scheduler"] = serving.scheduler.text;
  j["machine"] = serving.experiment.machine.name;
  j["seed"] = serving.experiment.seed;
  if (serving.device) AddDevice(serving, results, &j);
  j["time_ns"] = result.time;
  j["busy_ns"] = result.busy;
  j["utilisation"] = Share(result.busy, result.time);
  j["checks"] = results.checks;
  j["events"] = result.events;
  j["memory"] = {{"size", request.memory.bytes},
                 {"transfers", result.memory.transfers},
                 {"in_bytes", result.memory.in},
                 {"out_bytes", result.memory.out},
                 {"transfer_ns", result.memory.busy}};
  std::size_t jobs = 0;
  for (const ClientRecord& client : result.clients) jobs += client.latencies.size();
  j["jobs"] = jobs;
  j["throughput"] =
      result.time == 0 ? 0 : static_cast<double>(jobs) * 1e9 / static_cast<double>(result.time);
  j["clients"] = ordered_json::array();
  for (std::size_t i = 0; i < result.clients.size(); ++i) {
    ordered_json client = ClientJson(request.clients[i], result.clients[i], totals[i], result);
    if (serving.device) {
      client["work"] = Share(results.device[i].work, PresentFor(result.clients[i], result));
      client["gpu_wait_ns"] = Latencies(results.device[i].waits);
    }
    j["clients"].push_back(std::move(client));
  }
  j["wall"] = {{"seconds", results.wall_seconds}};
  return j;
}

std::string TenantSummary(const TenantServing& serving, const TenantResults& results) {
  const ordered_json j = TenantJson(serving, results);
  std::string text =
      fmt::format("{}: scheduler {}, machine {}, {:.3f} s, seed {}\n\n", serving.spec.name,
                  serving.scheduler.text, serving.experiment.machine.name,
                  j["time_ns"].get<double>() / 1e9, serving.experiment.seed);
  TextTable table({"client", "request", "limit", "share", "tokens'", "jobs", "jobs/s", "latency ms",
                   "overuse ms", "tokens", "per job", "quota ms"},
                  {0});
  for (const ordered_json& client : j["clients"]) {
    const ordered_json& latency = client["latency_ns"];
    const ordered_json& per_job = client["tokens_per_job"];
    table.Add({client["name"], Percent(client["request"]), Percent(client["limit"]),
               Percent(client["share"]), Percent(client["token_share"]), client["jobs"].dump(),
               fmt::format("{:.2f}", client["throughput"].get<double>()),
               latency.is_null() ? "-" : Milliseconds(latency["mean"]),
               Milliseconds(client["mean_overuse_ns"]), client["tokens"].dump(),
               per_job.is_null() ? "-" : fmt::format("{:.2f}", per_job.get<double>()),
               Milliseconds(client["mean_quota_ns"])});
  }
  text += table.ToString();
  if (serving.device) text += DeviceText(serving, j);
  text += fmt::format(
      "\nshare: of its kernels while it was there; tokens': of its slices; latency, overuse and "
      "quota: means\nGPU busy {}   {:.2f} jobs/s   {} events in {:.2f} s   {} checks\n",
      Percent(j["utilisation"]), j["throughput"].get<double>(), j["events"].dump(),
      results.wall_seconds, results.checks);
  if (results.result.memory.transfers != 0) {
    text += fmt::format("memory: {} transfers, {:.1f} GB in, {:.1f} GB out, link busy {}\n",
                        results.result.memory.transfers,
                        static_cast<double>(results.result.memory.in) / 1e9,
                        static_cast<double>(results.result.memory.out) / 1e9,
                        Percent(Share(results.result.memory.busy, results.result.time)));
  }
  for (std::size_t i = 0; i < results.result.clients.size(); ++i) {
    if (!results.result.clients[i].out_of_memory) continue;
    text += fmt::format("{}: an allocation was refused, which ended it\n",
                        serving.spec.request.clients[i].name);
  }
  return text;
}

std::string TokensCsv(const TenantServing& serving, const TenantResult& result) {
  std::string text =
      "client,requested_ns,granted_ns,start_ns,quota_ns,end_ns,overuse_ns,kernels,reason\n";
  for (const TokenRecord& record : result.tokens) {
    const gemini::Token& token = record.token;
    text += fmt::format("{},{},{},{},{},{},{},{},{}\n",
                        QuotedCell(serving.spec.request.clients[token.client].name),
                        token.requested, token.granted, token.start, token.quota, record.end,
                        record.overuse(), record.kernels, gemini::Name(record.reason));
  }
  return text;
}

std::string BurstsCsv(const TenantServing& serving, const TenantResult& result) {
  std::string text = "client,start_ns,end_ns,kernels,interval_ns,cut\n";
  for (const auto& [client, burst] : result.bursts) {
    text +=
        fmt::format("{},{},{},{},{},{}\n", QuotedCell(serving.spec.request.clients[client].name),
                    burst.start, burst.end, burst.kernels, burst.interval, burst.cut ? 1 : 0);
  }
  return text;
}

std::string SharesCsv(const TenantServing& serving, const TenantResult& result) {
  std::string text = "time_ns,window_ns,client,allocated_ns,kernel_ns\n";
  for (const gemini::ShareSample& sample : result.samples) {
    for (std::size_t i = 0; i < sample.allocated.size(); ++i) {
      text += fmt::format("{},{},{},{},{}\n", sample.time, sample.window,
                          QuotedCell(serving.spec.request.clients[i].name), sample.allocated[i],
                          sample.executed[i]);
    }
  }
  return text;
}

}  // namespace smk::sim
