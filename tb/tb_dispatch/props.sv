// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_tb_dispatch, from its ports, in every mode and for any latency_scale: launches, events,
// assignments and plans come at any time, and smk_drf_tracker answers with any one of those asked
// for. What is taken on an SM changes with an event there or when a TB comes. What decisions must
// remember is kept here from their log.
`include "formal.svh"
`include "tb_dispatch/tracker.svh"

module formal_tb_dispatch (
  input logic                        clk_i,
  input smk_pkg::policy_t            policy_i,
  input logic                        tick_i,
  input smk_pkg::kernel_mask_t       held_i,
  input logic                        assign_busy_i,
  input smk_pkg::sm_kernels_t        new_allowed_i,
  input smk_pkg::sm_mask_t           assign_changed_i,
  input smk_pkg::kernel_mask_t       launch_i,
  input smk_pkg::kernel_mask_t       launch_same_i,
  input smk_pkg::need_vec_t          new_need_i,
  input smk_pkg::kernel_mask_t       done_i,
  input smk_pkg::order_vec_t         order_i,
  input smk_pkg::tb_id_vec_t         remaining_i,
  input smk_pkg::tb_id_vec_t         next_tb_i,
  input smk_pkg::kernel_mask_t       member_expired_i,
  input smk_pkg::sm_mask_t           events_valid_i,
  input smk_pkg::sm_mask_t           settled_i,
  input logic [smk_pkg::NumSms*smk_pkg::BasesWidth-1:0] new_taken_i,
  input smk_pkg::sm_tb_cnts_t        new_tbs_i,
  input smk_pkg::sm_mask_t           command_ready_i,
  input smk_pkg::buffer_cnt_vec_t    queue_count_i,
  input smk_pkg::buffer_cnt_vec_t    queue_free_i,
  input smk_pkg::sm_mask_t           queue_ack_i,
  input smk_pkg::preempted_entry_t   queue_front_i,
  input logic                        plan_done_i,
  input smk_pkg::range_vec_t         plan_range_i,
  // Answers of the tracker.
  input smk_pkg::kernel_sms_t        pick_sm_i,
  input smk_pkg::kernel_mask_t       pick_kernel_i,
  input smk_pkg::sm_mask_t           victim_sm_i,
  input smk_pkg::tb_need_t           victim_taken_i,
  input smk_pkg::tb_cnt_vec_t        victim_resident_i,
  input smk_pkg::kernel_mask_t       victim_kernel_i,
  input logic                        range_shrinks_i,
  input smk_pkg::sm_kernels_t        resident_i
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  localparam int unsigned NumSms     = smk_pkg::NumSms;
  localparam int unsigned NumPairs   = NumKernels * NumSms;
  localparam int unsigned WaitWidth  = smk_pkg::ScaleWidth + 4;
  // Cycles in which an SM takes no command, and in which a plan is made; that a decision may take
  // on top of 15 times latency_scale: victims, what went before, and an event.
  localparam int unsigned MaxRefusals = 2;
  localparam int unsigned MaxPlanning = smk_pkg::LimitTbs + 2;
  localparam int unsigned MaxMore     = 6;

  `FORMAL_RESET
  // Constant.
  smk_pkg::policy_t policy_q;
  always_ff @(posedge clk_i) if (!rst_ni) policy_q <= policy_i;
  // Every TB is this block's: none streams.
  smk_pkg::policy_t policy;
  always_comb begin
    policy        = policy_q;
    policy.stream = 1'b0;
  end
  `ASSUME(PolicyExists_M, policy_q.dispatch <= smk_pkg::DispatchTable &&
          policy_q.latency_scale != '0)
  logic on_demand, partitioned;
  assign on_demand   = policy_q.dispatch == smk_pkg::DispatchOnDemand;
  assign partitioned = policy_q.dispatch == smk_pkg::DispatchPartitioned ||
                       policy_q.dispatch == smk_pkg::DispatchEven ||
                       policy_q.dispatch == smk_pkg::DispatchTable;

  // Kernels come and go; the assignment of an SM changes with its pulse.
  smk_pkg::kernel_mask_t active_q, need_changed_q, done_q;
  smk_pkg::need_vec_t    need_q;
  smk_pkg::sm_kernels_t  allowed_q, allowed;
  always_comb begin
    for (int unsigned s = 0; s < NumSms; s++) begin
      allowed.sm[s] = assign_changed_i[s] ? new_allowed_i.sm[s] : allowed_q.sm[s];
    end
  end
  always_ff @(posedge clk_i) begin
    active_q       <= rst_ni ? (active_q | launch_i) & ~(active_q & done_i) : '0;
    need_changed_q <= rst_ni ? launch_i & ~active_q & ~launch_same_i : '0;
    done_q         <= rst_ni ? active_q & done_i : '0;
    allowed_q      <= rst_ni ? allowed : '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (launch_i[k] && !active_q[k] && !launch_same_i[k]) begin
        need_q.kernel[k] <= new_need_i.kernel[k];
      end
    end
  end

  smk_pkg::kernel_sms_t      pick_sms, look_sm;
  smk_pkg::kernel_mask_t     pick_kernels, victim_kernels, range_kernel, range_victim;
  smk_pkg::kernel_id_t       queue_kernel, victim_exclude;
  smk_pkg::sm_mask_t         victim_sms, victim_look, busy;
  smk_pkg::resource_vector_t look_taken;
  smk_pkg::tb_cnt_t          look_resident, range_victim_tbs;
  smk_pkg::sm_kernels_t      planned;
  smk_pkg::sm_tb_cnts_t      partition;
  smk_pkg::sm_kernels_t      victims;
  smk_pkg::dispatch_pulses_t pulses;
  smk_pkg::tb_arrival_t      arrival;
  smk_pkg::sm_command_t      command;
  smk_pkg::sm_id_t           command_sm;
  smk_pkg::decision_t        decision;
  smk_pkg::kernel_mask_t     plan_kernels_q;
  logic                      range_starts, range_stops, command_valid, work;
  smk_pkg::kernel_mask_t     queued;
  for (genvar k = 0; k < smk_pkg::NumKernels; k++) begin : gen_queued
    assign queued[k] = queue_count_i.kernel[k] != '0;
  end
  // An SM may refuse a command for some cycles, but has a credit when one is decided, and no TB waits
  // for a gap: in how many cycles that ends is not this block's.
  smk_pkg::sm_mask_t ready;
  assign ready = command_valid ? command_ready_i : '1;
  smk_tb_dispatch u_dut (
    .clk_i, .rst_ni, .tick_i, .held_i, .assign_busy_i, .assign_changed_i, .order_i, .remaining_i, .next_tb_i,
    .member_expired_i, .events_valid_i, .settled_i, .queue_count_i,
    .queue_free_i, .queue_ack_i, .queue_front_i, .plan_done_i, .plan_range_i, .pick_sm_i,
    .pick_kernel_i, .victim_sm_i, .victim_taken_i, .victim_resident_i, .victim_kernel_i,
    .range_shrinks_i, .resident_i,
    .policy_i          (policy),
    .command_ready_i   (ready),
    .waiting_i         ('0),
    .waits_i           ('0),
    .queued_i          (queued),
    .allowed_i         (allowed),
    .active_i          (active_q),
    .need_i            (need_q),
    .need_changed_i    (need_changed_q),
    .kernel_done_i     (done_q),
    .queue_kernel_o    (queue_kernel),
    .plan_kernels_i    (plan_kernels_q),
    .pick_sms_o        (pick_sms),
    .pick_kernels_o    (pick_kernels),
    .look_sm_o         (look_sm),
    .look_taken_i      (look_taken),
    .look_resident_i   (look_resident),
    .victim_exclude_o  (victim_exclude),
    .victim_sms_o      (victim_sms),
    .victim_look_o     (victim_look),
    .victim_kernels_o  (victim_kernels),
    .range_kernel_o    (range_kernel),
    .range_starts_o    (range_starts),
    .range_victim_o    (range_victim),
    .range_victim_tbs_o(range_victim_tbs),
    .range_stops_o     (range_stops),
    .pulses_o          (pulses),
    .arrival_o         (arrival),
    .command_valid_o   (command_valid),
    .command_sm_o      (command_sm),
    .command_sms_o     (),
    .plan_anywhere_i   (1'b0),
    .reserved_o        (),
    .decides_o         (),
    .command_o         (command),
    .busy_o            (busy),
    .planned_o         (planned),
    .partition_o       (partition),
    .victims_o         (victims),
    .decision_o        (decision),
    .others_work_i     (1'b0),
    .work_o            (work)
  );

  // What is taken on each SM, and the TBs there; of the SM that is looked at.
  typedef struct packed {logic [NumSms-1:0][smk_pkg::BasesWidth-1:0] sm;} vectors_t;
  vectors_t             taken;
  smk_pkg::sm_tb_cnts_t tbs;
  smk_pkg::sm_kernels_t fits;
  for (genvar s = 0; s < NumSms; s++) begin : gen_sm
    smk_pkg::resource_vector_t taken_here;
    smk_pkg::tb_cnt_vec_t      tbs_here;
    smk_pkg::kernel_mask_t     fits_here;
    formal_tracker_sm u_sm (
      .clk_i, .rst_ni,
      .comes_i    (pulses.dispatch && 32'(pulses.sm) == s),
      .kernel_i   (pulses.kernel),
      .need_i     (need_q),
      .event_i    (events_valid_i[s]),
      .new_taken_i(new_taken_i[s*smk_pkg::BasesWidth +: smk_pkg::BasesWidth]),
      .new_tbs_i  (new_tbs_i.sm[s]),
      .taken_o    (taken_here),
      .tbs_o      (tbs_here),
      .fits_o     (fits_here)
    );
    assign taken.sm[s] = taken_here;
    assign tbs.sm[s]   = tbs_here;
    assign fits.sm[s]  = fits_here;
  end
  smk_pkg::sm_mask_t    look_sms;
  smk_pkg::tb_cnt_vec_t look_tbs;
  always_comb begin
    {look_taken, look_resident} = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      look_sms = look_sm.kernel[k];
      for (int unsigned s = 0; s < NumSms; s++) begin
        look_tbs = tbs.sm[s];
        if (pick_kernel_i[k] && look_sms[s]) begin
          look_taken    = look_taken | taken.sm[s];
          look_resident = look_resident | look_tbs.kernel[k];
        end
      end
    end
  end

  // One of those asked for, if there is any.
  function automatic logic one_of(input logic [15:0] answer, input logic [15:0] asked);
    one_of = (answer & ~asked) == '0 && (answer & (answer - 16'd1)) == '0 &&
             (answer == '0) == (asked == '0);
  endfunction
  smk_pkg::kernel_mask_t picked_one, need_fits;
  smk_pkg::tb_need_t     need_of;
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      picked_one[k] = one_of(16'(pick_sm_i.kernel[k]), 16'(pick_sms.kernel[k]));
      need_of       = need_q.kernel[k];
      need_fits[k]  = 32'(need_of.registers) <= smk_pkg::LimitRegisters &&
                      32'(need_of.shared_memory) <= smk_pkg::LimitSharedMemory &&
                      32'(need_of.threads) <= smk_pkg::LimitThreads;
    end
  end
  `ASSUME(PickedSmWasAsked_M, picked_one == '1)
  `ASSUME(NeedWithinLimits_M, need_fits == '1)
  `ASSUME(PickedKernelWasAsked_M, one_of(16'(pick_kernel_i), 16'(pick_kernels)))
  `ASSUME(VictimSmWasAsked_M, one_of(16'(victim_sm_i), 16'(victim_sms)))
  `ASSUME(VictimWasAsked_M, one_of(16'(victim_kernel_i), 16'(victim_kernels)))
  `ASSUME(NobodyIsOnNoSm_M, victim_look != '0 || victim_resident_i == '0)
  `ASSUME(ExpiredHasEnded_M, (member_expired_i & active_q) == '0)
  // A settled event comes from an SM with TBs on their way out.
  `ASSUME(SettledWasBusy_M, (settled_i & ~(events_valid_i & busy)) == '0)

  // A plan comes once, for the kernels asked; an SM takes its command.
  logic planning_q;
  logic [3:0] planning_for_q, refused_for_q;
  always_ff @(posedge clk_i) begin
    planning_q     <= rst_ni && (pulses.plan_start || (planning_q && !plan_done_i));
    planning_for_q <= (rst_ni && planning_q && !plan_done_i) ? planning_for_q + 4'd1 : '0;
    refused_for_q  <= (rst_ni && command_valid && !command_ready_i[command_sm])
                      ? refused_for_q + 4'd1 : '0;
    if (pulses.plan_start) plan_kernels_q <= pulses.plan_kernels;
  end
  `ASSUME(PlanIsAsked_M, !plan_done_i || planning_q)
  `ASSUME(PlanComes_M, 32'(planning_for_q) <= MaxPlanning)
  `ASSUME(CommandIsTaken_M, 32'(refused_for_q) <= MaxRefusals)

  // The log of decisions: the pair of the candidate was tried in vain; what else was decided.
  logic                 fails, dispatches, preempts, moves;
  smk_pkg::kernel_sms_t candidate;
  smk_pkg::sm_mask_t    candidate_sm, changed, guard_ends;
  assign fails = decision.valid && (decision.reason == smk_pkg::ReasonPartitionFull ||
                 decision.reason == smk_pkg::ReasonNoRoom ||
                 decision.reason == smk_pkg::ReasonRoomComing ||
                 decision.reason == smk_pkg::ReasonNoVictim ||
                 decision.reason == smk_pkg::ReasonRangeNotReduced ||
                 decision.reason == smk_pkg::ReasonQueueFull);
  assign dispatches = decision.valid && (decision.reason == smk_pkg::ReasonDispatchNew ||
                      decision.reason == smk_pkg::ReasonDispatchRestored ||
                      decision.reason == smk_pkg::ReasonDispatchRestarted);
  assign preempts     = decision.valid && decision.reason == smk_pkg::ReasonPreempt;
  assign moves        = pulses.cancel || (decision.valid && !fails);
  assign candidate_sm = look_sm.kernel[queue_kernel];
  assign candidate    = (NumKernels*NumSms)'(candidate_sm) << (32'(queue_kernel) * NumSms);
  assign changed      = events_valid_i | assign_changed_i | guard_ends;

  // Pairs tried in vain, until something changes on the SM, on demand anywhere, or kernels come or
  // go; until TBs are ordered to leave, on demand until a TB comes.
  smk_pkg::kernel_sms_t tried_q;
  smk_pkg::sm_mask_t    forget;
  logic                 kernels_stay;
  assign forget       = (on_demand && (changed != '0 || queue_ack_i != '0)) ? '1 : changed;
  assign kernels_stay = need_changed_q == '0 && member_expired_i == '0;
  always_ff @(posedge clk_i) begin
    tried_q <= ((tried_q & {NumPairs{kernels_stay}}) | (candidate & {NumPairs{fails}})) &
               ~{NumKernels{forget}};
    if (!rst_ni || preempts || (dispatches && on_demand)) tried_q <= '0;
  end

  // Room reserved for a kernel, until its TB comes, it is given back or the kernel ends.
  smk_pkg::sm_mask_t      reserved_q, reserved, given_back;
  smk_pkg::sm_kernel_id_t reserved_for_q;
  assign given_back = NumSms'(pulses.cancel || pulses.dispatch_reserved) << pulses.sm;
  assign reserved   = reserved_q & ~given_back;
  always_ff @(posedge clk_i) begin
    for (int unsigned s = 0; s < NumSms; s++) begin
      if (preempts && 32'(decision.sm) == s) begin
        reserved_q[s]        <= rst_ni;
        reserved_for_q.sm[s] <= decision.kernel;
      end else begin
        reserved_q[s] <= rst_ni && reserved[s] && !done_q[reserved_for_q.sm[s]];
      end
    end
  end

  // SMs on which a kernel keeps the room that was made for it, until the second tick or its end.
  smk_pkg::sm_mask_t guarded_q, ticked_q, gains;
  for (genvar s = 0; s < NumSms; s++) begin : gen_guard
    assign gains[s]      = preempts && 32'(decision.sm) == s && policy_q.preempt_guard;
    assign guard_ends[s] = guarded_q[s] && (done_q[reserved_for_q.sm[s]] || (tick_i && ticked_q[s]));
  end
  always_ff @(posedge clk_i) begin
    guarded_q <= rst_ni ? (guarded_q & ~guard_ends) | gains : '0;
    ticked_q  <= rst_ni ? (tick_i ? guarded_q : ticked_q) & ~guard_ends & ~gains : '0;
  end

  // Inside: what is remembered is that record, and somebody has been asked while a step waits.
  `WATCH([3:0], step, u_dut.u_steps.step_q)
  `WATCH([WaitWidth-1:0], cycles_left, u_dut.u_steps.wait_q)
  `WATCH([NumSms-1:0], dut_reserved, u_dut.u_marks.reserved_q)
  `WATCH([NumPairs-1:0], dut_tried, u_dut.u_marks.tried_q)
  `WATCH([NumSms-1:0], dut_sm, u_dut.u_fit.sm_q)
  `WATCH([NumSms-1:0], dut_guarded, u_dut.u_guard.guarded_q)
  `WATCH([NumSms-1:0], dut_ticked, u_dut.u_guard.ticked_q)
  logic has_candidate;
  assign has_candidate = step == smk_pkg::StFit || step == smk_pkg::StVictimSm ||
                         step == smk_pkg::StVictimLook || step == smk_pkg::StVictimKernel ||
                         step == smk_pkg::StCount || step == smk_pkg::StRange;
  `PROVE(RemembersWhatFailed_A, dut_tried == tried_q && dut_reserved == reserved &&
         dut_guarded == guarded_q && dut_ticked == ticked_q &&
         (!has_candidate || dut_sm == candidate_sm))
  `PROVE(WaitsForSomebody_A, command_valid == (step == smk_pkg::StSend) &&
         (planning_q || pulses.plan_start) == (step == smk_pkg::StPlan) &&
         32'(cycles_left) <= 11 * 32'(policy_q.latency_scale))
  // Without streaming a plan is for one SM.
  `WATCH([NumSms-1:0], plan_sms, u_dut.u_partitions.plan_sms_q)
  `WATCH([0:0], plan_kept, u_dut.u_partitions.kept_q)
  `PROVE(PlanIsForOneSm_A, !plan_kept && (plan_sms == NumSms'(1) << command_sm ||
         (step != smk_pkg::StPlan && step != smk_pkg::StSendPlan &&
          (step != smk_pkg::StSend || command.op != smk_pkg::CommandPartition))))
  // No pair fails twice.
  `PROVE(FailsOnce_A, !fails || (candidate != '0 && (candidate & (candidate - 1'b1)) == '0 &&
         (candidate & tried_q) == '0))

  // Plans void since a kernel's place was given away, until the SM is assigned anew.
  smk_pkg::sm_mask_t voided_q;
  always_ff @(posedge clk_i) begin
    for (int unsigned s = 0; s < NumSms; s++) begin
      voided_q[s] <= rst_ni && ((planned.sm[s] & member_expired_i) != '0 ||
                     (voided_q[s] && need_changed_q == '0 && !assign_changed_i[s]));
    end
  end
  // Of each pair: the kernel has a TB that waits, and may take it to this SM; it has no room there.
  smk_pkg::kernel_mask_t waiting, allowed_here, planned_here, fits_here;
  smk_pkg::tb_cnt_vec_t  tbs_here, partition_here;
  smk_pkg::kernel_sms_t  free, open, no_room, just_came;
  logic [NumPairs-1:0]   free_flat, no_room_flat, just_came_flat;
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      waiting[k] = active_q[k] && (remaining_i.kernel[k] != '0 || queue_count_i.kernel[k] != '0);
      for (int unsigned s = 0; s < NumSms; s++) begin
        allowed_here   = allowed.sm[s];
        planned_here   = planned.sm[s];
        tbs_here       = tbs.sm[s];
        partition_here = partition.sm[s];
        fits_here      = fits.sm[s];
        free_flat[k*NumSms + s]      = waiting[k] && !held_i[k] && allowed_here[k] && !busy[s] && !reserved[s];
        no_room_flat[k*NumSms + s]   = partitioned ? voided_q[s] || (planned_here[k] &&
                                       tbs_here.kernel[k] >= partition_here.kernel[k])
                                                   : !fits_here[k];
        just_came_flat[k*NumSms + s] = need_changed_q[k];
      end
    end
  end
  assign free      = free_flat;
  assign open      = free & ~tried_q;
  assign no_room   = no_room_flat;
  assign just_came = just_came_flat;
  // What was tried in vain has no room as long as it counts as tried, or TBs are leaving.
  `PROVE(TriedHasNoRoom_A, (tried_q & ~no_room & ~just_came &
         ~{NumKernels{busy & {NumSms{partitioned}}}}) == '0)

  // SMs with TBs of kernels that must go. Nothing has happened, now or in the cycle before.
  smk_pkg::sm_mask_t     leavers;
  smk_pkg::kernel_mask_t resident_here, allowed_there, waiting_q, held_q, active_before_q;
  smk_pkg::sm_kernels_t  resident_q;
  logic                  quiet;
  always_comb begin
    for (int unsigned s = 0; s < NumSms; s++) begin
      resident_here = resident_i.sm[s];
      allowed_there = allowed.sm[s];
      leavers[s]    = !partitioned && (resident_here & ~allowed_there) != '0;
    end
  end
  always_ff @(posedge clk_i) begin
    waiting_q       <= waiting;
    held_q          <= held_i;
    active_before_q <= active_q;
    resident_q      <= resident_i;
  end
  assign quiet = changed == '0 && queue_ack_i == '0 && kernels_stay && done_q == '0 &&
                 !assign_busy_i && waiting == waiting_q && held_i == held_q && active_q == active_before_q &&
                 resident_i == resident_q && !tick_i;

  `include "tb_dispatch/decides.svh"
  `include "tb_dispatch/in_time.svh"

  // Idle: nothing to do, nothing happens, and all that is copied has been the same for so long.
  (* keep *) logic          idle;
  logic                     calm, same;
  logic [2:0]               calm_for_q;
  smk_pkg::need_vec_t       need_before_q;
  smk_pkg::tb_id_vec_t      remaining_q, next_tb_q;
  smk_pkg::buffer_cnt_vec_t queue_count_q, queue_free_q;
  smk_pkg::preempted_entry_t queue_front_q;
  always_ff @(posedge clk_i) begin
    need_before_q <= need_q;
    remaining_q   <= remaining_i;
    next_tb_q     <= next_tb_i;
    queue_count_q <= queue_count_i;
    queue_free_q  <= queue_free_i;
    queue_front_q <= queue_front_i;
    calm_for_q    <= !(rst_ni && calm) ? '0 : calm_for_q + 3'(calm_for_q != '1);
  end
  assign same = need_q == need_before_q && remaining_i == remaining_q && next_tb_i == next_tb_q &&
                queue_count_i == queue_count_q && queue_free_i == queue_free_q &&
                queue_front_i == queue_front_q;
  assign calm = quiet && same && !work && settled_i == '0;
  assign idle = rst_ni && calm && calm_for_q >= 3'd3;
endmodule
