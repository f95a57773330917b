// SPDX-License-Identifier: Apache-2.0
#include "sweep/spec_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "experiment/trace_name.h"

namespace smk::sim {
namespace {

namespace fs = std::filesystem;

// The option of `smk sweep` that says the same as a key of a specification.
std::string OptionOf(const std::string& key) {
  if (key.rfind("set.", 0) == 0) return "--set " + key.substr(4);
  if (key == "machines") return "--machine";
  if (key == "seeds") return "--seed";
  for (const char* other : {"policies", "preempt", "control", "cycles", "until"}) {
    if (key == other) return "--" + key;
  }
  return key;
}

}  // namespace

void SpecPlace::Refuse(const std::string& key, unsigned line, const std::string& what) const {
  std::string text = what;
  // The name of an option in front says nothing here.
  if (text.rfind("--", 0) == 0 && text.find(": ") != std::string::npos) {
    text = text.substr(text.find(": ") + 2);
  }
  if (spec_.path.empty()) throw InputError(fmt::format("{}: {}", OptionOf(key), text));
  const unsigned shown = line != 0 ? line : std::max(experiment_->line, 1u);
  throw InputError(
      fmt::format("{}:{}: {}{}: {}", spec_.path, shown, experiment_->prefix, key, text));
}
void SpecPlace::RefuseResolve(const std::string& what, const SpecText& workload,
                              const char* key) const {
  const auto begins = [&](const char* option) { return what.rfind(option, 0) == 0; };
  if (begins("--control")) Refuse("control", experiment_->control.front().line, what);
  if (begins("--cycles")) Refuse("cycles", experiment_->cycles.front().line, what);
  if (begins("--until")) Refuse("until", experiment_->until.front().line, what);
  if (begins("--seed")) Refuse("seeds", experiment_->seeds.front().line, what);
  if (begins("--arrive")) Refuse("arrive", experiment_->arrive.front().line, what);
  for (const SpecAxis& axis : experiment_->set) {
    if (what.find(axis.key) != std::string::npos) {
      Refuse("set." + axis.key, axis.values.front().line, what);
    }
  }
  Refuse(key, workload.line, what);
}

void SpecPlace::RefuseServing(const std::string& what, const SpecText& stream) const {
  const auto begins = [&](const char* option) { return what.rfind(option, 0) == 0; };
  const auto line = [](const std::vector<SpecText>& texts) {
    return texts.empty() ? 0 : texts.front().line;
  };
  if (begins("--scheduler") && !experiment_->schedulers.empty()) {
    Refuse("schedulers", line(experiment_->schedulers), what);
  }
  if (begins("--device") && !experiment_->devices.empty()) {
    Refuse("devices", line(experiment_->devices), what);
  }
  if (begins("--policy") && line(experiment_->policies) != 0) {
    Refuse("policies", line(experiment_->policies), what);
  }
  RefuseResolve(what, stream, "streams");
}

std::string SpecPlace::Located(const std::string& name) const {
  const bool trace = IsTraceName(name);
  const bool file = name.size() > 5 && name.substr(name.size() - 5) == ".toml";
  const std::string path = trace ? name.substr(name.find(':') + 1) : name;
  if ((!file && !trace) || fs::path(path).is_absolute()) return name;
  const std::string located =
      fs::absolute(fs::path(spec_.path).parent_path() / path).lexically_normal().string();
  return trace ? name.substr(0, name.find(':') + 1) + located : located;
}

}  // namespace smk::sim
