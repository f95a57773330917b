// SPDX-License-Identifier: Apache-2.0
#include "trace/export_warp.h"

#include <algorithm>
#include <cinttypes>

#include "trace/export_lanes.h"
#include "trace/opcodes.h"

namespace smk {
namespace {

constexpr std::uint32_t LowLanes(unsigned lanes) {
  return lanes >= kWarpThreads ? ~std::uint32_t{0} : (std::uint32_t{1} << lanes) - 1;
}

// Maxwell and Pascal put a word of control information before every three instructions.
constexpr std::uint64_t PcOf(unsigned place) { return place / 3 * 32ull + 8 + place % 3 * 8ull; }

// Accel-Sim takes the width of a lane from here: bits, unless they are a word.
std::string WidthPart(unsigned bytes) {
  if (bytes == 4) return "";
  return (bytes < 4 ? ".U" : ".") + std::to_string(8 * bytes);
}

std::string Opcode(const Instruction& in, unsigned width) {
  switch (in.op) {
    case OpClass::kAlu:
      return in.special == Special::kMembar ? "MEMBAR" : "FFMA";
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
      return "LDG.E" + WidthPart(width);
    case OpClass::kTexture:
      return "LDG.E.CI" + WidthPart(width) + kTexturePart;
    case OpClass::kStoreGlobal:
      return "STG.E" + WidthPart(width);
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

}  // namespace

TraceWarpWriter::TraceWarpWriter(const Launch& launch, std::uint32_t tb, unsigned warp,
                                 std::uint64_t limit)
    : program_(*launch.program),
      id_(launch.Identity(TbId{tb}, warp)),
      threads_(launch.Threads(warp)),
      limit_(limit == 0 ? ~std::uint64_t{0} : limit) {}

std::uint64_t TraceWarpWriter::Count() const {
  WarpCursor cursor;
  program_.Start(id_, &cursor);
  std::uint64_t count = 0;
  for (; count < limit_ && program_.At(cursor).op != OpClass::kExit; ++count) {
    program_.Advance(id_, &cursor);
  }
  return count + 1;
}

void TraceWarpWriter::Exit() {
  Instruction exit;
  exit.op = OpClass::kExit;
  Line(exit);
}

void TraceWarpWriter::Line(const Instruction& in) {
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
void TraceWarpWriter::Operands(const Instruction& in, std::uint32_t mask,
                               const std::string& opcode) {
  AppendText(&text_, "%04" PRIx64 " %08x ", PcOf(program_.Place(cursor_)), mask);
  if (in.dst == kNoRegister) {
    text_ += "0 ";
  } else {
    AppendText(&text_, "1 R%u ", static_cast<unsigned>(in.dst));
  }
  text_ += opcode;
  const auto sources = std::count_if(std::begin(in.src), std::end(in.src),
                                     [](std::uint8_t r) { return r != kNoRegister; });
  AppendText(&text_, " %d", static_cast<int>(sources));
  for (const std::uint8_t source : in.src) {
    if (source != kNoRegister) AppendText(&text_, " R%u", static_cast<unsigned>(source));
  }
}

void TraceWarpWriter::GlobalAccess(const Instruction& in) {
  AskedLines asked;
  asked.count = program_.Lines(in, id_, cursor_, asked.line, asked.sectors);
  TraceInstruction access;
  SetExportLanes(asked, program_.Lanes(in, id_, cursor_), kExportMemoryBase, threads_,
                 in.op == OpClass::kAtomicGlobal, &access);
  access.mask = LowLanes(access.lanes);
  Operands(in, access.mask, Opcode(in, access.width));
  Addresses(access);
}

// `conflicts` words of each bank, one after the other.
void TraceWarpWriter::SharedAccess(const Instruction& in) {
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

void TraceWarpWriter::Addresses(const TraceInstruction& access) {
  const auto delta = [&](unsigned i) {
    return static_cast<std::int64_t>(access.address[i] - access.address[i - 1]);
  };
  bool stride = true, near = true;
  for (unsigned i = 1; i < access.lanes; ++i) {
    stride = stride && delta(i) == delta(1);
    near = near && delta(i) > -10'000'000 && delta(i) < 10'000'000;
  }
  AppendText(&text_, " %u ", access.width);
  if (stride && access.lanes > 1) {
    AppendText(&text_, "1 0x%" PRIx64 " %" PRId64, access.address[0], delta(1));
  } else if (near) {
    AppendText(&text_, "2 0x%" PRIx64, access.address[0]);
    for (unsigned i = 1; i < access.lanes; ++i) AppendText(&text_, " %" PRId64, delta(i));
  } else {
    text_ += "0";
    for (unsigned i = 0; i < access.lanes; ++i)
      AppendText(&text_, " 0x%" PRIx64, access.address[i]);
  }
  text_ += " 0 \n";
}

}  // namespace smk
