// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_waterfill_planner, for any samples, needs and orders: its plan fits and leaves nobody
// out, and it comes.
`include "formal.svh"
`include "formal_ranges.svh"

module formal_waterfill_planner (
  input logic                  clk_i,
  input logic                  sample_valid_i,
  input smk_pkg::kernel_id_t   sample_kernel_i,
  input smk_pkg::tb_cnt_t      sample_tbs_i,
  input logic [1:0]            sample_performance_i,
  input logic                  start_i,
  input smk_pkg::kernel_mask_t kernels_i,
  input smk_pkg::sm_id_t       sm_i,
  input logic [smk_pkg::KernelCntWidth+1:0] loss_limit_i,
  input smk_pkg::need_vec_t    need_i,
  input smk_pkg::order_vec_t   order_i
);
  `FORMAL_RESET
  localparam int unsigned NumKernels       = smk_pkg::NumKernels;
  localparam int unsigned PerformanceWidth = 2;

  // Any needs and order of arrival; constant.
  smk_pkg::need_vec_t  need_q;
  smk_pkg::order_vec_t order_q;
  always_ff @(posedge clk_i) if (!rst_ni) {need_q, order_q} <= {need_i, order_i};

  logic                  busy, done, anywhere, spatial;
  smk_pkg::kernel_mask_t kernels;
  smk_pkg::range_vec_t   range;
  smk_waterfill_planner #(
    .PerformanceWidth(PerformanceWidth)
  ) u_dut (
    .clk_i, .rst_ni, .sample_valid_i, .sample_kernel_i, .sample_tbs_i, .sample_performance_i,
    .start_i, .kernels_i, .sm_i, .loss_limit_i,
    .need_i    (need_q),
    .order_i   (order_q),
    .busy_o    (busy),
    .done_o    (done),
    .kernels_o (kernels),
    .anywhere_o(anywhere),
    .range_o   (range),
    .spatial_o (spatial)
  );
  `ASSUME(KernelsNotEmpty_M, !start_i || kernels_i != '0)

  // Inside, with the numbers of its steps.
  localparam logic [3:0] StIdle = 0, StBegin = 1, StAlone = 2, StAloneLook = 3, StFirst = 4, StScale = 5,
      StDivide = 6, StChoose = 7, StChosen = 8, StRise = 9, StMark = 10, StTry = 11, StTryLook = 12,
      StPlace = 13, StExtend = 14, StJudge = 15;
  `WATCH([3:0], step, u_dut.step_q)
  `WATCH([smk_pkg::NumKernels-1:0], todo, u_dut.todo_q)
  `WATCH([smk_pkg::NumKernels-1:0], full, u_dut.full_q)
  `WATCH([smk_pkg::NumKernels-1:0], at, u_dut.at_q)
  `WATCH([smk_pkg::NumKernels-1:0], chosen, u_dut.chosen_q)
  `WATCH([smk_pkg::KernelWidth-1:0], rank, u_dut.rank_q)
  `WATCH([smk_pkg::TbCntWidth-1:0], count, u_dut.count_q)
  `WATCH([1:0], lowest, u_dut.lowest_q)
  `WATCH([0:0], divided, u_dut.bit_q)
  `WATCH([smk_pkg::NumKernels*smk_pkg::TbCntWidth-1:0], dut_tbs, u_dut.tbs_q)
  `WATCH([smk_pkg::BasesWidth-1:0], dut_taken, u_dut.taken_q)
  `WATCH([smk_pkg::BasesWidth-1:0], dut_trial, u_dut.trial_q)
  smk_pkg::tb_cnt_vec_t      tbs;
  smk_pkg::resource_vector_t taken, trial;
  logic [7:0]                kernel;
  always_comb begin
    kernel = '0;
    for (int unsigned k = 0; k < NumKernels; k++) if (at[k]) kernel = 8'(k);
  end
  assign tbs   = dut_tbs;
  assign taken = dut_taken;
  assign trial = dut_trial;

  `include "waterfill_planner/plan.svh"
  `include "waterfill_planner/comes.svh"

  (* keep *) logic idle;
  assign idle = rst_ni && !start_i && !busy && !done && !sample_valid_i;
endmodule

// A range lies inside the SM.
module formal_range_inside (
  input  smk_pkg::partition_range_t range_i,
  output logic                      inside_o
);
  assign inside_o = 32'(range_i.registers_limit) <= smk_pkg::LimitRegisters &&
                    32'(range_i.shared_memory_limit) <= smk_pkg::LimitSharedMemory &&
                    32'(range_i.threads_limit) <= smk_pkg::LimitThreads &&
                    32'(range_i.tb_base) + 32'(range_i.tb_count) <= smk_pkg::LimitTbs;
endmodule
