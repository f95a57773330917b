// SPDX-License-Identifier: Apache-2.0
// For proofs about what the TBs of an SM take.
`ifndef SMK_FORMAL_SUMS_SVH
`define SMK_FORMAL_SUMS_SVH

// Adds what a TB that comes needs, and takes what one that goes did.
module formal_sum (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      comes_i,
  input  smk_pkg::tb_need_t         come_need_i,
  input  logic                      goes_i,
  input  smk_pkg::tb_need_t         go_need_i,
  output smk_pkg::resource_vector_t sum_o
);
  smk_pkg::resource_vector_t sum_q;
  smk_pkg::tb_need_t         come, go;
  assign come = come_need_i & {smk_pkg::NeedWidth{comes_i}};
  assign go   = go_need_i & {smk_pkg::NeedWidth{goes_i}};
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      sum_q <= '0;
    end else begin
      sum_q.registers <= sum_q.registers + come.registers - go.registers;
      sum_q.shared_memory <= sum_q.shared_memory + come.shared_memory - go.shared_memory;
      sum_q.threads <= sum_q.threads + come.threads - go.threads;
      sum_q.tbs <= sum_q.tbs + smk_pkg::TbCntWidth'(comes_i) - smk_pkg::TbCntWidth'(goes_i);
    end
  end
  assign sum_o = sum_q;
endmodule

// The largest of the four shares.
module formal_dominant (
  input  smk_pkg::resource_vector_t sum_i,
  output smk_pkg::share_t           share_o
);
  // Of one unit.
  localparam int unsigned RegistersShare    = smk_pkg::ShareWhole / smk_pkg::LimitRegisters;
  localparam int unsigned SharedMemoryShare = smk_pkg::ShareWhole / smk_pkg::LimitSharedMemory;
  localparam int unsigned ThreadsShare      = smk_pkg::ShareWhole / smk_pkg::LimitThreads;
  localparam int unsigned TbsShare          = smk_pkg::ShareWhole / smk_pkg::LimitTbs;
  logic [31:0] registers, shared_memory, threads, tbs, memories, slots;
  assign registers     = 32'(sum_i.registers) * RegistersShare;
  assign shared_memory = 32'(sum_i.shared_memory) * SharedMemoryShare;
  assign threads       = 32'(sum_i.threads) * ThreadsShare;
  assign tbs           = 32'(sum_i.tbs) * TbsShare;
  assign memories      = registers > shared_memory ? registers : shared_memory;
  assign slots         = threads > tbs ? threads : tbs;
  assign share_o       = smk_pkg::ShareWidth'(memories > slots ? memories : slots);
endmodule
`endif
