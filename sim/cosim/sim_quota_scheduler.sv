// SPDX-License-Identifier: Apache-2.0
// sim_quota_scheduler: one smk_quota_scheduler behind input registers, for simulation only.
//
// Purpose     One evaluation per cycle instead of two. The edge that presents the inputs of a cycle
//             is the edge at which the block takes those of its cycle before; an instance that is
//             not evaluated for a while has that one edge outstanding.
// Latency     Outputs of a cycle right after its evaluation.
// Reset       Nothing ready.
// Registers only: every output is a port of smk_quota_scheduler.
// verilator tracing_off
module sim_quota_scheduler #(
  localparam int unsigned NumWarps  = smk_pkg::WarpsPerScheduler,
  localparam int unsigned WarpWidth = $clog2(NumWarps)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic [NumWarps-1:0]   ready_i,
  input  logic [NumWarps-1:0]   stop_i,
  input  logic [NumWarps-1:0]   leave_i,
  input  logic                  start_valid_i,
  input  logic [WarpWidth-1:0]  start_warp_i,
  input  smk_pkg::kernel_id_t   start_kernel_i,
  input  logic                  gated_i,
  input  smk_pkg::quota_vec_t   quota_i,
  input  logic                  load_i,
  input  logic                  tick_i,
  input  smk_pkg::warp_policy_e policy_i,
  input  smk_pkg::epoch_end_e   epoch_end_i,
  output logic                  grant_valid_o,
  output logic [WarpWidth-1:0]  grant_warp_o,
  output smk_pkg::kernel_id_t   grant_kernel_o,
  output smk_pkg::quota_vec_t   left_o,
  output logic                  reload_o,
  output smk_pkg::kernel_mask_t some_left_o
);
  logic [NumWarps-1:0]   ready_q, stop_q, leave_q;
  logic                  start_valid_q, gated_q, load_q, tick_q;
  logic [WarpWidth-1:0]  start_warp_q;
  smk_pkg::kernel_id_t   start_kernel_q;
  smk_pkg::quota_vec_t   quota_q;
  smk_pkg::warp_policy_e policy_q;
  smk_pkg::epoch_end_e   epoch_end_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ready_q        <= '0;
      stop_q         <= '0;
      leave_q        <= '0;
      start_valid_q  <= 1'b0;
      start_warp_q   <= '0;
      start_kernel_q <= '0;
      gated_q        <= 1'b0;
      quota_q        <= '0;
      load_q         <= 1'b0;
      tick_q         <= 1'b0;
      policy_q       <= smk_pkg::WarpPolicyGto;
      epoch_end_q    <= smk_pkg::EpochSpent;
    end else begin
      ready_q        <= ready_i;
      stop_q         <= stop_i;
      leave_q        <= leave_i;
      start_valid_q  <= start_valid_i;
      start_warp_q   <= start_warp_i;
      start_kernel_q <= start_kernel_i;
      gated_q        <= gated_i;
      quota_q        <= quota_i;
      load_q         <= load_i;
      tick_q         <= tick_i;
      policy_q       <= policy_i;
      epoch_end_q    <= epoch_end_i;
    end
  end

  // verilator tracing_on
  smk_quota_scheduler u_quota_scheduler (
    .clk_i,
    .rst_ni,
    .ready_i       (ready_q),
    .stop_i        (stop_q),
    .leave_i       (leave_q),
    .start_valid_i (start_valid_q),
    .start_warp_i  (start_warp_q),
    .start_kernel_i(start_kernel_q),
    .gated_i       (gated_q),
    .ungated_i     (!gated_q),
    .quota_i       (quota_q),
    .load_i        (load_q),
    .tick_i        (tick_q),
    .policy_i      (policy_q),
    .epoch_end_i   (epoch_end_q),
    .grant_valid_o,
    .grant_warp_o,
    .grant_kernel_o,
    .left_o,
    .reload_o,
    .some_left_o
  );
endmodule
