// SPDX-License-Identifier: Apache-2.0
// smk_sm_reports: what an SM reports to the driver; part of smk_sm_tables.
//
// Purpose     Remembers finished TBs until they are reported, and that all who must leave have left;
//             holds the one event register towards the driver.
// Paper       [SMK] Fig. 3.
// Interface   engine_event_*, tb_finished_i, leave_i: pulses (S5). event_o: pulse (S5), register.
// Latency     tb_finished_i to event_o 3 cycles, engine_event_valid_i 2: kernel and TB are read from
//             the table, at read_slot_o, in between.
// Throughput  One event per cycle: the engine's first, then finished TBs, then Settled.
// Reset       Nothing to report.
// Model       model/control/sm/sm_control.h   Doc  docs/blocks/sm_control.md
// A slot is taken again only after its TB has been reported, so the table still knows it.
`include "smk_assert.svh"

module smk_sm_reports (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // From the engine: the event to be reported, of the TB in this slot.
  input  logic                 engine_event_valid_i,
  input  smk_pkg::event_kind_e engine_event_kind_i,
  input  smk_pkg::buffer_t     engine_event_buffer_i,
  input  logic                 engine_event_counted_i,
  input  smk_pkg::tb_slot_t    engine_slot_i,
  // TBs that finish; that leave, counted by the driver before; that are chosen as victims now.
  input  smk_pkg::slot_mask_t  tb_finished_i,
  input  smk_pkg::slot_mask_t  leaving_i,
  input  smk_pkg::slot_mask_t  counted_i,
  input  smk_pkg::slot_mask_t  victims_i,
  // TBs have to leave; nobody has to any more, and so many victims were missing.
  input  logic                 leave_i,
  input  logic                 settled_i,
  input  smk_pkg::tb_cnt_t     shortfall_i,
  // From the table.
  output smk_pkg::tb_slot_t    read_slot_o,
  input  smk_pkg::kernel_id_t  read_kernel_i,
  input  smk_pkg::tb_id_t      read_tb_i,
  output smk_pkg::sm_event_t   event_o,
  output smk_pkg::slot_mask_t  finish_pending_o,
  output logic                 settle_pending_o,
  // Settled is reported now.
  output logic                 send_settled_o,
  // The end of the TB in this slot (one-hot) is reported now.
  output logic                 finish_o,
  output smk_pkg::slot_mask_t  finish_slot_o,
  output logic                 busy_o
);

  // Finished TBs to be reported, and of these those that were chosen as victims before.
  smk_pkg::slot_mask_t finish_pending_d, finish_pending_q, finish_counted_d, finish_counted_q;
  // Settled is to be reported.
  logic                settle_pending_d, settle_pending_q;
  // What is reported, before the table was read; and with it.
  smk_pkg::sm_event_t  report_d, report_q, event_d, event_q;
  smk_pkg::tb_slot_t   report_slot_d, report_slot_q;

  // What is reported: a TB that left, then a TB that finished, then that all who had to leave have.
  smk_pkg::slot_mask_t finish, reported;
  logic                send_finished, send_settled;
  assign finish        = smk_pkg::lowest_slot(finish_pending_q);
  assign send_finished = !engine_event_valid_i && finish_pending_q != '0;
  assign send_settled  = !engine_event_valid_i && finish_pending_q == '0 && settle_pending_q &&
                         settled_i && tb_finished_i == '0;
  assign reported      = send_finished ? finish : '0;
  assign report_slot_d = engine_event_valid_i ? engine_slot_i
                                              : smk_pkg::index_of_slot(finish);
  always_comb begin
    report_d           = report_q;
    report_d.valid     = engine_event_valid_i ||
                         `SMK_CUT(SendFinished, send_finished) || send_settled;
    report_d.kind      = send_finished ? smk_pkg::EventFinished : smk_pkg::EventSettled;
    report_d.buffer    = engine_event_buffer_i;
    report_d.counted   = engine_event_valid_i ? engine_event_counted_i
                                              : (finish_counted_q & finish) != '0;
    report_d.shortfall = shortfall_i;
    if (engine_event_valid_i) report_d.kind = engine_event_kind_i;
  end
  always_comb begin
    event_d        = report_q;
    event_d.kernel = read_kernel_i;
    event_d.tb     = read_tb_i;
  end

  // What is still to be reported. A victim that finishes as it is chosen is counted as well.
  assign finish_pending_d = `SMK_CUT(FinishPending, finish_pending_q & ~reported) | tb_finished_i;
  assign finish_counted_d = (finish_counted_q & ~reported) |
                            (tb_finished_i & ((counted_i & leaving_i) | victims_i));
  assign settle_pending_d = leave_i || (settle_pending_q && !send_settled);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      finish_pending_q <= '0;
      finish_counted_q <= '0;
      settle_pending_q <= 1'b0;
      report_q         <= '0;
      report_slot_q    <= '0;
      event_q          <= '0;
    end else begin
      finish_pending_q <= finish_pending_d;
      finish_counted_q <= finish_counted_d;
      settle_pending_q <= settle_pending_d;
      report_q.valid   <= report_d.valid;
      event_q.valid    <= `SMK_CUT(EventValid, event_d.valid);
      if (event_d.valid) event_q <= event_d;
      if (report_d.valid) begin
        report_q      <= report_d;
        report_slot_q <= report_slot_d;
      end
    end
  end

  assign read_slot_o      = report_slot_q;
  assign event_o          = event_q;
  assign finish_pending_o = finish_pending_q;
  assign settle_pending_o = settle_pending_q;
  assign send_settled_o   = send_settled;
  assign finish_o         = send_finished;
  assign finish_slot_o    = finish;
  assign busy_o           = finish_pending_q != '0 || `SMK_CUT(SettlePending, settle_pending_q) ||
                            report_q.valid || event_q.valid;

  // Conservation: every TB that finished is reported once.
  `SMK_ASSERT(FinishesConserved_A, 1'b1 |=> 32'($countones(finish_pending_q)) == $past(
              32'($countones(finish_pending_q)) + 32'($countones(tb_finished_i)) -
              32'(send_finished)))
  // Settled is said last: nobody has to leave, and all who did are reported.
  `SMK_ASSERT(SettledLast_A, send_settled |-> leaving_i == '0 && finish_pending_d == '0)
  // Idle: nothing changes without a pulse.
  `SMK_ASSERT(IdleHolds_A, !busy_o && !engine_event_valid_i && tb_finished_i == '0 && !leave_i
              |=> !busy_o && $stable({event_q, finish_counted_q}))
  // Finished TBs really wait behind the engine's report.
  `SMK_COVER(FinishWaits_C, engine_event_valid_i && finish_pending_q != '0)
endmodule
