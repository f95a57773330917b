// SPDX-License-Identifier: Apache-2.0
// smk_drf_tracker: who holds what, and the dominant shares.
//
// Purpose     Counts resident TBs per kernel and SM and the taken vector per SM, keeps rK of each
//             kernel exact by adding and subtracting the kernel's share per TB, and answers the
//             questions of a dispatch decision.
// Paper       [SMK] Sec. 5.2 (rK, rSM), 5.3.1 (rSM without the candidate kernel), 5.5 (running SMs
//             in rK); deviation [D2].
// Interface   pulses_i, events_i, kernel_done_i: pulses, never refused (S5). pick_*, look_*,
//             victim_*, range_*: questions; with an empty mask no bit of an answer is set.
// Latency     Counts change on the next edge, rSM one later, rK three. Answers 0 cycles, but
//             victim_sm_o 1 after victim_exclude_i, range_shrinks_o 6 after range_victim_tbs_i and 7
//             after what else it asks. Those that compare shares count from the fifth cycle after
//             a change on (busy_o is low).
// Throughput  One event per SM, one decision and one question of each kind per cycle.
// Reset       Nothing taken.
// Model       model/control/drf_tracker.h   Doc  docs/modules/drf_tracker.md
// All ties go to the lowest id. Does not decide: see smk_tb_dispatch.
`include "smk_assert.svh"

module smk_drf_tracker (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  // Clears the kernel's rK, whatever else happens.
  input  smk_pkg::kernel_mask_t     kernel_done_i,
  // What was decided, where a TB comes, and what the SMs report. Whom an SM's Settled event concerns, if anybody.
  input  smk_pkg::dispatch_pulses_t pulses_i,
  input  smk_pkg::tb_arrival_t      arrival_i,
  input  smk_pkg::sm_events_t       events_i,
  input  smk_pkg::sm_mask_t         shortfall_mask_i,
  input  smk_pkg::sm_kernel_id_t    shortfall_kernel_i,
  // What a TB of each kernel needs, and its dominant share; constant while the kernel has TBs.
  input  smk_pkg::need_vec_t        need_i,
  input  smk_pkg::share_vec_t       tb_share_i,
  input  smk_pkg::kernel_mask_t     active_i,
  // rK covers the number of running SMs. Constant during a run.
  input  logic                      count_running_sms_i,
  // For each kernel the SM with the lowest rSM among its own.
  input  smk_pkg::kernel_sms_t      pick_sms_i,
  output smk_pkg::kernel_sms_t      pick_sm_o,
  // The kernel with the lowest rK, what is taken on its SM, and its TBs there.
  input  smk_pkg::kernel_mask_t     pick_kernels_i,
  output smk_pkg::kernel_mask_t     pick_kernel_o,
  input  smk_pkg::kernel_sms_t      look_sm_i,
  output smk_pkg::resource_vector_t look_taken_o,
  output smk_pkg::tb_cnt_t          look_resident_o,
  // The SM with the highest rSM without one kernel; what is on an SM, but for TB slots; the kernel with the highest
  // rK.
  input  smk_pkg::kernel_id_t       victim_exclude_i,
  input  smk_pkg::sm_mask_t         victim_sms_i,
  output smk_pkg::sm_mask_t         victim_sm_o,
  input  smk_pkg::sm_mask_t         victim_look_i,
  output smk_pkg::tb_need_t         victim_taken_o,
  output smk_pkg::tb_cnt_vec_t      victim_resident_o,
  input  smk_pkg::kernel_mask_t     victim_kernels_i,
  output smk_pkg::kernel_mask_t     victim_kernel_o,
  // The range of rK over the active kernels is smaller with so many TBs of the victim out of an SM
  // and one of the kernel in: whose first it is, or whose last.
  input  smk_pkg::kernel_mask_t     range_kernel_i,
  input  logic                      range_starts_i,
  input  smk_pkg::kernel_mask_t     range_victim_i,
  input  smk_pkg::tb_cnt_t          range_victim_tbs_i,
  input  logic                      range_stops_i,
  output logic                      range_shrinks_o,
  // rK; kernels that have TBs on each SM.
  output smk_pkg::total_share_vec_t share_o,
  output smk_pkg::sm_kernels_t      resident_o,
  // Shares and their order change without an input.
  output logic                      busy_o
);
  localparam int unsigned NumSms      = smk_pkg::NumSms;
  localparam int unsigned NumKernels  = smk_pkg::NumKernels;
  localparam int unsigned KernelWidth = smk_pkg::KernelWidth;
  localparam int unsigned TbCntWidth  = smk_pkg::TbCntWidth;
  localparam int unsigned ShareWidth  = smk_pkg::ShareWidth;
  localparam int unsigned TotalWidth  = smk_pkg::TotalShareWidth;
  localparam int unsigned SmCntWidth  = $clog2(NumSms + 1);
  localparam int unsigned VectorWidth = smk_pkg::BasesWidth;
  localparam int unsigned NeedWidth   = smk_pkg::NeedWidth;
  localparam int unsigned ResidentWidth = NumKernels * TbCntWidth;
  // TBs that one cycle adds to or takes from a kernel's rK, signed.
  localparam int unsigned DeltaWidth  = $clog2((NumSms + 1) * smk_pkg::LimitTbs + NumSms + 3) + 1;

  localparam int unsigned LowWidth    = DeltaWidth / 2;
  localparam int unsigned NumGroups   = (NumSms + 3) / 4;
  localparam int unsigned FoundWidth  = TbCntWidth + 2;
  localparam int unsigned HighWidth   = DeltaWidth - LowWidth;
  // Of the upper half's product: what is above rK is lost.
  localparam int unsigned UpperWidth  = TotalWidth - LowWidth;

  typedef struct packed {logic [NumSms-1:0][VectorWidth-1:0] sm;} sm_vectors_t;
  typedef struct packed {logic [NumSms-1:0][ShareWidth-1:0] sm;} sm_shares_t;
  typedef struct packed {logic [NumKernels-1:0][SmCntWidth-1:0] kernel;} running_vec_t;

  typedef struct packed {logic [NumKernels-1:0][DeltaWidth-1:0] kernel;} delta_vec_t;
  typedef struct packed {logic [NumKernels-1:0][UpperWidth-1:0] kernel;} high_vec_t;

  // An update: TBs that left or were decided upon, and those not found on groups of SMs; their sum;
  // times the kernel's share in two halves; into rK. A kernel that is done goes along.
  delta_vec_t                counted_d, counted_q, delta_d, delta_q;
  logic [NumKernels*NumGroups*FoundWidth-1:0] found_d, found_q;
  high_vec_t                 high_d, high_q;
  smk_pkg::total_share_vec_t low_d, low_q, share_d, share_q, floor_d, floor_q;
  // Of a kernel whose last updates are on their way, when the next one comes.
  smk_pkg::share_vec_t       tb_share_q;
  smk_pkg::need_vec_t        need_q;
  smk_pkg::kernel_mask_t     done_first_q, done_q, done_late_q;
  running_vec_t              running_d, running_q, running_late_q;
  // Who is above whom: bit [i*N + j], i above j.
  logic [NumKernels*NumKernels-1:0] above_d, above_q;
  logic [NumSms*NumSms-1:0]         sm_above_d, sm_above_q;

  // The decision of the last cycle.
  logic                  dispatch, dispatch_reserved, reserve, cancel, preempt;
  smk_pkg::kernel_id_t   pulse_kernel, pulse_victim;
  smk_pkg::sm_id_t       unused_pulse_sm;
  smk_pkg::tb_cnt_t      pulse_victim_tbs;
  logic                  unused_plan_start, unused_dispatch_new, unused_pop;
  smk_pkg::kernel_mask_t unused_plan_kernels;
  assign {unused_plan_start, unused_plan_kernels, unused_dispatch_new, unused_pop, dispatch,
          dispatch_reserved, reserve, cancel, preempt, pulse_kernel, unused_pulse_sm, pulse_victim,
          pulse_victim_tbs} = pulses_i;

  // One SM: its event and its TBs.
  smk_pkg::sm_mask_t    event_valid;
  sm_vectors_t          taken;
  smk_pkg::sm_tb_cnts_t resident;
  sm_shares_t           sm_share, others_d, others_q;
  // By kernel, then by SM.
  logic [NumKernels*NumSms-1:0]            some, left;
  logic [NumKernels*NumSms*TbCntWidth-1:0] not_found;
  for (genvar i = 0; i < NumSms; i++) begin : gen_sm
    smk_pkg::event_kind_e   kind;
    smk_pkg::kernel_id_t    event_kernel;
    smk_pkg::tb_id_t        unused_tb;
    smk_pkg::buffer_t       unused_buffer;
    logic                   counted, leave, settled;
    smk_pkg::tb_cnt_t       shortfall;
    smk_pkg::kernel_mask_t  some_here;
    logic [ResidentWidth-1:0] resident_here;
    assign {event_valid[i], kind, event_kernel, unused_tb, unused_buffer, counted, shortfall} =
        events_i.sm[i];
    assign leave   = event_valid[i] && (kind == smk_pkg::EventFinished ||
                     kind == smk_pkg::EventSaved || kind == smk_pkg::EventFlushed);
    assign settled = event_valid[i] && kind == smk_pkg::EventSettled && shortfall_mask_i[i];

    smk_sm_usage u_usage (
      .clk_i,
      .rst_ni,
      .need_i         (need_q),
      .arrive_valid_i (arrival_i.sms[i]),
      .arrive_kernel_i(arrival_i.kernels),
      .arrive_need_i  (arrival_i.need),
      .leave_valid_i  (leave),
      .leave_kernel_i (event_kernel),
      .resident_o     (resident_here),
      .some_o         (some_here),
      .taken_o        (taken.sm[i]),
      .share_o        (sm_share.sm[i]),
      .exclude_i      (victim_exclude_i),
      .others_share_o (others_d.sm[i])
    );
    assign resident.sm[i]          = resident_here;
    assign resident_o.sm[i]        = some_here;

    // rK changes by the TBs that were not found, or by one that leaves and still counts in rK.
    for (genvar k = 0; k < NumKernels; k++) begin : gen_kernel
      logic found_fewer;
      assign found_fewer = settled && shortfall_kernel_i.sm[i] == KernelWidth'(k);
      assign left[k*NumSms + i] = leave && !counted && event_kernel == KernelWidth'(k);
      assign not_found[(k*NumSms + i)*TbCntWidth +: TbCntWidth] =
          shortfall & {TbCntWidth{found_fewer}};
      assign some[k*NumSms + i]      = some_here[k];
    end

    // SMs with a higher rSM than this one's; only pairs of an earlier and a later one.
    for (genvar j = 0; j < NumSms; j++) begin : gen_order
      if (i < j) begin : gen_pair
        assign sm_above_d[i*NumSms + j] = sm_share.sm[i] > sm_share.sm[j];
      end else begin : gen_none
        assign sm_above_d[i*NumSms + j] = 1'b0;
      end
    end
  end

  // rK of one kernel.
  for (genvar k = 0; k < NumKernels; k++) begin : gen_kernel
    logic [DeltaWidth-1:0] added, of_decision, delta;
    logic [TotalWidth-1:0] low, high, share, sum, carry;
    logic [SmCntWidth-1:0] taken_away;
    logic                  more, fewer, reserved, is_victim;
    for (genvar g = 0; g < NumGroups; g++) begin : gen_group
      localparam int unsigned First = 4 * g;
      localparam int unsigned Size  = (NumSms - First < 4) ? NumSms - First : 4;
      smk_sum_tree #(.N(Size), .TermWidth(TbCntWidth), .Width(FoundWidth)) u_found (
        .term_i(not_found[(k*NumSms+First)*TbCntWidth +: Size*TbCntWidth]),
        .sum_o (found_d[(k*NumGroups+g)*FoundWidth +: FoundWidth])
      );
    end
    smk_sum_tree #(.N(NumGroups), .TermWidth(FoundWidth), .Width(DeltaWidth)) u_added (
      .term_i(found_q[k*NumGroups*FoundWidth +: NumGroups*FoundWidth]),
      .sum_o (added)
    );
    smk_popcount #(.N(NumSms)) u_taken_away (
      .mask_i (left[k*NumSms +: NumSms]),
      .count_o(taken_away)
    );
    // A TB chosen as victim leaves rK, and the one that will replace it enters, when that is
    // decided [D2].
    assign more        = pulse_kernel == KernelWidth'(k) && dispatch && !dispatch_reserved;
    assign reserved    = pulse_kernel == KernelWidth'(k) && reserve;
    assign fewer       = pulse_kernel == KernelWidth'(k) && cancel;
    assign is_victim   = pulse_victim == KernelWidth'(k) && preempt;
    assign of_decision = DeltaWidth'(more) + DeltaWidth'(reserved) - DeltaWidth'(fewer)
                         - (DeltaWidth'(pulse_victim_tbs) & {DeltaWidth{is_victim}});
    assign counted_d.kernel[k] = of_decision - DeltaWidth'(taken_away);
    assign delta_d.kernel[k]   = counted_q.kernel[k] + added;
    assign delta               = delta_q.kernel[k];
    assign low_d.kernel[k]     = TotalWidth'(delta[LowWidth-1:0]) *
                                 TotalWidth'(tb_share_q.kernel[k]);
    assign high_d.kernel[k]    = {{(UpperWidth-HighWidth){delta[DeltaWidth-1]}},
                                  delta[DeltaWidth-1:LowWidth]} *
                                 UpperWidth'(tb_share_q.kernel[k]);
    // Three numbers as two, so that one carry runs.
    assign share               = share_q.kernel[k];
    assign low                 = low_q.kernel[k];
    assign high                = {high_q.kernel[k], {LowWidth{1'b0}}};
    assign sum                 = share ^ low ^ high;
    assign carry               = ((share & low) | (share & high) | (low & high)) << 1;
    assign share_d.kernel[k]   = (done_late_q[k] ? '0 : sum) + (done_late_q[k] ? '0 : carry);

    smk_popcount #(.N(NumSms)) u_running (
      .mask_i (some[k*NumSms +: NumSms]),
      .count_o(running_d.kernel[k])
    );
    // The SMs on which the kernel runs, when they count, as rK.
    assign floor_d.kernel[k] = count_running_sms_i ? TotalWidth'(running_late_q.kernel[k]) *
                               TotalWidth'(smk_pkg::ShareWhole) : '0;
    // rK: its TBs, or the SMs on which it runs. Never below zero.
    assign share_o.kernel[k] = ($signed(share_q.kernel[k]) > $signed(floor_q.kernel[k])) ?
                               share_q.kernel[k] : floor_q.kernel[k];
    // The larger of two is above the larger of two others.
    for (genvar j = 0; j < NumKernels; j++) begin : gen_order
      assign above_d[k*NumKernels + j] =
          ($signed(share_q.kernel[k]) > $signed(share_q.kernel[j]) ||
           $signed(floor_q.kernel[k]) > $signed(share_q.kernel[j])) &&
          ($signed(share_q.kernel[k]) > $signed(floor_q.kernel[j]) ||
           $signed(floor_q.kernel[k]) > $signed(floor_q.kernel[j])) && k != j;
    end
  end

  logic [3:0] busy_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      counted_q      <= '0;
      found_q        <= '0;
      delta_q        <= '0;
      low_q          <= '0;
      high_q         <= '0;
      share_q        <= '0;
      running_q      <= '0;
      running_late_q <= '0;
      floor_q        <= '0;
      done_first_q   <= '0;
      done_q         <= '0;
      done_late_q    <= '0;
      above_q        <= '0;
      sm_above_q     <= '0;
      others_q       <= '0;
      busy_q         <= '0;
      tb_share_q     <= '0;
      need_q         <= '0;
    end else begin
      counted_q      <= counted_d;
      found_q        <= found_d;
      delta_q        <= delta_d;
      low_q          <= low_d;
      high_q         <= high_d;
      share_q        <= share_d;
      running_q      <= running_d;
      running_late_q <= running_q;
      floor_q        <= floor_d;
      done_first_q   <= kernel_done_i;
      done_q         <= done_first_q;
      done_late_q    <= done_q;
      above_q        <= above_d;
      sm_above_q     <= sm_above_d;
      others_q       <= others_d;
      tb_share_q     <= tb_share_i;
      need_q         <= need_i;
      busy_q         <= {busy_q[2:0], event_valid != '0 || kernel_done_i != '0 || dispatch ||
                                      reserve || cancel || preempt};
    end
  end
  assign busy_o = busy_q != '0;

  // The lowest SM of each kernel, and the lowest and the highest kernel.
  for (genvar k = 0; k < NumKernels; k++) begin : gen_pick
    smk_pkg::sm_mask_t     sms, lowest;
    smk_pkg::kernel_mask_t ahead_lowest, ahead_highest;
    assign sms                 = pick_sms_i.kernel[k];
    assign pick_sm_o.kernel[k] = lowest;
    for (genvar i = 0; i < NumSms; i++) begin : gen_sm
      smk_pkg::sm_mask_t ahead;
      for (genvar j = 0; j < NumSms; j++) begin : gen_before
        if (j < i)      assign ahead[j] = !sm_above_q[j*NumSms + i];
        else if (j > i) assign ahead[j] = sm_above_q[i*NumSms + j];
        else            assign ahead[j] = 1'b0;
      end
      assign lowest[i] = sms[i] && (sms & ahead) == '0;
    end
    for (genvar j = 0; j < NumKernels; j++) begin : gen_before
      if (j < k) begin : gen_earlier
        assign ahead_lowest[j]  = !above_q[j*NumKernels + k];
        assign ahead_highest[j] = !above_q[k*NumKernels + j];
      end else begin : gen_later
        assign ahead_lowest[j]  = above_q[k*NumKernels + j];
        assign ahead_highest[j] = above_q[j*NumKernels + k];
      end
    end
    assign pick_kernel_o[k]   = pick_kernels_i[k] && (pick_kernels_i & ahead_lowest) == '0;
    assign victim_kernel_o[k] = victim_kernels_i[k] && (victim_kernels_i & ahead_highest) == '0;
  end

  // What is taken on the SM of each kernel, and by it; the kernel that is picked comes last.
  smk_pkg::sm_mask_t        look_sms;
  smk_pkg::tb_cnt_vec_t     look_counts;
  logic [VectorWidth-1:0]   look_vector;
  smk_pkg::tb_cnt_t         look_count;
  always_comb begin
    look_taken_o    = '0;
    look_resident_o = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      look_sms    = look_sm_i.kernel[k];
      look_vector = '0;
      look_count  = '0;
      for (int unsigned i = 0; i < NumSms; i++) begin
        look_counts = resident.sm[i];
        look_vector |= taken.sm[i] & {VectorWidth{look_sms[i]}};
        look_count  |= look_counts.kernel[k] & {TbCntWidth{look_sms[i]}};
      end
      look_taken_o    |= look_vector & {VectorWidth{pick_kernel_o[k]}};
      look_resident_o |= look_count & {TbCntWidth{pick_kernel_o[k]}};
    end
  end

  // The SM on which the other kernels take most.
  logic                  unused_victim_valid;
  logic [ShareWidth-1:0] unused_victim_share;
  smk_min_group #(.N(NumSms), .Width(ShareWidth)) u_victim_sm (
    .valid_i (victim_sms_i),
    .key_i   (~others_q),
    .valid_o (unused_victim_valid),
    .onehot_o(victim_sm_o),
    .key_o   (unused_victim_share)
  );
  always_comb begin
    victim_taken_o    = '0;
    victim_resident_o = '0;
    for (int unsigned i = 0; i < NumSms; i++) begin
      victim_taken_o    |= taken.sm[i][VectorWidth-1:TbCntWidth] & {NeedWidth{victim_look_i[i]}};
      victim_resident_o |= resident.sm[i] & {ResidentWidth{victim_look_i[i]}};
    end
  end

  smk_range_shrinks u_range (
    .clk_i, .rst_ni, .active_i, .count_running_sms_i,
    .tb_share_i     (tb_share_q),
    .share_i        (share_q),
    .floor_i        (floor_q),
    .decided_i      (share_o),
    .kernel_i       (range_kernel_i),
    .kernel_starts_i(range_starts_i),
    .victim_i       (range_victim_i),
    .victim_tbs_i   (range_victim_tbs_i),
    .victim_stops_i (range_stops_i),
    .shrinks_o      (range_shrinks_o)
  );

  for (genvar k = 0; k < NumKernels; k++) begin : gen_check
    smk_pkg::sm_mask_t asked, answered;
    assign asked    = pick_sms_i.kernel[k];
    assign answered = pick_sm_o.kernel[k];
    // The number of running SMs is that of the SMs with TBs of the kernel.
    `SMK_ASSERT(RunningIsExact_A, 1'b1 |=> 32'(running_q.kernel[k]) ==
                32'($past($countones(some[k*NumSms +: NumSms]))))
    // A kernel that is done has no rK, and no TB.
    `SMK_ASSERT(DoneIsClear_A, done_late_q[k] |=> share_q.kernel[k] == '0)
    `SMK_ASSERT(DoneIsGone_M, kernel_done_i[k] |=> some[k*NumSms +: NumSms] == '0)
    // rK stays within what room on every SM, taken twice, and TBs on their way out can make of it.
    `SMK_ASSERT(ShareInRange_A, 32'($signed(share_q.kernel[k])) + NumSms * smk_pkg::ShareWhole <=
                3 * NumSms * smk_pkg::ShareWhole)
    // An answer is one of the mask.
    `SMK_ASSERT(PicksSm_A, (answered & ~asked) == '0 && $onehot0(answered) &&
                (answered == '0) == (asked == '0))
  end
  `SMK_ASSERT(PicksCandidate_A, (pick_kernel_o & ~pick_kernels_i) == '0 &&
              $onehot0(pick_kernel_o) && (pick_kernel_o == '0) == (pick_kernels_i == '0))
  `SMK_ASSERT(VictimSmIsOne_A, (victim_sm_o & ~victim_sms_i) == '0 && $onehot0(victim_sm_o) &&
              (victim_sm_o == '0) == (victim_sms_i == '0))
  `SMK_ASSERT(VictimIsOne_A, (victim_kernel_o & ~victim_kernels_i) == '0 &&
              $onehot0(victim_kernel_o) && (victim_kernel_o == '0) == (victim_kernels_i == '0))
  // Idle: without an event or a decision nothing changes (the SMs' own: smk_sm_usage).
  `SMK_ASSERT(Idle_A, !dispatch && !reserve && !cancel && !preempt && event_valid == '0 &&
              kernel_done_i == '0 |=> $stable(resident_o) && counted_q == '0 && found_q == '0)
  `SMK_ASSERT(IdleShares_A, !busy_o
              |=> $stable({delta_q, low_q, high_q, share_q, running_q, floor_q, above_q, sm_above_q}))
  // All SMs report at once, in our tests.
  `SMK_COVER(AllSmsReport_C, event_valid == '1)
endmodule
