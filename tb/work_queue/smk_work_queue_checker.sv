// SPDX-License-Identifier: Apache-2.0
// smk_work_queue_checker: what is given of a pair, by a record of its own.
`include "smk_assert.svh"

module smk_work_queue_checker #(
  parameter int unsigned IndexWidth = 32,
  parameter int unsigned GroupWidth = 13
) (
  input logic                  clk_i,
  input logic                  rst_ni,
  input logic                  load_i,
  input logic [IndexWidth-1:0] count_first_i,
  input logic [IndexWidth-1:0] count_second_i,
  input logic [GroupWidth-1:0] split_i,
  input logic                  request_valid_i,
  input logic                  request_ready_o,
  input logic [GroupWidth-1:0] request_group_i,
  input logic                  answer_valid_o,
  input logic                  answer_none_o,
  input logic                  answer_second_o,
  input logic [IndexWidth-1:0] answer_index_o
);
  // The pair; what was given of it, by what was answered; the request of the last cycle.
  logic [IndexWidth-1:0] first_q, second_q, given_first_q, given_second_q;
  logic [GroupWidth-1:0] split_q, group_q;
  logic                  asked_q, gives;
  assign gives = asked_q && !answer_none_o;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {first_q, second_q, given_first_q, given_second_q, split_q, group_q, asked_q} <= '0;
    end else begin
      asked_q <= request_valid_i && request_ready_o;
      group_q <= request_group_i;
      if (load_i) begin
        {first_q, second_q, split_q}    <= {count_first_i, count_second_i, split_i};
        {given_first_q, given_second_q} <= '0;
      end else begin
        given_first_q  <= given_first_q + IndexWidth'(gives && !answer_second_o);
        given_second_q <= given_second_q + IndexWidth'(gives && answer_second_o);
      end
    end
  end
  // Every request is answered in the next cycle.
  `SMK_ASSERT(Answered_A, asked_q |-> answer_valid_o)
  // The work-groups of a kernel are given in order, each once, and no more than it has.
  `SMK_ASSERT(GivenOnce_A, gives |-> answer_second_o
              ? answer_index_o == given_second_q && given_second_q < second_q
              : answer_index_o == given_first_q && given_first_q < first_q)
  // None is the answer only when nothing is left that this group may execute.
  `SMK_ASSERT(NoneIsTrue_A, asked_q && answer_none_o |->
              (given_first_q == first_q || (split_q != '0 && group_q >= split_q)) &&
              (given_second_q == second_q || (split_q != '0 && group_q < split_q)))
  // Under a split a group keeps to its kernel.
  `SMK_ASSERT(SplitHolds_A, asked_q && split_q != '0 |-> answer_second_o == (group_q >= split_q))
endmodule

bind smk_work_queue smk_work_queue_checker #(.IndexWidth(IndexWidth), .GroupWidth(GroupWidth)) u_checker (.*);
