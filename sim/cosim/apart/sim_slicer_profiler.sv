// SPDX-License-Identifier: Apache-2.0
// sim_slicer_profiler: smk_slicer_profiler with one port for all that it hears and one for all that it says, for
// simulation only. See sim_driver.
`include "sim_apart.svh"

// verilator tracing_off
module sim_slicer_profiler (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  sim_profiler_hears_t hears_i,
  output sim_profiler_says_t  says_o,
  // Some of it is a pulse. Not idle.
  output logic                pulse_o,
  output logic                busy_o
);
  logic                unused_priority_valid;
  smk_pkg::kernel_id_t unused_priority_kernel;
  assign pulse_o = says_o.give_valid || says_o.sample_valid || says_o.plan;
  // verilator tracing_on
  smk_slicer_profiler #(
    .SampleWidth(smk_pkg::SampleWidth)
  ) u_slicer_profiler (
    .clk_i,
    .rst_ni,
    .start_i             (hears_i.start),
    .kernels_i           (hears_i.kernels),
    .stop_i              (hears_i.stop),
    .settled_i           (hears_i.settled),
    .able_i              (hears_i.able),
    .warmup_i            (hears_i.warmup),
    .settle_i            (hears_i.settle),
    .window_i            (hears_i.window),
    .delay_i             (hears_i.delay),
    .change_i            (hears_i.change),
    .sustain_i           (hears_i.sustain),
    .need_i              (hears_i.need),
    .count_sm_o          (says_o.count_sm),
    .issued_i            (hears_i.issued),
    .stalled_i           (hears_i.stalled),
    .window_o            (says_o.window),
    .give_valid_o        (says_o.give_valid),
    .give_sm_o           (says_o.give_sm),
    .give_kernel_o       (says_o.give_kernel),
    .give_tbs_o          (says_o.give_tbs),
    .sample_valid_o      (says_o.sample_valid),
    .sample_kernel_o     (says_o.sample_kernel),
    .sample_tbs_o        (says_o.sample_tbs),
    .sample_performance_o(says_o.sample_performance),
    .plan_o              (says_o.plan),
    .kernels_o           (says_o.kernels),
    .planned_i           (hears_i.planned),
    .profiling_o         (says_o.profiling),
    .busy_o,
    .priority_valid_o    (unused_priority_valid),
    .priority_kernel_o   (unused_priority_kernel)
  );
endmodule
