// SPDX-License-Identifier: Apache-2.0
// smk_sum_tree: the sum of many numbers, as a balanced tree.
//
// Purpose     Adds what the SMs report in one cycle.
// Paper       [SMK] Sec. 5.2 (one update per SM and cycle).
// Interface   term_i: number n in bits [n*TermWidth +: TermWidth].
// Latency     0 cycles: log2(N) additions in sequence.
// Throughput  One sum per cycle.
// Reset       No state.
// Model       model/control/driver/drf_tracker.h   Doc  docs/blocks/drf_tracker.md
// Terms are not below zero, and the sum is modulo 2^Width.
module smk_sum_tree #(
  parameter int unsigned N         = 16,
  parameter int unsigned TermWidth = 4,
  parameter int unsigned Width     = 8
) (
  input  logic [N*TermWidth-1:0] term_i,
  output logic [Width-1:0]       sum_o
);
  // Node n adds nodes 2n and 2n + 1; the last N nodes are the terms.
  logic [2*N*Width-1:0] node;
  always_comb begin
    node = '0;
    for (int unsigned n = 0; n < N; n++) begin
      node[(N+n)*Width +: Width] = Width'(term_i[n*TermWidth +: TermWidth]);
    end
    for (int unsigned n = N - 1; n >= 1; n--) begin
      node[n*Width +: Width] = node[2*n*Width +: Width] + node[(2*n+1)*Width +: Width];
    end
    sum_o = node[Width +: Width];
  end
endmodule
