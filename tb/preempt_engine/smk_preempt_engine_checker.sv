// SPDX-License-Identifier: Apache-2.0
// smk_preempt_engine_checker: the engine offers what it has, takes what it is ordered, and rests.
`include "smk_assert.svh"

module smk_preempt_engine_checker (
  input logic                      clk_i,
  input logic                      rst_ni,
  input smk_pkg::slot_mask_t       leave_i,
  input smk_pkg::slot_mask_t       load_i,
  input smk_pkg::slot_mask_t       finished_i,
  input smk_pkg::slot_mask_t       stop_o,
  input smk_pkg::context_request_t context_o,
  input logic                      buffer_request_o,
  input logic                      buffer_valid_i,
  input logic                      event_ack_i,
  input smk_pkg::slot_mask_t       leaving_o,
  input smk_pkg::slot_mask_t       counted_o,
  input logic                      busy_o,
  // A context is being transferred; an acknowledgement is waited for.
  input logic                      transfers,
  input logic                      awaits_ack
);
  // A line that is there is offered, whether or not memory takes it (S1).
  `SMK_ASSERT(ContextOffered_A, context_o.valid == transfers)
  // A context buffer, an acknowledgement and a call to leave are never refused (S5).
  `SMK_ASSERT(BufferIsTaken_A, buffer_valid_i |=> !buffer_request_o)
  `SMK_ASSERT(AckIsTaken_A, event_ack_i |=> !awaits_ack)
  `SMK_ASSERT(LeaveIsTaken_A, leave_i != '0 |=>
              ($past(leave_i & ~finished_i) & ~leaving_o) == '0)
  // An acknowledgement comes only when one is waited for.
  `SMK_ASSERT(AckWasAwaited_M, event_ack_i |-> awaits_ack)
  // Only the context of a stopped TB is stored.
  `SMK_ASSERT(StoredIsStopped_A, context_o.valid && context_o.store |-> stop_o[context_o.tb_slot])
  // Nothing changes without TBs that leave or wait for their context.
  `SMK_ASSERT(IdleHolds_A, !busy_o && leave_i == '0 && load_i == '0 |=>
              !busy_o && stop_o == '0 && counted_o == '0)
endmodule

bind smk_preempt_engine smk_preempt_engine_checker u_checker (
  .*, .transfers(state_q == StTransfer), .awaits_ack(state_q == StAck));
