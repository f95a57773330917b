// SPDX-License-Identifier: Apache-2.0
// smk_top: the control plane of a whole GPU.
//
// Purpose     The driver and the control logic of every SM, wired together.
// Paper       [SMK] Fig. 3.
// Interface   launch_*: stream from the host, never waits. context_o: a stream per SM to memory,
//             with context_ready_i. All else towards the machine: pulses and levels, one per SM.
//             LinkStages: relay stations between the driver and each SM, four bits each.
//             DebugPorts: 0 leaves the ports for logs zero, and what only they need away.
// Latency     ready_i to grant 0 cycles; launch to the first dispatch command at an SM 10
//             cycles on demand, 11 streamed, and its link's without partitions; every signal between driver and SMs is a register.
// Throughput  One command to one SM, one event of every SM, all grants of all SMs per cycle.
// Reset       No kernel, no TB.
// Model       model/control/reference_control.cc   Doc  docs/blocks/top.md
// An SM without a ready warp or a pulse holds its state when neither its bit of sm_awake_o is set
// nor the driver tells it something. Wiring only.
`include "smk_assert.svh"

module smk_top #(
  parameter logic [4*smk_pkg::NumSms-1:0] LinkStages = '0,
  parameter int unsigned                  DebugPorts = 1
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  // How TBs are dispatched, preempted and granted; constant during a run.
  input  smk_pkg::policy_t              policy_i,
  // From the host: a kernel for a slot; answered in the same cycle.
  input  logic                          launch_valid_i,
  input  logic [smk_pkg::KernelWidth:0] launch_kernel_i,
  input  smk_pkg::kernel_descriptor_t   launch_i,
  // Pulse of the chip's timer, every epoch_length cycles under any policy: a profiling window ends.
  input  logic                          tick_i,
  // The launch is answered; LaunchNone: taken, else why not. Pulse per slot: the kernel has ended.
  output logic                          launch_ready_o,
  output smk_pkg::launch_error_e        launch_error_o,
  output smk_pkg::kernel_mask_t         kernel_done_o,
  // Warps that could issue now, quotas and stops apart.
  input  smk_pkg::sm_ready_t            ready_i,
  // Pulse per TB slot: the last warp of the TB has exited.
  input  smk_pkg::sm_slots_t            tb_finished_i,
  // The stopped TB has nothing in flight; it could start anew, as it has written nothing for good.
  input  smk_pkg::sm_slots_t            tb_quiet_i,
  input  smk_pkg::sm_slots_t            tb_flushable_i,
  // The memory takes a context line; lines that are complete in this cycle.
  input  smk_pkg::sm_mask_t             context_ready_i,
  input  smk_pkg::sm_done_t             context_done_i,
  // Time, in units of 2^TimeUnitLog2 cycles; it goes on while clocks of SMs are off. Only for
  // PreemptChimera.
  input  smk_pkg::sm_time_t             time_i,
  // Per kernel and scheduler: a warp waits for memory. Looked at in the cycle after samples_o.
  input  smk_pkg::sm_memory_t           memory_i,
  // Per scheduler: a warp is granted in this cycle, and which.
  output smk_pkg::sm_grants_t           grant_valid_o,
  output smk_pkg::sm_grant_warps_t      grant_warp_o,
  // A warp is placed: slot, number within its TB, kernel, TB, whether its context is loaded, and
  // where its TB's registers and shared memory begin.
  output smk_pkg::sm_warp_starts_t      warp_start_o,
  // Pulse per TB slot: the TB runs. Level: nothing of it is fetched or granted.
  output smk_pkg::sm_slots_t            tb_activate_o,
  output smk_pkg::sm_slots_t            tb_stop_o,
  // Stream: a context line to store or to load, with its address.
  output smk_pkg::sm_contexts_t         context_o,
  // Pulse: the TB has left its slot without finishing, flushed or else saved.
  output smk_pkg::sm_mask_t             release_valid_o,
  output smk_pkg::sm_slot_id_t          release_slot_o,
  output smk_pkg::sm_mask_t             release_flushed_o,
  // memory_i is looked at in the next cycle.
  output smk_pkg::sm_mask_t             samples_o,
  // Per SM: it is not idle, from registers; its clock is needed at the end of this cycle, a wire.
  output smk_pkg::sm_mask_t             sm_awake_o,
  output smk_pkg::sm_mask_t             sm_clock_en_o,
  // The driver is not idle, or something is on its way to it.
  output logic                          driver_awake_o,
  // Debug: the decision of this cycle; rK; TBs per SM and kernel in the partitions in force.
  output smk_pkg::decision_t            decision_o,
  output smk_pkg::total_share_vec_t     share_o,
  output smk_pkg::sm_tb_cnts_t          partition_o,
  // Debug: who has the GPU under DispatchToken.
  output smk_pkg::token_t               token_o,
  // Debug: quotas received, and whether they are in force.
  output smk_pkg::sm_quotas_t           quota_o,
  output smk_pkg::sm_mask_t             gated_o,
  // Debug: quota left on scheduler 0, the kernel it grants, its reload at the end of this cycle.
  output smk_pkg::sm_quotas_t           quota_left_o,
  output smk_pkg::sm_kernel_id_t        grant_kernel_o,
  output smk_pkg::sm_mask_t             reload_o,
  // Debug, while quotas are in force: per kernel, the schedulers on which it has some quota left after
  // this cycle.
  output smk_pkg::sm_memory_t           with_quota_o,
  // Debug: a TB that has come waits until there is a gap for it.
  output smk_pkg::sm_mask_t             place_waits_o
);
  `SMK_CHECK_CONFIG

  localparam int unsigned NumSms = smk_pkg::NumSms;

  // Registers between the driver and the SMs.
  smk_pkg::sm_events_t      sm_events         /*verilator public_flat_rd*/;
  smk_pkg::sm_mask_t        sm_command_credit  /*verilator public_flat_rd*/;
  smk_pkg::sm_mask_t        sm_command_waits   /*verilator public_flat_rd*/;
  smk_pkg::sm_mask_t        sm_buffer_request /*verilator public_flat_rd*/;
  smk_pkg::sm_kernel_id_t   sm_buffer_kernel  /*verilator public_flat_rd*/;
  smk_pkg::sm_mask_t        sm_buffer_withdraw /*verilator public_flat_rd*/;
  smk_pkg::sm_mask_t        sm_profile_valid  /*verilator public_flat_rd*/;
  smk_pkg::sm_issued_t      sm_profile_issued /*verilator public_flat_rd*/;
  smk_pkg::sm_mask_t        sm_sample_valid   /*verilator public_flat_rd*/;
  smk_pkg::sm_samples_t     sm_sample_issued  /*verilator public_flat_rd*/;
  smk_pkg::sm_samples_t     sm_sample_stalled /*verilator public_flat_rd*/;
  smk_pkg::sm_mask_t        command_valid     /*verilator public_flat_rd*/;
  smk_pkg::sm_command_t     command           /*verilator public_flat_rd*/;
  smk_pkg::sm_mask_t        buffer_valid      /*verilator public_flat_rd*/;
  smk_pkg::buffer_t         buffer            /*verilator public_flat_rd*/;
  smk_pkg::sm_mask_t        buffer_none       /*verilator public_flat_rd*/;
  smk_pkg::sm_mask_t        event_ack         /*verilator public_flat_rd*/;
  logic                     tick              /*verilator public_flat_rd*/;
  logic                     sample_begin      /*verilator public_flat_rd*/;
  logic                     sample_end        /*verilator public_flat_rd*/;
  smk_pkg::sm_kernel_id_t   sample_kernel     /*verilator public_flat_rd*/;
  logic                     sample_stalls     /*verilator public_flat_rd*/;
  smk_pkg::context_views_t  views;
  smk_pkg::need_vec_t       needs;
  logic                     driver_awake;
  smk_pkg::chimera_t        chimera;
  assign chimera.enable = policy_i.preempt == smk_pkg::PreemptChimera;
  assign chimera.limit  = policy_i.chimera_limit;
  assign chimera.line   = policy_i.chimera_line;
  smk_pkg::sm_mask_t        link_busy, control_awake;
  // For logs.
  smk_pkg::decision_t        decision;
  smk_pkg::total_share_vec_t share;
  smk_pkg::sm_tb_cnts_t      partition;
  smk_pkg::token_t           token;
  smk_pkg::sm_quotas_t       quotas, quotas_left;
  smk_pkg::sm_mask_t         gated, reloads, place_waits;
  smk_pkg::sm_kernel_id_t    grant_kernels;
  smk_pkg::sm_memory_t       with_quotas;

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
    .sm_command_credit_i (sm_command_credit),
    .sm_command_waits_i  (sm_command_waits),
    .sm_buffer_request_i(sm_buffer_request),
    .sm_buffer_kernel_i (sm_buffer_kernel),
    .sm_buffer_withdraw_i(sm_buffer_withdraw),
    .sm_profile_valid_i (sm_profile_valid),
    .sm_profile_issued_i(sm_profile_issued),
    .sm_sample_valid_i  (sm_sample_valid),
    .sm_sample_issued_i (sm_sample_issued),
    .sm_sample_stalled_i(sm_sample_stalled),
    .command_valid_o    (command_valid),
    .command_o          (command),
    .buffer_valid_o     (buffer_valid),
    .buffer_o           (buffer),
    .buffer_none_o      (buffer_none),
    .event_ack_o        (event_ack),
    .tick_o             (tick),
    .sample_begin_o     (sample_begin),
    .sample_end_o       (sample_end),
    .sample_kernel_o    (sample_kernel),
    .sample_stalls_o    (sample_stalls),
    .views_o            (views),
    .needs_o            (needs),
    .awake_o            (driver_awake),
    .decision_o         (decision),
    .share_o            (share),
    .partition_o        (partition),
    .token_o            (token)
  );

  for (genvar i = 0; i < NumSms; i++) begin : gen_sm
    smk_pkg::grant_warps_t     grant_warp;
    smk_pkg::warp_start_t      warp_start;
    smk_pkg::context_request_t context_request;
    smk_pkg::tb_release_e      release_kind;
    smk_pkg::sm_event_t        sm_event;
    smk_pkg::kernel_id_t       buffer_kernel, grant_kernel;
    smk_pkg::issued_vec_t      profile_issued;
    smk_pkg::quota_vec_t       quota, quota_left;
    smk_pkg::kernel_schedulers_t with_quota;
    // At the SM's end of its link.
    smk_pkg::sm_command_t      link_command;
    smk_pkg::buffer_t          link_buffer;
    smk_pkg::sm_event_t        link_event;
    smk_pkg::kernel_id_t       link_buffer_kernel;
    smk_pkg::issued_vec_t      link_profile_issued;
    logic                      link_command_valid, link_buffer_valid, link_event_ack, link_tick;
    logic                      link_command_credit, link_command_waits, link_buffer_request, link_profile_valid;
    logic                      link_buffer_none, link_buffer_withdraw;
    logic                      link_sample_begin, link_sample_end, link_sample_stalls;
    smk_pkg::kernel_id_t       link_sample_kernel;
    logic                      link_sample_valid;
    logic [smk_pkg::SampleWidth-1:0] link_issued, link_stalled;

    smk_sm_link #(.Stages(32'(LinkStages[4*i +: 4]))) u_link (
      .clk_i,
      .rst_ni,
      .driver_command_valid_i (command_valid[i]),
      .driver_command_i       (command),
      .driver_buffer_valid_i  (buffer_valid[i]),
      .driver_buffer_i        (buffer),
      .driver_buffer_none_i   (buffer_none[i]),
      .driver_event_ack_i     (event_ack[i]),
      .driver_tick_i          (tick),
      .driver_sample_begin_i  (sample_begin),
      .driver_sample_end_i    (sample_end),
      .driver_sample_kernel_i (sample_kernel.sm[i]),
      .driver_sample_stalls_i (sample_stalls),
      .driver_command_credit_o(sm_command_credit[i]),
      .driver_command_waits_o (sm_command_waits[i]),
      .driver_event_o         (sm_event),
      .driver_buffer_request_o(sm_buffer_request[i]),
      .driver_buffer_kernel_o (buffer_kernel),
      .driver_buffer_withdraw_o(sm_buffer_withdraw[i]),
      .driver_profile_valid_o (sm_profile_valid[i]),
      .driver_profile_issued_o(profile_issued),
      .driver_sample_valid_o  (sm_sample_valid[i]),
      .driver_sample_issued_o (sm_sample_issued.sm[i]),
      .driver_sample_stalled_o(sm_sample_stalled.sm[i]),
      .sm_command_valid_o     (link_command_valid),
      .sm_command_o           (link_command),
      .sm_buffer_valid_o      (link_buffer_valid),
      .sm_buffer_o            (link_buffer),
      .sm_buffer_none_o       (link_buffer_none),
      .sm_event_ack_o         (link_event_ack),
      .sm_tick_o              (link_tick),
      .sm_sample_begin_o      (link_sample_begin),
      .sm_sample_end_o        (link_sample_end),
      .sm_sample_kernel_o     (link_sample_kernel),
      .sm_sample_stalls_o     (link_sample_stalls),
      .sm_command_credit_i    (link_command_credit),
      .sm_command_waits_i     (link_command_waits),
      .sm_event_i             (link_event),
      .sm_buffer_request_i    (link_buffer_request),
      .sm_buffer_kernel_i     (link_buffer_kernel),
      .sm_buffer_withdraw_i   (link_buffer_withdraw),
      .sm_profile_valid_i     (link_profile_valid),
      .sm_profile_issued_i    (link_profile_issued),
      .sm_sample_valid_i      (link_sample_valid),
      .sm_sample_issued_i     (link_issued),
      .sm_sample_stalled_i    (link_stalled),
      .busy_o                 (link_busy[i])
    );

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
      .time_i,
      .chimera_i       (chimera),
      .memory_i        (memory_i.sm[i]),
      .command_valid_i (link_command_valid),
      .command_i       (link_command),
      .buffer_valid_i  (link_buffer_valid),
      .buffer_i        (link_buffer),
      .buffer_none_i   (link_buffer_none),
      .event_ack_i     (link_event_ack),
      .tick_i          (link_tick),
      .sample_begin_i  (link_sample_begin),
      .sample_end_i    (link_sample_end),
      .sample_kernel_i (link_sample_kernel),
      .sample_stalls_i (link_sample_stalls),
      .views_i         (views),
      .needs_i         (needs),
      .grant_valid_o   (grant_valid_o.sm[i]),
      .grant_warp_o    (grant_warp),
      .warp_start_o    (warp_start),
      .tb_activate_o   (tb_activate_o.sm[i]),
      .tb_stop_o       (tb_stop_o.sm[i]),
      .context_o       (context_request),
      .release_valid_o (release_valid_o[i]),
      .release_slot_o  (release_slot_o.sm[i]),
      .release_kind_o  (release_kind),
      .place_waits_o   (place_waits[i]),
      .samples_o       (samples_o[i]),
      .quota_left_o    (quota_left),
      .grant_kernel_o  (grant_kernel),
      .reload_o        (reloads[i]),
      .with_quota_o    (with_quota),
      .command_credit_o(link_command_credit),
      .command_waits_o (link_command_waits),
      .event_o         (link_event),
      .buffer_request_o(link_buffer_request),
      .buffer_kernel_o (link_buffer_kernel),
      .buffer_withdraw_o(link_buffer_withdraw),
      .profile_valid_o (link_profile_valid),
      .profile_issued_o(link_profile_issued),
      .sample_valid_o  (link_sample_valid),
      .sample_issued_o (link_issued),
      .sample_stalled_o(link_stalled),
      .quota_o         (quota),
      .gated_o         (gated[i]),
      .clock_en_o      (sm_clock_en_o[i]),
      .awake_o         (control_awake[i])
    );
    assign grant_warp_o.sm[i]      = grant_warp;
    assign warp_start_o.sm[i]      = warp_start;
    assign context_o.sm[i]         = context_request;
    assign release_flushed_o[i]    = release_kind == smk_pkg::ReleaseFlushed;
    assign quotas.sm[i]            = quota;
    assign quotas_left.sm[i]       = quota_left;
    assign with_quotas.sm[i]       = with_quota;
    assign grant_kernels.sm[i]     = grant_kernel;
    assign sm_events.sm[i]         = sm_event;
    assign sm_buffer_kernel.sm[i]  = buffer_kernel;
    assign sm_profile_issued.sm[i] = profile_issued;
  end

  if (DebugPorts != 0) begin : gen_debug
    assign decision_o     = decision;
    assign share_o        = share;
    assign partition_o    = partition;
    assign token_o        = token;
    assign quota_o        = quotas;
    assign gated_o        = gated;
    assign quota_left_o   = quotas_left;
    assign grant_kernel_o = grant_kernels;
    assign reload_o       = reloads;
    assign with_quota_o   = with_quotas;
    assign place_waits_o  = place_waits;
  end else begin : gen_no_debug
    logic unused_debug;
    assign unused_debug = ^{decision, share, partition, token, quotas, gated, quotas_left, grant_kernels,
                            reloads, with_quotas, place_waits};
    assign decision_o     = '0;
    assign share_o        = '0;
    assign partition_o    = '0;
    assign token_o        = '0;
    assign quota_o        = '0;
    assign gated_o        = '0;
    assign quota_left_o   = '0;
    assign grant_kernel_o = '0;
    assign reload_o       = '0;
    assign with_quota_o   = '0;
    assign place_waits_o  = '0;
  end

  // What is on its way wakes both ends.
  assign sm_awake_o     = control_awake | link_busy;
  assign driver_awake_o = driver_awake || link_busy != '0;
endmodule
