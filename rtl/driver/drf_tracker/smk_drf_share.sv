// SPDX-License-Identifier: Apache-2.0
// smk_drf_share: rK of one kernel; part of smk_drf_tracker.
//
// Purpose     Keeps rK exact by adding and subtracting the kernel's share per TB, and counts the SMs
//             on which the kernel runs.
// Paper       [SMK] Sec. 5.2; deviation [D2].
// Interface   What happens to the kernel: pulses, in any combination.
// Latency     3 cycles.
// Throughput  Everything in every cycle.
// Reset       Nothing taken.
// Model       model/control/driver/drf_tracker.h   Doc  docs/blocks/drf_tracker.md
// An update takes four rows of registers: what was decided, TBs that left, and those not found on
// groups of SMs; their sum; times the kernel's share, in two parts; into rK. Two bits of the sum
// at a time are no share, one, two or three: half as many numbers to add as with one bit.
`include "smk_assert.svh"

module smk_drf_share (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  // The kernel is done: clears rK, whatever else happens.
  input  logic                  done_i,
  // What was decided: one TB more, one reserved or no longer; and so many chosen as victims.
  input  logic                  more_i,
  input  logic                  reserved_i,
  input  logic                  fewer_i,
  input  smk_pkg::tb_cnt_t      victims_i,
  // SMs on which a TB that counts left, and how many victims each did not find.
  input  smk_pkg::sm_mask_t     left_i,
  input  logic [smk_pkg::NumSms*smk_pkg::TbCntWidth-1:0] not_found_i,
  // SMs on which the kernel has TBs.
  input  smk_pkg::sm_mask_t     some_i,
  // A TB's share, once and three times.
  input  smk_pkg::share_t       tb_share_i,
  input  smk_pkg::triple_t      tb_triple_i,
  // rK covers the number of running SMs. Constant during a run.
  input  logic                  count_running_sms_i,
  // Registers: the share of its TBs, signed, and that of the SMs on which it runs.
  output smk_pkg::total_share_t share_o,
  output smk_pkg::total_share_t floor_o
);
  localparam int unsigned NumSms      = smk_pkg::NumSms;
  localparam int unsigned NumGroups   = smk_pkg::NumSmGroups;
  localparam int unsigned TbCntWidth  = smk_pkg::TbCntWidth;
  localparam int unsigned TotalWidth  = smk_pkg::TotalShareWidth;
  localparam int unsigned TripleWidth = smk_pkg::ShareWidth + 2;
  localparam int unsigned SmCntWidth  = $clog2(NumSms + 1);
  localparam int unsigned FoundWidth  = TbCntWidth + 2;
  // TBs that one cycle adds or takes away: digits of two bits, and the sign. Lower digits are one
  // part of the product, upper ones and the sign the other; what is above rK is lost.
  localparam int unsigned DeltaWidth  = $clog2((NumSms + 1) * smk_pkg::LimitTbs + NumSms + 3) + 1;
  localparam int unsigned NumDigits   = DeltaWidth / 2;
  localparam int unsigned LowDigits   = (NumDigits + 1) / 2;
  localparam int unsigned LowWidth    = 2 * LowDigits;
  localparam int unsigned UpperWidth  = TotalWidth - LowWidth;

  logic [DeltaWidth-1:0]           decided_d, decided_q, found, delta_d, delta_q;
  logic [SmCntWidth-1:0]           leavers_d, leavers_q, running_d, running_q, running_late_q;
  logic [NumGroups*FoundWidth-1:0] found_d, found_q;
  smk_pkg::share_t                 negative;
  logic [UpperWidth-1:0]           high_d, high_q;
  logic [TotalWidth-1:0]           low_d, low_q, high, sum, carry, share_d, share_q, floor_d, floor_q;
  logic                            done_first_q, done_q, done_late_q;

  assign decided_d = DeltaWidth'(more_i) + DeltaWidth'(reserved_i) - DeltaWidth'(fewer_i)
                     - DeltaWidth'(victims_i);
  smk_popcount #(.N(NumSms)) u_leavers (.mask_i(left_i), .count_o(leavers_d));
  for (genvar g = 0; g < NumGroups; g++) begin : gen_group
    localparam int unsigned First = 4 * g;
    localparam int unsigned Size  = (NumSms - First < 4) ? NumSms - First : 4;
    smk_sum_tree #(.N(Size), .TermWidth(TbCntWidth), .Width(FoundWidth)) u_found (
      .term_i(not_found_i[First*TbCntWidth +: Size*TbCntWidth]),
      .sum_o (found_d[g*FoundWidth +: FoundWidth])
    );
  end

  smk_sum_tree #(.N(NumGroups), .TermWidth(FoundWidth), .Width(DeltaWidth)) u_sum (
    .term_i(found_q),
    .sum_o (found)
  );
  assign delta_d = decided_q - DeltaWidth'(leavers_q) + found;

  // The sign is as much less as the bit would be more.
  logic [NumDigits*TripleWidth-1:0] shares;
  for (genvar d = 0; d < NumDigits; d++) begin : gen_digit
    logic [1:0] digit;
    assign digit = (2*d + 1 < DeltaWidth - 1) ? delta_q[2*d +: 2] : {1'b0, delta_q[2*d]};
    assign shares[d*TripleWidth +: TripleWidth] =
        (TripleWidth'(tb_share_i) & {TripleWidth{digit == 2'd1}}) |
        ({1'b0, tb_share_i, 1'b0} & {TripleWidth{digit == 2'd2}}) |
        (tb_triple_i & {TripleWidth{digit == 2'd3}});
  end
  assign negative = tb_share_i & {smk_pkg::ShareWidth{delta_q[DeltaWidth-1]}};
  always_comb begin
    low_d  = '0;
    high_d = -(UpperWidth'(negative) << (DeltaWidth - 1 - LowWidth));
    for (int unsigned d = 0; d < NumDigits; d++) begin
      if (d < LowDigits) low_d += TotalWidth'(shares[d*TripleWidth +: TripleWidth]) << (2*d);
      else high_d += UpperWidth'(shares[d*TripleWidth +: TripleWidth]) << (2*d - LowWidth);
    end
  end

  // Three numbers as two, so that one carry runs.
  assign high    = {high_q, {LowWidth{1'b0}}};
  assign sum     = share_q ^ low_q ^ high;
  assign carry   = ((share_q & low_q) | (share_q & high) | (low_q & high)) << 1;
  assign share_d = (done_late_q ? '0 : sum) + (done_late_q ? '0 : carry);

  // The SMs on which the kernel runs, when they count, as rK.
  smk_popcount #(.N(NumSms)) u_running (.mask_i(some_i), .count_o(running_d));
  assign floor_d = count_running_sms_i ? TotalWidth'(running_late_q) *
                   TotalWidth'(smk_pkg::ShareWhole) : '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      decided_q      <= '0;
      leavers_q      <= '0;
      found_q        <= '0;
      delta_q        <= '0;
      low_q          <= '0;
      high_q         <= '0;
      share_q        <= '0;
      running_q      <= '0;
      running_late_q <= '0;
      floor_q        <= '0;
      done_first_q   <= 1'b0;
      done_q         <= 1'b0;
      done_late_q    <= 1'b0;
    end else begin
      decided_q      <= decided_d;
      leavers_q      <= leavers_d;
      found_q        <= found_d;
      delta_q        <= delta_d;
      low_q          <= low_d;
      high_q         <= high_d;
      share_q        <= `SMK_CUT(Share, share_d);
      running_q      <= running_d;
      running_late_q <= running_q;
      floor_q        <= floor_d;
      done_first_q   <= done_i;
      done_q         <= done_first_q;
      done_late_q    <= done_q;
    end
  end
  assign share_o = share_q;
  assign floor_o = floor_q;

  // The number of running SMs is that of the SMs with TBs of the kernel.
  `SMK_ASSERT(RunningIsExact_A, 1'b1 |=> 32'(running_q) == 32'($past($countones(some_i))))
  // A kernel that is done has no rK.
  `SMK_ASSERT(DoneIsClear_A, done_late_q |=> share_q == '0)
  // rK stays within what room on every SM, taken twice, and TBs on their way out can make of it.
  `SMK_ASSERT(ShareInRange_A, 32'($signed(share_q)) + NumSms * smk_pkg::ShareWhole <=
              3 * NumSms * smk_pkg::ShareWhole)
  // Idle: nothing changes once the last update has come through.
  `SMK_ASSERT(Idle_A, !more_i && !reserved_i && !fewer_i && victims_i == '0 && left_i == '0 &&
              not_found_i == '0 |=> decided_q == '0 && leavers_q == '0 && found_q == '0)
  `SMK_ASSERT(IdleDelta_A, decided_q == '0 && leavers_q == '0 && found_q == '0 |=> delta_q == '0)
  `SMK_ASSERT(IdleShare_A, low_q == '0 && high_q == '0 && !done_late_q |=> $stable(share_q))
endmodule
