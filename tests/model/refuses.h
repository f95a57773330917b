// SPDX-License-Identifier: Apache-2.0
// What a call says when it refuses its input.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace smk {

// Expects an InputError with exactly this line.
template <typename Call>
void ExpectRefused(const Call& call, const std::string& line) {
  try {
    call();
    ADD_FAILURE() << "takes what it should refuse with: " << line;
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), line);
  }
}

}  // namespace smk
