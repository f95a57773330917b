// SPDX-License-Identifier: Apache-2.0
// smk_sm_control: the control logic of one SM.
//
// Purpose     Tables, warp schedulers, profile and sample counters, wired together.
// Paper       [SMK] Fig. 3.
// Interface   command_*: pulse, never refused: the driver sends one for each command_credit_o, and
//             the first without. buffer_*, event_ack_i, tick_i: pulses (S5). Everything towards the
//             driver comes from registers.
// Latency     ready_i to grant 0 cycles; command to first warp 6 cycles, to buffer_request_o 4 (with
//             a plan at least 6); tb_finished_i to event_o 3 cycles; tick_i to profile_valid_o 1.
// Throughput  One command, one event, and one grant per scheduler and cycle.
// Reset       No TB, no quotas, nothing to report.
// Model       model/control/sm/sm_control.h   Doc  docs/blocks/sm_control.md
// Nothing changes in a cycle without a ready warp, a command, a pulse, or awake_o, but that the last
// grant is counted, which nobody sees. Wiring only, and registers between the blocks.
`include "smk_assert.svh"

module smk_sm_control (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  // Greedy then oldest, or round-robin; whether a tick ends an epoch. Constant during a run.
  input  smk_pkg::warp_policy_e             warp_policy_i,
  input  smk_pkg::epoch_end_e               epoch_end_i,
  // How TBs leave under PreemptChimera; constant during a run.
  input  smk_pkg::chimera_t                 chimera_i,
  // Warps that could issue now, quotas and stops apart.
  input  smk_pkg::scheduler_warps_t         ready_i,
  // Pulse per TB slot: the last warp of the TB has exited.
  input  smk_pkg::slot_mask_t               tb_finished_i,
  // The stopped TB has nothing in flight; it could start anew, as it has written nothing for good.
  input  smk_pkg::slot_mask_t               tb_quiet_i,
  input  smk_pkg::slot_mask_t               tb_flushable_i,
  // The memory takes a context line; lines that are complete in this cycle.
  input  logic                              context_ready_i,
  input  smk_pkg::done_t                    context_done_i,
  // Time, in units of 2^TimeUnitLog2 cycles, that goes on while the clock of the SM is off. Only for
  // PreemptChimera.
  input  smk_pkg::sm_time_t                 time_i,
  // Per kernel and scheduler: a warp waits for memory. Looked at in the cycle after samples_o.
  input  smk_pkg::kernel_schedulers_t       memory_i,
  // From the driver, a pulse for each credit: a TB, a preemption, a part of a plan, a quota.
  input  logic                              command_valid_i,
  input  smk_pkg::sm_command_t              command_i,
  // From the driver, pulses: the context buffer that was asked for, or none after a withdrawal.
  input  logic                              buffer_valid_i,
  input  smk_pkg::buffer_t                  buffer_i,
  input  logic                              buffer_none_i,
  // From the driver, pulses: the event is taken; a profiling window ends.
  input  logic                              event_ack_i,
  input  logic                              tick_i,
  // From the driver, pulses: a window of samples begins, of this kernel, with stalls; it ends.
  input  logic                              sample_begin_i,
  input  logic                              sample_end_i,
  input  smk_pkg::kernel_id_t               sample_kernel_i,
  input  logic                              sample_stalls_i,
  // Registers of the driver: contexts, and what a TB of each kernel needs.
  input  smk_pkg::context_views_t           views_i,
  input  smk_pkg::need_vec_t                needs_i,
  // Per scheduler: a warp is granted in this cycle, and which.
  output logic [smk_pkg::NumSchedulers-1:0] grant_valid_o,
  output smk_pkg::grant_warps_t             grant_warp_o,
  // A warp is placed: slot, number within its TB, kernel, TB, whether its context is loaded, and where
  // its TB's registers and shared memory begin.
  output smk_pkg::warp_start_t              warp_start_o,
  // Pulse per TB slot: the TB runs. Level: nothing of it is fetched or granted.
  output smk_pkg::slot_mask_t               tb_activate_o,
  output smk_pkg::slot_mask_t               tb_stop_o,
  // Stream: a context line to store or to load, with its address.
  output smk_pkg::context_request_t         context_o,
  // Pulse: the TB has left its slot without finishing, saved or flushed.
  output logic                              release_valid_o,
  output smk_pkg::tb_slot_t                 release_slot_o,
  output smk_pkg::tb_release_e              release_kind_o,
  // For statistics: a TB that has come waits until there is a gap for it.
  output logic                              place_waits_o,
  // memory_i is looked at in the next cycle.
  output logic                              samples_o,
  // Debug, while quotas are in force: quota left on scheduler 0 (registers), the kernel that it
  // grants, its reload at the end of this cycle.
  output smk_pkg::quota_vec_t               quota_left_o,
  output smk_pkg::kernel_id_t               grant_kernel_o,
  output logic                              reload_o,
  // Debug, while quotas are in force: per kernel, the schedulers on which it has some quota left after
  // this cycle.
  output smk_pkg::kernel_schedulers_t       with_quota_o,
  // To the driver, registers: another command may come, or the TB of the last one waits for a gap;
  // what happened to a TB.
  output logic                              command_credit_o,
  output logic                              command_waits_o,
  output smk_pkg::sm_event_t                event_o,
  // To the driver, registers: a context buffer is wanted, is not wanted any more; of this kernel.
  output logic                              buffer_request_o,
  output logic                              buffer_withdraw_o,
  output smk_pkg::kernel_id_t               buffer_kernel_o,
  // To the driver, registers: instructions of the window that a tick ended.
  output logic                              profile_valid_o,
  output smk_pkg::issued_vec_t              profile_issued_o,
  // To the driver, registers: instructions and stalls of a window of samples.
  output logic                              sample_valid_o,
  output logic [smk_pkg::SampleWidth-1:0]   sample_issued_o,
  output logic [smk_pkg::SampleWidth-1:0]   sample_stalled_o,
  // Debug, registers: quotas received, and whether they are in force.
  output smk_pkg::quota_vec_t               quota_o,
  output logic                              gated_o,
  // The clock is needed at the end of this cycle: without, every register holds what matters. A wire.
  output logic                              clock_en_o,
  // Not idle; a wire of registers.
  output logic                              awake_o
);
  `SMK_CHECK_CONFIG

  localparam int unsigned NumKernels        = smk_pkg::NumKernels;
  localparam int unsigned NumSchedulers     = smk_pkg::NumSchedulers;
  localparam int unsigned WarpsPerScheduler = smk_pkg::WarpsPerScheduler;
  localparam int unsigned WarpWidth         = $clog2(WarpsPerScheduler);

  smk_pkg::scheduler_warps_t stop_warps, leave_warps;
  logic [NumSchedulers-1:0]  start_valid;
  logic [WarpWidth-1:0]      start_warp, start_warp_n;
  smk_pkg::kernel_id_t       start_kernel;
  smk_pkg::quota_vec_t       left;
  logic                      ungated, load, tables_awake;
  smk_pkg::grant_kernels_t   grant_kernel;
  // Per scheduler, the kernels with some quota left.
  logic [NumSchedulers*NumKernels-1:0] some_left;
  // The schedulers have quotas since the last cycle.
  logic                      gated_q;

  smk_sm_tables u_tables (
    .clk_i,
    .rst_ni,
    .command_valid_i,
    .command_i,
    .buffer_valid_i,
    .buffer_i,
    .buffer_none_i,
    .event_ack_i,
    .views_i,
    .needs_i,
    .command_credit_o,
    .command_waits_o,
    .place_waits_o,
    .event_o,
    .buffer_request_o,
    .buffer_withdraw_o,
    .buffer_kernel_o,
    .tb_finished_i,
    .tb_quiet_i,
    .tb_flushable_i,
    .context_ready_i,
    .context_done_i,
    .time_i,
    .chimera_i,
    .warp_start_o,
    .tb_activate_o,
    .tb_stop_o,
    .context_o,
    .release_valid_o,
    .release_slot_o,
    .release_kind_o,
    .stop_warps_o  (stop_warps),
    .leave_warps_o (leave_warps),
    .start_valid_o (start_valid),
    .start_warp_o  (start_warp),
    .start_warp_n_o(start_warp_n),
    .start_kernel_o(start_kernel),
    .quota_o,
    .gated_o,
    .ungated_o     (ungated),
    .load_o        (load),
    .awake_o       (tables_awake)
  );

  assign clock_en_o = awake_o || ready_i != '0 || command_valid_i || buffer_valid_i ||
                      buffer_none_i || event_ack_i || tick_i || sample_begin_i || sample_end_i ||
                      tb_finished_i != '0 || context_done_i != '0;
  // An idle cycle.
  logic unused_quiet;
  assign unused_quiet = !clock_en_o;

  for (genvar s = 0; s < NumSchedulers; s++) begin : gen_scheduler
    logic [WarpWidth-1:0] warp;
    smk_pkg::kernel_id_t  kernel;
    smk_pkg::quota_vec_t  left_here;
    logic                 reload_here;
    smk_quota_scheduler u_quota_scheduler (
      .clk_i,
      .rst_ni,
      .ready_i       (ready_i.scheduler[s]),
      .stop_i        (stop_warps.scheduler[s]),
      .leave_i       (leave_warps.scheduler[s]),
      .start_valid_i (start_valid[s]),
      .start_warp_i  (s % 2 == 0 ? start_warp : ~start_warp_n),
      .start_kernel_i(start_kernel),
      .gated_i       (gated_o),
      .ungated_i     (ungated),
      .quota_i       (quota_o),
      .load_i        (load),
      .tick_i,
      .policy_i      (warp_policy_i),
      .epoch_end_i,
      .grant_valid_o (grant_valid_o[s]),
      .grant_warp_o  (warp),
      .grant_kernel_o(kernel),
      .left_o        (left_here),
      .reload_o      (reload_here),
      .some_left_o   (some_left[s*NumKernels +: NumKernels])
    );
    assign grant_warp_o.scheduler[s] = warp;
    assign grant_kernel.scheduler[s] = kernel;
    if (s == 0) begin : gen_left
      assign left     = left_here;
      assign reload_o = reload_here;
    end else begin : gen_unused
      smk_pkg::quota_vec_t unused_left;
      logic                unused_reload;
      assign unused_left   = left_here;
      assign unused_reload = reload_here;
    end
    // Quotas do not change in an idle cycle.
    `SMK_ASSERT(IdleHoldsQuota_A, unused_quiet |=> $stable(left_here))
    // A warp of a stopped TB is not granted.
    `SMK_ASSERT(GrantNotStopped_A, grant_valid_o[s] |->
                ((stop_warps.scheduler[s] >> warp) & WarpsPerScheduler'(1)) == '0)
  end

  for (genvar k = 0; k < NumKernels; k++) begin : gen_with_quota
    logic [NumSchedulers-1:0] with_quota;
    for (genvar s = 0; s < NumSchedulers; s++) begin : gen_scheduler
      assign with_quota[s] = some_left[s*NumKernels + k];
    end
    assign with_quota_o.kernel[k] = with_quota;
  end

  smk_sm_profile u_profile (
    .clk_i,
    .rst_ni,
    .grant_valid_i  (grant_valid_o),
    .grant_kernel_i (grant_kernel),
    .tick_i,
    .report_valid_o (profile_valid_o),
    .report_issued_o(profile_issued_o)
  );

  logic samples;
  smk_sm_sample u_sample (
    .clk_i,
    .rst_ni,
    .begin_i       (sample_begin_i),
    .end_i         (sample_end_i),
    .kernel_i      (sample_kernel_i),
    .stalls_i      (sample_stalls_i),
    .grant_valid_i (grant_valid_o),
    .grant_kernel_i(grant_kernel),
    .memory_i,
    .samples_o,
    .valid_o       (sample_valid_o),
    .issued_o      (sample_issued_o),
    .stalled_o     (sample_stalled_o),
    .busy_o        (samples)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) gated_q <= 1'b0;
    else         gated_q <= gated_o;
  end

  assign quota_left_o = gated_q ? left : '0;
  assign grant_kernel_o = grant_kernel.scheduler[0];
  assign awake_o      = tables_awake || profile_valid_o || samples;

  // Nothing changes in an idle cycle, and nothing is said.
  `SMK_ASSERT(IdleHolds_A, unused_quiet |=> !awake_o && $stable(event_o) && $stable(quota_o) &&
              $stable(gated_o))
  `SMK_ASSERT(IdleIsSilent_A, unused_quiet |-> grant_valid_o == '0 && !warp_start_o.valid &&
              !context_o.valid && !release_valid_o && tb_activate_o == '0)
  // Conservation: every warp slot is freed two cycles after its TB has gone, and in no other.
  logic [1:0] unused_gone_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) unused_gone_q <= '0;
    else         unused_gone_q <= {unused_gone_q[0], tb_finished_i != '0 || release_valid_o};
  end
  `SMK_ASSERT(WarpsLeaveWithTheirTb_A, leave_warps != '0 |-> unused_gone_q[1])
endmodule
