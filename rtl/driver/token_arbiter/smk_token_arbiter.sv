// SPDX-License-Identifier: Apache-2.0
// smk_token_arbiter: whose the GPU is, and for how long.
//
// Purpose     One token for all SMs. A kernel slot that has it keeps it for a quota of cycles, or until
//             it has no TBs. Then the next one is chosen: of those with TBs that are not above their
//             limit in the usage window the farthest below its request, else below its limit; between
//             equals the next slot after the last holder. Whose TBs must leave still uses the GPU.
// Paper       [Gemini] Sec. 3.5.1, Fig. 6; 3.5.3; deviations [D82] to [D85].
// Interface   assign_o: pulse (S5), the holder has changed. token_o: registers.
// Latency     A new holder NumKernels + 4 cycles after a token has ended, a first one NumKernels + 5
//             after demand_i has risen.
// Throughput  One decision at a time.
// Reset       No token, an empty window.
// Model       model/control/driver/token_arbiter.h   Doc  docs/blocks/token_arbiter.md
// Does not move a TB: see smk_sm_assign, which gives the holder all SMs, and smk_tb_dispatch.
`include "smk_assert.svh"

module smk_token_arbiter (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  // Constant during a run: log2 of the window's cycles; cycles of a token; shares in units of the
  // window, of which it has 2^TokenUnitsLog2.
  input  logic                      enable_i,
  input  logic [smk_pkg::TokenWindowWidth-1:0] window_i,
  input  smk_pkg::token_quota_t     quota_i,
  input  smk_pkg::token_share_vec_t request_i,
  input  smk_pkg::token_share_vec_t limit_i,
  // Kernels with TBs that have not ended; with TBs on some SM.
  input  smk_pkg::kernel_mask_t     demand_i,
  input  smk_pkg::kernel_mask_t     resident_i,
  output logic                      assign_o,
  output smk_pkg::token_t           token_o,
  output logic                      busy_o
);
  `SMK_CHECK_CONFIG

  localparam int unsigned NumKernels     = smk_pkg::NumKernels;
  localparam int unsigned KernelCntWidth = smk_pkg::KernelCntWidth;
  localparam int unsigned ShareWidth     = smk_pkg::TokenShareWidth;
  localparam int unsigned QuotaWidth     = smk_pkg::TokenQuotaWidth;

  // Nobody has the token; who gets it is looked for, kernel by kernel; the last one's claim is worked
  // out, and compared; the token is given; somebody has it.
  typedef enum logic [2:0] {StRest, StLook, StClaim, StCompare, StGive, StHold} step_e;
  // What a kernel has had, and may have.
  typedef struct packed {
    logic                  valid;
    logic [NumKernels-1:0] kernel;
    logic [ShareWidth-1:0] used;
    logic [ShareWidth-1:0] request;
    logic [ShareWidth-1:0] limit;
  } look_t;
  // How far below its request, or its limit, a kernel is.
  typedef struct packed {
    logic                  valid;
    logic [NumKernels-1:0] kernel;
    logic                  below;   // its request
    logic [ShareWidth-1:0] gap;
  } claim_t;

  step_e                     step_d, step_q;
  smk_pkg::kernel_mask_t     demand_q, resident_q, holder_d, holder_q, at_d, at_q;
  logic [KernelCntWidth-1:0] looked_d, looked_q;
  logic [QuotaWidth-1:0]     left_d, left_q;
  look_t                     look_d, look_q;
  claim_t                    seen_d, seen_q, best_d, best_q;
  logic                      owns, runs, expires, returned, over_d, over_q;
  smk_pkg::token_share_vec_t used;

  // TBs of others are on their way out: the first of these is who uses the GPU, and the token's time
  // does not begin before they have left.
  smk_pkg::kernel_mask_t others, user;
  logic                  passes, usage_busy;
  assign others = resident_q & ~holder_q;
  assign user   = (others != '0) ? others & (~others + NumKernels'(1)) : holder_q & demand_q;
  assign passes = demand_q != '0 || others != '0;

  assign owns     = (holder_q & demand_q) != '0;
  assign runs     = step_q == StHold && owns && others == '0;
  assign expires  = step_q == StHold && left_q == '0;
  assign returned = step_q == StHold && !owns;

  // The kernel that is looked at.
  always_comb begin
    look_d        = '0;
    look_d.valid  = step_q == StLook && (at_q & demand_q) != '0;
    look_d.kernel = at_q & {NumKernels{step_q == StLook}};
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (look_d.kernel[k]) begin
        look_d.used    = look_d.used | used.kernel[k];
        look_d.request = look_d.request | request_i.kernel[k];
        look_d.limit   = look_d.limit | limit_i.kernel[k];
      end
    end
  end

  // What it has had, against its request and its limit.
  logic [ShareWidth:0] to_request, to_limit;
  always_comb begin
    to_request    = {1'b0, look_q.request} - {1'b0, look_q.used};
    to_limit      = {1'b0, look_q.limit} - {1'b0, look_q.used};
    seen_d.valid  = look_q.valid && `SMK_CUT(WithinLimit, !to_limit[ShareWidth]);
    seen_d.kernel = look_q.kernel;
    seen_d.below  = !to_request[ShareWidth] && to_request != '0;
    seen_d.gap    = seen_d.below ? to_request[ShareWidth-1:0] : to_limit[ShareWidth-1:0];
  end

  // Better than all before it: below its request, then farther below; the first of equals stays.
  logic better;
  assign better = seen_q.valid &&
                  (!best_q.valid || (seen_q.below && !best_q.below) ||
                   (seen_q.below == best_q.below &&
                    `SMK_CUT(Farther, seen_q.gap > best_q.gap)));
  always_comb begin
    best_d = best_q;
    if (better) best_d = seen_q;
    if (step_q == StRest || step_q == StHold) best_d = '0;
  end

  // Which kernels are looked at, beginning after the last holder.
  smk_pkg::kernel_mask_t start;
  assign start = (step_q == StGive && best_q.valid) ? best_q.kernel : at_q;
  always_comb begin
    at_d     = at_q;
    looked_d = '0;
    if (step_q == StLook || (step_q == StGive && best_q.valid)) begin
      at_d = {start[NumKernels-2:0], start[NumKernels-1]};
    end
    if (step_q == StLook) looked_d = looked_q + KernelCntWidth'(1);
  end

  always_comb begin
    step_d   = step_q;
    holder_d = holder_q;
    left_d   = left_q;
    if (`SMK_CUT(Spends, runs) && left_q != '0) left_d = left_q - QuotaWidth'(1);
    unique case (step_q)
      // Until somebody has TBs, and again and again until one may have the token.
      StRest: if (demand_q != '0) step_d = StLook;
      StLook: if (looked_q == KernelCntWidth'(NumKernels - 1)) step_d = StClaim;
      StClaim: step_d = StCompare;
      StCompare: step_d = StGive;
      StGive: begin
        step_d   = best_q.valid ? StHold : StRest;
        holder_d = best_q.valid ? best_q.kernel : '0;
        left_d   = quota_i;
      end
      // Until its time is over, or it has no TBs.
      StHold: if (expires || returned) step_d = StLook;
      default: step_d = StRest;
    endcase
    if (!enable_i) step_d = StRest;
  end

  // Overuse: from the expiry until another one has the GPU, or the same one has another token.
  logic taken_over;
  assign taken_over = (step_q == StHold || step_q == StRest) && others == '0;
  always_comb begin
    over_d = over_q;
    if (expires)                                            over_d = 1'b1;
    else if (step_q == StGive && best_q.kernel == holder_q) over_d = 1'b0;
    else if (taken_over)                                    over_d = 1'b0;
  end

  logic                  assign_q, given_q, user_over_q, passes_q;
  smk_pkg::kernel_mask_t user_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q      <= StRest;
      demand_q    <= '0;
      resident_q  <= '0;
      holder_q    <= '0;
      at_q        <= NumKernels'(1);
      looked_q    <= '0;
      left_q      <= '0;
      look_q      <= '0;
      seen_q      <= '0;
      best_q      <= '0;
      over_q      <= 1'b0;
      assign_q    <= 1'b0;
      given_q     <= 1'b0;
      passes_q    <= 1'b0;
      user_q      <= '0;
      user_over_q <= 1'b0;
    end else begin
      step_q      <= step_d;
      demand_q    <= demand_i & {NumKernels{enable_i}};
      resident_q  <= resident_i & {NumKernels{enable_i}};
      holder_q    <= holder_d;
      at_q        <= at_d;
      looked_q    <= looked_d;
      left_q      <= left_d;
      look_q      <= look_d;
      seen_q      <= seen_d;
      best_q      <= best_d;
      over_q      <= over_d;
      assign_q    <= holder_d != holder_q;
      given_q     <= step_q == StGive && best_q.valid;
      passes_q    <= `SMK_CUT(TimePasses, passes);
      user_q      <= user;
      user_over_q <= over_q && user != '0 && !taken_over;
    end
  end

  smk_token_usage u_usage (
    .clk_i, .rst_ni, .window_i,
    .passes_i(passes_q),
    .user_i  (user_q),
    .used_o  (used),
    .busy_o  (usage_busy)
  );

  assign assign_o       = assign_q;
  assign token_o.holder = holder_q;
  assign token_o.user   = user_q;
  assign token_o.given  = given_q;
  assign token_o.over   = user_over_q;
  assign busy_o = (enable_i && (demand_i != demand_q || resident_i != resident_q)) || passes ||
                  usage_busy || step_q != StRest || over_q || assign_q || given_q;

  // There is one token.
  `SMK_ASSERT(OneHolder_A, $onehot0(holder_q) && (step_q != StHold || holder_q != '0))
  // Only a kernel that has TBs and is within its limit gets it.
  `SMK_ASSERT(ClaimsWithinLimit_A, seen_d.valid |-> look_q.valid && look_q.used <= look_q.limit)
  // One kernel is looked at at a time.
  `SMK_ASSERT(OneIsLookedAt_A, $onehot(at_q) && $onehot0(user_q))
  // Conservation: no cycle of use is without a change of the window's time.
  `SMK_ASSERT(UseTakesTime_A, user_q == '0 || passes_q)
  // Nothing changes while nobody has TBs.
  `SMK_ASSERT(IdleHolds_A, !busy_o |=> $stable({step_q, holder_q, at_q, left_q, used}) && !assign_o)
  // TBs really go on when their token has expired, and nobody may have it, in our tests.
  `SMK_COVER(Overuse_C, user_over_q && others != '0)
  `SMK_COVER(NobodyMay_C, step_q == StGive && !best_q.valid && demand_q != '0)
endmodule
