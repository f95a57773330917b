// SPDX-License-Identifier: Apache-2.0
#include "experiment/origins.h"

namespace smk::sim {
namespace {

// Whether `error` begins with these words, and one of `ends` is behind them.
bool Begins(const std::string& error, const std::string& words, const std::string& ends) {
  return error.size() > words.size() && error.compare(0, words.size(), words) == 0 &&
         ends.find(error[words.size()]) != std::string::npos;
}

}  // namespace

void Origins::Add(const Origins& others) {
  places_.insert(others.places_.begin(), others.places_.end());
  names_.insert(others.names_.begin(), others.names_.end());
}

void Origins::ForgetSets(const std::vector<std::string>& sets) {
  for (const std::string& set : sets) Forget("--set " + set.substr(0, set.find('=')));
}

std::string Origins::Placed(const std::string& error) const {
  for (const auto& [option, place] : places_) {
    if (Begins(error, option, ": =")) return place + error.substr(option.size());
  }
  for (const auto& [name, place] : names_) {
    if (Begins(error, name, ":")) return place + ": " + error;
  }
  return error;
}

}  // namespace smk::sim
