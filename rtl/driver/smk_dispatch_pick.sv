// SPDX-License-Identifier: Apache-2.0
// smk_dispatch_pick: where a dispatch decision begins.
//
// Purpose     The part of smk_tb_dispatch that chooses: reserved room that has settled goes first;
//             then, without partitions, an SM that hosts a kernel it may no longer host; else the
//             waiting kernel with the lowest rK (left-over: the oldest) and its SM with the lowest
//             rSM among those not yet tried.
// Paper       [SMK] Sec. 5.3, Fig. 4 and 7 (first step); deviations [D1], [D13], [D14].
// Interface   Combinational. pick_sms_o follows pick_kernel_i.
// Latency     0 cycles.
// Throughput  One choice per cycle.
// Reset       No state.
// Model       model/control/tb_dispatch.cc (Pick, HasWork)   Doc  docs/modules/tb_dispatch.md
`include "smk_assert.svh"

module smk_dispatch_pick (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   leftover_i,
  input  logic                   partitioned_i,
  input  logic                   assign_busy_i,
  // The kernels, and the SMs that may host and do host each of them.
  input  smk_pkg::kernel_mask_t  active_i,
  input  smk_pkg::kernel_mask_t  waiting_i,
  input  smk_pkg::order_vec_t    order_i,
  input  smk_pkg::sm_kernels_t   allowed_i,
  input  smk_pkg::sm_kernels_t   resident_i,
  // Registers of smk_dispatch_marks, and the same with what happened in this cycle.
  input  smk_pkg::kernel_sms_t   tried_i,
  input  smk_pkg::sm_mask_t      busy_i,
  input  smk_pkg::sm_mask_t      reserved_i,
  input  smk_pkg::sm_kernel_id_t reserved_for_i,
  input  smk_pkg::kernel_sms_t   tried_now_i,
  input  smk_pkg::sm_mask_t      busy_now_i,
  input  smk_pkg::sm_mask_t      reserved_now_i,
  // Questions to smk_drf_tracker.
  output smk_pkg::kernel_mask_t  pick_kernels_o,
  input  smk_pkg::kernel_id_t    pick_kernel_i,
  output smk_pkg::sm_mask_t      pick_sms_o,
  input  smk_pkg::sm_id_t        pick_sm_i,
  // There is work by the registers; with what happened in this cycle: of which kind, and where.
  output logic                   work_o,
  output logic                   work_now_o,
  output logic                   is_reserved_o,
  output logic                   is_evict_o,
  output logic                   is_pair_o,
  output smk_pkg::kernel_id_t    kernel_o,
  output smk_pkg::sm_id_t        sm_o,
  output smk_pkg::sm_mask_t      evict_sm_o,
  // SMs that may host each kernel.
  output smk_pkg::kernel_sms_t   allowed_o
);
  localparam int unsigned NumKernels  = smk_pkg::NumKernels;
  localparam int unsigned NumSms      = smk_pkg::NumSms;
  localparam int unsigned SmWidth     = smk_pkg::SmWidth;
  localparam int unsigned KernelWidth = smk_pkg::KernelWidth;

  // SMs of each kernel, and SMs with a kernel that must go. With partitions, planning evicts.
  smk_pkg::kernel_mask_t        allowed_row, resident_row;
  logic [NumKernels*NumSms-1:0] allowed_flat;
  smk_pkg::sm_mask_t            evictable;
  always_comb begin
    allowed_flat = '0;
    for (int unsigned s = 0; s < NumSms; s++) begin
      allowed_row  = allowed_i.sm[s];
      resident_row = resident_i.sm[s];
      evictable[s] = !partitioned_i && !assign_busy_i &&
                     (resident_row & active_i & ~allowed_row) != '0;
      for (int unsigned k = 0; k < NumKernels; k++) allowed_flat[k*NumSms+s] = allowed_row[k];
    end
  end
  assign allowed_o = allowed_flat;

  // The same question twice, of the registers and of now.
  smk_pkg::sm_mask_t            usable_start, usable_now, settled, evict;
  logic [NumKernels*NumSms-1:0] candidates_flat;
  smk_pkg::kernel_sms_t         candidates;
  smk_pkg::kernel_mask_t        kernels_start, kernels;
  assign usable_start = ~busy_i & ~reserved_i;
  assign usable_now   = ~busy_now_i & ~reserved_now_i;
  assign settled      = reserved_now_i & ~busy_now_i;
  assign evict        = evictable & usable_now;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_candidates
    smk_pkg::sm_mask_t allowed;
    assign allowed                               = allowed_flat[k*NumSms +: NumSms];
    assign candidates_flat[k*NumSms +: NumSms]   = allowed & usable_now & ~tried_now_i.kernel[k];
    assign kernels[k]       = waiting_i[k] && candidates_flat[k*NumSms +: NumSms] != '0;
    assign kernels_start[k] = waiting_i[k] &&
                              (allowed & usable_start & ~tried_i.kernel[k]) != '0;
  end
  assign candidates = candidates_flat;
  assign work_o     = assign_busy_i || (reserved_i & ~busy_i) != '0 ||
                      (evictable & usable_start) != '0 || kernels_start != '0;
  assign work_now_o = assign_busy_i || settled != '0 || evict != '0 || kernels != '0;

  // The oldest of the kernels.
  smk_pkg::kernel_mask_t oldest;
  smk_pkg::kernel_id_t   pair_kernel;
  always_comb begin
    oldest = kernels;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      for (int unsigned j = 0; j < NumKernels; j++) begin
        if (kernels[j] && order_i.kernel[j] < order_i.kernel[k]) oldest[k] = 1'b0;
      end
    end
  end
  assign pick_kernels_o = kernels;
  assign pair_kernel    = leftover_i ? KernelWidth'(smk_pkg::index_of(64'(oldest)))
                                     : pick_kernel_i;
  assign pick_sms_o     = candidates.kernel[pair_kernel];

  // The choice.
  smk_pkg::sm_id_t       settled_sm, evict_sm;
  smk_pkg::kernel_mask_t evict_resident;
  assign settled_sm     = SmWidth'(smk_pkg::index_of(smk_pkg::lowest_one(64'(settled))));
  assign evict_sm_o     = NumSms'(smk_pkg::lowest_one(64'(evict)));
  assign evict_sm       = SmWidth'(smk_pkg::index_of(64'(evict_sm_o)));
  assign evict_resident = resident_i.sm[evict_sm];
  always_comb begin
    is_reserved_o = settled != '0;
    is_evict_o    = !is_reserved_o && evict != '0;
    is_pair_o     = !is_reserved_o && !is_evict_o && !assign_busy_i && kernels != '0;
    kernel_o      = pair_kernel;
    sm_o          = pick_sm_i;
    if (is_reserved_o) begin
      kernel_o = reserved_for_i.sm[settled_sm];
      sm_o     = settled_sm;
    end else if (is_evict_o) begin
      kernel_o = KernelWidth'(smk_pkg::index_of(smk_pkg::lowest_one(64'(evict_resident))));
      sm_o     = evict_sm;
    end
  end

  // Kernels arrived one after the other.
  `SMK_ASSERT(OneOldest_A, !leftover_i || $onehot0(oldest))
  // The tracker answers with one of the kernels and one of the SMs asked for.
  `SMK_ASSERT(PickedKernelWasAsked_M, is_pair_o && !leftover_i |-> kernels[pick_kernel_i])
  `SMK_ASSERT(PickedSmWasAsked_M, is_pair_o |-> pick_sms_o[pick_sm_i])
endmodule
