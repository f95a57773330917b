// SPDX-License-Identifier: Apache-2.0
// Proof of smk_driver_bus, from its ports alone: which SMs have a command that they have not yet answered is
// kept here. However late a credit comes, it comes for a command.
`include "formal.svh"

module formal_driver_bus (
  input logic                 clk_i,
  input logic                 dispatch_valid_i,
  input smk_pkg::sm_mask_t    dispatch_sms_i,
  input smk_pkg::sm_command_t dispatch_command_i,
  input smk_pkg::sm_mask_t    stream_takes_i,
  input smk_pkg::sm_command_t stream_command_i,
  input logic                 quota_valid_i,
  input smk_pkg::sm_id_t      quota_sm_i,
  input smk_pkg::sm_command_t quota_command_i,
  input smk_pkg::sm_mask_t    credit_i,
  input smk_pkg::sm_mask_t    waits_i
);
  `FORMAL_RESET
  // The command of a TB that streams comes two cycles after its credit was taken.
  smk_pkg::sm_mask_t   takes_q, stream_sm_q, ready, command_valid, credit, waiting;
  smk_pkg::sm_command_t command;
  logic                quota_ready, quota_owns, quota_waits;
  always_ff @(posedge clk_i) begin
    takes_q     <= rst_ni ? stream_takes_i : '0;
    stream_sm_q <= rst_ni ? takes_q : '0;
  end
  smk_driver_bus u_dut (
    .clk_i, .rst_ni, .dispatch_valid_i, .dispatch_sms_i, .dispatch_command_i, .stream_takes_i,
    .stream_command_i, .quota_valid_i, .quota_sm_i, .quota_command_i, .credit_i, .waits_i,
    .stream_valid_i  (stream_sm_q != '0),
    .stream_sm_i     (stream_sm_q),
    .dispatch_ready_o(ready),
    .quota_ready_o   (quota_ready),
    .command_valid_o (command_valid),
    .command_o       (command),
    .credit_o        (credit),
    .waiting_o       (waiting),
    .quota_owns_o    (quota_owns),
    .quota_waits_o   (quota_waits)
  );

  // SMs that have answered their last command.
  smk_pkg::sm_mask_t answered_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) answered_q <= '1;
    else         answered_q <= (answered_q & ~command_valid) | credit_i;
  end
  // An SM gives back a credit that was used; who waits has none to give.
  `ASSUME(CreditWasUsed_M, (credit_i & answered_q) == '0)
  `ASSUME(WaitsWithoutCredit_M, (waits_i & answered_q) == '0)
  // A TB that streams takes a credit that is here, and nobody else has the bus until it is sent.
  `ASSUME(StreamTakesCredit_M, (stream_takes_i & ~credit) == '0 &&
          (stream_takes_i == '0 || (!dispatch_valid_i && !quota_waits)))
  logic            quota_held_q;
  smk_pkg::sm_id_t quota_sm_q;
  always_ff @(posedge clk_i) begin
    quota_held_q <= rst_ni && quota_valid_i && !quota_ready;
    quota_sm_q   <= quota_sm_i;
  end
  `ASSUME(QuotaHolds_M, !quota_held_q || (quota_valid_i && quota_sm_i == quota_sm_q))
  `ASSUME(StreamIsAlone_M, !dispatch_valid_i || (takes_q | stream_sm_q) == '0)

  // A command is sent to SMs that have answered the last one: with their credit.
  `PROVE(SentWithCredit_A, (command_valid & ~answered_q) == '0)
  // Where a TB waits for a gap, nobody else can be sent.
  `PROVE(WaitingHasNoCredit_A, (waiting & ready) == '0 && ready == credit)
  // Who streams finds the credits that were here, but for those that it took, and those used while it stood back.
  smk_pkg::sm_mask_t kept_q;
  always_ff @(posedge clk_i) begin
    kept_q <= rst_ni && !dispatch_valid_i && !quota_waits ? credit & ~stream_takes_i : '0;
  end
  `PROVE(CreditIsKept_A, (kept_q & ~credit) == '0)
  // For induction: a credit is here, or was taken for a TB that streams, or is with its SM.
  `PROVE(CreditIsSomewhere_A, answered_q == (credit | takes_q | stream_sm_q) &&
         (credit & (takes_q | stream_sm_q)) == '0 && (takes_q & stream_sm_q) == '0 &&
         (waiting & answered_q) == '0)
endmodule
