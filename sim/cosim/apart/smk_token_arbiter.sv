// SPDX-License-Identifier: Apache-2.0
// smk_token_arbiter: a shell in the place of the token arbiter in sim_driver, for simulation only.
//
// Purpose     Says what sim_driver writes into it, which a model of the block itself has said.
// Never busy: the owner of that model knows whether it is.
`include "sim_apart.svh"

// verilator tracing_off
// verilator coverage_off
module smk_token_arbiter (
  input  logic                                 clk_i,
  input  logic                                 rst_ni,
  input  logic                                 enable_i,
  input  logic [smk_pkg::TokenWindowWidth-1:0] window_i,
  input  smk_pkg::token_quota_t                quota_i,
  input  smk_pkg::token_share_vec_t            request_i,
  input  smk_pkg::token_share_vec_t            limit_i,
  input  smk_pkg::kernel_mask_t                demand_i,
  input  smk_pkg::kernel_mask_t                resident_i,
  output logic                                 assign_o,
  output smk_pkg::token_t                      token_o,
  output logic                                 busy_o
);
  sim_arbiter_hears_t hears;
  sim_arbiter_says_t  says;
  assign hears    = {enable_i, window_i, quota_i, request_i, limit_i, demand_i, resident_i};
  assign assign_o = says.assigns;
  assign token_o  = says.token;
  assign busy_o   = 1'b0;
endmodule
