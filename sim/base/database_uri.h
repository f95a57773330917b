// SPDX-License-Identifier: Apache-2.0
// How SQLite opens a database that nobody writes.
#pragma once

#include <string>

namespace smk::sim {

// The name of a database that can be opened where SQLite can write no files beside it.
std::string UnchangingUri(const std::string& path);

// Whether SQLite can write files beside this one.
bool CanWriteBeside(const std::string& path);

// Throws DatabaseError when a part of the database is in a file beside it, and can only be read
// after that was written into it.
void RefuseLogBeside(const std::string& path, int code);

}  // namespace smk::sim
