// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_down_counter, part of smk_kernel_table: it counts like one wide register.
`include "formal.svh"

module formal_down_counter #(
  localparam int unsigned Width       = smk_pkg::TbIdWidth,
  localparam int unsigned AmountWidth = 2
) (
  input logic                   clk_i,
  input logic                   load_i,
  input logic [Width-1:0]       value_i,
  input logic [AmountWidth-1:0] amount_i,
  input logic                   one_i
);
  `FORMAL_RESET
  logic [Width-1:0] count, one_count;
  logic             ends, one_ends;
  smk_down_counter #(.Width(Width), .AmountWidth(AmountWidth), .LowWidth(AmountWidth)) u_dut (
    .clk_i, .rst_ni, .load_i, .value_i, .amount_i,
    .count_o(count),
    .ends_o (ends)
  );
  // The one that counts by one, as kernel_table has it.
  smk_down_counter #(.Width(Width), .ResetValue({Width{1'b1}})) u_one (
    .clk_i, .rst_ni, .load_i, .value_i,
    .amount_i(one_i),
    .count_o (one_count),
    .ends_o  (one_ends)
  );

  logic [Width-1:0] count_q, one_count_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q     <= '0;
      one_count_q <= '1;
    end else begin
      count_q     <= load_i ? value_i : count_q - Width'(amount_i);
      one_count_q <= load_i ? value_i : one_count_q - Width'(one_i);
    end
  end
  // Nobody takes away more than there is, but for an amount of one, which wraps.
  `ASSUME(AmountIsThere_M, Width'(amount_i) <= count_q)

  // The parts together are the count.
  `PROVE(CountIsExact_A, count == count_q && one_count == one_count_q)
  // The end is said in the cycle in which the rest is taken away.
  `PROVE(EndIsExact_A, ends == (count_q == Width'(amount_i)))
  logic unused_ends;
  assign unused_ends = one_ends;
endmodule
