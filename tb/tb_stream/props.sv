// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_tb_stream, from its ports alone: TBs that remain and TBs that are queued are counted here, as
// smk_kernel_table and smk_preempted_queue count them; everything else is any.
`include "formal.svh"

module formal_tb_stream (
  input logic                        clk_i,
  input smk_pkg::policy_t            policy_i,
  input smk_pkg::kernel_mask_t       held_i,
  input smk_pkg::order_vec_t         order_i,
  input smk_pkg::need_vec_t          need_i,
  input smk_pkg::tb_id_vec_t         next_tb_i,
  input logic [smk_pkg::NumKernels*(smk_pkg::TbIdWidth+smk_pkg::BufferWidth+1)-1:0] queue_fronts_i,
  input smk_pkg::sm_kernels_t        allowed_i,
  input smk_pkg::sm_taken_t          taken_i,
  input smk_pkg::sm_tb_cnts_t        resident_i,
  input smk_pkg::sm_mask_t           busy_i,
  input smk_pkg::sm_mask_t           reserved_i,
  input smk_pkg::sm_kernels_t        planned_i,
  input smk_pkg::sm_tb_cnts_t        partition_i,
  input smk_pkg::sm_mask_t           credit_i,
  input logic                        changes_i,
  input logic                        quota_waits_i,
  input logic                        flush_i,
  // A kernel is launched, with so many TBs; its place is given away; a TB of it is queued; smk_tb_dispatch hands out one.
  input smk_pkg::kernel_mask_t       launch_i,
  input smk_pkg::tb_id_t             launch_tbs_i,
  input smk_pkg::kernel_mask_t       expire_i,
  input smk_pkg::kernel_mask_t       queued_now_i,
  input smk_pkg::kernel_mask_t       other_new_i,
  input smk_pkg::kernel_mask_t       other_pop_i,
  // Any kernel and SM.
  input smk_pkg::kernel_id_t         watched_kernel_i,
  input smk_pkg::sm_id_t             watched_sm_i
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  localparam int unsigned NumSms     = smk_pkg::NumSms;
  // Steps of latency_scale cycles after which a TB is taken.
  localparam int unsigned MostSteps  = 5;

  `FORMAL_RESET
  smk_pkg::policy_t policy_q;
  always_ff @(posedge clk_i) if (!rst_ni) policy_q <= policy_i;

  smk_pkg::sm_mask_t       takes, command_sm;
  logic                    send, quiet, command_valid, work;
  smk_pkg::kernel_id_t     kernel;
  smk_pkg::kernel_mask_t   new_tb, pop, queued, none_remains;
  smk_pkg::tb_arrival_t    arrival;
  smk_pkg::decision_t      decision;
  smk_pkg::sm_command_t    command;
  smk_pkg::tb_id_vec_t     remaining_q;
  smk_pkg::buffer_cnt_vec_t count_q;
  smk_tb_stream u_dut (
    .clk_i, .rst_ni, .held_i, .order_i, .need_i, .next_tb_i, .queue_fronts_i, .allowed_i, .taken_i, .resident_i,
    .busy_i, .reserved_i, .planned_i, .partition_i, .credit_i, .changes_i, .quota_waits_i, .flush_i,
    .policy_i          (policy_q),
    .remaining_i       (remaining_q),
    .queued_i          (queued),
    .queue_count_i     (count_q),
    .takes_o           (takes),
    .send_o            (send),
    .quiet_o           (quiet),
    .kernel_o          (kernel),
    .new_o             (new_tb),
    .pop_o             (pop),
    .dispatch_arrival_i('0),
    .arrival_o         (arrival),
    .decision_o        (decision),
    .command_valid_o   (command_valid),
    .command_sm_o      (command_sm),
    .command_o         (command),
    .work_o            (work)
  );

  for (genvar k = 0; k < NumKernels; k++) begin : gen_kernel
    assign queued[k]       = count_q.kernel[k] != '0;
    assign none_remains[k] = remaining_q.kernel[k] == '0;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        remaining_q.kernel[k] <= '0;
        count_q.kernel[k]     <= '0;
      end else begin
        remaining_q.kernel[k] <= launch_i[k] ? launch_tbs_i : remaining_q.kernel[k] -
                                 smk_pkg::TbIdWidth'(new_tb[k] || other_new_i[k]);
        count_q.kernel[k] <= count_q.kernel[k] + smk_pkg::BufferCntWidth'(queued_now_i[k]) -
                             smk_pkg::BufferCntWidth'(pop[k] || other_pop_i[k]);
      end
    end
  end
  // A slot takes a launch when none of its kernel's TBs is anywhere; no more TBs are queued than
  // there are buffers.
  smk_pkg::kernel_mask_t full, sent_q;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_full
    assign full[k] = 32'(count_q.kernel[k]) >= smk_pkg::PreemptedDepth;
  end
  always_ff @(posedge clk_i) sent_q <= rst_ni ? new_tb | pop : '0;
  `ASSUME(LaunchedWhenDone_M, (launch_i & (~none_remains | new_tb | pop | sent_q | other_new_i)) == '0)
  `ASSUME(QueueHasPlace_M, (queued_now_i & full) == '0)
  // Members arrived one after the other. A kernel that waits is one; the place of one that does not may be
  // given away, which is told in the next cycle.
  smk_pkg::kernel_mask_t member_q, expired_q;
  logic                  differ;
  always_ff @(posedge clk_i) begin
    member_q  <= rst_ni ? (member_q & ~expire_i) | launch_i : '0;
    expired_q <= rst_ni ? member_q & expire_i : '0;
  end
  always_comb begin
    differ = 1'b1;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      for (int unsigned j = 0; j < k; j++) begin
        if (member_q[k] && member_q[j] && order_i.kernel[j] == order_i.kernel[k]) differ = 1'b0;
      end
    end
  end
  `ASSUME(OrderDiffers_M, differ)
  `ASSUME(WaitersAreMembers_M, (expire_i & (~none_remains | queued)) == '0 &&
          (queued_now_i & ~member_q) == '0 && (queued_now_i & expire_i) == '0)
  `ASSUME(ExpiryIsTold_M, expired_q == '0 || flush_i)
  // smk_tb_dispatch hands out TBs that there are, while this block stands back, and did in the cycle
  // before.
  logic flush_q;
  always_ff @(posedge clk_i) flush_q <= rst_ni && flush_i;
  `ASSUME(DispatchIsAlone_M, (other_new_i | other_pop_i) == '0 || (flush_i && flush_q))
  `ASSUME(DispatchedWaits_M, (other_new_i & none_remains) == '0 && (other_pop_i & ~queued) == '0)

  // A TB is handed out that remains, or the first of a queue that has one; one per cycle.
  `PROVE(HandsOutWhatRemains_A, (new_tb & none_remains) == '0)
  `PROVE(PopsWhatIsQueued_A, (pop & ~queued) == '0)
  smk_pkg::kernel_mask_t either;
  assign either = new_tb | pop;
  `PROVE(OneTbPerCycle_A, (new_tb & pop) == '0 && (either & (either - 1'b1)) == '0 &&
         send == (either != '0) && send == !quiet && (!send || either[kernel]))
  // Its SM is one whose credit is here; and on demand, while smk_tb_dispatch decides, SMs are assigned or a
  // quota waits, nothing is taken, and none is handed out in the cycle after.
  `PROVE(TakesCredit_A, (takes & ~credit_i) == '0 && (takes & (takes - 1'b1)) == '0)
  logic stands_back, stands_back_q;
  assign stands_back = flush_i || quota_waits_i || !policy_q.stream ||
                       policy_q.dispatch == smk_pkg::DispatchOnDemand;
  always_ff @(posedge clk_i) stands_back_q <= rst_ni && stands_back;
  `PROVE(StandsBack_A, !(stands_back && takes != '0) && !(stands_back_q && send))
  // Nor is a TB of a kernel that waits for older ones.
  smk_pkg::kernel_mask_t held_q;
  always_ff @(posedge clk_i) held_q <= held_i;
  `PROVE(HeldWait_A, !send || !held_q[kernel])
  // Who is younger than one that waits, waits as well.
  logic held_by_age;
  always_comb begin
    held_by_age = 1'b1;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      for (int unsigned j = 0; j < NumKernels; j++) begin
        if (held_i[k] && order_i.kernel[k] < order_i.kernel[j] && !held_i[j]) held_by_age = 1'b0;
      end
    end
  end
  `ASSUME(HeldByAge_M, held_by_age)
  // The command goes two cycles later to the SM whose credit was taken.
  smk_pkg::sm_mask_t takes_q, takes_before_q;
  always_ff @(posedge clk_i) begin
    takes_q        <= rst_ni ? takes : '0;
    takes_before_q <= rst_ni ? takes_q : '0;
  end
  `PROVE(CommandFollows_A, command_sm == takes_before_q && command_valid == (command_sm != '0) &&
         send == (takes_q != '0))

  // No TB goes to an SM with TBs on their way out. Those are ordered to go by smk_tb_dispatch only, while
  // it decides.
  smk_pkg::sm_mask_t busy_q;
  always_ff @(posedge clk_i) busy_q <= rst_ni ? busy_i : '0;
  `ASSUME(BusyAfterDeciding_M, flush_q || (busy_i & ~busy_q) == '0)
  `PROVE(NotToBusySm_A, (takes & busy_i) == '0)

  // While nobody makes it stand back, or begins to wait for an older one, a TB is taken soon if one has room on an SM with a credit: of any kernel
  // and SM that are watched, or of others. Needs change with a launch, which is told; credits are used by
  // those for whom it stood back, or by this block.
  smk_pkg::need_vec_t    need_q;
  smk_pkg::sm_mask_t     credit_q;
  always_ff @(posedge clk_i) begin
    need_q   <= need_i;
    credit_q <= rst_ni ? credit_i & ~takes : '0;
  end
  `ASSUME(NeedIsTold_M, flush_i || need_i == need_q)
  `ASSUME(CreditStays_M, stands_back_q || (credit_q & ~credit_i) == '0)
  `ASSUME(ScaleIsPositive_M, policy_q.latency_scale != '0)
  // The pair that is watched.
  smk_pkg::kernel_id_t       its_kernel_q;
  smk_pkg::sm_id_t           its_sm_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      its_kernel_q <= watched_kernel_i;
      its_sm_q     <= watched_sm_i;
    end
  end
  smk_pkg::tb_need_t         its_need;
  smk_pkg::resource_vector_t its_taken;
  smk_pkg::tb_cnt_vec_t      its_tbs, its_partition;
  smk_pkg::kernel_mask_t     its_allowed, its_planned;
  logic                      fits, below, by_plan, open;
  logic [7:0]                stuck_q, at_most;
  assign its_need      = need_i.kernel[its_kernel_q];
  assign its_taken     = taken_i.sm[its_sm_q];
  assign its_tbs       = resident_i.sm[its_sm_q];
  assign its_partition = partition_i.sm[its_sm_q];
  assign its_allowed   = allowed_i.sm[its_sm_q];
  assign its_planned   = planned_i.sm[its_sm_q];
  assign fits    = 32'(its_taken.registers) + 32'(its_need.registers) <= smk_pkg::LimitRegisters &&
                   32'(its_taken.shared_memory) + 32'(its_need.shared_memory) <= smk_pkg::LimitSharedMemory &&
                   32'(its_taken.threads) + 32'(its_need.threads) <= smk_pkg::LimitThreads &&
                   32'(its_taken.tbs) < smk_pkg::LimitTbs;
  assign below   = its_planned[its_kernel_q] &&
                   its_tbs.kernel[its_kernel_q] < its_partition.kernel[its_kernel_q];
  assign by_plan = policy_q.dispatch == smk_pkg::DispatchPartitioned ||
                   policy_q.dispatch == smk_pkg::DispatchEven || policy_q.dispatch == smk_pkg::DispatchTable ||
                   policy_q.dispatch == smk_pkg::DispatchSlicer;
  assign open    = (!none_remains[its_kernel_q] || queued[its_kernel_q]) && !held_i[its_kernel_q] &&
                   its_allowed[its_kernel_q] && !busy_i[its_sm_q] && !reserved_i[its_sm_q] && credit_i[its_sm_q] &&
                   (by_plan ? below : fits);
  assign at_most = 8'(MostSteps) * 8'(policy_q.latency_scale) + 8'd3;
  always_ff @(posedge clk_i) begin
    stuck_q <= (rst_ni && open && !stands_back && takes == '0 && (held_i & ~held_q) == '0)
               ? stuck_q + 8'd1 : '0;
  end
  `PROVE(WaiterIsServed_A, stuck_q <= at_most)

  // Inside, for induction: who is a candidate is a member, and one pair is chosen.
  `WATCH([NumKernels*NumSms-1:0], candidates, u_dut.candidates_q)
  `WATCH([0:0], chosen, u_dut.chosen_q)
  `WATCH([NumKernels-1:0], chosen_kernel, u_dut.kernel_q)
  `WATCH([NumSms-1:0], chosen_sm, u_dut.sm_q)
  logic only_members;
  always_comb begin
    only_members = 1'b1;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (candidates[k*NumSms +: NumSms] != '0 && !member_q[k] && !expired_q[k]) only_members = 1'b0;
    end
  end
  `PROVE(OnePair_A, only_members && (!chosen || (chosen_kernel != '0 && chosen_sm != '0 &&
         (chosen_kernel & (chosen_kernel - 1'b1)) == '0 &&
         (chosen_sm & (chosen_sm - 1'b1)) == '0)))
endmodule
