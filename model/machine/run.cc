// SPDX-License-Identifier: Apache-2.0
// One simulation under SystemC: the GPU's thread, and its sockets into the memory system.
#include "machine/run.h"

#include <tlm_utils/simple_initiator_socket.h>

#include <chrono>
#include <exception>
#include <memory>
#include <systemc>
#include <vector>

#include "machine/gpu.h"
#include "machine/memory_system.h"
#include "machine/simulation_context.h"

namespace smk {

const std::array<const char*, kNumStalls> kStallNames = {"issued",      "pipeline",   "control",
                                                         "data_memory", "data_short", "barrier",
                                                         "quota",       "preemption", "empty"};

namespace {

// The GPU as a SystemC module. Its one thread runs ahead of SystemC's time by a quantum (temporal
// decoupling): the memory system answers with annotated times, so nobody has to wait.
class GpuModule : public sc_core::sc_module, public MemoryPort {
 public:
  static constexpr Cycle kQuantum = 16384;

  GpuModule(const sc_core::sc_module_name& name, const RunRequest& request, ControlPlane& control,
            MemorySystem& memory)
      : sc_module(name), request_(request), gpu_(request, control, *this) {
    for (unsigned i = 0; i < request.machine.sms; ++i) {
      const std::string socket_name = "sm_socket_" + std::to_string(i);
      sockets_.push_back(std::make_unique<Socket>(socket_name.c_str()));
      sockets_.back()->bind(memory.sm_socket(SmId{static_cast<std::uint8_t>(i)}));
    }
    SC_HAS_PROCESS(GpuModule);
    SC_THREAD(Run);
  }

  Cycle Access(SmId sm, KernelId kernel, MemoryAccess access, std::uint64_t address,
               Cycle now) override {
    const bool store = access == MemoryAccess::kStore || access == MemoryAccess::kContextStore;
    const bool context =
        access == MemoryAccess::kContextStore || access == MemoryAccess::kContextLoad;
    if (store) {
      transaction_.SetWrite(address);
    } else {
      transaction_.SetRead(address);
    }
    MemoryExtension& extension = transaction_.extension();
    extension.kernel = kernel;
    extension.sm = sm;
    extension.kind = context ? MemoryKind::kContext : MemoryKind::kDemand;
    extension.atomic = access == MemoryAccess::kAtomic;
    sc_core::sc_time delay = CoreCycles(now - quantum_start_);
    (*sockets_[Index(sm)])->b_transport(transaction_.payload(), delay);
    if (transaction_.payload().is_response_error()) {
      RunChecks::Fail(now, Index(sm),
                      "memory refused a request: " + transaction_.payload().get_response_string());
    }
    return std::max(quantum_start_ + ToCycles(delay), now + 1);
  }

  // The exception that ended the run, if any: SystemC's kernel would not let it pass unchanged.
  std::exception_ptr failure() const { return failure_; }
  Gpu& gpu() { return gpu_; }

 private:
  using Socket = tlm_utils::simple_initiator_socket<GpuModule>;

  void Run() {
    try {
      while (gpu_.now() < request_.cycles) {
        quantum_start_ = gpu_.now();
        gpu_.Advance(std::min(request_.cycles, quantum_start_ + kQuantum));
        if (request_.progress) request_.progress(gpu_.now());
        wait(CoreCycles(gpu_.now() - quantum_start_));
      }
    } catch (const std::exception&) {
      failure_ = std::current_exception();
    }
  }

  const RunRequest& request_;
  MemoryTransaction transaction_;
  std::vector<std::unique_ptr<Socket>> sockets_;
  Gpu gpu_;
  Cycle quantum_start_ = 0;  // SystemC's time, in cycles
  std::exception_ptr failure_;
};

void AddMemoryStats(const MemoryStats& memory, RunResult* result) {
  for (unsigned k = 0; k < result->kernels.size(); ++k) {
    KernelStats& stats = result->kernels[k];
    stats.l2_accesses = memory.l2_accesses[k];
    stats.l2_hits = memory.l2_hits[k];
    stats.dram_read_bytes = memory.dram_read_bytes[k];
    stats.dram_write_bytes = memory.dram_write_bytes[k];
  }
  result->dram_row_hits = memory.row_hits;
  result->dram_row_misses = memory.row_misses;
}

}  // namespace

RunResult RunSimulation(const RunRequest& request, std::unique_ptr<ControlPlane> control) {
  const auto begin = std::chrono::steady_clock::now();
  const SimulationContext context;
  MemorySystem memory("memory", request.machine);
  GpuModule gpu("gpu", request, *control, memory);
  sc_core::sc_start();
  if (gpu.failure()) std::rethrow_exception(gpu.failure());
  RunResult result = gpu.gpu().Finish();
  AddMemoryStats(memory.stats(), &result);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  result.wall_seconds = wall.count();
  return result;
}

}  // namespace smk
