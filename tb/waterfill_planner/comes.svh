// SPDX-License-Identifier: Apache-2.0
// Part of formal_waterfill_planner: a plan comes. Each cycle brings its end nearer, by a count of the
// cycles that are left at most.

  // Cycles: of a kernel's beginning; of a kernel that tries all TBs in vain; of a TB more; to lay out.
  localparam int unsigned Tbs    = smk_pkg::LimitTbs;
  localparam int unsigned Begins = NumKernels + PerformanceWidth + 2 * Tbs + 4;
  localparam int unsigned Fails  = 2 * Tbs + NumKernels + 5;
  localparam int unsigned Rises  = PerformanceWidth + NumKernels + 7;
  localparam int unsigned Places = (1 << smk_pkg::KernelWidth) * NumKernels;
  localparam int unsigned Lays   = Places + Tbs + 3 * NumKernels;
  localparam int unsigned Ends   = NumKernels + 2 + Lays;
  localparam int unsigned All    = NumKernels * Fails + Tbs * Rises;
  localparam int unsigned Bound  = All + Ends + NumKernels * Begins + NumKernels;

  // Kernels to begin with or to lay out, and those that may rise; steps to the next one to begin with.
  logic [15:0] to_do, may_rise, ahead, free_tbs, tried_tbs, water, first, left;
  logic        found;
  always_comb begin
    to_do    = '0;
    may_rise = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      to_do    = to_do + 16'(todo[k]);
      may_rise = may_rise + 16'(kernels[k] && !full[k]);
    end
    ahead = '0;
    found = 1'b0;
    for (int unsigned d = 0; d < NumKernels; d++) begin
      for (int unsigned k = 0; k < NumKernels; k++) begin
        if (!found && 32'(kernel) == k && todo[(k + d) % NumKernels]) begin
          ahead = 16'(d);
          found = 1'b1;
        end
      end
    end
    free_tbs  = 16'(Tbs) - 16'(taken.tbs);
    tried_tbs = 16'(trial.tbs) - 16'(taken.tbs);
    water     = may_rise * 16'(Fails) + free_tbs * 16'(Rises) + 16'(Ends);
    first     = 16'(All + Ends) + to_do * 16'(Begins);
    case (step)
      StBegin:     left = todo == '0 ? water : first + ahead;
      StAlone:     left = first + 16'(NumKernels + PerformanceWidth + 3) + 16'(2 * Tbs) -
                          2 * 16'(trial.tbs);
      StAloneLook: left = first + 16'(NumKernels + PerformanceWidth + 4) + 16'(2 * Tbs) -
                          2 * 16'(trial.tbs);
      StFirst:     left = first + 16'(NumKernels + PerformanceWidth + 2);
      StScale:     left = (todo == '0 ? water : first + 16'(NumKernels)) + 16'(PerformanceWidth + 1);
      StDivide:    left = (todo == '0 ? water : first + 16'(NumKernels)) + 16'(PerformanceWidth) -
                          16'(divided);
      StChoose:    left = water - 16'(kernel) - 16'd1;
      StChosen:    left = water - 16'(NumKernels + 1);
      StRise:      left = water - 16'(NumKernels + 2);
      StMark:      left = water - 16'(NumKernels + 3);
      StTry:       left = water - 16'(NumKernels + 4) - 2 * tried_tbs;
      StTryLook:   left = water - 16'(NumKernels + 3) - 2 * tried_tbs;
      StPlace:     left = 16'(Places) - (16'(rank) * 16'(NumKernels) + 16'(kernel)) + 16'(Tbs) -
                          16'(trial.tbs) + 2 * to_do + 16'(NumKernels);
      StExtend:    left = 16'(Places) - (16'(rank) * 16'(NumKernels) + 16'(kernel)) + 16'(Tbs) -
                          16'(trial.tbs) + 2 * to_do + 16'(NumKernels) + 16'd1;
      StJudge:     left = 16'(NumKernels) - 16'(kernel);
      default:     left = '0;
    endcase
  end

  // Cycles since the start.
  logic [15:0] since_q, left_q;
  logic        waits_q, waited_q;
  always_ff @(posedge clk_i) begin
    waits_q  <= rst_ni && (start_i || (waits_q && !done));
    waited_q <= rst_ni && !start_i && busy;
    since_q  <= (!rst_ni || start_i) ? 16'd1 : waits_q ? since_q + 16'd1 : since_q;
    left_q   <= left;
  end
  // A plan comes in time.
  `PROVE(PlanComes_A, !waits_q || (busy != done && 32'(since_q) <= Bound + 1))
  // Each cycle of a plan brings its end nearer.
  `PROVE(EndIsNearer_A, !waited_q || left < left_q)
  `PROVE(EndIsInSight_A, !waits_q || 32'(since_q) + 32'(left) <= Bound + 1)
  `PROVE(LeftIsCounted_A, left <= 16'(Bound) && (!busy || left != '0) && (waits_q || !busy) &&
         (!waits_q || busy || done))
  // What it counts with.
  `PROVE(TriedIsMore_A, !(step == StMark || step == StTry || step == StTryLook) ||
         (trial.tbs >= taken.tbs && (step != StTryLook || trial.tbs > taken.tbs) &&
          (kernels & ~full & at) != '0 && (step != StMark || trial.tbs == taken.tbs)))
