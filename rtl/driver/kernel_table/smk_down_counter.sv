// SPDX-License-Identifier: Apache-2.0
// smk_down_counter: a wide count that falls by a small amount.
//
// Purpose     Counts TBs of a grid down. It is kept in three parts, and whether an upper part is
//             zero is known at the start of the cycle: no borrow runs through the whole width.
// Paper       [SMK] Sec. 5.1.
// Interface   load_i wins over amount_i. count_o: register. ends_o: combinational from amount_i.
// Latency     The count falls on the next edge.
// Throughput  One load or amount per cycle.
// Reset       ResetValue.
// Model       model/control/driver/kernel_table.h   Doc  docs/blocks/kernel_table.md
// Wraps below zero.
`include "smk_assert.svh"

module smk_down_counter #(
  parameter  int unsigned      Width       = 32,
  parameter  int unsigned      AmountWidth = 1,
  // Bits of the lowest part, at least AmountWidth.
  parameter  int unsigned      LowWidth    = 8,
  parameter  logic [Width-1:0] ResetValue  = '0
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   load_i,
  input  logic [Width-1:0]       value_i,
  input  logic [AmountWidth-1:0] amount_i,
  output logic [Width-1:0]       count_o,
  // The count is zero after this cycle's amount.
  output logic                   ends_o
);
  localparam int unsigned MidWidth = (Width - LowWidth) / 2;
  localparam int unsigned TopWidth = Width - LowWidth - MidWidth;

  logic [LowWidth-1:0] low_d, low_q, unused_value_low;
  logic [MidWidth-1:0] mid_d, mid_q, value_mid;
  logic [TopWidth-1:0] top_d, top_q, value_top;
  logic                mid_zero_d, mid_zero_q, top_zero_d, top_zero_q;
  logic                borrow_low, borrow_mid;

  assign {value_top, value_mid, unused_value_low} = value_i;
  assign borrow_mid = `SMK_CUT(BorrowMid, borrow_low && mid_zero_q);
  if (AmountWidth == 1) begin : gen_one
    assign low_d      = amount_i[0] ? low_q - LowWidth'(1) : low_q;
    assign borrow_low = amount_i[0] && low_q == '0;
  end else begin : gen_amount
    assign low_d      = low_q - LowWidth'(amount_i);
    assign borrow_low = low_q < LowWidth'(amount_i);
  end
  always_comb begin
    mid_d      = mid_q;
    mid_zero_d = mid_zero_q;
    if (borrow_low) begin
      mid_d      = mid_q - MidWidth'(1);
      mid_zero_d = mid_q == MidWidth'(1);
    end
  end
  always_comb begin
    top_d      = top_q;
    top_zero_d = top_zero_q;
    if (borrow_mid) begin
      top_d      = top_q - TopWidth'(1);
      top_zero_d = top_q == TopWidth'(1);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {top_q, mid_q, low_q} <= ResetValue;
      mid_zero_q            <= ResetValue[LowWidth+MidWidth-1:LowWidth] == '0;
      top_zero_q            <= ResetValue[Width-1:LowWidth+MidWidth] == '0;
    end else if (load_i) begin
      {top_q, mid_q, low_q} <= value_i;
      mid_zero_q            <= value_mid == '0;
      top_zero_q            <= value_top == '0;
    end else begin
      {top_q, mid_q, low_q} <= {top_d, mid_d, low_d};
      mid_zero_q            <= mid_zero_d;
      top_zero_q            <= top_zero_d;
    end
  end

  assign count_o = {top_q, mid_q, low_q};
  assign ends_o  = top_zero_q && mid_zero_q && low_q == LowWidth'(amount_i);

  // Conservation: the count falls by the amount and by nothing else.
  `SMK_ASSERT(CountConserved_A, !load_i |=> count_o == $past(count_o - Width'(amount_i)))
  // The short cuts say what the parts say.
  `SMK_ASSERT(ZeroIsExact_A, mid_zero_q == (mid_q == '0) && top_zero_q == (top_q == '0))
  // A borrow really reaches the top in our tests.
  `SMK_COVER(BorrowReachesTop_C, borrow_mid && !load_i)
endmodule
