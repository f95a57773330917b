// SPDX-License-Identifier: Apache-2.0
// Proofs of how smk_token_arbiter takes turns, whatever the usage window says: it is left out, and any
// kernel has used anything in any cycle. So they hold for every window.
`include "formal.svh"

module smk_token_usage (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic [smk_pkg::TokenWindowWidth-1:0] window_i,
  input  logic                      passes_i,
  input  smk_pkg::kernel_mask_t     user_i,
  output smk_pkg::token_share_vec_t used_o,
  output logic                      busy_o
);
  (* anyseq *) reg [smk_pkg::NumKernels*smk_pkg::TokenShareWidth-1:0] any;
  assign used_o = any;
  assign busy_o = 1'b0;
endmodule

module formal_token_turn (
  input logic                      clk_i,
  input logic                      enable_i,
  input smk_pkg::token_quota_t     quota_i,
  input smk_pkg::token_share_vec_t request_i,
  input smk_pkg::token_share_vec_t limit_i,
  input smk_pkg::kernel_mask_t     demand_i,
  input smk_pkg::kernel_mask_t     resident_i,
  input logic [2:0]                stay_i
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  localparam int unsigned ShareWidth = smk_pkg::TokenShareWidth;
  localparam int unsigned StayWidth  = 3;
  localparam int unsigned OverWidth  = 6;
  // From the look at the first kernel to the cycle in which the token is seen to be given.
  localparam int unsigned Decision   = NumKernels + 4;

  `FORMAL_RESET
  // The configuration is constant.
  logic                      known_q = 1'b0, enable_q;
  smk_pkg::token_quota_t     quota_q;
  smk_pkg::token_share_vec_t request_q, limit_q;
  always_ff @(posedge clk_i) begin
    known_q   <= 1'b1;
    enable_q  <= enable_i;
    quota_q   <= quota_i;
    request_q <= request_i;
    limit_q   <= limit_i;
  end
  `ASSUME(ConfigurationIsConstant_M, !known_q || {enable_i, quota_i, request_i, limit_i} ==
          {enable_q, quota_q, request_q, limit_q})

  logic            assign_pulse, busy;
  smk_pkg::token_t token;
  smk_token_arbiter u_dut (
    .clk_i, .rst_ni, .enable_i, .quota_i, .request_i, .limit_i, .demand_i, .resident_i,
    .window_i('0),
    .assign_o(assign_pulse),
    .token_o (token),
    .busy_o  (busy)
  );
  `WATCH([NumKernels*ShareWidth-1:0], used, u_dut.used)
  // Every cycle is counted, as time passes in all in which a kernel waits.
  logic passes;
  assign passes = 1'b1;

  // Which kernels have TBs and are within their limit, and which are below their request.
  smk_pkg::kernel_mask_t may, below, demand_q, holder_q;
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      may[k]   = demand_q[k] && used[k*ShareWidth +: ShareWidth] <= limit_i.kernel[k];
      below[k] = used[k*ShareWidth +: ShareWidth] < request_i.kernel[k];
    end
  end
  always_ff @(posedge clk_i) begin
    demand_q <= rst_ni ? demand_i & {NumKernels{enable_i}} : '0;
    holder_q <= rst_ni ? token.holder : '0;
  end

  `include "token_arbiter/turn.svh"

  // How long TBs of a kernel are on an SM without the token at most: any constant. A cycle is fair as
  // long as none were there for longer.
  logic [StayWidth-1:0]            stay_q;
  logic [NumKernels*StayWidth-1:0] stays_q;
  logic [NumKernels*OverWidth-1:0] uses_q, over_q;
  smk_pkg::kernel_mask_t           resident_q;
  logic                            fair, fair_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) stay_q <= stay_i;
    resident_q <= rst_ni ? resident_i & {NumKernels{enable_i}} : '0;
    fair_q     <= !rst_ni || fair;
  end
  // Cycles without a break that count to a kernel, from a token on; and its overuse, when its token is
  // over, or not its own.
  for (genvar k = 0; k < NumKernels; k++) begin : gen_over
    logic over;
    assign over = token.user[k] && (token.over || !holder_q[k]);
    always_ff @(posedge clk_i) begin
      if (!rst_ni || !resident_q[k] || token.holder[k]) stays_q[k*StayWidth +: StayWidth] <= '0;
      else stays_q[k*StayWidth +: StayWidth] <= stays_q[k*StayWidth +: StayWidth] + StayWidth'(fair);
      if (!rst_ni || !token.user[k] || (token.given && token.holder[k])) begin
        uses_q[k*OverWidth +: OverWidth] <= '0;
      end else if (uses_q[k*OverWidth +: OverWidth] != '1) begin
        uses_q[k*OverWidth +: OverWidth] <= uses_q[k*OverWidth +: OverWidth] + OverWidth'(1);
      end
      if (!rst_ni || !over) over_q[k*OverWidth +: OverWidth] <= '0;
      else if (over_q[k*OverWidth +: OverWidth] != '1) begin
        over_q[k*OverWidth +: OverWidth] <= over_q[k*OverWidth +: OverWidth] + OverWidth'(1);
      end
    end
  end
  logic over_is_short, use_is_short;
  always_comb begin
    fair = fair_q;
    {over_is_short, use_is_short} = '1;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (resident_q[k] && !token.holder[k] && stays_q[k*StayWidth +: StayWidth] == stay_q) fair = 1'b0;
      if (32'(over_q[k*OverWidth +: OverWidth]) > 32'(stay_q) + Decision) over_is_short = 1'b0;
      if (32'(uses_q[k*OverWidth +: OverWidth]) > 32'(quota_i) + 32'(stay_q) + Decision + 2) begin
        use_is_short = 1'b0;
      end
    end
  end
  // Overuse lasts as long as a decision takes, and as TBs of a kernel that lost the token stay.
  `PROVE(OveruseIsTheStay_A, !enable_i || !fair || quota_i == '0 || over_is_short)
  // With a token a kernel has the GPU for its quota, and so long.
  `PROVE(UseIsQuotaAndStay_A, !enable_i || !fair || quota_i == '0 || use_is_short)
endmodule
