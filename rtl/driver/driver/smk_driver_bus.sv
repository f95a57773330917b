// SPDX-License-Identifier: Apache-2.0
// smk_driver_bus: whose command goes to the SMs; part of smk_driver.
//
// Purpose     Gives the command bus to the dispatcher, or to a quota command that waits for a cycle
//             without one of the dispatcher's, and then holds the bus until it is taken.
// Paper       [SMK] Sec. 5.1, Fig. 3.
// Interface   dispatch_*, quota_*: streams to one SM each. command_*: stream, one payload for all.
// Latency     0 cycles.
// Throughput  One command per cycle.
// Reset       The bus is the dispatcher's.
// Model       model/control/driver.h   Doc  docs/blocks/driver.md
`include "smk_assert.svh"

module smk_driver_bus (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 dispatch_valid_i,
  output smk_pkg::sm_mask_t    dispatch_ready_o,
  input  smk_pkg::sm_id_t      dispatch_sm_i,
  input  smk_pkg::sm_command_t dispatch_command_i,
  input  logic                 quota_valid_i,
  output logic                 quota_ready_o,
  input  smk_pkg::sm_id_t      quota_sm_i,
  input  smk_pkg::sm_command_t quota_command_i,
  output smk_pkg::sm_mask_t    command_valid_o,
  input  smk_pkg::sm_mask_t    command_ready_i,
  output smk_pkg::sm_command_t command_o,
  // The command is a quota.
  output logic                 quota_owns_o
);
  localparam int unsigned NumSms = smk_pkg::NumSms;

  logic quota_owns, quota_owns_q;
  assign quota_owns       = quota_valid_i && (quota_owns_q || !dispatch_valid_i);
  assign quota_owns_o     = quota_owns;
  assign quota_ready_o    = quota_owns && command_ready_i[quota_sm_i];
  assign dispatch_ready_o = (quota_valid_i && quota_owns_q) ? '0 : command_ready_i;
  assign command_o        = quota_owns ? quota_command_i : dispatch_command_i;
  for (genvar i = 0; i < NumSms; i++) begin : gen_command
    localparam logic [smk_pkg::SmWidth-1:0] Sm = smk_pkg::SmWidth'(i);
    assign command_valid_o[i] = quota_owns ? quota_sm_i == Sm
                                           : dispatch_valid_i && dispatch_sm_i == Sm;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) quota_owns_q <= 1'b0;
    else         quota_owns_q <= quota_owns;
  end

  // A command goes to one SM.
  `SMK_ASSERT(CommandOnehot_A, $onehot0(command_valid_o))
  // An offered command holds until the SM takes it.
  `SMK_ASSERT_STREAM(CommandHolds_A, command_valid_o != '0,
                     (command_valid_o & command_ready_i) != '0, {command_valid_o, command_o})
endmodule
