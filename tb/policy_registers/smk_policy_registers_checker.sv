// SPDX-License-Identifier: Apache-2.0
// smk_policy_registers_checker: what was written and who is there, by a record of its own.
`include "smk_assert.svh"
`include "smk_policy.svh"

module smk_policy_registers_checker #(
  parameter logic [`SMK_POLICY_WIDTH-1:0] DefaultPolicy = `SMK_POLICY_DEFAULT,
  parameter int unsigned QuietCycles   = 32,
  parameter int unsigned RestartCycles = 4
) (
  input logic                  clk_i,
  input logic                  rst_ni,
  input logic                  write_i,
  input logic                  read_i,
  input logic [7:0]            address_i,
  input logic [31:0]           data_i,
  input logic [31:0]           data_o,
  input logic                  error_o,
  input logic                  launch_taken_i,
  input smk_pkg::kernel_id_t   launch_kernel_i,
  input smk_pkg::kernel_mask_t kernel_done_i,
  input logic                  chip_awake_i,
  input logic                  launch_hold_o,
  input logic                  restart_o,
  input smk_pkg::policy_t      policy_o
);
  localparam int unsigned PolicyWidth = `SMK_POLICY_WIDTH;
  localparam int unsigned NumWords    = (PolicyWidth + 31) / 32;
  localparam int unsigned MaskWidth   = smk_pkg::NumKernels;

  // What the host has written, and which kernels have come and not gone; for how long nothing
  // was awake. A commit waits from its write on.
  logic [NumWords*32-1:0] words_q;
  logic [MaskWidth-1:0]   here_q;
  logic [31:0]            still_q;
  logic                   waits_q, commits, cancels;
  logic [4:0]             word;
  assign word    = address_i[4:0];
  assign commits = write_i && address_i == 8'(NumWords) && data_i[0] && !launch_hold_o;
  assign cancels = write_i && address_i == 8'(NumWords) && data_i[1] && waits_q && !restart_o;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      words_q <= (32*NumWords)'(DefaultPolicy);
      here_q  <= '0;
      still_q <= '0;
      waits_q <= 1'b0;
    end else begin
      if (write_i && !launch_hold_o && address_i < 8'(NumWords)) words_q[32*word +: 32] <= data_i;
      here_q <= (here_q & ~kernel_done_i) | (MaskWidth'(launch_taken_i) << launch_kernel_i);
      still_q <= chip_awake_i ? '0 : still_q + 1;
      if (commits)                                  waits_q <= 1'b1;
      if (cancels || restart_o || (waits_q && !launch_hold_o)) waits_q <= 1'b0;
    end
  end
  // What is in force is what was written last before the commit.
  `SMK_ASSERT(InForceIsWritten_A, $rose(restart_o) |-> waits_q && policy_o == words_q[PolicyWidth-1:0])
  // It changes in the first cycle of a reset only; no kernel is there, and nothing was awake for long.
  `SMK_ASSERT(ChangesOnce_A, !$stable(policy_o) |-> $rose(restart_o))
  `SMK_ASSERT(NoKernelIsThere_A, $rose(restart_o) |-> here_q == '0)
  `SMK_ASSERT(WasQuiet_A, $rose(restart_o) |-> $past(still_q) >= QuietCycles)
  // A reset has its length.
  logic [31:0] restart_cycles_q;
  always_ff @(posedge clk_i) restart_cycles_q <= restart_o ? restart_cycles_q + 1 : '0;
  `SMK_ASSERT(RestartIsWhole_A, $fell(restart_o) |-> $past(restart_cycles_q) == RestartCycles - 1)
  // Launches are held off until the change, unless it is cancelled.
  `SMK_ASSERT(HeldUntilChange_A, $fell(launch_hold_o) |-> $past(restart_o) || $past(cancels))
  // A policy in force is one that the chip supports: the ranges of its numbers, said anew.
  smk_pkg::tb_cnt_vec_t      table_tbs;
  smk_pkg::token_share_vec_t request, limit;
  logic [31:0]               requests;
  logic                      counts_fit;
  assign table_tbs = policy_o.table_tbs;
  assign request   = policy_o.token_request;
  assign limit     = policy_o.token_limit;
  always_comb begin
    requests   = '0;
    counts_fit = 1'b1;
    for (int unsigned k = 0; k < smk_pkg::NumKernels; k++) begin
      requests = requests + 32'(request.kernel[k]);
      if (32'(limit.kernel[k]) > 1024 || 32'(table_tbs.kernel[k]) > smk_pkg::LimitTbs) counts_fit = 1'b0;
    end
  end
  `SMK_ASSERT(InForceIsSupported_A, counts_fit && requests <= 1024 && policy_o.latency_scale != '0 &&
              policy_o.kernels_per_sm != '0 && 32'(policy_o.kernels_per_sm) <= smk_pkg::NumKernels &&
              32'(policy_o.epoch_length) > smk_pkg::NumKernels && policy_o.token_quota != '0 &&
              32'(policy_o.slicer_window) >= 1 && 32'(policy_o.slicer_window) <= 16000 &&
              policy_o.token_window >= 10 && policy_o.token_window <= 24 &&
              !(policy_o.dispatch == smk_pkg::DispatchSlicer && policy_o.preempt == smk_pkg::PreemptFlush))
  // A word is read as it was written.
  `SMK_ASSERT(ReadIsWritten_A, $past(read_i) && $past(rst_ni) && 32'($past(address_i)) + 1 < NumWords |->
              data_o == $past(words_q[32*word +: 32]) && (!error_o || $past(write_i)))
endmodule

bind smk_policy_registers smk_policy_registers_checker #(.DefaultPolicy(DefaultPolicy),
    .QuietCycles(QuietCycles), .RestartCycles(RestartCycles)) u_checker (.*);
