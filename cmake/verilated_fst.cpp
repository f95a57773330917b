// SPDX-License-Identifier: Apache-2.0
// Verilator's writer of FST files, with every write checked.
//
// Purpose     GTKWave's library looks at no result of a write. On a full disk it maps files that are
//             shorter than it thinks, and the process dies of a bus error. Here the first write that
//             fails is a std::runtime_error with the file and the reason, out of open(), dump() or
//             close(). The object must then neither be used nor be destroyed.
// How         The library is one file that Verilator includes; this includes that, with names of
//             ours for the functions that write. All headers come first, so that they keep theirs.
#include <verilated.h>
#include <verilated_fst_c.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace {

[[noreturn]] void RefuseWrite(std::FILE* file) {
  const int reason = errno;
  std::error_code ignored;
  std::string name =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fileno(file)), ignored);
  // A file without a name: what is full is where it is.
  const std::string deleted = " (deleted)";
  if (name.size() > deleted.size() && name.substr(name.size() - deleted.size()) == deleted) {
    name = std::filesystem::path(name).parent_path();
  }
  throw std::runtime_error((name.empty() ? "waveform" : name) +
                           ": cannot be written: " + std::strerror(reason));
}

std::size_t CheckedWrite(const void* data, std::size_t size, std::size_t count, std::FILE* file) {
  if (std::fwrite(data, size, count, file) != count) RefuseWrite(file);
  return count;
}

int CheckedPut(int byte, std::FILE* file) {
  if (std::fputc(byte, file) == EOF) RefuseWrite(file);
  return byte;
}

int CheckedFlush(std::FILE* file) {
  if (std::fflush(file) != 0) RefuseWrite(file);
  return 0;
}

int CheckedSeek(std::FILE* file, off_t offset, int from) {
  if (fseeko(file, offset, from) != 0) RefuseWrite(file);  // it writes what is still to be written
  return 0;
}

}  // namespace

#define fwrite(data, size, count, file) CheckedWrite(data, size, count, file)
#define fputc(byte, file) CheckedPut(byte, file)
#define fflush(file) CheckedFlush(file)
#define fseeko(file, offset, from) CheckedSeek(file, offset, from)
#include <verilated_fst_c.cpp>
