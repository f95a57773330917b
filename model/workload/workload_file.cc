// SPDX-License-Identifier: Apache-2.0
#include "workload/workload_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/toml_keys.h"
#include "workload/compiler.h"
#include "workload/parser.h"
#include "workload/program_code.h"
#include "workload/toml_reader.h"

namespace smk {
namespace {

constexpr std::uint64_t kMaxMemory = std::uint64_t{1} << 34;  // bytes of all arrays
constexpr std::uint64_t kArrayAlignment = 256;
constexpr std::int64_t kMaxLaunches = 65535;
constexpr std::int64_t kMaxGrid = 65535;  // each dimension
constexpr std::uint64_t kMaxTbs = (std::uint64_t{1} << 31) - 1;
constexpr std::size_t kMaxFileBytes = std::size_t{1} << 24;

// Text of a program and where it stands.
struct ProgramText {
  std::string text;
  int key_line = 1;
  int first_line = 1;
  int step = 1;
};

// Reads one workload.
class WorkloadReader {
 public:
  WorkloadReader(const std::string& text, const std::string& path) : path_(path) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines_.push_back(line);
    workload_.name = std::filesystem::path(path).stem().string();
    workload_.source_file = path;
    workload_.content_hash = ContentHash(text);
  }

  std::shared_ptr<const Workload> Read(const toml::table& root) {
    TomlReader in(root, path_, "");
    workload_.description = in.String("description", "one sentence");
    workload_.type = in.Choice("type", {"compute", "memory"});
    if (in.Has("arrays")) Arrays(in.Node("arrays", "a table of sizes"));
    Kernels(&in);
    Launches(&in);
    in.Finish();
    CountArrays();
    return std::make_shared<const Workload>(std::move(workload_));
  }

 private:
  // What would be copied between host and GPU.
  void CountArrays() {
    std::set<std::string> read, written;
    for (const KernelSpec& kernel : workload_.kernels) {
      const ProgramParts& parts = kernel.program->parts();
      for (const Instruction& in : parts.nodes) {
        const bool loads = in.op == OpClass::kLoadGlobal || in.op == OpClass::kTexture;
        const bool stores = in.op == OpClass::kStoreGlobal;
        if (!loads && !stores && in.op != OpClass::kAtomicGlobal) continue;
        if (!stores) read.insert(parts.access_names[in.access]);
        if (!loads) written.insert(parts.access_names[in.access]);
      }
    }
    for (const std::string& name : read) workload_.input_bytes += arrays_[name].size;
    for (const std::string& name : written) workload_.output_bytes += arrays_[name].size;
  }

  void Arrays(const toml::node& node) {
    if (!node.is_table()) FailAt(path_, Line(node), "arrays", "a table: name = size");
    std::uint64_t at = 0;
    for (const auto& [key, value] : *node.as_table()) {
      const std::string name(key.str());
      ArrayPlace& array = arrays_[name];
      if (value.is_table()) {
        array.tiles = Tiles(name, *value.as_table());
        array.size = array.tiles.Size();
      } else {
        array.size = ArraySize(name, value);
      }
      array.start = at;
      const std::uint64_t size = array.size;
      at = (at + size + kArrayAlignment - 1) / kArrayAlignment * kArrayAlignment;
      if (at > kMaxMemory)
        FailAt(path_, Line(value), "arrays." + name, "at most 16G in all arrays");
    }
  }

  TileShape Tiles(const std::string& name, const toml::table& table) const {
    TomlReader in(table, path_, "arrays." + name);
    const auto width = static_cast<std::uint32_t>(in.Integer("width", 1, 65536));
    const auto height = static_cast<std::uint32_t>(in.Integer("height", 1, 65536));
    const auto bytes = static_cast<unsigned>(in.Integer("bytes", 1, 16));
    if ((bytes & (bytes - 1)) != 0) in.Fail("bytes", "1, 2, 4, 8 or 16");
    in.Finish();
    return TileShape::Of(width, height, bytes);
  }

  // Bytes, rounded up to whole lines: a number, or a string with K, M or G.
  std::uint64_t ArraySize(const std::string& name, const toml::node& node) const {
    double size = 0;
    if (const auto* number = node.as_integer()) {
      size = static_cast<double>(number->get());
    } else if (const auto* text = node.as_string()) {
      const auto lines = Tokenise(text->get(), path_, Line(node), 0);
      if (lines.size() == 1 && lines[0].tokens.size() == 2) size = lines[0].tokens[0].value;
    }
    if (size < 1 || size > static_cast<double>(kMaxMemory)) {
      FailAt(path_, Line(node), "arrays." + name, "bytes from 1 to 16G, such as 4096 or \"4M\"");
    }
    return (static_cast<std::uint64_t>(size) + kLineBytes - 1) / kLineBytes * kLineBytes;
  }

  void Kernels(TomlReader* in) {
    const std::string expected = "at least one [[kernel]] table";
    const toml::node& node = in->Node("kernel", expected);
    const auto* tables = node.as_array();
    if (tables == nullptr || tables->empty()) in->Fail(node, "kernel", expected);
    for (const toml::node& table : *tables) {
      if (!table.is_table()) in->Fail(table, "kernel", expected);
      Kernel(*table.as_table());
    }
  }

  void Kernel(const toml::table& table) {
    TomlReader in(table, path_, "kernel");
    KernelSpec kernel;
    kernel.name = in.String("name", "the kernel's name");
    if (FindKernel(kernel.name) >= 0) in.Fail("name", "a name that no other kernel has");
    kernel.threads = static_cast<unsigned>(in.Integer("threads", 1, 1024));
    kernel.registers_per_thread = static_cast<unsigned>(in.Integer("registers", 1, 255));
    kernel.shared_memory = static_cast<unsigned>(in.Integer("shared_memory", 0, 1 << 20));
    Grid(&in, &kernel);
    const std::string idempotence = in.Choice("idempotence", {"yes", "no", "until_store"});
    kernel.idempotence = idempotence == "yes"  ? Idempotence::kYes
                         : idempotence == "no" ? Idempotence::kNo
                                               : Idempotence::kUntilStore;
    kernel.need = TbNeed(kernel.threads, kernel.registers_per_thread, kernel.shared_memory);
    const ProgramText& text = Text(&in, kernel.name);
    in.Finish();
    CompileTarget target;
    target.file = path_;
    target.line = text.key_line;
    target.geometry = {kernel.threads, kernel.grid_x, kernel.grid_y, kernel.grid_z};
    target.arrays = &arrays_;
    target.until_store = kernel.idempotence == Idempotence::kUntilStore;
    kernel.program =
        CompileProgram(ParseProgram(text.text, path_, text.first_line, text.step), target);
    workload_.kernels.push_back(std::move(kernel));
  }

  void Grid(TomlReader* in, KernelSpec* kernel) const {
    const std::string expected = "[x], [x, y] or [x, y, z], each from 1 to 65535";
    const toml::node& node = in->Node("grid", expected);
    const auto* sizes = node.as_array();
    if (sizes == nullptr || sizes->empty() || sizes->size() > 3) in->Fail(node, "grid", expected);
    unsigned* const out[] = {&kernel->grid_x, &kernel->grid_y, &kernel->grid_z};
    std::uint64_t tbs = 1;
    for (std::size_t i = 0; i < sizes->size(); ++i) {
      const auto* size = sizes->get(i)->as_integer();
      if (size == nullptr || size->get() < 1 || size->get() > kMaxGrid) {
        in->Fail(node, "grid", expected);
      }
      *out[i] = static_cast<unsigned>(size->get());
      tbs *= *out[i];
    }
    if (tbs > kMaxTbs) in->Fail(node, "grid", "less than 2^31 TBs");
  }

  // The kernel's own program, or that of an earlier kernel.
  const ProgramText& Text(TomlReader* in, const std::string& kernel) {
    if (in->Has("program_of")) {
      const std::string other = in->String("program_of", "the name of a kernel above");
      const auto at = texts_.find(other);
      if (at == texts_.end()) in->Fail("program_of", "the name of a kernel above");
      return texts_[kernel] = ProgramText(at->second);
    }
    const toml::node& node = in->Node("program", "the kernel's program, or program_of");
    if (!node.is_string()) in->Fail(node, "program", "a string");
    ProgramText text{node.as_string()->get(), Line(node), Line(node), 0};
    // A multi-line string begins behind its quotes: usually on the next line.
    const toml::source_position begin = node.source().begin;
    const std::string rest = lines_[begin.line - 1].substr(begin.column - 1);
    if (rest.compare(0, 3, "'''") == 0 || rest.compare(0, 3, "\"\"\"") == 0) {
      text.step = 1;
      const bool next_line = rest.find_first_not_of(" \t\r", 3) == std::string::npos;
      // The newline behind the quotes is not part of the string, but only directly behind them.
      if (next_line && (rest.size() == 3 || rest[3] == '\r')) ++text.first_line;
    }
    return texts_[kernel] = text;
  }

  void Launches(TomlReader* in) {
    const std::string expected = "a list of kernel names and { times = N, kernels = [...] }";
    const toml::node& node = in->Node("launches", expected);
    if (!node.is_array() || node.as_array()->empty()) in->Fail(node, "launches", expected);
    LaunchList(*node.as_array(), 0);
  }

  void LaunchList(const toml::array& list, unsigned depth) {
    for (const toml::node& node : list) {
      if (const auto* name = node.as_string()) {
        const int kernel = FindKernel(name->get());
        if (kernel < 0) FailAt(path_, Line(node), name->get(), "the name of a kernel of this file");
        if (workload_.launches.size() == kMaxLaunches) TooManyLaunches(node);
        workload_.launches.push_back(static_cast<std::uint16_t>(kernel));
        continue;
      }
      if (!node.is_table()) {
        FailAt(path_, Line(node), "launches", "a kernel's name or { times = N, kernels = [...] }");
      }
      Repeated(*node.as_table(), depth);
    }
  }

  void Repeated(const toml::table& table, unsigned depth) {
    TomlReader in(table, path_, "launches");
    const std::int64_t times = in.Integer("times", 1, kMaxLaunches);
    const toml::node& kernels = in.Node("kernels", "a list of kernel names");
    if (!kernels.is_array() || kernels.as_array()->empty() || depth == 4) {
      in.Fail(kernels, "kernels", "a list of kernel names, nested at most four times");
    }
    in.Finish();
    for (std::int64_t i = 0; i < times; ++i) LaunchList(*kernels.as_array(), depth + 1);
  }

  [[noreturn]] void TooManyLaunches(const toml::node& node) const {
    FailAt(path_, Line(node), "launches", "at most 65535 launches");
  }

  int FindKernel(const std::string& name) const {
    for (std::size_t i = 0; i < workload_.kernels.size(); ++i) {
      if (workload_.kernels[i].name == name) return static_cast<int>(i);
    }
    return -1;
  }

  static int Line(const toml::node& node) {
    return std::max(1, static_cast<int>(node.source().begin.line));
  }

  std::string path_;
  std::vector<std::string> lines_;
  ArrayMap arrays_;
  std::map<std::string, ProgramText> texts_;
  Workload workload_;
};

}  // namespace

std::string ContentHash(const std::string& bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::string text(16, '0');
  for (std::size_t i = text.size(); i-- > 0; hash >>= 4) text[i] = "0123456789abcdef"[hash & 15];
  return text;
}

std::shared_ptr<const Workload> ParseWorkload(const std::string& text, const std::string& path) {
  WorkloadReader reader(text, path);
  CheckTomlKeys(text, path);
  try {
    const toml::table root = toml::parse(text, path);
    return reader.Read(root);
  } catch (const toml::parse_error& error) {
    FailAt(path, static_cast<int>(error.source().begin.line), "TOML",
           "valid TOML (" + std::string(error.description()) + ")");
  }
}

std::shared_ptr<const Workload> LoadWorkload(const std::string& path) {
  std::error_code ignored;
  std::ifstream in(path, std::ios::binary);
  if (!in || !std::filesystem::is_regular_file(path, ignored)) {
    throw InputError(path + ": expected a workload file that can be read");
  }
  std::ostringstream text;
  text << in.rdbuf();
  if (text.str().size() > kMaxFileBytes) throw InputError(path + ": expected at most 16 MB");
  return ParseWorkload(text.str(), path);
}

}  // namespace smk
