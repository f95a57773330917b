// SPDX-License-Identifier: Apache-2.0
#include "trace/builder.h"

#include <algorithm>
#include <limits>

#include "workload/trace_stream.h"

namespace smk {
namespace {

constexpr std::size_t kMaxNodes = 65535;
constexpr std::uint16_t kNext = 1, kNextAccess = 2;  // places in ProgramParts::control

bool IsGlobal(OpClass op) { return op >= OpClass::kLoadGlobal && op <= OpClass::kAtomicGlobal; }
bool IsShared(OpClass op) { return op >= OpClass::kLoadShared && op <= OpClass::kAtomicShared; }

// Places in the code, from PCs. Volta and later have an instruction every 16 bytes. Before, it is
// every 8, and one word of 4 (Kepler: of 8) holds control information and no instruction.
class CodeLayout {
 public:
  CodeLayout(unsigned binary_version, const std::vector<std::uint64_t>& pcs) {
    const auto none_at = [&](unsigned multiple, std::uint64_t rest_of_none) {
      return std::none_of(pcs.begin(), pcs.end(),
                          [&](std::uint64_t pc) { return pc % multiple == rest_of_none; });
    };
    const auto all_at_16 =
        std::all_of(pcs.begin(), pcs.end(), [](std::uint64_t pc) { return pc % 16 == 0; });
    if (binary_version >= 70) {
      bytes_ = all_at_16 ? 16 : 8;
    } else {
      const unsigned words = binary_version < 50 ? 8 : 4;
      if (none_at(words * 8, 0)) words_ = words;
    }
  }
  std::uint16_t Place(std::uint64_t pc) const {
    const std::uint64_t word = pc / bytes_;
    if (words_ == 0) return static_cast<std::uint16_t>(word);
    return static_cast<std::uint16_t>(word / words_ * (words_ - 1) + word % words_ - 1);
  }

 private:
  unsigned bytes_ = 8;
  unsigned words_ = 0;  // of which the first is no instruction; 0: all are
};

}  // namespace

TraceKernel TraceBuilder::Build() {
  kernel_.header = parser_.header();
  warps_.resize(kernel_.header.warps());
  touched_.resize(std::size_t{1} << (kTraceMemoryBits - 7 - kPageBits));
  while (parser_.NextTb()) Tb();
  Finish();
  return std::move(kernel_);
}

void TraceBuilder::Tb() {
  while (parser_.NextWarp()) Warp();
  record_.clear();
  std::uint64_t at = 4 * warps_.size();
  const auto put = [this](const void* bytes, std::size_t size) {
    const auto* const from = static_cast<const std::uint8_t*>(bytes);
    record_.insert(record_.end(), from, from + size);
  };
  for (const auto& warp : warps_) {
    if (at > std::numeric_limits<std::uint32_t>::max()) {
      parser_.Fail("#END_TB", "at most 4 GB of one thread block in compact form");
    }
    const auto offset = static_cast<std::uint32_t>(at);
    put(&offset, sizeof offset);
    at += warp.size();
  }
  for (const auto& warp : warps_) put(warp.data(), warp.size());
  sink_(record_);
  ++kernel_.tbs;
}

void TraceBuilder::Warp() {
  groups_ = {};
  runs_.clear();
  data_.clear();
  TraceInstruction line;
  for (std::uint64_t n = parser_.instructions(); n > 0; --n) {
    parser_.Next(&line);
    Add(line, n == 1);
  }
  // A warp ends with an exit, whether or not the trace has it.
  if (runs_.empty() || kernel_.nodes[runs_.back()].op != OpClass::kExit) {
    Instruction exit;
    exit.op = OpClass::kExit;
    Append(line.pc + (kernel_.header.binary_version >= 70 ? 16 : 8), exit);
    ++kernel_.counts.warp_instructions;
    ++kernel_.counts.by_class[static_cast<unsigned>(OpClass::kExit)];
  }
  std::vector<std::uint8_t>& out = warps_[parser_.warp()];
  const auto runs = static_cast<std::uint32_t>(runs_.size() / 2);
  out.resize(sizeof runs + runs_.size() * 2 + data_.size());
  std::memcpy(out.data(), &runs, sizeof runs);
  std::memcpy(out.data() + sizeof runs, runs_.data(), runs_.size() * 2);
  if (!data_.empty()) {
    std::memcpy(out.data() + sizeof runs + runs_.size() * 2, data_.data(), data_.size());
  }
  if (out.size() > std::numeric_limits<std::uint32_t>::max() / 2) {
    parser_.Fail("warp", "at most 2 GB of one warp in compact form");
  }
}

void TraceBuilder::Add(const TraceInstruction& line, bool last) {
  const TraceKind kind = KindOfOpcode(line.opcode, kernel_.header.binary_version);
  if (kind == TraceKind::kUnknown) NoteUnknown(line);
  const TraceSpace space = SpaceOf(kind, line, kernel_.header);
  const Instruction instruction = Translate(line, kind, space, last);
  Append(line.pc, instruction);
  Count(line, instruction, space);
  if (!IsGlobal(instruction.op)) return;
  const std::uint64_t warp = kernel_.tbs * warps_.size() + parser_.warp();
  const TraceLineSet lines = LinesOf(line, space, warp, instruction.op == OpClass::kAtomicGlobal);
  EncodeLines(lines, &data_);
  kernel_.counts.lines += lines.count;
  for (unsigned i = 0; i < lines.count; ++i) Touch(lines.line[i]);
}

// Goes on with the run if the instruction follows in the table too.
void TraceBuilder::Append(std::uint64_t pc, const Instruction& instruction) {
  const std::uint16_t node = NodeOf(pc, instruction);
  if (!runs_.empty() && runs_.back() + 1 == node) {
    runs_.back() = node;
    return;
  }
  if (!runs_.empty()) ends_run_[runs_.back()] = true;
  runs_.push_back(node);
  runs_.push_back(node);
}

OpClass TraceBuilder::ClassOf(TraceKind kind, TraceSpace space, const TraceInstruction& line,
                              bool last) {
  const auto memory = [space](OpClass global, OpClass shared) {
    if (space == TraceSpace::kNone) return OpClass::kAlu;
    return space == TraceSpace::kShared ? shared : global;
  };
  switch (kind) {
    case TraceKind::kImul:
      return OpClass::kImul;
    case TraceKind::kSfu:
      return OpClass::kSfu;
    case TraceKind::kDp:
      return OpClass::kDp;
    case TraceKind::kConstant:
      return OpClass::kLoadConst;
    case TraceKind::kBranch:
      return OpClass::kBranch;
    case TraceKind::kBarrier:
      return line.mask != 0 ? OpClass::kBarrier : OpClass::kAlu;
    case TraceKind::kExit:
      // Some lanes leave; the warp goes on as long as there are lines.
      return last ? OpClass::kExit : OpClass::kBranch;
    case TraceKind::kTexture:
      return space == TraceSpace::kNone ? OpClass::kSfu : OpClass::kTexture;
    case TraceKind::kCopyAsync:
    case TraceKind::kLoadGlobal:
    case TraceKind::kLoadShared:
    case TraceKind::kLoadLocal:
    case TraceKind::kLoadGeneric:
      return memory(OpClass::kLoadGlobal, OpClass::kLoadShared);
    case TraceKind::kStoreGlobal:
    case TraceKind::kStoreShared:
    case TraceKind::kStoreLocal:
    case TraceKind::kStoreGeneric:
      return memory(OpClass::kStoreGlobal, OpClass::kStoreShared);
    case TraceKind::kAtomicGlobal:
    case TraceKind::kAtomicShared:
      return memory(OpClass::kAtomicGlobal, OpClass::kAtomicShared);
    case TraceKind::kUnknown:
      if (space == TraceSpace::kNone) return OpClass::kAlu;
      return line.dst == TraceInstruction::kNone ? OpClass::kStoreGlobal : OpClass::kLoadGlobal;
    case TraceKind::kAlu:
    case TraceKind::kCloseAsync:
    case TraceKind::kWaitAsync:
    case TraceKind::kMembar:
      break;
  }
  return OpClass::kAlu;
}

Instruction TraceBuilder::Translate(const TraceInstruction& line, TraceKind kind, TraceSpace space,
                                    bool last) {
  Instruction instruction;
  instruction.op = ClassOf(kind, space, line, last);
  unsigned sources = 0;
  for (unsigned i = 0; i < line.num_src && sources < 3; ++i) {
    std::uint8_t* const end = instruction.src + sources;
    if (line.src[i] == kNoRegister || std::find(instruction.src, end, line.src[i]) != end) continue;
    instruction.src[sources++] = line.src[i];
  }
  // With all lanes off nothing is written.
  const bool writes = line.mask != 0 && instruction.op != OpClass::kBarrier &&
                      instruction.op != OpClass::kBranch && instruction.op != OpClass::kExit &&
                      instruction.op != OpClass::kStoreGlobal &&
                      instruction.op != OpClass::kStoreShared;
  if (writes) instruction.dst = line.dst;
  SetAsync(line, kind, &instruction);
  if (IsShared(instruction.op)) {
    const bool atomic = instruction.op == OpClass::kAtomicShared;
    instruction.conflicts = static_cast<std::uint8_t>(BankPasses(line, atomic));
  } else if (instruction.op == OpClass::kLoadConst) {
    instruction.conflicts = static_cast<std::uint8_t>(ConstantAddresses(line.opcode));
  }
  return instruction;
}

// Of more groups than an instruction has sources, DEPBAR waits for the last ones.
void TraceBuilder::SetAsync(const TraceInstruction& line, TraceKind kind,
                            Instruction* instruction) {
  if (kind == TraceKind::kCopyAsync && instruction->op == OpClass::kLoadGlobal) {
    instruction->dst = groups_.Copy();
    instruction->special = Special::kJoins;
  } else if (kind == TraceKind::kMembar) {
    instruction->special = Special::kMembar;
  } else if (kind == TraceKind::kCloseAsync) {
    groups_.Close();
  } else if (kind == TraceKind::kWaitAsync) {
    const auto left = static_cast<std::uint64_t>(std::max<std::int64_t>(line.immediate, 0));
    auto* source = std::begin(instruction->src);
    for (const std::uint8_t group : groups_.Wait(left)) {
      while (source != std::end(instruction->src) && *source != kNoRegister) ++source;
      if (source == std::end(instruction->src)) break;
      *source = group;
    }
  }
}

std::uint16_t TraceBuilder::NodeOf(std::uint64_t pc, const Instruction& instruction) {
  const std::uint64_t what =
      static_cast<std::uint64_t>(instruction.op) | std::uint64_t{instruction.dst} << 8 |
      std::uint64_t{instruction.src[0]} << 16 | std::uint64_t{instruction.src[1]} << 24 |
      std::uint64_t{instruction.src[2]} << 32 | std::uint64_t{instruction.conflicts} << 40 |
      static_cast<std::uint64_t>(instruction.special) << 48;
  const Key key{pc, what};
  // Mostly it is the one behind the last.
  if (!runs_.empty()) {
    const std::size_t next = runs_.back() + std::size_t{1};
    if (next < keys_.size() && keys_[next] == key) return static_cast<std::uint16_t>(next);
  }
  const auto [at, added] = node_of_.try_emplace(key, static_cast<std::uint16_t>(keys_.size()));
  if (!added) return at->second;
  if (keys_.size() == kMaxNodes) {
    parser_.Fail("instruction", "at most 65535 different instructions in a kernel");
  }
  keys_.push_back(key);
  ends_run_.push_back(false);
  kernel_.nodes.push_back(instruction);
  return at->second;
}

void TraceBuilder::Count(const TraceInstruction& line, const Instruction& instruction,
                         TraceSpace space) {
  TraceCounts& counts = kernel_.counts;
  ++counts.warp_instructions;
  counts.thread_instructions += line.lanes;
  ++counts.by_class[static_cast<unsigned>(instruction.op)];
  if (IsGlobal(instruction.op)) ++counts.accesses;
  if (IsShared(instruction.op) && space == TraceSpace::kShared) {
    ++counts.shared_accesses;
    counts.passes += instruction.conflicts;
  }
}

void TraceBuilder::NoteUnknown(const TraceInstruction& line) {
  const std::string opcode = Printable(std::string(FirstToken(line.opcode).substr(0, 40)));
  auto at = unknown_.find(opcode);
  if (at == unknown_.end()) {
    if (unknown_.size() >= 1000) parser_.Fail(opcode, "opcodes of an NVIDIA GPU");
    UnknownOpcode first{opcode, parser_.path() + ":" + std::to_string(parser_.line()), 0};
    at = unknown_.emplace(opcode, std::move(first)).first;
  }
  ++at->second.count;
}

void TraceBuilder::Touch(std::uint32_t line) {
  auto& page = touched_[line >> kPageBits];
  if (page == nullptr) {
    page = std::make_unique<std::array<std::uint64_t, (1u << kPageBits) / 64>>();
  }
  std::uint64_t& word = (*page)[line % (1u << kPageBits) / 64];
  const std::uint64_t bit = std::uint64_t{1} << line % 64;
  if ((word & bit) == 0) ++kernel_.counts.footprint_lines;
  word |= bit;
}

void TraceBuilder::Finish() {
  std::vector<std::uint64_t> pcs;
  pcs.reserve(keys_.size());
  for (const Key& key : keys_) pcs.push_back(key.pc);
  const CodeLayout layout(kernel_.header.binary_version, pcs);
  for (const std::uint64_t pc : pcs) kernel_.code.push_back(layout.Place(pc));
  const std::size_t nodes = kernel_.nodes.size();
  kernel_.after.assign(nodes, 0);
  for (std::size_t i = 0; i < nodes; ++i) {
    const bool next = i + 1 < nodes && kernel_.code[i + 1] == kernel_.code[i] + 1;
    if (ends_run_[i] || !next) kernel_.after[i] = kNext;
    if (IsGlobal(kernel_.nodes[i].op)) kernel_.after[i] = kNextAccess;
  }
  for (auto& [name, opcode] : unknown_) kernel_.unknown.push_back(std::move(opcode));
}

}  // namespace smk
