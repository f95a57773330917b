// SPDX-License-Identifier: Apache-2.0
// smk_dispatch_partitions: the partitions in force on each SM, as far as dispatch needs them.
//
// Purpose     The part of smk_tb_dispatch that has plans made and sent, and keeps, per SM, which
//             kernels the plan in force covers and how many TBs of each it allows.
// Paper       [SMK] Sec. 5.3.2, Fig. 7; deviation [D10].
// Interface   Pulses. plan_*: of smk_partition_planner, hold from plan_done_i on. look_*, send_*:
//             combinational.
// Latency     1 cycle to the registers.
// Throughput  Everything in every cycle.
// Reset       No partition.
// Model       model/control/driver/tb_dispatch.cc   Doc  docs/blocks/tb_dispatch.md
`include "smk_assert.svh"

module smk_dispatch_partitions (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  // SMs assigned anew, and kernels whose place is given away: their plans are void. Kernels
  // launched with another need: their part of every plan is.
  input  smk_pkg::sm_mask_t     assign_changed_i,
  input  smk_pkg::kernel_mask_t member_expired_i,
  input  smk_pkg::kernel_mask_t need_changed_i,
  // A plan is asked for this SM, it is made, and one more of its commands is sent. The last one
  // puts it in force; overtaken by a change, it covers nobody.
  input  smk_pkg::sm_mask_t     sm_i,
  // While TBs stream a plan that is the same on every SM goes to all that want it and can take a
  // command, and is kept for those that will.
  input  logic                  streams_i,
  input  logic                  plan_anywhere_i,
  input  smk_pkg::kernel_mask_t wanted_i,
  input  smk_pkg::sm_kernels_t  allowed_i,
  input  smk_pkg::kernel_mask_t active_i,
  input  smk_pkg::sm_mask_t     able_i,
  output logic                  plan_kept_o,
  output smk_pkg::sm_mask_t     plan_sms_o,
  input  logic                  repartition_i,
  input  logic                  plan_done_i,
  input  smk_pkg::kernel_mask_t plan_kernels_i,
  input  smk_pkg::range_vec_t   plan_range_i,
  input  logic                  send_plan_i,
  output smk_pkg::kernel_id_t   send_kernel_o,
  output logic                  send_first_o,
  output logic                  send_last_o,
  // Is the kernel covered on its SM, and with how many TBs? Which one of the kernels comes late.
  input  smk_pkg::kernel_sms_t  look_sms_i,
  input  smk_pkg::kernel_mask_t look_kernel_i,
  output logic                  look_planned_o,
  output smk_pkg::tb_cnt_t      look_tbs_o,
  // Registers.
  output smk_pkg::sm_kernels_t  planned_o,
  output smk_pkg::sm_tb_cnts_t  partition_o
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  localparam int unsigned NumSms     = smk_pkg::NumSms;
  localparam int unsigned TbCntWidth = smk_pkg::TbCntWidth;
  // A range without its last field, the TBs.
  localparam int unsigned PlaceWidth = 2 * smk_pkg::BasesWidth - smk_pkg::TbCntWidth;

  smk_pkg::sm_kernels_t planned_now, planned_d, planned_q;
  smk_pkg::sm_tb_cnts_t partition_d, partition_q;

  // Kernels of the plan whose command is still to be sent; kernels changed while it was made.
  smk_pkg::kernel_mask_t left_d, left_q, next, rest;
  logic                  void_now, void_q, in_force, kept_d, kept_q, kernels_change;
  smk_pkg::sm_mask_t     plan_for, plan_sms_d, plan_sms_q;
  assign next          = smk_pkg::lowest_kernel(left_q);
  assign rest          = left_q & ~next;
  assign send_kernel_o = smk_pkg::index_of_kernel(next);
  assign send_first_o  = left_q == plan_kernels_i;
  assign send_last_o   = rest == '0;
  assign in_force      = send_plan_i && send_last_o;
  assign kernels_change = need_changed_i != '0 || member_expired_i != '0;
  assign void_now      = void_q || kernels_change || (assign_changed_i & plan_sms_d) != '0;
  always_comb begin
    left_d = left_q;
    if (send_plan_i) left_d = rest;
    if (plan_done_i || (repartition_i && plan_kept_o)) left_d = plan_kernels_i;
  end

  // Whom it goes to.
  always_comb begin
    smk_pkg::kernel_mask_t wanted;
    for (int unsigned s = 0; s < NumSms; s++) begin
      wanted      = allowed_i.sm[s] & active_i;
      plan_for[s] = able_i[s] && wanted == plan_kernels_i && (wanted & ~planned_q.sm[s]) != '0;
    end
    plan_sms_d = plan_sms_q;
    if (repartition_i) begin
      plan_sms_d = sm_i | (plan_for & {NumSms{plan_kept_o}});
    end else if (plan_done_i) begin
      plan_sms_d = plan_sms_q | (plan_for & {NumSms{plan_anywhere_i && streams_i}});
    end
    kept_d = plan_done_i ? plan_anywhere_i && !void_q && streams_i : kept_q;
    if (kernels_change) kept_d = 1'b0;
  end
  // Not in the cycle in which one of its kernels gets another need: a plan that begins then is made anew.
  assign plan_kept_o = (kept_q && !kernels_change) && plan_kernels_i == wanted_i;
  assign plan_sms_o  = plan_sms_q;

  smk_pkg::tb_cnt_vec_t             plan_tbs;
  logic [NumKernels*PlaceWidth-1:0] unused_places;
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      {unused_places[k*PlaceWidth +: PlaceWidth], plan_tbs.kernel[k]} = plan_range_i.kernel[k];
    end
  end

  always_comb begin
    for (int unsigned s = 0; s < NumSms; s++) begin
      planned_now.sm[s] = planned_q.sm[s] & ~need_changed_i;
      if (assign_changed_i[s] || (planned_q.sm[s] & member_expired_i) != '0) begin
        planned_now.sm[s] = '0;
      end
    end
  end

  always_comb begin
    planned_d   = planned_now;
    partition_d = partition_q;
    for (int unsigned s = 0; s < NumSms; s++) begin
      if (in_force && plan_sms_q[s]) begin
        planned_d.sm[s]   = void_now ? '0 : plan_kernels_i;
        partition_d.sm[s] = plan_tbs;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      left_q      <= '0;
      kept_q      <= 1'b0;
      plan_sms_q  <= '0;
      void_q      <= 1'b0;
      planned_q   <= '0;
      partition_q <= '0;
    end else begin
      left_q      <= left_d;
      kept_q      <= kept_d;
      plan_sms_q  <= plan_sms_d;
      void_q      <= void_now && !repartition_i;
      planned_q   <= planned_d;
      partition_q <= partition_d;
    end
  end

  smk_pkg::sm_mask_t     look_sms;
  smk_pkg::kernel_mask_t look_planned, look_row;
  smk_pkg::tb_cnt_vec_t  look_counts, look_tbs;
  always_comb begin
    look_planned = '0;
    look_tbs     = '0;
    look_tbs_o   = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      look_sms = look_sms_i.kernel[k];
      for (int unsigned s = 0; s < NumSms; s++) begin
        look_row            = planned_q.sm[s];
        look_counts         = partition_q.sm[s];
        look_planned[k]     = look_planned[k] || (look_row[k] && look_sms[s]);
        look_tbs.kernel[k] |= look_counts.kernel[k] & {TbCntWidth{look_sms[s]}};
      end
      look_tbs_o |= look_tbs.kernel[k] & {TbCntWidth{look_kernel_i[k]}};
    end
  end
  assign look_planned_o = (look_planned & look_kernel_i) != '0;
  assign planned_o      = planned_q;
  assign partition_o    = partition_q;

  // Idle: without a pulse the partitions stay as they are.
  `SMK_ASSERT(IdleKeepsState_A, assign_changed_i == '0 && member_expired_i == '0 &&
              need_changed_i == '0 && !repartition_i && !plan_done_i && !send_plan_i
              |=> $stable({left_q, void_q, planned_q, partition_q}))
  // There is a command to send, and the planner holds what it planned.
  `SMK_ASSERT(PlanIsThere_M, send_plan_i |-> left_q != '0 && (left_q & ~plan_kernels_i) == '0)
  // A kernel outside the plan gets no TB.
  for (genvar k = 0; k < NumKernels; k++) begin : gen_check
    `SMK_ASSERT(PlanIsCovered_M, in_force && !plan_kernels_i[k] |-> plan_tbs.kernel[k] == '0)
  end
  // A plan really is overtaken in our tests, and one that is kept in the cycle in which it is wanted.
  `SMK_COVER(KeptPlanOvertaken_C, repartition_i && kept_q && need_changed_i != '0)
  `SMK_COVER(PlanOvertaken_C, in_force && void_now)
endmodule
