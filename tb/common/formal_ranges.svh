// SPDX-License-Identifier: Apache-2.0
// For proofs about partitions.
`ifndef SMK_FORMAL_RANGES_SVH
`define SMK_FORMAL_RANGES_SVH

// Two ranges have no register, shared memory, warp slot or TB slot in common.
module formal_ranges_apart (
  input  smk_pkg::partition_range_t a_i,
  input  smk_pkg::partition_range_t b_i,
  output logic                      apart_o
);
  assign apart_o =
      (a_i.registers_limit <= b_i.registers_base || b_i.registers_limit <= a_i.registers_base) &&
      (a_i.shared_memory_limit <= b_i.shared_memory_base ||
       b_i.shared_memory_limit <= a_i.shared_memory_base) &&
      (a_i.threads_limit <= b_i.threads_base || b_i.threads_limit <= a_i.threads_base) &&
      (8'(a_i.tb_base) + 8'(a_i.tb_count) <= 8'(b_i.tb_base) ||
       8'(b_i.tb_base) + 8'(b_i.tb_count) <= 8'(a_i.tb_base));
endmodule

// A range lies inside the SM and is as large as its TBs, which need so much each, together.
module formal_range_fits (
  input  smk_pkg::partition_range_t range_i,
  input  smk_pkg::tb_need_t         need_i,
  output logic                      fits_o
);
  // None of the products of a configuration of proofs is above 2^10.
  logic [10:0] registers, shared_memory, threads;
  assign registers     = 11'(range_i.tb_count) * 11'(need_i.registers);
  assign shared_memory = 11'(range_i.tb_count) * 11'(need_i.shared_memory);
  assign threads       = 11'(range_i.tb_count) * 11'(need_i.threads);
  assign fits_o =
      32'(range_i.registers_limit) <= smk_pkg::LimitRegisters &&
      11'(range_i.registers_limit) == 11'(range_i.registers_base) + registers &&
      32'(range_i.shared_memory_limit) <= smk_pkg::LimitSharedMemory &&
      11'(range_i.shared_memory_limit) == 11'(range_i.shared_memory_base) + shared_memory &&
      32'(range_i.threads_limit) <= smk_pkg::LimitThreads &&
      11'(range_i.threads_limit) == 11'(range_i.threads_base) + threads &&
      32'(range_i.tb_base) + 32'(range_i.tb_count) <= smk_pkg::LimitTbs;
endmodule
`endif
