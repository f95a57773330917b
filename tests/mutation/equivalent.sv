// SPDX-License-Identifier: Apache-2.0
// A block and its mutant beside each other (Yosys's miter `both`): all inputs but these are free.
module equivalent (
    input logic clk_i,
    input logic rst_ni
);
  logic different;
  logic reset_seen_q = 1'b0;

  both u_both (
      .in_clk_i (clk_i),
      .in_rst_ni(rst_ni),
      .trigger  (different)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) reset_seen_q <= 1'b1;
  end

  always_comb begin
    if (reset_seen_q && rst_ni) assert (!different);
  end
endmodule
