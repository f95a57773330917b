// SPDX-License-Identifier: Apache-2.0
// smk_sm_views: what an SM looks up of its kernels; part of smk_sm_tables.
//
// Purpose     Reads from the driver's registers where the contexts of a kernel lie, for the TB that
//             the engine moves, and what a TB needs, for the TB that is launched.
// Paper       [SMK] Fig. 3.
// Interface   Levels.
// Latency     launch_need_o, buffer_kernel_o and slot_buffer_o 1 cycle; view_o 1 cycle after the
//             kernel, but its base and lines 2.
// Throughput  One TB of each.
// Reset       All 0.
// Model       model/control/sm/sm_control.h   Doc  docs/blocks/sm_control.md
`include "smk_assert.svh"

module smk_sm_views (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  smk_pkg::context_views_t  views_i,
  input  smk_pkg::need_vec_t       needs_i,
  // The TB that is launched.
  input  logic                     launching_i,
  input  smk_pkg::kernel_id_t      launch_kernel_i,
  output smk_pkg::tb_need_t        launch_need_o,
  // The TB in the engine's slot, as the table has it.
  input  smk_pkg::kernel_id_t      context_kernel_i,
  input  smk_pkg::buffer_t         context_buffer_i,
  output smk_pkg::kernel_id_t      buffer_kernel_o,
  output smk_pkg::buffer_t         slot_buffer_o,
  output smk_pkg::context_view_t   view_o
);
  // Of the engine's slot and of the TB being launched, read from the table one cycle ago.
  // Base and lines, from the driver's registers, take one cycle more.
  smk_pkg::kernel_id_t    context_kernel_q;
  smk_pkg::address_t      context_base_q;
  smk_pkg::line_t         context_lines_q;
  smk_pkg::context_view_t context_view;
  smk_pkg::buffer_t       context_buffer_q;
  smk_pkg::tb_need_t      launch_need_q;
  assign context_view = views_i.kernel[context_kernel_q];
  always_comb begin
    view_o               = context_view;
    view_o.context_base  = context_base_q;
    view_o.context_lines = context_lines_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      context_kernel_q <= '0;
      context_base_q   <= '0;
      context_lines_q  <= '0;
      context_buffer_q <= '0;
      launch_need_q    <= '0;
    end else begin
      context_kernel_q <= context_kernel_i;
      context_base_q   <= context_view.context_base;
      context_lines_q  <= context_view.context_lines;
      context_buffer_q <= context_buffer_i;
      if (launching_i) launch_need_q <= needs_i.kernel[launch_kernel_i];
    end
  end

  assign launch_need_o   = launch_need_q;
  assign buffer_kernel_o = context_kernel_q;
  assign slot_buffer_o   = context_buffer_q;

  // The view is that of the kernel, two cycles after it was named first.
  `SMK_ASSERT(ViewIsOfItsKernel_A, context_kernel_i == context_kernel_q
              |=> !$stable(views_i) || view_o == context_view)
endmodule
