// SPDX-License-Identifier: Apache-2.0
// sim_driver: smk_driver behind input registers and without some of its blocks, for simulation only.
//
// Purpose     One evaluation per cycle, and none in a cycle in which only time passes. What the SMs say is
//             registered here: the edge at the end of a cycle takes what they say in the next. Some blocks
//             are models of their own, apart/sim_*.sv, with shells in their places, apart/smk_*.sv; what
//             such a block says in the next cycle is taken by the same edge, from its own registers.
// Latency     Outputs of a cycle right after the edge before it, but for what tick_i and launch_*_i do.
// Reset       The SMs say nothing. policy_i is taken in the reset.
// Wires and registers only: nothing is known here. Without SIM_APART nothing is apart.
`include "sim_apart.svh"

// verilator tracing_off
module sim_driver (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  smk_pkg::policy_t              policy_i,
  input  logic                          launch_valid_i,
  input  logic [smk_pkg::KernelWidth:0] launch_kernel_i,
  input  smk_pkg::kernel_descriptor_t   launch_i,
  input  logic                          tick_i,
  output logic                          launch_ready_o,
  output smk_pkg::launch_error_e        launch_error_o,
  output smk_pkg::kernel_mask_t         kernel_done_o,
  input  smk_pkg::sm_events_t           sm_events_i,
  input  smk_pkg::sm_mask_t             sm_command_credit_i,
  input  smk_pkg::sm_mask_t             sm_command_waits_i,
  input  smk_pkg::sm_mask_t             sm_buffer_request_i,
  input  smk_pkg::sm_kernel_id_t        sm_buffer_kernel_i,
  input  smk_pkg::sm_mask_t             sm_buffer_withdraw_i,
  input  smk_pkg::sm_mask_t             sm_profile_valid_i,
  input  smk_pkg::sm_issued_t           sm_profile_issued_i,
  input  smk_pkg::sm_mask_t             sm_sample_valid_i,
  input  smk_pkg::sm_samples_t          sm_sample_issued_i,
  input  smk_pkg::sm_samples_t          sm_sample_stalled_i,
  output smk_pkg::sm_mask_t             command_valid_o,
  output smk_pkg::sm_command_t          command_o,
  output smk_pkg::sm_mask_t             buffer_valid_o,
  output smk_pkg::buffer_t              buffer_o,
  output smk_pkg::sm_mask_t             buffer_none_o,
  output smk_pkg::sm_mask_t             event_ack_o,
  output logic                          tick_o,
  output logic                          sample_begin_o,
  output logic                          sample_end_o,
  output smk_pkg::sm_kernel_id_t        sample_kernel_o,
  output logic                          sample_stalls_o,
  output smk_pkg::context_views_t       views_o,
  output smk_pkg::need_vec_t            needs_o,
  output logic                          awake_o,
  output smk_pkg::decision_t            decision_o,
  output smk_pkg::total_share_vec_t     share_o,
  output smk_pkg::sm_tb_cnts_t          partition_o,
  output smk_pkg::token_t               token_o,
  output sim_arbiter_hears_t            arbiter_hears_o,
  input  sim_arbiter_says_t             arbiter_says_i,
  output sim_profiler_hears_t           profiler_hears_o,
  input  sim_profiler_says_t            profiler_says_i,
  output sim_planner_hears_t            planner_hears_o,
  input  sim_planner_says_t             planner_says_i,
  output smk_pkg::need_vec_t            usages_need_o,
  output sim_usage_hears_t              usages_hear_o[smk_pkg::NumSms],
  input  sim_usage_says_t               usages_say_i[smk_pkg::NumSms],
  // The blocks are apart.
  output logic                          apart_o
);
  smk_pkg::policy_t              policy_q;
  smk_pkg::sm_events_t           sm_events_q;
  smk_pkg::sm_mask_t             sm_command_credit_q;
  smk_pkg::sm_mask_t             sm_command_waits_q;
  smk_pkg::sm_mask_t             sm_buffer_request_q;
  smk_pkg::sm_kernel_id_t        sm_buffer_kernel_q;
  smk_pkg::sm_mask_t             sm_buffer_withdraw_q;
  smk_pkg::sm_mask_t             sm_profile_valid_q;
  smk_pkg::sm_issued_t           sm_profile_issued_q;
  smk_pkg::sm_mask_t             sm_sample_valid_q;
  smk_pkg::sm_samples_t          sm_sample_issued_q;
  smk_pkg::sm_samples_t          sm_sample_stalled_q;
  sim_arbiter_says_t             arbiter_says_q;
  sim_profiler_says_t            profiler_says_q;
  sim_planner_says_t             planner_says_q;
  sim_usage_says_t               usages_say_q[smk_pkg::NumSms];

  always_ff @(posedge clk_i) policy_q <= policy_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sm_events_q          <= '0;
      sm_command_credit_q  <= '0;
      sm_command_waits_q   <= '0;
      sm_buffer_request_q  <= '0;
      sm_buffer_kernel_q   <= '0;
      sm_buffer_withdraw_q <= '0;
      sm_profile_valid_q   <= '0;
      sm_profile_issued_q  <= '0;
      sm_sample_valid_q    <= '0;
      sm_sample_issued_q   <= '0;
      sm_sample_stalled_q  <= '0;
      arbiter_says_q       <= '0;
      profiler_says_q      <= '0;
      planner_says_q       <= '0;
      usages_say_q         <= '{default: '0};
    end else begin
      sm_events_q          <= sm_events_i;
      sm_command_credit_q  <= sm_command_credit_i;
      sm_command_waits_q   <= sm_command_waits_i;
      sm_buffer_request_q  <= sm_buffer_request_i;
      sm_buffer_kernel_q   <= sm_buffer_kernel_i;
      sm_buffer_withdraw_q <= sm_buffer_withdraw_i;
      sm_profile_valid_q   <= sm_profile_valid_i;
      sm_profile_issued_q  <= sm_profile_issued_i;
      sm_sample_valid_q    <= sm_sample_valid_i;
      sm_sample_issued_q   <= sm_sample_issued_i;
      sm_sample_stalled_q  <= sm_sample_stalled_i;
      arbiter_says_q       <= arbiter_says_i;
      profiler_says_q      <= profiler_says_i;
      planner_says_q       <= planner_says_i;
      usages_say_q         <= usages_say_i;
    end
  end

  // verilator tracing_on
  smk_driver u_driver (
    .clk_i,
    .rst_ni,
    .policy_i            (policy_q),
    .launch_valid_i,
    .launch_kernel_i,
    .launch_i,
    .tick_i,
    .launch_ready_o,
    .launch_error_o,
    .kernel_done_o,
    .sm_events_i         (sm_events_q),
    .sm_command_credit_i (sm_command_credit_q),
    .sm_command_waits_i  (sm_command_waits_q),
    .sm_buffer_request_i (sm_buffer_request_q),
    .sm_buffer_kernel_i  (sm_buffer_kernel_q),
    .sm_buffer_withdraw_i(sm_buffer_withdraw_q),
    .sm_profile_valid_i  (sm_profile_valid_q),
    .sm_profile_issued_i (sm_profile_issued_q),
    .sm_sample_valid_i   (sm_sample_valid_q),
    .sm_sample_issued_i  (sm_sample_issued_q),
    .sm_sample_stalled_i (sm_sample_stalled_q),
    .command_valid_o,
    .command_o,
    .buffer_valid_o,
    .buffer_o,
    .buffer_none_o,
    .event_ack_o,
    .tick_o,
    .sample_begin_o,
    .sample_end_o,
    .sample_kernel_o,
    .sample_stalls_o,
    .views_o,
    .needs_o,
    .awake_o,
    .decision_o,
    .share_o,
    .partition_o,
    .token_o
  );

`ifdef SIM_APART
  assign arbiter_hears_o                                  = u_driver.u_token_arbiter.hears;
  assign profiler_hears_o                                 = u_driver.u_slicer.u_slicer_profiler.hears;
  assign planner_hears_o                                  = u_driver.u_decision.u_partition_planner.hears;
  assign u_driver.u_token_arbiter.says                    = arbiter_says_q;
  assign u_driver.u_slicer.u_slicer_profiler.says         = profiler_says_q;
  assign u_driver.u_decision.u_partition_planner.says     = planner_says_q;
  assign usages_need_o                                    = u_driver.u_decision.u_drf_tracker.need_q;
  for (genvar i = 0; i < smk_pkg::NumSms; i++) begin : gen_usage
    assign usages_hear_o[i] = u_driver.u_decision.u_drf_tracker.gen_sm[i].u_usage.hears;
    assign u_driver.u_decision.u_drf_tracker.gen_sm[i].u_usage.says = usages_say_q[i];
  end
  assign apart_o                                          = 1'b1;
`else
  assign arbiter_hears_o  = '0;
  assign profiler_hears_o = '0;
  assign planner_hears_o  = '0;
  assign usages_need_o    = '0;
  assign usages_hear_o    = '{default: '0};
  assign apart_o          = 1'b0;
`endif
endmodule
