// SPDX-License-Identifier: Apache-2.0
// smk_driver_checker: TBs between the driver's blocks: each is dispatched once and comes back once.
`include "smk_assert.svh"

module smk_driver_checker (
  input logic                          clk_i,
  input logic                          rst_ni,
  input logic                          launch_fire,
  input logic [smk_pkg::KernelWidth:0] launch_kernel_i,
  input smk_pkg::kernel_descriptor_t   launch_i,
  input logic                          tick_i,
  input logic                          tick_o,
  input smk_pkg::sm_mask_t             event_valid,
  input smk_pkg::sm_mask_t             event_finished,
  input smk_pkg::sm_mask_t             event_to_queue,
  input smk_pkg::sm_events_t           sm_events_i,
  input smk_pkg::sm_mask_t             sm_command_credit_i,
  input smk_pkg::sm_mask_t             sm_command_waits_i,
  input smk_pkg::sm_mask_t             sm_buffer_request_i,
  input smk_pkg::sm_mask_t             sm_buffer_withdraw_i,
  input smk_pkg::sm_mask_t             sm_profile_valid_i,
  input smk_pkg::dispatch_pulses_t     pulses,
  input smk_pkg::kernel_mask_t         stream_new,
  input logic                          stream_valid,
  input smk_pkg::sm_command_t          stream_command,
  input logic                          dispatch_command_valid,
  input smk_pkg::sm_command_t          dispatch_command,
  input logic                          quota_command_valid,
  input smk_pkg::sm_mask_t             command_valid_o,
  input smk_pkg::kernel_mask_t         kernel_done_o,
  input smk_pkg::kernel_mask_t         active,
  input smk_pkg::kernel_mask_t         members,
  input smk_pkg::need_vec_t            need,
  input smk_pkg::tb_id_vec_t           remaining,
  input smk_pkg::buffer_cnt_vec_t      queue_count,
  input smk_pkg::buffer_cnt_vec_t      queue_free,
  input smk_pkg::sm_kernels_t          allowed,
  input smk_pkg::sm_kernels_t          planned,
  input smk_pkg::sm_tb_cnts_t          partition_o,
  input smk_pkg::total_share_vec_t     share_o,
  input logic                          awake_o
);
  localparam int unsigned NumSms     = smk_pkg::NumSms;
  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  localparam int unsigned MostTbs    = NumSms * smk_pkg::LimitTbs;
  // Wide enough that a count below zero is more than all SMs hold.
  localparam int unsigned CountWidth = $clog2(MostTbs + 1) + 1;

  // TBs that leave their SM: saved and flushed ones, but not free buffers.
  smk_pkg::sm_mask_t      left;
  smk_pkg::sm_kernel_id_t event_kernel;
  for (genvar sm = 0; sm < NumSms; sm++) begin : gen_left
    smk_pkg::sm_event_t sm_event;
    assign sm_event = sm_events_i.sm[sm];
    assign event_kernel.sm[sm] = sm_event.kernel;
    assign left[sm] = event_finished[sm] ||
                      (event_to_queue[sm] && sm_event.kind != smk_pkg::EventBufferFree);
  end

  typedef struct packed {logic [NumKernels-1:0][CountWidth-1:0] kernel;} out_vec_t;
  out_vec_t            out_q;
  smk_pkg::tb_id_vec_t new_q;
  smk_pkg::kernel_id_t launched;
  // The TB that streams is a new one.
  logic                stream_new_q;
  assign launched = launch_kernel_i[smk_pkg::KernelWidth-1:0];
  // TBs on the SMs or on their way there, and the index of the next new TB, from the launch's first on.
  always_ff @(posedge clk_i or negedge rst_ni) begin : count_tbs
    if (!rst_ni) begin
      out_q        <= '0;
      new_q        <= '0;
      stream_new_q <= 1'b0;
    end else begin
      stream_new_q <= stream_new != '0;
      if (pulses.dispatch || stream_valid || left != '0) begin
        out_vec_t out;
        out = out_q;
        if (pulses.dispatch) begin
          out.kernel[pulses.kernel] = out.kernel[pulses.kernel] + CountWidth'(1);
        end
        if (stream_valid) begin
          out.kernel[stream_command.kernel] = out.kernel[stream_command.kernel] + CountWidth'(1);
        end
        for (int unsigned sm = 0; sm < NumSms; sm++) begin
          if (left[sm]) begin
            out.kernel[event_kernel.sm[sm]] = out.kernel[event_kernel.sm[sm]] - CountWidth'(1);
          end
        end
        out_q <= out;
      end
      if (pulses.dispatch_new) begin
        new_q.kernel[pulses.kernel] <= new_q.kernel[pulses.kernel] + smk_pkg::TbIdWidth'(1);
      end
      if (stream_new_q) begin
        new_q.kernel[stream_command.kernel] <= new_q.kernel[stream_command.kernel] + smk_pkg::TbIdWidth'(1);
      end
      if (launch_fire) new_q.kernel[launched] <= launch_i.first_tb;
    end
  end

  // A TB is dispatched as new once: in the order of their numbers, none left out.
  `SMK_ASSERT(TbDispatchedOnce_A, pulses.dispatch_new |->
              dispatch_command.tb == new_q.kernel[pulses.kernel])
  `SMK_ASSERT(StreamedOnce_A, stream_new_q |-> stream_command.tb == new_q.kernel[stream_command.kernel])
  for (genvar k = 0; k < NumKernels; k++) begin : gen_kernel
    // Conservation: no TB comes back that was not dispatched, or twice.
    `SMK_ASSERT(TbRetiredOnce_A, 32'(out_q.kernel[k]) <= MostTbs)
    // When a kernel is done, none of its TBs is anywhere.
    `SMK_ASSERT(DoneTbsAreBack_A, kernel_done_o[k] |-> out_q.kernel[k] == '0 &&
                queue_count.kernel[k] == '0 && remaining.kernel[k] == '0)
  end
  // The bus sends a command only when one is there.
  `SMK_ASSERT(CommandOffered_A, command_valid_o == '0 ||
              dispatch_command_valid || stream_valid || quota_command_valid)
  // The tick goes to the SMs (S5).
  `SMK_ASSERT(TickIsTaken_A, 1'b1 |=> tick_o == $past(tick_i))
  // Nothing changes in an idle cycle. In the co-simulation some blocks are apart: then what one of them says is
  // like an input.
`ifdef SIM_APART
  logic [$bits(sim_arbiter_says_t)+$bits(sim_profiler_says_t)-1:0] apart;
  assign apart = {u_token_arbiter.says, u_slicer.u_slicer_profiler.says};
`else
  logic apart;
  assign apart = 1'b0;
`endif
  `SMK_ASSERT(IdleHolds_A, !awake_o && !launch_fire && !tick_i && event_valid == '0 &&
              (sm_command_credit_i | sm_command_waits_i | sm_buffer_request_i | sm_buffer_withdraw_i) == '0 && sm_profile_valid_i == '0 |=>
              !$stable(apart) ||
              (!awake_o && $stable({active, members, need, remaining, queue_count, queue_free, allowed,
                                    planned, partition_o, share_o})))
endmodule

bind smk_driver smk_driver_checker u_checker (.*);
