// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes are, reading them as a trace either works or throws an InputError of one line.
// Shared by the test with random mutations and by the libFuzzer target.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/error.h"
#include "trace/builder.h"
#include "trace/index.h"
#include "workload/program_code.h"

namespace smk {

// Records of TBs in memory.
class MemoryRecords : public TraceRecords {
 public:
  std::uint64_t Add(const std::vector<std::uint8_t>& record) {
    records_.push_back(record);
    return records_.size() - 1;
  }
  const TraceByte* Warp(std::uint32_t tb, unsigned warp) const override {
    const std::vector<std::uint8_t>& record = records_.at(tb);
    return record.data() + ReadTrace<std::uint32_t>(record.data() + 4 * std::size_t{warp});
  }

 private:
  std::vector<std::vector<std::uint8_t>> records_;
};

// The machine's parts of a program.
inline ProgramParts PartsOf(const TraceKernel& kernel) {
  ProgramParts parts;
  parts.nodes = kernel.nodes;
  parts.after = kernel.after;
  parts.code = kernel.code;
  parts.control.resize(3);
  parts.control[0].kind = ControlOp::Kind::kTraceStart;
  parts.control[1].kind = ControlOp::Kind::kTraceNext;
  parts.control[2].kind = ControlOp::Kind::kTraceAccess;
  parts.accesses.emplace_back();
  parts.accesses[0].pattern = Access::Pattern::kTrace;
  return parts;
}

// Instructions of all warps, walked as the machine walks them.
inline std::uint64_t WalkAll(const TraceKernel& kernel, std::shared_ptr<MemoryRecords> records) {
  const Program program(PartsOf(kernel), std::move(records));
  std::uint64_t steps = 0;
  for (std::uint32_t tb = 0; tb < kernel.tbs; ++tb) {
    for (unsigned warp = 0; warp < kernel.header.warps(); ++warp) {
      WarpIdentity id;
      id.trace = program.Record(tb, warp);
      WarpCursor cursor;
      program.Start(id, &cursor);
      for (++steps; program.At(cursor).op != OpClass::kExit; ++steps) {
        const Instruction& in = program.At(cursor);
        std::uint64_t lines[kMaxLines];
        if (in.op >= OpClass::kLoadGlobal && in.op <= OpClass::kAtomicGlobal &&
            (program.Lines(in, id, cursor, lines) == 0 || lines[0] >> kTraceMemoryBits != 0)) {
          std::abort();
        }
        program.Advance(id, &cursor);
      }
    }
  }
  return steps;
}

// Reads the bytes; aborts when what was read is not consistent. Gives the number of instructions, 0
// when the trace was refused.
inline std::uint64_t ReadHostileTrace(const std::string& bytes, bool xz) {
  try {
    TraceLines lines("fuzz.traceg", BytesOf(bytes, xz));
    TraceParser parser(&lines);
    auto records = std::make_shared<MemoryRecords>();
    TraceBuilder builder(&parser, [&](const auto& record) { records->Add(record); });
    const TraceKernel kernel = builder.Build();
    const std::uint64_t steps = WalkAll(kernel, records);
    if (steps != kernel.counts.warp_instructions) std::abort();
    std::vector<TraceKernel> again;
    const std::vector<std::uint8_t> index = EncodeTraceIndex({kernel});
    if (!DecodeTraceIndex(index.data(), index.size(), &again)) std::abort();
    return steps;
  } catch (const InputError& error) {
    const std::string message = error.what();
    if (message.rfind("fuzz.traceg:", 0) != 0) std::abort();
    if (message.find('\n') != std::string::npos) std::abort();
    return 0;
  }
}

// Bytes as the index of a cache file whose checksum happens to fit.
inline void ReadHostileIndex(const std::string& bytes) {
  std::vector<TraceKernel> kernels;
  DecodeTraceIndex(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), &kernels);
}

// Small traces of several generations, versions and address modes.
inline std::vector<std::string> TraceSeeds() {
  const std::string pascal =
      "-kernel name = _Z4seedPf\n-kernel id = 1\n-grid dim = (2,1,1)\n-block dim = (40,1,1)\n"
      "-shmem = 256\n-nregs = 16\n-binary version = 61\n-cuda stream id = 0\n"
      "-shmem base_addr = 0x00007f2000000000\n-local mem base_addr = 0x00007f2001000000\n"
      "-nvbit version = 1.5.5\n-accelsim tracer version = 5\n-enable lineinfo = 0\n\n#traces\n";
  const std::string tb =
      "\n#BEGIN_TB\n\nthread block = 0,0,0\n\nwarp = 0\ninsts = 9\n0008 ffffffff 1 R0 S2R 0 0 0 \n"
      "0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x7f3000000000 4 0 \n"
      "0018 ffffffff 0 STS.128 2 R0 R4 16 1 0x0 16 0 \n0028 ffffffff 0 BAR.SYNC 0 0 0 \n"
      "0030 ffffffff 1 R5 LD.E 1 R255 4 1 0x7f2001000040 0 0 \n"
      "0038 ffffffff 1 R6 IMAD 3 R4 R5 R5 0 0 \n0010 0000f000 1 R4 LDG.E 1 R2 4 1 0x7f3 -4 0 \n"
      "0018 ffffffff 0 STL 1 R4 4 1 0xfffc50 0 0 \n0048 ffffffff 0 EXIT 0 0 0 \n\nwarp = 1\n"
      "insts = 4\n0008 00000005 1 R6 LDG.E.64 1 R2 8 2 0x7f3000000100 4096 0 \n"
      "0010 0000000a 0 RED.E.ADD 2 R2 R6 4 0 0x00007f3000000200 0x00007f3000002210 0 \n"
      "0018 00000000 1 R5 LDG.E.64 1 R2 8 2 0x0 0 \n0050 000000ff 0 EXIT 0 0 0 \n\n#END_TB\n";
  const std::string ampere =
      "-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n-nregs = 24\n-binary version = 80\n"
      "-accelsim tracer version = 4\n-enable lineinfo = 1\n#BEGIN_TB\nthread block = 0,0,0\n"
      "warp = 0\ninsts = 5\n17 0000 ffffffff 1 R1 ULDC.64 0 0 \n"
      "18 0010 ffffffff 1 R8 HMMA.16816.F32 4 R1 R2 R3 R4 0 \n"
      "18 0020 ffffffff 0 LDGSTS.E.128 2 R1 R2 16 1 0x7f0000000000 16 \n"
      "19 0030 00000000 0 EXIT 0 0 \n20 0040 ffffffff 0 EXIT 0 0 \n#END_TB\n";
  const std::string kepler =
      "-grid dim = (1,1,1)\n-block dim = (8,4,1)\n-shmem = 0\n-nregs = 24\n-binary version = 35\n"
      "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 3\n"
      "0 0 0 0 0008 ffffffff 1 R4 LD.E 1 R2 4 1 0x7f3000000000 4 \n"
      "0 0 0 0 0010 ffffffff 1 R4 FROB 1 R2 4 1 0x7f3000000000 4 \n"
      "0 0 0 0 0018 ffffffff 0 EXIT 0 0 \n#END_TB\n";
  return {pascal + tb + tb, ampere, kepler};
}

}  // namespace smk
