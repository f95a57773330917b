// SPDX-License-Identifier: Apache-2.0
// smk_top: the control plane of a whole GPU.
//
// Purpose     The driver and the control logic of every SM, wired together.
// Paper       [SMK] Fig. 3.
// Interface   launch_*: stream from the host, never waits. context_o: a stream per SM to memory,
//             with context_ready_i. All else towards the machine: pulses and levels, one per SM.
// Latency     ready_i to grant 0 cycles; launch to the first dispatch command at an SM NumSms + 4
//             cycles without partitions; every signal between driver and SMs is a register.
// Throughput  One command to one SM, one event of every SM, all grants of all SMs per cycle.
// Reset       No kernel, no TB.
// Model       model/control/reference_control.cc   Doc  docs/blocks/top.md
// An SM without a ready warp or a pulse holds its state when neither its bit of sm_awake_o is set
// nor the driver tells it something. Wiring only.
`include "smk_assert.svh"

module smk_top (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  // Constant during a run.
  input  smk_pkg::policy_t              policy_i,
  // From the host and the chip timer.
  input  logic                          launch_valid_i,
  input  logic [smk_pkg::KernelWidth:0] launch_kernel_i,
  input  smk_pkg::kernel_descriptor_t   launch_i,
  input  logic                          tick_i,
  output logic                          launch_ready_o,
  output smk_pkg::launch_error_e        launch_error_o,
  output smk_pkg::kernel_mask_t         kernel_done_o,
  // From the machine.
  input  smk_pkg::sm_ready_t            ready_i,
  input  smk_pkg::sm_slots_t            tb_finished_i,
  input  smk_pkg::sm_slots_t            tb_quiet_i,
  input  smk_pkg::sm_slots_t            tb_flushable_i,
  input  smk_pkg::sm_mask_t             context_ready_i,
  input  smk_pkg::sm_done_t             context_done_i,
  // To the machine, in the same cycle.
  output smk_pkg::sm_grants_t           grant_valid_o,
  output smk_pkg::sm_grant_warps_t      grant_warp_o,
  output smk_pkg::sm_warp_starts_t      warp_start_o,
  output smk_pkg::sm_slots_t            tb_activate_o,
  output smk_pkg::sm_slots_t            tb_stop_o,
  output smk_pkg::sm_contexts_t         context_o,
  output smk_pkg::sm_mask_t             release_valid_o,
  output smk_pkg::sm_slot_id_t          release_slot_o,
  // Set: flushed, not saved.
  output smk_pkg::sm_mask_t             release_flushed_o,
  // Not idle.
  output smk_pkg::sm_mask_t             sm_awake_o,
  output logic                          driver_awake_o,
  // For logs: the decision of this cycle, rK, the partitions in force, the quotas received and
  // whether they are in force, and quota left on scheduler 0.
  output smk_pkg::decision_t            decision_o,
  output smk_pkg::total_share_vec_t     share_o,
  output smk_pkg::sm_tb_cnts_t          partition_o,
  output smk_pkg::sm_quotas_t           quota_o,
  output smk_pkg::sm_mask_t             gated_o,
  output smk_pkg::sm_quotas_t           quota_left_o
);
  `SMK_CHECK_CONFIG

  localparam int unsigned NumSms = smk_pkg::NumSms;

  // Registers between the driver and the SMs.
  smk_pkg::sm_events_t      sm_events         /*verilator public_flat_rd*/;
  smk_pkg::sm_mask_t        sm_command_ready  /*verilator public_flat_rd*/;
  smk_pkg::sm_mask_t        sm_buffer_request /*verilator public_flat_rd*/;
  smk_pkg::sm_kernel_id_t   sm_buffer_kernel  /*verilator public_flat_rd*/;
  smk_pkg::sm_mask_t        sm_profile_valid  /*verilator public_flat_rd*/;
  smk_pkg::sm_issued_t      sm_profile_issued /*verilator public_flat_rd*/;
  smk_pkg::sm_mask_t        command_valid     /*verilator public_flat_rd*/;
  smk_pkg::sm_command_t     command           /*verilator public_flat_rd*/;
  smk_pkg::sm_mask_t        buffer_valid      /*verilator public_flat_rd*/;
  smk_pkg::buffer_t         buffer            /*verilator public_flat_rd*/;
  smk_pkg::sm_mask_t        event_ack         /*verilator public_flat_rd*/;
  logic                     tick              /*verilator public_flat_rd*/;
  smk_pkg::context_views_t  views;
  smk_pkg::thread_cnt_vec_t warps;

  smk_driver u_driver (
    .clk_i,
    .rst_ni,
    .policy_i,
    .launch_valid_i,
    .launch_kernel_i,
    .launch_i,
    .tick_i,
    .launch_ready_o,
    .launch_error_o,
    .kernel_done_o,
    .sm_events_i        (sm_events),
    .sm_command_ready_i (sm_command_ready),
    .sm_buffer_request_i(sm_buffer_request),
    .sm_buffer_kernel_i (sm_buffer_kernel),
    .sm_profile_valid_i (sm_profile_valid),
    .sm_profile_issued_i(sm_profile_issued),
    .command_valid_o    (command_valid),
    .command_o          (command),
    .buffer_valid_o     (buffer_valid),
    .buffer_o           (buffer),
    .event_ack_o        (event_ack),
    .tick_o             (tick),
    .views_o            (views),
    .warps_o            (warps),
    .awake_o            (driver_awake_o),
    .decision_o,
    .share_o,
    .partition_o
  );

  for (genvar i = 0; i < NumSms; i++) begin : gen_sm
    smk_pkg::grant_warps_t     grant_warp;
    smk_pkg::warp_start_t      warp_start;
    smk_pkg::context_request_t context_request;
    smk_pkg::tb_release_e      release_kind;
    smk_pkg::sm_event_t        sm_event;
    smk_pkg::kernel_id_t       buffer_kernel;
    smk_pkg::issued_vec_t      profile_issued;
    smk_pkg::quota_vec_t       quota, quota_left;

    smk_sm_control u_sm_control (
      .clk_i,
      .rst_ni,
      .warp_policy_i   (policy_i.warp_policy),
      .epoch_end_i     (policy_i.epoch_end),
      .ready_i         (ready_i.sm[i]),
      .tb_finished_i   (tb_finished_i.sm[i]),
      .tb_quiet_i      (tb_quiet_i.sm[i]),
      .tb_flushable_i  (tb_flushable_i.sm[i]),
      .context_ready_i (context_ready_i[i]),
      .context_done_i  (context_done_i.sm[i]),
      .command_valid_i (command_valid[i]),
      .command_i       (command),
      .buffer_valid_i  (buffer_valid[i]),
      .buffer_i        (buffer),
      .event_ack_i     (event_ack[i]),
      .tick_i          (tick),
      .views_i         (views),
      .warps_i         (warps),
      .grant_valid_o   (grant_valid_o.sm[i]),
      .grant_warp_o    (grant_warp),
      .warp_start_o    (warp_start),
      .tb_activate_o   (tb_activate_o.sm[i]),
      .tb_stop_o       (tb_stop_o.sm[i]),
      .context_o       (context_request),
      .release_valid_o (release_valid_o[i]),
      .release_slot_o  (release_slot_o.sm[i]),
      .release_kind_o  (release_kind),
      .quota_left_o    (quota_left),
      .command_ready_o (sm_command_ready[i]),
      .event_o         (sm_event),
      .buffer_request_o(sm_buffer_request[i]),
      .buffer_kernel_o (buffer_kernel),
      .profile_valid_o (sm_profile_valid[i]),
      .profile_issued_o(profile_issued),
      .quota_o         (quota),
      .gated_o         (gated_o[i]),
      .awake_o         (sm_awake_o[i])
    );
    assign grant_warp_o.sm[i]      = grant_warp;
    assign warp_start_o.sm[i]      = warp_start;
    assign context_o.sm[i]         = context_request;
    assign release_flushed_o[i]    = release_kind == smk_pkg::ReleaseFlushed;
    assign quota_o.sm[i]           = quota;
    assign quota_left_o.sm[i]      = quota_left;
    assign sm_events.sm[i]         = sm_event;
    assign sm_buffer_kernel.sm[i]  = buffer_kernel;
    assign sm_profile_issued.sm[i] = profile_issued;
  end
endmodule
