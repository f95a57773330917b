// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_sm_link, of every length that smk_top can give it: messages come out as they went in. What counts
// of a message is its pulse, and its payload with the pulse.
`include "formal.svh"

module formal_sm_link (
  input logic                 clk_i,
  input logic                 command_valid_i,
  input smk_pkg::sm_command_t command_i,
  input logic                 buffer_valid_i,
  input smk_pkg::buffer_t     buffer_i,
  input logic                 buffer_none_i,
  input logic                 event_ack_i,
  input logic                 tick_i,
  input logic                 sample_begin_i,
  input logic                 sample_end_i,
  input smk_pkg::kernel_id_t  sample_kernel_i,
  input logic                 sample_stalls_i,
  input logic                 command_credit_i,
  input logic                 command_waits_i,
  input smk_pkg::sm_event_t   event_i,
  input logic                 buffer_request_i,
  input smk_pkg::kernel_id_t  buffer_kernel_i,
  input logic                 buffer_withdraw_i,
  input logic                 profile_valid_i,
  input smk_pkg::issued_vec_t profile_issued_i,
  input logic                 sample_valid_i,
  input logic [smk_pkg::SampleWidth-1:0] sample_issued_i,
  input logic [smk_pkg::SampleWidth-1:0] sample_stalled_i
);
  localparam int unsigned CommandWidth =
      3 + smk_pkg::KernelWidth + smk_pkg::TbIdWidth + 1 + smk_pkg::BufferWidth +
      smk_pkg::TbCntWidth + 2 + 2 * smk_pkg::BasesWidth + 2 + smk_pkg::QuotaWidth;
  localparam int unsigned IssuedWidth  = smk_pkg::NumKernels * smk_pkg::IssuedWidth;
  // All pulses; payloads with theirs, and nothing without.
  localparam int unsigned DownWidth = 7 + CommandWidth + smk_pkg::BufferWidth + smk_pkg::KernelWidth + 1;
  localparam int unsigned UpWidth   = 7 + smk_pkg::EventWidth - 1 + smk_pkg::KernelWidth + IssuedWidth +
                                      2 * smk_pkg::SampleWidth;
  localparam int unsigned Lengths   = 16;

  `FORMAL_RESET
  logic [DownWidth-1:0] down;
  logic [UpWidth-1:0]   up;
  assign down = {command_valid_i, buffer_valid_i, buffer_none_i, event_ack_i, tick_i, sample_begin_i, sample_end_i,
                 command_i & {CommandWidth{command_valid_i}}, buffer_i & {smk_pkg::BufferWidth{buffer_valid_i}},
                 {sample_kernel_i, sample_stalls_i} & {(smk_pkg::KernelWidth + 1){sample_begin_i}}};
  assign up   = {command_credit_i, command_waits_i, buffer_request_i, buffer_withdraw_i, profile_valid_i,
                 sample_valid_i, event_i & {smk_pkg::EventWidth{event_i.valid}},
                 buffer_kernel_i & {smk_pkg::KernelWidth{buffer_request_i}},
                 profile_issued_i & {IssuedWidth{profile_valid_i}},
                 {sample_issued_i, sample_stalled_i} & {(2 * smk_pkg::SampleWidth){sample_valid_i}}};

  // What went in so many cycles ago: nothing before the reset.
  logic [Lengths*DownWidth-1:0] downs;
  logic [Lengths*UpWidth-1:0]   ups;
  logic [(Lengths-1)*DownWidth-1:0] downs_q;
  logic [(Lengths-1)*UpWidth-1:0]   ups_q;
  assign downs = {downs_q, down};
  assign ups   = {ups_q, up};
  always_ff @(posedge clk_i) begin
    downs_q <= rst_ni ? downs[(Lengths-1)*DownWidth-1:0] : '0;
    ups_q   <= rst_ni ? ups[(Lengths-1)*UpWidth-1:0] : '0;
  end

  logic [Lengths-1:0] arrives, tells;
  for (genvar n = 0; n < Lengths; n++) begin : gen_link
    logic                 command_valid, buffer_valid, buffer_none, event_ack, tick, begins, ends, stalls;
    logic                 credit, waits, request, withdraw, profile_valid, sample_valid, busy;
    smk_pkg::sm_command_t command;
    smk_pkg::buffer_t     buffer;
    smk_pkg::kernel_id_t  sample_kernel, request_kernel;
    logic [smk_pkg::EventWidth-1:0] reported;
    smk_pkg::issued_vec_t profile;
    logic [smk_pkg::SampleWidth-1:0] issued, stalled;
    smk_sm_link #(.Stages(n)) u_dut (
      .clk_i, .rst_ni,
      .driver_command_valid_i(command_valid_i),
      .driver_command_i(command_i),
      .driver_buffer_valid_i(buffer_valid_i),
      .driver_buffer_i(buffer_i),
      .driver_buffer_none_i(buffer_none_i),
      .driver_event_ack_i(event_ack_i),
      .driver_tick_i(tick_i),
      .driver_sample_begin_i(sample_begin_i),
      .driver_sample_end_i(sample_end_i),
      .driver_sample_kernel_i(sample_kernel_i),
      .driver_sample_stalls_i(sample_stalls_i),
      .driver_command_credit_o(credit),
      .driver_command_waits_o(waits),
      .driver_event_o(reported),
      .driver_buffer_request_o(request),
      .driver_buffer_kernel_o(request_kernel),
      .driver_buffer_withdraw_o(withdraw),
      .driver_profile_valid_o(profile_valid),
      .driver_profile_issued_o(profile),
      .driver_sample_valid_o(sample_valid),
      .driver_sample_issued_o(issued),
      .driver_sample_stalled_o(stalled),
      .sm_command_valid_o(command_valid),
      .sm_command_o(command),
      .sm_buffer_valid_o(buffer_valid),
      .sm_buffer_o(buffer),
      .sm_buffer_none_o(buffer_none),
      .sm_event_ack_o(event_ack),
      .sm_tick_o(tick),
      .sm_sample_begin_o(begins),
      .sm_sample_end_o(ends),
      .sm_sample_kernel_o(sample_kernel),
      .sm_sample_stalls_o(stalls),
      .sm_command_credit_i(command_credit_i),
      .sm_command_waits_i(command_waits_i),
      .sm_event_i(event_i),
      .sm_buffer_request_i(buffer_request_i),
      .sm_buffer_kernel_i(buffer_kernel_i),
      .sm_buffer_withdraw_i(buffer_withdraw_i),
      .sm_profile_valid_i(profile_valid_i),
      .sm_profile_issued_i(profile_issued_i),
      .sm_sample_valid_i(sample_valid_i),
      .sm_sample_issued_i(sample_issued_i),
      .sm_sample_stalled_i(sample_stalled_i),
      .busy_o(busy)
    );
    logic [DownWidth-1:0] down_out;
    logic [UpWidth-1:0]   up_out;
    assign down_out = {command_valid, buffer_valid, buffer_none, event_ack, tick, begins, ends,
                       command & {CommandWidth{command_valid}}, buffer & {smk_pkg::BufferWidth{buffer_valid}},
                       {sample_kernel, stalls} & {(smk_pkg::KernelWidth + 1){begins}}};
    assign up_out   = {credit, waits, request, withdraw, profile_valid, sample_valid,
                       reported & {smk_pkg::EventWidth{reported[smk_pkg::EventWidth-1]}},
                       request_kernel & {smk_pkg::KernelWidth{request}},
                       profile & {IssuedWidth{profile_valid}},
                       {issued, stalled} & {(2 * smk_pkg::SampleWidth){sample_valid}}};
    assign arrives[n] = down_out == downs[n*DownWidth +: DownWidth] && up_out == ups[n*UpWidth +: UpWidth];
    // On its way are those of the last n cycles; pulses are the highest bits, but for those of an event.
    if (n == 0) begin : gen_wire
      assign tells[n] = !busy;
    end else begin : gen_stages
      assign tells[n] = busy == (downs_q[n*DownWidth-1:0] != '0 || ups_q[n*UpWidth-1:0] != '0);
    end
  end

  // With n stages all messages of n cycles ago arrive, with their payloads, and nothing else.
  `PROVE(ArrivesInOrder_A, arrives == '1)
  // It is busy exactly while one is on its way.
  `PROVE(BusyIsOnItsWay_A, tells == '1)
endmodule
