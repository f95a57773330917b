// SPDX-License-Identifier: Apache-2.0
// Part of formal_waterfill_planner: what is planned fits, is laid out as it was planned, and has a TB
// of each kernel, if they fit beside each other.

  // Kernels whose first TB was tried; those whose range is whole.
  logic [NumKernels-1:0] tried, whole;
  logic                  begins, lays_out, extends;
  assign begins   = step == StAlone || step == StAloneLook || step == StFirst;
  assign extends  = step == StExtend;
  assign lays_out = step == StPlace || step == StExtend || step == StJudge || done;
  always_comb begin
    tried = lays_out ? kernels : kernels & ~todo & ~(begins ? at : '0);
    whole = kernels & ~todo & ~(extends ? at : '0);
  end

  // What TBs take: all that are planned, and all that are laid out; each kernel's own.
  typedef struct packed {logic [NumKernels-1:0][8:0] kernel;} amounts_t;
  logic [8:0]            planned_registers, planned_shared, planned_threads, planned_tbs;
  logic [8:0]            laid_registers, laid_shared, laid_threads, laid_tbs;
  smk_pkg::tb_need_t     its_need;
  logic [8:0]            its_tbs, its_laid;
  always_comb begin
    {planned_registers, planned_shared, planned_threads, planned_tbs} = '0;
    {laid_registers, laid_shared, laid_threads, laid_tbs} = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      its_need = need_q.kernel[k];
      its_tbs  = '0;
      its_laid = '0;
      if (tried[k])         its_tbs  = 9'(tbs.kernel[k]);
      if (extends && at[k]) its_laid = 9'(count);
      if (whole[k])         its_laid = 9'(tbs.kernel[k]);
      planned_registers = planned_registers + its_tbs * 9'(its_need.registers);
      planned_shared    = planned_shared + its_tbs * 9'(its_need.shared_memory);
      planned_threads   = planned_threads + its_tbs * 9'(its_need.threads);
      planned_tbs       = planned_tbs + its_tbs;
      laid_registers    = laid_registers + its_laid * 9'(its_need.registers);
      laid_shared       = laid_shared + its_laid * 9'(its_need.shared_memory);
      laid_threads      = laid_threads + its_laid * 9'(its_need.threads);
      laid_tbs          = laid_tbs + its_laid;
    end
  end

  // The kernel at work: its need and TBs.
  smk_pkg::tb_need_t need;
  logic [8:0]        own_tbs, more_tbs;
  localparam int unsigned Most = smk_pkg::LimitTbs;
  always_comb begin
    need    = '0;
    own_tbs = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (at[k]) need = need_q.kernel[k];
      if (at[k]) own_tbs = 9'(tbs.kernel[k]);
    end
    more_tbs = 9'(count) + 9'(step == StMark) - own_tbs;
  end

  // Which kernels fit an SM of their own, and with one TB of each other kernel of the plan that does.
  logic [NumKernels-1:0] alone, beside, one_or_more, one_at_most, as_planned, in_order;
  logic [8:0]            registers, shared_memory, threads, together;
  smk_pkg::tb_need_t     other;
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      other    = need_q.kernel[k];
      alone[k] = 32'(other.registers) <= smk_pkg::LimitRegisters &&
                 32'(other.shared_memory) <= smk_pkg::LimitSharedMemory &&
                 32'(other.threads) <= smk_pkg::LimitThreads;
    end
    for (int unsigned k = 0; k < NumKernels; k++) begin
      {registers, shared_memory, threads, together} = '0;
      for (int unsigned j = 0; j < NumKernels; j++) begin
        other = need_q.kernel[j];
        if (j == k || (kernels[j] && alone[j])) begin
          registers     = registers + 9'(other.registers);
          shared_memory = shared_memory + 9'(other.shared_memory);
          threads       = threads + 9'(other.threads);
          together      = together + 1'b1;
        end
      end
      beside[k] = 32'(registers) <= smk_pkg::LimitRegisters &&
                  32'(shared_memory) <= smk_pkg::LimitSharedMemory &&
                  32'(threads) <= smk_pkg::LimitThreads && 32'(together) <= smk_pkg::LimitTbs;
      one_or_more[k] = tbs.kernel[k] != '0;
      one_at_most[k] = 32'(tbs.kernel[k]) <= (alone[k] ? 1 : 0);
      // Kernels that are still to be laid out come later than what is laid out now.
      in_order[k] = !todo[k] || {order_q.kernel[k], 8'(k)} >= {rank, kernel};
    end
  end

  // Ranges: of a kernel that is laid out exactly as large as its TBs; of others none, but the base.
  logic [NumKernels-1:0]     right, nothing, below_trial, below_at;
  smk_pkg::partition_range_t its, current;
  logic [8:0]                range_tbs;
  always_comb begin
    current = '0;
    for (int unsigned k = 0; k < NumKernels; k++) if (at[k]) current = range.kernel[k];
    for (int unsigned k = 0; k < NumKernels; k++) begin
      its      = range.kernel[k];
      other    = need_q.kernel[k];
      range_tbs = 9'(its.tb_count);
      as_planned[k] = its.tb_count == tbs.kernel[k];
      nothing[k]    = its == '0;
      right[k] = 9'(its.registers_limit) == 9'(its.registers_base) + range_tbs * 9'(other.registers) &&
                 9'(its.shared_memory_limit) == 9'(its.shared_memory_base) +
                                                range_tbs * 9'(other.shared_memory) &&
                 9'(its.threads_limit) == 9'(its.threads_base) + range_tbs * 9'(other.threads);
      below_trial[k] = its.registers_limit <= trial.registers && its.threads_limit <= trial.threads &&
                       its.shared_memory_limit <= trial.shared_memory &&
                       9'(its.tb_base) + range_tbs <= 9'(trial.tbs);
      below_at[k] = its.registers_limit <= current.registers_base &&
                    its.threads_limit <= current.threads_base &&
                    its.shared_memory_limit <= current.shared_memory_base &&
                    9'(its.tb_base) + range_tbs <= 9'(current.tb_base);
    end
  end
  logic [NumKernels*NumKernels-1:0] are_apart, apart;
  logic [NumKernels-1:0]            fits;
  for (genvar a = 0; a < NumKernels; a++) begin : gen_range
    formal_range_inside u_inside (.range_i(range.kernel[a]), .inside_o(fits[a]));
    for (genvar b = 0; b < NumKernels; b++) begin : gen_other
      formal_ranges_apart u_apart (
        .a_i(range.kernel[a]), .b_i(range.kernel[b]), .apart_o(are_apart[a*NumKernels+b])
      );
      assign apart[a*NumKernels+b] =
          a == b || are_apart[a*NumKernels+b] || !(whole[a] && whole[b]);
    end
  end

  // The plan fits: ranges are inside the SM in all four resources, apart, and as large as their TBs.
  `PROVE(PlanFits_A, !done || (fits == '1 && apart == '1 && (right | ~kernels) == '1 &&
         (nothing | kernels) == '1))
  // Whoever fits beside one TB of each other kernel has one.
  `PROVE(EachHasOne_A, !done || (as_planned & one_or_more | ~beside | ~kernels) == '1)

  // What is taken is what is planned, and what is tried one kernel's TBs more.
  `PROVE(TakenIsPlanned_A, !busy && !done ||
         (9'(taken.registers) == planned_registers && 9'(taken.shared_memory) == planned_shared &&
          9'(taken.threads) == planned_threads && 9'(taken.tbs) == planned_tbs))
  `PROVE(TrialIsMore_A, !(step == StMark || step == StTry || step == StTryLook) ||
         (more_tbs <= 9'(Most) && own_tbs != '0 && (kernels & ~full & at) != '0 &&
          9'(trial.registers) == planned_registers + more_tbs * 9'(need.registers) &&
          9'(trial.shared_memory) == planned_shared + more_tbs * 9'(need.shared_memory) &&
          9'(trial.threads) == planned_threads + more_tbs * 9'(need.threads) &&
          9'(trial.tbs) == planned_tbs + more_tbs))
  // All that is taken or tried fits.
  `PROVE(TakenFits_A, 32'(taken.registers) <= smk_pkg::LimitRegisters &&
         32'(taken.shared_memory) <= smk_pkg::LimitSharedMemory &&
         32'(taken.threads) <= smk_pkg::LimitThreads && 32'(taken.tbs) <= smk_pkg::LimitTbs)
  `PROVE(TrialFits_A, 32'(trial.registers) <= smk_pkg::LimitRegisters &&
         32'(trial.shared_memory) <= smk_pkg::LimitSharedMemory &&
         32'(trial.threads) <= smk_pkg::LimitThreads && 32'(trial.tbs) <= smk_pkg::LimitTbs)
  // First one TB of each, on an SM of which others have no more than one.
  `PROVE(OnlyOfThePlan_A, (todo & ~kernels) == '0 && at != '0 && (at & (at - 1'b1)) == '0)
  `PROVE(FirstAlone_A, !(begins || step == StFirst) || ((at & kernels & ~todo) != '0))
  `PROVE(FirstFromNothing_A, step != StFirst || (count == '0 && trial == taken))
  `PROVE(OneAtMost_A, !(busy && !lays_out && (todo != '0 || begins)) || (one_at_most | ~tried) == '1)
  `PROVE(OneOrMore_A, !busy && !done || (one_or_more | ~beside | ~tried) == '1)
  `PROVE(NoneTodo_A, !(step == StChoose || step == StChosen || step == StRise || step == StMark ||
                       step == StTry || step == StTryLook || step == StJudge || done) || todo == '0)
  // Only who has a TB may rise.
  `PROVE(FullOrOne_A, !(busy && !lays_out) || ((full | one_or_more | ~tried) == '1))
  `PROVE(ChosenMayRise_A, !(step == StChoose || step == StChosen) || lowest == '1 ||
         ((chosen & kernels & ~full) != '0 && (chosen & (chosen - 1'b1)) == '0))
  `PROVE(RisesIfItMay_A, step != StRise || ((kernels & ~full & at) != '0))
  // The ranges, one behind the other; in the order of arrival.
  `PROVE(LaidOutInOrder_A, !(step == StPlace || extends) || in_order == '1)
  `PROVE(LaidOutRight_A, !lays_out || ((as_planned & right & below_trial | ~whole) == '1 &&
         apart == '1 && (nothing | whole | (extends ? at : '0)) == '1 && (!extends || (todo & at) == '0)))
  `PROVE(LaidOutSoFar_A, !lays_out ||
         (9'(trial.registers) == laid_registers && 9'(trial.shared_memory) == laid_shared &&
          9'(trial.threads) == laid_threads && 9'(trial.tbs) == laid_tbs))
  `PROVE(ExtendsFromBase_A, !extends || ((at & kernels) != '0 && (below_at | ~whole) == '1 &&
         9'(count) <= own_tbs && current.registers_limit == '0 && current.shared_memory_limit == '0 &&
         current.threads_limit == '0 && current.tb_count == '0 &&
         9'(trial.registers) == 9'(current.registers_base) + 9'(count) * 9'(need.registers) &&
         9'(trial.shared_memory) == 9'(current.shared_memory_base) + 9'(count) * 9'(need.shared_memory) &&
         9'(trial.threads) == 9'(current.threads_base) + 9'(count) * 9'(need.threads) &&
         9'(trial.tbs) == 9'(current.tb_base) + 9'(count)))
  `PROVE(NoRangeBefore_A, !(busy && !lays_out) || nothing == '1)
  `PROVE(DoneIsIdle_A, !done || step == StIdle)
