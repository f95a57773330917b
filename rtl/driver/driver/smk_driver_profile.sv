// SPDX-License-Identifier: Apache-2.0
// smk_driver_profile: the profiled windows of all members; part of smk_driver.
//
// Purpose     Takes the window of the i-th member from SM i, and keeps it and the members for the
//             quota calculator.
// Paper       [SMK] Sec. 5.4.
// Interface   sm_profile_*: registers of the SMs, pulses (S5): an SM shows the window that ends in
//             one cycle only. profile_valid_o: pulse per kernel (S5).
// Latency     1 cycle; heard_o 0.
// Throughput  One window of each kernel per cycle.
// Reset       No members, no window.
// Model       model/control/driver.h   Doc  docs/blocks/driver.md
`include "smk_assert.svh"

module smk_driver_profile (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  // Quotas are wanted: constant during a run.
  input  logic                  quota_enable_i,
  input  smk_pkg::kernel_mask_t members_i,
  input  smk_pkg::sm_mask_t     sm_profile_valid_i,
  input  smk_pkg::sm_issued_t   sm_profile_issued_i,
  output smk_pkg::kernel_mask_t members_o,
  output smk_pkg::kernel_mask_t profile_valid_o,
  output smk_pkg::issued_vec_t  profile_issued_o,
  // A window ends.
  output logic                  heard_o
);
  localparam int unsigned NumKernels   = smk_pkg::NumKernels;
  localparam int unsigned NumDedicated =
      (smk_pkg::NumSms < NumKernels) ? smk_pkg::NumSms : NumKernels;

  smk_pkg::kernel_mask_t members_q;
  smk_pkg::kernel_mask_t profile_valid_d, profile_valid_q;
  smk_pkg::issued_vec_t  profile_issued_d, profile_issued_q, issued;
  smk_pkg::kernel_cnt_t  rank;
  logic                  window;
  always_comb begin
    rank             = '0;
    window           = 1'b0;
    issued           = '0;
    profile_valid_d  = '0;
    profile_issued_d = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      for (int unsigned i = 0; i < NumDedicated; i++) begin
        window                      = members_i[k] && rank == smk_pkg::KernelCntWidth'(i);
        issued                      = sm_profile_issued_i.sm[i];
        profile_issued_d.kernel[k] |= issued.kernel[k] & {smk_pkg::IssuedWidth{window}};
        profile_valid_d[k]          = profile_valid_d[k] || (window && sm_profile_valid_i[i]);
      end
      profile_valid_d[k] = profile_valid_d[k] && quota_enable_i;
      rank               = rank + smk_pkg::KernelCntWidth'(members_i[k]);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      members_q       <= '0;
      profile_valid_q <= '0;
    end else begin
      members_q       <= members_i;
      profile_valid_q <= profile_valid_d;
    end
  end
  // Counts only with profile_valid_q; not reset.
  always_ff @(posedge clk_i) begin
    if (sm_profile_valid_i != '0) profile_issued_q <= profile_issued_d;
  end

  assign members_o        = members_q;
  assign profile_valid_o  = profile_valid_q;
  assign profile_issued_o = profile_issued_q;
  assign heard_o          = profile_valid_d != '0;

  // Only members have windows.
  `SMK_ASSERT(WindowOfMember_A, (profile_valid_q & ~members_q) == '0)
  // Idle: what was kept stays until a window ends.
  `SMK_ASSERT(IdleHolds_A, sm_profile_valid_i == '0 |=> profile_valid_q == '0 &&
              $stable(profile_issued_q))
endmodule
