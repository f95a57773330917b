// SPDX-License-Identifier: Apache-2.0
// smk_quota_scheduler: one warp scheduler with per-kernel instruction quotas.
//
// Purpose     Grants one of the ready warps per cycle, greedy then oldest (or round-robin), among
//             warps whose kernel has quota left and whose TB is not stopped; counts quotas down and
//             reloads them when every resident kernel's quota is spent.
// Paper       [SMK] Sec. 5.4; Table 4 (GTO).
// Interface   ready_i, stop_i, leave_i: masks of warp slots. start_*: pulse, never refused (S5).
//             quota_i: taken at a reload. left_o: registers.
// Latency     Grant 0 cycles, combinational from ready_i, stop_i; quotas and age on the next edge.
// Throughput  One grant per cycle.
// Reset       No warps, no quota left.
// Model       model/control/quota_scheduler.h   Doc  docs/modules/quota_scheduler.md
// A kernel with no runnable warp here never blocks a reload. If warps were ready and none was
// granted between two ticks, the second tick reloads: kernels that wait for each other at barriers
// cannot stop [D6]. Does not know TBs: see smk_tb_table.
`include "smk_assert.svh"

module smk_quota_scheduler #(
  parameter  int unsigned NumWarps  = smk_pkg::WarpsPerScheduler,
  localparam int unsigned WarpWidth = $clog2(NumWarps)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // Warps that could issue now, quota and stop apart.
  input  logic [NumWarps-1:0]    ready_i,
  // Warps of TBs that are stopped or not yet active.
  input  logic [NumWarps-1:0]    stop_i,
  // Warps that are freed at the end of this cycle.
  input  logic [NumWarps-1:0]    leave_i,
  // A warp slot is occupied; its warp is the youngest.
  input  logic                   start_valid_i,
  input  logic [WarpWidth-1:0]   start_warp_i,
  input  smk_pkg::kernel_id_t    start_kernel_i,
  // Quotas are in force, those of the next reload, and a reload at once (pulse).
  input  logic                   gated_i,
  input  smk_pkg::quota_vec_t    quota_i,
  input  logic                   load_i,
  input  logic                   tick_i,
  // Constant during a run.
  input  smk_pkg::warp_policy_e  policy_i,
  // The grant of this cycle.
  output logic                   grant_valid_o,
  output logic [WarpWidth-1:0]   grant_warp_o,
  output smk_pkg::kernel_id_t    grant_kernel_o,
  output smk_pkg::quota_vec_t    left_o
);
  localparam int unsigned NumKernels  = smk_pkg::NumKernels;
  localparam int unsigned KernelWarps = NumKernels * NumWarps;

  typedef struct packed {logic [NumKernels-1:0][NumWarps-1:0] kernel;} kernel_warps_t;

  kernel_warps_t       warps_of_d, warps_of_q, start_of;
  smk_pkg::quota_vec_t left_d, left_q;
  // left_q is not zero, known at the start of the cycle: the grant depends on it.
  logic [NumKernels-1:0] some_left_d, some_left_q;
  // The warp granted last, one-hot: greedy, or start of the round; 0 when it has left.
  logic [NumWarps-1:0] last_d, last_q;
  logic                granted_since_tick_d, granted_since_tick_q;
  logic                blocked_since_tick_d, blocked_since_tick_q;

  logic [NumWarps-1:0] valid, valid_kept, start;
  logic [NumWarps-1:0] with_quota, eligible, oldest, above_last, round, grant;
  logic [NumKernels-1:0] has_quota, grant_of, last_one, runnable, given, spent, blocks_reload;
  logic                reload;

  // Resident warps, and of each kernel with quota.
  assign has_quota = some_left_q | {NumKernels{!gated_i}};
  always_comb begin
    valid      = '0;
    with_quota = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      valid      = valid | warps_of_q.kernel[k];
      with_quota = with_quota | (warps_of_q.kernel[k] & {NumWarps{has_quota[k]}});
    end
  end

  assign eligible = ready_i & ~stop_i & with_quota;

  // Age: each warp knows who is older. A starting warp is the youngest.
  assign start      = start_valid_i ? NumWarps'(1) << start_warp_i : '0;
  assign valid_kept = valid & ~leave_i;
  for (genvar w = 0; w < NumWarps; w++) begin : gen_age
    logic [NumWarps-1:0] older_q;
    assign oldest[w] = eligible[w] && ((older_q & eligible) == '0);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) older_q <= '0;
      else if (start_valid_i) older_q <= start[w] ? valid_kept : older_q & ~start;
    end
  end

  // The grant, one-hot: greedy then oldest, or the next in the round with the lowest as fallback.
  assign above_last = eligible & ~(last_q | (last_q - NumWarps'(1)));
  assign round      = (above_last != '0) ? above_last : eligible;
  always_comb begin
    if (policy_i == smk_pkg::WarpPolicyLrr) grant = NumWarps'(smk_pkg::lowest_one(64'(round)));
    else if ((last_q & eligible) != '0)     grant = last_q;
    else                                    grant = oldest;
  end

  assign grant_valid_o  = eligible != '0;
  assign grant_warp_o   = WarpWidth'(smk_pkg::index_of_16(16'(grant)));
  assign grant_kernel_o = smk_pkg::KernelWidth'(smk_pkg::index_of_16(16'(grant_of)));
  assign left_o         = left_q;

  // The kernel of the granted warp, one-hot.
  for (genvar k = 0; k < NumKernels; k++) begin : gen_grant_of
    assign grant_of[k] = (grant & warps_of_q.kernel[k]) != '0;
  end

  // Warps come and go: a slot may be freed and occupied in the same cycle.
  assign start_of   = KernelWarps'(start) << (start_kernel_i * KernelWarps'(NumWarps));
  assign warps_of_d = (warps_of_q & ~{NumKernels{leave_i}}) | start_of;

  assign last_d = (grant_valid_o ? grant : last_q) & ~leave_i;

  // Progress since the last tick.
  always_comb begin
    granted_since_tick_d = granted_since_tick_q || grant_valid_o;
    blocked_since_tick_d = blocked_since_tick_q || (!grant_valid_o && (ready_i != '0));
  end

  // A kernel with a runnable warp and quota after this cycle's grant keeps the epoch going.
  for (genvar k = 0; k < NumKernels; k++) begin : gen_reload
    assign last_one[k] = left_q.kernel[k] == smk_pkg::QuotaWidth'(1);
    assign runnable[k] = (warps_of_d.kernel[k] & ~stop_i) != '0;
    assign given[k]    = quota_i.kernel[k] != '0;
  end
  assign spent         = grant_of & last_one & {NumKernels{gated_i}};
  assign blocks_reload = runnable & some_left_q & ~spent;
  assign reload = gated_i && ((blocks_reload == '0) || load_i ||
                              (tick_i && blocked_since_tick_d && !granted_since_tick_d));

  // Quota left: reload wins over spend. The grant comes last, so it only selects.
  always_comb begin
    left_d = left_q;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (gated_i && grant_of[k]) left_d.kernel[k] = left_q.kernel[k] - smk_pkg::QuotaWidth'(1);
    end
    if (reload) left_d = quota_i;
  end
  assign some_left_d = reload ? given : some_left_q & ~spent;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      warps_of_q           <= '0;
      left_q               <= '0;
      some_left_q          <= '0;
      last_q               <= '0;
      granted_since_tick_q <= 1'b0;
      blocked_since_tick_q <= 1'b0;
    end else begin
      warps_of_q           <= warps_of_d;
      left_q               <= left_d;
      some_left_q          <= some_left_d;
      last_q               <= last_d;
      granted_since_tick_q <= granted_since_tick_d && !tick_i;
      blocked_since_tick_q <= blocked_since_tick_d && !tick_i;
    end
  end

  // A grant names exactly one warp.
  `SMK_ASSERT(GrantOnehot_A, $onehot0(grant))
  // Only a ready warp of a TB that is not stopped is granted, and some is whenever one may be.
  `SMK_ASSERT(GrantEligible_A, (grant & ~eligible) == '0 && grant_valid_o == (grant != '0))
  // Conservation: quota falls by one with a grant and by nothing else, unless reloaded.
  `SMK_ASSERT(QuotaConserved_A, gated_i && grant_valid_o && !reload
              |=> left_q.kernel[$past(grant_kernel_o)] + 1'b1 ==
                  $past(left_q.kernel[grant_kernel_o]))
  // While quotas are in force, a kernel that has spent its own is not granted.
  `SMK_ASSERT(SpentKernelWaits_A, gated_i && grant_valid_o
              |-> left_q.kernel[grant_kernel_o] != '0)
  // The short cut says what the count says.
  `SMK_ASSERT(SomeLeftIsExact_A,
              some_left_q[start_kernel_i] == (left_q.kernel[start_kernel_i] != '0))
  // A warp that has left is not remembered as the greedy one.
  `SMK_ASSERT(GreedyIsResident_A, (last_q & ~valid) == '0)
  // A slot that is occupied must be free, or freed in this cycle.
  `SMK_ASSERT(StartSlotIsFree_M, (start & valid_kept) == '0)
  // A warp that leaves was there.
  `SMK_ASSERT(LeaverIsResident_M, (leave_i & ~valid) == '0)
  // Reload by the second tick really occurs in our tests.
  `SMK_COVER(StuckReload_C, gated_i && blocks_reload != '0 && reload && !load_i)
endmodule
