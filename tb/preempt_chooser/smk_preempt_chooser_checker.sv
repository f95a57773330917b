// SPDX-License-Identifier: Apache-2.0
// smk_preempt_chooser_checker: a record of its own of when TBs began, and of who was told to go.
`include "smk_assert.svh"

module smk_preempt_chooser_checker (
  input logic                 clk_i,
  input logic                 rst_ni,
  input smk_pkg::chimera_t    chimera_i,
  input smk_pkg::sm_time_t    time_i,
  input smk_pkg::slot_mask_t  activate_i,
  input smk_pkg::slot_mask_t  loaded_i,
  input smk_pkg::slot_mask_t  leaving_i,
  input smk_pkg::slot_mask_t  flushable_i,
  input smk_pkg::slot_mask_t  go_o,
  input smk_pkg::slot_mask_t  flush_o,
  // The age of a TB is known, and whose; nobody is judged twice.
  input logic                 has_age,
  input smk_pkg::slot_mask_t  slot,
  input smk_pkg::sm_time_t    age,
  input smk_pkg::slot_mask_t  judged,
  input logic                 choose
);
  localparam int unsigned NumSlots = smk_pkg::NumSlots;

  typedef struct packed {logic [NumSlots-1:0][smk_pkg::TimeWidth-1:0] slot;} slot_times_t;
  slot_times_t         begun_q;
  smk_pkg::slot_mask_t elsewhere_q, can_q, could_q, go_q, flush_q, must_q;
  smk_pkg::sm_time_t   before_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      begun_q <= '0;
      {elsewhere_q, can_q, could_q, go_q, flush_q, must_q} <= '0;
      before_q <= '0;
    end else begin
      for (int unsigned s = 0; s < NumSlots; s++) begin
        if (activate_i[s]) begun_q.slot[s] <= time_i;
        if (activate_i[s]) elsewhere_q[s] <= loaded_i[s];
      end
      {could_q, can_q, go_q, flush_q, must_q} <= {can_q, flushable_i, go_o, flush_o, leaving_i};
      before_q <= time_i;
    end
  end

  // A TB is dropped only if it could be when it was judged, and has all its work from this SM.
  `SMK_ASSERT(FlushedCanStartAgain_A, (flush_o & ~flush_q & ~(could_q & ~elsewhere_q)) == '0)
  // The age of a TB that must go is its own.
  for (genvar s = 0; s < NumSlots; s++) begin : gen_age
    smk_pkg::sm_time_t its_age;
    assign its_age = before_q - begun_q.slot[s];
    `SMK_ASSERT(AgeIsItsOwn_A, has_age && slot[s] && leaving_i[s] && chimera_i.enable |->
                age == its_age)
  end
  // Conservation: who is told to go goes on until it has gone, and each is judged once.
  `SMK_ASSERT(GoersConserved_A, (go_q & must_q & ~go_o) == '0)
  `SMK_ASSERT(JudgedOnce_A, choose |-> (judged & slot) == '0)
endmodule

bind smk_preempt_chooser smk_preempt_chooser_checker u_checker (
  .*, .has_age(state_q == StCost), .slot(slot_q), .age(age_q), .judged(judged_q));
