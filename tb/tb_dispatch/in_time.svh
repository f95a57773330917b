// SPDX-License-Identifier: Apache-2.0
// Part of formal_tb_dispatch: decisions come in time, for any latency_scale.

  // While there is something to do, within so many quiet cycles something is decided.
  logic        to_do;
  logic [15:0] since_q, stuck_q, scale, at_most;
  assign to_do   = open != '0 || ((reserved | leavers) & ~busy) != '0;
  assign scale   = 16'(policy_q.latency_scale);
  assign at_most = (scale << 4) - scale + 16'(MaxMore);
  always_ff @(posedge clk_i) begin
    since_q <= (rst_ni && quiet && to_do && !decision.valid && !pulses.cancel) ? since_q + 16'd1
                                                                               : '0;
    stuck_q <= (rst_ni && quiet && (free & ~no_room) != '0 && !moves) ? stuck_q + 16'd1 : '0;
  end
  `PROVE(Decides_A, since_q <= at_most)
  // Inside: what a step has still to wait for, and the steps that still come, are not too many. They
  // begin after the commands before: one, or the two of a plan.
  localparam logic [15:0] CommandTime = 16'(MaxRefusals + 1);
  `WATCH([0:0], searching, u_dut.u_steps.searching_q)
  `WATCH([NumKernels-1:0], plan_left, u_dut.u_partitions.left_q)
  `WATCH([2:0], range_step, u_dut.u_preempt.range_step_q)
  logic [15:0] before, commands, to_fit, to_range, steps_left, left, begun;
  assign before   = partitioned ? (scale << 1) + 16'd13 : CommandTime;
  assign commands = (plan_left[0] ? scale + CommandTime : '0) +
                    (plan_left[1] ? scale + CommandTime : '0);
  assign to_fit   = 16'(smk_pkg::StFit) - 16'(step);
  assign to_range = (step == smk_pkg::StCount) ? 16'd10 - 16'(range_victim_tbs)
                                               : 16'(smk_pkg::StCount) + 16'd10 - 16'(step);
  always_comb begin
    steps_left = to_range;
    begun      = at_most;
    case (step)
      smk_pkg::StIdle: begin
        steps_left = '0;
        begun      = before;
      end
      smk_pkg::StMask, smk_pkg::StSm, smk_pkg::StLook, smk_pkg::StFit: begin
        steps_left = to_fit;
        begun      = searching ? 16'd5 : (scale << 2) + before;
      end
      smk_pkg::StVictimSm: begin
        steps_left = '0;
        begun      = searching ? 16'd6 : (scale << 2) + before + 16'd1;
      end
      smk_pkg::StRange: steps_left = 16'd6 - 16'(range_step);
      smk_pkg::StPlan: begin
        steps_left = '0;
        begun      = planning_q ? 16'(planning_for_q) + 16'd1 : '0;
      end
      // Its command is one of those that are left; a plan of no kernel has one, too.
      smk_pkg::StSendPlan: begin
        steps_left = 16'(cycles_left) + 16'd1 + (plan_left == '0 ? CommandTime : commands - scale);
        begun      = before;
      end
      smk_pkg::StSend: begin
        steps_left = commands + CommandTime - 16'(refused_for_q);
        begun      = before;
      end
      default: ;
    endcase
  end
  logic waits_on;
  assign waits_on = step != smk_pkg::StIdle && step != smk_pkg::StVictimSm && step < smk_pkg::StPlan &&
                    !(searching && step <= smk_pkg::StFit);
  assign left     = (waits_on && 16'(cycles_left) > steps_left) ? 16'(cycles_left) : steps_left;
  `PROVE(BeganInTime_A, since_q == '0 || (pulses.cancel && step == smk_pkg::StIdle) ||
         since_q + left <= begun)
  // A step has the SM whose credit it may wait for.
  `WATCH([0:0], pick_is_evict, u_dut.u_pick.is_evict_q)
  `WATCH([NumSms-1:0], pick_sm, u_dut.u_pick.sm_q)
  `PROVE(HasItsSm_A, (step != smk_pkg::StFit || dut_sm != '0) &&
         (step != smk_pkg::StSm || !pick_is_evict || pick_sm != '0))
  // A search is one on demand; a plan's commands are left while they are sent.
  `PROVE(StepsAreOfTheMode_A, (!searching || on_demand) && (!partitioned || step < smk_pkg::StVictimSm ||
         step > smk_pkg::StRange) && (searching || step <= smk_pkg::StVictimSm || step > smk_pkg::StRange) &&
         (partitioned || (step != smk_pkg::StPlan && step != smk_pkg::StSendPlan && plan_left == '0)) &&
         (step != smk_pkg::StSendPlan || 16'(cycles_left) < scale) &&
         (searching || step == smk_pkg::StIdle || step > smk_pkg::StFit ||
          16'(cycles_left) < scale << 2))

  // While a TB waits that has room where it may go, within so many quiet cycles a TB is dispatched,
  // TBs are ordered to leave, or a plan is asked for, or reserved room given back: the decisions in
  // between fail, each for another pair.
  logic [15:0]         for_tried, for_all;
  logic [NumPairs-1:0] tried_flat;
  assign tried_flat = tried_q;
  always_comb begin
    for_tried = '0;
    for_all   = '0;
    for (int unsigned i = 0; i < NumPairs; i++) begin
      for_tried = for_tried + (tried_flat[i] ? at_most + 16'd1 : '0);
      for_all   = for_all + at_most + 16'd1;
    end
  end
  `PROVE(EachPairFails_A, stuck_q <= for_tried + since_q)
  `PROVE(WaiterIsServed_A, stuck_q <= for_all)
