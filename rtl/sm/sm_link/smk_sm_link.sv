// SPDX-License-Identifier: Apache-2.0
// smk_sm_link: relay stations between the driver and one SM.
//
// Purpose     Delays what the driver and one SM send each other by the same number of cycles, so
//             that the SM can lie anywhere on the chip.
// Paper       none; [SMK] Fig. 3 draws the wires.
// Interface   All pulses with their payload (S5); nothing waits, nothing is refused. What is constant
//             while a kernel has TBs (contexts, warps per TB) has its own wires: it may take as long
//             as it likes between a launch and the kernel's first command.
// Latency     Stages cycles each way; with 0 it is a wire.
// Throughput  One message each way per cycle.
// Reset       Nothing on its way.
// Model       model/control/sm/sm_link.h   Doc  docs/blocks/sm_link.md
`include "smk_assert.svh"

module smk_sm_link #(
  parameter int unsigned Stages = 2
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // The driver's side.
  input  logic                 driver_command_valid_i,
  input  smk_pkg::sm_command_t driver_command_i,
  input  logic                 driver_buffer_valid_i,
  input  smk_pkg::buffer_t     driver_buffer_i,
  input  logic                 driver_buffer_none_i,
  input  logic                 driver_event_ack_i,
  input  logic                 driver_tick_i,
  input  logic                 driver_sample_begin_i,
  input  logic                 driver_sample_end_i,
  input  smk_pkg::kernel_id_t  driver_sample_kernel_i,
  input  logic                 driver_sample_stalls_i,
  output logic                 driver_command_credit_o,
  output logic                 driver_command_waits_o,
  output smk_pkg::sm_event_t   driver_event_o,
  output logic                 driver_buffer_request_o,
  output smk_pkg::kernel_id_t  driver_buffer_kernel_o,
  output logic                 driver_buffer_withdraw_o,
  output logic                 driver_profile_valid_o,
  output smk_pkg::issued_vec_t driver_profile_issued_o,
  output logic                 driver_sample_valid_o,
  output logic [smk_pkg::SampleWidth-1:0] driver_sample_issued_o,
  output logic [smk_pkg::SampleWidth-1:0] driver_sample_stalled_o,
  // The SM's side.
  output logic                 sm_command_valid_o,
  output smk_pkg::sm_command_t sm_command_o,
  output logic                 sm_buffer_valid_o,
  output smk_pkg::buffer_t     sm_buffer_o,
  output logic                 sm_buffer_none_o,
  output logic                 sm_event_ack_o,
  output logic                 sm_tick_o,
  output logic                 sm_sample_begin_o,
  output logic                 sm_sample_end_o,
  output smk_pkg::kernel_id_t  sm_sample_kernel_o,
  output logic                 sm_sample_stalls_o,
  input  logic                 sm_command_credit_i,
  input  logic                 sm_command_waits_i,
  input  smk_pkg::sm_event_t   sm_event_i,
  input  logic                 sm_buffer_request_i,
  input  smk_pkg::kernel_id_t  sm_buffer_kernel_i,
  input  logic                 sm_buffer_withdraw_i,
  input  logic                 sm_profile_valid_i,
  input  smk_pkg::issued_vec_t sm_profile_issued_i,
  input  logic                 sm_sample_valid_i,
  input  logic [smk_pkg::SampleWidth-1:0] sm_sample_issued_i,
  input  logic [smk_pkg::SampleWidth-1:0] sm_sample_stalled_i,
  // Something is on its way.
  output logic                 busy_o
);
  `SMK_CHECK_CONFIG
  // Of sm_command_t: kind, kernel, TB, restore, buffer, count, mode, range, first, last, quota.
  localparam int unsigned CommandWidth =
      3 + smk_pkg::KernelWidth + smk_pkg::TbIdWidth + 1 + smk_pkg::BufferWidth +
      smk_pkg::TbCntWidth + 2 + 2 * smk_pkg::BasesWidth + 2 + smk_pkg::QuotaWidth;
  localparam int unsigned EventWidth   = smk_pkg::EventWidth;
  localparam int unsigned IssuedWidth  = smk_pkg::NumKernels * smk_pkg::IssuedWidth;
  logic [7:0] busy;
  logic       event_valid, unused_valid;
  logic [EventWidth-2:0] sm_event_rest, driver_event_rest;

  smk_relay #(.Stages(Stages), .PayloadWidth(CommandWidth)) u_command (
    .clk_i, .rst_ni,
    .pulse_i  (driver_command_valid_i),
    .payload_i(driver_command_i),
    .pulse_o  (sm_command_valid_o),
    .payload_o(sm_command_o),
    .busy_o   (busy[0])
  );
  smk_relay #(.Stages(Stages), .PayloadWidth(smk_pkg::BufferWidth)) u_buffer (
    .clk_i, .rst_ni,
    .pulse_i  (driver_buffer_valid_i),
    .payload_i(driver_buffer_i),
    .pulse_o  (sm_buffer_valid_o),
    .payload_o(sm_buffer_o),
    .busy_o   (busy[1])
  );
  smk_relay #(.Stages(Stages), .PulseWidth(7)) u_pulses (
    .clk_i, .rst_ni,
    .pulse_i  ({driver_event_ack_i, driver_tick_i, driver_buffer_none_i, driver_sample_end_i,
                sm_command_credit_i, sm_command_waits_i, sm_buffer_withdraw_i}),
    .payload_i(1'b0),
    .pulse_o  ({sm_event_ack_o, sm_tick_o, sm_buffer_none_o, sm_sample_end_o,
                driver_command_credit_o, driver_command_waits_o, driver_buffer_withdraw_o}),
    .payload_o(unused_valid),
    .busy_o   (busy[2])
  );
  assign sm_event_rest = sm_event_i[EventWidth-2:0];
  smk_relay #(.Stages(Stages), .PayloadWidth(EventWidth - 1)) u_event (
    .clk_i, .rst_ni,
    .pulse_i  (`SMK_CUT(EventComes, sm_event_i.valid)),
    .payload_i(sm_event_rest),
    .pulse_o  (event_valid),
    .payload_o(driver_event_rest),
    .busy_o   (busy[3])
  );
  assign driver_event_o = {event_valid, driver_event_rest};
  smk_relay #(.Stages(Stages), .PayloadWidth(smk_pkg::KernelWidth)) u_request (
    .clk_i, .rst_ni,
    .pulse_i  (sm_buffer_request_i),
    .payload_i(sm_buffer_kernel_i),
    .pulse_o  (driver_buffer_request_o),
    .payload_o(driver_buffer_kernel_o),
    .busy_o   (busy[4])
  );
  smk_relay #(.Stages(Stages), .PayloadWidth(IssuedWidth)) u_profile (
    .clk_i, .rst_ni,
    .pulse_i  (sm_profile_valid_i),
    .payload_i(sm_profile_issued_i),
    .pulse_o  (driver_profile_valid_o),
    .payload_o(driver_profile_issued_o),
    .busy_o   (busy[5])
  );
  smk_relay #(.Stages(Stages), .PayloadWidth(smk_pkg::KernelWidth + 1)) u_sample (
    .clk_i, .rst_ni,
    .pulse_i  (driver_sample_begin_i),
    .payload_i({driver_sample_kernel_i, driver_sample_stalls_i}),
    .pulse_o  (sm_sample_begin_o),
    .payload_o({sm_sample_kernel_o, sm_sample_stalls_o}),
    .busy_o   (busy[6])
  );
  smk_relay #(.Stages(Stages), .PayloadWidth(2 * smk_pkg::SampleWidth)) u_counts (
    .clk_i, .rst_ni,
    .pulse_i  (sm_sample_valid_i),
    .payload_i({sm_sample_issued_i, sm_sample_stalled_i}),
    .pulse_o  (driver_sample_valid_o),
    .payload_o({driver_sample_issued_o, driver_sample_stalled_o}),
    .busy_o   (busy[7])
  );
  assign busy_o = busy != '0;
endmodule
