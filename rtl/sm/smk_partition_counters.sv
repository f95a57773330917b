// SPDX-License-Identifier: Apache-2.0
// smk_partition_counters: where each kernel's TBs live on one SM.
//
// Purpose     Holds the ranges of registers, shared memory, threads and TB slots of each kernel. A
//             TB's place follows from its slot, so TBs in a partition are aligned. When ranges
//             change, says which resident TBs are out of place.
// Paper       [SMK] Sec. 5.3.2, 6.7 (seven counters per kernel and SM).
// Interface   command_*: one pulse per kernel (S5), from first to last. slots_o, warps_o, range_o:
//             read ports, combinational from the kernel and the slot.
// Latency     commit_o and misaligned_o in the cycle of the last command; ranges are in force in
//             the next.
// Throughput  One command per cycle.
// Reset       No partitions: every kernel may use the whole SM.
// Model       model/control/partition_counters.h   Doc  docs/modules/partition_counters.md
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
  // The plan is complete now, and these TBs are out of place under it.
  output logic                      commit_o,
  output smk_pkg::slot_mask_t       misaligned_o,
  // TB slots in which a TB of this kernel may be placed.
  input  smk_pkg::kernel_id_t       slots_kernel_i,
  output smk_pkg::slot_mask_t       slots_o,
  // Warp slots of the TB of this kernel in this slot, which has so many warps, and its ranges.
  input  smk_pkg::kernel_id_t       warps_kernel_i,
  input  smk_pkg::tb_slot_t         warps_slot_i,
  input  smk_pkg::thread_cnt_t      warps_threads_i,
  output smk_pkg::warp_mask_t       warps_o,
  output smk_pkg::partition_range_t range_o
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  localparam int unsigned NumWarps   = smk_pkg::NumWarps;
  localparam int unsigned BasesWidth = smk_pkg::BasesWidth;
  localparam int unsigned TbCntWidth = smk_pkg::TbCntWidth;

  logic                  partitioned_q;
  smk_pkg::kernel_mask_t valid_q, next_valid_d, next_valid_q;
  // The plan in force, and the one being received.
  smk_pkg::range_vec_t range_q, next_range_d, next_range_q;

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
        next_range_d.kernel[k] = command_range_i;
      end
    end
  end

  assign commit_o = command_valid_i && command_last_i;

  // A TB stays when its slot is inside the new range and its place is where it was.
  smk_pkg::kernel_slots_t next_slots, stays;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_stays
    logic [BasesWidth-1:0]            bases, next_bases, unused_limits;
    logic [BasesWidth-TbCntWidth-1:0] unused_next_limits;
    smk_pkg::tb_cnt_t                 next_count;
    logic                             same_partition;
    assign {bases, unused_limits}                       = range_q.kernel[k];
    assign {next_bases, unused_next_limits, next_count} = next_range_d.kernel[k];
    assign same_partition = partitioned_q && valid_q[k] && next_valid_d[k] && next_bases == bases;
    assign next_slots.kernel[k] = slots_of(next_bases[TbCntWidth-1:0], next_count);
    assign stays.kernel[k]      = same_partition ? next_slots.kernel[k] : '0;
  end
  always_comb begin
    misaligned_o = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (commit_o) misaligned_o = misaligned_o | (kernel_slots_i.kernel[k] & ~stays.kernel[k]);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      partitioned_q <= 1'b0;
      valid_q       <= '0;
      next_valid_q  <= '0;
      range_q       <= '0;
      next_range_q  <= '0;
    end else if (command_valid_i) begin
      next_valid_q <= next_valid_d;
      next_range_q <= next_range_d;
      if (command_last_i) begin
        partitioned_q <= 1'b1;
        valid_q       <= next_valid_d;
        range_q       <= next_range_d;
      end
    end
  end

  // Read port of the slots: the last counter of each half.
  logic [BasesWidth-TbCntWidth-1:0] unused_bases, unused_limits;
  smk_pkg::tb_cnt_t                 slots_base, slots_count;
  assign {unused_bases, slots_base, unused_limits, slots_count} = range_q.kernel[slots_kernel_i];
  always_comb begin
    slots_o = '1;
    if (partitioned_q) slots_o = valid_q[slots_kernel_i] ? slots_of(slots_base, slots_count) : '0;
  end

  // Read port of the warps: the aligned part of one TB.
  logic [6:0] warps_first;
  assign range_o     = range_q.kernel[warps_kernel_i];
  assign warps_first = 7'(range_o.threads_base) +
                       (7'(warps_slot_i) - 7'(range_o.tb_base)) * 7'(warps_threads_i);
  always_comb begin
    warps_o = '1;
    if (partitioned_q) begin
      warps_o = '0;
      if (valid_q[warps_kernel_i]) begin
        warps_o = NumWarps'(smk_pkg::bits_between(warps_first, warps_first + 7'(warps_threads_i)));
      end
    end
  end

  // Isolation: ranges of different kernels never overlap, if the plans that arrive do not.
  for (genvar k = 1; k < NumKernels; k++) begin : gen_apart
    `SMK_ASSERT(PlansApart_M, commit_o && next_valid_d[k] && next_valid_d[k-1] |->
                (next_slots.kernel[k] & next_slots.kernel[k-1]) == '0)
  end
  // Conservation: with a commit every resident TB either stays in its range or is out of place.
  for (genvar k = 0; k < NumKernels; k++) begin : gen_conserved
    `SMK_ASSERT(TbsConserved_A, commit_o |->
                (kernel_slots_i.kernel[k] & ~misaligned_o & ~stays.kernel[k]) == '0)
  end
  // Nothing is out of place before a plan is complete.
  `SMK_ASSERT(NoEarlyVerdict_A, !commit_o |-> misaligned_o == '0)
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
