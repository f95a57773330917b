// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_token_arbiter: kernels that come and go at any time, TBs that leave when they like, any
// shares and quotas. In a window of few units, each of one cycle or of two.
`include "formal.svh"

module formal_token_arbiter (
  input logic                      clk_i,
  input logic                      enable_i,
  input logic                      two_i,
  input smk_pkg::token_quota_t     quota_i,
  input smk_pkg::token_share_vec_t request_i,
  input smk_pkg::token_share_vec_t limit_i,
  input smk_pkg::kernel_mask_t     demand_i,
  input smk_pkg::kernel_mask_t     resident_i
);
  localparam int unsigned NumKernels  = smk_pkg::NumKernels;
  localparam int unsigned ShareWidth  = smk_pkg::TokenShareWidth;
  localparam int unsigned WindowWidth = smk_pkg::TokenWindowWidth;
  // From the look at the first kernel to the cycle in which the token is seen to be given.
  localparam int unsigned Decision    = NumKernels + 4;

  `FORMAL_RESET
  // The configuration is constant.
  logic                      known_q = 1'b0, enable_q, two_q;
  smk_pkg::token_quota_t     quota_q;
  smk_pkg::token_share_vec_t request_q, limit_q;
  always_ff @(posedge clk_i) begin
    known_q   <= 1'b1;
    enable_q  <= enable_i;
    two_q     <= two_i;
    quota_q   <= quota_i;
    request_q <= request_i;
    limit_q   <= limit_i;
  end
  `ASSUME(ConfigurationIsConstant_M, !known_q || {enable_i, two_i, quota_i, request_i, limit_i} ==
          {enable_q, two_q, quota_q, request_q, limit_q})
  logic [WindowWidth-1:0] window;
  assign window = WindowWidth'(smk_pkg::TokenUnitsLog2) + WindowWidth'(two_i);

  logic            assign_pulse, busy;
  smk_pkg::token_t token;
  smk_token_arbiter u_dut (
    .clk_i, .rst_ni, .enable_i, .quota_i, .request_i, .limit_i, .demand_i, .resident_i,
    .window_i(window),
    .assign_o(assign_pulse),
    .token_o (token),
    .busy_o  (busy)
  );
  `WATCH([NumKernels*ShareWidth-1:0], used, u_dut.used)

  // One holder, and one user, at most.
  function automatic logic one_at_most(input smk_pkg::kernel_mask_t mask);
    one_at_most = (mask & (mask - NumKernels'(1))) == '0;
  endfunction
  `PROVE(OneHolder_A, one_at_most(token.holder) && one_at_most(token.user))

  // A change of the holder is announced in the same cycle, and only then.
  smk_pkg::kernel_mask_t holder_q;
  always_ff @(posedge clk_i) holder_q <= rst_ni ? token.holder : '0;
  `PROVE(ChangesArePulsed_A, assign_pulse == (token.holder != holder_q))

  // Which kernels had TBs and were within their limit, now and in the cycles of a decision.
  smk_pkg::kernel_mask_t              may, below, demand_q, lately;
  logic [(Decision+1)*NumKernels-1:0] may_q;
  logic [ShareWidth-1:0]              at_used, at_request, at_limit;
  always_comb begin
    {may, below} = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      at_used    = used[k*ShareWidth +: ShareWidth];
      at_request = request_i.kernel[k];
      at_limit   = limit_i.kernel[k];
      may[k]     = demand_q[k] && at_used <= at_limit;
      below[k]   = at_used < at_request;
    end
    lately = '0;
    for (int unsigned i = 0; i <= Decision; i++) lately = lately | may_q[i*NumKernels +: NumKernels];
  end
  always_ff @(posedge clk_i) begin
    demand_q <= rst_ni ? demand_i & {NumKernels{enable_i}} : '0;
    may_q    <= rst_ni ? {may_q[Decision*NumKernels-1:0], may} : '0;
  end
  // The token is given to a kernel with TBs that is not above its limit.
  `PROVE(GivenWithinLimit_A, !token.given || (token.holder & lately) != '0)

  // For induction: one kernel is looked at at a time.
  `WATCH([NumKernels-1:0], at, u_dut.at_q)
  `PROVE(OneIsLookedAt_A, at != '0 && one_at_most(at))

  // While nothing changes, it is given to the kernel that is farthest below its request, or else
  // farthest below its limit.
  logic [5:0]                         still_q;
  logic [NumKernels*ShareWidth-1:0]   used_q;
  smk_pkg::kernel_mask_t              demand_before_q;
  logic                               farther_below, farther_within;
  logic [ShareWidth-1:0]              gap, holder_gap;
  always_ff @(posedge clk_i) begin
    used_q          <= used;
    demand_before_q <= demand_q;
    if (!rst_ni || used != used_q || demand_q != demand_before_q) still_q <= '0;
    else if (still_q != '1)                                       still_q <= still_q + 6'd1;
  end
  always_comb begin
    {farther_below, farther_within, gap, holder_gap} = '0;
    for (int unsigned h = 0; h < NumKernels; h++) begin
      for (int unsigned k = 0; k < NumKernels; k++) begin
        if (token.holder[h] && k != h && may[k]) begin
          gap        = (below[k] ? request_i.kernel[k] : limit_i.kernel[k]) -
                       used[k*ShareWidth +: ShareWidth];
          holder_gap = (below[h] ? request_i.kernel[h] : limit_i.kernel[h]) -
                       used[h*ShareWidth +: ShareWidth];
          if (below[k] && !below[h])                   farther_below  = 1'b1;
          if (below[k] == below[h] && gap > holder_gap) farther_within = 1'b1;
        end
      end
    end
  end
  `PROVE(FarthestIsGiven_A, !token.given || still_q <= 6'(Decision) || used != used_q ||
         demand_q != demand_before_q ||
         (!farther_below && !farther_within))

  // A token is used for its quota of cycles, and then for as long as a decision takes at most.
  logic [5:0] ran_q, over_q;
  logic       holds, uses;
  assign holds = token.holder == holder_q && !token.given;
  assign uses  = token.user != '0 && token.user == token.holder && holds;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !holds)                         ran_q <= '0;
    else if (uses && !token.over && ran_q != '1) ran_q <= ran_q + 6'd1;
    if (!rst_ni || !uses || !token.over) over_q <= '0;
    else if (over_q != '1)               over_q <= over_q + 6'd1;
  end
  `PROVE(TokenLastsItsQuota_A, !enable_i || ran_q <= 6'(quota_i) + 6'd2 + 6'(Decision))
  `PROVE(DecisionIsShort_A, over_q <= 6'(Decision))
  // Whoever uses the GPU without the token has TBs there: overuse ends when they have left.
  smk_pkg::kernel_mask_t resident_q, resident_before_q;
  always_ff @(posedge clk_i) begin
    resident_q        <= rst_ni ? resident_i & {NumKernels{enable_i}} : '0;
    resident_before_q <= rst_ni ? resident_q : '0;
  end
  `PROVE(OveruseHasTbs_A, (token.user & ~holder_q & ~resident_before_q) == '0)

  // Nobody has more of the window than the window.
  logic full;
  always_comb begin
    full = 1'b0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (used[k*ShareWidth +: ShareWidth] > ShareWidth'(1 << smk_pkg::TokenUnitsLog2)) full = 1'b1;
    end
  end
  `PROVE(UsedFitsWindow_A, !full)

  // While nobody has the token, and a kernel could have it all the time, one is given: two rounds of
  // looking, as the kernel may be too late for the first.
  logic [5:0] free_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !enable_i || token.holder != '0 || !may[0]) free_q <= '0;
    else if (free_q != '1)                                     free_q <= free_q + 6'd1;
  end
  `PROVE(WhoMayIsServed_A, free_q <= 6'(2 * Decision + 2))

  // Idle: nobody has TBs, and nothing is on its way.
  (* keep *) logic idle;
  assign idle = rst_ni && !busy;
endmodule
