// SPDX-License-Identifier: Apache-2.0
// smk_preempted_queue: TBs that left an SM before they finished.
//
// Purpose     One first-in first-out queue per kernel of preempted (or flushed) TBs, and the free
//             list of its context buffers. A buffer is reserved before a TB may leave, so a TB is
//             never without a place; full means that no TB of the kernel can leave.
// Paper       [SMK] Sec. 5.1 (Preempted TB Queue, steps 4 and i); deviation [D8].
// Interface   request_*, withdraw_i, events_*, pop_*: pulses (S5). A request is kept until its SM has
//             a buffer or withdraws it; each has one answer, grant or none, and an SM one request
//             at a time;
//             an event is acknowledged when it is queued, and its SM sends no second one before.
//             front_o: read port, combinational from front_kernel_i; means nothing when the queue
//             is empty.
// Latency     Grant and acknowledge 1 cycle after they win arbitration (lowest SM first).
// Throughput  One grant, one queued event and one pop per cycle.
// Reset       All queues empty, all buffers free.
// Model       model/control/driver/preempted_queue.h   Doc  docs/blocks/preempted_queue.md
// One memory with one write and one read port for the queues of all kernels: the front of each
// lies in a register, or is what was just read.
`include "smk_assert.svh"

module smk_preempted_queue (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  // SMs that ask for a buffer, and for which kernel; it counts with the pulse.
  input  smk_pkg::sm_mask_t         request_i,
  input  smk_pkg::sm_kernel_id_t    request_kernel_i,
  // SMs that need it no more; nothing happens if it was granted already.
  input  smk_pkg::sm_mask_t         withdraw_i,
  // Events of the SMs; those that need acknowledgement are saved and flushed TBs and free buffers.
  input  smk_pkg::sm_events_t       events_i,
  input  smk_pkg::sm_mask_t         events_valid_i,
  // The front of this kernel's queue is dispatched.
  input  smk_pkg::kernel_mask_t     pop_i,
  // The front of this kernel's queue.
  input  smk_pkg::kernel_id_t       front_kernel_i,
  output smk_pkg::preempted_entry_t front_o,
  // And those of all, kernel 0 in the lowest bits.
  output logic [smk_pkg::NumKernels*(smk_pkg::TbIdWidth+smk_pkg::BufferWidth+1)-1:0] fronts_o,
  // Kernels with TBs that wait, how many, and buffers that are free.
  output smk_pkg::kernel_mask_t     queued_o,
  output smk_pkg::buffer_cnt_vec_t  count_o,
  output smk_pkg::buffer_cnt_vec_t  free_o,
  // Pulses: the SM's event is queued (one-hot); the SM has the buffer (one-hot); it gets none.
  output smk_pkg::sm_mask_t         ack_o,
  output smk_pkg::sm_mask_t         grant_o,
  output smk_pkg::sm_mask_t         none_o,
  output smk_pkg::buffer_t          grant_buffer_o,
  // Something is pending or was just answered.
  output logic                      busy_o
);
  `SMK_CHECK_CONFIG

  localparam int unsigned NumSms         = smk_pkg::NumSms;
  localparam int unsigned NumKernels     = smk_pkg::NumKernels;
  localparam int unsigned KernelWidth    = smk_pkg::KernelWidth;
  localparam int unsigned TbIdWidth      = smk_pkg::TbIdWidth;
  localparam int unsigned BufferWidth    = smk_pkg::BufferWidth;
  localparam int unsigned BufferCntWidth = smk_pkg::BufferCntWidth;
  localparam int unsigned EntryWidth     = TbIdWidth + BufferWidth + 1;
  localparam int unsigned NumPlaces      = smk_pkg::PreemptedDepth * (1 << KernelWidth);

  typedef struct packed {logic [NumSms-1:0][EntryWidth-1:0] sm;} captured_t;
  typedef struct packed {logic [NumKernels-1:0][EntryWidth-1:0] kernel;} entry_vec_t;
  typedef struct packed {logic [NumKernels-1:0][BufferWidth-1:0] kernel;} buffer_vec_t;

  // Captured events that are not yet queued, and the lowest of them, one-hot.
  smk_pkg::sm_mask_t        pending_d, pending_q, winner_q, ack_q;
  captured_t                captured_q;
  // Whose captured event is a TB of a kernel, and whose is a free buffer.
  smk_pkg::kernel_sms_t     tb_of_d, tb_of_q, buffer_of_d, buffer_of_q;
  smk_pkg::sm_mask_t        grant_d, grant_q;
  // Requests that wait, and for which kernel.
  smk_pkg::sm_mask_t        asking, asked_d, asked_q, none_d, none_q;
  smk_pkg::sm_kernel_id_t   asked_kernel, asked_kernel_q;
  smk_pkg::buffer_t         grant_buffer_d, grant_buffer_q;
  // The queues: whether there is a TB, length, place behind the first, place behind the last.
  smk_pkg::kernel_mask_t    queued_d, queued_q;
  smk_pkg::buffer_cnt_vec_t count_d, count_q;
  buffer_vec_t              next_d, next_q, tail_d, tail_q;
  // The first of each queue: in its register, or what was just read.
  smk_pkg::kernel_mask_t    fetched_d, fetched_q;
  entry_vec_t               first_q, first;
  logic [EntryWidth-1:0]    read_q;

  // Events are captured, and queued one per cycle, lowest SM first.
  captured_t              event_in;
  smk_pkg::sm_kernel_id_t event_kernel;
  smk_pkg::sm_mask_t      event_frees;
  for (genvar sm = 0; sm < NumSms; sm++) begin : gen_event
    logic                           unused_valid, unused_counted;
    logic [2:0]                     kind;
    logic [KernelWidth-1:0]         kernel;
    logic [TbIdWidth-1:0]           tb;
    logic [BufferWidth-1:0]         context_buffer;
    logic [smk_pkg::TbCntWidth-1:0] unused_shortfall;
    assign {unused_valid, kind, kernel, tb, context_buffer, unused_counted, unused_shortfall} =
        events_i.sm[sm];
    assign event_in.sm[sm]     = {tb, context_buffer, kind == smk_pkg::EventFlushed};
    assign event_kernel.sm[sm] = kernel;
    assign event_frees[sm]     = kind == smk_pkg::EventBufferFree;
    // An SM that reports needs an answer.
    `SMK_ASSERT(EventNeedsAck_M, events_valid_i[sm] |-> kind == smk_pkg::EventSaved ||
                kind == smk_pkg::EventFlushed || kind == smk_pkg::EventBufferFree)
  end
  // Any of these registers: busy_o is one itself, because the driver's awake_o waits for it.
  logic                   busy_q;
  assign pending_d = (pending_q & ~winner_q) | events_valid_i;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_captured
    smk_pkg::sm_mask_t mine;
    for (genvar sm = 0; sm < NumSms; sm++) begin : gen_mine
      assign mine[sm] = events_valid_i[sm] && event_kernel.sm[sm] == KernelWidth'(k);
    end
    assign tb_of_d.kernel[k]     = (tb_of_q.kernel[k] & ~events_valid_i) | (mine & ~event_frees);
    assign buffer_of_d.kernel[k] = (buffer_of_q.kernel[k] & ~events_valid_i) |
                                   (mine & event_frees);
  end

  smk_pkg::kernel_mask_t push_tb, push_buffer;
  logic [EntryWidth-1:0] push_entry;
  smk_pkg::kernel_id_t   push_kernel;
  always_comb begin
    push_entry = '0;
    for (int unsigned sm = 0; sm < NumSms; sm++) begin
      push_entry = push_entry | (captured_q.sm[sm] & {EntryWidth{winner_q[sm]}});
    end
    for (int unsigned k = 0; k < NumKernels; k++) begin
      push_tb[k]     = (winner_q & tb_of_q.kernel[k]) != '0;
      push_buffer[k] = (winner_q & buffer_of_q.kernel[k]) != '0;
    end
  end
  assign push_kernel = smk_pkg::index_of_kernel(push_tb);

  // The front of the kernel that pops.
  logic [EntryWidth-1:0] popped;
  smk_pkg::buffer_t      popped_buffer;
  logic [TbIdWidth-1:0]  unused_popped_tb;
  logic                  unused_popped_restart;
  smk_pkg::kernel_id_t   pop_kernel;
  logic                  pops, popped_q;
  assign pop_kernel = smk_pkg::index_of_kernel(pop_i);
  assign pops       = pop_i != '0;
  always_comb begin
    popped = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      popped |= first.kernel[k] & {EntryWidth{pop_i[k]}};
    end
  end
  assign {unused_popped_tb, popped_buffer, unused_popped_restart} = popped;
  assign front_o  = first.kernel[front_kernel_i];
  assign fronts_o = first;

  // The queues. What comes into an empty one is its first at once.
  smk_pkg::kernel_mask_t pop, load_first;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_queue
    logic pop_last;
    assign pop[k]          = pop_i[k];
    assign pop_last        = next_q.kernel[k] == tail_q.kernel[k];
    assign load_first[k]   = push_tb[k] &&
                             (`SMK_CUT(NoneQueued, !queued_q[k]) || (pop[k] && pop_last));
    assign queued_d[k]     = push_tb[k] || (queued_q[k] && !(pop[k] && pop_last));
    assign fetched_d[k]    = pop[k] ? !pop_last : fetched_q[k] && !pops;
    assign first.kernel[k] = fetched_q[k] ? read_q : first_q.kernel[k];
    assign next_d.kernel[k] = next_q.kernel[k] + BufferWidth'(pop[k]);
    assign tail_d.kernel[k] = tail_q.kernel[k] + BufferWidth'(push_tb[k]);
    always_comb begin
      count_d.kernel[k] = count_q.kernel[k];
      if (push_tb[k] && !pop[k])
        count_d.kernel[k] = count_q.kernel[k] + `SMK_CUT(OneTbMore, BufferCntWidth'(1));
      if (!push_tb[k] && pop[k]) count_d.kernel[k] = count_q.kernel[k] - BufferCntWidth'(1);
    end
  end

  // The free buffers of each kernel; a flushed TB gives its own back in the cycle after it is popped,
  // because what was read comes late.
  smk_pkg::kernel_mask_t some_free, take, put_popped_d, put_popped_q;
  smk_pkg::buffer_t      put_buffer_q;
  buffer_vec_t           free_buffer;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_free
    logic [EntryWidth-2:0] unused_front;
    logic                  restart;
    assign {unused_front, restart} = first.kernel[k];
    assign put_popped_d[k] = pop[k] && restart;
    smk_buffer_list u_buffer_list (
      .clk_i,
      .rst_ni,
      .take_i            (take[k]),
      .put_first_valid_i (put_popped_q[k]),
      .put_first_i       (put_buffer_q),
      .put_second_valid_i(push_buffer[k]),
      .put_second_i      (push_entry[BufferWidth:1]),
      .some_o            (some_free[k]),
      .buffer_o          (free_buffer.kernel[k]),
      .count_o           (free_o.kernel[k])
    );
  end

  // Whether the lowest of some SMs is one of these, found while the lowest is.
  function automatic logic lowest_is_in(input smk_pkg::sm_mask_t some,
                                        input smk_pkg::sm_mask_t these);
    smk_pkg::sm_mask_t any, found;
    any   = some;
    found = some & these;
    for (int unsigned step = 1; step < NumSms; step = step * 2) begin
      found = found | (~any & (found >> step));
      any   = any | (any >> step);
    end
    lowest_is_in = found[0];
  endfunction

  // A request waits until it is granted.
  assign asking  = (request_i | `SMK_CUT(Asked, asked_q)) & ~withdraw_i;
  assign asked_d = asking & ~grant_d;
  for (genvar sm = 0; sm < NumSms; sm++) begin : gen_asked_kernel
    assign asked_kernel.sm[sm] = request_i[sm] ? request_kernel_i.sm[sm] : asked_kernel_q.sm[sm];
  end

  // The grant: the lowest SM whose kernel has a free buffer. Of any two kernels it is known whose SM
  // is the lower one, before it is known which of them have a buffer.
  smk_pkg::kernel_sms_t  asks, lowest;
  smk_pkg::kernel_mask_t asked;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_asks
    smk_pkg::sm_mask_t mine;
    for (genvar sm = 0; sm < NumSms; sm++) begin : gen_mine
      assign mine[sm] = asking[sm] && asked_kernel.sm[sm] == KernelWidth'(k);
    end
    assign asks.kernel[k]   = mine;
    assign lowest.kernel[k] = smk_pkg::lowest_sm(mine);
    assign asked[k]         = mine != '0;
  end
  for (genvar k = 0; k < NumKernels; k++) begin : gen_take
    smk_pkg::kernel_mask_t earlier;
    for (genvar j = 0; j < NumKernels; j++) begin : gen_earlier
      assign earlier[j] = j != k && asked[j] &&
                          !lowest_is_in(asks.kernel[k] | asks.kernel[j], asks.kernel[k]);
    end
    assign take[k] = asked[k] && some_free[k] && (earlier & some_free) == '0;
  end
  always_comb begin
    grant_d = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      grant_d = grant_d | (lowest.kernel[k] & {NumSms{take[k]}});
    end
  end
  logic can_grant;
  assign none_d    = asked_q & withdraw_i;
  assign can_grant = (asked & some_free) != '0;
  always_comb begin
    grant_buffer_d = can_grant ? '0 : `SMK_CUT(GrantBuffer, grant_buffer_q);
    for (int unsigned k = 0; k < NumKernels; k++) begin
      grant_buffer_d = grant_buffer_d |
                       (`SMK_CUT(FreeBuffer, free_buffer.kernel[k]) & {BufferWidth{take[k]}});
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pending_q      <= '0;
      tb_of_q        <= '0;
      buffer_of_q    <= '0;
      winner_q       <= '0;
      ack_q          <= '0;
      grant_q        <= '0;
      asked_q        <= '0;
      none_q         <= '0;
      popped_q       <= 1'b0;
      put_popped_q   <= '0;
      busy_q         <= 1'b0;
      grant_buffer_q <= '0;
      queued_q       <= '0;
      count_q        <= '0;
      next_q         <= {NumKernels{BufferWidth'(1)}};
      tail_q         <= '0;
      fetched_q      <= '0;
    end else begin
      pending_q      <= pending_d;
      tb_of_q        <= tb_of_d;
      buffer_of_q    <= buffer_of_d;
      winner_q       <= smk_pkg::lowest_sm(pending_d);
      ack_q          <= `SMK_CUT(Winner, winner_q);
      grant_q        <= grant_d;
      asked_q        <= asked_d;
      none_q         <= none_d;
      popped_q       <= pops;
      put_popped_q   <= put_popped_d;
      busy_q         <= (pending_d | winner_q | grant_d | asked_d | none_d) != '0 || pops;
      grant_buffer_q <= grant_buffer_d;
      queued_q       <= queued_d;
      count_q        <= count_d;
      next_q         <= next_d;
      tail_q         <= tail_d;
      fetched_q      <= fetched_d;
    end
  end

  // Payload is not reset. What was read is kept when a pop reads again.
  logic [EntryWidth-1:0] entry_mem [NumPlaces];
  always_ff @(posedge clk_i) begin
    for (int unsigned sm = 0; sm < NumSms; sm++) begin
      if (events_valid_i[sm]) captured_q.sm[sm] <= event_in.sm[sm];
      if (request_i[sm]) asked_kernel_q.sm[sm] <= request_kernel_i.sm[sm];
    end
    if (pops) put_buffer_q <= popped_buffer;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (load_first[k])    first_q.kernel[k] <= push_entry;
      else if (pops) first_q.kernel[k] <= first.kernel[k];
    end
    if (push_tb != '0) entry_mem[{push_kernel, tail_q.kernel[push_kernel]}] <= push_entry;
    if (pops) read_q <= entry_mem[{pop_kernel, next_q.kernel[pop_kernel]}];
  end

  assign queued_o       = queued_q;
  assign count_o        = count_q;
  assign ack_o          = ack_q;
  assign grant_o        = grant_q;
  assign none_o         = none_q;
  assign grant_buffer_o = grant_buffer_q;
  assign busy_o         = busy_q;

  `SMK_ASSERT(BusyIsKeptTwice_A, busy_q == ((pending_q | ack_q | grant_q | none_q | asked_q) != '0 ||
              popped_q))
  for (genvar k = 0; k < NumKernels; k++) begin : gen_laws
    // Conservation: a buffer is free, with an SM, in the queue, or on its way back from there. A grant
    // takes one to an SM, every event brings one from there, the pop of a saved TB takes one there.
    `SMK_ASSERT(BuffersConserved_A, 1'b1 |=> 32'(count_q.kernel[k]) + 32'(free_o.kernel[k]) ==
                $past(32'(count_q.kernel[k]) + 32'(free_o.kernel[k]) - 32'(take[k]) +
                      32'(push_tb[k]) + 32'(push_buffer[k]) -
                      32'(pop[k]) + 32'(put_popped_q[k])))
    // There are no more buffers than there are.
    `SMK_ASSERT(BuffersBounded_A, 32'(count_q.kernel[k]) + 32'(free_o.kernel[k]) <=
                smk_pkg::PreemptedDepth)
    // A TB that comes finds a place: it owns a buffer.
    `SMK_ASSERT(QueueNeverOverflows_A, push_tb[k] |->
                32'(count_q.kernel[k]) != smk_pkg::PreemptedDepth)
    // The places used are as many as TBs wait.
    `SMK_ASSERT(PlacesAreCounted_A, tail_q.kernel[k] - next_q.kernel[k] + 1'b1 ==
                BufferWidth'(count_q.kernel[k]))
    // A TB waits as long as there are some.
    `SMK_ASSERT(QueuedIsCounted_A, queued_q[k] == (count_q.kernel[k] != '0))
    // Only a TB that waits is popped.
    `SMK_ASSERT(OnePops_M, $onehot0(pop_i))
    `SMK_ASSERT(PopFindsTb_M, pop[k] |-> count_q.kernel[k] != '0)
  end
  // One event is queued at a time, the lowest of those pending.
  `SMK_ASSERT(WinnerIsLowest_A,
              winner_q == smk_pkg::lowest_sm(pending_q))
  // Every event is acknowledged once.
  `SMK_ASSERT(AckPerEvent_A, 1'b1 |=> 32'($countones(pending_q)) == $past(
              32'($countones(pending_q)) + 32'($countones(events_valid_i))) - 32'(ack_q != '0))
  // An SM reports no second event before it is answered.
  `SMK_ASSERT(OneEventPerSm_M, (events_valid_i & pending_q) == '0)
  // A buffer of one kernel is taken with every grant.
  `SMK_ASSERT(GrantTakesBuffer_A, $countones(take) == $countones(grant_d))
  // A buffer goes to one SM, and to one that asked for it.
  `SMK_ASSERT(GrantAnswersRequest_A, 1'b1 |=> $onehot0(grant_q) &&
              (grant_q & ~$past(asking)) == '0)
  // Conservation: a request waits, or is answered.
  `SMK_ASSERT(RequestsConserved_A, 1'b1 |=> 32'($countones(asked_q)) == $past(
              32'($countones(asked_q)) + 32'($countones(request_i))) - 32'(grant_q != '0) -
              32'($countones(none_q)))
  // An SM asks for one buffer at a time.
  `SMK_ASSERT(OneRequestPerSm_M, (request_i & (asked_q | withdraw_i)) == '0)
  // Nothing changes without a request that can be served, an event, a pop or a pending event.
  `SMK_ASSERT(IdleHolds_A, (asking | withdraw_i) == '0 && events_valid_i == '0 && pop_i == '0 &&
              pending_q == '0 && !popped_q |=> $stable({queued_q, count_q, next_q, tail_q, fetched_q, first, free_o,
              free_buffer, grant_buffer_q}) && !busy_o)
  // A request really waits because its kernel has no buffer in our tests.
  `SMK_COVER(QueueFull_C, asking != '0 && some_free != '1 && !can_grant)
endmodule
