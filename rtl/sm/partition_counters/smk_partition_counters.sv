// SPDX-License-Identifier: Apache-2.0
// smk_partition_counters: where each kernel's TBs live on one SM.
//
// Purpose     Holds where the registers, shared memory, threads and TB slots of each kernel begin.
//             A TB's place follows from its slot, so TBs in a partition are aligned. When ranges
//             change, says which resident TBs are out of place.
// Paper       [SMK] Sec. 5.3.2, 6.7 (seven counters per kernel and SM), deviation [D12].
// Interface   command_*: one pulse per kernel (S5), from first to last. read_*: one TB at a time
//             and not while judging_o; slots_o, warps_o, base_o: registers.
// Latency     Ranges are in force 2 cycles after the last command; misaligned_o tells the TBs of
//             one kernel after the other, from the 3rd cycle on. slots_o 1 cycle after the kernel,
//             base_o 2 and warps_o 3 after the slot.
// Throughput  One command per cycle; one plan per kernels (at least four) + 3 cycles.
// Reset       No partitions: every kernel may use the whole SM.
// Model       model/control/sm/partition_counters.h   Doc  docs/blocks/partition_counters.md
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
  // There are partitions.
  output logic                      partitioned_o,
  output smk_pkg::slot_mask_t       misaligned_o,
  // TB slots in which a TB of this kernel may be placed; warp slots of the one in this slot, which
  // needs so much, and where its registers and shared memory begin (0 without partitions).
  input  logic                      read_i,
  input  smk_pkg::kernel_id_t       read_kernel_i,
  input  smk_pkg::tb_slot_t         read_slot_i,
  input  smk_pkg::tb_need_t         read_need_i,
  output smk_pkg::slot_mask_t       slots_o,
  output smk_pkg::warp_mask_t       warps_o,
  output smk_pkg::tb_base_t         base_o
);
  `SMK_CHECK_CONFIG

  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  localparam int unsigned NumWarps   = smk_pkg::NumWarps;
  localparam int unsigned BasesWidth = smk_pkg::BasesWidth;
  localparam int unsigned TbCntWidth = smk_pkg::TbCntWidth;
  localparam int unsigned RegisterCntWidth = smk_pkg::RegisterCntWidth;
  localparam int unsigned SharedCntWidth   = smk_pkg::SharedCntWidth;
  // Cycles in which kernels are looked up: as long with fewer than four.
  localparam int unsigned Looks = NumKernels < 4 ? 4 : NumKernels;

  logic                  partitioned_q;
  smk_pkg::kernel_mask_t valid_q, next_valid_d, next_valid_q;
  // The plan in force, and the one being received: where each part begins, how many TBs it has, and
  // whether it ends where the SM ends. Its other limits follow from the TBs.
  typedef struct packed {
    logic [RegisterCntWidth-1:0] registers;
    logic [SharedCntWidth-1:0]   shared_memory;
    logic [smk_pkg::ThreadCntWidth-1:0] threads;
    logic [TbCntWidth-1:0]       tbs;
  } bases_t;
  typedef struct packed {logic [NumKernels-1:0][BasesWidth-1:0] kernel;} bases_vec_t;
  bases_vec_t            bases_q, next_bases_d, next_bases_q;
  smk_pkg::tb_cnt_vec_t  tbs_q, next_tbs_d, next_tbs_q;
  smk_pkg::kernel_mask_t at_end_q, next_at_end_d, next_at_end_q;
  // The plan is complete; kernels that keep their place under it; the kernel whose slots are looked
  // up, and the one whose TBs are judged.
  logic                  complete_q;
  smk_pkg::kernel_mask_t same_d, same_q;
  logic [Looks-1:0]      look_q, judge_q;
  // Read in steps: the slots; the TB's number in its partition; where it begins; its warp slots.
  smk_pkg::slot_mask_t   slots_d, slots_q;
  logic [6:0]            index_d, index_q, first_d, first_q;
  smk_pkg::tb_base_t     base_d, base_q;
  smk_pkg::warp_mask_t   warps_d, warps_q;

  // TB slots [base, base + count).
  function automatic smk_pkg::slot_mask_t slots_of(input smk_pkg::tb_cnt_t base,
                                                   input smk_pkg::tb_cnt_t count);
    slots_of = smk_pkg::NumSlots'(smk_pkg::bits_between(7'(base), 7'(base) + 7'(count)));
  endfunction

  // A part that ends where the SM ends, in all four.
  smk_pkg::partition_range_t range;
  logic                      at_end;
  assign range  = `SMK_CUT(CommandRange, command_range_i);
  assign at_end = 32'(range.registers_limit) == smk_pkg::LimitRegisters &&
                  32'(range.shared_memory_limit) == smk_pkg::LimitSharedMemory &&
                  32'(range.threads_limit) == smk_pkg::LimitThreads &&
                  32'(range.tb_base) + 32'(range.tb_count) == smk_pkg::LimitTbs;

  // The plan with this cycle's command.
  always_comb begin
    next_valid_d  = command_first_i ? '0 : next_valid_q;
    next_bases_d  = next_bases_q;
    next_tbs_d    = next_tbs_q;
    next_at_end_d = next_at_end_q;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (command_kernel_i == smk_pkg::KernelWidth'(k)) begin
        next_valid_d[k]        = 1'b1;
        next_bases_d.kernel[k] = {range.registers_base, range.shared_memory_base,
                                  range.threads_base, range.tb_base};
        next_tbs_d.kernel[k]   = range.tb_count;
        next_at_end_d[k]       = at_end;
      end
    end
  end

  // A kernel's place stays when it begins where it began, or ends with the SM as before; a TB stays
  // when its slot is inside, too.
  for (genvar k = 0; k < NumKernels; k++) begin : gen_same
    logic [BasesWidth-1:0] bases, next_bases;
    assign bases      = bases_q.kernel[k];
    assign next_bases = next_bases_q.kernel[k];
    assign same_d[k]  = partitioned_q && valid_q[k] && next_valid_q[k] &&
                        (`SMK_CUT(SameBases, next_bases == bases) ||
                         (at_end_q[k] && next_at_end_q[k]));
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
      bases_q       <= '0;
      tbs_q         <= '0;
      at_end_q      <= '0;
      next_bases_q  <= '0;
      next_tbs_q    <= '0;
      next_at_end_q <= '0;
      complete_q    <= 1'b0;
      same_q        <= '0;
      look_q        <= '0;
      judge_q       <= '0;
    end else begin
      complete_q <= command_valid_i && command_last_i;
      look_q     <= complete_q ? Looks'(1) : look_q << 1;
      judge_q    <= look_q;
      if (`SMK_CUT(CommandValid, command_valid_i)) begin
        next_valid_q  <= next_valid_d;
        next_bases_q  <= next_bases_d;
        next_tbs_q    <= next_tbs_d;
        next_at_end_q <= next_at_end_d;
      end
      if (complete_q) begin
        partitioned_q <= 1'b1;
        valid_q       <= next_valid_q;
        bases_q       <= next_bases_q;
        tbs_q         <= next_tbs_q;
        at_end_q      <= next_at_end_q;
        same_q        <= same_d;
      end
    end
  end

  // The kernel that is looked up, one-hot, and its part.
  smk_pkg::kernel_mask_t of, valid_of;
  logic [BasesWidth-1:0] looked;
  smk_pkg::tb_cnt_t      looked_tbs;
  bases_t                at;
  always_comb begin
    looked     = '0;
    looked_tbs = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      of[k]      = look_q[k] || (look_q == '0 && read_kernel_i == smk_pkg::KernelWidth'(k));
      looked     = looked | (bases_q.kernel[k] & {BasesWidth{of[k]}});
      looked_tbs = looked_tbs | (tbs_q.kernel[k] & {TbCntWidth{of[k]}});
    end
  end
  assign valid_of = valid_q & of;
  assign at       = looked;
  always_comb begin
    slots_d = '1;
    if (partitioned_q) slots_d = valid_of != '0 ? slots_of(at.tbs, looked_tbs) : '0;
  end

  // The aligned part of one TB: so many are before it.
  logic [smk_pkg::SlotWidth-1:0] tbs;
  logic                          unused_tbs;  // of few units per SM, the upper bits
  assign unused_tbs = ^tbs;
  assign tbs     = `SMK_CUT(TbsBefore, index_q[smk_pkg::SlotWidth-1:0]);
  assign index_d = 7'(read_slot_i) - `SMK_CUT(TbBase, 7'(at.tbs));
  assign first_d = 7'(at.threads) + index_q * 7'(read_need_i.threads);
  always_comb begin
    base_d = '0;
    if (valid_of != '0) begin
      base_d.registers     = at.registers + RegisterCntWidth'(tbs) * read_need_i.registers;
      base_d.shared_memory = at.shared_memory + SharedCntWidth'(tbs) * read_need_i.shared_memory;
    end
  end
  always_comb begin
    warps_d = '1;
    if (partitioned_q) begin
      warps_d = '0;
      if (valid_of != '0) begin
        warps_d = NumWarps'(smk_pkg::bits_between(first_q, first_q + 7'(read_need_i.threads)));
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      slots_q <= '0;
      index_q <= '0;
      first_q <= '0;
      base_q  <= '0;
      warps_q <= '0;
    end else begin
      if (read_i || look_q != '0) slots_q <= slots_d;
      if (read_i) begin
        index_q <= index_d;
        first_q <= first_d;
        base_q  <= base_d;
        warps_q <= warps_d;
      end
    end
  end

  assign partitioned_o = partitioned_q;
  assign slots_o = slots_q;
  assign warps_o = warps_q;
  assign base_o  = base_q;

  // Conservation: a TB that is judged either lies in the new range, where it was, or is out of
  // place.
  for (genvar k = 0; k < NumKernels; k++) begin : gen_conserved
    bases_t bases;
    logic   unused_bases;
    assign bases        = bases_q.kernel[k];
    assign unused_bases = ^bases;
    `SMK_ASSERT(TbsConserved_A, judge_q[k] |->
                (kernel_slots_i.kernel[k] & ~misaligned_o &
                 ~(same_q[k] ? slots_of(bases.tbs, tbs_q.kernel[k]) : '0)) == '0)
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
              command_range_i.registers_base <= command_range_i.registers_limit &&
              32'(command_range_i.registers_limit) <= smk_pkg::LimitRegisters &&
              command_range_i.shared_memory_base <= command_range_i.shared_memory_limit &&
              32'(command_range_i.shared_memory_limit) <= smk_pkg::LimitSharedMemory &&
              command_range_i.threads_base <= command_range_i.threads_limit &&
              32'(command_range_i.threads_limit) <= smk_pkg::LimitThreads &&
              32'(command_range_i.tb_base) + 32'(command_range_i.tb_count) <= smk_pkg::LimitTbs)
  // A plan that moves a resident TB really occurs in our tests.
  `SMK_COVER(Misaligned_C, misaligned_o != '0)
endmodule
