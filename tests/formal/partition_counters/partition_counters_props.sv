// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_partition_counters, from its ports alone. Two copies take the same commands and are
// asked about two TBs at once; what they say counts when they had the time to read it. That a plan's ranges are apart and inside the SM is assumed here: it
// is what partition_planner is proved to send.
`include "formal.svh"
`include "formal_ranges.svh"

module formal_partition_counters (
  input logic                      clk_i,
  input logic                      command_valid_i,
  input smk_pkg::kernel_id_t       command_kernel_i,
  input smk_pkg::partition_range_t command_range_i,
  input logic                      command_first_i,
  input logic                      command_last_i,
  input smk_pkg::kernel_slots_t    kernel_slots_i,
  // Two TBs, constant: kernel and slot; warps of a TB of each kernel, constant.
  input logic                      read_i,
  input smk_pkg::kernel_id_t       one_kernel_i,
  input smk_pkg::tb_slot_t         one_slot_i,
  input smk_pkg::kernel_id_t       two_kernel_i,
  input smk_pkg::tb_slot_t         two_slot_i,
  input smk_pkg::thread_cnt_vec_t  warps_i
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;

  `FORMAL_RESET
  smk_pkg::kernel_id_t     kernel_q, two_kernel_q;
  smk_pkg::tb_slot_t       slot_q, two_slot_q;
  smk_pkg::thread_cnt_vec_t warps_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      kernel_q     <= one_kernel_i;
      slot_q       <= one_slot_i;
      warps_q      <= warps_i;
      two_kernel_q <= two_kernel_i;
      two_slot_q   <= two_slot_i;
    end
  end

  logic                      judging, unused_judging;
  smk_pkg::slot_mask_t       misaligned, unused_misaligned, one_slots, two_slots;
  smk_pkg::warp_mask_t       one_warps, two_warps;
  smk_pkg::partition_range_t one_range, two_range;
  smk_partition_counters u_dut (
    .clk_i, .rst_ni, .command_valid_i, .command_kernel_i, .command_range_i, .command_first_i,
    .command_last_i, .kernel_slots_i,
    .judging_o    (judging),
    .misaligned_o (misaligned),
    .read_i,
    .read_kernel_i(kernel_q),
    .read_slot_i  (slot_q),
    .read_warps_i (warps_q.kernel[kernel_q]),
    .slots_o      (one_slots),
    .warps_o      (one_warps),
    .range_o      (one_range)
  );
  smk_partition_counters u_copy (
    .clk_i, .rst_ni, .command_valid_i, .command_kernel_i, .command_range_i, .command_first_i,
    .command_last_i, .kernel_slots_i,
    .judging_o    (unused_judging),
    .misaligned_o (unused_misaligned),
    .read_i,
    .read_kernel_i(two_kernel_q),
    .read_slot_i  (two_slot_q),
    .read_warps_i (warps_q.kernel[two_kernel_q]),
    .slots_o      (two_slots),
    .warps_o      (two_warps),
    .range_o      (two_range)
  );

  // The plan that arrives, and whether one is in force.
  logic [NumKernels-1:0] valid_d, valid_q, planned_q;
  smk_pkg::range_vec_t   plan_d, plan_q, force_q;
  logic                  in_force_q;
  always_comb begin
    plan_d  = plan_q;
    valid_d = command_first_i ? '0 : valid_q;
    plan_d.kernel[command_kernel_i] = command_range_i;
    valid_d[command_kernel_i]       = 1'b1;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q    <= '0;
      in_force_q <= 1'b0;
    end else if (command_valid_i) begin
      valid_q <= valid_d;
      plan_q  <= plan_d;
      if (command_last_i) begin
        in_force_q <= 1'b1;
        planned_q  <= valid_d;
        force_q    <= plan_d;
      end
    end
  end

  // Ranges inside the SM, as many warps as its TBs have, and apart from those of the others.
  logic [NumKernels-1:0] good;
  logic                  plan_apart, ranges_apart, range_good;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_good
    logic fits;
    formal_range_fits u_fits (
      .range_i(plan_d.kernel[k]), .warps_i(warps_q.kernel[k]), .fits_o(fits)
    );
    assign good[k] = !valid_d[k] || fits;
  end
  formal_ranges_apart u_plan_apart (
    .a_i(plan_d.kernel[0]), .b_i(plan_d.kernel[1]), .apart_o(plan_apart)
  );
  formal_ranges_apart u_ranges_apart (.a_i(one_range), .b_i(two_range), .apart_o(ranges_apart));
  formal_range_fits u_range_good (
    .range_i(one_range), .warps_i(warps_q.kernel[kernel_q]), .fits_o(range_good)
  );
  logic plan_commits;
  assign plan_commits = command_valid_i && command_last_i;
  `ASSUME(RangesInsideSm_M, !plan_commits || good == '1)
  `ASSUME(RangesApart_M, !plan_commits || valid_d != '1 || plan_apart)
  `ASSUME(TbsHaveWarps_M, warps_q.kernel[0] != '0 && warps_q.kernel[1] != '0)
  `ASSUME(OneKernelPerSlot_M, (kernel_slots_i.kernel[0] & kernel_slots_i.kernel[1]) == '0)

  `ASSUME(QuietWhileJudging_M, !judging || (!read_i && !command_valid_i))
  `ASSUME(ReadOrCommand_M, !read_i || !command_valid_i)

  // What was read under the plan in force: the slots after one cycle, the warps after three.
  logic [1:0] reads_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || judging || plan_commits) reads_q <= '0;
    else if (read_i && reads_q != '1)       reads_q <= reads_q + 1'b1;
  end

  // The ranges in force are those of the last complete plan.
  logic one_planned, two_planned;
  assign one_planned = in_force_q && !judging && planned_q[kernel_q];
  assign two_planned = in_force_q && !judging && planned_q[two_kernel_q];
  `PROVE(RangeIsThePlan_A, !one_planned || one_range == force_q.kernel[kernel_q])
  // Partitions of different kernels have no register and no shared memory in common.
  `PROVE(MemoriesApart_A, !one_planned || !two_planned || kernel_q == two_kernel_q ||
         ranges_apart)
  // A partition ends inside the SM.
  `PROVE(RangeInsideSm_A, !one_planned || range_good)
  // No TB slot is open to two kernels, and none to a kernel outside the plan.
  `PROVE(SlotsApart_A, !in_force_q || reads_q == '0 || kernel_q == two_kernel_q || (one_slots & two_slots) == '0)
  // No warp slot is open to two TBs.
  logic same_tb, one_open, two_open;
  assign same_tb  = kernel_q == two_kernel_q && slot_q == two_slot_q;
  assign one_open = in_force_q && reads_q == '1 && one_slots[slot_q];
  assign two_open = in_force_q && reads_q == '1 && two_slots[two_slot_q];
  `PROVE(WarpsApart_A, !one_open || !two_open || same_tb || (one_warps & two_warps) == '0)
  // A TB has as many warp slots as warps: none lies outside the SM.
  `PROVE(WarpsInsideSm_A, !one_open || $countones(one_warps) == 32'(warps_q.kernel[kernel_q]))

  // A TB that is not called out of place stays where it was: same slot open, same warp slots.
  logic                stays_q, known_q;
  smk_pkg::warp_mask_t warps_before_q;
  smk_pkg::slot_mask_t mine;
  assign mine = kernel_slots_i.kernel[kernel_q];
  always_ff @(posedge clk_i) begin
    if (plan_commits) begin
      known_q        <= one_open;
      warps_before_q <= one_warps;
    end
    if (!rst_ni)           stays_q <= 1'b0;
    else if (plan_commits) stays_q <= 1'b1;
    else if (judging)      stays_q <= stays_q && mine[slot_q] && !misaligned[slot_q];
  end
  `PROVE(StayerIsInPlace_A, !stays_q || judging || reads_q != '1 ||
         (one_open && (!known_q || one_warps == warps_before_q)))
  // TBs are judged in the six cycles after a plan is complete, and nobody is out of place but then.
  logic [2:0] left_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni)           left_q <= '0;
    else if (plan_commits) left_q <= 3'd6;
    else if (left_q != '0) left_q <= left_q - 1'b1;
  end
  `PROVE(VerdictWithPlan_A, judging == (left_q != '0) && (judging || misaligned == '0))

  (* keep *) logic idle;
  assign idle = rst_ni && !command_valid_i && !judging && !read_i;
endmodule
