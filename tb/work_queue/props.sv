// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_work_queue, from its ports alone: pairs of any sizes at any time, requests and answers that
// wait as they like.
`include "formal.svh"

module formal_work_queue (
  input logic       clk_i,
  input logic       load_i,
  input logic [2:0] count_first_i,
  input logic [2:0] count_second_i,
  input logic [1:0] split_i,
  input logic       request_valid_i,
  input logic [1:0] request_group_i,
  input logic       answer_ready_i,
  // The work-group that is watched.
  input logic       watched_second_i,
  input logic [2:0] watched_index_i
);
  `FORMAL_RESET
  logic       request_ready, answer_valid, none, second;
  logic [1:0] group;
  logic [2:0] index;
  smk_work_queue #(
    .IndexWidth(3),
    .GroupWidth(2)
  ) u_dut (
    .clk_i, .rst_ni, .load_i, .count_first_i, .count_second_i, .split_i, .request_valid_i,
    .request_group_i, .answer_ready_i,
    .request_ready_o(request_ready),
    .answer_valid_o (answer_valid),
    .answer_group_o (group),
    .answer_none_o  (none),
    .answer_second_o(second),
    .answer_index_o (index)
  );

  // One work-group is watched all the time.
  logic       known_q = 1'b0, watched_second_q;
  logic [2:0] watched_index_q;
  always_ff @(posedge clk_i) begin
    known_q          <= 1'b1;
    watched_second_q <= watched_second_i;
    watched_index_q  <= watched_index_i;
  end
  `ASSUME(WatchedIsConstant_M, !known_q ||
          {watched_second_i, watched_index_i} == {watched_second_q, watched_index_q})

  // The pair, the answer before, and what was given. An answer is new in the cycle after its request.
  logic       asked_q, gives, watched_has, watched_now, watched_given_q, any_q, second_q;
  logic [2:0] first_count_q, second_count_q;
  logic [1:0] split_q, group_q;
  logic [3:0] first_given_q, second_given_q;
  assign gives       = asked_q && !none;
  assign watched_has = watched_index_i < (watched_second_i ? second_count_q : first_count_q);
  assign watched_now = gives && second == watched_second_i && index == watched_index_i;
  always_ff @(posedge clk_i) begin
    asked_q <= rst_ni && request_valid_i && request_ready;
    group_q <= request_group_i;
    if (!rst_ni || load_i) begin
      first_count_q   <= rst_ni ? count_first_i : '0;
      second_count_q  <= rst_ni ? count_second_i : '0;
      split_q         <= rst_ni ? split_i : '0;
      first_given_q   <= '0;
      second_given_q  <= '0;
      watched_given_q <= 1'b0;
      any_q           <= 1'b0;
      second_q        <= 1'b0;
    end else begin
      first_given_q   <= first_given_q + 4'(gives && !second);
      second_given_q  <= second_given_q + 4'(gives && second);
      watched_given_q <= watched_given_q || watched_now;
      if (gives) any_q    <= 1'b1;
      if (gives) second_q <= second;
    end
  end

  // A request is answered in the next cycle, to its group, and the answer waits until it is taken.
  logic       waits_q, waits_none_q, waits_second_q;
  logic [1:0] waits_group_q;
  logic [2:0] waits_index_q;
  always_ff @(posedge clk_i) begin
    waits_q <= rst_ni && answer_valid && !answer_ready_i;
    {waits_group_q, waits_none_q, waits_second_q, waits_index_q} <= {group, none, second, index};
  end
  `PROVE(Answered_A, !asked_q || (answer_valid && group == group_q))
  `PROVE(OnlyAsked_A, !answer_valid || asked_q || waits_q)
  `PROVE(AnswerHolds_A, !waits_q || (answer_valid &&
         {group, none, second, index} == {waits_group_q, waits_none_q, waits_second_q, waits_index_q}))

  // No work-group is given twice, nor one that the kernel does not have.
  `PROVE(NotTwice_A, !(watched_now && watched_given_q))
  `PROVE(NoOther_A, !watched_now || watched_has)
  // When a group that may execute the watched one gets none, it has been given.
  `PROVE(NoneIsLeft_A, !(asked_q && none && watched_has && (split_q == '0 ||
         watched_second_i == (group_q >= split_q))) || watched_given_q)

  // In turn, the first kernel first, while both have work-groups.
  logic both;
  assign both = first_given_q != {1'b0, first_count_q} && second_given_q != {1'b0, second_count_q};
  `PROVE(Alternates_A, !(gives && split_q == '0 && both) || second == (any_q && !second_q))
  // Under a split a group keeps to its kernel.
  `PROVE(SplitHolds_A, !(asked_q && split_q != '0) || second == (group_q >= split_q))

  (* keep *) logic idle;
  assign idle = rst_ni && !load_i && !request_valid_i && !answer_valid;
endmodule
