// SPDX-License-Identifier: Apache-2.0
// smk_driver_slicer: profiles kernels and lets them share SMs as Warped-Slicer; part of smk_driver.
//
// Purpose     Joins smk_slicer_profiler with smk_waterfill_planner; keeps what each SM is given, what
//             its window counted and the plan that the kernels share, and says what the partition
//             planner has to plan on an SM.
// Paper       [Warped-Slicer] Sec. IV. Deviations [D30], [D33], [D37], [D38], [D39].
// Interface   assign_i: pulse, the set of kernels has changed: all are profiled again. pulses_i: of
//             smk_tb_dispatch; the planner sees mode and table one cycle after plan_start.
//             sm_sample_*: pulses (S5). sample_*_o: pulses to all SMs with what is constant between.
// Latency     allowed_o 0 cycles; begin and end of a window 1 cycle after the profiler's.
// Throughput  One plan at a time; counts of all SMs in one cycle.
// Reset       Nothing given, no plan.
// Model       model/control/driver/driver_slicer.h   Doc  docs/blocks/driver.md
// Under any other policy it passes on its inputs and holds its state. Of several kernels the youngest
// lives at the end of every SM: of two, each stays where it is under any plan.
`include "smk_assert.svh"

module smk_driver_slicer (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  // Constant during a run.
  input  smk_pkg::policy_t          policy_i,
  // Of the kernels.
  input  logic                      assign_i,
  input  smk_pkg::kernel_mask_t     members_i,
  input  smk_pkg::need_vec_t        need_i,
  input  smk_pkg::order_vec_t       order_i,
  // Which kernels may run on each SM: as assigned, and as given; SMs on which that has changed.
  input  smk_pkg::sm_kernels_t      assigned_i,
  input  smk_pkg::sm_mask_t         assign_changed_i,
  output smk_pkg::sm_kernels_t      allowed_o,
  output smk_pkg::sm_mask_t         changed_o,
  // SMs are assigned anew: to one kernel each; nobody decides before they are given something.
  output logic                      assign_o,
  output logic                      spatial_o,
  output logic                      giving_o,
  // SMs whose partition covers the kernels that may run there and have TBs to dispatch, and is in force;
  // the kernels that have some.
  input  smk_pkg::sm_mask_t         settled_i,
  input  smk_pkg::kernel_mask_t     able_i,
  // For the partition planner.
  input  smk_pkg::dispatch_pulses_t pulses_i,
  output smk_pkg::dispatch_mode_e   plan_mode_o,
  output smk_pkg::tb_cnt_vec_t      plan_table_o,
  output logic                      plan_at_end_o,
  output logic                      plan_each_o,
  // From and to the SMs.
  input  smk_pkg::sm_mask_t         sm_sample_valid_i,
  input  smk_pkg::sm_samples_t      sm_sample_issued_i,
  input  smk_pkg::sm_samples_t      sm_sample_stalled_i,
  output logic                      sample_begin_o,
  output logic                      sample_end_o,
  output smk_pkg::sm_kernel_id_t    sample_kernel_o,
  output logic                      sample_stalls_o,
  // Kernels are profiled. Not idle.
  output logic                      profiling_o,
  output logic                      busy_o
);
  localparam int unsigned NumSms      = smk_pkg::NumSms;
  localparam int unsigned NumKernels  = smk_pkg::NumKernels;
  localparam int unsigned SampleWidth = smk_pkg::SampleWidth;
  localparam int unsigned TbCntWidth  = smk_pkg::TbCntWidth;

  smk_pkg::policy_t          unused_policy;
  smk_pkg::dispatch_pulses_t unused_pulses;
  logic                      enabled, restarts, profiles;
  assign unused_policy = policy_i;
  assign unused_pulses = pulses_i;
  assign enabled       = policy_i.dispatch == smk_pkg::DispatchSlicer;
  assign restarts      = enabled && assign_i;
  // One kernel alone has nothing to share.
  assign profiles      = restarts && (members_i & (members_i - 1'b1)) != '0;

  // Of the profiler and the planner.
  smk_pkg::sm_id_t        count_sm, give_sm;
  logic [SampleWidth-1:0] issued, stalled, sample_performance;
  logic                   window, give_valid, sample_valid, asks, profiler_busy, settled_d, settled_q;
  logic                   unused_priority_valid;
  smk_pkg::kernel_id_t    give_kernel, sample_kernel, unused_priority_kernel;
  smk_pkg::tb_cnt_t       give_tbs, sample_tbs;
  smk_pkg::kernel_mask_t  profiled, planned_kernels;
  logic                   plan_busy, plan_done, planned, spatial, unused_anywhere;
  smk_pkg::range_vec_t    plan_range, unused_range;

  smk_slicer_profiler #(
    .SampleWidth(SampleWidth)
  ) u_slicer_profiler (
    .clk_i, .rst_ni, .profiling_o, .need_i, .able_i,
    .start_i             (profiles),
    .kernels_i           (members_i),
    .stop_i              (restarts),
    .settled_i           (settled_q),
    .warmup_i            (policy_i.slicer_warmup),
    .settle_i            (policy_i.slicer_settle),
    .window_i            (policy_i.slicer_window),
    .delay_i             (policy_i.slicer_delay),
    .change_i            (policy_i.slicer_change),
    .sustain_i           (policy_i.slicer_sustain),
    .count_sm_o          (count_sm),
    .issued_i            (issued),
    .stalled_i           (stalled),
    .window_o            (window),
    .give_valid_o        (give_valid),
    .give_sm_o           (give_sm),
    .give_kernel_o       (give_kernel),
    .give_tbs_o          (give_tbs),
    .sample_valid_o      (sample_valid),
    .sample_kernel_o     (sample_kernel),
    .sample_tbs_o        (sample_tbs),
    .sample_performance_o(sample_performance),
    .plan_o              (asks),
    .kernels_o           (profiled),
    .planned_i           (planned),
    .busy_o              (profiler_busy),
    .priority_valid_o    (unused_priority_valid),
    .priority_kernel_o   (unused_priority_kernel)
  );

  smk_waterfill_planner #(
    .PerformanceWidth(SampleWidth)
  ) u_waterfill_planner (
    .clk_i, .rst_ni, .need_i, .order_i,
    .sample_valid_i      (sample_valid),
    .sample_kernel_i     (sample_kernel),
    .sample_tbs_i        (sample_tbs),
    .sample_performance_i(sample_performance),
    .start_i             (asks),
    .kernels_i           (profiled),
    .sm_i                ('0),
    .loss_limit_i        (policy_i.slicer_loss),
    .busy_o              (plan_busy),
    .done_o              (plan_done),
    .kernels_o           (planned_kernels),
    .anywhere_o          (unused_anywhere),
    .range_o             (plan_range),
    .spatial_o           (spatial)
  );
  // The layout is that of the partition planner.
  assign unused_range = plan_range;

  // A question that is not overtaken; the plan that kernels share, once there is one.
  logic                  asked_d, asked_q, shared_d, shared_q, spatial_d, spatial_q, assign_q;
  logic                  giving_d, giving_q;
  smk_pkg::kernel_mask_t kernels_d, kernels_q;
  smk_pkg::tb_cnt_vec_t  table_d, table_q;
  assign planned = plan_done && asked_q;
  always_comb begin
    asked_d   = asks || (asked_q && !plan_done);
    shared_d  = shared_q || planned;
    spatial_d = planned ? spatial : spatial_q;
    kernels_d = planned ? planned_kernels : kernels_q;
    giving_d  = giving_q && !(give_valid && 32'(give_sm) == NumSms - 1);
    if (restarts) {asked_d, shared_d, spatial_d} = 3'b000;
    if (restarts) giving_d = profiles;
    table_d = table_q;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      // TBs are the last field of partition_range_t.
      if (planned) table_d.kernel[k] = TbCntWidth'(plan_range.kernel[k]);
    end
  end

  // What SMs are given: one without a sample in a further window goes on as it was.
  smk_pkg::sm_mask_t      alone_d, alone_q, changed_d, changed_q, changes, give;
  // The kernel that is alone on each SM, as a mask, and SMs without one: who may run where is read in
  // many places, and must be known early.
  smk_pkg::sm_kernels_t   only_d, only_q;
  smk_pkg::sm_mask_t      assigned_q;
  logic                   changed_any_q;
  smk_pkg::sm_kernel_id_t kernel_d, kernel_q;
  smk_pkg::sm_tb_cnt_t    tbs_d, tbs_q;
  logic                   gives, same;
  always_comb begin
    alone_d   = alone_q;
    changed_d = '0;
    kernel_d  = kernel_q;
    tbs_d     = tbs_q;
    gives     = 1'b0;
    same      = 1'b0;
    give      = '0;
    for (int unsigned s = 0; s < NumSms; s++) begin
      give[s] = give_valid && 32'(give_sm) == s;
      gives   = give[s] && give_tbs != '0;
      same    = alone_q[s] && tbs_q.sm[s] == give_tbs && kernel_q.sm[s] == give_kernel;
      if (gives) alone_d[s] = 1'b1;
      if (gives && !same) changed_d[s] = 1'b1;
      if (gives || (give[s] && !alone_q[s])) begin
        kernel_d.sm[s] = give_kernel;
        tbs_d.sm[s]    = give_tbs;
      end
    end
    if (planned || restarts) {alone_d, changed_d} = {NumSms'(0), {NumSms{1'b1}}};
    for (int unsigned s = 0; s < NumSms; s++) begin
      only_d.sm[s] = (NumKernels'(1) << kernel_d.sm[s]) & {NumKernels{alone_d[s]}};
    end
  end

  assign changes = `SMK_CUT(GivenAnew, changed_d);

  // Of several kernels.
  smk_pkg::kernel_mask_t youngest;
  always_comb begin
    youngest = members_i & {NumKernels{(members_i & (members_i - 1'b1)) != '0}};
    for (int unsigned k = 0; k < NumKernels; k++) begin
      for (int unsigned j = 0; j < NumKernels; j++) begin
        if (members_i[j] && order_i.kernel[j] > order_i.kernel[k]) youngest[k] = 1'b0;
      end
    end
  end

  // What is planned on an SM.
  smk_pkg::dispatch_mode_e mode_d, mode_q;
  smk_pkg::tb_cnt_vec_t    plan_table_d, plan_table_q;
  logic                    has_plan, at_end_d, at_end_q;
  always_comb begin
    at_end_d     = at_end_q;
    mode_d       = mode_q;
    plan_table_d = plan_table_q;
    has_plan     = shared_q && !spatial_q && pulses_i.plan_kernels == kernels_q;
    if (enabled && pulses_i.plan_start) begin
      at_end_d     = (pulses_i.plan_kernels & youngest) != '0;
      mode_d       = smk_pkg::DispatchTable;
      plan_table_d = table_q;
      if (alone_q[pulses_i.sm]) begin
        for (int unsigned k = 0; k < NumKernels; k++) begin
          plan_table_d.kernel[k] = tbs_q.sm[pulses_i.sm];
        end
      end else if (!has_plan) begin
        mode_d = smk_pkg::DispatchEven;
      end
    end
  end

  // Those that have a kernel alone while kernels are profiled, or all, have the TBs that they were
  // given. What was given in this cycle or the last one reaches the partitions later.
  assign settled_d = (settled_i | (~alone_q & {NumSms{profiling_o}})) == '1 && !give_valid &&
                     !changed_any_q;

  // Windows, and what they counted.
  logic                   window_q, begin_q, end_q, stalls_q;
  smk_pkg::sm_samples_t   issued_d, issued_q, stalled_d, stalled_q;
  always_comb begin
    issued_d  = issued_q;
    stalled_d = stalled_q;
    for (int unsigned s = 0; s < NumSms; s++) begin
      if (sm_sample_valid_i[s]) begin
        issued_d.sm[s]  = `SMK_CUT(SampleIssued, sm_sample_issued_i.sm[s]);
        stalled_d.sm[s] = sm_sample_stalled_i.sm[s];
      end
    end
  end
  assign issued  = issued_q.sm[count_sm];
  assign stalled = stalled_q.sm[count_sm];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {asked_q, shared_q, spatial_q, giving_q, assign_q} <= '0;
      {kernels_q, table_q, alone_q, only_q, changed_q, changed_any_q, kernel_q, tbs_q} <= '0;
      assigned_q   <= '1;
      mode_q       <= smk_pkg::DispatchEven;
      plan_table_q <= '0;
      at_end_q     <= 1'b0;
      settled_q    <= 1'b0;
      {window_q, begin_q, end_q, stalls_q, issued_q, stalled_q} <= '0;
    end else begin
      asked_q      <= asked_d;
      shared_q     <= shared_d;
      spatial_q    <= spatial_d;
      giving_q     <= giving_d;
      assign_q     <= planned && !restarts;
      kernels_q    <= kernels_d;
      table_q      <= table_d;
      alone_q      <= alone_d;
      only_q       <= only_d;
      assigned_q   <= ~alone_d;
      changed_q    <= changes;
      changed_any_q <= changes != '0;
      kernel_q     <= kernel_d;
      tbs_q        <= tbs_d;
      mode_q       <= mode_d;
      plan_table_q <= plan_table_d;
      at_end_q     <= at_end_d;
      settled_q    <= settled_d;
      window_q     <= window;
      begin_q      <= window && !window_q;
      end_q        <= window_q && !window;
      if (window && !window_q) stalls_q <= profiling_o;
      issued_q     <= issued_d;
      stalled_q    <= stalled_d;
    end
  end

  for (genvar s = 0; s < NumSms; s++) begin : gen_allowed
    assign allowed_o.sm[s] = only_q.sm[s] | (assigned_i.sm[s] & {NumKernels{assigned_q[s]}});
  end
  assign changed_o       = assign_changed_i | changed_q;
  assign assign_o        = assign_q;
  assign spatial_o       = spatial_q && !restarts;
  assign giving_o        = giving_q;
  assign plan_mode_o     = enabled ? mode_q : policy_i.dispatch;
  assign plan_table_o    = enabled ? plan_table_q : policy_i.table_tbs;
  assign plan_at_end_o   = at_end_q;
  assign plan_each_o     = enabled;
  assign sample_begin_o  = begin_q;
  assign sample_end_o    = end_q;
  assign sample_kernel_o = kernel_q;
  assign sample_stalls_o = stalls_q;
  // A window goes on for nobody but the profiler.
  assign busy_o          = profiler_busy || plan_busy || plan_done || changed_any_q || assign_q ||
                           window != window_q || begin_q || end_q;

  // Under another policy nothing is given, planned or sampled.
  `SMK_ASSERT(OthersUntouched_A, !enabled |-> !busy_o && alone_q == '0 && !giving_q && !spatial_q)
  `SMK_ASSERT(AloneIsKeptTwice_A, assigned_q == ~alone_q && changed_any_q == (changed_q != '0))
  // A kernel that an SM is given alone has TBs there.
  for (genvar s = 0; s < NumSms; s++) begin : gen_check
    `SMK_ASSERT(AloneHasTbs_A, alone_q[s] |-> tbs_q.sm[s] != '0)
    `SMK_ASSERT(OnlyIsTheKernel_A, only_q.sm[s] ==
                ((NumKernels'(1) << kernel_q.sm[s]) & {NumKernels{alone_q[s]}}))
    // The kernel of a window stays.
    `SMK_ASSERT(WindowOfOneKernel_A, window_q && !restarts |=> $stable(kernel_q.sm[s]))
  end
  // Windows begin and end in turn.
  `SMK_ASSERT(BeginsOrEnds_A, !(begin_q && end_q))
  // A plan that was asked for before kernels came or went is really overtaken in our tests.
  `SMK_COVER(PlanOvertaken_C, plan_done && !asked_q)
  `SMK_COVER(Spatial_C, spatial_q)
endmodule
