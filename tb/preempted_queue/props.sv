// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_preempted_queue, from its ports: where every context buffer is, and one TB of any
// kernel with any buffer, are kept here. What induction needs says where the block's registers have them.
`include "formal.svh"

// In place of the list of free buffers: any free buffer, which is what buffer_list is proved to give.
module smk_buffer_list #(
  parameter  int unsigned Depth    = smk_pkg::PreemptedDepth,
  localparam int unsigned Width    = $clog2(Depth),
  localparam int unsigned CntWidth = $clog2(Depth + 1)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                take_i,
  input  logic                put_first_valid_i,
  input  logic [Width-1:0]    put_first_i,
  input  logic                put_second_valid_i,
  input  logic [Width-1:0]    put_second_i,
  output logic                some_o,
  output logic [Width-1:0]    buffer_o,
  output logic [CntWidth-1:0] count_o
);
  logic [Depth-1:0] free_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) free_q <= '1;
    else free_q <= (free_q & ~(take_i ? Depth'(1) << buffer_o : '0)) |
                   (put_first_valid_i ? Depth'(1) << put_first_i : '0) |
                   (put_second_valid_i ? Depth'(1) << put_second_i : '0);
  end
  assign some_o   = free_q != '0;
  assign buffer_o = $anyseq;
  always @* assume (!some_o || free_q[buffer_o]);
  always_comb begin
    count_o = '0;
    for (int unsigned b = 0; b < Depth; b++) count_o = count_o + CntWidth'(free_q[b]);
  end
endmodule

module formal_preempted_queue (
  input logic                   clk_i,
  input smk_pkg::sm_mask_t      request_i,
  input smk_pkg::sm_kernel_id_t request_kernel_i,
  input smk_pkg::sm_mask_t      withdraw_i,
  input smk_pkg::sm_events_t    events_i,
  input smk_pkg::sm_mask_t      events_valid_i,
  input logic                   pop_valid_i,
  input smk_pkg::kernel_id_t    pop_kernel_i,
  input smk_pkg::buffer_t       watched_buffer_i
);
  localparam int unsigned NumSms      = smk_pkg::NumSms;
  localparam int unsigned NumKernels  = smk_pkg::NumKernels;
  localparam int unsigned KernelWidth = smk_pkg::KernelWidth;
  localparam int unsigned BufferWidth = smk_pkg::BufferWidth;
  localparam int unsigned Depth       = smk_pkg::PreemptedDepth;
  // Cycles until an event is acknowledged.
  localparam int unsigned AckBound    = NumSms + 1;

  `FORMAL_RESET
  // One kernel is watched, as both are treated alike, and one buffer, any but constant.
  localparam smk_pkg::kernel_id_t Watched = '0;
  smk_pkg::buffer_t buffer_q;
  always_ff @(posedge clk_i) if (!rst_ni) buffer_q <= watched_buffer_i;

  smk_pkg::preempted_entry_t front;
  smk_pkg::kernel_mask_t     pop;
  logic [smk_pkg::NumKernels*(smk_pkg::TbIdWidth+smk_pkg::BufferWidth+1)-1:0] unused_fronts;
  smk_pkg::kernel_mask_t     queued;
  smk_pkg::buffer_cnt_vec_t  count, free;
  smk_pkg::sm_mask_t         ack, grant, none;
  smk_pkg::buffer_t          grant_buffer;
  logic                      busy;
  // What is popped is what is read.
  smk_preempted_queue u_dut (
    .clk_i, .rst_ni, .request_i, .request_kernel_i, .withdraw_i, .events_i, .events_valid_i,
    .pop_i         (pop),
    .front_kernel_i(pop_kernel_i),
    .front_o       (front),
    .fronts_o      (unused_fronts),
    .queued_o      (queued),
    .count_o       (count),
    .free_o        (free),
    .ack_o         (ack),
    .grant_o       (grant),
    .none_o        (none),
    .grant_buffer_o(grant_buffer),
    .busy_o        (busy)
  );

  // Of the watched kernel: buffers that are with SMs, and with TBs that wait.
  logic [Depth-1:0]      out_q, queued_q, returns_q, out_now, comes_free, comes_queued;
  logic [NumSms-1:0]     saves, frees, fine, pending_q, of_watched_q, frees_q;
  smk_pkg::sm_mask_t     granted;
  smk_pkg::sm_kernel_id_t asked_kernel_q;
  smk_pkg::sm_mask_t     asked_q;
  smk_pkg::buffer_t buffer_of_0, buffer_of_1;
  smk_pkg::tb_id_t  tb_of_0, tb_of_1;
  logic [NumSms-1:0]                  restarts;
  logic [NumSms*BufferWidth-1:0]      buffers;
  logic [NumSms*smk_pkg::TbIdWidth-1:0] tbs;
  for (genvar sm = 0; sm < NumSms; sm++) begin : gen_sm
    logic                           unused_valid, unused_counted;
    logic [2:0]                     kind;
    logic [KernelWidth-1:0]         kernel;
    smk_pkg::tb_id_t                tb;
    logic [BufferWidth-1:0]         context_buffer;
    logic [smk_pkg::TbCntWidth-1:0] unused_shortfall;
    logic                           mine;
    assign {unused_valid, kind, kernel, tb, context_buffer, unused_counted, unused_shortfall} =
        events_i.sm[sm];
    assign mine      = events_valid_i[sm] && kernel == Watched;
    assign saves[sm] = mine && (kind == smk_pkg::EventSaved || kind == smk_pkg::EventFlushed);
    assign frees[sm] = mine && kind == smk_pkg::EventBufferFree;
    assign buffers[sm*BufferWidth +: BufferWidth] = context_buffer;
    assign tbs[sm*smk_pkg::TbIdWidth +: smk_pkg::TbIdWidth] = tb;
    assign restarts[sm] = kind == smk_pkg::EventFlushed;
    // An SM reports what needs an answer, of a buffer that is out.
    assign fine[sm]  = !events_valid_i[sm] || ((kind == smk_pkg::EventSaved ||
                       kind == smk_pkg::EventFlushed || kind == smk_pkg::EventBufferFree) &&
                       (!mine || out_q[context_buffer]));
    // A grant answers the request that waits.
    assign granted[sm] = grant[sm] && asked_kernel_q.sm[sm] == Watched;
  end
  assign {buffer_of_1, buffer_of_0} = buffers;
  assign {tb_of_1, tb_of_0}         = tbs;
  assign comes_queued = (saves[0] ? Depth'(1) << buffer_of_0 : '0) |
                        (saves[1] ? Depth'(1) << buffer_of_1 : '0);
  assign comes_free   = (frees[0] ? Depth'(1) << buffer_of_0 : '0) |
                        (frees[1] ? Depth'(1) << buffer_of_1 : '0);
  logic             pops;
  logic [Depth-1:0] popped, given;
  assign pop    = NumKernels'(pop_valid_i) << pop_kernel_i;
  assign pops   = pop_valid_i && pop_kernel_i == Watched;
  assign popped = pops ? Depth'(1) << front.buffer : '0;
  assign given  = (granted != '0) ? Depth'(1) << grant_buffer : '0;
  assign out_now = out_q | given;
  always_ff @(posedge clk_i) begin
    asked_q <= rst_ni ? (asked_q & ~grant & ~none) | request_i : '0;
    for (int unsigned sm = 0; sm < NumSms; sm++) begin
      if (request_i[sm]) asked_kernel_q.sm[sm] <= request_kernel_i.sm[sm];
    end
    if (!rst_ni) begin
      {out_q, queued_q}       <= '0;
      returns_q               <= '0;
      {of_watched_q, frees_q} <= '0;
      pending_q               <= '0;
    end else begin
      // The buffer of a saved TB goes with it; that of a flushed one is free a cycle later.
      returns_q    <= front.restart ? popped : '0;
      out_q        <= (out_now & ~comes_queued & ~comes_free) | (front.restart ? '0 : popped);
      queued_q     <= (queued_q & ~popped) | comes_queued;
      pending_q    <= (pending_q & ~ack) | events_valid_i;
      of_watched_q <= (of_watched_q & ~events_valid_i) | saves;
      frees_q      <= (frees_q & ~events_valid_i) | frees;
    end
  end

  // As smk_preempted_queue requires.
  `ASSUME(EventIsFine_M, fine == '1)
  `ASSUME(OneEventPerSm_M, (events_valid_i & pending_q & ~ack) == '0)
  `ASSUME(OneRequestPerSm_M, (request_i & ((asked_q & ~grant & ~none) | withdraw_i)) == '0)
  `ASSUME(OneEventPerBuffer_M, !((saves[0] || frees[0]) && (saves[1] || frees[1])) ||
          buffer_of_0 != buffer_of_1)
  `ASSUME(PopFindsTb_M, !pop_valid_i || count.kernel[pop_kernel_i] != '0)

  function automatic logic [7:0] ones(input logic [15:0] mask);
    ones = '0;
    for (int unsigned b = 0; b < 16; b++) ones = ones + {7'b0, mask[b]};
  endfunction

  // Buffers in use are disjoint: only a free buffer is given, to one SM, and to one that asked.
  `PROVE(BuffersDisjoint_A, (given & (out_q | queued_q)) == '0)
  `PROVE(GrantAnswersRequest_A, (grant & (grant - NumSms'(1))) == '0 && (grant & ~asked_q) == '0)
  // Buffers are neither lost nor invented: free are those that are neither with an SM nor waiting.
  `PROVE(BuffersConserved_A, 8'(free.kernel[Watched]) + ones(16'(returns_q)) +
         ones(16'(pending_q & ~ack & frees_q)) == 8'(Depth) - ones(16'(out_now | queued_q)))
  // As many TBs wait as were saved or flushed and not yet popped, and there is word when some do.
  `PROVE(TbsConserved_A, queued[Watched] == (count.kernel[Watched] != '0) && 8'(count.kernel[Watched]) +
         ones(16'(pending_q & ~ack & of_watched_q)) == ones(16'(queued_q)))

  // Inside: what is captured and not yet queued, the places of the queue in memory, and its first.
  localparam int unsigned EntryWidth = smk_pkg::TbIdWidth + BufferWidth + 1;
  `WATCH([NumSms-1:0], dut_pending, u_dut.pending_q)
  `WATCH([NumSms-1:0], dut_winner, u_dut.winner_q)
  `WATCH([NumSms-1:0], dut_asked, u_dut.asked_q)
  `WATCH([NumSms*KernelWidth-1:0], dut_asked_kernel, u_dut.asked_kernel_q)
  `WATCH([NumKernels*NumSms-1:0], dut_tb_of, u_dut.tb_of_q)
  `WATCH([NumKernels*NumSms-1:0], dut_buffer_of, u_dut.buffer_of_q)
  `WATCH([NumSms*EntryWidth-1:0], dut_captured, u_dut.captured_q)
  `WATCH([NumKernels*BufferWidth-1:0], dut_next, u_dut.next_q)
  `WATCH([NumKernels*BufferWidth-1:0], dut_tail, u_dut.tail_q)
  `WATCH([NumKernels*EntryWidth-1:0], dut_first, u_dut.first)
  `WATCH([NumKernels-1:0], dut_fetched, u_dut.fetched_q)
  `WATCH([Depth-1:0], dut_free, u_dut.gen_free[0].u_buffer_list.free_q)
  `WATCH([NumKernels-1:0], dut_returns, u_dut.put_popped_q)
  `WATCH([BufferWidth-1:0], dut_returned, u_dut.put_buffer_q)
  `WATCH([EntryWidth-1:0], place_0, u_dut.entry_mem[0])
  `WATCH([EntryWidth-1:0], place_1, u_dut.entry_mem[1])
  `WATCH([EntryWidth-1:0], place_2, u_dut.entry_mem[2])
  `WATCH([EntryWidth-1:0], place_3, u_dut.entry_mem[3])
  logic [4*EntryWidth-1:0] places;
  logic [BufferWidth-1:0]  first_place, end_place, its_place;
  logic [7:0]              length;
  assign places      = {place_3, place_2, place_1, place_0};
  assign first_place = dut_next[BufferWidth-1:0] - 1'b1;
  assign end_place   = first_place + BufferWidth'(length);
  assign length      = 8'(count.kernel[Watched]);
  // Who asks and for what is known until it is answered.
  logic [NumSms-1:0] kernel_known;
  for (genvar sm = 0; sm < NumSms; sm++) begin : gen_known
    assign kernel_known[sm] = !asked_q[sm] || asked_kernel_q.sm[sm] ==
                              dut_asked_kernel[sm*KernelWidth +: KernelWidth];
  end
  `PROVE(AskersAreKnown_A, dut_asked == (asked_q & ~grant & ~none) &&
         (none & (grant | ~asked_q)) == '0 && kernel_known == '1)
  // What is pending is one event of one kernel; the lowest is next, and acknowledged when it is queued.
  `PROVE(CapturesEvents_A, pending_q == (dut_pending | ack) && (dut_pending & ack) == '0 &&
         (ack & (ack - 1'b1)) == '0 && dut_winner == (dut_pending & (~dut_pending + 1'b1)) &&
         dut_tb_of[NumSms-1:0] == of_watched_q && dut_buffer_of[NumSms-1:0] == frees_q &&
         (dut_tb_of[2*NumSms-1:NumSms] & (of_watched_q | frees_q)) == '0 &&
         (of_watched_q & frees_q) == '0)
  // The queue lies in the places from its first to its last.
  `PROVE(PlacesAreCounted_A, length <= 8'(Depth) && end_place == dut_tail[BufferWidth-1:0] &&
         queued[Watched] == (length != '0) && (length == '0 ? !dut_fetched[Watched] :
         dut_first[EntryWidth-1:0] == places[32'(first_place)*EntryWidth +: EntryWidth]))
  // How often each buffer is somewhere: free, with an SM, granted, captured, in a place of the queue.
  logic [Depth-1:0]       in_place, in_tb, in_free, twice;
  logic [BufferWidth-1:0] behind_first;
  always_comb begin
    in_place = '0;
    in_tb    = '0;
    in_free  = '0;
    twice    = '0;
    behind_first = '0;
    for (int unsigned p = 0; p < Depth; p++) begin
      behind_first = BufferWidth'(p) - first_place;
      if (8'(behind_first) < length) begin
        twice    = twice | (in_place & (Depth'(1) << places[p*EntryWidth + 1 +: BufferWidth]));
        in_place = in_place | (Depth'(1) << places[p*EntryWidth + 1 +: BufferWidth]);
      end
    end
    for (int unsigned s = 0; s < NumSms; s++) begin
      if (dut_pending[s] && of_watched_q[s]) begin
        twice = twice | (in_tb & (Depth'(1) << dut_captured[s*EntryWidth + 1 +: BufferWidth]));
        in_tb = in_tb | (Depth'(1) << dut_captured[s*EntryWidth + 1 +: BufferWidth]);
      end
      if (dut_pending[s] && frees_q[s]) begin
        twice   = twice | (in_free & (Depth'(1) << dut_captured[s*EntryWidth + 1 +: BufferWidth]));
        in_free = in_free | (Depth'(1) << dut_captured[s*EntryWidth + 1 +: BufferWidth]);
      end
    end
  end
  // What was popped with a flushed TB is on its way back.
  `PROVE(ReturnsAreKnown_A, returns_q == (dut_returns[Watched] ? Depth'(1) << dut_returned : '0))
  // Every buffer is in one of these, and in one only.
  `PROVE(EveryBufferIsSomewhere_A, twice == '0 && queued_q == (in_place | in_tb) &&
         (in_place & in_tb) == '0 &&
         (dut_free | out_q | given | queued_q | returns_q | in_free) == '1 &&
         ones(16'(dut_free)) + ones(16'(out_q)) + ones(16'(given)) + ones(16'(queued_q)) +
         ones(16'(returns_q)) + ones(16'(in_free)) == 8'(Depth))

  // The TB with the watched buffer: what it is, and how many are before it.
  logic             here_q, in_queue_q, restart_q;
  smk_pkg::tb_id_t  tb_q;
  smk_pkg::sm_mask_t from_q;
  logic [7:0]       ahead_q, ahead_now;
  logic             acked, in_queue;
  logic             of_0, of_1;
  assign of_0         = saves[0] && buffer_of_0 == buffer_q;
  assign of_1         = saves[1] && buffer_of_1 == buffer_q;
  assign acked     = here_q && !in_queue_q && (ack & from_q) != '0;
  assign in_queue  = in_queue_q || acked;
  assign ahead_now = acked ? 8'(count.kernel[Watched]) - 8'd1 : ahead_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) {here_q, in_queue_q} <= '0;
    else begin
      in_queue_q <= in_queue;
      ahead_q    <= ahead_now - 8'(pops);
      if (pops && in_queue && ahead_now == '0) {here_q, in_queue_q} <= '0;
      if (of_0 || of_1) begin
        here_q     <= 1'b1;
        in_queue_q <= 1'b0;
        from_q     <= of_0 ? NumSms'(1) : NumSms'(2);
        tb_q       <= of_0 ? tb_of_0 : tb_of_1;
        restart_q  <= of_0 ? restarts[0] : restarts[1];
      end
    end
  end
  // Inside: it is captured, or in its place of the queue.
  logic [EntryWidth-1:0] entry;
  assign entry     = {tb_q, buffer_q, restart_q};
  assign its_place = first_place + BufferWidth'(ahead_now);
  logic [NumSms-1:0] has_entry;
  for (genvar sm = 0; sm < NumSms; sm++) begin : gen_has_entry
    assign has_entry[sm] = dut_captured[sm*EntryWidth +: EntryWidth] == entry;
  end
  `PROVE(TbIsInItsPlace_A, here_q == queued_q[buffer_q] && (here_q || !in_queue_q) && (!here_q || (in_queue
         ? ahead_now < length && places[32'(its_place)*EntryWidth +: EntryWidth] == entry
         : from_q != '0 && (from_q & (from_q - 1'b1)) == '0 &&
           (from_q & ~(dut_pending & of_watched_q & has_entry)) == '0)))
  // First in, first out: a TB comes to the front when those before it are gone, as what it was.
  `PROVE(FirstInFirstOut_A, !in_queue || ahead_now != '0 || pop_kernel_i != Watched ||
         (front.buffer == buffer_q && front.tb == tb_q && front.restart == restart_q))
  // It comes to the front once: nobody else has its buffer.
  `PROVE(ComesOutOnce_A, !pops || (in_queue && ahead_now == '0) || front.buffer != buffer_q)

  // An event is acknowledged once, within AckBound cycles.
  logic [$clog2(AckBound+2)-1:0] since_q;
  always_ff @(posedge clk_i) begin
    since_q <= (!rst_ni || !pending_q[NumSms-1] || ack[NumSms-1]) ? '0 : since_q + 1'b1;
  end
  `PROVE(AckComes_A, (ack & ~pending_q) == '0 && 32'(since_q) < AckBound)

  (* keep *) logic idle;
  logic unused_busy;
  assign unused_busy = busy;
  assign idle = rst_ni && !busy && (request_i | withdraw_i) == '0 && events_valid_i == '0 &&
                !pop_valid_i;
endmodule
