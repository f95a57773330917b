// SPDX-License-Identifier: Apache-2.0
// smk_preempted_queue_checker: context buffers in use are disjoint.
//
// Purpose     Its own map of the buffers of every kernel: in use from the grant until the buffer
//             comes back, which is when the context has been loaded, when it was not needed, or
//             when a flushed TB is dispatched again.
// verilator tracing_off
`include "smk_assert.svh"

module smk_preempted_queue_checker (
  input logic                   clk_i,
  input logic                   rst_ni,
  input smk_pkg::sm_kernel_id_t asked_kernel,
  input smk_pkg::sm_mask_t      grant_d,
  input smk_pkg::buffer_t       grant_buffer_d,
  // A buffer of these kernels comes back by itself, or with a TB that was popped.
  input smk_pkg::kernel_mask_t  push_buffer,
  input smk_pkg::buffer_t       pushed_buffer,
  input smk_pkg::kernel_mask_t  put_popped,
  input smk_pkg::buffer_t       popped_buffer
);
  localparam int unsigned Depth = smk_pkg::PreemptedDepth;

  smk_pkg::kernel_id_t grant_kernel;
  always_comb begin
    grant_kernel = '0;
    for (int unsigned sm = 0; sm < smk_pkg::NumSms; sm++) begin
      if (grant_d[sm]) grant_kernel = asked_kernel.sm[sm];
    end
  end

  for (genvar k = 0; k < smk_pkg::NumKernels; k++) begin : gen_kernel
    logic [Depth-1:0] in_use_q;
    logic grant, granted_in_use, pushed_in_use, popped_in_use;
    assign granted_in_use = in_use_q[grant_buffer_d];
    assign pushed_in_use  = in_use_q[pushed_buffer];
    assign popped_in_use  = in_use_q[popped_buffer];
    assign grant = grant_d != '0 && grant_kernel == smk_pkg::KernelWidth'(k);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        in_use_q <= '0;
      end else begin
        if (push_buffer[k]) in_use_q[pushed_buffer] <= 1'b0;
        if (put_popped[k])  in_use_q[popped_buffer] <= 1'b0;
        if (grant)          in_use_q[grant_buffer_d] <= 1'b1;
      end
    end
    // A buffer is granted to one TB at a time.
    `SMK_ASSERT(BuffersDisjoint_A, grant |-> !granted_in_use)
    // A buffer comes back once.
    `SMK_ASSERT(BufferBackOnce_A, (!push_buffer[k] || pushed_in_use) &&
                (!put_popped[k] || popped_in_use))
  end
endmodule

bind smk_preempted_queue smk_preempted_queue_checker u_checker (
  .*, .pushed_buffer(push_entry[BufferWidth:1]), .put_popped(put_popped_q), .popped_buffer(put_buffer_q));
