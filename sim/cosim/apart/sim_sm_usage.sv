// SPDX-License-Identifier: Apache-2.0
// sim_sm_usage: smk_sm_usage with one port for all that it hears and one for all that it says, for simulation only.
// See sim_driver.
`include "sim_apart.svh"

// verilator tracing_off
module sim_sm_usage (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  smk_pkg::need_vec_t need_i,
  input  sim_usage_hears_t   hears_i,
  output sim_usage_says_t    says_o,
  // Nothing of it is a pulse. Not idle: shares follow counts.
  output logic               pulse_o,
  output logic               busy_o
);
  smk_pkg::share_t unused_share, unused_others_share;
  logic            moves, moved_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) moved_q <= 1'b0;
    else         moved_q <= moves;
  end
  assign moves         = hears_i.arrives || hears_i.leaves;
  assign pulse_o       = 1'b0;
  assign busy_o        = moves || moved_q;
  assign says_o.shares = u_usage.shares;
  // verilator tracing_on
  smk_sm_usage u_usage (
    .clk_i,
    .rst_ni,
    .need_i,
    .arrive_valid_i (hears_i.arrives),
    .arrive_kernel_i(hears_i.arrive_kernel),
    .arrive_need_i  (hears_i.arrive_need),
    .leave_valid_i  (hears_i.leaves),
    .leave_kernel_i (hears_i.leave_kernel),
    .resident_o     (says_o.resident),
    .some_o         (says_o.some),
    .taken_o        (says_o.taken),
    .share_o        (unused_share),
    .exclude_i      ('0),
    .others_share_o (unused_others_share)
  );
endmodule
