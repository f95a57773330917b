// SPDX-License-Identifier: Apache-2.0
// sim_sm_usages: smk_sm_usage of every SM with one port for all that they hear and one for all that they say, for
// simulation only. See sim_driver.
`include "sim_apart.svh"

// verilator tracing_off
module sim_sm_usages (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  sim_usages_hear_t hears_i,
  output sim_usages_say_t  says_o,
  // Nothing of it is a pulse. Not idle: shares follow counts.
  output logic             pulse_o,
  output logic             busy_o
);
  smk_pkg::sm_mask_t moves;
  logic              moved_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) moved_q <= 1'b0;
    else         moved_q <= moves != '0;
  end
  assign pulse_o = 1'b0;
  assign busy_o  = moves != '0 || moved_q;
  // verilator tracing_on
  for (genvar i = 0; i < smk_pkg::NumSms; i++) begin : gen_sm
    // verilator tracing_off
    smk_pkg::share_t unused_share, unused_others_share;
    // verilator tracing_on
    smk_sm_usage u_usage (
      .clk_i,
      .rst_ni,
      .need_i         (hears_i.need),
      .arrive_valid_i (hears_i.sm[i].arrives),
      .arrive_kernel_i(hears_i.sm[i].arrive_kernel),
      .arrive_need_i  (hears_i.sm[i].arrive_need),
      .leave_valid_i  (hears_i.sm[i].leaves),
      .leave_kernel_i (hears_i.sm[i].leave_kernel),
      .resident_o     (says_o.sm[i].resident),
      .some_o         (says_o.sm[i].some),
      .taken_o        (says_o.sm[i].taken),
      .share_o        (unused_share),
      .exclude_i      ('0),
      .others_share_o (unused_others_share)
    );
    assign says_o.sm[i].shares = u_usage.shares;
    assign moves[i]            = hears_i.sm[i].arrives || hears_i.sm[i].leaves;
  end
endmodule
