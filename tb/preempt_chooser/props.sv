// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_preempt_chooser. Which TBs run, which came from a context and which must go is kept here.
`include "formal.svh"

module formal_preempt_chooser (
  input logic                    clk_i,
  input smk_pkg::chimera_t       chimera_i,
  input smk_pkg::sm_time_t       time_i,
  // TBs that begin, that continue from a context, and that go by themselves or by the engine.
  input smk_pkg::slot_mask_t     begin_i,
  input smk_pkg::slot_mask_t     loaded_i,
  input smk_pkg::slot_mask_t     gone_i,
  input logic                    ended_i,
  input smk_pkg::slot_mask_t     ended_slot_i,
  input logic                    order_i,
  input smk_pkg::preempt_mode_e  mode_i,
  input smk_pkg::slot_mask_t     leave_i,
  input smk_pkg::slot_mask_t     flushable_i,
  input smk_pkg::kernel_slots_t  slots_of_i,
  input smk_pkg::context_views_t views_i
);
  localparam int unsigned TimeWidth = smk_pkg::TimeWidth;

  `FORMAL_RESET
  smk_pkg::slot_mask_t running_q, leaving_q, go, flush;
  logic                busy;
  smk_preempt_chooser u_dut (
    .clk_i, .rst_ni, .chimera_i, .time_i, .loaded_i, .ended_i, .ended_slot_i, .order_i, .mode_i,
    .flushable_i, .slots_of_i, .views_i,
    .activate_i(begin_i | loaded_i),
    .leaving_i (leaving_q),
    .running_i (running_q),
    .go_o      (go),
    .flush_o   (flush),
    .busy_o    (busy)
  );

  // TBs that run; that must go. They must go by an order, all at once or one after the other.
  smk_pkg::slot_mask_t elsewhere_q;
  logic                ordered_q;
  always_ff @(posedge clk_i) begin
    running_q   <= rst_ni ? (running_q | begin_i | loaded_i) & ~gone_i : '0;
    leaving_q   <= rst_ni ? (leaving_q | leave_i) & ~gone_i : '0;
    elsewhere_q <= rst_ni ? (elsewhere_q & ~begin_i) | loaded_i : '0;
    ordered_q   <= rst_ni && (order_i || (ordered_q && leaving_q == '0) || leaving_q != '0);
  end

  // Of the user. A slot is taken again a while after its TB has gone.
  localparam int unsigned Rest = 8;
  localparam int unsigned NumSlots = smk_pkg::NumSlots;
  logic [Rest*NumSlots-1:0] gone_q;
  smk_pkg::slot_mask_t lately;
  always_comb begin
    lately = '0;
    for (int unsigned n = 0; n < Rest; n++) lately = lately | gone_q[n*NumSlots +: NumSlots];
  end
  always_ff @(posedge clk_i) gone_q <= rst_ni ? {gone_q[(Rest-1)*NumSlots-1:0], gone_i} : '0;
  smk_pkg::chimera_t chimera_q;
  logic              began_q;
  always_ff @(posedge clk_i) chimera_q <= chimera_i;
  always_ff @(posedge clk_i) began_q   <= rst_ni;
  `ASSUME(Constant_M, !began_q || chimera_i == chimera_q)
  `ASSUME(Enabled_M, chimera_i.enable)
  `ASSUME(ComeIntoFreeSlots_M, ((begin_i | loaded_i) & (running_q | lately | gone_i)) == '0 &&
          (begin_i & loaded_i) == '0)
  `ASSUME(OrderWhenSettled_M, !order_i || leaving_q == '0)
  `ASSUME(LeaveAfterOrder_M, leave_i == '0 || order_i || ordered_q)
  `ASSUME(LeaversAreHere_M, (leave_i & (lately | gone_i)) == '0)

  // A TB is dropped only if it could be when it was judged, two cycles ago, and has all its work from
  // this SM. So one of a kernel that is not idempotent never is.
  smk_pkg::slot_mask_t can_q, could_q, flush_q;
  always_ff @(posedge clk_i) begin
    can_q   <= flushable_i;
    could_q <= can_q;
    flush_q <= rst_ni ? flush : '0;
  end
  `PROVE(FlushedCanBe_A, (flush & ~flush_q & ~could_q) == '0)
  `PROVE(FlushedIsOfThisSm_A, (flush & ~flush_q & elsewhere_q) == '0)
  // Who is dropped is told to go, and who is told to go must.
  smk_pkg::slot_mask_t must_q;
  always_ff @(posedge clk_i) must_q <= rst_ni ? leaving_q : '0;
  `PROVE(GoersMustGo_A, (flush & ~go) == '0 && (go & ~must_q) == '0)

  // Inside: the TB at hand, and what the three ways cost it.
  localparam logic [2:0] StChoose = 3'd6;
  `WATCH([2:0], step, u_dut.state_q)
  `WATCH([smk_pkg::NumSlots-1:0], slot, u_dut.slot_q)
  `WATCH([smk_pkg::NumSlots-1:0], judged, u_dut.judged_q)
  `WATCH([0:0], again, u_dut.again_q)
  `WATCH([0:0], has_mean, u_dut.has_mean_q)
  `WATCH([0:0], active, u_dut.active_q)
  `WATCH([TimeWidth-1:0], age, u_dut.age_q)
  `WATCH([TimeWidth-1:0], rest, u_dut.rest_q)
  `WATCH([TimeWidth-1:0], saves_with, u_dut.saves_with_q)
  localparam int unsigned SaveWidth = smk_pkg::LineWidth + (1 << smk_pkg::ChimeraLineWidth) - 1 -
                                      smk_pkg::TimeUnitLog2;
  `WATCH([SaveWidth-1:0], save, u_dut.save_q)
  `WATCH([0:0], drain, u_dut.drain)
  `WATCH([0:0], drop, u_dut.drop)
  smk_pkg::sm_time_t  limit;
  logic [TimeWidth:0] moved, cost;
  logic               can_flush, choose;
  assign limit     = TimeWidth'(chimera_i.limit >> smk_pkg::TimeUnitLog2);
  assign moved     = (TimeWidth+1)'({save, 1'b0});
  assign choose    = step == StChoose;
  // Judged one cycle ago.
  assign can_flush = (can_q & slot) != '0 && !again;
  logic drain_in_time, switch_in_time, none;
  assign drain_in_time  = has_mean && rest <= limit;
  assign switch_in_time = saves_with <= limit;
  assign none           = !can_flush && !drain_in_time && !switch_in_time;
  // The way that is taken is over within the limit if one of the three is; else it is over first.
  `PROVE(ChoiceIsInTime_A, !choose || none || (drain ? drain_in_time : drop || switch_in_time))
  `PROVE(ElseTheFirst_A, !choose || !none || (!drop &&
         drain == (has_mean && rest < saves_with)))
  `PROVE(DropCanBe_A, !choose || !drop || can_flush)
  // Nobody who is judged to drain stays after the limit: three cycles later it is told to go.
  smk_pkg::sm_time_t since_q;
  logic [2:0]        over_q;
  logic              over;
  assign over = active && leaving_q != '0 && time_i - since_q > limit;
  always_ff @(posedge clk_i) begin
    if (order_i) since_q <= time_i;
    over_q <= rst_ni && !order_i && leaving_q != '0 ? {over_q[1:0], over} : '0;
  end
  `PROVE(NobodyDrainsTooLong_A, !over_q[2] || leaving_q == '0 || (judged & ~go) == '0)
  // No way that is in time costs less than the one that is taken.
  assign cost = drain ? {1'b0, rest} : drop ? {1'b0, age} : moved;
  `PROVE(Cheapest_A, !choose || none ||
         ((!can_flush || cost <= {1'b0, age}) && (!drain_in_time || cost <= {1'b0, rest}) &&
          (!switch_in_time || cost <= moved)))

  (* keep *) logic idle;
  assign idle = rst_ni && !busy && leaving_q == '0 && !order_i && !ended_i &&
                (begin_i | loaded_i) == '0;
endmodule
