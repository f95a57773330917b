// SPDX-License-Identifier: Apache-2.0
// What a call refuses, as an InputError.
#pragma once

#include <string>

#include "base/error.h"

namespace smk::sim {

// What an InputError says; "accepted" when there is none. Other exceptions fail the test.
template <typename Call>
std::string Refusal(const Call& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace smk::sim
