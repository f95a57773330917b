// SPDX-License-Identifier: Apache-2.0
// smk_drf_tracker: who holds what, and the dominant shares.
//
// Purpose     Counts resident TBs per kernel and SM and the taken vector per SM, keeps rK of each
//             kernel exact by adding and subtracting the kernel's share per TB, and answers the
//             questions of a dispatch decision.
// Paper       [SMK] Sec. 5.2 (rK, rSM), 5.3.1 (rSM without the candidate kernel), 5.5 (running SMs
//             in rK); deviation [D2].
// Interface   pulses_i, events_i, kernel_done_i: pulses, never refused (S5). pick_*, look_*,
//             victim_*, range_*: questions, answered combinationally; with an empty mask any
//             answer is right.
// Latency     Updates count on the next edge; answers 0 cycles.
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
  // What was decided, and what the SMs report. Whom an SM's Settled event concerns, if anybody.
  input  smk_pkg::dispatch_pulses_t pulses_i,
  input  smk_pkg::sm_events_t       events_i,
  input  smk_pkg::sm_mask_t         shortfall_mask_i,
  input  smk_pkg::sm_kernel_id_t    shortfall_kernel_i,
  // What a TB of each kernel needs, and its dominant share; constant while the kernel has TBs.
  input  smk_pkg::need_vec_t        need_i,
  input  smk_pkg::share_vec_t       tb_share_i,
  input  smk_pkg::kernel_mask_t     active_i,
  // rK covers the number of running SMs. Constant during a run.
  input  logic                      count_running_sms_i,
  // The kernel with the lowest rK, and the SM with the lowest rSM.
  input  smk_pkg::kernel_mask_t     pick_kernels_i,
  output smk_pkg::kernel_id_t       pick_kernel_o,
  input  smk_pkg::sm_mask_t         pick_sms_i,
  output smk_pkg::sm_id_t           pick_sm_o,
  // What is taken on an SM.
  input  smk_pkg::sm_id_t           look_sm_i,
  output smk_pkg::resource_vector_t look_taken_o,
  output smk_pkg::tb_cnt_vec_t      look_resident_o,
  // The SM with the highest rSM without one kernel, the kernel with the highest rK among those of
  // a mask that have TBs there, if any, its TBs there, and what is free there.
  input  smk_pkg::sm_mask_t         victim_sms_i,
  input  smk_pkg::kernel_id_t       victim_exclude_i,
  input  smk_pkg::kernel_mask_t     victim_kernels_i,
  output smk_pkg::sm_id_t           victim_sm_o,
  output logic                      victim_valid_o,
  output smk_pkg::kernel_id_t       victim_kernel_o,
  output smk_pkg::resource_vector_t victim_free_o,
  output smk_pkg::tb_cnt_t          victim_resident_o,
  // The range of rK over the active kernels is smaller with victim_tbs TBs of the victim out of
  // the SM and one of the kernel in.
  input  smk_pkg::kernel_id_t       range_kernel_i,
  input  smk_pkg::kernel_id_t       range_victim_i,
  input  smk_pkg::tb_cnt_t          range_victim_tbs_i,
  input  smk_pkg::sm_id_t           range_sm_i,
  output logic                      range_shrinks_o,
  // rK; kernels that have TBs on each SM.
  output smk_pkg::total_share_vec_t share_o,
  output smk_pkg::sm_kernels_t      resident_o
);
  localparam int unsigned NumSms      = smk_pkg::NumSms;
  localparam int unsigned NumKernels  = smk_pkg::NumKernels;
  localparam int unsigned SmWidth     = smk_pkg::SmWidth;
  localparam int unsigned KernelWidth = smk_pkg::KernelWidth;
  localparam int unsigned TbCntWidth  = smk_pkg::TbCntWidth;
  localparam int unsigned ShareWidth  = smk_pkg::ShareWidth;
  localparam int unsigned TotalWidth  = smk_pkg::TotalShareWidth;
  localparam int unsigned SmCntWidth  = $clog2(NumSms + 1);
  localparam int unsigned VectorWidth = smk_pkg::BasesWidth;
  localparam int unsigned RegisterCntWidth = smk_pkg::RegisterCntWidth;
  localparam int unsigned SharedCntWidth   = smk_pkg::SharedCntWidth;
  localparam int unsigned ThreadCntWidth   = smk_pkg::ThreadCntWidth;
  localparam int unsigned ResidentWidth = NumKernels * TbCntWidth;
  // TBs that one cycle adds to or takes from a kernel's rK, signed.
  localparam int unsigned DeltaWidth  = $clog2((NumSms + 1) * smk_pkg::LimitTbs + NumSms + 3) + 1;

  typedef struct packed {logic [NumSms-1:0][VectorWidth-1:0] sm;} sm_vectors_t;
  typedef struct packed {logic [NumSms-1:0][ShareWidth-1:0] sm;} sm_shares_t;
  typedef struct packed {logic [NumSms-1:0][TbCntWidth-1:0] sm;} sm_counts_t;
  typedef struct packed {logic [NumKernels-1:0][SmCntWidth-1:0] kernel;} running_vec_t;

  // The SMs on which a kernel runs, when they count, as rK.
  function automatic logic [TotalWidth-1:0] floor(input logic [SmCntWidth-1:0] running,
                                                  input logic count_running);
    floor = count_running ? TotalWidth'(running) * TotalWidth'(smk_pkg::ShareWhole) : '0;
  endfunction

  // rK of a kernel: its TBs, or the SMs on which it runs. Never below zero.
  function automatic logic [TotalWidth-1:0] decided(input logic [TotalWidth-1:0] share,
                                                    input logic [TotalWidth-1:0] least);
    decided = ($signed(share) > $signed(least)) ? share : least;
  endfunction

  smk_pkg::total_share_vec_t share_d, share_q;
  running_vec_t              running_d, running_q;

  // The decision of the last cycle.
  logic                  dispatch, dispatch_reserved, reserve, cancel, preempt;
  smk_pkg::kernel_id_t   pulse_kernel, pulse_victim;
  smk_pkg::sm_id_t       pulse_sm;
  smk_pkg::tb_cnt_t      pulse_victim_tbs;
  logic                  unused_plan_start, unused_dispatch_new, unused_pop;
  smk_pkg::kernel_mask_t unused_plan_kernels;
  smk_pkg::tb_need_t     arrive_need;
  smk_pkg::sm_mask_t     arrive;
  assign {unused_plan_start, unused_plan_kernels, unused_dispatch_new, unused_pop, dispatch,
          dispatch_reserved, reserve, cancel, preempt, pulse_kernel, pulse_sm, pulse_victim,
          pulse_victim_tbs} = pulses_i;
  assign arrive_need = need_i.kernel[pulse_kernel];
  assign arrive      = dispatch ? NumSms'(1) << pulse_sm : '0;

  // One SM: its event, its TBs, and the kernel that would lose TBs there.
  smk_pkg::sm_mask_t     victim_there, event_valid;
  sm_vectors_t           taken, free;
  smk_pkg::sm_tb_cnts_t  resident;
  sm_shares_t            sm_share, others_share, others_complement;
  sm_counts_t            victim_count;
  smk_pkg::sm_kernel_id_t victim_on;
  // By kernel, then by SM.
  logic [NumKernels*NumSms-1:0]            some, some_next, left;
  logic [NumKernels*NumSms*DeltaWidth-1:0] not_found;
  // Bit [i*NumKernels + j]: kernel i is taken from rather than j.
  logic [NumKernels*NumKernels-1:0] loses_first;
  for (genvar i = 0; i < NumSms; i++) begin : gen_sm
    smk_pkg::event_kind_e   kind;
    smk_pkg::kernel_id_t    event_kernel;
    smk_pkg::tb_id_t        unused_tb;
    smk_pkg::buffer_t       unused_buffer;
    logic                   counted, leave, settled;
    smk_pkg::tb_cnt_t       shortfall;
    smk_pkg::kernel_mask_t  some_after, some_here, candidates, victim;
    logic [ResidentWidth-1:0]    resident_here;
    logic [TbCntWidth-1:0]       count;
    logic [RegisterCntWidth-1:0] registers;
    logic [SharedCntWidth-1:0]   shared_memory;
    logic [ThreadCntWidth-1:0]   threads;
    logic [TbCntWidth-1:0]       tbs;
    assign {event_valid[i], kind, event_kernel, unused_tb, unused_buffer, counted, shortfall} =
        events_i.sm[i];
    assign leave   = event_valid[i] && (kind == smk_pkg::EventFinished ||
                     kind == smk_pkg::EventSaved || kind == smk_pkg::EventFlushed);
    assign settled = event_valid[i] && kind == smk_pkg::EventSettled && shortfall_mask_i[i];

    smk_sm_usage u_usage (
      .clk_i,
      .rst_ni,
      .need_i,
      .arrive_valid_i (arrive[i]),
      .arrive_kernel_i(pulse_kernel),
      .arrive_need_i  (arrive_need),
      .leave_valid_i  (leave),
      .leave_kernel_i (event_kernel),
      .resident_o     (resident_here),
      .some_o         (some_here),
      .some_next_o    (some_after),
      .taken_o        (taken.sm[i]),
      .share_o        (sm_share.sm[i]),
      .exclude_i      (victim_exclude_i),
      .others_share_o (others_share.sm[i])
    );
    assign resident.sm[i]          = resident_here;
    assign resident_o.sm[i]        = some_here;
    assign others_complement.sm[i] = ~others_share.sm[i];
    assign {registers, shared_memory, threads, tbs} = taken.sm[i];
    assign free.sm[i] = {RegisterCntWidth'(smk_pkg::LimitRegisters) - registers,
                         SharedCntWidth'(smk_pkg::LimitSharedMemory) - shared_memory,
                         ThreadCntWidth'(smk_pkg::LimitThreads) - threads,
                         TbCntWidth'(smk_pkg::LimitTbs) - tbs};

    // rK changes by the TBs that were not found, or by one that leaves and still counts in rK.
    for (genvar k = 0; k < NumKernels; k++) begin : gen_kernel
      logic found_fewer;
      assign found_fewer = settled && shortfall_kernel_i.sm[i] == KernelWidth'(k);
      assign left[k*NumSms + i] = leave && !counted && event_kernel == KernelWidth'(k);
      assign not_found[(k*NumSms + i)*DeltaWidth +: DeltaWidth] =
          DeltaWidth'(shortfall) & {DeltaWidth{found_fewer}};
      assign some[k*NumSms + i]      = some_here[k];
      assign some_next[k*NumSms + i] = some_after[k];
      // The kernel with the highest rK here.
      assign victim[k] = candidates[k] && ((~candidates | loses_first[k*NumKernels +: NumKernels])
                                           == '1);
    end
    assign candidates       = some_here & victim_kernels_i;
    assign victim_there[i]  = candidates != '0;
    assign victim_on.sm[i]  = KernelWidth'(smk_pkg::index_of_16(16'(victim)));
    assign victim_count.sm[i] = count;
    always_comb begin
      count = '0;
      for (int unsigned k = 0; k < NumKernels; k++) begin
        count |= resident_here[k*TbCntWidth +: TbCntWidth] & {TbCntWidth{victim[k]}};
      end
    end
  end

  // rK of one kernel.
  for (genvar k = 0; k < NumKernels; k++) begin : gen_kernel
    logic [DeltaWidth-1:0] added, of_decision, delta;
    logic [SmCntWidth-1:0] taken_away;
    logic [TotalWidth-1:0] change;
    logic                  more, fewer, reserved, is_victim;
    smk_sum_tree #(.N(NumSms), .Width(DeltaWidth)) u_added (
      .term_i(not_found[k*NumSms*DeltaWidth +: NumSms*DeltaWidth]),
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
    assign delta       = added - DeltaWidth'(taken_away) + of_decision;
    assign change      = {{(TotalWidth-DeltaWidth){delta[DeltaWidth-1]}}, delta} *
                         TotalWidth'(tb_share_i.kernel[k]);
    assign share_d.kernel[k] = kernel_done_i[k] ? '0 : share_q.kernel[k] + change;

    smk_popcount #(.N(NumSms)) u_running (
      .mask_i (some_next[k*NumSms +: NumSms]),
      .count_o(running_d.kernel[k])
    );
    assign share_o.kernel[k] = decided(share_q.kernel[k],
                                       floor(running_q.kernel[k], count_running_sms_i));
    for (genvar j = 0; j < NumKernels; j++) begin : gen_order
      if (k == j) begin : gen_same
        assign loses_first[k*NumKernels + j] = 1'b1;
      end else if (k < j) begin : gen_tie
        assign loses_first[k*NumKernels + j] = share_o.kernel[k] >= share_o.kernel[j];
      end else begin : gen_no_tie
        assign loses_first[k*NumKernels + j] = share_o.kernel[k] > share_o.kernel[j];
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      share_q   <= '0;
      running_q <= '0;
    end else begin
      share_q   <= share_d;
      running_q <= running_d;
    end
  end

  // The lowest kernel and the lowest SM.
  smk_pkg::kernel_mask_t pick_kernel;
  smk_pkg::sm_mask_t     pick_sm, victim_sm, look_sm, range_sm;
  logic                  unused_kernel_valid, unused_sm_valid, unused_victim_valid;
  logic [TotalWidth-1:0] unused_kernel_share;
  logic [ShareWidth-1:0] unused_sm_share, unused_victim_share;
  smk_min_group #(.N(NumKernels), .Width(TotalWidth)) u_pick_kernel (
    .valid_i (pick_kernels_i),
    .key_i   (share_o),
    .valid_o (unused_kernel_valid),
    .onehot_o(pick_kernel),
    .key_o   (unused_kernel_share)
  );
  smk_min_group #(.N(NumSms), .Width(ShareWidth)) u_pick_sm (
    .valid_i (pick_sms_i),
    .key_i   (sm_share),
    .valid_o (unused_sm_valid),
    .onehot_o(pick_sm),
    .key_o   (unused_sm_share)
  );
  // The SM on which the other kernels take most.
  smk_min_group #(.N(NumSms), .Width(ShareWidth)) u_victim_sm (
    .valid_i (victim_sms_i),
    .key_i   (others_complement),
    .valid_o (unused_victim_valid),
    .onehot_o(victim_sm),
    .key_o   (unused_victim_share)
  );
  assign pick_kernel_o  = KernelWidth'(smk_pkg::index_of_16(16'(pick_kernel)));
  assign pick_sm_o      = SmWidth'(smk_pkg::index_of_16(16'(pick_sm)));
  assign victim_sm_o    = SmWidth'(smk_pkg::index_of_16(16'(victim_sm)));
  assign victim_valid_o = (victim_sm & victim_there) != '0;

  // What the questions are about, of the SM they name.
  smk_pkg::tb_cnt_vec_t  range_resident;
  smk_pkg::kernel_mask_t range_some;
  assign look_sm  = NumSms'(1) << look_sm_i;
  assign range_sm = NumSms'(1) << range_sm_i;
  always_comb begin
    look_taken_o      = '0;
    look_resident_o   = '0;
    victim_kernel_o   = '0;
    victim_free_o     = '0;
    victim_resident_o = '0;
    range_resident    = '0;
    range_some        = '0;
    for (int unsigned i = 0; i < NumSms; i++) begin
      look_taken_o      |= taken.sm[i] & {VectorWidth{look_sm[i]}};
      look_resident_o   |= resident.sm[i] & {ResidentWidth{look_sm[i]}};
      victim_kernel_o   |= victim_on.sm[i] & {KernelWidth{victim_sm[i]}};
      victim_free_o     |= free.sm[i] & {VectorWidth{victim_sm[i]}};
      victim_resident_o |= victim_count.sm[i] & {TbCntWidth{victim_sm[i]}};
      range_resident    |= resident.sm[i] & {ResidentWidth{range_sm[i]}};
      range_some        |= resident_o.sm[i] & {NumKernels{range_sm[i]}};
    end
  end

  // rK with one TB of the candidate more on the SM, and with the victims out of it.
  // Whether the one starts to run there and the other ends comes late, so it only selects.
  logic [TotalWidth-1:0] kernel_share, victim_share, victim_floor, kernel_runs, kernel_starts;
  logic [SmCntWidth-1:0] kernel_running, victim_running;
  logic                  victim_stops;
  assign kernel_running = running_q.kernel[range_kernel_i];
  assign kernel_share   = share_q.kernel[range_kernel_i] +
                          TotalWidth'(tb_share_i.kernel[range_kernel_i]);
  assign kernel_runs    = decided(kernel_share, floor(kernel_running, count_running_sms_i));
  assign kernel_starts  = decided(kernel_share, floor(kernel_running + SmCntWidth'(1),
                                                      count_running_sms_i));
  assign victim_running = running_q.kernel[range_victim_i];
  assign victim_share   = share_q.kernel[range_victim_i] - TotalWidth'(range_victim_tbs_i) *
                          TotalWidth'(tb_share_i.kernel[range_victim_i]);
  assign victim_stops   = range_some[range_victim_i] &&
                          range_resident.kernel[range_victim_i] <= range_victim_tbs_i;
  assign victim_floor   = victim_stops ?
                          floor(victim_running - SmCntWidth'(1), count_running_sms_i) :
                          floor(victim_running, count_running_sms_i);
  smk_range_shrinks u_range (
    .active_i,
    .share_i       (share_o),
    .kernel_i      (range_kernel_i),
    .kernel_share_i(range_some[range_kernel_i] ? kernel_runs : kernel_starts),
    .victim_i      (range_victim_i),
    .victim_share_i(victim_share),
    .victim_floor_i(victim_floor),
    .shrinks_o     (range_shrinks_o)
  );

  for (genvar k = 0; k < NumKernels; k++) begin : gen_check
    // The number of running SMs is that of the SMs with TBs of the kernel.
    `SMK_ASSERT(RunningIsExact_A, 32'(running_q.kernel[k]) == $countones(some[k*NumSms +: NumSms]))
    // A kernel that is done has no rK, and no TB.
    `SMK_ASSERT(DoneIsClear_A, kernel_done_i[k] |=> share_q.kernel[k] == '0)
    `SMK_ASSERT(DoneIsGone_M, kernel_done_i[k] |=> some[k*NumSms +: NumSms] == '0)
    // rK stays within what room on every SM, taken twice, and TBs on their way out can make of it.
    `SMK_ASSERT(ShareInRange_A, 32'($signed(share_q.kernel[k])) + NumSms * smk_pkg::ShareWhole <=
                3 * NumSms * smk_pkg::ShareWhole)
  end
  // An answer is one of the mask.
  `SMK_ASSERT(PicksCandidate_A, (pick_kernel & ~pick_kernels_i) == '0 && $onehot0(pick_kernel) &&
              (pick_kernel == '0) == (pick_kernels_i == '0))
  `SMK_ASSERT(PicksSm_A, (pick_sm & ~pick_sms_i) == '0 && $onehot0(pick_sm) &&
              (pick_sm == '0) == (pick_sms_i == '0))
  `SMK_ASSERT(VictimSmIsOne_A, (victim_sm & ~victim_sms_i) == '0 && $onehot0(victim_sm) &&
              (victim_sm == '0) == (victim_sms_i == '0))
  // The victim has TBs on the SM.
  `SMK_ASSERT(VictimIsThere_A, victim_valid_o |-> victim_resident_o != '0 &&
              victim_kernels_i[victim_kernel_o])
  // Idle: without an event or a decision nothing changes (the SMs' own: smk_sm_usage).
  `SMK_ASSERT(Idle_A, !dispatch && !reserve && !cancel && !preempt && event_valid == '0 &&
              kernel_done_i == '0 |=> $stable({share_q, running_q, resident_o}))
  // All SMs report at once, in our tests.
  `SMK_COVER(AllSmsReport_C, event_valid == '1)
endmodule
