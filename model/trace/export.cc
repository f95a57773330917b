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
#include "trace/access.h"
#include "trace/builder.h"
#include "trace/lines.h"
#include "trace/parser.h"
#include "workload/launch.h"

namespace smk {
namespace {

// Real addresses: a multiple of the 64 GB of a program's memory.
constexpr std::uint64_t kMemoryBase = 0x7f0000000000;
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

template <typename... Values>
void Append(std::string* out, const char* format, Values... values) {
  char text[256];
  const int n = std::snprintf(text, sizeof text, format, values...);
  out->append(text, static_cast<std::size_t>(n));
}

constexpr std::uint32_t LowLanes(unsigned lanes) {
  return lanes >= kWarpThreads ? ~std::uint32_t{0} : (std::uint32_t{1} << lanes) - 1;
}

// Maxwell and Pascal put a word of control information before every three instructions.
constexpr std::uint64_t PcOf(unsigned place) { return place / 3 * 32ull + 8 + place % 3 * 8ull; }

const char* WidthSuffix(unsigned width) {
  switch (width) {
    case 1:
      return ".U8";
    case 2:
      return ".U16";
    case 8:
      return ".64";
    case 16:
      return ".128";
    default:
      return "";
  }
}

// One warp's way through the program, as lines.
class WarpWriter {
 public:
  WarpWriter(const Launch& launch, std::uint32_t tb, unsigned warp, std::uint64_t limit)
      : program_(*launch.program),
        id_(launch.Identity(TbId{tb}, warp)),
        threads_(launch.Threads(warp)),
        limit_(limit == 0 ? ~std::uint64_t{0} : limit) {}

  std::uint64_t Count() const {
    WarpCursor cursor;
    program_.Start(id_, &cursor);
    std::uint64_t count = 0;
    for (; count < limit_ && program_.At(cursor).op != OpClass::kExit; ++count) {
      program_.Advance(id_, &cursor);
    }
    return count + 1;
  }
  // Calls `flush` with text now and then, and at the end.
  template <typename Flush>
  void Write(Flush flush) {
    program_.Start(id_, &cursor_);
    for (std::uint64_t i = 0; i < limit_; ++i) {
      const Instruction& instruction = program_.At(cursor_);
      if (instruction.op == OpClass::kExit) break;
      Line(instruction);
      program_.Advance(id_, &cursor_);
      if (text_.size() > (1u << 16)) {
        flush(text_);
        text_.clear();
      }
    }
    Line(Exit());
    flush(text_);
    text_.clear();
  }

 private:
  static const Instruction& Exit() {
    static const Instruction kExit = [] {
      Instruction exit;
      exit.op = OpClass::kExit;
      return exit;
    }();
    return kExit;
  }

  void Line(const Instruction& in) {
    if (in.op >= OpClass::kLoadGlobal && in.op <= OpClass::kAtomicGlobal) {
      GlobalAccess(in);
    } else if (in.op >= OpClass::kLoadShared && in.op <= OpClass::kAtomicShared) {
      SharedAccess(in);
    } else {
      Operands(in, LowLanes(threads_), Opcode(in, 0));
      text_ += " 0 0 \n";
    }
  }

  // PC, mask, registers and opcode.
  void Operands(const Instruction& in, std::uint32_t mask, const std::string& opcode) {
    Append(&text_, "%04" PRIx64 " %08x ", PcOf(program_.Place(cursor_)), mask);
    if (in.dst == kNoRegister) {
      text_ += "0 ";
    } else {
      Append(&text_, "1 R%u ", static_cast<unsigned>(in.dst));
    }
    text_ += opcode;
    const auto sources = std::count_if(std::begin(in.src), std::end(in.src),
                                       [](std::uint8_t r) { return r != kNoRegister; });
    Append(&text_, " %d", static_cast<int>(sources));
    for (const std::uint8_t source : in.src) {
      if (source != kNoRegister) Append(&text_, " R%u", static_cast<unsigned>(source));
    }
  }

  static std::string Opcode(const Instruction& in, unsigned width) {
    switch (in.op) {
      case OpClass::kAlu:
        return "FFMA";
      case OpClass::kImul:
        return "IMAD";
      case OpClass::kSfu:
        return "MUFU.RCP";
      case OpClass::kDp:
        return "DFMA";
      case OpClass::kLoadShared:
        return "LDS.U.32";
      case OpClass::kStoreShared:
        return "STS";
      case OpClass::kAtomicShared:
        return "ATOMS.ADD";
      case OpClass::kLoadConst:
        return in.conflicts == 1 ? "LDC" : "LDC.X" + std::to_string(in.conflicts);
      case OpClass::kLoadGlobal:
        return std::string("LDG.E") + WidthSuffix(width);
      case OpClass::kTexture:
        return std::string("LDG.E.CI") + WidthSuffix(width);
      case OpClass::kStoreGlobal:
        return std::string("STG.E") + WidthSuffix(width);
      case OpClass::kAtomicGlobal:
        return in.dst == kNoRegister ? "RED.E.ADD" : "ATOM.E.ADD";
      case OpClass::kBarrier:
        return "BAR.SYNC";
      case OpClass::kBranch:
        return "BRA";
      case OpClass::kExit:
        break;
    }
    return "EXIT";
  }

  // The addresses of the lanes where they give the lines that the machine would ask for; else one
  // word of each line, in order.
  void GlobalAccess(const Instruction& in) {
    std::uint64_t lines[kMaxLines];
    const unsigned count = program_.Lines(in, id_, cursor_, lines);
    TraceInstruction access;
    const LaneAddresses lanes = program_.Lanes(in, id_, cursor_);
    access.lanes = lanes.count;
    access.width = lanes.bytes;
    std::copy(lanes.address.begin(), lanes.address.end(), access.address.begin());
    const bool atomic = in.op == OpClass::kAtomicGlobal;
    if (atomic) DropRepeats(&access);
    if (!Gives(access, lines, count, atomic)) {
      access.width = 4;
      access.lanes = std::max({count, std::min(threads_, kWarpThreads), 1u});
      for (unsigned i = 0; i < access.lanes; ++i) {
        access.address[i] = lines[i * count / access.lanes] + i * 4;
      }
    }
    access.mask = LowLanes(access.lanes);
    Operands(in, access.mask, Opcode(in, access.width));
    Addresses(access);
  }

  // Leaves out lanes that want what another one wants, too: all of a program's lanes are in one
  // transaction of a line, and in a trace these would be in different ones.
  static void DropRepeats(TraceInstruction* access) {
    unsigned kept = 0;
    for (unsigned i = 0; i < access->lanes; ++i) {
      auto* const end = access->address.data() + kept;
      if (std::find(access->address.data(), end, access->address[i]) == end) {
        access->address[kept++] = access->address[i];
      }
    }
    access->lanes = kept;
  }

  static bool Gives(const TraceInstruction& access, const std::uint64_t* lines, unsigned count,
                    bool atomic) {
    const unsigned width = access.width;
    if (access.lanes == 0 || (width & (width - 1)) != 0 || width > 16) return false;
    const TraceLineSet found = LinesOf(access, TraceSpace::kGlobal, 0, atomic);
    if (found.count != count) return false;
    for (unsigned i = 0; i < count; ++i) {
      if (std::uint64_t{found.line[i]} * kLineBytes != lines[i] - kMemoryBase) return false;
    }
    return true;
  }

  // `conflicts` words of each bank, one after the other.
  void SharedAccess(const Instruction& in) {
    TraceInstruction access;
    const unsigned passes = in.conflicts;
    access.width = 4;
    access.lanes = std::max(std::min(threads_, kWarpThreads), passes);
    access.mask = LowLanes(access.lanes);
    for (unsigned i = 0; i < access.lanes; ++i) {
      access.address[i] = i % passes * kLineBytes + i / passes * 4;
    }
    Operands(in, access.mask, Opcode(in, access.width));
    Addresses(access);
  }

  void Addresses(const TraceInstruction& access) {
    const auto delta = [&](unsigned i) {
      return static_cast<std::int64_t>(access.address[i] - access.address[i - 1]);
    };
    bool stride = true, near = true;
    for (unsigned i = 1; i < access.lanes; ++i) {
      stride = stride && delta(i) == delta(1);
      near = near && delta(i) > -10'000'000 && delta(i) < 10'000'000;
    }
    Append(&text_, " %u ", access.width);
    if (stride && access.lanes > 1) {
      Append(&text_, "1 0x%" PRIx64 " %" PRId64, access.address[0], delta(1));
    } else if (near) {
      Append(&text_, "2 0x%" PRIx64, access.address[0]);
      for (unsigned i = 1; i < access.lanes; ++i) Append(&text_, " %" PRId64, delta(i));
    } else {
      text_ += "0";
      for (unsigned i = 0; i < access.lanes; ++i) Append(&text_, " 0x%" PRIx64, access.address[i]);
    }
    text_ += " 0 \n";
  }

  const Program& program_;
  WarpIdentity id_;
  unsigned threads_;
  std::uint64_t limit_;
  WarpCursor cursor_;
  std::string text_;
};

std::string HeaderText(const KernelSpec& spec, std::size_t number, std::uint32_t tbs) {
  std::string text = "-kernel name = " + spec.name + "\n";
  Append(&text, "-kernel id = %zu\n", number);
  if (tbs == spec.tb_count()) {
    Append(&text, "-grid dim = (%u,%u,%u)\n", spec.grid_x, spec.grid_y, spec.grid_z);
  } else {
    Append(&text, "-grid dim = (%u,1,1)\n", static_cast<unsigned>(tbs));
  }
  Append(&text, "-block dim = (%u,1,1)\n-shmem = %u\n-nregs = %u\n", spec.threads,
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
    Append(&text, "thread block = %u,%u,%u\n", cut ? tb : id.tb_x, cut ? 0u : id.tb_y,
           cut ? 0u : id.tb_z);
    file.Write(text);
    for (unsigned warp = 0; warp < launch.warps; ++warp) {
      WarpWriter writer(launch, tb, warp, options.max_instructions);
      const std::uint64_t count = writer.Count();
      text.clear();
      Append(&text, "\nwarp = %u\ninsts = %" PRIu64 "\n", warp, count);
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
    launch.memory_base = kMemoryBase;
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
