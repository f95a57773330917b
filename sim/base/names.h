// SPDX-License-Identifier: Apache-2.0
// Names that others give: of files, programs, machines, clients. They must be able to stand in
// every file that a command writes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smk::sim {

// Throws InputError "what: expected ..." for a text that is not UTF-8 or has control characters.
void CheckName(std::string_view what, const std::string& text);

// The text in one line that a terminal shows: bytes that cannot be shown as \xHH.
std::string Printable(std::string_view text);

// Each name as it is, or, where there are several of it, with a number: tea#1, sad, tea#2.
std::vector<std::string> NumberedNames(const std::vector<std::string>& names);

}  // namespace smk::sim
