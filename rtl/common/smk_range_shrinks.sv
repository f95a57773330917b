// SPDX-License-Identifier: Apache-2.0
// smk_range_shrinks: whether a preemption makes the range of rK smaller; part of smk_drf_tracker.
//
// Purpose     The test before TBs are preempted: highest less lowest rK, now and afterwards.
// Paper       [SMK] Sec. 5.3.1, Fig. 4.
// Interface   share_i: rK of every kernel now. Afterwards the kernel's is kernel_share_i, and the
//             victim's is the larger of victim_share_i (signed) and victim_floor_i.
// Latency     0 cycles; victim_share_i may come late.
// Throughput  One answer per cycle.
// Reset       No state.
// Model       model/control/drf_tracker.h   Doc  docs/modules/drf_tracker.md
// With R the range now, and low and high the others' afterwards, the range shrinks if
// high - low < R, and the victim's rK is above high - R and below low + R.
module smk_range_shrinks (
  input  smk_pkg::kernel_mask_t               active_i,
  input  smk_pkg::total_share_vec_t           share_i,
  input  smk_pkg::kernel_id_t                 kernel_i,
  input  logic [smk_pkg::TotalShareWidth-1:0] kernel_share_i,
  input  smk_pkg::kernel_id_t                 victim_i,
  input  logic [smk_pkg::TotalShareWidth-1:0] victim_share_i,
  input  logic [smk_pkg::TotalShareWidth-1:0] victim_floor_i,
  output logic                                shrinks_o
);
  localparam int unsigned NumKernels  = smk_pkg::NumKernels;
  localparam int unsigned KernelWidth = smk_pkg::KernelWidth;
  localparam int unsigned Width       = smk_pkg::TotalShareWidth;
  // Of sums and differences, signed.
  localparam int unsigned SumWidth    = Width + 2;

  smk_pkg::kernel_mask_t     others;
  smk_pkg::total_share_vec_t others_share;
  logic                      victim_counts;
  assign victim_counts = active_i[victim_i] && victim_i != kernel_i;
  always_comb begin
    others_share = share_i;
    others       = active_i;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (kernel_i == KernelWidth'(k))      others_share.kernel[k] = kernel_share_i;
      else if (victim_i == KernelWidth'(k)) others[k] = 1'b0;
    end
  end

  // Lowest and highest, of all now and of the others afterwards.
  logic                  unused_low_valid, unused_high_valid, unused_others_valid, some_others;
  logic [NumKernels-1:0] unused_low_of, unused_high_of, unused_others_low_of, unused_others_high_of;
  logic [Width-1:0]      low, high_complement, others_low, others_high_complement;
  smk_min_group #(.N(NumKernels), .Width(Width)) u_low (
    .valid_i (active_i),
    .key_i   (share_i),
    .valid_o (unused_low_valid),
    .onehot_o(unused_low_of),
    .key_o   (low)
  );
  smk_min_group #(.N(NumKernels), .Width(Width)) u_high (
    .valid_i (active_i),
    .key_i   (~share_i),
    .valid_o (unused_high_valid),
    .onehot_o(unused_high_of),
    .key_o   (high_complement)
  );
  smk_min_group #(.N(NumKernels), .Width(Width)) u_others_low (
    .valid_i (others),
    .key_i   (others_share),
    .valid_o (some_others),
    .onehot_o(unused_others_low_of),
    .key_o   (others_low)
  );
  smk_min_group #(.N(NumKernels), .Width(Width)) u_others_high (
    .valid_i (others),
    .key_i   (~others_share),
    .valid_o (unused_others_valid),
    .onehot_o(unused_others_high_of),
    .key_o   (others_high_complement)
  );

  logic signed [SumWidth-1:0] range, lowest, highest, above, below, victim, floor;
  logic                       victim_within;
  assign range         = $signed({2'b00, ~high_complement}) - $signed({2'b00, low});
  assign lowest        = $signed({2'b00, others_low});
  assign highest       = $signed({2'b00, ~others_high_complement});
  assign above         = highest - range;
  assign below         = lowest + range;
  assign victim        = $signed({{2{victim_share_i[Width-1]}}, victim_share_i});
  assign floor         = $signed({2'b00, victim_floor_i});
  assign victim_within = (victim > above || floor > above) && victim < below && floor < below;
  assign shrinks_o     = some_others && highest - lowest < range &&
                         (victim_within || !victim_counts);
endmodule
