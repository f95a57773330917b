// SPDX-License-Identifier: Apache-2.0
// smk_sample_counters: what one kernel did on one SM in a window: instructions and memory stalls.
//
// Purpose     Counts the warp instructions granted to the kernel that is sampled, and the stalls of
//             the schedulers that long memory latency causes [D32].
// Paper       [Warped-Slicer] Sec. IV-A: IPC and phi_mem of a window; Sec. V-I (714 um2 per SM).
// Interface   grant_*_i, memory_i: the schedulers in this cycle. window_i: level; a window lasts as
//             long as it is high, and the next begins with zero. issued_o, stalled_o: registers.
// Latency     2 cycles: with the second edge after a cycle it is counted.
// Throughput  One grant or stall per scheduler and cycle.
// Reset       Zero, no window.
// Model       model/control/sm/sample_counters.h   Doc  docs/blocks/sample_counters.md
// What a window counted holds until the next one. A counter stops below 2^SampleWidth and never
// wraps. Does not know why a warp waits: the SM does.
`include "smk_assert.svh"

module smk_sample_counters #(
  parameter int unsigned SampleWidth = 16
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  // Grants of this cycle.
  input  logic [smk_pkg::NumSchedulers-1:0] grant_valid_i,
  input  smk_pkg::grant_kernels_t           grant_kernel_i,
  // A warp of the sampled kernel on this scheduler waits for long memory latency.
  input  logic [smk_pkg::NumSchedulers-1:0] memory_i,
  // The sampled kernel; constant during a window.
  input  smk_pkg::kernel_id_t               kernel_i,
  input  logic                              window_i,
  output logic [SampleWidth-1:0]            issued_o,
  output logic [SampleWidth-1:0]            stalled_o
);
  `SMK_CHECK_CONFIG

  localparam int unsigned NumSchedulers = smk_pkg::NumSchedulers;
  // Of what a cycle adds: up to four.
  localparam int unsigned CntWidth      = 3;

  // First stage: this cycle, and whether a window begins.
  logic [CntWidth-1:0] grants_d, grants_q, stalls_d, stalls_q;
  logic                window_q, begins_q;
  always_comb begin
    grants_d = '0;
    stalls_d = '0;
    for (int unsigned s = 0; s < NumSchedulers; s++) begin
      if (window_i && grant_valid_i[s] && grant_kernel_i.scheduler[s] == kernel_i) begin
        grants_d = grants_d + 1'b1;
      end
      if (window_i && memory_i[s] && `SMK_CUT(NoGrant, !grant_valid_i[s])) begin
        stalls_d = stalls_d + 1'b1;
      end
    end
  end

  // Second stage: the window so far. A full counter, all ones but for the lower bits, stays.
  logic [SampleWidth-1:0] issued_q, stalled_q, issued_d, stalled_d;
  logic                   issued_full, stalled_full;
  assign issued_full  = issued_q[SampleWidth-1:CntWidth] == '1 && !begins_q;
  assign stalled_full = stalled_q[SampleWidth-1:CntWidth] == '1 && !begins_q;
  logic [CntWidth-1:0]    issued_more, stalled_more;
  assign issued_more  = grants_q & {CntWidth{!issued_full}};
  assign stalled_more = stalls_q & {CntWidth{!stalled_full}};
  assign issued_d  = (issued_q & {SampleWidth{!begins_q}}) + SampleWidth'(issued_more);
  assign stalled_d = `SMK_CUT(Stalled, (stalled_q & {SampleWidth{!begins_q}}) + SampleWidth'(stalled_more));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      window_q  <= 1'b0;
      begins_q  <= 1'b0;
      grants_q  <= '0;
      stalls_q  <= '0;
      issued_q  <= '0;
      stalled_q <= '0;
    end else begin
      window_q  <= window_i;
      begins_q  <= window_i && !window_q;
      grants_q  <= grants_d;
      stalls_q  <= stalls_d;
      issued_q  <= issued_d;
      stalled_q <= stalled_d;
    end
  end
  assign issued_o  = issued_q;
  assign stalled_o = stalled_q;

  // A scheduler issues or stalls, never both in a cycle.
  `SMK_ASSERT(IssuesOrStalls_A, 32'(grants_q) + 32'(stalls_q) <= NumSchedulers)
  // A count never falls within a window: it saturates.
  `SMK_ASSERT(NeverWraps_A, !begins_q |=> issued_q >= $past(issued_q) &&
              stalled_q >= $past(stalled_q))
  // A window that has ended holds.
  `SMK_ASSERT(IdleHolds_A, !window_i && !window_q |=> $stable({issued_q, stalled_q}) ||
              $past(grants_q, 1) != '0 || $past(stalls_q, 1) != '0)
  // The sampled kernel is one that there is, and the same during a window.
  `SMK_ASSERT(SameKernel_M, window_i && window_q |-> $stable(kernel_i))
  // A window really overflows, and a window follows another after one cycle, in our tests.
  `SMK_COVER(Saturated_C, issued_full && grants_q != '0)
  `SMK_COVER(StallsSaturated_C, stalled_full && stalls_q != '0)
  `SMK_COVER(NextWindow_C, window_i && !window_q && $past(window_q))
endmodule
