// SPDX-License-Identifier: Apache-2.0
// The keys of [gemini], and the file that makes a run again.
#include <fmt/format.h>

#include <cstdint>

#include "base/toml_file.h"
#include "experiment/config_file.h"
#include "serve/spec_keys.h"
#include "serve/tenant_spec.h"

namespace smk::sim {

using gemini::ClientScript;
using gemini::ClientStep;
using Tokens = gemini::Settings;
using gemini::StepKind;

const std::vector<TenantKnob>& TenantKnobs() {
  const auto time = [](const char* key, const char* meaning, const char* source,
                       gemini::Nanoseconds Tokens::*member) {
    return TenantKnob{key, "a time such as \"40ms\", up to 1000 s", meaning, source, member};
  };
  const auto part = [](const char* key, const char* meaning, const char* source,
                       std::int64_t Tokens::*member) {
    return TenantKnob{key, "a number from 0 to 1", meaning, source, nullptr, member};
  };
  const auto count = [](const char* key, const char* meaning, const char* source,
                        std::uint32_t Tokens::*member) {
    return TenantKnob{key,   "a whole number from 1 to 100000", meaning, source, nullptr, nullptr,
                      member};
  };
  const auto flag = [](const char* key, const char* meaning, const char* source,
                       bool Tokens::*member) {
    return TenantKnob{key, "true or false", meaning, source, nullptr, nullptr, nullptr, member};
  };
  static const std::vector<TenantKnob> kKnobs = {
      part("alpha", "eq. 1: weight of the 90th percentile against the last burst", "assumed",
           &Tokens::alpha),
      part("beta", "eq. 2: weight of the last quota against the estimate", "authors' code",
           &Tokens::beta),
      time("gamma", "bursts that are less apart are one", "authors' code", &Tokens::gamma),
      part("epsilon", "so are bursts that are less apart than this part of a mean burst", "paper",
           &Tokens::epsilon),
      count("bursts", "n: bursts that the monitor remembers", "assumed", &Tokens::bursts),
      time("window", "sliding window of the shares", "authors' code", &Tokens::window),
      time("base_quota", "before a burst is known", "authors' code", &Tokens::base_quota),
      time("least_quota", "smallest quota", "authors' code", &Tokens::least_quota),
      time("quota", "of `static-quota`", "assumed", &Tokens::quota),
      time("delay", "of a message between client and scheduler", "assumed", &Tokens::delay),
      time("hook", "host time that the hook adds to a launch call", "assumed", &Tokens::hook),
      flag("revocation", "tokens are returned early; with `static-quota` only if it is given",
           "paper", &Tokens::revocation),
      flag("count_launched", "kernels that were launched are taken off what is left of a quota",
           "authors' code, one of its versions", &Tokens::count_launched),
      count("launch_queue", "kernels of a client that can wait for the GPU", "assumed",
            &Tokens::launch_queue),
      time("gpu_slice", "of the GPU between clients that all have kernels", "assumed",
           &Tokens::gpu_slice),
  };
  return kKnobs;
}

namespace {

std::string PartText(std::int64_t part) {
  return fmt::format("{}", static_cast<double>(part) / gemini::kWhole);
}
std::string TimeText(gemini::Nanoseconds time) { return fmt::format("\"{}ns\"", time); }

std::string StepToml(const ClientStep& step, const TenantKernel* kernel) {
  std::string text = "[[client.step]]\n";
  switch (step.kind) {
    case StepKind::kHost:
      return text + fmt::format("host = {}\n", TimeText(step.time));
    case StepKind::kSync:
      return text + "sync = true\n";
    case StepKind::kAllocate:
      return text + fmt::format("allocate = {}\n", step.bytes);
    case StepKind::kFree:
      return text + fmt::format("free = {}\n", step.bytes);
    case StepKind::kKernels:
      break;
  }
  if (kernel == nullptr) {
    text += fmt::format("kernel = {}\n", TimeText(step.time));
  } else {
    text += fmt::format("workload = {}\n", TomlText(PortableName(kernel->workload)));
    if (kernel->size.scale) text += fmt::format("scale = {}\n", *kernel->size.scale);
    if (kernel->size.tbs) text += fmt::format("tbs = {}\n", *kernel->size.tbs);
    text += fmt::format("# of {} alone\n", TimeText(step.time));
  }
  return text + fmt::format("count = {}\nlaunch = {}\nvariation = {}\n", step.count,
                            TimeText(step.launch), PartText(step.variation));
}

std::string ClientToml(const TenantSpec& spec, std::size_t place) {
  const ClientScript& client = spec.request.clients[place];
  const TenantSpec::Arrivals& arrivals = spec.arrivals[place];
  std::string text = fmt::format("\n[[client]]\nname = {}\nrequest = {}\nlimit = {}\nstart = {}\n",
                                 TomlText(client.name), PartText(client.request),
                                 PartText(client.limit), TimeText(client.start));
  if (client.stop != gemini::kNeverNs) text += fmt::format("stop = {}\n", TimeText(client.stop));
  if (client.jobs != 0) text += fmt::format("jobs = {}\n", client.jobs);
  if (arrivals.rate) {
    text += fmt::format("rate = {}\npoisson = {}\n", *arrivals.rate, arrivals.poisson);
  }
  if (arrivals.on != 0) {
    text += fmt::format("on = {}\noff = {}\n", TimeText(arrivals.on), TimeText(arrivals.off));
  }
  if (client.memory_limit != 0) text += fmt::format("memory_limit = {}\n", client.memory_limit);
  if (client.memory != 0) text += fmt::format("memory = {}\n", client.memory);
  if (client.temporary != 0) text += fmt::format("temporary = {}\n", client.temporary);
  for (std::size_t i = 0; i < client.steps.size(); ++i) {
    const TenantKernel* kernel = nullptr;
    for (const TenantKernel& k : spec.kernels) {
      if (k.client == place && k.step == i) kernel = &k;
    }
    text += StepToml(client.steps[i], kernel);
  }
  return text;
}

}  // namespace

std::string Print(const TenantKnob& knob, const Tokens& settings) {
  if (knob.time != nullptr) return TimeText(settings.*knob.time);
  if (knob.part != nullptr) return PartText(settings.*knob.part);
  if (knob.count != nullptr) return fmt::to_string(settings.*knob.count);
  return fmt::to_string(settings.*knob.flag);
}

std::string TenantToml(const TenantSpec& spec, const Options& options, const std::string& scheduler,
                       std::uint64_t seed, const std::string& device) {
  const gemini::TenantRequest& request = spec.request;
  std::string text = "# Everything in effect. Again: smk serve FILE\n";
  text += fmt::format("name = {}\nmachine = {}\nscheduler = {}\nseed = {}\n", TomlText(spec.name),
                      TomlText(PortableName(*options.machine)), TomlText(scheduler),
                      seed <= INT64_MAX ? fmt::to_string(seed) : TomlText(fmt::to_string(seed)));
  text += device;
  if (request.duration != gemini::kNeverNs) {
    text += fmt::format("duration = {}\n", TimeText(request.duration));
  }
  text += fmt::format("sample = {}\n", TimeText(request.sample)) + SetToml(options.sets) +
          "\n[gemini]\n";
  for (const TenantKnob& knob : TenantKnobs()) {
    text += fmt::format("{} = {}\n", knob.key, Print(knob, request.settings));
  }
  text += fmt::format("\n[memory]\nsize = {}\nprefetch = {}\nresize = {}\n", request.memory.bytes,
                      request.memory.prefetch, request.memory.resize);
  for (std::size_t i = 0; i < request.clients.size(); ++i) text += ClientToml(spec, i);
  return text;
}

}  // namespace smk::sim
