// SPDX-License-Identifier: Apache-2.0
// smk_top_registers: the control plane of a whole GPU, with its policy in registers.
//
// Purpose     smk_top, and smk_policy_registers in the place of policy_i: the policy changes as a whole,
//             while no kernel is there, in a reset of the chip.
// Paper       none.
// Interface   bus_*: a word per cycle. launch_*: stream, which waits while a change does. All else as
//             of smk_top.
//             LinkStages, DebugPorts: as of smk_top. DefaultPolicy: after a reset. QuietCycles: in which
//             nothing is awake before the change. RestartCycles: of the chip's reset then.
// Latency     As of smk_top and smk_policy_registers.
// Throughput  As of smk_top.
// Reset       No kernel, no TB, DefaultPolicy.
// Model       model/control/reference_control.cc, policy_registers.h   Doc  docs/integration.md
// Wiring, and the gates that hold launches off and reset the chip.
`include "smk_assert.svh"
`include "smk_policy.svh"

module smk_top_registers #(
  parameter logic [4*smk_pkg::NumSms-1:0] LinkStages    = '0,
  parameter int unsigned                  DebugPorts    = 1,
  parameter logic [`SMK_POLICY_WIDTH-1:0] DefaultPolicy = `SMK_POLICY_DEFAULT,
  parameter int unsigned                  QuietCycles   = 32,
  parameter int unsigned                  RestartCycles = 4
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  // The registers' bus: a word of the policy, of the commands or of the status is written, is read, or
  // both, which gives what it was.
  input  logic                          bus_write_i,
  input  logic                          bus_read_i,
  input  logic [7:0]                    bus_address_i,
  input  logic [31:0]                   bus_data_i,
  // Registers: the word that was read last; whether the last access was refused; a change waits.
  output logic [31:0]                   bus_data_o,
  output logic                          bus_error_o,
  output logic                          registers_awake_o,
  // From the host: a kernel for a slot; answered in the same cycle, or held off while a change waits.
  input  logic                          launch_valid_i,
  input  logic [smk_pkg::KernelWidth:0] launch_kernel_i,
  input  smk_pkg::kernel_descriptor_t   launch_i,
  // Pulse of the chip's timer, every epoch_length cycles under any policy: a profiling window ends.
  input  logic                          tick_i,
  // The launch is answered, not held off; LaunchNone: taken, else why not. Pulse per slot: the kernel
  // has ended.
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
  // Debug: per kernel, the schedulers on which it has some quota left after this cycle.
  output smk_pkg::sm_memory_t           with_quota_o,
  // Debug: a TB that has come waits until there is a gap for it.
  output smk_pkg::sm_mask_t             place_waits_o
);
  `SMK_CHECK_CONFIG

  smk_pkg::policy_t policy;
  logic             launch_hold, restart, launch_taken, chip_awake;
  assign launch_taken = launch_valid_i && launch_ready_o && launch_error_o == smk_pkg::LaunchNone;
  assign chip_awake   = driver_awake_o || sm_awake_o != '0;

  smk_policy_registers #(
    .DefaultPolicy(DefaultPolicy),
    .QuietCycles  (QuietCycles),
    .RestartCycles(RestartCycles)
  ) u_registers (
    .clk_i, .rst_ni,
    .write_i        (bus_write_i),
    .read_i         (bus_read_i),
    .address_i      (bus_address_i),
    .data_i         (bus_data_i),
    .data_o         (bus_data_o),
    .error_o        (bus_error_o),
    .launch_taken_i (launch_taken),
    .launch_kernel_i(launch_kernel_i[smk_pkg::KernelWidth-1:0]),
    .kernel_done_i  (kernel_done_o),
    .chip_awake_i   (chip_awake),
    .launch_hold_o  (launch_hold),
    .restart_o      (restart),
    .policy_o       (policy),
    .awake_o        (registers_awake_o)
  );

  // Both come from registers: the chip's reset has no glitches, and is released with the clock.
  logic chip_rst_n;
  assign chip_rst_n = rst_ni && !restart;

  smk_top #(
    .LinkStages(LinkStages),
    .DebugPorts(DebugPorts)
  ) u_chip (
    .clk_i,
    .rst_ni        (chip_rst_n),
    .policy_i      (policy),
    .launch_valid_i(launch_valid_i && !launch_hold),
    .tick_i,
    .launch_kernel_i, .launch_i, .launch_ready_o, .launch_error_o, .kernel_done_o, .ready_i,
    .tb_finished_i, .tb_quiet_i, .tb_flushable_i, .context_ready_i, .context_done_i, .time_i,
    .memory_i, .grant_valid_o, .grant_warp_o, .warp_start_o, .tb_activate_o, .tb_stop_o,
    .context_o, .release_valid_o, .release_slot_o, .release_flushed_o, .samples_o, .sm_awake_o,
    .sm_clock_en_o, .driver_awake_o, .decision_o, .share_o, .partition_o, .token_o, .quota_o,
    .gated_o, .quota_left_o, .grant_kernel_o, .reload_o, .with_quota_o, .place_waits_o
  );
endmodule
