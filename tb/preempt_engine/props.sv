// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_preempt_engine, from its ports: which TBs are on the SM, who must go, who waits for a
// context, and which lines were transferred, is kept here. What induction needs says what each step
// of the engine has done with them.
`include "formal.svh"

module formal_preempt_engine (
  input logic                    clk_i,
  // TBs that come and run at once; those that come and wait for their context: load_i.
  input smk_pkg::slot_mask_t     come_i,
  input smk_pkg::slot_mask_t     leave_i,
  input logic                    leave_counted_i,
  input logic                    mode_valid_i,
  input smk_pkg::preempt_mode_e  mode_i,
  input logic                    whole_sm_i,
  input smk_pkg::slot_mask_t     go_i,
  input smk_pkg::slot_mask_t     flush_i,
  input smk_pkg::slot_mask_t     load_i,
  input smk_pkg::context_view_t  view_i,
  input smk_pkg::buffer_t        slot_buffer_i,
  input smk_pkg::slot_mask_t     finished_i,
  input smk_pkg::slot_mask_t     quiet_i,
  input smk_pkg::slot_mask_t     flushable_i,
  input logic                    context_ready_i,
  input smk_pkg::done_t          context_done_i,
  input logic                    buffer_valid_i,
  input smk_pkg::buffer_t        buffer_i,
  input logic                    buffer_none_i,
  input logic                    event_sent_i,
  input logic                    event_ack_i
);
  localparam int unsigned NumSlots     = smk_pkg::NumSlots;
  localparam int unsigned LineWidth    = smk_pkg::LineWidth;
  localparam int unsigned AddressWidth = smk_pkg::AddressWidth;
  // Fair: each of these comes after so many cycles at most; and contexts of so many lines.
  localparam int unsigned ReadyIn  = 2;
  localparam int unsigned DoneIn   = 2;
  localparam int unsigned QuietIn  = 2;
  localparam int unsigned BufferIn = 2;
  localparam int unsigned AnswerIn = 2;
  localparam int unsigned MaxLines = 7;
  // Buffer, drain, lines, the last of them, report and acknowledgement, and the steps between.
  localparam int unsigned Bound = BufferIn + QuietIn + MaxLines * ReadyIn + DoneIn + 2 * AnswerIn +
                                  8;

  `FORMAL_RESET
  smk_pkg::slot_mask_t       running_q, stop, stop_next, leaving, counted;
  smk_pkg::tb_slot_t         slot;
  smk_pkg::context_request_t context_o;
  smk_pkg::tb_release_e      release_kind;
  smk_pkg::event_kind_e      event_kind;
  smk_pkg::buffer_t          event_buffer;
  logic                      release_valid, loaded_valid, buffer_request, withdraw, event_valid;
  logic                      event_counted, settled, busy;
  smk_preempt_engine u_dut (
    .clk_i, .rst_ni, .leave_i, .leave_counted_i, .mode_valid_i, .mode_i, .whole_sm_i, .go_i,
    .flush_i, .load_i, .view_i,
    .slot_buffer_i, .finished_i, .quiet_i, .flushable_i, .context_o, .context_ready_i,
    .context_done_i, .buffer_valid_i, .buffer_i, .event_sent_i, .event_ack_i,
    .running_i       (running_q),
    .slot_o          (slot),
    .stop_o          (stop),
    .stop_next_o     (stop_next),
    .release_valid_o (release_valid),
    .release_kind_o  (release_kind),
    .loaded_valid_o  (loaded_valid),
    .buffer_request_o(buffer_request),
    .buffer_withdraw_o(withdraw),
    .buffer_none_i,
    .event_valid_o   (event_valid),
    .event_kind_o    (event_kind),
    .event_buffer_o  (event_buffer),
    .event_counted_o (event_counted),
    .leaving_o       (leaving),
    .counted_o       (counted),
    .settled_o       (settled),
    .busy_o          (busy)
  );

  // TBs: running; ordered to go; waiting for their context.
  smk_pkg::slot_mask_t slot_bit, released, loaded, go_q, wait_q;
  assign slot_bit = NumSlots'(1) << slot;
  assign released = release_valid ? slot_bit : '0;
  assign loaded   = loaded_valid ? slot_bit : '0;
  always_ff @(posedge clk_i) begin
    running_q <= rst_ni ? (running_q | come_i | loaded) & ~finished_i & ~released : '0;
    go_q      <= rst_ni ? (go_q | leave_i) & ~finished_i & ~released : '0;
    wait_q    <= rst_ni ? (wait_q | load_i) & ~loaded : '0;
  end

  // Lines of the transfer at hand: taken and completed. Whether it stores, and into which buffer.
  logic                 fire, transfer_q, store_q, view_known_q, slot_is_new_q;
  smk_pkg::line_t       taken_q, completed_q, taken_now, completed_now;
  smk_pkg::buffer_t     buffer_q;
  smk_pkg::tb_slot_t    slot_before_q;
  smk_pkg::context_view_t view_q;
  smk_pkg::buffer_t     slot_buffer_q;
  assign fire          = context_o.valid && context_ready_i;
  assign taken_now     = taken_q + LineWidth'(fire);
  assign completed_now = completed_q + LineWidth'(context_done_i);
  always_ff @(posedge clk_i) begin
    if (buffer_valid_i) buffer_q <= buffer_i;
    view_q        <= view_i;
    slot_buffer_q <= slot_buffer_i;
    slot_before_q <= slot;
    slot_is_new_q <= slot != slot_before_q;
    view_known_q  <= rst_ni;
    if (!rst_ni || release_valid || loaded_valid) begin
      transfer_q  <= 1'b0;
      taken_q     <= '0;
      completed_q <= '0;
    end else begin
      transfer_q  <= transfer_q || context_o.valid;
      taken_q     <= taken_now;
      completed_q <= completed_now;
    end
    if (context_o.valid) store_q <= context_o.store;
  end
  logic transfers, stores;
  assign transfers = transfer_q || context_o.valid;
  assign stores    = context_o.valid ? context_o.store : transfer_q && store_q;

  // As smk_preempt_engine requires. TBs come into free slots, and one that goes or waits is
  // not ordered so again.
  logic asked, asked_q, sent_q;
  assign asked = buffer_request || asked_q;
  // Withdrawn, and not yet answered.
  logic withdrawn, withdrawn_q;
  assign withdrawn = withdraw || withdrawn_q;
  `ASSUME(ComeIntoFreeSlots_M, ((come_i | load_i) & (running_q | wait_q)) == '0 &&
          (come_i & load_i) == '0)
  `ASSUME(LeaversAreHere_M, (leave_i & ~(running_q | wait_q)) == '0 && (leave_i & go_q) == '0)
  // A TB that runs finishes, but not while its context is stored: it is stopped and quiet.
  `ASSUME(FinishersRun_M, (finished_i & ~running_q) == '0 &&
          (!stores || (finished_i & slot_bit) == '0))
  // A buffer comes once, and when it was asked for; an acknowledgement after the report.
  `ASSUME(BufferWasAsked_M, !buffer_valid_i || asked)
  `ASSUME(NoneWasWithdrawn_M, !buffer_none_i || (!buffer_valid_i && withdrawn))
  `ASSUME(AckWasAwaited_M, (!event_sent_i || event_valid) && (!event_ack_i || sent_q))
  always_ff @(posedge clk_i) begin
    asked_q    <= rst_ni && asked && !buffer_valid_i && !buffer_none_i;
    withdrawn_q <= rst_ni && withdrawn && !buffer_valid_i && !buffer_none_i;
    sent_q     <= rst_ni && (event_sent_i || (sent_q && !event_ack_i));
  end
  // Memory completes no more lines than it took.
  `ASSUME(DoneWasTaken_M, completed_q + 16'(context_done_i) <= 16'(taken_now) &&
          (transfers || context_done_i == '0))
  // What is known of a TB's context comes one cycle after its slot, and does not change: at least
  // one line, and it fits its buffer.
  `ASSUME(ViewIsConstant_M, !view_known_q || slot != slot_before_q || slot_is_new_q ||
          (view_i == view_q && slot_buffer_i == slot_buffer_q))
  `ASSUME(ContextFits_M, view_i.context_lines != '0 &&
          32'(view_i.context_lines) <= (32'd1 << view_i.context_log2_lines))

  // Isolation: a line lies inside the TB's buffer, which is the one that was given for it.
  smk_pkg::buffer_t         its_buffer;
  logic [AddressWidth-1:0]  first, place;
  assign its_buffer = context_o.store ? buffer_q : slot_buffer_i;
  assign first      = AddressWidth'(its_buffer) << view_i.context_log2_lines;
  assign place      = first + AddressWidth'(taken_q);
  `PROVE(LineIsInBuffer_A, !context_o.valid || (context_o.line < view_i.context_lines &&
         context_o.address == view_i.context_base + (place << $clog2(smk_pkg::LineBytes))))
  // Every line is transferred once, in order, and of one TB at a time.
  `PROVE(LinesInOrder_A, !context_o.valid || (context_o.line == taken_q &&
         context_o.tb_slot == slot && (!transfer_q || context_o.store == store_q)))
  // Stored is a TB that was ordered to go and is stopped; loaded one that waits for its context.
  `PROVE(StoresLeaver_A, !context_o.valid || (context_o.store ?
         (go_q & stop & running_q & slot_bit) != '0 : (wait_q & slot_bit) != '0))
  // A TB is saved, or loaded, when all its lines are complete, and not before.
  logic all_lines;
  assign all_lines = taken_q == view_i.context_lines && completed_now == view_i.context_lines;
  `PROVE(CompleteHasAllLines_A, (!loaded_valid || (all_lines && !stores)) &&
         (!release_valid || release_kind == smk_pkg::ReleaseFlushed || (all_lines && stores)))
  // Only who was ordered to go is released.
  `PROVE(ReleasesLeaver_A, (released & ~go_q) == '0 && (loaded & ~wait_q) == '0)

  // A TB is stopped and quiet in the two cycles before its first line is stored.
  smk_pkg::slot_mask_t still_q, still_before_q;
  always_ff @(posedge clk_i) begin
    still_q        <= stop & quiet_i;
    still_before_q <= still_q;
  end
  `PROVE(StoredIsQuiet_A, !context_o.valid || !context_o.store || transfer_q ||
         (still_q & still_before_q & slot_bit) != '0)

  // A TB is dropped only if it could be in the cycle before: under every mode, whoever chose it.
  smk_pkg::slot_mask_t can_q;
  always_ff @(posedge clk_i) can_q <= flushable_i;
  `PROVE(DroppedCanBe_A, !release_valid || release_kind != smk_pkg::ReleaseFlushed ||
         (can_q & slot_bit) != '0)

  // Conservation: who was ordered to go is listed until it has finished or is released, and settled is
  // said only when nobody is.
  `PROVE(LeaversConserved_A, leaving == go_q && (!settled || go_q == '0))
  // After every TB that left, and every context that was loaded, one event: what it says is so.
  logic saved_q, flushed_q, free_q;
  always_ff @(posedge clk_i) begin
    saved_q   <= rst_ni && ((release_valid && release_kind == smk_pkg::ReleaseSaved) ||
                            (saved_q && !event_sent_i));
    flushed_q <= rst_ni && ((release_valid && release_kind == smk_pkg::ReleaseFlushed) ||
                            (flushed_q && !event_sent_i));
    free_q    <= rst_ni && (loaded_valid || (free_q && !event_sent_i));
  end
  `PROVE(EventIsTrue_A, !event_valid ||
         (saved_q == (event_kind == smk_pkg::EventSaved) &&
          flushed_q == (event_kind == smk_pkg::EventFlushed) && !(saved_q && flushed_q) &&
          (!free_q || event_kind == smk_pkg::EventBufferFree)))
  // The buffer that an event names is the TB's.
  `PROVE(EventNamesBuffer_A, !event_valid ||
         event_buffer == (free_q ? slot_buffer_i : buffer_q))

  // A cycle is fair when nothing has been waited for for too long, and all that must go may.
  localparam int unsigned W = 2;
  logic [W-1:0] ready_q, done_q, quiet_q, buffer_wait_q, sent_wait_q, ack_wait_q;
  logic fair, fair_q;
  always_ff @(posedge clk_i) begin
    ready_q       <= (!context_o.valid || context_ready_i) ? '0 : ready_q + 1'b1;
    done_q        <= (context_done_i != '0 || completed_q == taken_q) ? '0 : done_q + 1'b1;
    quiet_q       <= ((stop & ~quiet_i & slot_bit) == '0) ? '0 : quiet_q + 1'b1;
    buffer_wait_q <= (!asked || buffer_valid_i || buffer_none_i) ? '0 : buffer_wait_q + 1'b1;
    sent_wait_q   <= (!event_valid || event_sent_i) ? '0 : sent_wait_q + 1'b1;
    ack_wait_q    <= (!sent_q || event_ack_i) ? '0 : ack_wait_q + 1'b1;
    fair_q        <= !rst_ni || fair;
    if (!rst_ni) {ready_q, done_q, quiet_q, buffer_wait_q, sent_wait_q, ack_wait_q} <= '0;
  end
  // A TB that was quiet while it is stopped stays quiet: it fetches nothing.
  logic [NumSlots-1:0] stopped_quiet_q;
  always_ff @(posedge clk_i) stopped_quiet_q <= rst_ni ? stop & quiet_i : '0;
  assign fair = fair_q && ready_q < ReadyIn && done_q < DoneIn && quiet_q < QuietIn &&
                buffer_wait_q < BufferIn && sent_wait_q < AnswerIn && ack_wait_q < AnswerIn &&
                (stopped_quiet_q & stop & ~quiet_i) == '0 && 32'(view_i.context_lines) <= MaxLines &&
                mode_i != smk_pkg::PreemptDrain && go_i == '1;

  // With fair memory the engine gets on: as long as it is busy and nobody is ordered to go or comes to
  // wait, within Bound cycles one TB more has left or is loaded, or the engine is done.
  logic                       ordered;
  logic [$clog2(Bound+2)-1:0] since_q;
  smk_pkg::slot_mask_t        go_before_q, wait_before_q;
  assign ordered = leave_i != '0 || load_i != '0;
  always_ff @(posedge clk_i) begin
    go_before_q   <= go_q;
    wait_before_q <= wait_q;
    if (!rst_ni || ordered || !busy || go_q != go_before_q || wait_q != wait_before_q) since_q <= '0;
    else if (since_q != '1) since_q <= since_q + 1'b1;
  end
  `PROVE(EngineGetsOn_A, !fair || 32'(since_q) <= Bound)

  // So it takes that long for each TB that must go or waits when the last one is ordered to: the first
  // of them counts from two cycles after the order. Before: a cycle ago, as since_q knows them.
  localparam int unsigned CountWidth = $clog2(NumSlots + 1) + 1;
  localparam int unsigned TimeWidth  = CountWidth + $clog2(Bound + 1);
  logic [CountWidth-1:0] left, left_before, first_q;
  logic [TimeWidth-1:0]  saving_q;
  logic                  ordered_q;
  always_comb begin
    {left, left_before} = '0;
    for (int unsigned i = 0; i < NumSlots; i++) begin
      left        = left + CountWidth'(go_q[i]) + CountWidth'(wait_q[i]);
      left_before = left_before + CountWidth'(go_before_q[i]) + CountWidth'(wait_before_q[i]);
    end
  end
  always_ff @(posedge clk_i) begin
    ordered_q <= !rst_ni || ordered;
    if (ordered_q) first_q <= left;
    saving_q <= (!rst_ni || ordered || ordered_q) ? '0 : saving_q + TimeWidth'(saving_q != '1);
  end
  `PROVE(SmIsSaved_A, !fair || left == '0 || ordered_q ||
         32'(saving_q) < 32'(first_q) * (Bound + 1))
  // For induction: each TB that has left took so long at most.
  `PROVE(EachTookItsTime_A, ordered_q || (left <= left_before && left_before <= first_q && (!fair_q ||
         left_before == '0 ||
         32'(saving_q) + 32'(left_before) * (Bound + 1) <= 32'(first_q) * (Bound + 1) + 32'(since_q))))

  // Inside: the step, and whether the TB at hand is loaded and has finished on its way.
  localparam logic [3:0] StLookUp = 4'd1, StBuffer = 4'd2, StOffset = 4'd3, StDrain = 4'd5,
                         StTransfer = 4'd6, StWait = 4'd7, StAck = 4'd9, StWithdraw = 4'd10;
  `WATCH([3:0], step, u_dut.state_q)
  `WATCH([0:0], loading, u_dut.loading_q)
  `WATCH([0:0], gone, u_dut.gone_q)
  `WATCH([1:0], dut_mode, u_dut.mode_q)
  `WATCH([NumSlots-1:0], to_load, u_dut.to_load_q)
  `WATCH([LineWidth-1:0], dut_line, u_dut.line_q)
  `WATCH([LineWidth-1:0], dut_done, u_dut.done_q)
  logic has_tb, moves_lines;
  assign has_tb      = step >= StLookUp && step <= StWait;
  assign moves_lines = step == StTransfer || step == StWait;
  // TBs run, or wait for their context: in the list, or at hand. A TB that must go is one of these.
  `PROVE(WaitersAreListed_A, (running_q & wait_q) == '0 && (go_q & ~(running_q | wait_q)) == '0 &&
         wait_q == (to_load | ((has_tb && loading) ? slot_bit : '0)) &&
         (!(has_tb && loading) || (to_load & slot_bit) == '0))
  // The TB at hand must go, unless it is loaded or finishes first.
  `PROVE(TbAtHandMustGo_A, step <= StWithdraw && (!has_tb || (loading ? step != StBuffer && step != StDrain
         : (go_q & running_q & slot_bit) != '0 || (gone && step >= StBuffer))) &&
         (!moves_lines || !gone) && (!loading || step == StLookUp || !gone) &&
         sent_q == (step == StAck) && withdrawn == (step == StWithdraw) &&
         asked == (step == StBuffer || step == StWithdraw))
  // Its lines are counted from none to all.
  `PROVE(LinesAreCounted_A, (has_tb && step != StLookUp ? dut_line == taken_q && dut_done == completed_q
         : taken_q == '0 && completed_q == '0) && completed_q <= taken_q && (moves_lines
         ? (transfer_q ? store_q == !loading : step == StTransfer) && (step == StTransfer
           ? taken_q < view_q.context_lines : taken_q == view_q.context_lines)
         : taken_q == '0 && !transfer_q))
  // What is known of it has been so for a cycle; in fair cycles nobody is ordered to drain.
  `PROVE(ViewIsOfTb_A, (step <= StLookUp || slot == slot_before_q) &&
         (step <= StOffset || step == StWithdraw || !slot_is_new_q) &&
         (!fair_q || dut_mode != smk_pkg::PreemptDrain))

  (* keep *) logic idle;
  assign idle = rst_ni && !busy && !ordered && !mode_valid_i;
endmodule
