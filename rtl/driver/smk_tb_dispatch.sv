// SPDX-License-Identifier: Apache-2.0
// smk_tb_dispatch: which TB goes to which SM, and who has to leave.
//
// Purpose     The dispatch decision in every mode: on demand with victim search and the test of the
//             range of rK (Fig. 4), with partitions (Fig. 7), left-over, even split, fixed table,
//             spatial.
// Paper       [SMK] Sec. 5.3, Fig. 4 and 7; 5.5; deviations [D1], [D2], [D5], [D13], [D14].
// Interface   Reads the registers of the driver's other blocks; asks smk_drf_tracker within the
//             cycle (pick_sms_o follows pick_kernel_i). command: stream to SM command_sm_o.
//             pulses_o, decision_o: payloads count only with their bit, decision_o.tb only with
//             dispatches, its victim only with preemptions; victims_o with victims_valid_o.
// Latency     Pick, Fit: a dispatch is decided 2 cycles after Idle sees work; Victim, Range: a
//             preemption after 4. All times latency_scale. Waiting for the planner or for an SM
//             comes on top.
// Throughput  One decision at a time.
// Reset       No partition, nothing tried.
// Model       model/control/tb_dispatch.h   Doc  docs/modules/tb_dispatch.md
// A pair (kernel, SM) for which nothing could be done is not tried again before something changes.
`include "smk_assert.svh"

module smk_tb_dispatch (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  smk_pkg::policy_t           policy_i,
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
  // smk_preempted_queue: TBs waiting and context buffers free per kernel, TBs queued just now.
  input  smk_pkg::buffer_cnt_vec_t   queue_count_i,
  input  smk_pkg::buffer_cnt_vec_t   queue_free_i,
  input  smk_pkg::sm_mask_t          queue_ack_i,
  input  smk_pkg::preempted_entry_t  queue_front_i,
  output smk_pkg::kernel_id_t        queue_kernel_o,
  // smk_partition_planner.
  input  logic                       plan_done_i,
  input  smk_pkg::kernel_mask_t      plan_kernels_i,
  input  smk_pkg::range_vec_t        plan_range_i,
  // Questions to smk_drf_tracker: the kernel with the lowest rK, its SM with the lowest rSM; what
  // is on an SM; who loses TBs where; does the range of rK shrink?
  output smk_pkg::kernel_mask_t      pick_kernels_o,
  input  smk_pkg::kernel_id_t        pick_kernel_i,
  output smk_pkg::sm_mask_t          pick_sms_o,
  input  smk_pkg::sm_id_t            pick_sm_i,
  output smk_pkg::sm_id_t            look_sm_o,
  input  smk_pkg::resource_vector_t  look_taken_i,
  input  smk_pkg::tb_cnt_vec_t       look_resident_i,
  output smk_pkg::sm_mask_t          victim_sms_o,
  output smk_pkg::kernel_id_t        victim_exclude_o,
  output smk_pkg::kernel_mask_t      victim_kernels_o,
  input  smk_pkg::sm_id_t            victim_sm_i,
  input  logic                       victim_valid_i,
  input  smk_pkg::kernel_id_t        victim_kernel_i,
  input  smk_pkg::resource_vector_t  victim_free_i,
  input  smk_pkg::tb_cnt_t           victim_resident_i,
  output smk_pkg::kernel_id_t        range_kernel_o,
  output smk_pkg::kernel_id_t        range_victim_o,
  output smk_pkg::tb_cnt_t           range_victim_tbs_o,
  output smk_pkg::sm_id_t            range_sm_o,
  input  logic                       range_shrinks_i,
  input  smk_pkg::sm_kernels_t       resident_i,
  // To the other blocks, the SMs and the log.
  output smk_pkg::dispatch_pulses_t  pulses_o,
  output logic                       command_valid_o,
  output smk_pkg::sm_id_t            command_sm_o,
  output smk_pkg::sm_command_t       command_o,
  output smk_pkg::sm_mask_t          busy_o,
  output smk_pkg::sm_kernels_t       planned_o,
  output smk_pkg::sm_tb_cnts_t       partition_o,
  output smk_pkg::sm_mask_t          victims_valid_o,
  output smk_pkg::sm_kernel_id_t     victims_o,
  output smk_pkg::decision_t         decision_o,
  // Something will happen without an input.
  output logic                       work_o
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  localparam int unsigned NumSms     = smk_pkg::NumSms;
  localparam int unsigned ScaleWidth = smk_pkg::ScaleWidth;

  typedef enum logic [2:0] {StIdle, StPick, StFit, StVictim, StRange, StPlan, StSendPlan, StSend}
      step_e;

  step_e                  step_d, step_q;
  // Cycles until the step is taken; 0 in Idle, Plan and Send, which wait for others.
  logic [ScaleWidth-1:0]  wait_d, wait_q;
  // The decision: candidate kernel and SM (then victim SM); it serves a reservation.
  smk_pkg::kernel_id_t    kernel_d, kernel_q;
  smk_pkg::sm_id_t        sm_d, sm_q;
  logic                   reserved_d, reserved_q;
  smk_pkg::dispatch_act_t act;

  logic at_pick, at_fit, at_victim, at_range, at_send_plan;
  assign at_pick      = step_q == StPick && wait_q == '0;
  assign at_fit       = step_q == StFit && wait_q == '0;
  assign at_victim    = step_q == StVictim && wait_q == '0;
  assign at_range     = step_q == StRange && wait_q == '0;
  assign at_send_plan = step_q == StSendPlan && wait_q == '0;

  // The rest of the policy is for others.
  smk_pkg::policy_t unused_policy;
  assign unused_policy = policy_i;

  logic on_demand, partitioned;
  assign on_demand   = policy_i.dispatch == smk_pkg::DispatchOnDemand;
  assign partitioned = policy_i.dispatch == smk_pkg::DispatchPartitioned ||
                       policy_i.dispatch == smk_pkg::DispatchEven ||
                       policy_i.dispatch == smk_pkg::DispatchTable;

  // What is remembered of each SM, by the registers and with what happened in this cycle.
  smk_pkg::kernel_sms_t   tried, tried_now;
  smk_pkg::sm_mask_t      busy_now, reserved, reserved_now, sm_bit, evict_sm, leaving;
  smk_pkg::sm_kernel_id_t reserved_for;
  smk_pkg::kernel_id_t    victim;
  logic                   send_last;
  assign sm_bit  = NumSms'(1) << sm_q;
  assign leaving = ({NumSms{act.evict}} & evict_sm) |
                   ({NumSms{act.preempt || (act.send_plan && send_last)}} & sm_bit);
  smk_dispatch_marks u_marks (
    .clk_i, .rst_ni, .settled_i, .kernel_done_i, .busy_o, .victims_valid_o, .victims_o,
    .changed_i           (events_valid_i | assign_changed_i),
    .queued_i            (queue_ack_i != '0),
    .kernels_changed_i   ((need_changed_i | member_expired_i) != '0),
    .on_demand_i         (on_demand),
    .looked_i            (!(step_q == StIdle || step_q == StPick || step_q == StFit)),
    .act_i               (act),
    .kernel_i            (kernel_q),
    .victim_i            (victim),
    .sm_i                (sm_bit),
    .serves_reservation_i(reserved_q),
    .leaving_i           (leaving),
    .tried_o             (tried),
    .reserved_o          (reserved),
    .reserved_for_o      (reserved_for),
    .tried_now_o         (tried_now),
    .busy_now_o          (busy_now),
    .reserved_now_o      (reserved_now)
  );

  // Pick, first cycle: the candidate kernel and the candidate SM.
  smk_pkg::kernel_mask_t waiting, queued;
  smk_pkg::kernel_sms_t  allowed_of;
  logic                  work, work_now, is_reserved, is_evict, is_pair;
  smk_pkg::kernel_id_t   pick_kernel;
  smk_pkg::sm_id_t       pick_sm;
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      queued[k]  = queue_count_i.kernel[k] != '0;
      waiting[k] = active_i[k] && (remaining_i.kernel[k] != '0 || queued[k]);
    end
  end
  smk_dispatch_pick u_pick (
    .clk_i, .rst_ni, .assign_busy_i, .active_i, .order_i, .allowed_i, .resident_i,
    .pick_kernels_o, .pick_kernel_i, .pick_sms_o, .pick_sm_i,
    .leftover_i    (policy_i.dispatch == smk_pkg::DispatchLeftover),
    .partitioned_i (partitioned),
    .waiting_i     (waiting),
    .tried_i       (tried),
    .busy_i        (busy_o),
    .reserved_i    (reserved),
    .reserved_for_i(reserved_for),
    .tried_now_i   (tried_now),
    .busy_now_i    (busy_now),
    .reserved_now_i(reserved_now),
    .work_o        (work),
    .work_now_o    (work_now),
    .is_reserved_o (is_reserved),
    .is_evict_o    (is_evict),
    .is_pair_o     (is_pair),
    .kernel_o      (pick_kernel),
    .sm_o          (pick_sm),
    .evict_sm_o    (evict_sm),
    .allowed_o     (allowed_of)
  );
  assign act.evict = at_pick && is_evict;
  assign work_o    = step_q != StIdle || work;

  // Fit, second cycle: is there room, or has the kernel a partition with room?
  smk_pkg::tb_need_t     need;
  smk_pkg::kernel_mask_t allowed_row;
  smk_pkg::tb_cnt_t      partition_tbs;
  smk_pkg::kernel_id_t   send_kernel;
  logic                  allowed, fits, serve, planned, below, send_first;
  smk_dispatch_partitions u_partitions (
    .clk_i, .rst_ni, .assign_changed_i, .member_expired_i, .need_changed_i, .plan_done_i,
    .plan_kernels_i, .plan_range_i, .planned_o, .partition_o,
    .sm_i          (sm_q),
    .repartition_i (act.repartition),
    .send_plan_i   (act.send_plan),
    .send_kernel_o (send_kernel),
    .send_first_o  (send_first),
    .send_last_o   (send_last),
    .read_kernel_i (kernel_q),
    .read_planned_o(planned),
    .read_tbs_o    (partition_tbs)
  );
  assign look_sm_o   = sm_q;
  assign allowed_row = allowed_i.sm[sm_q];
  assign allowed     = allowed_row[kernel_q];
  assign need        = need_i.kernel[kernel_q];
  assign below       = look_resident_i.kernel[kernel_q] < partition_tbs;
  assign fits        = 32'(look_taken_i.registers) <= smk_pkg::LimitRegisters -
                           32'(need.registers) &&
                       32'(look_taken_i.shared_memory) <= smk_pkg::LimitSharedMemory -
                           32'(need.shared_memory) &&
                       32'(look_taken_i.threads) <= smk_pkg::LimitThreads - 32'(need.threads) &&
                       32'(look_taken_i.tbs) < smk_pkg::LimitTbs;
  assign serve       = waiting[kernel_q] && allowed && fits;
  logic at_fit_reserved, at_fit_partition, at_fit_free;
  assign at_fit_reserved    = at_fit && reserved_q && reserved_now[sm_q];
  assign at_fit_partition   = at_fit && !reserved_q && allowed && partitioned;
  assign at_fit_free        = at_fit && !reserved_q && allowed && !partitioned;
  assign act.cancel         = at_fit_reserved && !serve;
  assign act.repartition    = at_fit_partition && !planned;
  assign act.partition_full = at_fit_partition && planned && !below;
  assign act.no_room        = at_fit_free && !fits && !on_demand;
  assign act.dispatch       = (at_fit_reserved && serve) || (at_fit_free && fits) ||
                              (at_fit_partition && planned && below);
  assign act.send_plan      = at_send_plan;

  // Victim and Range, third and fourth cycle: who loses TBs where, and whether it helps.
  smk_pkg::tb_cnt_t victim_tbs;
  smk_dispatch_preempt u_preempt (
    .clk_i, .rst_ni, .active_i, .need_i, .remaining_i, .queue_count_i, .queue_free_i,
    .victim_sms_o, .victim_exclude_o, .victim_kernels_o, .victim_valid_i, .victim_kernel_i,
    .victim_free_i, .victim_resident_i, .look_resident_i, .range_shrinks_i,
    .at_victim_i   (at_victim),
    .at_range_i    (at_range),
    .kernel_i      (kernel_q),
    .allowed_i     (allowed_of.kernel[kernel_q]),
    .busy_now_i    (busy_now),
    .reserved_now_i(reserved_now),
    .reserved_for_i(reserved_for),
    .room_coming_o (act.room_coming),
    .no_victim_o   (act.no_victim),
    .test_range_o  (act.test_range),
    .not_reduced_o (act.not_reduced),
    .queue_full_o  (act.queue_full),
    .preempt_o     (act.preempt),
    .victim_o      (victim),
    .victim_tbs_o  (victim_tbs)
  );
  assign range_kernel_o     = kernel_q;
  assign range_victim_o     = victim;
  assign range_victim_tbs_o = victim_tbs;
  assign range_sm_o         = sm_q;
  assign queue_kernel_o     = kernel_q;

  smk_dispatch_send u_send (
    .clk_i, .rst_ni, .queue_front_i, .plan_range_i, .command_valid_o, .command_o, .pulses_o,
    .decision_o,
    .at_pick_i           (at_pick),
    .at_fit_i            (at_fit),
    .at_range_i          (at_range),
    .act_i               (act),
    .preempt_mode_i      (policy_i.preempt),
    .kernel_i            (kernel_q),
    .sm_i                (sm_q),
    .victim_i            (victim),
    .victim_tbs_i        (victim_tbs),
    .evict_kernel_i      (pick_kernel),
    .evict_sm_i          (pick_sm),
    .serves_reservation_i(reserved_q),
    .next_tb_i           (next_tb_i.kernel[kernel_q]),
    .queued_i            (queued[kernel_q]),
    .plan_kernels_i      (allowed_row & active_i),
    .send_kernel_i       (send_kernel),
    .send_first_i        (send_first),
    .send_last_i         (send_last),
    .command_ready_i     (command_ready_i[sm_q])
  );
  assign command_sm_o = sm_q;

  logic plan_continues;
  assign plan_continues = command_o.op == smk_pkg::CommandPartition && !command_o.last;

  // The next step. What a step finds is given up, or dispatched, or goes on.
  always_comb begin
    step_d = step_q;
    unique case (step_q)
      StIdle: if (work_now) step_d = StPick;
      StPick: begin
        if (is_reserved || is_pair) step_d = StFit;
        else step_d = is_evict ? StSend : StIdle;
      end
      StFit: begin
        step_d = StIdle;
        if (act.dispatch) step_d = StSend;
        if (act.repartition) step_d = StPlan;
        if (at_fit_free && !fits && on_demand) step_d = StVictim;
      end
      StVictim: step_d = act.test_range ? StRange : StIdle;
      StRange:  step_d = act.preempt ? StSend : StIdle;
      // Waiting for the planner.
      StPlan:     if (plan_done_i) step_d = StSendPlan;
      StSendPlan: step_d = StSend;
      // Waiting for the SM; after a plan's command there may be another.
      StSend: if (command_ready_i[sm_q]) step_d = plan_continues ? StSendPlan : StIdle;
    endcase
    if (wait_q != '0) step_d = step_q;
  end
  always_comb begin
    wait_d = policy_i.latency_scale - ScaleWidth'(1);
    if (step_d == StIdle || step_d == StPlan || step_d == StSend) wait_d = '0;
    if (wait_q != '0) wait_d = wait_q - ScaleWidth'(1);
  end

  always_comb begin
    kernel_d   = kernel_q;
    sm_d       = sm_q;
    reserved_d = reserved_q;
    if (at_pick) begin
      kernel_d   = pick_kernel;
      sm_d       = pick_sm;
      reserved_d = is_reserved;
    end
    if (at_victim) sm_d = victim_sm_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q     <= StIdle;
      wait_q     <= '0;
      kernel_q   <= '0;
      sm_q       <= '0;
      reserved_q <= 1'b0;
    end else begin
      step_q     <= step_d;
      wait_q     <= wait_d;
      kernel_q   <= kernel_d;
      sm_q       <= sm_d;
      reserved_q <= reserved_d;
    end
  end

  // A TB index is handed out once: a new TB only while there are some, a preempted one only while
  // some wait, and those go first.
  `SMK_ASSERT(NewTbIsLeft_A, pulses_o.dispatch_new |-> remaining_i.kernel[kernel_q] != '0)
  `SMK_ASSERT(PoppedTbWaits_A, pulses_o.pop |-> queued[kernel_q])
  `SMK_ASSERT(PreemptedFirst_A, act.dispatch && queued[kernel_q] |=> pulses_o.pop)
  // Nothing is sent to an SM with TBs on their way out, nor into room reserved for another.
  `SMK_ASSERT(NoDispatchToBusySm_A, act.dispatch |-> !busy_now[sm_q])
  `SMK_ASSERT(NoDispatchToReservedRoom_A, act.dispatch && reserved_now[sm_q]
              |-> reserved_q && reserved_for.sm[sm_q] == kernel_q)
  // What is dispatched fits; with partitions, into its partition.
  `SMK_ASSERT(DispatchFits_A, act.dispatch && !partitioned |-> fits && allowed)
  `SMK_ASSERT(PartitionNotExceeded_A, act.dispatch && partitioned |-> planned && below)
  // The candidate still has a TB when it comes to dispatch: it only waits for this block.
  `SMK_ASSERT(CandidateWaits_A, act.dispatch |-> waiting[kernel_q])
  // Only steps that wait for others, or for nothing, have no wait of their own.
  `SMK_ASSERT(IdleDoesNotWait_A, step_q == StIdle || step_q == StPlan || step_q == StSend
              |-> wait_q == '0)
  `SMK_ASSERT(ScaleIsPositive_M, policy_i.latency_scale != '0)
  // Idle: without work and without a pulse, nothing changes.
  `SMK_ASSERT(IdleKeepsState_A, step_q == StIdle && !work_now
              |=> $stable({step_q, wait_q, kernel_q, sm_q, reserved_q}) && !command_valid_o)
  // Every way a decision can end really occurs in our tests.
  `SMK_COVER(DispatchNew_C, act.dispatch && !queued[kernel_q])
  `SMK_COVER(DispatchRestored_C, act.dispatch && queued[kernel_q] && !queue_front_i.restart)
  `SMK_COVER(DispatchRestarted_C, act.dispatch && queued[kernel_q] && queue_front_i.restart)
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
