// SPDX-License-Identifier: Apache-2.0
// smk_sm_tables: the control logic of one SM but for the warp schedulers and the profile counters.
//
// Purpose     Wires TB table, partition counters and preemption engine; holds the command port from
//             the driver, the quotas received, and the one event register towards the driver.
//             Chooses the victims of a preemption, one per cycle: the highest TB slots of the
//             kernel.
// Paper       [SMK] Fig. 3.
// Interface   command_*: stream; ready while no TB is placed. event_o: pulse (S5), register.
//             Everything for the schedulers comes from registers.
// Latency     Command to first warp 6 cycles, to buffer_request_o 4 (with a plan at least 6);
//             tb_finished_i to event_o 3 cycles.
// Throughput  One command and one event per cycle.
// Reset       No TB, no quotas, nothing to report.
// Model       model/control/sm_control.h   Doc  docs/modules/sm_control.md
// Nothing changes in a cycle without a command, a pulse, or awake_o. Does not see warps' readiness,
// nor ticks.
`include "smk_assert.svh"

module smk_sm_tables (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  // From the driver.
  input  logic                              command_valid_i,
  output logic                              command_ready_o,
  input  smk_pkg::sm_command_t              command_i,
  input  logic                              buffer_valid_i,
  input  smk_pkg::buffer_t                  buffer_i,
  input  logic                              event_ack_i,
  // Registers of the driver: contexts, and warps per TB of each kernel.
  input  smk_pkg::context_views_t           views_i,
  input  smk_pkg::thread_cnt_vec_t          warps_i,
  // To the driver.
  output smk_pkg::sm_event_t                event_o,
  output logic                              buffer_request_o,
  output smk_pkg::kernel_id_t               buffer_kernel_o,
  // From the machine.
  input  smk_pkg::slot_mask_t               tb_finished_i,
  input  smk_pkg::slot_mask_t               tb_quiet_i,
  input  smk_pkg::slot_mask_t               tb_flushable_i,
  input  logic                              context_ready_i,
  input  smk_pkg::done_t                    context_done_i,
  // To the machine.
  output smk_pkg::warp_start_t              warp_start_o,
  output smk_pkg::slot_mask_t               tb_activate_o,
  output smk_pkg::slot_mask_t               tb_stop_o,
  output smk_pkg::context_request_t         context_o,
  output logic                              release_valid_o,
  output smk_pkg::tb_slot_t                 release_slot_o,
  output smk_pkg::tb_release_e              release_kind_o,
  // To the schedulers: warps that are stopped, that are freed, and that start (which warp of which
  // kernel on every scheduler, the pulse on one); quotas received, whether they are in force, and a
  // reload at once.
  output smk_pkg::scheduler_warps_t         stop_warps_o,
  output smk_pkg::scheduler_warps_t         leave_warps_o,
  output logic [smk_pkg::NumSchedulers-1:0] start_valid_o,
  output logic [$clog2(smk_pkg::WarpsPerScheduler)-1:0] start_warp_o,
  output smk_pkg::kernel_id_t               start_kernel_o,
  output smk_pkg::quota_vec_t               quota_o,
  output logic                              gated_o,
  output logic                              ungated_o,
  output logic                              load_o,
  output logic                              awake_o
);
  localparam int unsigned NumKernels        = smk_pkg::NumKernels;
  localparam int unsigned NumSchedulers     = smk_pkg::NumSchedulers;
  localparam int unsigned WarpsPerScheduler = smk_pkg::WarpsPerScheduler;
  localparam int unsigned NumSlots          = smk_pkg::NumSlots;
  localparam int unsigned SlotWidth         = smk_pkg::SlotWidth;
  localparam int unsigned TbCntWidth        = smk_pkg::TbCntWidth;
  localparam int unsigned SchedulerWidth    = $clog2(NumSchedulers);
  // Cycles until the schedulers have heard of everything.
  localparam int unsigned Echo              = 3;

  smk_pkg::quota_vec_t quota_d, quota_q;
  logic                gated_d, gated_q, ungated_q, load_d, load_q;
  // What the machine and the engine said one cycle ago; the table hears it now.
  smk_pkg::slot_mask_t finished_q;
  logic                release_q, loaded_q;
  // Victims are chosen, of this kernel (one-hot).
  logic                  choosing_d, choosing_q;
  smk_pkg::kernel_mask_t victim_of_d, victim_of_q;
  // Finished TBs to be reported, and of these those that were chosen as victims before.
  smk_pkg::slot_mask_t finish_pending_d, finish_pending_q, finish_counted_d, finish_counted_q;
  // Settled is to be reported, with so many victims missing (or still to be chosen).
  logic                settle_pending_d, settle_pending_q;
  smk_pkg::tb_cnt_t    shortfall_d, shortfall_q;
  // What is reported, before the table was read; and with it.
  smk_pkg::sm_event_t  report_d, report_q, event_d, event_q;
  smk_pkg::tb_slot_t   report_slot_d, report_slot_q;
  // Of the engine's slot and of the TB being launched, read from the table one cycle ago.
  // Base and lines, from the driver's registers, take one cycle more.
  smk_pkg::kernel_id_t    context_kernel_q;
  smk_pkg::address_t      context_base_q;
  smk_pkg::line_t         context_lines_q;
  smk_pkg::context_view_t context_view, view;
  smk_pkg::buffer_t       context_buffer_q;
  smk_pkg::thread_cnt_t   launch_warps_q;
  // A warp that starts, for each of the schedulers.
  logic [NumSchedulers-1:0] start_valid_d, start_valid_q;
  logic [smk_pkg::WarpWidth-SchedulerWidth-1:0] start_warp, start_warp_q;
  logic [SchedulerWidth-1:0] unused_scheduler;
  smk_pkg::kernel_id_t start_kernel_q;
  // Something happened that the schedulers hear of later.
  logic                changed;
  logic [Echo-1:0]     changed_q;

  // Wires between the blocks.
  logic                     launching, loaded_valid, engine_settled, engine_busy;
  smk_pkg::tb_slot_t        launch_slot, engine_slot;
  smk_pkg::kernel_id_t      launch_kernel, event_kernel, context_kernel;
  smk_pkg::tb_id_t          event_tb;
  smk_pkg::buffer_t         context_buffer, engine_event_buffer;
  smk_pkg::slot_mask_t      valid, running, load_slots, leaving, counted, stop_next;
  smk_pkg::kernel_slots_t   kernel_slots, staying_slots;
  smk_pkg::warp_mask_t      allowed_warps, leave_warps, stop_warps;
  smk_pkg::slot_mask_t      partition_slots, misaligned;
  logic                     judging, engine_event_valid, engine_event_counted;
  smk_pkg::event_kind_e     engine_event_kind;
  smk_pkg::partition_range_t unused_range;

  // Commands. A preemption, a plan or an eviction comes only once the one before it is settled.
  logic take, take_dispatch, take_preempt, take_partition, take_evict, take_quota, take_plan;
  assign command_ready_o = !launching;
  assign take            = command_valid_i && command_ready_o;
  assign take_dispatch   = take && command_i.op == smk_pkg::CommandDispatch;
  assign take_preempt    = take && command_i.op == smk_pkg::CommandPreempt;
  assign take_partition  = take && command_i.op == smk_pkg::CommandPartition;
  assign take_evict      = take && command_i.op == smk_pkg::CommandEvict;
  assign take_quota      = take && command_i.op == smk_pkg::CommandQuota;

  assign take_plan       = take_partition && command_i.last;

  // Resident TBs that have not finished.
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      staying_slots.kernel[k] = kernel_slots.kernel[k] & ~finished_q;
    end
  end

  // Victims: the highest candidate, cycle by cycle, until so many are found or there is none.
  smk_pkg::slot_mask_t candidates, victims;
  assign victims = choosing_q && shortfall_q != '0 ?
                   NumSlots'(smk_pkg::highest_one(64'(candidates))) : '0;
  always_comb begin
    candidates = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (victim_of_q[k]) candidates = candidates | staying_slots.kernel[k];
    end
    candidates = candidates & ~leaving;
  end
  always_comb begin
    victim_of_d = take_preempt ? NumKernels'(1) << command_i.kernel : victim_of_q;
    choosing_d  = take_preempt || (choosing_q && shortfall_q != '0 && candidates != '0);
  end

  // Who must leave.
  smk_pkg::slot_mask_t leave;
  assign leave = misaligned | victims | (take_evict ? valid & ~finished_q : '0);

  // Quotas: in force with the last one, until the next plan.
  assign load_d = take_quota && command_i.last && !gated_q;
  always_comb begin
    quota_d = quota_q;
    gated_d = gated_q;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (take_quota && command_i.kernel == smk_pkg::KernelWidth'(k)) begin
        quota_d.kernel[k] = command_i.quota;
      end
    end
    if (take_quota && command_i.last) gated_d = 1'b1;
    if (take_plan)                    gated_d = 1'b0;
  end

  // What is reported: a TB that left, then a TB that finished, then that all who had to leave have.
  // A slot is taken again only after its TB has been reported, so the table still knows it.
  smk_pkg::slot_mask_t finish, reported;
  logic                send_finished, send_settled;
  assign finish        = NumSlots'(smk_pkg::lowest_one(64'(finish_pending_q)));
  assign send_finished = !engine_event_valid && finish_pending_q != '0;
  assign send_settled  = !engine_event_valid && finish_pending_q == '0 && settle_pending_q &&
                         !choosing_q && !judging && engine_settled && tb_finished_i == '0;
  assign reported      = send_finished ? finish : '0;
  assign report_slot_d = engine_event_valid ? engine_slot
                                            : SlotWidth'(smk_pkg::index_of(64'(finish)));
  always_comb begin
    report_d           = report_q;
    report_d.valid     = engine_event_valid || send_finished || send_settled;
    report_d.kind      = send_finished ? smk_pkg::EventFinished : smk_pkg::EventSettled;
    report_d.buffer    = engine_event_buffer;
    report_d.counted   = engine_event_valid ? engine_event_counted
                                            : (finish_counted_q & finish) != '0;
    report_d.shortfall = shortfall_q;
    if (engine_event_valid) report_d.kind = engine_event_kind;
  end
  always_comb begin
    event_d        = report_q;
    event_d.kernel = event_kernel;
    event_d.tb     = event_tb;
  end

  // What is still to be reported. A victim that finishes as it is chosen is counted as well.
  assign finish_pending_d = (finish_pending_q & ~reported) | tb_finished_i;
  assign finish_counted_d = (finish_counted_q & ~reported) |
                            (tb_finished_i & ((counted & leaving) | victims));
  always_comb begin
    settle_pending_d = settle_pending_q && !send_settled;
    shortfall_d      = shortfall_q - TbCntWidth'(victims != '0);
    if (send_settled) shortfall_d = '0;
    if (take_preempt) shortfall_d = command_i.count;
    if (take_preempt || take_plan || take_evict) settle_pending_d = 1'b1;
  end

  // From warp slots to schedulers: slot w belongs to scheduler w mod NumSchedulers. Every n-th bit
  // is drawn together in a few steps: only wires, and whole words for a simulation.
  function automatic logic [63:0] runs_of(input int unsigned width);
    for (int unsigned b = 0; b < 64; b++) runs_of[b] = b % (width * NumSchedulers) < width;
  endfunction
  localparam logic [63:0] Runs1 = runs_of(1), Runs2 = runs_of(2), Runs4 = runs_of(4);
  localparam logic [63:0] Runs8 = runs_of(8), Runs16 = runs_of(16);
  localparam int unsigned Gap = NumSchedulers - 1;
  function automatic logic [WarpsPerScheduler-1:0] every_nth(input logic [63:0] warps);
    logic [63:0] drawn;
    drawn     = warps & Runs1;
    drawn     = (drawn | (drawn >> Gap)) & Runs2;
    drawn     = (drawn | (drawn >> (2 * Gap))) & Runs4;
    drawn     = (drawn | (drawn >> (4 * Gap))) & Runs8;
    drawn     = (drawn | (drawn >> (8 * Gap))) & Runs16;
    every_nth = WarpsPerScheduler'(drawn);
  endfunction
  assign {start_warp, unused_scheduler} = warp_start_o.warp;
  assign start_warp_o   = start_warp_q;
  assign start_kernel_o = start_kernel_q;
  assign start_valid_o  = start_valid_q;
  for (genvar s = 0; s < NumSchedulers; s++) begin : gen_warps
    assign leave_warps_o.scheduler[s] = every_nth(64'(leave_warps) >> s);
    assign stop_warps_o.scheduler[s]  = every_nth(64'(stop_warps) >> s);
  end

  // A TB gets its warps among those of its partition.
  smk_tb_table u_tb_table (
    .clk_i,
    .rst_ni,
    .dispatch_valid_i  (take_dispatch),
    .dispatch_kernel_i (command_i.kernel),
    .dispatch_tb_i     (command_i.tb),
    .dispatch_restore_i(command_i.restore),
    .dispatch_buffer_i (command_i.buffer),
    .launching_o       (launching),
    .launch_slot_o     (launch_slot),
    .launch_kernel_o   (launch_kernel),
    .allowed_slots_i   (partition_slots & ~finish_pending_q),
    .allowed_warps_i   (allowed_warps),
    .launch_warps_i    (launch_warps_q),
    .warp_start_o,
    .start_valid_o     (start_valid_d),
    .finished_i        (finished_q),
    .release_valid_i   (release_q),
    .release_slot_i    (engine_slot),
    .loaded_valid_i    (loaded_q),
    .loaded_slot_i     (engine_slot),
    .activate_o        (tb_activate_o),
    .load_o            (load_slots),
    .valid_o           (valid),
    .running_o         (running),
    .kernel_slots_o    (kernel_slots),
    .leave_warps_o     (leave_warps),
    .stop_slots_i      (stop_next),
    .stop_warps_o      (stop_warps),
    .read_slot_i       (report_slot_q),
    .read_kernel_o     (event_kernel),
    .read_tb_o         (event_tb),
    .context_slot_i    (engine_slot),
    .context_kernel_o  (context_kernel),
    .context_buffer_o  (context_buffer)
  );

  smk_partition_counters u_partition_counters (
    .clk_i,
    .rst_ni,
    .command_valid_i (take_partition),
    .command_kernel_i(command_i.kernel),
    .command_range_i (command_i.range),
    .command_first_i (command_i.first),
    .command_last_i  (command_i.last),
    .kernel_slots_i  (staying_slots),
    .judging_o       (judging),
    .misaligned_o    (misaligned),
    .read_i          (launching),
    .read_kernel_i   (launch_kernel),
    .read_slot_i     (launch_slot),
    .read_warps_i    (launch_warps_q),
    .slots_o         (partition_slots),
    .warps_o         (allowed_warps),
    .range_o         (unused_range)
  );

  smk_preempt_engine u_preempt_engine (
    .clk_i,
    .rst_ni,
    .leave_i         (leave),
    .leave_counted_i (choosing_q),
    .mode_valid_i    (take_preempt || take_plan || take_evict),
    .mode_i          (take_evict ? command_i.mode : smk_pkg::PreemptSwitch),
    .whole_sm_i      (take_evict),
    .load_i          (load_slots),
    .running_i       (running),
    .slot_o          (engine_slot),
    .view_i          (view),
    .slot_buffer_i   (context_buffer_q),
    .finished_i      (tb_finished_i),
    .quiet_i         (tb_quiet_i),
    .flushable_i     (tb_flushable_i),
    .stop_o          (tb_stop_o),
    .stop_next_o     (stop_next),
    .context_o,
    .context_ready_i,
    .context_done_i,
    .release_valid_o,
    .release_kind_o,
    .loaded_valid_o  (loaded_valid),
    .buffer_request_o,
    .buffer_valid_i,
    .buffer_i,
    .event_valid_o   (engine_event_valid),
    .event_kind_o    (engine_event_kind),
    .event_buffer_o  (engine_event_buffer),
    .event_counted_o (engine_event_counted),
    .event_sent_i    (engine_event_valid),
    .event_ack_i,
    .leaving_o       (leaving),
    .counted_o       (counted),
    .settled_o       (engine_settled),
    .busy_o          (engine_busy)
  );

  assign release_slot_o  = engine_slot;
  assign buffer_kernel_o = context_kernel_q;
  assign context_view    = views_i.kernel[context_kernel_q];
  always_comb begin
    view               = context_view;
    view.context_base  = context_base_q;
    view.context_lines = context_lines_q;
  end
  assign changed         = tb_finished_i != '0 || release_q || loaded_q || start_valid_q != '0 ||
                           take_quota || take_plan;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      quota_q          <= '0;
      gated_q          <= 1'b0;
      ungated_q        <= 1'b1;
      load_q           <= 1'b0;
      finished_q       <= '0;
      release_q        <= 1'b0;
      loaded_q         <= 1'b0;
      choosing_q       <= 1'b0;
      victim_of_q      <= '0;
      finish_pending_q <= '0;
      finish_counted_q <= '0;
      settle_pending_q <= 1'b0;
      shortfall_q      <= '0;
      changed_q        <= '0;
      start_valid_q    <= '0;
    end else begin
      quota_q          <= quota_d;
      gated_q          <= gated_d;
      ungated_q        <= !gated_d;
      load_q           <= load_d;
      finished_q       <= tb_finished_i;
      release_q        <= release_valid_o;
      loaded_q         <= loaded_valid;
      choosing_q       <= choosing_d;
      victim_of_q      <= victim_of_d;
      finish_pending_q <= finish_pending_d;
      finish_counted_q <= finish_counted_d;
      settle_pending_q <= settle_pending_d;
      shortfall_q      <= shortfall_d;
      changed_q        <= {changed_q[Echo-2:0], changed};
      start_valid_q    <= start_valid_d;
    end
  end
  // Reports, and what was read from the table.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      report_q         <= '0;
      report_slot_q    <= '0;
      event_q          <= '0;
      context_kernel_q <= '0;
      context_base_q   <= '0;
      context_lines_q  <= '0;
      context_buffer_q <= '0;
      launch_warps_q   <= '0;
      start_warp_q     <= '0;
      start_kernel_q   <= '0;
    end else begin
      report_q.valid <= report_d.valid;
      event_q.valid  <= event_d.valid;
      if (event_d.valid) event_q <= event_d;
      if (report_d.valid) begin
        report_q      <= report_d;
        report_slot_q <= report_slot_d;
      end
      context_kernel_q <= context_kernel;
      context_base_q   <= context_view.context_base;
      context_lines_q  <= context_view.context_lines;
      context_buffer_q <= context_buffer;
      if (launching) launch_warps_q <= warps_i.kernel[launch_kernel];
      if (warp_start_o.valid) begin
        start_warp_q   <= start_warp;
        start_kernel_q <= warp_start_o.kernel;
      end
    end
  end

  assign event_o = event_q;
  assign quota_o = quota_q;
  assign gated_o   = gated_q;
  assign ungated_o = ungated_q;
  assign load_o    = load_q;
  assign awake_o = launching || engine_busy || finish_pending_q != '0 || settle_pending_q ||
                   report_q.valid || event_q.valid || start_valid_q != '0 || changed_q != '0;

  // A command is offered until it is taken (S2).
  `SMK_ASSERT_STREAM(CommandHeld_M, command_valid_i, command_ready_o, command_i)
  // A TB comes only when nobody has to leave, and TBs are told to leave only when the last ones
  // have.
  `SMK_ASSERT(CommandWhenSettled_M, take_dispatch || take_preempt || take_partition || take_evict
              |-> leaving == '0 && !settle_pending_q)
  // The slot of a TB that is still to be reported is not taken: it is empty, or empties now.
  `SMK_ASSERT(SlotOfReportIsHeld_A, (finish_pending_q & valid & ~finished_q) == '0)
  // Conservation: every TB that finished is reported once.
  `SMK_ASSERT(FinishesConserved_A, 1'b1 |=> 32'($countones(finish_pending_q)) == $past(
              32'($countones(finish_pending_q)) + 32'($countones(tb_finished_i)) -
              32'(send_finished)))
  // Conservation: every victim asked for is found or missing; the highest are found.
  `SMK_ASSERT(VictimsConserved_A, choosing_q && !choosing_d |->
              shortfall_q == '0 || candidates == '0)
  `SMK_ASSERT(VictimIsCounted_A, choosing_q |=> shortfall_q == $past(
              shortfall_q - TbCntWidth'(shortfall_q != '0 && candidates != '0)))
  `SMK_ASSERT(VictimIsHighest_A, victims != '0 |->
              $onehot(victims) && (candidates & ~victims) < victims)
  // Settled is said last: nobody has to leave, and all who did are reported.
  `SMK_ASSERT(SettledLast_A, send_settled |-> leaving == '0 && finish_pending_d == '0)
  // Nothing changes in a cycle without a command, a pulse, or awake_o.
  logic unused_quiet;
  assign unused_quiet = !awake_o && !command_valid_i && !buffer_valid_i && !event_ack_i &&
                        tb_finished_i == '0 && context_done_i == '0;
  `SMK_ASSERT(IdleHolds_A, unused_quiet |=> !awake_o && $stable(event_q) && $stable(quota_q) &&
              $stable(gated_q) && $stable(shortfall_q) && $stable(finish_counted_q) &&
              $stable(valid) && $stable(running) && $stable(counted))
  `SMK_ASSERT(IdleIsSilent_A, unused_quiet |-> !warp_start_o.valid && !context_o.valid &&
              !release_valid_o && tb_activate_o == '0 && stop_warps_o == '0)
  // Finished TBs really wait behind the engine's report, and victims are really missing.
  `SMK_COVER(FinishWaits_C, engine_event_valid && finish_pending_q != '0)
  `SMK_COVER(VictimMissing_C, choosing_q && !choosing_d && shortfall_q != '0)
endmodule
