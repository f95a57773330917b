// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.h"

#include <algorithm>
#include <limits>

namespace smk {
namespace {

// Levenshtein distance.
std::size_t Edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::size_t Distance(std::string_view text, std::string_view name) {
  const std::string tail = "." + std::string(text);
  if (name.size() > tail.size() && name.substr(name.size() - tail.size()) == tail) return 1;
  return Edits(text, name);
}

}  // namespace

std::string Nearest(std::string_view text, const std::vector<std::string>& known) {
  std::string best;
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (const std::string& name : known) {
    const std::size_t distance = Distance(text, name);
    if (distance < fewest) {
      fewest = distance;
      best = name;
    }
  }
  return best;
}

std::string DidYouMean(std::string_view text, const std::vector<std::string>& known) {
  const std::string nearest = Nearest(text, known);
  if (nearest.empty() || Distance(text, nearest) > std::max<std::size_t>(2, text.size() / 2)) {
    return "";
  }
  return "; did you mean '" + nearest + "'?";
}

}  // namespace smk
