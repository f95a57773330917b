// SPDX-License-Identifier: Apache-2.0
// smk_work_queue: which work-group of two merged kernels a scheduler work-group executes next.
//
// Purpose     The queue of a merged launch: the kernels' work-groups in turn, and what is left of the
//             longer one at the end; or a part of the scheduler work-groups for each kernel.
// Paper       [KernelMerge] Sec. 2.2, Fig. 3, in hardware as in Sec. 2.5.
// Interface   load_i: pulse (S5), starts a pair. request_*, answer_*: streams; ready of requests
//             depends on load_i and on ready of answers.
// Latency     Request to answer 1 cycle.
// Throughput  One request and one answer per cycle.
// Reset       No pair: every answer is that there is none.
// Model       model/control/driver/work_queue.h   Doc  docs/blocks/work_queue.md
// Nothing changes in a cycle without load_i, a request or an answer that is taken. Numbers begin with 0:
// the first TB of a slice is added by who launches. No machine has it: see its page.
`include "smk_assert.svh"

module smk_work_queue #(
  // Bits of the number of a kernel's work-group, and of a scheduler work-group.
  parameter int unsigned IndexWidth = smk_pkg::TbIdWidth,
  parameter int unsigned GroupWidth = 13
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  // A pair: its work-groups. Scheduler work-groups below split_i execute the first kernel only, all
  // others the second; 0: all execute both.
  input  logic                  load_i,
  input  logic [IndexWidth-1:0] count_first_i,
  input  logic [IndexWidth-1:0] count_second_i,
  input  logic [GroupWidth-1:0] split_i,
  // A scheduler work-group has nothing to do.
  input  logic                  request_valid_i,
  output logic                  request_ready_o,
  input  logic [GroupWidth-1:0] request_group_i,
  // What it executes: a work-group of the second kernel or the first; or none, as its queue is empty.
  output logic                  answer_valid_o,
  input  logic                  answer_ready_i,
  output logic [GroupWidth-1:0] answer_group_o,
  output logic                  answer_none_o,
  output logic                  answer_second_o,
  output logic [IndexWidth-1:0] answer_index_o
);
  `SMK_CHECK_CONFIG

  // The pair, the next work-group of each kernel, and whether there is one.
  logic [IndexWidth-1:0] count_first_q, count_second_q;
  logic [IndexWidth-1:0] next_first_q, next_second_q, after_first, after_second;
  logic                  some_first_q, some_second_q;
  logic [GroupWidth-1:0] split_q;
  // Whose work-group is at the head of the one queue.
  logic                  turn_d, turn_q;
  // The answer that waits.
  logic                  answer_valid_d, answer_valid_q, answer_none_q, answer_second_q;
  logic [GroupWidth-1:0] answer_group_q;
  logic [IndexWidth-1:0] answer_index_q;

  logic request_fire, split, second, some, take_first, take_second;
  assign request_ready_o = !load_i && (!answer_valid_q || answer_ready_i);
  assign request_fire    = request_valid_i && request_ready_o;

  // Whose work-group it gets: its kernel's; else that in turn, or the other's when it has no more.
  assign split  = split_q != '0;
  assign second = split ? request_group_i >= split_q
                        : ((turn_q ? some_second_q : some_first_q) ? turn_q : !turn_q);
  assign some   = second ? some_second_q : some_first_q;
  assign take_first  = request_fire && !second && some;
  assign take_second = request_fire && second && some;
  assign turn_d      = (request_fire && !split) ? `SMK_CUT(Turn, !second) : turn_q;
  assign after_first  = `SMK_CUT(After, next_first_q + IndexWidth'(1));
  assign after_second = next_second_q + IndexWidth'(1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {count_first_q, count_second_q, next_first_q, next_second_q} <= '0;
      {some_first_q, some_second_q, split_q, turn_q}               <= '0;
    end else if (load_i) begin
      count_first_q  <= count_first_i;
      count_second_q <= count_second_i;
      next_first_q   <= '0;
      next_second_q  <= '0;
      some_first_q   <= count_first_i != '0;
      some_second_q  <= count_second_i != '0;
      split_q        <= split_i;
      turn_q         <= 1'b0;
    end else begin
      turn_q <= `SMK_CUT(TurnIdle, turn_d);
      if (take_first) begin
        next_first_q <= after_first;
        some_first_q <= after_first != count_first_q;
      end
      if (take_second) begin
        next_second_q <= after_second;
        some_second_q <= after_second != count_second_q;
      end
    end
  end

  assign answer_valid_d = request_fire || (answer_valid_q && !answer_ready_i);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      answer_valid_q <= 1'b0;
      {answer_group_q, answer_none_q, answer_second_q, answer_index_q} <= '0;
    end else begin
      answer_valid_q <= `SMK_CUT(AnswerValid, answer_valid_d);
      if (request_fire) begin
        answer_group_q  <= request_group_i;
        answer_none_q   <= !some;
        answer_second_q <= second;
        answer_index_q  <= second ? next_second_q : next_first_q;
      end
    end
  end

  assign answer_valid_o  = answer_valid_q;
  assign answer_group_o  = answer_group_q;
  assign answer_none_o   = answer_none_q;
  assign answer_second_o = answer_second_q;
  assign answer_index_o  = answer_index_q;

  // A request waits unchanged until it is taken.
  `SMK_ASSERT_STREAM(RequestHolds_M, request_valid_i, request_ready_o, request_group_i)
  // An answer waits unchanged until it is taken, also while a pair starts.
  `SMK_ASSERT_STREAM(AnswerHolds_A, answer_valid_o, answer_ready_i,
                     {answer_group_o, answer_none_o, answer_second_o, answer_index_o})
  // No work-group is given that the kernel does not have.
  `SMK_ASSERT(WithinCount_A, next_first_q <= count_first_q && next_second_q <= count_second_q)
  // There is one more exactly while not all have been given.
  `SMK_ASSERT(SomeIsExact_A, some_first_q == (next_first_q != count_first_q) &&
              some_second_q == (next_second_q != count_second_q))
  // Nothing changes in an idle cycle.
  `SMK_ASSERT(IdleHolds_A, !load_i && !request_valid_i && !answer_valid_o |=>
              $stable(next_first_q) && $stable(next_second_q) && $stable(turn_q) && !answer_valid_o)
  // The longer kernel really is left alone in our tests.
  `SMK_COVER(Rest_C, request_fire && !split && second != turn_q && some)
endmodule
