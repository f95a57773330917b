// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_sample_counters, from its ports alone.
`include "formal.svh"

module formal_sample_counters (
  input logic                              clk_i,
  input logic [smk_pkg::NumSchedulers-1:0] grant_valid_i,
  input smk_pkg::grant_kernels_t           grant_kernel_i,
  input logic [smk_pkg::NumSchedulers-1:0] memory_i,
  input smk_pkg::kernel_id_t               kernel_i,
  input logic                              window_i
);
  `FORMAL_RESET
  localparam int unsigned SampleWidth = 5;
  localparam int unsigned Full        = (1 << SampleWidth) - 8;
  logic [SampleWidth-1:0] issued, stalled;
  smk_sample_counters #(
    .SampleWidth(SampleWidth)
  ) u_dut (
    .clk_i, .rst_ni, .grant_valid_i, .grant_kernel_i, .memory_i, .kernel_i, .window_i,
    .issued_o (issued),
    .stalled_o(stalled)
  );

  // What the window has, one cycle late, up to where the block stops.
  logic                   was_q, was2_q;
  logic [SampleWidth-1:0] issued_now, stalled_now, issued_q, stalled_q, issued_past_q, stalled_past_q;
  always_comb begin
    issued_now  = (window_i && !was_q) ? '0 : issued_q;
    stalled_now = (window_i && !was_q) ? '0 : stalled_q;
    if (window_i && 32'(issued_now) < Full) begin
      for (int unsigned s = 0; s < smk_pkg::NumSchedulers; s++) begin
        if (grant_valid_i[s] && grant_kernel_i.scheduler[s] == kernel_i) issued_now = issued_now + 1'b1;
      end
    end
    if (window_i && 32'(stalled_now) < Full) begin
      for (int unsigned s = 0; s < smk_pkg::NumSchedulers; s++) begin
        if (!grant_valid_i[s] && memory_i[s]) stalled_now = stalled_now + 1'b1;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    was_q          <= rst_ni && window_i;
    was2_q         <= rst_ni && was_q;
    issued_q       <= rst_ni ? issued_now : '0;
    stalled_q      <= rst_ni ? stalled_now : '0;
    issued_past_q  <= rst_ni ? issued_q : '0;
    stalled_past_q <= rst_ni ? stalled_q : '0;
  end
  // Grants of the kernel in the window, and the stalls of memory, up to what a counter holds.
  `PROVE(IssuedIsExact_A, issued == issued_past_q)
  `PROVE(StallsAreExact_A, stalled == stalled_past_q)

  // Two cycles after a window.
  (* keep *) logic idle;
  assign idle = rst_ni && !window_i && !was_q && !was2_q;
endmodule
