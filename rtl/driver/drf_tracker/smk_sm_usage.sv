// SPDX-License-Identifier: Apache-2.0
// smk_sm_usage: what the resident TBs of one SM take; one per SM in smk_drf_tracker.
//
// Purpose     Counts resident TBs per kernel, and keeps the taken vector and, for each kernel, the
//             vector taken by the others.
// Paper       [SMK] Sec. 5.2 (rSM), 5.3.1 (rSM without the candidate kernel).
// Interface   arrive_*, leave_*: pulses of one TB each; both may come in one cycle.
// Latency     Counts and taken_o change on the next edge, shares one later; 0 cycles from
//             exclude_i.
// Throughput  One TB in and one TB out per cycle.
// Reset       Nothing taken.
// Model       model/control/driver/drf_tracker.h   Doc  docs/blocks/drf_tracker.md
// The others' vectors are registers of their own: a question needs no multiplication.
`include "smk_assert.svh"

module smk_sm_usage (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  // What a TB of each kernel needs; changes only for kernels without TBs here.
  input  smk_pkg::need_vec_t        need_i,
  // A TB comes, and what it needs; a TB goes.
  input  logic                      arrive_valid_i,
  input  smk_pkg::kernel_mask_t     arrive_kernel_i,
  input  smk_pkg::tb_need_t         arrive_need_i,
  input  logic                      leave_valid_i,
  input  smk_pkg::kernel_id_t       leave_kernel_i,
  // Resident TBs, and whether there are any.
  output smk_pkg::tb_cnt_vec_t      resident_o,
  output smk_pkg::kernel_mask_t     some_o,
  // The taken vector, rSM, and rSM without one kernel.
  output smk_pkg::resource_vector_t taken_o,
  output smk_pkg::share_t           share_o,
  input  smk_pkg::kernel_id_t       exclude_i,
  output smk_pkg::share_t           others_share_o
);
  localparam int unsigned NumKernels  = smk_pkg::NumKernels;
  localparam int unsigned KernelWidth = smk_pkg::KernelWidth;
  localparam int unsigned ShareWidth  = smk_pkg::ShareWidth;
  localparam int unsigned VectorWidth = smk_pkg::BasesWidth;
  localparam int unsigned TbCntWidth  = smk_pkg::TbCntWidth;
  localparam int unsigned RegisterCntWidth = smk_pkg::RegisterCntWidth;
  localparam int unsigned SharedCntWidth   = smk_pkg::SharedCntWidth;
  localparam int unsigned ThreadCntWidth   = smk_pkg::ThreadCntWidth;

  // Without kernel k each, and last without nobody: the taken vector.
  localparam int unsigned NumSums     = NumKernels + 1;
  typedef struct packed {logic [NumSums-1:0][VectorWidth-1:0] without;} sums_t;
  typedef struct packed {logic [NumSums-1:0][ShareWidth-1:0] without;} shares_t;

  smk_pkg::tb_cnt_vec_t    resident_d, resident_q;
  smk_pkg::kernel_mask_t   some_d, some_q, arrive, leave;
  // Registers: each sum, and its dominant share.
  sums_t                   sums;
  shares_t                 shares;
  smk_pkg::tb_need_t       leave_need;
  logic [NumSums-1:0]      arrive_of, leave_of;

  assign arrive     = arrive_kernel_i & {NumKernels{arrive_valid_i}};
  assign leave      = leave_valid_i ? NumKernels'(1) << leave_kernel_i : '0;
  assign leave_need = need_i.kernel[leave_kernel_i];

  // A TB more, a TB fewer, or both.
  assign arrive_of = {NumSums{arrive_valid_i}} & ~{1'b0, arrive};
  assign leave_of  = {NumSums{`SMK_CUT(Leaves, leave_valid_i)}} & ~{1'b0, leave};
  for (genvar n = 0; n < NumSums; n++) begin : gen_sum
    logic [RegisterCntWidth-1:0] registers_d, registers_q;
    logic [SharedCntWidth-1:0]   shared_memory_d, shared_memory_q;
    logic [ThreadCntWidth-1:0]   threads_d, threads_q;
    logic [TbCntWidth-1:0]       tbs_d, tbs_q;
    logic                        arrives, leaves;
    assign arrives         = arrive_of[n];
    assign leaves          = leave_of[n];
    assign registers_d     = registers_q
                             + (arrive_need_i.registers & {RegisterCntWidth{arrives}})
                             - (leave_need.registers & {RegisterCntWidth{leaves}});
    assign shared_memory_d = shared_memory_q
                             + (arrive_need_i.shared_memory & {SharedCntWidth{arrives}})
                             - (leave_need.shared_memory & {SharedCntWidth{leaves}});
    assign threads_d       = threads_q
                             + (arrive_need_i.threads & {ThreadCntWidth{arrives}})
                             - (leave_need.threads & {ThreadCntWidth{leaves}});
    assign tbs_d           = tbs_q + TbCntWidth'(arrives) - TbCntWidth'(leaves);

    // The largest of the four weighted amounts; the weights are sums of two powers of two.
    logic [ShareWidth-1:0] of_registers, of_shared_memory, of_threads, of_tbs;
    logic [ShareWidth-1:0] share_d, share_q, share_complement;
    logic [3:0]            unused_of;
    logic                  unused_valid;
    assign of_registers     = ShareWidth'(registers_q) * ShareWidth'(smk_pkg::WeightRegisters);
    assign of_shared_memory = ShareWidth'(shared_memory_q) *
                              ShareWidth'(smk_pkg::WeightSharedMemory);
    assign of_threads       = ShareWidth'(threads_q) * ShareWidth'(smk_pkg::WeightThreads);
    assign of_tbs           = ShareWidth'(tbs_q) * ShareWidth'(smk_pkg::WeightTbs);
    smk_min_group #(.N(4), .Width(ShareWidth)) u_share (
      .valid_i (4'b1111),
      .key_i   (~{of_registers, of_shared_memory, `SMK_CUT(ShareOfThreads, of_threads), of_tbs}),
      .valid_o (unused_valid),
      .onehot_o(unused_of),
      .key_o   (share_complement)
    );
    assign share_d = ~share_complement;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        registers_q     <= '0;
        shared_memory_q <= '0;
        threads_q       <= '0;
        tbs_q           <= '0;
        share_q         <= '0;
      end else begin
        registers_q     <= registers_d;
        shared_memory_q <= shared_memory_d;
        threads_q       <= threads_d;
        tbs_q           <= tbs_d;
        share_q         <= share_d;
      end
    end
    assign sums.without[n]   = {registers_q, shared_memory_q, threads_q, tbs_q};
    assign shares.without[n] = share_q;

    // The share is that of the vector: one of the four, and none is larger.
    `SMK_ASSERT(ShareIsExact_A, 1'b1 |=>
        32'(share_q) >= 32'($past(registers_q)) * smk_pkg::WeightRegisters &&
        32'(share_q) >= 32'($past(shared_memory_q)) * smk_pkg::WeightSharedMemory &&
        32'(share_q) >= 32'($past(threads_q)) * smk_pkg::WeightThreads &&
        32'(share_q) >= 32'($past(tbs_q)) * smk_pkg::WeightTbs &&
        (32'(share_q) == 32'($past(registers_q)) * smk_pkg::WeightRegisters ||
         32'(share_q) == 32'($past(shared_memory_q)) * smk_pkg::WeightSharedMemory ||
         32'(share_q) == 32'($past(threads_q)) * smk_pkg::WeightThreads ||
         32'(share_q) == 32'($past(tbs_q)) * smk_pkg::WeightTbs))
    if (n < NumKernels) begin : gen_check
      smk_pkg::tb_need_t need;
      assign need = need_i.kernel[n];
      // Conservation: what is taken is what the others take and what the kernel's TBs need.
      `SMK_ASSERT(TakenIsSum_A,
          32'(taken_o.registers) ==
              32'(registers_q) + 32'(resident_q.kernel[n]) * 32'(need.registers) &&
          32'(taken_o.shared_memory) ==
              32'(shared_memory_q) + 32'(resident_q.kernel[n]) * 32'(need.shared_memory) &&
          32'(taken_o.threads) ==
              32'(threads_q) + 32'(resident_q.kernel[n]) * 32'(need.threads) &&
          32'(taken_o.tbs) == 32'(tbs_q) + 32'(resident_q.kernel[n]))
    end
  end

  for (genvar k = 0; k < NumKernels; k++) begin : gen_kernel
    assign resident_d.kernel[k] = `SMK_CUT(Resident, resident_q.kernel[k]) + TbCntWidth'(arrive[k])
                                                       - TbCntWidth'(leave[k]);
    assign some_d[k] = arrive[k] || (some_q[k] && !(leave[k] &&
                       resident_q.kernel[k] == TbCntWidth'(1)));
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      resident_q <= '0;
      some_q     <= '0;
    end else begin
      resident_q <= resident_d;
      some_q     <= some_d;
    end
  end

  always_comb begin
    others_share_o = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (exclude_i == KernelWidth'(k)) others_share_o |= shares.without[k];
    end
  end

  assign resident_o     = resident_q;
  assign some_o         = some_q;
  assign taken_o        = sums.without[NumKernels];
  assign share_o        = shares.without[NumKernels];

  // Conservation: every TB that is taken for is one of some kernel's resident TBs.
  logic [31:0] unused_tbs;
  always_comb begin
    unused_tbs = '0;
    for (int unsigned k = 0; k < NumKernels; k++) unused_tbs += 32'(resident_q.kernel[k]);
  end
  `SMK_ASSERT(TbsConserved_A, unused_tbs == 32'(taken_o.tbs))
  for (genvar k = 0; k < NumKernels; k++) begin : gen_check
    // The short cut says what the count says.
    `SMK_ASSERT(SomeIsExact_A, some_q[k] == (resident_q.kernel[k] != '0))
    // A kernel's need changes only while it has no TB here.
    `SMK_ASSERT(NeedIsStable_M, some_q[k] |-> $stable(need_i.kernel[k]))
  end
  // A TB that leaves was resident.
  `SMK_ASSERT(LeaverIsResident_M, (leave & ~some_q) == '0)
  // TBs are dispatched only where they fit: no resource is taken twice.
  `SMK_ASSERT(TakenWithinLimits_M, 32'(taken_o.registers) <= smk_pkg::LimitRegisters &&
              32'(taken_o.shared_memory) <= smk_pkg::LimitSharedMemory &&
              32'(taken_o.threads) <= smk_pkg::LimitThreads &&
              32'(taken_o.tbs) <= smk_pkg::LimitTbs)
  // Idle: without a TB that comes or goes nothing changes.
  `SMK_ASSERT(Idle_A, !arrive_valid_i && !leave_valid_i
              |=> $stable({resident_q, some_q, sums}))
  `SMK_ASSERT(IdleShares_A, $stable(sums) |=> $stable(shares))
  // One TB comes while another goes, in our tests.
  `SMK_COVER(ComesAndGoes_C, arrive_valid_i && leave_valid_i)
endmodule
