// SPDX-License-Identifier: Apache-2.0
// smk_quota_scheduler: one warp scheduler with per-kernel instruction quotas.
//
// Purpose     Grants one of the ready warps per cycle, greedy then oldest (or round-robin), among
//             warps whose kernel has quota left and whose TB is not stopped; counts quotas down and
//             reloads them when every resident kernel's quota is spent.
// Paper       [SMK] Sec. 5.4; Table 4 (GTO).
// Interface   ready_i, stop_i, leave_i: masks of warp slots. start_*: pulse, never refused (S5).
//             quota_i: taken at a reload. left_o: registers. reload_o, some_left_o: for statistics.
// Latency     Grant 0 cycles, combinational from ready_i, stop_i; quotas and age on the next edge.
// Throughput  One grant per cycle.
// Reset       No warps, no quota left.
// Model       model/control/sm/quota_scheduler.h   Doc  docs/blocks/quota_scheduler.md
// A kernel with no runnable warp here never blocks a reload. If warps were ready and none was
// granted between two ticks, the second tick reloads: kernels that wait for each other at barriers
// cannot stop [D6]. With EpochTick every tick reloads [D28]. Does not know TBs: see smk_tb_table.
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
  // Quotas are in force, and the opposite from a register of its own: the grant waits for it. Those
  // of the next reload, and a reload at once (pulse).
  input  logic                   gated_i,
  input  logic                   ungated_i,
  input  smk_pkg::quota_vec_t    quota_i,
  input  logic                   load_i,
  input  logic                   tick_i,
  // Constant during a run.
  input  smk_pkg::warp_policy_e  policy_i,
  input  smk_pkg::epoch_end_e    epoch_end_i,
  // The grant of this cycle.
  output logic                   grant_valid_o,
  output logic [WarpWidth-1:0]   grant_warp_o,
  output smk_pkg::kernel_id_t    grant_kernel_o,
  output smk_pkg::quota_vec_t    left_o,
  // For statistics: quotas are reloaded at the end of this cycle; who has some left after it.
  output logic                   reload_o,
  output smk_pkg::kernel_mask_t  some_left_o
);
  `SMK_CHECK_CONFIG

  localparam int unsigned NumKernels = smk_pkg::NumKernels;

  typedef struct packed {logic [NumKernels-1:0][NumWarps-1:0] kernel;} kernel_warps_t;
  typedef struct packed {logic [NumWarps-1:0][NumWarps-1:0] warp;} warp_pairs_t;

  kernel_warps_t         warps_of_d, warps_of_q;
  // Which of the lower warps are older than each.
  warp_pairs_t           older_d, older_q, precede, follow, after_higher;
  // Quota left. A grant is taken off one cycle later, so that it drives one flip-flop per kernel.
  smk_pkg::quota_vec_t   left, left_q;
  logic [NumKernels-1:0] taken_d, taken_q;
  // Kernels that have some left, and their warps, known at the start of the cycle: the grant
  // depends on them.
  logic [NumKernels-1:0] some_left_d, some_left_q;
  logic [NumWarps-1:0]   with_left_d, with_left_q;
  // The warp granted last and all above it: greedy, or start of the round; 0 when it has left.
  logic [NumWarps-1:0]   from_last_d, from_last_q;
  logic                  granted_since_tick_d, granted_since_tick_q;
  logic                  blocked_since_tick_d, blocked_since_tick_q;

  logic [NumWarps-1:0]   valid, with_quota, eligible, start, after_lower, waits, grant, grant_reloads;
  logic [NumKernels-1:0] grant_of, start_of, last_one, given, spent;
  logic                  reload;

  // Resident warps; with quota; those that may be granted.
  always_comb begin
    valid = '0;
    for (int unsigned k = 0; k < NumKernels; k++) valid = valid | warps_of_q.kernel[k];
  end
  assign with_quota = `SMK_CUT(WithQuota, with_left_q | (valid & {NumWarps{ungated_i}}));
  assign eligible   = `SMK_CUT(NotStopped, ready_i & ~stop_i) & with_quota;
  assign start      = start_valid_i ? NumWarps'(1) << start_warp_i : '0;

  // Who is first whatever the age: the greedy warp, or those above it in the round.
  logic [NumWarps-1:0] last, above_last, first;
  logic                is_lrr;
  assign is_lrr     = policy_i == smk_pkg::WarpPolicyLrr;
  assign above_last = from_last_q << 1;
  assign last       = from_last_q & ~above_last;
  assign first      = is_lrr ? above_last : last;

  // Age: each warp knows which of the lower ones are older. A starting warp is the youngest.
  for (genvar w = 0; w < NumWarps; w++) begin : gen_age
    localparam logic [NumWarps-1:0] Lower = NumWarps'((64'd1 << w) - 64'd1);
    assign older_d.warp[w] = ((older_q.warp[w] & ~start) | {NumWarps{start[w]}}) & Lower;
    // Which of the lower warps precede this one, by age or in the round; it precedes the others.
    assign precede.warp[w] = (first | ({NumWarps{!first[w]}} &
                                       (older_q.warp[w] | {NumWarps{is_lrr}}))) & Lower;
    assign after_lower[w]  = (eligible & precede.warp[w]) != '0;
    assign follow.warp[w]  = ~precede.warp[w] & Lower & {NumWarps{eligible[w]}};
  end
  // Added up in pairs.
  always_comb begin
    after_higher = follow;
    for (int unsigned step = 1; step < NumWarps; step = step * 2) begin
      for (int unsigned w = 0; w + step < NumWarps; w = w + 2 * step) begin
        after_higher.warp[w] = after_higher.warp[w] | after_higher.warp[w+step];
      end
    end
  end

  // The grant, one-hot: nobody who may be granted precedes.
  assign waits          = after_lower | after_higher.warp[0];
  assign grant          = eligible & `SMK_CUT(NotWaiting, ~waits);
  assign grant_valid_o  = eligible != '0;
  assign grant_warp_o   = smk_pkg::index_of_grant(grant);
  assign grant_kernel_o = smk_pkg::index_of_kernel(grant_of);
  assign left_o         = left;
  assign reload_o       = reload;
  assign some_left_o    = some_left_d;

  // The kernel of the granted warp, one-hot. Warps come and go: a slot may be freed and occupied in
  // the same cycle.
  for (genvar k = 0; k < NumKernels; k++) begin : gen_kernel
    assign grant_of[k]    = (grant & warps_of_q.kernel[k]) != '0;
    assign start_of[k]    = start_valid_i &&
                            `SMK_CUT(StartKernel, start_kernel_i) == smk_pkg::KernelWidth'(k);
    assign warps_of_d.kernel[k] = (warps_of_q.kernel[k] & ~leave_i) |
                                  (start & {NumWarps{start_of[k]}});
    assign left.kernel[k] = left_q.kernel[k] - smk_pkg::QuotaWidth'(`SMK_CUT(Taken, taken_q[k]));
    assign last_one[k]    = left_q.kernel[k] == (smk_pkg::QuotaWidth'(1) << taken_q[k]);
    assign given[k]       = quota_i.kernel[k] != '0;
  end

  always_comb begin
    from_last_d = grant & ~leave_i;
    for (int unsigned step = 1; step < NumWarps; step = step * 2) begin
      from_last_d = from_last_d | (from_last_d << step);
    end
    if (!grant_valid_o && (last & leave_i) == '0) from_last_d = from_last_q;
  end

  // Progress since the last tick.
  always_comb begin
    granted_since_tick_d = granted_since_tick_q || grant_valid_o;
    blocked_since_tick_d = blocked_since_tick_q || (!grant_valid_o && (ready_i != '0));
  end

  // A kernel with a runnable warp and quota after this cycle's grant keeps the epoch going. The
  // grant comes last: which kernels keep it going, and whose grant ends it, is known before.
  logic [NumKernels-1:0] runs, keeps, ends;
  logic                  start_stopped, stuck, timed;
  assign start_stopped = (start & stop_i) != '0;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_reload
    localparam logic [NumKernels-1:0] Others = ~(NumKernels'(64'd1 << k));
    assign runs[k]  = ((warps_of_q.kernel[k] & ~leave_i & ~stop_i) != '0) ||
                      (start_of[k] && !start_stopped);
    assign keeps[k] = `SMK_CUT(Keeps, runs[k] && some_left_q[k]);
    assign ends[k]  = gated_i && last_one[k] && (keeps & Others) == '0;
  end
  always_comb begin
    grant_reloads = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      grant_reloads = grant_reloads | (warps_of_q.kernel[k] & {NumWarps{ends[k]}});
    end
  end
  assign stuck  =
    tick_i && `SMK_CUT(BlockedSinceTick, blocked_since_tick_d) && !granted_since_tick_d;
  assign timed  = tick_i && epoch_end_i == smk_pkg::EpochTick;
  assign reload = (gated_i && (keeps == '0 || load_i || stuck || timed)) ||
                  (eligible & grant_reloads & ~waits) != '0;

  // Quota left: reload wins over spend.
  assign spent       = grant_of & last_one & {NumKernels{gated_i}};
  assign taken_d     = `SMK_CUT(GrantOf, grant_of) & {NumKernels{gated_i && !reload}};
  assign some_left_d = reload ? given : some_left_q & ~spent;
  always_comb begin
    logic [NumWarps-1:0] with_given, with_some, with_spent;
    with_given = '0;
    with_some  = '0;
    with_spent = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      with_given = with_given | (warps_of_d.kernel[k] & {NumWarps{given[k]}});
      with_some  = with_some | (warps_of_d.kernel[k] & {NumWarps{some_left_q[k]}});
      with_spent = with_spent | (warps_of_d.kernel[k] & {NumWarps{spent[k]}});
    end
    with_left_d = reload ? with_given : with_some & ~with_spent;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      warps_of_q           <= '0;
      older_q              <= '0;
      left_q               <= '0;
      taken_q              <= '0;
      some_left_q          <= '0;
      with_left_q          <= '0;
      from_last_q          <= '0;
      granted_since_tick_q <= 1'b0;
      blocked_since_tick_q <= 1'b0;
    end else begin
      warps_of_q           <= warps_of_d;
      older_q              <= older_d;
      left_q               <= reload ? quota_i : `SMK_CUT(Left, left);
      taken_q              <= taken_d;
      some_left_q          <= some_left_d;
      with_left_q          <= with_left_d;
      from_last_q          <= from_last_d;
      granted_since_tick_q <= granted_since_tick_d && !tick_i;
      blocked_since_tick_q <= blocked_since_tick_d && !tick_i;
    end
  end

  // The two say the same.
  `SMK_ASSERT(GatedOrNot_M, gated_i != ungated_i)
  // A grant names exactly one warp.
  `SMK_ASSERT(GrantOnehot_A, $onehot0(grant))
  // Only a ready warp of a TB that is not stopped is granted, and some is whenever one may be.
  `SMK_ASSERT(GrantEligible_A, (grant & ~eligible) == '0 && grant_valid_o == (grant != '0))
  // Conservation: quota falls by one with a grant and by nothing else, unless reloaded.
  `SMK_ASSERT(QuotaConserved_A, gated_i && grant_valid_o && !reload
              |=> left.kernel[$past(grant_kernel_o)] + 1'b1 ==
                  $past(left.kernel[grant_kernel_o]))
  // While quotas are in force, a kernel that has spent its own is not granted.
  `SMK_ASSERT(SpentKernelWaits_A, gated_i && grant_valid_o
              |-> left.kernel[grant_kernel_o] != '0)
  // The short cut says what the count says.
  `SMK_ASSERT(SomeLeftIsExact_A,
              some_left_q[start_kernel_i] == (left.kernel[start_kernel_i] != '0))
  for (genvar k = 0; k < NumKernels; k++) begin : gen_with_left
    // ... and the warps that have some left are those of such kernels.
    `SMK_ASSERT(WithLeftIsExact_A, (with_left_q & warps_of_q.kernel[k]) ==
                (warps_of_q.kernel[k] & {NumWarps{some_left_q[k]}}))
  end
  // A warp that has left is not remembered as the greedy one.
  `SMK_ASSERT(GreedyIsResident_A, (last & ~valid) == '0)
  // A slot that is occupied must be free, or freed in this cycle.
  `SMK_ASSERT(StartSlotIsFree_M, (start & valid & ~leave_i) == '0)
  // A warp that leaves was there.
  `SMK_ASSERT(LeaverIsResident_M, (leave_i & ~valid) == '0)
  // Reload by the second tick really occurs in our tests.
  `SMK_COVER(StuckReload_C, gated_i && stuck && keeps != '0 && !load_i)
endmodule
