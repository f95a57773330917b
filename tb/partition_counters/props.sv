// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_partition_counters, from its ports alone. It takes any commands and is asked about
// one TB; what it says counts when it had the time to read it, and is compared with the plan. The
// places of a second TB are those that the plan says: it may be any TB, so also the first. That a
// plan's ranges are apart and inside the SM is assumed: it is what partition_planner is proved to
// send.
`include "formal.svh"
`include "formal_ranges.svh"

// Where the TBs of a planned kernel live: TB slots, and of the one in this slot warp slots and where
// its registers and shared memory begin.
module formal_place (
  input  logic                      planned_i,
  input  smk_pkg::partition_range_t range_i,
  input  smk_pkg::tb_slot_t         slot_i,
  input  smk_pkg::tb_need_t         need_i,
  output smk_pkg::slot_mask_t       slots_o,
  output smk_pkg::warp_mask_t       warps_o,
  output smk_pkg::tb_base_t         base_o
);
  // Its number in the partition, and its first warp slot.
  logic [6:0]            index, first;
  smk_pkg::thread_cnt_t  warps;
  assign warps = need_i.threads;
  assign index = 7'(slot_i) - 7'(range_i.tb_base);
  assign first = 7'(range_i.threads_base) + index * 7'(warps);
  assign base_o.registers     = range_i.registers_base +
                                smk_pkg::RegisterCntWidth'(index) * need_i.registers;
  assign base_o.shared_memory = range_i.shared_memory_base +
                                smk_pkg::SharedCntWidth'(index) * need_i.shared_memory;
  always_comb begin
    for (int unsigned s = 0; s < smk_pkg::NumSlots; s++) begin
      slots_o[s] = planned_i && s >= 32'(range_i.tb_base) &&
                   s < 32'(range_i.tb_base) + 32'(range_i.tb_count);
    end
    for (int unsigned w = 0; w < smk_pkg::NumWarps; w++) begin
      warps_o[w] = planned_i && 7'(w) >= first && 7'(w) < first + 7'(warps);
    end
  end
endmodule

// What the block keeps of a part: where it begins, its TBs, and whether it ends where the SM ends.
module formal_part_is (
  input  smk_pkg::partition_range_t       range_i,
  input  logic [smk_pkg::BasesWidth-1:0]  bases_i,
  input  smk_pkg::tb_cnt_t                tbs_i,
  input  logic                            at_end_i,
  output logic                            right_o
);
  logic at_end;
  assign at_end  = 32'(range_i.registers_limit) == smk_pkg::LimitRegisters &&
                   32'(range_i.shared_memory_limit) == smk_pkg::LimitSharedMemory &&
                   32'(range_i.threads_limit) == smk_pkg::LimitThreads &&
                   32'(range_i.tb_base) + 32'(range_i.tb_count) == smk_pkg::LimitTbs;
  assign right_o = bases_i == {range_i.registers_base, range_i.shared_memory_base,
                               range_i.threads_base, range_i.tb_base} &&
                   tbs_i == range_i.tb_count && at_end_i == at_end;
endmodule

module formal_partition_counters (
  input logic                      clk_i,
  input logic                      command_valid_i,
  input smk_pkg::kernel_id_t       command_kernel_i,
  input smk_pkg::partition_range_t command_range_i,
  input logic                      command_first_i,
  input logic                      command_last_i,
  input smk_pkg::kernel_slots_t    kernel_slots_i,
  // Two TBs, constant: kernel and slot; what a TB of each kernel needs, constant.
  input logic                      read_i,
  input smk_pkg::kernel_id_t       one_kernel_i,
  input smk_pkg::tb_slot_t         one_slot_i,
  input smk_pkg::kernel_id_t       two_kernel_i,
  input smk_pkg::tb_slot_t         two_slot_i,
  input smk_pkg::need_vec_t        needs_i
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;

  `FORMAL_RESET
  smk_pkg::kernel_id_t     kernel_q, two_kernel_q;
  smk_pkg::tb_slot_t       slot_q, two_slot_q;
  smk_pkg::need_vec_t      needs_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      kernel_q     <= one_kernel_i;
      slot_q       <= one_slot_i;
      needs_q      <= needs_i;
      two_kernel_q <= two_kernel_i;
      two_slot_q   <= two_slot_i;
    end
  end

  // Neither command nor read while TBs are judged, and not both at once.
  logic                      judging, command, read;
  assign command = command_valid_i && !judging;
  assign read    = read_i && !command_valid_i && !judging;
  smk_pkg::slot_mask_t       misaligned, slots;
  smk_pkg::warp_mask_t       warps;
  smk_pkg::tb_base_t         base;
  smk_pkg::tb_need_t         need, two_need;
  assign need     = needs_q.kernel[kernel_q];
  assign two_need = needs_q.kernel[two_kernel_q];
  smk_partition_counters u_dut (
    .clk_i, .rst_ni, .command_kernel_i, .command_range_i, .command_first_i,
    .command_last_i, .kernel_slots_i,
    .command_valid_i(command),
    .judging_o    (judging),
    .misaligned_o (misaligned),
    .read_i       (read),
    .read_kernel_i(kernel_q),
    .read_slot_i  (slot_q),
    .read_need_i  (need),
    .slots_o      (slots),
    .warps_o      (warps),
    .base_o       (base)
  );
  // The plan that arrives, and the one in force, from the cycle after it is complete.
  logic [NumKernels-1:0] valid_q, planned_q;
  smk_pkg::range_vec_t   plan_q, force_q;
  logic                  plan_commits, committed_q, in_force_q;
  assign plan_commits = command && command_last_i;
  always_ff @(posedge clk_i) begin
    committed_q <= rst_ni && plan_commits;
    if (!rst_ni) begin
      valid_q    <= '0;
      planned_q  <= '0;
      plan_q     <= '0;
      force_q    <= '0;
      in_force_q <= 1'b0;
    end else begin
      if (command) begin
        if (command_first_i) valid_q <= '0;
        valid_q[command_kernel_i]       <= 1'b1;
        plan_q.kernel[command_kernel_i] <= command_range_i;
      end
      if (committed_q) begin
        in_force_q <= 1'b1;
        planned_q  <= valid_q;
        force_q    <= plan_q;
      end
    end
  end

  // Ranges inside the SM, as large as their TBs, and apart from those of the others.
  logic [NumKernels-1:0] good, have_warps;
  logic                  plan_apart;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_good
    logic fits;
    formal_range_fits u_fits (
      .range_i(force_q.kernel[k]), .need_i(needs_q.kernel[k]), .fits_o(fits)
    );
    // Threads are the last field of tb_need_t.
    assign have_warps[k] = smk_pkg::ThreadCntWidth'(needs_q.kernel[k]) != '0;
    assign good[k]       = !planned_q[k] || fits;
  end
  formal_ranges_apart u_plan_apart (
    .a_i(force_q.kernel[0]), .b_i(force_q.kernel[1]), .apart_o(plan_apart)
  );
  `ASSUME(RangesInsideSm_M, good == '1)
  `ASSUME(RangesApart_M, planned_q != '1 || plan_apart)
  `ASSUME(TbsHaveWarps_M, have_warps == '1)
  `ASSUME(OneKernelPerSlot_M, (kernel_slots_i.kernel[0] & kernel_slots_i.kernel[1]) == '0)


  smk_pkg::slot_mask_t one_slots, two_slots;
  smk_pkg::warp_mask_t one_warps, two_warps;
  smk_pkg::tb_base_t   one_base, two_base;
  // What was read under the plan in force: slots after one cycle, base after two, warps after three.
  logic [1:0] reads_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !read || plan_commits) reads_q <= '0;
    else if (reads_q != '1)               reads_q <= reads_q + 1'b1;
  end

  // What the plan says: slots of the TB's kernel, warp slots and base of the TB; of two TBs.
  formal_place u_one (
    .planned_i(planned_q[kernel_q]), .range_i(force_q.kernel[kernel_q]), .slot_i(slot_q),
    .need_i(need), .slots_o(one_slots), .warps_o(one_warps), .base_o(one_base)
  );
  formal_place u_two (
    .planned_i(planned_q[two_kernel_q]), .range_i(force_q.kernel[two_kernel_q]),
    .slot_i(two_slot_q), .need_i(two_need), .slots_o(two_slots), .warps_o(two_warps),
    .base_o(two_base)
  );

  // The TB slots of a kernel, and the base and the warp slots of a TB in one of them, are those of
  // the last complete plan.
  logic known, begins, open;
  assign known  = in_force_q && reads_q != '0;
  assign begins = in_force_q && reads_q >= 2'd2 && slots[slot_q];
  assign open   = in_force_q && reads_q == '1 && slots[slot_q];
  `PROVE(SlotsAreThePlan_A, !known || slots == one_slots)
  `PROVE(BaseIsThePlan_A, !begins || base == one_base)
  `PROVE(WarpsAreThePlan_A, !open || warps == one_warps)
  // No register and no shared memory belongs to two TBs.
  logic two_kernels, two_tbs, registers_apart, shared_memory_apart;
  assign two_kernels     = kernel_q != two_kernel_q;
  assign two_tbs         = two_kernels || slot_q != two_slot_q;
  assign registers_apart =
      11'(base.registers) + 11'(need.registers) <= 11'(two_base.registers) ||
      11'(two_base.registers) + 11'(two_need.registers) <= 11'(base.registers);
  assign shared_memory_apart =
      11'(base.shared_memory) + 11'(need.shared_memory) <= 11'(two_base.shared_memory) ||
      11'(two_base.shared_memory) + 11'(two_need.shared_memory) <= 11'(base.shared_memory);
  `PROVE(MemoriesApart_A, !begins || !two_slots[two_slot_q] || !two_tbs ||
         (registers_apart && shared_memory_apart))
  // They lie inside the SM, and inside the partition of the TB's kernel.
  smk_pkg::partition_range_t range;
  assign range = force_q.kernel[kernel_q];
  `PROVE(MemoryInsidePartition_A, !begins ||
         (base.registers >= range.registers_base &&
          11'(base.registers) + 11'(need.registers) <= 11'(range.registers_limit) &&
          32'(range.registers_limit) <= smk_pkg::LimitRegisters &&
          base.shared_memory >= range.shared_memory_base &&
          11'(base.shared_memory) + 11'(need.shared_memory) <= 11'(range.shared_memory_limit) &&
          32'(range.shared_memory_limit) <= smk_pkg::LimitSharedMemory))
  // No TB slot is open to two kernels, and none to a kernel outside the plan.
  `PROVE(SlotsApart_A, !known || !two_kernels || (slots & two_slots) == '0)
  // No warp slot is open to two TBs.
  `PROVE(WarpsApart_A, !open || !two_slots[two_slot_q] || !two_tbs || (warps & two_warps) == '0)
  // A TB has as many warp slots as warps: none lies outside the SM.
  `PROVE(WarpsInsideSm_A, !open || $countones(warps) == 32'(need.threads))

  // A TB that is not called out of place stays where it was: same slot open, same warp slots, same
  // registers and shared memory.
  logic                placed, stays_q, known_q;
  assign placed = in_force_q && one_slots[slot_q];
  smk_pkg::warp_mask_t warps_before_q;
  smk_pkg::tb_base_t   base_before_q;
  smk_pkg::slot_mask_t mine;
  assign mine = kernel_slots_i.kernel[kernel_q];
  always_ff @(posedge clk_i) begin
    if (plan_commits) begin
      known_q        <= placed;
      warps_before_q <= one_warps;
      base_before_q  <= one_base;
    end
    if (!rst_ni)           stays_q <= 1'b0;
    else if (plan_commits) stays_q <= 1'b1;
    else if (judging)      stays_q <= stays_q && mine[slot_q] && !misaligned[slot_q];
  end
  // So the plan says, until the next one.
  `PROVE(StayerHasItsPlace_A, !stays_q || judging ||
         (placed && (!known_q || (one_warps == warps_before_q && one_base == base_before_q))))
  `PROVE(StayerIsInPlace_A, !stays_q || judging || reads_q != '1 ||
         (open && (!known_q || (warps == warps_before_q && base == base_before_q))))
  // For induction: the block has the last plan, and of each part whether it ends where the SM ends.
  localparam int unsigned BasesWidth = smk_pkg::BasesWidth;
  localparam int unsigned TbCntWidth = smk_pkg::TbCntWidth;
  `WATCH([0:0], dut_partitioned, u_dut.partitioned_q)
  `WATCH([0:0], dut_complete, u_dut.complete_q)
  `WATCH([NumKernels-1:0], dut_valid, u_dut.valid_q)
  `WATCH([NumKernels-1:0], dut_next_valid, u_dut.next_valid_q)
  `WATCH([NumKernels*BasesWidth-1:0], dut_bases, u_dut.bases_q)
  `WATCH([NumKernels*BasesWidth-1:0], dut_next_bases, u_dut.next_bases_q)
  `WATCH([NumKernels*TbCntWidth-1:0], dut_tbs, u_dut.tbs_q)
  `WATCH([NumKernels*TbCntWidth-1:0], dut_next_tbs, u_dut.next_tbs_q)
  `WATCH([NumKernels-1:0], dut_at_end, u_dut.at_end_q)
  `WATCH([NumKernels-1:0], dut_next_at_end, u_dut.next_at_end_q)
  logic [NumKernels-1:0] parts_right, next_parts_right;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_part
    formal_part_is u_in_force (
      .range_i(force_q.kernel[k]), .bases_i(dut_bases[k*BasesWidth +: BasesWidth]),
      .tbs_i(dut_tbs[k*TbCntWidth +: TbCntWidth]), .at_end_i(dut_at_end[k]),
      .right_o(parts_right[k])
    );
    formal_part_is u_received (
      .range_i(plan_q.kernel[k]), .bases_i(dut_next_bases[k*BasesWidth +: BasesWidth]),
      .tbs_i(dut_next_tbs[k*TbCntWidth +: TbCntWidth]), .at_end_i(dut_next_at_end[k]),
      .right_o(next_parts_right[k])
    );
  end
  `PROVE(PartsAreThePlan_A, parts_right == '1 && next_parts_right == '1 &&
         dut_valid == planned_q && dut_next_valid == valid_q &&
         dut_partitioned == in_force_q && dut_complete == committed_q)
  // TBs are judged in the six cycles after a plan is complete, and nobody is out of place but then.
  logic [2:0] left_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni)           left_q <= '0;
    else if (plan_commits) left_q <= 3'd6;
    else if (left_q != '0) left_q <= left_q - 1'b1;
  end
  `PROVE(VerdictWithPlan_A, judging == (left_q != '0) && (judging || misaligned == '0))

  (* keep *) logic idle;
  assign idle = rst_ni && !command && !judging && !read;
endmodule
