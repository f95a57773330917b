// SPDX-License-Identifier: Apache-2.0
// smk_dispatch_preempt: who loses TBs, so that one TB of the candidate kernel fits.
//
// Purpose     The part of smk_tb_dispatch that makes room: which kernel loses how many TBs on which
//             SM, and whether it comes to that (right half of Fig. 4).
// Paper       [SMK] Sec. 5.3.1, Fig. 4; deviations [D2], [D13].
// Interface   step_i: the step of this cycle, unless overtaken_i. due_i, due_early_i: the decision
//             may act, may give up in Count.
//             Questions to smk_drf_tracker within the cycle, range_*: see there.
// Latency     VictimSm, VictimLook, VictimKernel one cycle each; Count n + 1 for n victims; Range 7.
// Throughput  One search at a time.
// Reset       Nobody is a victim.
// Model       model/control/driver/tb_dispatch_preempt.cc   Doc  docs/blocks/tb_dispatch.md
// The victims are counted by taking what one of them needs from what is missing, once per cycle.
`include "smk_assert.svh"

module smk_dispatch_preempt (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  smk_pkg::dispatch_step_e   step_i,
  input  logic                      overtaken_i,
  input  logic                      due_i,
  input  logic                      due_early_i,
  // The candidate kernel and its room; what all kernels need, have waiting, and can save.
  input  smk_pkg::kernel_mask_t     kernel_of_i,
  input  smk_pkg::tb_need_t         room_i,
  input  smk_pkg::kernel_mask_t     active_i,
  input  smk_pkg::need_vec_t        need_i,
  input  smk_pkg::tb_id_vec_t       remaining_i,
  input  smk_pkg::buffer_cnt_vec_t  queue_count_i,
  input  smk_pkg::buffer_cnt_vec_t  queue_free_i,
  // SMs that may host each kernel, and what is remembered of them.
  input  smk_pkg::kernel_sms_t      allowed_i,
  input  smk_pkg::sm_mask_t         busy_i,
  // SMs that can take a command.
  input  smk_pkg::sm_mask_t         ready_i,
  input  smk_pkg::sm_mask_t         reserved_i,
  input  smk_pkg::sm_kernel_id_t    reserved_for_i,
  // SMs on which nobody leaves for the candidate yet.
  input  smk_pkg::sm_mask_t         guarded_i,
  // VictimSm: the SM with the highest rSM without the candidate. VictimLook: what is on it.
  // VictimKernel: its kernel with the highest rK.
  output smk_pkg::sm_mask_t         victim_sms_o,
  input  smk_pkg::sm_mask_t         victim_sm_i,
  output smk_pkg::sm_mask_t         victim_sm_o,
  input  smk_pkg::tb_need_t         victim_taken_i,
  input  smk_pkg::tb_cnt_vec_t      victim_resident_i,
  output smk_pkg::kernel_mask_t     victim_kernels_o,
  input  smk_pkg::kernel_mask_t     victim_kernel_i,
  // Count: enough victims; or there are none, or room is on its way.
  output logic                      counted_o,
  output logic                      room_coming_o,
  output logic                      no_victim_o,
  // Range: whether the range of rK shrinks.
  output logic                      range_starts_o,
  output smk_pkg::kernel_mask_t     range_victim_o,
  output smk_pkg::tb_cnt_t          range_victim_tbs_o,
  output logic                      range_stops_o,
  input  logic                      range_shrinks_i,
  output logic                      not_reduced_o,
  output logic                      queue_full_o,
  output logic                      preempt_o,
  // Registers.
  output smk_pkg::kernel_id_t       victim_o,
  output smk_pkg::tb_cnt_t          victim_tbs_o
);
  localparam int unsigned NumKernels     = smk_pkg::NumKernels;
  localparam int unsigned NumSms         = smk_pkg::NumSms;
  localparam int unsigned TbCntWidth     = smk_pkg::TbCntWidth;
  localparam int unsigned BufferCntWidth = smk_pkg::BufferCntWidth;
  // Room that is being made is at most one TB per SM.
  localparam int unsigned RoomWidth      = $clog2(NumSms + 1);
  localparam int unsigned SumWidth       = RoomWidth + 1;
  // The number of preempted TBs, at least one bit wider than that.
  localparam int unsigned QueuedWidth    = (BufferCntWidth > RoomWidth) ? BufferCntWidth : SumWidth;
  localparam int unsigned LastRangeStep  = smk_pkg::RangeSteps - 1;
  // Of what is missing, signed.
  localparam int unsigned RegistersWidth = smk_pkg::RegisterCntWidth + 1;
  localparam int unsigned SharedWidth    = smk_pkg::SharedCntWidth + 1;
  localparam int unsigned ThreadsWidth   = smk_pkg::ThreadCntWidth + 1;

  // The SMs that may lose TBs, as Fit leaves for VictimSm.
  smk_pkg::sm_mask_t victim_sms_d, victim_sms_q, victim_sm_q;
  always_comb begin
    victim_sms_d = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      victim_sms_d |= allowed_i.kernel[k] & {NumSms{kernel_of_i[k]}};
    end
    victim_sms_d = victim_sms_d & ~busy_i & ~guarded_i & `SMK_CUT(NotReserved, ~reserved_i);
  end

  // Room that is being made for the kernel, against its TBs that are on no SM.
  smk_pkg::tb_id_t        remaining;
  logic [QueuedWidth-1:0] queued;
  smk_pkg::sm_mask_t      for_kernel;
  logic [RoomWidth-1:0]   room_d, room_q;
  logic [SumWidth-1:0]    few_q;
  logic                   many_q, room_coming_q;
  always_comb begin
    remaining = '0;
    queued    = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      remaining |= remaining_i.kernel[k] & {smk_pkg::TbIdWidth{kernel_of_i[k]}};
      queued    |= QueuedWidth'(queue_count_i.kernel[k]) & {QueuedWidth{kernel_of_i[k]}};
    end
  end
  for (genvar s = 0; s < NumSms; s++) begin : gen_room
    assign for_kernel[s] = reserved_i[s] && kernel_of_i[reserved_for_i.sm[s]];
  end
  smk_popcount #(.N(NumSms)) u_room (
    .mask_i (for_kernel),
    .count_o(room_d)
  );

  // The victim kernel is another one with TBs on the SM.
  smk_pkg::tb_cnt_vec_t      resident_q;
  // Taken there, but for TB slots.
  smk_pkg::tb_need_t         taken_q;
  smk_pkg::kernel_mask_t     there, victim_of_q;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_there
    assign there[k] = resident_q.kernel[k] != '0;
  end
  assign victim_kernels_o = there & active_i & ~kernel_of_i;

  // Its need, its TBs there, its free buffers.
  smk_pkg::tb_need_t    need;
  smk_pkg::tb_cnt_t     resident;
  smk_pkg::buffer_cnt_t buffers_free;
  always_comb begin
    need         = '0;
    resident     = '0;
    buffers_free = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      need         |= need_i.kernel[k] & {smk_pkg::NeedWidth{victim_of_q[k]}};
      resident     |= resident_q.kernel[k] & {TbCntWidth{victim_of_q[k]}};
      buffers_free |= queue_free_i.kernel[k] & {BufferCntWidth{victim_of_q[k]}};
    end
  end

  // What is missing less one: below zero, nothing is. One victim less per cycle.
  logic [RegistersWidth-1:0] registers_d, registers_q;
  logic [SharedWidth-1:0]    shared_memory_d, shared_memory_q;
  logic [ThreadsWidth-1:0]   threads_d, threads_q;
  smk_pkg::tb_cnt_t          victim_tbs_d, victim_tbs_q, range_tbs_n_q;
  logic                      at_count, at_range, enough, all_gone, found_q;
  logic                      starts_q, stops_q, buffers_q;
  logic [2:0]                range_step_q;
  assign at_count = step_i == smk_pkg::StCount && !overtaken_i;
  assign at_range = step_i == smk_pkg::StRange && !overtaken_i && due_i &&
                    range_step_q == 3'(LastRangeStep);
  assign enough   = registers_q[RegistersWidth-1] && shared_memory_q[SharedWidth-1] &&
                    threads_q[ThreadsWidth-1] && `SMK_CUT(HasVictim, victim_tbs_q != '0);
  assign all_gone = victim_tbs_q == resident;
  always_comb begin
    registers_d     = registers_q;
    shared_memory_d = shared_memory_q;
    threads_d       = threads_q;
    victim_tbs_d    = victim_tbs_q;
    if (step_i == smk_pkg::StVictimKernel) begin
      registers_d     = {1'b0, taken_q.registers} + {1'b1, ~room_i.registers};
      shared_memory_d = {1'b0, taken_q.shared_memory} + {1'b1, ~room_i.shared_memory};
      threads_d       = {1'b0, taken_q.threads} + {1'b1, ~room_i.threads};
      victim_tbs_d    = '0;
    end else if (step_i == smk_pkg::StCount && !enough && !all_gone) begin
      if (!registers_q[RegistersWidth-1]) registers_d = registers_q - {1'b0, need.registers};
      if (!shared_memory_q[SharedWidth-1]) begin
        shared_memory_d = shared_memory_q - {1'b0, need.shared_memory};
      end
      if (!threads_q[ThreadsWidth-1]) threads_d = threads_q - {1'b0, need.threads};
      victim_tbs_d = victim_tbs_q + TbCntWidth'(1);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      victim_sms_q  <= '0;
      victim_sm_q   <= '0;
      room_coming_q <= 1'b0;
      victim_of_q   <= '0;
      found_q       <= 1'b0;
      victim_tbs_q  <= '0;
      range_tbs_n_q <= '1;
      range_step_q  <= '0;
    end else begin
      if (step_i == smk_pkg::StFit) victim_sms_q <= victim_sms_d;
      if (step_i == smk_pkg::StVictimSm) victim_sm_q <= victim_sm_i;
      if (step_i == smk_pkg::StVictimLook) begin
        room_coming_q <= !many_q && SumWidth'(room_q) >= few_q;
      end
      if (step_i == smk_pkg::StVictimKernel) begin
        victim_of_q <= victim_kernel_i;
        found_q     <= victim_kernels_o != '0;
      end
      victim_tbs_q <= victim_tbs_d;
      range_tbs_n_q <= ~victim_tbs_d;
      if (step_i != smk_pkg::StRange) range_step_q <= '0;
      else if (range_step_q != 3'(LastRangeStep)) range_step_q <= range_step_q + 3'd1;
    end
  end

  // What the steps find; not reset.
  always_ff @(posedge clk_i) begin
    room_q          <= room_d;
    few_q           <= SumWidth'(remaining[RoomWidth-1:0]) + SumWidth'(queued[RoomWidth-1:0]);
    many_q          <= remaining[smk_pkg::TbIdWidth-1:RoomWidth] != '0 ||
                       queued[QueuedWidth-1:RoomWidth] != '0;
    registers_q     <= registers_d;
    shared_memory_q <= shared_memory_d;
    threads_q       <= threads_d;
    if (step_i == smk_pkg::StVictimLook) begin
      taken_q    <= victim_taken_i;
      resident_q <= victim_resident_i;
    end
    starts_q        <= (there & kernel_of_i) == '0;
    stops_q         <= all_gone;
    buffers_q       <= buffers_free >= BufferCntWidth'(victim_tbs_q);
  end

  // Count: give up, or go on when the victims are enough.
  assign counted_o     = at_count && !room_coming_q && found_q && enough;
  assign room_coming_o = at_count && room_coming_q && due_early_i;
  assign no_victim_o   = at_count && !room_coming_q && !(found_q && enough) &&
                         (!found_q || `SMK_CUT(AllGone, all_gone)) && due_early_i;
  // Range: preempt if the range shrinks, and buffers are free, once the SM can be told.
  assign not_reduced_o = at_range && !range_shrinks_i;
  assign queue_full_o  = at_range && range_shrinks_i && !buffers_q;
  assign preempt_o     = at_range && range_shrinks_i && buffers_q &&
                         (victim_sm_q & ready_i) != '0;

  assign victim_sms_o   = victim_sms_q;
  assign victim_sm_o    = victim_sm_q;
  assign range_starts_o = starts_q;
  assign range_victim_o = victim_of_q;
  // Kept inverted, so that synthesis does not make one register of the two.
  assign range_victim_tbs_o = ~range_tbs_n_q;
  assign range_stops_o  = stops_q;
  assign victim_o       = smk_pkg::index_of_kernel(victim_of_q);
  assign victim_tbs_o   = victim_tbs_q;

  // The victims are at least one, with the first of them a TB slot comes free; and they are there.
  `SMK_ASSERT(VictimsMakeRoom_A, counted_o |=> victim_tbs_q != '0)
  `SMK_ASSERT(VictimsAreThere_A, preempt_o |-> victim_tbs_q <= resident)
  // The kernel that loses TBs is another one.
  `SMK_ASSERT(VictimIsAnother_A, preempt_o |-> (victim_of_q & kernel_of_i) == '0)
  `SMK_ASSERT(OneVictim_A, preempt_o |-> $onehot(victim_of_q) && $onehot(victim_sm_q))
  // The tracker answers with one of the kernels asked for, and of no SM that nobody is there.
  `SMK_ASSERT(NobodyIsOnNoSm_M, step_i == smk_pkg::StVictimLook && victim_sm_q == '0
              |-> victim_resident_i == '0)
  `SMK_ASSERT(VictimWasAsked_M, step_i == smk_pkg::StVictimKernel
              |-> (victim_kernel_i & ~victim_kernels_o) == '0 &&
                  (victim_kernel_i == '0) == (victim_kernels_o == '0))
  // More than one victim really is needed in our tests, and sometimes all are not enough.
  `SMK_COVER(ManyVictims_C, counted_o && victim_tbs_q > TbCntWidth'(1))
  `SMK_COVER(NotEnough_C, no_victim_o && found_q)
endmodule
