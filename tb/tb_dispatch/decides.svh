// SPDX-License-Identifier: Apache-2.0
// Part of formal_tb_dispatch: what is decided, against Fig. 4 and 7, in the cycle in which it is.

  // What was looked at is so still when something is decided. Who waits does so until a TB is
  // dispatched or the kernel ends.
  logic                  keeps, keeps_q, dispatched_q, it_waits, it_may, it_has_plan, it_has_room;
  smk_pkg::kernel_mask_t its_allowed, its_planned, its_fits;
  smk_pkg::tb_cnt_vec_t  its_tbs, its_partition;
  always_ff @(posedge clk_i) begin
    dispatched_q <= rst_ni && pulses.dispatch;
    keeps_q      <= !rst_ni || keeps;
  end
  assign keeps = keeps_q && (dispatched_q || (waiting_q & ~waiting & ~done_q) == '0);
  assign its_allowed   = allowed_q.sm[decision.sm];
  assign its_planned   = planned.sm[decision.sm];
  assign its_fits      = fits.sm[decision.sm];
  assign its_tbs       = tbs.sm[decision.sm];
  assign its_partition = partition.sm[decision.sm];
  assign it_waits      = waiting[decision.kernel] || done_q[decision.kernel] || !keeps;
  assign it_may        = its_allowed[decision.kernel] && !busy[decision.sm];
  assign it_has_plan   = its_planned[decision.kernel];
  assign it_has_room   = partitioned ? it_has_plan && its_tbs.kernel[decision.kernel] <
                                       its_partition.kernel[decision.kernel]
                                     : its_fits[decision.kernel];
  // Dispatched is a TB of a kernel that waits and may be there, and there is room: left, or kept for it.
  `PROVE(DispatchHasRoom_A, !dispatches || (it_waits && it_may && it_has_room &&
         (!reserved[decision.sm] || reserved_for_q.sm[decision.sm] == decision.kernel)))
  // A partition is planned where there is none; TBs lose their place only when there is no room.
  `PROVE(PlansWhereNone_A, !decision.valid || decision.reason != smk_pkg::ReasonRepartition ||
         (partitioned && it_waits && it_may && !reserved[decision.sm] && !it_has_plan))
  `PROVE(PreemptsForRoom_A, !preempts || (on_demand && it_waits && it_may &&
         !reserved[decision.sm] && (candidate & ~no_room) == '0 && decision.kernel == queue_kernel))
  // Inside: room is kept and guarded on demand only, for the kernel for which it was made.
  `WATCH([NumSms*smk_pkg::KernelWidth-1:0], dut_reserved_for, u_dut.u_marks.reserved_for_q)
  smk_pkg::sm_mask_t other_kernel;
  for (genvar s = 0; s < NumSms; s++) begin : gen_other_kernel
    assign other_kernel[s] = dut_reserved_for[s*smk_pkg::KernelWidth +: smk_pkg::KernelWidth] !=
                             reserved_for_q.sm[s];
  end
  `PROVE(ReservesForOne_A, ((reserved | guarded_q) & (other_kernel | {NumSms{!on_demand}})) == '0)
  // Preempted TBs go first.
  logic it_restores, it_restarts;
  assign it_restores = queued[decision.kernel] && !queue_front_i.restart;
  assign it_restarts = queued[decision.kernel] && queue_front_i.restart;
  `PROVE(PreemptedGoFirst_A, !dispatches ||
         ((decision.reason == smk_pkg::ReasonDispatchRestored) == it_restores &&
          (decision.reason == smk_pkg::ReasonDispatchRestarted) == it_restarts && decision.tb ==
          (queued[decision.kernel] ? queue_front_i.tb : next_tb_i.kernel[decision.kernel])))

  // What is decided is done: sent to the driver's blocks and to the SM in the next cycle.
  logic                 decided_q, restores, restarts;
  smk_pkg::decision_t   decision_q;
  smk_pkg::command_op_e its_op;
  always_ff @(posedge clk_i) begin
    decided_q  <= rst_ni && decision.valid;
    decision_q <= decision;
  end
  assign restores = decided_q && decision_q.reason == smk_pkg::ReasonDispatchRestored;
  assign restarts = decided_q && decision_q.reason == smk_pkg::ReasonDispatchRestarted;
  assign its_op   = (decision_q.reason == smk_pkg::ReasonPreempt) ? smk_pkg::CommandPreempt :
                    (decision_q.reason == smk_pkg::ReasonEvictSm) ? smk_pkg::CommandEvict
                                                                  : smk_pkg::CommandDispatch;
  `PROVE(DoesAsDecided_A, pulses.dispatch_new == (decided_q &&
         decision_q.reason == smk_pkg::ReasonDispatchNew) && pulses.pop == (restores || restarts) &&
         pulses.plan_start == (decided_q && decision_q.reason == smk_pkg::ReasonRepartition) &&
         pulses.preempt == (decided_q && decision_q.reason == smk_pkg::ReasonPreempt) &&
         (!(pulses.dispatch || pulses.preempt) ||
          (pulses.kernel == decision_q.kernel && pulses.sm == decision_q.sm)) &&
         (!pulses.preempt || (pulses.victim == decision_q.victim &&
          pulses.victim_tbs == decision_q.victim_tbs && command.kernel == decision_q.victim &&
          command.count == decision_q.victim_tbs)) && (!pulses.dispatch ||
          (command.kernel == decision_q.kernel && command.tb == decision_q.tb &&
           command.restore == restores)) && (!(pulses.dispatch || pulses.preempt ||
          (decided_q && decision_q.reason == smk_pkg::ReasonEvictSm)) ||
          (command_valid && command.op == its_op && command_sm == decision_q.sm)))

  // Inside: what Look has found is so as long as nothing happens, however long a step waits.
  localparam int unsigned TbWidth = smk_pkg::TbCntWidth;
  `WATCH([0:0], dut_happened, u_dut.u_steps.happened_q)
  `WATCH([0:0], dut_happened_late, u_dut.u_steps.happened_late_q)
  `WATCH([smk_pkg::BasesWidth-1:0], dut_taken, u_dut.u_fit.taken_q)
  `WATCH([smk_pkg::NeedWidth-1:0], dut_room, u_dut.u_fit.room_q)
  `WATCH([TbWidth-1:0], dut_resident, u_dut.u_fit.resident_q)
  `WATCH([TbWidth-1:0], dut_tbs, u_dut.u_fit.tbs_q)
  `WATCH([NumKernels-1:0], dut_kernel_of, u_dut.u_fit.kernel_of_q)
  `WATCH([0:0], dut_planned, u_dut.u_fit.planned_q)
  `WATCH([0:0], dut_allowed, u_dut.u_fit.allowed_q)
  `WATCH([0:0], dut_waiting, u_dut.u_fit.waiting_q)
  `WATCH([0:0], dut_is_reserved, u_dut.u_pick.is_reserved_q)
  smk_pkg::sm_id_t           at;
  smk_pkg::tb_need_t         at_need;
  smk_pkg::resource_vector_t at_taken;
  smk_pkg::tb_need_t         at_room;
  smk_pkg::kernel_mask_t     at_allowed, at_planned;
  smk_pkg::tb_cnt_vec_t      at_tbs, at_partition;
  logic                      sees, is_here, fits_in, may_take;
  assign at           = smk_pkg::index_of_sm(candidate_sm);
  assign at_need      = need_q.kernel[queue_kernel];
  assign at_taken     = taken.sm[at];
  assign at_room      = dut_room;
  assign at_allowed   = allowed_q.sm[at];
  assign at_planned   = planned.sm[at];
  assign at_tbs       = tbs.sm[at];
  assign at_partition = partition.sm[at];
  assign is_here      = (active_q[queue_kernel] || done_q[queue_kernel]) &&
                        !need_changed_q[queue_kernel];
  assign sees         = has_candidate && !dut_happened && !dut_happened_late;
  assign fits_in      = (is_here || (dut_is_reserved && !dut_waiting)) && (need_changed_q[queue_kernel] ||
      (32'(at_room.registers) + 32'(at_need.registers) == smk_pkg::LimitRegisters &&
       32'(at_room.shared_memory) + 32'(at_need.shared_memory) == smk_pkg::LimitSharedMemory &&
       32'(at_room.threads) + 32'(at_need.threads) == smk_pkg::LimitThreads));
  assign may_take     = dut_is_reserved
      ? reserved[at] && dut_reserved_for[32'(at)*smk_pkg::KernelWidth +: smk_pkg::KernelWidth] == queue_kernel
      : dut_allowed && (dut_waiting || !keeps) && !reserved[at] && (candidate & tried_q) == '0;
  // A victim is searched on demand for a candidate that has no room, on one of the SMs asked for.
  smk_pkg::sm_mask_t     may_lose;
  smk_pkg::kernel_mask_t at_fits, may_here;
  logic                  searches, names_one;
  assign at_fits = fits.sm[at];
  always_comb begin
    for (int unsigned s = 0; s < NumSms; s++) begin
      may_here    = allowed_q.sm[s];
      may_lose[s] = may_here[queue_kernel] && !busy[s] && !reserved[s] &&
                    (!guarded_q[s] || reserved_for_q.sm[s] == queue_kernel);
    end
  end
  assign searches  = step >= smk_pkg::StVictimSm && step <= smk_pkg::StRange;
  // Where others are guarded everywhere, on none; then there is no victim.
  `WATCH([0:0], dut_found, u_dut.u_preempt.found_q)
  assign names_one = (step == smk_pkg::StVictimSm) ? victim_sms == may_lose :
                     (victim_look & (victim_look - 1'b1)) == '0 && (victim_look & ~may_lose) == '0 &&
                     (victim_look != '0 || (step != smk_pkg::StRange &&
                                            (step != smk_pkg::StCount || !dut_found)));
  `PROVE(SearchesForRoom_A, !searches || (on_demand && !dut_is_reserved && (!sees || (names_one &&
         !at_fits[queue_kernel]))))
  `PROVE(SeesWhatIs_A, !sees || (dut_taken == at_taken && dut_resident == at_tbs.kernel[queue_kernel] &&
         dut_planned == at_planned[queue_kernel] && dut_allowed == at_allowed[queue_kernel] &&
         (!dut_planned || dut_tbs == at_partition.kernel[queue_kernel]) && fits_in && may_take &&
         dut_kernel_of == NumKernels'(1) << queue_kernel && candidate_sm == NumSms'(1) << at &&
         !busy[at] && (!keeps || !dut_waiting || waiting[queue_kernel] || done_q[queue_kernel])))
