// SPDX-License-Identifier: Apache-2.0
// smk_sm_quotas: the instruction quotas that an SM received; part of smk_sm_tables.
//
// Purpose     Keeps the quota of each kernel for the schedulers, and whether quotas are in force:
//             from the last one of a set until the next plan. A set is taken as a whole, when its last
//             quota comes; one that a plan has cut off is not.
// Paper       [SMK] Sec. 5.4.
// Interface   quota_valid_i, plan_i: pulses (S5). Everything for the schedulers is a register.
// Latency     1 cycle.
// Throughput  One quota per cycle.
// Reset       No quotas, not in force.
// Model       model/control/sm/sm_control.h   Doc  docs/blocks/sm_control.md
// What is left of a quota is counted in smk_quota_scheduler.
`include "smk_assert.svh"

module smk_sm_quotas (
  input  logic                clk_i,
  input  logic                rst_ni,
  // The quota of a kernel, the first and the last of a set; a new plan is in force.
  input  logic                quota_valid_i,
  input  smk_pkg::kernel_id_t kernel_i,
  input  smk_pkg::quota_t     quota_i,
  input  logic                first_i,
  input  logic                last_i,
  input  logic                plan_i,
  // To the schedulers; load_o: quotas are in force that were not before.
  output smk_pkg::quota_vec_t quota_o,
  output logic                gated_o,
  output logic                ungated_o,
  output logic                load_o
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;

  // The set that comes, while it is open: its first quota has come, its last has not, and no plan.
  smk_pkg::quota_vec_t coming_d, coming_q, quota_q;
  logic                open_d, open_q, of_set, complete;
  logic                gated_d, gated_q, ungated_q, load_d, load_q;
  assign of_set   = quota_valid_i && (first_i || open_q);
  assign complete = of_set && last_i;
  assign open_d   = quota_valid_i ? of_set && !last_i : open_q && !plan_i;
  assign load_d   = complete && !gated_q;
  assign gated_d  = complete || (gated_q && !plan_i);
  always_comb begin
    coming_d = coming_q;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (of_set && kernel_i == smk_pkg::KernelWidth'(k)) coming_d.kernel[k] = quota_i;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      coming_q  <= '0;
      open_q    <= 1'b0;
      quota_q   <= '0;
      gated_q   <= 1'b0;
      ungated_q <= 1'b1;
      load_q    <= 1'b0;
    end else begin
      coming_q  <= coming_d;
      open_q    <= open_d;
      if (complete) quota_q <= coming_d;
      gated_q   <= gated_d;
      ungated_q <= !gated_d;
      load_q    <= load_d;
    end
  end

  assign quota_o   = quota_q;
  assign gated_o   = gated_q;
  assign ungated_o = ungated_q;
  assign load_o    = load_q;

  // A command is a quota or the end of a plan.
  `SMK_ASSERT(QuotaOrPlan_M, !(quota_valid_i && plan_i))
  // Quotas are in force or not, and are loaded only as they come into force.
  `SMK_ASSERT(UngatedIsNotGated_A, ungated_q == !gated_q)
  `SMK_ASSERT(LoadsOnce_A, load_q |-> gated_q && !$past(gated_q))
  // What the schedulers have changes only as a set becomes complete, and no set outlasts a plan.
  `SMK_ASSERT(WholeSets_A, !complete |=> $stable(quota_q))
  `SMK_ASSERT(PlanEndsSet_A, plan_i |=> !open_q && !gated_q)
  // Idle: nothing changes without a command.
  `SMK_ASSERT(IdleHolds_A, !quota_valid_i && !plan_i |=> $stable({coming_q, open_q, quota_q, gated_q}))
  // A plan really cuts sets off in our tests, whose rest comes after it.
  `SMK_COVER(CutOff_C, quota_valid_i && !of_set)
endmodule
