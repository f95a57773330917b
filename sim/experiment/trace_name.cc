// SPDX-License-Identifier: Apache-2.0
#include "experiment/trace_name.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "base/numbers.h"

namespace smk::sim {
namespace {

constexpr char kPrefix[] = "trace:";
constexpr std::size_t kPrefixSize = sizeof kPrefix - 1;

}  // namespace

bool IsTraceName(const std::string& name) { return name.rfind(kPrefix, 0) == 0; }

TraceName ParseTraceName(const std::string& name) {
  TraceName trace{name.substr(kPrefixSize), 0};
  const std::size_t colon = trace.path.rfind(':');
  const std::string tail = colon == std::string::npos ? "" : trace.path.substr(colon + 1);
  const bool digits = !tail.empty() && tail.find_first_not_of("0123456789") == std::string::npos;
  if (digits && !std::filesystem::exists(trace.path)) {
    trace.stream = ParseCount("stream of " + name, tail, 1, 65535);
    trace.path.resize(colon);
  }
  if (trace.path.empty()) {
    throw InputError(fmt::format("{}: expected trace:FOLDER with a kernelslist.g", name));
  }
  return trace;
}

std::string PortableTraceName(const std::string& name) {
  const TraceName trace = ParseTraceName(name);
  const auto path = std::filesystem::absolute(trace.path).lexically_normal();
  const std::string portable = kPrefix + path.string();
  return trace.stream == 0 ? portable : fmt::format("{}:{}", portable, trace.stream);
}

}  // namespace smk::sim
