// SPDX-License-Identifier: Apache-2.0
// Names as users mistype them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smk {

// The member of `known` that needs the fewest edits to become `text`; "" when `known` is empty. A
// name that ends in ".text" counts as one edit away.
std::string Nearest(std::string_view text, const std::vector<std::string>& known);

// "; did you mean 'x'?" when something in `known` is near enough to `text`, else "".
std::string DidYouMean(std::string_view text, const std::vector<std::string>& known);

}  // namespace smk
