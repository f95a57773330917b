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
// Model       model/control/driver/drf_tracker.h   Doc  docs/blocks/drf_tracker.md
// Ties go to the lowest id, those of kernels that have nothing in turn [D23]. Does not decide: see
// smk_tb_dispatch.
`include "smk_assert.svh"

module smk_drf_tracker (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  // Clears the kernel's rK, whatever else happens.
  input  smk_pkg::kernel_mask_t     kernel_done_i,
  // What was decided, where a TB comes, and what the SMs report; and whose shortfall each SM's
  // Settled event would tell: one kernel's, or nobody's.
  input  smk_pkg::dispatch_pulses_t pulses_i,
  input  smk_pkg::tb_arrival_t      arrival_i,
  input  smk_pkg::sm_events_t       events_i,
  input  smk_pkg::sm_kernels_t      shortfall_of_i,
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
  // What is taken on each SM, and TBs of each kernel there.
  output smk_pkg::sm_taken_t        taken_o,
  output smk_pkg::sm_tb_cnts_t      tbs_o,
  // rK; kernels that have TBs on each SM.
  output smk_pkg::total_share_vec_t share_o,
  output smk_pkg::sm_kernels_t      resident_o,
  // Shares and their order change without an input.
  output logic                      busy_o
);
  `SMK_CHECK_CONFIG

  localparam int unsigned NumSms        = smk_pkg::NumSms;
  localparam int unsigned NumKernels    = smk_pkg::NumKernels;
  localparam int unsigned KernelWidth   = smk_pkg::KernelWidth;
  localparam int unsigned TbCntWidth    = smk_pkg::TbCntWidth;
  localparam int unsigned ShareWidth    = smk_pkg::ShareWidth;
  localparam int unsigned TripleWidth   = ShareWidth + 2;
  localparam int unsigned VectorWidth   = smk_pkg::BasesWidth;
  localparam int unsigned NeedWidth     = smk_pkg::NeedWidth;
  localparam int unsigned ResidentWidth = NumKernels * TbCntWidth;


  // rK of each kernel: of its TBs, signed, and of the SMs on which it runs.
  smk_pkg::total_share_vec_t share, floor;
  // Of a kernel whose last updates are on their way, when the next one comes; the share three times,
  // too.
  smk_pkg::share_vec_t       tb_share_q;
  logic [NumKernels*TripleWidth-1:0] tb_triple_d, tb_triple_q;
  smk_pkg::need_vec_t        need_q;

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
  smk_pkg::sm_taken_t   taken;
  smk_pkg::sm_tb_cnts_t resident;
  smk_pkg::sm_shares_t  sm_share, others_d, others_q;
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
    smk_pkg::kernel_mask_t  some_here, shortfall_of;
    logic [ResidentWidth-1:0] resident_here;
    assign {event_valid[i], kind, event_kernel, unused_tb, unused_buffer, counted, shortfall} =
        events_i.sm[i];
    assign leave        = event_valid[i] && (kind == smk_pkg::EventFinished ||
                          kind == smk_pkg::EventSaved || kind == smk_pkg::EventFlushed);
    assign shortfall_of = shortfall_of_i.sm[i];
    assign settled      = event_valid[i] && kind == smk_pkg::EventSettled;

    smk_sm_usage u_usage (
      .clk_i,
      .rst_ni,
      .need_i         (need_q),
      .arrive_valid_i (arrival_i.sms[i]),
      .arrive_kernel_i(arrival_i.kernels.group[i/4]),
      .arrive_need_i  (arrival_i.needs.group[i/4]),
      .leave_valid_i  (leave),
      .leave_kernel_i (event_kernel),
      .resident_o     (resident_here),
      .some_o         (some_here),
      .taken_o        (taken.sm[i]),
      .share_o        (sm_share.sm[i]),
      .exclude_i      (victim_exclude_i),
      .others_share_o (others_d.sm[i])
    );
    assign resident.sm[i]   = resident_here;
    assign resident_o.sm[i] = some_here;

    // rK changes by the TBs that were not found, or by one that leaves and still counts in rK.
    for (genvar k = 0; k < NumKernels; k++) begin : gen_kernel
      logic found_fewer;
      assign found_fewer = settled && shortfall_of[k];
      assign left[k*NumSms + i] = leave && !counted && event_kernel == KernelWidth'(k);
      assign not_found[(k*NumSms + i)*TbCntWidth +: TbCntWidth] =
          shortfall & {TbCntWidth{found_fewer}};
      assign some[k*NumSms + i] = some_here[k];
    end
  end

  // rK of one kernel.
  for (genvar k = 0; k < NumKernels; k++) begin : gen_kernel
    logic decided, is_victim;
    assign tb_triple_d[k*TripleWidth +: TripleWidth] =
        TripleWidth'(tb_share_i.kernel[k]) + {1'b0, tb_share_i.kernel[k], 1'b0};
    assign decided   = pulse_kernel == KernelWidth'(k);
    assign is_victim = pulse_victim == KernelWidth'(k) && preempt;
    // A TB chosen as victim leaves rK, and the one that will replace it enters, when that is
    // decided [D2].
    smk_drf_share u_share (
      .clk_i, .rst_ni, .count_running_sms_i,
      .done_i     (kernel_done_i[k]),
      .more_i     (decided && dispatch && `SMK_CUT(NotReserved, !dispatch_reserved)),
      .reserved_i (decided && reserve),
      .fewer_i    (decided && cancel),
      .victims_i  (pulse_victim_tbs & {TbCntWidth{is_victim}}),
      .left_i     (left[k*NumSms +: NumSms]),
      .not_found_i(not_found[k*NumSms*TbCntWidth +: NumSms*TbCntWidth]),
      .some_i     (some[k*NumSms +: NumSms]),
      .tb_share_i (tb_share_q.kernel[k]),
      .tb_triple_i(tb_triple_q[k*TripleWidth +: TripleWidth]),
      .share_o    (share.kernel[k]),
      .floor_o    (floor.kernel[k])
    );
    // rK: its TBs, or the SMs on which it runs. Never below zero.
    assign share_o.kernel[k] = ($signed(share.kernel[k]) > $signed(floor.kernel[k])) ?
                               share.kernel[k] : floor.kernel[k];
  end

  // Whose TB came in the last cycle.
  logic                came_q;
  smk_pkg::kernel_id_t came_kernel_q;
  logic [3:0]          busy_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      others_q    <= '0;
      tb_share_q  <= '0;
      tb_triple_q <= '0;
      need_q      <= '0;
      came_q      <= 1'b0;
      busy_q      <= '0;
    end else begin
      others_q    <= others_d;
      tb_share_q  <= tb_share_i;
      tb_triple_q <= tb_triple_d;
      need_q      <= need_i;
      came_q      <= dispatch;
      busy_q      <= {busy_q[2:0], event_valid != '0 || kernel_done_i != '0 || dispatch ||
                                   reserve || cancel || preempt};
    end
  end
  always_ff @(posedge clk_i) begin
    if (dispatch) came_kernel_q <= pulse_kernel;
  end
  assign busy_o  = busy_q != '0;
  assign taken_o = taken;
  assign tbs_o   = resident;

  smk_drf_order u_order (
    .clk_i, .rst_ni, .pick_kernels_i, .pick_kernel_o, .victim_kernels_i, .victim_kernel_o,
    .pick_sms_i, .pick_sm_o,
    .came_i    (NumKernels'(came_q) << came_kernel_q),
    .share_i   (share),
    .floor_i   (floor),
    .sm_share_i(sm_share)
  );

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
    .share_i        (share),
    .floor_i        (floor),
    .decided_i      (share_o),
    .kernel_i       (range_kernel_i),
    .kernel_starts_i(range_starts_i),
    .victim_i       (range_victim_i),
    .victim_tbs_i   (range_victim_tbs_i),
    .victim_stops_i (range_stops_i),
    .shrinks_o      (range_shrinks_o)
  );

  for (genvar k = 0; k < NumKernels; k++) begin : gen_check
    // A kernel that is done has no TB.
    `SMK_ASSERT(DoneIsGone_M, kernel_done_i[k] |=> some[k*NumSms +: NumSms] == '0)
  end
  `SMK_ASSERT(VictimSmIsOne_A, (victim_sm_o & ~victim_sms_i) == '0 && $onehot0(victim_sm_o) &&
              (victim_sm_o == '0) == (victim_sms_i == '0))
  // Idle: without an event or a decision nothing changes (the SMs' own: smk_sm_usage).
  `SMK_ASSERT(Idle_A, !dispatch && !reserve && !cancel && !preempt && event_valid == '0 &&
              kernel_done_i == '0 |=> $stable(resident_o))
  `SMK_ASSERT(IdleShares_A, !busy_o |=> $stable({share, floor}))
  // All SMs report at once, in our tests.
  `SMK_COVER(AllSmsReport_C, event_valid == '1)
endmodule
