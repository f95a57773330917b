// SPDX-License-Identifier: Apache-2.0
// One simulation under SystemC: the GPU's thread and its memory.
#include "machine/run.h"

#include <chrono>
#include <exception>
#include <memory>
#include <systemc>
#include <vector>

#include "machine/gpu.h"
#include "machine/simulation_context.h"
#include "memory/memory_models.h"
#include "memory/memory_transaction.h"

namespace smk {

const std::array<const char*, kNumStalls> kStallNames = {"issued",      "pipeline",   "control",
                                                         "data_memory", "data_short", "barrier",
                                                         "quota",       "preemption", "empty"};

namespace {

// The GPU as a SystemC module. Its one thread runs ahead of SystemC's time by a quantum (temporal
// decoupling): the memory answers with annotated times, so nobody has to wait.
class GpuModule : public sc_core::sc_module {
 public:
  static constexpr Cycle kQuantum = 16384;

  GpuModule(const sc_core::sc_module_name& name, const RunRequest& request, ControlPlane& control,
            MemoryPort& memory, HostPort& host)
      : sc_module(name), request_(request), gpu_(request, control, memory, host) {
    SC_HAS_PROCESS(GpuModule);
    SC_THREAD(Run);
  }

  // The exception that ended the run, if any: SystemC's kernel would not let it pass unchanged.
  std::exception_ptr failure() const { return failure_; }
  Gpu& gpu() { return gpu_; }

 private:
  void Run() {
    try {
      while (gpu_.now() < request_.cycles && !gpu_.finished()) {
        const Cycle start = gpu_.now();
        gpu_.Advance(std::min(request_.cycles, start + kQuantum));
        if (request_.progress) request_.progress(gpu_.now());
        wait(CoreCycles(gpu_.now() - start));
      }
    } catch (const std::exception&) {
      failure_ = std::current_exception();
    }
  }

  const RunRequest& request_;
  Gpu gpu_;
  std::exception_ptr failure_;
};

}  // namespace

RunResult RunMachine(const RunRequest& request, ControlPlane& control, HostPort& host) {
  const auto begin = std::chrono::steady_clock::now();
  const SimulationContext context;
  const std::unique_ptr<MemoryPort> memory = MakeMemory(request.machine);
  GpuModule gpu("gpu", request, control, *memory, host);
  sc_core::sc_start();
  BackOnThreadStack();
  if (gpu.failure()) std::rethrow_exception(gpu.failure());
  RunResult result = gpu.gpu().Finish();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  result.wall_seconds = wall.count();
  return result;
}

}  // namespace smk
