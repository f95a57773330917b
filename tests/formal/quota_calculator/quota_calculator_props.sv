// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_quota_calculator, from its ports alone, for any windows, partitions and members.
`include "formal.svh"

module formal_quota_calculator (
  input logic                   clk_i,
  input smk_pkg::kernel_mask_t  members_i,
  input smk_pkg::quota_t        epoch_length_i,
  input smk_pkg::kernel_mask_t  profile_valid_i,
  input smk_pkg::issued_vec_t   profile_issued_i,
  input smk_pkg::sm_tb_cnts_t   partition_i,
  input smk_pkg::sm_mask_t      settled_i,
  input logic                   command_ready_i
);
  `FORMAL_RESET
  logic                 busy, command_valid;
  smk_pkg::sm_id_t      command_sm;
  smk_pkg::sm_command_t command;
  smk_quota_calculator u_dut (
    .clk_i, .rst_ni, .members_i, .epoch_length_i, .profile_valid_i, .profile_issued_i,
    .partition_i, .settled_i, .command_ready_i,
    .busy_o         (busy),
    .command_valid_o(command_valid),
    .command_sm_o   (command_sm),
    .command_o      (command)
  );

  // A command is one of quotas, and holds until it is taken (S1, S2).
  logic                 waits_q;
  smk_pkg::sm_id_t      command_sm_q;
  smk_pkg::sm_command_t command_q;
  always_ff @(posedge clk_i) begin
    waits_q      <= rst_ni && command_valid && !command_ready_i;
    command_sm_q <= command_sm;
    command_q    <= command;
  end
  `PROVE(CommandHolds_A, (!waits_q || (command_valid && command_sm == command_sm_q &&
         command == command_q)) && (!command_valid || command.op == smk_pkg::CommandQuota))
  // While it goes to an SM, a round goes on.
  `PROVE(CommandsInARound_A, !command_valid || busy)

  // Idle: no round, and no window ends.
  (* keep *) logic idle;
  assign idle = rst_ni && !busy && profile_valid_i == '0;
endmodule
