// SPDX-License-Identifier: Apache-2.0
// For proofs of smk_tb_dispatch: what smk_drf_tracker answers of an SM. What is taken there, and
// the TBs of each kernel, follow a TB that comes, and with an event become anything.
`ifndef SMK_FORMAL_TRACKER_SVH
`define SMK_FORMAL_TRACKER_SVH

module formal_tracker_sm (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      comes_i,
  input  smk_pkg::kernel_id_t       kernel_i,
  input  smk_pkg::need_vec_t        need_i,
  input  logic                      event_i,
  input  smk_pkg::resource_vector_t new_taken_i,
  input  smk_pkg::tb_cnt_vec_t      new_tbs_i,
  output smk_pkg::resource_vector_t taken_o,
  output smk_pkg::tb_cnt_vec_t      tbs_o,
  // One TB more of each kernel finds room.
  output smk_pkg::kernel_mask_t     fits_o
);
  smk_pkg::resource_vector_t taken_d, taken_q;
  smk_pkg::tb_cnt_vec_t      tbs_d, tbs_q;
  smk_pkg::tb_need_t         its_need, need;
  smk_pkg::tb_cnt_t          its_tbs;

  function automatic logic [15:0] at_most(input logic [15:0] amount, input int unsigned limit);
    at_most = (32'(amount) > limit) ? 16'(limit) : amount;
  endfunction
  assign its_need = need_i.kernel[kernel_i];
  assign its_tbs  = tbs_q.kernel[kernel_i];
  always_comb begin
    taken_d = taken_q;
    tbs_d   = tbs_q;
    if (comes_i) begin
      taken_d.registers = smk_pkg::RegisterCntWidth'(at_most(
          16'(taken_q.registers) + 16'(its_need.registers), smk_pkg::LimitRegisters));
      taken_d.shared_memory = smk_pkg::SharedCntWidth'(at_most(
          16'(taken_q.shared_memory) + 16'(its_need.shared_memory), smk_pkg::LimitSharedMemory));
      taken_d.threads = smk_pkg::ThreadCntWidth'(at_most(
          16'(taken_q.threads) + 16'(its_need.threads), smk_pkg::LimitThreads));
      taken_d.tbs = smk_pkg::TbCntWidth'(at_most(16'(taken_q.tbs) + 16'd1, smk_pkg::LimitTbs));
      tbs_d.kernel[kernel_i] = smk_pkg::TbCntWidth'(at_most(
          16'(its_tbs) + 16'd1, 2 ** smk_pkg::TbCntWidth - 1));
    end
    if (event_i) begin
      taken_d = new_taken_i;
      tbs_d   = new_tbs_i;
    end
  end
  always_ff @(posedge clk_i) begin
    taken_q <= rst_ni ? taken_d : '0;
    tbs_q   <= rst_ni ? tbs_d : '0;
  end
  assign taken_o = taken_q;
  assign tbs_o   = tbs_q;

  always_comb begin
    for (int unsigned k = 0; k < smk_pkg::NumKernels; k++) begin
      need      = need_i.kernel[k];
      fits_o[k] = 32'(taken_q.registers) + 32'(need.registers) <= smk_pkg::LimitRegisters &&
                  32'(taken_q.shared_memory) + 32'(need.shared_memory) <=
                      smk_pkg::LimitSharedMemory &&
                  32'(taken_q.threads) + 32'(need.threads) <= smk_pkg::LimitThreads &&
                  32'(taken_q.tbs) < smk_pkg::LimitTbs;
    end
  end
endmodule
`endif
