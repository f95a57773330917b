// SPDX-License-Identifier: Apache-2.0
#include "trace/list.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "trace/cache.h"
#include "trace/lines.h"
#include "trace/opcodes.h"

namespace smk {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxLaunches = 65535;

// A command of the tracer that launches nothing: a word, then its arguments behind a comma.
bool IsCommand(std::string_view line) {
  const std::size_t comma = line.find(',');
  const std::string_view word = line.substr(0, comma);
  return comma != std::string_view::npos && !word.empty() &&
         word.find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") ==
             std::string_view::npos;
}

std::uint64_t HashFile(std::uint64_t hash, const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  std::vector<char> buffer(std::size_t{1} << 20);
  while (file != nullptr) {
    const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), file.get());
    if (n == 0) break;
    hash = HashBlock(hash, buffer.data(), n);
  }
  return hash;
}

}  // namespace

TraceList ReadTraceList(const std::string& path) {
  TraceList list;
  std::error_code ignored;
  list.path = fs::is_directory(path, ignored) ? path + "/kernelslist.g" : path;
  if (!fs::is_regular_file(list.path, ignored)) {
    throw InputError(path + ": expected a folder with a kernelslist.g");
  }
  TraceLines lines(list.path, OpenBytes(list.path));
  while (lines.Next()) {
    const std::string name(lines.line());
    if (name.empty()) continue;
    if (name.rfind("kernel", 0) != 0) {
      if (IsCommand(name)) continue;
      lines.Fail(name.substr(0, 40),
                 "a kernel's file, or a command such as MemcpyHtoD,0x7f...,4096");
    }
    if (!EndsWith(name, ".traceg") && !EndsWith(name, ".traceg.xz")) {
      lines.Fail(name.substr(0, 80), "a name that ends in .traceg or .traceg.xz");
    }
    const fs::path entry(name);
    if (std::find(entry.begin(), entry.end(), "..") != entry.end()) {
      lines.Fail(name.substr(0, 80), "a file in the folder of the list, without ..");
    }
    const std::string file = (fs::path(list.path).parent_path() / name).string();
    if (!fs::is_regular_file(file, ignored)) {
      lines.Fail(name.substr(0, 80), "a file beside the list");
    }
    if (list.kernels.size() == kMaxLaunches) lines.Fail("list", "at most 65535 kernels");
    list.kernels.push_back({name, file});
  }
  if (list.kernels.empty()) lines.Fail("end of file", "at least one kernel");
  return list;
}

std::uint64_t HashTrace(const TraceList& list) {
  const std::uint64_t start[] = {OpcodeTableHash(), kTraceCacheVersion};
  std::uint64_t hash = HashBlock(kHashStart, start, sizeof start);
  hash = HashFile(hash, list.path);
  for (const TraceList::Kernel& kernel : list.kernels) hash = HashFile(hash, kernel.path);
  return hash;
}

}  // namespace smk
