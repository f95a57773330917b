// SPDX-License-Identifier: Apache-2.0
#include "trace/load.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "trace/cache.h"
#include "trace/list.h"
#include "trace/opcodes.h"
#include "trace/stamp.h"
#include "workload/program_code.h"

namespace smk {
namespace {

namespace fs = std::filesystem;

std::string Hexadecimal(std::uint64_t value) {
  std::string text(16, '0');
  for (std::size_t i = text.size(); i-- > 0; value >>= 4) text[i] = "0123456789abcdef"[value & 15];
  return text;
}

// "trace: 12 instructions of 2 unknown opcodes (FOO, BAR) ..."; empty when all are known.
std::string UnknownWarning(const std::string& path, const std::vector<TraceKernel>& kernels) {
  std::map<std::string, std::uint64_t> unknown;
  std::uint64_t count = 0;
  for (const TraceKernel& kernel : kernels) {
    for (const UnknownOpcode& opcode : kernel.unknown) {
      unknown[opcode.opcode] += opcode.count;
      count += opcode.count;
    }
  }
  if (unknown.empty()) return "";
  std::string names;
  std::size_t shown = 0;
  for (const auto& [name, times] : unknown) {
    if (++shown <= 8) names += (names.empty() ? "" : ", ") + name;
  }
  if (unknown.size() > 8) names += ", ...";
  return path + ": " + std::to_string(count) + " warp instructions of " +
         std::to_string(unknown.size()) + " unknown opcodes (" + names +
         ") are run as alu, or as load_global or store_global where they have addresses";
}

void RefuseUnknown(const std::vector<TraceKernel>& kernels) {
  for (const TraceKernel& kernel : kernels) {
    if (kernel.unknown.empty()) continue;
    const UnknownOpcode& first = kernel.unknown.front();
    throw InputError(first.where + ": " + first.opcode +
                     ": expected an opcode of the table, as --strict demands");
  }
}

std::shared_ptr<const TraceCacheFile> Build(const TraceList& list, const std::string& path,
                                            std::uint64_t key, bool strict) {
  TraceCacheWriter writer(path, key);
  std::vector<TraceKernel> kernels;
  for (const TraceList::Kernel& kernel : list.kernels) {
    TraceLines lines(kernel.path, OpenBytes(kernel.path));
    TraceParser parser(&lines);
    TraceBuilder builder(
        &parser, [&writer](const std::vector<std::uint8_t>& record) { writer.Add(record); });
    kernels.push_back(builder.Build());
    kernels.back().tb_table = writer.EndKernel();
  }
  if (strict) RefuseUnknown(kernels);
  const int fd = writer.Commit(kernels);
  return TraceCacheFile::Map(fd, path, key);
}

// The cached form, or null when there is none. A damaged one is removed and an error. One that
// looks as `known` says needs no check.
std::shared_ptr<const TraceCacheFile> FindCached(const std::string& path, std::uint64_t key,
                                                 const KnownTrace* known = nullptr) {
  if (path.empty()) return nullptr;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return nullptr;
  if (known != nullptr && StampOf(fd) != known->compact) {
    close(fd);
    return nullptr;
  }
  try {
    return TraceCacheFile::Map(fd, path, key, known == nullptr);
  } catch (const InputError&) {
    unlink(path.c_str());
    throw;
  }
}

KernelSpec SpecOf(const TraceCacheFile& file, std::size_t index) {
  const TraceKernel& kernel = file.kernels()[index];
  KernelSpec spec;
  spec.name = kernel.header.name.empty() ? "kernel-" + std::to_string(kernel.header.id)
                                         : kernel.header.name;
  spec.threads = kernel.header.threads();
  spec.registers_per_thread = kernel.header.registers;
  spec.shared_memory = kernel.header.shared_memory;
  spec.grid_x = kernel.header.grid[0];
  spec.grid_y = kernel.header.grid[1];
  spec.grid_z = kernel.header.grid[2];
  spec.idempotence = Idempotence::kNo;
  spec.need = TbNeed(spec.threads, spec.registers_per_thread, spec.shared_memory);
  ProgramParts parts;
  parts.nodes = kernel.nodes;
  parts.after = kernel.after;
  parts.code = kernel.code;
  for (const auto kind :
       {ControlOp::Kind::kTraceStart, ControlOp::Kind::kTraceNext, ControlOp::Kind::kTraceAccess}) {
    parts.control.emplace_back();
    parts.control.back().kind = kind;
  }
  parts.accesses.emplace_back();
  parts.accesses.back().pattern = Access::Pattern::kTrace;
  parts.num_registers = kNoRegister;
  spec.program = std::make_shared<const Program>(std::move(parts), file.Records(index));
  return spec;
}

std::string NameOf(const std::string& path) {
  fs::path folder = fs::absolute(path).lexically_normal();
  if (folder.filename() == "kernelslist.g" || !folder.has_filename()) folder = folder.parent_path();
  return folder.filename().string();
}

void AddStreams(const TraceList& list, const TraceCacheFile& file, std::uint64_t key,
                TraceSet* set) {
  std::vector<std::uint64_t> ids;
  std::vector<Workload> streams;
  for (std::size_t i = 0; i < file.kernels().size(); ++i) {
    const std::uint64_t id = file.kernels()[i].header.stream;
    const auto at = std::find(ids.begin(), ids.end(), id);
    const auto stream = static_cast<std::size_t>(at - ids.begin());
    if (at == ids.end()) {
      ids.push_back(id);
      streams.emplace_back();
    }
    Workload& workload = streams[stream];
    workload.launches.push_back(static_cast<std::uint16_t>(workload.kernels.size()));
    workload.kernels.push_back(SpecOf(file, i));
  }
  const std::string name = NameOf(list.path);
  for (std::size_t i = 0; i < streams.size(); ++i) {
    Workload& workload = streams[i];
    workload.name = streams.size() == 1 ? name : name + ":" + std::to_string(i + 1);
    workload.description = "Accel-Sim trace";
    workload.type = "memory";
    workload.source_file = list.path;
    workload.content_hash = Hexadecimal(key);
    set->streams.push_back(std::make_shared<const Workload>(std::move(workload)));
  }
}

}  // namespace

TraceSet LoadTrace(const std::string& path, const TraceOptions& options) {
  const TraceList list = ReadTraceList(path);
  const TraceStamps stamps(list, options.cache_folder);
  const auto cache_of = [&](std::uint64_t hash) {
    if (options.cache_folder.empty()) return std::string();
    return options.cache_folder + "/traces/" + Hexadecimal(hash) + ".smktrace";
  };
  TraceSet set;
  std::uint64_t key = 0;
  std::shared_ptr<const TraceCacheFile> file;
  if (const auto known = stamps.Recall(); known && !options.verify) {
    key = known->key;
    file = FindCached(cache_of(key), key, &*known);
    set.recognized = file != nullptr;
  }
  if (file == nullptr) {
    key = HashTrace(list);
    file = FindCached(cache_of(key), key);
  }
  set.from_cache = file != nullptr;
  if (file == nullptr) file = Build(list, cache_of(key), key, options.strict);
  if (!set.recognized) {
    if (const auto compact = StampOf(cache_of(key))) stamps.Remember(list, {key, *compact});
  }
  if (options.strict) RefuseUnknown(file->kernels());
  for (std::size_t i = 0; i < file->kernels().size(); ++i) {
    const TraceKernel& kernel = file->kernels()[i];
    set.kernels.push_back(
        {list.kernels[i].name, kernel.header, kernel.counts, kernel.nodes.size()});
  }
  set.warning = UnknownWarning(list.path, file->kernels());
  set.compact_bytes = file->bytes();
  AddStreams(list, *file, key, &set);
  return set;
}

}  // namespace smk
