// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_dispatch_preempt, from its ports: the steps of a search follow each other as in
// smk_dispatch_steps, with any question and any answers, and who loses TBs is recomputed (Fig. 4).
`include "formal.svh"

module formal_dispatch_preempt (
  input logic                      clk_i,
  // A search begins after Fit; an event ends it; the decision may act.
  input logic                      search_i,
  input logic                      overtaken_i,
  input logic                      due_i,
  input logic                      due_early_i,
  // What it is about.
  input smk_pkg::kernel_id_t       kernel_i,
  input smk_pkg::tb_need_t         room_i,
  input smk_pkg::kernel_mask_t     active_i,
  input smk_pkg::need_vec_t        need_i,
  input smk_pkg::tb_id_vec_t       remaining_i,
  input smk_pkg::buffer_cnt_vec_t  queue_count_i,
  input smk_pkg::buffer_cnt_vec_t  queue_free_i,
  input smk_pkg::kernel_sms_t      allowed_i,
  input smk_pkg::sm_mask_t         busy_i,
  input smk_pkg::sm_mask_t         ready_i,
  input smk_pkg::sm_mask_t         reserved_i,
  input smk_pkg::sm_kernel_id_t    reserved_for_i,
  input smk_pkg::sm_mask_t         guarded_i,
  // Answers of the tracker.
  input smk_pkg::sm_mask_t         victim_sm_i,
  input smk_pkg::tb_need_t         victim_taken_i,
  input smk_pkg::tb_cnt_vec_t      victim_resident_i,
  input smk_pkg::kernel_mask_t     victim_kernel_i,
  input logic                      range_shrinks_i
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;

  `FORMAL_RESET
  // The steps; the question holds while a search goes on.
  smk_pkg::dispatch_step_e step_q;
  smk_pkg::kernel_id_t     kernel_q;
  smk_pkg::tb_need_t       room_q;
  smk_pkg::need_vec_t      need_q;
  logic                    at_fit;
  assign at_fit = step_q == smk_pkg::StFit;

  smk_pkg::sm_mask_t     victim_sms, victim_sm;
  smk_pkg::kernel_mask_t kernel_of, victim_kernels, range_victim;
  smk_pkg::tb_cnt_t      range_victim_tbs, victim_tbs;
  smk_pkg::kernel_id_t   victim;
  logic                  counted, room_coming, no_victim, range_starts, range_stops;
  logic                  not_reduced, queue_full, preempt;
  assign kernel_of = NumKernels'(1) << kernel_q;
  smk_dispatch_preempt u_dut (
    .clk_i, .rst_ni, .overtaken_i, .due_i, .due_early_i, .active_i, .remaining_i, .queue_count_i,
    .queue_free_i, .allowed_i, .busy_i, .ready_i, .reserved_i, .reserved_for_i, .guarded_i, .victim_sm_i,
    .victim_taken_i, .victim_resident_i, .victim_kernel_i, .range_shrinks_i,
    .step_i            (step_q),
    .kernel_of_i       (kernel_of),
    .room_i            (room_q),
    .need_i            (need_q),
    .victim_sms_o      (victim_sms),
    .victim_sm_o       (victim_sm),
    .victim_kernels_o  (victim_kernels),
    .counted_o         (counted),
    .room_coming_o     (room_coming),
    .no_victim_o       (no_victim),
    .range_starts_o    (range_starts),
    .range_victim_o    (range_victim),
    .range_victim_tbs_o(range_victim_tbs),
    .range_stops_o     (range_stops),
    .not_reduced_o     (not_reduced),
    .queue_full_o      (queue_full),
    .preempt_o         (preempt),
    .victim_o          (victim),
    .victim_tbs_o      (victim_tbs)
  );

  smk_pkg::dispatch_step_e step_d;
  always_comb begin
    step_d = step_q;
    case (step_q)
      smk_pkg::StFit:          if (search_i) step_d = smk_pkg::StVictimSm;
      smk_pkg::StVictimSm:     step_d = smk_pkg::StVictimLook;
      smk_pkg::StVictimLook:   step_d = smk_pkg::StVictimKernel;
      smk_pkg::StVictimKernel: step_d = smk_pkg::StCount;
      smk_pkg::StCount: begin
        if (counted)                  step_d = smk_pkg::StRange;
        if (room_coming || no_victim) step_d = smk_pkg::StFit;
      end
      smk_pkg::StRange: if (not_reduced || queue_full || preempt) step_d = smk_pkg::StFit;
      default: step_d = smk_pkg::StFit;
    endcase
    if (!rst_ni || overtaken_i) step_d = smk_pkg::StFit;
  end
  always_ff @(posedge clk_i) begin
    step_q <= step_d;
    if (!rst_ni || at_fit) begin
      kernel_q <= kernel_i;
      room_q   <= room_i;
      need_q   <= need_i;
    end
  end

  // The tracker answers with one of the kernels asked for.
  `ASSUME(VictimWasAsked_M, step_q != smk_pkg::StVictimKernel ||
          ((victim_kernel_i & ~victim_kernels) == '0 &&
           (victim_kernel_i & (victim_kernel_i - 1'b1)) == '0 &&
           (victim_kernel_i == '0) == (victim_kernels == '0)))

  // What the search was given: taken on the SM, TBs there; the victim, its TBs there and its need;
  // its free buffers in the cycle before.
  smk_pkg::tb_need_t        taken_q, its_need;
  smk_pkg::tb_cnt_vec_t     resident_q;
  smk_pkg::kernel_mask_t    victim_q;
  smk_pkg::buffer_cnt_vec_t free_q;
  smk_pkg::tb_cnt_t         its_tbs;
  logic                     searched_q, searched_before_q;
  always_ff @(posedge clk_i) begin
    free_q     <= queue_free_i;
    searched_before_q <= rst_ni && step_q == smk_pkg::StVictimLook;
    searched_q <= rst_ni && (step_q == smk_pkg::StVictimKernel || step_q == smk_pkg::StCount ||
                             step_q == smk_pkg::StRange) && step_d != smk_pkg::StFit;
    if (step_q == smk_pkg::StVictimLook) begin
      taken_q    <= victim_taken_i;
      resident_q <= victim_resident_i;
    end
    if (step_q == smk_pkg::StVictimKernel) victim_q <= victim_kernel_i;
  end
  smk_pkg::kernel_id_t who;
  assign who      = smk_pkg::index_of_kernel(victim_q);
  assign its_tbs  = victim_q == '0 ? '0 : resident_q.kernel[who];
  assign its_need = need_q.kernel[who];

  // Without so many of its TBs, one TB of the candidate fits.
  logic [smk_pkg::LimitTbs*2:0] enough;
  for (genvar n = 0; n <= smk_pkg::LimitTbs * 2; n++) begin : gen_enough
    assign enough[n] =
        16'(taken_q.registers) <= 16'(room_q.registers) + 16'(n) * 16'(its_need.registers) &&
        16'(taken_q.shared_memory) <=
            16'(room_q.shared_memory) + 16'(n) * 16'(its_need.shared_memory) &&
        16'(taken_q.threads) <= 16'(room_q.threads) + 16'(n) * 16'(its_need.threads);
  end
  // No SM has more TBs than slots.
  `ASSUME(TbsWithinLimits_M, !searched_q || 32'(its_tbs) <= smk_pkg::LimitTbs)
  // The smallest number that is enough, at least one; all of its TBs when they are not.
  smk_pkg::tb_cnt_t fewest;
  logic             suffices;
  always_comb begin
    fewest   = its_tbs;
    suffices = 1'b0;
    for (int unsigned n = smk_pkg::LimitTbs; n >= 1; n--) begin
      if (enough[n] && n <= 32'(its_tbs)) begin
        fewest   = smk_pkg::TbCntWidth'(n);
        suffices = 1'b1;
      end
    end
  end

  logic at_count, at_range;
  assign at_count = searched_q && step_q == smk_pkg::StCount;
  assign at_range = searched_q && step_q == smk_pkg::StRange;
  // Inside, for induction: what is missing less one is what so many victims leave missing, or below
  // zero; fewer would not have been enough.
  `WATCH([smk_pkg::RegisterCntWidth:0], registers_left, u_dut.registers_q)
  `WATCH([smk_pkg::SharedCntWidth:0], shared_memory_left, u_dut.shared_memory_q)
  `WATCH([smk_pkg::ThreadCntWidth:0], threads_left, u_dut.threads_q)
  `WATCH([NumKernels-1:0], dut_victim, u_dut.victim_of_q)
  `WATCH([smk_pkg::NeedWidth-1:0], dut_taken, u_dut.taken_q)
  `WATCH([NumKernels*smk_pkg::TbCntWidth-1:0], dut_resident, u_dut.resident_q)
  `WATCH([0:0], dut_found, u_dut.found_q)
  logic [15:0] registers, shared_memory, threads, gain;
  logic        counts_down;
  assign registers     = 16'(taken_q.registers) - 16'(room_q.registers) -
                         16'(victim_tbs) * 16'(its_need.registers);
  assign shared_memory = 16'(taken_q.shared_memory) - 16'(room_q.shared_memory) -
                         16'(victim_tbs) * 16'(its_need.shared_memory);
  assign threads       = 16'(taken_q.threads) - 16'(room_q.threads) -
                         16'(victim_tbs) * 16'(its_need.threads);
  assign gain          = 16'(victim_tbs) - 16'd1;
  assign counts_down   =
      ($signed(registers) > 0 ? 16'(registers_left) == registers - 16'd1
                              : registers_left[smk_pkg::RegisterCntWidth]) &&
      ($signed(shared_memory) > 0 ? 16'(shared_memory_left) == shared_memory - 16'd1
                                  : shared_memory_left[smk_pkg::SharedCntWidth]) &&
      ($signed(threads) > 0 ? 16'(threads_left) == threads - 16'd1
                            : threads_left[smk_pkg::ThreadCntWidth]);
  `PROVE(CountsDown_A, (step_q != smk_pkg::StVictimKernel || !searched_before_q ||
         (dut_taken == taken_q && dut_resident == resident_q)) &&
         (!searched_q || !(step_q == smk_pkg::StCount || step_q == smk_pkg::StRange) ||
         (dut_victim == victim_q && dut_resident == resident_q && dut_found == (victim_q != '0) &&
          (step_q != smk_pkg::StCount || counts_down) && victim_tbs <= its_tbs &&
          (victim_tbs <= 1 || !enough[gain[3:0]]))))

  // Count ends with the fewest victims that make room, at least one, or with none.
  `PROVE(CountsTheFewest_A, (!counted || (at_count && suffices && victim_tbs == fewest)) &&
         (!no_victim || (at_count && !suffices)))
  // While they are counted there are never more than that; then the number holds.
  `PROVE(NeverMoreVictims_A, (!at_count || (victim_tbs <= fewest && range_victim == victim_q)) &&
         (!at_range || (suffices && victim_tbs == fewest)))
  // They are TBs of one other kernel that is active and has so many TBs there.
  `PROVE(VictimIsAnother_A, !at_range || (victim == who && range_victim == victim_q &&
         victim_q == NumKernels'(1) << who && (victim_q & kernel_of) == '0 && victim_tbs <= its_tbs &&
         victim_tbs != '0))
  // Asked for a victim are the SMs that may host the candidate, without TBs on their way out, not
  // reserved and not guarded; then the other active kernels on the one that is named.
  smk_pkg::sm_mask_t     asked_q, named_q, reserved_for;
  smk_pkg::kernel_mask_t there;
  smk_pkg::tb_cnt_t      its_own;
  logic                  asks_q, names_q, is_coming_q;
  assign its_own = resident_q.kernel[kernel_q];
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      there[k] = resident_q.kernel[k] != '0 && active_i[k] && k != 32'(kernel_q);
    end
    for (int unsigned s = 0; s < smk_pkg::NumSms; s++) begin
      reserved_for[s] = reserved_i[s] && reserved_for_i.sm[s] == kernel_q;
    end
  end
  always_ff @(posedge clk_i) begin
    asks_q  <= rst_ni && at_fit;
    names_q <= rst_ni && step_d != smk_pkg::StFit && (step_q == smk_pkg::StVictimSm || names_q);
    if (at_fit) asked_q <= allowed_i.kernel[kernel_q] & ~busy_i & ~reserved_i & ~guarded_i;
    if (step_q == smk_pkg::StVictimSm) begin
      named_q     <= victim_sm_i;
      // Room is being made on one SM or more, for all TBs of the candidate that wait.
      is_coming_q <= 32'(reserved_for[0]) + 32'(reserved_for[1]) >=
                     32'(remaining_i.kernel[kernel_q]) + 32'(queue_count_i.kernel[kernel_q]);
    end
  end
  `PROVE(AsksForVictims_A, (!asks_q || step_q != smk_pkg::StVictimSm || victim_sms == asked_q) &&
         (!names_q || victim_sm == named_q) &&
         (step_q != smk_pkg::StVictimKernel || !searched_before_q || victim_kernels == there))
  // None is searched when room for all TBs of the candidate is being made.
  `WATCH([0:0], dut_coming, u_dut.room_coming_q)
  `PROVE(RoomIsComing_A, !names_q || ((step_q == smk_pkg::StVictimLook || dut_coming == is_coming_q) &&
         (!room_coming || is_coming_q) && (!(counted || no_victim) || !is_coming_q)))
  // The range is asked for with these victims, and with the candidate; who has no TB there before, or
  // none after.
  `PROVE(AsksForTheRange_A, !at_range || (range_victim_tbs == victim_tbs &&
         range_starts == (its_own == '0) && range_stops == (victim_tbs == its_tbs)))
  // Preempted is only when the range of rK shrinks and the victim's kernel has so many buffers free.
  `PROVE(PreemptsIfItHelps_A, !preempt || (at_range && range_shrinks_i && due_i && !overtaken_i &&
         32'(free_q.kernel[who]) >= 32'(victim_tbs) && (victim_sm & ready_i) != '0))
  `PROVE(StaysIfItDoesNot_A, (!not_reduced || (at_range && !range_shrinks_i)) &&
         (!queue_full || (at_range && 32'(free_q.kernel[who]) < 32'(victim_tbs))))
endmodule
