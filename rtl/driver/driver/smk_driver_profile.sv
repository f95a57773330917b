// SPDX-License-Identifier: Apache-2.0
// smk_driver_profile: the profiled windows of all members; part of smk_driver.
//
// Purpose     Takes the window of the i-th member from SM i, and keeps it for the quota calculator,
//             with the most TBs that the member had there at a time. The members are those of the
//             tick. Windows come when they come: they are passed on together, with the last.
// Paper       [SMK] Sec. 5.4: x and T. Deviation [D107].
// Interface   tick_i: pulse to the SMs. sm_profile_*: pulses (S5), each after its tick: an SM shows
//             the window that ends in one cycle only. profile_valid_o: pulse per kernel (S5).
//             tbs_i: registers. profile_tbs_o: from one tick to the next.
// Latency     1 cycle after the last window, and after the tick; heard_o 0.
// Throughput  One window of each kernel per cycle.
// Reset       No members, no window.
// Model       model/control/driver/driver.h   Doc  docs/blocks/driver.md
// Windows that have not come when the next tick is sent are not waited for.
`include "smk_assert.svh"

module smk_driver_profile (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  // Quotas are wanted.
  input  logic                  quota_enable_i,
  input  smk_pkg::kernel_mask_t members_i,
  input  logic                  tick_i,
  input  smk_pkg::sm_mask_t     sm_profile_valid_i,
  input  smk_pkg::sm_issued_t   sm_profile_issued_i,
  // TBs that are on each SM, or on their way there.
  input  smk_pkg::sm_tb_cnts_t  tbs_i,
  output smk_pkg::kernel_mask_t profile_valid_o,
  output smk_pkg::issued_vec_t  profile_issued_o,
  output smk_pkg::tb_cnt_vec_t  profile_tbs_o,
  // The last window comes.
  output logic                  heard_o
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  localparam int unsigned NumSms     = smk_pkg::NumSms;
  localparam int unsigned NumWindows = (NumSms < NumKernels) ? NumSms : NumKernels;

  // Members now; at the last tick, if each had an SM of its own; those whose window has come.
  smk_pkg::kernel_mask_t members_q, wanted_d, wanted_q, got_d, got_q, here;
  smk_pkg::kernel_mask_t profile_valid_q;
  smk_pkg::issued_vec_t  profile_issued_d, profile_issued_q, issued;
  smk_pkg::kernel_cnt_t  rank;
  logic                  window, complete;

  always_comb begin
    rank             = '0;
    window           = 1'b0;
    issued           = '0;
    here             = '0;
    profile_issued_d = profile_issued_q;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      for (int unsigned i = 0; i < NumWindows; i++) begin
        window = wanted_q[k] && rank == smk_pkg::KernelCntWidth'(i) && sm_profile_valid_i[i];
        issued = sm_profile_issued_i.sm[i];
        if (window) profile_issued_d.kernel[k] = issued.kernel[k];
        here[k] = here[k] || window;
      end
      rank = rank + smk_pkg::KernelCntWidth'(wanted_q[k]);
    end
  end
  assign complete = here != '0 && (got_q | here) == wanted_q;

  // With as many members as SMs nobody has one of its own (smk_sm_assign).
  smk_pkg::kernel_cnt_t count;
  always_comb begin
    count = '0;
    for (int unsigned k = 0; k < NumKernels; k++) count = count + smk_pkg::KernelCntWidth'(members_i[k]);
  end
  assign wanted_d = members_i & {NumKernels{quota_enable_i && 32'(count) < NumSms}};
  assign got_d = (tick_i || complete) ? '0 : got_q | here;

  // TBs of each member on the SM that is its own now: at present; the most since the last tick and
  // since the members changed; the same of the window that ended with the last tick.
  smk_pkg::tb_cnt_vec_t tbs, peak, peak_d, peak_q, profile_tbs_q, sm_tbs;
  smk_pkg::kernel_cnt_t rank_now;
  always_comb begin
    rank_now = '0;
    tbs      = '0;
    sm_tbs   = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      for (int unsigned i = 0; i < NumWindows; i++) begin
        sm_tbs = tbs_i.sm[i];
        if (rank_now == smk_pkg::KernelCntWidth'(i)) tbs.kernel[k] = tbs.kernel[k] | sm_tbs.kernel[k];
      end
      rank_now = rank_now + smk_pkg::KernelCntWidth'(members_i[k]);
    end
  end
  for (genvar k = 0; k < NumKernels; k++) begin : gen_peak
    assign peak.kernel[k] = (members_i != members_q || tbs.kernel[k] > peak_q.kernel[k])
        ? tbs.kernel[k] : peak_q.kernel[k];
  end
  always_comb begin
    peak_d = tick_i ? tbs : peak;
    if (!quota_enable_i) peak_d = '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      members_q       <= '0;
      peak_q          <= '0;
      wanted_q        <= '0;
      got_q           <= '0;
      profile_valid_q <= '0;
    end else begin
      members_q       <= members_i;
      peak_q          <= peak_d;
      if (tick_i) wanted_q <= wanted_d;
      got_q           <= got_d;
      profile_valid_q <= complete ? wanted_q : '0;
    end
  end
  // Counts only with profile_valid_q; not reset.
  always_ff @(posedge clk_i) begin
    profile_issued_q <= profile_issued_d;
    if (tick_i) profile_tbs_q <= peak;
  end

  assign profile_valid_o  = profile_valid_q;
  assign profile_issued_o = profile_issued_q;
  assign profile_tbs_o    = profile_tbs_q;
  assign heard_o          = complete;

  // All windows of a tick are passed on, together.
  `SMK_ASSERT(WindowsTogether_A, profile_valid_q == '0 || profile_valid_q == $past(wanted_q))
  // Idle: what was kept stays until a window ends.
  `SMK_ASSERT(IdleHolds_A, sm_profile_valid_i == '0 |=> profile_valid_q == '0 &&
              $stable(profile_issued_q))
  // Windows really come apart in our tests.
  `SMK_COVER(WindowsApart_C, here != '0 && !complete)
endmodule
