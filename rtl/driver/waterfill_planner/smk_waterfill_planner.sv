// SPDX-License-Identifier: Apache-2.0
// smk_waterfill_planner: how many TBs of each kernel share one SM, by water-filling.
//
// Purpose     From an empty SM and one TB of each kernel, the kernel that keeps least of its
//             performance gets the fewest further TBs with which it does better, until no kernel
//             can rise; then the ranges are laid out in order of arrival [D5].
// Paper       [Warped-Slicer] Sec. IV, Algorithm 1 and eq. 1. Deviations [D4], [D30], [D31].
// Interface   sample_*: pulse, one performance of a kernel with so many TBs. start_i: pulse with a
//             set of kernels, not empty; begins anew at any time. done_o: pulse; from it on
//             kernels_o, anywhere_o, range_o and spatial_o hold until the next start.
// Latency     done_o is visible at most 1,579 cycles after start_i in configuration gtx980, and
//             1,366 in the longest plan known; the page has the cycles of each step.
// Throughput  One plan at a time; one sample per cycle.
// Reset       Idle, no plan. Samples are not reset.
// Model       model/control/driver/waterfill_planner.h   Doc  docs/blocks/waterfill_planner.md
// A kernel's level is its performance over its best one, rounded down; the best is all ones. Small
// before fast: one divider, one adder of resources, one TB or kernel at a time. Does not profile.
`include "smk_assert.svh"

module smk_waterfill_planner #(
  // Of a performance, in any unit; and of levels.
  parameter  int unsigned PerformanceWidth = 16,
  localparam int unsigned LossWidth        = PerformanceWidth + smk_pkg::KernelCntWidth
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  // Performance of a kernel with so many TBs on an SM, 1 to LimitTbs.
  input  logic                  sample_valid_i,
  input  smk_pkg::kernel_id_t   sample_kernel_i,
  input  smk_pkg::tb_cnt_t      sample_tbs_i,
  input  logic [PerformanceWidth-1:0] sample_performance_i,
  // Plan for these kernels and this SM.
  input  logic                  start_i,
  input  smk_pkg::kernel_mask_t kernels_i,
  input  smk_pkg::sm_id_t       sm_i,
  // Constant during a run: what all kernels together may lose, if each loses as much as the worst.
  input  logic [LossWidth-1:0]  loss_limit_i,
  // What one TB of each kernel needs, and the order of arrival.
  input  smk_pkg::need_vec_t    need_i,
  input  smk_pkg::order_vec_t   order_i,
  // The plan.
  output logic                  busy_o,
  output logic                  done_o,
  output smk_pkg::kernel_mask_t kernels_o,
  // It is the same on every SM.
  output logic                  anywhere_o,
  output smk_pkg::range_vec_t   range_o,
  // A kernel loses more than the limit: give each its own SMs instead.
  output logic                  spatial_o
);
  `SMK_CHECK_CONFIG

  localparam int unsigned NumKernels       = smk_pkg::NumKernels;
  localparam int unsigned KernelWidth      = smk_pkg::KernelWidth;
  localparam int unsigned KernelCntWidth   = smk_pkg::KernelCntWidth;
  localparam int unsigned RegisterCntWidth = smk_pkg::RegisterCntWidth;
  localparam int unsigned SharedCntWidth   = smk_pkg::SharedCntWidth;
  localparam int unsigned ThreadCntWidth   = smk_pkg::ThreadCntWidth;
  localparam int unsigned TbCntWidth       = smk_pkg::TbCntWidth;
  localparam int unsigned SlotWidth        = smk_pkg::SlotWidth;
  localparam int unsigned VectorWidth      = smk_pkg::BasesWidth;
  localparam int unsigned BitWidth         = $clog2(PerformanceWidth);
  localparam logic [PerformanceWidth-1:0] Best = {PerformanceWidth{1'b1}};

  typedef struct packed {logic [NumKernels-1:0][PerformanceWidth-1:0] kernel;} levels_t;
  typedef struct packed {logic [NumKernels-1:0][VectorWidth-1:0] kernel;} vectors_t;
  typedef enum logic [3:0] {StIdle, StBegin, StAlone, StAloneLook, StFirst, StScale, StDivide,
                            StChoose, StChosen, StRise, StMark, StTry, StTryLook, StPlace, StExtend,
                            StJudge} step_e;

  step_e                 step_d, step_q;
  logic                  done_d, done_q, anywhere_d, anywhere_q;
  // Of the plan; still to begin with or to lay out; those that cannot rise.
  smk_pkg::kernel_mask_t kernels_q, todo_d, todo_q, full_q;
  // The kernel at work, one-hot, and the lowest that may rise; a rank by arrival.
  smk_pkg::kernel_mask_t at_d, at_q, chosen_q;
  smk_pkg::kernel_id_t   rank_d, rank_q;
  // TBs, level and best performance of every kernel.
  smk_pkg::tb_cnt_vec_t  tbs_q;
  levels_t               level_q, peak_q;
  // What the TBs planned take, and with those that are tried; how many the kernel has with these.
  smk_pkg::resource_vector_t taken_q, trial_d, trial_q;
  smk_pkg::tb_cnt_t          count_d, count_q;
  // The sample read; what it must exceed or is divided by; what is left of it in the division, and
  // which bit.
  logic [PerformanceWidth-1:0] word_q, mark_q, rest_q, lowest_d, lowest_q;
  logic [BitWidth-1:0]   bit_q;
  // Where the ranges begin and end; what is lost, less the limit and one: negative within it.
  vectors_t              base_q, limit_q;
  logic [LossWidth:0]    loss_d, loss_q;

  // What belongs to the kernel at work, and who is next.
  smk_pkg::tb_need_t     need;
  smk_pkg::tb_cnt_t      tbs;
  smk_pkg::kernel_id_t   rank;
  logic [PerformanceWidth-1:0] level, peak, word;
  logic                  todo, member, may_rise, last_kernel;
  always_comb begin
    need  = '0;
    tbs   = '0;
    rank  = '0;
    level = '0;
    peak  = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (at_q[k]) begin
        need  = need | need_i.kernel[k];
        tbs   = tbs | tbs_q.kernel[k];
        rank  = rank | order_i.kernel[k];
        level = level | level_q.kernel[k];
        peak  = peak | peak_q.kernel[k];
      end
    end
  end
  assign todo        = (todo_q & at_q) != '0;
  assign member      = (kernels_q & at_q) != '0;
  assign may_rise    = (kernels_q & ~full_q & at_q) != '0;
  assign last_kernel = at_q[NumKernels-1];

  localparam smk_pkg::kernel_mask_t Lowest = NumKernels'(1);
  smk_pkg::kernel_mask_t at_next;
  assign at_next = {at_q[NumKernels-2:0], at_q[NumKernels-1]};

  // If not one TB of each fits, the (SM mod n)-th of the n kernels goes first [D4].
  smk_pkg::kernel_id_t   turn;
  smk_pkg::kernel_mask_t first;
  smk_pkg::kernel_cnt_t  sharers, below;
  always_comb begin
    sharers = '0;
    for (int unsigned k = 0; k < NumKernels; k++) sharers = sharers + KernelCntWidth'(kernels_i[k]);
    turn = '0;
    for (int unsigned n = 2; n <= NumKernels; n++) begin
      for (int unsigned s = 0; s < smk_pkg::NumSms; s++) begin
        if (32'(sharers) == n && 32'(sm_i) == s) turn = turn | KernelWidth'(s % n);
      end
    end
    below = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      first[k] = kernels_i[k] && 32'(below) == 32'(turn);
      below    = below + KernelCntWidth'(kernels_i[k]);
    end
  end

  // One more TB of the kernel at work.
  logic [RegisterCntWidth:0] registers;
  logic [SharedCntWidth:0]   shared_memory;
  logic [ThreadCntWidth:0]   threads;
  smk_pkg::tb_cnt_t          next_count;
  smk_pkg::resource_vector_t sum;
  logic                      fits;
  assign registers     = {1'b0, trial_q.registers} + {1'b0, need.registers};
  assign shared_memory = {1'b0, trial_q.shared_memory} + {1'b0, need.shared_memory};
  assign threads       = {1'b0, trial_q.threads} + {1'b0, need.threads};
  assign next_count    = count_q + 1'b1;
  assign sum = {registers[RegisterCntWidth-1:0], shared_memory[SharedCntWidth-1:0],
                threads[ThreadCntWidth-1:0], trial_q.tbs + 1'b1};
  assign fits = (32'(registers) <= smk_pkg::LimitRegisters) &&
                (32'(shared_memory) <= smk_pkg::LimitSharedMemory) &&
                `SMK_CUT(ThreadsFit, 32'(threads) <= smk_pkg::LimitThreads) &&
                (32'(trial_q.tbs) < smk_pkg::LimitTbs);

  smk_performance_table #(
    .PerformanceWidth(PerformanceWidth)
  ) u_table (
    .clk_i, .rst_ni, .sample_valid_i, .sample_kernel_i, .sample_tbs_i, .sample_performance_i,
    .read_kernel_i     (at_q),
    .read_slot_i       (SlotWidth'(count_q)),
    .read_performance_o(word)
  );

  // Comparisons, and one bit of the division.
  logic                        better, below_peak, lower, more;
  logic [PerformanceWidth:0]   twice;
  logic [PerformanceWidth+1:0] left;
  assign better     = word_q > mark_q;
  assign below_peak = word_q < peak;
  assign lower      = level < lowest_q;
  assign more       = (count_q < tbs) && fits;
  assign twice      = {rest_q, 1'b0};
  assign left       = {1'b0, twice} - {2'b0, mark_q};

  // What is done in this cycle. A start goes before all.
  logic begins, ends_alone, grows, raises, places, ends, divides;
  assign begins     = step_q == StBegin && todo;
  assign grows      = (fits && (step_q == StAlone || step_q == StTry)) ||
                      (step_q == StExtend && more);
  assign ends_alone = step_q == StAlone && !fits;
  assign raises     = step_q == StTryLook && better;
  assign places     = step_q == StPlace && todo && rank == rank_q;
  assign ends       = step_q == StExtend && !more;
  assign divides    = step_q == StDivide;
  always_comb begin
    step_d = step_q;
    unique case (step_q)
      StIdle:      step_d = StIdle;
      // The kernel's best performance on an SM of its own, one more TB at a time.
      StBegin:     if (todo_q == '0) step_d = StChoose; else if (todo) step_d = StAlone;
      StAlone:     step_d = fits ? StAloneLook : StFirst;
      StAloneLook: step_d = StAlone;
      StFirst:     step_d = fits ? StScale : StBegin;
      // At its best there is nothing to divide.
      StScale:     step_d = below_peak ? StDivide : StBegin;
      StDivide:    if (32'(bit_q) == PerformanceWidth - 1) step_d = StBegin;
      // The lowest level, a kernel at a time.
      StChoose:    if (last_kernel) step_d = StChosen;
      StChosen:    step_d = (lowest_q == Best) ? StPlace : StRise;
      // The fewest more TBs with which the kernel does better than with those it has.
      StRise:      step_d = StMark;
      StMark:      step_d = StTry;
      StTry:       step_d = fits ? StTryLook : StBegin;
      StTryLook:   step_d = better ? StScale : StTry;
      // Ranges by arrival, and what is lost.
      StPlace:     if (places) step_d = StExtend;
                   else if (last_kernel && rank_q == '1) step_d = StJudge;
      StExtend:    if (!more) step_d = StPlace;
      StJudge:     if (last_kernel) step_d = StIdle;
      default:     step_d = StIdle;
    endcase
    if (start_i) step_d = StBegin;
  end
  assign done_d = step_q == StJudge && last_kernel && !start_i;

  // Which kernel is at work, and which still have to be.
  logic walks;
  assign walks = (step_q == StBegin && todo_q != '0 && !todo) || step_q == StChoose ||
                 (step_q == StPlace && !places) || `SMK_CUT(JudgeWalks, step_q == StJudge);
  always_comb begin
    at_d   = at_q;
    rank_d = rank_q;
    todo_d = todo_q;
    if (walks)                                     at_d   = at_next;
    if (step_q == StBegin && todo_q == '0)         at_d   = Lowest;
    if (step_q == StChosen)                        at_d   = (lowest_q == Best) ? Lowest : chosen_q;
    if (step_q == StChosen)                        rank_d = '0;
    if (step_q == StPlace && walks && last_kernel) rank_d = rank_q + 1'b1;
    if (step_q == StChosen && lowest_q == Best)    todo_d = kernels_q;
    if (begins || places)                          todo_d = todo_q & ~at_q;
    if (start_i) begin
      at_d   = first;
      todo_d = kernels_i;
    end
  end

  // What is tried.
  always_comb begin
    trial_d = trial_q;
    count_d = count_q;
    if (grows)                                 trial_d = sum;
    if (grows || step_q == StMark)             count_d = next_count;
    if (begins || step_q == StChosen)          trial_d = '0;
    if (ends_alone || step_q == StRise)        trial_d = taken_q;
    if (begins || places || ends_alone)        count_d = '0;
    if (step_q == StRise)                      count_d = tbs - 1'b1;
  end

  // The lowest level, and what is lost: that of the lowest, once for every kernel.
  logic [PerformanceWidth-1:0] lost;
  always_comb begin
    lowest_d = lowest_q;
    loss_d   = loss_q;
    if (step_q == StBegin && todo_q == '0) lowest_d = Best;
    if (lower && ((step_q == StChoose && may_rise) || ends)) lowest_d = level;
    if (step_q == StPlace && step_d == StJudge) loss_d = ~{1'b0, loss_limit_i};
    if (step_q == StJudge && member) loss_d = loss_q + (LossWidth+1)'(lost);
    if (start_i) loss_d = '1;
  end
  assign lost       = ~lowest_q;
  assign anywhere_d = start_i || (anywhere_q && !(step_q == StFirst && !fits));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q     <= StIdle;
      done_q     <= 1'b0;
      anywhere_q <= 1'b1;
      kernels_q  <= '0;
      todo_q     <= '0;
      at_q       <= Lowest;
      rank_q     <= '0;
      chosen_q   <= '0;
      trial_q    <= '0;
      taken_q    <= '0;
      count_q    <= '0;
      lowest_q   <= '0;
      loss_q     <= '1;
    end else begin
      step_q     <= step_d;
      done_q     <= done_d;
      anywhere_q <= anywhere_d;
      todo_q     <= todo_d;
      at_q       <= at_d;
      rank_q     <= rank_d;
      trial_q    <= trial_d;
      count_q    <= count_d;
      lowest_q   <= lowest_d;
      loss_q     <= loss_d;
      if (start_i) kernels_q <= kernels_i;
      if (step_q == StChoose && may_rise && lower) chosen_q <= at_q;
      if (step_q == StFirst && fits) taken_q <= sum;
      if (raises)                    taken_q <= trial_q;
      if (start_i)                   taken_q <= '0;
    end
  end
  // What is read and compared, and the division.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      word_q <= '0;
      mark_q <= '0;
      rest_q <= '0;
      bit_q  <= '0;
    end else begin
      if (step_q == StAlone || step_q == StFirst || step_q == StMark || step_q == StTry) begin
        word_q <= word;
      end
      if (step_q == StAloneLook && better)    mark_q <= word_q;
      if (step_q == StTry && count_q == tbs)  mark_q <= word_q;
      if (begins)                             mark_q <= '0;
      if (step_q == StScale)                  mark_q <= peak;
      if (step_q == StScale) {rest_q, bit_q} <= {word_q, BitWidth'(0)};
      if (divides) begin
        rest_q <= left[PerformanceWidth+1] ? twice[PerformanceWidth-1:0]
                                           : left[PerformanceWidth-1:0];
        bit_q  <= bit_q + 1'b1;
      end
    end
  end
  // Of every kernel.
  for (genvar k = 0; k < NumKernels; k++) begin : gen_kernel
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        {full_q[k], tbs_q.kernel[k], level_q.kernel[k], peak_q.kernel[k]} <= '0;
        {base_q.kernel[k], limit_q.kernel[k]} <= '0;
      end else begin
        if (at_q[k] && step_q == StFirst) begin
          full_q[k]       <= !fits;
          tbs_q.kernel[k] <= TbCntWidth'(`SMK_CUT(FirstTb, fits));
        end
        if (at_q[k] && raises) tbs_q.kernel[k] <= count_q;
        if (at_q[k] && step_q == StScale && !below_peak) full_q[k] <= 1'b1;
        if (at_q[k] && step_q == StTry && !fits) full_q[k] <= `SMK_CUT(IsFull, 1'b1);
        if (at_q[k] && step_q == StFirst && !fits)       level_q.kernel[k] <= '0;
        if (at_q[k] && step_q == StScale && !below_peak) level_q.kernel[k] <= Best;
        if (at_q[k] && divides) begin
          level_q.kernel[k] <= {level_q.kernel[k][PerformanceWidth-2:0], !left[PerformanceWidth+1]};
        end
        if (at_q[k] && ends_alone) peak_q.kernel[k] <= mark_q;
        if (at_q[k] && places) base_q.kernel[k] <= trial_q;
        if (at_q[k] && ends) limit_q.kernel[k] <= {trial_q.registers, trial_q.shared_memory,
                                                 trial_q.threads, count_q};
        if (start_i) {base_q.kernel[k], limit_q.kernel[k]} <= '0;
      end
    end
    assign range_o.kernel[k] = {base_q.kernel[k], limit_q.kernel[k]};
  end

  assign busy_o     = step_q != StIdle;
  assign done_o     = done_q;
  assign kernels_o  = kernels_q;
  assign anywhere_o = anywhere_q;
  assign spatial_o  = !loss_q[LossWidth];

  // A start begins anew.
  `SMK_ASSERT(StartsAnew_A, start_i |=> step_q == StBegin && taken_q == '0 && range_o == '0)
  // The plan fits the SM, and so does what is tried.
  `SMK_ASSERT(PlanFits_A, 32'(trial_q.registers) <= smk_pkg::LimitRegisters &&
              32'(trial_q.shared_memory) <= smk_pkg::LimitSharedMemory &&
              32'(trial_q.threads) <= smk_pkg::LimitThreads &&
              32'(trial_q.tbs) <= smk_pkg::LimitTbs)
  // What is left of a division is below what it is divided by.
  `SMK_ASSERT(DividesRight_A, divides |-> rest_q < mark_q)
  // Who may rise is not at its best: the lowest of all levels tells whether somebody may.
  `SMK_ASSERT(RisesBelowBest_A, step_q == StChoose && may_rise |-> level != Best)
  // done_o is a pulse.
  `SMK_ASSERT(DonePulse_A, done_q |=> !done_q)
  // The plan holds until the next start.
  `SMK_ASSERT(PlanHolds_A, !busy_o && !start_i |=> $stable(
              {kernels_o, anywhere_o, range_o, spatial_o}))
  // Idle: without a start nothing changes but samples once the plan is done.
  `SMK_ASSERT(IdleHolds_A, !busy_o && !done_q && !start_i |=> $stable(
              {step_q, done_q, anywhere_q, kernels_q, todo_q, full_q, at_q, rank_q, chosen_q,
               tbs_q, level_q, peak_q, taken_q, trial_q, count_q, word_q, mark_q, rest_q, lowest_q,
               bit_q, base_q, limit_q, loss_q}))
  // There is something to plan.
  `SMK_ASSERT(SomeKernel_M, start_i |-> kernels_i != '0)
  // A plan is really begun anew, kernels really take turns, and some lose too much, in our tests.
  `SMK_COVER(Restarted_C, start_i && busy_o)
  `SMK_COVER(TakesTurns_C, done_q && !anywhere_q)
  `SMK_COVER(Spatial_C, done_q && spatial_o)
endmodule
