// SPDX-License-Identifier: Apache-2.0
// smk_performance_table: performance of each kernel with 1, 2, ... TBs on an SM.
//
// Purpose     One sample per kernel and number of TBs, in flip-flops.
// Paper       [Warped-Slicer] Algorithm 1: the vectors P.
// Interface   sample_*: pulse, writes. read_*: any one sample, in the same cycle.
// Latency     A sample is read from the cycle after it was written.
// Throughput  One write and one read per cycle.
// Reset       None: a sample counts from its first write on.
// Model       model/control/driver/waterfill_planner.h   Doc  docs/blocks/waterfill_planner.md
// The sample of n TBs has place n - 1.
`include "smk_assert.svh"

module smk_performance_table #(
  parameter int unsigned PerformanceWidth = 16
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  sample_valid_i,
  input  smk_pkg::kernel_id_t   sample_kernel_i,
  input  smk_pkg::tb_cnt_t      sample_tbs_i,
  input  logic [PerformanceWidth-1:0] sample_performance_i,
  // One-hot.
  input  smk_pkg::kernel_mask_t read_kernel_i,
  input  smk_pkg::tb_slot_t     read_slot_i,
  output logic [PerformanceWidth-1:0] read_performance_o
);
  localparam int unsigned NumKernels       = smk_pkg::NumKernels;
  localparam int unsigned SlotWidth        = smk_pkg::SlotWidth;
  localparam int unsigned Samples          = 1 << SlotWidth;

  typedef struct packed {logic [NumKernels-1:0][PerformanceWidth-1:0] kernel;} words_t;

  smk_pkg::tb_slot_t write_slot;
  words_t            words;
  assign write_slot = SlotWidth'(sample_tbs_i - 1'b1);
  for (genvar k = 0; k < NumKernels; k++) begin : gen_kernel
    logic [PerformanceWidth-1:0] samples_q[Samples];
    always_ff @(posedge clk_i) begin
      if (sample_valid_i && 32'(sample_kernel_i) == k) begin
        samples_q[write_slot] <= sample_performance_i;
      end
    end
    assign words.kernel[k] = samples_q[read_slot_i];
  end
  always_comb begin
    read_performance_o = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (read_kernel_i[k]) read_performance_o = read_performance_o | words.kernel[k];
    end
  end

  // A sample is of a number of TBs that an SM may have.
  `SMK_ASSERT(SampleOfAnSm_M, sample_valid_i |->
              sample_tbs_i != '0 && 32'(sample_tbs_i) <= smk_pkg::LimitTbs &&
              32'(sample_kernel_i) < NumKernels)
  // The one of all TBs is really written in our tests.
  `SMK_COVER(SampleOfAll_C, sample_valid_i && 32'(sample_tbs_i) == smk_pkg::LimitTbs)
endmodule
