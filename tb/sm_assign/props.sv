// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_sm_assign, from its ports alone: walks for any kernels begin at any time, with any
// configuration. What the walk says is looked at when it is over, and until the next begins.
`include "formal.svh"

module formal_sm_assign (
  input logic                  clk_i,
  input logic                  start_i,
  input smk_pkg::kernel_mask_t members_i,
  input logic                  spatial_i,
  input logic                  profile_i,
  input smk_pkg::kernel_cnt_t  kernels_per_sm_i
);
  localparam int unsigned NumSms     = smk_pkg::NumSms;
  localparam int unsigned NumKernels = smk_pkg::NumKernels;

  `FORMAL_RESET
  // The configuration changes with a start, or while no walk goes on.
  logic                  spatial, profile, spatial_q, profile_q, busy, known_q;
  smk_pkg::kernel_cnt_t  per_sm, per_sm_q;
  smk_pkg::kernel_mask_t members_q;
  assign spatial = start_i || !busy ? spatial_i : spatial_q;
  assign profile = start_i || !busy ? profile_i : profile_q;
  assign per_sm  = start_i || !busy ? kernels_per_sm_i : per_sm_q;
  `ASSUME(HostsSomeKernel_M, !start_i || kernels_per_sm_i != '0)

  smk_pkg::sm_kernels_t  allowed, allowed_q;
  smk_pkg::kernel_mask_t apart;
  smk_pkg::sm_mask_t    changed, differs;
  logic [5:0]           since_q;
  smk_sm_assign u_dut (
    .clk_i, .rst_ni, .start_i, .members_i,
    .spatial_i       (spatial),
    .profile_i       (profile),
    .kernels_per_sm_i(per_sm),
    .busy_o          (busy),
    .allowed_o       (allowed),
    .apart_o         (apart),
    .changed_o       (changed)
  );
  always_ff @(posedge clk_i) begin
    // Of the last walk.
    if (start_i) begin
      spatial_q <= spatial_i;
      profile_q <= profile_i;
      per_sm_q  <= kernels_per_sm_i;
    end
    allowed_q <= rst_ni ? allowed : '0;
    // A walk has been begun, so many cycles ago.
    known_q   <= rst_ni && (known_q || start_i);
    if (!rst_ni || start_i)     since_q <= '0;
    else if (since_q != 6'(NumSms)) since_q <= since_q + 6'd1;
    if (start_i) members_q <= members_i;
  end
  function automatic logic [5:0] ones_of(input smk_pkg::kernel_mask_t mask);
    ones_of = '0;
    for (int unsigned k = 0; k < NumKernels; k++) ones_of = ones_of + 6'(mask[k]);
  endfunction
  // With fewer kernels per SM than there are an SM takes a cycle, else all of them together.
  logic [5:0] walk;
  assign walk = (!spatial_q && ones_of(members_q) > 6'(per_sm_q)) ? 6'(NumSms) : 6'd1;
  `PROVE(WalkTakesOneCyclePerSm_A, busy == (known_q && since_q < walk))
  // The kernels of an SM change with a pulse for it, and only then.
  for (genvar s = 0; s < NumSms; s++) begin : gen_differs
    assign differs[s] = allowed.sm[s] != allowed_q.sm[s];
  end
  `PROVE(ChangesArePulsed_A, changed == differs)

  // How many members, and how many SMs each of them shares; SMs that are dedicated; what is wrong.
  logic [5:0]              members, dedicated, rank, sms, at_sm;
  logic                    is_over, strangers, wrong_count, wrong_spatial, wrong_dedicated;
  logic [NumKernels*6-1:0] sms_of;
  smk_pkg::kernel_mask_t   here;
  assign members   = ones_of(members_q);
  assign dedicated = (profile_q && !spatial_q && members < 6'(NumSms)) ? members : '0;
  assign is_over   = known_q && !busy;
  always_comb begin
    {strangers, wrong_count, wrong_spatial, wrong_dedicated} = '0;
    sms_of = '0;
    for (int unsigned s = 0; s < NumSms; s++) begin
      here  = allowed.sm[s];
      at_sm = 6'(s);
      rank  = '0;
      if ((here & ~members_q) != '0) strangers = 1'b1;
      if (at_sm >= dedicated &&
          ones_of(here) != ((members < 6'(per_sm_q)) ? members : 6'(per_sm_q))) wrong_count = 1'b1;
      for (int unsigned k = 0; k < NumKernels; k++) begin
        // SM s is the (s x members / SMs)-th member's; the r-th of more members has the
        // (r x SMs / members)-th SM.
        if (members_q[k] && here[k] != ((members <= 6'(NumSms)) ?
              (rank * 6'(NumSms) <= at_sm * members &&
               at_sm * members < (rank + 6'd1) * 6'(NumSms)) :
              (at_sm * members <= rank * 6'(NumSms) &&
               rank * 6'(NumSms) < (at_sm + 6'd1) * members))) begin
          wrong_spatial = 1'b1;
        end
        if (members_q[k] && at_sm < dedicated && here[k] != (rank == at_sm)) begin
          wrong_dedicated = 1'b1;
        end
        if (at_sm >= dedicated) sms_of[k*6 +: 6] = sms_of[k*6 +: 6] + 6'(here[k]);
        rank = rank + 6'(members_q[k]);
      end
    end
  end
  `PROVE(HostsMembersOnly_A, !is_over || !strangers)
  // Spatial: one kernel on each SM, in contiguous groups; or one SM for each kernel.
  `PROVE(SpatialIsEven_A, !is_over || !spatial_q || !wrong_spatial)
  // Profile: the i-th SM is the i-th member's alone, if there are more SMs.
  `PROVE(DedicatedIsAlone_A, !is_over || !wrong_dedicated)
  // Else as many kernels on each SM as there may be, and no kernel has two SMs more than another.
  `PROVE(AsManyAsMayBe_A, !is_over || spatial_q || !wrong_count)
  logic uneven, without;
  always_comb begin
    {uneven, without} = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      sms = sms_of[k*6 +: 6];
      if (members_q[k] && sms == '0) without = 1'b1;
      for (int unsigned j = 0; j < NumKernels; j++) begin
        if (members_q[k] && members_q[j] && sms > sms_of[j*6 +: 6] + 6'd1) uneven = 1'b1;
      end
    end
  end
  `PROVE(SharedIsEven_A, !is_over || !uneven)
  // So every kernel has an SM to share, if there are enough of them.
  `PROVE(EveryKernelHasAnSm_A, !is_over || !without ||
         (6'(NumSms) - dedicated) * (spatial_q ? members : 6'(per_sm_q)) < members)
  // SMs that are apart_o apart host the same kernels, and no two of them nearer to each other.
  logic [5:0] gap;
  logic       other_at_gap, same_nearer;
  always_comb begin
    gap = '0;
    for (int unsigned p = 1; p <= NumKernels; p++) if (apart[p-1]) gap = 6'(p);
    {other_at_gap, same_nearer} = '0;
    for (int unsigned s = 0; s < NumSms; s++) begin
      for (int unsigned t = s + 1; t < NumSms; t++) begin
        if (6'(s) >= dedicated && 6'(t) == 6'(s) + gap && allowed.sm[s] != allowed.sm[t]) begin
          other_at_gap = 1'b1;
        end
        if (6'(s) >= dedicated && 6'(t) < 6'(s) + gap && allowed.sm[s] == allowed.sm[t]) begin
          same_nearer = 1'b1;
        end
      end
    end
  end
  `PROVE(ApartOnehot_A, apart != '0 && (apart & (apart - NumKernels'(1))) == '0)
  `PROVE(SameAtGap_A, !is_over || spatial_q || (gap != '0 && !other_at_gap && !same_nearer))

  // Idle: no walk goes on or begins.
  (* keep *) logic idle;
  assign idle = rst_ni && !start_i && !busy && changed == '0;
endmodule
