// SPDX-License-Identifier: Apache-2.0
// smk_dispatch_steps: which step a dispatch decision is at, and when it begins anew.
//
// Purpose     The part of smk_tb_dispatch that goes from step to step, waits for latency_scale, and
//             begins anew when what a decision has looked at may have changed.
// Paper       [SMK] Sec. 5.3, Fig. 4 and 7.
// Interface   happens_i: pulse. What the step finds: levels of this cycle.
// Latency     1 cycle; happens_i voids the decision in the two cycles that follow.
// Throughput  One decision at a time.
// Reset       No decision.
// Model       model/control/driver/tb_dispatch.cc (TakeStep, Wait)   Doc  docs/blocks/tb_dispatch.md
`include "smk_assert.svh"

module smk_dispatch_steps (
  input  logic                         clk_i,
  input  logic                         rst_ni,
  input  logic [smk_pkg::ScaleWidth-1:0] latency_scale_i,
  // Counts, shares, assignments or kernels change; the active kernels.
  input  logic                         happens_i,
  input  smk_pkg::kernel_mask_t        active_i,
  // What this cycle's step finds.
  input  logic                         work_i,
  input  logic                         found_i,
  input  logic                         is_evict_i,
  // It has somebody to evict still; a dispatch waits for the SM's credit.
  input  logic                         evicts_i,
  input  logic                         fit_stays_i,
  input  logic                         search_i,
  input  logic                         counted_i,
  input  smk_pkg::dispatch_act_t       act_i,
  input  logic                         plan_done_i,
  // The plan that is wanted is there already.
  input  logic                         plan_kept_i,
  input  logic                         command_ready_i,
  input  logic                         plan_continues_i,
  // Registers. The step; it is void; it has taken long enough to act, to dispatch, to evict, to
  // give up in Count.
  output smk_pkg::dispatch_step_e      step_o,
  output logic                         deciding_o,
  output logic                         overtaken_o,
  output logic                         due_o,
  output logic                         due_to_dispatch_o,
  output logic                         due_to_evict_o,
  output logic                         due_to_give_up_o,
  // Something changes without an input, beside the steps.
  output logic                         busy_o
);
  localparam int unsigned ScaleWidth  = smk_pkg::ScaleWidth;
  // Cycles of a preemption after Fit, but for one per victim, and those of them after the first
  // that may give up.
  localparam int unsigned SearchSteps = 11;
  localparam int unsigned LateSteps   = 7;
  localparam int unsigned WaitWidth   = ScaleWidth + $clog2(SearchSteps);

  smk_pkg::dispatch_step_e step_d, step_q;
  // Cycles before the decision may act; that of a dispatch is over and that of a preemption has
  // begun.
  logic [WaitWidth-1:0]    wait_d, wait_q, scale;
  logic                    searching_d, searching_q;
  logic                    due_q, due_to_dispatch_q, due_to_evict_q, due_to_give_up_q;
  // Something has happened, or in the cycle before; the active kernels, and that there are others.
  logic                    happened_q, happened_late_q, launched_q;
  smk_pkg::kernel_mask_t   active_q;
  assign scale = WaitWidth'(latency_scale_i);

  // A decision that has looked at something that has changed since begins anew.
  logic deciding, search_step, overtaken;
  assign search_step = step_q == smk_pkg::StVictimSm || step_q == smk_pkg::StVictimLook ||
                       step_q == smk_pkg::StVictimKernel || step_q == smk_pkg::StCount ||
                       step_q == smk_pkg::StRange;
  assign deciding    = search_step || step_q == smk_pkg::StMask || step_q == smk_pkg::StSm ||
                       step_q == smk_pkg::StLook || step_q == smk_pkg::StFit;
  assign overtaken   = (deciding && (`SMK_CUT(Happened, happened_q) || happened_late_q)) ||
                       (search_step && launched_q);

  // The next step. What a step finds is given up, or dispatched, or goes on.
  always_comb begin
    step_d = step_q;
    unique case (step_q)
      smk_pkg::StIdle: if (work_i && !happened_q) step_d = smk_pkg::StMask;
      smk_pkg::StMask: step_d = found_i ? smk_pkg::StSm : smk_pkg::StIdle;
      // An eviction waits until it is due, and for its SM's credit.
      smk_pkg::StSm: begin
        if (!is_evict_i) step_d = smk_pkg::StLook;
        else if (act_i.evict) step_d = smk_pkg::StSend;
        else if (due_to_evict_q && !evicts_i) step_d = smk_pkg::StIdle;  // nobody is left to evict
      end
      smk_pkg::StLook: step_d = smk_pkg::StFit;
      smk_pkg::StFit: begin
        if (due_to_dispatch_q && !fit_stays_i) step_d = smk_pkg::StIdle;
        if (act_i.dispatch) step_d = smk_pkg::StSend;
        if (act_i.repartition) step_d = plan_kept_i ? smk_pkg::StSendPlan : smk_pkg::StPlan;
        if (search_i) step_d = smk_pkg::StVictimSm;
      end
      smk_pkg::StVictimSm:     step_d = smk_pkg::StVictimLook;
      smk_pkg::StVictimLook:   step_d = smk_pkg::StVictimKernel;
      smk_pkg::StVictimKernel: step_d = smk_pkg::StCount;
      smk_pkg::StCount: begin
        if (counted_i) step_d = smk_pkg::StRange;
        if (act_i.room_coming || act_i.no_victim) step_d = smk_pkg::StIdle;
      end
      smk_pkg::StRange: begin
        if (act_i.not_reduced || act_i.queue_full) step_d = smk_pkg::StIdle;
        if (act_i.preempt) step_d = smk_pkg::StSend;
      end
      // Waiting for the planner.
      smk_pkg::StPlan:     if (plan_done_i) step_d = smk_pkg::StSendPlan;
      smk_pkg::StSendPlan: if (due_q) step_d = smk_pkg::StSend;
      // Waiting for the SM; after a plan's command there may be another.
      smk_pkg::StSend: if (command_ready_i) begin
        step_d = plan_continues_i ? smk_pkg::StSendPlan : smk_pkg::StIdle;
      end
      default: step_d = smk_pkg::StIdle;
    endcase
    if (overtaken) step_d = smk_pkg::StMask;
  end

  // How long a decision takes at least: up to a dispatch, from there to a preemption, before a
  // command of a plan. Loaded in the steps before, so that it does not depend on what they find.
  always_comb begin
    wait_d      = (wait_q == '0) ? '0 : wait_q - WaitWidth'(1);
    searching_d = searching_q;
    unique case (step_q)
      smk_pkg::StIdle: begin
        wait_d      = `SMK_CUT(WaitTime, (scale << 2) - WaitWidth'(1));
        searching_d = 1'b0;
      end
      smk_pkg::StVictimSm: if (!searching_q) begin
        wait_d      = scale * WaitWidth'(SearchSteps) - WaitWidth'(2);
        searching_d = 1'b1;
      end
      smk_pkg::StFit: if (act_i.repartition) wait_d = scale - WaitWidth'(1);
      smk_pkg::StPlan, smk_pkg::StSend: begin
        wait_d      = scale - WaitWidth'(1);
        searching_d = 1'b0;
      end
      default: ;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q            <= smk_pkg::StIdle;
      wait_q            <= '0;
      searching_q       <= 1'b0;
      due_q             <= 1'b0;
      due_to_dispatch_q <= 1'b0;
      due_to_evict_q    <= 1'b0;
      due_to_give_up_q  <= 1'b0;
      happened_q         <= 1'b0;
      happened_late_q    <= 1'b0;
      launched_q        <= 1'b0;
      active_q          <= '0;
    end else begin
      step_q            <= step_d;
      wait_q            <= wait_d;
      searching_q       <= searching_d;
      due_q             <= wait_d == '0;
      due_to_dispatch_q <= searching_d || wait_d == '0;
      due_to_evict_q    <= searching_d || wait_d <= scale << 1;
      due_to_give_up_q  <= wait_d <= scale * WaitWidth'(LateSteps);
      happened_q         <= happens_i;
      happened_late_q    <= happened_q;
      launched_q        <= active_q != active_i;
      active_q          <= active_i;
    end
  end

  assign step_o            = step_q;
  assign deciding_o        = deciding;
  assign overtaken_o       = overtaken;
  assign due_o             = due_q;
  assign due_to_dispatch_o = due_to_dispatch_q;
  assign due_to_evict_o    = due_to_evict_q;
  assign due_to_give_up_o  = due_to_give_up_q;
  assign busy_o            = happened_q || happened_late_q || launched_q || active_q != active_i;

  // Nothing is decided on what an event has overtaken.
  `SMK_ASSERT(NoActOvertaken_A, overtaken |-> act_i == '0)
  // Nothing waits longer than latency_scale says: a wait is over, or grows shorter.
  `SMK_ASSERT(WaitEnds_A, deciding && wait_q != '0 && step_q != smk_pkg::StVictimSm
              |=> wait_q == $past(wait_q) - WaitWidth'(1) || step_q == smk_pkg::StIdle)
  `SMK_ASSERT(ScaleIsPositive_M, latency_scale_i != '0)
  // A decision really begins anew in our tests, in the first steps and in the last.
  `SMK_COVER(Overtaken_C, overtaken && !search_step)
  `SMK_COVER(SearchOvertaken_C, overtaken && search_step)
endmodule
