// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_quota_calculator, for any windows and partitions: its commands from its ports
// alone, its quotas with what it has computed by then.
`include "formal.svh"

module formal_quota_calculator (
  input logic                   clk_i,
  input smk_pkg::quota_t        epoch_length_i,
  input smk_pkg::kernel_mask_t  profile_valid_i,
  input smk_pkg::issued_vec_t   profile_issued_i,
  input smk_pkg::tb_cnt_vec_t   profile_tbs_i,
  input smk_pkg::sm_tb_cnts_t   partition_i,
  input logic                   settled_i,
  input logic                   command_ready_i
);
  `FORMAL_RESET
  logic                 busy, command_valid;
  smk_pkg::sm_id_t      command_sm;
  smk_pkg::sm_command_t command;
  smk_quota_calculator u_dut (
    .clk_i, .rst_ni, .epoch_length_i, .profile_valid_i, .profile_issued_i, .profile_tbs_i,
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

  `include "quota_calculator/quotas.svh"

  // Idle: no round, and no window ends.
  (* keep *) logic idle;
  assign idle = rst_ni && !busy && profile_valid_i == '0;
endmodule

// quota = C x rest / sum + 1, rounded down: (quota - 1) x sum <= C x rest < quota x sum.
module formal_quota (
  input  logic [smk_pkg::IssuedWidth+smk_pkg::TbCntWidth-1:0] c_i,
  input  logic [smk_pkg::IssuedWidth+smk_pkg::TbCntWidth-1:0] sum_i,
  input  smk_pkg::quota_t                                     rest_i,
  input  smk_pkg::quota_t                                     quota_i,
  output logic                                                right_o
);
  localparam int unsigned Width = smk_pkg::IssuedWidth + smk_pkg::TbCntWidth + smk_pkg::QuotaWidth;
  logic [Width-1:0] part, upper;
  assign part    = Width'(c_i) * Width'(rest_i);
  assign upper   = Width'(sum_i) * Width'(quota_i);
  assign right_o = (sum_i == '0) ? quota_i == 1'b1
                                 : quota_i != '0 && part < upper && upper - Width'(sum_i) <= part;
endmodule
