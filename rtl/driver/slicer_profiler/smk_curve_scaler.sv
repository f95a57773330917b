// SPDX-License-Identifier: Apache-2.0
// smk_curve_scaler: one point of a kernel's curve, corrected for the bandwidth that others took.
//
// Purpose     IPC x (1 + phi_mem x psi) with psi = CTA_i / CTA_avg - 1, without a division: of a
//             kernel sampled with 1 to m TBs, CTA_avg is (m + 1) / 2 [D34], and all points have the
//             denominator cycles x (m + 1) in common.
// Paper       [Warped-Slicer] Sec. IV-A, eq. 3 and 4.
// Interface   start_i: pulse; the operands hold from then on until done_o. done_o: pulse, with
//             performance_o.
// Latency     done_o is 51 to 72 cycles after start_i: three products of 16 cycles, and a shift.
// Throughput  One point at a time.
// Reset       Idle.
// Model       model/control/driver/slicer_profiler.h   Doc  docs/blocks/slicer_profiler.md
// One multiplier, a bit per cycle. The result lies less than 2 below the exact one, in units of one to
// two instructions, the same for all points of a kernel.
`include "smk_assert.svh"

module smk_curve_scaler #(
  parameter int unsigned SampleWidth = 16
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   start_i,
  // Not begun anew: nothing is to come.
  input  logic                   cancel_i,
  // Instructions and stalls of the window; its cycles times the schedulers.
  input  logic [SampleWidth-1:0] issued_i,
  input  logic [SampleWidth-1:0] stalled_i,
  input  logic [SampleWidth-1:0] cycles_i,
  // The TBs of this point, and of the last one.
  input  smk_pkg::tb_cnt_t       tbs_i,
  input  smk_pkg::tb_cnt_t       most_i,
  output logic                   done_o,
  output logic [SampleWidth-1:0] performance_o
);
  localparam int unsigned TbCntWidth = smk_pkg::TbCntWidth;
  localparam int unsigned BaseWidth  = SampleWidth + TbCntWidth;
  localparam int unsigned BitWidth   = $clog2(BaseWidth + 1);

  // The products: cycles x (m + 1), stalls x |2 i - m - 1|, issued x what they make.
  typedef enum logic [2:0] {StIdle, StBase, StPsi, StAdd, StShift, StRate, StDone} step_e;
  step_e                  step_d, step_q;
  logic [BitWidth-1:0]    bit_d, bit_q;
  logic [SampleWidth:0]   factor_d, factor_q;
  // The product so far: upper part, and the lower one behind the bits still to be looked at.
  logic [SampleWidth:0]   upper_d, upper_q;
  logic [SampleWidth-1:0] lower_d, lower_q;
  logic [BaseWidth-1:0]   base_d, base_q;
  logic [BaseWidth:0]     gain_d, gain_q;

  // |2 i - m - 1|, and whether it is negative: fewer TBs than the average.
  logic [TbCntWidth+1:0] psi_d, psi_q;
  logic [TbCntWidth:0]   psi_size;
  assign psi_d    = {1'b0, tbs_i, 1'b0} - {2'b0, most_i} - 1'b1;
  assign psi_size = psi_q[TbCntWidth+1] ? (TbCntWidth+1)'(-psi_q) : (TbCntWidth+1)'(psi_q);

  logic                   multiplies, last_bit, shifted;
  logic [SampleWidth+1:0] sum;
  logic [BaseWidth-1:0]   product;
  assign multiplies = step_q == StBase || step_q == StPsi || step_q == StRate;
  assign last_bit   = 32'(bit_q) == SampleWidth - 1;
  assign sum        = {1'b0, upper_q} + {1'b0, factor_q & {(SampleWidth+1){lower_q[0]}}};
  assign product    = BaseWidth'({upper_q, lower_q});
  assign shifted    = base_q[BaseWidth-1] || 32'(bit_q) == BaseWidth - 1;

  always_comb begin
    step_d = step_q;
    unique case (step_q)
      StIdle:  step_d = StIdle;
      StBase:  if (last_bit) step_d = StPsi;
      StPsi:   if (last_bit) step_d = StAdd;
      StAdd:   step_d = StShift;
      StShift: if (shifted) step_d = StRate;
      StRate:  if (last_bit) step_d = StDone;
      StDone:  step_d = StIdle;
      default: step_d = StIdle;
    endcase
    if (start_i)  step_d = StBase;
    if (cancel_i) step_d = StIdle;
  end

  // The multiplier, loaded before each product.
  logic loads;
  assign loads = start_i || (step_q == StBase && last_bit) || (step_q == StShift && shifted);
  always_comb begin
    factor_d = factor_q;
    upper_d  = upper_q;
    lower_d  = lower_q;
    bit_d    = bit_q;
    if (multiplies) begin
      upper_d = sum[SampleWidth+1:1];
      lower_d = {sum[0], lower_q[SampleWidth-1:1]};
    end
    if (multiplies || (step_q == StShift && !shifted)) bit_d = bit_q + 1'b1;
    if (loads) upper_d = '0;
    if (loads || step_q == StAdd) bit_d = '0;
    if (step_q == StBase && last_bit) {factor_d, lower_d} = {(SampleWidth+1)'(psi_size), stalled_i};
    if (step_q == StShift && shifted) begin
      {factor_d, lower_d} = {gain_q[BaseWidth -: SampleWidth+1], issued_i};
    end
    if (start_i) {factor_d, lower_d} = {(SampleWidth+1)'(most_i) + 1'b1, cycles_i};
  end

  // What all points have in common, and this point's; then both shifted to the left.
  logic [BaseWidth-1:0] base_now;
  assign base_now = BaseWidth'({sum, lower_q[SampleWidth-1:1]});
  always_comb begin
    base_d = base_q;
    gain_d = gain_q;
    if (step_q == StBase && last_bit) base_d = base_now;
    if (step_q == StAdd) begin
      gain_d = psi_q[TbCntWidth+1] ? {1'b0, base_q} - {1'b0, product}
                                 : {1'b0, base_q} + {1'b0, `SMK_CUT(Gain, product)};
    end
    if (step_q == StShift && !shifted) begin
      base_d = {base_q[BaseWidth-2:0], 1'b0};
      gain_d = {gain_q[BaseWidth-1:0], 1'b0};
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q <= StIdle;
      {bit_q, factor_q, upper_q, lower_q, base_q, gain_q, psi_q} <= '0;
    end else begin
      step_q   <= step_d;
      bit_q    <= bit_d;
      factor_q <= factor_d;
      upper_q  <= upper_d;
      lower_q  <= lower_d;
      base_q   <= base_d;
      gain_q   <= gain_d;
      psi_q    <= psi_d;
    end
  end
  assign done_o        = step_q == StDone;
  assign performance_o = upper_q[SampleWidth-1:0];

  // A window has no more instructions and stalls than cycles, so that a point always has room.
  `SMK_ASSERT(WithinTheWindow_M, start_i |-> 32'(issued_i) + 32'(stalled_i) <= 32'(cycles_i))
  // A point is one of those that are sampled.
  `SMK_ASSERT(PointOfTheCurve_M, start_i |-> tbs_i != '0 && tbs_i <= most_i)
  // The correction is less than all, and a point fits.
  `SMK_ASSERT(GainIsBounded_A, step_q == StShift |-> gain_q < {base_q, 1'b0} || base_q == '0)
  `SMK_ASSERT(PointFits_A, done_o |-> !upper_q[SampleWidth])
  // Points below and above the average really occur in our tests.
  `SMK_COVER(BelowAverage_C, step_q == StAdd && psi_q[TbCntWidth+1] && product != '0)
  `SMK_COVER(AboveAverage_C, step_q == StAdd && !psi_q[TbCntWidth+1] && product != '0)
endmodule
