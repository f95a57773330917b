// SPDX-License-Identifier: Apache-2.0
// smk_partition_counters_checker: partitions in force are disjoint in every resource.
`include "smk_assert.svh"

module smk_partition_counters_checker (
  input logic                  clk_i,
  input logic                  rst_ni,
  input logic                  command_valid_i,
  input smk_pkg::kernel_id_t   command_kernel_i,
  input smk_pkg::partition_range_t command_range_i,
  input logic                  complete_q,
  input logic                  judging_o,
  input logic                  partitioned_q,
  input smk_pkg::kernel_mask_t valid_q,
  input logic [smk_pkg::NumKernels*smk_pkg::BasesWidth-1:0] bases_q,
  input smk_pkg::tb_cnt_vec_t  tbs_q,
  input smk_pkg::kernel_mask_t at_end_q,
  input smk_pkg::kernel_mask_t next_valid_q,
  input logic [smk_pkg::NumKernels*smk_pkg::BasesWidth-1:0] next_bases_q,
  input smk_pkg::tb_cnt_vec_t  next_tbs_q,
  input smk_pkg::kernel_mask_t next_at_end_q
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  localparam int unsigned BasesWidth = smk_pkg::BasesWidth;

  // The limits that came with the commands: the block has only where parts begin.
  typedef struct packed {logic [NumKernels-1:0][BasesWidth-1:0] kernel;} limits_vec_t;
  limits_vec_t next_limits_q, limits_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      next_limits_q <= '0;
      limits_q      <= '0;
    end else begin
      if (command_valid_i) begin
        next_limits_q.kernel[command_kernel_i] <= command_range_i[BasesWidth-1:0];
      end
      if (complete_q) limits_q <= next_limits_q;
    end
  end

  // [base, limit) and [other_base, other_limit) have nothing in common; an empty range has nothing.
  function automatic logic apart(input logic [15:0] base, input logic [15:0] limit,
                                 input logic [15:0] other_base, input logic [15:0] other_limit);
    apart = base >= limit || other_base >= other_limit || limit <= other_base ||
            other_limit <= base;
  endfunction
  function automatic logic disjoint(input smk_pkg::partition_range_t a,
                                    input smk_pkg::partition_range_t b);
    disjoint =
        apart(16'(a.registers_base), 16'(a.registers_limit),
              16'(b.registers_base), 16'(b.registers_limit)) &&
        apart(16'(a.shared_memory_base), 16'(a.shared_memory_limit),
              16'(b.shared_memory_base), 16'(b.shared_memory_limit)) &&
        apart(16'(a.threads_base), 16'(a.threads_limit),
              16'(b.threads_base), 16'(b.threads_limit)) &&
        apart(16'(a.tb_base), 16'(a.tb_base) + 16'(a.tb_count),
              16'(b.tb_base), 16'(b.tb_base) + 16'(b.tb_count));
  endfunction

  // Looked at once, in the cycle after a plan came into force.
  logic committed_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) committed_q <= 1'b0;
    else         committed_q <= complete_q;
  end
  for (genvar a = 1; a < NumKernels; a++) begin : gen_first
    for (genvar b = 0; b < a; b++) begin : gen_second
      smk_pkg::partition_range_t range_a, range_b;
      assign range_a = {bases_q[a*BasesWidth +: BasesWidth], limits_q.kernel[a]};
      assign range_b = {bases_q[b*BasesWidth +: BasesWidth], limits_q.kernel[b]};
      // Isolation: two kernels never own the same register, memory, warp slot or TB slot.
      always_ff @(posedge clk_i) begin
        if (rst_ni && committed_q && valid_q[a] && valid_q[b]) begin
          PartitionsDisjoint_A : assert (disjoint(range_a, range_b));
        end
      end
    end
  end
  // Nothing changes without a command.
  `SMK_ASSERT(IdleHolds_A, !command_valid_i && !judging_o |=>
              !judging_o && $stable({partitioned_q, valid_q, bases_q, tbs_q, at_end_q}) &&
              $stable({next_valid_q, next_bases_q, next_tbs_q, next_at_end_q}))
endmodule

bind smk_partition_counters smk_partition_counters_checker u_checker (.*);
