// SPDX-License-Identifier: Apache-2.0
// smk_sample_counters_checker: a window is counted whole, by a record of its own.
`include "smk_assert.svh"

module smk_sample_counters_checker #(
  parameter int unsigned SampleWidth = 16
) (
  input logic                              clk_i,
  input logic                              rst_ni,
  input logic [smk_pkg::NumSchedulers-1:0] grant_valid_i,
  input smk_pkg::grant_kernels_t           grant_kernel_i,
  input logic [smk_pkg::NumSchedulers-1:0] memory_i,
  input smk_pkg::kernel_id_t               kernel_i,
  input logic                              window_i,
  input logic [SampleWidth-1:0]            issued_o,
  input logic [SampleWidth-1:0]            stalled_o
);
  localparam int unsigned Full = (1 << SampleWidth) - 8;

  // Since a window began; two cycles late, as the counters are.
  logic        was_q;
  logic [31:0] issued, stalled, issued_q, stalled_q, issued_past_q, stalled_past_q, cycles, cycles_q,
               cycles_past_q;
  always_comb begin
    issued  = (window_i && !was_q) ? '0 : issued_q;
    stalled = (window_i && !was_q) ? '0 : stalled_q;
    cycles  = (window_i && !was_q) ? '0 : cycles_q;
    for (int unsigned s = 0; s < smk_pkg::NumSchedulers; s++) begin
      if (window_i && grant_valid_i[s] && grant_kernel_i.scheduler[s] == kernel_i) begin
        issued = issued + 1'b1;
      end
      if (window_i && !grant_valid_i[s] && memory_i[s]) stalled = stalled + 1'b1;
    end
    if (window_i) cycles = cycles + 1'b1;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {was_q, issued_q, stalled_q, cycles_q}          <= '0;
      {issued_past_q, stalled_past_q, cycles_past_q} <= '0;
    end else begin
      {was_q, issued_q, stalled_q, cycles_q}          <= {window_i, issued, stalled, cycles};
      {issued_past_q, stalled_past_q, cycles_past_q} <= {issued_q, stalled_q, cycles_q};
    end
  end
  // Conservation: every grant of the kernel and every stall of the window is counted, unless the
  // counter is full.
  `SMK_ASSERT(IssuedConserved_A, 32'(issued_o) == issued_past_q ||
              (32'(issued_o) >= Full && issued_past_q >= 32'(issued_o)))
  `SMK_ASSERT(StallsConserved_A, 32'(stalled_o) == stalled_past_q ||
              (32'(stalled_o) >= Full && stalled_past_q >= 32'(stalled_o)))
  // Both together are at most the scheduler cycles of the window.
  `SMK_ASSERT(WithinTheWindow_A, 32'(issued_o) + 32'(stalled_o) <=
              smk_pkg::NumSchedulers * cycles_past_q)
endmodule

bind smk_sample_counters smk_sample_counters_checker #(.SampleWidth(SampleWidth)) u_checker (.*);
