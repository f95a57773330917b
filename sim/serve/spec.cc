// SPDX-License-Identifier: Apache-2.0
#include "serve/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "base/error.h"
#include "base/files.h"
#include "base/names.h"
#include "base/toml_file.h"
#include "experiment/settings.h"
#include "serve/spec_keys.h"
#include "workload/toml_reader.h"

namespace smk::sim {
namespace {

constexpr std::int64_t kLastArrival = 1'000'000'000'000;
constexpr std::int64_t kMostTbs = std::numeric_limits<std::uint32_t>::max();
constexpr double kMostRate = 1e12;

// A value as it is typed: numbers and truth values bare, anything else in quotes.
std::string BareOrQuoted(const std::string& value) {
  const bool number =
      !value.empty() && value.find_first_not_of("0123456789.") == std::string::npos &&
      std::count(value.begin(), value.end(), '.') <= 1 && value.front() != '.' &&
      value.back() != '.' && !(value.size() > 1 && value[0] == '0' && value[1] != '.');
  return number || value == "true" || value == "false" ? value : TomlText(value);
}

// A number above 0 and up to `most`.
double Positive(TomlReader* in, const std::string& key, double most, const std::string& expected) {
  const toml::node& node = in->Node(key, expected);
  const std::optional<double> number = node.value<double>();
  if (!node.is_number() || !number || !(*number > 0 && *number <= most)) {
    in->Fail(node, key, expected);
  }
  return *number;
}

std::optional<std::uint32_t> Count(TomlReader* in, const std::string& key) {
  if (!in->Has(key)) return std::nullopt;
  return static_cast<std::uint32_t>(in->Integer(key, 1, kMostTbs));
}

// Bytes as a number or a text such as "8M", or "workload".
std::optional<std::uint64_t> ReadBytes(TomlReader* in, const std::string& key) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 50;
  const std::string expected = "bytes such as 4096 or \"8M\", or \"workload\"";
  if (!in->Has(key)) return std::nullopt;
  const toml::node& node = in->Node(key, expected);
  if (const auto* number = node.as_integer()) {
    if (number->get() < 0 || static_cast<std::uint64_t>(number->get()) > kMostBytes) {
      in->Fail(node, key, expected);
    }
    return static_cast<std::uint64_t>(number->get());
  }
  const std::string text = in->String(key, expected);
  if (text == "workload") return kOfWorkload;
  std::uint64_t unit = 1;
  const std::string_view units = "KMG";
  const std::size_t place = text.empty() ? units.npos : units.find(text.back());
  if (place != units.npos) unit <<= 10 * (place + 1);
  const std::string digits = text.substr(0, text.size() - (unit == 1 ? 0 : 1));
  if (digits.empty() || digits.size() > 12 ||
      digits.find_first_not_of("0123456789") != std::string::npos ||
      std::stoull(digits) > kMostBytes / unit) {
    in->Fail(node, key, expected);
  }
  return std::stoull(digits) * unit;
}

JobSize ReadSize(TomlReader* in) {
  JobSize size = ReadSizeKeys(in);
  size.launches = Count(in, "launches");
  size.copy_in = ReadBytes(in, "copy_in");
  size.copy_out = ReadBytes(in, "copy_out");
  return size;
}

// What an entry leaves open.
JobSize WithDefaults(JobSize size, const JobSize& usual) {
  if (!size.scale && !size.tbs) {
    size.scale = usual.scale;
    size.tbs = usual.tbs;
  }
  if (!size.launches) size.launches = usual.launches;
  if (!size.copy_in) size.copy_in = usual.copy_in;
  if (!size.copy_out) size.copy_out = usual.copy_out;
  return size;
}

std::string ReadName(TomlReader* in, const std::string& key, const std::string& expected) {
  std::string name = in->String(key, expected);
  if (name.empty()) in->Fail(key, expected);
  CheckName(in->Place(key), name);
  return name;
}

StreamEntry ReadEntry(const toml::node& node, const std::string& kind, const std::string& path,
                      const JobSize& usual) {
  const std::string where =
      fmt::format("{}:{}: {}", path, std::max(1u, node.source().begin.line), kind);
  const toml::table* table = node.as_table();
  if (table == nullptr) throw InputError(fmt::format("{}: expected tables [[{}]]", where, kind));
  TomlReader in(*table, path, kind);
  StreamEntry entry;
  entry.where = where;
  entry.workload = ReadName(&in, "workload", "a workload's name or file");
  const bool client = kind == "client";
  if (client) {
    entry.client = ReadName(&in, "name", "a name");
  } else if (in.Has("client")) {
    entry.client = ReadName(&in, "client", "a name");
  }
  if (in.Has("arrival")) entry.arrival = static_cast<Cycle>(in.Integer("arrival", 0, kLastArrival));
  if (in.Has("count")) entry.count = static_cast<std::uint64_t>(in.Integer("count", 1, kMostTbs));
  if (client && in.Has("rate")) {
    entry.rate = Positive(&in, "rate", kMostRate, "jobs per second, a number above 0");
  }
  entry.size = WithDefaults(ReadSize(&in), usual);
  in.Finish();
  return entry;
}

void ReadEntries(TomlReader* in, const std::string& kind, const JobSize& usual, StreamSpec* spec) {
  if (!in->Has(kind)) return;
  const std::string expected = fmt::format("tables [[{}]]", kind);
  const toml::node& node = in->Node(kind, expected);
  const toml::array* tables = node.as_array();
  if (tables == nullptr || tables->empty()) in->Fail(node, kind, expected);
  for (const toml::node& table : *tables) {
    spec->entries.push_back(ReadEntry(table, kind, spec->path, usual));
  }
}

std::optional<std::string> ReadText(TomlReader* in, const std::string& key) {
  if (!in->Has(key)) return std::nullopt;
  return in->String(key, "a text");
}

}  // namespace

std::uint64_t ReadBytesKey(TomlReader* in, const std::string& key) {
  const std::optional<std::uint64_t> bytes = ReadBytes(in, key);
  if (!bytes || *bytes == kOfWorkload) in->Fail(key, "bytes such as 4096 or \"8M\"");
  return *bytes;
}

JobSize ReadSizeKeys(TomlReader* in) {
  JobSize size;
  if (in->Has("scale")) size.scale = Positive(in, "scale", 1, "a part above 0, up to 1");
  size.tbs = Count(in, "tbs");
  if (size.scale && size.tbs) in->Fail("tbs", "one of scale and tbs");
  return size;
}

std::optional<std::string> ReadCountKey(TomlReader* in, const std::string& key) {
  if (!in->Has(key)) return std::nullopt;
  const toml::node& node = in->Node(key, "a number");
  if (const auto* number = node.as_integer()) return fmt::to_string(number->get());
  return in->String(key, "a whole number, or a text such as \"2M\"");
}

std::vector<std::string> ReadSetKeys(TomlReader* in) {
  std::vector<std::string> sets;
  if (!in->Has("set")) return sets;
  const toml::node& node = in->Node("set", "a table of key = value");
  if (!node.is_table()) in->Fail(node, "set", "a table of key = value");
  for (const TomlLeaf& leaf : TomlLeaves(*node.as_table(), in->file())) {
    sets.push_back(fmt::format("{}={}", leaf.name, leaf.value));
  }
  return sets;
}

std::string SetToml(const std::vector<std::string>& sets) {
  std::string text = sets.empty() ? "" : "\n[set]\n";
  for (const std::string& set : sets) {
    const std::size_t equals = set.find('=');
    text += fmt::format("{} = {}\n", set.substr(0, equals), BareOrQuoted(set.substr(equals + 1)));
  }
  return text;
}

Origins OriginsIn(const toml::table& root, const std::string& path) {
  Origins origins;
  for (const TomlLeaf& leaf : TomlLeaves(root, path)) {
    std::string option = "--" + leaf.name;
    std::replace(option.begin(), option.end(), '_', '-');
    origins.Add(option, leaf.place);
    for (const char* own : {"machine", "duration", "sample"}) {
      if (leaf.name == own) origins.Add(own, leaf.place);
    }
    if (leaf.name.rfind("set.", 0) == 0) origins.Add("--set " + leaf.name.substr(4), leaf.place);
  }
  return origins;
}

void ForgetGiven(const Options& options, const std::string& scheduler, const DeviceOptions& device,
                 Origins* origins) {
  ForgetGiven(options, origins);
  origins->ForgetIf(!scheduler.empty(), "--scheduler");
  origins->ForgetIf(!device.device.empty(), "--device");
  origins->ForgetIf(!device.rate_cycles.empty(), "--rate-cycles");
  origins->ForgetIf(!device.rate_warm_up.empty(), "--rate-warm-up");
}

void CheckSets(const Options& options, const char* why) {
  for (const std::string& set : options.sets) {
    if (set.rfind("run.until=", 0) != 0 && set.rfind("run.warm_up=", 0) != 0 &&
        set.rfind("run.measure=", 0) != 0) {
      continue;
    }
    throw InputError(fmt::format("--set {}: {}", set, why));
  }
}

StreamSpec LoadStreamSpec(const std::string& path) {
  StreamSpec spec;
  spec.path = path;
  const toml::table root = ParseToml(ReadFile(path), path);
  TomlReader in(root, path, "");
  spec.name = in.Has("name") ? ReadName(&in, "name", "a name")
                             : std::string(std::filesystem::path(path).stem());
  if (in.Has("description")) in.String("description", "a text");
  for (const auto& [key, text] : {std::pair("machine", &spec.machine),
                                  {"policy", &spec.policy},
                                  {"preempt", &spec.preempt},
                                  {"control", &spec.control},
                                  {"scheduler", &spec.scheduler},
                                  {"device", &spec.device}}) {
    *text = ReadText(&in, key);
  }
  spec.cycles = ReadCountKey(&in, "cycles");
  spec.seed = ReadCountKey(&in, "seed");
  spec.rate_cycles = ReadCountKey(&in, "rate_cycles");
  spec.rate_warm_up = ReadCountKey(&in, "rate_warm_up");
  spec.sets = ReadSetKeys(&in);
  spec.origins = OriginsIn(root, path);
  if (in.Has("overlap")) {
    const toml::node& node = in.Node("overlap", "true or false");
    if (!node.is_boolean()) in.Fail(node, "overlap", "true or false");
    spec.overlap = node.as_boolean()->get();
  }
  const JobSize usual = ReadSize(&in);
  ReadEntries(&in, "job", usual, &spec);
  ReadEntries(&in, "client", usual, &spec);
  in.Finish();
  if (spec.entries.empty()) {
    throw InputError(
        fmt::format("{}:1: expected at least one [[job]] or [[client]], got none", path));
  }
  return spec;
}

}  // namespace smk::sim
