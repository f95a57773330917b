// SPDX-License-Identifier: Apache-2.0
// record_top FILE SEED...: runs random scenarios, one per seed, in every mode by turns, on smk_top
// of configuration small, and writes what it was given and what it said: a line per clock edge,
// inputs and outputs as two hexadecimal numbers, the first port in the highest bits. four_state.py
// gives the same to the RTL in a simulator that knows X.
#include <Vsmall_cosim_top.h>
#include <Vsmall_cosim_top___024root.h>
#include <Vsmall_cosim_top_smk_pkg.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "chip/plane_rig.h"
#include "cosim/chip/top_model.h"
#include "cosim/configurations.h"
#include "cosim/scenarios.h"

namespace smk::plane {
namespace {

std::FILE* record = nullptr;

// The bits of a port, the highest first.
template <typename Port>
void Append(const Port& port, unsigned width, std::string* bits) {
  for (unsigned i = width; i-- > 0;) bits->push_back(GetBits(port, i, 1) != 0 ? '1' : '0');
}
std::string Hex(const std::string& bits) {
  std::string text;
  for (std::size_t end = bits.size(); end != 0;) {
    const std::size_t begin = end < 4 ? 0 : end - 4;
    unsigned digit = 0;
    for (std::size_t i = begin; i < end; ++i) digit = digit * 2 + (bits[i] == '1' ? 1 : 0);
    text.insert(text.begin(), "0123456789abcdef"[digit]);
    end = begin;
  }
  return text;
}

// smk_top, which writes a line before each of its edges: the wires are those of the cycle.
class RecordedTop : public Vsmall_cosim_top {
 public:
  RecordedTop(VerilatedContext* context, const char* name) : Vsmall_cosim_top(context, name) {}
  void eval() {
    if (clk_i != 0 && last_clk_ == 0) Write();
    last_clk_ = clk_i;
    Vsmall_cosim_top::eval();
  }

 private:
  void Write() const {
    std::string inputs, outputs;
#define SMK_INPUT(port, width) Append(port, width, &inputs);
#define SMK_OUTPUT(port, width) Append(port, width, &outputs);
#include <top_ports.inc>
#undef SMK_INPUT
#undef SMK_OUTPUT
    std::fprintf(record, "%s %s\n", Hex(inputs).c_str(), Hex(outputs).c_str());
  }
  CData last_clk_ = 0;
};

void Record(std::uint64_t seed) {
  const DispatchMode mode = kAllModes[seed % std::size(kAllModes)];
  ControlConfig config = Small();
  const Scenario scenario = RandomScenario(seed, mode, &config, 2);
  TopControl<RecordedTop, Vsmall_cosim_top_smk_pkg> plane(scenario.policy);
  Rig(scenario, &plane, nullptr).Run();
}

}  // namespace
}  // namespace smk::plane

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  smk::plane::record = std::fopen(argv[1], "w");
  if (smk::plane::record == nullptr) return 2;
  for (int i = 2; i < argc; ++i) smk::plane::Record(std::strtoull(argv[i], nullptr, 10));
  return std::fclose(smk::plane::record) == 0 ? 0 : 1;
}
