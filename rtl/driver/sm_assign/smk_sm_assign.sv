// SPDX-License-Identifier: Apache-2.0
// smk_sm_assign: which kernels may run on which SM.
//
// Purpose     When the set of kernels changes, decides for each SM which kernels it may host: all;
//             one (spatial partitioning, contiguous equal groups; several where there are more
//             kernels than SMs); one on the dedicated profiling SMs, if an SM is left to be shared;
//             or, when fewer kernels per SM are allowed than there are, those running on the fewest
//             SMs so far. Only the last needs a walk over the SMs.
// Paper       [SMK] Sec. 5.2 (Spart: equal number of SMs), 5.4 (profiling SMs), 5.5 (two kernels
//             per SM); deviations [D10], [D11].
// Interface   start_i: pulse (S5), begins anew at any time. All outputs are registers; allowed_o is
//             valid for the SMs already decided while busy_o.
// Latency     All SMs are visible 2 cycles after start_i, a walk's last one NumSms + 1.
// Throughput  All SMs in one cycle, or one per cycle when they are walked.
// Reset       No kernel anywhere.
// Model       model/control/driver/sm_assign.h   Doc  docs/blocks/sm_assign.md
// Does not move a TB: see smk_tb_dispatch.
`include "smk_assert.svh"

module smk_sm_assign (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  // Decide all SMs anew for these kernels.
  input  logic                  start_i,
  input  smk_pkg::kernel_mask_t members_i,
  // Constant while busy. Profile: SM i is dedicated to the i-th kernel.
  input  logic                  spatial_i,
  input  logic                  profile_i,
  input  smk_pkg::kernel_cnt_t  kernels_per_sm_i,
  output logic                  busy_o,
  output smk_pkg::sm_kernels_t  allowed_o,
  // One-hot, bit n - 1: SMs that are n apart host the same kernels.
  output smk_pkg::kernel_mask_t apart_o,
  // Pulses: the SM was decided differently from before.
  output smk_pkg::sm_mask_t     changed_o
);
  `SMK_CHECK_CONFIG

  localparam int unsigned NumSms         = smk_pkg::NumSms;
  localparam int unsigned NumKernels     = smk_pkg::NumKernels;
  localparam int unsigned KernelCntWidth = smk_pkg::KernelCntWidth;
  localparam int unsigned NumDedicated   = (NumSms < NumKernels) ? NumSms : NumKernels;

  // The i-th member, one-hot; empty when there are fewer.
  typedef struct packed {logic [NumKernels-1:0][NumKernels-1:0] member;} ranked_t;

  logic                  busy_d, busy_q;
  // The next SM of a walk, one-hot, those decided now, and the kernels as of the start.
  smk_pkg::sm_mask_t     next_d, next_q, decided, changed_d, changed_q;
  logic                  walks;
  smk_pkg::kernel_mask_t members_q;
  // The members by rank, and whether there are exactly n + 1 of them.
  ranked_t               ranked_d, ranked_q;
  smk_pkg::kernel_mask_t has_count_d, has_count_q;
  // Members that have been given one SM more than the others: they never differ by more.
  smk_pkg::kernel_mask_t ahead_d, ahead_q;
  smk_pkg::sm_kernels_t  allowed_q;
  smk_pkg::kernel_mask_t apart_d, apart_q;

  function automatic smk_pkg::kernel_cnt_t ones_of(input smk_pkg::kernel_mask_t mask);
    ones_of = '0;
    for (int unsigned k = 0; k < NumKernels; k++) ones_of = ones_of + KernelCntWidth'(mask[k]);
  endfunction

  for (genvar r = 0; r < NumKernels; r++) begin : gen_rank
    smk_pkg::kernel_mask_t member;
    for (genvar k = 0; k < NumKernels; k++) begin : gen_member
      localparam smk_pkg::kernel_mask_t Lower = NumKernels'((64'd1 << k) - 64'd1);
      assign member[k] = members_i[k] && ones_of(members_i & Lower) == KernelCntWidth'(r);
    end
    assign ranked_d.member[r] = member;
    assign has_count_d[r]     = ones_of(members_i) == KernelCntWidth'(r + 1);
  end

  // Spatial: SM i belongs to the (i x kernels / SMs)-th member, a constant for each number of members;
  // with more members than SMs the i-th member has the (i x SMs / kernels)-th SM.
  smk_pkg::sm_kernels_t  spatial;
  smk_pkg::kernel_mask_t group;
  always_comb begin
    spatial = '0;
    for (int unsigned sm = 0; sm < NumSms; sm++) begin
      for (int unsigned n = 1; n <= NumKernels; n++) begin
        group = '0;
        for (int unsigned r = 0; r < n; r++) begin
          if ((n > NumSms) ? r * NumSms / n == sm : sm * n / NumSms == r) begin
            group = group | ranked_q.member[r];
          end
        end
        spatial.sm[sm] = spatial.sm[sm] | (group & {NumKernels{has_count_q[n-1]}});
      end
    end
  end

  // Profile: the first SMs have one kernel each, if there is another SM; a kernel alone has all anyway.
  smk_pkg::sm_kernels_t dedicated;
  logic                 none_shared;
  always_comb begin
    none_shared = 1'b0;
    for (int unsigned n = NumSms; n <= NumKernels; n++) begin
      none_shared = none_shared || has_count_q[n-1];
    end
    dedicated = '0;
    for (int unsigned sm = 0; sm < NumDedicated; sm++) begin
      if (profile_i && !none_shared) dedicated.sm[sm] = ranked_q.member[sm];
    end
  end

  // Else the kernels with the fewest SMs so far, ties to the lowest: those that fewer than
  // kernels_per_sm members precede.
  smk_pkg::kernel_mask_t fewest;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_fewest
    localparam smk_pkg::kernel_mask_t Lower = NumKernels'((64'd1 << k) - 64'd1);
    smk_pkg::kernel_mask_t first;
    assign first     = ahead_q[k] ? members_q & (~ahead_q | Lower) : members_q & ~ahead_q & Lower;
    assign fewest[k] = members_q[k] && `SMK_CUT(RoomForKernel, ones_of(first) < kernels_per_sm_i);
  end

  smk_pkg::sm_kernels_t chosen;
  always_comb begin
    for (int unsigned sm = 0; sm < NumSms; sm++) begin
      chosen.sm[sm] = fewest;
      if (spatial_i)                   chosen.sm[sm] = spatial.sm[sm];
      else if (dedicated.sm[sm] != '0) chosen.sm[sm] = dedicated.sm[sm];
    end
  end

  // Once all are ahead, nobody is. Dedicated SMs do not count.
  smk_pkg::kernel_mask_t behind_left;
  logic                  shares;
  assign behind_left = members_q & ~ahead_q & ~fewest;
  always_comb begin
    shares = busy_q;
    for (int unsigned sm = 0; sm < NumDedicated; sm++) begin
      if (next_q[sm] && dedicated.sm[sm] != '0) shares = 1'b0;
    end
    ahead_d = `SMK_CUT(Ahead, ahead_q);
    if (`SMK_CUT(WalkShares, shares)) begin
      ahead_d = (behind_left != '0) ? ahead_q | fewest : `SMK_CUT(NewRound, ahead_q & fewest);
    end
    if (start_i) ahead_d = '0;
  end

  // A walk gives n kernels at a time out of m, in turn: the same again after m / gcd(m, n) SMs.
  always_comb begin
    apart_d = NumKernels'(1);
    for (int unsigned m = 2; m <= NumKernels; m++) begin
      for (int unsigned n = 1; n < m; n++) begin
        if (!spatial_i && has_count_q[m-1] && kernels_per_sm_i == KernelCntWidth'(n)) begin
          for (int unsigned p = m; p != 0; p--) begin
            if (n * p % m == 0) apart_d = NumKernels'(1) << (p - 1);
          end
        end
      end
    end
  end

  // Without a limit nothing depends on the SMs before: all are decided in one cycle.
  assign walks   = !spatial_i && ones_of(members_q) > kernels_per_sm_i;
  assign decided = walks ? next_q : {NumSms{busy_q}};
  always_comb begin
    next_d = walks ? next_q << 1 : '0;
    busy_d = busy_q && walks && !next_q[NumSms-1];
    if (start_i) begin
      next_d = NumSms'(1);
      busy_d = 1'b1;
    end
    for (int unsigned sm = 0; sm < NumSms; sm++) begin
      changed_d[sm] = !start_i && decided[sm] && chosen.sm[sm] != allowed_q.sm[sm];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q      <= 1'b0;
      next_q      <= '0;
      members_q   <= '0;
      ranked_q    <= '0;
      has_count_q <= '0;
      ahead_q     <= '0;
      allowed_q   <= '0;
      apart_q     <= NumKernels'(1);
      changed_q   <= '0;
    end else begin
      busy_q      <= busy_d;
      next_q      <= next_d;
      ahead_q     <= ahead_d;
      changed_q   <= changed_d;
      if (start_i) begin
        members_q   <= members_i;
        ranked_q    <= ranked_d;
        has_count_q <= has_count_d;
      end
      if (busy_q && !start_i) apart_q <= apart_d;
      for (int unsigned sm = 0; sm < NumSms; sm++) begin
        if (decided[sm] && !start_i) allowed_q.sm[sm] <= chosen.sm[sm];
      end
    end
  end

  assign busy_o    = busy_q;
  assign allowed_o = allowed_q;
  assign apart_o   = apart_q;
  assign changed_o = changed_q;

  // One SM is decided at a time while the walk is under way, and none after it.
  `SMK_ASSERT(NextIsOnehot_A, $onehot0(next_q) && busy_q == (next_q != '0))
  for (genvar sm = 0; sm < NumSms; sm++) begin : gen_laws
    // Nobody is allowed who is no member.
    `SMK_ASSERT(MembersOnly_A, decided[sm] |-> (chosen.sm[sm] & ~members_q) == '0)
    // One kernel per SM in spatial partitioning, if there are enough SMs, or several.
    `SMK_ASSERT(OneKernelWhenSpatial_A, decided[sm] && spatial_i && members_q != '0 |->
                $onehot(chosen.sm[sm]) || (32'(ones_of(members_q)) > NumSms && chosen.sm[sm] != '0))
    // Conservation: every SM is given as many kernels as it may have, if there are so many.
    `SMK_ASSERT(AsManyAsAllowed_A, decided[sm] && !spatial_i && dedicated.sm[sm] == '0 |->
                ones_of(chosen.sm[sm]) == ((ones_of(members_q) < kernels_per_sm_i)
                                           ? ones_of(members_q) : kernels_per_sm_i))
  end
  `SMK_ASSERT(ApartOnehot_A, $onehot(apart_q))
  // Not all members are ahead, and only members are.
  `SMK_ASSERT(SomeoneIsBehind_A, (ahead_q & ~members_q) == '0 &&
              (members_q == '0 || ahead_q != members_q))
  // The configuration is constant during a walk.
  `SMK_ASSERT(ConstantDuringAWalk_M, start_i || busy_q |=> start_i || !busy_q ||
              $stable({spatial_i, profile_i, kernels_per_sm_i}))
  // An SM hosts at least one kernel.
  `SMK_ASSERT(HostsSomeKernel_M, busy_q |-> kernels_per_sm_i != '0)
  // Nothing changes without a start or a walk.
  `SMK_ASSERT(IdleHolds_A, !start_i && !busy_q |=> $stable({busy_q, next_q, members_q, ranked_q,
              has_count_q, ahead_q, allowed_q, apart_q}) && changed_q == '0)
  // A walk is really begun anew in our tests.
  `SMK_COVER(RestartedWalk_C, start_i && busy_q)
endmodule
