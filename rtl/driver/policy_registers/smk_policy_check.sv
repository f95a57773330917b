// SPDX-License-Identifier: Apache-2.0
// smk_policy_check: whether the chip supports a policy; part of smk_policy_registers.
//
// Purpose     Gives 0, or why not: the last reason that applies. Every code of an enumeration is a value
//             of it; of the numbers, all that are not looked at may be anything.
// Paper       none.
// Interface   Wires only.
// Latency     Combinational.
// Throughput  One policy per cycle.
// Reset       None: it has no registers.
// Model       model/control/driver/policy_registers.h   Doc  docs/blocks/policy_registers.md
`include "smk_assert.svh"

module smk_policy_check (
  input  smk_pkg::policy_t policy_i,
  output logic [3:0]       refusal_o
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  localparam int unsigned ShareWidth = smk_pkg::TokenShareWidth;
  localparam int unsigned SumWidth   = ShareWidth + smk_pkg::KernelCntWidth;
  localparam int unsigned WholeLog2  = smk_pkg::TokenUnitsLog2;
  localparam int unsigned Whole      = 1 << WholeLog2;

  smk_pkg::policy_t unused_policy;
  assign unused_policy = policy_i;

  // Counts of each kernel: its TBs fit an SM's slots, its share the usage window; so do all requests
  // together.
  smk_pkg::tb_cnt_vec_t      table_tbs;
  smk_pkg::token_share_vec_t request, limit;
  logic [SumWidth-1:0]       requests;
  logic                      bad_table, bad_share;
  assign table_tbs = policy_i.table_tbs;
  assign request   = policy_i.token_request;
  assign limit     = policy_i.token_limit;
  always_comb begin
    bad_table = 1'b0;
    bad_share = 1'b0;
    requests  = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (32'(table_tbs.kernel[k]) > smk_pkg::LimitTbs) bad_table = 1'b1;
      if (limit.kernel[k] > ShareWidth'(Whole)) bad_share = 1'b1;
      requests = requests + SumWidth'(request.kernel[k]);
    end
    if (requests > SumWidth'(Whole)) bad_share = 1'b1;
  end

  // Kernels on an SM: 1 to all. A comparison would be constant where no larger number fits.
  logic bad_number;
  always_comb begin
    bad_number = policy_i.kernels_per_sm == '0;
    for (int unsigned n = NumKernels + 1; n < (1 << smk_pkg::KernelCntWidth); n++) begin
      if (32'(policy_i.kernels_per_sm) == n) bad_number = 1'b1;
    end
  end

  always_comb begin
    refusal_o = 4'd0;
    // Plans that are made from profiles know no flush.
    if (policy_i.dispatch == smk_pkg::DispatchSlicer &&
        policy_i.preempt == smk_pkg::PreemptFlush)                        refusal_o = 4'd1;
    if (bad_number)                                                       refusal_o = 4'd2;
    if (bad_table)                                                        refusal_o = 4'd3;
    // An epoch has an instruction for every kernel, and one more.
    if (32'(policy_i.epoch_length) <= `SMK_CUT(ShortestEpoch, NumKernels)) refusal_o = 4'd4;
    if (policy_i.latency_scale == '0)                                     refusal_o = 4'd5;
    if (policy_i.slicer_window == '0 ||
        policy_i.slicer_window > 16'd16000)                               refusal_o = 4'd6;
    // log2 of the window's cycles: a unit has a cycle at least.
    if (32'(policy_i.token_window) < WholeLog2 ||
        32'(policy_i.token_window) > WholeLog2 + smk_pkg::TokenUnitWidth) refusal_o = 4'd7;
    if (policy_i.token_quota == '0)                                       refusal_o = 4'd8;
    if (bad_share)                                                        refusal_o = 4'd9;
  end
endmodule
