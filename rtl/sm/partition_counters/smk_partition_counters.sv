// SPDX-License-Identifier: Apache-2.0
// smk_partition_counters: where each kernel's TBs live on one SM.
//
// Purpose     Holds the ranges of registers, shared memory, threads and TB slots of each kernel. A
//             TB's place follows from its slot, so TBs in a partition are aligned. When ranges
//             change, says which resident TBs are out of place.
// Paper       [SMK] Sec. 5.3.2, 6.7 (seven counters per kernel and SM).
// Interface   command_*: one pulse per kernel (S5), from first to last. read_*: one TB at a time
//             and not while judging_o; slots_o, warps_o: registers.
// Latency     Ranges are in force 2 cycles after the last command; misaligned_o tells the TBs of
//             one kernel after the other, from the 3rd cycle on. slots_o 1 cycle after the kernel,
//             warps_o 3 after the slot.
// Throughput  One command per cycle; one plan per kernels (at least four) + 3 cycles.
// Reset       No partitions: every kernel may use the whole SM.
// Model       model/control/partition_counters.h   Doc  docs/blocks/partition_counters.md
// Does not move a TB: see smk_preempt_engine.
`include "smk_assert.svh"

module smk_partition_counters (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  // A partition command is taken.
  input  logic                      command_valid_i,
  input  smk_pkg::kernel_id_t       command_kernel_i,
  input  smk_pkg::partition_range_t command_range_i,
  input  logic                      command_first_i,
  input  logic                      command_last_i,
  // Resident TBs of each kernel.
  input  smk_pkg::kernel_slots_t    kernel_slots_i,
  // Resident TBs are looked at, and these are out of place under the new plan (pulses).
  output logic                      judging_o,
  output smk_pkg::slot_mask_t       misaligned_o,
  // TB slots in which a TB of this kernel may be placed; warp slots of the one in this slot, which
  // has so many warps; ranges of the kernel.
  input  logic                      read_i,
  input  smk_pkg::kernel_id_t       read_kernel_i,
  input  smk_pkg::tb_slot_t         read_slot_i,
  input  smk_pkg::thread_cnt_t      read_warps_i,
  output smk_pkg::slot_mask_t       slots_o,
  output smk_pkg::warp_mask_t       warps_o,
  output smk_pkg::partition_range_t range_o
);
  `SMK_CHECK_CONFIG

  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  localparam int unsigned NumWarps   = smk_pkg::NumWarps;
  localparam int unsigned BasesWidth = smk_pkg::BasesWidth;
  localparam int unsigned TbCntWidth = smk_pkg::TbCntWidth;
  // Cycles in which kernels are looked up: as long with fewer than four.
  localparam int unsigned Looks = NumKernels < 4 ? 4 : NumKernels;

  logic                  partitioned_q;
  smk_pkg::kernel_mask_t valid_q, next_valid_d, next_valid_q;
  // The plan in force, and the one being received.
  smk_pkg::range_vec_t range_q, next_range_d, next_range_q;
  // The plan is complete; kernels that keep their place under it; the kernel whose slots are looked
  // up, and the one whose TBs are judged.
  logic                  complete_q;
  smk_pkg::kernel_mask_t same_d, same_q;
  logic [Looks-1:0]      look_q, judge_q;
  // Read in steps: the slots; the TB's number in its partition, its first warp slot, its warp slots.
  smk_pkg::slot_mask_t   slots_d, slots_q;
  logic [6:0]            index_d, index_q, first_d, first_q;
  smk_pkg::warp_mask_t   warps_d, warps_q;

  // TB slots [base, base + count).
  function automatic smk_pkg::slot_mask_t slots_of(input smk_pkg::tb_cnt_t base,
                                                   input smk_pkg::tb_cnt_t count);
    slots_of = smk_pkg::NumSlots'(smk_pkg::bits_between(7'(base), 7'(base) + 7'(count)));
  endfunction

  // The plan with this cycle's command.
  always_comb begin
    next_valid_d = command_first_i ? '0 : next_valid_q;
    next_range_d = next_range_q;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (command_kernel_i == smk_pkg::KernelWidth'(k)) begin
        next_valid_d[k]        = 1'b1;
        next_range_d.kernel[k] = `SMK_CUT(CommandRange, command_range_i);
      end
    end
  end

  // A kernel's place stays when it begins where it began, or ends with the SM as before; a TB stays
  // when its slot is inside, too.
  localparam logic [BasesWidth-TbCntWidth-1:0] Ends = {
      smk_pkg::RegisterCntWidth'(smk_pkg::LimitRegisters),
      smk_pkg::SharedCntWidth'(smk_pkg::LimitSharedMemory),
      smk_pkg::ThreadCntWidth'(smk_pkg::LimitThreads)};
  for (genvar k = 0; k < NumKernels; k++) begin : gen_same
    logic [BasesWidth-1:0] bases, next_bases, limits, next_limits;
    logic                  at_end, next_at_end;
    assign {bases, limits}           = range_q.kernel[k];
    assign {next_bases, next_limits} = next_range_q.kernel[k];
    // The last field of a base is a TB slot, that of a limit is a number of TBs.
    assign at_end      = limits[BasesWidth-1:TbCntWidth] == Ends &&
                         32'(bases[TbCntWidth-1:0]) + 32'(limits[TbCntWidth-1:0]) ==
                         smk_pkg::LimitTbs;
    assign next_at_end = next_limits[BasesWidth-1:TbCntWidth] == Ends &&
                         32'(next_bases[TbCntWidth-1:0]) + 32'(next_limits[TbCntWidth-1:0]) ==
                         smk_pkg::LimitTbs;
    assign same_d[k] = partitioned_q && valid_q[k] && next_valid_q[k] &&
                       (`SMK_CUT(SameBases, next_bases == bases) || (at_end && next_at_end));
  end
  always_comb begin
    misaligned_o = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (judge_q[k]) begin
        misaligned_o = misaligned_o |
                       (kernel_slots_i.kernel[k] & `SMK_CUT(OutOfPlace, ~(same_q[k] ? slots_q : '0)));
      end
    end
  end
  assign judging_o = complete_q || look_q != '0 || judge_q != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      partitioned_q <= 1'b0;
      valid_q       <= '0;
      next_valid_q  <= '0;
      range_q       <= '0;
      next_range_q  <= '0;
      complete_q    <= 1'b0;
      same_q        <= '0;
      look_q        <= '0;
      judge_q       <= '0;
    end else begin
      complete_q <= command_valid_i && command_last_i;
      look_q     <= complete_q ? Looks'(1) : look_q << 1;
      judge_q    <= look_q;
      if (`SMK_CUT(CommandValid, command_valid_i)) begin
        next_valid_q <= next_valid_d;
        next_range_q <= next_range_d;
      end
      if (complete_q) begin
        partitioned_q <= 1'b1;
        valid_q       <= next_valid_q;
        range_q       <= next_range_q;
        same_q        <= same_d;
      end
    end
  end

  // The kernel that is looked up, one-hot, and its TB slots: the last counter of each half.
  smk_pkg::kernel_mask_t    of, valid_of;
  logic [2*BasesWidth-1:0]  looked;
  smk_pkg::partition_range_t at;
  always_comb begin
    looked = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      of[k] = look_q[k] || (look_q == '0 && read_kernel_i == smk_pkg::KernelWidth'(k));
      looked = looked | (range_q.kernel[k] & {2*BasesWidth{of[k]}});
    end
  end
  assign valid_of = valid_q & of;
  assign at       = looked;
  always_comb begin
    slots_d = '1;
    if (partitioned_q) slots_d = valid_of != '0 ? slots_of(at.tb_base, at.tb_count) : '0;
  end

  // The aligned part of one TB.
  assign index_d = 7'(read_slot_i) - `SMK_CUT(TbBase, 7'(at.tb_base));
  assign first_d = 7'(at.threads_base) + index_q * 7'(read_warps_i);
  always_comb begin
    warps_d = '1;
    if (partitioned_q) begin
      warps_d = '0;
      if (valid_of != '0) begin
        warps_d = NumWarps'(smk_pkg::bits_between(first_q, first_q + 7'(read_warps_i)));
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      slots_q <= '0;
      index_q <= '0;
      first_q <= '0;
      warps_q <= '0;
    end else begin
      if (read_i || look_q != '0) slots_q <= slots_d;
      if (read_i) begin
        index_q <= index_d;
        first_q <= first_d;
        warps_q <= warps_d;
      end
    end
  end

  assign slots_o = slots_q;
  assign warps_o = warps_q;
  assign range_o = at;

  // Conservation: a TB that is judged either lies in the new range, where it was, or is out of
  // place.
  for (genvar k = 0; k < NumKernels; k++) begin : gen_conserved
    logic [BasesWidth-TbCntWidth-1:0] unused_bases, unused_limits;
    smk_pkg::tb_cnt_t                 base, tbs;
    assign {unused_bases, base, unused_limits, tbs} = range_q.kernel[k];
    `SMK_ASSERT(TbsConserved_A, judge_q[k] |->
                (kernel_slots_i.kernel[k] & ~misaligned_o &
                 ~(same_q[k] ? slots_of(base, tbs) : '0)) == '0)
  end
  // Nothing is out of place before a plan is complete.
  `SMK_ASSERT(NoEarlyVerdict_A, judge_q == '0 |-> misaligned_o == '0)
  // One kernel is judged at a time, and meanwhile no TB comes and no new plan.
  `SMK_ASSERT(JudgedOneByOne_A, $onehot0(look_q) && $onehot0(judge_q))
  `SMK_ASSERT(QuietWhileJudging_M, judging_o |-> !read_i && !command_valid_i)
  // Once partitioned, always partitioned.
  `SMK_ASSERT(StaysPartitioned_A, partitioned_q |=> partitioned_q)
  // Ranges end behind their beginning and inside the SM.
  `SMK_ASSERT(RangeInsideSm_M, command_valid_i |->
              command_range_i.threads_base <= command_range_i.threads_limit &&
              32'(command_range_i.threads_limit) <= smk_pkg::LimitThreads &&
              32'(command_range_i.tb_base) + 32'(command_range_i.tb_count) <= smk_pkg::LimitTbs)
  // A plan that moves a resident TB really occurs in our tests.
  `SMK_COVER(Misaligned_C, misaligned_o != '0)
endmodule
