// SPDX-License-Identifier: Apache-2.0
// smk_partition_planner: a shell in the place of the partition planner in sim_driver, for simulation only.
//
// Purpose     Says what sim_driver writes into it, which a model of the block itself has said.
`include "sim_apart.svh"

// verilator tracing_off
// verilator coverage_off
module smk_partition_planner (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic                    start_i,
  input  smk_pkg::kernel_mask_t   kernels_i,
  input  smk_pkg::sm_id_t         sm_i,
  input  smk_pkg::kernel_mask_t   apart_i,
  input  smk_pkg::dispatch_mode_e mode_i,
  input  smk_pkg::tb_cnt_vec_t    table_tbs_i,
  input  logic                    last_at_end_i,
  input  smk_pkg::need_vec_t      need_i,
  input  smk_pkg::share_vec_t     tb_share_i,
  input  smk_pkg::order_vec_t     order_i,
  output logic                    busy_o,
  output logic                    done_o,
  output smk_pkg::kernel_mask_t   kernels_o,
  output logic                    anywhere_o,
  output smk_pkg::range_vec_t     range_o
);
  sim_planner_hears_t hears;
  sim_planner_says_t  says;
  always_comb begin
    hears = '0;
    if (start_i || says.busy) begin
      hears = {start_i, kernels_i, sm_i, apart_i, mode_i, table_tbs_i, last_at_end_i, need_i, tb_share_i,
               order_i};
    end
  end
  assign {busy_o, done_o, kernels_o, anywhere_o, range_o} = says;
endmodule
