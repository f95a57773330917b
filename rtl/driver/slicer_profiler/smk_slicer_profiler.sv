// SPDX-License-Identifier: Apache-2.0
// smk_slicer_profiler: profiles kernels on SMs with 1, 2, 3, ... TBs, and watches them afterwards.
//
// Purpose     Gives each SM a kernel and a number of TBs, samples a window, makes each kernel's curve
//             of performance from it and asks for a plan; then watches IPC for a change.
// Paper       [Warped-Slicer] Sec. IV-A and IV-B, Fig. 4. Deviations [D33] to [D36], [D105].
// Interface   start_i: pulse with a set of kernels, not empty; begins anew at any time. stop_i: pulse.
//             give_*: pulse, what an SM has to do from now on. window_o: level, to the counters.
//             count_sm_o: whose counts issued_i and stalled_i are. sample_*, plan_o: pulses to
//             waterfill_planner, planned_i: its answer.
// Latency     A profile takes warm-up, window and 53 to 74 cycles a sample; the page has each step.
// Throughput  One profile at a time; a sample for each SM and window.
// Reset       Idle.
// Model       model/control/driver/slicer_profiler.h   Doc  docs/blocks/slicer_profiler.md
// Timers of 0 count as 1. Does not move TBs and does not plan.
`include "smk_assert.svh"

module smk_slicer_profiler #(
  parameter int unsigned SampleWidth = 16
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // Profile these kernels; be idle.
  input  logic                   start_i,
  input  smk_pkg::kernel_mask_t  kernels_i,
  input  logic                   stop_i,
  // The TBs of every SM that was given something are those that it was given, as far as there are any.
  input  logic                   settled_i,
  // Kernels that have TBs to dispatch: no other is sampled again, and one that had none in its profile
  // is, once.
  input  smk_pkg::kernel_mask_t  able_i,
  // Constant during a run: cycles before the first window, before each window with the SMs settled, of
  // a window, and before a plan is asked for.
  input  logic [15:0]            warmup_i,
  input  logic [15:0]            settle_i,
  input  logic [15:0]            window_i,
  input  logic [15:0]            delay_i,
  // IPC has changed when it differs by more than 2^-change of what it was, for so many windows.
  input  logic [2:0]             change_i,
  input  logic [3:0]             sustain_i,
  // What one TB of each kernel needs.
  input  smk_pkg::need_vec_t     need_i,
  // Counts of the SM that count_sm_o names.
  output smk_pkg::sm_id_t        count_sm_o,
  input  logic [SampleWidth-1:0] issued_i,
  input  logic [SampleWidth-1:0] stalled_i,
  output logic                   window_o,
  // The SM samples or watches this kernel; with so many TBs of it alone, or as planned if 0.
  output logic                   give_valid_o,
  output smk_pkg::sm_id_t        give_sm_o,
  output smk_pkg::kernel_id_t    give_kernel_o,
  output smk_pkg::tb_cnt_t       give_tbs_o,
  // Towards waterfill_planner.
  output logic                   sample_valid_o,
  output smk_pkg::kernel_id_t    sample_kernel_o,
  output smk_pkg::tb_cnt_t       sample_tbs_o,
  output logic [SampleWidth-1:0] sample_performance_o,
  output logic                   plan_o,
  output smk_pkg::kernel_mask_t  kernels_o,
  input  logic                   planned_i,
  // Kernels are profiled; not idle; of the kernel that is sampled again.
  output logic                   profiling_o,
  output logic                   busy_o,
  output logic                   priority_valid_o,
  output smk_pkg::kernel_id_t    priority_kernel_o
);
  `SMK_CHECK_CONFIG

  localparam int unsigned NumKernels  = smk_pkg::NumKernels;
  localparam int unsigned KernelWidth = smk_pkg::KernelWidth;
  localparam int unsigned KernelCntWidth = smk_pkg::KernelCntWidth;
  localparam int unsigned TbCntWidth = smk_pkg::TbCntWidth;
  localparam int unsigned NumSms      = smk_pkg::NumSms;
  localparam int unsigned SmCntWidth  = $clog2(NumSms + 1);
  // From the end of a window until its counts are read: with the longest links 35.
  localparam logic [15:0] Drain       = 16'd40;

  typedef enum logic [3:0] {StIdle, StAlone, StShare, StAssign, StSettle, StWindow, StDrain, StRead,
                            StScale, StDelay, StPlan, StTurns, StAdd, StAddLast, StCompare,
                            StJudge} step_e;
  step_e                  step_d, step_q;
  logic [15:0]            timer_d, timer_q;
  smk_pkg::sm_id_t        sm_d, sm_q;
  // Of the profile; its kernels that have SMs or wait for some, and those with TBs still to be
  // sampled. How many SMs each has, and the TBs that earlier windows had on the last of them.
  smk_pkg::kernel_mask_t  kernels_q, left_d, left_q, open_d, open_q;
  logic [SmCntWidth-1:0]  share, share_q;
  smk_pkg::tb_cnt_t       base_d, base_q;
  // SMs in turn: the kernels from this one's on, its SMs left, the TBs here; or none are left to it.
  smk_pkg::kernel_mask_t  walk_d, walk_q;
  logic [SmCntWidth-1:0]  group_d, group_q;
  smk_pkg::tb_cnt_t       tbs_d, tbs_q;
  logic                   beyond_d, beyond_q;
  // The kernel at work, one-hot.
  smk_pkg::kernel_mask_t  at_d, at_q;
  // Kernels of which a TB fits an SM; those that had no TB to dispatch in their profile; the one that is
  // sampled again.
  smk_pkg::kernel_mask_t  fits_q, lacks_d, lacks_q;
  smk_pkg::kernel_id_t    again_kernel_q;
  logic                   first_q, again_q, watches_q, give_valid_q;
  smk_pkg::tb_cnt_vec_t   most_q;
  logic [SampleWidth-1:0] issued_q, stalled_q;

  // Whose this SM is; in watching, whose turn it is.
  smk_pkg::kernel_mask_t walk_next, lowest;
  smk_pkg::kernel_id_t   kernel, kernel_at;
  smk_pkg::tb_cnt_t      most;
  logic                  samples;
  always_comb begin
    lowest    = walk_q & (~walk_q + 1'b1);
    walk_next = walk_q & ~lowest;
    samples   = (lowest & open_q) != '0 && !beyond_q;
    kernel    = '0;
    kernel_at = '0;
    most      = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (lowest[k]) kernel    = kernel | KernelWidth'(k);
      if (lowest[k]) most      = most | most_q.kernel[k];
      if (at_q[k])   kernel_at = kernel_at | KernelWidth'(k);
    end
  end

  // How many TBs of the kernel at work an SM of its own holds; in the first cycle its need is read.
  smk_pkg::tb_cnt_t alone;
  logic             ends_alone, alone_done, fresh_q, member, last_kernel;
  smk_tbs_alone u_alone (
    .clk_i, .rst_ni, .kernel_i(at_q), .need_i,
    .begin_i(start_i || step_q != StAlone || ends_alone || fresh_q),
    .tbs_o  (alone),
    .done_o (alone_done)
  );
  // The SMs are divided equally between the kernels that are left, as far as there are SMs.
  smk_pkg::kernel_cnt_t left_count;
  always_comb begin
    left_count = '0;
    for (int unsigned k = 0; k < NumKernels; k++) left_count = left_count + KernelCntWidth'(left_q[k]);
    share = SmCntWidth'(NumSms);
    for (int unsigned n = 2; n <= NumKernels; n++) begin
      if (32'(left_count) == n) share = SmCntWidth'((n < NumSms) ? NumSms / n : 1);
    end
  end
  assign member      = (kernels_q & at_q) != '0;
  assign last_kernel = at_q[NumKernels-1];

  logic [SampleWidth-1:0] performance;
  logic scaled, last_sm, timed_out, sampled, holds;
  assign last_sm    = 32'(sm_q) == NumSms - 1;
  assign timed_out  = timer_q[15:1] == '0;
  // SMs are not settled; or what was given last is not known there yet.
  assign holds      = give_valid_q || !settled_i;
  assign sampled    = step_q == StScale && scaled;
  assign ends_alone = step_q == StAlone && ((alone_done && !fresh_q) || !member);

  smk_curve_scaler #(
    .SampleWidth(SampleWidth)
  ) u_scaler (
    .clk_i, .rst_ni,
    .start_i      (step_q == StScale && timer_q[0]),
    .cancel_i     (start_i || stop_i),
    .issued_i     (issued_q),
    .stalled_i    (stalled_q),
    .cycles_i     (SampleWidth'(window_i << $clog2(smk_pkg::NumSchedulers))),
    .tbs_i        (tbs_q),
    .most_i       (most),
    .done_o       (scaled),
    .performance_o(performance)
  );

  logic changed, again;
  smk_ipc_watch #(
    .SampleWidth(SampleWidth)
  ) u_watch (
    .clk_i, .rst_ni, .change_i, .sustain_i,
    .forget_i(start_i || stop_i || step_q == StPlan),
    .kernel_i(at_q),
    .clear_i (step_q == StDrain || step_q == StJudge),
    .add_i   (step_q == StAdd && lowest == at_q),
    .issued_i(issued_i),
    .diff_i  (step_q == StCompare),
    .judge_i (step_q == StJudge && member),
    .able_i  ((able_i & at_q) != '0),
    .again_o (changed)
  );
  assign again = step_q == StJudge && member &&
                 (changed || ((lacks_q & able_i & at_q) != '0 && sustain_i != '0));
  // Of a profile, not of a kernel that is sampled again: its TBs may be as few.
  always_comb begin
    lacks_d = lacks_q;
    if (step_q == StWindow && profiling_o && !again_q) lacks_d = lacks_q | (left_q & ~able_i);
    if (again)   lacks_d = lacks_q & ~at_q;
    if (start_i) lacks_d = '0;
  end

  always_comb begin
    step_d = step_q;
    unique case (step_q)
      StIdle:    step_d = StIdle;
      // How many TBs of each kernel there are to sample.
      StAlone:   if (ends_alone && last_kernel) step_d = StShare;
      StShare:   step_d = StAssign;
      // Each SM its kernel and TBs.
      StAssign:  if (last_sm) step_d = StSettle;
      StSettle:  if (timed_out && !holds) step_d = StWindow;
      StWindow:  if (timed_out) step_d = StDrain;
      StDrain:   if (`SMK_CUT(DrainEnds, timed_out)) step_d = watches_q ? StAdd : StRead;
      // The counts of each SM, and its point of the curve.
      StRead:    if (samples) step_d = StScale;
                 else if (last_sm) step_d = (open_q == '0) ? StDelay : StShare;
      StScale:   if (scaled) step_d = !last_sm ? StRead : (open_d == '0) ? StDelay : StShare;
      StDelay:   if (timed_out) step_d = StPlan;
      StPlan:    if (planned_i) step_d = StTurns;
      // Each SM a kernel to watch; then, once they have settled, windows without end.
      StTurns:   if (last_sm) step_d = StSettle;
      StAdd:     if (last_sm) step_d = StAddLast;
      StAddLast: step_d = StCompare;
      StCompare: if (timed_out) step_d = StJudge;
      StJudge:   step_d = again ? StShare : last_kernel ? StWindow : StAdd;
      default:   step_d = StIdle;
    endcase
    if (stop_i)  step_d = StIdle;
    if (start_i) step_d = StAlone;
  end

  // Timers, loaded with the step before; one of 0 counts as 1. In StScale its first cycle. While SMs
  // are not settled, settle_i cycles are left at least.
  logic [15:0] timer_less;
  assign timer_less = timer_q - 1'b1;
  always_comb begin
    unique case (step_q)
      StAssign:          timer_d = first_q ? warmup_i : settle_i;
      StSettle: begin
        timer_d = timed_out ? window_i : timer_less;
        if ((holds && timed_out) || (!settled_i && timer_q <= settle_i)) timer_d = settle_i;
      end
      StWindow:          timer_d = timed_out ? Drain : timer_less;
      StAddLast:         timer_d = 16'd2;
      StDrain, StDelay, StCompare: timer_d = timer_less;
      StRead:            timer_d = samples ? 16'd1 : delay_i;
      StScale:           timer_d = scaled ? delay_i : '0;
      StTurns:           timer_d = warmup_i;
      StJudge:           timer_d = window_i;
      default:           timer_d = timer_q;
    endcase
  end

  // SMs in turn, and the kernel at work.
  logic walks, advances;
  assign advances = step_q == StAssign || (step_q == StRead && !samples) || sampled;
  assign walks    = `SMK_CUT(Walks, advances || step_q == StTurns || step_q == StAdd);
  always_comb begin
    sm_d = sm_q;
    at_d = at_q;
    if (walks) sm_d = last_sm ? '0 : sm_q + 1'b1;
    if (ends_alone || step_q == StJudge) at_d = {at_q[NumKernels-2:0], at_q[NumKernels-1]};
    if (step_q == StIdle || step_q == StPlan || again) at_d = NumKernels'(1);
    if (start_i || stop_i) {sm_d, at_d} = {smk_pkg::SmWidth'(0), NumKernels'(1)};
  end

  // The SMs twice in a window, to give and to take.
  logic last_of_kernel, begins;
  assign last_of_kernel = 32'(group_q) == 1;
  assign begins         = step_q == StShare || (step_q == StAssign && last_sm);
  always_comb begin
    walk_d   = walk_q;
    group_d  = group_q;
    tbs_d    = tbs_q;
    beyond_d = beyond_q;
    if (advances) begin
      group_d  = group_q - 1'b1;
      tbs_d    = tbs_q + 1'b1;
      beyond_d = beyond_q || tbs_q == most;
    end
    if (begins || (advances && last_of_kernel)) begin
      walk_d   = begins ? left_q : walk_next;
      group_d  = (step_q == StShare) ? share : share_q;
      tbs_d    = base_q + 1'b1;
      beyond_d = 1'b0;
    end
    if (step_q == StTurns || step_q == StAdd) walk_d = (walk_next == '0) ? kernels_q : walk_next;
    if (step_q == StPlan || ((step_q == StTurns || step_q == StAdd) && last_sm)) walk_d = kernels_q;
  end

  // After a window the same SMs hold more TBs; or the SMs are those of kernels that had none.
  logic closes, window_ends, further;
  assign closes      = sampled && tbs_q == most;
  assign window_ends = last_sm && (sampled || (step_q == StRead && !samples));
  assign further     = (open_d & ~walk_next) != '0;
  always_comb begin
    left_d = left_q;
    base_d = base_q;
    open_d = closes ? open_q & ~lowest : open_q;
    if (step_q == StShare && base_q == '0) open_d = left_q;
    // A kernel whose TB fits no SM is not sampled.
    if (ends_alone && alone == '0) left_d = left_q & ~at_q;
    if (window_ends) begin
      left_d = further ? left_q : walk_next;
      base_d = further ? base_q + TbCntWidth'(share_q) : '0;
    end
    if (again)   {left_d, base_d} = {at_q & fits_q, TbCntWidth'(0)};
    if (start_i) {left_d, base_d} = {kernels_i, TbCntWidth'(0)};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q <= StIdle;
      {timer_q, sm_q, kernels_q, left_q, open_q, share_q, base_q, issued_q, stalled_q} <= '0;
      lacks_q   <= '0;
      {walk_q, group_q, tbs_q, beyond_q} <= '0;
      at_q      <= NumKernels'(1);
      first_q   <= 1'b0;
      fresh_q   <= 1'b0;
      again_kernel_q <= '0;
      again_q   <= 1'b0;
      watches_q <= 1'b0;
    end else begin
      step_q  <= step_d;
      timer_q <= timer_d;
      sm_q    <= sm_d;
      at_q    <= at_d;
      left_q  <= left_d;
      open_q  <= open_d;
      base_q  <= base_d;
      walk_q  <= walk_d;
      group_q <= group_d;
      tbs_q   <= tbs_d;
      beyond_q <= beyond_d;
      if (step_q == StShare) share_q <= share;
      if (start_i) kernels_q <= kernels_i;
      if (step_q == StRead) {issued_q, stalled_q} <= {issued_i, stalled_i};
      if (again) again_kernel_q <= kernel_at;
      fresh_q   <= start_i || ends_alone || (fresh_q && step_q != StAlone);
      lacks_q   <= lacks_d;
      first_q   <= start_i || (first_q && step_q != StWindow);
      again_q   <= !start_i && !stop_i && (again || (again_q && step_q != StPlan));
      watches_q <= !start_i && !stop_i && !again &&
                   (watches_q || (step_q == StPlan && planned_i));
    end
  end
  for (genvar k = 0; k < NumKernels; k++) begin : gen_kernel
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        {most_q.kernel[k], fits_q[k]} <= '0;
      end else if (ends_alone && at_q[k]) begin
        {most_q.kernel[k], fits_q[k]} <= {alone & {smk_pkg::TbCntWidth{member}}, member && alone != '0};
      end
    end
  end

  // Outputs to other blocks.
  logic                   sample_valid_q, plan_q;
  smk_pkg::sm_id_t        give_sm_q;
  smk_pkg::kernel_id_t    give_kernel_q, sample_kernel_q;
  smk_pkg::tb_cnt_t       give_tbs_q, sample_tbs_q;
  logic [SampleWidth-1:0] sample_performance_q;
  logic                   gives;
  assign gives = step_q == StAssign || step_q == StTurns;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {give_valid_q, give_sm_q, give_kernel_q, give_tbs_q} <= '0;
      {sample_valid_q, sample_kernel_q, sample_tbs_q, sample_performance_q, plan_q} <= '0;
    end else begin
      give_valid_q   <= gives && !start_i && !stop_i;
      sample_valid_q <= sampled && !start_i && !stop_i;
      plan_q         <= step_q == StDelay && timed_out && !start_i && !stop_i;
      if (gives) begin
        give_sm_q     <= sm_q;
        give_kernel_q <= kernel;
        give_tbs_q    <= (step_q == StAssign && samples) ? tbs_q : '0;
      end
      if (sampled) begin
        sample_kernel_q      <= kernel;
        sample_tbs_q         <= tbs_q;
        sample_performance_q <= performance;
      end
    end
  end
  assign give_valid_o         = give_valid_q;
  assign give_sm_o            = give_sm_q;
  assign give_kernel_o        = give_kernel_q;
  assign give_tbs_o           = give_tbs_q;
  assign sample_valid_o       = sample_valid_q;
  assign sample_kernel_o      = sample_kernel_q;
  assign sample_tbs_o         = sample_tbs_q;
  assign sample_performance_o = sample_performance_q;
  assign plan_o               = plan_q;
  assign count_sm_o        = sm_q;
  assign window_o          = step_q == StWindow;
  assign kernels_o         = kernels_q;
  assign profiling_o       = step_q != StIdle && !watches_q;
  assign busy_o            = step_q != StIdle;
  assign priority_valid_o  = again_q && step_q != StDelay && step_q != StPlan;
  assign priority_kernel_o = again_kernel_q;

  // There is something to profile.
  `SMK_ASSERT(SomeKernel_M, start_i |-> kernels_i != '0)
  // An answer is one to a question.
  `SMK_ASSERT(PlannedWhenAsked_M, planned_i |-> step_q == StPlan)
  // A start begins anew, a stop ends all.
  `SMK_ASSERT(StartsAnew_A, start_i |=> step_q == StAlone && !watches_q && !again_q)
  `SMK_ASSERT(Stops_A, stop_i && !start_i |=> step_q == StIdle && !sample_valid_o && !plan_o)
  // Who is still to be sampled has TBs to be sampled with.
  `SMK_ASSERT(SomeTbs_A, (step_q == StAssign || step_q == StRead) && samples |->
              tbs_q != '0 && tbs_q <= most)
  // Pulses go to an SM that there is; windows are of a profile or of watching.
  `SMK_ASSERT(GivesToAnSm_A, give_valid_o |-> 32'(give_sm_o) < NumSms)
  // Idle: nothing changes without a start.
  `SMK_ASSERT(IdleHolds_A, step_q == StIdle && !start_i && !give_valid_o && !sample_valid_o |=> $stable(
              {step_q, timer_q, sm_q, kernels_q, left_q, base_q, at_q, most_q, issued_q, stalled_q}))
  // Several windows, a profile begun anew, one kernel sampled again, in our tests.
  `SMK_COVER(SharesTime_C, window_ends && further)
  `SMK_COVER(WaitsForSms_C, window_ends && !further && walk_next != '0)
  `SMK_COVER(Restarted_C, start_i && step_q != StIdle)
  `SMK_COVER(Again_C, again)
  `SMK_COVER(NotInItsTail_C, step_q == StJudge && member && (able_i & at_q) == '0)
  `SMK_COVER(HadNone_C, again && !changed)
  `SMK_COVER(NobodyFits_C, step_q == StShare && left_q == '0)
endmodule
