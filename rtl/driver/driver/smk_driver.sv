// SPDX-License-Identifier: Apache-2.0
// smk_driver: the GPU's SM driver, wired together.
//
// Purpose     Kernel table, token arbiter, SM assignment, preempted queue, quota calculator, and in
//             smk_driver_decision dispatch, DRF tracker and partition planner; and the parts that
//             gather events, keep profiled windows and give out the command bus to the SMs.
// Paper       [SMK] Sec. 5.1, Fig. 3.
// Interface   launch_*: stream, never waits. sm_*: pulses from the SMs, however late they come.
//             command_*: pulse to one SM, one payload for all; an SM's next comes after its
//             sm_command_credit_i. buffer_valid_o, event_ack_o, tick_o: pulses.
// Latency     As of the blocks; tick_o one cycle after tick_i. The kernel table hears of finished TBs
//             one cycle late.
// Throughput  One command per cycle.
// Reset       No kernel.
// Model       model/control/driver/driver.h   Doc  docs/blocks/driver.md
// Nothing changes in a cycle without an input pulse or awake_o. Holds what launches change.
`include "smk_assert.svh"

module smk_driver (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  // Constant during a run.
  input  smk_pkg::policy_t              policy_i,
  // From the host and the chip timer.
  input  logic                          launch_valid_i,
  input  logic [smk_pkg::KernelWidth:0] launch_kernel_i,
  input  smk_pkg::kernel_descriptor_t   launch_i,
  input  logic                          tick_i,
  output logic                          launch_ready_o,
  output smk_pkg::launch_error_e        launch_error_o,
  output smk_pkg::kernel_mask_t         kernel_done_o,
  // Of the SMs.
  input  smk_pkg::sm_events_t           sm_events_i,
  input  smk_pkg::sm_mask_t             sm_command_credit_i,
  input  smk_pkg::sm_mask_t             sm_command_waits_i,
  input  smk_pkg::sm_mask_t             sm_buffer_request_i,
  input  smk_pkg::sm_kernel_id_t        sm_buffer_kernel_i,
  input  smk_pkg::sm_mask_t             sm_buffer_withdraw_i,
  input  smk_pkg::sm_mask_t             sm_profile_valid_i,
  input  smk_pkg::sm_issued_t           sm_profile_issued_i,
  input  smk_pkg::sm_mask_t             sm_sample_valid_i,
  input  smk_pkg::sm_samples_t          sm_sample_issued_i,
  input  smk_pkg::sm_samples_t          sm_sample_stalled_i,
  // To the SMs.
  output smk_pkg::sm_mask_t             command_valid_o,
  output smk_pkg::sm_command_t          command_o,
  output smk_pkg::sm_mask_t             buffer_valid_o,
  output smk_pkg::buffer_t              buffer_o,
  output smk_pkg::sm_mask_t             buffer_none_o,
  output smk_pkg::sm_mask_t             event_ack_o,
  output logic                          tick_o,
  output logic                          sample_begin_o,
  output logic                          sample_end_o,
  output smk_pkg::sm_kernel_id_t        sample_kernel_o,
  output logic                          sample_stalls_o,
  output smk_pkg::context_views_t       views_o,
  output smk_pkg::need_vec_t            needs_o,
  // Not idle.
  output logic                          awake_o,
  // For logs: the decision of this cycle, rK, the partitions in force.
  output smk_pkg::decision_t            decision_o,
  output smk_pkg::total_share_vec_t     share_o,
  output smk_pkg::sm_tb_cnts_t          partition_o,
  // For statistics: who has the GPU under DispatchToken.
  output smk_pkg::token_t               token_o
);
  `SMK_CHECK_CONFIG

  localparam int unsigned NumSms      = smk_pkg::NumSms;
  localparam int unsigned NumKernels  = smk_pkg::NumKernels;
  localparam int unsigned KernelWidth = smk_pkg::KernelWidth;

  logic                  assign_pending_d, assign_pending_q;
  smk_pkg::kernel_mask_t need_changed_d, need_changed_q;
  logic                  tick_q;
  // The SMs, the timer or a launch said something in the last cycle, or SMs were being assigned.
  logic                  told_d, told_q;

  // Registers and wires of the blocks.
  logic                      launch_fire, launch_same;
  smk_pkg::kernel_mask_t     kernel_done, member_expired, active, members;
  smk_pkg::need_vec_t        need;
  smk_pkg::share_vec_t       tb_share;
  smk_pkg::order_vec_t       order;
  smk_pkg::tb_id_vec_t       remaining, next_tb;
  logic                      assign_busy;
  smk_pkg::sm_kernels_t      assigned, allowed, planned;
  smk_pkg::kernel_mask_t     apart;
  smk_pkg::sm_mask_t         assign_changed, changed, busy_sms;
  logic                      slicer_assigns, slicer_spatial, slicer_gives, slicer_busy;
  logic                      slicer_profiles, plan_at_end, plan_each;
  smk_pkg::sm_mask_t         settled_sms;
  smk_pkg::kernel_mask_t     able;
  smk_pkg::dispatch_mode_e   plan_mode;
  smk_pkg::tb_cnt_vec_t      plan_table;
  smk_pkg::dispatch_pulses_t pulses;
  smk_pkg::kernel_mask_t     dispatch_new, dispatch_pop, stream_new, stream_pop;
  logic                      dispatch_command_valid;
  smk_pkg::sm_mask_t         dispatch_command_sms;
  smk_pkg::sm_command_t      dispatch_command;
  smk_pkg::kernel_mask_t     queued;
  smk_pkg::buffer_cnt_vec_t  queue_count, queue_free;
  smk_pkg::preempted_entry_t queue_front;
  logic [NumKernels*(smk_pkg::TbIdWidth+smk_pkg::BufferWidth+1)-1:0] queue_fronts;
  smk_pkg::kernel_id_t       queue_kernel;
  logic                      queue_busy;
  logic                      quota_busy, quota_command_valid;
  smk_pkg::sm_id_t           quota_command_sm;
  smk_pkg::sm_command_t      quota_command;

  // What the SMs report, by kind.
  smk_pkg::sm_mask_t      event_valid, event_settled, event_finished, event_to_queue, finished;
  smk_pkg::sm_kernel_id_t finished_kernel;
  smk_driver_events u_events (
    .clk_i, .rst_ni, .sm_events_i,
    .valid_o          (event_valid),
    .settled_o        (event_settled),
    .finished_o       (event_finished),
    .to_queue_o       (event_to_queue),
    .finished_late_o  (finished),
    .finished_kernel_o(finished_kernel)
  );

  smk_kernel_table u_kernel_table (
    .clk_i, .rst_ni, .launch_valid_i, .launch_kernel_i, .launch_i, .launch_ready_o, .launch_error_o,
    .tick_i, .views_o,
    .dispatch_new_i       (dispatch_new | stream_new),
    .finished_valid_i     (finished),
    .finished_kernel_i    (finished_kernel),
    .linger_ticks_i       (policy_i.linger_ticks),
    .launch_fire_o        (launch_fire),
    .launch_same_o        (launch_same),
    .kernel_done_o        (kernel_done),
    .member_expired_o     (member_expired),
    .active_o             (active),
    .members_o            (members),
    .need_o               (need),
    .tb_share_o           (tb_share),
    .order_o              (order),
    .remaining_o          (remaining),
    .next_tb_o            (next_tb)
  );
  assign kernel_done_o = kernel_done;

  // Under DispatchToken all SMs are the token's holder's.
  logic                  tokens, token_assigns, token_busy;
  smk_pkg::kernel_mask_t resident;
  smk_pkg::sm_tb_cnts_t  tbs;
  assign tokens = policy_i.dispatch == smk_pkg::DispatchToken;
  smk_token_arbiter u_token_arbiter (
    .clk_i, .rst_ni,
    .enable_i  (tokens),
    .window_i  (policy_i.token_window),
    .quota_i   (policy_i.token_quota),
    .request_i (policy_i.token_request),
    .limit_i   (policy_i.token_limit),
    .demand_i  (active),
    .resident_i(resident),
    .assign_o  (token_assigns),
    .token_o,
    .busy_o    (token_busy)
  );

  smk_sm_assign u_sm_assign (
    .clk_i, .rst_ni,
    .start_i         (assign_pending_q || slicer_assigns || token_assigns),
    .members_i       (tokens ? token_o.holder : members),
    .spatial_i       (policy_i.dispatch == smk_pkg::DispatchSpatial || slicer_spatial),
    .profile_i       (policy_i.quota_enable),
    .kernels_per_sm_i(policy_i.kernels_per_sm),
    .busy_o          (assign_busy),
    .allowed_o       (assigned),
    .apart_o         (apart),
    .changed_o       (assign_changed)
  );

  // Kernels are profiled, and get the plan of that.
  smk_driver_slicer u_slicer (
    .clk_i, .rst_ni, .policy_i, .sm_sample_valid_i, .sm_sample_issued_i, .sm_sample_stalled_i,
    .sample_begin_o, .sample_end_o, .sample_kernel_o, .sample_stalls_o,
    .settled_i       (settled_sms),
    .able_i          (able),
    .assign_i        (assign_pending_q),
    .members_i       (members),
    .need_i          (need),
    .order_i         (order),
    .assigned_i      (assigned),
    .assign_changed_i(assign_changed),
    .allowed_o       (allowed),
    .changed_o       (changed),
    .assign_o        (slicer_assigns),
    .spatial_o       (slicer_spatial),
    .giving_o        (slicer_gives),
    .pulses_i        (pulses),
    .plan_mode_o     (plan_mode),
    .plan_table_o    (plan_table),
    .plan_at_end_o   (plan_at_end),
    .plan_each_o     (plan_each),
    .profiling_o     (slicer_profiles),
    .busy_o          (slicer_busy)
  );

  // Dispatcher, the TBs that stream, tracker and planner.
  logic                 stream_valid, quota_waits;
  smk_pkg::sm_mask_t    stream_takes, stream_sm, credit, waiting;
  smk_pkg::sm_command_t stream_command;
  logic              others_awake;
  smk_pkg::sm_mask_t dispatch_command_ready;
  smk_driver_decision u_decision (
    .clk_i, .rst_ni, .policy_i, .partition_o, .decision_o, .share_o,
    .tick_i          (tick_q),
    .active_i        (active),
    .order_i         (order),
    .need_i          (need),
    .tb_share_i      (tb_share),
    .remaining_i     (remaining),
    .next_tb_i       (next_tb),
    .need_changed_i  (need_changed_q),
    .kernel_done_i   (kernel_done),
    .member_expired_i(member_expired),
    .assign_busy_i   (assign_pending_q || assign_busy || slicer_gives || slicer_assigns ||
                      token_assigns),
    .allowed_i       (allowed),
    .assign_changed_i(changed),
    .apart_i         (apart),
    .events_i        (sm_events_i),
    .events_valid_i  (event_valid),
    .settled_i       (event_settled),
    .queued_i        (queued),
    .able_i          (able),
    .queue_count_i   (queue_count),
    .queue_free_i    (queue_free),
    .queue_ack_i     (event_ack_o),
    .queue_front_i   (queue_front),
    .queue_fronts_i  (queue_fronts),
    .queue_kernel_o  (queue_kernel),
    .pulses_o        (pulses),
    .plan_mode_i     (plan_mode),
    .plan_table_i    (plan_table),
    .plan_at_end_i   (plan_at_end),
    .plan_each_i     (plan_each),
    .credit_i        (credit),
    .command_credit_i(sm_command_credit_i),
    .waiting_i       (waiting),
    .waits_i         (sm_command_waits_i),
    .launch_i        (launch_fire),
    .quota_waits_i   (quota_waits),
    .stream_takes_o  (stream_takes),
    .stream_new_o    (stream_new),
    .dispatch_new_o  (dispatch_new),
    .dispatch_pop_o  (dispatch_pop),
    .stream_pop_o    (stream_pop),
    .stream_valid_o  (stream_valid),
    .stream_sm_o     (stream_sm),
    .stream_command_o(stream_command),
    .command_valid_o (dispatch_command_valid),
    .command_ready_i (dispatch_command_ready),
    .command_sms_o   (dispatch_command_sms),
    .command_o       (dispatch_command),
    .busy_o          (busy_sms),
    .planned_o       (planned),
    .resident_o      (resident),
    .tbs_o           (tbs),
    .others_awake_i  (others_awake),
    .awake_o
  );

  smk_preempted_queue u_preempted_queue (
    .clk_i, .rst_ni,
    .request_i       (sm_buffer_request_i),
    .request_kernel_i(sm_buffer_kernel_i),
    .withdraw_i      (sm_buffer_withdraw_i),
    .events_i        (sm_events_i),
    .events_valid_i  (event_to_queue),
    .pop_i           (dispatch_pop | stream_pop),
    .front_kernel_i  (queue_kernel),
    .front_o         (queue_front),
    .fronts_o        (queue_fronts),
    .queued_o        (queued),
    .count_o         (queue_count),
    .free_o          (queue_free),
    .ack_o           (event_ack_o),
    .grant_o         (buffer_valid_o),
    .grant_buffer_o  (buffer_o),
    .none_o          (buffer_none_o),
    .busy_o          (queue_busy)
  );

  // The window of the i-th member comes from SM i.
  smk_pkg::kernel_mask_t profile_valid;
  smk_pkg::issued_vec_t  profile_issued;
  smk_pkg::tb_cnt_vec_t  profile_tbs;
  logic                  profile_heard;
  smk_driver_profile u_profile (
    .clk_i, .rst_ni, .sm_profile_valid_i, .sm_profile_issued_i,
    .tick_i          (tick_q),
    .quota_enable_i  (policy_i.quota_enable && policy_i.quota_gate && !slicer_profiles),
    .members_i       (members),
    .tbs_i           (tbs),
    .profile_valid_o (profile_valid),
    .profile_issued_o(profile_issued),
    .profile_tbs_o   (profile_tbs),
    .heard_o         (profile_heard)
  );

  // Kernels that have TBs to dispatch, new or preempted.
  for (genvar k = 0; k < NumKernels; k++) begin : gen_able
    assign able[k] = remaining.kernel[k] != '0 || queued[k];
  end
  // Does the partition of an SM cover the kernels that may run there, and is it in force? No SM is
  // planned for a kernel that has no TB to dispatch.
  always_comb begin
    for (int unsigned i = 0; i < NumSms; i++) begin
      settled_sms[i] = (allowed.sm[i] & ~planned.sm[i] & able) == '0 && !busy_sms[i];
    end
  end
  // The same of the SM that quotas are for, and of active kernels. The SM is chosen first: who is active
  // is known late.
  smk_pkg::sm_mask_t     quota_at;
  smk_pkg::kernel_mask_t uncovered_at;
  logic                  settled;
  always_comb begin
    uncovered_at = '0;
    for (int unsigned i = 0; i < NumSms; i++) begin
      if (quota_at[i]) uncovered_at = uncovered_at | (allowed.sm[i] & ~planned.sm[i]);
    end
  end
  assign settled = (uncovered_at & active) == '0 && (quota_at & busy_sms) == '0;

  logic quota_command_ready, quota_owns;
  smk_quota_calculator u_quota_calculator (
    .clk_i, .rst_ni,
    .epoch_length_i  (policy_i.epoch_length),
    .profile_valid_i (profile_valid),
    .profile_issued_i(profile_issued),
    .profile_tbs_i   (profile_tbs),
    .partition_i     (partition_o),
    .at_o            (quota_at),
    .settled_i       (settled),
    .command_ready_i (quota_command_ready),
    .busy_o          (quota_busy),
    .command_valid_o (quota_command_valid),
    .command_sm_o    (quota_command_sm),
    .command_o       (quota_command)
  );

  smk_driver_bus u_bus (
    .clk_i, .rst_ni, .command_valid_o, .command_o,
    .dispatch_valid_i  (dispatch_command_valid),
    .dispatch_ready_o  (dispatch_command_ready),
    .dispatch_sms_i    (dispatch_command_sms),
    .dispatch_command_i(dispatch_command),
    .stream_takes_i    (stream_takes),
    .stream_valid_i    (stream_valid),
    .stream_sm_i       (stream_sm),
    .stream_command_i  (stream_command),
    .quota_valid_i     (quota_command_valid),
    .quota_ready_o     (quota_command_ready),
    .quota_sm_i        (quota_command_sm),
    .quota_command_i   (quota_command),
    .credit_o          (credit),
    .credit_i          (sm_command_credit_i),
    .waits_i           (sm_command_waits_i),
    .waiting_o         (waiting),
    .quota_owns_o      (quota_owns),
    .quota_waits_o     (quota_waits)
  );

  // Launches and expired places start a new assignment of SMs.
  logic launch_new;
  assign launch_new       = launch_fire && !launch_same;
  assign assign_pending_d = launch_new || member_expired != '0;
  assign need_changed_d   = launch_new ? NumKernels'(1) << launch_kernel_i[KernelWidth-1:0] : '0;
  assign needs_o          = need;
  assign tick_o           = tick_q;
  assign told_d           = tick_i || event_finished != '0 || profile_heard ||
                            assign_pending_d || assign_busy;
  assign others_awake     = told_q || quota_command_valid || dispatch_command_valid ||
                            kernel_done != '0 || member_expired != '0 || assign_busy ||
                            slicer_busy || queue_busy || quota_busy || token_busy;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      assign_pending_q <= 1'b0;
      need_changed_q   <= '0;
      tick_q           <= 1'b0;
      told_q           <= 1'b0;
    end else begin
      assign_pending_q <= assign_pending_d;
      need_changed_q   <= need_changed_d;
      tick_q           <= `SMK_CUT(Tick, tick_i);
      told_q           <= told_d;
    end
  end

  // A TB is dispatched only for a kernel that has TBs.
  `SMK_ASSERT(DispatchOfActive_A, dispatch_command_valid && !quota_owns &&
              dispatch_command.op == smk_pkg::CommandDispatch |->
              (active >> dispatch_command.kernel & NumKernels'(1)) != '0)
  // An idle driver says nothing to the SMs.
  `SMK_ASSERT(IdleIsSilent_A, !awake_o |-> command_valid_o == '0 && event_ack_o == '0 &&
              (buffer_valid_o | buffer_none_o) == '0 && !tick_o && !sample_begin_o &&
              !sample_end_o)
endmodule
