// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_partition_planner: what partition_counters is proved with, from its ports alone; and
// the plan itself, with what it has planned so far.
`include "formal.svh"
`include "formal_ranges.svh"

module formal_partition_planner (
  input logic                    clk_i,
  input logic                    start_i,
  input smk_pkg::kernel_mask_t   kernels_i,
  input smk_pkg::sm_id_t         sm_i,
  input smk_pkg::kernel_mask_t   apart_i,
  input smk_pkg::dispatch_mode_e mode_i,
  input smk_pkg::tb_cnt_vec_t    table_tbs_i,
  input logic                    last_at_end_i,
  input smk_pkg::need_vec_t      need_i,
  input smk_pkg::share_vec_t     tb_share_i,
  input smk_pkg::order_vec_t     order_i
);
  `FORMAL_RESET
  // Any policy, needs and order of arrival; constant.
  smk_pkg::dispatch_mode_e mode_q;
  smk_pkg::tb_cnt_vec_t    table_tbs_q;
  logic                    last_at_end_q;
  smk_pkg::need_vec_t      need_q;
  smk_pkg::share_vec_t     tb_share_q;
  smk_pkg::order_vec_t     order_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      mode_q      <= mode_i;
      table_tbs_q <= table_tbs_i;
      last_at_end_q <= last_at_end_i;
      need_q      <= need_i;
      tb_share_q  <= tb_share_i;
      order_q     <= order_i;
    end
  end

  logic                  busy, done, anywhere;
  smk_pkg::kernel_mask_t kernels;
  smk_pkg::range_vec_t   range;
  smk_partition_planner u_dut (
    .clk_i, .rst_ni, .start_i, .kernels_i, .sm_i, .apart_i,
    .mode_i     (mode_q),
    .table_tbs_i(table_tbs_q),
    .last_at_end_i(last_at_end_q),
    .need_i     (need_q),
    .tb_share_i (tb_share_q),
    .order_i    (order_q),
    .busy_o     (busy),
    .done_o     (done),
    .kernels_o  (kernels),
    .anywhere_o (anywhere),
    .range_o    (range)
  );

  // A set of kernels that is not empty; TBs that have warps and fit an empty SM; each arrived in turn.
  smk_pkg::tb_need_t     need_0, need_1, need;
  smk_pkg::kernel_mask_t need_fits, order_differs;
  assign need_0 = need_q.kernel[0];
  assign need_1 = need_q.kernel[1];
  always_comb begin
    for (int unsigned k = 0; k < smk_pkg::NumKernels; k++) begin
      need = need_q.kernel[k];
      need_fits[k] = need.threads != '0 && 32'(need.threads) <= smk_pkg::LimitThreads &&
                     32'(need.registers) <= smk_pkg::LimitRegisters &&
                     32'(need.shared_memory) <= smk_pkg::LimitSharedMemory;
      order_differs[k] = 1'b1;
      for (int unsigned j = 0; j < k; j++) begin
        if (order_q.kernel[j] == order_q.kernel[k]) order_differs[k] = 1'b0;
      end
    end
  end
  `ASSUME(KernelsNotEmpty_M, !start_i || kernels_i != '0)
  `ASSUME(ApartOnehot_M, !start_i || (apart_i != '0 && (apart_i & (apart_i - smk_pkg::NumKernels'(1))) == '0))
  `ASSUME(NeedFits_M, need_fits == '1)
  `ASSUME(OrderDiffers_M, order_differs == '1)

  logic apart, fits_0, fits_1;
  formal_ranges_apart u_apart (
    .a_i(range.kernel[0]), .b_i(range.kernel[1]), .apart_o(apart)
  );
  formal_range_fits u_fits_0 (
    .range_i(range.kernel[0]), .need_i(need_0), .fits_o(fits_0)
  );
  formal_range_fits u_fits_1 (
    .range_i(range.kernel[1]), .need_i(need_1), .fits_o(fits_1)
  );
  // Ranges of different kernels never overlap.
  `PROVE(RangesApart_A, !done || kernels != '1 || apart)
  // They end inside the SM, and are as large as their TBs.
  `PROVE(RangesInsideSm_A, !done || ((!kernels[0] || fits_0) && (!kernels[1] || fits_1)))

  // A plan comes within as many cycles as TBs fit, and 2.
  localparam int unsigned PlanBound = smk_pkg::LimitTbs + 2;
  logic [$clog2(PlanBound+2)-1:0] since_q;
  logic                           waits_q;
  always_ff @(posedge clk_i) begin
    waits_q <= rst_ni && (start_i || (waits_q && !done));
    since_q <= (!rst_ni || start_i) ? '0 : since_q + (waits_q && since_q != '1);
  end
  `PROVE(PlanComes_A, !waits_q || done || 32'(since_q) < PlanBound)

  `include "partition_planner/greedy.svh"

  (* keep *) logic idle;
  assign idle = rst_ni && !start_i && !busy && !done;
endmodule
