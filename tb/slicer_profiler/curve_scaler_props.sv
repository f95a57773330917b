// SPDX-License-Identifier: Apache-2.0
// Proof of smk_curve_scaler: its points are those of the formula, rounded down in two places.
`include "formal.svh"

module formal_curve_scaler (
  input logic             clk_i,
  input logic             start_i,
  input logic [2:0]       issued_i,
  input logic [2:0]       stalled_i,
  input logic [2:0]       cycles_i,
  input smk_pkg::tb_cnt_t tbs_i,
  input smk_pkg::tb_cnt_t most_i
);
  `FORMAL_RESET
  localparam int unsigned SampleWidth = 3;
  localparam int unsigned TbCntWidth  = smk_pkg::TbCntWidth;
  localparam int unsigned BaseWidth   = SampleWidth + TbCntWidth;

  // One point, of any operands that can be.
  logic [SampleWidth-1:0] issued_q, stalled_q, cycles_q;
  smk_pkg::tb_cnt_t       tbs_q, most_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) {issued_q, stalled_q, cycles_q, tbs_q, most_q} <= {issued_i, stalled_i, cycles_i, tbs_i, most_i};
  end
  `ASSUME(WithinTheWindow_M, cycles_q != '0 && 32'(issued_q) + 32'(stalled_q) <= 32'(cycles_q))
  `ASSUME(PointOfTheCurve_M, tbs_q != '0 && tbs_q <= most_q && 32'(most_q) <= smk_pkg::LimitTbs)

  logic                   done;
  logic [SampleWidth-1:0] performance;
  smk_curve_scaler #(
    .SampleWidth(SampleWidth)
  ) u_dut (
    .clk_i, .rst_ni, .start_i,
    .cancel_i     (1'b0),
    .issued_i     (issued_q),
    .stalled_i    (stalled_q),
    .cycles_i     (cycles_q),
    .tbs_i        (tbs_q),
    .most_i       (most_q),
    .done_o       (done),
    .performance_o(performance)
  );

  // cycles x (m + 1) + stalls x (2 i - m - 1), as far to the left as the first of both goes.
  logic [BaseWidth-1:0] base;
  logic [BaseWidth:0]   gain;
  logic [15:0]          point;
  always_comb begin
    base = BaseWidth'(cycles_q) * (BaseWidth'(most_q) + 1'b1);
    gain = {1'b0, base} + (BaseWidth+1)'(stalled_q) * ((BaseWidth+1)'(tbs_q) + (BaseWidth+1)'(tbs_q)) -
           (BaseWidth+1)'(stalled_q) * ((BaseWidth+1)'(most_q) + 1'b1);
    for (int unsigned i = 0; i < BaseWidth; i++) begin
      if (!base[BaseWidth-1]) {base, gain} = {base[BaseWidth-2:0], 1'b0, gain[BaseWidth-1:0], 1'b0};
    end
    point = (16'(gain[BaseWidth -: SampleWidth+1]) * 16'(issued_q)) >> SampleWidth;
  end
  `PROVE(PointIsRight_A, !done || 16'(performance) == point)
endmodule
