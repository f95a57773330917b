// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_buffer_list, part of smk_preempted_queue, from its ports alone: which buffers are
// free is kept here.
`include "formal.svh"

module formal_buffer_list #(
  parameter  int unsigned Depth    = smk_pkg::PreemptedDepth,
  localparam int unsigned Width    = $clog2(Depth),
  localparam int unsigned CntWidth = $clog2(Depth + 1)
) (
  input logic             clk_i,
  input logic             take_i,
  input logic             put_first_valid_i,
  input logic [Width-1:0] put_first_i,
  input logic             put_second_valid_i,
  input logic [Width-1:0] put_second_i
);
  `FORMAL_RESET
  logic                some;
  logic [Width-1:0]    given;
  logic [CntWidth-1:0] count;
  smk_buffer_list u_dut (
    .clk_i, .rst_ni, .take_i, .put_first_valid_i, .put_first_i, .put_second_valid_i, .put_second_i,
    .some_o  (some),
    .buffer_o(given),
    .count_o (count)
  );

  // Free buffers.
  logic [Depth-1:0] free_q, gets, first, second;
  assign gets   = take_i ? Depth'(1) << given : '0;
  assign first  = put_first_valid_i ? Depth'(1) << put_first_i : '0;
  assign second = put_second_valid_i ? Depth'(1) << put_second_i : '0;
  always_ff @(posedge clk_i) free_q <= rst_ni ? (free_q & ~gets) | first | second : '1;
  logic [7:0] frees;
  always_comb begin
    frees = '0;
    for (int unsigned b = 0; b < Depth; b++) frees = frees + 8'(free_q[b]);
  end

  // As smk_buffer_list requires: a buffer comes back that was given away.
  `ASSUME(TakeFindsOne_M, !take_i || some)
  `ASSUME(PutWasTaken_M, ((first | second) & free_q) == '0 && (first & second) == '0)

  // Only a free buffer is given away: no two owners have the same.
  `PROVE(GivenWasFree_A, (gets & ~free_q) == '0)
  // None is lost, none invented.
  `PROVE(FreeAreCounted_A, 8'(count) == frees && some == (frees != '0))

  (* keep *) logic idle;
  assign idle = rst_ni && !take_i && !put_first_valid_i && !put_second_valid_i;
endmodule
