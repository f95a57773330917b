// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_slicer_profiler, for any times, needs and counts: a profile never waits for ever.
`include "formal.svh"

module formal_slicer_profiler (
  input logic                  clk_i,
  input logic                  start_i,
  input smk_pkg::kernel_mask_t kernels_i,
  input logic                  stop_i,
  input logic [15:0]           warmup_i,
  input logic [15:0]           settle_i,
  input logic [15:0]           window_i,
  input logic [15:0]           delay_i,
  input logic [2:0]            change_i,
  input logic [3:0]            sustain_i,
  input smk_pkg::need_vec_t    need_i,
  input logic [2:0]            issued_i,
  input logic [2:0]            stalled_i,
  input logic                  planned_i
);
  `FORMAL_RESET
  localparam int unsigned SampleWidth = 3;
  localparam int unsigned NumKernels  = smk_pkg::NumKernels;
  localparam int unsigned TbCntWidth  = smk_pkg::TbCntWidth;

  // Any needs; constant.
  smk_pkg::need_vec_t need_q;
  always_ff @(posedge clk_i) if (!rst_ni) need_q <= need_i;

  smk_pkg::sm_id_t        count_sm, give_sm;
  logic                   window, give_valid, sample_valid, plan, profiling, sharing, priority_valid;
  smk_pkg::kernel_id_t    give_kernel, sample_kernel, priority_kernel;
  smk_pkg::tb_cnt_t       give_tbs, sample_tbs;
  logic [SampleWidth-1:0] sample_performance;
  smk_pkg::kernel_mask_t  kernels;
  smk_slicer_profiler #(
    .SampleWidth(SampleWidth)
  ) u_dut (
    .clk_i, .rst_ni, .start_i, .kernels_i, .stop_i, .warmup_i, .settle_i, .window_i, .delay_i,
    .change_i, .sustain_i, .need_i(need_q), .issued_i, .stalled_i, .planned_i,
    .count_sm_o          (count_sm),
    .window_o            (window),
    .give_valid_o        (give_valid),
    .give_sm_o           (give_sm),
    .give_kernel_o       (give_kernel),
    .give_tbs_o          (give_tbs),
    .sample_valid_o      (sample_valid),
    .sample_kernel_o     (sample_kernel),
    .sample_tbs_o        (sample_tbs),
    .sample_performance_o(sample_performance),
    .plan_o              (plan),
    .kernels_o           (kernels),
    .profiling_o         (profiling),
    .sharing_o           (sharing),
    .priority_valid_o    (priority_valid),
    .priority_kernel_o   (priority_kernel)
  );

  // Inside, with the numbers of its steps.
  localparam logic [3:0] StIdle = 0, StAlone = 1, StAssign = 2, StSettle = 3, StWindow = 4, StDrain = 5,
      StRead = 6, StScale = 7, StDelay = 8, StPlan = 9, StTurns = 10;
  localparam logic [2:0] ScIdle = 0, ScBase = 1, ScPsi = 2, ScAdd = 3, ScShift = 4, ScRate = 5, ScDone = 6;
  `WATCH([3:0], step, u_dut.step_q)
  `WATCH([15:0], timer, u_dut.timer_q)
  `WATCH([smk_pkg::NumKernels-1:0], left, u_dut.left_q)
  `WATCH([smk_pkg::NumKernels-1:0], left_was, u_dut.left_was_q)
  `WATCH([smk_pkg::NumKernels-1:0], fits, u_dut.fits_q)
  `WATCH([smk_pkg::NumKernels-1:0], at, u_dut.at_q)
  `WATCH([smk_pkg::TbCntWidth-1:0], tbs, u_dut.tbs_q)
  `WATCH([smk_pkg::TbCntWidth-1:0], tbs_was, u_dut.tbs_was_q)
  `WATCH([smk_pkg::NumKernels*smk_pkg::TbCntWidth-1:0], dut_most, u_dut.most_q)
  `WATCH([0:0], watches, u_dut.watches_q)
  `WATCH([2:0], scaler, u_dut.u_scaler.step_q)
  `WATCH([2:0], scaler_bit, u_dut.u_scaler.bit_q)
  `WATCH([smk_pkg::TbCntWidth-1:0], alone, u_dut.alone)
  `WATCH([0:0], fresh, u_dut.fresh_q)
  smk_pkg::tb_cnt_vec_t most;
  assign most = dut_most;

  // The samples still to be taken, as they are when the SMs have their plan.
  logic                  walking;
  smk_pkg::kernel_mask_t left_now;
  smk_pkg::tb_cnt_t      tbs_now, most_now, most_next;
  assign walking  = step == StAssign && count_sm != '0;
  assign left_now = walking ? left_was : left;
  assign tbs_now  = walking ? tbs_was : tbs;
  logic some_fit, sampling;
  always_comb begin
    most_now  = '0;
    most_next = '0;
    some_fit  = 1'b1;
    for (int unsigned k = NumKernels; k > 0; k--) begin
      if (left_now[k-1]) most_now  = most.kernel[k-1];
      if (left[k-1])     most_next = most.kernel[k-1];
      if (fits[k-1] != (most.kernel[k-1] != '0)) some_fit = 1'b0;
    end
  end
  assign sampling = step == StAssign || step == StRead || step == StScale ||
                    (!watches && (step == StSettle || step == StWindow || step == StDrain));

  // What is still to be done, as one number that falls: the samples; the step; what is left of it.
  logic [3:0]  order;
  logic [15:0] rest;
  logic [NumKernels+TbCntWidth+19:0] rank, rank_q;
  logic [4:0]  to_begin;
  always_comb begin
    to_begin = '0;
    for (int unsigned k = 0; k < NumKernels; k++) if (at[k]) to_begin = 5'(NumKernels - k);
    case (step)
      StAlone:  {order, rest} = {4'd9, 16'(to_begin) * 16'(smk_pkg::LimitTbs + 3) + 16'(fresh) - 16'(alone)};
      StAssign: {order, rest} = {4'd8, 16'(smk_pkg::NumSms) - 16'(count_sm)};
      StSettle: {order, rest} = {4'd7, timer};
      StWindow: {order, rest} = {4'd6, timer};
      StDrain:  {order, rest} = {4'd5, timer};
      StRead:   {order, rest} = {4'd4, 16'd0};
      StScale:  {order, rest} = {4'd3, 9'd0, timer[0], timer[0] ? 3'd0 : 3'd7 - scaler,
                                 timer[0] ? 3'd0 : 3'd7 - scaler_bit};
      StDelay:  {order, rest} = {4'd2, timer};
      default:  {order, rest} = {4'd1, 16'd0};
    endcase
    rank = {left_now, ~tbs_now, order, rest};
  end
  logic falls_q;
  always_ff @(posedge clk_i) begin
    falls_q <= rst_ni && profiling && step != StPlan && !start_i && !stop_i;
    rank_q  <= rank;
  end
  // Each cycle of a profile brings its end nearer, but while the planner is asked.
  `PROVE(EndIsNearer_A, !falls_q || (profiling && rank < rank_q))
  // What it counts with.
  `PROVE(SomeFit_A, some_fit)
  `PROVE(SamplesLeft_A, !sampling || ((left_now & ~fits) == '0 && (left & ~fits) == '0 &&
         (left_now == '0 || (tbs_now != '0 && tbs_now <= most_now)) &&
         (left == '0 || (tbs != '0 && tbs <= most_next))))
  `PROVE(AloneSoFar_A, step != StAlone || (tbs == 3'd1 && 32'(alone) <= smk_pkg::LimitTbs &&
         (left & ~fits & (at - 1'b1)) == '0))
  `PROVE(FreshIsEmpty_A, step != StAlone || !fresh || alone == '0)
  `PROVE(OfTheProfile_A, step != StAlone || (left & ~kernels) == '0)
  `PROVE(FirstSm_A, step == StAssign || step == StRead || step == StScale || step == StTurns ||
         step == 4'd11 || count_sm == '0)
  `PROVE(OneAtWork_A, at != '0 && (at & (at - 1'b1)) == '0)
  `PROVE(AtWorkFirst_A, !(sampling || step == StIdle || step == StPlan || step == StDelay) || at == 2'd1)
  `PROVE(CountBelow_A, 32'(alone) <= smk_pkg::LimitTbs && (step == StAlone || step == StIdle ||
         alone == '0 || step == StAssign))
  `PROVE(SmThatThereIs_A, 32'(count_sm) < smk_pkg::NumSms)
  `PROVE(WatchesInStep_A, step != 4'd15 && (watches ? (step >= StTurns || step == StSettle || step == StWindow ||
         step == StDrain) : step < StTurns))
  `PROVE(ScalesSomething_A, step != StScale || (left != '0 && timer[15:1] == '0))
  `PROVE(ScalerWorks_A, step == StScale && !timer[0] ? (scaler != ScIdle && scaler <= ScDone) :
         scaler == ScIdle)
  `PROVE(ScalerBit_A, !(scaler == ScBase || scaler == ScPsi || scaler == ScRate) ||
         32'(scaler_bit) < SampleWidth)
  `PROVE(ScalerShift_A, scaler != ScShift || 32'(scaler_bit) < SampleWidth + TbCntWidth)

  // Three cycles after the last phase.
  logic quiet;
  logic [2:0] quiet_q;
  assign quiet = !profiling && !sharing;
  always_ff @(posedge clk_i) quiet_q <= rst_ni ? {quiet_q[1:0], quiet && !start_i} : '0;
  (* keep *) logic idle;
  assign idle = rst_ni && !start_i && quiet && quiet_q == '1;
endmodule
