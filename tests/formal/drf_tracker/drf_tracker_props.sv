// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_drf_tracker, from its ports alone, for any pulses and events: the kernel that it names
// is the lowest or the highest by rK of the cycle before.
`include "formal.svh"

module formal_drf_tracker (
  input logic                      clk_i,
  input smk_pkg::kernel_mask_t     kernel_done_i,
  input smk_pkg::dispatch_pulses_t pulses_i,
  input smk_pkg::tb_arrival_t      arrival_i,
  input smk_pkg::sm_events_t       events_i,
  input smk_pkg::sm_mask_t         shortfall_mask_i,
  input smk_pkg::sm_kernel_id_t    shortfall_kernel_i,
  input smk_pkg::need_vec_t        need_i,
  input smk_pkg::share_vec_t       tb_share_i,
  input smk_pkg::kernel_mask_t     active_i,
  input logic                      count_running_sms_i,
  input smk_pkg::kernel_sms_t      pick_sms_i,
  input smk_pkg::kernel_mask_t     pick_kernels_i,
  input smk_pkg::kernel_sms_t      look_sm_i,
  input smk_pkg::kernel_id_t       victim_exclude_i,
  input smk_pkg::sm_mask_t         victim_sms_i,
  input smk_pkg::sm_mask_t         victim_look_i,
  input smk_pkg::kernel_mask_t     victim_kernels_i,
  input smk_pkg::kernel_mask_t     range_kernel_i,
  input logic                      range_starts_i,
  input smk_pkg::kernel_mask_t     range_victim_i,
  input smk_pkg::tb_cnt_t          range_victim_tbs_i,
  input logic                      range_stops_i
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;

  `FORMAL_RESET
  smk_pkg::kernel_sms_t      pick_sm;
  smk_pkg::kernel_mask_t     pick_kernel, victim_kernel;
  smk_pkg::resource_vector_t look_taken;
  smk_pkg::tb_cnt_t          look_resident;
  smk_pkg::sm_mask_t         victim_sm;
  smk_pkg::tb_need_t         victim_taken;
  smk_pkg::tb_cnt_vec_t      victim_resident;
  smk_pkg::total_share_vec_t share, share_q;
  smk_pkg::sm_kernels_t      resident;
  logic                      range_shrinks, busy;
  smk_drf_tracker u_dut (
    .clk_i, .rst_ni, .kernel_done_i, .pulses_i, .arrival_i, .events_i, .shortfall_mask_i,
    .shortfall_kernel_i, .need_i, .tb_share_i, .active_i, .count_running_sms_i, .pick_sms_i,
    .pick_kernels_i, .look_sm_i, .victim_exclude_i, .victim_sms_i, .victim_look_i,
    .victim_kernels_i, .range_kernel_i, .range_starts_i, .range_victim_i, .range_victim_tbs_i,
    .range_stops_i,
    .pick_sm_o        (pick_sm),
    .pick_kernel_o    (pick_kernel),
    .look_taken_o     (look_taken),
    .look_resident_o  (look_resident),
    .victim_sm_o      (victim_sm),
    .victim_taken_o   (victim_taken),
    .victim_resident_o(victim_resident),
    .victim_kernel_o  (victim_kernel),
    .range_shrinks_o  (range_shrinks),
    .share_o          (share),
    .resident_o       (resident),
    .busy_o           (busy)
  );

  // The lowest and the highest of the kernels asked for; the first of equal ones.
  logic                  known_q;
  smk_pkg::kernel_mask_t lowest, highest;
  always_ff @(posedge clk_i) begin
    share_q <= share;
    known_q <= rst_ni;
  end
  always_comb begin
    lowest  = pick_kernels_i;
    highest = victim_kernels_i;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      for (int unsigned j = 0; j < NumKernels; j++) begin
        if (pick_kernels_i[j] && j != k &&
            ($signed(share_q.kernel[j]) < $signed(share_q.kernel[k]) ||
             (share_q.kernel[j] == share_q.kernel[k] && j < k))) lowest[k] = 1'b0;
        if (victim_kernels_i[j] && j != k &&
            ($signed(share_q.kernel[j]) > $signed(share_q.kernel[k]) ||
             (share_q.kernel[j] == share_q.kernel[k] && j < k))) highest[k] = 1'b0;
      end
    end
  end
  `PROVE(PicksTheLowest_A, !known_q || pick_kernel == lowest)
  `PROVE(VictimIsTheHighest_A, !known_q || victim_kernel == highest)
  // It is one of those asked for, if there is any.
  `PROVE(PicksOne_A, !known_q || ((pick_kernel & ~pick_kernels_i) == '0 &&
         (pick_kernel & (pick_kernel - 1'b1)) == '0 &&
         (pick_kernel == '0) == (pick_kernels_i == '0)))
endmodule
