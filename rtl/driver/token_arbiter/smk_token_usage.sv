// SPDX-License-Identifier: Apache-2.0
// smk_token_usage: what each kernel slot has had of the GPU lately; part of smk_token_arbiter.
//
// Purpose     A window of 2^TokenUnitsLog2 units, which slides by whole buckets: 2^TokenBucketsLog2 of
//             them, and the oldest leaves as a whole. Cycles are counted exactly; a kernel's unit is
//             added when its last cycle has come.
// Paper       [Gemini] Sec. 3.5.1, step 1, Fig. 6; deviation [D82].
// Interface   user_i: to whom the cycle counts, at most one. passes_i: the window's time passes; it
//             does with every user.
// Latency     A cycle is in used_o 2 cycles later, if it completes a unit.
// Throughput  One cycle per cycle.
// Reset       Nothing has been used.
// Model       model/control/driver/token_arbiter.h   Doc  docs/blocks/token_arbiter.md
`include "smk_assert.svh"

module smk_token_usage (
  input  logic                         clk_i,
  input  logic                         rst_ni,
  // log2 of the window's cycles: constant during a run.
  input  logic [smk_pkg::TokenWindowWidth-1:0] window_i,
  input  logic                         passes_i,
  input  smk_pkg::kernel_mask_t        user_i,
  output smk_pkg::token_share_vec_t    used_o,
  output logic                         busy_o
);
  localparam int unsigned NumKernels  = smk_pkg::NumKernels;
  localparam int unsigned NumBuckets  = 1 << smk_pkg::TokenBucketsLog2;
  localparam int unsigned BucketWidth = smk_pkg::TokenUnitsLog2 - smk_pkg::TokenBucketsLog2;
  localparam int unsigned UnitWidth   = smk_pkg::TokenUnitWidth;
  localparam int unsigned WindowWidth = smk_pkg::TokenWindowWidth;
  localparam int unsigned ShareWidth  = smk_pkg::TokenShareWidth;
  // Units in a bucket: all of it.
  localparam int unsigned UnitsWidth  = BucketWidth + 1;

  // The cycles of a unit, less one: as many ones as the window is larger than its units.
  logic [UnitWidth-1:0] unit_last;
  for (genvar i = 0; i < UnitWidth; i++) begin : gen_unit
    assign unit_last[i] = window_i > WindowWidth'(smk_pkg::TokenUnitsLog2 + i);
  end

  // Time: cycles of this unit, units of this bucket.
  logic [UnitWidth-1:0]   time_q;
  logic [BucketWidth-1:0] unit_q;
  logic                   unit_ends, unit_end_q, rotates;
  assign unit_ends = passes_i && (time_q | ~unit_last) == '1;
  assign rotates   = unit_end_q && unit_q == '1;

  // Of each kernel: cycles of a unit that is not complete, and units of each bucket, the newest first.
  smk_pkg::kernel_mask_t carry_q;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_kernel
    logic [UnitWidth-1:0]             part_q;
    logic                             carry_d;
    logic [NumBuckets*UnitsWidth-1:0] buckets_q;
    logic [UnitsWidth-1:0]            newest_d, leaves;
    logic [ShareWidth-1:0]            used_q;
    assign carry_d  = user_i[k] && (part_q | ~unit_last) == '1;
    assign newest_d = (rotates ? '0 : buckets_q[UnitsWidth-1:0]) + UnitsWidth'(carry_q[k]);
    assign leaves   = rotates ? buckets_q[(NumBuckets-1)*UnitsWidth +: UnitsWidth] : '0;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        part_q     <= '0;
        carry_q[k] <= 1'b0;
        buckets_q  <= '0;
        used_q     <= '0;
      end else begin
        if (`SMK_CUT(CountsUser, user_i[k])) part_q <= carry_d ? '0 : part_q + UnitWidth'(1);
        carry_q[k] <= carry_d;
        if (rotates) buckets_q <= {buckets_q[(NumBuckets-1)*UnitsWidth-1:0], newest_d};
        else         buckets_q[UnitsWidth-1:0] <= newest_d;
        used_q     <= used_q + ShareWidth'(carry_q[k]) - `SMK_CUT(Leaves, ShareWidth'(leaves));
      end
    end
    assign used_o.kernel[k] = used_q;

    logic [ShareWidth-1:0] sum;
    always_comb begin
      sum = '0;
      for (int unsigned b = 0; b < NumBuckets; b++) begin
        sum = sum + ShareWidth'(buckets_q[b*UnitsWidth +: UnitsWidth]);
      end
    end
    // Conservation: what has been used is what the buckets hold.
    `SMK_ASSERT(UsedIsInBuckets_A, sum == used_q)
    // Cycles of a unit are those of its kernel.
    `SMK_ASSERT(IdleHolds_A, !user_i[k] |=> $stable(part_q))
    // And never more than the window.
    `SMK_ASSERT(UsedFitsWindow_A, used_q <= ShareWidth'(1 << smk_pkg::TokenUnitsLog2))
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      time_q     <= '0;
      unit_q     <= '0;
      unit_end_q <= 1'b0;
    end else begin
      if (passes_i) time_q <= unit_ends ? '0 : time_q + UnitWidth'(1);
      if (unit_end_q) unit_q <= unit_q + BucketWidth'(1);
      unit_end_q <= unit_ends;
    end
  end

  assign busy_o = passes_i || user_i != '0 || unit_end_q || carry_q != '0;

  // A cycle counts to one kernel at most, and time passes in it.
  `SMK_ASSERT(OneUser_M, $onehot0(user_i) && (user_i == '0 || passes_i))
  // Buckets really leave in our tests.
  `SMK_COVER(BucketLeaves_C, rotates)
endmodule
