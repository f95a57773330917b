// SPDX-License-Identifier: Apache-2.0
// libFuzzer target of the trace reader; scripts/fuzz builds and runs it. The first byte of an input
// says how the others are read: as text, as xz, or as the index of a cache.
#include <cstdint>
#include <fstream>

#include "trace/fuzz.h"

// Writes the seeds into the corpus, which is the first argument that is no option.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  for (int i = 1; i < *argc; ++i) {
    const std::string folder = (*argv)[i];
    if (folder[0] == '-') continue;
    unsigned number = 0;
    for (const std::string& seed : smk::TraceSeeds()) {
      std::ofstream(folder + "/seed-" + std::to_string(number++), std::ios::binary) << 't' << seed;
    }
    break;
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  if (data[0] == 'i') {
    smk::ReadHostileIndex(bytes);
  } else {
    smk::ReadHostileTrace(bytes, data[0] == 'x');
  }
  return 0;
}
