// SPDX-License-Identifier: Apache-2.0
// smk_tbs_alone: how many TBs of a kernel an SM of its own holds.
//
// Purpose     One more TB per cycle, until the next does not fit in one of the four resources.
// Paper       [Warped-Slicer] Sec. IV-A: a kernel is sampled with 1 TB up to its maximum.
// Interface   kernel_i: one-hot, with what it needs a cycle earlier than it counts. begin_i: level;
//             counting begins in the cycle after it. done_o: the next TB does not fit.
// Latency     As many cycles as TBs, and one.
// Throughput  One kernel at a time.
// Reset       Zero.
// Model       model/control/driver/slicer_profiler.h   Doc  docs/blocks/slicer_profiler.md
module smk_tbs_alone (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  begin_i,
  input  smk_pkg::kernel_mask_t kernel_i,
  input  smk_pkg::need_vec_t    need_i,
  output smk_pkg::tb_cnt_t      tbs_o,
  output logic                  done_o
);
  localparam int unsigned RegisterCntWidth = smk_pkg::RegisterCntWidth;
  localparam int unsigned SharedCntWidth   = smk_pkg::SharedCntWidth;
  localparam int unsigned ThreadCntWidth   = smk_pkg::ThreadCntWidth;

  smk_pkg::tb_need_t         need_d, need_q;
  smk_pkg::resource_vector_t taken_q;
  always_comb begin
    need_d = '0;
    for (int unsigned k = 0; k < smk_pkg::NumKernels; k++) begin
      if (kernel_i[k]) need_d = need_d | need_i.kernel[k];
    end
  end
  logic [RegisterCntWidth:0] registers;
  logic [SharedCntWidth:0]   shared_memory;
  logic [ThreadCntWidth:0]   threads;
  assign registers     = {1'b0, taken_q.registers} + {1'b0, need_q.registers};
  assign shared_memory = {1'b0, taken_q.shared_memory} + {1'b0, need_q.shared_memory};
  assign threads       = {1'b0, taken_q.threads} + {1'b0, need_q.threads};
  assign done_o = (32'(registers) > smk_pkg::LimitRegisters) ||
                  (32'(shared_memory) > smk_pkg::LimitSharedMemory) ||
                  (32'(threads) > smk_pkg::LimitThreads) || (32'(taken_q.tbs) == smk_pkg::LimitTbs);
  assign tbs_o  = taken_q.tbs;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) need_q <= '0;
    else         need_q <= need_d;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)       taken_q <= '0;
    else if (begin_i)  taken_q <= '0;
    else if (!done_o)  taken_q <= {registers[RegisterCntWidth-1:0], shared_memory[SharedCntWidth-1:0],
                                   threads[ThreadCntWidth-1:0], taken_q.tbs + 1'b1};
  end
endmodule
