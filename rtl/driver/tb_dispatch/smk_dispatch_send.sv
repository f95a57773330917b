// SPDX-License-Identifier: Apache-2.0
// smk_dispatch_send: what a dispatch decision says to the SMs, to the other blocks and to the log.
//
// Purpose     The part of smk_tb_dispatch that speaks: the command, the pulses, the decision.
// Paper       [SMK] Sec. 5.1, 5.3.
// Interface   command: stream. Payloads count only with their valid bits.
// Latency     decision_o and arrival_o 0 cycles; command and pulses 1.
// Throughput  One command per two cycles.
// Reset       No command.
// Model       model/control/driver/tb_dispatch.cc (Send, Decide)   Doc  docs/blocks/tb_dispatch.md
`include "smk_assert.svh"

module smk_dispatch_send (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  // The step, what the decision does in it, and with whom; whom it evicts.
  input  smk_pkg::dispatch_step_e   step_i,
  input  smk_pkg::dispatch_act_t    act_i,
  input  smk_pkg::preempt_mode_e    preempt_mode_i,
  // In which TBs leave that are out of place in a plan.
  input  smk_pkg::preempt_mode_e    plan_mode_i,
  input  smk_pkg::kernel_id_t       kernel_i,
  // The candidate again, one bit each, and what its TB needs.
  input  smk_pkg::kernel_mask_t     kernel_of_i,
  input  smk_pkg::sm_mask_t         candidate_sm_i,
  input  smk_pkg::need_vec_t        need_i,
  input  smk_pkg::kernel_id_t       victim_i,
  input  smk_pkg::tb_cnt_t          victim_tbs_i,
  input  smk_pkg::kernel_id_t       evict_kernel_i,
  // The SM of this step, and of the last one.
  input  smk_pkg::sm_id_t           step_sm_i,
  input  smk_pkg::sm_id_t           sm_i,
  input  logic                      serves_reservation_i,
  // The kernel's next TB, or the first of its preempted ones; the kernels to plan for; the plan.
  input  smk_pkg::tb_id_t           next_tb_i,
  input  logic                      queued_i,
  input  smk_pkg::preempted_entry_t queue_front_i,
  input  smk_pkg::kernel_mask_t     plan_kernels_i,
  input  logic                      plan_kept_i,
  // While TBs stream, plans are logged by those to whom they are sent.
  input  logic                      streams_i,
  input  smk_pkg::range_vec_t       plan_range_i,
  input  smk_pkg::kernel_id_t       send_kernel_i,
  input  logic                      send_first_i,
  input  logic                      send_last_i,
  // The command is taken.
  input  logic                      command_ready_i,
  output logic                      command_valid_o,
  output smk_pkg::sm_command_t      command_o,
  output smk_pkg::dispatch_pulses_t pulses_o,
  output smk_pkg::tb_arrival_t      arrival_o,
  output smk_pkg::decision_t        decision_o
);
  logic                  send, command_valid_q;
  smk_pkg::sm_command_t  command_d, command_q;
  logic                  plan_start_q, dispatch_new_q, pop_q, dispatch_q, reserved_q;
  logic                  cancel_q, preempt_q;
  smk_pkg::kernel_id_t   kernel_q, victim_q;
  smk_pkg::tb_cnt_t      victim_tbs_q;
  smk_pkg::kernel_mask_t plan_kernels_q;
  smk_pkg::tb_need_t     arrival_need;
  smk_pkg::group_needs_t arrival_needs;
  smk_pkg::group_kernels_t arrival_kernels;

  assign send = act_i.evict || act_i.dispatch || act_i.preempt || act_i.send_plan;
  // The payload follows from the step alone: what the step finds out comes late.
  always_comb begin
    command_d = '0;
    if (step_i == smk_pkg::StRange) begin
      command_d.op     = smk_pkg::CommandPreempt;
      command_d.kernel = victim_i;
      command_d.count  = victim_tbs_i;
    end else if (step_i == smk_pkg::StSendPlan) begin
      command_d.op     = smk_pkg::CommandPartition;
      command_d.kernel = send_kernel_i;
      command_d.range  = plan_range_i.kernel[send_kernel_i];
      command_d.first  = send_first_i;
      command_d.last   = send_last_i;
      command_d.mode   = plan_mode_i;
    end else if (step_i == smk_pkg::StSm) begin
      command_d.op     = smk_pkg::CommandEvict;
      command_d.mode   = preempt_mode_i;
    end else begin
      command_d.op      = smk_pkg::CommandDispatch;
      command_d.kernel  = kernel_i;
      command_d.tb      = queued_i ? queue_front_i.tb : next_tb_i;
      command_d.restore = queued_i && !queue_front_i.restart;
      command_d.buffer  = queued_i ? queue_front_i.buffer : '0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      command_valid_q <= 1'b0;
      plan_start_q    <= 1'b0;
      dispatch_new_q  <= 1'b0;
      pop_q           <= 1'b0;
      dispatch_q      <= 1'b0;
      reserved_q      <= 1'b0;
      cancel_q        <= 1'b0;
      preempt_q       <= 1'b0;
    end else begin
      command_valid_q <= send || `SMK_CUT(CommandHolds, command_valid_q && !command_ready_i);
      plan_start_q    <= act_i.repartition && !plan_kept_i;
      dispatch_new_q  <= act_i.dispatch && !queued_i;
      pop_q           <= `SMK_CUT(PopQueued, act_i.dispatch && queued_i);
      dispatch_q      <= act_i.dispatch;
      reserved_q      <= act_i.dispatch && serves_reservation_i;
      cancel_q        <= act_i.cancel;
      preempt_q       <= act_i.preempt;
    end
  end

  always_comb begin
    arrival_need = '0;
    for (int unsigned k = 0; k < smk_pkg::NumKernels; k++) begin
      arrival_need |= need_i.kernel[k] & {smk_pkg::NeedWidth{kernel_of_i[k]}};
    end
  end
  for (genvar g = 0; g < smk_pkg::NumSmGroups; g++) begin : gen_group
    localparam int unsigned First = 4 * g;
    localparam int unsigned Size  = (smk_pkg::NumSms - First < 4) ? smk_pkg::NumSms - First : 4;
    logic here;
    assign here = candidate_sm_i[First +: Size] != '0 && act_i.dispatch;
    assign arrival_kernels.group[g] = kernel_of_i & {smk_pkg::NumKernels{here}};
    assign arrival_needs.group[g] = arrival_need & {smk_pkg::NeedWidth{here}};
  end

  // Payloads; not reset.
  always_ff @(posedge clk_i) begin
    if (step_i != smk_pkg::StSend) command_q <= command_d;
    if (step_i == smk_pkg::StFit) plan_kernels_q <= plan_kernels_i;
    kernel_q        <= kernel_i;
    victim_q        <= victim_i;
    victim_tbs_q    <= victim_tbs_i;
  end
  assign command_valid_o = `SMK_CUT(CommandValid, command_valid_q);
  assign command_o       = command_q;

  always_comb begin
    pulses_o.plan_start        = plan_start_q;
    pulses_o.plan_kernels      = plan_kernels_q;
    pulses_o.dispatch_new      = dispatch_new_q;
    pulses_o.pop               = pop_q;
    pulses_o.dispatch          = dispatch_q;
    pulses_o.dispatch_reserved = reserved_q;
    pulses_o.reserve           = preempt_q;
    pulses_o.cancel            = cancel_q;
    pulses_o.preempt           = preempt_q;
    pulses_o.kernel            = kernel_q;
    pulses_o.sm                = sm_i;
    pulses_o.victim            = victim_q;
    pulses_o.victim_tbs        = victim_tbs_q;
  end

  assign arrival_o = {candidate_sm_i & {smk_pkg::NumSms{act_i.dispatch}}, arrival_kernels,
                      arrival_needs};

  always_comb begin
    decision_o.valid  = 1'b1;
    decision_o.reason = smk_pkg::ReasonDispatchNew;
    if (act_i.dispatch) begin
      if (queued_i && queue_front_i.restart) decision_o.reason = smk_pkg::ReasonDispatchRestarted;
      else if (queued_i)            decision_o.reason = smk_pkg::ReasonDispatchRestored;
    end
    else if (act_i.evict)           decision_o.reason = smk_pkg::ReasonEvictSm;
    else if (act_i.repartition && !streams_i) decision_o.reason = smk_pkg::ReasonRepartition;
    else if (act_i.partition_full)  decision_o.reason = smk_pkg::ReasonPartitionFull;
    else if (act_i.no_room)         decision_o.reason = smk_pkg::ReasonNoRoom;
    else if (act_i.room_coming)     decision_o.reason = smk_pkg::ReasonRoomComing;
    else if (act_i.no_victim)       decision_o.reason = smk_pkg::ReasonNoVictim;
    else if (act_i.not_reduced)     decision_o.reason = smk_pkg::ReasonRangeNotReduced;
    else if (act_i.queue_full)      decision_o.reason = smk_pkg::ReasonQueueFull;
    else if (act_i.preempt)         decision_o.reason = smk_pkg::ReasonPreempt;
    else                            decision_o.valid  = 1'b0;
    decision_o.kernel     = act_i.evict ? evict_kernel_i : kernel_i;
    decision_o.sm         = step_sm_i;
    decision_o.tb         = command_d.tb;
    decision_o.victim     = victim_i;
    decision_o.victim_tbs = victim_tbs_i;
  end

  // A command holds until the SM takes it, and only then comes the next (S2).
  `SMK_ASSERT_STREAM(CommandHeld_A, command_valid_q, command_ready_i, {sm_i, command_q})
  `SMK_ASSERT(OneCommandInFlight_A, send |-> !command_valid_q)
  // A decision does one thing.
  `SMK_ASSERT(OneAct_A, $onehot0(act_i))
  // A TB that is dispatched is a new one or a preempted one.
  `SMK_ASSERT(ArrivalIsDispatched_A, arrival_o.sms != '0 |=> pulses_o.dispatch &&
              $past(arrival_o.sms) == smk_pkg::NumSms'(1) << sm_i)
  `SMK_ASSERT(OneDispatch_A, !(pulses_o.dispatch_new && pulses_o.pop))
endmodule
