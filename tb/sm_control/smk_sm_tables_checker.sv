// SPDX-License-Identifier: Apache-2.0
// smk_sm_tables_checker: every TB that was taken is resident or has been reported, and leaves once.
`include "smk_assert.svh"

module smk_sm_tables_checker (
  input logic                clk_i,
  input logic                rst_ni,
  input logic                take_dispatch,
  input logic                take_leave,
  input smk_pkg::slot_mask_t leave,
  input smk_pkg::sm_event_t  event_o,
  input smk_pkg::slot_mask_t tb_finished_i,
  input smk_pkg::slot_mask_t finish_pending,
  input smk_pkg::slot_mask_t valid,
  input logic                release_valid_o,
  input smk_pkg::tb_slot_t   release_slot_o,
  input logic                awake_o
);
  // TBs taken and not yet reported: the driver's view of this SM.
  localparam int unsigned CountWidth = smk_pkg::TbCntWidth + 1;
  logic [CountWidth-1:0] open_q;
  logic                  reported;
  assign reported = event_o.valid && (event_o.kind == smk_pkg::EventFinished ||
                                      event_o.kind == smk_pkg::EventSaved ||
                                      event_o.kind == smk_pkg::EventFlushed);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) open_q <= '0;
    else         open_q <= open_q + CountWidth'(take_dispatch) - CountWidth'(reported);
  end

  // Slots that were chosen to leave since the last order.
  smk_pkg::slot_mask_t leavers_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)         leavers_q <= '0;
    else if (take_leave) leavers_q <= leave;
    else                 leavers_q <= leavers_q | leave;
  end

  // The slot of the TB that was released one cycle ago, and two.
  smk_pkg::slot_mask_t released_q, emptied_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      released_q <= '0;
      emptied_q  <= '0;
    end else begin
      released_q <= release_valid_o ? smk_pkg::NumSlots'(1) << release_slot_o : '0;
      emptied_q  <= released_q;
    end
  end

  // A TB is reported once, and only after it was taken.
  `SMK_ASSERT(ReportedWasTaken_A, reported |-> open_q != '0)
  // When nothing is left to report, the TBs not reported are those that are resident: none is lost.
  `SMK_ASSERT(NoTbIsLost_A, !awake_o |-> 32'(open_q) == $countones(valid))
  // A TB that finishes is remembered until it is reported (S5).
  `SMK_ASSERT(FinishIsTaken_A, ($past(tb_finished_i) & ~finish_pending) == '0)
  // The table hears of a TB that is released in the next cycle: the TB has its slot until then, and no longer.
  `SMK_ASSERT(ReleaseIsHeardACycleLate_A, (released_q & ~valid) == '0 && (emptied_q & valid) == '0)
  // No slot is chosen twice by an order: nobody would be there to leave, and the SM would never settle.
  `SMK_ASSERT(ChosenOnce_A, !take_leave |-> (leave & leavers_q) == '0)
endmodule

bind smk_sm_tables smk_sm_tables_checker u_checker (.*);
