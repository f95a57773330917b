// SPDX-License-Identifier: Apache-2.0
#include "experiment/kernel_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace smk::sim {

std::vector<std::string> SplitKernels(const std::string& text) {
  std::vector<std::string> names(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '+') {
      names.back() += text[i];
    } else if (i + 1 < text.size() && text[i + 1] == '+') {
      names.back() += text[i++];
    } else {
      names.emplace_back();
    }
  }
  if (std::find(names.begin(), names.end(), "") != names.end()) {
    throw InputError(fmt::format("kernels: expected KERNEL+KERNEL, got '{}'", text));
  }
  return names;
}

std::string JoinKernels(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += '+';
    for (const char c : name) text += c == '+' ? std::string("++") : std::string(1, c);
  }
  return text;
}

}  // namespace smk::sim
