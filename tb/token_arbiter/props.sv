// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_token_arbiter: kernels that come and go at any time, TBs that leave when they like, any
// shares and quotas. In a window of few units, each of one cycle or of few.
`include "formal.svh"

module formal_token_arbiter (
  input logic                      clk_i,
  input logic                      enable_i,
  input logic [$clog2(smk_pkg::TokenUnitWidth+1)-1:0] unit_i,
  input smk_pkg::token_quota_t     quota_i,
  input smk_pkg::token_share_vec_t request_i,
  input smk_pkg::token_share_vec_t limit_i,
  input smk_pkg::kernel_mask_t     demand_i,
  input smk_pkg::kernel_mask_t     resident_i
);
  localparam int unsigned NumKernels  = smk_pkg::NumKernels;
  localparam int unsigned ShareWidth  = smk_pkg::TokenShareWidth;
  localparam int unsigned WindowWidth = smk_pkg::TokenWindowWidth;
  // From the look at the first kernel to the cycle in which the token is seen to be given.
  localparam int unsigned Decision    = NumKernels + 4;

  `FORMAL_RESET
  // The configuration is constant.
  logic                      known_q = 1'b0, enable_q;
  logic [$clog2(smk_pkg::TokenUnitWidth+1)-1:0] unit_q;
  smk_pkg::token_quota_t     quota_q;
  smk_pkg::token_share_vec_t request_q, limit_q;
  always_ff @(posedge clk_i) begin
    known_q   <= 1'b1;
    enable_q  <= enable_i;
    unit_q    <= unit_i;
    quota_q   <= quota_i;
    request_q <= request_i;
    limit_q   <= limit_i;
  end
  `ASSUME(ConfigurationIsConstant_M, unit_i <= smk_pkg::TokenUnitWidth && (!known_q ||
          {enable_i, unit_i, quota_i, request_i, limit_i} ==
          {enable_q, unit_q, quota_q, request_q, limit_q}))
  logic [WindowWidth-1:0] window;
  assign window = WindowWidth'(smk_pkg::TokenUnitsLog2) + WindowWidth'(unit_i);

  logic            assign_pulse, busy;
  smk_pkg::token_t token;
  smk_token_arbiter u_dut (
    .clk_i, .rst_ni, .enable_i, .quota_i, .request_i, .limit_i, .demand_i, .resident_i,
    .window_i(window),
    .assign_o(assign_pulse),
    .token_o (token),
    .busy_o  (busy)
  );
  `WATCH([NumKernels*ShareWidth-1:0], used, u_dut.used)

  // One holder, and one user, at most.
  function automatic logic one_at_most(input smk_pkg::kernel_mask_t mask);
    one_at_most = (mask & (mask - NumKernels'(1))) == '0;
  endfunction
  `PROVE(OneHolder_A, one_at_most(token.holder) && one_at_most(token.user))

  // A change of the holder is announced in the same cycle, and only then.
  smk_pkg::kernel_mask_t holder_q;
  always_ff @(posedge clk_i) holder_q <= rst_ni ? token.holder : '0;
  `PROVE(ChangesArePulsed_A, assign_pulse == (token.holder != holder_q))

  // Which kernels had TBs and were within their limit, now and in the cycles of a decision.
  smk_pkg::kernel_mask_t              may, below, demand_q, lately;
  logic [(Decision+1)*NumKernels-1:0] may_q;
  logic [ShareWidth-1:0]              at_used, at_request, at_limit;
  always_comb begin
    {may, below} = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      at_used    = used[k*ShareWidth +: ShareWidth];
      at_request = request_i.kernel[k];
      at_limit   = limit_i.kernel[k];
      may[k]     = demand_q[k] && at_used <= at_limit;
      below[k]   = at_used < at_request;
    end
    lately = '0;
    for (int unsigned i = 0; i <= Decision; i++) lately = lately | may_q[i*NumKernels +: NumKernels];
  end
  always_ff @(posedge clk_i) begin
    demand_q <= rst_ni ? demand_i & {NumKernels{enable_i}} : '0;
    may_q    <= rst_ni ? {may_q[Decision*NumKernels-1:0], may} : '0;
  end
  // The token is given to a kernel with TBs that is not above its limit.
  `PROVE(GivenWithinLimit_A, !token.given || (token.holder & lately) != '0)

  // For induction: one kernel is looked at at a time.
  `WATCH([NumKernels-1:0], at, u_dut.at_q)
  `PROVE(OneIsLookedAt_A, at != '0 && one_at_most(at))

  // While nothing changes, it is given to the kernel that is farthest below its request, or else
  // farthest below its limit.
  logic [5:0]                         still_q;
  logic [NumKernels*ShareWidth-1:0]   used_q;
  smk_pkg::kernel_mask_t              demand_before_q;
  logic                               farther_below, farther_within;
  logic [ShareWidth-1:0]              gap, holder_gap;
  always_ff @(posedge clk_i) begin
    used_q          <= used;
    demand_before_q <= demand_q;
    if (!rst_ni || used != used_q || demand_q != demand_before_q) still_q <= '0;
    else if (still_q != '1)                                       still_q <= still_q + 6'd1;
  end
  always_comb begin
    {farther_below, farther_within, gap, holder_gap} = '0;
    for (int unsigned h = 0; h < NumKernels; h++) begin
      for (int unsigned k = 0; k < NumKernels; k++) begin
        if (token.holder[h] && k != h && may[k]) begin
          gap        = (below[k] ? request_i.kernel[k] : limit_i.kernel[k]) -
                       used[k*ShareWidth +: ShareWidth];
          holder_gap = (below[h] ? request_i.kernel[h] : limit_i.kernel[h]) -
                       used[h*ShareWidth +: ShareWidth];
          if (below[k] && !below[h])                   farther_below  = 1'b1;
          if (below[k] == below[h] && gap > holder_gap) farther_within = 1'b1;
        end
      end
    end
  end
  `PROVE(FarthestIsGiven_A, !token.given || still_q <= 6'(Decision) || used != used_q ||
         demand_q != demand_before_q ||
         (!farther_below && !farther_within))

  // A token is used for its quota of cycles, and then for as long as a decision takes at most.
  logic [5:0] ran_q, over_q;
  logic       holds, uses;
  assign holds = token.holder == holder_q && !token.given;
  assign uses  = token.user != '0 && token.user == token.holder && holds;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !holds)                         ran_q <= '0;
    else if (uses && !token.over && ran_q != '1) ran_q <= ran_q + 6'd1;
    if (!rst_ni || !uses || !token.over) over_q <= '0;
    else if (over_q != '1)               over_q <= over_q + 6'd1;
  end
  `PROVE(TokenLastsItsQuota_A, !enable_i || ran_q <= 6'(quota_i) + 6'd2 + 6'(Decision))
  `PROVE(DecisionIsShort_A, over_q <= 6'(Decision))
  // Whoever uses the GPU without the token has TBs there: overuse ends when they have left.
  smk_pkg::kernel_mask_t resident_q, resident_before_q;
  always_ff @(posedge clk_i) begin
    resident_q        <= rst_ni ? resident_i & {NumKernels{enable_i}} : '0;
    resident_before_q <= rst_ni ? resident_q : '0;
  end
  `PROVE(OveruseHasTbs_A, (token.user & ~holder_q & ~resident_before_q) == '0)

  // Nobody has more of the window than the window.
  logic full;
  always_comb begin
    full = 1'b0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (used[k*ShareWidth +: ShareWidth] > ShareWidth'(1 << smk_pkg::TokenUnitsLog2)) full = 1'b1;
    end
  end
  `PROVE(UsedFitsWindow_A, !full)

  // While nobody has the token, and a kernel could have it all the time, one is given: two rounds of
  // looking, as the kernel may be too late for the first.
  logic [5:0] free_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !enable_i || token.holder != '0 || !may[0]) free_q <= '0;
    else if (free_q != '1)                                     free_q <= free_q + 6'd1;
  end
  `PROVE(WhoMayIsServed_A, free_q <= 6'(2 * Decision + 2))

  // What follows is about two kernels. Cycles of a unit, of a bucket and of the window.
  localparam int unsigned NumBuckets  = 1 << smk_pkg::TokenBucketsLog2;
  localparam int unsigned BucketWidth = smk_pkg::TokenUnitsLog2 - smk_pkg::TokenBucketsLog2;
  localparam int unsigned UnitWidth   = smk_pkg::TokenUnitWidth;
  localparam int unsigned UnitsWidth  = BucketWidth + 1;
  localparam int unsigned Width       = smk_pkg::TokenUnitsLog2 + UnitWidth + 5;
  logic [Width-1:0] unit_cycles, bucket_cycles, window_cycles;
  assign unit_cycles   = Width'(1) << unit_i;
  assign bucket_cycles = unit_cycles << BucketWidth;
  assign window_cycles = unit_cycles << smk_pkg::TokenUnitsLog2;
  `WATCH([0:0], passes, u_dut.passes_q)
  `WATCH([NumKernels-1:0], carry, u_dut.u_usage.carry_q)
  `WATCH([UnitWidth-1:0], part0, u_dut.u_usage.gen_kernel[0].part_q)
  `WATCH([UnitWidth-1:0], part1, u_dut.u_usage.gen_kernel[1].part_q)
  `WATCH([NumBuckets*UnitsWidth-1:0], units0, u_dut.u_usage.gen_kernel[0].buckets_q)
  `WATCH([NumBuckets*UnitsWidth-1:0], units1, u_dut.u_usage.gen_kernel[1].buckets_q)
  `WATCH([BucketWidth-1:0], dut_unit, u_dut.u_usage.unit_q)
  `WATCH([UnitWidth-1:0], dut_time, u_dut.u_usage.time_q)
  `WATCH([0:0], dut_unit_end, u_dut.u_usage.unit_end_q)

  // Time passes in every cycle that counts.
  `PROVE(UseTakesTime_A, token.user == '0 || passes)

  `include "token_arbiter/turn.svh"

  // The record, a cycle behind, as `used` is: cycles of a unit that is not complete; time of the newest
  // bucket; cycles of each bucket that counted to nobody, of those before the first one all; and for how
  // long each kernel has had TBs without a break.
  logic [NumKernels*UnitWidth-1:0]         parts, parts_q;
  logic [NumKernels*NumBuckets*UnitsWidth-1:0] units;
  logic [Width-1:0]                        time_q;
  logic [NumBuckets*Width-1:0]             lost_q;
  logic [NumKernels*Width-1:0]             present_q;
  logic                                    ends, loses;
  assign parts = {part1, part0};
  assign units = {units1, units0};
  assign ends  = dut_unit_end && dut_unit == '1;
  assign loses = passes_q && user_q == '0;
  always_ff @(posedge clk_i) begin
    parts_q <= rst_ni ? parts : '0;
    if (!rst_ni) begin
      time_q <= Width'(1);
      lost_q <= {{(NumBuckets-1){bucket_cycles}}, Width'(1)};
    end else if (ends) begin
      time_q <= Width'(passes_q);
      lost_q <= {lost_q[(NumBuckets-1)*Width-1:0], Width'(loses)};
    end else begin
      time_q            <= time_q + Width'(passes_q);
      lost_q[Width-1:0] <= lost_q[Width-1:0] + Width'(loses);
    end
  end
  for (genvar k = 0; k < NumKernels; k++) begin : gen_present
    always_ff @(posedge clk_i) begin
      if (!rst_ni || !demand_q[k]) present_q[k*Width +: Width] <= '0;
      else if (present_q[k*Width +: Width] < window_cycles) begin
        present_q[k*Width +: Width] <= present_q[k*Width +: Width] + Width'(passes_q);
      end
    end
  end

  // In cycles, of each kernel: used in the window, and with the rest of a unit; limit and request.
  logic [NumKernels*Width-1:0] had, had_rest, limits, requests;
  logic [Width-1:0]            lost;
  logic                        requests_fit;
  always_comb begin
    lost = '0;
    for (int unsigned b = 0; b < NumBuckets; b++) lost = lost + lost_q[b*Width +: Width];
    for (int unsigned k = 0; k < NumKernels; k++) begin
      had[k*Width +: Width]      = Width'(used[k*ShareWidth +: ShareWidth]) << unit_i;
      had_rest[k*Width +: Width] = had[k*Width +: Width] + Width'(parts_q[k*UnitWidth +: UnitWidth]);
      limits[k*Width +: Width]   = Width'(limit_i.kernel[k]) << unit_i;
      requests[k*Width +: Width] = Width'(request_i.kernel[k]) << unit_i;
    end
    requests_fit = requests[0 +: Width] + requests[Width +: Width] <= window_cycles;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (requests[k*Width +: Width] > limits[k*Width +: Width]) requests_fit = 1'b0;
    end
  end

  // Nobody has more than its limit, a token and two decisions, its overuse, and less than two units.
  // And it has used that since it has been above its limit.
  // Who has had TBs for as long as the window is has its request, but for a bucket, a token and two
  // decisions, overuse of others, what nobody used of the window, and less than two units.
  logic limit_is_kept, over_limit_is_use, request_is_met;
  always_comb begin
    {limit_is_kept, over_limit_is_use, request_is_met} = '1;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (had[k*Width +: Width] >= limits[k*Width +: Width] + 2 * unit_cycles + Width'(quota_i) +
          Width'(Turn) + Width'(over_above_q[k*7 +: 7])) limit_is_kept = 1'b0;
      if (had[k*Width +: Width] > limits[k*Width +: Width] && had_rest[k*Width +: Width] >
          limits[k*Width +: Width] + unit_cycles + Width'(above_q[k*5 +: 5]) +
          Width'(over_above_q[k*7 +: 7])) over_limit_is_use = 1'b0;
      if (present_q[k*Width +: Width] >= window_cycles && had[k*Width +: Width] + bucket_cycles +
          Width'(quota_i) + Width'(Turn) + Width'(over_waits_q[k*7 +: 7]) + lost + 2 * unit_cycles <=
          requests[k*Width +: Width]) request_is_met = 1'b0;
    end
  end
  `PROVE(LimitIsKept_A, !enable_i || limit_is_kept)
  `PROVE(OverLimitIsUse_A, !enable_i || over_limit_is_use)
  `PROVE(RequestIsMet_A, !enable_i || !requests_fit || request_is_met)

  // For induction. Rests are rests, and what is used is in the buckets; time is where its counters are.
  logic                  rests_fit, sums_fit, time_fits, time_is_counted, request_is_due;
  logic [ShareWidth-1:0] units_sum;
  always_comb begin
    {rests_fit, sums_fit} = '1;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      units_sum = '0;
      for (int unsigned b = 0; b < NumBuckets; b++) begin
        units_sum = units_sum + ShareWidth'(units[(k*NumBuckets+b)*UnitsWidth +: UnitsWidth]);
        if (Width'(units[(k*NumBuckets+b)*UnitsWidth +: UnitsWidth]) > Width'(1 << BucketWidth)) sums_fit = 1'b0;
      end
      if (units_sum != used[k*ShareWidth +: ShareWidth]) sums_fit = 1'b0;
      if ((Width'(units[k*NumBuckets*UnitsWidth +: UnitsWidth]) << unit_i) +
          Width'(parts_q[k*UnitWidth +: UnitWidth]) >= time_q + unit_cycles) sums_fit = 1'b0;
      if (Width'(parts[k*UnitWidth +: UnitWidth]) >= unit_cycles ||
          Width'(parts_q[k*UnitWidth +: UnitWidth]) >= unit_cycles ||
          Width'(parts[k*UnitWidth +: UnitWidth]) + (carry[k] ? unit_cycles : '0) !=
          Width'(parts_q[k*UnitWidth +: UnitWidth]) + Width'(user_q[k])) rests_fit = 1'b0;
    end
    if (!one_at_most(user_q) || (user_q != '0 && !passes_q)) rests_fit = 1'b0;
    time_fits = time_q <= bucket_cycles && lost_q[Width-1:0] <= time_q && Width'(dut_time) < unit_cycles &&
                (!dut_unit_end || (dut_time == '0 && passes_q)) && time_q + Width'(passes_q) ==
                ((Width'(dut_unit) + Width'(dut_unit_end)) << unit_i) + Width'(dut_time) + Width'(1);
    for (int unsigned b = 0; b < NumBuckets; b++) begin
      if (lost_q[b*Width +: Width] > bucket_cycles) time_fits = 1'b0;
    end
  end
  `PROVE(RestsFit_A, rests_fit)
  `PROVE(SumsFit_A, sums_fit)
  `PROVE(TimeFits_A, time_fits)

  // Since the beginning of each bucket, every cycle was used or lost.
  logic [Width-1:0] counted, passed;
  always_comb begin
    time_is_counted = 1'b1;
    counted = Width'(parts_q[0 +: UnitWidth]) + Width'(parts_q[UnitWidth +: UnitWidth]);
    passed  = time_q;
    for (int unsigned b = 0; b < NumBuckets; b++) begin
      counted = counted + lost_q[b*Width +: Width];
      for (int unsigned k = 0; k < NumKernels; k++) begin
        counted = counted + (Width'(units[(k*NumBuckets+b)*UnitsWidth +: UnitsWidth]) << unit_i);
      end
      if (counted < passed) time_is_counted = 1'b0;
      passed = passed + bucket_cycles;
    end
  end
  `PROVE(TimeIsCounted_A, time_is_counted)

  // A kernel with TBs that is below its request has been so for no longer than since a bucket left; or
  // the other one was below its own; or it has had all since it came: but for the time that it waits.
  logic [NumKernels-1:0] since_bucket, other_below, had_all;
  logic [Width-1:0]      waited, had_since, present;
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      waited  = Width'(waits_q[k*5 +: 5]) + Width'(over_waits_q[k*7 +: 7]);
      present = present_q[k*Width +: Width];
      since_bucket[k] = requests[k*Width +: Width] <= had[k*Width +: Width] ||
          requests[k*Width +: Width] + time_q <= had_rest[k*Width +: Width] + bucket_cycles + waited +
          Width'(1);
      other_below[k] = had_rest[(NumKernels-1-k)*Width +: Width] <=
          requests[(NumKernels-1-k)*Width +: Width] + waited;
      had_all[k] = 1'b1;
      had_since  = Width'(parts_q[k*UnitWidth +: UnitWidth]) + waited;
      passed     = time_q;
      for (int unsigned b = 0; b < NumBuckets; b++) begin
        had_since = had_since + (Width'(units[(k*NumBuckets+b)*UnitsWidth +: UnitsWidth]) << unit_i);
        if (had_since < passed && had_since < present) had_all[k] = 1'b0;
        passed = passed + bucket_cycles;
      end
    end
    request_is_due = (since_bucket | other_below | had_all) == '1;
  end
  `PROVE(RequestIsDue_A, !enable_i || !requests_fit || request_is_due)

  // Idle: nobody has TBs, and nothing is on its way.
  (* keep *) logic idle;
  assign idle = rst_ni && !busy;
endmodule
