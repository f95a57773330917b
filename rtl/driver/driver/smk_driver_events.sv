// SPDX-License-Identifier: Apache-2.0
// smk_driver_events: what the SMs report, by kind; part of smk_driver.
//
// Purpose     Gathers the events of all SMs into one mask per kind, for the blocks that hear of it.
// Paper       [SMK] Sec. 5.1, Fig. 3.
// Interface   sm_events_i: registers of the SMs, pulses (S5). All others: pulses, one bit per SM.
// Latency     0 cycles; finished_late_o and its kernels 1, for the kernel table.
// Throughput  One event per SM and cycle.
// Reset       No TB has finished.
// Model       model/control/driver/driver.h   Doc  docs/blocks/driver.md
`include "smk_assert.svh"

module smk_driver_events (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  smk_pkg::sm_events_t    sm_events_i,
  output smk_pkg::sm_mask_t      valid_o,
  output smk_pkg::sm_mask_t      settled_o,
  output smk_pkg::sm_mask_t      finished_o,
  // TBs that were saved or flushed, and buffers that are free.
  output smk_pkg::sm_mask_t      to_queue_o,
  // TBs that finished one cycle ago, and their kernels.
  output smk_pkg::sm_mask_t      finished_late_o,
  output smk_pkg::sm_kernel_id_t finished_kernel_o
);
  localparam int unsigned NumSms      = smk_pkg::NumSms;
  localparam int unsigned KernelWidth = smk_pkg::KernelWidth;

  smk_pkg::sm_mask_t      event_finished, finished_q;
  smk_pkg::sm_kernel_id_t event_kernel, finished_kernel_q;
  for (genvar i = 0; i < NumSms; i++) begin : gen_event
    logic                 valid;
    smk_pkg::event_kind_e kind;
    smk_pkg::kernel_id_t  kernel;
    logic [smk_pkg::EventWidth-4-KernelWidth-1:0] unused_rest;
    assign {valid, kind, kernel, unused_rest} = sm_events_i.sm[i];
    assign valid_o[i]         = valid;
    assign settled_o[i]       = valid && kind == smk_pkg::EventSettled;
    assign event_finished[i]  = valid && `SMK_CUT(IsFinished, kind == smk_pkg::EventFinished);
    assign to_queue_o[i]      = valid && (kind == smk_pkg::EventSaved ||
                                          kind == smk_pkg::EventFlushed ||
                                          kind == smk_pkg::EventBufferFree);
    assign event_kernel.sm[i] = kernel;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) finished_q <= '0;
    else         finished_q <= event_finished;
  end
  // Counts only with finished_q; not reset.
  always_ff @(posedge clk_i) finished_kernel_q <= event_kernel;

  assign finished_o        = event_finished;
  assign finished_late_o   = finished_q;
  assign finished_kernel_o = finished_kernel_q;

  // Every event has somebody who takes it.
  `SMK_ASSERT(EventIsHeard_A, (settled_o | finished_o | to_queue_o) == valid_o)
  // The kernel table hears of every TB that finishes, one cycle later (S5).
  `SMK_ASSERT(FinishIsTold_A, 1'b1 |=> finished_late_o == $past(finished_o))
endmodule
