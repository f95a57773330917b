// SPDX-License-Identifier: Apache-2.0
// smk_min_tree: the lowest of many keys, in two levels of small groups.
//
// Purpose     Names the valid key that is lowest; equal keys go to the lowest index.
// Paper       [SMK] Sec. 5.2 (lowest and highest rK and rSM).
// Interface   key_i: key n in bits [n*Width +: Width]. For the highest key, give the complements.
// Latency     0 cycles: two comparisons in sequence.
// Throughput  One answer per cycle.
// Reset       No state.
// Model       model/control/drf_tracker.h   Doc  docs/modules/drf_tracker.md
// N is at most GroupSize, or a multiple of it. With GroupSize = N all pairs are compared at once.
module smk_min_tree #(
  parameter int unsigned N         = 16,
  parameter int unsigned Width     = 8,
  parameter int unsigned GroupSize = 4
) (
  input  logic [N-1:0]       valid_i,
  input  logic [N*Width-1:0] key_i,
  // Zero when none is valid.
  output logic [N-1:0]       onehot_o
);
  localparam int unsigned NumGroups = (N <= GroupSize) ? 1 : N / GroupSize;
  localparam int unsigned Size      = N / NumGroups;

  logic [NumGroups-1:0]       some, best;
  logic [N-1:0]               best_in_group;
  logic [NumGroups*Width-1:0] key;
  for (genvar g = 0; g < NumGroups; g++) begin : gen_group
    smk_min_group #(.N(Size), .Width(Width)) u_group (
      .valid_i (valid_i[g*Size +: Size]),
      .key_i   (key_i[g*Size*Width +: Size*Width]),
      .valid_o (some[g]),
      .onehot_o(best_in_group[g*Size +: Size]),
      .key_o   (key[g*Width +: Width])
    );
    assign onehot_o[g*Size +: Size] = best_in_group[g*Size +: Size] & {Size{best[g]}};
  end

  logic             unused_valid;
  logic [Width-1:0] unused_key;
  smk_min_group #(.N(NumGroups), .Width(Width)) u_groups (
    .valid_i (some),
    .key_i   (key),
    .valid_o (unused_valid),
    .onehot_o(best),
    .key_o   (unused_key)
  );
endmodule
