// SPDX-License-Identifier: Apache-2.0
// One verilated model of the co-simulation: construction, reset and edges.
#pragma once

#include <verilated.h>

#include <memory>
#include <string>

namespace smk {

// Owns a model whose clock and reset are clk_i and rst_ni.
//
// A cycle of a plain block:       inputs -> Settle() -> read wires -> Edge() -> read registers
// A block of which only registers are read, and which nothing reaches later in the cycle:
//                                 inputs -> CycleOrSettle(); for waveforms then LateEdge()
// A block behind input registers: inputs -> Cycle()  -> read wires; its own edge is outstanding
template <typename Model>
class VerilatedUnit {
 public:
  // `scope`: names from the top, separated by blanks.
  VerilatedUnit(VerilatedContext* context, const std::string& scope)
      : model_(std::make_unique<Model>(context, scope.c_str())) {}
  ~VerilatedUnit() {
    if (model_) model_->final();
  }
  VerilatedUnit(VerilatedUnit&&) noexcept = default;

  Model* operator->() { return model_.get(); }
  const Model* operator->() const { return model_.get(); }

  // Verilator sees no falling edge in a reset that starts low: 1, 0, 1. Inputs are driven before.
  void Reset() {
    model_->rst_ni = 1;
    Settle();
    model_->rst_ni = 0;
    for (int edge = 0; edge < 2; ++edge) {
      Edge();
      Settle();
    }
    model_->rst_ni = 1;
    Settle();
  }
  void Settle() {
    if (!high_) model_->clk_i = 0;
    model_->eval();
  }
  void Fall() {
    model_->clk_i = 0;
    model_->eval();
  }
  void Edge() {
    model_->clk_i = 1;
    model_->eval();
  }
  void Cycle() {
    Fall();
    Edge();
  }
  void CycleOrSettle() {
    Settle();
    if (!high_) Edge();
  }
  void LateEdge() {
    if (high_) Edge();
  }

  // For waveforms: wires settle in the first half of a cycle, while the clock is high; Fall() ends
  // it.
  void SettleWhileHigh() { high_ = true; }

 private:
  std::unique_ptr<Model> model_;
  bool high_ = false;
};

}  // namespace smk
