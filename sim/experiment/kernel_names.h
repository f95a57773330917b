// SPDX-License-Identifier: Apache-2.0
// Names of kernels in one text: "sgemm+lbm". A plus sign that belongs to a name is written twice.
#pragma once

#include <string>
#include <vector>

namespace smk::sim {

// "trace:a++b+lbm" is trace:a+b and lbm. Throws InputError for an empty name.
std::vector<std::string> SplitKernels(const std::string& text);
std::string JoinKernels(const std::vector<std::string>& names);

}  // namespace smk::sim
