// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_sm_usage, from its ports alone: TBs come and go in any order, of kernels whose need
// changes only while they have none here. What they take is counted here by adding and subtracting,
// proved to be the sum of TBs times need, and the shares are those of these sums.
`include "formal.svh"
`include "formal_sums.svh"

module formal_sm_usage (
  input logic                  clk_i,
  input smk_pkg::need_vec_t    need_i,
  input logic                  arrive_valid_i,
  input smk_pkg::kernel_id_t   arrive_kernel_i,
  input logic                  leave_valid_i,
  input smk_pkg::kernel_id_t   leave_kernel_i,
  input smk_pkg::kernel_id_t   exclude_i
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  localparam int unsigned NumSums    = NumKernels + 1;
  localparam int unsigned TbCntWidth = smk_pkg::TbCntWidth;

  `FORMAL_RESET
  smk_pkg::tb_cnt_vec_t      resident;
  smk_pkg::kernel_mask_t     some;
  smk_pkg::resource_vector_t taken;
  smk_pkg::share_t           share, others_share;
  smk_sm_usage u_dut (
    .clk_i, .rst_ni, .need_i, .arrive_valid_i, .leave_valid_i, .leave_kernel_i, .exclude_i,
    .arrive_kernel_i(smk_pkg::NumKernels'(1) << arrive_kernel_i),
    .arrive_need_i  (need_i.kernel[arrive_kernel_i]),
    .resident_o     (resident),
    .some_o         (some),
    .taken_o        (taken),
    .share_o        (share),
    .others_share_o (others_share)
  );

  // TBs of each kernel.
  logic [NumKernels-1:0] arrives, leaves, here, stable;
  smk_pkg::tb_cnt_vec_t  tbs_q;
  smk_pkg::need_vec_t    need_q;
  assign arrives = NumKernels'(arrive_valid_i) << arrive_kernel_i;
  assign leaves  = NumKernels'(leave_valid_i) << leave_kernel_i;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_kernel
    assign here[k] = tbs_q.kernel[k] != '0;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) tbs_q.kernel[k] <= '0;
      else tbs_q.kernel[k] <= tbs_q.kernel[k] + TbCntWidth'(arrives[k]) - TbCntWidth'(leaves[k]);
    end
    assign stable[k] = need_i.kernel[k] == need_q.kernel[k];
  end
  `ASSUME(NeedIsStable_M, (here & ~stable) == '0)
  `ASSUME(LeaverIsResident_M, (leaves & ~here) == '0)
  `PROVE(TbsAreCounted_A, resident == tbs_q && some == here)
  always_ff @(posedge clk_i) need_q <= need_i;

  // What all TBs but those of kernel n take, and for the last n what all take; it and its dominant
  // share of the cycle before.
  typedef struct packed {logic [NumSums-1:0][smk_pkg::ShareWidth-1:0] without;} shares_t;
  shares_t                   dominant_q;
  logic [NumSums-1:0]        exact;
  smk_pkg::tb_need_t         arrive_need, leave_need;
  smk_pkg::resource_vector_t all;
  assign arrive_need = need_i.kernel[arrive_kernel_i];
  assign leave_need  = need_i.kernel[leave_kernel_i];
  for (genvar n = 0; n < NumSums; n++) begin : gen_sum
    smk_pkg::resource_vector_t sum;
    formal_sum u_sum (
      .clk_i, .rst_ni,
      .comes_i(arrive_valid_i && 32'(arrive_kernel_i) != n), .come_need_i(arrive_need),
      .goes_i (leave_valid_i && 32'(leave_kernel_i) != n), .go_need_i(leave_need), .sum_o(sum)
    );
    formal_is_product #(.Without(n)) u_product (
      .sum_i(sum), .tbs_i(tbs_q), .need_i(need_q), .exact_o(exact[n])
    );
    logic [smk_pkg::ShareWidth-1:0] dominant;
    formal_dominant u_dominant (.sum_i(sum), .share_o(dominant));
    always_ff @(posedge clk_i) dominant_q.without[n] <= rst_ni ? dominant : '0;
    if (n == NumKernels) begin : gen_all
      assign all = sum;
    end
  end

  `PROVE(SumIsTbsTimesNeed_A, exact == '1)

  // A TB comes only where it fits, with a TB that goes out of its way.
  function automatic logic fits(input logic [15:0] taken, input logic [15:0] comes,
                                input logic [15:0] goes, input int unsigned limit);
    fits = 32'(taken) + (arrive_valid_i ? 32'(comes) : 0) <=
           limit + (leave_valid_i ? 32'(goes) : 0);
  endfunction
  `ASSUME(TakenWithinLimits_M,
          fits(16'(all.registers), 16'(arrive_need.registers), 16'(leave_need.registers),
               smk_pkg::LimitRegisters) &&
          fits(16'(all.shared_memory), 16'(arrive_need.shared_memory),
               16'(leave_need.shared_memory), smk_pkg::LimitSharedMemory) &&
          fits(16'(all.threads), 16'(arrive_need.threads), 16'(leave_need.threads),
               smk_pkg::LimitThreads) &&
          fits(16'(all.tbs), 16'd1, 16'd1, smk_pkg::LimitTbs))

  // What is taken is what the resident TBs need.
  `PROVE(TakenIsTheSum_A, taken == all)
  // rSM, also without one kernel, is the dominant share of what was taken in the cycle before.
  `PROVE(ShareIsDominant_A, share == dominant_q.without[NumKernels])
  `PROVE(OthersShareIsDominant_A, others_share == dominant_q.without[exclude_i])
endmodule

// This is what so many TBs of each kernel need, but for those of one.
module formal_is_product #(
  parameter int unsigned Without = 0
) (
  input  smk_pkg::resource_vector_t sum_i,
  input  smk_pkg::tb_cnt_vec_t      tbs_i,
  input  smk_pkg::need_vec_t        need_i,
  output logic                      exact_o
);
  smk_pkg::tb_need_t need;
  logic [15:0]       registers, shared_memory, threads, tbs;
  always_comb begin
    {registers, shared_memory, threads, tbs} = '0;
    for (int unsigned k = 0; k < smk_pkg::NumKernels; k++) begin
      need = need_i.kernel[k];
      if (k != Without) begin
        registers     = registers + 16'(tbs_i.kernel[k]) * 16'(need.registers);
        shared_memory = shared_memory + 16'(tbs_i.kernel[k]) * 16'(need.shared_memory);
        threads       = threads + 16'(tbs_i.kernel[k]) * 16'(need.threads);
        tbs           = tbs + 16'(tbs_i.kernel[k]);
      end
    end
  end
  assign exact_o = 16'(sum_i.registers) == registers &&
                   16'(sum_i.shared_memory) == shared_memory &&
                   16'(sum_i.threads) == threads && 16'(sum_i.tbs) == tbs;
endmodule
