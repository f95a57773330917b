// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_preempted_queue, from its ports alone: where every context buffer is, and one TB of
// any kernel with any buffer, are kept here.
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
  smk_pkg::kernel_mask_t     queued;
  smk_pkg::buffer_cnt_vec_t  count, free;
  smk_pkg::sm_mask_t         ack, grant;
  smk_pkg::buffer_t          grant_buffer;
  logic                      busy;
  // What is popped is what is read.
  smk_preempted_queue u_dut (
    .clk_i, .rst_ni, .request_i, .request_kernel_i, .events_i, .events_valid_i, .pop_valid_i,
    .pop_kernel_i,
    .front_kernel_i(pop_kernel_i),
    .front_o       (front),
    .queued_o      (queued),
    .count_o       (count),
    .free_o        (free),
    .ack_o         (ack),
    .grant_o       (grant),
    .grant_buffer_o(grant_buffer),
    .busy_o        (busy)
  );

  // Of the watched kernel: buffers that are with SMs, and with TBs that wait.
  logic [Depth-1:0]      out_q, queued_q, out_now, comes_free, comes_queued;
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
    // A grant answers the request of the cycle before.
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
  assign pops   = pop_valid_i && pop_kernel_i == Watched;
  assign popped = pops ? Depth'(1) << front.buffer : '0;
  assign given  = (granted != '0) ? Depth'(1) << grant_buffer : '0;
  assign out_now = out_q | given;
  always_ff @(posedge clk_i) begin
    asked_q        <= rst_ni ? request_i : '0;
    asked_kernel_q <= request_kernel_i;
    if (!rst_ni) begin
      {out_q, queued_q} <= '0;
      pending_q         <= '0;
    end else begin
      // The buffer of a saved TB goes with it; that of a flushed one is free.
      out_q        <= (out_now & ~comes_queued & ~comes_free) | (front.restart ? '0 : popped);
      queued_q     <= (queued_q & ~popped) | comes_queued;
      pending_q    <= (pending_q & ~ack) | events_valid_i;
      of_watched_q <= (of_watched_q & ~events_valid_i) | saves;
      frees_q      <= (frees_q & ~events_valid_i) | frees;
    end
  end

  // As rtl/driver/smk_preempted_queue.sv requires.
  `ASSUME(EventIsFine_M, fine == '1)
  `ASSUME(OneEventPerSm_M, (events_valid_i & pending_q & ~ack) == '0)
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
  `PROVE(BuffersConserved_A, 8'(free.kernel[Watched]) +
         ones(16'(pending_q & ~ack & frees_q)) == 8'(Depth) - ones(16'(out_now | queued_q)))
  // As many TBs wait as were saved or flushed and not yet popped, and there is word when some do.
  `PROVE(TbsConserved_A, queued[Watched] == (count.kernel[Watched] != '0) && 8'(count.kernel[Watched]) +
         ones(16'(pending_q & ~ack & of_watched_q)) == ones(16'(queued_q)))

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
  assign idle = rst_ni && !busy && request_i == '0 && events_valid_i == '0 && !pop_valid_i;
endmodule
