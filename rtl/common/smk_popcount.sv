// SPDX-License-Identifier: Apache-2.0
// smk_popcount: the number of set bits, as a balanced tree.
//
// Purpose     Counts the SMs of a mask.
// Paper       [SMK] Sec. 5.2 (one update per SM and cycle), 5.5 (running SMs).
// Interface   mask_i in, count_o out.
// Latency     0 cycles: log2(N) additions in sequence.
// Throughput  One count per cycle.
// Reset       No state.
// Model       model/control/driver/drf_tracker.h   Doc  docs/blocks/drf_tracker.md
module smk_popcount #(
  parameter  int unsigned N     = 16,
  localparam int unsigned Width = $clog2(N + 1)
) (
  input  logic [N-1:0]     mask_i,
  output logic [Width-1:0] count_o
);
  smk_sum_tree #(.N(N), .TermWidth(1), .Width(Width)) u_sum (
    .term_i(mask_i),
    .sum_o (count_o)
  );
endmodule
