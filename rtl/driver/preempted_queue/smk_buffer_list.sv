// SPDX-License-Identifier: Apache-2.0
// smk_buffer_list: the free context buffers of one kernel.
//
// Purpose     Gives out buffers that came back, in the order in which they came, and before those
//             that were never used, which are counted up.
// Paper       [SMK] Sec. 5.1; deviation [D8].
// Interface   take_i, put_first_*, put_second_*: pulses (S5). buffer_o: what a take gets; means
//             nothing while !some_o.
// Latency     A buffer that comes back can be taken in the next cycle.
// Throughput  One buffer out and two back per cycle.
// Reset       All buffers free, none used yet.
// Model       model/control/driver/preempted_queue.h   Doc  docs/blocks/preempted_queue.md
// A ring in two memories, the even and the odd places, since two buffers that come back at once
// take neighbouring places: each memory has one write port and one read port with a register
// behind it. The first buffer of the ring lies in a register.
`include "smk_assert.svh"

module smk_buffer_list #(
  parameter  int unsigned Depth    = smk_pkg::PreemptedDepth,
  localparam int unsigned Width    = $clog2(Depth),
  localparam int unsigned CntWidth = $clog2(Depth + 1)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // The buffer is given away.
  input  logic                take_i,
  // Buffers come back; if two in one cycle, the first is the earlier.
  input  logic                put_first_valid_i,
  input  logic [Width-1:0]    put_first_i,
  input  logic                put_second_valid_i,
  input  logic [Width-1:0]    put_second_i,
  output logic                some_o,
  output logic [Width-1:0]    buffer_o,
  output logic [CntWidth-1:0] count_o
);
  localparam int unsigned RowWidth = Width - 1;

  // Free buffers, and whether there is one; the next that was never used.
  logic [CntWidth-1:0] count_d, count_q, fresh_q;
  logic                some_d, some_q;
  // The ring: used at all, the place behind the first, the place behind the last.
  logic                ring_d, ring_q;
  logic [Width-1:0]    next_q, tail_d, tail_q;
  // The first of the ring: in the register, or just read from the even or odd places.
  logic                fetched_q, odd_q;
  logic [Width-1:0]    first_q, even_q, odd_place_q, first;

  assign some_o   = some_q;
  assign count_o  = count_q;
  assign buffer_o = ring_q ? first : fresh_q[Width-1:0];

  always_comb begin
    first = first_q;
    if (fetched_q) first = odd_q ? odd_place_q : even_q;
  end

  // One out: from the ring, which may be empty then.
  logic take_ring, take_last;
  assign take_ring = take_i && ring_q;
  assign take_last = next_q == tail_q;

  // Up to two in: at the tail, and behind it.
  logic             put, put_both;
  logic [Width-1:0] at_tail, tail_more, tail_two_more;
  assign put      = put_first_valid_i || put_second_valid_i;
  assign put_both = `SMK_CUT(PutBoth, put_first_valid_i && put_second_valid_i);
  assign at_tail  = put_first_valid_i ? put_first_i : put_second_i;
  // Whether the first comes back is known last.
  assign tail_more     = tail_q + Width'(1);
  assign tail_two_more = tail_q + Width'(2);
  always_comb begin
    if (put_first_valid_i) tail_d = put_second_valid_i ? tail_two_more : tail_more;
    else                   tail_d = put_second_valid_i ? tail_more : tail_q;
  end

  // What comes into an empty ring is its first at once.
  logic load_first;
  assign load_first = `SMK_CUT(LoadPut, put) && (!ring_q || (take_ring && take_last));
  assign ring_d     = put || (ring_q && !(take_ring && take_last));

  // Free buffers: one fewer, one or two more. Whether one is taken, and whether the first comes
  // back, is known last.
  logic [CntWidth-1:0] count_less, count_more, count_two_more;
  logic [CntWidth-1:0] with_take, with_none, with_both, with_first;
  logic                one_left;
  assign count_less     = count_q - CntWidth'(1);
  assign count_more     = count_q + CntWidth'(1);
  assign count_two_more = count_q + CntWidth'(2);
  assign one_left       = count_q == CntWidth'(1);
  assign some_d         = put || (some_q && !(one_left && take_i));
  assign with_take      = put_second_valid_i ? count_q        : count_less;
  assign with_none      = put_second_valid_i ? count_more     : count_q;
  assign with_both      = with_none;
  assign with_first     = put_second_valid_i ? count_two_more : count_more;
  always_comb begin
    if (put_first_valid_i) count_d = take_i ? with_both : with_first;
    else                   count_d = take_i ? with_take : with_none;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q   <= CntWidth'(Depth);
      some_q    <= 1'b1;
      fresh_q   <= '0;
      ring_q    <= 1'b0;
      next_q    <= Width'(1);
      tail_q    <= '0;
      fetched_q <= 1'b0;
    end else begin
      count_q <= count_d;
      some_q  <= some_d;
      ring_q  <= ring_d;
      tail_q  <= tail_d;
      if (take_i && !ring_q) fresh_q <= fresh_q + CntWidth'(1);
      if (take_ring) begin
        next_q    <= next_q + Width'(1);
        fetched_q <= !take_last;
      end
    end
  end

  // The even and the odd places. Only the odd tail leaves its row.
  logic [Width-1:0]    even_mem [Depth / 2];
  logic [Width-1:0]    odd_mem  [Depth / 2];
  logic [RowWidth-1:0] even_row, odd_row;
  logic                even_write, odd_write;
  logic [Width-1:0]    even_put, odd_put;
  assign odd_row    = tail_q[Width-1:1];
  assign even_row   = odd_row + RowWidth'(tail_q[0]);
  assign even_write = tail_q[0] ? put_both : put;
  assign odd_write  = tail_q[0] ? put : put_both;
  assign even_put   = tail_q[0] ? put_second_i : at_tail;
  assign odd_put    = tail_q[0] ? at_tail : put_second_i;
  always_ff @(posedge clk_i) begin
    if (even_write) even_mem[even_row] <= even_put;
    if (odd_write)  odd_mem[odd_row]   <= odd_put;
    if (take_ring) begin
      even_q      <= even_mem[next_q[Width-1:1]];
      odd_place_q <= odd_mem[next_q[Width-1:1]];
      odd_q       <= next_q[0];
    end
    if (load_first) first_q <= at_tail;
  end

  // Places of the ring are found by their lowest bits.
  `SMK_ASSERT(DepthIsAPowerOfTwo_A, Depth == 1 << Width && Depth >= 4)
  // Only a free buffer is given away.
  `SMK_ASSERT(TakeFindsOne_M, take_i |-> some_q)
  // No more buffers come back than were given away.
  `SMK_ASSERT(PutWasTaken_M, 32'(count_q) + 32'(put_first_valid_i) + 32'(put_second_valid_i) <=
              Depth + 32'(take_i))
  // Conservation: the free buffers are those never used and those in the ring.
  `SMK_ASSERT(BuffersConserved_A, Width'(count_q) + Width'(fresh_q) ==
              tail_q - next_q + Width'(1) && ring_q == (32'(count_q) + 32'(fresh_q) != Depth))
  // The short cut says what the count says.
  `SMK_ASSERT(SomeIsExact_A, some_q == (count_q != '0))
  // What is read from a memory was written before.
  `SMK_ASSERT(ReadIsWritten_A, take_ring && !take_last && put |-> next_q != tail_q &&
              !(put_both && next_q == tail_q + Width'(1)))
  // Two buffers really come back at once in our tests.
  `SMK_COVER(TwoComeBack_C, put_both)
endmodule
