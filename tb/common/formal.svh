// SPDX-License-Identifier: Apache-2.0
// For proofs: reset in the first cycle, and what is proved (_A) and assumed (_M) in every cycle after.
`ifndef SMK_FORMAL_SVH
`define SMK_FORMAL_SVH

`define FORMAL_RESET \
  logic reset_q = 1'b1; \
  logic rst_ni; \
  always_ff @(posedge clk_i) reset_q <= 1'b0; \
  assign rst_ni = !reset_q;

`define PROVE(name, condition) always @* if (rst_ni) name : assert (condition);
`define ASSUME(name, condition) always @* if (rst_ni) name : assume (condition);

// A signal inside the block, for invariants that induction needs. prove.py connects it.
`define WATCH(width, name, signal) logic width name;

`endif
