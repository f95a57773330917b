// SPDX-License-Identifier: Apache-2.0
// smk_sm_victims: which TBs a preemption takes; part of smk_sm_tables.
//
// Purpose     Chooses as many TBs of a kernel as the driver asks for, the highest slots first.
// Paper       [SMK] Fig. 3.
// Interface   preempt_i: pulse, with kernel_i and count_i. settled_i: pulse, the shortfall was reported.
// Latency     First victim in the cycle after preempt_i.
// Throughput  One victim per cycle.
// Reset       Nobody is chosen, nobody is missing.
// Model       model/control/sm/sm_control.h   Doc  docs/blocks/sm_control.md
// TBs that finish are no candidates, nor is one that was chosen. No TB comes meanwhile.
`include "smk_assert.svh"

module smk_sm_victims (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   preempt_i,
  input  smk_pkg::kernel_id_t    kernel_i,
  input  smk_pkg::tb_cnt_t       count_i,
  input  logic                   settled_i,
  input  smk_pkg::kernel_slots_t staying_slots_i,
  input  smk_pkg::slot_mask_t    finished_i,
  output smk_pkg::slot_mask_t    victims_o,
  // Victims may still be chosen; so many are missing, or still to be chosen.
  output logic                   choosing_o,
  output smk_pkg::tb_cnt_t       shortfall_o
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  localparam int unsigned TbCntWidth = smk_pkg::TbCntWidth;

  // Victims are chosen, of the TBs that are left of the kernel's: who was chosen is no candidate
  // again, though the engine forgets one that has left before the table does.
  logic                choosing_d, choosing_q;
  smk_pkg::slot_mask_t left_d, left_q;
  smk_pkg::tb_cnt_t    shortfall_d, shortfall_q;

  // The highest candidate, cycle by cycle, until so many are found or there is none.
  smk_pkg::slot_mask_t candidates, victims;
  logic                seeks, finds;
  assign candidates = left_q & ~finished_i;
  assign seeks      = choosing_q && shortfall_q != '0;
  assign finds      = seeks && `SMK_CUT(Candidates, candidates) != '0;
  assign victims    = seeks ? smk_pkg::highest_slot(candidates) : '0;
  assign choosing_d = preempt_i || finds;
  always_comb begin
    left_d = candidates & ~`SMK_CUT(Chosen, victims);
    if (preempt_i) begin
      left_d = '0;
      for (int unsigned k = 0; k < NumKernels; k++) begin
        if (kernel_i == smk_pkg::KernelWidth'(k)) left_d = left_d | staying_slots_i.kernel[k];
      end
    end
  end
  always_comb begin
    shortfall_d = shortfall_q - TbCntWidth'(finds);
    if (settled_i) shortfall_d = '0;
    if (preempt_i) shortfall_d = count_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      choosing_q  <= 1'b0;
      left_q      <= '0;
      shortfall_q <= '0;
    end else begin
      choosing_q  <= choosing_d;
      left_q      <= left_d;
      shortfall_q <= shortfall_d;
    end
  end

  assign victims_o   = victims;
  assign choosing_o  = choosing_q;
  assign shortfall_o = shortfall_q;

  // A preemption comes, and the last one is settled, only when nobody is being chosen.
  `SMK_ASSERT(OneAtATime_M, preempt_i || settled_i |-> !choosing_q)
  // Conservation: every victim asked for is found or missing; the highest are found.
  `SMK_ASSERT(VictimsConserved_A, choosing_q && !choosing_d |->
              shortfall_q == '0 || candidates == '0)
  `SMK_ASSERT(VictimIsCounted_A, choosing_q |=> shortfall_q == $past(
              shortfall_q - TbCntWidth'(shortfall_q != '0 && candidates != '0)))
  `SMK_ASSERT(VictimIsHighest_A, victims != '0 |->
              $onehot(victims) && (candidates & ~victims) < victims)
  // Idle: nothing changes without a preemption or a report.
  `SMK_ASSERT(IdleHolds_A, !choosing_q && !preempt_i && !settled_i
              |=> !choosing_q && $stable(shortfall_q))
  // Victims are really missing.
  `SMK_COVER(VictimMissing_C, choosing_q && !choosing_d && shortfall_q != '0)
endmodule
