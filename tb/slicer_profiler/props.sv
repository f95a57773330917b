// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_slicer_profiler, for any times, needs and counts: a profile never waits for ever.
`include "formal.svh"

module formal_slicer_profiler (
  input logic                  clk_i,
  input logic                  start_i,
  input smk_pkg::kernel_mask_t kernels_i,
  input logic                  stop_i,
  input logic                  settled_i,
  input smk_pkg::kernel_mask_t able_i,
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
  localparam int unsigned SmCntWidth  = $clog2(smk_pkg::NumSms + 1);

  // Any needs; constant.
  smk_pkg::need_vec_t need_q;
  always_ff @(posedge clk_i) if (!rst_ni) need_q <= need_i;

  smk_pkg::sm_id_t        count_sm, give_sm;
  logic                   window, give_valid, sample_valid, plan, profiling, busy, priority_valid;
  smk_pkg::kernel_id_t    give_kernel, sample_kernel, priority_kernel;
  smk_pkg::tb_cnt_t       give_tbs, sample_tbs;
  logic [SampleWidth-1:0] sample_performance;
  smk_pkg::kernel_mask_t  kernels;
  smk_slicer_profiler #(
    .SampleWidth(SampleWidth)
  ) u_dut (
    .clk_i, .rst_ni, .start_i, .kernels_i, .stop_i, .settled_i, .able_i, .warmup_i, .settle_i,
    .window_i, .delay_i, .change_i, .sustain_i, .need_i(need_q), .issued_i, .stalled_i, .planned_i,
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
    .busy_o              (busy),
    .priority_valid_o    (priority_valid),
    .priority_kernel_o   (priority_kernel)
  );

  // Inside, with the numbers of its steps.
  localparam logic [3:0] StIdle = 0, StAlone = 1, StShare = 2, StAssign = 3, StSettle = 4, StWindow = 5,
      StDrain = 6, StRead = 7, StScale = 8, StDelay = 9, StPlan = 10, StTurns = 11, StAdd = 12;
  localparam logic [2:0] ScIdle = 0, ScBase = 1, ScPsi = 2, ScAdd = 3, ScShift = 4, ScRate = 5, ScDone = 6;
  `WATCH([3:0], step, u_dut.step_q)
  `WATCH([15:0], timer, u_dut.timer_q)
  `WATCH([smk_pkg::NumKernels-1:0], left, u_dut.left_q)
  `WATCH([smk_pkg::NumKernels-1:0], open, u_dut.open_q)
  `WATCH([smk_pkg::NumKernels-1:0], walk, u_dut.walk_q)
  `WATCH([SmCntWidth-1:0], share, u_dut.share_q)
  `WATCH([SmCntWidth-1:0], group, u_dut.group_q)
  `WATCH([smk_pkg::TbCntWidth-1:0], base, u_dut.base_q)
  `WATCH([0:0], beyond, u_dut.beyond_q)
  `WATCH([smk_pkg::NumKernels-1:0], fits, u_dut.fits_q)
  `WATCH([smk_pkg::NumKernels-1:0], at, u_dut.at_q)
  `WATCH([smk_pkg::TbCntWidth-1:0], tbs, u_dut.tbs_q)
  `WATCH([smk_pkg::NumKernels*smk_pkg::TbCntWidth-1:0], dut_most, u_dut.most_q)
  `WATCH([0:0], watches, u_dut.watches_q)
  `WATCH([2:0], scaler, u_dut.u_scaler.step_q)
  `WATCH([2:0], scaler_bit, u_dut.u_scaler.bit_q)
  `WATCH([smk_pkg::TbCntWidth-1:0], alone, u_dut.alone)
  `WATCH([0:0], fresh, u_dut.fresh_q)
  smk_pkg::tb_cnt_vec_t most;
  assign most = dut_most;

  // Every kernel that is left has SMs of its own: the SM is the group-th last of the first of `walk`.
  logic                  walking, reading, sampling, some_fit, base_below, read_on, here, tbs_fit;
  logic [3:0]            count;
  logic [7:0]            passed;
  assign walking  = step == StAssign || reading;
  assign reading  = step == StRead || step == StScale;
  assign sampling = walking || (!watches && (step == StSettle || step == StWindow || step == StDrain));
  always_comb begin
    {some_fit, base_below, read_on, here, tbs_fit} = 5'b11101;
    {count, passed} = '0;
    for (int unsigned k = NumKernels; k > 0; k--) begin
      if (fits[k-1] != (most.kernel[k-1] != '0)) some_fit = 1'b0;
      if (left[k-1]) count = count + 1'b1;
      // TBs of an open kernel are left for this window; and for a further one when it was read.
      if (open[k-1] && base >= most.kernel[k-1]) base_below = 1'b0;
      if (left[k-1] && !walk[k-1]) begin
        passed = passed + 8'(share);
        if (open[k-1] && 8'(base) + 8'(share) >= 8'(most.kernel[k-1])) read_on = 1'b0;
      end
      if (walk[k-1]) begin
        here    = open[k-1];
        tbs_fit = tbs != '0 && tbs <= most.kernel[k-1];
      end
    end
  end

  // What is still to be done, as one number that falls: the samples; the step; what is left of it.
  logic [3:0]  order;
  logic [15:0] rest;
  logic [NumKernels+TbCntWidth+19:0] rank, rank_q;
  logic [4:0]  to_begin;
  always_comb begin
    to_begin = '0;
    for (int unsigned k = 0; k < NumKernels; k++) if (at[k]) to_begin = 5'(NumKernels - k);
    case (step)
      StAlone:  {order, rest} = {4'd10, 16'(to_begin) * 16'(smk_pkg::LimitTbs + 3) + 16'(fresh) - 16'(alone)};
      StShare:  {order, rest} = {4'd9, 16'd0};
      StAssign: {order, rest} = {4'd8, 16'(smk_pkg::NumSms) - 16'(count_sm)};
      StSettle: {order, rest} = {4'd7, timer};
      StWindow: {order, rest} = {4'd6, timer};
      StDrain:  {order, rest} = {4'd5, timer};
      StRead:   {order, rest} = {4'd4, 8'(smk_pkg::NumSms) - 8'(count_sm), 8'hff};
      StScale:  {order, rest} = {4'd4, 8'(smk_pkg::NumSms) - 8'(count_sm), 1'b0, timer[0],
                                 timer[0] ? 3'd0 : 3'd7 - scaler, timer[0] ? 3'd0 : 3'd7 - scaler_bit};
      StDelay:  {order, rest} = {4'd2, timer};
      default:  {order, rest} = {4'd1, 16'd0};
    endcase
    rank = {left, ~base, order, rest};
  end
  logic falls_q;
  always_ff @(posedge clk_i) begin
    falls_q <= rst_ni && profiling && step != StPlan && !start_i && !stop_i &&
               !(step == StSettle && (give_valid || !settled_i));
    rank_q  <= rank;
  end
  // Each cycle of a profile brings its end nearer, but while the planner is asked or SMs are not settled.
  `PROVE(EndIsNearer_A, !falls_q || (profiling && rank < rank_q))
  // What it counts with.
  `PROVE(SomeFit_A, some_fit)
  `PROVE(SamplesLeft_A, !(sampling || step == StShare) || ((left & ~fits) == '0 &&
         (step == StShare && base == '0 || ((open & ~left) == '0 && base_below))))
  `PROVE(SharedEqually_A, !sampling || 32'(share) * 32'(count) <= smk_pkg::NumSms)
  `PROVE(BaseOfSome_A, !(sampling || step == StShare) || left != '0 || base == '0)
  `PROVE(SomeShare_A, !sampling || share != '0)
  `PROVE(OwnerOfTheSm_A, !sampling || (group != '0 && group <= share && !(beyond && group == share) && (walk & ~left) == '0 &&
         (left & ~walk & ~(walk - 1'b1)) == '0))
  `PROVE(SmOfTheOwner_A, !sampling || (walk == '0 ? 8'(count_sm) >= passed :
         8'(count_sm) == passed + 8'(share) - 8'(group)))
  `PROVE(TbsHere_A, !sampling || !here || beyond || (tbs_fit && 8'(tbs) == 8'(base) + 8'd1 + 8'(share) - 8'(group)))
  `PROVE(OpenIsRead_A, !reading || (read_on && !(here && beyond)))
  `PROVE(AloneSoFar_A, step != StAlone || (base == '0 && 32'(alone) <= smk_pkg::LimitTbs &&
         (left & ~fits & (at - 1'b1)) == '0))
  `PROVE(FreshIsEmpty_A, step != StAlone || !fresh || alone == '0)
  `PROVE(OfTheProfile_A, step != StAlone || (left & ~kernels) == '0)
  `PROVE(FirstSm_A, step == StAssign || step == StRead || step == StScale || step == StTurns ||
         step == StAdd || count_sm == '0)
  `PROVE(OneAtWork_A, at != '0 && (at & (at - 1'b1)) == '0)
  `PROVE(AtWorkFirst_A, !(sampling || step == StShare || step == StIdle || step == StPlan || step == StDelay) || at == 2'd1)
  `PROVE(CountBelow_A, 32'(alone) <= smk_pkg::LimitTbs && (step == StAlone || step == StIdle ||
         alone == '0 || step == StShare))
  `PROVE(SmThatThereIs_A, 32'(count_sm) < smk_pkg::NumSms)
  `PROVE(WatchesInStep_A, (watches ? (step >= StTurns || step == StSettle || step == StWindow ||
         step == StDrain) : step < StTurns))
  `PROVE(ScalesSomething_A, step != StScale || (here && !beyond && timer[15:1] == '0))
  `PROVE(ScalerWorks_A, step == StScale && !timer[0] ? (scaler != ScIdle && scaler <= ScDone) :
         scaler == ScIdle)
  `PROVE(ScalerBit_A, !(scaler == ScBase || scaler == ScPsi || scaler == ScRate) ||
         32'(scaler_bit) < SampleWidth)
  `PROVE(ScalerShift_A, scaler != ScShift || 32'(scaler_bit) < SampleWidth + TbCntWidth)

  // Three cycles after the last phase.
  logic quiet;
  logic [2:0] quiet_q;
  assign quiet = !busy;
  always_ff @(posedge clk_i) quiet_q <= rst_ni ? {quiet_q[1:0], quiet && !start_i} : '0;
  (* keep *) logic idle;
  assign idle = rst_ni && !start_i && quiet && quiet_q == '1;
endmodule
