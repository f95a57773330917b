// SPDX-License-Identifier: Apache-2.0
// smk_driver_bus: whose command goes to the SMs; part of smk_driver.
//
// Purpose     Gives the command bus to the dispatcher, or to a quota command in a cycle without one
//             of the dispatcher's and with its SM's credit. Keeps one
//             credit per SM: a command is sent with it, and the SM gives it back. TBs that stream
//             come first: their credit is there.
// Paper       [SMK] Sec. 5.1, Fig. 3.
// Interface   dispatch_*, quota_*: streams to one SM each, plans to several; ready says that the SM's
//             credit is here. command_*: pulse, one payload for all. credit_i: pulses (S5).
// Latency     0 cycles; a credit counts in the cycle after it came.
// Throughput  One command per cycle, to each SM one per credit.
// Reset       The bus is the dispatcher's, every SM's credit is here.
// Model       model/control/driver/driver.h   Doc  docs/blocks/driver.md
`include "smk_assert.svh"

module smk_driver_bus (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 dispatch_valid_i,
  output smk_pkg::sm_mask_t    dispatch_ready_o,
  input  smk_pkg::sm_mask_t    dispatch_sms_i,
  input  smk_pkg::sm_command_t dispatch_command_i,
  // The credit of a TB that streams is taken before its command comes.
  input  smk_pkg::sm_mask_t    stream_takes_i,
  input  logic                 stream_valid_i,
  input  smk_pkg::sm_mask_t    stream_sm_i,
  input  smk_pkg::sm_command_t stream_command_i,
  input  logic                 quota_valid_i,
  output logic                 quota_ready_o,
  input  smk_pkg::sm_id_t      quota_sm_i,
  input  smk_pkg::sm_command_t quota_command_i,
  output smk_pkg::sm_mask_t    command_valid_o,
  output smk_pkg::sm_command_t command_o,
  // SMs that can take another command, now and from the next cycle on.
  output smk_pkg::sm_mask_t    credit_o,
  input  smk_pkg::sm_mask_t    credit_i,
  // A TB begins to wait for a gap; SMs on which one waits: until the credit comes.
  input  smk_pkg::sm_mask_t    waits_i,
  output smk_pkg::sm_mask_t    waiting_o,
  // The command is a quota; one waits for the bus.
  output logic                 quota_owns_o,
  output logic                 quota_waits_o
);
  localparam int unsigned NumSms = smk_pkg::NumSms;

  // The quota's SM has had a credit in the last cycle, and it has not been used.
  logic              quota_ready_q;
  logic              quota_owns, quota_waits;
  smk_pkg::sm_mask_t credit_q, waiting_q, offer, fire;
  assign waiting_o        = waiting_q;
  assign quota_waits      = quota_valid_i && credit_q[quota_sm_i];
  assign quota_waits_o    = quota_waits;
  assign quota_owns       = quota_ready_q && !dispatch_valid_i && !stream_valid_i;
  assign quota_owns_o     = quota_owns;
  assign quota_ready_o    = quota_owns;
  assign dispatch_ready_o = credit_q;
  assign credit_o         = credit_q;
  always_comb begin
    command_o = quota_command_i;
    if (stream_valid_i)        command_o = stream_command_i;
    else if (dispatch_valid_i) command_o = dispatch_command_i;
  end
  for (genvar i = 0; i < NumSms; i++) begin : gen_command
    localparam logic [smk_pkg::SmWidth-1:0] Sm = smk_pkg::SmWidth'(i);
    assign offer[i] = (quota_owns && quota_sm_i == Sm) ||
                      (dispatch_valid_i && dispatch_sms_i[i]);
  end
  // A plan goes to all its SMs at once.
  assign fire            = offer & {NumSms{(offer & ~credit_q) == '0}};
  assign command_valid_o = fire | stream_sm_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      credit_q      <= '1;
      waiting_q     <= '0;
      quota_ready_q <= 1'b0;
    end else begin
      quota_ready_q <= quota_waits && !dispatch_valid_i && !quota_owns;
      waiting_q     <= (waiting_q | waits_i) & ~credit_i;
      credit_q      <= (credit_q & ~`SMK_CUT(CreditUsed, fire | stream_takes_i)) | credit_i;
    end
  end

  // A command goes to one SM, but for plans.
  `SMK_ASSERT(CommandOnehot_A, $onehot0(command_valid_o) ||
              command_o.op == smk_pkg::CommandPartition)
  // A quota is sent with a credit.
  `SMK_ASSERT(QuotaHasCredit_A, quota_ready_q |-> quota_waits)
  // An SM gives back a credit that was used.
  `SMK_ASSERT(CreditWasUsed_M, (credit_i & credit_q) == '0)
  // Who waits has no credit.
  `SMK_ASSERT(WaitsWithoutCredit_M, (waits_i & credit_q) == '0)
  `SMK_ASSERT(WaitingWithoutCredit_A, (waiting_q & credit_q) == '0)
  // An offered command holds until it is sent.
  `SMK_ASSERT_STREAM(CommandHolds_A, offer != '0, fire != '0, {offer, command_o})
  // A TB that streams is sent alone, with a credit of its own.
  `SMK_ASSERT(StreamIsSent_A, stream_valid_i |-> fire == '0 && !dispatch_valid_i &&
              (stream_sm_i & credit_q) == '0)
  `SMK_ASSERT(StreamTakesCredit_A, (stream_takes_i & ~credit_q) == '0 &&
              (stream_takes_i & fire) == '0)
  `SMK_ASSERT(StreamHasSm_M, stream_valid_i == (stream_sm_i != '0))
endmodule
