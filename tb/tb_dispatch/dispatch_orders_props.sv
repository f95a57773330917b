// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_tb_dispatch about what it has ordered, in every mode, with TBs that stream or not: SMs that were
// told to let TBs leave and have not settled yet, and TBs that remain or are queued, are counted here. The
// tracker answers with any of those asked for; everything else is any.
`include "formal.svh"

module formal_dispatch_orders (
  input logic                       clk_i,
  input smk_pkg::policy_t           policy_i,
  input logic                       tick_i,
  input smk_pkg::kernel_mask_t      held_i,
  input logic                       assign_busy_i,
  input smk_pkg::sm_kernels_t       allowed_i,
  input smk_pkg::sm_mask_t          assign_changed_i,
  input smk_pkg::kernel_mask_t      active_i,
  input smk_pkg::order_vec_t        order_i,
  input smk_pkg::need_vec_t         need_i,
  input smk_pkg::tb_id_vec_t        next_tb_i,
  input smk_pkg::kernel_mask_t      need_changed_i,
  input smk_pkg::kernel_mask_t      kernel_done_i,
  input smk_pkg::kernel_mask_t      member_expired_i,
  input smk_pkg::sm_mask_t          events_valid_i,
  input smk_pkg::sm_mask_t          settled_i,
  input smk_pkg::sm_mask_t          waiting_i,
  input smk_pkg::sm_mask_t          waits_i,
  input smk_pkg::sm_mask_t          command_ready_i,
  input smk_pkg::buffer_cnt_vec_t   queue_free_i,
  input smk_pkg::sm_mask_t          queue_ack_i,
  input smk_pkg::preempted_entry_t  queue_front_i,
  input logic                       plan_done_i,
  input smk_pkg::range_vec_t        plan_range_i,
  input logic                       plan_anywhere_i,
  input smk_pkg::kernel_sms_t       pick_sm_i,
  input smk_pkg::kernel_mask_t      pick_kernel_i,
  input smk_pkg::resource_vector_t  look_taken_i,
  input smk_pkg::tb_cnt_t           look_resident_i,
  input smk_pkg::sm_mask_t          victim_sm_i,
  input smk_pkg::tb_need_t          victim_taken_i,
  input smk_pkg::tb_cnt_vec_t       victim_resident_i,
  input smk_pkg::kernel_mask_t      victim_kernel_i,
  input logic                       range_shrinks_i,
  input smk_pkg::sm_kernels_t       resident_i,
  // A kernel is launched, with so many TBs; a TB of it is queued; one streams, new or queued.
  input smk_pkg::kernel_mask_t      launch_i,
  input smk_pkg::tb_id_t            launch_tbs_i,
  input smk_pkg::kernel_mask_t      queued_now_i,
  input smk_pkg::kernel_mask_t      stream_new_i,
  input smk_pkg::kernel_mask_t      stream_pop_i
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  localparam int unsigned NumSms     = smk_pkg::NumSms;

  `FORMAL_RESET
  smk_pkg::policy_t policy_q;
  always_ff @(posedge clk_i) if (!rst_ni) policy_q <= policy_i;
  `ASSUME(PolicyExists_M, policy_q.latency_scale != '0)

  smk_pkg::kernel_sms_t      pick_sms, look_sm;
  smk_pkg::kernel_mask_t     pick_kernels, victim_kernels, range_kernel, range_victim, plan_kernels_q;
  smk_pkg::kernel_id_t       queue_kernel, victim_exclude;
  smk_pkg::sm_mask_t         victim_sms, victim_look, busy, command_sms, reserved;
  smk_pkg::tb_cnt_t          range_victim_tbs;
  smk_pkg::sm_kernels_t      planned, victims;
  smk_pkg::sm_tb_cnts_t      partition;
  smk_pkg::dispatch_pulses_t pulses;
  smk_pkg::tb_arrival_t      arrival;
  smk_pkg::sm_command_t      command;
  smk_pkg::sm_id_t           command_sm;
  smk_pkg::decision_t        decision;
  smk_pkg::tb_id_vec_t       remaining_q;
  smk_pkg::buffer_cnt_vec_t  count_q;
  smk_pkg::kernel_mask_t     queued, none_remains, hands_out, pops;
  logic                      range_starts, range_stops, command_valid, work, decides;
  smk_tb_dispatch u_dut (
    .clk_i, .rst_ni, .tick_i, .held_i, .assign_busy_i, .allowed_i, .assign_changed_i, .active_i, .order_i, .need_i,
    .next_tb_i, .need_changed_i, .kernel_done_i, .member_expired_i, .events_valid_i, .settled_i,
    .waiting_i, .waits_i, .command_ready_i, .queue_free_i, .queue_ack_i, .queue_front_i, .plan_done_i,
    .plan_range_i, .plan_anywhere_i, .pick_sm_i, .pick_kernel_i, .look_taken_i, .look_resident_i,
    .victim_sm_i, .victim_taken_i, .victim_resident_i, .victim_kernel_i, .range_shrinks_i, .resident_i,
    .policy_i          (policy_q),
    .remaining_i       (remaining_q),
    .queued_i          (queued),
    .queue_count_i     (count_q),
    .queue_kernel_o    (queue_kernel),
    .plan_kernels_i    (plan_kernels_q),
    .pick_sms_o        (pick_sms),
    .pick_kernels_o    (pick_kernels),
    .look_sm_o         (look_sm),
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
    .command_sms_o     (command_sms),
    .command_o         (command),
    .busy_o            (busy),
    .planned_o         (planned),
    .partition_o       (partition),
    .victims_o         (victims),
    .decision_o        (decision),
    .reserved_o        (reserved),
    .others_work_i     (1'b0),
    .work_o            (work),
    .decides_o         (decides)
  );

  // The tracker answers with one of those asked for.
  function automatic logic one_of(input logic [15:0] answer, input logic [15:0] asked);
    one_of = (answer & ~asked) == '0 && (answer & (answer - 16'd1)) == '0 &&
             (answer == '0) == (asked == '0);
  endfunction
  smk_pkg::kernel_mask_t picked_one;
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      picked_one[k] = one_of(16'(pick_sm_i.kernel[k]), 16'(pick_sms.kernel[k]));
    end
  end
  `ASSUME(PickedSmWasAsked_M, picked_one == '1)
  `ASSUME(PickedKernelWasAsked_M, one_of(16'(pick_kernel_i), 16'(pick_kernels)))
  `ASSUME(VictimSmWasAsked_M, one_of(16'(victim_sm_i), 16'(victim_sms)))
  `ASSUME(VictimWasAsked_M, one_of(16'(victim_kernel_i), 16'(victim_kernels)))
  // A plan is made for the kernels asked for, once.
  logic planning_q;
  always_ff @(posedge clk_i) begin
    planning_q <= rst_ni && (pulses.plan_start || (planning_q && !plan_done_i));
    if (pulses.plan_start) plan_kernels_q <= pulses.plan_kernels;
  end
  `ASSUME(PlanIsAsked_M, !plan_done_i || planning_q)

  // SMs told to let TBs leave, until they say that they have settled.
  smk_pkg::sm_mask_t sent, ordered_q;
  logic              orders;
  assign sent   = command_sms & {NumSms{command_valid && (command_sms & ~command_ready_i) == '0}};
  assign orders = command.op == smk_pkg::CommandPreempt || command.op == smk_pkg::CommandEvict ||
                  (command.op == smk_pkg::CommandPartition && command.last);
  always_ff @(posedge clk_i) begin
    ordered_q <= rst_ni ? (ordered_q & ~settled_i) | (sent & {NumSms{orders}}) : '0;
  end
  `ASSUME(SettledWasOrdered_M, (settled_i & ~(ordered_q & events_valid_i)) == '0)
  // It settles after it was told, and is told nothing else before.
  `PROVE(OrderedIsBusy_A, (ordered_q & ~busy) == '0)
  `PROVE(SettledWasBusy_A, (settled_i & ~busy) == '0)
  `PROVE(SentWhenSettled_A, (sent & ordered_q) == '0)

  // Room is reserved once, on an SM without TBs on their way out, and what is given back was reserved. A
  // kernel is done two cycles after the event of its last TB.
  smk_pkg::sm_mask_t events_q, events_before_q;
  always_ff @(posedge clk_i) begin
    events_q        <= rst_ni ? events_valid_i : '0;
    events_before_q <= rst_ni ? events_q : '0;
  end
  `ASSUME(DoneFollowsAnEvent_M, kernel_done_i == '0 || events_before_q != '0)
  `WATCH([NumSms-1:0], reserve, u_dut.u_marks.reserve)
  `WATCH([NumSms-1:0], unreserve, u_dut.u_marks.unreserve)
  `WATCH([NumSms-1:0], reserved_now, u_dut.u_marks.reserved_now)
  `WATCH([NumSms-1:0], busy_now, u_dut.u_marks.busy_now)
  `PROVE(ReserveIsNew_A, (reserve & (reserved_now | busy_now)) == '0)
  `PROVE(UnreserveIsKnown_A, (unreserve & ~reserved_now) == '0)

  // Guarded, a kernel keeps the room that was made for it: on an SM on which TBs were asked to leave for
  // one, none are for another before the second tick, while that one runs.
  logic                   preempts;
  smk_pkg::sm_kernel_id_t gained_q;
  smk_pkg::sm_mask_t      lost;
  assign preempts = decision.valid && decision.reason == smk_pkg::ReasonPreempt;
  for (genvar s = 0; s < NumSms; s++) begin : gen_guard
    logic [1:0] ticks_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni || kernel_done_i[gained_q.sm[s]]) ticks_q <= '0;
      else if (tick_i && ticks_q != '0)             ticks_q <= ticks_q - 2'd1;
      if (rst_ni && preempts && 32'(decision.sm) == s) begin
        ticks_q        <= 2'd2;
        gained_q.sm[s] <= decision.kernel;
      end
    end
    assign lost[s] = preempts && 32'(decision.sm) == s && ticks_q != '0 &&
                     gained_q.sm[s] != decision.kernel;
  end
  `PROVE(GuardedRoomIsKept_A, !policy_q.preempt_guard || lost == '0)

  // TBs are handed out that remain, or are queued; another block hands out none while this one decides.
  logic decides_q;
  always_ff @(posedge clk_i) decides_q <= rst_ni && decides;
  assign hands_out = NumKernels'(pulses.dispatch_new) << pulses.kernel;
  assign pops      = NumKernels'(pulses.pop) << pulses.kernel;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_kernel
    assign queued[k]       = count_q.kernel[k] != '0;
    assign none_remains[k] = remaining_q.kernel[k] == '0;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        remaining_q.kernel[k] <= '0;
        count_q.kernel[k]     <= '0;
      end else begin
        remaining_q.kernel[k] <= launch_i[k] && none_remains[k] ? launch_tbs_i :
            remaining_q.kernel[k] - smk_pkg::TbIdWidth'(hands_out[k] || stream_new_i[k]);
        count_q.kernel[k] <= count_q.kernel[k] -
            smk_pkg::BufferCntWidth'(pops[k] || stream_pop_i[k]) + smk_pkg::BufferCntWidth'(
            queued_now_i[k] && 32'(count_q.kernel[k]) < smk_pkg::PreemptedDepth);
      end
    end
  end
  logic streams;
  assign streams = policy_q.stream && policy_q.dispatch != smk_pkg::DispatchOnDemand;
  `ASSUME(StreamStandsBack_M, (!decides_q && streams) || (stream_new_i | stream_pop_i) == '0)
  `ASSUME(StreamedWaits_M, (stream_new_i & none_remains) == '0 && (stream_pop_i & ~queued) == '0)
  `PROVE(HandsOutWhatRemains_A, (hands_out & none_remains) == '0)
  `PROVE(PopsWhatIsQueued_A, (pops & ~queued) == '0)
  `PROVE(DispatchesAfterDeciding_A, !(pulses.dispatch_new || pulses.pop) ||
         (decides && decides_q && !(pulses.dispatch_new && pulses.pop)))
  // A command is offered in the third cycle of a decision at the earliest, and an SM is busy after one.
  logic decides_before_q;
  smk_pkg::sm_mask_t busy_q;
  always_ff @(posedge clk_i) begin
    decides_before_q <= rst_ni && decides_q;
    busy_q           <= rst_ni ? busy : '0;
  end
  `PROVE(DecidesBeforeSending_A, !command_valid || (decides && decides_q && decides_before_q))
  `PROVE(BusyAfterDeciding_A, decides_q || (busy & ~busy_q) == '0)
endmodule
