// SPDX-License-Identifier: Apache-2.0
// smk_sm_tables: the control logic of one SM but for the warp schedulers and the profile counters.
//
// Purpose     Wires TB table, partition counters and preemption engine; holds the command port from
//             the driver, the quotas received, and the one event register towards the driver.
//             Chooses the victims of a preemption: the highest TB slots of the kernel.
// Paper       [SMK] Fig. 3.
// Interface   command_*: stream; ready while no TB is placed. event_o: pulse (S5), register.
//             next_quota_o, next_gated_o, load_o: for the schedulers, with this cycle's command.
// Latency     command to buffer_request_o 1 cycle; tb_finished_i to event_o 2 cycles.
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
  // kernel on every scheduler, the pulse on one); quotas.
  output smk_pkg::scheduler_warps_t         stop_warps_o,
  output smk_pkg::scheduler_warps_t         leave_warps_o,
  output logic [smk_pkg::NumSchedulers-1:0] start_valid_o,
  output logic [$clog2(smk_pkg::WarpsPerScheduler)-1:0] start_warp_o,
  output smk_pkg::kernel_id_t               start_kernel_o,
  output smk_pkg::quota_vec_t               next_quota_o,
  output logic                              next_gated_o,
  output logic                              load_o,
  // Quotas received, and whether they are in force.
  output smk_pkg::quota_vec_t               quota_o,
  output logic                              gated_o,
  output logic                              awake_o
);
  localparam int unsigned NumKernels        = smk_pkg::NumKernels;
  localparam int unsigned NumSchedulers     = smk_pkg::NumSchedulers;
  localparam int unsigned WarpsPerScheduler = smk_pkg::WarpsPerScheduler;
  localparam int unsigned NumSlots          = smk_pkg::NumSlots;
  localparam int unsigned SlotWidth         = smk_pkg::SlotWidth;
  localparam int unsigned TbCntWidth        = smk_pkg::TbCntWidth;
  localparam int unsigned SchedulerWidth    = $clog2(NumSchedulers);

  smk_pkg::quota_vec_t quota_d, quota_q;
  logic                gated_d, gated_q;
  // Finished TBs to be reported, and of these those that were chosen as victims before.
  smk_pkg::slot_mask_t finish_pending_d, finish_pending_q, finish_counted_d, finish_counted_q;
  // Settled is to be reported, with so many victims missing.
  logic                settle_pending_d, settle_pending_q;
  smk_pkg::tb_cnt_t    shortfall_d, shortfall_q;
  smk_pkg::sm_event_t  event_d, event_q;
  // TBs have come to run or have gone: who is stopped changes once more.
  logic                changed_d, changed_q;

  // Wires between the blocks.
  logic                     launching, loaded_valid, engine_settled, engine_busy;
  smk_pkg::tb_slot_t        launch_slot, engine_slot, event_slot;
  smk_pkg::kernel_id_t      launch_kernel, event_kernel, context_kernel;
  smk_pkg::tb_id_t          event_tb;
  smk_pkg::buffer_t         context_buffer, engine_event_buffer;
  smk_pkg::thread_cnt_t     launch_warps;
  smk_pkg::slot_mask_t      valid, running, load_slots, leaving, counted;
  smk_pkg::kernel_slots_t   kernel_slots, staying_slots;
  smk_pkg::warp_mask_t      allowed_warps, leave_warps, stop_warps;
  smk_pkg::slot_mask_t      partition_slots, misaligned;
  logic                     commit, engine_event_valid, engine_event_counted;
  smk_pkg::event_kind_e     engine_event_kind;
  smk_pkg::partition_range_t unused_range;

  // Commands. A preemption, a plan or an eviction comes only once the one before it is settled.
  logic take, take_dispatch, take_preempt, take_partition, take_evict, take_quota;
  assign command_ready_o = !launching;
  assign take            = command_valid_i && command_ready_o;
  assign take_dispatch   = take && command_i.op == smk_pkg::CommandDispatch;
  assign take_preempt    = take && command_i.op == smk_pkg::CommandPreempt;
  assign take_partition  = take && command_i.op == smk_pkg::CommandPartition;
  assign take_evict      = take && command_i.op == smk_pkg::CommandEvict;
  assign take_quota      = take && command_i.op == smk_pkg::CommandQuota;

  // Resident TBs that do not finish now.
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      staying_slots.kernel[k] = kernel_slots.kernel[k] & ~tb_finished_i;
    end
  end

  // Victims: a candidate with fewer than `count` candidates above it. The numbers of candidates
  // above all slots are added up together, bit by bit, in a logarithmic number of steps.
  typedef struct packed {logic [TbCntWidth-1:0][NumSlots-1:0] plane;} slot_ranks_t;
  slot_ranks_t         ranks, shifted;
  smk_pkg::slot_mask_t candidates, victims, carry, either, fewer;
  smk_pkg::tb_cnt_t    count, found;
  assign count      = command_i.count;
  assign candidates = staying_slots.kernel[command_i.kernel] & ~leaving;
  always_comb begin
    ranks          = '0;
    shifted        = '0;
    carry          = '0;
    either         = '0;
    ranks.plane[0] = candidates >> 1;
    for (int unsigned step = 0; step < SlotWidth; step++) begin
      for (int unsigned b = 0; b < TbCntWidth; b++) begin
        shifted.plane[b] = ranks.plane[b] >> (1 << step);
      end
      carry = '0;
      for (int unsigned b = 0; b < TbCntWidth; b++) begin
        either           = ranks.plane[b] ^ shifted.plane[b];
        shifted.plane[b] = (ranks.plane[b] & shifted.plane[b]) | (either & carry);
        ranks.plane[b]   = either ^ carry;
        carry            = shifted.plane[b];
      end
    end
  end
  always_comb begin
    fewer = '0;
    for (int unsigned b = 0; b < TbCntWidth; b++) begin
      fewer    = count[b] ? ~ranks.plane[b] | fewer : ~ranks.plane[b] & fewer;
      found[b] = (ranks.plane[b] & NumSlots'(1)) != '0;
    end
    victims = candidates & fewer;
    found   = found + TbCntWidth'(candidates[0]);
  end

  // Who must leave.
  smk_pkg::slot_mask_t leave;
  always_comb begin
    leave = misaligned;
    if (take_preempt) leave = leave | victims;
    if (take_evict)   leave = leave | (valid & ~tb_finished_i);
  end

  // Quotas: in force with the last one, until the next plan.
  assign load_o = take_quota && command_i.last && !gated_q;
  always_comb begin
    quota_d = quota_q;
    gated_d = gated_q;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (take_quota && command_i.kernel == smk_pkg::KernelWidth'(k)) begin
        quota_d.kernel[k] = command_i.quota;
      end
    end
    if (take_quota && command_i.last) gated_d = 1'b1;
    if (commit)                       gated_d = 1'b0;
  end

  // The event register: a TB that left, then a TB that finished, then that all who had to leave
  // have. A slot is taken again only after its TB has been reported, so the table still knows it.
  smk_pkg::slot_mask_t finish, reported;
  logic                send_finished, send_settled;
  assign finish        = NumSlots'(smk_pkg::lowest_one(64'(finish_pending_q)));
  assign send_finished = !engine_event_valid && finish_pending_q != '0;
  assign send_settled  = !engine_event_valid && finish_pending_q == '0 && settle_pending_q &&
                         engine_settled && tb_finished_i == '0;
  assign reported      = send_finished ? finish : '0;
  assign event_slot    = engine_event_valid ? engine_slot
                                            : SlotWidth'(smk_pkg::index_of(64'(finish)));
  always_comb begin
    event_d           = event_q;
    event_d.valid     = engine_event_valid || send_finished || send_settled;
    event_d.kind      = send_finished ? smk_pkg::EventFinished : smk_pkg::EventSettled;
    event_d.kernel    = event_kernel;
    event_d.tb        = event_tb;
    event_d.buffer    = engine_event_buffer;
    event_d.counted   = engine_event_valid ? engine_event_counted
                                           : (finish_counted_q & finish) != '0;
    event_d.shortfall = shortfall_q;
    if (engine_event_valid) event_d.kind = engine_event_kind;
  end

  // What is still to be reported.
  assign finish_pending_d = (finish_pending_q & ~reported) | tb_finished_i;
  assign finish_counted_d = (finish_counted_q & ~reported) | (tb_finished_i & counted & leaving);
  always_comb begin
    settle_pending_d = settle_pending_q && !send_settled;
    shortfall_d      = send_settled ? '0 : shortfall_q;
    if (take_preempt) shortfall_d = (count > found) ? count - found : '0;
    if (take_preempt || commit || take_evict) settle_pending_d = 1'b1;
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
  smk_pkg::warp_id_t start_slot;
  assign start_slot     = warp_start_o.warp;
  assign start_warp_o   = start_slot[smk_pkg::WarpWidth-1:SchedulerWidth];
  assign start_kernel_o = warp_start_o.kernel;
  for (genvar s = 0; s < NumSchedulers; s++) begin : gen_warps
    assign leave_warps_o.scheduler[s] = every_nth(64'(leave_warps) >> s);
    assign stop_warps_o.scheduler[s]  = every_nth(64'(stop_warps) >> s);
    assign start_valid_o[s] = warp_start_o.valid &&
                              start_slot[SchedulerWidth-1:0] == SchedulerWidth'(s);
  end

  // A TB gets its warps among those of its partition.
  assign launch_warps = warps_i.kernel[launch_kernel];
  smk_tb_table u_tb_table (
    .clk_i,
    .rst_ni,
    .dispatch_valid_i  (take_dispatch),
    .dispatch_kernel_i (command_i.kernel),
    .dispatch_tb_i     (command_i.tb),
    .dispatch_restore_i(command_i.restore),
    .dispatch_buffer_i (command_i.buffer),
    .allowed_slots_i   (partition_slots & ~finish_pending_d),
    .launching_o       (launching),
    .launch_slot_o     (launch_slot),
    .launch_kernel_o   (launch_kernel),
    .allowed_warps_i   (allowed_warps),
    .launch_warps_i    (launch_warps),
    .warp_start_o,
    .finished_i        (tb_finished_i),
    .release_valid_i   (release_valid_o),
    .release_slot_i    (release_slot_o),
    .loaded_valid_i    (loaded_valid),
    .loaded_slot_i     (engine_slot),
    .activate_o        (tb_activate_o),
    .load_o            (load_slots),
    .valid_o           (valid),
    .running_o         (running),
    .kernel_slots_o    (kernel_slots),
    .leave_warps_o     (leave_warps),
    .stop_slots_i      (tb_stop_o),
    .stop_warps_o      (stop_warps),
    .read_slot_i       (event_slot),
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
    .commit_o        (commit),
    .misaligned_o    (misaligned),
    .slots_kernel_i  (command_i.kernel),
    .slots_o         (partition_slots),
    .warps_kernel_i  (launch_kernel),
    .warps_slot_i    (launch_slot),
    .warps_threads_i (launch_warps),
    .warps_o         (allowed_warps),
    .range_o         (unused_range)
  );

  smk_preempt_engine u_preempt_engine (
    .clk_i,
    .rst_ni,
    .leave_i         (leave),
    .leave_counted_i (take_preempt),
    .mode_i          (take_evict ? command_i.mode : smk_pkg::PreemptSwitch),
    .whole_sm_i      (take_evict),
    .load_i          (load_slots),
    .running_i       (running),
    .slot_o          (engine_slot),
    .view_i          (views_i.kernel[context_kernel]),
    .slot_buffer_i   (context_buffer),
    .finished_i      (tb_finished_i),
    .quiet_i         (tb_quiet_i),
    .flushable_i     (tb_flushable_i),
    .stop_o          (tb_stop_o),
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
  assign buffer_kernel_o = context_kernel;
  assign changed_d       = tb_finished_i != '0 || release_valid_o || tb_activate_o != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      quota_q          <= '0;
      gated_q          <= 1'b0;
      finish_pending_q <= '0;
      finish_counted_q <= '0;
      settle_pending_q <= 1'b0;
      shortfall_q      <= '0;
      event_q          <= '0;
      changed_q        <= 1'b0;
    end else begin
      quota_q          <= quota_d;
      gated_q          <= gated_d;
      finish_pending_q <= finish_pending_d;
      finish_counted_q <= finish_counted_d;
      settle_pending_q <= settle_pending_d;
      shortfall_q      <= shortfall_d;
      event_q.valid    <= event_d.valid;
      if (event_d.valid) event_q <= event_d;
      changed_q        <= changed_d;
    end
  end

  assign event_o      = event_q;
  assign next_quota_o = quota_d;
  assign next_gated_o = gated_d;
  assign quota_o      = quota_q;
  assign gated_o      = gated_q;
  assign awake_o      = launching || engine_busy || finish_pending_q != '0 || settle_pending_q ||
                        event_q.valid || changed_q;

  // A command is offered until it is taken (S2).
  `SMK_ASSERT_STREAM(CommandHeld_M, command_valid_i, command_ready_o, command_i)
  // A TB comes only when nobody has to leave, and TBs are told to leave only when the last ones
  // have.
  `SMK_ASSERT(CommandWhenSettled_M, take_dispatch || take_preempt || take_partition || take_evict
              |-> leaving == '0 && !settle_pending_q)
  // So the slot of a TB that leaves is not taken in the cycle in which it is released.
  `SMK_ASSERT(ReleasedSlotIsNotTaken_A, take_dispatch && release_valid_o |=>
              launch_slot != $past(release_slot_o))
  // The slot of a TB that is still to be reported is not taken either.
  `SMK_ASSERT(SlotOfReportIsHeld_A, (finish_pending_q & valid) == '0)
  // Conservation: every TB that finished is reported once.
  `SMK_ASSERT(FinishesConserved_A, 1'b1 |=> 32'($countones(finish_pending_q)) == $past(
              32'($countones(finish_pending_q)) + 32'($countones(tb_finished_i)) -
              32'(send_finished)))
  // Conservation: every victim asked for is found or missing; the highest are found.
  `SMK_ASSERT(VictimsConserved_A, take_preempt |->
              32'($countones(victims)) + 32'(shortfall_d) == 32'(count))
  `SMK_ASSERT(VictimsAreHighest_A, take_preempt && victims != '0 |->
              (candidates & ~victims) < NumSlots'(smk_pkg::lowest_one(64'(victims))))
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
  `SMK_COVER(VictimMissing_C, take_preempt && shortfall_d != '0)
endmodule
