// SPDX-License-Identifier: Apache-2.0
// smk_dispatch_pick: where a dispatch decision begins.
//
// Purpose     The part of smk_tb_dispatch that chooses: reserved room that has settled goes first;
//             then, without partitions, an SM that hosts a kernel it may no longer host; else the
//             waiting kernel with the lowest rK (left-over: the oldest) and its SM with the lowest
//             rSM among those not yet tried.
// Paper       [SMK] Sec. 5.3, Fig. 4 and 7 (first step); deviations [D1], [D13], [D14].
// Interface   at_mask_i, at_sm_i: the step is taken in this cycle. Questions to smk_drf_tracker: the
//             SMs in step Sm, the kernel in the one after.
// Latency     work_o, found_o 0 cycles; the choice after two.
// Throughput  One choice at a time.
// Reset       Nothing chosen.
// Model       model/control/driver/tb_dispatch.cc (Mask, PickSm)   Doc  docs/blocks/tb_dispatch.md
`include "smk_assert.svh"

module smk_dispatch_pick (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   leftover_i,
  input  logic                   partitioned_i,
  // TBs are left to smk_tb_stream.
  input  logic                   streams_i,
  input  logic                   assign_busy_i,
  input  logic                   at_mask_i,
  input  logic                   at_sm_i,
  // The kernels, and the SMs that may host and do host each of them.
  input  smk_pkg::kernel_mask_t  waiting_i,
  input  smk_pkg::order_vec_t    order_i,
  input  smk_pkg::sm_kernels_t   allowed_i,
  input  smk_pkg::sm_kernels_t   resident_i,
  // Kernels that a plan covers on each SM.
  input  smk_pkg::sm_kernels_t   planned_i,
  // Registers of smk_dispatch_marks.
  input  smk_pkg::kernel_sms_t   tried_i,
  input  smk_pkg::sm_mask_t      busy_i,
  input  smk_pkg::sm_mask_t      reserved_i,
  input  smk_pkg::sm_kernel_id_t reserved_for_i,
  // There is work by the registers; there is something to choose.
  output logic                   work_o,
  output logic                   found_o,
  // Questions to smk_drf_tracker, and its answer to the first.
  output smk_pkg::kernel_sms_t   pick_sms_o,
  input  smk_pkg::kernel_sms_t   pick_sm_i,
  output smk_pkg::kernel_mask_t  pick_kernels_o,
  // Registers: what the choice is for, the SM to evict and its lowest kernel, the SM of each kernel
  // that may be picked.
  output logic                   is_reserved_o,
  output logic                   is_evict_o,
  // It has somebody to evict still.
  output logic                   evicts_o,
  output smk_pkg::sm_mask_t      evict_sm_o,
  output smk_pkg::kernel_id_t    evict_kernel_o,
  output smk_pkg::kernel_sms_t   look_sms_o,
  // SMs that may host each kernel.
  output smk_pkg::kernel_sms_t   allowed_o
);
  localparam int unsigned NumKernels  = smk_pkg::NumKernels;
  localparam int unsigned NumSms      = smk_pkg::NumSms;
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
                     (resident_row & ~allowed_row) != '0;
      for (int unsigned k = 0; k < NumKernels; k++) allowed_flat[k*NumSms+s] = allowed_row[k];
    end
  end
  assign allowed_o = allowed_flat;

  // Mask: what the decision can be about.
  smk_pkg::sm_mask_t            usable, settled, evict, sms;
  logic [NumKernels*NumSms-1:0] candidates_flat;
  smk_pkg::kernel_mask_t        kernels;
  logic [NumSms*NumKernels-1:0] planned_flat;
  assign planned_flat = planned_i;
  assign usable  = ~busy_i & ~reserved_i;
  assign settled = reserved_i & ~busy_i;
  assign evict   = evictable & usable;
  assign sms     = (settled != '0) ? settled : evict;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_candidates
    // While TBs are left to others: only where there is no plan.
    smk_pkg::sm_mask_t mine;
    for (genvar s = 0; s < NumSms; s++) begin : gen_mine
      assign mine[s] = !streams_i || (partitioned_i && !planned_flat[s*NumKernels + k]);
    end
    assign candidates_flat[k*NumSms +: NumSms] = allowed_flat[k*NumSms +: NumSms] & usable &
                                                 ~tried_i.kernel[k] & mine;
    assign kernels[k] = waiting_i[k] && candidates_flat[k*NumSms +: NumSms] != '0;
  end
  assign found_o = settled != '0 || evict != '0 || (!assign_busy_i && kernels != '0);
  assign work_o  = assign_busy_i || settled != '0 || evict != '0 || kernels != '0;

  // Sm: the oldest of the kernels, or the one for which the room is reserved; their SMs.
  smk_pkg::kernel_mask_t kernels_d, kernels_q, oldest, reserved_for, evict_resident;
  smk_pkg::kernel_sms_t  candidates_q, look_sms_d, look_sms_q;
  smk_pkg::sm_mask_t     sm_q;
  logic                  is_reserved_q, is_evict_q;
  always_comb begin
    oldest = kernels_q;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      for (int unsigned j = 0; j < NumKernels; j++) begin
        if (kernels_q[j] && `SMK_CUT(IsOlder, order_i.kernel[j] < order_i.kernel[k]))
          oldest[k] = 1'b0;
      end
    end
  end
  always_comb begin
    reserved_for   = '0;
    evict_resident = '0;
    for (int unsigned s = 0; s < NumSms; s++) begin
      evict_resident |= resident_i.sm[s] & {NumKernels{sm_q[s]}};
      for (int unsigned k = 0; k < NumKernels; k++) begin
        reserved_for[k] = reserved_for[k] ||
                          (sm_q[s] && reserved_for_i.sm[s] == KernelWidth'(k));
      end
    end
  end
  assign evict_kernel_o = smk_pkg::index_of_kernel(smk_pkg::lowest_kernel(evict_resident));
  always_comb begin
    kernels_d  = leftover_i ? oldest : kernels_q;
    look_sms_d = pick_sm_i;
    if (is_reserved_q) begin
      kernels_d  = reserved_for;
      look_sms_d = {NumKernels{sm_q}};
    end
    // While TBs stream, shares are not still, and who goes first does not matter: the lowest.
    if (at_mask_i) begin
      kernels_d = streams_i ? kernels & (~kernels + NumKernels'(1)) : kernels;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      kernels_q     <= '0;
      candidates_q  <= '0;
      sm_q          <= '0;
      is_reserved_q <= 1'b0;
      is_evict_q    <= 1'b0;
      look_sms_q    <= '0;
    end else begin
      if (at_mask_i || at_sm_i) kernels_q <= kernels_d;
      if (at_sm_i) look_sms_q <= look_sms_d;
      if (at_mask_i) begin
        for (int unsigned k = 0; k < NumKernels; k++) begin
          candidates_q.kernel[k] <= streams_i ?
              smk_pkg::lowest_sm(candidates_flat[k*NumSms +: NumSms]) :
              candidates_flat[k*NumSms +: NumSms];
        end
        is_reserved_q <= settled != '0;
        is_evict_q    <= settled == '0 && evict != '0;
        sm_q          <= smk_pkg::lowest_sm(sms);
      end
    end
  end

  assign pick_sms_o     = candidates_q;
  assign pick_kernels_o = kernels_q;
  assign is_reserved_o  = is_reserved_q;
  assign is_evict_o     = is_evict_q;
  assign evicts_o       = !streams_i || (evict & sm_q) != '0;
  assign evict_sm_o     = sm_q;
  assign look_sms_o     = look_sms_q;

  // Kernels arrived one after the other.
  `SMK_ASSERT(OneOldest_A, !leftover_i || $onehot0(oldest))
  // The tracker answers with one of the SMs asked for.
  for (genvar k = 0; k < NumKernels; k++) begin : gen_check
    `SMK_ASSERT(PickedSmWasAsked_M, $onehot0(pick_sm_i.kernel[k]) &&
                (pick_sm_i.kernel[k] & ~candidates_q.kernel[k]) == '0)
  end
  // Idle: the choice holds until the next one.
  `SMK_ASSERT(IdleKeepsState_A, !at_mask_i && !at_sm_i
              |=> $stable({kernels_q, candidates_q, sm_q, is_reserved_q, is_evict_q, look_sms_q}))
endmodule
