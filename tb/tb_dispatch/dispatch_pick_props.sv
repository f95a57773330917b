// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_dispatch_pick, from its ports alone, for any registers it reads: what step Mask was
// given is kept here, and what Mask and Sm choose is recomputed from it.
`include "formal.svh"

module formal_dispatch_pick (
  input logic                   clk_i,
  input logic                   leftover_i,
  input logic                   partitioned_i,
  input logic                   streams_i,
  input logic                   assign_busy_i,
  input logic                   at_mask_i,
  input logic                   at_sm_i,
  input smk_pkg::kernel_mask_t  waiting_i,
  input smk_pkg::order_vec_t    order_i,
  input smk_pkg::sm_kernels_t   allowed_i,
  input smk_pkg::sm_kernels_t   resident_i,
  input smk_pkg::sm_kernels_t   planned_i,
  input smk_pkg::kernel_sms_t   tried_i,
  input smk_pkg::sm_mask_t      busy_i,
  input smk_pkg::sm_mask_t      reserved_i,
  input smk_pkg::sm_kernel_id_t reserved_for_i,
  // The tracker's answer.
  input smk_pkg::kernel_sms_t   pick_sm_i
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  localparam int unsigned NumSms     = smk_pkg::NumSms;
  localparam int unsigned NumPairs   = NumKernels * NumSms;

  `FORMAL_RESET
  logic                  work, found, is_reserved, is_evict, evicts;
  smk_pkg::kernel_sms_t  pick_sms, look_sms, allowed;
  smk_pkg::kernel_mask_t pick_kernels;
  smk_pkg::sm_mask_t     evict_sm;
  smk_pkg::kernel_id_t   evict_kernel;
  smk_dispatch_pick u_dut (
    .clk_i, .rst_ni, .leftover_i, .partitioned_i, .streams_i, .assign_busy_i, .at_mask_i, .at_sm_i,
    .waiting_i, .order_i, .allowed_i, .resident_i, .planned_i, .tried_i, .busy_i,
    .reserved_i, .reserved_for_i, .pick_sm_i,
    .work_o        (work),
    .found_o       (found),
    .pick_sms_o    (pick_sms),
    .pick_kernels_o(pick_kernels),
    .is_reserved_o (is_reserved),
    .is_evict_o    (is_evict),
    .evicts_o      (evicts),
    .evict_sm_o    (evict_sm),
    .evict_kernel_o(evict_kernel),
    .look_sms_o    (look_sms),
    .allowed_o     (allowed)
  );

  // Pairs of kernel and SM: may be, and may be taken; kernels that wait and have one. SMs whose
  // reservation is due, and those with a kernel that must go and that are free for it.
  logic [NumPairs-1:0]   allowed_pairs, pairs;
  smk_pkg::kernel_mask_t allowed_here, resident_here, planned_here, kernels;
  smk_pkg::sm_mask_t     tried_of, settled, evict;
  always_comb begin
    kernels = '0;
    for (int unsigned s = 0; s < NumSms; s++) begin
      allowed_here  = allowed_i.sm[s];
      resident_here = resident_i.sm[s];
      planned_here  = planned_i.sm[s];
      settled[s]    = reserved_i[s] && !busy_i[s];
      evict[s]      = !partitioned_i && !assign_busy_i && !busy_i[s] && !reserved_i[s] &&
                      (resident_here & ~allowed_here) != '0;
      for (int unsigned k = 0; k < NumKernels; k++) begin
        tried_of                    = tried_i.kernel[k];
        allowed_pairs[k*NumSms + s] = allowed_here[k];
        // TBs that stream are not looked at, but for a plan that is missing.
        pairs[k*NumSms + s]         = allowed_here[k] && !busy_i[s] && !reserved_i[s] &&
                                      !tried_of[s] &&
                                      (!streams_i || (partitioned_i && !planned_here[k]));
        if (pairs[k*NumSms + s] && waiting_i[k]) kernels[k] = 1'b1;
      end
    end
  end
  // There is something to choose, and work also when SMs are being assigned.
  `PROVE(FindsWhatThereIs_A, allowed == allowed_pairs &&
         found == (settled != '0 || evict != '0 || (kernels != '0 && !assign_busy_i)) &&
         work == (settled != '0 || evict != '0 || kernels != '0 || assign_busy_i))

  // While TBs stream, the first kernel and the first SM of each are taken.
  logic [NumPairs-1:0]   pairs_taken;
  smk_pkg::kernel_mask_t kernels_taken;
  smk_pkg::sm_mask_t     sms_of;
  always_comb begin
    pairs_taken   = pairs;
    kernels_taken = kernels;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      sms_of = pairs[k*NumSms +: NumSms];
      if (streams_i) pairs_taken[k*NumSms +: NumSms] = sms_of & (~sms_of + 1'b1);
      if (streams_i) kernels_taken[k] = kernels[k] && (kernels & ((NumKernels'(1) << k) - 1'b1)) == '0;
    end
  end

  // What Mask was given; that it was the last of the two steps, or Sm was, once.
  logic [NumPairs-1:0]   pairs_q;
  smk_pkg::kernel_mask_t kernels_q;
  smk_pkg::sm_mask_t     settled_q, evict_q;
  logic                  masked_q, once_q;
  always_ff @(posedge clk_i) begin
    if (at_mask_i) begin
      pairs_q   <= pairs_taken;
      kernels_q <= kernels_taken;
      settled_q <= settled;
      evict_q   <= evict;
    end
    masked_q <= rst_ni && (at_mask_i || (masked_q && !at_sm_i));
    once_q   <= rst_ni && !at_mask_i && (masked_q ? at_sm_i : once_q && !at_sm_i);
  end

  // Mask: room that is reserved first, then an SM to evict, the first of them; else the kernels
  // that wait, each with the SMs it may take.
  logic              chosen;
  smk_pkg::sm_mask_t first;
  assign chosen = masked_q || once_q;
  always_comb begin
    first = '0;
    for (int unsigned s = NumSms; s >= 1; s--) begin
      if (settled_q != '0 ? settled_q[s-1] : evict_q[s-1]) first = NumSms'(1) << (s - 1);
    end
  end
  `PROVE(ReservedGoesFirst_A, !chosen || (is_reserved == (settled_q != '0) &&
         is_evict == (settled_q == '0 && evict_q != '0) && evict_sm == first))
  // An eviction that has streamed TBs before it may have become void.
  `PROVE(EvictsStill_A, !chosen || evicts == (!streams_i || (evict & first) != '0))
  `PROVE(AsksWhatIsFree_A, !chosen || pick_sms == pairs_q)
  `PROVE(AsksWhoWaits_A, !masked_q || pick_kernels == kernels_q)

  // Sm: the kernel of the reserved room; else left-over those with none older, else all that wait,
  // each with the SM that the tracker names.
  smk_pkg::kernel_mask_t none_older, none_older_q, reserved_for, reserved_for_q;
  smk_pkg::kernel_sms_t  pick_sm_q;
  always_comb begin
    none_older = kernels_q;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      for (int unsigned j = 0; j < NumKernels; j++) begin
        if (kernels_q[j] && order_i.kernel[j] < order_i.kernel[k]) none_older[k] = 1'b0;
      end
    end
    reserved_for = '0;
    for (int unsigned s = 0; s < NumSms; s++) begin
      if (first[s]) reserved_for = NumKernels'(1) << reserved_for_i.sm[s];
    end
  end
  logic leftover_q;
  always_ff @(posedge clk_i) begin
    if (at_sm_i) begin
      none_older_q   <= none_older;
      reserved_for_q <= reserved_for;
      pick_sm_q      <= pick_sm_i;
      leftover_q     <= leftover_i;
    end
  end
  `PROVE(OldestGoesFirst_A, !once_q || pick_kernels == ((settled_q != '0) ? reserved_for_q :
         leftover_q ? none_older_q : kernels_q))
  `PROVE(LooksWhereItIsGiven_A, !once_q ||
         look_sms == ((settled_q != '0) ? {NumKernels{first}} : pick_sm_q))
  // Who gets an eviction: the first kernel on the SM.
  smk_pkg::kernel_mask_t there;
  always_comb begin
    there = '0;
    for (int unsigned s = 0; s < NumSms; s++) begin
      if (first[s]) there = resident_i.sm[s];
    end
  end
  smk_pkg::kernel_mask_t below;
  assign below = (NumKernels'(1) << evict_kernel) - 1'b1;
  `PROVE(EvictsTheFirst_A, !chosen || first == '0 || there == '0 ||
         (there[evict_kernel] && (there & below) == '0))
endmodule
