// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_drf_tracker, from its ports, for any pulses and events: the kernel that it names is
// the lowest or the highest by rK of the cycle before, the SM that by rSM of two cycles before. rK
// is recomputed from the TBs that pulses and events add and take away.
`include "formal.svh"
`include "drf_tracker/record.svh"

module formal_drf_tracker (
  input logic                      clk_i,
  input smk_pkg::kernel_mask_t     kernel_done_i,
  input smk_pkg::dispatch_pulses_t pulses_i,
  input smk_pkg::tb_arrival_t      arrival_i,
  input smk_pkg::sm_events_t       events_i,
  input smk_pkg::sm_mask_t         shortfall_mask_i,
  input smk_pkg::sm_kernel_id_t    shortfall_kernel_i,
  input smk_pkg::need_vec_t        need_i,
  input smk_pkg::share_vec_t       tb_share_i,
  input smk_pkg::kernel_mask_t     active_i,
  input logic                      count_running_sms_i,
  input smk_pkg::kernel_sms_t      pick_sms_i,
  input smk_pkg::kernel_mask_t     pick_kernels_i,
  input smk_pkg::kernel_sms_t      look_sm_i,
  input smk_pkg::kernel_id_t       victim_exclude_i,
  input smk_pkg::sm_mask_t         victim_sms_i,
  input smk_pkg::sm_mask_t         victim_look_i,
  input smk_pkg::kernel_mask_t     victim_kernels_i,
  input smk_pkg::kernel_mask_t     range_kernel_i,
  input logic                      range_starts_i,
  input smk_pkg::kernel_mask_t     range_victim_i,
  input smk_pkg::tb_cnt_t          range_victim_tbs_i,
  input logic                      range_stops_i
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;

  `FORMAL_RESET
  // Constant.
  logic count_running_q;
  always_ff @(posedge clk_i) if (!rst_ni) count_running_q <= count_running_sms_i;
  smk_pkg::kernel_sms_t      pick_sm;
  smk_pkg::kernel_mask_t     pick_kernel, victim_kernel;
  smk_pkg::resource_vector_t look_taken;
  smk_pkg::tb_cnt_t          look_resident;
  smk_pkg::sm_mask_t         victim_sm;
  smk_pkg::tb_need_t         victim_taken;
  smk_pkg::tb_cnt_vec_t      victim_resident;
  smk_pkg::total_share_vec_t share, share_q;
  smk_pkg::sm_kernels_t      resident;
  logic                      range_shrinks, busy;
  smk_pkg::sm_kernels_t      shortfall_of;
  for (genvar s = 0; s < smk_pkg::NumSms; s++) begin : gen_shortfall
    assign shortfall_of.sm[s] = {NumKernels{shortfall_mask_i[s]}} &
                                (NumKernels'(1) << shortfall_kernel_i.sm[s]);
  end
  smk_drf_tracker u_dut (
    .clk_i, .rst_ni, .kernel_done_i, .pulses_i, .arrival_i, .events_i,
    .shortfall_of_i(shortfall_of), .need_i, .tb_share_i, .active_i, .pick_sms_i, .pick_kernels_i,
    .count_running_sms_i(count_running_q),
    .look_sm_i, .victim_exclude_i, .victim_sms_i, .victim_look_i,
    .victim_kernels_i, .range_kernel_i, .range_starts_i, .range_victim_i, .range_victim_tbs_i,
    .range_stops_i,
    .pick_sm_o        (pick_sm),
    .pick_kernel_o    (pick_kernel),
    .look_taken_o     (look_taken),
    .look_resident_o  (look_resident),
    .victim_sm_o      (victim_sm),
    .victim_taken_o   (victim_taken),
    .victim_resident_o(victim_resident),
    .victim_kernel_o  (victim_kernel),
    .range_shrinks_o  (range_shrinks),
    .share_o          (share),
    .resident_o       (resident),
    .busy_o           (busy)
  );

  // The lowest and the highest of the kernels asked for; the first of equal ones. Of those that have
  // nothing the lowest is the first behind the one that came last, three cycles before at the latest.
  logic                  known_q, behind;
  smk_pkg::kernel_mask_t lowest, highest, came_q, last_q, last_late_q;
  always_ff @(posedge clk_i) begin
    share_q     <= share;
    known_q     <= rst_ni;
    last_late_q <= last_q;
    came_q      <= rst_ni ? NumKernels'(pulses_i.dispatch) << pulses_i.kernel : '0;
    if (!rst_ni) last_q <= '0;
    else if (came_q != '0) last_q <= came_q;
  end
  always_comb begin
    lowest  = pick_kernels_i;
    highest = victim_kernels_i;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      for (int unsigned j = 0; j < NumKernels; j++) begin
        // Whether who came last is from j to k, and k behind him.
        behind = 1'b0;
        for (int unsigned l = 0; l < NumKernels; l++) begin
          if (last_late_q[l]) behind = (j < k) ? j <= l && l < k : !(k <= l && l < j);
        end
        if (last_late_q == '0) behind = j > k;
        if (pick_kernels_i[j] && j != k &&
            ($signed(share_q.kernel[j]) < $signed(share_q.kernel[k]) ||
             (share_q.kernel[j] == share_q.kernel[k] &&
              (share_q.kernel[j] == '0 ? !behind : j < k)))) lowest[k] = 1'b0;
        if (victim_kernels_i[j] && j != k &&
            ($signed(share_q.kernel[j]) > $signed(share_q.kernel[k]) ||
             (share_q.kernel[j] == share_q.kernel[k] && j < k))) highest[k] = 1'b0;
      end
    end
  end
  `PROVE(PicksTheLowest_A, !known_q || pick_kernel == lowest)
  `PROVE(VictimIsTheHighest_A, !known_q || victim_kernel == highest)
  // It is one of those asked for, if there is any.
  `PROVE(PicksOne_A, !known_q || ((pick_kernel & ~pick_kernels_i) == '0 &&
         (pick_kernel & (pick_kernel - 1'b1)) == '0 &&
         (pick_kernel == '0) == (pick_kernels_i == '0)))

  // What is on each SM.
  localparam int unsigned NumSms      = smk_pkg::NumSms;
  localparam int unsigned EventWidth  = smk_pkg::EventWidth;
  localparam int unsigned SharesWidth = (NumKernels + 1) * smk_pkg::ShareWidth;
  localparam int unsigned TotalWidth  = smk_pkg::TotalShareWidth;
  typedef struct packed {logic [NumSms-1:0][SharesWidth-1:0] sm;} sm_shares_t;
  typedef struct packed {logic [NumKernels:0][smk_pkg::ShareWidth-1:0] without;} shares_t;
  sm_shares_t           shares;
  smk_pkg::sm_kernels_t some, leaves;
  smk_pkg::sm_mask_t    within, known, uncounted, settled;
  smk_pkg::need_vec_t   need_q;
  always_ff @(posedge clk_i) need_q <= rst_ni ? need_i : '0;
  for (genvar s = 0; s < NumSms; s++) begin : gen_sm
    smk_pkg::kernel_mask_t here, leaves_here;
    formal_sm_record u_sm (
      .clk_i, .rst_ni,
      .comes_i      (arrival_i.sms[s]),
      .come_kernel_i(arrival_i.kernels.group[s/4]),
      .come_need_i  (arrival_i.needs.group[s/4]),
      .event_i      (events_i.sm[s]),
      .need_i       (need_q),
      .within_o     (within[s]),
      .shares_o     (shares.sm[s]),
      .some_o       (here),
      .leaves_o     (leaves_here),
      .uncounted_o  (uncounted[s]),
      .settled_o    (settled[s])
    );
    assign known[s]     = (leaves_here & ~here) == '0;
    assign some.sm[s]   = here;
    assign leaves.sm[s] = leaves_here;
  end
  // TBs are dispatched only where they fit; who leaves was there.
  `ASSUME(TakenWithinLimits_M, within == '1)
  `ASSUME(LeaverIsResident_M, known == '1)

  // The lowest of the SMs asked for, and the highest without a kernel; the first of equal ones.
  logic [NumKernels*NumSms-1:0] lowest_sm;
  smk_pkg::sm_mask_t            highest_sm, asked;
  smk_pkg::kernel_id_t          exclude_q;
  shares_t                      mine, other;
  logic                         before, before_there;
  always_ff @(posedge clk_i) exclude_q <= victim_exclude_i;
  always_comb begin
    highest_sm = victim_sms_i;
    lowest_sm  = pick_sms_i;
    for (int unsigned s = 0; s < NumSms; s++) begin
      for (int unsigned o = 0; o < NumSms; o++) begin
        mine         = shares.sm[s];
        other        = shares.sm[o];
        before       = other.without[NumKernels] < mine.without[NumKernels] ||
                       (other.without[NumKernels] == mine.without[NumKernels] && o < s);
        before_there = other.without[exclude_q] > mine.without[exclude_q] ||
                       (other.without[exclude_q] == mine.without[exclude_q] && o < s);
        for (int unsigned k = 0; k < NumKernels; k++) begin
          asked = pick_sms_i.kernel[k];
          if (asked[o] && before) lowest_sm[k*NumSms + s] = 1'b0;
        end
        if (victim_sms_i[o] && before_there) highest_sm[s] = 1'b0;
      end
    end
  end
  `PROVE(PicksTheLowestSm_A, !known_q || pick_sm == lowest_sm)
  `PROVE(VictimSmIsTheHighest_A, !known_q || victim_sm == highest_sm)

  // rK, three cycles late.
  smk_pkg::total_share_vec_t recomputed, products;
  smk_pkg::share_vec_t       tb_share_q;
  smk_pkg::kernel_mask_t     none, none_q, done_q, share_holds;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_share
    smk_pkg::sm_mask_t     some_of, uncounted_of;
    logic [TotalWidth-1:0] missed;
    formal_missed #(.Mine(k)) u_missed (
      .events_i, .settled_i(settled & shortfall_mask_i), .kernels_i(shortfall_kernel_i),
      .some_i(some), .leaves_i(leaves), .uncounted_i(uncounted),
      .some_o(some_of), .uncounted_o(uncounted_of), .missed_o(missed)
    );
    formal_share #(.Mine(k)) u_share (
      .clk_i, .rst_ni, .pulses_i, .count_running_sms_i(count_running_q),
      .done_i     (kernel_done_i[k]),
      .tb_share_i (tb_share_i.kernel[k]),
      .some_i     (some_of),
      .uncounted_i(uncounted_of),
      .missed_i   (missed),
      .none_o     (none[k]),
      .product_o  (products.kernel[k]),
      .share_o    (recomputed.kernel[k])
    );
    assign share_holds[k] = tb_share_i.kernel[k] == tb_share_q.kernel[k] || done_q[k] ||
                            (none[k] && none_q[k]);
  end
  always_ff @(posedge clk_i) begin
    tb_share_q <= tb_share_i;
    none_q     <= none;
    done_q     <= rst_ni ? kernel_done_i : '0;
  end
  // The share of a TB changes only for a kernel without TBs, or one that is done.
  `ASSUME(ShareHolds_M, share_holds == '1)
  // Inside, because the output shows nothing below zero.
  `WATCH([NumKernels*TotalWidth-1:0], dut_share, u_dut.share)
  `PROVE(ShareIsRecomputed_A, share == recomputed && dut_share == products &&
         resident == some)

  // Idle: nothing happens, and needs, shares and questions have been the same for so long.
  (* keep *) logic           idle;
  logic                      calm;
  logic [3:0]                calm_for_q;
  smk_pkg::need_vec_t        need_late_q;
  smk_pkg::kernel_mask_t     active_q, range_kernel_q, range_victim_q;
  smk_pkg::tb_cnt_t          range_victim_tbs_q;
  smk_pkg::sm_mask_t         events;
  logic                      range_starts_q, range_stops_q;
  for (genvar s = 0; s < NumSms; s++) begin : gen_event
    logic [EventWidth-1:0] event_here;
    assign event_here = events_i.sm[s];
    assign events[s]  = event_here[EventWidth-1];
  end
  always_ff @(posedge clk_i) begin
    need_late_q        <= need_i;
    active_q           <= active_i;
    range_kernel_q     <= range_kernel_i;
    range_victim_q     <= range_victim_i;
    range_victim_tbs_q <= range_victim_tbs_i;
    range_starts_q     <= range_starts_i;
    range_stops_q      <= range_stops_i;
    calm_for_q         <= !(rst_ni && calm) ? '0 : calm_for_q + 4'(calm_for_q != '1);
  end
  assign calm = !busy && events == '0 && kernel_done_i == '0 && arrival_i.sms == '0 &&
                !pulses_i.dispatch && !pulses_i.reserve && !pulses_i.cancel && !pulses_i.preempt &&
                need_i == need_late_q && tb_share_i == tb_share_q && active_i == active_q &&
                victim_exclude_i == exclude_q && range_kernel_i == range_kernel_q &&
                range_victim_i == range_victim_q && range_victim_tbs_i == range_victim_tbs_q &&
                range_starts_i == range_starts_q && range_stops_i == range_stops_q;
  assign idle = rst_ni && calm && calm_for_q >= 4'd12;
endmodule
