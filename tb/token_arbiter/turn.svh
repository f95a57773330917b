// SPDX-License-Identifier: Apache-2.0
// How long a kernel has the GPU above its limit, or not below its request: the record that two proofs of
// smk_token_arbiter share. For use inside a module with `used`, `may`, `below`, `demand_q`, `token` and so on.
`ifndef SMK_TOKEN_TURN_SVH
`define SMK_TOKEN_TURN_SVH
  // A decision that has begun, a token, and the decision after it.
  localparam int unsigned Turn = 2 * Decision + 2;

  // The last cycle of the window that `used` has: a cycle behind.
  smk_pkg::kernel_mask_t user_q, holder_before_q;
  logic                  passes_q;
  always_ff @(posedge clk_i) begin
    user_q          <= rst_ni ? token.user : '0;
    passes_q        <= rst_ni && passes;
    holder_before_q <= rst_ni ? holder_q : '0;
  end

  // Since a kernel has been above its limit without a break: the cycles that counted to it, with the
  // token and without. Since a kernel with TBs has been below its request, and no other one: the cycles
  // that did not count to it, those of TBs on their way out apart.
  logic [NumKernels-1:0]   alone;
  logic [NumKernels*5-1:0] above_q, waits_q;
  logic [NumKernels*7-1:0] over_above_q, over_waits_q;
  function automatic logic [6:0] count_up(input logic [6:0] value, input logic up);
    count_up = value + 7'(up && value != '1);
  endfunction
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      alone[k] = may[k] && below[k] && (demand_q & below & ~(NumKernels'(1) << k)) == '0;
    end
  end
  for (genvar k = 0; k < NumKernels; k++) begin : gen_record
    logic within, has, leaves, waits;
    assign within = used[k*ShareWidth +: ShareWidth] <= limit_i.kernel[k];
    assign has    = user_q[k] && holder_before_q[k];
    assign leaves = (user_q & ~holder_before_q) != '0;
    assign waits  = passes_q && !user_q[k] && !leaves;
    always_ff @(posedge clk_i) begin
      if (!rst_ni || within) begin
        above_q[k*5 +: 5]      <= '0;
        over_above_q[k*7 +: 7] <= '0;
      end else begin
        above_q[k*5 +: 5]      <= above_q[k*5 +: 5] + 5'(has && above_q[k*5 +: 5] != '1);
        over_above_q[k*7 +: 7] <= count_up(over_above_q[k*7 +: 7], user_q[k] && !has);
      end
      if (!rst_ni || !alone[k]) begin
        waits_q[k*5 +: 5]      <= '0;
        over_waits_q[k*7 +: 7] <= '0;
      end else begin
        waits_q[k*5 +: 5]      <= waits_q[k*5 +: 5] + 5'(waits && waits_q[k*5 +: 5] != '1);
        over_waits_q[k*7 +: 7] <= count_up(over_waits_q[k*7 +: 7], !user_q[k] && leaves);
      end
    end
  end
  logic above_is_short, turn_comes;
  always_comb begin
    {above_is_short, turn_comes} = '1;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (32'(above_q[k*5 +: 5]) > 32'(quota_i) + Turn) above_is_short = 1'b0;
      if (32'(waits_q[k*5 +: 5]) > 32'(quota_i) + Turn) turn_comes = 1'b0;
    end
  end
  // Above its limit a kernel has the GPU for a token and two decisions at most, but for overuse.
  `PROVE(AboveIsShort_A, !enable_i || above_is_short)
  // Who alone is below its request waits for so long at most, but for overuse of others.
  `PROVE(TurnComes_A, !enable_i || turn_comes)
`endif
