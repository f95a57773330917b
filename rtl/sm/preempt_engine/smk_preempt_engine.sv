// SPDX-License-Identifier: Apache-2.0
// smk_preempt_engine: partial context switching, one TB at a time.
//
// Purpose     Makes TBs leave the SM: reserves a context buffer, stops fetching, waits until
//             nothing of the TB is in flight, stores its context line by line, and reports it.
//             Loads contexts back the same way. The SM's other TBs keep running, except when the
//             whole SM is switched.
// Paper       [SMK] Sec. 5.1, Fig. 3 (steps 1-4, i-iii); whole-SM modes: Sec. 3.
// Interface   leave_i, load_i: pulses with a mask of slots (S5). context_o: stream with
//             context_ready_i. buffer_request_o: pulse, answered by one buffer_valid_i however long
//             that takes; or by buffer_none_i, which only buffer_withdraw_o (pulse) can bring about.
//             event_*_o: held until event_sent_i, then event_ack_i; kernel and TB of an event are
//             those of slot_o.
// Latency     The buffer is requested 3 cycles after leave_i, a context 5 after load_i; a save takes
//             2 + drain + lines + memory latency; quiet must hold for 2 cycles of stop_o.
// Throughput  One context line per cycle.
// Reset       Idle.
// Model       model/control/sm/preempt_engine.h   Doc  docs/blocks/preempt_engine.md
// Saves go before loads; a TB that waits for its own context is loaded before it can be saved.
// Does not choose victims: see smk_sm_control.
`include "smk_assert.svh"

module smk_preempt_engine (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  // These TBs must go: counted when rK was lowered already. From now on they do so in this mode,
  // whole_sm when the SM stops meanwhile (pulse).
  input  smk_pkg::slot_mask_t       leave_i,
  input  logic                      leave_counted_i,
  input  logic                      mode_valid_i,
  input  smk_pkg::preempt_mode_e    mode_i,
  input  logic                      whole_sm_i,
  // Under PreemptChimera only these go, and of them these are dropped: registers of
  // smk_preempt_chooser.
  input  smk_pkg::slot_mask_t       go_i,
  input  smk_pkg::slot_mask_t       flush_i,
  // These TBs wait for their context.
  input  smk_pkg::slot_mask_t       load_i,
  // Registers of smk_tb_table, and what it holds for slot_o, one cycle late.
  input  smk_pkg::slot_mask_t       running_i,
  output smk_pkg::tb_slot_t         slot_o,
  input  smk_pkg::context_view_t    view_i,
  input  smk_pkg::buffer_t          slot_buffer_i,
  // From the machine, per slot: finished (pulse); nothing in flight, can be dropped (levels).
  input  smk_pkg::slot_mask_t       finished_i,
  input  smk_pkg::slot_mask_t       quiet_i,
  input  smk_pkg::slot_mask_t       flushable_i,
  // Who is stopped: register, and what it will be.
  output smk_pkg::slot_mask_t       stop_o,
  output smk_pkg::slot_mask_t       stop_next_o,
  // Context lines, and how many were completed in this cycle.
  output smk_pkg::context_request_t context_o,
  input  logic                      context_ready_i,
  input  smk_pkg::done_t            context_done_i,
  // slot_o has left the SM without finishing, or its context is loaded (pulses).
  output logic                      release_valid_o,
  output smk_pkg::tb_release_e      release_kind_o,
  output logic                      loaded_valid_o,
  // A context buffer for slot_o; it is not needed any more, and none comes.
  output logic                      buffer_request_o,
  output logic                      buffer_withdraw_o,
  input  logic                      buffer_none_i,
  input  logic                      buffer_valid_i,
  input  smk_pkg::buffer_t          buffer_i,
  // What happened to slot_o.
  output logic                      event_valid_o,
  output smk_pkg::event_kind_e      event_kind_o,
  output smk_pkg::buffer_t          event_buffer_o,
  output logic                      event_counted_o,
  input  logic                      event_sent_i,
  input  logic                      event_ack_i,
  // TBs that must go and are counted; no TB is leaving and no report is due; not idle.
  output smk_pkg::slot_mask_t       leaving_o,
  output smk_pkg::slot_mask_t       counted_o,
  output logic                      settled_o,
  output logic                      busy_o
);
  `SMK_CHECK_CONFIG

  localparam int unsigned NumSlots  = smk_pkg::NumSlots;
  localparam int unsigned LineWidth = smk_pkg::LineWidth;
  localparam int unsigned WaitWidth = 6;
  // Cycles that a switched SM stands still for a buffer.
  localparam logic [WaitWidth-1:0] BufferPatience = {WaitWidth{1'b1}};

  typedef enum logic [3:0] {StIdle, StLookUp, StBuffer, StOffset, StAddress, StDrain, StTransfer,
                            StWait, StReport, StAck, StWithdraw} state_e;
  state_e state_d, state_q;

  smk_pkg::slot_mask_t    leaving_d, leaving_q, counted_d, counted_q, to_load_d, to_load_q;
  smk_pkg::slot_mask_t    stop_d, stop_q;
  smk_pkg::preempt_mode_e mode_d, mode_q;
  logic                   whole_sm_d, whole_sm_q;
  // The TB at hand: counted, loading or saving, gone (it finished first), flushed (dropped).
  smk_pkg::tb_slot_t      slot_d, slot_q;
  smk_pkg::buffer_t       buffer_d, buffer_q;
  logic                   slot_counted_q;
  logic                   loading_d, loading_q, gone_d, gone_q, flush_d, flush_q;
  logic                   quiet_seen_d, quiet_seen_q;
  logic [WaitWidth-1:0]   waited_d, waited_q;
  logic                   waited_long_q;
  // The TB at hand is stopped; an SM that has stood still for too long runs on.
  logic                   halts_d, halts_q, impatient_d, impatient_q;
  smk_pkg::line_t         line_d, line_q, done_d, done_q;
  // A buffer is asked for, or not any more.
  logic                   request_d, request_q, withdraw_d, withdraw_q;
  smk_pkg::address_t      address_d, address_q;

  smk_pkg::slot_mask_t slot;
  logic                slot_finished, slot_quiet;
  assign slot          = NumSlots'(1) << slot_q;
  assign slot_finished = (finished_i & slot) != '0;
  assign slot_quiet    = (quiet_i & stop_q & slot) != '0;

  // Context lines, one after the other. A loaded TB's buffer is what the table holds for its slot.
  localparam smk_pkg::address_t LineBytes = smk_pkg::AddressWidth'(smk_pkg::LineBytes);
  smk_pkg::buffer_t  buffer;
  smk_pkg::address_t step;
  logic              context_fire, last_line, complete;
  assign buffer            = loading_q ? slot_buffer_i : `SMK_CUT(SaveBuffer, buffer_q);
  always_comb begin
    step = context_fire ? LineBytes : '0;
    if (state_q == StAddress) step = view_i.context_base;
    address_d = address_q + step;
    if (state_q == StOffset) begin
      address_d = (smk_pkg::AddressWidth'(buffer) << view_i.context_log2_lines) <<
                  $clog2(smk_pkg::LineBytes);
    end
  end
  assign context_o.valid   = `SMK_CUT(Transfers, state_q == StTransfer);
  assign context_o.store   = !loading_q;
  assign context_o.tb_slot = slot_q;
  assign context_o.line    = `SMK_CUT(ContextLine, line_q);
  assign context_o.address = address_q;
  assign context_fire      = context_o.valid && context_ready_i;
  assign last_line         = line_q + LineWidth'(1) == view_i.context_lines;

  // Lines issued and completed; both start from zero with a TB.
  smk_pkg::line_t done_now;
  assign done_now = done_q + LineWidth'(context_done_i);
  assign complete = (state_q == StWait) && `SMK_CUT(AllLinesDone, done_now == view_i.context_lines);
  always_comb begin
    line_d = line_q + LineWidth'(context_fire);
    done_d = (state_q == StTransfer || state_q == StWait) ? done_now : done_q;
    if (state_q == StLookUp) {line_d, done_d} = '0;
  end

  // The TB at hand finished before it could leave, or can be dropped now.
  logic gone_now, dropped;
  assign gone_now = gone_q || (slot_finished && (state_q == StBuffer || state_q == StOffset ||
                                                 state_q == StAddress || state_q == StDrain));
  assign dropped  = (state_q == StDrain) && !gone_now && flush_q && quiet_seen_q && slot_quiet;
  assign release_valid_o = (complete && !loading_q) || dropped;
  assign release_kind_o  = dropped ? smk_pkg::ReleaseFlushed : smk_pkg::ReleaseSaved;
  assign loaded_valid_o  = complete && loading_q;

  // The next TB: the highest leaving slot that runs, else the lowest that waits for its context.
  // Of those that must go, who does not wait for its end.
  smk_pkg::slot_mask_t chosen;
  always_comb begin
    chosen = '1;
    if (mode_q == smk_pkg::PreemptChimera)               chosen = go_i;
    if (whole_sm_q && mode_q == smk_pkg::PreemptDrain) chosen = '0;
  end
  smk_pkg::slot_mask_t can_leave, saved_slot, loaded_slot;
  logic                start_save, start_load;
  assign can_leave   = leaving_q & running_i & ~finished_i & chosen;
  assign saved_slot  = smk_pkg::highest_slot(can_leave);
  assign loaded_slot = smk_pkg::lowest_slot(to_load_q);
  assign start_save  = state_q == StIdle && can_leave != '0;
  assign start_load  = state_q == StIdle && !start_save && to_load_q != '0;
  assign to_load_d   = (to_load_q & ~(start_load ? loaded_slot : '0)) | load_i;
  always_comb begin
    slot_d    = slot_q;
    loading_d = loading_q;
    if (start_save) begin
      slot_d    = smk_pkg::index_of_slot(saved_slot);
      loading_d = 1'b0;
    end else if (start_load) begin
      slot_d    = smk_pkg::index_of_slot(loaded_slot);
      loading_d = 1'b1;
    end
  end

  // What becomes of the TB at hand.
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      // Nothing to do, or the start of it.
      StIdle: if (start_save || start_load) state_d = StLookUp;
      // The table is read; a TB that finishes meanwhile needs no buffer.
      StLookUp: begin
        if (slot_finished)  state_d = StIdle;
        else if (loading_q) state_d = StOffset;
        else                state_d = StBuffer;
      end
      // Waiting for a context buffer; withdrawn when the TB finishes first.
      StBuffer: begin
        if (`SMK_CUT(BufferComes, buffer_valid_i)) state_d = StOffset;
        else if (gone_now)  state_d = StWithdraw;
      end
      // The address of the first line is computed.
      StOffset:  state_d = StAddress;
      StAddress: state_d = loading_q ? StTransfer : StDrain;
      // Fetch stopped; waiting until nothing is in flight for two cycles.
      StDrain: begin
        if (gone_now)                        state_d = StReport;
        else if (slot_quiet && quiet_seen_q) state_d = flush_q ? StReport : StTransfer;
      end
      // Issuing context lines.
      StTransfer: if (context_fire && last_line) state_d = StWait;
      // Waiting until all lines are stored or loaded.
      StWait: if (complete) state_d = StReport;
      // Event offered, then acknowledged by the driver.
      StReport: if (event_sent_i) state_d = StAck;
      StAck: if (`SMK_CUT(AckComes, event_ack_i)) state_d = StIdle;
      // None comes, or it was on its way already.
      StWithdraw: begin
        if (buffer_valid_i)     state_d = StReport;
        else if (buffer_none_i) state_d = StIdle;
      end
      default: state_d = StIdle;
    endcase
  end

  // Slots that must go.
  smk_pkg::slot_mask_t released;
  assign released = release_valid_o ? slot : '0;
  always_comb begin
    leaving_d  = (`SMK_CUT(StillLeaving, leaving_q & ~released) | leave_i) & ~finished_i;
    counted_d  = ((counted_q & `SMK_CUT(NotReleased, ~released)) |
                  (leave_counted_i ? leave_i : '0)) & ~finished_i;
    mode_d     = mode_valid_i ? mode_i : mode_q;
    whole_sm_d = mode_valid_i ? whole_sm_i : whole_sm_q;
  end

  // Flags of the TB at hand. It is to be dropped, if it can be.
  logic drop;
  assign drop = (mode_q == smk_pkg::PreemptFlush && whole_sm_q) ||
                (mode_q == smk_pkg::PreemptChimera && (flush_i & slot) != '0);
  always_comb begin
    gone_d       = gone_now;
    quiet_seen_d = quiet_seen_q;
    flush_d      = flush_q;
    waited_d     = waited_q;
    if (state_q == StBuffer && !waited_long_q) waited_d = waited_q + WaitWidth'(1);
    if (state_q == StDrain && state_d == StDrain) begin
      quiet_seen_d = slot_quiet;
      flush_d      = drop && ((flushable_i & slot) != '0);
    end
    if (state_q == StLookUp) begin
      gone_d       = 1'b0;
      quiet_seen_d = 1'b0;
      flush_d      = 1'b0;
      waited_d     = '0;
    end
  end
  always_comb begin
    buffer_d = `SMK_CUT(Buffer, buffer_q);
    if (state_q == StOffset) buffer_d = buffer;
    else if ((state_q == StBuffer || state_q == StWithdraw) && buffer_valid_i) buffer_d = buffer_i;
  end

  // Who is stopped from the next cycle on: the TB that is saved, and all that must go when the whole
  // SM is emptied, unless it has stood still for too long without a buffer.
  logic stop_all;
  assign halts_d     = !loading_d &&
                       (state_d == StDrain || `SMK_CUT(StopsToTransfer, state_d == StTransfer) ||
                        state_d == StWait);
  assign impatient_d = (state_d == StBuffer) && (waited_d == BufferPatience);
  assign stop_all    = whole_sm_q && !impatient_q;
  always_comb begin
    stop_d = stop_all ? leaving_q & chosen : '0;
    if (halts_q && !gone_q) stop_d = stop_d | slot;
  end

  assign slot_o           = slot_q;
  assign stop_o           = stop_q;
  assign stop_next_o      = stop_d;
  assign request_d        = state_q == StLookUp && state_d == StBuffer;
  assign withdraw_d       = state_q == StBuffer && state_d == StWithdraw;
  assign buffer_request_o = request_q;
  assign buffer_withdraw_o = withdraw_q;
  assign event_valid_o    = state_q == StReport;
  assign event_buffer_o   = buffer_q;
  assign event_counted_o  = slot_counted_q;
  assign leaving_o        = leaving_q;
  assign counted_o        = counted_q;
  assign settled_o        = (leaving_q == '0) && (state_q == StIdle || loading_q);
  assign busy_o           = (state_q != StIdle) || ((leaving_q | to_load_q | stop_q) != '0);
  always_comb begin
    if (loading_q || gone_q) event_kind_o = smk_pkg::EventBufferFree;
    else if (flush_q)        event_kind_o = smk_pkg::EventFlushed;
    else                     event_kind_o = smk_pkg::EventSaved;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q        <= StIdle;
      leaving_q      <= '0;
      counted_q      <= '0;
      to_load_q      <= '0;
      stop_q         <= '0;
      mode_q         <= smk_pkg::PreemptSwitch;
      whole_sm_q     <= 1'b0;
      slot_q         <= '0;
      slot_counted_q <= 1'b0;
      buffer_q       <= '0;
      loading_q      <= 1'b0;
      gone_q         <= 1'b0;
      flush_q        <= 1'b0;
      quiet_seen_q   <= 1'b0;
      waited_q       <= '0;
      waited_long_q  <= 1'b0;
      halts_q        <= 1'b0;
      impatient_q    <= 1'b0;
      line_q         <= '0;
      done_q         <= '0;
      address_q      <= '0;
      request_q      <= 1'b0;
      withdraw_q     <= 1'b0;
    end else begin
      state_q        <= state_d;
      leaving_q      <= leaving_d;
      counted_q      <= counted_d;
      to_load_q      <= to_load_d;
      stop_q         <= stop_d;
      mode_q         <= mode_d;
      whole_sm_q     <= whole_sm_d;
      slot_q         <= slot_d;
      if (state_q == StLookUp) slot_counted_q <= (counted_q & slot) != '0;
      buffer_q       <= buffer_d;
      loading_q      <= loading_d;
      gone_q         <= gone_d;
      flush_q        <= flush_d;
      quiet_seen_q   <= quiet_seen_d;
      waited_q       <= waited_d;
      waited_long_q  <= waited_d == BufferPatience;
      halts_q        <= halts_d;
      impatient_q    <= impatient_d;
      line_q         <= line_d;
      done_q         <= done_d;
      address_q      <= address_d;
      request_q      <= request_d;
      withdraw_q     <= withdraw_d;
    end
  end

  // A context line that is offered holds until it is taken (S2).
  `SMK_ASSERT_STREAM(ContextHeld_A, context_o.valid, context_ready_i, context_o)
  // An event is offered until it is sent.
  `SMK_ASSERT(EventHeld_A, event_valid_o && !event_sent_i |=> event_valid_o)
  // Conservation: who must go stays in the list until it has finished or is released.
  `SMK_ASSERT(LeaversConserved_A, 1'b1 |=>
              ($past(leaving_q & ~finished_i & ~released) & ~leaving_q) == '0)
  // A TB is released only after it was stopped, and never while a context is loaded.
  `SMK_ASSERT(ReleasedWasStopped_A, release_valid_o |-> (stop_o & slot) != '0 && !loaded_valid_o)
  // Every line of a context is issued before it can be complete.
  `SMK_ASSERT(AllLinesIssued_A, complete |-> line_q == view_i.context_lines)
  // Memory completes no more lines than were issued.
  `SMK_ASSERT(DoneWasIssued_M, state_q == StTransfer || state_q == StWait |-> done_now <= line_d)
  // A buffer comes only when one was asked for.
  `SMK_ASSERT(BufferWasAsked_M, buffer_valid_i |-> state_q == StBuffer || state_q == StWithdraw)
  // And it is taken at once.
  `SMK_ASSERT(BufferIsTaken_A, buffer_valid_i |=> state_q != StBuffer && state_q != StWithdraw)
  // None comes only when it was withdrawn, and then no buffer does.
  `SMK_ASSERT(NoneWasWithdrawn_M, buffer_none_i |-> state_q == StWithdraw && !buffer_valid_i)
  // It is asked for once, at the start of the wait.
  `SMK_ASSERT(AsksOnce_A, buffer_request_o |-> state_q == StBuffer && $past(state_q) == StLookUp)
  // A context fits its buffer, so that its lines follow from the buffer without an addition.
  `SMK_ASSERT(ContextFits_M, context_o.valid |-> (line_q >> view_i.context_log2_lines) == '0)
  // A TB that finishes first, and a buffer that comes too late, really occur in our tests.
  `SMK_COVER(FinishedFirst_C, slot_finished && state_q == StDrain)
  `SMK_COVER(Withdrawn_C, state_q == StWithdraw && buffer_none_i)
  `SMK_COVER(BufferTooLate_C, state_q == StWithdraw && buffer_valid_i)
endmodule
