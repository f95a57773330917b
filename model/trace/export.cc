// SPDX-License-Identifier: Apache-2.0
#include "trace/export.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "trace/builder.h"
#include "trace/export_warp.h"
#include "trace/lines.h"
#include "trace/parser.h"
#include "workload/launch.h"

namespace smk {
namespace {

constexpr char kFormat[] =
    "#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width "
    "[adrrescompress?] [mem_addresses] immediate\n";

// A text file that is written completely, or removed.
class TextFile {
 public:
  explicit TextFile(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wb")) {
    if (file_ != nullptr) return;
    throw InputError(path_ + ": expected a file that can be written (" + std::strerror(errno) +
                     ")");
  }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  ~TextFile() {
    if (file_ == nullptr) return;
    std::fclose(file_);
    Remove();
  }
  void Write(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) Fail();
    bytes_ += text.size();
  }
  std::uint64_t Close() {
    if (std::fclose(std::exchange(file_, nullptr)) == 0) return bytes_;
    const std::system_error failure = Failure();
    Remove();
    throw failure;
  }

 private:
  std::system_error Failure() const {
    return {errno, std::generic_category(), path_ + ": cannot be written"};
  }
  [[noreturn]] void Fail() const { throw Failure(); }
  // Not a device, or what a name leads to.
  void Remove() const {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path_, ignored)) std::filesystem::remove(path_, ignored);
  }
  std::string path_;
  std::FILE* file_;
  std::uint64_t bytes_ = 0;
};

std::string HeaderText(const KernelSpec& spec, std::size_t number, std::uint32_t tbs) {
  std::string text = "-kernel name = " + spec.name + "\n";
  AppendText(&text, "-kernel id = %zu\n", number);
  if (tbs == spec.tb_count()) {
    AppendText(&text, "-grid dim = (%u,%u,%u)\n", spec.grid_x, spec.grid_y, spec.grid_z);
  } else {
    AppendText(&text, "-grid dim = (%u,1,1)\n", static_cast<unsigned>(tbs));
  }
  AppendText(&text, "-block dim = (%u,1,1)\n-shmem = %u\n-nregs = %u\n", spec.threads,
             spec.shared_memory, spec.registers_per_thread);
  text +=
      "-binary version = 61\n-cuda stream id = 0\n-shmem base_addr = 0x00007e0000000000\n"
      "-local mem base_addr = 0x00007e0001000000\n-nvbit version = 1.5.5\n"
      "-accelsim tracer version = 5\n-enable lineinfo = 0\n\n";
  return text + kFormat;
}

std::uint64_t WriteKernel(const Launch& launch, const std::string& path, std::size_t number,
                          std::uint32_t tbs, const TraceExport& options, TraceExported* done) {
  TextFile file(path);
  file.Write(HeaderText(*launch.spec, number, tbs));
  for (std::uint32_t tb = 0; tb < tbs; ++tb) {
    const WarpIdentity id = launch.Identity(TbId{tb}, 0);
    std::string text = "\n#BEGIN_TB\n\n";
    const bool cut = tbs != launch.spec->tb_count();
    AppendText(&text, "thread block = %u,%u,%u\n", cut ? tb : id.tb_x, cut ? 0u : id.tb_y,
               cut ? 0u : id.tb_z);
    file.Write(text);
    for (unsigned warp = 0; warp < launch.warps; ++warp) {
      TraceWarpWriter writer(launch, tb, warp, options.max_instructions);
      const std::uint64_t count = writer.Count();
      text.clear();
      AppendText(&text, "\nwarp = %u\ninsts = %" PRIu64 "\n", warp, count);
      file.Write(text);
      writer.Write([&file](const std::string& lines) { file.Write(lines); });
      done->warp_instructions += count;
    }
    file.Write("\n#END_TB\n");
  }
  done->tbs += tbs;
  return file.Close();
}

// What was written is what LoadTrace() reads. A file that it refuses is removed.
void ReadBack(const Workload& workload, const std::string& path) {
  try {
    TraceLines lines(path, OpenBytes(path));
    TraceParser parser(&lines);
    TraceBuilder(&parser, [](const std::vector<std::uint8_t>&) {}).Build();
  } catch (const InputError& error) {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    throw InputError(workload.source_file + ": cannot be a trace: " + error.what());
  }
}

}  // namespace

std::size_t LaunchesOfAllKernels(const Workload& workload) {
  std::set<std::uint16_t> left(workload.launches.begin(), workload.launches.end());
  std::size_t count = 0;
  while (!left.empty()) left.erase(workload.launches[count++]);
  return count;
}

TraceExported ExportTrace(const Workload& workload, const TraceExport& options) {
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  // The list comes last: a folder that has one is complete.
  std::filesystem::remove(options.folder + "/kernelslist.g", error);
  const std::size_t wanted =
      options.launches == 0 ? LaunchesOfAllKernels(workload) : options.launches;
  const std::size_t launches = std::min(wanted, workload.launches.size());
  TraceExported done;
  std::string list;
  for (std::size_t i = 0; i < launches; ++i) {
    Launch launch;
    launch.spec = &workload.kernels[workload.launches[i]];
    launch.program = launch.spec->program.get();
    launch.warps = (launch.spec->threads + kWarpThreads - 1) / kWarpThreads;
    launch.key = MixHash(ProgramKey(options.seed, workload.name, 0), i);
    launch.memory_base = kExportMemoryBase;
    const std::uint32_t all = launch.spec->tb_count();
    const std::uint32_t tbs = options.tbs == 0 ? all : std::min(options.tbs, all);
    const std::string name = "kernel-" + std::to_string(i + 1) + ".traceg";
    const std::string path = options.folder + "/" + name;
    done.bytes += WriteKernel(launch, path, i + 1, tbs, options, &done);
    ReadBack(workload, path);
    list += name + "\n";
    ++done.kernels;
  }
  TextFile file(options.folder + "/kernelslist.g");
  file.Write(list);
  done.bytes += file.Close();
  return done;
}

}  // namespace smk
