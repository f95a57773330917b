// SPDX-License-Identifier: Apache-2.0
// For proofs of smk_drf_tracker: what its ports say of one SM, and of one kernel's rK.
`ifndef SMK_FORMAL_RECORD_SVH
`define SMK_FORMAL_RECORD_SVH
`include "formal_sums.svh"

// What the TBs of an SM take, without each kernel and last of all: within the limits, and its
// dominant share of two cycles before.
module formal_sm_record (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  logic                     comes_i,
  input  smk_pkg::kernel_mask_t    come_kernel_i,
  input  smk_pkg::tb_need_t        come_need_i,
  input  smk_pkg::sm_event_t       event_i,
  // Of the cycle before.
  input  smk_pkg::need_vec_t       need_i,
  output logic                     within_o,
  output logic [(smk_pkg::NumKernels+1)*smk_pkg::ShareWidth-1:0] shares_o,
  // Kernels with TBs here; whose TB goes, and was not counted out before; who loses none after all.
  output smk_pkg::kernel_mask_t    some_o,
  output smk_pkg::kernel_mask_t    leaves_o,
  output logic                     uncounted_o,
  output logic                     settled_o
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  localparam int unsigned ShareWidth = smk_pkg::ShareWidth;
  logic goes;
  assign goes        = event_i.valid && (event_i.kind == smk_pkg::EventFinished ||
                       event_i.kind == smk_pkg::EventSaved ||
                       event_i.kind == smk_pkg::EventFlushed);
  assign leaves_o    = NumKernels'(goes) << event_i.kernel;
  assign uncounted_o = goes && !event_i.counted;
  assign settled_o   = event_i.valid && event_i.kind == smk_pkg::EventSettled;

  smk_pkg::kernel_mask_t come, too_many;
  logic [NumKernels:0]   comes, leaves, within;
  smk_pkg::tb_need_t     go_need;
  assign come    = come_kernel_i & {NumKernels{comes_i}};
  assign comes   = {comes_i, {NumKernels{comes_i}} & ~come_kernel_i};
  assign leaves  = {goes, {NumKernels{goes}} & ~leaves_o};
  assign go_need = need_i.kernel[event_i.kernel];
  for (genvar n = 0; n <= NumKernels; n++) begin : gen_sum
    smk_pkg::resource_vector_t sum;
    logic [ShareWidth-1:0]     share, share_q, share_late_q;
    formal_sum u_sum (
      .clk_i, .rst_ni, .comes_i(comes[n]), .come_need_i, .goes_i(leaves[n]), .go_need_i(go_need),
      .sum_o(sum)
    );
    formal_dominant u_dominant (.sum_i(sum), .share_o(share));
    formal_within_limits u_within (.sum_i(sum), .within_o(within[n]));
    always_ff @(posedge clk_i) begin
      share_q      <= rst_ni ? share : '0;
      share_late_q <= rst_ni ? share_q : '0;
    end
    assign shares_o[n*ShareWidth +: ShareWidth] = share_late_q;
  end

  for (genvar k = 0; k < NumKernels; k++) begin : gen_tbs
    smk_pkg::tb_cnt_t tbs_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) tbs_q <= '0;
      else tbs_q <= tbs_q + smk_pkg::TbCntWidth'(come[k]) - smk_pkg::TbCntWidth'(leaves_o[k]);
    end
    assign some_o[k]  = tbs_q != '0;
    assign too_many[k] = come[k] && !leaves_o[k] && 32'(tbs_q) >= smk_pkg::LimitTbs;
  end
  assign within_o = within == '1 && too_many == '0;
endmodule

module formal_within_limits (
  input  smk_pkg::resource_vector_t sum_i,
  output logic                      within_o
);
  assign within_o = 32'(sum_i.registers) <= smk_pkg::LimitRegisters &&
                    32'(sum_i.shared_memory) <= smk_pkg::LimitSharedMemory &&
                    32'(sum_i.threads) <= smk_pkg::LimitThreads &&
                    32'(sum_i.tbs) <= smk_pkg::LimitTbs;
endmodule

// What all SMs say of kernel Mine.
module formal_missed #(
  parameter int unsigned Mine = 0
) (
  input  smk_pkg::sm_events_t    events_i,
  input  smk_pkg::sm_mask_t      settled_i,
  input  smk_pkg::sm_kernel_id_t kernels_i,
  input  smk_pkg::sm_kernels_t   some_i,
  input  smk_pkg::sm_kernels_t   leaves_i,
  input  smk_pkg::sm_mask_t      uncounted_i,
  output smk_pkg::sm_mask_t      some_o,
  output smk_pkg::sm_mask_t      uncounted_o,
  output logic [smk_pkg::TotalShareWidth-1:0] missed_o
);
  smk_pkg::sm_event_t    event_here;
  smk_pkg::kernel_mask_t some_here, leaves_here;
  always_comb begin
    missed_o = '0;
    for (int unsigned s = 0; s < smk_pkg::NumSms; s++) begin
      event_here     = events_i.sm[s];
      some_here      = some_i.sm[s];
      leaves_here    = leaves_i.sm[s];
      some_o[s]      = some_here[Mine];
      uncounted_o[s] = uncounted_i[s] && leaves_here[Mine];
      if (settled_i[s] && 32'(kernels_i.sm[s]) == Mine) begin
        missed_o = missed_o + smk_pkg::TotalShareWidth'(event_here.shortfall);
      end
    end
  end
endmodule

// rK of kernel Mine: the share of one TB times its TBs that count, or the SMs on which it runs.
module formal_share #(
  parameter int unsigned Mine = 0
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  smk_pkg::dispatch_pulses_t      pulses_i,
  input  logic                           done_i,
  input  smk_pkg::share_t                tb_share_i,
  input  logic                           count_running_sms_i,
  // SMs with TBs of it; that lose one, not counted out before; TBs that the SMs did not find.
  input  smk_pkg::sm_mask_t              some_i,
  input  smk_pkg::sm_mask_t              uncounted_i,
  input  logic [smk_pkg::TotalShareWidth-1:0] missed_i,
  // Its TBs, and their share.
  output logic                           none_o,
  output logic [smk_pkg::TotalShareWidth-1:0] product_o,
  output logic [smk_pkg::TotalShareWidth-1:0] share_o
);
  localparam int unsigned TotalWidth = smk_pkg::TotalShareWidth;
  logic                  is_kernel, is_victim;
  logic [TotalWidth-1:0] running, uncounted, tbs_d, tbs_q, floor;
  assign is_kernel = 32'(pulses_i.kernel) == Mine;
  assign is_victim = 32'(pulses_i.victim) == Mine && pulses_i.preempt;
  always_comb begin
    {running, uncounted} = '0;
    for (int unsigned s = 0; s < smk_pkg::NumSms; s++) begin
      running   = running + TotalWidth'(some_i[s]);
      uncounted = uncounted + TotalWidth'(uncounted_i[s]);
    end
    tbs_d = tbs_q + missed_i - uncounted;
    if (is_kernel && pulses_i.dispatch && !pulses_i.dispatch_reserved) tbs_d = tbs_d + 1'b1;
    if (is_kernel && pulses_i.reserve) tbs_d = tbs_d + 1'b1;
    if (is_kernel && pulses_i.cancel) tbs_d = tbs_d - 1'b1;
    if (is_victim) tbs_d = tbs_d - TotalWidth'(pulses_i.victim_tbs);
    if (done_i) tbs_d = '0;
  end
  assign floor  = count_running_sms_i ? running * TotalWidth'(smk_pkg::ShareWhole) : '0;
  assign none_o = tbs_q == '0;

  // Of one to three cycles before.
  logic [TotalWidth-1:0] product_1_q, product_2_q, product_3_q, floor_1_q, floor_2_q, floor_3_q;
  always_ff @(posedge clk_i) begin
    tbs_q <= rst_ni ? tbs_d : '0;
    {product_1_q, floor_1_q} <= rst_ni ? {tbs_q * TotalWidth'(tb_share_i), floor} : '0;
    {product_2_q, floor_2_q} <= rst_ni ? {product_1_q, floor_1_q} : '0;
    {product_3_q, floor_3_q} <= rst_ni ? {product_2_q, floor_2_q} : '0;
  end
  assign product_o = product_3_q;
  assign share_o   = ($signed(product_3_q) > $signed(floor_3_q)) ? product_3_q : floor_3_q;
endmodule
`endif
