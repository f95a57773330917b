// SPDX-License-Identifier: Apache-2.0
// smk_profile_counters: warp instructions issued per kernel in a profiling window.
//
// Purpose     Counts granted warp instructions per kernel, over all schedulers of the SM, from tick
//             to tick.
// Paper       [SMK] Sec. 5.4 (WIPC of the dedicated SMs), [Warped-Slicer] Sec. IV (windows).
// Interface   grant_*_i: the schedulers' grants of this cycle. tick_i: pulse; in its cycle issued_o
//             holds the window that ends. issued_o: registers.
// Latency     1 cycle. A grant in the cycle of the tick counts in the next window.
// Throughput  One grant per scheduler and cycle.
// Reset       Zero.
// Model       model/control/sm/profile_counters.h   Doc  docs/blocks/profile_counters.md
// A counter stays at 61,443; it never wraps. Does not keep a window that has ended, and does not count
// stalls.
`include "smk_assert.svh"

module smk_profile_counters (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  // Grants of this cycle.
  input  logic [smk_pkg::NumSchedulers-1:0] grant_valid_i,
  input  smk_pkg::grant_kernels_t           grant_kernel_i,
  input  logic                              tick_i,
  // This window so far.
  output smk_pkg::issued_vec_t              issued_o
);
  `SMK_CHECK_CONFIG

  localparam int unsigned NumKernels    = smk_pkg::NumKernels;
  localparam int unsigned NumSchedulers = smk_pkg::NumSchedulers;
  localparam int unsigned Width         = smk_pkg::IssuedWidth;
  // What the grants of a cycle are added to: the carry of up to four is one bit.
  localparam int unsigned LowWidth      = 2;
  // Full adders take two grants each.
  localparam int unsigned NumGrants     = (NumSchedulers > 2) ? NumSchedulers : 2;
  localparam int unsigned HighWidth     = Width - LowWidth;
  // A counter is full when so many of its upper bits are ones.
  localparam int unsigned FullWidth     = 4;

  smk_pkg::issued_vec_t  issued_d, issued_q;
  logic [NumKernels-1:0] overflow;

  // A tick starts from zero. The high part only takes the carry of the low one; in a full counter it
  // stays, and the carry fills the low part.
  for (genvar k = 0; k < NumKernels; k++) begin : gen_issued
    logic [NumGrants-1:0] grants, carries;
    logic [NumGrants:0]   ones;
    logic [HighWidth-1:0] high_q, high;
    logic [LowWidth-1:0]  low_q, low, sum;
    logic                 carry, full;
    for (genvar s = 0; s < NumSchedulers; s++) begin : gen_grant
      assign grants[s] = `SMK_CUT(GrantValid, grant_valid_i[s]) &&
                         grant_kernel_i.scheduler[s] == smk_pkg::KernelWidth'(k);
    end
    if (NumGrants > NumSchedulers) begin : gen_no_grant
      assign grants[NumGrants-1:NumSchedulers] = '0;
    end
    assign {high_q, low_q} = issued_q.kernel[k];
    // Full adders, for the grants and the low bit, and for their carries and the next bit.
    always_comb begin
      carries = grants;
      for (int unsigned i = 0; i < LowWidth; i++) begin
        ones    = {1'b0, carries};
        ones[NumGrants >> i] = low_q[i] && !tick_i;
        sum[i]  = ones[0];
        carries = '0;
        for (int unsigned j = 0; 2*j < (NumGrants >> i); j++) begin
          carries[j] = (ones[2*j+1] && ones[2*j+2]) || (sum[i] && (ones[2*j+1] ^ ones[2*j+2]));
          sum[i]     = sum[i] ^ ones[2*j+1] ^ ones[2*j+2];
        end
      end
    end
    assign carry              = carries[0];
    assign full               = high_q[HighWidth-1 -: FullWidth] == '1 && !tick_i;
    assign overflow[k]        = carry && full;
    assign high               = (high_q & {HighWidth{!tick_i}}) + HighWidth'(carry && !full);
    assign low                = (full && carry) ? '1 : sum;
    assign issued_d.kernel[k] = `SMK_CUT(Issued, {high, low});
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) issued_q <= '0;
    else         issued_q <= issued_d;
  end

  assign issued_o = issued_q;

  // Conservation: every grant is counted for exactly one kernel, unless its counter is full.
  logic [31:0] unused_total, unused_was;
  always_comb begin
    unused_total = '0;
    unused_was   = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      unused_total = unused_total + 32'(issued_d.kernel[k]);
      if (!tick_i) unused_was = unused_was + 32'(issued_q.kernel[k]);
    end
  end
  `SMK_ASSERT(GrantsConserved_A, overflow != '0 ||
              unused_total == unused_was + 32'($countones(grant_valid_i)))
  // A count never falls within a window: it saturates.
  `SMK_ASSERT(NeverWraps_A, !tick_i |=> issued_q.kernel[0] >= $past(issued_q.kernel[0]))
  // Nothing changes without a grant or a tick.
  `SMK_ASSERT(IdleHolds_A, !tick_i && grant_valid_i == '0 |=> $stable(issued_q))
  // A window really overflows in our tests.
  `SMK_COVER(Saturated_C, overflow != '0)
endmodule
