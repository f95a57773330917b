// SPDX-License-Identifier: Apache-2.0
// sim_token_arbiter: smk_token_arbiter with one port for all that it hears and one for all that it says, for
// simulation only. See sim_driver.
`include "sim_apart.svh"

// verilator tracing_off
module sim_token_arbiter (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  sim_arbiter_hears_t hears_i,
  output sim_arbiter_says_t  says_o,
  // Some of it is a pulse. Not idle.
  output logic               pulse_o,
  output logic               busy_o
);
  assign pulse_o = says_o.assigns;
  // verilator tracing_on
  smk_token_arbiter u_token_arbiter (
    .clk_i,
    .rst_ni,
    .enable_i  (hears_i.enable),
    .window_i  (hears_i.window),
    .quota_i   (hears_i.quota),
    .request_i (hears_i.request),
    .limit_i   (hears_i.limit),
    .demand_i  (hears_i.demand),
    .resident_i(hears_i.resident),
    .assign_o  (says_o.assigns),
    .token_o   (says_o.token),
    .busy_o
  );
endmodule
