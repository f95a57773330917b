// SPDX-License-Identifier: Apache-2.0
// smk_drf_order: who comes first by dominant share; part of smk_drf_tracker.
//
// Purpose     Of the kernels asked for that with the lowest rK and that with the highest, and of the
//             SMs asked for each kernel that with the lowest rSM.
// Paper       [SMK] Sec. 5.3, Fig. 4.
// Interface   With an empty mask no bit of an answer is set. rK of a kernel is the larger of share_i
//             (signed) and floor_i.
// Latency     Answers 0 cycles after a question, 1 after shares, 2 after came_i.
// Throughput  One question of each kind per cycle.
// Reset       All shares are equal.
// Model       model/control/driver/drf_tracker.h   Doc  docs/blocks/drf_tracker.md
// Ties go to the lowest id, but of kernels that have nothing the first is the one behind the kernel
// that came last. Every two are compared as shares change, so that a question takes one row of gates.
`include "smk_assert.svh"

module smk_drf_order (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  smk_pkg::total_share_vec_t share_i,
  input  smk_pkg::total_share_vec_t floor_i,
  input  smk_pkg::sm_shares_t       sm_share_i,
  // A TB of the kernel has come.
  input  smk_pkg::kernel_mask_t     came_i,
  input  smk_pkg::kernel_mask_t     pick_kernels_i,
  output smk_pkg::kernel_mask_t     pick_kernel_o,
  input  smk_pkg::kernel_mask_t     victim_kernels_i,
  output smk_pkg::kernel_mask_t     victim_kernel_o,
  input  smk_pkg::kernel_sms_t      pick_sms_i,
  output smk_pkg::kernel_sms_t      pick_sm_o
);
  localparam int unsigned NumSms     = smk_pkg::NumSms;
  localparam int unsigned NumKernels = smk_pkg::NumKernels;

  // Who is above whom: bit [i*N + j], i above j. Of two SMs only the earlier one asks.
  logic [NumKernels*NumKernels-1:0] above_d, above_q;
  // Of two kernels the one with the higher id goes first: bit [i*N + j], i < j.
  logic [NumKernels*NumKernels-1:0] later_d, later_q;
  smk_pkg::kernel_mask_t            nothing, last_q;
  logic [NumSms*NumSms-1:0]         sm_above_d, sm_above_q;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_kernel
    // The larger of two is above the larger of two others.
    for (genvar j = 0; j < NumKernels; j++) begin : gen_order
      assign above_d[k*NumKernels + j] =
          ($signed(share_i.kernel[k]) > $signed(share_i.kernel[j]) ||
           $signed(floor_i.kernel[k]) > $signed(share_i.kernel[j])) &&
          ($signed(share_i.kernel[k]) > $signed(floor_i.kernel[j]) ||
           $signed(floor_i.kernel[k]) > $signed(floor_i.kernel[j])) && k != j;
    end
  end
  // Kernels that have nothing take turns.
  for (genvar k = 0; k < NumKernels; k++) begin : gen_turn
    assign nothing[k] = $signed(share_i.kernel[k]) <= 0 && floor_i.kernel[k] == '0;
    for (genvar j = 0; j < NumKernels; j++) begin : gen_two
      if (j > k) begin : gen_pair
        assign later_d[k*NumKernels + j] = above_d[k*NumKernels + j] ||
            (nothing[k] && nothing[j] && last_q[j-1:k] != '0);
      end else begin : gen_none
        assign later_d[k*NumKernels + j] = 1'b0;
      end
    end
  end
  always_comb begin
    sm_above_d = '0;
    for (int unsigned i = 0; i < NumSms; i++) begin
      for (int unsigned j = 0; j < NumSms; j++) begin
        if (i < j) sm_above_d[i*NumSms + j] = sm_share_i.sm[i] > sm_share_i.sm[j];
      end
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      above_q    <= '0;
      later_q    <= '0;
      last_q     <= '0;
      sm_above_q <= '0;
    end else begin
      above_q    <= above_d;
      later_q    <= later_d;
      sm_above_q <= sm_above_d;
      if (came_i != '0) last_q <= came_i;
    end
  end

  // Of the SMs of each kernel, the one that has no other of them ahead of it.
  smk_pkg::sm_mask_t            asked, ahead;
  logic [NumKernels*NumSms-1:0] lowest_sms;
  always_comb begin
    for (int unsigned i = 0; i < NumSms; i++) begin
      for (int unsigned j = 0; j < NumSms; j++) begin
        if (j < i)      ahead[j] = `SMK_CUT(SmNotBehind, !sm_above_q[j*NumSms + i]);
        else if (j > i) ahead[j] = sm_above_q[i*NumSms + j];
        else            ahead[j] = 1'b0;
      end
      for (int unsigned k = 0; k < NumKernels; k++) begin
        asked                    = pick_sms_i.kernel[k];
        lowest_sms[k*NumSms + i] = asked[i] && (asked & ahead) == '0;
      end
    end
  end

  for (genvar k = 0; k < NumKernels; k++) begin : gen_pick
    smk_pkg::sm_mask_t     sms, lowest;
    smk_pkg::kernel_mask_t ahead_lowest, ahead_highest;
    assign sms                 = pick_sms_i.kernel[k];
    assign lowest              = lowest_sms[k*NumSms +: NumSms];
    assign pick_sm_o.kernel[k] = lowest;
    for (genvar j = 0; j < NumKernels; j++) begin : gen_before
      if (j < k) begin : gen_earlier
        assign ahead_lowest[j]  = `SMK_CUT(KernelNotBehind, !later_q[j*NumKernels + k]);
        assign ahead_highest[j] = !above_q[k*NumKernels + j];
      end else begin : gen_later
        assign ahead_lowest[j]  = later_q[k*NumKernels + j];
        assign ahead_highest[j] = above_q[j*NumKernels + k];
      end
    end
    assign pick_kernel_o[k]   = pick_kernels_i[k] && (pick_kernels_i & ahead_lowest) == '0;
    assign victim_kernel_o[k] = victim_kernels_i[k] && (victim_kernels_i & ahead_highest) == '0;
    // An answer is one of the mask.
    `SMK_ASSERT(PicksSm_A, (lowest & ~sms) == '0 && $onehot0(lowest) &&
                (lowest == '0) == (sms == '0))
  end
  `SMK_ASSERT(PicksCandidate_A, (pick_kernel_o & ~pick_kernels_i) == '0 &&
              $onehot0(pick_kernel_o) && (pick_kernel_o == '0) == (pick_kernels_i == '0))
  `SMK_ASSERT(VictimIsOne_A, (victim_kernel_o & ~victim_kernels_i) == '0 &&
              $onehot0(victim_kernel_o) && (victim_kernel_o == '0) == (victim_kernels_i == '0))
  // Idle: shares that stay keep their order.
  `SMK_ASSERT(Idle_A, $stable({share_i, floor_i, sm_share_i, last_q})
              |=> $stable({above_q, later_q, sm_above_q}))
  // One kernel came last.
  `SMK_ASSERT(OneCame_A, $onehot0(came_i))
  // Kernels really take turns in our tests.
  `SMK_COVER(TakesTurn_C, (later_q & ~above_q) != '0 && pick_kernels_i != '0)
endmodule
