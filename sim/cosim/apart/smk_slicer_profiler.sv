// SPDX-License-Identifier: Apache-2.0
// smk_slicer_profiler: a shell in the place of the profiler in sim_driver, for simulation only.
//
// Purpose     Says what sim_driver writes into it, which a model of the block itself has said.
// Never busy: the owner of that model knows whether it is.
`include "sim_apart.svh"

// verilator tracing_off
// verilator coverage_off
module smk_slicer_profiler #(
  parameter int unsigned SampleWidth = 16
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   start_i,
  input  smk_pkg::kernel_mask_t  kernels_i,
  input  logic                   stop_i,
  input  logic                   settled_i,
  input  smk_pkg::kernel_mask_t  able_i,
  input  logic [15:0]            warmup_i,
  input  logic [15:0]            settle_i,
  input  logic [15:0]            window_i,
  input  logic [15:0]            delay_i,
  input  logic [2:0]             change_i,
  input  logic [3:0]             sustain_i,
  input  smk_pkg::need_vec_t     need_i,
  output smk_pkg::sm_id_t        count_sm_o,
  input  logic [SampleWidth-1:0] issued_i,
  input  logic [SampleWidth-1:0] stalled_i,
  output logic                   window_o,
  output logic                   give_valid_o,
  output smk_pkg::sm_id_t        give_sm_o,
  output smk_pkg::kernel_id_t    give_kernel_o,
  output smk_pkg::tb_cnt_t       give_tbs_o,
  output logic                   sample_valid_o,
  output smk_pkg::kernel_id_t    sample_kernel_o,
  output smk_pkg::tb_cnt_t       sample_tbs_o,
  output logic [SampleWidth-1:0] sample_performance_o,
  output logic                   plan_o,
  output smk_pkg::kernel_mask_t  kernels_o,
  input  logic                   planned_i,
  output logic                   profiling_o,
  output logic                   busy_o,
  output logic                   priority_valid_o,
  output smk_pkg::kernel_id_t    priority_kernel_o
);
  sim_profiler_hears_t hears;
  sim_profiler_says_t  says;
  assign hears = {start_i, kernels_i, stop_i, settled_i, able_i, warmup_i, settle_i, window_i, delay_i, change_i,
                  sustain_i, need_i, issued_i, stalled_i, planned_i};
  assign {count_sm_o, window_o, give_valid_o, give_sm_o, give_kernel_o, give_tbs_o, sample_valid_o, sample_kernel_o,
          sample_tbs_o, sample_performance_o, plan_o, kernels_o, profiling_o} = says;
  assign busy_o            = 1'b0;
  // Nobody in the driver looks at these.
  assign priority_valid_o  = 1'b0;
  assign priority_kernel_o = '0;
endmodule
