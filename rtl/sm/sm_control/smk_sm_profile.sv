// SPDX-License-Identifier: Apache-2.0
// smk_sm_profile: the profile counters of an SM, and when it reports them; part of smk_sm_control.
//
// Purpose     Counts the grants of each cycle one cycle late, and reports the window that a tick ends.
// Paper       [SMK] Sec. 5.4.
// Interface   grant_*_i: the schedulers' grants of this cycle. tick_i: pulse (S5). report_*_o: pulse
//             with its counts (S5), registers.
// Latency     tick_i to report_valid_o 1 cycle.
// Throughput  One grant per scheduler and cycle, one window per cycle.
// Reset       No grant, nothing to report.
// Model       model/control/sm/sm_control.h   Doc  docs/blocks/sm_control.md
// A grant in the cycle of the tick counts in the next window. Keeps the last grant until something
// happens: nobody sees it before the next report.

module smk_sm_profile (
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

  smk_profile_counters u_profile_counters (
    .clk_i,
    .rst_ni,
    .grant_valid_i (grant_valid_q),
    .grant_kernel_i(grant_kernel_q),
    .tick_i        (tick_q),
    .issued_o      (report_issued_o)
  );
  assign report_valid_o = tick_q;
endmodule
