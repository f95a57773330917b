// SPDX-License-Identifier: Apache-2.0
// Where a file says what an option could have said: errors name the option, users the file's line.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.h"

namespace smk::sim {

// See the head of this file. An option is as errors begin: "--policy", "--set sm.l1.bytes".
class Origins {
 public:
  // `place` is "file:line: key".
  void Add(const std::string& option, const std::string& place) { places_[option] = place; }
  // A name, such as a workload's: it stays in the error, behind the place, "file:line: key".
  void AddName(const std::string& name, const std::string& place) { names_[name] = place; }
  void Add(const Origins& others);
  // The command line says it.
  void Forget(const std::string& option) { places_.erase(option); }
  void ForgetIf(bool given, const std::string& option) {
    if (given) Forget(option);
  }
  void ForgetSets(const std::vector<std::string>& sets);  // "key=value" each

  // Calls `look`; of an InputError that begins with an option or a name, says the place.
  template <typename Look>
  auto At(const Look& look) const {
    try {
      return look();
    } catch (const InputError& error) {
      throw InputError(Placed(error.what()));
    }
  }

 private:
  std::string Placed(const std::string& error) const;

  std::map<std::string, std::string> places_, names_;
};

}  // namespace smk::sim
