// SPDX-License-Identifier: Apache-2.0
// smk_driver_decision: who decides, and whom it asks; part of smk_driver.
//
// Purpose     Joins the dispatcher with the DRF tracker, which answers its questions, with the
//             partition planner, and with the block that streams new TBs; keeps what the planner
//             sees of the kernels.
// Paper       [SMK] Sec. 5.2, 5.3.
// Interface   As of smk_tb_dispatch. events_i: all events, pulses (S5). awake_o: not idle.
// Latency     As of the blocks; the planner sees kernels one cycle late.
// Throughput  As of the blocks.
// Reset       No TB, no partition, nothing to decide.
// Model       model/control/driver/driver.h   Doc  docs/blocks/driver.md
`include "smk_assert.svh"

module smk_driver_decision (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  smk_pkg::policy_t          policy_i,
  input  logic                      tick_i,
  // Of the kernels.
  input  smk_pkg::kernel_mask_t     active_i,
  input  smk_pkg::order_vec_t       order_i,
  input  smk_pkg::need_vec_t        need_i,
  input  smk_pkg::share_vec_t       tb_share_i,
  input  smk_pkg::tb_id_vec_t       remaining_i,
  input  smk_pkg::tb_id_vec_t       next_tb_i,
  // TBs to dispatch, new or preempted.
  input  smk_pkg::kernel_mask_t     able_i,
  input  smk_pkg::kernel_mask_t     need_changed_i,
  input  smk_pkg::kernel_mask_t     kernel_done_i,
  input  smk_pkg::kernel_mask_t     member_expired_i,
  // Of the SMs: which kernels may run there, how far apart those are that host the same, and what they
  // report.
  input  logic                      assign_busy_i,
  input  smk_pkg::sm_kernels_t      allowed_i,
  input  smk_pkg::sm_mask_t         assign_changed_i,
  input  smk_pkg::kernel_mask_t     apart_i,
  input  smk_pkg::sm_events_t       events_i,
  input  smk_pkg::sm_mask_t         events_valid_i,
  input  smk_pkg::sm_mask_t         settled_i,
  // Of the preempted queue.
  input  smk_pkg::kernel_mask_t     queued_i,
  input  smk_pkg::buffer_cnt_vec_t  queue_count_i,
  input  smk_pkg::buffer_cnt_vec_t  queue_free_i,
  input  smk_pkg::sm_mask_t         queue_ack_i,
  input  smk_pkg::preempted_entry_t queue_front_i,
  input  logic [smk_pkg::NumKernels*(smk_pkg::TbIdWidth+smk_pkg::BufferWidth+1)-1:0] queue_fronts_i,
  output smk_pkg::kernel_id_t       queue_kernel_o,
  // What was decided, for the other blocks and for the SM.
  output smk_pkg::dispatch_pulses_t pulses_o,
  // What is planned on an SM; each SM has a plan of its own.
  input  smk_pkg::dispatch_mode_e   plan_mode_i,
  input  smk_pkg::tb_cnt_vec_t      plan_table_i,
  input  logic                      plan_at_end_i,
  input  logic                      plan_each_i,
  output smk_pkg::kernel_mask_t     dispatch_new_o,
  output smk_pkg::kernel_mask_t     dispatch_pop_o,
  // TBs that stream: the SM, one cycle later the TB, and another later the command.
  input  smk_pkg::sm_mask_t         credit_i,
  input  smk_pkg::sm_mask_t         command_credit_i,
  // SMs on which a TB waits for a gap; on which that begins.
  input  smk_pkg::sm_mask_t         waiting_i,
  input  smk_pkg::sm_mask_t         waits_i,
  input  logic                      launch_i,
  input  logic                      quota_waits_i,
  output smk_pkg::sm_mask_t         stream_takes_o,
  output smk_pkg::kernel_mask_t     stream_new_o,
  output smk_pkg::kernel_mask_t     stream_pop_o,
  output logic                      stream_valid_o,
  output smk_pkg::sm_mask_t         stream_sm_o,
  output smk_pkg::sm_command_t      stream_command_o,
  output logic                      command_valid_o,
  input  smk_pkg::sm_mask_t         command_ready_i,
  output smk_pkg::sm_mask_t         command_sms_o,
  output smk_pkg::sm_command_t      command_o,
  output smk_pkg::sm_mask_t         busy_o,
  output smk_pkg::sm_kernels_t      planned_o,
  output smk_pkg::sm_tb_cnts_t      partition_o,
  // Kernels with TBs on some SM; TBs of each on every SM.
  output smk_pkg::kernel_mask_t     resident_o,
  output smk_pkg::sm_tb_cnts_t      tbs_o,
  output smk_pkg::decision_t        decision_o,
  output smk_pkg::total_share_vec_t share_o,
  // Of the other blocks, and of all.
  input  logic                      others_awake_i,
  output logic                      awake_o
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;

  // What the planner sees of the kernels, one cycle later.
  smk_pkg::need_vec_t        plan_need_q;
  smk_pkg::share_vec_t       plan_tb_share_q;
  smk_pkg::order_vec_t       plan_order_q;
  logic                      plan_busy, plan_done, plan_anywhere;
  smk_pkg::sm_id_t           unused_command_sm;
  smk_pkg::kernel_mask_t     plan_kernels;
  smk_pkg::range_vec_t       plan_range;
  // Questions of the dispatch decision, and the tracker's answers.
  smk_pkg::kernel_sms_t      pick_sms, pick_sm, look_sm;
  smk_pkg::kernel_mask_t     pick_kernels, pick_kernel, victim_kernels, victim_kernel;
  smk_pkg::kernel_mask_t     range_kernel, range_victim;
  smk_pkg::kernel_id_t       victim_exclude;
  smk_pkg::sm_mask_t         victim_sms, victim_sm, victim_look;
  smk_pkg::resource_vector_t look_taken;
  smk_pkg::tb_need_t         victim_taken;
  smk_pkg::tb_cnt_vec_t      victim_resident;
  smk_pkg::tb_cnt_t          look_resident, range_victim_tbs;
  logic                      range_starts, range_stops, range_shrinks, shares_busy, work;
  // And what the tracker counts.
  smk_pkg::sm_kernels_t      resident, victims;
  smk_pkg::dispatch_pulses_t pulses, counted;
  smk_pkg::tb_arrival_t      arrival, dispatch_arrival;
  smk_pkg::kernel_id_t       stream_kernel;
  smk_pkg::sm_taken_t        taken;
  smk_pkg::sm_tb_cnts_t      tbs;
  smk_pkg::sm_mask_t         reserved;
  smk_pkg::decision_t        dispatch_decision, stream_decision;
  logic                      decides, stream_send, stream_quiet, stream_work, others_work;

  // What was decided by either is counted; one decides at a time, and the other is zero.
  always_comb begin
    counted = pulses;
    counted.dispatch = pulses.dispatch || stream_send;
    if (stream_send) counted.kernel = stream_kernel;
  end
  assign decision_o     = stream_quiet ? dispatch_decision : stream_decision;

  smk_drf_tracker u_drf_tracker (
    .clk_i, .rst_ni, .kernel_done_i, .events_i, .need_i, .tb_share_i, .active_i, .share_o,
    .pulses_i           (counted),
    .arrival_i          (arrival),
    .taken_o            (taken),
    .tbs_o              (tbs),
    .shortfall_of_i     (victims),
    .count_running_sms_i(policy_i.kernels_per_sm < smk_pkg::KernelCntWidth'(NumKernels)),
    .pick_sms_i         (pick_sms),
    .pick_sm_o          (pick_sm),
    .pick_kernels_i     (pick_kernels),
    .pick_kernel_o      (pick_kernel),
    .look_sm_i          (look_sm),
    .look_taken_o       (look_taken),
    .look_resident_o    (look_resident),
    .victim_exclude_i   (victim_exclude),
    .victim_sms_i       (victim_sms),
    .victim_sm_o        (victim_sm),
    .victim_look_i      (victim_look),
    .victim_taken_o     (victim_taken),
    .victim_resident_o  (victim_resident),
    .victim_kernels_i   (victim_kernels),
    .victim_kernel_o    (victim_kernel),
    .range_kernel_i     (range_kernel),
    .range_starts_i     (range_starts),
    .range_victim_i     (range_victim),
    .range_victim_tbs_i (range_victim_tbs),
    .range_stops_i      (range_stops),
    .range_shrinks_o    (range_shrinks),
    .resident_o         (resident),
    .busy_o             (shares_busy)
  );

  // Kernels that wait for older ones.
  smk_pkg::kernel_mask_t held;
  smk_driver_held u_held (
    .clk_i, .rst_ni, .order_i, .able_i, .allowed_i,
    .enable_i(policy_i.leftover_strict && policy_i.dispatch == smk_pkg::DispatchLeftover),
    .held_o  (held)
  );

  smk_tb_dispatch u_tb_dispatch (
    .clk_i, .rst_ni, .policy_i, .tick_i, .held_i(held), .assign_busy_i, .allowed_i, .assign_changed_i, .active_i, .order_i,
    .need_i, .remaining_i, .next_tb_i, .need_changed_i, .kernel_done_i, .member_expired_i,
    .events_valid_i, .settled_i, .waiting_i, .waits_i, .command_ready_i, .queued_i, .queue_count_i, .queue_free_i,
    .queue_ack_i, .queue_front_i, .command_valid_o, .command_sms_o, .command_o,
    .queue_kernel_o,
    .busy_o, .planned_o, .partition_o,
    .decision_o        (dispatch_decision),
    .plan_done_i       (plan_done),
    .plan_kernels_i    (plan_kernels),
    .plan_range_i      (plan_range),
    .plan_anywhere_i   (plan_anywhere && !plan_each_i),
    .command_sm_o      (unused_command_sm),
    .pick_sms_o        (pick_sms),
    .pick_sm_i         (pick_sm),
    .pick_kernels_o    (pick_kernels),
    .pick_kernel_i     (pick_kernel),
    .look_sm_o         (look_sm),
    .look_taken_i      (look_taken),
    .look_resident_i   (look_resident),
    .victim_exclude_o  (victim_exclude),
    .victim_sms_o      (victim_sms),
    .victim_sm_i       (victim_sm),
    .victim_look_o     (victim_look),
    .victim_taken_i    (victim_taken),
    .victim_resident_i (victim_resident),
    .victim_kernels_o  (victim_kernels),
    .victim_kernel_i   (victim_kernel),
    .range_kernel_o    (range_kernel),
    .range_starts_o    (range_starts),
    .range_victim_o    (range_victim),
    .range_victim_tbs_o(range_victim_tbs),
    .range_stops_o     (range_stops),
    .range_shrinks_i   (range_shrinks),
    .resident_i        (resident),
    .pulses_o          (pulses),
    .arrival_o         (dispatch_arrival),
    .victims_o         (victims),
    .reserved_o        (reserved),
    .others_work_i     (others_work),
    .work_o            (work),
    .decides_o         (decides)
  );

  smk_tb_stream u_tb_stream (
    .clk_i, .rst_ni, .policy_i, .order_i, .need_i, .remaining_i, .next_tb_i, .queued_i,
    .allowed_i, .busy_i(busy_o), .planned_i(planned_o), .partition_i(partition_o), .credit_i,
    .quota_waits_i,
    .held_i         (held),
    .taken_i        (taken),
    .resident_i     (tbs),
    .reserved_i     (reserved),
    .flush_i        (decides || assign_busy_i || assign_changed_i != '0 || need_changed_i != '0 ||
                     member_expired_i != '0),
    .changes_i      (events_valid_i != '0 || command_credit_i != '0 || launch_i),
    .queue_count_i, .queue_fronts_i,
    .takes_o        (stream_takes_o),
    .send_o         (stream_send),
    .quiet_o        (stream_quiet),
    .kernel_o       (stream_kernel),
    .new_o          (stream_new_o),
    .pop_o          (stream_pop_o),
    .decision_o     (stream_decision),
    .command_valid_o(stream_valid_o),
    .command_sm_o   (stream_sm_o),
    .command_o      (stream_command_o),
    .dispatch_arrival_i(dispatch_arrival),
    .arrival_o      (arrival),
    .work_o         (stream_work)
  );

  // A kernel of the fixed table has ended: the others divide the SM among them [D97].
  smk_pkg::kernel_mask_t gone_q, of_table;
  logic                  table_gone;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_table
    assign of_table[k] = plan_table_i.kernel[k] != '0;
  end
  assign table_gone = policy_i.dispatch == smk_pkg::DispatchTable && (gone_q & of_table) != '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) gone_q <= '0;
    else         gone_q <= (gone_q | member_expired_i) & ~need_changed_i;
  end

  smk_partition_planner u_partition_planner (
    .clk_i, .rst_ni,
    .start_i    (pulses.plan_start),
    .kernels_i  (pulses.plan_kernels),
    .sm_i       (pulses.sm),
    .apart_i,
    .mode_i     (table_gone ? smk_pkg::DispatchEven : plan_mode_i),
    .table_tbs_i(plan_table_i),
    .last_at_end_i(plan_at_end_i),
    .need_i     (plan_need_q),
    .tb_share_i (plan_tb_share_q),
    .order_i    (plan_order_q),
    .busy_o     (plan_busy),
    .done_o     (plan_done),
    .kernels_o  (plan_kernels),
    .anywhere_o (plan_anywhere),
    .range_o    (plan_range)
  );

  // Counts only of kernels that have been launched; not reset.
  always_ff @(posedge clk_i) begin
    plan_need_q     <= need_i;
    plan_tb_share_q <= tb_share_i;
    plan_order_q    <= order_i;
  end

  always_comb begin
    resident_o = '0;
    for (int unsigned i = 0; i < smk_pkg::NumSms; i++) resident_o = resident_o | resident.sm[i];
  end
  assign tbs_o          = tbs;
  assign pulses_o       = pulses;
  assign dispatch_new_o = (NumKernels'(1) << pulses.kernel) & {NumKernels{pulses.dispatch_new}};
  assign dispatch_pop_o = (NumKernels'(1) << pulses.kernel) & {NumKernels{pulses.pop}};
  assign others_work = others_awake_i || plan_busy || plan_done || pulses.plan_start ||
                       pulses.dispatch || pulses.reserve || pulses.cancel || pulses.preempt ||
                       shares_busy || stream_work;
  assign awake_o     = `SMK_CUT(Work, work);

  // Idle: TBs are resident as before when none comes and none is reported.
  `SMK_ASSERT(IdleHolds_A, events_valid_i == '0 && !counted.dispatch |=> $stable(resident))
  // One decides at a time.
  `SMK_ASSERT(OneDecides_A, !(stream_send && (pulses.dispatch || dispatch_decision.valid)))
endmodule
