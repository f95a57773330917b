// SPDX-License-Identifier: Apache-2.0
// smk_dispatch_preempt: who loses TBs, so that one TB of the candidate kernel fits.
//
// Purpose     The part of smk_tb_dispatch that makes room: which kernel loses how many TBs on which
//             SM, and whether it comes to that (right half of Fig. 4).
// Paper       [SMK] Sec. 5.3.1, Fig. 4; deviations [D2], [D13].
// Interface   at_victim_i, at_range_i: the step is taken in this cycle; what comes of it is
//             combinational. Questions to smk_drf_tracker within the cycle.
// Latency     Victim and Range, one cycle each.
// Throughput  One step per cycle.
// Reset       Nobody is a victim.
// Model       model/control/tb_dispatch_preempt.cc   Doc  docs/modules/tb_dispatch.md
`include "smk_assert.svh"

module smk_dispatch_preempt (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      at_victim_i,
  input  logic                      at_range_i,
  // The candidate kernel; what all kernels need, have waiting, and can save.
  input  smk_pkg::kernel_id_t       kernel_i,
  input  smk_pkg::kernel_mask_t     active_i,
  input  smk_pkg::need_vec_t        need_i,
  input  smk_pkg::tb_id_vec_t       remaining_i,
  input  smk_pkg::buffer_cnt_vec_t  queue_count_i,
  input  smk_pkg::buffer_cnt_vec_t  queue_free_i,
  // SMs that may host the kernel, and what is remembered of them.
  input  smk_pkg::sm_mask_t         allowed_i,
  input  smk_pkg::sm_mask_t         busy_now_i,
  input  smk_pkg::sm_mask_t         reserved_now_i,
  input  smk_pkg::sm_kernel_id_t    reserved_for_i,
  // Victim: the SM with the highest rSM without the candidate, its kernel with the highest rK.
  output smk_pkg::sm_mask_t         victim_sms_o,
  output smk_pkg::kernel_id_t       victim_exclude_o,
  output smk_pkg::kernel_mask_t     victim_kernels_o,
  input  logic                      victim_valid_i,
  input  smk_pkg::kernel_id_t       victim_kernel_i,
  input  smk_pkg::resource_vector_t victim_free_i,
  input  smk_pkg::tb_cnt_t          victim_resident_i,
  output logic                      room_coming_o,
  output logic                      no_victim_o,
  output logic                      test_range_o,
  // Range: TBs on the victim SM, and whether the range of rK shrinks.
  input  smk_pkg::tb_cnt_vec_t      look_resident_i,
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
  localparam int unsigned BufferCntWidth = smk_pkg::BufferCntWidth;
  // Room that is being made is at most one TB per SM.
  localparam int unsigned RoomWidth      = $clog2(NumSms + 1);
  localparam int unsigned SumWidth       = RoomWidth + 1;

  // Victim.
  smk_pkg::tb_need_t free;
  smk_pkg::tb_cnt_t  tbs, victim_tbs_q;
  smk_pkg::kernel_id_t victim_q;
  assign victim_sms_o     = allowed_i & ~busy_now_i & ~reserved_now_i;
  assign victim_exclude_o = kernel_i;
  assign victim_kernels_o = active_i & ~(NumKernels'(1) << kernel_i);
  assign free = {victim_free_i.registers, victim_free_i.shared_memory, victim_free_i.threads};
  smk_victim_tbs u_victim_tbs (
    .need_i  (need_i.kernel[kernel_i]),
    .free_i  (free),
    .victim_i(need_i.kernel[victim_kernel_i]),
    .tbs_o   (tbs)
  );

  // Room that is being made for the kernel, against its TBs that are on no SM.
  smk_pkg::tb_id_t      remaining;
  smk_pkg::buffer_cnt_t queued;
  logic [SumWidth-1:0]  room, few;
  logic                 many;
  assign remaining = remaining_i.kernel[kernel_i];
  assign queued    = queue_count_i.kernel[kernel_i];
  assign many      = remaining[smk_pkg::TbIdWidth-1:RoomWidth] != '0 ||
                     queued[BufferCntWidth-1:RoomWidth] != '0;
  assign few       = SumWidth'(remaining[RoomWidth-1:0]) + SumWidth'(queued[RoomWidth-1:0]);
  always_comb begin
    room = '0;
    for (int unsigned s = 0; s < NumSms; s++) begin
      room = room + SumWidth'(reserved_now_i[s] && reserved_for_i.sm[s] == kernel_i);
    end
  end

  logic enough_room, found;
  assign enough_room   = !many && room >= few;
  assign found         = victim_sms_o != '0 && victim_valid_i && tbs <= victim_resident_i;
  assign room_coming_o = at_victim_i && enough_room;
  assign no_victim_o   = at_victim_i && !enough_room && !found;
  assign test_range_o  = at_victim_i && !enough_room && found;

  // Range: preempt if the victims are still there, the range shrinks, and buffers are free.
  logic still_there, buffers;
  assign still_there   = look_resident_i.kernel[victim_q] >= victim_tbs_q;
  assign buffers       = queue_free_i.kernel[victim_q] >= BufferCntWidth'(victim_tbs_q);
  assign not_reduced_o = at_range_i && still_there && !range_shrinks_i;
  assign queue_full_o  = at_range_i && still_there && range_shrinks_i && !buffers;
  assign preempt_o     = at_range_i && still_there && range_shrinks_i && buffers;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      victim_q     <= '0;
      victim_tbs_q <= '0;
    end else if (at_victim_i) begin
      victim_q     <= victim_kernel_i;
      victim_tbs_q <= tbs;
    end
  end
  assign victim_o     = victim_q;
  assign victim_tbs_o = victim_tbs_q;

  // The victims are at least one, and with the first of them a TB slot comes free.
  `SMK_ASSERT(VictimsMakeRoom_A, at_victim_i |=> victim_tbs_q != '0)
  `SMK_ASSERT(VictimsFit_A, test_range_o |-> 32'(victim_free_i.tbs) + 32'(tbs) != '0)
  // The kernel that loses TBs is another one.
  `SMK_ASSERT(VictimIsAnother_A, preempt_o |-> victim_q != kernel_i)
  // The tracker answers with one of the kernels asked for.
  `SMK_ASSERT(VictimWasAsked_M, test_range_o |-> victim_kernels_o[victim_kernel_i])
  // A victim really goes between Victim and Range in our tests.
  `SMK_COVER(VictimsGone_C, at_range_i && !still_there)
endmodule
