// SPDX-License-Identifier: Apache-2.0
// smk_tb_dispatch_checker: what is decided is said, to the SM and to the other blocks alike.
`include "smk_assert.svh"

module smk_tb_dispatch_checker (
  input logic                      clk_i,
  input logic                      rst_ni,
  input smk_pkg::dispatch_act_t    act,
  input smk_pkg::sm_mask_t         command_ready_i,
  input smk_pkg::dispatch_pulses_t pulses_o,
  input logic                      command_valid_o,
  input smk_pkg::sm_id_t           command_sm_o,
  input smk_pkg::sm_mask_t         command_sms_o,
  input smk_pkg::sm_command_t      command_o
);
  // A command that was decided and is not yet taken.
  logic open_q, decided;
  assign decided = act.evict || act.dispatch || act.preempt || act.send_plan;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) open_q <= 1'b0;
    else         open_q <= decided || (open_q && (command_sms_o & ~command_ready_i) != '0);
  end

  // Conservation: one command per decision, offered until it is taken, ready or not (S1).
  `SMK_ASSERT(CommandOffered_A, command_valid_o == open_q)
  // The other blocks hear of exactly the TB that goes to the SM.
  `SMK_ASSERT(PulseHasCommand_A, pulses_o.dispatch |-> command_valid_o &&
              command_o.op == smk_pkg::CommandDispatch && command_o.kernel == pulses_o.kernel &&
              command_sm_o == pulses_o.sm)
  `SMK_ASSERT(DispatchHasPulse_A, act.dispatch |=> pulses_o.dispatch &&
              (pulses_o.dispatch_new || pulses_o.pop))
endmodule

bind smk_tb_dispatch smk_tb_dispatch_checker u_checker (.*);
