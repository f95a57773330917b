// SPDX-License-Identifier: Apache-2.0
// smk_sm_tables: the control logic of one SM but for the warp schedulers and the profile counters.
//
// Purpose     Wires TB table, partition counters, TB places and preemption engine, and the parts that choose
//             victims, report to the driver, keep quotas, look up kernels and tell the schedulers of
//             warps. Holds the command port, and registers between the blocks.
// Paper       [SMK] Fig. 3.
// Interface   command_*: pulse, never refused: the driver sends one for each command_credit_o, and
//             the first without. event_o: pulse (S5). Everything towards the driver and for the
//             schedulers comes from registers.
// Latency     Command to first warp 6 cycles, to buffer_request_o 4 (with a plan at least 6);
//             tb_finished_i to event_o 3 cycles.
// Throughput  One command and one event per cycle.
// Reset       No TB, no quotas, nothing to report.
// Model       model/control/sm/sm_control.h   Doc  docs/blocks/sm_control.md
// Nothing changes in a cycle without a command, a pulse, or awake_o. Does not see warps' readiness,
// nor ticks.
`include "smk_assert.svh"

module smk_sm_tables (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  // From the driver.
  input  logic                              command_valid_i,
  input  smk_pkg::sm_command_t              command_i,
  input  logic                              buffer_valid_i,
  input  smk_pkg::buffer_t                  buffer_i,
  input  logic                              buffer_none_i,
  input  logic                              event_ack_i,
  // Registers of the driver: contexts, and what a TB of each kernel needs.
  input  smk_pkg::context_views_t           views_i,
  input  smk_pkg::need_vec_t                needs_i,
  // To the driver. Another command can come.
  output logic                              command_credit_o,
  output logic                              command_waits_o,
  output smk_pkg::sm_event_t                event_o,
  output logic                              buffer_request_o,
  output logic                              buffer_withdraw_o,
  output smk_pkg::kernel_id_t               buffer_kernel_o,
  // From the machine.
  input  smk_pkg::slot_mask_t               tb_finished_i,
  input  smk_pkg::slot_mask_t               tb_quiet_i,
  input  smk_pkg::slot_mask_t               tb_flushable_i,
  input  logic                              context_ready_i,
  input  smk_pkg::done_t                    context_done_i,
  input  smk_pkg::sm_time_t                 time_i,
  // Whether each TB leaves in a way of its own; constant during a run.
  input  smk_pkg::chimera_t                 chimera_i,
  // To the machine.
  output smk_pkg::warp_start_t              warp_start_o,
  output smk_pkg::slot_mask_t               tb_activate_o,
  output smk_pkg::slot_mask_t               tb_stop_o,
  output smk_pkg::context_request_t         context_o,
  output logic                              release_valid_o,
  output smk_pkg::tb_slot_t                 release_slot_o,
  output smk_pkg::tb_release_e              release_kind_o,
  // For statistics: a TB that has come waits until there is a gap for it.
  output logic                              place_waits_o,
  // To the schedulers: warps that are stopped, that are freed, and that start (which warp of which
  // kernel on every scheduler, the pulse on one; the warp inverted, too, from registers of its own, for
  // half the schedulers); quotas received, whether they are in force, and a reload at once.
  output smk_pkg::scheduler_warps_t         stop_warps_o,
  output smk_pkg::scheduler_warps_t         leave_warps_o,
  output logic [smk_pkg::NumSchedulers-1:0] start_valid_o,
  output logic [smk_pkg::GrantWidth-1:0]    start_warp_o,
  output logic [smk_pkg::GrantWidth-1:0]    start_warp_n_o,
  output smk_pkg::kernel_id_t               start_kernel_o,
  output smk_pkg::quota_vec_t               quota_o,
  output logic                              gated_o,
  output logic                              ungated_o,
  output logic                              load_o,
  output logic                              awake_o
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  // Cycles until everything has reached the schedulers.
  localparam int unsigned Echo       = 3;

  // What the machine and the engine said one cycle ago; the table hears it now.
  smk_pkg::slot_mask_t finished_q;
  logic                release_q, loaded_q;
  // Of the TB that was released or loaded: a copy, since the engine's own drives much.
  smk_pkg::tb_slot_t   heard_slot_q;
  // A TB has its slot, and its warps are being placed.
  logic                placing_q;
  // Something happened that the schedulers hear of later.
  logic                changed;
  // Another command can come: at once, or when the TB that this one brought is placed.
  logic                command_credit_q, placed;
  logic [Echo-1:0]     changed_q;

  // Wires between the blocks.
  logic                      launching, loaded_valid, engine_settled, engine_busy, judging,
                             engine_event_valid, engine_event_counted, choosing, settle_pending,
                             send_settled, reports_busy;
  smk_pkg::tb_slot_t         launch_slot, engine_slot, report_slot;
  smk_pkg::kernel_id_t       launch_kernel, event_kernel, context_kernel;
  smk_pkg::tb_need_t         launch_need;
  smk_pkg::tb_base_t         launch_base, partition_base, place_base;
  logic                      partitioned, look, chosen, found;
  smk_pkg::slot_mask_t       gone, place_slots;
  smk_pkg::tb_id_t           event_tb;
  smk_pkg::buffer_t          context_buffer, slot_buffer, engine_event_buffer;
  smk_pkg::context_view_t    view;
  smk_pkg::slot_mask_t       go, flush;
  logic                      chooser_busy, reports_finish;
  smk_pkg::slot_mask_t       finish_slot;
  smk_pkg::slot_mask_t       valid, running, load_slots, leaving, counted, stop_next;
  smk_pkg::kernel_slots_t    kernel_slots, slots_of, staying_slots;
  smk_pkg::warp_mask_t       allowed_warps, leave_warps, stop_warps;
  smk_pkg::slot_mask_t       partition_slots, misaligned, victims, leave, finish_pending;
  smk_pkg::tb_cnt_t          shortfall;
  smk_pkg::event_kind_e      engine_event_kind;

  // Commands. A preemption, a plan or an eviction comes only once the one before it is settled.
  logic take, take_dispatch, take_preempt, take_partition, take_evict, take_quota, take_plan,
        take_leave;
  smk_pkg::preempt_mode_e leave_mode;
  assign take            = command_valid_i;
  assign take_dispatch   = take && command_i.op == smk_pkg::CommandDispatch;
  assign take_preempt    = take && command_i.op == smk_pkg::CommandPreempt;
  assign take_partition  = take && command_i.op == smk_pkg::CommandPartition;
  assign take_evict      = take && command_i.op == smk_pkg::CommandEvict;
  assign take_quota      = take && command_i.op == smk_pkg::CommandQuota;
  assign take_plan       = take_partition && command_i.last;
  assign take_leave      = take_preempt || take_plan || take_evict;
  assign leave_mode      = take_preempt ? smk_pkg::PreemptSwitch : command_i.mode;

  // Resident TBs that have not finished.
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      staying_slots.kernel[k] = kernel_slots.kernel[k] & ~finished_q;
    end
  end

  // Who must leave.
  smk_sm_victims u_victims (
    .clk_i, .rst_ni,
    .preempt_i      (take_preempt),
    .kernel_i       (command_i.kernel),
    .count_i        (command_i.count),
    .settled_i      (send_settled),
    .staying_slots_i(staying_slots),
    .finished_i     (finished_q),
    .victims_o      (victims),
    .choosing_o     (choosing),
    .shortfall_o    (shortfall)
  );
  assign leave = `SMK_CUT(Leave, misaligned | victims | (take_evict ? valid & ~finished_q : '0));

  smk_sm_quotas u_quotas (
    .clk_i, .rst_ni, .quota_o, .gated_o, .ungated_o, .load_o,
    .quota_valid_i(take_quota),
    .kernel_i     (command_i.kernel),
    .quota_i      (command_i.quota),
    .first_i      (command_i.first),
    .last_i       (command_i.last),
    .plan_i       (take_plan)
  );

  smk_sm_reports u_reports (
    .clk_i, .rst_ni, .tb_finished_i, .event_o,
    .engine_event_valid_i  (engine_event_valid),
    .engine_event_kind_i   (engine_event_kind),
    .engine_event_buffer_i (engine_event_buffer),
    .engine_event_counted_i(engine_event_counted),
    .engine_slot_i         (engine_slot),
    .leaving_i             (leaving),
    .counted_i             (counted),
    .victims_i             (victims),
    .leave_i               (take_leave),
    .settled_i             (!choosing && !judging && engine_settled),
    .shortfall_i           (shortfall),
    .read_slot_o           (report_slot),
    .read_kernel_i         (event_kernel),
    .read_tb_i             (event_tb),
    .finish_o              (reports_finish),
    .finish_slot_o         (finish_slot),
    .finish_pending_o      (finish_pending),
    .settle_pending_o      (settle_pending),
    .send_settled_o        (send_settled),
    .busy_o                (reports_busy)
  );

  logic [smk_pkg::NumSchedulers-1:0] start_scheduler;
  smk_sm_warps u_warps (
    .clk_i, .rst_ni, .stop_warps_o, .leave_warps_o, .start_valid_o, .start_warp_o, .start_warp_n_o,
    .start_kernel_o,
    .stop_warps_i     (stop_warps),
    .leave_warps_i    (leave_warps),
    .start_i          (warp_start_o.valid),
    .start_warp_i     (warp_start_o.warp),
    .start_kernel_i   (warp_start_o.kernel),
    .start_scheduler_i(start_scheduler)
  );

  // A TB gets its warps, registers and shared memory among those of its partition, or without
  // partitions where there is room.
  assign launch_base = partitioned ? partition_base : place_base;
  smk_tb_table u_tb_table (
    .clk_i, .rst_ni, .warp_start_o,
    .dispatch_valid_i  (take_dispatch),
    .dispatch_kernel_i (command_i.kernel),
    .dispatch_tb_i     (command_i.tb),
    .dispatch_restore_i(command_i.restore),
    .dispatch_buffer_i (command_i.buffer),
    .launching_o       (launching),
    .look_o            (look),
    .chosen_o          (chosen),
    .found_i           (found || partitioned),
    .placed_o          (placed),
    .launch_slot_o     (launch_slot),
    .launch_kernel_o   (launch_kernel),
    .allowed_slots_i   (partition_slots & ~finish_pending &
                        (place_slots | {smk_pkg::NumSlots{partitioned}})),
    .allowed_warps_i   (allowed_warps),
    .launch_warps_i    (launch_need.threads),
    .launch_base_i     (launch_base),
    .start_valid_o     (start_scheduler),
    .finished_i        (finished_q),
    .release_valid_i   (release_q),
    .release_slot_i    (heard_slot_q),
    .loaded_valid_i    (loaded_q),
    .loaded_slot_i     (heard_slot_q),
    .activate_o        (tb_activate_o),
    .load_o            (load_slots),
    .valid_o           (valid),
    .running_o         (running),
    .kernel_slots_o    (kernel_slots),
    .slots_of_o        (slots_of),
    .gone_o            (gone),
    .leave_warps_o     (leave_warps),
    .stop_slots_i      (stop_next),
    .stop_warps_o      (stop_warps),
    .read_slot_i       (report_slot),
    .read_kernel_o     (event_kernel),
    .read_tb_o         (event_tb),
    .context_slot_i    (engine_slot),
    .context_kernel_o  (context_kernel),
    .context_buffer_o  (context_buffer)
  );

  smk_partition_counters u_partition_counters (
    .clk_i, .rst_ni,
    .command_valid_i (take_partition),
    .command_kernel_i(command_i.kernel),
    .command_range_i (command_i.range),
    .command_first_i (command_i.first),
    .command_last_i  (command_i.last),
    .kernel_slots_i  (staying_slots),
    .judging_o       (judging),
    .partitioned_o   (partitioned),
    .misaligned_o    (misaligned),
    .read_i          (launching),
    .read_kernel_i   (launch_kernel),
    .read_slot_i     (launch_slot),
    .read_need_i     (launch_need),
    .slots_o         (partition_slots),
    .warps_o         (allowed_warps),
    .base_o          (partition_base)
  );

  smk_tb_places u_tb_places (
    .clk_i, .rst_ni, .needs_i,
    .partitioned_i(partitioned),
    .slot_valid_i (valid),
    .slots_of_i   (slots_of),
    .gone_i       (gone),
    .pending_i    (finish_pending),
    .launching_i  (launching),
    .look_i       (look),
    .chosen_i     (chosen),
    .kernel_i     (launch_kernel),
    .slot_i       (launch_slot),
    .need_i       (launch_need),
    .found_o      (found),
    .slots_o      (place_slots),
    .base_o       (place_base),
    .waiting_o    (place_waits_o),
    .waits_o      (command_waits_o)
  );

  // In which way each TB leaves.
  smk_pkg::slot_mask_t begins, loaded;
  assign begins = placing_q ? smk_pkg::NumSlots'(1) << launch_slot : '0;
  assign loaded = loaded_q ? smk_pkg::NumSlots'(1) << heard_slot_q : '0;
  smk_preempt_chooser u_preempt_chooser (
    .clk_i, .rst_ni, .chimera_i, .time_i, .views_i,
    // A TB that is placed is said to run in every cycle until it does: who its last warp is is known
    // late, and only the last of these counts.
    .activate_i  (begins | loaded),
    .loaded_i    (loaded),
    .ended_i     (reports_finish),
    .ended_slot_i(finish_slot),
    .order_i     (take_leave),
    .mode_i      (leave_mode),
    .leaving_i   (leaving),
    .running_i   (running),
    .flushable_i (tb_flushable_i),
    .slots_of_i  (slots_of),
    .go_o        (go),
    .flush_o     (flush),
    .busy_o      (chooser_busy)
  );

  smk_preempt_engine u_preempt_engine (
    .clk_i, .rst_ni, .context_o, .context_ready_i, .context_done_i, .release_valid_o,
    .release_kind_o, .buffer_request_o, .buffer_withdraw_o, .buffer_valid_i, .buffer_i,
    .buffer_none_i, .event_ack_i,
    .leave_i         (leave),
    .leave_counted_i (choosing),
    .mode_valid_i    (take_leave),
    .mode_i          (leave_mode),
    .whole_sm_i      (take_evict || (take_plan && command_i.mode == smk_pkg::PreemptDrain)),
    .go_i            (go),
    .flush_i         (flush),
    .load_i          (load_slots),
    .running_i       (running),
    .slot_o          (engine_slot),
    .view_i          (view),
    .slot_buffer_i   (slot_buffer),
    .finished_i      (tb_finished_i),
    .quiet_i         (tb_quiet_i),
    .flushable_i     (tb_flushable_i),
    .stop_o          (tb_stop_o),
    .stop_next_o     (stop_next),
    .loaded_valid_o  (loaded_valid),
    .event_valid_o   (engine_event_valid),
    .event_kind_o    (engine_event_kind),
    .event_buffer_o  (engine_event_buffer),
    .event_counted_o (engine_event_counted),
    .event_sent_i    (engine_event_valid),
    .leaving_o       (leaving),
    .counted_o       (counted),
    .settled_o       (engine_settled),
    .busy_o          (engine_busy)
  );

  assign release_slot_o = engine_slot;
  smk_sm_views u_views (
    .clk_i, .rst_ni, .views_i, .needs_i, .buffer_kernel_o,
    .launching_i     (launching),
    .launch_kernel_i (launch_kernel),
    .launch_need_o   (launch_need),
    .context_kernel_i(context_kernel),
    .context_buffer_i(context_buffer),
    .slot_buffer_o   (slot_buffer),
    .view_o          (view)
  );

  assign command_credit_o = command_credit_q;
  assign changed = tb_finished_i != '0 || release_q || loaded_q || start_valid_o != '0 ||
                   take_quota || take_plan;
  assign awake_o = launching || engine_busy || chooser_busy || reports_busy || start_valid_o != '0 ||
                   changed_q != '0 || command_credit_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      finished_q <= '0;
      release_q  <= 1'b0;
      loaded_q   <= 1'b0;
      placing_q  <= 1'b0;
      heard_slot_q     <= '0;
      changed_q  <= '0;
      command_credit_q <= 1'b0;
    end else begin
      finished_q <= tb_finished_i;
      release_q  <= release_valid_o;
      loaded_q   <= loaded_valid;
      placing_q  <= chosen || (placing_q && !placed);
      heard_slot_q     <= engine_slot;
      changed_q  <= {changed_q[Echo-2:0], changed};
      command_credit_q <= (take && !take_dispatch) || placed;
    end
  end

  // A command comes only with a credit: while no TB is placed.
  `SMK_ASSERT(CommandHasCredit_M, command_valid_i |-> !launching)
  // A TB comes, and TBs are ordered to leave, only when nobody has to leave any more.
  `SMK_ASSERT(CommandWhenSettled_M, take_dispatch || take_partition || take_leave
              |-> leaving == '0 && !settle_pending)
  // The slot of a TB that is still to be reported is not taken: it is empty, or empties now.
  `SMK_ASSERT(SlotOfReportIsHeld_A, (finish_pending & valid & ~finished_q) == '0)
  // Nothing changes in a cycle without a command, a pulse, or awake_o.
  logic unused_quiet;
  assign unused_quiet = !awake_o && !command_valid_i && !buffer_valid_i && !buffer_none_i && !event_ack_i &&
                        tb_finished_i == '0 && context_done_i == '0;
  `SMK_ASSERT(IdleHolds_A, unused_quiet |=> !awake_o && $stable(event_o) && $stable(quota_o) &&
              $stable(gated_o) && $stable(valid) && $stable(running) && $stable(counted))
  `SMK_ASSERT(IdleIsSilent_A, unused_quiet |-> !warp_start_o.valid && !context_o.valid &&
              !release_valid_o && tb_activate_o == '0 && stop_warps_o == '0)
endmodule
