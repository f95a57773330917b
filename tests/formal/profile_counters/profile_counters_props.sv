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
  logic                 report_valid;
  smk_pkg::issued_vec_t report_issued;
  smk_profile_counters u_dut (
    .clk_i, .rst_ni, .grant_valid_i, .grant_kernel_i, .tick_i,
    .report_valid_o (report_valid),
    .report_issued_o(report_issued)
  );

  // Grants of the window, counted without saturation.
  logic [NumKernels-1:0] exact;
  logic                  tick_q;
  always_ff @(posedge clk_i) tick_q <= rst_ni && tick_i;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_count
    logic [smk_pkg::IssuedWidth+1:0] now, count_q, window_q;
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
      if (tick_i) window_q <= count_q;
    end
    assign exact[k] = window_q >= (1 << smk_pkg::IssuedWidth) ? report_issued.kernel[k] == '1 :
                      window_q == report_issued.kernel[k];
  end
  // With every tick the grants of each kernel since the tick before are reported, at most the
  // largest number there is.
  `PROVE(WindowIsExact_A, report_valid == tick_q && (!report_valid || exact == '1))

  (* keep *) logic idle;
  assign idle = rst_ni && !tick_i && !tick_q && grant_valid_i == '0;
endmodule
