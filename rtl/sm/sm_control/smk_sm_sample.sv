// SPDX-License-Identifier: Apache-2.0
// smk_sm_sample: the window in which an SM samples a kernel; part of smk_sm_control.
//
// Purpose     Keeps which kernel is sampled, and whether its stalls are, for smk_sample_counters, and
//             reports the counts when they are all there.
// Paper       [Warped-Slicer] Sec. IV-A. Deviation [D32].
// Interface   begin_i, end_i: pulses (S5), in turn; kernel_i and stalls_i count with begin_i. grant_*,
//             memory_i: of this cycle. samples_o: memory_i is looked at in the next cycle.
//             valid_o: pulse (S5), with issued_o and stalled_o.
// Latency     end_i to valid_o 3 cycles; samples_o 0.
// Throughput  One grant or stall per scheduler and cycle.
// Reset       No window.
// Model       model/control/sm/sm_control.h   Doc  docs/blocks/sm_control.md
// Without stalls, a window needs no cycle in which nobody is granted.
`include "smk_assert.svh"

module smk_sm_sample (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  // From the driver.
  input  logic                              begin_i,
  input  logic                              end_i,
  input  smk_pkg::kernel_id_t               kernel_i,
  input  logic                              stalls_i,
  // The schedulers; those on which a warp of each kernel waits for memory.
  input  logic [smk_pkg::NumSchedulers-1:0] grant_valid_i,
  input  smk_pkg::grant_kernels_t           grant_kernel_i,
  input  smk_pkg::kernel_schedulers_t       memory_i,
  output logic                              samples_o,
  // To the driver.
  output logic                              valid_o,
  output logic [smk_pkg::SampleWidth-1:0]   issued_o,
  output logic [smk_pkg::SampleWidth-1:0]   stalled_o,
  output logic                              busy_o
);
  localparam int unsigned NumSchedulers = smk_pkg::NumSchedulers;

  // The window; and the last cycle, if it was in the window.
  logic                     window_d, window_q, window_late_q, stalls_d, stalls_q;
  smk_pkg::kernel_id_t      kernel_q;
  logic [NumSchedulers-1:0] grant_valid_q, memory_q;
  smk_pkg::grant_kernels_t  grant_kernel_q;
  // Cycles since the window ended.
  logic [2:0]               ends_q;

  assign window_d = begin_i || (window_q && !end_i);
  assign stalls_d = begin_i ? stalls_i : stalls_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {window_q, window_late_q, stalls_q, kernel_q} <= '0;
      {grant_valid_q, memory_q, grant_kernel_q, ends_q} <= '0;
    end else begin
      window_q      <= window_d;
      window_late_q <= window_q;
      stalls_q      <= stalls_d;
      if (begin_i) kernel_q <= kernel_i;
      if (window_q) grant_kernel_q <= grant_kernel_i;
      grant_valid_q <= grant_valid_i & {NumSchedulers{window_q}};
      memory_q      <= memory_i.kernel[kernel_q] & {NumSchedulers{window_q && stalls_q}};
      ends_q        <= {ends_q[1:0], end_i};
    end
  end

  smk_sample_counters #(
    .SampleWidth(smk_pkg::SampleWidth)
  ) u_sample_counters (
    .clk_i, .rst_ni, .issued_o, .stalled_o,
    .grant_valid_i (grant_valid_q),
    .grant_kernel_i(grant_kernel_q),
    .memory_i      (memory_q),
    .kernel_i      (kernel_q),
    .window_i      (window_late_q)
  );

  assign samples_o = window_d && stalls_d;
  assign valid_o   = `SMK_CUT(SampleValid, ends_q[2]);
  assign busy_o    = (window_q && stalls_q) || ends_q != '0;

  // A window that begins has not begun before, and one that ends has.
  `SMK_ASSERT(BeginsOnce_M, begin_i |-> !window_q && !end_i && ends_q == '0)
  `SMK_ASSERT(EndsOnce_M, end_i |-> window_q)
  // What is reported is all of the window: its last cycle was two cycles before.
  `SMK_ASSERT(ReportIsWhole_A, valid_o |-> !window_late_q && !$past(window_late_q))
endmodule
