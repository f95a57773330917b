// SPDX-License-Identifier: Apache-2.0
// Names that others give: of files, programs, machines, clients. They must be able to stand in
// every file that a command writes.
#pragma once

#include <string>
#include <string_view>

namespace smk::sim {

// Throws InputError "what: expected ..." for a text that is not UTF-8 or has control characters.
void CheckName(std::string_view what, const std::string& text);

// The text in one line that a terminal shows: bytes that cannot be shown as \xHH.
std::string Printable(std::string_view text);

}  // namespace smk::sim
