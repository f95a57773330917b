// SPDX-License-Identifier: Apache-2.0
// smk_quota_calculator_checker: a command that is there is offered.
`include "smk_assert.svh"

module smk_quota_calculator_checker (
  input logic clk_i,
  input logic rst_ni,
  input logic command_valid_q,
  input logic command_valid_o
);
  // Whether or not the bus is free (S1).
  `SMK_ASSERT(CommandOffered_A, command_valid_o == command_valid_q)
endmodule

bind smk_quota_calculator smk_quota_calculator_checker u_checker (.*);
