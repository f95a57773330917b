// SPDX-License-Identifier: Apache-2.0
// smk_sm_quotas: the instruction quotas that an SM received; part of smk_sm_tables.
//
// Purpose     Keeps the quota of each kernel for the schedulers, and whether quotas are in force:
//             from the last one of a set until the next plan.
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
  // The quota of a kernel, the last of a set; a new plan is in force.
  input  logic                quota_valid_i,
  input  smk_pkg::kernel_id_t kernel_i,
  input  smk_pkg::quota_t     quota_i,
  input  logic                last_i,
  input  logic                plan_i,
  // To the schedulers; load_o: quotas are in force that were not before.
  output smk_pkg::quota_vec_t quota_o,
  output logic                gated_o,
  output logic                ungated_o,
  output logic                load_o
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;

  smk_pkg::quota_vec_t quota_d, quota_q;
  logic                gated_d, gated_q, ungated_q, load_d, load_q;
  assign load_d = quota_valid_i && last_i && !gated_q;
  always_comb begin
    quota_d = quota_q;
    gated_d = gated_q;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (quota_valid_i && kernel_i == smk_pkg::KernelWidth'(k)) quota_d.kernel[k] = quota_i;
    end
    if (quota_valid_i && last_i) gated_d = 1'b1;
    if (plan_i)                  gated_d = 1'b0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      quota_q   <= '0;
      gated_q   <= 1'b0;
      ungated_q <= 1'b1;
      load_q    <= 1'b0;
    end else begin
      quota_q   <= quota_d;
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
  // Idle: nothing changes without a command.
  `SMK_ASSERT(IdleHolds_A, !quota_valid_i && !plan_i |=> $stable({quota_q, gated_q}))
endmodule
