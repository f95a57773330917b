// SPDX-License-Identifier: Apache-2.0
// smk_sm_usage: a shell in the place of what the TBs of an SM take, in sim_driver, for simulation only.
//
// Purpose     Says what sim_driver writes into it, which a model of the block itself has said.
`include "sim_apart.svh"

// verilator tracing_off
// verilator coverage_off
module smk_sm_usage (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  smk_pkg::need_vec_t        need_i,
  input  logic                      arrive_valid_i,
  input  smk_pkg::kernel_mask_t     arrive_kernel_i,
  input  smk_pkg::tb_need_t         arrive_need_i,
  input  logic                      leave_valid_i,
  input  smk_pkg::kernel_id_t       leave_kernel_i,
  output smk_pkg::tb_cnt_vec_t      resident_o,
  output smk_pkg::kernel_mask_t     some_o,
  output smk_pkg::resource_vector_t taken_o,
  output smk_pkg::share_t           share_o,
  input  smk_pkg::kernel_id_t       exclude_i,
  output smk_pkg::share_t           others_share_o
);
  sim_usage_hears_t hears;
  sim_usage_says_t  says;
  always_comb begin
    hears = '0;
    if (arrive_valid_i) {hears.arrives, hears.arrive_kernel, hears.arrive_need} = {1'b1, arrive_kernel_i, arrive_need_i};
    if (leave_valid_i) {hears.leaves, hears.leave_kernel} = {1'b1, leave_kernel_i};
  end
  assign resident_o     = says.resident;
  assign some_o         = says.some;
  assign taken_o        = says.taken;
  assign share_o        = says.shares[smk_pkg::NumKernels];
  assign others_share_o = 32'(exclude_i) < smk_pkg::NumKernels ? says.shares[exclude_i] : '0;
endmodule
