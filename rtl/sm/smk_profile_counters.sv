// SPDX-License-Identifier: Apache-2.0
// smk_profile_counters: warp instructions issued per kernel in a profiling window.
//
// Purpose     Counts granted warp instructions per kernel, over all schedulers of the SM, from tick
//             to tick, and reports the finished window.
// Paper       [SMK] Sec. 5.4 (WIPC of the dedicated SMs), [Warped-Slicer] Sec. IV (windows).
// Interface   grant_*_i: the schedulers' grants of this cycle. report_*_o: pulse (S5), registers.
// Latency     Report one cycle after the tick. A grant in the cycle of the tick counts in the next
//             window.
// Throughput  One grant per scheduler and cycle.
// Reset       Zero.
// Model       model/control/profile_counters.h   Doc  docs/modules/profile_counters.md
// Counters saturate; they never wrap. Does not count stalls.
`include "smk_assert.svh"

module smk_profile_counters (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  // Grants of this cycle.
  input  logic [smk_pkg::NumSchedulers-1:0] grant_valid_i,
  input  smk_pkg::grant_kernels_t           grant_kernel_i,
  input  logic                              tick_i,
  // The window that ended with the last tick.
  output logic                              report_valid_o,
  output smk_pkg::issued_vec_t              report_issued_o
);
  localparam int unsigned NumKernels    = smk_pkg::NumKernels;
  localparam int unsigned NumSchedulers = smk_pkg::NumSchedulers;
  localparam int unsigned Width         = smk_pkg::IssuedWidth;

  smk_pkg::issued_vec_t issued_d, issued_q, report_q;
  logic                 report_valid_q;

  // Grants of each kernel in this cycle.
  localparam int unsigned GrantWidth = $clog2(NumSchedulers + 1);
  // A cycle's grants are at most 2^LowWidth: the carry is one bit.
  localparam int unsigned LowWidth  = $clog2(NumSchedulers);
  localparam int unsigned SumWidth  = LowWidth + 1;
  localparam int unsigned HighWidth = Width - LowWidth;
  typedef struct packed {logic [NumKernels-1:0][GrantWidth-1:0] kernel;} grant_cnt_vec_t;
  grant_cnt_vec_t grants;
  always_comb begin
    grants = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      for (int unsigned s = 0; s < NumSchedulers; s++) begin
        if (grant_kernel_i.scheduler[s] == smk_pkg::KernelWidth'(k)) begin
          grants.kernel[k] = grants.kernel[k] + GrantWidth'(grant_valid_i[s]);
        end
      end
    end
  end

  // The window's count; a tick starts from zero. Grants are added to the low part; the high part only
  // takes the carry. A carry into all ones is an overflow: the high part stays, the low part fills.
  logic [NumKernels-1:0] overflow;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_issued
    logic [HighWidth-1:0] high_q, high;
    logic [LowWidth-1:0]  low_q, low;
    logic                 carry, full;
    assign {high_q, low_q} = issued_q.kernel[k];
    assign full            = high_q == '1 && !tick_i;
    assign {carry, low}    = {1'b0, low_q & {LowWidth{!tick_i}}} + SumWidth'(grants.kernel[k]);
    assign high            = (high_q & {HighWidth{!tick_i}}) + HighWidth'(carry && !full);
    assign overflow[k]     = carry && full;
    assign issued_d.kernel[k] = {high, low | {LowWidth{overflow[k]}}};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      issued_q       <= '0;
      report_valid_q <= 1'b0;
      report_q       <= '0;
    end else begin
      issued_q       <= issued_d;
      report_valid_q <= tick_i;
      if (tick_i) report_q <= issued_q;
    end
  end

  assign report_valid_o  = report_valid_q;
  assign report_issued_o = report_q;

  // Conservation: every grant is counted for exactly one kernel.
  logic [GrantWidth-1:0] unused_total;
  always_comb begin
    unused_total = '0;
    for (int unsigned k = 0; k < NumKernels; k++) unused_total = unused_total + grants.kernel[k];
  end
  `SMK_ASSERT(GrantsConserved_A, 32'(unused_total) == $countones(grant_valid_i))
  // A count never falls within a window: it saturates.
  `SMK_ASSERT(NeverWraps_A, !tick_i |=> issued_q.kernel[0] >= $past(issued_q.kernel[0]))
  // Nothing changes without a grant or a tick.
  `SMK_ASSERT(IdleHolds_A, !tick_i && grant_valid_i == '0 |=>
              $stable(issued_q) && $stable(report_q))
  // A window really overflows in our tests.
  `SMK_COVER(Saturated_C, overflow != '0)
endmodule
