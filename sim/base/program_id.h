// SPDX-License-Identifier: Apache-2.0
// Which program this is: what tells two builds apart in keys of caches.
#pragma once

#include <string>

namespace smk::sim {

// The linker's build id, a hash of all that is in the executable, in hexadecimal digits; it is
// there at once. Without one, the SHA-256 of the executable, which takes 0.1 s.
std::string ProgramId();

// The SHA-256 of the executable. That takes longer than a run of some thousand cycles, so it is
// kept in the folder `cache`, unless this is "", with what the file system says of the executable.
std::string ProgramHash(const std::string& cache);

}  // namespace smk::sim
