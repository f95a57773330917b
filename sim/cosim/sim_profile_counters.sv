// SPDX-License-Identifier: Apache-2.0
// sim_profile_counters: smk_profile_counters behind input registers, for simulation only.
//
// Purpose     One evaluation per cycle instead of two: see sim_quota_scheduler.
// Latency     The window that a tick ends is reported in the next cycle, as by smk_sm_control.
// Reset       No grant.
// verilator tracing_off
module sim_profile_counters (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  input  logic [smk_pkg::NumSchedulers-1:0] grant_valid_i,
  input  smk_pkg::grant_kernels_t           grant_kernel_i,
  input  logic                              tick_i,
  output logic                              report_valid_o,
  output smk_pkg::issued_vec_t              report_issued_o
);
  logic [smk_pkg::NumSchedulers-1:0] grant_valid_q;
  smk_pkg::grant_kernels_t           grant_kernel_q;
  logic                              tick_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      grant_valid_q  <= '0;
      grant_kernel_q <= '0;
      tick_q         <= 1'b0;
    end else begin
      grant_valid_q  <= grant_valid_i;
      grant_kernel_q <= grant_kernel_i;
      tick_q         <= tick_i;
    end
  end

  assign report_valid_o = tick_q;

  // verilator tracing_on
  smk_profile_counters u_profile_counters (
    .clk_i,
    .rst_ni,
    .grant_valid_i (grant_valid_q),
    .grant_kernel_i(grant_kernel_q),
    .tick_i        (tick_q),
    .issued_o      (report_issued_o)
  );
endmodule
