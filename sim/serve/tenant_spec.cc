// SPDX-License-Identifier: Apache-2.0
#include "serve/tenant_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/names.h"
#include "base/toml_file.h"
#include "serve/spec_keys.h"
#include "workload/toml_reader.h"

namespace smk::sim {
namespace {

using gemini::ClientScript;
using gemini::ClientStep;
using gemini::Nanoseconds;
using gemini::StepKind;

constexpr Nanoseconds kMostTime = 1'000 * gemini::kSecond;          // of a knob or a step
constexpr Nanoseconds kMostDuration = 1'000'000 * gemini::kSecond;  // of a run
constexpr auto kMostSamples = static_cast<Nanoseconds>(gemini::kMostSamples);
constexpr std::int64_t kMostJobsOfAClient = 10'000'000;
constexpr double kMostSeconds = 1e8;  // that a client may take
constexpr char kTime[] = "a time such as \"40ms\" or \"1.5s\"";
const std::vector<std::string> kStepKinds = {"host", "kernel",   "workload",
                                             "sync", "allocate", "free"};

Nanoseconds Time(TomlReader* in, const std::string& key, Nanoseconds most) {
  const toml::node& node = in->Node(key, kTime);
  const Nanoseconds time = node.is_string() ? ParseTime(in->String(key, kTime)) : -1;
  if (time < 0 || time > most) in->Fail(node, key, kTime);
  return time;
}

// A number from 0 to 1 in millionths; what is between them is refused, so that nothing is rounded.
std::int64_t Part(TomlReader* in, const std::string& key) {
  const std::string expected = "a number from 0 to 1, of at most six decimals";
  const toml::node& node = in->Node(key, expected);
  const std::optional<double> number = node.value<double>();
  if (!node.is_number() || !number || !(*number >= 0 && *number <= 1)) {
    in->Fail(node, key, expected);
  }
  const auto part = static_cast<std::int64_t>(*number * gemini::kWhole + 0.5);
  const double off = *number * gemini::kWhole - static_cast<double>(part);
  if (off > 1e-6 || off < -1e-6) in->Fail(node, key, expected);
  return part;
}

bool Flag(TomlReader* in, const std::string& key) {
  const toml::node& node = in->Node(key, "true or false");
  if (!node.is_boolean()) in->Fail(node, key, "true or false");
  return node.as_boolean()->get();
}

void ReadSettings(const toml::table& root, const std::string& path, gemini::Settings* settings,
                  bool* revocation_given) {
  const toml::table* table = root["gemini"].as_table();
  if (table == nullptr) {
    throw InputError(fmt::format("{}: gemini: expected a table [gemini]", path));
  }
  TomlReader in(*table, path, "gemini");
  for (const TenantKnob& knob : TenantKnobs()) {
    if (!in.Has(knob.key)) continue;
    if (knob.time != nullptr) {
      settings->*knob.time = Time(&in, knob.key, kMostTime);
      const bool may_be_none = knob.key == "gamma" || knob.key == "delay" || knob.key == "hook";
      if (settings->*knob.time == 0 && !may_be_none) in.Fail(knob.key, "a time above 0");
    } else if (knob.part != nullptr) {
      settings->*knob.part = Part(&in, knob.key);
    } else if (knob.count != nullptr) {
      settings->*knob.count = static_cast<std::uint32_t>(in.Integer(knob.key, 1, 100'000));
    } else {
      settings->*knob.flag = Flag(&in, knob.key);
      *revocation_given = *revocation_given || knob.key == "revocation";
    }
  }
  in.Finish();
}

void ReadMemory(const toml::table& root, const std::string& path, gemini::MemorySettings* memory) {
  const toml::table* table = root["memory"].as_table();
  if (table == nullptr) {
    throw InputError(fmt::format("{}: memory: expected a table [memory]", path));
  }
  TomlReader in(*table, path, "memory");
  if (in.Has("size")) memory->bytes = ReadBytesKey(&in, "size");
  if (in.Has("prefetch")) memory->prefetch = Flag(&in, "prefetch");
  if (in.Has("resize")) memory->resize = Flag(&in, "resize");
  in.Finish();
}

class ClientReader {
 public:
  ClientReader(const toml::node& node, TenantSpec* spec) : spec_(*spec) {
    line_ = std::max(1u, node.source().begin.line);
    table_ = node.as_table();
    if (table_ == nullptr) {
      throw InputError(fmt::format("{}:{}: client: expected tables [[client]]", spec->path, line_));
    }
  }

  void Read() {
    TomlReader in(*table_, spec_.path, "client");
    ClientScript client;
    client.name = in.String("name", "a name");
    if (client.name.empty()) in.Fail("name", "a name");
    CheckName(in.Place("name"), client.name);
    if (in.Has("request")) client.request = Part(&in, "request");
    if (in.Has("limit")) client.limit = Part(&in, "limit");
    if (in.Has("start")) client.start = Time(&in, "start", kMostDuration);
    if (in.Has("stop")) client.stop = Time(&in, "stop", kMostDuration);
    if (client.stop <= client.start) in.Fail("stop", "a time after start");
    if (in.Has("jobs")) {
      client.jobs = static_cast<std::uint64_t>(in.Integer("jobs", 1, kMostJobsOfAClient));
    }
    if (in.Has("memory_limit")) client.memory_limit = ReadBytesKey(&in, "memory_limit");
    if (in.Has("memory")) client.memory = ReadBytesKey(&in, "memory");
    if (in.Has("temporary")) client.temporary = ReadBytesKey(&in, "temporary");
    const TenantSpec::Arrivals arrivals = ReadArrivals(&in);
    const std::int64_t count = in.Has("count") ? in.Integer("count", 1, 1000) : 1;
    ReadSteps(&in, &client);
    in.Finish();
    CheckLength(&in, client);
    Add(client, arrivals, count);
  }

 private:
  // Times are whole nanoseconds in 64 bits; delays and waits come on top.
  static void CheckLength(TomlReader* in, const ClientScript& client) {
    double seconds = 0;
    for (const ClientStep& step : client.steps) {
      seconds += static_cast<double>(step.time + step.launch) * step.count / 1e9;
    }
    seconds *= static_cast<double>(std::max<std::uint64_t>(client.jobs, 1));
    if (seconds > kMostSeconds) {
      const char* key = client.jobs > 1 ? "jobs" : "step";
      in->Fail(key, fmt::format("at most {:.0f} s of host and kernels in all jobs, got {:.0f}",
                                kMostSeconds, seconds));
    }
  }

  static TenantSpec::Arrivals ReadArrivals(TomlReader* in) {
    TenantSpec::Arrivals arrivals;
    if (in->Has("rate")) {
      const std::string expected = "jobs per second, a number above 0 and up to 1e6";
      const toml::node& node = in->Node("rate", expected);
      const std::optional<double> rate = node.value<double>();
      if (!node.is_number() || !rate || !(*rate > 0 && *rate <= 1e6)) {
        in->Fail(node, "rate", expected);
      }
      arrivals.rate = *rate;
    }
    if (in->Has("poisson")) arrivals.poisson = Flag(in, "poisson");
    if (in->Has("on")) arrivals.on = Time(in, "on", kMostDuration);
    if (in->Has("off")) arrivals.off = Time(in, "off", kMostDuration);
    for (const char* key : {"poisson", "on", "off"}) {
      if (in->Has(key) && !arrivals.rate) in->Fail(key, "rate beside it");
    }
    if (in->Has("on") != in->Has("off")) in->Fail(in->Has("on") ? "on" : "off", "on and off");
    if (in->Has("on") && arrivals.on == 0) in->Fail("on", "a time above 0");
    return arrivals;
  }

  void ReadSteps(TomlReader* in, ClientScript* client) {
    const std::string expected = "tables [[client.step]]";
    const toml::node& node = in->Node("step", expected);
    const toml::array* steps = node.as_array();
    if (steps == nullptr || steps->empty()) in->Fail(node, "step", expected);
    for (const toml::node& step : *steps) {
      if (!step.is_table()) in->Fail(node, "step", expected);
      TomlReader reader(*step.as_table(), spec_.path, "client.step");
      client->steps.push_back(ReadStep(&reader, client->steps.size()));
      reader.Finish();
    }
  }

  ClientStep ReadStep(TomlReader* in, std::size_t place) {
    std::string kind;
    for (const std::string& word : kStepKinds) {
      if (!in->Has(word)) continue;
      if (!kind.empty()) in->Fail(word, "one of host, kernel, workload, sync, allocate, free");
      kind = word;
    }
    if (kind.empty()) {
      throw InputError(fmt::format(
          "{}:{}: client.step: expected one of host, kernel, workload, sync, allocate, free",
          in->file(), std::max(1, in->line())));
    }
    ClientStep step;
    if (kind == "host") {
      step.time = Time(in, kind, kMostTime);
    } else if (kind == "sync") {
      step.kind = StepKind::kSync;
      if (!Flag(in, kind)) in->Fail(kind, "true");
    } else if (kind == "allocate" || kind == "free") {
      step.kind = kind == "free" ? StepKind::kFree : StepKind::kAllocate;
      step.bytes = ReadBytesKey(in, kind);
    } else {
      ReadKernels(in, kind, place, &step);
    }
    return step;
  }

  void ReadKernels(TomlReader* in, const std::string& kind, std::size_t place, ClientStep* step) {
    step->kind = StepKind::kKernels;
    step->launch = 5 * gemini::kMicrosecond;
    if (kind == "kernel") {
      step->time = Time(in, kind, kMostDuration);
      if (step->time == 0) in->Fail(kind, "a time above 0");
    } else {
      const std::string name = in->String(kind, "a workload's name or file");
      TenantKernel kernel{0, place, in->Place(kind), name, {}};
      CheckName(kernel.where, name);
      kernel.size = ReadSizeKeys(in);
      kernel.size.launches = 1;
      kernels_.push_back(kernel);
    }
    if (in->Has("count")) {
      step->count = static_cast<std::uint32_t>(in->Integer("count", 1, 1'000'000));
    }
    if (in->Has("launch")) step->launch = Time(in, "launch", kMostTime);
    if (step->launch == 0) in->Fail("launch", "a time above 0");
    if (in->Has("variation")) step->variation = Part(in, "variation");
  }

  void Add(const ClientScript& client, const TenantSpec::Arrivals& arrivals, std::int64_t count) {
    for (std::int64_t i = 1; i <= count; ++i) {
      ClientScript copy = client;
      if (count > 1) copy.name += fmt::format("-{}", i);
      for (const ClientScript& other : spec_.request.clients) {
        if (other.name != copy.name) continue;
        throw InputError(
            fmt::format("{}:{}: client.name: expected a name of its own, got '{}' twice",
                        spec_.path, line_, copy.name));
      }
      for (TenantKernel kernel : kernels_) {
        kernel.client = spec_.request.clients.size();
        spec_.kernels.push_back(kernel);
      }
      const std::string place = fmt::format("{}:{}", spec_.path, line_);
      if (spec_.request.clients.empty()) spec_.origins.AddName("client", place);
      spec_.origins.AddName("client " + copy.name, place);
      spec_.request.clients.push_back(std::move(copy));
      spec_.arrivals.push_back(arrivals);
    }
  }

  TenantSpec& spec_;
  const toml::table* table_ = nullptr;
  unsigned line_ = 1;
  std::vector<TenantKernel> kernels_;
};

}  // namespace

Nanoseconds ParseTime(const std::string& text) {
  constexpr std::pair<const char*, Nanoseconds> kUnits[] = {{"ns", 1},
                                                            {"us", 1'000},
                                                            {"ms", 1'000'000},
                                                            {"min", 60'000'000'000},
                                                            {"s", 1'000'000'000},
                                                            {"h", 3'600'000'000'000}};
  const std::size_t digits = text.find_first_not_of("0123456789.");
  if (digits == std::string::npos || digits == 0) return -1;
  const std::string number = text.substr(0, digits);
  for (const auto& [name, unit] : kUnits) {
    if (text.substr(digits) != name) continue;
    const std::size_t point = number.find('.');
    const std::string whole = number.substr(0, point);
    const std::string rest = point == std::string::npos ? "" : number.substr(point + 1);
    if (whole.empty() || whole.size() > 12 || rest.size() > 9 ||
        rest.find('.') != std::string::npos || (point != std::string::npos && rest.empty())) {
      return -1;
    }
    const Nanoseconds high = std::stoll(whole);
    if (high > std::numeric_limits<Nanoseconds>::max() / 2 / unit) return -1;
    Nanoseconds time = high * unit, scale = unit;
    for (const char c : rest) {
      // What is below a nanosecond is refused, not rounded.
      if (scale % 10 != 0 && c != '0') return -1;
      scale /= 10;
      time += (c - '0') * scale;
    }
    return time;
  }
  return -1;
}

bool IsTenantSpec(const std::string& path) {
  try {
    const toml::table root = ParseToml(ReadFile(path), path);
    const toml::array* clients = root["client"].as_array();
    if (root.contains("gemini") || root.contains("duration")) return true;
    if (clients == nullptr) return false;
    return std::any_of(clients->begin(), clients->end(), [](const toml::node& client) {
      return client.is_table() && client.as_table()->contains("step");
    });
  } catch (const InputError&) {
    return false;  // who reads it next says what is wrong
  }
}

TenantSpec LoadTenantSpec(const std::string& path) {
  TenantSpec spec;
  spec.path = path;
  const toml::table root = ParseToml(ReadFile(path), path);
  TomlReader in(root, path, "");
  spec.name = std::string(std::filesystem::path(path).stem());
  if (in.Has("name")) spec.name = in.String("name", "a name");
  CheckName(in.Place("name"), spec.name);
  if (in.Has("description")) in.String("description", "a text");
  for (const auto& [key, text] : {std::pair("machine", &spec.machine),
                                  {"scheduler", &spec.scheduler},
                                  {"device", &spec.device},
                                  {"policy", &spec.policy},
                                  {"preempt", &spec.preempt},
                                  {"control", &spec.control}}) {
    if (in.Has(key)) *text = in.String(key, "a text");
  }
  spec.seed = ReadCountKey(&in, "seed");
  spec.rate_cycles = ReadCountKey(&in, "rate_cycles");
  spec.rate_warm_up = ReadCountKey(&in, "rate_warm_up");
  spec.sets = ReadSetKeys(&in);
  spec.origins = OriginsIn(root, path);
  if (in.Has("duration")) {
    spec.request.duration = Time(&in, "duration", kMostDuration);
    if (spec.request.duration == 0) in.Fail("duration", "a time above 0");
  }
  if (in.Has("sample")) {
    spec.request.sample = Time(&in, "sample", kMostDuration);
    if (spec.request.sample == 0) in.Fail("sample", "a time above 0");
    const Nanoseconds samples = spec.request.duration / spec.request.sample;
    if (spec.request.duration != gemini::kNeverNs && samples > kMostSamples) {
      in.Fail("sample",
              fmt::format("at most {} samples in the duration, got {}", kMostSamples, samples));
    }
  }
  bool revocation_given = false;
  if (in.Has("gemini")) {
    in.Node("gemini", "a table [gemini]");
    ReadSettings(root, path, &spec.request.settings, &revocation_given);
  }
  spec.revocation_given = revocation_given;
  if (in.Has("memory")) {
    in.Node("memory", "a table [memory]");
    ReadMemory(root, path, &spec.request.memory);
  }
  const std::string expected = "tables [[client]] with [[client.step]]";
  const toml::node& node = in.Node("client", expected);
  const toml::array* clients = node.as_array();
  if (clients == nullptr || clients->empty()) in.Fail(node, "client", expected);
  for (const toml::node& client : *clients) ClientReader(client, &spec).Read();
  in.Finish();
  return spec;
}

}  // namespace smk::sim
