// SPDX-License-Identifier: Apache-2.0
// What an exception says to people.
#pragma once

#include <exception>
#include <string>
#include <system_error>

namespace smk::sim {

// What went wrong: in words of ours where those of the standard library are for programmers.
std::string Reason(const std::exception& error);

// Whether a path is wrong, and not the disk that it is on.
bool IsWrongPath(const std::exception& error);
bool IsWrongPath(const std::error_code& code);

}  // namespace smk::sim
