// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_policy_registers, from its ports alone: any accesses at any time, kernels that come and go,
// a chip that is awake when it likes.
`include "formal.svh"
`include "smk_policy.svh"

// Whether a policy is supported, said from the ranges of its numbers.
module formal_policy_fits (
  input  smk_pkg::policy_t policy_i,
  output logic             fits_o
);
  smk_pkg::tb_cnt_vec_t      table_tbs;
  smk_pkg::token_share_vec_t request, limit;
  logic [15:0]               sum;
  logic                      counts_fit;
  assign table_tbs = policy_i.table_tbs;
  assign request   = policy_i.token_request;
  assign limit     = policy_i.token_limit;
  always_comb begin
    sum        = '0;
    counts_fit = 1'b1;
    for (int unsigned k = 0; k < smk_pkg::NumKernels; k++) begin
      sum = sum + 16'(request.kernel[k]);
      if (32'(table_tbs.kernel[k]) > smk_pkg::LimitTbs || 16'(limit.kernel[k]) > 16'd1024) begin
        counts_fit = 1'b0;
      end
    end
  end
  assign fits_o = counts_fit && sum <= 16'd1024 &&
                  32'(policy_i.kernels_per_sm) >= 1 &&
                  32'(policy_i.kernels_per_sm) <= smk_pkg::NumKernels &&
                  32'(policy_i.epoch_length) > smk_pkg::NumKernels && policy_i.latency_scale != '0 &&
                  policy_i.slicer_window >= 16'd1 && policy_i.slicer_window <= 16'd16000 &&
                  policy_i.token_window >= 5'd10 && policy_i.token_window <= 5'd24 &&
                  policy_i.token_quota != '0 &&
                  !(policy_i.dispatch == smk_pkg::DispatchSlicer &&
                    policy_i.preempt == smk_pkg::PreemptFlush);
endmodule

module formal_policy_registers (
  input logic                  clk_i,
  input logic                  write_i,
  input logic                  read_i,
  input logic [7:0]            address_i,
  input logic [31:0]           data_i,
  input logic                  launch_taken_i,
  input smk_pkg::kernel_id_t   launch_kernel_i,
  input smk_pkg::kernel_mask_t kernel_done_i,
  input logic                  chip_awake_i
);
  `FORMAL_RESET
  localparam int unsigned NumKernels    = smk_pkg::NumKernels;
  localparam int unsigned PolicyWidth   = `SMK_POLICY_WIDTH;
  localparam int unsigned NumWords      = (PolicyWidth + 31) / 32;
  localparam int unsigned LastBits      = PolicyWidth - 32 * (NumWords - 1);
  localparam int unsigned QuietCycles   = 3;
  localparam int unsigned RestartCycles = 2;
  localparam logic [PolicyWidth-1:0] DefaultPolicy = `SMK_POLICY_DEFAULT;

  logic [31:0]      data;
  logic             error, hold, restart, awake;
  smk_pkg::policy_t policy;
  smk_policy_registers #(
    .QuietCycles  (QuietCycles),
    .RestartCycles(RestartCycles)
  ) u_dut (
    .clk_i, .rst_ni, .write_i, .read_i, .address_i, .data_i, .launch_taken_i, .launch_kernel_i,
    .kernel_done_i, .chip_awake_i,
    .data_o       (data),
    .error_o      (error),
    .launch_hold_o(hold),
    .restart_o    (restart),
    .policy_o     (policy),
    .awake_o      (awake)
  );
  `ASSUME(LaunchIsHeld_M, !(launch_taken_i && hold))

  // What the host has written, and its commands: a commit is heard while launches are not held off, and may
  // be cancelled before the reset.
  logic [PolicyWidth-1:0] words_q;
  logic                   control, commits, cancels;
  assign control = write_i && address_i == 8'(NumWords);
  assign commits = control && data_i[0] && !hold;
  assign cancels = control && data_i[1] && hold && !restart;
  for (genvar w = 0; w < NumWords; w++) begin : gen_word
    localparam int unsigned Bits = (w == NumWords - 1) ? LastBits : 32;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) words_q[32*w +: Bits] <= DefaultPolicy[32*w +: Bits];
      else if (write_i && !hold && address_i == 8'(w)) words_q[32*w +: Bits] <= data_i[Bits-1:0];
    end
  end

  logic words_fit, policy_fits;
  formal_policy_fits u_words (.policy_i(words_q), .fits_o(words_fit));
  formal_policy_fits u_policy (.policy_i(policy), .fits_o(policy_fits));

  // Of the last cycle; who is there; for how many cycles nothing has been awake, up to enough.
  smk_pkg::policy_t      policy_q;
  smk_pkg::kernel_mask_t here_q, comes;
  logic                  hold_q, restart_q, commits_q, cancels_q, fits_q;
  logic [2:0]            still_q, still_before_q;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_comes
    assign comes[k] = launch_taken_i && 32'(launch_kernel_i) == k;
  end
  always_ff @(posedge clk_i) begin
    policy_q       <= rst_ni ? policy : DefaultPolicy;
    here_q         <= rst_ni ? (here_q & ~kernel_done_i) | comes : '0;
    hold_q         <= rst_ni && hold;
    restart_q      <= rst_ni && restart;
    commits_q      <= rst_ni && commits;
    cancels_q      <= rst_ni && cancels;
    fits_q         <= words_fit;
    still_before_q <= rst_ni ? still_q : '0;
    if (!rst_ni || chip_awake_i)             still_q <= '0;
    else if (still_q != 3'(QuietCycles))     still_q <= still_q + 3'd1;
  end
  logic starts;
  assign starts = restart && !restart_q;

  // The policy changes in the first cycle of a reset of the chip only, to what was written.
  `PROVE(ChangesInReset_A, policy == policy_q || starts)
  `PROVE(IsWritten_A, !starts || policy == words_q)
  // No kernel is there then, and nothing was awake for long.
  `PROVE(NoKernelIsThere_A, !restart || here_q == '0)
  `PROVE(WasQuiet_A, !starts || still_before_q == 3'(QuietCycles))

  // Launches are held off from a commit to the end of the reset, or until it is cancelled.
  `PROVE(HeldFromCommit_A, !(commits_q && fits_q) || hold)
  `PROVE(HeldUntilChange_A, !(hold_q && !hold) || cancels_q || restart_q)
  `PROVE(ResetIsHeld_A, !restart || hold)
  `PROVE(NotHeldOtherwise_A, !(hold && !hold_q) || commits_q)

  // A commit ends: so many cycles after the last in which a kernel was there or something was awake.
  logic [3:0] waits_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !hold || here_q != '0 || chip_awake_i) waits_q <= '0;
    else if (waits_q != '1)                               waits_q <= waits_q + 4'd1;
  end
  `PROVE(EndsInTime_A, waits_q <= 4'(QuietCycles + RestartCycles + 1))

  // What is in force is supported; a commit of anything else is ignored.
  `PROVE(InForceIsSupported_A, policy_fits)
  `PROVE(RefusedIsIgnored_A, !(commits_q && !fits_q) || (!hold && !restart && policy == policy_q))

  // A word is read as it was written; only what cannot be done is an error.
  logic                   read_q, wrong_q, any_q;
  logic [7:0]             address_q;
  logic [31:0]            was_q;
  logic [32*NumWords-1:0] padded;
  assign padded = (32 * NumWords)'(words_q);
  always_ff @(posedge clk_i) begin
    read_q    <= rst_ni && read_i;
    any_q     <= rst_ni && (read_i || write_i);
    address_q <= address_i;
    wrong_q   <= address_i > 8'(NumWords) || (write_i && hold && !cancels);
    was_q     <= '0;
    for (int unsigned w = 0; w < NumWords; w++) if (address_i == 8'(w)) was_q <= padded[32*w +: 32];
  end
  `PROVE(ReadGivesWord_A, !read_q || address_q == 8'(NumWords) || data == was_q)
  `PROVE(StatusSaysSo_A, !(read_q && address_q == 8'(NumWords)) || data[0] == hold_q)
  `PROVE(ErrorIsExact_A, !any_q || error == wrong_q)

  (* keep *) logic idle;
  assign idle = rst_ni && !write_i && !read_i && !launch_taken_i && kernel_done_i == '0 && !awake;
endmodule
