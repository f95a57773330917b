// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_quota_scheduler, from its ports alone: who the warps belong to, and what was granted
// since the last reload, is kept here.
`include "formal.svh"

module formal_quota_scheduler #(
  parameter  int unsigned NumWarps  = smk_pkg::WarpsPerScheduler,
  localparam int unsigned WarpWidth = $clog2(NumWarps)
) (
  input logic                  clk_i,
  input logic [NumWarps-1:0]   ready_i,
  input logic [NumWarps-1:0]   stop_i,
  input logic [NumWarps-1:0]   leave_i,
  input logic                  start_valid_i,
  input logic [WarpWidth-1:0]  start_warp_i,
  input smk_pkg::kernel_id_t   start_kernel_i,
  input logic                  gated_i,
  input smk_pkg::quota_vec_t   quota_i,
  input logic                  load_i,
  input logic                  tick_i,
  input smk_pkg::warp_policy_e policy_i,
  input smk_pkg::epoch_end_e   epoch_end_i
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  localparam int unsigned QuotaWidth = smk_pkg::QuotaWidth;
  // Cycles between two ticks at most, and quotas at most, for the bounds.
  localparam int unsigned TickPeriod = 4;
  localparam int unsigned MaxQuota   = 2;
  // A tick that lets a blocked scheduler be seen, one that reloads; once more after every grant.
  localparam int unsigned ReloadBound = 2 * TickPeriod * (NumKernels * MaxQuota + 1);

  `FORMAL_RESET
  logic                 grant_valid;
  logic [WarpWidth-1:0] grant_warp;
  smk_pkg::kernel_id_t  grant_kernel;
  smk_pkg::quota_vec_t  left;
  smk_quota_scheduler u_dut (
    .clk_i, .rst_ni, .ready_i, .stop_i, .leave_i, .start_valid_i, .start_warp_i, .start_kernel_i,
    .gated_i, .ungated_i(!gated_i), .quota_i, .load_i, .tick_i, .policy_i,
    .epoch_end_i,
    .grant_valid_o (grant_valid),
    .grant_warp_o  (grant_warp),
    .grant_kernel_o(grant_kernel),
    .left_o        (left)
  );

  // Resident warps and their kernels (bit b of each).
  logic [NumWarps-1:0] valid_q, kernel_q, start;
  assign start = start_valid_i ? NumWarps'(1) << start_warp_i : '0;
  always_ff @(posedge clk_i) begin
    valid_q <= rst_ni ? (valid_q & ~leave_i) | start : '0;
    if (start_valid_i) kernel_q[start_warp_i] <= start_kernel_i;
  end
  // As smk_quota_scheduler requires.
  `ASSUME(StartSlotIsFree_M, (start & valid_q & ~leave_i) == '0)
  `ASSUME(LeaverIsResident_M, (leave_i & ~valid_q) == '0)
  `ASSUME(ReadyIsResident_M, (ready_i & ~valid_q) == '0)

  logic [NumKernels-1:0] some_left;
  logic [NumWarps-1:0]   may_issue;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_left
    assign some_left[k] = left.kernel[k] != '0;
  end
  for (genvar w = 0; w < NumWarps; w++) begin : gen_may_issue
    assign may_issue[w] = ready_i[w] && !stop_i[w] && valid_q[w] &&
                          (!gated_i || some_left[kernel_q[w]]);
  end

  // A grant goes to a resident, ready warp of a TB that is not stopped, and to one at most.
  `PROVE(GrantIsReady_A, !grant_valid || (ready_i[grant_warp] && !stop_i[grant_warp] &&
         valid_q[grant_warp]))
  // While quotas are in force, the kernel of that warp has some left.
  `PROVE(GrantHasQuota_A, !grant_valid || !gated_i || some_left[kernel_q[grant_warp]])
  // The grant names the kernel that the warp was started for.
  `PROVE(GrantIsCharged_A, !grant_valid || grant_kernel == kernel_q[grant_warp])
  // A warp that may issue is never kept waiting by an idle scheduler.
  `PROVE(SomeoneIsGranted_A, grant_valid == (may_issue != '0))

  // What an epoch began with, and what was granted in it.
  smk_pkg::quota_vec_t loaded_q, used_q, left_q, quota_q, expected;
  logic [NumKernels-1:0] granted, granted_q, explained;
  logic                  known_q, reloaded;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_epoch
    assign granted[k] = grant_valid && gated_i && grant_kernel == smk_pkg::KernelWidth'(k);
    assign expected.kernel[k] = left_q.kernel[k] - QuotaWidth'(granted_q[k]);
    assign explained[k] = left.kernel[k] == expected.kernel[k];
  end
  assign reloaded = explained != '1;
  always_ff @(posedge clk_i) begin
    known_q   <= rst_ni;
    left_q    <= left;
    granted_q <= rst_ni ? granted : '0;
    quota_q   <= quota_i;
  end
  smk_pkg::quota_vec_t loaded, used;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_used
    assign loaded.kernel[k] = reloaded ? left.kernel[k] : loaded_q.kernel[k];
    assign used.kernel[k]   = reloaded ? '0 : used_q.kernel[k] + QuotaWidth'(granted_q[k]);
  end
  always_ff @(posedge clk_i) begin
    loaded_q <= known_q ? loaded : '0;
    used_q   <= known_q ? used : '0;
  end
  // A quota changes by one with a grant of its kernel, and by the reload of all: nothing else.
  `PROVE(OnlyGrantOrReload_A, !known_q || explained == '1 || left == quota_q)
  logic [NumKernels-1:0] conserved, within;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_conserved
    assign conserved[k] = {1'b0, left.kernel[k]} + {1'b0, used.kernel[k]} ==
                          {1'b0, loaded.kernel[k]};
    assign within[k]    = left.kernel[k] <= loaded.kernel[k];
  end
  // Over an epoch, what is left and what was granted is what was loaded.
  `PROVE(EpochConserved_A, !known_q || conserved == '1)
  // No more is granted than was loaded: quotas never fall below zero.
  `PROVE(NoUnderflow_A, !known_q || within == '1)

  // A kernel without runnable warps blocks nobody: when no kernel with a runnable warp has quota
  // left, all quotas are reloaded in that cycle.
  logic [NumKernels-1:0] runnable;
  logic                  must_reload_q;
  always_comb begin
    runnable = '0;
    for (int unsigned w = 0; w < NumWarps; w++) begin
      if (((valid_q[w] && !leave_i[w]) || start[w]) && !stop_i[w]) begin
        runnable[start[w] ? start_kernel_i : kernel_q[w]] = 1'b1;
      end
    end
  end
  always_ff @(posedge clk_i) must_reload_q <= rst_ni && gated_i && (runnable & some_left) == '0;
  `PROVE(NobodyBlocksReload_A, !must_reload_q || left == quota_q)

  // Between two ticks with a ready warp in every cycle there is a grant or a reload (D6).
  logic waits_q, must_q;
  always_ff @(posedge clk_i) begin
    // waits_q: since a tick, a warp was ready in every cycle and none was granted.
    waits_q <= rst_ni && !grant_valid && ready_i != '0 && (tick_i || waits_q);
    must_q  <= rst_ni && !grant_valid && ready_i != '0 && tick_i && waits_q && gated_i;
  end
  `PROVE(SecondTickReloads_A, !must_q || left == quota_q)
  // With EpochTick each tick reloads (D28).
  logic timed_q;
  always_ff @(posedge clk_i) begin
    timed_q <= rst_ni && gated_i && tick_i && epoch_end_i == smk_pkg::EpochTick;
  end
  `PROVE(TickReloads_A, !timed_q || left == quota_q)

  // With a tick every TickPeriod cycles and quotas of at most MaxQuota, a kernel that spent its
  // quota has some again after ReloadBound cycles in which some warp is ready.
  logic [$clog2(TickPeriod+1)-1:0]  since_tick_q;
  logic [NumKernels-1:0]            too_long;
  always_ff @(posedge clk_i) since_tick_q <= (!rst_ni || tick_i) ? '0 : since_tick_q + 1'b1;
  logic fair;
  assign fair = since_tick_q < TickPeriod;
  logic was_fair_q;
  always_ff @(posedge clk_i) was_fair_q <= !rst_ni || (was_fair_q && fair);
  for (genvar k = 0; k < NumKernels; k++) begin : gen_spent
    logic                             spent;
    logic [$clog2(ReloadBound+1)-1:0] spent_q;
    assign spent = gated_i && ready_i != '0 && !some_left[k] && quota_i.kernel[k] != '0 &&
                   quota_i.kernel[k] <= MaxQuota && left.kernel[1-k] <= MaxQuota;
    always_ff @(posedge clk_i) begin
      if (!rst_ni || !spent) spent_q <= '0;
      else                   spent_q <= spent_q + 1'b1;
    end
    assign too_long[k] = spent_q >= ReloadBound;
  end
  `PROVE(ReloadComes_A, !was_fair_q || !fair || too_long == '0)

  // In a second quiet cycle nothing changes: no warp is ready, comes or goes, nothing is loaded, no
  // tick, and the levels are those of the first.
  logic quiet, quiet_q, gated_q;
  (* keep *) logic idle;
  logic [NumWarps-1:0] stop_q;
  assign quiet = ready_i == '0 && !start_valid_i && leave_i == '0 && !load_i && !tick_i;
  always_ff @(posedge clk_i) begin
    quiet_q <= quiet && rst_ni;
    gated_q <= gated_i;
    stop_q  <= stop_i;
  end
  assign idle = rst_ni && quiet && quiet_q && gated_i == gated_q && stop_i == stop_q && quota_i == quota_q;
endmodule
