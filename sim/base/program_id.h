// SPDX-License-Identifier: Apache-2.0
// Which program this is: what tells two builds apart in keys of caches.
#pragma once

#include <string>

namespace smk::sim {

// The linker's build id, a hash of all that is in the executable, in hexadecimal digits; it is
// there at once. Without one, the SHA-256 of the executable, which takes 0.1 s.
std::string ProgramId();

}  // namespace smk::sim
