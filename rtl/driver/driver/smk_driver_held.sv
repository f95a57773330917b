// SPDX-License-Identifier: Apache-2.0
// smk_driver_held: which kernels wait for older ones; part of smk_driver.
//
// Purpose     Left-over as its second description has it: a kernel gets no TB while an older one has
//             TBs to dispatch, new or preempted, and an SM that may host it.
// Paper       [Warped-Slicer] Sec. V-A; deviation [D14].
// Interface   enable_i: constant. All else: levels.
// Latency     0 cycles; an SM counts 1 cycle after it may host the kernel.
// Throughput  Everything in every cycle.
// Reset       No kernel has an SM.
// Model       model/control/driver/driver.h (Held)   Doc  docs/blocks/driver.md
// The oldest kernel with TBs to dispatch and an SM is never held: there is always one that goes on.
`include "smk_assert.svh"

module smk_driver_held (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  enable_i,
  input  smk_pkg::order_vec_t   order_i,
  // Kernels with TBs to dispatch, new or preempted.
  input  smk_pkg::kernel_mask_t able_i,
  input  smk_pkg::sm_kernels_t  allowed_i,
  output smk_pkg::kernel_mask_t held_o
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;

  // Who may run where is known late.
  smk_pkg::kernel_mask_t hosted_d, hosted_q, goes;
  always_comb begin
    hosted_d = '0;
    for (int unsigned s = 0; s < smk_pkg::NumSms; s++) hosted_d = hosted_d | allowed_i.sm[s];
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) hosted_q <= '0;
    else         hosted_q <= hosted_d;
  end
  for (genvar k = 0; k < NumKernels; k++) begin : gen_kernel
    assign goes[k] = enable_i && hosted_q[k] && able_i[k];
    smk_pkg::kernel_mask_t older;
    for (genvar j = 0; j < NumKernels; j++) begin : gen_other
      assign older[j] = order_i.kernel[j] < order_i.kernel[k];
    end
    assign held_o[k] = `SMK_CUT(Older, older & goes) != '0;
  end

  // Idle: it is that of the SMs.
  `SMK_ASSERT(IdleKeepsState_A, hosted_d == hosted_q |=> $stable(hosted_q))
endmodule
