// SPDX-License-Identifier: Apache-2.0
#include "workload/program_summary.h"

#include <algorithm>

#include "workload/program_code.h"
#include "workload/random.h"

namespace smk {

const std::array<const char*, kNumOpClasses> kOpClassNames{
    "alu",          "imul",          "sfu",        "dp",          "load_shared",
    "store_shared", "atomic_shared", "load_const", "load_global", "texture",
    "store_global", "atomic_global", "barrier",    "branch",      "exit"};

namespace {

constexpr unsigned kSamples = 512;

bool IsGlobal(OpClass op) { return op >= OpClass::kLoadGlobal && op <= OpClass::kAtomicGlobal; }
bool IsGlobalLoad(OpClass op) { return op == OpClass::kLoadGlobal || op == OpClass::kTexture; }
bool IsArithmetic(OpClass op) { return op <= OpClass::kDp; }

// Some warp of the launch, the same for the same number.
WarpIdentity SampleWarp(const KernelSpec& kernel, std::uint64_t number) {
  WarpIdentity id;
  id.tb_key = ScrambleBits(number * 2 + 1);
  id.key = ScrambleBits(id.tb_key + 1);
  id.tb = DrawBelow(static_cast<std::uint32_t>(id.key >> 32), kernel.tb_count());
  id.tb_x = static_cast<std::uint16_t>(id.tb % kernel.grid_x);
  id.tb_y = static_cast<std::uint16_t>(id.tb / kernel.grid_x % kernel.grid_y);
  id.tb_z = static_cast<std::uint16_t>(id.tb / kernel.grid_x / kernel.grid_y);
  const unsigned warps = (kernel.threads + kWarpThreads - 1) / kWarpThreads;
  id.warp = static_cast<std::uint16_t>(DrawBelow(static_cast<std::uint32_t>(id.key), warps));
  return id;
}

double MeanLines(const KernelSpec& kernel, unsigned node) {
  const Instruction& instruction = kernel.program->parts().nodes[node];
  const NodeInfo& info = kernel.program->parts().info[node];
  std::uint64_t lines[kMaxLines];
  unsigned total = 0;
  for (unsigned i = 0; i < kSamples; ++i) {
    const WarpIdentity id = SampleWarp(kernel, i);
    WarpCursor cursor;
    cursor.node = static_cast<std::uint16_t>(node);
    for (unsigned level = 0; level < info.depth; ++level) {
      const auto bits = static_cast<std::uint32_t>(ScrambleBits(id.key + level + 2));
      cursor.trip[level] = static_cast<std::uint16_t>(DrawBelow(bits, info.max_trips[level]));
    }
    total += kernel.program->Lines(instruction, id, cursor, lines);
  }
  return static_cast<double>(total) / kSamples;
}

// Mean distance in the text from results to their first use, weighted by executions.
class UseDistance {
 public:
  void Visit(const Instruction& in, double executions, unsigned at) {
    for (const std::uint8_t source : in.src) {
      if (source == kNoRegister || !writers_[source].pending) continue;
      Writer& writer = writers_[source];
      writer.pending = false;
      Sum& sum = writer.load ? loads_ : arithmetic_;
      const double weight = std::min(executions, writer.executions);
      sum.distance += weight * (at - writer.at);
      sum.weight += weight;
    }
    if (in.dst == kNoRegister) return;
    writers_[in.dst] = {at, executions, IsGlobalLoad(in.op),
                        IsGlobalLoad(in.op) || IsArithmetic(in.op)};
  }
  double loads() const { return loads_.Mean(); }
  double arithmetic() const { return arithmetic_.Mean(); }

 private:
  struct Writer {
    unsigned at = 0;
    double executions = 0;
    bool load = false;
    bool pending = false;
  };
  struct Sum {
    double distance = 0, weight = 0;
    double Mean() const { return weight == 0 ? 0 : distance / weight; }
  };
  std::array<Writer, 256> writers_{};
  Sum loads_, arithmetic_;
};

}  // namespace

ProgramSummary Summarise(const KernelSpec& kernel) {
  const ProgramParts& parts = kernel.program->parts();
  ProgramSummary summary;
  UseDistance distance;
  for (unsigned node = 0; node < parts.nodes.size(); ++node) {
    const Instruction& in = parts.nodes[node];
    const double executions = parts.info[node].executions;
    summary.warp_instructions += executions;
    summary.by_class[static_cast<unsigned>(in.op)] += executions;
    distance.Visit(in, executions, node);
    if (!IsGlobal(in.op)) continue;
    AccessSummary access{in.op, parts.access_names[in.access], parts.info[node].line, executions,
                         MeanLines(kernel, node)};
    summary.lines_per_warp += access.lines * executions;
    summary.accesses.push_back(std::move(access));
  }
  summary.load_use_distance = distance.loads();
  summary.alu_use_distance = distance.arithmetic();
  return summary;
}

}  // namespace smk
