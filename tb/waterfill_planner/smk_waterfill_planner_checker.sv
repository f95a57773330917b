// SPDX-License-Identifier: Apache-2.0
// smk_waterfill_planner_checker: who rises, and partitions that are disjoint and whole.
`include "smk_assert.svh"

module smk_waterfill_planner_checker #(
  parameter int unsigned PerformanceWidth = 16
) (
  input logic                  clk_i,
  input logic                  rst_ni,
  input logic                  start_i,
  input smk_pkg::need_vec_t    need_i,
  input smk_pkg::order_vec_t   order_i,
  input logic                  raises,
  input logic                  busy_o,
  input logic                  done_o,
  input logic                  anywhere_o,
  input smk_pkg::kernel_mask_t at_q,
  input smk_pkg::kernel_mask_t kernels_q,
  input smk_pkg::kernel_mask_t full_q,
  input smk_pkg::tb_cnt_vec_t  tbs_q,
  input smk_pkg::resource_vector_t taken_q,
  input logic [smk_pkg::NumKernels*PerformanceWidth-1:0] level_q,
  input smk_pkg::range_vec_t   range_o
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  typedef struct packed {logic [NumKernels-1:0][PerformanceWidth-1:0] kernel;} levels_t;

  // Needs and the order of arrival are what they were at the start; else the plan is void.
  logic                void_q;
  smk_pkg::need_vec_t  need_q;
  smk_pkg::order_vec_t order_q;
  logic                changed;
  assign changed = {need_i, order_i} != {need_q, order_q};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) void_q <= 1'b0;
    else         void_q <= !start_i && (void_q || (busy_o && changed));
  end
  always_ff @(posedge clk_i) {need_q, order_q} <= {need_i, order_i};

  // The kernel that rises has the lowest level of all that may, and of equal ones the lowest id.
  levels_t level;
  logic    lowest;
  assign level = level_q;
  always_comb begin
    lowest = (at_q & kernels_q & ~full_q) != '0 && $onehot(at_q);
    for (int unsigned k = 0; k < NumKernels; k++) begin
      for (int unsigned j = 0; j < NumKernels; j++) begin
        if (at_q[k] && kernels_q[j] && !full_q[j] &&
            {level.kernel[j], 8'(j)} < {level.kernel[k], 8'(k)}) lowest = 1'b0;
      end
    end
  end
  `SMK_ASSERT(LowestRises_A, raises && !start_i |-> lowest)
  // When the plan is done nobody may rise.
  `SMK_ASSERT(NobodyMayRise_A, done_o |-> (kernels_q & ~full_q) == '0)

  // The end of one range is the beginning of the next, in all four resources.
  function automatic logic apart(input smk_pkg::partition_range_t a,
                                 input smk_pkg::partition_range_t b);
    apart = a.registers_limit <= b.registers_base && a.threads_limit <= b.threads_base &&
            a.shared_memory_limit <= b.shared_memory_base &&
            32'(a.tb_base) + 32'(a.tb_count) <= 32'(b.tb_base);
  endfunction
  function automatic logic inside_sm(input smk_pkg::partition_range_t a);
    inside_sm = a.registers_base <= a.registers_limit && a.threads_base <= a.threads_limit &&
                a.shared_memory_base <= a.shared_memory_limit &&
                32'(a.registers_limit) <= smk_pkg::LimitRegisters &&
                32'(a.shared_memory_limit) <= smk_pkg::LimitSharedMemory &&
                32'(a.threads_limit) <= smk_pkg::LimitThreads &&
                32'(a.tb_base) + 32'(a.tb_count) <= smk_pkg::LimitTbs;
  endfunction
  smk_pkg::partition_range_t range;  // within the loop
  logic [31:0]               tbs_planned, tbs_laid_out;
  always_comb begin
    tbs_planned  = '0;
    tbs_laid_out = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      range        = range_o.kernel[k];
      tbs_laid_out = tbs_laid_out + 32'(range.tb_count);
      if (kernels_q[k]) tbs_planned = tbs_planned + 32'(tbs_q.kernel[k]);
    end
  end
  for (genvar a = 0; a < NumKernels; a++) begin : gen_kernel
    // Isolation: partitions lie inside the SM, and a kernel outside the plan has none ...
    `SMK_ASSERT(RangesInside_A, done_o |-> inside_sm(range_o.kernel[a]) &&
                (kernels_q[a] || range_o.kernel[a] == '0))
    // ... those of different kernels have nothing in common ...
    for (genvar b = a + 1; b < NumKernels; b++) begin : gen_pair
      `SMK_ASSERT(RangesApart_A, done_o && kernels_q[a] && kernels_q[b] |->
                  apart(range_o.kernel[a], range_o.kernel[b]) ||
                  apart(range_o.kernel[b], range_o.kernel[a]))
    end
    // ... and if one TB of each fits, each has one.
    `SMK_ASSERT(EachHasOne_A, done_o && anywhere_o && kernels_q[a] |-> tbs_q.kernel[a] != '0)
  end
  // Conservation: the TBs planned are those that were taken, and those of the ranges.
  `SMK_ASSERT(TbsConserved_A, done_o && !void_q |-> tbs_planned == 32'(taken_q.tbs) &&
              tbs_planned == tbs_laid_out)
endmodule

bind smk_waterfill_planner smk_waterfill_planner_checker #(
  .PerformanceWidth(PerformanceWidth)
) u_checker (.*);
