// SPDX-License-Identifier: Apache-2.0
// Micro-benchmarks of the machine: small kernels, one SM, memory of a fixed latency.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/host.h"
#include "machine/control_config.h"
#include "machine/gpu.h"
#include "model/fixed_memory.h"
#include "model/simple_control.h"
#include "workload/program_code.h"
#include "workload/program_parts.h"

namespace smk {

// A kernel written instruction by instruction, with at most one loop.
class MicroKernel {
 public:
  enum Line { kSameLine, kNewLine };  // all executions touch one line, or each its own

  std::string name = "micro";
  unsigned threads = 32;
  unsigned registers = 16;
  unsigned shared_memory = 0;
  unsigned tbs = 1;
  Idempotence idempotence = Idempotence::kNo;

  void Op(OpClass op, int dst = -1, std::initializer_list<int> src = {}, unsigned conflicts = 1) {
    if (chain_open_) parts_.control.push_back(Control(ControlOp::Kind::kRun));
    chain_open_ = false;
    Instruction instruction;
    instruction.op = op;
    if (dst >= 0) instruction.dst = static_cast<std::uint8_t>(dst);
    unsigned n = 0;
    for (const int s : src) instruction.src[n++] = static_cast<std::uint8_t>(s);
    instruction.conflicts = static_cast<std::uint8_t>(conflicts);
    parts_.nodes.push_back(instruction);
    parts_.after.push_back(0);
  }
  void Membar() {
    Op(OpClass::kAlu);
    parts_.nodes.back().special = Special::kMembar;
  }
  void Load(int dst, std::initializer_list<int> src, Line line) {
    Op(OpClass::kLoadGlobal, dst, src);
    AddAccess(line);
  }
  void Store(std::initializer_list<int> src, Line line = kNewLine) {
    Op(OpClass::kStoreGlobal, -1, src);
    AddAccess(line);
    if (idempotence == Idempotence::kUntilStore) parts_.nodes.back().ends_idempotence = true;
  }
  // So often, or for each TB between this and `most` times.
  void Loop(unsigned trips, unsigned most = 0) {
    OpenChain();
    loop_ = parts_.control.size();
    TripSource source;
    source.low = static_cast<std::uint16_t>(trips);
    if (most > trips) {
      source.kind = TripSource::Kind::kUniform;
      source.per_tb = true;
      source.range = most - trips + 1;
    }
    parts_.trips.push_back(source);
    parts_.control.push_back(Control(ControlOp::Kind::kLoop));
  }
  void End() {
    OpenChain();
    ControlOp next = Control(ControlOp::Kind::kNextToRun);
    next.target = static_cast<std::uint16_t>(loop_ + 1);
    next.node = parts_.control[loop_ + 1].node;
    parts_.control.push_back(next);
    parts_.control[loop_].target = static_cast<std::uint16_t>(parts_.control.size());
  }
  // Warp 0 executes a barrier, the others none.
  void BarrierOfFirstWarpOnly() {
    OpenChain();
    Condition first_warp;
    first_warp.kind = Condition::Kind::kCompare;
    first_warp.variable = static_cast<std::uint8_t>(Variable::kWarp);
    parts_.conditions.push_back(first_warp);
    const std::size_t branch = parts_.control.size();
    parts_.control.push_back(Control(ControlOp::Kind::kIf));
    Op(OpClass::kBarrier);
    OpenChain();
    parts_.control[branch].target = static_cast<std::uint16_t>(parts_.control.size());
  }

  std::shared_ptr<const Workload> Build() const {
    MicroKernel whole = *this;
    whole.Op(OpClass::kExit);
    whole.parts_.num_registers = kMaxRegisters;
    KernelSpec spec;
    spec.name = name;
    spec.threads = threads;
    spec.registers_per_thread = registers;
    spec.shared_memory = shared_memory;
    spec.grid_x = tbs;
    spec.idempotence = idempotence;
    spec.need = TbNeed(threads, registers, shared_memory);
    spec.program = std::make_shared<const Program>(whole.parts_);
    auto workload = std::make_shared<Workload>();
    workload->name = name;
    workload->kernels.push_back(spec);
    workload->launches = {0};
    return workload;
  }

 private:
  // A control operation that continues with the instruction after it.
  ControlOp Control(ControlOp::Kind kind) const {
    ControlOp op;
    op.kind = kind;
    op.node = static_cast<std::uint16_t>(parts_.nodes.size());
    return op;
  }
  // What follows is executed after the last instruction (or at the start).
  void OpenChain() {
    if (chain_open_) return;
    parts_.after.back() = static_cast<std::uint16_t>(parts_.control.size());
    chain_open_ = true;
  }
  void AddAccess(Line line) {
    Access access;
    access.size = std::uint64_t{1} << 40;
    if (line == kNewLine) {
      access.offset.base = static_cast<std::int64_t>(kLineBytes * (parts_.accesses.size() + 1));
      access.offset.coefficient[static_cast<unsigned>(Variable::kLoop)] = 256 * kLineBytes;
      access.offset.coefficient[static_cast<unsigned>(Variable::kWarp)] = std::int64_t{1} << 31;
      access.offset.coefficient[static_cast<unsigned>(Variable::kTb)] = std::int64_t{1} << 36;
    }
    parts_.nodes.back().access = static_cast<std::uint16_t>(parts_.accesses.size());
    parts_.accesses.push_back(access);
  }

  ProgramParts parts_;
  bool chain_open_ = true;  // control operations since the last instruction
  std::size_t loop_ = 0;    // of the loop's kLoop in parts_.control
};

// One run of micro kernels. The machine is small and its latencies are round; tests change what
// they ask about.
class MicroRun {
 public:
  MicroRun() {
    MachineConfig& machine = request.machine;
    machine.sms = 1;
    SmConfig& sm = machine.sm;
    // A front end that never stands in the way; fetches that cross no line.
    sm.fetch_warps = 4;
    sm.fetch_width = 2;
    sm.fetch_line = 1024;
    sm.fetch_latency = 1;
    sm.branch_latency = 1;
    sm.l1.bytes = 16 * 1024;
    sm.l1.ways = 4;
    sm.l1.mshrs = 32;
    sm.l1.latency = 30;
    request.cycles = 20000;
  }

  SmConfig& sm() { return request.machine.sm; }
  ControlConfig Control() const { return ControlConfigOf(request.machine); }

  // Runs the kernels, each as a job of its own; without `control` under a SimpleControl, without
  // `scheduler` in order.
  RunResult Run(const std::vector<MicroKernel>& kernels, ControlPlane* control = nullptr,
                std::unique_ptr<HostScheduler> scheduler = nullptr) {
    request.jobs.clear();
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      request.jobs.push_back({kernels[i].Build(), i < arrivals.size() ? arrivals[i] : 0, repeat});
      if (i >= copies.size()) continue;
      request.jobs[i].copy_in = copies[i].first;
      request.jobs[i].copy_out = copies[i].second;
    }
    SimpleControl simple(Control());
    Host host(request, std::move(scheduler));
    Gpu gpu(request, control != nullptr ? *control : simple, memory, host);
    gpu.Advance(request.cycles);
    RunResult result = gpu.Finish();
    host.Finish(&result);
    return result;
  }

  RunRequest request;
  FixedMemory memory;
  bool repeat = true;
  std::vector<Cycle> arrivals;  // of the kernels; 0 for those that are not there
  // Bytes in and out of the kernels; none for those that are not there.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> copies;
};

// One TB with one warp that executes the instructions of `body` n times in a row.
template <typename Body>
Cycle Duration(MicroRun run, unsigned n, Body body) {
  MicroKernel kernel;
  for (unsigned i = 0; i < n; ++i) body(&kernel);
  run.repeat = false;
  run.request.record_tbs = true;
  run.request.cycles = 100000;
  const RunResult result = run.Run({kernel});
  EXPECT_EQ(result.kernels[0].tbs_completed, 1u);
  return result.tbs.at(0).end - result.tbs.at(0).start;
}

// Cycles that each further execution of `body` costs one warp.
template <typename Body>
double CyclesEach(const MicroRun& run, Body body, unsigned from = 10, unsigned to = 90) {
  return static_cast<double>(Duration(run, to, body) - Duration(run, from, body)) / (to - from);
}

}  // namespace smk
