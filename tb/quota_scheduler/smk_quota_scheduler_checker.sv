// SPDX-License-Identifier: Apache-2.0
// smk_quota_scheduler_checker: grants and quotas of one scheduler, seen from its ports.
//
// Purpose     Keeps its own record of which kernel each warp belongs to, so that a grant is judged
//             without what the scheduler thinks.
`include "smk_assert.svh"

module smk_quota_scheduler_checker #(
  parameter  int unsigned NumWarps  = smk_pkg::WarpsPerScheduler,
  localparam int unsigned WarpWidth = $clog2(NumWarps)
) (
  input logic                 clk_i,
  input logic                 rst_ni,
  input logic [NumWarps-1:0]  ready_i,
  input logic [NumWarps-1:0]  stop_i,
  input logic [NumWarps-1:0]  leave_i,
  input logic                 start_valid_i,
  input logic [WarpWidth-1:0] start_warp_i,
  input smk_pkg::kernel_id_t  start_kernel_i,
  input logic                 gated_i,
  input smk_pkg::quota_vec_t  quota_i,
  input logic                 load_i,
  input logic                 tick_i,
  input logic                 reload,
  input logic                 grant_valid_o,
  input logic [WarpWidth-1:0] grant_warp_o,
  input smk_pkg::kernel_id_t  grant_kernel_o,
  input smk_pkg::quota_vec_t  left_o
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;

  typedef struct packed {
    logic [NumWarps-1:0][smk_pkg::KernelWidth-1:0] warp;
  } warp_kernels_t;
  warp_kernels_t kernel_of_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) kernel_of_q <= '0;
    else if (start_valid_i) kernel_of_q.warp[start_warp_i] <= start_kernel_i;
  end

  // What was, one cycle ago.
  smk_pkg::kernel_mask_t has_quota, had_quota_q;
  logic                  reloaded_q;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_has_quota
    assign has_quota[k] = left_o.kernel[k] != '0;
  end

  // A cycle in which nothing happens, and the one before when that was another.
  logic quiet, was_quiet_q;
  assign quiet = ready_i == '0 && !start_valid_i && leave_i == '0 && !load_i && !tick_i;
  logic [NumWarps-1:0] stop_q;
  logic                gated_q;
  smk_pkg::quota_vec_t quota_q, left_q;

  // Assertions in a process, behind a condition: a scheduler is evaluated more often than all else,
  // and concurrent ones would sample their signals in every evaluation.
  always_ff @(posedge clk_i) begin
    had_quota_q <= has_quota;
    reloaded_q  <= reload || !rst_ni;
    was_quiet_q <= quiet && rst_ni;
    if (quiet) {stop_q, gated_q, quota_q, left_q} <= {stop_i, gated_i, quota_i, left_o};
    if (rst_ni) begin
      if (grant_valid_o) begin
        // A grant goes to a ready warp of a TB that is not stopped.
        GrantNotStopped_A : assert (ready_i[grant_warp_o] && !stop_i[grant_warp_o]);
        // A grant is charged to the kernel that the warp was started for.
        GrantIsCharged_A : assert (grant_kernel_o == kernel_of_q.warp[grant_warp_o]);
        // While quotas are in force, a grant's kernel has some left.
        GrantHasQuota_A : assert (!gated_i || has_quota[kernel_of_q.warp[grant_warp_o]]);
      end
      // A quota that is spent stays spent until the reload: it never wraps below zero.
      QuotaNeverUnderflows_A : assert (reloaded_q || (has_quota & ~had_quota_q) == '0);
      if (quiet && was_quiet_q) begin
        // What is left changes at most once when nothing happens: by a reload.
        IdleHolds_A : assert ({stop_i, gated_i, quota_i} != {stop_q, gated_q, quota_q} ||
                              left_o == left_q || left_o == quota_i);
      end
    end
  end
endmodule

bind smk_quota_scheduler smk_quota_scheduler_checker #(.NumWarps(NumWarps)) u_checker (.*);
