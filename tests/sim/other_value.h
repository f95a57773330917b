// SPDX-License-Identifier: Apache-2.0
// A value of a knob that is not its default.
#pragma once

#include <string>

#include "experiment/knobs.h"

namespace smk::sim {

inline std::string OtherValue(const Knob& knob) {
  const std::string usual = knob.print(Configuration{});
  // A list: the first kernel slot has another one.
  if (knob.expected.rfind("up to ", 0) == 0) return "100" + usual.substr(usual.find(','));
  const bool range = knob.expected.find(" to ") != std::string::npos;
  const std::string separator = range ? " to " : " or ";
  const std::size_t at = knob.expected.find(separator);
  std::string first = knob.expected.substr(0, at);
  if (first != usual) return first;
  if (range) return std::to_string(std::stoull(first) + 1);
  const std::string rest = knob.expected.substr(at + separator.size());
  return rest.substr(0, rest.find(separator));
}

}  // namespace smk::sim
