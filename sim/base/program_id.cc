// SPDX-License-Identifier: Apache-2.0
#include "base/program_id.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>

#include "base/files.h"
#include "base/sha256.h"

namespace smk::sim {
namespace {

constexpr std::size_t Aligned(std::size_t size) { return (size + 3) / 4 * 4; }

// The digits of the build id among the notes, or "".
std::string BuildId(const unsigned char* notes, std::size_t size) {
  ElfW(Nhdr) note;
  for (std::size_t at = 0; at + sizeof(note) <= size;) {
    std::memcpy(&note, notes + at, sizeof(note));
    const std::size_t name = at + sizeof(note);
    const std::size_t id = name + Aligned(note.n_namesz);
    if (id + note.n_descsz > size) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
        std::memcmp(notes + name, "GNU", sizeof("GNU")) == 0) {
      std::string digits;
      for (std::size_t i = 0; i < note.n_descsz; ++i)
        digits += fmt::format("{:02x}", notes[id + i]);
      return digits;
    }
    at = id + Aligned(note.n_descsz);
  }
  return "";
}

// The first object is the program itself.
int Visit(dl_phdr_info* object, std::size_t, void* found) {
  for (unsigned i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    // The loader says addresses as integers.
    const void* notes = reinterpret_cast<const void*>(  // NOLINT(performance-no-int-to-ptr)
        object->dlpi_addr + part.p_vaddr);
    const std::string id = BuildId(static_cast<const unsigned char*>(notes), part.p_memsz);
    if (!id.empty()) *static_cast<std::string*>(found) = id;
  }
  return 1;
}

}  // namespace

std::string ProgramId() {
  std::string id;
  dl_iterate_phdr(Visit, &id);
  return id.empty() ? HashFile("/proc/self/exe") : id;
}

std::string ProgramHash(const std::string& cache) {
  constexpr char kProgram[] = "/proc/self/exe";
  struct stat file = {};
  if (cache.empty() || stat(kProgram, &file) != 0) return HashFile(kProgram);
  const std::string state = fmt::format("{} {} {} {}.{:09} {}.{:09} ", file.st_dev, file.st_ino,
                                        file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec,
                                        file.st_ctim.tv_sec, file.st_ctim.tv_nsec);
  const std::string path = fmt::format("{}/program-{}.txt", cache, ProgramId());
  try {
    const std::string kept = ReadFile(path);
    if (kept.size() == state.size() + 65 && kept.compare(0, state.size(), state) == 0) {
      return kept.substr(state.size(), 64);
    }
  } catch (const std::exception&) {  // not there
  }
  std::string hash = HashFile(kProgram);
  try {
    std::filesystem::create_directories(cache);
    WriteFileAtomically(path, state + hash + "\n");
  } catch (const std::exception&) {  // the next run works it out again
  }
  return hash;
}

}  // namespace smk::sim
