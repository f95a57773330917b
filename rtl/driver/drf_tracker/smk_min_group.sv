// SPDX-License-Identifier: Apache-2.0
// smk_min_group: the lowest of some keys, all pairs compared at once.
//
// Purpose     Names the valid key that is lowest; equal keys go to the lowest index.
// Paper       [SMK] Sec. 5.2 (lowest and highest rK and rSM).
// Interface   key_i: key n in bits [n*Width +: Width]. For the highest key, give the complements.
// Latency     0 cycles: one comparison, then an AND over all pairs. valid_i may come late.
// Throughput  One answer per cycle.
// Reset       No state.
// Model       model/control/driver/drf_tracker.h   Doc  docs/blocks/drf_tracker.md
// It has N * (N - 1) / 2 comparators, where a tree has N - 1 in log2(N) levels.
module smk_min_group #(
  parameter int unsigned N     = 4,
  parameter int unsigned Width = 8
) (
  input  logic [N-1:0]       valid_i,
  input  logic [N*Width-1:0] key_i,
  output logic               valid_o,
  // The winner and its key; zero when none is valid.
  output logic [N-1:0]       onehot_o,
  output logic [Width-1:0]   key_o
);
  // Each pair is compared once: both of its rows ask whether the later key is lower. Bit j: the key
  // of this row wins against j.
  logic [Width-1:0] key, other;
  logic [N-1:0]     wins;
  always_comb begin
    for (int unsigned i = 0; i < N; i++) begin
      key = key_i[i*Width +: Width];
      for (int unsigned j = 0; j < N; j++) begin
        other = key_i[j*Width +: Width];
        if (j < i)      wins[j] = key < other;
        else if (j > i) wins[j] = !(other < key);
        else            wins[j] = 1'b1;
      end
      onehot_o[i] = valid_i[i] && ((~valid_i | wins) == '1);
    end
  end

  assign valid_o = valid_i != '0;

  always_comb begin
    key_o = '0;
    for (int unsigned i = 0; i < N; i++) begin
      key_o = key_o | (key_i[i*Width +: Width] & {Width{onehot_o[i]}});
    end
  end
endmodule
