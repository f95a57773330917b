// SPDX-License-Identifier: Apache-2.0
// smk_tb_dispatch: which TB goes to which SM, and who has to leave.
//
// Purpose     The dispatch decision in every mode: on demand with victim search and the test of the
//             range of rK (Fig. 4), with partitions (Fig. 7), left-over, even split, fixed table,
//             spatial.
// Paper       [SMK] Sec. 5.3, Fig. 4 and 7; 5.5; deviations [D1], [D2], [D13], [D14], [D22],
//             [D73].
// Interface   Reads the registers of the driver's other blocks; asks smk_drf_tracker in steps of
//             their own. command: stream to SM command_sm_o. pulses_o, decision_o: payloads count
//             only with their bit, decision_o.tb only with dispatches, its victim only with
//             preemptions. victims_o: of which kernel TBs leave each SM, one bit or none.
// Latency     A dispatch is decided 4 cycles after Idle sees work, an eviction 2; a preemption of n
//             TBs 15 + n. At least 4, 2 and 15 times latency_scale. A decision that is overtaken by
//             an event begins anew; waiting for the planner or for an SM's credit comes on top.
// Throughput  One decision at a time.
// Reset       No partition, nothing tried.
// Model       model/control/driver/tb_dispatch.h   Doc  docs/blocks/tb_dispatch.md
// A pair (kernel, SM) for which nothing could be done is not tried again before something changes.
`include "smk_assert.svh"

module smk_tb_dispatch (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  smk_pkg::policy_t           policy_i,
  // Pulse: an epoch ends.
  input  logic                       tick_i,
  // Kernels that wait for older ones.
  input  smk_pkg::kernel_mask_t      held_i,
  // Registers of smk_sm_assign and smk_kernel_table, and their pulses.
  input  logic                       assign_busy_i,
  input  smk_pkg::sm_kernels_t       allowed_i,
  input  smk_pkg::sm_mask_t          assign_changed_i,
  input  smk_pkg::kernel_mask_t      active_i,
  input  smk_pkg::order_vec_t        order_i,
  input  smk_pkg::need_vec_t         need_i,
  input  smk_pkg::tb_id_vec_t        remaining_i,
  input  smk_pkg::tb_id_vec_t        next_tb_i,
  input  smk_pkg::kernel_mask_t      need_changed_i,
  input  smk_pkg::kernel_mask_t      kernel_done_i,
  input  smk_pkg::kernel_mask_t      member_expired_i,
  // Registers of the SMs: any event, a Settled event, command_ready.
  input  smk_pkg::sm_mask_t          events_valid_i,
  input  smk_pkg::sm_mask_t          settled_i,
  input  smk_pkg::sm_mask_t          command_ready_i,
  // SMs on which a TB waits for a gap, and pulses: on which that begins.
  input  smk_pkg::sm_mask_t          waiting_i,
  input  smk_pkg::sm_mask_t          waits_i,
  // smk_preempted_queue: kernels with TBs waiting, how many, context buffers free per kernel, TBs queued
  // just now.
  input  smk_pkg::kernel_mask_t      queued_i,
  input  smk_pkg::buffer_cnt_vec_t   queue_count_i,
  input  smk_pkg::buffer_cnt_vec_t   queue_free_i,
  input  smk_pkg::sm_mask_t          queue_ack_i,
  input  smk_pkg::preempted_entry_t  queue_front_i,
  output smk_pkg::kernel_id_t        queue_kernel_o,
  // smk_partition_planner.
  input  logic                       plan_done_i,
  input  smk_pkg::kernel_mask_t      plan_kernels_i,
  input  smk_pkg::range_vec_t        plan_range_i,
  input  logic                       plan_anywhere_i,
  // Questions to smk_drf_tracker: the SM with the lowest rSM of each kernel; the kernel with the
  // lowest rK, and what is on its SM; who loses TBs where; does the range of rK shrink?
  output smk_pkg::kernel_sms_t       pick_sms_o,
  input  smk_pkg::kernel_sms_t       pick_sm_i,
  output smk_pkg::kernel_mask_t      pick_kernels_o,
  input  smk_pkg::kernel_mask_t      pick_kernel_i,
  output smk_pkg::kernel_sms_t       look_sm_o,
  input  smk_pkg::resource_vector_t  look_taken_i,
  input  smk_pkg::tb_cnt_t           look_resident_i,
  output smk_pkg::kernel_id_t        victim_exclude_o,
  output smk_pkg::sm_mask_t          victim_sms_o,
  input  smk_pkg::sm_mask_t          victim_sm_i,
  output smk_pkg::sm_mask_t          victim_look_o,
  input  smk_pkg::tb_need_t          victim_taken_i,
  input  smk_pkg::tb_cnt_vec_t       victim_resident_i,
  output smk_pkg::kernel_mask_t      victim_kernels_o,
  input  smk_pkg::kernel_mask_t      victim_kernel_i,
  output smk_pkg::kernel_mask_t      range_kernel_o,
  output logic                       range_starts_o,
  output smk_pkg::kernel_mask_t      range_victim_o,
  output smk_pkg::tb_cnt_t           range_victim_tbs_o,
  output logic                       range_stops_o,
  input  logic                       range_shrinks_i,
  input  smk_pkg::sm_kernels_t       resident_i,
  // To the other blocks, the SMs and the log.
  output smk_pkg::dispatch_pulses_t  pulses_o,
  output smk_pkg::tb_arrival_t       arrival_o,
  output logic                       command_valid_o,
  output smk_pkg::sm_id_t            command_sm_o,
  // All to whom it goes: one, but for plans.
  output smk_pkg::sm_mask_t          command_sms_o,
  output smk_pkg::sm_command_t       command_o,
  output smk_pkg::sm_mask_t          busy_o,
  output smk_pkg::sm_kernels_t       planned_o,
  output smk_pkg::sm_tb_cnts_t       partition_o,
  output smk_pkg::sm_kernels_t       victims_o,
  output smk_pkg::decision_t         decision_o,
  output smk_pkg::sm_mask_t          reserved_o,
  // Something will happen without an input, here or in another block, as that says; it is known late
  // here. It is about to decide, or decides.
  input  logic                       others_work_i,
  output logic                       work_o,
  output logic                       decides_o
);
  `SMK_CHECK_CONFIG

  localparam int unsigned NumKernels  = smk_pkg::NumKernels;
  localparam int unsigned NumSms      = smk_pkg::NumSms;

  // The step, that it is void, and whether it may act; see smk_dispatch_steps.
  smk_pkg::dispatch_step_e step;
  logic                    deciding, overtaken, steps_busy;
  logic                    due, due_to_dispatch, due_to_evict, due_to_give_up;
  // The SM of the command.
  smk_pkg::sm_id_t         step_sm, sm_q;
  // A copy of the kernels' needs, for what needs them late.
  smk_pkg::need_vec_t      need_q;
  smk_pkg::dispatch_act_t  act;

  // The rest of the policy is for others.
  smk_pkg::policy_t unused_policy;
  assign unused_policy = policy_i;

  logic on_demand, partitioned, streams;
  assign streams     = policy_i.stream && !on_demand;
  assign on_demand   = policy_i.dispatch == smk_pkg::DispatchOnDemand;
  assign partitioned = policy_i.dispatch == smk_pkg::DispatchPartitioned ||
                       policy_i.dispatch == smk_pkg::DispatchEven ||
                       policy_i.dispatch == smk_pkg::DispatchTable ||
                       policy_i.dispatch == smk_pkg::DispatchSlicer;

  // What is remembered of each SM.
  smk_pkg::kernel_sms_t   tried;
  smk_pkg::sm_mask_t      reserved, candidate_sm, victim_sm, evict_sm, leaving, plan_sms;
  smk_pkg::sm_kernel_id_t reserved_for;
  smk_pkg::kernel_id_t    kernel, victim;
  smk_pkg::kernel_mask_t  kernel_of;
  logic                   send_last, is_reserved;
  assign leaving = (evict_sm & {NumSms{act.evict}}) | (victim_sm & {NumSms{act.preempt}}) |
                   (plan_sms & {NumSms{act.send_plan && send_last}});
  // Where a preemption has given a kernel room, nobody takes it from it before the second tick.
  smk_pkg::sm_mask_t guarded, guard_ends;
  smk_dispatch_guard u_guard (
    .clk_i, .rst_ni, .tick_i, .kernel_done_i,
    .enable_i      (policy_i.preempt_guard),
    .reserve_i     (victim_sm & {NumSms{act.preempt}}),
    .reserved_for_i(reserved_for),
    .kernel_of_i   (kernel_of),
    .guarded_o     (guarded),
    .ends_o        (guard_ends)
  );
  smk_dispatch_marks u_marks (
    .clk_i, .rst_ni, .settled_i, .kernel_done_i, .busy_o, .victims_o,
    .changed_i           (events_valid_i | assign_changed_i | guard_ends),
    .queued_i            (queue_ack_i != '0),
    .kernels_changed_i   ((need_changed_i | member_expired_i) != '0),
    .on_demand_i         (on_demand),
    .act_i               (act),
    .kernel_i            (kernel),
    .kernel_of_i         (kernel_of),
    .sm_i                (candidate_sm),
    .victim_i            (victim),
    .victim_sm_i         (victim_sm),
    .serves_reservation_i(is_reserved),
    .leaving_i           (leaving),
    .tried_o             (tried),
    .reserved_o          (reserved),
    .reserved_for_o      (reserved_for)
  );

  // Mask and Sm: what it is about, the SM of each kernel.
  smk_pkg::kernel_mask_t waiting;
  smk_pkg::kernel_sms_t  allowed_of;
  smk_pkg::kernel_id_t   evict_kernel;
  logic                  work, found, is_evict, evicts;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_waiting
    assign waiting[k] = active_i[k] && (remaining_i.kernel[k] != '0 || queued_i[k]);
  end
  smk_dispatch_pick u_pick (
    .clk_i, .rst_ni, .assign_busy_i, .order_i, .allowed_i, .resident_i,
    .pick_sms_o, .pick_sm_i, .pick_kernels_o,
    .leftover_i    (policy_i.dispatch == smk_pkg::DispatchLeftover),
    .partitioned_i (partitioned),
    .streams_i     (streams),
    .planned_i     (planned_o),
    .at_mask_i     (step == smk_pkg::StMask),
    .at_sm_i       (step == smk_pkg::StSm),
    .waiting_i     (waiting & ~held_i),
    .tried_i       (tried),
    .busy_i        (busy_o | waiting_i),
    .reserved_i    (reserved),
    .reserved_for_i(reserved_for),
    .work_o        (work),
    .found_o       (found),
    .is_reserved_o (is_reserved),
    .is_evict_o    (is_evict),
    .evicts_o      (evicts),
    .evict_sm_o    (evict_sm),
    .evict_kernel_o(evict_kernel),
    .look_sms_o    (look_sm_o),
    .allowed_o     (allowed_of)
  );
  assign act.evict = step == smk_pkg::StSm && !overtaken && is_evict && due_to_evict && evicts &&
                     (evict_sm & command_ready_i) != '0;
  assign work_o    = step != smk_pkg::StIdle || work || steps_busy || others_work_i;

  // Look and Fit: is there room, or has the kernel a partition with room?
  smk_pkg::kernel_mask_t allowed_row;
  smk_pkg::tb_need_t     room;
  smk_pkg::tb_cnt_t      look_tbs;
  smk_pkg::kernel_id_t   send_kernel;
  logic                  look_planned, search, send_first, plan_kept, all_ready, fit_stays;
  smk_dispatch_partitions u_partitions (
    .clk_i, .rst_ni, .assign_changed_i, .member_expired_i, .need_changed_i, .plan_done_i,
    .plan_kernels_i, .plan_range_i, .planned_o, .partition_o, .plan_anywhere_i, .allowed_i, .active_i,
    .streams_i     (streams),
    .wanted_i      (allowed_row & active_i),
    .able_i        (command_ready_i & ~busy_o & ~reserved),
    .plan_kept_o   (plan_kept),
    .plan_sms_o    (plan_sms),
    .sm_i          (candidate_sm),
    .repartition_i (act.repartition),
    .send_plan_i   (act.send_plan),
    .send_kernel_o (send_kernel),
    .send_first_o  (send_first),
    .send_last_o   (send_last),
    .look_sms_i    (look_sm_o),
    .look_kernel_i (pick_kernel_i),
    .look_planned_o(look_planned),
    .look_tbs_o    (look_tbs)
  );
  smk_dispatch_fit u_fit (
    .clk_i, .rst_ni, .look_taken_i, .look_resident_i,
    .need_i          (need_q),
    .on_demand_i     (on_demand),
    .partitioned_i   (partitioned),
    .at_look_i       (step == smk_pkg::StLook),
    .at_fit_i        (step == smk_pkg::StFit && !overtaken && due_to_dispatch),
    .kernel_of_i     (pick_kernel_i),
    .look_sms_i      (look_sm_o),
    .allowed_i       (allowed_of),
    .waiting_i       (waiting),
    .ready_i         (command_ready_i),
    .look_planned_i  (look_planned),
    .look_tbs_i      (look_tbs),
    .is_reserved_i   (is_reserved),
    .kernel_o        (kernel),
    .queue_kernel_o,
    .kernel_of_o     (kernel_of),
    .sm_o            (candidate_sm),
    .room_o          (room),
    .dispatch_o      (act.dispatch),
    .cancel_o        (act.cancel),
    .repartition_o   (act.repartition),
    .partition_full_o(act.partition_full),
    .no_room_o       (act.no_room),
    .stays_o         (fit_stays),
    .search_o        (search)
  );
  assign act.send_plan = step == smk_pkg::StSendPlan && due;
  always_comb begin
    allowed_row = '0;
    for (int unsigned s = 0; s < NumSms; s++) begin
      allowed_row |= allowed_i.sm[s] & {NumKernels{candidate_sm[s]}};
    end
  end

  // VictimSm to Range: who loses TBs where, and whether it helps.
  smk_pkg::tb_cnt_t victim_tbs;
  logic             counted;
  smk_dispatch_preempt u_preempt (
    .clk_i, .rst_ni, .active_i, .remaining_i, .queue_count_i, .queue_free_i,
    .victim_sms_o, .victim_sm_i, .victim_taken_i, .victim_resident_i, .victim_kernels_o,
    .victim_kernel_i, .range_starts_o, .range_victim_o, .range_victim_tbs_o,
    .range_stops_o, .range_shrinks_i,
    .step_i        (step),
    .overtaken_i   (overtaken),
    .due_i         (due),
    .due_early_i   (due_to_give_up),
    .need_i        (need_q),
    .kernel_of_i   (kernel_of),
    .room_i        (room),
    .allowed_i     (allowed_of),
    .busy_i        (busy_o | waiting_i),
    .ready_i       (command_ready_i),
    .reserved_i    (reserved),
    .reserved_for_i(reserved_for),
    .guarded_i     (guarded),
    .victim_sm_o   (victim_sm),
    .counted_o     (counted),
    .room_coming_o (act.room_coming),
    .no_victim_o   (act.no_victim),
    .not_reduced_o (act.not_reduced),
    .queue_full_o  (act.queue_full),
    .preempt_o     (act.preempt),
    .victim_o      (victim),
    .victim_tbs_o  (victim_tbs)
  );
  assign victim_exclude_o   = kernel;
  assign victim_look_o      = victim_sm;
  assign range_kernel_o     = kernel_of;

  smk_dispatch_send u_send (
    .clk_i, .rst_ni, .queue_front_i, .plan_range_i, .command_valid_o, .command_o,
    .need_i              (need_q),
    .pulses_o, .arrival_o, .decision_o,
    .kernel_of_i         (kernel_of),
    .candidate_sm_i      (candidate_sm),
    .step_i              (step),
    .act_i               (act),
    .preempt_mode_i      (policy_i.preempt),
    .plan_mode_i         (policy_i.dispatch == smk_pkg::DispatchSlicer ? policy_i.preempt
                                                                       : smk_pkg::PreemptSwitch),
    .kernel_i            (kernel),
    .victim_i            (victim),
    .victim_tbs_i        (victim_tbs),
    .evict_kernel_i      (evict_kernel),
    .step_sm_i           (step_sm),
    .sm_i                (sm_q),
    .serves_reservation_i(is_reserved),
    .next_tb_i           (`SMK_CUT(NextTb, next_tb_i.kernel[queue_kernel_o])),
    .queued_i            (queued_i[queue_kernel_o]),
    .plan_kernels_i      (allowed_row & active_i),
    .plan_kept_i         (plan_kept),
    .streams_i           (streams),
    .send_kernel_i       (send_kernel),
    .send_first_i        (send_first),
    .send_last_i         (send_last),
    .command_ready_i     (all_ready)
  );
  assign command_sm_o  = sm_q;
  assign command_sms_o = (command_o.op == smk_pkg::CommandPartition) ? plan_sms :
                         NumSms'(1) << sm_q;
  assign all_ready     = (command_sms_o & ~command_ready_i) == '0;
  assign reserved_o   = reserved;
  assign decides_o    = step != smk_pkg::StIdle;
  always_comb begin
    step_sm = smk_pkg::index_of_sm(candidate_sm);
    if (step == smk_pkg::StSm) begin
      step_sm = smk_pkg::index_of_sm(evict_sm);
    end else if (step == smk_pkg::StRange) begin
      step_sm = smk_pkg::index_of_sm(victim_sm);
    end
  end

  smk_dispatch_steps u_steps (
    .clk_i, .rst_ni, .active_i, .plan_done_i,
    .latency_scale_i  (policy_i.latency_scale),
    .happens_i        ((!streams && (events_valid_i != '0 || queue_ack_i != '0)) ||
                       assign_changed_i != '0 || guard_ends != '0 || waits_i != '0 ||
                       need_changed_i != '0 || member_expired_i != '0 || kernel_done_i != '0 ||
                       pulses_o.dispatch || pulses_o.cancel || pulses_o.preempt),
    .work_i           (work),
    .found_i          (found),
    .is_evict_i       (is_evict),
    .evicts_i         (evicts),
    .fit_stays_i      (fit_stays),
    .search_i         (search),
    .counted_i        (counted),
    .act_i            (act),
    .plan_kept_i      (plan_kept),
    .command_ready_i  (all_ready),
    .plan_continues_i (command_o.op == smk_pkg::CommandPartition && !command_o.last),
    .step_o           (step),
    .deciding_o       (deciding),
    .overtaken_o      (overtaken),
    .due_o            (due),
    .due_to_dispatch_o(due_to_dispatch),
    .due_to_evict_o   (due_to_evict),
    .due_to_give_up_o (due_to_give_up),
    .busy_o           (steps_busy)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)       sm_q <= '0;
    else if (deciding) sm_q <= step_sm;
  end
  // Not reset: of kernels that have been launched.
  always_ff @(posedge clk_i) need_q <= need_i;

  // A TB index is handed out once: a new TB only while there are some, a preempted one only while
  // some wait, and those go first.
  `SMK_ASSERT(NewTbIsLeft_A, pulses_o.dispatch_new |-> remaining_i.kernel[kernel] != '0)
  // What the queue says is one thing.
  for (genvar k = 0; k < NumKernels; k++) begin : gen_queued
    `SMK_ASSERT(QueuedIsCounted_M, queued_i[k] == (queue_count_i.kernel[k] != '0))
  end
  `SMK_ASSERT(PoppedTbWaits_A, pulses_o.pop |-> queued_i[kernel])
  `SMK_ASSERT(PreemptedFirst_A, act.dispatch && queued_i[kernel] |=> pulses_o.pop)
  // Nothing is sent to an SM with TBs on their way out, nor into room reserved for another.
  `SMK_ASSERT(NoDispatchToBusySm_A, act.dispatch |-> (candidate_sm & busy_o) == '0)
  `SMK_ASSERT(NoDispatchToReservedRoom_A, act.dispatch && (candidate_sm & reserved) != '0
              |-> is_reserved && reserved_for.sm[step_sm] == kernel)
  // The candidate still has a TB when it comes to dispatch: it only waits for this block.
  `SMK_ASSERT(CandidateWaits_A, act.dispatch |-> waiting[kernel])
  // A command is decided only with its SM's credit: nobody waits for an SM on which a TB waits.
  `SMK_ASSERT(ActHasCredit_A, act.dispatch || act.evict || act.preempt
              |-> command_ready_i[step_sm] && !waiting_i[step_sm])
  `SMK_ASSERT(WaitingHasNoCredit_M, (waiting_i & command_ready_i) == '0)
  // Idle: without work and without a pulse, nothing changes.
  `SMK_ASSERT(IdleKeepsState_A, step == smk_pkg::StIdle && !work
              |=> step == smk_pkg::StIdle && $stable(sm_q) && !command_valid_o)
  // Every way a decision can end really occurs in our tests.
  `SMK_COVER(DispatchNew_C, act.dispatch && !queued_i[kernel])
  `SMK_COVER(DispatchRestored_C, act.dispatch && queued_i[kernel] && !queue_front_i.restart)
  `SMK_COVER(DispatchRestarted_C, act.dispatch && queued_i[kernel] && queue_front_i.restart)
  `SMK_COVER(Preempt_C, act.preempt)
  `SMK_COVER(NoVictim_C, act.no_victim)
  `SMK_COVER(RangeNotReduced_C, act.not_reduced)
  `SMK_COVER(PartitionFull_C, act.partition_full)
  `SMK_COVER(NoRoom_C, act.no_room)
  `SMK_COVER(Repartition_C, act.repartition)
  `SMK_COVER(EvictSm_C, act.evict)
  `SMK_COVER(QueueFull_C, act.queue_full)
  `SMK_COVER(RoomComing_C, act.room_coming)
endmodule
