// SPDX-License-Identifier: Apache-2.0
// smk_share_range: the distance between the highest and the lowest rK.
//
// Purpose     The range of rK that a preemption must make smaller.
// Paper       [SMK] Sec. 5.3.1, Fig. 4.
// Interface   share_i: rK of every kernel; mask_i: the kernels that count.
// Latency     0 cycles.
// Throughput  One answer per cycle.
// Reset       No state.
// Model       model/control/drf_tracker.h   Doc  docs/modules/drf_tracker.md
// Of no kernel the range is all ones.
module smk_share_range (
  input  smk_pkg::kernel_mask_t     mask_i,
  input  smk_pkg::total_share_vec_t share_i,
  output logic [smk_pkg::TotalShareWidth-1:0] range_o
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  localparam int unsigned Width      = smk_pkg::TotalShareWidth;

  logic                  unused_low_valid, unused_high_valid;
  logic [NumKernels-1:0] unused_lowest, unused_highest;
  logic [Width-1:0]      low, high_complement;

  smk_min_group #(.N(NumKernels), .Width(Width)) u_low (
    .valid_i (mask_i),
    .key_i   (share_i),
    .valid_o (unused_low_valid),
    .onehot_o(unused_lowest),
    .key_o   (low)
  );
  smk_min_group #(.N(NumKernels), .Width(Width)) u_high (
    .valid_i (mask_i),
    .key_i   (~share_i),
    .valid_o (unused_high_valid),
    .onehot_o(unused_highest),
    .key_o   (high_complement)
  );
  assign range_o = ~high_complement - low;
endmodule
