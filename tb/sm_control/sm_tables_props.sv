// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_sm_tables: what its parts require of each other holds inside it, if the driver keeps to
// credits and reports and the machine finishes TBs that run. The driver's side is proved of smk_driver_bus
// and smk_tb_dispatch; tests/formal/assumptions.toml has who gives what.
`include "formal.svh"

module formal_sm_tables (
  input logic                     clk_i,
  input logic                     command_valid_i,
  input smk_pkg::sm_command_t     command_i,
  input logic                     buffer_valid_i,
  input smk_pkg::buffer_t         buffer_i,
  input logic                     buffer_none_i,
  input logic                     event_ack_i,
  input smk_pkg::context_views_t  views_i,
  input smk_pkg::need_vec_t       needs_i,
  input smk_pkg::slot_mask_t      tb_finished_i,
  input smk_pkg::slot_mask_t      tb_quiet_i,
  input smk_pkg::slot_mask_t      tb_flushable_i,
  input logic                     context_ready_i,
  input smk_pkg::done_t           context_done_i,
  input smk_pkg::sm_time_t        time_i,
  input smk_pkg::chimera_t        chimera_i
);
  localparam int unsigned NumSlots          = smk_pkg::NumSlots;
  localparam int unsigned NumWarps          = smk_pkg::NumWarps;
  localparam int unsigned NumSchedulers     = smk_pkg::NumSchedulers;
  localparam int unsigned WarpsPerScheduler = smk_pkg::WarpsPerScheduler;

  `FORMAL_RESET
  logic                      command_credit, command_waits, buffer_request, buffer_withdraw;
  smk_pkg::sm_event_t        report;
  smk_pkg::kernel_id_t       buffer_kernel, start_kernel;
  smk_pkg::warp_start_t      warp_start;
  smk_pkg::slot_mask_t       tb_activate, tb_stop;
  smk_pkg::context_request_t context_request;
  logic                      release_valid, place_waits, gated, ungated, load, awake;
  smk_pkg::tb_slot_t         release_slot;
  smk_pkg::tb_release_e      release_kind;
  smk_pkg::scheduler_warps_t stop_warps, leave_warps;
  logic [NumSchedulers-1:0]  start_valid;
  logic [$clog2(WarpsPerScheduler)-1:0] start_warp, start_warp_n;
  smk_pkg::quota_vec_t       quota;
  smk_sm_tables u_dut (
    .clk_i, .rst_ni, .command_valid_i, .command_i, .buffer_valid_i, .buffer_i, .buffer_none_i,
    .event_ack_i, .views_i, .needs_i, .tb_finished_i, .tb_quiet_i, .tb_flushable_i,
    .context_ready_i, .context_done_i, .time_i, .chimera_i,
    .command_credit_o (command_credit),
    .command_waits_o  (command_waits),
    .event_o          (report),
    .buffer_request_o (buffer_request),
    .buffer_withdraw_o(buffer_withdraw),
    .buffer_kernel_o  (buffer_kernel),
    .warp_start_o     (warp_start),
    .tb_activate_o    (tb_activate),
    .tb_stop_o        (tb_stop),
    .context_o        (context_request),
    .release_valid_o  (release_valid),
    .release_slot_o   (release_slot),
    .release_kind_o   (release_kind),
    .place_waits_o    (place_waits),
    .stop_warps_o     (stop_warps),
    .leave_warps_o    (leave_warps),
    .start_valid_o    (start_valid),
    .start_warp_o     (start_warp),
    .start_warp_n_o   (start_warp_n),
    .start_kernel_o   (start_kernel),
    .quota_o          (quota),
    .gated_o          (gated),
    .ungated_o        (ungated),
    .load_o           (load),
    .awake_o          (awake)
  );

  // The driver: a credit, from the cycle after it came; TBs that were ordered to leave, until the SM
  // says that it has settled; a report that waits for its answer.
  logic orders, credit_q, ordered_q, ack_due_q, settled, needs_ack;
  assign orders = command_valid_i && (command_i.op == smk_pkg::CommandPreempt ||
                  command_i.op == smk_pkg::CommandEvict ||
                  (command_i.op == smk_pkg::CommandPartition && command_i.last));
  assign settled   = report.valid && report.kind == smk_pkg::EventSettled;
  assign needs_ack = report.valid && (report.kind == smk_pkg::EventSaved ||
                     report.kind == smk_pkg::EventFlushed || report.kind == smk_pkg::EventBufferFree);
  always_ff @(posedge clk_i) begin
    credit_q  <= !rst_ni || (credit_q && !command_valid_i) || command_credit;
    ordered_q <= rst_ni && ((ordered_q && !settled) || orders);
    ack_due_q <= rst_ni && ((ack_due_q && !event_ack_i) || needs_ack);
  end
  // A command is sent with a credit, and but for quotas only to an SM that has settled.
  `ASSUME(SentWithCredit_M, !command_valid_i || credit_q)
  `ASSUME(SentWhenSettled_M, !command_valid_i || !ordered_q ||
          command_i.op == smk_pkg::CommandQuota)
  // One acknowledgement for each report that needs one.
  `ASSUME(AckIsDue_M, !event_ack_i || ack_due_q)

  // A buffer comes once for a request, or none when it was withdrawn.
  logic asked, asked_q, withdrawn, withdrawn_q;
  assign asked     = asked_q || buffer_request;
  assign withdrawn = withdrawn_q || buffer_withdraw;
  always_ff @(posedge clk_i) begin
    asked_q     <= rst_ni && asked && !buffer_valid_i && !buffer_none_i;
    withdrawn_q <= rst_ni && withdrawn && !buffer_valid_i && !buffer_none_i;
  end
  `ASSUME(BufferWasAsked_M, !buffer_valid_i || asked)
  `ASSUME(NoneWasWithdrawn_M, !buffer_none_i || (!buffer_valid_i && withdrawn))

  // The machine: TBs that run; that have been stopped and quiet for a cycle.
  smk_pkg::slot_mask_t runs_q, still_q, release_bit;
  assign release_bit = release_valid ? NumSlots'(1) << release_slot : '0;
  always_ff @(posedge clk_i) begin
    runs_q  <= rst_ni ? (runs_q | tb_activate) & ~tb_finished_i & ~release_bit : '0;
    still_q <= rst_ni ? tb_stop & tb_quiet_i & ~tb_finished_i : '0;
  end
  `ASSUME(MachineFinishesRunners_M, (tb_finished_i & ~runs_q) == '0)
  // A TB that is stopped and quiet stays so, and does not finish.
  `ASSUME(QuietStaysQuiet_M, (still_q & tb_stop & ~tb_quiet_i) == '0 &&
          (still_q & tb_stop & tb_finished_i) == '0)

  // The command port.
  `WATCH([0:0], launching, u_dut.launching)
  `WATCH([2:0], table_step, u_dut.u_tb_table.step_q)
  // A command comes only while no TB is placed.
  `PROVE(CommandHasCredit_A, !command_valid_i || !launching)
  // A credit is given back, and waiting for a gap is reported, only after a command that used one.
  `PROVE(CreditWasUsed_A, !command_credit || !credit_q)
  `PROVE(WaitsWithoutCredit_A, !command_waits || (launching && !credit_q))
  // For induction: the one credit is with the driver, on its way, or with the TB that is placed.
  `PROVE(OneCredit_A, 2'(credit_q) + 2'(command_credit) + 2'(launching) == 2'd1 &&
         launching == (table_step != '0) && table_step <= 3'd6)

  // Quotas and plans.
  `WATCH([0:0], quota_valid, u_dut.u_quotas.quota_valid_i)
  `WATCH([0:0], plan, u_dut.u_quotas.plan_i)
  `PROVE(QuotaOrPlan_A, !(quota_valid && plan))
  `PROVE(GatedOrNot_A, gated == !ungated)

  // Places.
  `WATCH([0:0], partitioned, u_dut.u_tb_places.partitioned_i)
  `WATCH([0:0], look, u_dut.u_tb_places.look_i)
  `WATCH([0:0], chosen, u_dut.u_tb_places.chosen_i)
  `WATCH([2:0], place_step, u_dut.u_tb_places.step_q)
  `WATCH([NumSlots-1:0], place_slots, u_dut.u_tb_places.slots_q)
  `WATCH([smk_pkg::SlotWidth-1:0], launch_slot, u_dut.u_tb_places.slot_i)
  localparam logic [2:0] StRest = 3'd0, StFound = 3'd5;
  `PROVE(OnePlaceAtATime_A, !look || partitioned || (place_step == StRest && launching))
  // The slot is one of those, if one was free: as many TBs as slots is all that the driver sends.
  `WATCH([NumSlots-1:0], free_slots, u_dut.u_tb_table.free_slots)
  logic had_free_q;
  always_ff @(posedge clk_i) had_free_q <= free_slots != '0;
  `PROVE(ChosenIsAllowed_A, !chosen || partitioned || (place_step == StFound &&
         (!had_free_q || (place_slots & (NumSlots'(1) << launch_slot)) != '0)))
  `WATCH([0:0], settle_pending, u_dut.settle_pending)
  `WATCH([0:0], judging, u_dut.u_partition_counters.judging_o)
  `PROVE(QuietWhileJudging_A, !judging || (!launching &&
         !(command_valid_i && command_i.op == smk_pkg::CommandPartition)))
  // For induction: the place is looked for in the table's second step and found in its third, and a plan
  // is judged before the SM says that it has settled.
  `PROVE(StepsOfALaunch_A, (table_step == 3'd2 && !partitioned ? place_step != StRest :
         table_step == 3'd3 && !partitioned ? place_step == StFound : place_step == StRest) &&
         place_step <= StFound && look == (table_step == 3'd1) && chosen == (table_step == 3'd3))
  `PROVE(JudgedBeforeSettled_A, (!judging || settle_pending) && (!settle_pending || ordered_q) &&
         !(ordered_q && launching))

  // Who leaves.
  `WATCH([0:0], choosing, u_dut.u_victims.choosing_q)
  `WATCH([0:0], chooses_anew, u_dut.u_victims.preempt_i)
  `WATCH([0:0], shortfall_told, u_dut.u_victims.settled_i)
  `PROVE(OnePreemptionAtATime_A, !(chooses_anew || shortfall_told) || !choosing)
  `WATCH([NumSlots-1:0], leaving, u_dut.leaving)
  `PROVE(CommandWhenSettled_A, !command_valid_i || command_i.op == smk_pkg::CommandQuota ||
         (leaving == '0 && !settle_pending))
  // No slot is chosen twice by an order: who was chosen is no candidate. So it is in any number of
  // slots, though with two nobody has left before all are chosen.
  `WATCH([NumSlots-1:0], leave, u_dut.leave)
  `WATCH([NumSlots-1:0], candidates, u_dut.u_victims.candidates)
  smk_pkg::slot_mask_t leavers_q;
  always_ff @(posedge clk_i) leavers_q <= rst_ni ? (orders ? leave : leavers_q | leave) : '0;
  `PROVE(ChosenOnce_A, orders || (leave & leavers_q) == '0)
  `PROVE(ChosenIsNoCandidate_A, !choosing || (candidates & leavers_q) == '0)
  // Settled is said after it was ordered, once.
  `PROVE(SettledWasOrdered_A, !settled || ordered_q)

  // Warps: what the schedulers hear is what the table has.
  `WATCH([NumSchedulers-1:0], start_scheduler, u_dut.u_warps.start_scheduler_i)
  `PROVE(StartHasScheduler_A, start_scheduler == (warp_start.valid ?
         NumSchedulers'(1) << (32'(warp_start.warp) % NumSchedulers) : '0))
  `PROVE(WarpOrNot_A, start_warp == ~start_warp_n)
  logic [NumWarps-1:0] warps_q, starts, leaves;
  for (genvar w = 0; w < NumWarps; w++) begin : gen_warp
    localparam int unsigned S = w % NumSchedulers, I = w / NumSchedulers;
    assign starts[w] = start_valid[S] && 32'(start_warp) == I;
    assign leaves[w] = leave_warps[S*WarpsPerScheduler + I];
  end
  always_ff @(posedge clk_i) warps_q <= rst_ni ? (warps_q & ~leaves) | starts : '0;
  `PROVE(StartSlotIsFree_A, (starts & warps_q & ~leaves) == '0)
  `PROVE(LeaverIsResident_A, (leaves & ~warps_q) == '0)
  `WATCH([NumWarps-1:0], table_warps, u_dut.u_tb_table.warp_valid_q)
  `PROVE(SchedulersFollow_A, table_warps == ((warps_q & ~leaves) | starts))

  // A TB slot is of one kernel.
  `WATCH([smk_pkg::NumKernels*NumSlots-1:0], kernel_slots, u_dut.kernel_slots)
  smk_pkg::slot_mask_t of_0, of_1;
  assign {of_1, of_0} = kernel_slots;
  `PROVE(OneKernelPerSlot_A, (of_0 & of_1) == '0)
  // The SM reports one TB at a time, and asks for one buffer at a time.
  `PROVE(OneReportAtATime_A, !needs_ack || !ack_due_q)
  `PROVE(OneRequestAtATime_A, !buffer_request || (!asked_q && !buffer_withdraw))
endmodule
