// SPDX-License-Identifier: Apache-2.0
// sim_partition_planner: smk_partition_planner with one port for all that it hears and one for all that it says,
// for simulation only. See sim_driver.
`include "sim_apart.svh"

// verilator tracing_off
module sim_partition_planner (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  sim_planner_hears_t hears_i,
  output sim_planner_says_t  says_o,
  // Some of it is a pulse. Not idle.
  output logic               pulse_o,
  output logic               busy_o
);
  assign pulse_o = says_o.done;
  assign busy_o  = says_o.busy || hears_i.start;
  // verilator tracing_on
  smk_partition_planner u_partition_planner (
    .clk_i,
    .rst_ni,
    .start_i      (hears_i.start),
    .kernels_i    (hears_i.kernels),
    .sm_i         (hears_i.sm),
    .apart_i      (hears_i.apart),
    .mode_i       (hears_i.mode),
    .table_tbs_i  (hears_i.table_tbs),
    .last_at_end_i(hears_i.last_at_end),
    .need_i       (hears_i.need),
    .tb_share_i   (hears_i.tb_share),
    .order_i      (hears_i.order),
    .busy_o       (says_o.busy),
    .done_o       (says_o.done),
    .kernels_o    (says_o.kernels),
    .anywhere_o   (says_o.anywhere),
    .range_o      (says_o.range)
  );
endmodule
