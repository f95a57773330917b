// SPDX-License-Identifier: Apache-2.0
// smk_range_shrinks: whether a preemption makes the range of rK smaller; part of smk_drf_tracker.
//
// Purpose     The test before TBs are preempted: highest less lowest rK, now and afterwards.
// Paper       [SMK] Sec. 5.3.1, Fig. 4.
// Interface   kernel_i, victim_i: one bit each. share_i, floor_i: rK of every kernel is the larger
//             one (share_i is signed), decided_i that one.
// Latency     6 cycles after victim_tbs_i, 7 after the rest; for a question and shares that hold.
// Throughput  One answer per cycle.
// Reset       No state that counts.
// Model       model/control/driver/drf_tracker.h   Doc  docs/blocks/drf_tracker.md
`include "smk_assert.svh"

module smk_range_shrinks (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  smk_pkg::kernel_mask_t     active_i,
  input  smk_pkg::total_share_vec_t share_i,
  input  smk_pkg::total_share_vec_t floor_i,
  input  smk_pkg::total_share_vec_t decided_i,
  input  smk_pkg::share_vec_t       tb_share_i,
  input  logic                      count_running_sms_i,
  // One TB of the kernel comes, and starts to run on the SM; so many of the victim go, and are its
  // last there.
  input  smk_pkg::kernel_mask_t     kernel_i,
  input  logic                      kernel_starts_i,
  input  smk_pkg::kernel_mask_t     victim_i,
  input  smk_pkg::tb_cnt_t          victim_tbs_i,
  input  logic                      victim_stops_i,
  output logic                      shrinks_o
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  localparam int unsigned Width      = smk_pkg::TotalShareWidth;

  // What the question is about.
  logic [Width-1:0]  kernel_share, victim_share, kernel_floor, victim_floor, whole;
  smk_pkg::share_t   kernel_tb_share, victim_tb_share;
  always_comb begin
    kernel_share    = '0;
    victim_share    = '0;
    kernel_floor    = '0;
    victim_floor    = '0;
    kernel_tb_share = '0;
    victim_tb_share = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      kernel_share    |= share_i.kernel[k] & {Width{kernel_i[k]}};
      victim_share    |= share_i.kernel[k] & {Width{victim_i[k]}};
      kernel_floor    |= floor_i.kernel[k] & {Width{kernel_i[k]}};
      victim_floor    |= floor_i.kernel[k] & {Width{victim_i[k]}};
      kernel_tb_share |= tb_share_i.kernel[k] & {smk_pkg::ShareWidth{kernel_i[k]}};
      victim_tb_share |= tb_share_i.kernel[k] & {smk_pkg::ShareWidth{victim_i[k]}};
    end
  end
  assign whole = count_running_sms_i ? Width'(smk_pkg::ShareWhole) : '0;

  // One row of registers per cycle: what is asked, the product and the kernel's sum, the victim's,
  // rK of all afterwards: for these two the larger of sum and floor.
  smk_pkg::share_t           kernel_tb_share_q, victim_tb_share_q;
  smk_pkg::kernel_mask_t     kernel_q, victim_q;
  logic [Width-1:0]          kernel_share_q, kernel_base_q, victim_base_q;
  logic [Width-1:0]          product_q, kernel_sum_q, kernel_floor_q, victim_share_q;
  logic [Width-1:0]          victim_floor_q, kernel_after, victim_sum_q, victim_after;
  smk_pkg::total_share_vec_t now_q, after_d, after_q;
  assign kernel_after = ($signed(kernel_sum_q) > $signed(kernel_floor_q)) ? kernel_sum_q
                                                                          : kernel_floor_q;
  assign victim_after = ($signed(victim_sum_q) > $signed(victim_floor_q)) ? victim_sum_q
                                                                          : victim_floor_q;
  always_comb begin
    after_d = decided_i;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (kernel_q[k])      after_d.kernel[k] = kernel_after;
      else if (victim_q[k]) after_d.kernel[k] = victim_after;
    end
  end
  always_ff @(posedge clk_i) begin
    kernel_q          <= kernel_i;
    victim_q          <= victim_i;
    kernel_tb_share_q <= kernel_tb_share;
    kernel_share_q    <= kernel_share;
    kernel_base_q     <= kernel_floor;
    victim_base_q     <= victim_floor;
    victim_tb_share_q <= victim_tb_share;
    product_q         <= Width'(victim_tbs_i) * Width'(victim_tb_share_q);
    kernel_sum_q      <= kernel_share_q + Width'(kernel_tb_share_q);
    kernel_floor_q    <= kernel_starts_i ? kernel_base_q + whole : kernel_base_q;
    victim_share_q    <= victim_share;
    victim_floor_q    <= victim_stops_i ? victim_base_q - whole : victim_base_q;
    victim_sum_q      <= victim_share_q - product_q;
    now_q             <= decided_i;
    after_q           <= after_d;
  end

  // Lowest and highest, now and afterwards; complements for the highest.
  logic [3:0]                 unused_valid;
  logic [4*NumKernels-1:0]    unused_of;
  logic [4*NumKernels*Width-1:0] keys;
  logic [4*Width-1:0]         lowest_d, lowest_q;
  assign keys = {~after_q, after_q, ~now_q, now_q};
  for (genvar n = 0; n < 4; n++) begin : gen_lowest
    smk_min_group #(.N(NumKernels), .Width(Width)) u_lowest (
      .valid_i (active_i),
      .key_i   (keys[n*NumKernels*Width +: NumKernels*Width]),
      .valid_o (unused_valid[n]),
      .onehot_o(unused_of[n*NumKernels +: NumKernels]),
      .key_o   (lowest_d[n*Width +: Width])
    );
  end

  // A range is the highest less the lowest: what both together lack to all ones.
  logic [Width-1:0] range_now_q, range_after_q;
  logic             some_q, shrinks_q;
  always_ff @(posedge clk_i) begin
    lowest_q      <= lowest_d;
    range_now_q   <= ~lowest_q[Width +: Width] - lowest_q[0 +: Width];
    range_after_q <= ~lowest_q[3*Width +: Width] - lowest_q[2*Width +: Width];
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      some_q    <= 1'b0;
      shrinks_q <= 1'b0;
    end else begin
      some_q    <= active_i != '0;
      shrinks_q <= some_q && `SMK_CUT(RangeIsSmaller, range_after_q < range_now_q);
    end
  end
  assign shrinks_o = shrinks_q;

  // Both kernels are one each.
  `SMK_ASSERT(KernelIsOne_M, $onehot0(kernel_i))
  `SMK_ASSERT(VictimIsOne_M, $onehot0(victim_i))
  // Both answers occur in our tests.
  `SMK_COVER(Shrinks_C, shrinks_q)
  `SMK_COVER(DoesNotShrink_C, some_q && !shrinks_q)
endmodule
