// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_profile_counters, from its ports alone.
`include "formal.svh"

module formal_profile_counters (
  input logic                              clk_i,
  input logic [smk_pkg::NumSchedulers-1:0] grant_valid_i,
  input smk_pkg::grant_kernels_t           grant_kernel_i,
  input logic                              tick_i
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;

  `FORMAL_RESET
  smk_pkg::issued_vec_t issued;
  smk_profile_counters u_dut (
    .clk_i, .rst_ni, .grant_valid_i, .grant_kernel_i, .tick_i, .issued_o(issued)
  );
  // A full counter: four upper bits of ones and both lower ones.
  localparam int unsigned Full = (1 << smk_pkg::IssuedWidth) - (1 << (smk_pkg::IssuedWidth-4)) + 3;

  // Grants of the window, counted without saturation.
  logic [NumKernels-1:0] exact;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_count
    logic [smk_pkg::IssuedWidth+1:0] now, count_q;
    logic [7:0]                      grants;
    always_comb begin
      grants = '0;
      for (int unsigned s = 0; s < smk_pkg::NumSchedulers; s++) begin
        if (grant_valid_i[s] && grant_kernel_i.scheduler[s] == smk_pkg::KernelWidth'(k)) begin
          grants = grants + 8'd1;
        end
      end
      now = (tick_i ? '0 : count_q) + grants;
    end
    // Counted up to twice what the block can count: more is the same to it.
    always_ff @(posedge clk_i) begin
      if (!rst_ni)                                count_q <= '0;
      else if (!now[smk_pkg::IssuedWidth+1])      count_q <= now;
    end
    assign exact[k] = issued.kernel[k] == (count_q >= Full ? Full : count_q);
  end
  // The grants of each kernel since the last tick, at most as many as a full counter holds.
  `PROVE(WindowIsExact_A, exact == '1)

  (* keep *) logic idle;
  assign idle = rst_ni && !tick_i && grant_valid_i == '0;
endmodule
