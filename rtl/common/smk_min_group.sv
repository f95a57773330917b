// SPDX-License-Identifier: Apache-2.0
// smk_min_group: the lowest of some keys, all pairs compared at once.
//
// Purpose     Names the valid key that is lowest; equal keys go to the lowest index.
// Paper       [SMK] Sec. 5.2 (lowest and highest rK and rSM).
// Interface   key_i: key n in bits [n*Width +: Width]. For the highest key, give the complements.
// Latency     0 cycles: one comparison, then an AND over all pairs. valid_i may come late.
// Throughput  One answer per cycle.
// Reset       No state.
// Model       model/control/drf_tracker.h   Doc  docs/modules/drf_tracker.md
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
  // Bit [i*N + j]: i wins against j.
  logic [N*N-1:0] wins;
  for (genvar i = 0; i < N; i++) begin : gen_row
    assign wins[i*N + i] = 1'b1;
    for (genvar j = i + 1; j < N; j++) begin : gen_pair
      logic not_above;
      assign not_above     = key_i[i*Width +: Width] <= key_i[j*Width +: Width];
      assign wins[i*N + j] = not_above;
      assign wins[j*N + i] = !not_above;
    end
  end

  assign valid_o = valid_i != '0;
  for (genvar i = 0; i < N; i++) begin : gen_winner
    assign onehot_o[i] = valid_i[i] && ((~valid_i | wins[i*N +: N]) == '1);
  end

  always_comb begin
    key_o = '0;
    for (int unsigned i = 0; i < N; i++) begin
      key_o = key_o | (key_i[i*Width +: Width] & {Width{onehot_o[i]}});
    end
  end
endmodule
